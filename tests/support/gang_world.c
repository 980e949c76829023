/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "k8s_extender/gang/annotations.h"
#include "k8s_extender/objects/pod_block.h"
#include "tests/support/gang_world_parts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GPU "nvidia.com/gpu"

const char *const world_notes[WORLD_NOTES] = {
    [NOTE_PLAN] = ANNOTATION_PLAN,      [NOTE_ID] = ANNOTATION_PLAN_ID,
    [NOTE_NODE] = ANNOTATION_NODE,      [NOTE_SHAPE] = ANNOTATION_PLAN_SHAPE,
    [NOTE_RANK] = ANNOTATION_NODE_RANK,
};
/* In the order of their keys: the first two stand before the gang's inputs. */
static const unsigned note_order[] = {NOTE_NODE, NOTE_RANK, NOTE_PLAN, NOTE_ID, NOTE_SHAPE};
#define NOTES_BEFORE_INPUTS 2u
#define INPUTS 3u
const char *const world_node_names[WORLD_NODES] = {"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7"};

void world_must(bool truth, const char *what)
{
    if (truth)
        return;
    fprintf(stderr, "gang_world: %s\n", what);
    abort();
}

unsigned world_draw(struct world *world, unsigned below)
{
    world->random = world->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return below > 0 ? (unsigned)(world->random >> 33) % below : 0;
}

bool world_chance(struct world *world, unsigned percent)
{
    return world_draw(world, 100) < percent;
}

/* --- records ----------------------------------------------------------------------- */

static struct gang_identity identity_of(const struct world *world, const struct world_pod *pod,
                                        const char *key)
{
    if (pod->gang < 0)
        return (struct gang_identity){.index = GANG_INDEX_NONE};
    const struct world_gang *gang = &world->gangs[pod->gang];
    bool beyond = pod->index >= gang->size;
    return (struct gang_identity){.key = key,
                                  .group = key + 2,
                                  .found_by = LABEL_GANG,
                                  .index = pod->index,
                                  .size = gang->size,
                                  .unit = pod->unit,
                                  .problem = beyond ? "its index is beyond the gang's pods" : NULL};
}

static size_t add_label(const char *key, const char *value, struct label *ret)
{
    *ret = (struct label){.key = key, .value = value};
    return value != NULL;
}

/* Labels stand in the order of their keys; those of foreign pods are the gang's too. */
static size_t annotate(const struct world *world, const struct world_pod *pod, struct label *ret)
{
    const struct world_gang none = {.exists = false};
    const struct world_gang *gang = pod->gang >= 0 ? &world->gangs[pod->gang] : &none;
    size_t count = 0;
    for (size_t i = 0; i < COUNT_OF(note_order); i++) {
        if (i == NOTES_BEFORE_INPUTS) {
            count += add_label(ANNOTATION_ON_NO_SPARE, gang->on_no_spare, &ret[count]);
            count += add_label(ANNOTATION_ON_PARTIAL, gang->on_partial, &ret[count]);
        }
        const char *value = pod->annotations[note_order[i]];
        count += add_label(world_notes[note_order[i]], value, &ret[count]);
    }
    return count + add_label(ANNOTATION_PREFIX "tp", gang->tp, &ret[count]);
}

struct pod_record *world_record_of(const struct world *world, const struct world_pod *pod)
{
    char uid[16], version[16], key[16];
    snprintf(uid, sizeof(uid), "u%u", pod->serial);
    snprintf(version, sizeof(version), "%u", pod->version);
    snprintf(key, sizeof(key), "d/g%d", pod->gang);
    if (world->fault == WORLD_MIXES_UIDS)
        snprintf(uid, sizeof(uid), "%.15s", pod->name);
    struct label labels[COUNT_OF(note_order) + INPUTS];
    size_t label_count = annotate(world, pod, labels);
    const struct resource_amount gpus = {.name = GPU, .amount = pod->gpus};
    const char *pin = pod->pin >= 0 ? world_node_names[pod->pin] : NULL;
    const struct selector_requirement requirement = {.key = "metadata.name",
                                                     .operator= SELECTOR_IN,
                                                     .of_field = true,
                                                     .values = &pin,
                                                     .value_count = 1};
    const struct selector_term term = {.requirements = &requirement, .requirement_count = 1};
    const struct pod_record draft = {
        .namespace = "d",
        .name = pod->name,
        .uid = uid,
        .resource_version = version,
        .node = pod->node >= 0 ? world_node_names[pod->node] : NULL,
        .scheduler_name = "default-scheduler",
        .phase = pod->over        ? POD_SUCCEEDED
                 : pod->node >= 0 ? POD_RUNNING
                                  : POD_PENDING,
        .terminating = pod->terminating,
        .gated = pod->gated,
        .requests = {.amounts = {[RESOURCE_PODS] = 1}, .others = &gpus, .other_count = 1},
        .priority = pod->gang >= 0 ? world->gangs[pod->gang].priority : 0,
        .created = pod->serial,
        .gang = identity_of(world, pod, key),
        .annotations = {.labels = labels, .count = label_count},
        .affinity = {.terms = &term, .term_count = pin != NULL},
    };
    struct pod_record *record = pod_block_create(&draft, NULL);
    world_must(record != NULL, "no pod record");
    return record;
}

