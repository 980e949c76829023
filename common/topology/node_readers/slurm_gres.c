/* SPDX-License-Identifier: MIT */
#include "topology/node_readers/slurm_gres.h"
#include "base/id_set.h"
#include "base/node_list.h"
#include "base/parse_number.h"
#include "topology/node_readers/evidence_draft.h"
#include "topology/node_readers/text/gres_lines.h"
#include <string.h>
#include <strings.h>

#define NAMES_MAXIMUM NODE_LIST_MAXIMUM_NODES /* over all NodeName= of a file */
#define CAPABILITIES "/dev/nvidia-caps/"
#define LINK_BYTES 8u
#define LINK_SELF (-1)

struct device {
    unsigned line;
    const char *file, *type, *cores, *links; /* or NULL */
};

struct reader {
    const char *source;
    struct evidence_draft *draft;
    struct device devices[NODE_MAXIMUM_GPUS];
    unsigned count;
    const char *node;       /* the first that the file names, or NULL */
    const char *node_names; /* the list that it stands in */
    size_t names;           /* read so far */
    unsigned detected_line; /* of an AutoDetect= that finds GPUs; 0: none */
    unsigned other_line;    /* of GPUs of other nodes; 0: none */
};

/* --- nodes ------------------------------------------------------------------------ */

/* 1: the line is about the file's first node, 0: about others. */
static int is_about_node(struct reader *reader, const struct gres_line *line,
                         struct error_info *err)
{
    const char *names = line->values[GRES_NODE_NAME];
    if (!names)
        return 1;
    if (reader->node_names && strcmp(names, reader->node_names) == 0)
        return 1;
    CLEANUP(node_list) struct node_list *list = node_list_decode(names, err);
    if (!list)
        return error_prefix(err, "%s:%u: NodeName", reader->source, line->number);
    reader->names += node_list_count(list);
    if (reader->names > NAMES_MAXIMUM)
        return error_set(err, "%s:%u: more than %u names of nodes", reader->source, line->number,
                         NAMES_MAXIMUM);
    if (!reader->node) {
        reader->node = evidence_draft_copy(reader->draft, node_list_name(list, 0));
        reader->node_names = names;
        return reader->node ? 1 : error_set_memory(err);
    }
    for (size_t i = 0; i < node_list_count(list); i++)
        if (strcmp(node_list_name(list, i), reader->node) == 0)
            return 1;
    return 0;
}

/* --- lines ------------------------------------------------------------------------ */

static int check_file(const struct reader *reader, unsigned line, const char *file,
                      struct error_info *err)
{
    for (unsigned i = 0; file && i < reader->count; i++)
        if (reader->devices[i].file && strcmp(reader->devices[i].file, file) == 0)
            return error_set(err, "%s:%u: %s stands at line %u already; one node is expected",
                             reader->source, line, file, reader->devices[i].line);
    return 0;
}

/* file: or NULL. */
static int add_device(struct reader *reader, const struct gres_line *line, const char *file,
                      struct error_info *err)
{
    if (check_file(reader, line->number, file, err) < 0)
        return -1;
    if (reader->count == NODE_MAXIMUM_GPUS)
        return error_set(err, "%s:%u: more than %u GPUs in one node", reader->source, line->number,
                         NODE_MAXIMUM_GPUS);
    struct device *device = &reader->devices[reader->count++];
    *device = (struct device){
        .line = line->number,
        .type = line->values[GRES_TYPE],
        .cores = line->values[GRES_CORES],
        .links = line->values[GRES_LINKS],
    };
    if (!file)
        return 0;
    device->file = evidence_draft_copy(reader->draft, file);
    return device->file ? 0 : error_set_memory(err);
}

static int read_count(const struct reader *reader, const struct gres_line *line, uint64_t *ret,
                      struct error_info *err)
{
    const char *text = line->values[GRES_COUNT];
    if (text && parse_unsigned(text, 0, NODE_MAXIMUM_GPUS, ret, err) < 0)
        return error_prefix(err, "%s:%u: Count", reader->source, line->number);
    return 0;
}

/* "/dev/nvidia[0-3]": a GPU each. */
static int add_files(struct reader *reader, const struct gres_line *line, struct error_info *err)
{
    CLEANUP(node_list) struct node_list *files = node_list_decode(line->values[GRES_FILE], err);
    if (!files)
        return error_prefix(err, "%s:%u: File", reader->source, line->number);
    size_t found = node_list_count(files);
    uint64_t count = found;
    if (read_count(reader, line, &count, err) < 0)
        return -1;
    if (count != found)
        return error_set(err, "%s:%u: Count=%u, and File= names %zu devices", reader->source,
                         line->number, (unsigned)count, found);
    for (size_t i = 0; i < found; i++)
        if (add_device(reader, line, node_list_name(files, i), err) < 0)
            return -1;
    return 0;
}

