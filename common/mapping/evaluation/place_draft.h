/* SPDX-License-Identifier: MIT */
/*
 * place_draft: rank_places while a source is read: each rank once, on a node of the cluster, no
 * more ranks on a node than it has GPUs, no GPU twice. What is wrong is said with the line (or
 * the item of a document) and the remedy.
 */
#ifndef MAPPING_PLACE_DRAFT_H
#define MAPPING_PLACE_DRAFT_H

#include "base/error.h"
#include "mapping/evaluation/rank_places.h"
#include "topology/cluster_topology.h"

struct place_draft;

enum place_unit { PLACE_LINES, PLACE_ITEMS }; /* "hosts:12: …", "map.json: ranks[11]: …" */

/* cluster and source outlive the draft. world: the ranks of the plan, not 0. */
struct place_draft *place_draft_create(const struct cluster_topology *cluster, uint64_t world,
                                       const char *source, enum place_unit unit,
                                       struct error_info *err);
void place_draft_free(struct place_draft *draft);

/* node: a name of the cluster, or such a name with a domain behind it ("n001.example.org").
 * gpu: index on the node, or RANK_PLACE_NONE; a source tells it for all ranks or for none.
 * at: the line or item, for messages. */
int place_draft_put(struct place_draft *draft, unsigned at, uint64_t rank, const char *node,
                    unsigned gpu, struct error_info *err);
/* For a source that has another number of ranks than the plan. Always returns -1. */
int place_draft_wrong_count(const struct place_draft *draft, uint64_t ranks,
                            struct error_info *err);
/* The finished places; the draft is empty then. NULL: a rank is missing. */
struct rank_places *place_draft_finish(struct place_draft *draft, struct error_info *err);

DEFINE_CLEANUP(place_draft);

#endif
