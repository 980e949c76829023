/* SPDX-License-Identifier: MIT */
#include "topology/node_readers/evidence_text.h"
#include "base/parse_number.h"
#include <string.h>

#define FIRST_LINE "parplan.evidence/1"
#define MAXIMUM_WORDS 12u
#define MAXIMUM_MEMORY_BYTES ((size_t)32 << 20)
#define MAXIMUM_RATE UINT64_C(1000000000000000)

static const char *const source_words[EVIDENCE_SOURCE_COUNT] = {
    [EVIDENCE_PCI] = "pci",       [EVIDENCE_NCCL_XML] = "nccl",
    [EVIDENCE_TOPO_M] = "topo-m", [EVIDENCE_SLURM_GRES] = "gres",
    [EVIDENCE_HWLOC] = "hwloc",   [EVIDENCE_INFINIBAND] = "infiniband",
    [EVIDENCE_KFD] = "kfd",       [EVIDENCE_NVML] = "nvml",
    [EVIDENCE_PRESET] = "preset", [EVIDENCE_ADMIN] = "admin",
};

/* --- encoding --- */

static void add_text(struct text_buffer *out, const char *text)
{
    text_buffer_add_text(out, " ");
    if (!text || strcmp(text, "-") == 0)
        text_buffer_add_text(out, text ? "%2D" : "-");
    else
        for (; *text; text++)
            text_buffer_add(out, *text > ' ' && *text <= '~' && *text != '%' ? "%c" : "%%%02X",
                            (unsigned char)*text);
}

static void add_number(struct text_buffer *out, uint64_t number)
{
    text_buffer_add(out, " %llu", (unsigned long long)number);
}

static void add_rate(struct text_buffer *out, double rate)
{
    add_number(out, rate > 0 && rate < (double)MAXIMUM_RATE ? (uint64_t)rate : 0);
}

static void encode_devices(const struct node_evidence *evidence, struct text_buffer *out)
{
    for (unsigned i = 0; i < evidence->gpu_count; i++) {
        const struct evidence_gpu *gpu = &evidence->gpus[i];
        text_buffer_add_text(out, "gpu");
        add_text(out, gpu->bus_id);
        add_text(out, gpu->model_text);
        add_text(out, gpu->uuid);
        add_number(out, gpu->memory_bytes);
        text_buffer_add(out, " %d\n", gpu->numa);
    }
    for (unsigned i = 0; i < evidence->nic_count; i++) {
        const struct evidence_nic *nic = &evidence->nics[i];
        text_buffer_add_text(out, "nic");
        add_text(out, nic->name);
        add_text(out, nic->bus_id);
        add_text(out, nic->driver_class);
        add_text(out, nic_state_name(nic->state));
        text_buffer_add(out, " %d %d %llx %d", nic->is_ethernet, nic->is_virtual,
                        (unsigned long long)nic->guid, nic->numa);
        add_rate(out, nic->bytes_per_second);
        text_buffer_add_text(out, "\n");
    }
}

static void encode_pairs(const struct node_evidence *evidence, struct text_buffer *out)
{
    size_t n = evidence->gpu_count, m = evidence->nic_count;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i + 1; j < n; j++) {
            double rate = evidence->nvlink_bytes_per_second
                              ? evidence->nvlink_bytes_per_second[i * n + j]
                              : 0;
            if (rate > 0) {
                text_buffer_add(out, "nvlink %zu %zu", i, j);
                add_rate(out, rate);
                text_buffer_add_text(out, "\n");
            }
            if (evidence->gpu_links && evidence->gpu_links[i * n + j] != LINK_UNKNOWN)
                text_buffer_add(out, "gpulink %zu %zu %s\n", i, j,
                                link_kind_name(evidence->gpu_links[i * n + j]));
        }
        for (size_t j = 0; evidence->nic_links && j < m; j++)
            if (evidence->nic_links[i * m + j] != LINK_UNKNOWN)
                text_buffer_add(out, "niclink %zu %zu %s\n", i, j,
                                link_kind_name(evidence->nic_links[i * m + j]));
    }
}

void evidence_text_encode(const struct node_evidence *evidence, struct text_buffer *out)
{
    text_buffer_add(out, "%s\nnode %s %s %d %u", FIRST_LINE, source_words[evidence->source],
                    nvlink_state_name(evidence->nvlink), evidence->nvlink_switched,
                    evidence->nvlink_domain_nodes);
    add_rate(out, evidence->gpu_nvlink_bytes_per_second);
    add_rate(out, evidence->pcie_bytes_per_second);
    add_number(out, evidence->host_memory_bytes);
    add_number(out, evidence->host_nvme_bytes);
    add_number(out, evidence->cpu_count);
    add_text(out, evidence->source_text);
    text_buffer_add_text(out, "\n");
    encode_devices(evidence, out);
    encode_pairs(evidence, out);
    for (size_t i = 0; i < evidence->note_count; i++) {
        text_buffer_add_text(out, "note");
        add_text(out, evidence->notes[i]);
        text_buffer_add_text(out, "\n");
    }
    text_buffer_add_text(out, "end\n");
}