static struct node_record *node_record_of(const struct world_node *node, unsigned number)
{
    char text[WORLD_TEXT];
    int bytes =
        snprintf(text, sizeof(text),
                 "{\"metadata\":{\"name\":\"%s\",\"uid\":\"%s\"},\"spec\":{\"unschedulable\":%s},"
                 "\"status\":{\"allocatable\":{\"pods\":\"20\",\"nvidia.com/gpu\":\"%u\"},"
                 "\"conditions\":[{\"type\":\"Ready\",\"status\":\"%s\"}]}}",
                 world_node_names[number], world_node_names[number],
                 node->cordoned ? "true" : "false", node->gpus, node->ready ? "True" : "False");
    struct node_record *record = node_record_parse(text, (size_t)bytes, NULL);
    world_must(record != NULL, "no node record");
    return record;
}

/* --- watch ------------------------------------------------------------------------- */

static void send_event(struct world *world, const struct world_event *event)
{
    for (unsigned i = 0; i < WORLD_PROCESSES; i++) {
        struct world_process *process = &world->processes[i];
        if (!process->machine || process->broken[event->of_pod ? LIST_PODS : LIST_NODES])
            continue;
        if (process->event_count == WORLD_EVENTS)
            process->broken[event->of_pod ? LIST_PODS : LIST_NODES] = true;
        else
            process->events[process->event_count++] = *event;
    }
}

void world_pod_changes(struct world *world, struct world_pod *pod)
{
    pod->version = ++world->versions;
    const struct world_event event = {
        .of_pod = true, .gone = !pod->exists, .object = pod->serial, .pod = *pod};
    send_event(world, &event);
}

void world_node_changes(struct world *world, unsigned number)
{
    struct world_node *node = &world->nodes[number];
    node->version = ++world->versions;
    const struct world_event event = {.gone = !node->exists, .object = number, .node = *node};
    send_event(world, &event);
}

static void hear(struct world *world, struct gang_machine *machine, const struct world_event *event)
{
    char uid[16];
    snprintf(uid, sizeof(uid), "u%u", event->pod.serial);
    if (world->fault == WORLD_MIXES_UIDS)
        snprintf(uid, sizeof(uid), "%.15s", event->pod.name);
    bool hidden = world->fault == WORLD_HIDES_TERMINATING && event->pod.terminating;
    if (event->of_pod && (event->gone || hidden))
        gang_machine_remove_pod(machine, uid);
    else if (event->of_pod)
        world_must(gang_machine_set_pod(machine, world_record_of(world, &event->pod)) == 0,
                   "set_pod");
    else if (event->gone)
        gang_machine_remove_node(machine, world_node_names[event->object]);
    else
        world_must(gang_machine_set_node(machine, node_record_of(&event->node, event->object)) == 0,
                   "set_node");
}

/* Any event that no earlier one of its object waits for. */
void world_deliver(struct world *world, struct world_process *process, bool in_order)
{
    if (!process->machine || process->event_count == 0)
        return;
    size_t at = in_order ? 0 : world_draw(world, (unsigned)process->event_count);
    for (size_t i = 0; i < at; i++)
        if (process->events[i].of_pod == process->events[at].of_pod &&
            process->events[i].object == process->events[at].object)
            at = i;
    struct world_event event = process->events[at];
    bool again = !in_order && world_chance(world, 10);
    hear(world, process->machine, &event);
    if (again)
        hear(world, process->machine, &event);
    process->event_count--;
    memmove(&process->events[at], &process->events[at + 1],
            (process->event_count - at) * sizeof(event));
}

static void drop_events(struct world_process *process, enum gang_list list)
{
    size_t kept = 0;
    for (size_t i = 0; i < process->event_count; i++)
        if (process->events[i].of_pod != (list == LIST_PODS))
            process->events[kept++] = process->events[i];
    process->event_count = kept;
}

