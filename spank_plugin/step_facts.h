/* SPDX-License-Identifier: MIT */
/*
 * step_facts: what Slurm says about the step that srun is about to launch: its nodes in
 * Slurm's order, its tasks on each, its GPUs, the fabric. In srun only. Each fact that the
 * controller does not give stays unknown.
 */
#ifndef SPANK_PLUGIN_STEP_FACTS_H
#define SPANK_PLUGIN_STEP_FACTS_H

#include "base/error.h"
#include "base/node_list.h"
#include "topology/cluster_readers/gres_text.h"
#include <stdbool.h>
#include <stdint.h>

struct step_facts {
    uint32_t job, step;
    struct node_list *nodes;
    uint64_t tasks;          /* in all */
    unsigned tasks_per_node; /* the same on every node; 0: uneven */
    char uneven[256];        /* "n01 has 3 tasks, n02 has 1" */
    unsigned *block_nodes;   /* as Slurm numbers the tasks: tasks_per_node in a row make a block,
                              * on that node; NULL: they are no such blocks, or not known */
    unsigned gpus_per_node;  /* of the step, on the node that has fewest; 0: none or unknown */
    size_t fewest_gpus;      /* that node: index into nodes */
    unsigned node_gpus;      /* that a node of this kind has; 0: none or unknown */
    char first_address[NODE_LIST_NAME_BYTES]; /* NodeAddr of the first node; "" unknown */
    char gpu_type[GPU_TYPE_BYTES];            /* GRES type, "" unknown */
    char *topology_text;                      /* as scontrol show topology; NULL: none, or not
                                               * asked for; one node has none */
};

/* Each call to the controller takes 0.5 ms or more: it is asked for the step's layout, its first
 * node and the step itself, and for its job where the step does not say its GPUs; the topology
 * where that is to count. */
int step_facts_read(uint32_t job, uint32_t step, bool topology, struct step_facts *ret,
                    struct error_info *err);
/* The same of a step that is still to come: tasks_per_node on each node that the job of this
 * command still has, but for those in `excluded` (a list, or NULL). Numbers no tasks. */
int step_facts_read_job(uint32_t job, const char *excluded, unsigned tasks_per_node,
                        struct step_facts *ret, struct error_info *err);
void step_facts_done(struct step_facts *facts);

/* NodeAddr of a node of the step, or its name when the controller does not answer. */
void node_address_read(const struct step_facts *facts, const char *node, char *ret, size_t bytes);

DEFINE_CLEANUP_DONE(step_facts);

#endif
