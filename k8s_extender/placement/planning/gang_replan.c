/* SPDX-License-Identifier: MIT */
#include "k8s_extender/placement/planning/gang_replan.h"
#include "base/node_list.h"
#include <string.h>

#define NO_CANDIDATE SIZE_MAX
#define NO_DOMAIN UINT32_MAX

/* Which nodes are looked at: the first of these sets that has what is needed. */
enum choice { CHOICE_SOUND_ALIKE, CHOICE_ALIKE, CHOICE_ALL, CHOICE_COUNT };

struct work {
    const struct gang_replan_request *request;
    const struct gang_problem *problem;
    const struct cluster_topology *cluster;
    uint32_t *room;    /* of each candidate */
    uint32_t *nodes;   /* of each pod, or VIEW_NODE_NONE */
    uint64_t *ties;    /* of each pod: weight of its neighbours that are placed */
    uint32_t *domains; /* of each TP group: where it has to be, or NO_DOMAIN */
    uint32_t *shares;  /* scratch: room of each NVLink domain */
    uint32_t domain_limit;
    uint32_t group; /* pods */
};

/* --- what a place costs ------------------------------------------------------------- */

static uint64_t cost_of(const struct work *work, const struct gang_neighbour *neighbours,
                        size_t count, uint32_t node)
{
    uint64_t cost = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t other = work->nodes[neighbours[i].pod];
        if (other == VIEW_NODE_NONE)
            continue;
        int distance = cluster_distance(work->cluster, node, other) - DISTANCE_SAME_NODE;
        cost += neighbours[i].weight * (uint64_t)distance;
    }
    return cost;
}

static uint32_t domain_of(const struct work *work, uint32_t node)
{
    return work->cluster->nodes[node].nvlink_block;
}

static bool is_better(const struct work *work, uint64_t cost, size_t candidate, uint64_t best_cost,
                      size_t best)
{
    if (best == NO_CANDIDATE || cost != best_cost)
        return best == NO_CANDIDATE || cost < best_cost;
    const struct cluster_node *nodes = work->cluster->nodes;
    const struct gang_candidate *candidates = work->problem->candidates;
    return node_name_compare(nodes[candidates[candidate].node].name,
                             nodes[candidates[best].node].name) < 0;
}

/* The nearest candidate with room in that domain (NO_DOMAIN: in any), or NO_CANDIDATE. */
static size_t nearest(const struct work *work, uint32_t pod, uint32_t domain)
{
    struct gang_neighbour neighbours[GANG_NEIGHBOURS_MAXIMUM];
    size_t count = gang_neighbours_of(&work->request->shape, pod, neighbours);
    size_t best = NO_CANDIDATE;
    uint64_t best_cost = UINT64_MAX;
    for (size_t i = 0; i < work->problem->candidate_count; i++) {
        uint32_t node = work->problem->candidates[i].node;
        if (work->room[i] == 0 || (domain != NO_DOMAIN && domain_of(work, node) != domain))
            continue;
        uint64_t cost = cost_of(work, neighbours, count, node);
        if (!is_better(work, cost, i, best_cost, best))
            continue;
        best = i;
        best_cost = cost;
    }
    return best;
}

/* --- placing ------------------------------------------------------------------------ */

/* Its neighbours are tied more from now on. */
static void tie_neighbours(struct work *work, uint32_t pod)
{
    struct gang_neighbour neighbours[GANG_NEIGHBOURS_MAXIMUM];
    size_t count = gang_neighbours_of(&work->request->shape, pod, neighbours);
    for (size_t i = 0; i < count; i++)
        work->ties[neighbours[i].pod] += neighbours[i].weight;
}

static void place(struct work *work, uint32_t pod, size_t candidate)
{
    work->nodes[pod] = work->problem->candidates[candidate].node;
    work->room[candidate]--;
    tie_neighbours(work, pod);
}

/* The free pod that is tied most, of equals the first. */
static uint32_t next_pod(const struct work *work)
{
    uint32_t best = work->problem->pods;
    for (uint32_t pod = 0; pod < work->problem->pods; pod++)
        if (work->nodes[pod] == VIEW_NODE_NONE &&
            (best == work->problem->pods || work->ties[pod] > work->ties[best]))
            best = pod;
    return best;
}

/* --- domains of TP groups ----------------------------------------------------------- */

