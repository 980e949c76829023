/* SPDX-License-Identifier: MIT */
#include "k8s_extender/gang/steps/gang_candidates.h"
#include "base/memory.h"
#include "k8s_extender/gang/gang_members.h"
#include "k8s_extender/gang/gang_outputs.h"
#include "k8s_extender/gang/gang_recovery.h"
#include "k8s_extender/gang/store/node_tally.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROBLEM_MAXIMUM_BYTES ((size_t)64 << 20)
#define KINDS_MAXIMUM 16u /* of pods, to a node */

/* --- judging ----------------------------------------------------------------------- */

static int tally_slots(const struct gang *gang, struct node_tallies *tallies)
{
    for (uint32_t i = 0; i < gang->slot_count; i++) {
        const char *node = gang_meant_node(gang, i);
        struct node_tally *tally = node ? node_tallies_open(tallies, node) : NULL;
        if (node && !tally)
            return -1;
        if (tally)
            tally->bound += gang->slots[i].state == SLOT_BOUND && !gang->slots[i].doomed;
    }
    return 0;
}

static void measure(const struct gang_machine *machine, const struct gang *gang,
                    struct node_tally *tally)
{
    if (tally->measured)
        return;
    tally->measured = true;
    tally->room =
        cluster_state_room(machine->state, tally->node, &gang->requests, gang->key, gang->size);
    uint32_t capacity =
        cluster_state_capacity(machine->state, tally->node, &gang->requests, gang->size);
    tally->capacity = capacity > tally->bound ? capacity - tally->bound : 0;
}

static bool fits(const struct gang_machine *machine, const char *node, const struct pod_record *pod)
{
    const struct node_record *record = cluster_state_node(machine->state, node);
    return record && node_unfit_for(record, pod) == NODE_FITS;
}

/* What is pinned can only be deleted, which is not done for what may come right by itself: a node
 * that is full for the moment. */
static void judge_promised(const struct gang_machine *machine, struct gang *gang,
                           struct gang_slot *slot, struct node_tally *tally)
{
    measure(machine, gang, tally);
    const char *planned = gang->plan ? gang->plan->nodes[slot - gang->slots] : tally->node;
    bool strays = !slot->pinned && strcmp(planned, tally->node) != 0;
    bool strict = !slot->pinned || gang->late;
    uint32_t allowance = strict && tally->room < tally->capacity ? tally->room : tally->capacity;
    if (!strays && tally->promised < allowance && fits(machine, tally->node, slot->pod)) {
        tally->promised++;
        slot->fate = FATE_FINE;
    } else {
        slot->fate = FATE_STRANDED;
    }
}

static void judge_waiting(const struct gang_machine *machine, struct gang *gang,
                          struct gang_slot *slot, struct node_tally *tally)
{
    measure(machine, gang, tally);
    /* What is doomed is pinned to where it was to go: its successor is not. */
    bool fit = slot->doomed ? cluster_state_node(machine->state, tally->node) != NULL
                            : fits(machine, tally->node, slot->pod);
    if (!fit) {
        slot->fate = FATE_LOST;
    } else if (tally->promised + tally->waiting < tally->room) {
        tally->waiting++;
        slot->fate = FATE_FINE;
    } else {
        bool behind =
            slot->leaving && strcmp(slot->leaving->node, tally->node) == 0 && tally->capacity > 0;
        slot->fate = behind ? FATE_BLOCKED : FATE_LOST;
    }
}

static void judge_slots(const struct gang_machine *machine, struct gang *gang,
                        struct node_tallies *tallies, enum slot_state state)
{
    for (uint32_t i = 0; i < gang->slot_count; i++) {
        struct gang_slot *slot = &gang->slots[i];
        const char *node = gang_meant_node(gang, i);
        struct node_tally *tally = node ? node_tallies_find(tallies, node) : NULL;
        if (slot->state != state && !(state == SLOT_WAITING && slot->doomed))
            continue;
        if (!tally)
            slot->fate = FATE_LOST;
        else if (state == SLOT_PROMISED)
            judge_promised(machine, gang, slot, tally);
        else
            judge_waiting(machine, gang, slot, tally);
    }
}

