/* SPDX-License-Identifier: MIT */
#include "cli/inputs/topology_format.h"
#include "base/text_file.h"
#include "cli/inputs/child_output.h"
#include "topology/fabric_readers/fabric_file.h"
#include "topology/fabric_readers/fabric_readers.h"
#include "topology/fabric_readers/labels/label_fabric.h"
#include "topology/node_readers/hwloc/hwloc_reader.h"
#include "topology/node_readers/nccl_topology.h"
#include "topology/node_readers/node_file.h"
#include "topology/node_readers/slurm_gres.h"
#include "topology/node_readers/sysfs/infiniband_reader.h"
#include "topology/node_readers/sysfs/kfd_reader.h"
#include "topology/node_readers/topo_matrix.h"
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define LINES_LOOKED_AT 64u

#define READABLE                                                                                   \
    "a node (hwloc XML, NCCL topology XML, `nvidia-smi topo -m`, gres.conf, a parplan.node/1 "     \
    "file, a copy of /sys), a fabric (topology.conf, topology.yaml, ibnetdiscover, topograph, "    \
    "`kubectl get nodes -o json`) or a parplan.cluster/1 file"

struct source_text {
    const char *name; /* for messages */
    const char *text;
    size_t bytes;
    const struct topology_hints *hints;
    const struct catalogues *catalogues;
};

typedef struct node_evidence *(*node_parse_fn)(const char *text, size_t bytes, const char *source,
                                               struct error_info *err);
typedef struct fabric *(*fabric_parse_fn)(const char *text, size_t bytes, const char *source,
                                          struct error_info *err);

/* The first row whose mark begins the text or one of its lines, without case. Exactly one of
 * the last four is there. */
struct topology_format {
    const char *mark;
    bool first_line_only;
    bool (*has_form)(const char *text); /* beside the mark; or NULL */
    node_parse_fn node;
    fabric_parse_fn fabric;
    struct fabric *(*fabric_with_hints)(const struct source_text *from, struct error_info *err);
    struct cluster_topology *(*cluster)(const struct source_text *from, struct error_info *err);
};

static struct cluster_topology *parse_cluster(const struct source_text *from,
                                              struct error_info *err)
{
    return cluster_topology_parse(from->text, from->bytes, from->name, from->catalogues->presets,
                                  from->catalogues->gpus, err);
}

static struct fabric_label_keys *load_label_keys(const char *path, struct error_info *err)
{
    size_t bytes = 0;
    CLEANUP_MEMORY char *text = text_file_read(path, LABEL_KEYS_MAXIMUM_BYTES, &bytes, err);
    return text ? fabric_label_keys_parse(text, bytes, path, err) : NULL;
}

static struct fabric *parse_labels(const struct source_text *from, struct error_info *err)
{
    CLEANUP(fabric_label_keys) struct fabric_label_keys *keys = NULL;
    if (from->hints->label_keys) {
        keys = load_label_keys(from->hints->label_keys, err);
        if (!keys)
            return NULL;
    }
    return fabric_parse_kubernetes(from->text, from->bytes, from->name, keys, err);
}

/* The line behind this one, or NULL. */
static const char *next_line(const char *text)
{
    const char *end = strchr(text, '\n');
    return end ? end + 1 : NULL;
}

/* "5e797fc6-0f46-421a-8724-0e102c0f723c" */
static bool is_uuid(const char *text)
{
    static const char hexadecimal[] = "0123456789abcdefABCDEF";
    static const size_t groups[] = {8, 4, 4, 4, 12};
    for (size_t i = 0; i < COUNT_OF(groups); i++) {
        if (strspn(text, hexadecimal) != groups[i] ||
            (i + 1 < COUNT_OF(groups) && text[groups[i]] != '-'))
            return false;
        text += groups[i] + 1;
    }
    return true;
}

/* "host: UUID" on one of the first lines. */
static bool has_cluster_uuid(const char *text)
{
    for (unsigned line = 0; text && line < LINES_LOOKED_AT; line++, text = next_line(text)) {
        const char *at = text + strcspn(text, ": \t\n");
        if (*at == ':' && is_uuid(at + 1 + strspn(at + 1, " \t")))
            return true;
    }
    return false;
}

