/* SPDX-License-Identifier: MIT */
/* Reading; writing is in evidence/evidence_encode.c. */
#include "topology/node_readers/evidence_text.h"
#include "base/parse_number.h"
#include "base/texts/packed_text.h"
#include "topology/merge/remarks.h"
#include "topology/node_readers/evidence/evidence_words.h"
#include <string.h>

#define MAXIMUM_WORDS 15u
#define MAXIMUM_MEMORY_BYTES ((size_t)32 << 20)

struct decoder {
    const char *source;
    unsigned line;
    unsigned word_count;
    struct node_evidence *evidence;
    struct evidence_gpu *gpus;
    struct evidence_nic *nics;
    const char **notes;
    struct topology_fact *facts;
    enum evidence_pairs pairs;
    double *rates;                         /* gpu_count^2 */
    unsigned *counts;                      /* likewise */
    enum link_kind *gpu_links, *nic_links; /* gpu_count rows of gpu_count and nic_count */
    bool has_node, has_pairs, has_end;
    char *words[MAXIMUM_WORDS];
};

static int refuse(const struct decoder *decoder, struct error_info *err, const char *what)
{
    return error_set(err, "%s: line %u of the evidence: %s", decoder->source, decoder->line,
                     packed_text(what));
}

#ifdef TEXTS_PACKED /* base/texts/packed_text.h */
#define refuse(decoder, err, what) (refuse)(decoder, err, PACKED_TEXT(what))
#endif

static int read_number(const struct decoder *decoder, unsigned word, uint64_t maximum,
                       uint64_t *ret, struct error_info *err)
{
    if (parse_unsigned(decoder->words[word], 0, maximum, ret, NULL) < 0)
        return refuse(decoder, err, "a number is out of range");
    return 0;
}

static int read_rate(const struct decoder *decoder, unsigned word, double *ret,
                     struct error_info *err)
{
    uint64_t rate = 0;
    if (read_number(decoder, word, EVIDENCE_MAXIMUM_RATE, &rate, err) < 0)
        return -1;
    *ret = (double)rate;
    return 0;
}

static int read_integer(const struct decoder *decoder, unsigned word, int minimum, int *ret,
                        struct error_info *err)
{
    int64_t number;
    if (parse_signed(decoder->words[word], minimum, UINT16_MAX, &number, NULL) < 0)
        return refuse(decoder, err, "a NUMA node or rail is out of range");
    *ret = (int)number;
    return 0;
}

static int read_flag(const struct decoder *decoder, unsigned word, bool *ret,
                     struct error_info *err)
{
    uint64_t flag = 0;
    if (read_number(decoder, word, 1, &flag, err) < 0)
        return -1;
    *ret = flag == 1;
    return 0;
}

/* "%20" and the like, in place. NUL cannot be written so. */
static int unescape(const struct decoder *decoder, char *text, struct error_info *err)
{
    char *write = text;
    for (char *read = text; *read; read++) {
        uint64_t byte = (unsigned char)*read;
        if (*read == '%') {
            char digits[3] = {read[1], read[1] ? read[2] : '\0', '\0'};
            if (strlen(digits) != 2 || parse_hexadecimal(digits, UINT8_MAX, &byte, NULL) < 0 ||
                byte == 0)
                return refuse(decoder, err, "an escape is broken");
            read += 2;
        }
        *write++ = (char)byte;
    }
    *write = '\0';
    return 0;
}

static int read_text(const struct decoder *decoder, unsigned word, const char **ret,
                     struct error_info *err)
{
    char *text = decoder->words[word];
    if (strcmp(text, "-") == 0) {
        *ret = NULL;
        return 0;
    }
    if (unescape(decoder, text, err) < 0)
        return -1;
    *ret = arena_copy_text(decoder->evidence->arena, text);
    return *ret ? 0 : error_set_memory(err);
}

/* The index of the word in a list of names. */
static int read_name(const struct decoder *decoder, unsigned word, const char *const *names,
                     unsigned count, unsigned *ret, struct error_info *err)
{
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(decoder->words[word], names[i]) != 0)
            continue;
        *ret = i;
        return 0;
    }
    return refuse(decoder, err, "a name is not known");
}

static int read_text_or_empty(const struct decoder *decoder, unsigned word, const char **ret,
                              struct error_info *err)
{
    const char *text = NULL;
    if (read_text(decoder, word, &text, err) < 0)
        return -1;
    *ret = text ? text : "";
    return 0;
}