static void sum_shares(struct work *work)
{
    memset(work->shares, 0, work->domain_limit * sizeof(*work->shares));
    for (size_t i = 0; i < work->problem->candidate_count; i++)
        work->shares[domain_of(work, work->problem->candidates[i].node)] += work->room[i];
}

/* Fixed pods of a relaxed group lie in several domains: the first one's with room. */
static void find_fixed_domain(struct work *work, uint32_t group)
{
    uint32_t first = group * work->group;
    for (uint32_t pod = first; pod < first + work->group; pod++) {
        uint32_t node = work->problem->fixed[pod];
        if (node == VIEW_NODE_NONE)
            continue;
        uint32_t domain = domain_of(work, node);
        if (work->domains[group] == NO_DOMAIN || work->shares[work->domains[group]] == 0)
            work->domains[group] = domain;
    }
}

static uint32_t lost_pods(const struct work *work, uint32_t group)
{
    uint32_t lost = 0;
    for (uint32_t pod = group * work->group; pod < (group + 1) * work->group; pod++)
        lost += work->nodes[pod] == VIEW_NODE_NONE;
    return lost;
}

/* The candidate of the nearest domain that has room for the whole group. */
static size_t nearest_domain(struct work *work, uint32_t pod)
{
    struct gang_neighbour neighbours[GANG_NEIGHBOURS_MAXIMUM];
    size_t count = gang_neighbours_of(&work->request->shape, pod, neighbours);
    size_t best = NO_CANDIDATE;
    uint64_t best_cost = UINT64_MAX;
    sum_shares(work);
    for (size_t i = 0; i < work->problem->candidate_count; i++) {
        uint32_t node = work->problem->candidates[i].node;
        if (work->room[i] == 0 || work->shares[domain_of(work, node)] < work->group)
            continue;
        uint64_t cost = cost_of(work, neighbours, count, node);
        if (!is_better(work, cost, i, best_cost, best))
            continue;
        best = i;
        best_cost = cost;
    }
    return best;
}

/* The rest of a TP group, all in its domain. Returns false where it has too little room. */
static bool place_group(struct work *work, uint32_t group)
{
    for (uint32_t pod = group * work->group; pod < (group + 1) * work->group; pod++) {
        if (work->nodes[pod] != VIEW_NODE_NONE)
            continue;
        size_t candidate = nearest(work, pod, work->domains[group]);
        if (candidate == NO_CANDIDATE)
            return false;
        place(work, pod, candidate);
    }
    return true;
}

/* Groups that are bound to a domain take their places before those that have a choice. */
static bool place_bound_groups(struct work *work, uint32_t *ret_pod)
{
    sum_shares(work);
    for (uint32_t group = 0; group < work->problem->pods / work->group; group++) {
        find_fixed_domain(work, group);
        *ret_pod = group * work->group;
        if (work->domains[group] != NO_DOMAIN && lost_pods(work, group) > 0 &&
            !place_group(work, group))
            return false;
    }
    return true;
}

static bool place_lost_groups(struct work *work, uint32_t *ret_pod)
{
    for (uint32_t pod = next_pod(work); pod < work->problem->pods; pod = next_pod(work)) {
        uint32_t group = pod / work->group;
        size_t candidate = nearest_domain(work, pod);
        *ret_pod = pod;
        if (candidate == NO_CANDIDATE)
            return false;
        work->domains[group] = domain_of(work, work->problem->candidates[candidate].node);
        if (!place_group(work, group))
            return false;
    }
    return true;
}

/* --- the whole ---------------------------------------------------------------------- */

static int open_work(struct work *work, struct error_info *err)
{
    const struct gang_problem *problem = work->problem;
    for (size_t i = 0; i < work->cluster->node_count; i++)
        if (work->cluster->nodes[i].nvlink_block >= work->domain_limit)
            work->domain_limit = work->cluster->nodes[i].nvlink_block + 1;
    work->room = memory_allocate_array(problem->candidate_count + 1, sizeof(*work->room));
    work->ties = memory_allocate_array(problem->pods, sizeof(*work->ties));
    work->domains = memory_allocate_array(problem->pods, sizeof(*work->domains));
    work->shares = memory_allocate_array(work->domain_limit, sizeof(*work->shares));
    return work->room && work->ties && work->domains && work->shares ? 0 : error_set_memory(err);
}