static bool detects(const struct gres_line *line)
{
    const char *how = line->values[GRES_AUTO_DETECT];
    return how && strcasecmp(how, "off") != 0;
}

/* Without File=, MultipleFiles= (MIG) is one device of several files. */
static int add_devices(struct reader *reader, const struct gres_line *line, struct error_info *err)
{
    if (line->values[GRES_FILE])
        return add_files(reader, line, err);
    bool bare = detects(line) && !line->values[GRES_COUNT] && !line->values[GRES_MULTIPLE_FILES];
    uint64_t count = bare ? 0 : 1;
    if (read_count(reader, line, &count, err) < 0)
        return -1;
    for (uint64_t i = 0; i < count; i++)
        if (add_device(reader, line, count == 1 ? line->values[GRES_MULTIPLE_FILES] : NULL, err) <
            0)
            return -1;
    return 0;
}

static int take_gpu_line(struct reader *reader, const struct gres_line *line,
                         struct error_info *err)
{
    int about = is_about_node(reader, line, err);
    if (about < 0)
        return -1;
    const char *names = line->values[GRES_NODE_NAME];
    if (names && strcmp(names, reader->node_names) != 0 && reader->other_line == 0)
        reader->other_line = line->number;
    return about ? add_devices(reader, line, err) : 0;
}

static int take_line(struct reader *reader, const struct gres_line *line, struct error_info *err)
{
    const char *name = line->values[GRES_NAME];
    if (!name && !line->values[GRES_AUTO_DETECT])
        return error_set(err, "%s:%u: Name= is missing", reader->source, line->number);
    if (detects(line) && reader->detected_line == 0)
        reader->detected_line = line->number;
    bool is_gpu = name && strcasecmp(name, "gpu") == 0;
    return is_gpu ? take_gpu_line(reader, line, err) : 0;
}

static int take_lines(struct reader *reader, char *text, struct error_info *err)
{
    struct gres_lines lines;
    struct gres_line line;
    int status;
    gres_lines_init(&lines, text, reader->source);
    while ((status = gres_lines_next(&lines, &line, err)) > 0)
        if (take_line(reader, &line, err) < 0)
            return -1;
    if (status < 0)
        return -1;
    if (reader->count == 0 && reader->detected_line > 0)
        return error_set(err,
                         "%s:%u: AutoDetect= leaves the GPUs to slurmd; give the output of "
                         "slurmd -G",
                         reader->source, reader->detected_line);
    if (reader->count == 0)
        return error_set(err, "%s: no line with Name=gpu names a GPU of %s", reader->source,
                         reader->node ? reader->node : "a node");
    if (reader->other_line > 0)
        evidence_draft_note(reader->draft,
                            "%s:%u: GPUs of other nodes are described, too; those of %s are read",
                            reader->source, reader->other_line, reader->node);
    return 0;
}

/* --- GPUs ------------------------------------------------------------------------- */

/* Slurm's order of devices, which Links= counts in. */
static void sort_devices(struct reader *reader)
{
    for (unsigned i = 0; i < reader->count; i++)
        if (!reader->devices[i].file)
            return;
    for (unsigned i = 1; i < reader->count; i++) {
        struct device device = reader->devices[i];
        unsigned at = i;
        for (; at > 0 && node_name_compare(reader->devices[at - 1].file, device.file) > 0; at--)
            reader->devices[at] = reader->devices[at - 1];
        reader->devices[at] = device;
    }
}

static int take_cores(struct reader *reader, const struct device *device, struct evidence_gpu *gpu,
                      struct error_info *err)
{
    struct error_info reason = {.kind = ERROR_NONE};
    if (!device->cores)
        return 0;
    CLEANUP(id_set) struct id_set *cores = id_set_decode(device->cores, &reason);
    if (cores)
        gpu->cpus = evidence_draft_copy(reader->draft, device->cores);
    else if (reason.kind == ERROR_MEMORY)
        return error_set_memory(err);
    else
        evidence_draft_note(reader->draft, "%s:%u: Cores=%.40s is no list of cores", reader->source,
                            device->line, device->cores);
    return 0;
}

static int add_gpus(struct reader *reader, struct error_info *err)
{
    for (unsigned i = 0; i < reader->count; i++) {
        const struct device *device = &reader->devices[i];
        struct evidence_gpu *gpu = evidence_draft_add_gpu(reader->draft, err);
        if (!gpu)
            return -1;
        gpu->model_text = evidence_draft_copy(reader->draft, device->type);
        gpu->mig = device->file && strstr(device->file, CAPABILITIES);
        if (take_cores(reader, device, gpu, err) < 0)
            return -1;
    }
    return 0;
}