/* --- decoding --- */

struct decoder {
    const char *source;
    unsigned line;
    char *words[MAXIMUM_WORDS];
    unsigned word_count;
    struct node_evidence *evidence;
    struct evidence_gpu *gpus;
    struct evidence_nic *nics;
    const char **notes;
    double *rates;             /* for NODE_MAXIMUM_GPUS^2, with gpu_count as the row */
    enum link_kind *gpu_links; /* the same */
    enum link_kind *nic_links; /* gpu_count rows of nic_count */
    bool has_node, has_pairs, has_end;
};

static int refuse(const struct decoder *decoder, struct error_info *err, const char *what)
{
    return error_set(err, "%s: line %u of the evidence: %s", decoder->source, decoder->line, what);
}

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
    if (read_number(decoder, word, MAXIMUM_RATE, &rate, err) < 0)
        return -1;
    *ret = (double)rate;
    return 0;
}

static int read_numa(const struct decoder *decoder, unsigned word, int *ret, struct error_info *err)
{
    int64_t numa;
    if (parse_signed(decoder->words[word], NUMA_UNKNOWN, UINT16_MAX, &numa, NULL) < 0)
        return refuse(decoder, err, "a NUMA node is out of range");
    *ret = (int)numa;
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

static int decode_node(struct decoder *decoder, struct error_info *err)
{
    struct node_evidence *evidence = decoder->evidence;
    const char *states[NVLINK_STATE_COUNT];
    unsigned source = 0, state = 0;
    uint64_t domain_nodes = 0, cpus = 0;
    for (unsigned i = 0; i < NVLINK_STATE_COUNT; i++)
        states[i] = nvlink_state_name((enum nvlink_state)i);
    if (decoder->has_node)
        return refuse(decoder, err, "a second node");
    if (read_name(decoder, 1, source_words, EVIDENCE_SOURCE_COUNT, &source, err) < 0 ||
        read_name(decoder, 2, states, NVLINK_STATE_COUNT, &state, err) < 0 ||
        read_flag(decoder, 3, &evidence->nvlink_switched, err) < 0 ||
        read_number(decoder, 4, UINT16_MAX, &domain_nodes, err) < 0 ||
        read_rate(decoder, 5, &evidence->gpu_nvlink_bytes_per_second, err) < 0 ||
        read_rate(decoder, 6, &evidence->pcie_bytes_per_second, err) < 0 ||
        read_number(decoder, 7, UINT64_MAX, &evidence->host_memory_bytes, err) < 0 ||
        read_number(decoder, 8, UINT64_MAX, &evidence->host_nvme_bytes, err) < 0 ||
        read_number(decoder, 9, UINT32_MAX, &cpus, err) < 0 ||
        read_text(decoder, 10, &evidence->source_text, err) < 0)
        return -1;
    if (!evidence->source_text)
        return refuse(decoder, err, "the source has no name");
    evidence->source = (enum evidence_source)source;
    evidence->nvlink = (enum nvlink_state)state;
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
        read_numa(decoder, 5, &gpu->numa, err) < 0)
        return -1;
    return 0;
}

static int decode_nic(struct decoder *decoder, struct error_info *err)
{
    struct node_evidence *evidence = decoder->evidence;
    const char *states[NIC_STATE_COUNT];
    unsigned state = 0;
    for (unsigned i = 0; i < NIC_STATE_COUNT; i++)
        states[i] = nic_state_name((enum nic_state)i);
    if (evidence->nic_count == NODE_MAXIMUM_NICS || decoder->has_pairs)
        return refuse(decoder, err, "a NIC too many, or too late");
    struct evidence_nic *nic = &decoder->nics[evidence->nic_count++];
    if (read_text(decoder, 1, &nic->name, err) < 0 ||
        read_text(decoder, 2, &nic->bus_id, err) < 0 ||
        read_text(decoder, 3, &nic->driver_class, err) < 0 ||
        read_name(decoder, 4, states, NIC_STATE_COUNT, &state, err) < 0 ||
        read_flag(decoder, 5, &nic->is_ethernet, err) < 0 ||
        read_flag(decoder, 6, &nic->is_virtual, err) < 0 ||
        read_numa(decoder, 8, &nic->numa, err) < 0 ||
        read_rate(decoder, 9, &nic->bytes_per_second, err) < 0)
        return -1;
    if (parse_hexadecimal(decoder->words[7], UINT64_MAX, &nic->guid, NULL) < 0)
        return refuse(decoder, err, "a GUID is broken");
    nic->state = (enum nic_state)state;
    return 0;
}

