/* SPDX-License-Identifier: MIT */
/*
 * wire_plan: the plan as srun ships it to every slurmstepd in SLURM_PARPLAN_PLAN: one
 * versioned line of key=value, below WIRE_PLAN_MAXIMUM_BYTES, never a per-rank table.
 *
 *     v=1;id=…;n=64;nodes=8;per_node=8;tasks_per_node=8;tp=8;cp=1;ep=1;etp=8;pp=4;vpp=1;dp=2;
 *     shard=1;order=tp-cp-ep-dp-pp;master=n01;cluster=<digest>;map=<node_permutation>
 *
 * What srun knows for the nodes (struct wire_facts) is there where it does:
 *
 *     rails=8;connections=1;slurm_ranks=1;gpu=h100-sxm;
 *
 * Without degrees (locality only) the keys tp … shard and order are absent, all of them.
 * place=slurm stands in plans whose RANKs must equal SLURM_PROCID, and in no other.
 * v comes first; the other keys may stand in any order.
 *
 * decode treats the text as hostile: unknown version, unknown or repeated or missing key,
 * a number out of range, a map that is no bijection of the nodes, degrees whose product is
 * not n, an id that does not belong to the rest are each refused in one line
 * (without the variable's name: the caller puts it in front).
 * decode(encode(x)) == x. The id is FNV-1a over everything else: it finds mix-ups and slips,
 * it is no signature; what a plan may ask for is checked again by whoever decodes it.
 *
 * encode refuses a plan that does not fit: any regular permutation of any size is a few
 * hundred bytes, a random one fits up to some 24,000 nodes.
 */
#ifndef MAPPING_WIRE_PLAN_H
#define MAPPING_WIRE_PLAN_H

#include "base/arena.h"
#include "base/error.h"
#include "base/text_buffer.h"
#include "workload/parallelism.h"
#include "workload/rank_order.h"

#define WIRE_PLAN_VARIABLE "SLURM_PARPLAN_PLAN"
#define WIRE_PLAN_MAXIMUM_BYTES 61440u
#define WIRE_PLAN_MASTER_BYTES 256u
#define WIRE_PLAN_ID_BYTES 17u /* 16 hexadecimal digits */

#define WIRE_PLAN_GPU_BYTES 48u

struct rank_map;

/* What srun takes for true of every node of the step; 0 and "": unknown, or nothing. */
struct wire_facts {
    unsigned rails;                /* usable ones of a node */
    unsigned device_connections;   /* CUDA_DEVICE_MAX_CONNECTIONS for the framework */
    unsigned slurm_ranks;          /* 1: RANK is SLURM_PROCID in every task of the step */
    char gpu[WIRE_PLAN_GPU_BYTES]; /* model; one with other characters than a name's is left out */
};

struct wire_plan {
    struct degrees degrees;
    enum rank_order order;
    bool locality_only;
    bool by_slurm; /* place=slurm: RANK is SLURM_PROCID, or the task must not start */
    uint64_t world;
    unsigned node_count;
    unsigned gpus_per_node;
    unsigned tasks_per_node;     /* gpus_per_node, or 1 */
    const unsigned *block_nodes; /* node_count entries: block -> index in the step's node list */
    const unsigned *node_blocks; /* the inverse */
    char master[WIRE_PLAN_MASTER_BYTES];
    uint64_t cluster_digest;
    struct wire_facts facts;
    char id[WIRE_PLAN_ID_BYTES]; /* of everything above */
    struct arena *arena;
};

/* From a map over exactly the step's nodes, in the step's order. master NULL: RANK 0's node.
 * No facts. */
struct wire_plan *wire_plan_create(const struct rank_map *map, unsigned tasks_per_node,
                                   const char *master, bool by_slurm, struct error_info *err);
/* The id changes with them. -1: out of memory. */
int wire_plan_set_facts(struct wire_plan *wire, const struct wire_facts *facts,
                        struct error_info *err);
int wire_plan_encode(const struct wire_plan *wire, struct text_buffer *out, struct error_info *err);
struct wire_plan *wire_plan_decode(const char *text, struct error_info *err);
void wire_plan_free(struct wire_plan *wire);

DEFINE_CLEANUP(wire_plan);

#endif