int gang_judge(struct gang_machine *machine, struct gang *gang, struct gang_judgement *ret)
{
    CLEANUP_DONE(node_tallies) struct node_tallies tallies = {.count = 0};
    if (node_tallies_init(&tallies, gang->slot_count) < 0 || tally_slots(gang, &tallies) < 0)
        return -1;
    judge_slots(machine, gang, &tallies, SLOT_PROMISED);
    judge_slots(machine, gang, &tallies, SLOT_WAITING);
    *ret = (struct gang_judgement){.lost = 0};
    for (uint32_t i = 0; i < gang->slot_count; i++) {
        struct gang_slot *slot = &gang->slots[i];
        bool stranded = slot->fate == FATE_STRANDED;
        ret->lost += slot->fate == FATE_LOST;
        ret->blocked += slot->fate == FATE_BLOCKED;
        ret->stranded += stranded;
        if (stranded && !slot->bad_since)
            slot->bad_since = machine->now + 1;
        else if (!stranded)
            slot->bad_since = 0;
    }
    return 0;
}

bool gang_group_has(const struct gang *gang, uint32_t index, unsigned fates)
{
    uint32_t pods = gang->plan ? gang_plan_group_pods(gang->plan) : 1;
    uint32_t first = index / pods * pods;
    for (uint32_t i = first; i < gang->slot_count && i - first < pods; i++)
        if (fates & 1u << gang->slots[i].fate)
            return true;
    return false;
}

/* --- the problem ------------------------------------------------------------------- */

/* What is asked of the nodes. */
struct demand {
    const char *owner; /* whose reservations do not count; NULL: nobody's */
    uint32_t pods;
    bool empty; /* whether the empty cluster would do is asked too */
    const struct resource_list *requests;
    struct resource_list gpus;       /* the GPUs alone, in the problem's arena */
    const struct pod_record **kinds; /* one pod of each kind, as far as nodes are concerned */
    size_t kind_count;
    struct node_tallies *tallies; /* of nodes that are taken: `bound`, and `promised` for fixed */
};

static int find_view(struct gang_machine *machine, struct error_info *err)
{
    uint64_t generation = cluster_state_generation(machine->state);
    if (machine->view && machine->view_generation == generation)
        return 0;
    const struct node_record *const *nodes = cluster_state_nodes(machine->state);
    size_t count = cluster_state_node_count(machine->state);
    if (count && !nodes)
        return error_set_memory(err);
    struct cluster_view *view = cluster_view_create(nodes, count, &machine->settings.view, err);
    if (!view)
        return -1;
    cluster_view_free(machine->view);
    machine->view = view;
    machine->view_generation = generation;
    return 0;
}

static int find_gpus(struct demand *demand, struct arena *arena)
{
    const struct resource_list *all = demand->requests;
    struct resource_amount *gpus = arena_allocate_array(arena, all->other_count + 1, sizeof(*gpus));
    for (unsigned i = 0; gpus && i < all->other_count; i++)
        if (resource_is_gpu(all->others[i].name))
            gpus[demand->gpus.other_count++] = all->others[i];
    demand->gpus.others = gpus;
    return gpus ? 0 : -1;
}

static enum gang_turned_away why_full(const struct gang_machine *machine, const char *node,
                                      const struct demand *demand)
{
    if (cluster_state_capacity(machine->state, node, &demand->gpus, 1) == 0)
        return AWAY_FEW_GPUS;
    if (cluster_state_capacity(machine->state, node, demand->requests, 1) == 0)
        return AWAY_SMALL;
    if (cluster_state_room_unpromised(machine->state, node, demand->requests, 1) > 0)
        return AWAY_PROMISED;
    if (cluster_state_room_unpromised(machine->state, node, &demand->gpus, 1) > 0)
        return AWAY_SHORT;
    return AWAY_FULL;
}

/* Of nodes that lack the same, the most that one of them has. */
static void note_lack(const struct gang_machine *machine, const char *node,
                      const struct demand *demand, enum gang_turned_away away,
                      struct gang_problem *problem)
{
    if (away != AWAY_SMALL && away != AWAY_SHORT)
        return;
    struct resource_lack *noted = &problem->lacks[away];
    struct resource_lack lack =
        cluster_state_lack(machine->state, node, demand->requests, away == AWAY_SMALL);
    if (!noted->resource && lack.resource)
        *noted = (struct resource_lack){.resource = arena_copy_text(problem->arena, lack.resource),
                                        .asked = lack.asked,
                                        .left = lack.left};
    else if (lack.resource && strcmp(lack.resource, noted->resource) == 0 &&
             lack.left > noted->left)
        noted->left = lack.left;
}

