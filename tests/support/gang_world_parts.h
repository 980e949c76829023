/* SPDX-License-Identifier: MIT */
/*
 * gang_world_parts: what the files of a gang_world share: gang_world.c (objects, the watch, the
 * processes), gang_world_server.c (what machines ask of the API server), gang_world_events.c (what
 * may happen), gang_world_checks.c (what must hold).
 */
#ifndef TESTS_SUPPORT_GANG_WORLD_PARTS_H
#define TESTS_SUPPORT_GANG_WORLD_PARTS_H

#include "tests/support/gang_world.h"

extern const char *const world_notes[WORLD_NOTES]; /* names of annotations, by enum world_note */
extern const char *const world_node_names[WORLD_NODES];

/* Ends the program: the world itself is broken. */
void world_must(bool truth, const char *what);
bool world_chance(struct world *world, unsigned percent);

/* gang_world.c */
struct pod_record *world_record_of(const struct world *world, const struct world_pod *pod);
/* A new version, and everybody who watches will hear of it. */
void world_pod_changes(struct world *world, struct world_pod *pod);
void world_node_changes(struct world *world, unsigned number);
/* Any event that no earlier one of its object waits for. */
void world_deliver(struct world *world, struct world_process *process, bool in_order);
void world_relist(struct world *world, struct world_process *process, enum gang_list list);
void world_start(struct world *world, struct world_process *process);
void world_stop(struct world *world, unsigned number);
void world_lead(struct world *world, unsigned number);

/* gang_world_server.c */
/* Takes one task from the machine; false: there was none. */
bool world_take_task(struct world_process *process);
void world_cut_off(struct world *world, struct world_process *process, bool leads);
void world_finish(struct world *world, struct world_process *process, size_t at, bool smooth);

/* gang_world_events.c */
/* Another gang under that number, unless pods of the last one are still there. */
void world_make_gang(struct world *world, unsigned number);

/* gang_world_checks.c: the first that is wrong stays in world->violation. */
void world_violate(struct world *world, const char *what, const struct world_pod *pod);
/* Where the pod was told to go, and may still; -1: nowhere. */
int world_promise_of(const struct world *world, const struct world_pod *pod);
/* The gang's own, and a foreign pod that counts beside them at times: one of no owner beside an
 * owner's, and an owner's beside those of none, unless they are placed. */
bool world_may_be_let_in(const struct world *world, const struct world_pod *pod);
/* No slot is promised twice: the pods of gangs that are on a node or were told to go there. */
void world_check_node(struct world *world, int node, const struct world_pod *told);
/* The first pod of a gang hears of its node when every index has had a pod, and the plan has been
 * written to pod 0. */
void world_check_order(struct world *world, const struct world_pod *told);
/* Remembers the id of a plan that now stands on pod 0. */
void world_note_plan(struct world *world, const struct world_pod *pod);
unsigned world_used_gpus(const struct world *world, int node);

#endif
