/* SPDX-License-Identifier: MIT */
/*
 * gang_words: what a gang's plan says of itself, in one sentence for the pods' events.
 */
#ifndef K8S_EXTENDER_PLACEMENT_PLANNING_GANG_WORDS_H
#define K8S_EXTENDER_PLACEMENT_PLANNING_GANG_WORDS_H

#include "k8s_extender/placement/planning/gang_room.h"
#include "mapping/placement.h"

/* "gang default/llama needs 16 nodes of 8 GPUs, 12 are free: 3 are full, 1 is cordoned" */
void gang_words_no_room(const struct gang_problem *problem, const struct gang_room *room,
                        uint64_t pods, uint64_t spare, char ret[GANG_REASON_BYTES]);

/* "tp=8,pp=4,dp=4 on 16 nodes under 2 leaf switches; pipelines stay under one leaf: 0 of 12 links
 * cross; <why>". view_nodes: of each pod, in the problem's view. notices, warning: "" or more to
 * say. */
struct gang_words_success {
    const struct gang_problem *problem;
    const struct placement *placement;
    const uint32_t *view_nodes;
    const char *notices, *warning;
};
/* Fails only for memory. */
int gang_words_planned(const struct gang_words_success *success, char ret[GANG_REASON_BYTES],
                       struct error_info *err);

/* "15 of 16 pods stay, pod 3 goes to n017". nodes: of each pod, in the problem's view. */
void gang_words_replanned(const struct gang_problem *problem, const uint32_t *nodes,
                          char ret[GANG_REASON_BYTES]);

#endif