static void list_all(struct world *world, struct gang_machine *machine, enum gang_list list)
{
    gang_machine_begin_list(machine, list);
    for (unsigned i = 0; list == LIST_NODES && i < WORLD_NODES; i++)
        if (world->nodes[i].exists)
            world_must(gang_machine_set_node(machine, node_record_of(&world->nodes[i], i)) == 0,
                       "list");
    for (size_t i = 0; list == LIST_PODS && i < world->pod_count; i++)
        if (world->pods[i].exists &&
            !(world->fault == WORLD_HIDES_TERMINATING && world->pods[i].terminating))
            world_must(gang_machine_set_pod(machine, world_record_of(world, &world->pods[i])) == 0,
                       "list");
    world_must(gang_machine_end_list(machine, list) == 0, "end_list");
}

void world_relist(struct world *world, struct world_process *process, enum gang_list list)
{
    if (!process->machine)
        return;
    drop_events(process, list);
    process->broken[list] = false;
    list_all(world, process->machine, list);
}

/* --- processes --------------------------------------------------------------------- */

static struct gang_machine *new_machine(struct world *world)
{
    const struct gang_machine_settings settings = {
        .release_milliseconds = 10000,
        .retry_milliseconds = 5000,
        .settle_milliseconds = UINT64_MAX,
        .patience_milliseconds = UINT64_MAX,
        .view = *world->sources,
    };
    struct gang_machine *machine = gang_machine_create(&settings, NULL);
    world_must(machine != NULL, "no machine");
    (void)gang_machine_tick(machine, world->now);
    return machine;
}

void world_start(struct world *world, struct world_process *process)
{
    process->machine = new_machine(world);
    process->event_count = 0;
    process->broken[LIST_NODES] = process->broken[LIST_PODS] = true;
    process->relists = false;
}

void world_stop(struct world *world, unsigned number)
{
    struct world_process *process = &world->processes[number];
    gang_machine_free(process->machine);
    process->machine = NULL;
    for (size_t i = 0; i < process->task_count; i++)
        process->zombie[i] = true;
    if (world->leader == number)
        world->leader = WORLD_LEADER_NONE;
}

void world_lead(struct world *world, unsigned number)
{
    if (world->leader < WORLD_PROCESSES && world->processes[world->leader].machine)
        gang_machine_lead(world->processes[world->leader].machine, false);
    world->leader = WORLD_LEADER_NONE;
    if (number < WORLD_PROCESSES && world->processes[number].machine) {
        world->leader = number;
        for (unsigned i = 0; i < WORLD_PROCESSES; i++)
            world_cut_off(world, &world->processes[i], i == number);
        gang_machine_lead(world->processes[number].machine, true);
        /* Until everything is listed again it goes on with what it has heard so far. */
        world->processes[number].relists = true;
    }
}

/* --- the whole ---------------------------------------------------------------------- */

struct gang_machine *world_restarted(struct world *world)
{
    struct gang_machine *machine = new_machine(world);
    list_all(world, machine, LIST_NODES);
    list_all(world, machine, LIST_PODS);
    return machine;
}

void world_init(struct world *world, uint64_t seed, enum world_fault fault,
                const struct cluster_view_sources *sources)
{
    struct world_event *events[WORLD_PROCESSES];
    for (unsigned i = 0; i < WORLD_PROCESSES; i++)
        events[i] = world->processes[i].events;
    memset(world, 0, sizeof(*world));
    world->random = seed * UINT64_C(2862933555777941757) + 3037000493;
    world->fault = fault;
    world->sources = sources;
    world->leader = WORLD_LEADER_NONE;
    world->now = 1000;
    world->arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    world_must(world->arena != NULL, "no memory");
    for (unsigned i = 0; i < WORLD_NODES; i++)
        world->nodes[i] =
            (struct world_node){.exists = true, .ready = true, .gpus = WORLD_NODE_GPUS};
    for (unsigned i = 0; i < WORLD_PROCESSES; i++) {
        world->processes[i].events =
            events[i] ? events[i] : memory_allocate_array(WORLD_EVENTS, sizeof(**events));
        world_must(world->processes[i].events != NULL, "no memory");
        world_start(world, &world->processes[i]);
    }
    for (unsigned i = 0; i < WORLD_GANGS; i++)
        if (world_chance(world, 70))
            world_make_gang(world, i);
}

void world_done(struct world *world)
{
    for (unsigned i = 0; i < WORLD_PROCESSES; i++) {
        struct world_process *process = &world->processes[i];
        gang_machine_free(process->machine);
        process->machine = NULL;
        for (size_t t = 0; t < process->task_count; t++)
            gang_task_done(&process->tasks[t]);
        process->task_count = 0;
    }
    arena_free(world->arena);
    world->arena = NULL;
}