static int read_state(const struct decoder *decoder, unsigned word, enum nvlink_state *ret,
                      struct error_info *err)
{
    const char *states[NVLINK_STATE_COUNT];
    unsigned state = 0;
    for (unsigned i = 0; i < NVLINK_STATE_COUNT; i++)
        states[i] = nvlink_state_name((enum nvlink_state)i);
    if (read_name(decoder, word, states, NVLINK_STATE_COUNT, &state, err) < 0)
        return -1;
    *ret = (enum nvlink_state)state;
    return 0;
}

static int read_node_names(struct decoder *decoder, struct error_info *err)
{
    struct node_evidence *evidence = decoder->evidence;
    unsigned source = 0, pairs = 0;
    if (read_name(decoder, 1, evidence_source_words, EVIDENCE_SOURCE_COUNT, &source, err) < 0 ||
        read_state(decoder, 2, &evidence->nvlink, err) < 0 ||
        read_text(decoder, 11, &evidence->driver_version, err) < 0 ||
        read_name(decoder, 12, evidence_pair_words, EVIDENCE_PAIRS_COUNT, &pairs, err) < 0 ||
        read_text(decoder, 14, &evidence->source_text, err) < 0)
        return -1;
    if (!evidence->source_text)
        return refuse(decoder, err, "the source has no name");
    evidence->source = (enum evidence_source)source;
    decoder->pairs = (enum evidence_pairs)pairs;
    evidence->nvlink_assumed = decoder->pairs == EVIDENCE_PAIRS_ASSUMED;
    return 0;
}

static int decode_node(struct decoder *decoder, struct error_info *err)
{
    struct node_evidence *evidence = decoder->evidence;
    uint64_t domain_nodes = 0, cpus = 0, link_rate = 0;
    if (decoder->has_node)
        return refuse(decoder, err, "a second node");
    if (read_node_names(decoder, err) < 0 ||
        read_flag(decoder, 3, &evidence->nvlink_switched, err) < 0 ||
        read_flag(decoder, 4, &evidence->nvlink_leaves_node, err) < 0 ||
        read_number(decoder, 5, UINT16_MAX, &domain_nodes, err) < 0 ||
        read_rate(decoder, 6, &evidence->gpu_nvlink_bytes_per_second, err) < 0 ||
        read_rate(decoder, 7, &evidence->pcie_bytes_per_second, err) < 0 ||
        read_number(decoder, 8, UINT64_MAX, &evidence->host_memory_bytes, err) < 0 ||
        read_number(decoder, 9, UINT64_MAX, &evidence->host_nvme_bytes, err) < 0 ||
        read_number(decoder, 10, UINT32_MAX, &cpus, err) < 0 ||
        read_number(decoder, 13, EVIDENCE_MAXIMUM_LINK_RATE, &link_rate, err) < 0)
        return -1;
    evidence->nvlink_link_bytes_per_second = (double)link_rate;
    evidence->nvlink_domain_nodes = (unsigned)domain_nodes;
    evidence->cpu_count = (unsigned)cpus;
    decoder->has_node = true;
    return 0;
}

static int decode_gpu(struct decoder *decoder, struct error_info *err)
{
    struct node_evidence *evidence = decoder->evidence;
    if (evidence->gpu_count == NODE_MAXIMUM_GPUS || decoder->has_pairs)
        return refuse(decoder, err, "a GPU too many, or too late");
    struct evidence_gpu *gpu = &decoder->gpus[evidence->gpu_count++];
    if (read_text(decoder, 1, &gpu->bus_id, err) < 0 ||
        read_text(decoder, 2, &gpu->model_text, err) < 0 ||
        read_text(decoder, 3, &gpu->uuid, err) < 0 ||
        read_number(decoder, 4, UINT64_MAX, &gpu->memory_bytes, err) < 0 ||
        read_integer(decoder, 5, NUMA_UNKNOWN, &gpu->numa, err) < 0 ||
        read_text(decoder, 6, &gpu->cpus, err) < 0 ||
        read_text(decoder, 7, &gpu->nvlink_clique, err) < 0 ||
        read_flag(decoder, 8, &gpu->mig, err) < 0 ||
        read_flag(decoder, 9, &gpu->nvlink_lost, err) < 0 ||
        read_text(decoder, 10, &gpu->problem, err) < 0)
        return -1;
    return 0;
}

