/* SPDX-License-Identifier: MIT */
/*
 * gang_bench: a gang_machine that leads, with two nodes, for unit tests: pods in few words, and
 * what the machine wants done carried out step by step.
 */
#ifndef TESTS_SUPPORT_GANG_BENCH_H
#define TESTS_SUPPORT_GANG_BENCH_H

#include "k8s_extender/gang/gang_answer.h"

struct bench {
    struct gpu_catalogue *gpus;
    struct preset_catalogue *presets;
    struct gang_machine *machine;
    char said[4096]; /* the events, a line each */
    char patched[200], node[64], annotations[2000];
    bool released;
    bool no_spare; /* set it: plans are fake_planner_no_spare's */
    unsigned services; /* that were asked for */
};

/* All but name may be missing. */
struct pod_words {
    const char *name, *gang, *index, *size;
    const char *annotations, *spec; /* more of them, as JSON */
    const char *version, *phase;
    const char *job, *created; /* the Job that owns it; its index is then the completion index */
    const char *kind;          /* of that owner, where it is no Job */
    const char *index_key;     /* what has the index then */
    unsigned gpus;
};

#define PINNED(node)                                                                               \
    "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"         \
    "\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\","     \
    "\"values\":[\"" node "\"]}]}]}}},"
#define GATE "\"schedulingGates\":[{\"name\":\"" GANG_GATE "\"}],"

#define ON(node) "\"nodeName\":\"" node "\","
#define SHAPE                                                                                      \
    ",\"parplan.io/plan-shape\":\"pods=2 gpus=8 tp=8 cp=1 ep=1 etp=8 pp=1 vpp=1 dp=2 shard=1 "     \
    "replicate=2 order=tp-cp-ep-dp-pp\""
#define RELEASED(node) ",\"parplan.io/node\":\"" node "\"" SHAPE

/* Job x has been released, and pod 0 is bound, with the plan on it. */
struct released_gang {
    struct pod_words first, second;
    char outputs[2500];
};

void bench_init(struct bench *bench); /* n1 and n2 of 8 GPUs are there */
void bench_done(struct bench *bench);
void bench_set_node(struct bench *bench, const char *name, bool ready);
struct pod_record *bench_pod_of(const struct pod_words *words);
void bench_set_pod(struct bench *bench, const struct pod_words *words);
/* Carries out all that is to be done but patches; stops at the first patch or deletion, which it
 * answers as done, and returns its kind. */
enum gang_task_kind bench_run(struct bench *bench);
/* What the scheduler hears of that pod on that node. */
enum answer_kind bench_ask(struct bench *bench, const struct pod_words *words, const char *node,
                           struct gang_answer *ret);
/* The next that is to be done is a patch of that pod, which gives it that node. */
void bench_expect_placed(struct bench *bench, const char *pod, const char *node);
/* That those words were said; where they stand among the annotations last patched, or NULL. */
void bench_expect_said(const struct bench *bench, const char *words);
const char *bench_planned(const struct bench *bench, const char *words);
void bench_set_released(struct bench *bench, struct released_gang *ret);

DEFINE_CLEANUP_DONE(bench);

#endif