static enum gang_turned_away why_unfit(enum node_unfit unfit)
{
    static const enum gang_turned_away reasons[NODE_UNFIT_COUNT] = {
        [NODE_NOT_READY] = AWAY_NOT_READY,
        [NODE_CORDONED] = AWAY_CORDONED,
        [NODE_GOING] = AWAY_CORDONED,
        [NODE_TAINTED] = AWAY_TAINTED,
        [NODE_NOT_SELECTED] = AWAY_NOT_SELECTED,
    };
    return reasons[unfit];
}

static enum gang_turned_away turned_away(const struct gang_machine *machine, const char *node,
                                         const struct demand *demand, enum node_unfit unfit,
                                         struct gang_problem *problem)
{
    if (unfit != NODE_FITS)
        return why_unfit(unfit);
    enum gang_turned_away away = why_full(machine, node, demand);
    note_lack(machine, node, demand, away, problem);
    return away;
}

static enum node_unfit unfit_for_any(const struct node_record *node, const struct demand *demand)
{
    enum node_unfit unfit = NODE_FITS;
    for (size_t i = 0; unfit == NODE_FITS && i < demand->kind_count; i++)
        unfit = node_unfit_for(node, demand->kinds[i]);
    return unfit;
}

/* Slots of one node; what turns it away is counted. *ret_capacity: what it could ever hold. */
static uint32_t slots_of(const struct gang_machine *machine, const struct node_record *node,
                         const struct demand *demand, struct gang_problem *problem,
                         uint32_t *ret_capacity)
{
    const struct node_tally *tally =
        demand->tallies ? node_tallies_find(demand->tallies, node->name) : NULL;
    uint32_t bound = tally ? tally->bound : 0, fixed = tally ? tally->promised : 0;
    enum node_unfit unfit = unfit_for_any(node, demand);
    uint32_t room = 0;
    *ret_capacity = 0;
    if (unfit == NODE_FITS) {
        room = cluster_state_room(machine->state, node->name, demand->requests, demand->owner,
                                  demand->pods);
        *ret_capacity =
            cluster_state_capacity(machine->state, node->name, demand->requests, demand->pods);
    }
    if (room + bound == 0 && fixed == 0)
        problem->turned_away[turned_away(machine, node->name, demand, unfit, problem)]++;
    if (*ret_capacity < fixed)
        *ret_capacity = fixed;
    return room + bound > fixed ? room + bound : fixed;
}

static int compare_candidates(const void *left, const void *right)
{
    const struct gang_candidate *first = left, *second = right;
    return (first->node > second->node) - (first->node < second->node);
}

static void add_candidate(struct gang_candidate *candidates, size_t *count, uint32_t node,
                          uint32_t slots, uint32_t most)
{
    if (candidates && slots)
        candidates[(*count)++] =
            (struct gang_candidate){.node = node, .slots = slots < most ? slots : most};
}

static int find_candidates(struct gang_machine *machine, const struct demand *demand,
                           struct gang_problem *problem)
{
    const struct node_record *const *nodes = cluster_state_nodes(machine->state);
    size_t count = cluster_state_node_count(machine->state);
    struct gang_candidate *found = arena_allocate_array(problem->arena, count + 1, sizeof(*found));
    struct gang_candidate *empty =
        demand->empty ? arena_allocate_array(problem->arena, count + 1, sizeof(*empty)) : NULL;
    if (!found || (demand->empty && !empty) || (count && !nodes))
        return -1;
    for (size_t i = 0; i < count; i++) {
        uint32_t node = cluster_view_find(problem->view, nodes[i]->name), capacity;
        if (node == VIEW_NODE_NONE)
            continue;
        uint32_t slots = slots_of(machine, nodes[i], demand, problem, &capacity);
        add_candidate(found, &problem->candidate_count, node, slots, demand->pods);
        add_candidate(empty, &problem->empty_count, node, capacity, demand->pods);
        problem->could_hold += capacity;
    }
    qsort(found, problem->candidate_count, sizeof(*found), compare_candidates);
    if (empty)
        qsort(empty, problem->empty_count, sizeof(*empty), compare_candidates);
    problem->candidates = found;
    problem->empty = empty;
    return 0;
}

