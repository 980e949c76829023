/* SPDX-License-Identifier: MIT */
#include "tests/support/fake_planner.h"
#include "base/memory.h"
#include "base/parse_number.h"
#include "k8s_extender/placement/planning/gang_plan_text.h"
#include <stdio.h>

static uint32_t candidate_of(const struct gang_problem *problem, uint32_t node)
{
    uint32_t at = 0;
    while (at < problem->candidate_count && problem->candidates[at].node != node)
        at++;
    return at;
}

/* Whether all pods find a place; ret_nodes: indices into the view. */
static bool fill(const struct gang_problem *problem, uint32_t *slots, uint32_t *ret_nodes)
{
    uint32_t next = 0;
    for (size_t i = 0; i < problem->candidate_count; i++)
        slots[i] = problem->candidates[i].slots;
    for (uint32_t i = 0; i < problem->pods; i++) {
        uint32_t node = problem->fixed ? problem->fixed[i] : VIEW_NODE_NONE;
        uint32_t at = node == VIEW_NODE_NONE ? 0 : candidate_of(problem, node);
        if (node != VIEW_NODE_NONE && (at == problem->candidate_count || slots[at]-- == 0))
            return false;
        ret_nodes[i] = node;
    }
    for (uint32_t i = 0; i < problem->pods; i++) {
        while (ret_nodes[i] == VIEW_NODE_NONE && next < problem->candidate_count &&
               slots[next] == 0)
            next++;
        if (ret_nodes[i] != VIEW_NODE_NONE)
            continue;
        if (next == problem->candidate_count)
            return false;
        slots[next]--;
        ret_nodes[i] = problem->candidates[next].node;
    }
    return true;
}

static int name_nodes(struct gang_plan *plan, const struct gang_problem *problem,
                      const uint32_t *nodes)
{
    const struct cluster_topology *cluster = problem->view->cluster;
    const char **names = arena_allocate_array(plan->arena, problem->pods, sizeof(*names));
    for (uint32_t i = 0; names && i < problem->pods; i++)
        if (!(names[i] = arena_copy_text(plan->arena, cluster->nodes[nodes[i]].name)))
            return -1;
    plan->nodes = names;
    return names ? 0 : -1;
}

static void set_degrees(const struct gang_problem *problem, struct gang_plan *plan)
{
    const char *text = label_set_find(&problem->inputs, "parplan.io/tp");
    uint64_t tp = problem->gpus_per_pod;
    if (problem->has_degrees) {
        plan->degrees = problem->degrees;
        plan->order = problem->order;
        return;
    }
    if (text)
        (void)parse_unsigned(text, 1, WORLD_MAXIMUM, &tp, NULL);
    plan->degrees.tp = plan->degrees.etp = (unsigned)tp;
    plan->degrees.dp = plan->degrees.replicate =
        problem->pods * problem->gpus_per_pod / (unsigned)tp;
}

/* Whether they would if nobody else were there. */
static int fill_empty(const struct gang_problem *problem, uint32_t *nodes, bool *ret)
{
    struct gang_problem alone = *problem;
    alone.candidates = problem->empty;
    alone.candidate_count = problem->empty_count;
    CLEANUP_MEMORY uint32_t *slots =
        memory_allocate_array(problem->empty_count + 1, sizeof(*slots));
    if (!slots)
        return -1;
    *ret = problem->empty && fill(&alone, slots, nodes);
    return 0;
}

struct gang_plan *fake_planner_plan(const struct gang_problem *problem)
{
    CLEANUP(arena) struct arena *arena = arena_create((size_t)8 << 20);
    struct gang_plan *plan = arena ? arena_allocate(arena, sizeof(*plan)) : NULL;
    CLEANUP_MEMORY uint32_t *slots =
        memory_allocate_array(problem->candidate_count + 1, sizeof(*slots));
    CLEANUP_MEMORY uint32_t *nodes = memory_allocate_array(problem->pods, sizeof(*nodes));
    if (!plan || !slots || !nodes)
        return NULL;
    *plan = (struct gang_plan){.outcome = GANG_NO_FIT,
                               .pods = problem->pods,
                               .gpus_per_pod = problem->gpus_per_pod,
                               .has_degrees = true,
                               .degrees = DEGREES_ONE,
                               .arena = arena};
    set_degrees(problem, plan);
    if (!fill(problem, slots, nodes)) {
        snprintf(plan->reason, sizeof(plan->reason), "%u pods do not fit", problem->pods);
        if (fill_empty(problem, nodes, &plan->fits_empty) < 0)
            return NULL;
    } else {
        if (name_nodes(plan, problem, nodes) < 0)
            return NULL;
        plan->outcome = GANG_PLANNED;
        snprintf(plan->reason, sizeof(plan->reason), "%u pods placed", problem->pods);
        gang_plan_make_id(plan, problem->key, plan->id);
    }
    move_pointer(arena);
    return plan;
}

/* Whether pods of one group stay, and others of it need a node. */
static bool splits_a_group(const struct gang_problem *problem, uint32_t group_pods)
{
    for (uint32_t i = 0; problem->fixed && i < problem->pods; i++) {
        uint32_t first = i / group_pods * group_pods;
        if ((problem->fixed[i] == VIEW_NODE_NONE) != (problem->fixed[first] == VIEW_NODE_NONE))
            return true;
    }
    return false;
}

struct gang_plan *fake_planner_no_spare(const struct gang_problem *problem)
{
    struct gang_plan *plan = fake_planner_plan(problem);
    if (!plan || plan->outcome != GANG_PLANNED || problem->relax ||
        !splits_a_group(problem, gang_plan_group_pods(plan)))
        return plan;
    plan->outcome = GANG_NO_FIT;
    plan->no_spare = true;
    snprintf(plan->reason, sizeof(plan->reason), "a TP group's domain has no spare");
    return plan;
}