/* A row of GPU0: its name is a word of its own. */
static bool has_gpu_row(const char *text)
{
    for (; text; text = next_line(text)) {
        text += strspn(text, " \t");
        if (strncasecmp(text, "gpu0", 4) == 0 && strchr(" \t\r\n", text[4]))
            return true;
    }
    return false;
}

/* gres.conf's lines may begin with NodeName=, slurmd's with its own name. */
static bool has_gres(const char *text)
{
    for (const char *at = text; (at = strcasestr(at, "name=gpu")); at++)
        if (at == text || strchr(" \t\n", at[-1]))
            return true;
    return false;
}

/* Slurm's topology.yaml: a list of mappings, keys in any order. */
static bool has_topology_key(const char *text)
{
    for (; text; text = next_line(text)) {
        text += strspn(text, " \t-");
        if (strncmp(text, "topology:", 9) == 0)
            return true;
    }
    return false;
}

static bool lists_guids(const char *text) { return strcasestr(text, "nodes=0x") != NULL; }

static struct fabric *refuse_guids(const struct source_text *from, struct error_info *err)
{
    return error_null(error_set(err,
                                "%s: lists adapters by GUID (Nodes=0x…), not nodes; add --guids "
                                "FILE with lines \"host: 0xguid\"",
                                from->name));
}

static const struct topology_format formats[] = {
    {.mark = "<system", .node = nccl_topology_parse},
    {.mark = "<", .first_line_only = true, .node = hwloc_read_xml},
    {.mark = "schema: parplan.node/", .node = node_file_parse},
    {.mark = "schema: parplan.fabric/", .fabric = fabric_file_parse},
    {.mark = "schema:", .cluster = parse_cluster},
    {.mark = "switchname=", .has_form = lists_guids, .fabric_with_hints = refuse_guids},
    {.mark = "switchname=", .fabric = fabric_parse_slurm},
    {.mark = "blockname=", .fabric = fabric_parse_slurm},
    {.mark = "blocksizes=", .fabric = fabric_parse_slurm},
    {.mark = "-", .has_form = has_topology_key, .fabric = fabric_parse_slurm_yaml},
    {.mark = "autodetect=", .node = slurm_gres_parse},
    {.mark = "vendid=", .fabric = fabric_parse_ibnetdiscover},
    {.mark = "gpu0", .has_form = has_gpu_row, .node = topo_matrix_parse},
    {.mark = "switches:", .fabric = fabric_parse_topograph_model},
    {.mark = "blocks:", .fabric = fabric_parse_topograph_model},
    {.mark = "\"instances\"", .fabric = fabric_parse_topograph_graph},
    {.mark = "{\"instances\"", .fabric = fabric_parse_topograph_graph},
    {.mark = "{", .first_line_only = true, .fabric_with_hints = parse_labels},
    {.mark = "", .first_line_only = true, .has_form = has_gres, .node = slurm_gres_parse},
    {.mark = "",
     .first_line_only = true,
     .has_form = has_cluster_uuid,
     .fabric = fabric_parse_cluster_uuids},
};

static bool has_mark(const struct topology_format *format, const char *text)
{
    size_t length = strlen(format->mark);
    while (strncasecmp(text, format->mark, length) != 0) {
        const char *end = format->first_line_only ? NULL : strchr(text, '\n');
        if (!end)
            return false;
        text = end + 1 + strspn(end + 1, " \t");
    }
    return true;
}

static const char *skip_blank(const char *text) { return text + strspn(text, " \t\r\n"); }

static const struct topology_format *find_format(const char *text)
{
    for (size_t i = 0; i < COUNT_OF(formats); i++)
        if (has_mark(&formats[i], text) && (!formats[i].has_form || formats[i].has_form(text)))
            return &formats[i];
    return NULL;
}

static int add_evidence(struct topology_input *input, struct node_evidence *evidence)
{
    if (!evidence)
        return -1;
    input->evidence[input->evidence_count++] = evidence;
    return 0;
}

static struct fabric *parse_with_guids(const struct source_text *from, struct error_info *err)
{
    size_t bytes = 0;
    CLEANUP_MEMORY char *guids =
        text_file_read(from->hints->guids, TOPOLOGY_SOURCE_MAXIMUM_BYTES, &bytes, err);
    if (!guids)
        return NULL;
    return fabric_parse_sharp(from->text, from->bytes, from->name, guids, bytes, from->hints->guids,
                              err);
}