/* The parts of a problem that a pod says. */
static int copy_pod(struct gang_problem *problem, const struct pod_record *pod)
{
    struct arena *arena = problem->arena;
    problem->namespace = arena_copy_text(arena, pod->namespace);
    if (!problem->namespace || gang_copy_inputs(&pod->annotations, arena, &problem->inputs) < 0)
        return -1;
    const char **arguments =
        arena_allocate_array(arena, pod->argument_count + 1, sizeof(*arguments));
    for (size_t i = 0; arguments && i < pod->argument_count; i++)
        if (!(arguments[i] = arena_copy_text(arena, pod->arguments[i])))
            return -1;
    problem->arguments = arguments;
    problem->argument_count = pod->argument_count;
    return arguments ? 0 : -1;
}

static struct gang_problem *open_problem(struct gang_machine *machine, const char *key,
                                         uint32_t pods, uint32_t gpus, struct error_info *err)
{
    if (find_view(machine, err) < 0)
        return NULL;
    struct arena *arena = arena_create(PROBLEM_MAXIMUM_BYTES);
    struct gang_problem *problem = arena ? arena_allocate(arena, sizeof(*problem)) : NULL;
    if (!problem) {
        arena_free(arena);
        return error_null(error_set_memory(err));
    }
    *problem = (struct gang_problem){.arena = arena,
                                     .pods = pods,
                                     .gpus_per_pod = gpus,
                                     .view = cluster_view_share(machine->view),
                                     .key = arena_copy_text(arena, key)};
    if (problem->key)
        return problem;
    gang_problem_free(problem);
    return error_null(error_set_memory(err));
}

static bool kind_is_known(const struct demand *demand, const struct pod_record *pod)
{
    for (size_t i = 0; i < demand->kind_count; i++)
        if (gang_pods_alike(demand->kinds[i], pod))
            return true;
    return false;
}

/* -1: out of memory; 1: too many: each node is asked for each, while everybody else waits. */
static int find_kinds(struct gang *gang, struct demand *demand, struct arena *arena)
{
    demand->kinds = arena_allocate_array(arena, KINDS_MAXIMUM, sizeof(*demand->kinds));
    for (uint32_t i = 0; demand->kinds && i < gang->slot_count; i++) {
        const struct gang_slot *slot = &gang->slots[i];
        if (slot->state != SLOT_WAITING || kind_is_known(demand, slot->pod))
            continue;
        if (demand->kind_count == KINDS_MAXIMUM) {
            snprintf(gang->reason, sizeof(gang->reason),
                     "gang %s: its pods differ in node selector, affinity or tolerations in more "
                     "than %u ways; make them from one template",
                     gang->key, KINDS_MAXIMUM);
            return 1;
        }
        demand->kinds[demand->kind_count++] = slot->pod;
    }
    return demand->kinds ? 0 : -1;
}

/* The node that the pod of that index keeps, or NULL. */
static const char *kept_node(const struct gang *gang, uint32_t index)
{
    const struct gang_slot *slot = &gang->slots[index];
    bool moves = gang->attempt == ATTEMPT_MOVE && gang_group_has(gang, index, 1u << FATE_LOST);
    if (slot->fate == FATE_LOST || slot->fate == FATE_STRANDED || moves)
        return NULL;
    return gang_meant_node(gang, index);
}

/* -1: out of memory; 1: a bound pod is on a node that cannot be planned with. */
static int fix_nodes(struct gang *gang, struct demand *demand, struct gang_problem *problem)
{
    uint32_t *fixed = arena_allocate_array(problem->arena, gang->size, sizeof(*fixed));
    problem->fixed = fixed;
    for (uint32_t i = 0; fixed && i < gang->size; i++) {
        const struct gang_slot *slot = &gang->slots[i];
        const char *node = kept_node(gang, i);
        fixed[i] = node ? cluster_view_find(problem->view, node) : VIEW_NODE_NONE;
        if (node && fixed[i] == VIEW_NODE_NONE && slot->state != SLOT_EMPTY) {
            snprintf(
                gang->reason, sizeof(gang->reason),
                "gang %s: pod %s is on node %s, which has no GPUs that are known; it is waited "
                "for until that pod is deleted",
                gang->key, slot->pod->name, node);
            return 1;
        }
        struct node_tally *tally =
            fixed[i] != VIEW_NODE_NONE ? node_tallies_open(demand->tallies, node) : NULL;
        if (fixed[i] != VIEW_NODE_NONE && !tally)
            return -1;
        if (tally) {
            tally->promised++;
            tally->bound += slot->state == SLOT_BOUND && !slot->doomed;
        }
    }
    return fixed ? 0 : -1;
}

