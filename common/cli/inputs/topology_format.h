/* SPDX-License-Identifier: MIT */
/*
 * topology_format: one file (or directory) that describes a node, a fabric or a cluster, told
 * apart by content. One table of formats: the mark that begins the text or one of its lines,
 * and the reader.
 */
#ifndef CLI_INPUTS_TOPOLOGY_FORMAT_H
#define CLI_INPUTS_TOPOLOGY_FORMAT_H

#include "cli/inputs/catalogues.h"
#include "topology/cluster_topology.h"
#include "topology/node_evidence.h"

#define TOPOLOGY_SOURCE_SLURM "slurm"
#define TOPOLOGY_SOURCE_MAXIMUM_BYTES ((size_t)64 << 20)
#define TOPOLOGY_INPUT_MAXIMUM_EVIDENCE 5u
#define SCONTROL_TIMEOUT_SECONDS 10u

/* What one path gave: evidence of a node, else a fabric, else a cluster. */
struct topology_input {
    struct node_evidence *evidence[TOPOLOGY_INPUT_MAXIMUM_EVIDENCE];
    unsigned evidence_count;
    struct fabric *fabric;
    struct cluster_topology *cluster;
};

/* What some formats need beside the text: paths, or NULL. */
struct topology_hints {
    const char *guids;      /* lines "host: 0xguid", for listings of switches by GUID */
    const char *label_keys; /* which labels of Kubernetes count (LABEL_KEYS_SCHEMA) */
};

/* hints: or NULL. path: a file, a directory (a copy of a machine's /sys), or TOPOLOGY_SOURCE_SLURM,
 * which asks the running controller through `scontrol show topology`. */
int topology_input_open(struct topology_input *input, const char *path,
                        const struct topology_hints *hints, const struct catalogues *catalogues,
                        struct error_info *err);
void topology_input_done(struct topology_input *input);

DEFINE_CLEANUP_DONE(topology_input);

#endif
