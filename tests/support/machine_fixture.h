/* SPDX-License-Identifier: MIT */
/*
 * machine_fixture: a gang_machine that leads, with two nodes, for unit tests: pods in few words,
 * and what the machine wants done carried out step by step.
 */
#ifndef TESTS_SUPPORT_MACHINE_FIXTURE_H
#define TESTS_SUPPORT_MACHINE_FIXTURE_H

#include "k8s_extender/gang/gang_answer.h"

struct machine_fixture {
    struct gpu_catalogue *gpus;
    struct preset_catalogue *presets;
    struct gang_machine *machine;
    char said[4096]; /* the events, a line each */
    char patched[200], node[64], annotations[2000];
    bool released;
    bool no_spare;     /* set it: plans are fake_planner_no_spare's */
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

void machine_fixture_init(struct machine_fixture *fixture); /* n1 and n2 of 8 GPUs are there */
void machine_fixture_done(struct machine_fixture *fixture);
void machine_fixture_set_node(struct machine_fixture *fixture, const char *name, bool ready);
struct pod_record *machine_fixture_pod_of(const struct pod_words *words);
void machine_fixture_set_pod(struct machine_fixture *fixture, const struct pod_words *words);
/* Carries out all that is to be done but patches; stops at the first patch or deletion, which it
 * answers as done, and returns its kind. */
enum gang_task_kind machine_fixture_run(struct machine_fixture *fixture);
/* What the scheduler hears of that pod on that node. */
enum answer_kind machine_fixture_ask(struct machine_fixture *fixture, const struct pod_words *words,
                                     const char *node, struct gang_answer *ret);
/* The next that is to be done is a patch of that pod, which gives it that node. */
void machine_fixture_expect_placed(struct machine_fixture *fixture, const char *pod,
                                   const char *node);
/* That those words were said; where they stand among the annotations last patched, or NULL. */
void machine_fixture_expect_said(const struct machine_fixture *fixture, const char *words);
const char *machine_fixture_planned(const struct machine_fixture *fixture, const char *words);
void machine_fixture_set_released(struct machine_fixture *fixture, struct released_gang *ret);

DEFINE_CLEANUP_DONE(machine_fixture);

#endif
