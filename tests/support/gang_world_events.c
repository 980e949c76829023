/* SPDX-License-Identifier: MIT */
#include "tests/support/gang_world_parts.h"
#include <stdio.h>

#define REFUSED_MILLISECONDS 300000u /* then what was refused is tried again */

/* --- the rest of the cluster ------------------------------------------------------- */

static bool node_takes(const struct world *world, int number, unsigned gpus)
{
    const struct world_node *node = &world->nodes[number];
    return node->exists && node->ready && !node->cordoned &&
           world_used_gpus(world, number) + gpus <= node->gpus;
}

static size_t choose(struct world *world, const struct gang_answer *answer, size_t count)
{
    if (answer->kind == ANSWER_ALL && count)
        return world_draw(world, (unsigned)count);
    if (answer->kind == ANSWER_ONE)
        return answer->node;
    size_t chosen = ANSWER_NODE_NONE;
    for (size_t i = 0; answer->kind == ANSWER_SOME && i < count; i++)
        chosen = answer->passes[i] ? i : chosen;
    return chosen;
}

static void bind_pod(struct world *world, struct world_pod *pod, const char *node)
{
    pod->node = node[1] - '0';
    if (pod->gang >= 0 && (!pod->annotations[NOTE_NODE] || !*pod->annotations[NOTE_NODE]))
        world_violate(world, "a pod is bound that was never released", pod);
    world_pod_changes(world, pod);
}

static void schedule(struct world *world, struct world_pod *pod)
{
    const char *names[WORLD_NODES];
    bool passes[WORLD_NODES];
    size_t count = 0;
    struct world_process *process = &world->processes[world_draw(world, WORLD_PROCESSES)];
    if (!pod->exists || pod->gated || pod->terminating || pod->node >= 0 || !process->machine)
        return;
    for (int i = 0; i < (int)WORLD_NODES; i++)
        if (node_takes(world, i, pod->gpus) && (pod->pin < 0 || pod->pin == i))
            names[count++] = world_node_names[i];
    struct gang_answer answer;
    CLEANUP(pod_record) struct pod_record *record = world_record_of(world, pod);
    gang_answer_filter(process->machine, &policy_default, record, names, count, passes, &answer);
    size_t chosen = choose(world, &answer, count);
    if (chosen == ANSWER_NODE_NONE)
        return;
    world_must(chosen < count, "an answer names another node");
    bind_pod(world, pod, names[chosen]);
}

static struct world_pod *add_pod(struct world *world)
{
    if (world->pod_count == WORLD_PODS)
        return NULL;
    struct world_pod *pod = &world->pods[world->pod_count++];
    *pod = (struct world_pod){
        .exists = true, .serial = ++world->serials, .gang = -1, .node = -1, .pin = -1};
    return pod;
}

static bool has_pod(const struct world *world, unsigned gang, uint32_t index, bool same_names)
{
    for (size_t i = 0; i < world->pod_count; i++) {
        const struct world_pod *pod = &world->pods[i];
        if (pod->exists && pod->gang == (int)gang && pod->index == index && !pod->foreign &&
            (same_names || !pod->terminating))
            return true;
    }
    return false;
}

static struct world_pod *add_member(struct world *world, unsigned number, uint32_t index)
{
    struct world_gang *gang = &world->gangs[number];
    struct world_pod *pod = add_pod(world);
    if (!pod)
        return NULL;
    pod->gang = (int)number;
    pod->index = index;
    pod->gpus = gang->gpus;
    pod->gated = gang->gate;
    pod->unit = gang->unit;
    if (gang->same_names)
        snprintf(pod->name, sizeof(pod->name), "g%u-%u", number, index);
    else
        snprintf(pod->name, sizeof(pod->name), "g%u-%u-%u", number, index, pod->serial);
    gang->seen |= 1u << index;
    return pod;
}

/* The Job controller: what is missing is made anew. */
static void control(struct world *world, unsigned number)
{
    struct world_gang *gang = &world->gangs[number];
    for (uint32_t i = 0; gang->exists && i < gang->size; i++) {
        if (has_pod(world, number, i, gang->same_names))
            continue;
        struct world_pod *pod = add_member(world, number, i);
        if (!pod)
            return;
        world_pod_changes(world, pod);
    }
}