static int read_nic_state(struct decoder *decoder, struct evidence_nic *nic, struct error_info *err)
{
    const char *states[NIC_STATE_COUNT], *roles[NIC_ROLE_COUNT];
    unsigned state = 0, role = 0;
    for (unsigned i = 0; i < NIC_STATE_COUNT; i++)
        states[i] = nic_state_name((enum nic_state)i);
    for (unsigned i = 0; i < NIC_ROLE_COUNT; i++)
        roles[i] = nic_role_name((enum nic_role)i);
    nic->has_role = strcmp(decoder->words[12], "-") != 0;
    if (read_name(decoder, 4, states, NIC_STATE_COUNT, &state, err) < 0 ||
        (nic->has_role && read_name(decoder, 12, roles, NIC_ROLE_COUNT, &role, err) < 0))
        return -1;
    nic->state = (enum nic_state)state;
    nic->role = (enum nic_role)role;
    return 0;
}

static int read_nic_texts(struct decoder *decoder, struct evidence_nic *nic, struct error_info *err)
{
    if (read_text(decoder, 1, &nic->name, err) < 0 ||
        read_text(decoder, 2, &nic->bus_id, err) < 0 ||
        read_text(decoder, 3, &nic->driver_class, err) < 0 ||
        read_text(decoder, 11, &nic->problem, err) < 0 ||
        read_text(decoder, 14, &nic->reason, err) < 0)
        return -1;
    return 0;
}

static int decode_nic(struct decoder *decoder, struct error_info *err)
{
    struct node_evidence *evidence = decoder->evidence;
    if (evidence->nic_count == NODE_MAXIMUM_NICS || decoder->has_pairs)
        return refuse(decoder, err, "a NIC too many, or too late");
    struct evidence_nic *nic = &decoder->nics[evidence->nic_count++];
    if (read_nic_texts(decoder, nic, err) < 0 || read_nic_state(decoder, nic, err) < 0 ||
        read_flag(decoder, 5, &nic->is_ethernet, err) < 0 ||
        read_flag(decoder, 6, &nic->is_virtual, err) < 0 ||
        read_flag(decoder, 7, &nic->shares_card, err) < 0 ||
        read_integer(decoder, 9, NUMA_UNKNOWN, &nic->numa, err) < 0 ||
        read_rate(decoder, 10, &nic->bytes_per_second, err) < 0 ||
        read_integer(decoder, 13, -1, &nic->rail, err) < 0)
        return -1;
    if (parse_hexadecimal(decoder->words[8], UINT64_MAX, &nic->guid, NULL) < 0)
        return refuse(decoder, err, "a GUID is broken");
    return 0;
}

/* Two indices, the first below the GPUs and the second below columns. From the first pair on
 * the counts can no longer change. */
static int read_pair(struct decoder *decoder, unsigned columns, size_t *ret_first,
                     size_t *ret_second, struct error_info *err)
{
    unsigned rows = decoder->evidence->gpu_count;
    uint64_t first = 0, second = 0;
    decoder->has_pairs = true;
    if (rows == 0 || columns == 0)
        return refuse(decoder, err, "a pair without devices");
    if (read_number(decoder, 1, rows - 1, &first, err) < 0 ||
        read_number(decoder, 2, columns - 1, &second, err) < 0)
        return -1;
    *ret_first = (size_t)first;
    *ret_second = (size_t)second;
    return 0;
}

/* The matrix with the first of its lines; *matrix may be there already. */
static int want_links(struct decoder *decoder, size_t columns, enum link_kind **matrix,
                      struct error_info *err)
{
    if (!*matrix)
        *matrix = arena_allocate_array(decoder->evidence->arena,
                                       decoder->evidence->gpu_count * columns, sizeof(**matrix));
    return *matrix ? 0 : error_set_memory(err);
}

static int want_pairs(struct decoder *decoder, struct error_info *err)
{
    struct arena *arena = decoder->evidence->arena;
    size_t n = decoder->evidence->gpu_count;
    bool rates = decoder->pairs == EVIDENCE_PAIRS_RATES || decoder->pairs == EVIDENCE_PAIRS_ASSUMED;
    if (rates && !decoder->rates)
        decoder->rates = arena_allocate_array(arena, n * n, sizeof(double));
    if (decoder->pairs == EVIDENCE_PAIRS_COUNTS && !decoder->counts)
        decoder->counts = arena_allocate_array(arena, n * n, sizeof(unsigned));
    if (decoder->pairs == EVIDENCE_PAIRS_NONE || decoder->rates || decoder->counts)
        return 0;
    return error_set_memory(err);
}

