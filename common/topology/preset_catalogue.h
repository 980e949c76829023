/* SPDX-License-Identifier: MIT */
/*
 * preset_catalogue: known node models (dgx-h100, gb200-nvl72, …) from
 * data/node_presets.yaml: GPUs, NVLink wiring, NICs and rails, host memory, nodes per leaf.
 */
#ifndef TOPOLOGY_PRESET_CATALOGUE_H
#define TOPOLOGY_PRESET_CATALOGUE_H

#include "topology/gpu_catalogue.h"
#include "topology/node_topology.h"

enum preset_wiring {
    WIRING_NONE,   /* no NVLink */
    WIRING_SWITCH, /* every pair at full speed */
    WIRING_MESH,   /* every pair, one link each (MI300X) */
    WIRING_LINKS   /* the listed pairs (V100 hybrid cube mesh, bridged pairs) */
};

struct preset_link {
    unsigned first, second; /* GPU indices */
    unsigned count;         /* links */
};

struct node_preset {
    const char *name;
    const char *title;
    const char *gpu; /* catalogue name */
    unsigned gpu_count;
    enum preset_wiring wiring;
    const struct preset_link *links;
    size_t link_count;
    double link_bytes_per_second;
    unsigned nvlink_domain_nodes; /* 1, or 18 on NVL72 */
    unsigned nic_count;           /* rails */
    double nic_bytes_per_second;  /* each */
    uint64_t host_memory_bytes;
    uint64_t host_nvme_bytes;
    unsigned cpu_count;
    unsigned nodes_per_leaf;
    const char *const *aliases; /* "dgx-a100" for dgx-a100-80 */
    size_t alias_count;
    const char *source;
};

struct preset_catalogue {
    const struct node_preset *presets;
    size_t count;
    struct arena *arena;
};

struct preset_catalogue *preset_catalogue_parse(const char *text, size_t bytes, const char *source,
                                                struct error_info *err);
struct preset_catalogue *preset_catalogue_builtin(struct error_info *err);
void preset_catalogue_free(struct preset_catalogue *catalogue);
/* By name or alias. NULL: unknown. */
const struct node_preset *preset_catalogue_find(const struct preset_catalogue *catalogue,
                                                const char *name);
/* For a Slurm GRES type or a GPU's name with a GPU count: the preset that fits ("h100", 8 ->
 * dgx-h100), or NULL. */
const struct node_preset *preset_catalogue_match(const struct preset_catalogue *catalogue,
                                                 const struct gpu_catalogue *gpus, const char *gpu,
                                                 unsigned gpu_count);
struct node_topology *node_topology_from_preset(const struct node_preset *preset,
                                                const struct gpu_catalogue *gpus,
                                                struct error_info *err);

DEFINE_CLEANUP(preset_catalogue);

#endif