/* Somebody binds a pod, or makes one that is bound, with the policies off. */
static void bind_by_hand(struct world *world)
{
    unsigned number = world_draw(world, WORLD_GANGS);
    struct world_gang *gang = &world->gangs[number];
    uint32_t index = gang->exists ? world_draw(world, gang->size) : 0;
    int node = (int)world_draw(world, WORLD_NODES);
    struct world_pod *pod = NULL;
    if (!gang->exists || !node_takes(world, node, gang->gpus))
        return;
    for (size_t i = 0; i < world->pod_count; i++)
        if (world->pods[i].exists && world->pods[i].gang == (int)number &&
            world->pods[i].index == index && !world->pods[i].foreign)
            pod = &world->pods[i];
    if (pod && (pod->gated || pod->terminating || pod->node >= 0))
        return; /* the API server binds none that has gates */
    pod = pod ? pod : add_member(world, number, index);
    if (!pod)
        return;
    pod->gated = false;
    pod->by_hand = true;
    pod->node = node;
    world_pod_changes(world, pod);
}

void world_make_gang(struct world *world, unsigned number)
{
    static const char *const policies[] = {NULL, "wait", "move", "relax"};
    struct world_gang *gang = &world->gangs[number];
    for (size_t i = 0; i < world->pod_count; i++)
        if (world->pods[i].exists && world->pods[i].gang == (int)number)
            return; /* the last one's are not all gone */
    *gang = (struct world_gang){
        .exists = true,
        .unit = world_chance(world, 70) ? ++world->serials : 0,
        .gate = world_chance(world, 60),
        .same_names = world_chance(world, 50),
        .size = 1 + world_draw(world, WORLD_SIZE),
        .gpus = world_chance(world, 50) ? 8 : 4,
        .priority = (int32_t)world_draw(world, 2),
        .on_partial = world_chance(world, 30) ? "delete" : NULL,
        .on_no_spare = policies[world_draw(world, COUNT_OF(policies))],
    };
    if (gang->size % 2 == 0 && world_chance(world, 50))
        gang->tp = gang->gpus == 8 ? "16" : "8";
}

static void remove_pod(struct world *world, struct world_pod *pod)
{
    if (!pod->exists)
        return;
    if (pod->node >= 0 && !pod->terminating && !pod->over) {
        pod->terminating = true;
    } else {
        pod->exists = false;
    }
    world_pod_changes(world, pod);
}

void world_end_gang(struct world *world, unsigned number)
{
    world->gangs[number].exists = false;
    for (size_t i = 0; i < world->pod_count; i++)
        if (world->pods[i].exists && world->pods[i].gang == (int)number &&
            !world->pods[i].terminating && !world->pods[i].foreign)
            remove_pod(world, &world->pods[i]);
}

/* Another job uses a gang's name, or one pod of no owner does, or the gang's own grows. None of
 * them is ever complete. */
static void add_foreign(struct world *world)
{
    unsigned number = world_draw(world, WORLD_GANGS);
    const struct world_gang *gang = &world->gangs[number];
    bool grows = world_chance(world, 50), bare = gang->unit && world_chance(world, 30);
    if (!gang->exists || gang->size < 2)
        return;
    struct world_pod *pod = add_pod(world);
    if (!pod)
        return;
    pod->foreign = true;
    pod->gang = (int)number;
    pod->unit = grows ? gang->unit : bare ? 0 : ++world->serials;
    pod->index = grows ? gang->size : world_draw(world, gang->size);
    if (world_may_be_let_in(world, pod))
        world->gangs[number].seen |= 1u << pod->index;
    pod->gpus = gang->gpus;
    pod->gated = world_chance(world, 50);
    snprintf(pod->name, sizeof(pod->name), "foreign-%u", pod->serial);
    world_pod_changes(world, pod);
}

static void add_other(struct world *world)
{
    struct world_pod *pod = add_pod(world);
    if (!pod)
        return;
    pod->gpus = 1 + world_draw(world, 8);
    snprintf(pod->name, sizeof(pod->name), "other-%u", pod->serial);
    world_pod_changes(world, pod);
}