static int read_link(const struct decoder *decoder, enum link_kind *ret, struct error_info *err)
{
    const char *kinds[LINK_KIND_COUNT];
    unsigned kind = 0;
    for (unsigned i = 0; i < LINK_KIND_COUNT; i++)
        kinds[i] = link_kind_name((enum link_kind)i);
    if (read_name(decoder, 3, kinds, LINK_KIND_COUNT, &kind, err) < 0)
        return -1;
    *ret = (enum link_kind)kind;
    return 0;
}

static int decode_nvlink(struct decoder *decoder, struct error_info *err)
{
    size_t n = decoder->evidence->gpu_count, i = 0, j = 0;
    uint64_t value = 0;
    bool unknown = strcmp(decoder->words[3], EVIDENCE_UNKNOWN_WORD) == 0;
    bool counts = decoder->pairs == EVIDENCE_PAIRS_COUNTS;
    if (read_pair(decoder, (unsigned)n, &i, &j, err) < 0 || want_pairs(decoder, err) < 0)
        return -1;
    if (!unknown && read_number(decoder, 3, counts ? EVIDENCE_MAXIMUM_LINKS : EVIDENCE_MAXIMUM_RATE,
                                &value, err) < 0)
        return -1;
    if (i == j || decoder->pairs == EVIDENCE_PAIRS_NONE ||
        (!unknown && decoder->evidence->nvlink != NVLINK_KNOWN))
        return refuse(decoder, err, "an NVLink that cannot be");
    if (counts)
        decoder->counts[i * n + j] = decoder->counts[j * n + i] =
            unknown ? NVLINK_COUNT_UNKNOWN : (unsigned)value;
    else
        decoder->rates[i * n + j] = decoder->rates[j * n + i] =
            unknown ? NVLINK_RATE_UNKNOWN : (double)value;
    return 0;
}

static int decode_gpu_link(struct decoder *decoder, struct error_info *err)
{
    size_t n = decoder->evidence->gpu_count, i = 0, j = 0;
    enum link_kind link = LINK_UNKNOWN;
    if (read_pair(decoder, (unsigned)n, &i, &j, err) < 0 || read_link(decoder, &link, err) < 0 ||
        want_links(decoder, n, &decoder->gpu_links, err) < 0)
        return -1;
    if (i == j)
        return refuse(decoder, err, "a link of a GPU to itself");
    decoder->gpu_links[i * n + j] = decoder->gpu_links[j * n + i] = link;
    return 0;
}

static int decode_nic_link(struct decoder *decoder, struct error_info *err)
{
    size_t m = decoder->evidence->nic_count, i = 0, j = 0;
    if (read_pair(decoder, (unsigned)m, &i, &j, err) < 0 ||
        want_links(decoder, m, &decoder->nic_links, err) < 0)
        return -1;
    return read_link(decoder, &decoder->nic_links[i * m + j], err);
}

static int decode_note(struct decoder *decoder, struct error_info *err)
{
    struct node_evidence *evidence = decoder->evidence;
    if (evidence->note_count == EVIDENCE_TEXT_MAXIMUM_NOTES)
        return refuse(decoder, err, "a note too many");
    if (!REMARKS_KEPT)
        return 0;
    return read_text_or_empty(decoder, 1, &decoder->notes[evidence->note_count++], err);
}

static int decode_fact(struct decoder *decoder, struct error_info *err)
{
    struct node_evidence *evidence = decoder->evidence;
    if (evidence->fact_count == EVIDENCE_TEXT_MAXIMUM_FACTS)
        return refuse(decoder, err, "a fact too many");
    if (!REMARKS_KEPT)
        return 0;
    struct topology_fact *fact = &decoder->facts[evidence->fact_count++];
    if (read_text_or_empty(decoder, 1, &fact->fact, err) < 0 ||
        read_text_or_empty(decoder, 2, &fact->value, err) < 0 ||
        read_text_or_empty(decoder, 3, &fact->source, err) < 0)
        return -1;
    return 0;
}

static int decode_end(struct decoder *decoder, struct error_info *err)
{
    (void)err;
    decoder->has_end = true;
    return 0;
}

