/* SPDX-License-Identifier: MIT */
#include "tests/support/gang_world_parts.h"
#include <stdio.h>
#include <string.h>

void world_violate(struct world *world, const char *what, const struct world_pod *pod)
{
    if (world->violation)
        return;
    snprintf(world->text, sizeof(world->text), "%s (pod %s, uid %u, gang %d, index %u)", what,
             pod ? pod->name : "-", pod ? pod->serial : 0, pod ? pod->gang : -1,
             pod ? pod->index : 0);
    world->violation = world->text;
}

unsigned world_bound(const struct world *world, unsigned gang)
{
    unsigned bound = 0;
    for (size_t i = 0; i < world->pod_count; i++)
        bound += world->pods[i].exists && !world->pods[i].terminating && !world->pods[i].foreign &&
                 world->pods[i].gang == (int)gang && world->pods[i].node >= 0;
    return bound;
}

unsigned world_alive(const struct world *world, unsigned gang)
{
    unsigned alive = 0, over = 0, by_hand = 0;
    for (size_t i = 0; i < world->pod_count; i++) {
        const struct world_pod *pod = &world->pods[i];
        if (!pod->exists || pod->terminating || pod->gang != (int)gang || pod->foreign ||
            pod->node < 0)
            continue;
        over += pod->over;
        by_hand += pod->by_hand && !pod->over;
        alive += !pod->by_hand && !pod->over;
    }
    return over ? alive : alive + by_hand;
}

unsigned world_missing(const struct world *world, unsigned gang)
{
    unsigned missing = world->gangs[gang].size - world_bound(world, gang);
    for (size_t i = 0; i < world->pod_count; i++) {
        const struct world_pod *pod = &world->pods[i];
        missing += pod->exists && !pod->terminating && pod->gang == (int)gang && !pod->foreign &&
                   pod->node >= 0 && !pod->over && !world->nodes[pod->node].exists;
    }
    return missing;
}

/* Where the pod was told to go, and may still. */
int world_promise_of(const struct world *world, const struct world_pod *pod)
{
    const char *node = pod->annotations[NOTE_NODE];
    if (!pod->exists || pod->gang < 0 || pod->node >= 0 || pod->gated || pod->terminating ||
        !node || !*node || !world->gangs[pod->gang].exists)
        return -1;
    return node[1] - '0';
}

bool world_may_be_let_in(const struct world *world, const struct world_pod *pod)
{
    uint32_t unit = world->gangs[pod->gang].unit;
    return !pod->foreign || (unit ? pod->unit == 0 : pod->unit != 0);
}

unsigned world_promised(const struct world *world, unsigned gang)
{
    unsigned promised = 0;
    for (size_t i = 0; i < world->pod_count; i++)
        promised +=
            world->pods[i].gang == (int)gang && world_promise_of(world, &world->pods[i]) >= 0;
    return promised;
}

static bool claims(const struct world *world, const struct world_pod *pod, int node)
{
    return pod->exists && pod->gang >= 0 && !pod->by_hand && !pod->over &&
           (pod->node == node || world_promise_of(world, pod) == node);
}

/* No slot is promised twice: the pods of gangs that are on a node or were told to go there. What is
 * bound by hand is nobody's promise. */
void world_check_node(struct world *world, int node, const struct world_pod *told)
{
    unsigned gpus = 0;
    for (size_t i = 0; i < world->pod_count; i++)
        gpus += claims(world, &world->pods[i], node) ? world->pods[i].gpus : 0;
    if (gpus <= WORLD_NODE_GPUS)
        return;
    CLEANUP_DONE(text_buffer) struct text_buffer words;
    text_buffer_init(&words, WORLD_TEXT);
    text_buffer_add(&words, "a slot is promised twice: node %s:", world_node_names[node]);
    for (size_t i = 0; i < world->pod_count; i++) {
        const struct world_pod *pod = &world->pods[i];
        if (claims(world, pod, node))
            text_buffer_add(&words, " %s uid %u %u GPUs %s%s%s", pod->name, pod->serial, pod->gpus,
                            pod->node >= 0 ? "bound" : "told", pod->pin >= 0 ? " pinned" : "",
                            pod->terminating ? " terminating" : "");
    }
    world_violate(world, text_buffer_text(&words), told);
}

/* The first pod of a gang hears of its node when the plan has been written to pod 0. */
void world_check_order(struct world *world, const struct world_pod *told)
{
    struct world_gang *gang = &world->gangs[told->gang];
    bool stands = gang->started;
    if (!gang->started && gang->seen != (1u << gang->size) - 1)
        world_violate(world, "a pod is released before all of its gang have been there", told);
    gang->started = true;
    for (size_t i = 0; told->annotations[NOTE_ID] && i < WORLD_PLANS; i++)
        stands |= strcmp(gang->published[i], told->annotations[NOTE_ID]) == 0;
    if (!stands)
        world_violate(world, "a pod is released before the plan is on pod 0", told);
}

/* Remembers the id of a plan that now stands on pod 0. */
void world_note_plan(struct world *world, const struct world_pod *pod)
{
    struct world_gang *gang = &world->gangs[pod->gang];
    const char *id = strstr(pod->annotations[NOTE_PLAN], "id=");
    if (id && pod->index == 0)
        snprintf(gang->published[gang->publications++ % WORLD_PLANS], GANG_PLAN_ID_BYTES, "%s",
                 id + 3);
}

unsigned world_used_gpus(const struct world *world, int node)
{
    unsigned used = 0;
    for (size_t i = 0; i < world->pod_count; i++)
        used += world->pods[i].exists && !world->pods[i].over && world->pods[i].node == node
                    ? world->pods[i].gpus
                    : 0;
    return used;
}

unsigned world_room(const struct world *world, unsigned gpus)
{
    unsigned room = 0;
    for (int i = 0; i < (int)WORLD_NODES; i++) {
        const struct world_node *node = &world->nodes[i];
        unsigned used = world_used_gpus(world, i);
        if (node->exists && node->ready && !node->cordoned && used < node->gpus)
            room += (node->gpus - used) / gpus;
    }
    return room;
}
