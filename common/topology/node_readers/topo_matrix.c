/* SPDX-License-Identifier: MIT */
#include "topology/node_readers/topo_matrix.h"
#include "base/id_set.h"
#include "base/parse_number.h"
#include "topology/link_generation.h"
#include "topology/node_readers/text/matrix_text.h"
#include <string.h>

#define NUMA_MAXIMUM 65535u
#define NUMA_WORD_BYTES 8u

struct reader {
    const char *source;
    struct evidence_draft *draft;
    struct matrix_text *matrix;
    unsigned gpus[NODE_MAXIMUM_GPUS]; /* their columns */
    unsigned nics[NODE_MAXIMUM_NICS];
    bool complete; /* every pair of GPUs has a cell */
};

static bool is_number(const char *word)
{
    uint64_t number;
    return word && parse_unsigned(word, 0, NUMA_MAXIMUM, &number, NULL) == 0;
}

/* "3", or the CPUs' node in front of the nodes of GPU memory: "0,3-9,11-17". */
static int read_numa(const struct matrix_column *column)
{
    if (!column->numa)
        return NUMA_UNKNOWN;
    char word[NUMA_WORD_BYTES] = "";
    size_t length = is_number(column->gpu_numa) ? strcspn(column->numa, ",") : strlen(column->numa);
    uint64_t node;
    if (length >= sizeof(word))
        return NUMA_UNKNOWN;
    memcpy(word, column->numa, length);
    return parse_unsigned(word, 0, NUMA_MAXIMUM, &node, NULL) < 0 ? NUMA_UNKNOWN : (int)node;
}

static int take_cpus(struct reader *reader, const struct matrix_column *column,
                     struct evidence_gpu *gpu, struct error_info *err)
{
    struct error_info reason = {.kind = ERROR_NONE};
    if (!column->cpus || strcmp(column->cpus, "N/A") == 0)
        return 0;
    CLEANUP(id_set) struct id_set *cpus = id_set_decode(column->cpus, &reason);
    if (cpus)
        gpu->cpus = evidence_draft_copy(reader->draft, column->cpus);
    else if (reason.kind == ERROR_MEMORY)
        return error_set_memory(err);
    else
        evidence_draft_note(reader->draft, "%s:%u: %s: '%.40s' is no list of CPUs", reader->source,
                            column->line, column->name, column->cpus);
    return 0;
}

static int add_gpu(struct reader *reader, unsigned at, struct error_info *err)
{
    const struct matrix_column *column = &reader->matrix->columns[at];
    struct evidence_gpu *gpu = evidence_draft_add_gpu(reader->draft, err);
    if (!gpu)
        return -1;
    reader->gpus[reader->draft->evidence.gpu_count - 1] = at;
    gpu->numa = read_numa(column);
    if (column->line == 0)
        evidence_draft_warn(reader->draft, "%s: %s has no row; only the rows of others tell of it",
                            reader->source, column->name);
    else if (gpu->numa == NUMA_UNKNOWN && column->numa && strcmp(column->numa, "N/A") != 0)
        evidence_draft_note(reader->draft, "%s:%u: %s: '%.40s' does not name one NUMA node",
                            reader->source, column->line, column->name, column->numa);
    return take_cpus(reader, column, gpu, err);
}

static int add_nic(struct reader *reader, unsigned at, struct error_info *err)
{
    struct evidence_nic *nic = evidence_draft_add_nic(reader->draft, err);
    if (!nic)
        return -1;
    nic->name = evidence_draft_copy(reader->draft, reader->matrix->columns[at].nic_name);
    reader->nics[reader->draft->evidence.nic_count - 1] = at;
    return 0;
}

static int add_devices(struct reader *reader, struct error_info *err)
{
    for (unsigned i = 0; i < reader->matrix->count; i++) {
        enum matrix_device device = reader->matrix->columns[i].device;
        if (device == MATRIX_GPU && add_gpu(reader, i, err) < 0)
            return -1;
        if (device == MATRIX_NIC && add_nic(reader, i, err) < 0)
            return -1;
    }
    return 0;
}

/* Of the two cells of a pair: what both or one of them knows; where they contradict each other
 * the fewer links, then the farther class. */
static struct matrix_cell join(struct reader *reader, unsigned first, unsigned second)
{
    const struct matrix_text *matrix = reader->matrix;
    struct matrix_cell there = matrix->cells[first][second], back = matrix->cells[second][first];
    if (there.link == LINK_UNKNOWN || back.link == LINK_UNKNOWN)
        return there.link == LINK_UNKNOWN ? back : there;
    if (there.link == back.link && there.links == back.links)
        return there;
    evidence_draft_warn(reader->draft,
                        "%s: %s and %s disagree about their link (lines %u and %u); the lower "
                        "one counts",
                        reader->source, matrix->columns[first].name, matrix->columns[second].name,
                        matrix->columns[first].line, matrix->columns[second].line);
    if (there.links != back.links)
        return there.links < back.links ? there : back;
    return there.link > back.link ? there : back;
}

static void join_gpus(struct reader *reader)
{
    struct evidence_draft *draft = reader->draft;
    reader->complete = true;
    for (unsigned i = 0; i < draft->evidence.gpu_count; i++) {
        for (unsigned j = 0; j < i; j++) {
            struct matrix_cell cell = join(reader, reader->gpus[i], reader->gpus[j]);
            bool known = cell.link != LINK_UNKNOWN;
            reader->complete = reader->complete && known;
            evidence_draft_set_link_count(draft, i, j, known ? cell.links : NVLINK_COUNT_UNKNOWN);
            if (known && cell.link != LINK_NVLINK)
                evidence_draft_set_gpu_link(draft, i, j, cell.link);
        }
    }
}

