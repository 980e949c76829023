/* SPDX-License-Identifier: MIT */
#include "topology/cluster_source.h"
#include "base/text_file.h"
#include <string.h>

static bool is_path(const char *name)
{
    const char *dot = strrchr(name, '.');
    return strchr(name, '/') || (dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml")));
}

struct cluster_topology *cluster_source_open(const char *name,
                                             const struct preset_catalogue *presets,
                                             const struct gpu_catalogue *gpus,
                                             struct error_info *err)
{
    if (!is_path(name)) {
        struct cluster_topology *cluster = cluster_topology_from_preset(name, presets, gpus, err);
        return cluster ? cluster : error_null(text_file_explain_name(name, err));
    }
    size_t bytes;
    CLEANUP_MEMORY char *text = text_file_read(name, CLUSTER_FILE_MAXIMUM_BYTES, &bytes, err);
    return text ? cluster_topology_parse(text, bytes, name, presets, gpus, err) : NULL;
}
