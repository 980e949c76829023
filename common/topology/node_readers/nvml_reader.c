/* SPDX-License-Identifier: MIT */
#include "topology/node_readers/nvml_reader.h"
#include "topology/node_readers/nvml/nvml_node.h"
#include "topology/node_readers/reader_child.h"
#include <string.h>

#define REMEDY "see dmesg for the NVIDIA driver, and whether nvidia-smi answers"

static bool is_absent(int result)
{
    return result == NVML_DRIVER_NOT_LOADED || result == NVML_LIBRARY_NOT_FOUND ||
           result == NVML_NOT_FOUND;
}

static int read_node(const struct nvml_symbols *symbols, const char *library,
                     struct evidence_draft *draft, struct error_info *err)
{
    int result = symbols->start();
    if (is_absent(result))
        return 0;
    if (result != NVML_OK)
        return nvml_error(err, library, "nvmlInit_v2", result);
    CLEANUP_MEMORY struct nvml_node *node = memory_allocate(sizeof(*node));
    if (!node)
        return error_set_memory(err);
    node->library = library;
    if (nvml_node_read(symbols, node, draft, err) < 0)
        return -1;
    if (draft->evidence.gpu_count > 0)
        nvml_links_decide(node, draft);
    return 0;
}

struct node_evidence *nvml_read_here(const char *library, size_t bytes, const char *source,
                                     struct error_info *err)
{
    (void)bytes;
    (void)source;
    CLEANUP(evidence_draft)
    struct evidence_draft *draft = evidence_draft_create(EVIDENCE_NVML, "nvml", err);
    CLEANUP_DONE(nvml_symbols) struct nvml_symbols symbols = {.library = NULL};
    if (!draft || nvml_symbols_open(library, &symbols, err) < 0)
        return NULL;
    if (symbols.library && read_node(&symbols, library, draft, err) < 0)
        return NULL;
    return evidence_draft_finish(draft, err);
}

int nvml_read_within(const char *library, unsigned seconds, struct node_evidence **ret_evidence,
                     struct error_info *err)
{
    const char *path = library ? library : NVML_LIBRARY;
    const struct reader_job job = {.read = nvml_read_here,
                                   .text = path,
                                   .bytes = strlen(path),
                                   .source = "NVIDIA's driver",
                                   .what = "NVML",
                                   .remedy = REMEDY,
                                   .seconds = seconds};
    struct error_info why = {.kind = ERROR_NONE};
    CLEANUP(node_evidence) struct node_evidence *evidence = reader_child_run(&job, &why);
    if (!evidence) {
        /* Nothing here is the user's input. */
        if (why.kind == ERROR_INPUT)
            why.kind = ERROR_SYSTEM;
        if (err)
            *err = why;
        return -1;
    }
    *ret_evidence = evidence->gpu_count > 0 ? move_pointer(evidence) : NULL;
    return 0;
}

int nvml_read(const char *library, struct node_evidence **ret_evidence, struct error_info *err)
{
    return nvml_read_within(library, NVML_SECONDS, ret_evidence, err);
}
