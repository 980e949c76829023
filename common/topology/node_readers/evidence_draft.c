/* SPDX-License-Identifier: MIT */
#include "topology/node_readers/evidence_draft.h"
#include "base/text_buffer.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#undef evidence_draft_format /* the function itself: base/texts/packed_text.h */
#undef evidence_draft_note
#undef evidence_draft_warn

#define EVIDENCE_MAXIMUM_BYTES ((size_t)16 << 20)
#define TEXT_BYTES 512

struct evidence_draft *evidence_draft_create(enum evidence_source source, const char *source_text,
                                             struct error_info *err)
{
    CLEANUP(evidence_draft) struct evidence_draft *draft = memory_allocate(sizeof(*draft));
    if (!draft)
        return error_null(error_set_memory(err));
    draft->arena = arena_create(EVIDENCE_MAXIMUM_BYTES);
    if (!draft->arena)
        return error_null(error_set_memory(err));
    draft->evidence.source = source;
    draft->evidence.source_text = evidence_draft_copy(draft, source_text);
    return move_pointer(draft);
}

void evidence_draft_free(struct evidence_draft *draft)
{
    if (!draft)
        return;
    arena_free(draft->arena);
    memory_free(draft);
}

const char *evidence_draft_copy(struct evidence_draft *draft, const char *text)
{
    char *copy = text ? arena_copy_text(draft->arena, text) : NULL;
    if (copy)
        error_clean_text(copy);
    draft->failed = draft->failed || (text && !copy);
    return copy;
}

__attribute__((format(printf, 2, 0))) static const char *
format_text(struct evidence_draft *draft, const char *format, va_list arguments)
{
    char text[TEXT_BYTES];
    text_format(text, sizeof(text), format, arguments);
    return evidence_draft_copy(draft, text);
}

const char *evidence_draft_format(struct evidence_draft *draft, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *text = format_text(draft, format, arguments);
    va_end(arguments);
    return text;
}

void evidence_draft_note(struct evidence_draft *draft, const char *format, ...)
{
    if (draft->evidence.note_count == EVIDENCE_DRAFT_NOTES)
        return;
    va_list arguments;
    va_start(arguments, format);
    draft->notes[draft->evidence.note_count++] = format_text(draft, format, arguments);
    va_end(arguments);
}

void evidence_draft_warn(struct evidence_draft *draft, const char *format, ...)
{
    char text[TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    text_format(text, sizeof(text), format, arguments);
    va_end(arguments);
    evidence_draft_note(draft, EVIDENCE_WARNING "%s", text);
}

struct evidence_gpu *evidence_draft_add_gpu(struct evidence_draft *draft, struct error_info *err)
{
    if (draft->evidence.gpu_count == NODE_MAXIMUM_GPUS) {
        error_set(err, "%s: more than %u GPUs in one node", draft->evidence.source_text,
                  NODE_MAXIMUM_GPUS);
        return NULL;
    }
    struct evidence_gpu *gpu = &draft->gpus[draft->evidence.gpu_count++];
    gpu->numa = NUMA_UNKNOWN;
    return gpu;
}

struct evidence_nic *evidence_draft_add_nic(struct evidence_draft *draft, struct error_info *err)
{
    if (draft->evidence.nic_count == NODE_MAXIMUM_NICS) {
        error_set(err, "%s: more than %u NICs in one node", draft->evidence.source_text,
                  NODE_MAXIMUM_NICS);
        return NULL;
    }
    struct evidence_nic *nic = &draft->nics[draft->evidence.nic_count++];
    nic->numa = NUMA_UNKNOWN;
    nic->rail = -1;
    return nic;
}

void evidence_draft_set_rate(struct evidence_draft *draft, unsigned first, unsigned second,
                             double bytes_per_second)
{
    draft->has_rates = true;
    draft->rates[first][second] = draft->rates[second][first] = bytes_per_second;
}

void evidence_draft_set_link_count(struct evidence_draft *draft, unsigned first, unsigned second,
                                   unsigned count)
{
    draft->has_link_counts = true;
    draft->link_counts[first][second] = draft->link_counts[second][first] = count;
}

void evidence_draft_set_gpu_link(struct evidence_draft *draft, unsigned first, unsigned second,
                                 enum link_kind link)
{
    draft->has_gpu_links = true;
    draft->gpu_links[first][second] = draft->gpu_links[second][first] = link;
}

void evidence_draft_set_nic_link(struct evidence_draft *draft, unsigned gpu, unsigned nic,
                                 enum link_kind link)
{
    draft->has_nic_links = true;
    draft->nic_links[gpu][nic] = link;
}

/* rows x columns out of an array with longer rows. */
static const void *pack(struct evidence_draft *draft, bool wanted, const void *from,
                        size_t row_bytes, size_t rows, size_t bytes)
{
    if (!wanted)
        return NULL;
    char *to = arena_allocate_array(draft->arena, rows, bytes);
    for (size_t i = 0; to && bytes > 0 && i < rows; i++)
        memcpy(to + i * bytes, (const char *)from + i * row_bytes, bytes);
    draft->failed = draft->failed || !to;
    return to;
}

static void pack_pairs(struct evidence_draft *draft, struct node_evidence *evidence)
{
    size_t n = evidence->gpu_count, m = evidence->nic_count;
    evidence->nvlink_bytes_per_second =
        pack(draft, draft->has_rates, draft->rates, sizeof(draft->rates[0]), n, n * sizeof(double));
    evidence->nvlink_link_counts = pack(draft, draft->has_link_counts, draft->link_counts,
                                        sizeof(draft->link_counts[0]), n, n * sizeof(unsigned));
    evidence->gpu_links = pack(draft, draft->has_gpu_links, draft->gpu_links,
                               sizeof(draft->gpu_links[0]), n, n * sizeof(enum link_kind));
    evidence->nic_links = pack(draft, draft->has_nic_links, draft->nic_links,
                               sizeof(draft->nic_links[0]), n, m * sizeof(enum link_kind));
}

struct node_evidence *evidence_draft_finish(struct evidence_draft *draft, struct error_info *err)
{
    struct node_evidence *evidence = arena_allocate(draft->arena, sizeof(*evidence));
    if (!evidence)
        return error_null(error_set_memory(err));
    *evidence = draft->evidence;
    size_t n = evidence->gpu_count, m = evidence->nic_count;
    evidence->gpus = pack(draft, true, draft->gpus, 0, 1, n * sizeof(draft->gpus[0]));
    evidence->nics = pack(draft, true, draft->nics, 0, 1, m * sizeof(draft->nics[0]));
    evidence->notes =
        pack(draft, true, draft->notes, 0, 1, evidence->note_count * sizeof(draft->notes[0]));
    pack_pairs(draft, evidence);
    if (draft->failed)
        return error_null(error_set_memory(err));
    evidence->arena = move_pointer(draft->arena);
    return evidence;
}
