/* SPDX-License-Identifier: MIT */
/*
 * node_paths: a tree of switches from nodes that each know the names above them, near to far,
 * as labels and topograph's graph give them. The switches go into a draft.
 *
 * The same name at two tiers means two switches, called "tier/name". A node without the
 * nearest name hangs at the nearest one that it has. Where two nodes disagree on what is above
 * a switch, the first one's word stays and a warning says so. Tiers that no node has are left
 * out; nodes that lack one that others have are counted in a warning.
 */
#ifndef TOPOLOGY_NODE_PATHS_H
#define TOPOLOGY_NODE_PATHS_H

#include "topology/fabric_readers/fabric_draft.h"

struct node_paths;

/* tier_names: near to far, at most FABRIC_MAXIMUM_TIERS, each another one. keys: what warnings
 * call them. The texts, and the draft, must outlive the paths. */
struct node_paths *node_paths_create(struct fabric_draft *draft, const char *source,
                                     const char *const *tier_names, const char *const *keys,
                                     unsigned tier_count, struct error_info *err);
void node_paths_free(struct node_paths *paths);

/* names: one for each tier; NULL or empty: unknown. All are copied. */
int node_paths_add(struct node_paths *paths, const char *node, const char *const *names,
                   struct error_info *err);
/* Once, at the end. */
int node_paths_place(struct node_paths *paths, struct error_info *err);

/* The draft's domain with that id, added when `ids` does not have it yet. */
int node_paths_domain(struct fabric_draft *draft, struct name_index *ids, const char *name,
                      const char *id, unsigned line, size_t *ret_domain, struct error_info *err);

DEFINE_CLEANUP(node_paths);

#endif
