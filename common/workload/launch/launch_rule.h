/* SPDX-License-Identifier: MIT */
/*
 * launch_rule: one setting of a launched command (a flag's or a configuration key's value) into a
 * job_spec, by a rule of data/launch_keys.yaml.
 *
 *     tp                              the value is the key's
 *     {set: shard, -1: ""}            another word for a value; an empty one for "not set"
 *     {set: order, switch: WORD}      a flag that has no value
 *     {set: micro_batch, unless: pp}  only where pp is not known to be over 1; only: where it is.
 *                                     Such rules come in a second pass, when the others are done
 *     {set: one_node, else: WORD}     for any other value
 *     "@file", "@name", "@in"         a configuration file, Hydra's name of one, Hydra's folder
 *
 * A key is one of job_spec.h, or one of enum launch_count. A flag beats a file's key: so do the
 * programs. In a file, a value that is no number and no word of the rule says nothing (null,
 * "auto", an interpolation).
 */
#ifndef WORKLOAD_LAUNCH_LAUNCH_RULE_H
#define WORKLOAD_LAUNCH_LAUNCH_RULE_H

#include "base/text_buffer.h"
#include "base/yaml_document.h"
#include "workload/job_spec.h"

/* What a command says that is compared with the step instead of planned with. */
enum launch_count {
    LAUNCH_REPLICATE, /* data parallel replicas of the shard group: with shard it is dp */
    LAUNCH_NODES,
    LAUNCH_PROCESSES_PER_TASK, /* that a launcher such as torchrun starts */
    LAUNCH_RANKS_PER_NODE,
    /* What a launcher does in place of what parplan tells it. */
    LAUNCH_ONE_TASK,   /* right with one task per node */
    LAUNCH_ONE_NODE,   /* right only where that task is the whole step */
    LAUNCH_NODE_ORDER, /* right where nodes are in Slurm's order: it numbers them itself */
    LAUNCH_COUNT_COUNT
};

struct launch_counts {
    struct {
        uint64_t number; /* LAUNCH_TOLD from LAUNCH_ONE_TASK on */
        /* NULL: not given. "--nnodes: nodes", "--node-rank: TEXT"; in the job_spec's arena. */
        const char *where;
    } of[LAUNCH_COUNT_COUNT];
};

#define LAUNCH_TOLD 2u /* counts as over 1 for unless: and only: */

/* What the step is, to compare with. */
struct launch_step {
    uint64_t nodes;
    unsigned ranks_per_node;
    unsigned tasks_per_node;
};

/* Refuses counts that are not the step's: torchrun would number other ranks than the plan has.
 * Refuses a launcher that each task starts where one was to do. */
int launch_counts_check(const struct launch_counts *counts, const struct launch_step *step,
                        struct error_info *err);

/* A reading on its way. */
struct launch_reading {
    struct job_spec *spec;
    struct launch_counts *counts;
    struct text_buffer *notices;
    uint64_t from_flags; /* keys, as bits: of files' these are skipped */
    bool in_file;
    bool second_pass;
    bool refused;     /* by a rule, not by a file's syntax */
    const char *next; /* a file that a file names; in the spec's arena */
};

bool launch_rule_is_switch(const struct yaml_node *rule);
/* where: "--pp-size", "conf.yaml:7". value NULL: the flag has none. Notices "tp=8 (where)". */
int launch_rule_apply(struct launch_reading *reading, const struct yaml_node *rule,
                      const char *value, const char *where, struct error_info *err);
int launch_key_set(struct launch_reading *reading, enum job_key key, const char *value,
                   const char *where, struct error_info *err);
/* ", " between notices. */
void launch_notice_begin(struct text_buffer *notices);

#endif