static void join_nics(struct reader *reader)
{
    for (unsigned i = 0; i < reader->draft->evidence.gpu_count; i++) {
        for (unsigned k = 0; k < reader->draft->evidence.nic_count; k++) {
            struct matrix_cell cell = join(reader, reader->gpus[i], reader->nics[k]);
            if (cell.link != LINK_NVLINK)
                evidence_draft_set_nic_link(reader->draft, i, k, cell.link);
        }
    }
}

/* NICs below one PCIe bridge are ports of one card, or cards below one switch. */
static void join_cards(struct reader *reader)
{
    for (unsigned i = 0; i < reader->draft->evidence.nic_count; i++)
        for (unsigned k = 0; k < i; k++)
            if (join(reader, reader->nics[i], reader->nics[k]).link == LINK_PIX)
                reader->draft->nics[i].shares_card = reader->draft->nics[k].shares_card = true;
}

/* Links of a GPU over its row; *ret_known: no other GPU is in doubt. */
static unsigned sum_links(const struct evidence_draft *draft, unsigned gpu, bool *ret_known)
{
    unsigned sum = 0;
    *ret_known = true;
    for (unsigned i = 0; i < draft->evidence.gpu_count; i++) {
        unsigned links = i == gpu ? 0 : draft->link_counts[gpu][i];
        *ret_known = *ret_known && links != NVLINK_COUNT_UNKNOWN;
        sum += links != NVLINK_COUNT_UNKNOWN ? links : 0;
    }
    return sum;
}

static void conclude_gpu(struct reader *reader, unsigned gpu)
{
    struct node_evidence *evidence = &reader->draft->evidence;
    bool known;
    unsigned links = sum_links(reader->draft, gpu, &known);
    if (links > NVLINK_MAXIMUM_LINKS)
        evidence->nvlink_switched = true;
    reader->draft->gpus[gpu].nvlink_lost = links == 0 && known;
}

/* Behind switches every GPU has links; among bridged boards one without a bridge is no fault. */
static void judge_gpu(struct reader *reader, unsigned gpu)
{
    struct evidence_gpu *own = &reader->draft->gpus[gpu];
    own->nvlink_lost = own->nvlink_lost && reader->draft->evidence.nvlink_switched;
    if (own->nvlink_lost)
        own->problem = "no NVLink to any GPU, while others have it";
}

static bool has_gpu_memory_nodes(const struct reader *reader)
{
    for (unsigned i = 0; i < reader->draft->evidence.gpu_count; i++)
        if (is_number(reader->matrix->columns[reader->gpus[i]].gpu_numa))
            return true;
    return false;
}

static void conclude(struct reader *reader)
{
    struct evidence_draft *draft = reader->draft;
    struct node_evidence *evidence = &draft->evidence;
    bool known, linked = false;
    for (unsigned i = 0; i < evidence->gpu_count; i++)
        linked = linked || sum_links(draft, i, &known) > 0;
    draft->has_link_counts = linked;
    evidence->nvlink = linked                                        ? NVLINK_KNOWN
                       : reader->complete && evidence->gpu_count > 1 ? NVLINK_NONE
                                                                     : NVLINK_UNKNOWN;
    for (unsigned i = 0; linked && i < evidence->gpu_count; i++)
        conclude_gpu(reader, i);
    for (unsigned i = 0; i < evidence->gpu_count; i++)
        judge_gpu(reader, i);
    evidence->nvlink_leaves_node = evidence->nvlink_switched && has_gpu_memory_nodes(reader);
}

static int read_matrix(struct reader *reader, char *text, struct error_info *err)
{
    if (matrix_text_read(text, reader->source, reader->draft, reader->matrix, err) < 0 ||
        add_devices(reader, err) < 0)
        return -1;
    join_gpus(reader);
    join_nics(reader);
    join_cards(reader);
    conclude(reader);
    return 0;
}

static int check_text(const char *text, size_t bytes, const char *source, struct error_info *err)
{
    if (bytes > TOPO_MATRIX_MAXIMUM_BYTES)
        return error_set(err, "%s: larger than %zu MiB", source, TOPO_MATRIX_MAXIMUM_BYTES >> 20);
    if (bytes > 0 && memchr(text, '\0', bytes))
        return error_set(err, "%s: has a NUL byte; a text file is expected", source);
    return 0;
}

struct node_evidence *topo_matrix_parse(const char *text, size_t bytes, const char *source,
                                        struct error_info *err)
{
    if (check_text(text, bytes, source, err) < 0)
        return NULL;
    CLEANUP_MEMORY char *copy = memory_copy_bytes(text, bytes);
    CLEANUP_MEMORY struct matrix_text *matrix = memory_allocate(sizeof(*matrix));
    if (!copy || !matrix)
        return error_null(error_set_memory(err));
    CLEANUP(evidence_draft)
    struct evidence_draft *draft = evidence_draft_create(EVIDENCE_TOPO_M, source, err);
    if (!draft)
        return NULL;
    draft->evidence.source_text = evidence_draft_format(draft, "topo -m %s", source);
    struct reader reader = {.source = source, .draft = draft, .matrix = matrix};
    if (read_matrix(&reader, copy, err) < 0)
        return NULL;
    return evidence_draft_finish(draft, err);
}
