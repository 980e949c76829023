/* SPDX-License-Identifier: MIT */
/* node_topology_merge: NVLink beyond this node. */
#include "topology/merge/merge_state.h"
#include <string.h>

/* The first clique that a source names, and the first GPU that is in another. */
struct named_clique {
    const char *clique, *other;
    unsigned gpu, other_gpu;
};

static struct named_clique find_clique(const struct merge_state *state, size_t e)
{
    const struct node_evidence *evidence = state->evidence[e];
    struct named_clique found = {.clique = NULL};
    for (unsigned i = 0; i < evidence->gpu_count; i++) {
        const char *clique = evidence->gpus[i].nvlink_clique;
        unsigned gpu = state->gpu_of[e][i];
        if (!clique || gpu == MERGE_NO_GPU)
            continue;
        if (!found.clique) {
            found.clique = clique;
            found.gpu = gpu;
        } else if (!found.other && strcmp(found.clique, clique) != 0) {
            found.other = clique;
            found.other_gpu = gpu;
        }
    }
    return found;
}

static void take_clique(struct merge_state *state, size_t e, const char **source)
{
    struct node_topology *node = state->node;
    const char *text = state->evidence[e]->source_text;
    struct named_clique found = find_clique(state, e);
    if (!found.clique)
        return;
    if (found.other)
        merge_warn(state,
                   "%s: GPU %u is in NVLink clique %s, GPU %u in %s; one node is in one, the "
                   "first is taken",
                   text, found.gpu, found.clique, found.other_gpu, found.other);
    if (node->nvlink_clique && strcmp(node->nvlink_clique, found.clique) != 0)
        merge_conflict(state, "NVLink clique", *source, node->nvlink_clique, text, found.clique);
    if (node->nvlink_clique)
        return;
    *source = text;
    node->nvlink_clique = merge_copy_text(state, found.clique);
    merge_add_fact(state, "nvlink clique", text, "%s", found.clique);
}

void nvlink_reach_conclude(struct merge_state *state)
{
    struct node_topology *node = state->node;
    const char *source = state->gpu_source, *clique_source = NULL;
    node->nvlink_domain_nodes = 1;
    for (size_t e = merge_count(state); e-- > 0;) {
        const struct node_evidence *evidence = state->evidence[e];
        if (!merge_counts(state, e))
            continue;
        if (evidence->nvlink_domain_nodes > 0)
            node->nvlink_domain_nodes = evidence->nvlink_domain_nodes;
        if (evidence->nvlink_leaves_node) {
            node->nvlink_leaves_node = true;
            source = evidence->source_text;
        }
    }
    node->nvlink_leaves_node = node->nvlink_leaves_node || node->nvlink_domain_nodes > 1;
    for (size_t e = 0; e < merge_count(state); e++)
        take_clique(state, e, &clique_source);
    if (node->nvlink_leaves_node && node->nvlink_domain_nodes == 1)
        merge_add_fact(state, "nvlink reach", source,
                       "wider than the node; how many nodes is not known");
}