static void trouble_node(struct world *world)
{
    unsigned number = world_draw(world, WORLD_NODES);
    struct world_node *node = &world->nodes[number];
    switch (world_draw(world, 5)) {
    case 0:
        node->ready = !node->ready;
        break;
    case 1:
        node->cordoned = !node->cordoned;
        break;
    case 2:
        node->gpus = node->gpus == WORLD_NODE_GPUS ? 6 : WORLD_NODE_GPUS;
        break;
    case 3:
        node->exists = !node->exists;
        break;
    default: /* it comes back */
        *node = (struct world_node){.exists = true, .ready = true, .gpus = WORLD_NODE_GPUS};
        break;
    }
    world_node_changes(world, number);
    /* Pods of a node that is gone are collected. */
    for (size_t i = 0; !node->exists && i < world->pod_count; i++)
        if (world->pods[i].exists && world->pods[i].node == (int)number && !world->pods[i].over)
            remove_pod(world, &world->pods[i]);
    /* The scheduler has not heard yet. */
    for (size_t i = 0; !node->exists && i < world->pod_count; i++)
        if (world_promise_of(world, &world->pods[i]) == (int)number && world_chance(world, 50))
            bind_pod(world, &world->pods[i], world_node_names[number]);
}

static struct world_pod *any_pod(struct world *world)
{
    return world->pod_count ? &world->pods[world_draw(world, (unsigned)world->pod_count)] : NULL;
}

static void tick(struct world *world, uint64_t milliseconds)
{
    world->now += milliseconds;
    for (unsigned i = 0; i < WORLD_PROCESSES; i++)
        if (world->processes[i].machine)
            (void)gang_machine_tick(world->processes[i].machine, world->now);
}

/* --- schedule ---------------------------------------------------------------------- */

static void process_step(struct world *world)
{
    struct world_process *process = &world->processes[world_draw(world, WORLD_PROCESSES)];
    unsigned many = 1 + world_draw(world, 6);
    for (unsigned i = 0; i < many; i++)
        world_deliver(world, process, false);
    for (unsigned i = 0; i < many && world_take_task(process); i++)
        ;
    for (unsigned i = 0; i < many && process->task_count && world_chance(world, 70); i++)
        world_finish(world, process, world_draw(world, (unsigned)process->task_count), false);
}

static void disaster(struct world *world)
{
    unsigned number = world_draw(world, WORLD_PROCESSES);
    struct world_process *process = &world->processes[number];
    switch (world_draw(world, 6)) {
    case 0:
        world_stop(world, number);
        break;
    case 1:
    case 2:
        world_lead(world, world_draw(world, WORLD_PROCESSES + 1));
        break;
    case 3:
        process->broken[world_draw(world, LIST_COUNT)] = true;
        break;
    case 4:
        tick(world, 3600000);
        break;
    default:
        if (world->now > 5000) /* a clock that goes back is not believed */
            (void)(process->machine && gang_machine_tick(process->machine, world->now - 5000));
        break;
    }
}

static void repair(struct world *world)
{
    for (unsigned i = 0; i < WORLD_PROCESSES; i++) {
        struct world_process *process = &world->processes[i];
        if (!process->machine)
            world_start(world, process);
        for (unsigned list = 0; list < LIST_COUNT; list++)
            if (process->broken[list] || (list == LIST_PODS && process->relists))
                world_relist(world, process, list);
        process->relists = false;
    }
    if (world->leader == WORLD_LEADER_NONE)
        world_lead(world, world_draw(world, WORLD_PROCESSES));
}

/* Pods of a gang that is whole end one after the other, soon after the first. */
static bool ends_well(struct world *world, const struct world_pod *pod)
{
    bool runs = pod->exists && pod->gang >= 0 && !pod->foreign && !pod->terminating &&
                pod->node >= 0 && world->nodes[pod->node].exists;
    if (!runs || world_bound(world, (unsigned)pod->gang) < world->gangs[pod->gang].size)
        return false;
    bool others = false;
    for (size_t i = 0; i < world->pod_count; i++)
        others |= world->pods[i].exists && world->pods[i].gang == pod->gang && world->pods[i].over;
    return world_chance(world, others ? 30 : 2);
}

static void pod_step(struct world *world)
{
    struct world_pod *pod = any_pod(world);
    if (!pod)
        return;
    if (pod->over)
        return;
    if (ends_well(world, pod)) {
        pod->over = true;
        world_pod_changes(world, pod);
        return;
    }
    bool collected = pod->node >= 0 && !world->nodes[pod->node].exists && world_chance(world, 10);
    if (pod->terminating || collected)
        remove_pod(world, pod);
    else if (world_chance(world, 1))
        bind_by_hand(world);
    else if (pod->gang < 0 || pod->foreign ? world_chance(world, 40) : world_chance(world, 4))
        remove_pod(world, pod);
    else
        schedule(world, pod);
}

