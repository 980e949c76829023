/* SPDX-License-Identifier: MIT */
#include "cli/topology_file.h"
#include "report/files/cluster_file.h"
#include "report/files/node_file.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Slurm's name of the node need not be the host's. */
static const char *node_name(char name[NODE_LIST_NAME_BYTES])
{
    const char *slurm = getenv("SLURMD_NODENAME");
    if (slurm && slurm[0])
        return slurm;
    if (gethostname(name, NODE_LIST_NAME_BYTES - 1) < 0)
        return NULL;
    name[strcspn(name, ".")] = '\0';
    return name;
}

int topology_file_write(const struct topology_source *source, bool is_live,
                        const struct catalogues *catalogues, struct text_buffer *out,
                        struct error_info *err)
{
    char name[NODE_LIST_NAME_BYTES] = "";
    if (source->fabric)
        return fabric_file_write(source->fabric, out, err);
    if (source->cluster)
        return cluster_file_write(source->cluster, catalogues->presets, catalogues->gpus, out, err);
    node_file_write(source->node, is_live ? node_name(name) : NULL, out);
    return text_buffer_failed(out) ? error_set_memory(err) : 0;
}
