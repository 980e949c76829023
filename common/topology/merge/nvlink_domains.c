/* SPDX-License-Identifier: MIT */
/* node_topology_merge: connected groups of GPUs. */
#include "topology/merge/merge_state.h"
#include <stdio.h>

/* Flood fill from the smallest GPU of each domain; members come out ascending. */
static unsigned mark_domain(const struct node_topology *node, struct node_gpu *gpus, bool *seen,
                            unsigned first, unsigned domain)
{
    unsigned stack[NODE_MAXIMUM_GPUS], depth = 0, size = 0;
    stack[depth++] = first;
    seen[first] = true;
    while (depth > 0) {
        unsigned gpu = stack[--depth];
        gpus[gpu].nvlink_domain = domain;
        size++;
        for (unsigned i = 0; i < node->gpu_count; i++) {
            if (seen[i] || node->nvlink_bytes_per_second[gpu * node->gpu_count + i] <= 0)
                continue;
            seen[i] = true;
            stack[depth++] = i;
        }
    }
    return size;
}

static void add_domain_facts(struct merge_state *state, const char *source)
{
    for (unsigned d = 0; REMARKS_KEPT && d < state->node->domain_count; d++) {
        const struct node_domain *domain = &state->node->domains[d];
        char text[NODE_MAXIMUM_GPUS * 4];
        size_t length = 0;
        for (unsigned i = 0; i < domain->gpu_count; i++)
            length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%u",
                                       i > 0 ? "," : "", domain->gpus[i]);
        if (domain->gpu_count > 1)
            merge_add_fact(state, "nvlink domain", source, "{%s}", text);
    }
}

int nvlink_domains_find(struct merge_state *state, const char *source, struct error_info *err)
{
    struct node_topology *node = state->node;
    struct node_domain *domains =
        arena_allocate_array(state->arena, node->gpu_count, sizeof(*domains));
    unsigned *members = arena_allocate_array(state->arena, node->gpu_count, sizeof(*members));
    if (!domains || !members)
        return error_set_memory(err);
    bool seen[NODE_MAXIMUM_GPUS] = {false};
    unsigned placed = 0;
    for (unsigned first = 0; first < node->gpu_count; first++) {
        if (seen[first])
            continue;
        unsigned domain = node->domain_count++;
        domains[domain] = (struct node_domain){
            .gpus = members + placed,
            .gpu_count = mark_domain(node, state->gpus, seen, first, domain),
        };
        for (unsigned i = first; i < node->gpu_count; i++)
            if (seen[i] && state->gpus[i].nvlink_domain == domain)
                members[placed++] = i;
    }
    node->domains = domains;
    add_domain_facts(state, source);
    return 0;
}
