/* SPDX-License-Identifier: MIT */
/*
 * mapping_evaluation: what a mapping made elsewhere costs, for the ranks, degrees and traffic of
 * a map of ours.
 */
#ifndef MAPPING_MAPPING_EVALUATION_H
#define MAPPING_MAPPING_EVALUATION_H

#include "mapping/evaluation/rank_places.h"
#include "mapping/mapping_cost.h"

struct mapping_evaluation {
    const char *source; /* a file's name or a layout's word; not owned */
    struct mapping_cost cost;
    enum tp_within tp_within; /* what tp_groups_split counts */
    uint64_t tp_groups;       /* 0: TP is 1, or there are no degrees */
    /* Groups on several nodes; under TP_WITHIN_NVLINK_DOMAIN those in several NVLink domains
     * (a node whose NVLink is not known counts as one domain). */
    uint64_t tp_groups_split;
    uint64_t world;
    uint64_t other_nodes; /* ranks that sit on another node than in ours */
    uint64_t other_gpus;  /* … on the same node, but on another GPU, where the source tells it */
    bool same;            /* neither */
};

/* places has ours->world ranks on nodes of ours->cluster; traffic and seconds may be NULL. O(ranks)
 * for each dimension. */
void mapping_evaluation_compute(const struct rank_map *ours, const struct rank_places *places,
                                const struct traffic *traffic, const struct link_seconds *seconds,
                                enum tp_within tp_within, const char *source,
                                struct mapping_evaluation *ret);

#endif
