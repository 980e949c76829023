/* SPDX-License-Identifier: MIT */
#include "cli/inputs/topology_source.h"
#include "base/text_file.h"
#include "cli/inputs/child_output.h"
#include "topology/node_evidence.h"
#include "topology/node_readers/hwloc_reader.h"
#include <string.h>
#include <strings.h>

#define READABLE                                                                                   \
    "an hwloc XML (<topology …>), a cluster file (schema: parplan.cluster/1), or Slurm's "       \
    "topology text (SwitchName=…)"

struct source_text {
    const char *name; /* for messages */
    const char *text;
    size_t bytes;
    const struct catalogues *catalogues;
};

static int merge(struct topology_source *source, struct node_evidence *evidence, const char *name,
                 const struct catalogues *catalogues, struct error_info *err)
{
    CLEANUP(node_evidence) struct node_evidence *owned = evidence;
    if (!owned)
        return -1;
    const struct node_evidence *const one[] = {owned};
    source->node = node_topology_merge(name, one, 1, catalogues->gpus, err);
    return source->node ? 0 : -1;
}

static int open_xml(struct topology_source *source, const struct source_text *from,
                    struct error_info *err)
{
    return merge(source, hwloc_read_xml(from->text, from->bytes, from->name, err), from->name,
                 from->catalogues, err);
}

static int open_cluster(struct topology_source *source, const struct source_text *from,
                        struct error_info *err)
{
    source->cluster =
        cluster_topology_parse(from->text, from->bytes, from->name, from->catalogues->presets,
                               from->catalogues->gpus, err);
    return source->cluster ? 0 : -1;
}

static int open_slurm_text(struct topology_source *source, const struct source_text *from,
                           struct error_info *err)
{
    source->fabric = fabric_parse_slurm(from->text, from->bytes, from->name, err);
    return source->fabric ? 0 : -1;
}

static int refuse_nccl(struct topology_source *source, const struct source_text *from,
                       struct error_info *err)
{
    (void)source;
    return error_set(err, "%s: an NCCL topology (<system …>) is not read yet; give %s", from->name,
                     READABLE);
}

/* The first row whose mark begins the text or one of its lines, without case. */
struct content_kind {
    const char *mark;
    bool first_line_only;
    int (*open)(struct topology_source *source, const struct source_text *from,
                struct error_info *err);
};

static const struct content_kind kinds[] = {
    {.mark = "<system", .first_line_only = false, .open = refuse_nccl},
    {.mark = "<", .first_line_only = true, .open = open_xml},
    {.mark = "schema:", .first_line_only = false, .open = open_cluster},
    {.mark = "switchname=", .first_line_only = false, .open = open_slurm_text},
    {.mark = "blockname=", .first_line_only = false, .open = open_slurm_text},
};

static bool has_mark(const struct content_kind *kind, const char *text)
{
    size_t length = strlen(kind->mark);
    while (strncasecmp(text, kind->mark, length) != 0) {
        const char *end = kind->first_line_only ? NULL : strchr(text, '\n');
        if (!end)
            return false;
        text = end + 1 + strspn(end + 1, " \t");
    }
    return true;
}

static const char *skip_blank(const char *text)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    if (strncmp(text, byte_order_mark, 3) == 0)
        text += 3;
    return text + strspn(text, " \t\r\n");
}

static int open_text(struct topology_source *source, const struct source_text *from,
                     struct error_info *err)
{
    const char *start = skip_blank(from->text);
    if (*start == '\0')
        return error_set(err, "%s: the file is empty; give %s", from->name, READABLE);
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        if (has_mark(&kinds[i], start))
            return kinds[i].open(source, from, err);
    }
    return error_set(err, "%s: no format that is known here; give %s", from->name, READABLE);
}

static char *read_source(const char *path, size_t *ret_bytes, struct error_info *err)
{
    static const char *const scontrol[] = {"scontrol", "show", "topology", NULL};
    if (strcmp(path, TOPOLOGY_SOURCE_SLURM) != 0)
        return text_file_read(path, TOPOLOGY_SOURCE_MAXIMUM_BYTES, ret_bytes, err);
    return child_output_read(scontrol, TOPOLOGY_SOURCE_MAXIMUM_BYTES, SCONTROL_TIMEOUT_SECONDS,
                             ret_bytes, err);
}

int topology_source_open(struct topology_source *source, const char *path,
                         const struct catalogues *catalogues, struct error_info *err)
{
    size_t bytes = 0;
    *source = (struct topology_source){.node = NULL};
    CLEANUP_MEMORY char *text = read_source(path, &bytes, err);
    if (!text)
        return -1;
    bool controller = strcmp(path, TOPOLOGY_SOURCE_SLURM) == 0;
    const struct source_text from = {.name = controller ? "scontrol show topology" : path,
                                     .text = text,
                                     .bytes = bytes,
                                     .catalogues = catalogues};
    if (!controller)
        return open_text(source, &from, err);
    if (*skip_blank(text) == '\0')
        return error_set(err, "scontrol show topology: Slurm knows no switches (TopologyPlugin is "
                              "none); give a topology.conf");
    return open_slurm_text(source, &from, err);
}

int topology_source_open_live(struct topology_source *source, const struct catalogues *catalogues,
                              struct error_info *err)
{
    *source = (struct topology_source){.node = NULL};
    return merge(source, hwloc_read_live(err), "this machine", catalogues, err);
}

void topology_source_done(struct topology_source *source)
{
    node_topology_free(source->node);
    fabric_free(source->fabric);
    cluster_topology_free(source->cluster);
    *source = (struct topology_source){.node = NULL};
}