static void close_work(struct work *work)
{
    memory_free(work->room);
    memory_free(work->ties);
    memory_free(work->domains);
    memory_free(work->shares);
}

/* Candidates ascend by node; a fixed pod's node may be none any more. */
static void take_room(struct work *work, uint32_t node)
{
    const struct gang_candidate *candidates = work->problem->candidates;
    size_t low = 0, high = work->problem->candidate_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (candidates[middle].node < node)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < work->problem->candidate_count && candidates[low].node == node && work->room[low] > 0)
        work->room[low]--;
}

/* The GPUs of the pods that stay; NULL: unknown, or none stays. */
static const char *fixed_model(const struct work *work)
{
    for (uint32_t pod = 0; pod < work->problem->pods; pod++) {
        uint32_t node = work->problem->fixed[pod];
        if (node == VIEW_NODE_NONE)
            continue;
        const struct node_topology *kind = work->cluster->kinds[work->cluster->nodes[node].kind];
        return kind->gpu_count > 0 ? kind->gpus[0].model : NULL;
    }
    return NULL;
}

static bool is_chosen(const struct work *work, const struct node_topology *kind, enum choice choice,
                      const char *model)
{
    struct node_fault fault;
    if (kind->gpu_count < work->problem->gpus_per_pod)
        return false;
    if (choice != CHOICE_ALL && model &&
        (!kind->gpus[0].model || strcmp(kind->gpus[0].model, model) != 0))
        return false;
    return choice != CHOICE_SOUND_ALIKE || !node_topology_find_fault(kind, &fault);
}

static void fill_room(struct work *work, enum choice choice)
{
    const struct gang_problem *problem = work->problem;
    const char *model = fixed_model(work);
    for (size_t i = 0; i < problem->candidate_count; i++) {
        const struct cluster_node *node = &work->cluster->nodes[problem->candidates[i].node];
        bool chosen = is_chosen(work, work->cluster->kinds[node->kind], choice, model);
        work->room[i] = chosen ? problem->candidates[i].slots : 0;
    }
}

/* Returns whether there are places for all lost pods. */
static bool fill_work(struct work *work, enum choice choice)
{
    const struct gang_problem *problem = work->problem;
    uint64_t places = 0, lost = 0;
    fill_room(work, choice);
    memset(work->ties, 0, problem->pods * sizeof(*work->ties));
    memcpy(work->nodes, problem->fixed, problem->pods * sizeof(*work->nodes));
    for (uint32_t pod = 0; pod < problem->pods; pod++) {
        work->domains[pod] = NO_DOMAIN;
        if (work->nodes[pod] == VIEW_NODE_NONE) {
            lost++;
            continue;
        }
        take_room(work, work->nodes[pod]);
        tie_neighbours(work, pod);
    }
    for (size_t i = 0; i < problem->candidate_count; i++)
        places += work->room[i];
    return places >= lost;
}

static enum gang_replan_outcome place_all(struct work *work, enum choice choice, uint32_t *ret_pod)
{
    if (!fill_work(work, choice))
        return REPLAN_NO_ROOM;
    if (work->request->limited && work->group > 1)
        return place_bound_groups(work, ret_pod) && place_lost_groups(work, ret_pod)
                   ? REPLAN_DONE
                   : REPLAN_NO_SPARE;
    for (uint32_t pod = next_pod(work); pod < work->problem->pods; pod = next_pod(work))
        place(work, pod, nearest(work, pod, NO_DOMAIN));
    return REPLAN_DONE;
}

int gang_replan(const struct gang_replan_request *request, uint32_t *ret_nodes,
                enum gang_replan_outcome *ret_outcome, uint32_t *ret_pod, struct error_info *err)
{
    struct work work = {.request = request,
                        .problem = request->problem,
                        .cluster = request->problem->view->cluster,
                        .nodes = ret_nodes,
                        .group = gang_shape_group(&request->shape)};
    if (open_work(&work, err) < 0) {
        close_work(&work);
        return -1;
    }
    *ret_pod = 0;
    *ret_outcome = REPLAN_NO_ROOM;
    for (unsigned choice = 0; choice < CHOICE_COUNT && *ret_outcome != REPLAN_DONE; choice++)
        *ret_outcome = place_all(&work, (enum choice)choice, ret_pod);
    close_work(&work);
    return 0;
}