/* Two indices, the first below rows and the second below columns. The matrices come with the
 * first of them, when the counts can no longer change. */
static int read_pair(struct decoder *decoder, unsigned columns, size_t *ret_first,
                     size_t *ret_second, struct error_info *err)
{
    struct node_evidence *evidence = decoder->evidence;
    size_t n = evidence->gpu_count, m = evidence->nic_count;
    uint64_t first = 0, second = 0;
    if (!decoder->has_pairs) {
        decoder->rates = arena_allocate_array(evidence->arena, n * n, sizeof(double));
        decoder->gpu_links = arena_allocate_array(evidence->arena, n * n, sizeof(enum link_kind));
        decoder->nic_links = arena_allocate_array(evidence->arena, n * m, sizeof(enum link_kind));
        if (!decoder->rates || !decoder->gpu_links || !decoder->nic_links)
            return error_set_memory(err);
        decoder->has_pairs = true;
    }
    if (n == 0 || columns == 0)
        return refuse(decoder, err, "a pair without devices");
    if (read_number(decoder, 1, n - 1, &first, err) < 0 ||
        read_number(decoder, 2, columns - 1, &second, err) < 0)
        return -1;
    *ret_first = (size_t)first;
    *ret_second = (size_t)second;
    return 0;
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
    double rate = 0;
    if (read_pair(decoder, (unsigned)n, &i, &j, err) < 0 || read_rate(decoder, 3, &rate, err) < 0)
        return -1;
    if (i == j || decoder->evidence->nvlink != NVLINK_KNOWN)
        return refuse(decoder, err, "an NVLink that cannot be");
    decoder->rates[i * n + j] = decoder->rates[j * n + i] = rate;
    return 0;
}

static int decode_gpu_link(struct decoder *decoder, struct error_info *err)
{
    size_t n = decoder->evidence->gpu_count, i = 0, j = 0;
    enum link_kind link = LINK_UNKNOWN;
    if (read_pair(decoder, (unsigned)n, &i, &j, err) < 0 || read_link(decoder, &link, err) < 0)
        return -1;
    if (i == j)
        return refuse(decoder, err, "a link of a GPU to itself");
    decoder->gpu_links[i * n + j] = decoder->gpu_links[j * n + i] = link;
    return 0;
}

static int decode_nic_link(struct decoder *decoder, struct error_info *err)
{
    size_t m = decoder->evidence->nic_count, i = 0, j = 0;
    if (read_pair(decoder, (unsigned)m, &i, &j, err) < 0)
        return -1;
    return read_link(decoder, &decoder->nic_links[i * m + j], err);
}

static int decode_note(struct decoder *decoder, struct error_info *err)
{
    struct node_evidence *evidence = decoder->evidence;
    const char *note = NULL;
    if (evidence->note_count == EVIDENCE_TEXT_MAXIMUM_NOTES)
        return refuse(decoder, err, "a note too many");
    if (read_text(decoder, 1, &note, err) < 0)
        return -1;
    decoder->notes[evidence->note_count++] = note ? note : "";
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
        {"node", 11, decode_node},       {"gpu", 6, decode_gpu},
        {"nic", 10, decode_nic},         {"nvlink", 4, decode_nvlink},
        {"gpulink", 4, decode_gpu_link}, {"niclink", 4, decode_nic_link},
        {"note", 2, decode_note},        {"end", 1, decode_end},
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
                ? strcmp(line, FIRST_LINE) != 0 && refuse(decoder, err, "not " FIRST_LINE) < 0
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
    if (!decoder->gpus || !decoder->nics || !decoder->notes)
        return error_set_memory(err);
    return 0;
}

static int decode_evidence(struct decoder *decoder, char *text, struct error_info *err)
{
    struct node_evidence *evidence = decoder->evidence;
    if (decoder_init(decoder, err) < 0 || decode_lines(decoder, text, err) < 0)
        return -1;
    evidence->gpus = decoder->gpus;
    evidence->nics = decoder->nics;
    evidence->notes = decoder->notes;
    evidence->gpu_links = decoder->gpu_links;
    evidence->nic_links = decoder->nic_links;
    if (evidence->nvlink == NVLINK_KNOWN)
        evidence->nvlink_bytes_per_second = decoder->rates;
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
