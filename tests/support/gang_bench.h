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
};

/* All but name may be missing. */
struct pod_words {
    const char *name, *gang, *index, *size;
    const char *annotations, *spec; /* more of them, as JSON */
    const char *version, *phase;
    const char *job, *created; /* the Job that owns it; its index is then the completion index */
    const char *kind;          /* of that owner, where it is no Job */
    unsigned gpus;
};

#define PINNED(node)                                                                               \
    "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"         \
    "\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\","     \
    "\"values\":[\"" node "\"]}]}]}}},"
#define GATE "\"schedulingGates\":[{\"name\":\"" GANG_GATE "\"}],"

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

DEFINE_CLEANUP_DONE(bench);

#endif