/* --- links ------------------------------------------------------------------------ */

/* The number at *text, which moves behind it and its comma; false: none, or out of range. */
static bool read_link(const char **text, int64_t *ret)
{
    char word[LINK_BYTES] = "";
    size_t length = strcspn(*text, ",");
    if (length == 0 || length >= sizeof(word))
        return false;
    memcpy(word, *text, length);
    *text += length + ((*text)[length] == ',');
    return parse_signed(word, LINK_SELF, SLURM_GRES_MAXIMUM_LINKS, ret, NULL) == 0;
}

/* One number for each GPU, and none but the GPU's own is -1. */
static bool read_links(const struct reader *reader, unsigned own, unsigned *ret)
{
    const char *text = reader->devices[own].links;
    int64_t links;
    for (unsigned i = 0; i < reader->count; i++) {
        if (!read_link(&text, &links) || (i == own ? links > 0 : links == LINK_SELF))
            return false;
        ret[i] = i == own ? 0 : (unsigned)links;
    }
    return *text == '\0';
}

static void take_links(struct reader *reader, unsigned own)
{
    const struct device *device = &reader->devices[own];
    unsigned *row = reader->draft->link_counts[own];
    if (device->links && read_links(reader, own, row))
        return;
    if (device->links)
        evidence_draft_note(reader->draft,
                            "%s:%u: Links=%.60s is no list for GPU %u of %u, and is not used",
                            reader->source, device->line, device->links, own, reader->count);
    for (unsigned i = 0; i < reader->count; i++)
        row[i] = i == own ? 0 : NVLINK_COUNT_UNKNOWN;
}

/* What one of the two does not know the other may; where they contradict each other the lower
 * number counts. */
static unsigned join(struct reader *reader, unsigned first, unsigned second)
{
    unsigned there = reader->draft->link_counts[first][second];
    unsigned back = reader->draft->link_counts[second][first];
    if (there != back && there != NVLINK_COUNT_UNKNOWN && back != NVLINK_COUNT_UNKNOWN)
        evidence_draft_note(reader->draft,
                            "%s: GPUs %u and %u count %u and %u links to each other; the lower "
                            "number counts",
                            reader->source, first, second, there, back);
    return there < back ? there : back; /* unknown is the largest */
}

static void conclude_links(struct reader *reader)
{
    struct evidence_draft *draft = reader->draft;
    bool linked = false, said = false;
    for (unsigned i = 0; i < reader->count; i++)
        take_links(reader, i);
    for (unsigned i = 0; i < reader->count; i++) {
        for (unsigned j = 0; j < i; j++) {
            unsigned links = join(reader, i, j);
            said = said || links != NVLINK_COUNT_UNKNOWN;
            linked = linked || (links != NVLINK_COUNT_UNKNOWN && links > 0);
            evidence_draft_set_link_count(draft, i, j, links);
        }
    }
    draft->has_link_counts = linked;
    draft->evidence.nvlink = linked ? NVLINK_KNOWN : NVLINK_UNKNOWN;
    if (said && !linked)
        evidence_draft_note(draft,
                            "%s: Links= are all 0, which says nothing: Slurm counts no links to "
                            "switches",
                            reader->source);
}

static int read_node(struct reader *reader, char *text, struct error_info *err)
{
    if (take_lines(reader, text, err) < 0)
        return -1;
    sort_devices(reader);
    if (add_gpus(reader, err) < 0)
        return -1;
    conclude_links(reader);
    return 0;
}

static int check_text(const char *text, size_t bytes, const char *source, struct error_info *err)
{
    if (bytes > SLURM_GRES_MAXIMUM_BYTES)
        return error_set(err, "%s: larger than %zu MiB", source, SLURM_GRES_MAXIMUM_BYTES >> 20);
    if (bytes > 0 && memchr(text, '\0', bytes))
        return error_set(err, "%s: has a NUL byte; a text file is expected", source);
    return 0;
}

struct node_evidence *slurm_gres_parse(const char *text, size_t bytes, const char *source,
                                       struct error_info *err)
{
    if (check_text(text, bytes, source, err) < 0)
        return NULL;
    CLEANUP_MEMORY char *copy = memory_copy_bytes(text, bytes);
    if (!copy)
        return error_null(error_set_memory(err));
    CLEANUP(evidence_draft)
    struct evidence_draft *draft = evidence_draft_create(EVIDENCE_SLURM_GRES, source, err);
    if (!draft)
        return NULL;
    draft->evidence.source_text = evidence_draft_format(draft, "slurm gres %s", source);
    struct reader reader = {.source = source, .draft = draft};
    if (read_node(&reader, copy, err) < 0)
        return NULL;
    return evidence_draft_finish(draft, err);
}