static int decode_line(struct decoder *decoder, struct error_info *err)
{
    static const struct {
        const char *name;
        unsigned word_count;
        int (*decode)(struct decoder *decoder, struct error_info *err);
    } lines[] = {
        {"node", 15, decode_node},       {"gpu", 11, decode_gpu},
        {"nic", 15, decode_nic},         {"nvlink", 4, decode_nvlink},
        {"gpulink", 4, decode_gpu_link}, {"niclink", 4, decode_nic_link},
        {"note", 2, decode_note},        {"fact", 4, decode_fact},
        {"end", 1, decode_end},
    };
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        if (strcmp(decoder->words[0], lines[i].name) != 0)
            continue;
        if (decoder->word_count != lines[i].word_count)
            return refuse(decoder, err, "a wrong number of words");
        if (!decoder->has_node && i > 0)
            return refuse(decoder, err, "the node must come first");
        return lines[i].decode(decoder, err);
    }
    return refuse(decoder, err, "an unknown word");
}

static int split_words(struct decoder *decoder, char *line, struct error_info *err)
{
    decoder->word_count = 0;
    for (;;) {
        if (decoder->word_count == MAXIMUM_WORDS)
            return refuse(decoder, err, "too many words");
        decoder->words[decoder->word_count++] = line;
        line += strcspn(line, " ");
        if (!*line)
            return 0;
        *line++ = '\0';
    }
}

static int decode_lines(struct decoder *decoder, char *text, struct error_info *err)
{
    while (*text && !decoder->has_end) {
        char *line = text;
        text += strcspn(text, "\n");
        if (!*text)
            return refuse(decoder, err, "the text is cut off");
        *text++ = '\0';
        decoder->line++;
        if (decoder->line == 1
                ? strcmp(line, EVIDENCE_FIRST_LINE) != 0 &&
                      refuse(decoder, err, "not " EVIDENCE_FIRST_LINE) < 0
                : split_words(decoder, line, err) < 0 || decode_line(decoder, err) < 0)
            return -1;
    }
    if (!decoder->has_end || *text)
        return refuse(decoder, err, "the end is missing, or not the end");
    return 0;
}

static int decoder_init(struct decoder *decoder, struct error_info *err)
{
    struct arena *arena = decoder->evidence->arena;
    decoder->gpus = arena_allocate_array(arena, NODE_MAXIMUM_GPUS, sizeof(*decoder->gpus));
    decoder->nics = arena_allocate_array(arena, NODE_MAXIMUM_NICS, sizeof(*decoder->nics));
    decoder->notes =
        arena_allocate_array(arena, EVIDENCE_TEXT_MAXIMUM_NOTES, sizeof(*decoder->notes));
    decoder->facts =
        arena_allocate_array(arena, EVIDENCE_TEXT_MAXIMUM_FACTS, sizeof(*decoder->facts));
    if (!decoder->gpus || !decoder->nics || !decoder->notes || !decoder->facts)
        return error_set_memory(err);
    return 0;
}

static int decode_evidence(struct decoder *decoder, char *text, struct error_info *err)
{
    struct node_evidence *evidence = decoder->evidence;
    if (decoder_init(decoder, err) < 0 || decode_lines(decoder, text, err) < 0 ||
        want_pairs(decoder, err) < 0)
        return -1;
    evidence->gpus = decoder->gpus;
    evidence->nics = decoder->nics;
    evidence->notes = decoder->notes;
    evidence->facts = evidence->fact_count > 0 ? decoder->facts : NULL;
    evidence->gpu_links = decoder->gpu_links;
    evidence->nic_links = decoder->nic_links;
    evidence->nvlink_bytes_per_second = decoder->rates;
    evidence->nvlink_link_counts = decoder->counts;
    return 0;
}

struct node_evidence *evidence_text_decode(const char *text, size_t bytes, const char *source,
                                           struct error_info *err)
{
    if (bytes > EVIDENCE_TEXT_MAXIMUM_BYTES || (bytes > 0 && memchr(text, '\0', bytes)))
        return error_null(error_set(err, "%s: the evidence is no text, or too long", source));
    CLEANUP_MEMORY char *copy = memory_copy_bytes(text, bytes);
    CLEANUP(arena) struct arena *arena = arena_create(MAXIMUM_MEMORY_BYTES);
    struct node_evidence *memory = arena ? arena_allocate(arena, sizeof(*memory)) : NULL;
    if (!copy || !memory)
        return error_null(error_set_memory(err));
    memory->arena = move_pointer(arena);
    CLEANUP(node_evidence) struct node_evidence *evidence = memory;
    struct decoder decoder = {.source = source, .evidence = evidence};
    if (decode_evidence(&decoder, copy, err) < 0)
        return NULL;
    return move_pointer(evidence);
}