void world_step(struct world *world)
{
    unsigned what = world_draw(world, 100);
    if (what < 50)
        process_step(world);
    else if (what < 75)
        for (unsigned i = 0; i < 8; i++)
            pod_step(world);
    else if (what < 82)
        control(world, world_draw(world, WORLD_GANGS));
    else if (what < 88)
        tick(world, world_draw(world, 2000));
    else if (what < 91)
        repair(world);
    else if (what < 93)
        disaster(world);
    else if (what < 95)
        trouble_node(world);
    else if (what < 96)
        add_other(world);
    else if (what < 97)
        add_foreign(world);
    else if (what < 99)
        world_make_gang(world, world_draw(world, WORLD_GANGS));
    else
        world_end_gang(world, world_draw(world, WORLD_GANGS));
}

static bool settle_turn(struct world *world)
{
    bool worked = false;
    for (unsigned i = 0; i < WORLD_PROCESSES; i++) {
        struct world_process *process = &world->processes[i];
        while (process->event_count)
            world_deliver(world, process, true);
        while (world_take_task(process))
            ;
        while (process->task_count) {
            worked |= process->tasks[0].kind == TASK_PATCH_POD ||
                      process->tasks[0].kind == TASK_DELETE_POD;
            world_finish(world, process, 0, true);
        }
        while (process->event_count)
            world_deliver(world, process, true);
    }
    for (size_t i = 0; i < world->pod_count; i++) {
        if (world->pods[i].exists && world->pods[i].terminating)
            remove_pod(world, &world->pods[i]);
        schedule(world, &world->pods[i]);
    }
    for (unsigned i = 0; i < WORLD_GANGS; i++)
        control(world, i);
    tick(world, 1000);
    return worked;
}

/* Whether a pod of that gang runs that was told where to go. */
static bool is_placed(const struct world *world, int gang)
{
    bool placed = false;
    for (size_t i = 0; i < world->pod_count; i++) {
        const struct world_pod *pod = &world->pods[i];
        placed |= pod->gang == gang && pod->exists && !pod->foreign && !pod->over &&
                  !pod->terminating && pod->node >= 0 && !pod->by_hand;
    }
    return placed && world->gangs[gang].exists;
}

/* What a gang may well wait for. Foreign pods must not stop what has been placed, unless they were
 * let in themselves, or may be: of no owner; and of a gang whose pods may all be deleted they have
 * the name from then on. */
static bool is_in_the_way(const struct world *world, const struct world_pod *pod)
{
    if (pod->gang < 0 || (pod->foreign && world->gangs[pod->gang].on_partial))
        return true;
    if (!pod->foreign)
        return false;
    bool placed = pod->node >= 0 || world_promise_of(world, pod) >= 0;
    bool inside = world_may_be_let_in(world, pod) && (placed || !pod->unit);
    return inside || !is_placed(world, pod->gang);
}

/* Pods that were bound there too late are in nobody's way, for as long as they stay. */
static bool stays_away(struct world *world, unsigned number)
{
    bool doomed = false;
    for (size_t i = 0; !world->nodes[number].exists && i < world->pod_count; i++) {
        struct world_pod *pod = &world->pods[i];
        bool here = pod->exists && !pod->terminating && !pod->over && pod->node == (int)number;
        if (here && (pod->by_hand || pod->gang < 0)) {
            remove_pod(world, pod);
            remove_pod(world, pod);
        }
        doomed |= here && !pod->by_hand && pod->gang >= 0;
    }
    return doomed;
}

bool world_settle(struct world *world)
{
    repair(world);
    repair(world); /* also the list of who leads only now */
    for (unsigned i = 0; i < WORLD_NODES; i++) {
        if (stays_away(world, i))
            continue;
        world->nodes[i] =
            (struct world_node){.exists = true, .ready = true, .gpus = WORLD_NODE_GPUS};
        world_node_changes(world, i);
    }
    for (size_t i = 0; i < world->pod_count; i++)
        if (is_in_the_way(world, &world->pods[i]) && !world->pods[i].terminating)
            remove_pod(world, &world->pods[i]);
    tick(world, REFUSED_MILLISECONDS);
    unsigned quiet = 0;
    for (unsigned turn = 0; turn < 300 && quiet < 25; turn++)
        quiet = settle_turn(world) ? 0 : quiet + 1;
    return quiet == 25;
}