static int parse(struct topology_input *input, const struct source_text *from,
                 struct error_info *err)
{
    const char *start = skip_blank(from->text);
    if (*start == '\0')
        return error_set(err, "%s: the file is empty; give %s", from->name, READABLE);
    if (from->hints->guids) {
        input->fabric = parse_with_guids(from, err);
        return input->fabric ? 0 : -1;
    }
    const struct topology_format *format = find_format(start);
    if (!format)
        return error_set(err, "%s: no format that is known here; give %s", from->name, READABLE);
    if (format->node)
        return add_evidence(input, format->node(from->text, from->bytes, from->name, err));
    if (format->fabric)
        input->fabric = format->fabric(from->text, from->bytes, from->name, err);
    else if (format->fabric_with_hints)
        input->fabric = format->fabric_with_hints(from, err);
    else
        input->cluster = format->cluster(from, err);
    return input->fabric || input->cluster ? 0 : -1;
}

static int open_controller(struct topology_input *input, struct error_info *err)
{
    static const char *const scontrol[] = {"scontrol", "show", "topology", NULL};
    static const char name[] = "scontrol show topology";
    size_t bytes = 0;
    CLEANUP_MEMORY char *text = child_output_read(scontrol, TOPOLOGY_SOURCE_MAXIMUM_BYTES,
                                                  SCONTROL_TIMEOUT_SECONDS, &bytes, err);
    if (!text)
        return -1;
    if (*skip_blank(text) == '\0')
        return error_set(err,
                         "%s: Slurm knows no switches (TopologyPlugin is none); give a "
                         "topology.conf",
                         name);
    input->fabric = fabric_parse_slurm(text, bytes, name, err);
    return input->fabric ? 0 : -1;
}

static bool is_directory(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static int add_sysfs(struct topology_input *input, const char *root, struct error_info *err)
{
    struct node_evidence *evidence = NULL;
    if (kfd_read(root, &evidence, err) < 0)
        return -1;
    if (evidence)
        input->evidence[input->evidence_count++] = evidence;
    evidence = NULL;
    if (infiniband_read(root, &evidence, err) < 0)
        return -1;
    if (evidence)
        input->evidence[input->evidence_count++] = evidence;
    return 0;
}

static int open_directory(struct topology_input *input, const char *path, struct error_info *err)
{
    if (add_sysfs(input, path, err) < 0)
        return -1;
    if (input->evidence_count > 0)
        return 0;
    return error_set(err,
                     "%s: a directory without /sys/class/kfd or /sys/class/infiniband; give "
                     "a file or a copy of a machine's /sys",
                     path);
}

static int open_path(struct topology_input *input, const char *path,
                     const struct topology_hints *hints, const struct catalogues *catalogues,
                     struct error_info *err)
{
    if (strcmp(path, TOPOLOGY_SOURCE_SLURM) == 0)
        return open_controller(input, err);
    if (is_directory(path))
        return open_directory(input, path, err);
    size_t bytes = 0;
    CLEANUP_MEMORY char *text = text_file_read(path, TOPOLOGY_SOURCE_MAXIMUM_BYTES, &bytes, err);
    if (!text)
        return -1;
    const struct source_text from = {
        .name = path, .text = text, .bytes = bytes, .hints = hints, .catalogues = catalogues};
    return parse(input, &from, err);
}

int topology_input_open(struct topology_input *input, const char *path,
                        const struct topology_hints *hints, const struct catalogues *catalogues,
                        struct error_info *err)
{
    static const struct topology_hints none;
    *input = (struct topology_input){.fabric = NULL};
    hints = hints ? hints : &none;
    if (open_path(input, path, hints, catalogues, err) == 0)
        return 0;
    topology_input_done(input);
    return -1;
}

void topology_input_done(struct topology_input *input)
{
    for (unsigned i = 0; i < input->evidence_count; i++)
        node_evidence_free(input->evidence[i]);
    fabric_free(input->fabric);
    cluster_topology_free(input->cluster);
    *input = (struct topology_input){.fabric = NULL};
}
