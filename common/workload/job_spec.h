/* SPDX-License-Identifier: MIT */
/*
 * job_spec: what the user asks for. One table of keys serves --plan, --parplan, --set, job.yaml
 * and pod annotations: this module is that table. The same key twice with different values is
 * refused, naming both places: a value keeps where it came from ("--parplan", "job.yaml:7").
 *
 * Degrees, shard and micro_batch may be bounded instead: "pp<=4,tp>=2" (in a job file pp: "<=4").
 * A bound is no value: the key counts as not given, and a search stays within (job/job_bounds.h).
 * What contradicts a bound is refused, naming both places.
 */
#ifndef WORKLOAD_JOB_SPEC_H
#define WORKLOAD_JOB_SPEC_H

#include "base/arena.h"
#include "base/error.h"
#include "workload/parallelism.h"
#include "workload/rank_order.h"
#include <stdbool.h>
#include <stdint.h>

#define JOB_OPTION_MAXIMUM_BYTES 4096u
#define JOB_TEXT_MAXIMUM_BYTES 1024u           /* of one value */
#define JOB_SEQUENCES_MAXIMUM 16777216u        /* global_batch, micro_batch */
#define JOB_SEQUENCE_LENGTH_MAXIMUM 134217728u /* tokens */
#define JOB_FACTOR_MAXIMUM 1000u
#define JOB_HOST_MAXIMUM_GIB 1048576u
#define JOB_VPP_MAXIMUM 4096u /* a chunk holds a layer at least */
#define JOB_MTP_MAXIMUM 16u
/* trainable=lora: the middle of what is usual (PEFT's default 8, Megatron-Bridge's 32). */
#define LORA_RANK_DEFAULT 16u
#define LORA_RANK_MAXIMUM 4096u

enum job_key {
    JOB_MODEL,
    JOB_GLOBAL_BATCH, /* sequences */
    JOB_MAX_GLOBAL_BATCH,
    JOB_SEQUENCE_LENGTH,
    JOB_TP,
    JOB_CP,
    JOB_EP,
    JOB_ETP,
    JOB_PP,
    JOB_VPP,
    JOB_DP,
    JOB_SHARDING,
    JOB_SHARD,
    JOB_MICRO_BATCH,
    JOB_SCHEDULE,
    JOB_RECOMPUTE,
    JOB_PRECISION,
    JOB_OFFLOAD,         /* none, cpu, nvme, auto */
    JOB_HOST_MEMORY_GIB, /* of a node */
    JOB_HOST_NVME_GIB,
    JOB_OPTIMIZER,       /* training_spec.h */
    JOB_CAPACITY_FACTOR, /* tokens that an expert takes, in shares of an even load */
    JOB_IMBALANCE,       /* the fullest rank's load of experts, likewise */
    /* Share in (0, 1] of the parameters; frozen: none, yet gradients of activations pass through;
     * lora, lora:RANK: adapters alone (model_spec.h). */
    JOB_TRAINABLE,
    JOB_MTP, /* multi-token prediction layers that are trained */
    JOB_ORDER,
    JOB_FRAMEWORK,
    JOB_OBJECTIVE, /* golden, cost, auto */
    JOB_PLACE,     /* env, slurm */
    JOB_SPARE,     /* nodes */
    JOB_KEY_COUNT
};

enum job_type {
    JOB_TYPE_TEXT,
    JOB_TYPE_UNSIGNED,
    JOB_TYPE_TRAINABLE,
    JOB_TYPE_FACTOR,
    JOB_TYPE_CHOICE
};

struct job_key_info {
    const char *name; /* "global_batch" */
    union {
        struct {
            uint32_t minimum, maximum; /* JOB_TYPE_UNSIGNED, JOB_TYPE_FACTOR */
        };
        const char *const *choices; /* JOB_TYPE_CHOICE: NULL-terminated; a value is its index */
    };
    uint8_t type; /* enum job_type */
    bool bounds;  /* may be bounded */
};

struct job_value {
    bool given;
    uint64_t number;   /* unsigned, the choice's index, or LoRA's rank */
    double real;       /* a factor; of JOB_TRAINABLE the share, 0: frozen, or LoRA */
    const char *text;  /* as given; of a choice its word in the table */
    const char *where; /* "--parplan", "job.yaml:7" */
};

enum job_side { JOB_LEAST, JOB_MOST, JOB_SIDE_COUNT };

struct job_bound {
    bool given;
    uint64_t number;
    const char *where;
};

struct job_spec {
    struct job_value values[JOB_KEY_COUNT];
    struct job_bound bounds[JOB_KEY_COUNT][JOB_SIDE_COUNT];
    bool automatic; /* "auto" stood in the option: choose what is not given */
    struct arena *arena;
};

/* JOB_OFFLOAD's fourth choice, and JOB_OBJECTIVE's and JOB_PLACE's words. */
#define JOB_OFFLOAD_AUTO ((uint64_t)OFFLOAD_COUNT)
enum job_objective { OBJECTIVE_GOLDEN, OBJECTIVE_COST, OBJECTIVE_AUTO };
enum job_place { PLACE_ENV, PLACE_SLURM };

const struct job_key_info *job_key_info(enum job_key key);
const char *job_key_help(enum job_key key); /* one line, for manuals */

struct job_spec *job_spec_create(struct error_info *err);
void job_spec_free(struct job_spec *spec);
/* One key: its value, or bounds ("<=4"), which are copied. Errors: "<where>: <key>: <what>". */
int job_spec_set(struct job_spec *spec, const char *key, const char *value, const char *where,
                 struct error_info *err);
/* "auto,model=llama3-8b,tp=8,pp<=4". Refuses: an empty item, an unknown key (with the nearest), a
 * value out of range, more than JOB_OPTION_MAXIMUM_BYTES. */
int job_spec_parse_option(struct job_spec *spec, const char *option, const char *where,
                          struct error_info *err);
/* job.yaml (schema parplan.job/1). `parplan: auto` is allowed and means automatic. */
int job_spec_parse_yaml(struct job_spec *spec, const char *text, size_t bytes, const char *source,
                        struct error_info *err);
/* Fill the gaps of spec from lower (lower precedence). A key that both give with different
 * values is refused, naming both places. */
int job_spec_merge_below(struct job_spec *spec, const struct job_spec *lower,
                         struct error_info *err);

/* Refuses keys that contradict each other (schedule=1f1b with vpp=2). */
int job_spec_check_available(const struct job_spec *spec, struct error_info *err);

uint64_t job_spec_number(const struct job_spec *spec, enum job_key key, uint64_t otherwise);
const char *job_spec_text(const struct job_spec *spec, enum job_key key); /* NULL: not given */
/* The rank order that is given, else the launchers' own; also where order=auto leaves it open. */
enum rank_order job_spec_order(const struct job_spec *spec);
bool job_spec_order_is_open(const struct job_spec *spec);
bool job_spec_has_degrees(const struct job_spec *spec); /* any of tp … dp given */
void job_spec_degrees(const struct job_spec *spec, struct degrees *ret); /* 0 where omitted */

DEFINE_CLEANUP(job_spec);

#endif