static void set_degrees(const struct gang *gang, struct gang_problem *problem)
{
    struct gang_shape shape = {.has_degrees = false};
    if (gang->plan) {
        shape.has_degrees = gang->plan->has_degrees;
        shape.degrees = gang->plan->degrees;
        shape.order = gang->plan->order;
    } else if (!gang_shape_find(gang, &shape) || shape.pods != gang->size ||
               shape.gpus_per_pod != gang->gpus_per_pod) {
        shape.has_degrees = false;
    }
    problem->has_degrees = shape.has_degrees;
    problem->degrees = shape.degrees;
    problem->order = shape.order;
    problem->relax = gang->attempt == ATTEMPT_RELAX;
}

static const struct pod_record *speaker(const struct gang *gang)
{
    const struct pod_record *first = NULL;
    for (uint32_t i = 0; i < gang->slot_count; i++) {
        const struct pod_record *pod = gang->slots[i].pod;
        if (pod && pod->annotations.count > 0)
            return pod;
        first = first ? first : pod;
    }
    return first;
}

int gang_problem_create(struct gang_machine *machine, struct gang *gang, bool with_empty,
                        struct gang_problem **ret, struct error_info *err)
{
    CLEANUP(gang_problem)
    struct gang_problem *problem =
        open_problem(machine, gang->key, gang->size, gang->gpus_per_pod, err);
    CLEANUP_DONE(node_tallies) struct node_tallies tallies = {.count = 0};
    struct demand demand = {.owner = gang->key,
                            .pods = gang->size,
                            .empty = with_empty,
                            .requests = &gang->requests,
                            .tallies = &tallies};
    if (!problem)
        return -1;
    if (node_tallies_init(&tallies, gang->size) < 0)
        return error_set_memory(err);
    int refused = gang->bound + gang->promised > 0 ? fix_nodes(gang, &demand, problem) : 0;
    if (refused == 0)
        refused = find_kinds(gang, &demand, problem->arena);
    if (refused == 1) {
        *ret = NULL;
        return 0;
    }
    if (refused < 0 || copy_pod(problem, speaker(gang)) < 0 ||
        find_gpus(&demand, problem->arena) < 0 || find_candidates(machine, &demand, problem) < 0)
        return error_set_memory(err);
    if (problem->fixed)
        set_degrees(gang, problem);
    problem->anew = !gang_has_begun(gang);
    *ret = move_pointer(problem);
    return 0;
}

struct gang_problem *gang_problem_like(struct gang_machine *machine, const struct pod_record *pod,
                                       uint32_t pods, struct error_info *err)
{
    uint64_t gpus = resource_list_gpus(&pod->requests, NULL);
    if (gpus == 0 || gpus > DEGREE_MAXIMUM || pods == 0 || pods > GANG_MAXIMUM_PODS)
        return error_null(error_set(err,
                                    "%u pods of %u GPUs cannot be planned; ask for 1 to %u pods "
                                    "with GPUs",
                                    pods, gpus > UINT32_MAX ? UINT32_MAX : (unsigned)gpus,
                                    GANG_MAXIMUM_PODS));
    const char *key = pod->gang.key ? pod->gang.key : pod->name;
    CLEANUP(gang_problem)
    struct gang_problem *problem = open_problem(machine, key, pods, (uint32_t)gpus, err);
    if (!problem)
        return NULL;
    struct demand demand = {
        .pods = pods, .requests = &pod->requests, .kinds = &pod, .kind_count = 1};
    if (copy_pod(problem, pod) < 0 || find_gpus(&demand, problem->arena) < 0 ||
        find_candidates(machine, &demand, problem) < 0)
        return error_null(error_set_memory(err));
    return move_pointer(problem);
}
