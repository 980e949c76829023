/* SPDX-License-Identifier: MIT */
#include "tests/support/gang_world.h"
#include "base/memory.h"
#include "k8s_extender/gang/annotations.h"
#include "k8s_extender/objects/pod_block.h"
#include "tests/support/fake_planner.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GPU "nvidia.com/gpu"

static const char *const notes[] = {ANNOTATION_PLAN, ANNOTATION_PLAN_ID, ANNOTATION_NODE,
                                    ANNOTATION_PLAN_SHAPE, ANNOTATION_NODE_RANK};
/* In the order of their keys. */
static const unsigned note_order[] = {NOTE_NODE, NOTE_RANK, NOTE_PLAN, NOTE_ID, NOTE_SHAPE};
static const char *const node_names[WORLD_NODES] = {"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7"};

static void must(bool truth, const char *what)
{
    if (truth)
        return;
    fprintf(stderr, "gang_world: %s\n", what);
    abort();
}

static void violate(struct world *world, const char *what, const struct world_pod *pod)
{
    if (world->violation)
        return;
    snprintf(world->text, sizeof(world->text), "%s (pod %s, uid %u, gang %d, index %u)", what,
             pod ? pod->name : "-", pod ? pod->serial : 0, pod ? pod->gang : -1,
             pod ? pod->index : 0);
    world->violation = world->text;
}

unsigned world_draw(struct world *world, unsigned below)
{
    world->random = world->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return below > 0 ? (unsigned)(world->random >> 33) % below : 0;
}

static bool chance(struct world *world, unsigned percent)
{
    return world_draw(world, 100) < percent;
}

/* --- records ----------------------------------------------------------------------- */

static struct pod_record *record_of(const struct world *world, const struct world_pod *pod)
{
    char uid[16], version[16], key[16];
    snprintf(uid, sizeof(uid), "u%u", pod->serial);
    snprintf(version, sizeof(version), "%u", pod->version);
    snprintf(key, sizeof(key), "d/g%d", pod->gang);
    if (world->fault == WORLD_MIXES_UIDS)
        snprintf(uid, sizeof(uid), "%.15s", pod->name);
    struct label labels[COUNT_OF(note_order)];
    size_t label_count = 0;
    for (size_t i = 0; i < COUNT_OF(note_order); i++)
        if (pod->annotations[note_order[i]])
            labels[label_count++] = (struct label){.key = notes[note_order[i]],
                                                   .value = pod->annotations[note_order[i]]};
    const struct resource_amount gpus = {.name = GPU, .amount = pod->gpus};
    const char *pin = pod->pin >= 0 ? node_names[pod->pin] : NULL;
    const struct selector_requirement requirement = {.key = "metadata.name",
                                                     .operator= SELECTOR_IN,
                                                     .of_field = true,
                                                     .values = &pin,
                                                     .value_count = 1};
    const struct selector_term term = {.requirements = &requirement, .requirement_count = 1};
    const struct world_gang *gang = pod->gang >= 0 ? &world->gangs[pod->gang] : NULL;
    const struct pod_record draft = {
        .namespace = "d",
        .name = pod->name,
        .uid = uid,
        .resource_version = version,
        .node = pod->node >= 0 ? node_names[pod->node] : NULL,
        .scheduler_name = "default-scheduler",
        .phase = pod->node >= 0 ? POD_RUNNING : POD_PENDING,
        .terminating = pod->terminating,
        .gated = pod->gated,
        .requests = {.amounts = {[RESOURCE_PODS] = 1}, .others = &gpus, .other_count = 1},
        .priority = gang ? gang->priority : 0,
        .gang = {.key = gang ? key : NULL,
                 .group = gang ? key + 2 : NULL,
                 .found_by = gang ? LABEL_GANG : NULL,
                 .index = pod->index,
                 .size = gang ? gang->size : 0},
        .annotations = {.labels = labels, .count = label_count},
        .affinity = {.terms = &term, .term_count = pin != NULL},
    };
    struct pod_record *record = pod_block_create(&draft, NULL);
    must(record != NULL, "no pod record");
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
                 node_names[number], node_names[number], node->cordoned ? "true" : "false",
                 node->gpus, node->ready ? "True" : "False");
    struct node_record *record = node_record_parse(text, (size_t)bytes, NULL);
    must(record != NULL, "no node record");
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

static void pod_changes(struct world *world, struct world_pod *pod)
{
    pod->version = ++world->versions;
    const struct world_event event = {
        .of_pod = true, .gone = !pod->exists, .object = pod->serial, .pod = *pod};
    send_event(world, &event);
}

static void node_changes(struct world *world, unsigned number)
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
        must(gang_machine_set_pod(machine, record_of(world, &event->pod)) == 0, "set_pod");
    else if (event->gone)
        gang_machine_remove_node(machine, node_names[event->object]);
    else
        must(gang_machine_set_node(machine, node_record_of(&event->node, event->object)) == 0,
             "set_node");
}

/* Any event that no earlier one of its object waits for. */
static void deliver(struct world *world, struct world_process *process, bool in_order)
{
    if (!process->machine || process->event_count == 0)
        return;
    size_t at = in_order ? 0 : world_draw(world, (unsigned)process->event_count);
    for (size_t i = 0; i < at; i++)
        if (process->events[i].of_pod == process->events[at].of_pod &&
            process->events[i].object == process->events[at].object)
            at = i;
    struct world_event event = process->events[at];
    bool again = !in_order && chance(world, 10);
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
            must(gang_machine_set_node(machine, node_record_of(&world->nodes[i], i)) == 0, "list");
    for (size_t i = 0; list == LIST_PODS && i < world->pod_count; i++)
        if (world->pods[i].exists &&
            !(world->fault == WORLD_HIDES_TERMINATING && world->pods[i].terminating))
            must(gang_machine_set_pod(machine, record_of(world, &world->pods[i])) == 0, "list");
    must(gang_machine_end_list(machine, list) == 0, "end_list");
}

static void relist(struct world *world, struct world_process *process, enum gang_list list)
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
    must(machine != NULL, "no machine");
    (void)gang_machine_tick(machine, world->now);
    return machine;
}

static void start(struct world *world, struct world_process *process)
{
    process->machine = new_machine(world);
    process->event_count = 0;
    process->broken[LIST_NODES] = process->broken[LIST_PODS] = true;
    process->relists = false;
}

static void stop(struct world *world, unsigned number)
{
    struct world_process *process = &world->processes[number];
    gang_machine_free(process->machine);
    process->machine = NULL;
    for (size_t i = 0; i < process->task_count; i++)
        process->zombie[i] = true;
    if (world->leader == number)
        world->leader = WORLD_LEADER_NONE;
}

static void lead(struct world *world, unsigned number)
{
    if (world->leader < WORLD_PROCESSES && world->processes[world->leader].machine)
        gang_machine_lead(world->processes[world->leader].machine, false);
    world->leader = WORLD_LEADER_NONE;
    if (number < WORLD_PROCESSES && world->processes[number].machine) {
        world->leader = number;
        gang_machine_lead(world->processes[number].machine, true);
        /* Until everything is listed again it goes on with what it has heard so far. */
        world->processes[number].relists = true;
    }
}

/* --- requests ---------------------------------------------------------------------- */

static struct world_pod *find_pod(struct world *world, const char *uid, const char *name)
{
    for (size_t i = 0; i < world->pod_count; i++) {
        struct world_pod *pod = &world->pods[i];
        char own[16];
        snprintf(own, sizeof(own), "u%u", pod->serial);
        if (pod->exists && strcmp(pod->name, name) == 0 &&
            (strcmp(own, uid) == 0 || world->fault == WORLD_MIXES_UIDS))
            return pod;
    }
    return NULL;
}

unsigned world_bound(const struct world *world, unsigned gang)
{
    unsigned bound = 0;
    for (size_t i = 0; i < world->pod_count; i++)
        bound += world->pods[i].exists && !world->pods[i].terminating &&
                 world->pods[i].gang == (int)gang && world->pods[i].node >= 0;
    return bound;
}

/* Where the pod was told to go, and may still. */
static int promise_of(const struct world *world, const struct world_pod *pod)
{
    const char *node = pod->annotations[NOTE_NODE];
    if (!pod->exists || pod->gang < 0 || pod->node >= 0 || pod->gated || pod->terminating ||
        !node || !*node || !world->gangs[pod->gang].exists)
        return -1;
    return node[1] - '0';
}

unsigned world_promised(const struct world *world, unsigned gang)
{
    unsigned promised = 0;
    for (size_t i = 0; i < world->pod_count; i++)
        promised += world->pods[i].gang == (int)gang && promise_of(world, &world->pods[i]) >= 0;
    return promised;
}

static bool claims(const struct world *world, const struct world_pod *pod, int node)
{
    return pod->exists && pod->gang >= 0 && (pod->node == node || promise_of(world, pod) == node);
}

/* No slot is promised twice: the pods of gangs that are on a node or were told to go there. */
static void check_node(struct world *world, int node, const struct world_pod *told)
{
    unsigned gpus = 0;
    for (size_t i = 0; i < world->pod_count; i++)
        gpus += claims(world, &world->pods[i], node) ? world->pods[i].gpus : 0;
    if (gpus <= WORLD_NODE_GPUS)
        return;
    CLEANUP_DONE(text_buffer) struct text_buffer words;
    text_buffer_init(&words, WORLD_TEXT);
    text_buffer_add(&words, "a slot is promised twice: node %s:", node_names[node]);
    for (size_t i = 0; i < world->pod_count; i++) {
        const struct world_pod *pod = &world->pods[i];
        if (claims(world, pod, node))
            text_buffer_add(&words, " %s uid %u %u GPUs %s%s%s", pod->name, pod->serial, pod->gpus,
                            pod->node >= 0 ? "bound" : "told", pod->pin >= 0 ? " pinned" : "",
                            pod->terminating ? " terminating" : "");
    }
    violate(world, text_buffer_text(&words), told);
}

/* The first pod of a gang hears of its node when the plan has been written to pod 0. */
static void check_order(struct world *world, const struct world_pod *told)
{
    struct world_gang *gang = &world->gangs[told->gang];
    bool stands = gang->started;
    gang->started = true;
    for (size_t i = 0; told->annotations[NOTE_ID] && i < WORLD_PLANS; i++)
        stands |= strcmp(gang->published[i], told->annotations[NOTE_ID]) == 0;
    if (!stands)
        violate(world, "a pod is released before the plan is on pod 0", told);
}

/* Remembers the id of a plan that now stands on pod 0. */
static void publish(struct world *world, const struct world_pod *pod)
{
    struct world_gang *gang = &world->gangs[pod->gang];
    const char *id = strstr(pod->annotations[NOTE_PLAN], "id=");
    if (id && pod->index == 0)
        snprintf(gang->published[gang->publications++ % WORLD_PLANS], GANG_PLAN_ID_BYTES, "%s",
                 id + 3);
}

static enum gang_task_result patch(struct world *world, const struct gang_task *task)
{
    char version[16];
    struct world_pod *pod = find_pod(world, task->uid, task->pod);
    if (!pod)
        return TASK_CONFLICT;
    snprintf(version, sizeof(version), "%u", pod->version);
    if (strcmp(version, task->resource_version) != 0)
        return TASK_CONFLICT;
    for (size_t i = 0; i < COUNT_OF(notes); i++) {
        const char *value = label_set_find(&task->annotations, notes[i]);
        if (value && i == NOTE_PLAN && *value && world->fault == WORLD_LOSES_PLANS)
            return TASK_SUCCEEDED;
        if (value)
            pod->annotations[i] = arena_copy_text(world->arena, value);
        if (value && i == NOTE_PLAN)
            publish(world, pod);
    }
    if (task->release) {
        must(task->node != NULL, "release without a node");
        pod->gated = false;
        pod->pin = task->node[1] - '0';
    }
    if (label_set_find(&task->annotations, ANNOTATION_NODE) && promise_of(world, pod) >= 0) {
        check_node(world, promise_of(world, pod), pod);
        check_order(world, pod);
    }
    pod_changes(world, pod);
    return TASK_SUCCEEDED;
}

static enum gang_task_result delete_pod(struct world *world, const struct gang_task *task)
{
    struct world_pod *pod = find_pod(world, task->uid, task->pod);
    if (!pod)
        return TASK_CONFLICT;
    if (pod->node < 0)
        pod->exists = false;
    else
        pod->terminating = true;
    pod_changes(world, pod);
    return TASK_SUCCEEDED;
}

static enum gang_task_result apply(struct world *world, const struct gang_task *task)
{
    if (task->kind == TASK_PATCH_POD)
        return patch(world, task);
    return task->kind == TASK_DELETE_POD ? delete_pod(world, task) : TASK_SUCCEEDED;
}

static void finish(struct world *world, struct world_process *process, size_t at, bool smooth)
{
    struct gang_task task = process->tasks[at];
    bool zombie = process->zombie[at];
    process->task_count--;
    memmove(&process->tasks[at], &process->tasks[at + 1],
            (process->task_count - at) * sizeof(task));
    memmove(&process->zombie[at], &process->zombie[at + 1], process->task_count - at);
    bool lost = !smooth && chance(world, 10);
    enum gang_task_result result = lost ? TASK_FAILED : apply(world, &task);
    if (!smooth && !lost && result == TASK_SUCCEEDED && chance(world, 10))
        result = TASK_FAILED; /* applied all the same */
    if (zombie || !process->machine) {
        gang_task_done(&task);
        return;
    }
    if (task.kind == TASK_PLAN && result != TASK_FAILED)
        must(gang_machine_planned(process->machine, task.problem,
                                  fake_planner_plan(task.problem)) == 0,
             "planned");
    must(gang_machine_finished(process->machine, &task, result) == 0, "finished");
}

/* Takes one task from the machine; false: there was none. */
static bool take_task(struct world_process *process)
{
    if (!process->machine || process->task_count == WORLD_TASKS)
        return false;
    struct gang_task *task = &process->tasks[process->task_count];
    must(gang_machine_next(process->machine, task) == 0, "next");
    if (task->kind == TASK_NONE)
        return false;
    process->zombie[process->task_count++] = false;
    return true;
}

/* --- the rest of the cluster ------------------------------------------------------- */

static unsigned used_gpus(const struct world *world, int node)
{
    unsigned used = 0;
    for (size_t i = 0; i < world->pod_count; i++)
        used += world->pods[i].exists && world->pods[i].node == node ? world->pods[i].gpus : 0;
    return used;
}

static bool node_takes(const struct world *world, int number, unsigned gpus)
{
    const struct world_node *node = &world->nodes[number];
    return node->exists && node->ready && !node->cordoned &&
           used_gpus(world, number) + gpus <= node->gpus;
}

unsigned world_room(const struct world *world, unsigned gpus)
{
    unsigned room = 0;
    for (int i = 0; i < (int)WORLD_NODES; i++) {
        const struct world_node *node = &world->nodes[i];
        unsigned used = used_gpus(world, i);
        if (node->exists && node->ready && !node->cordoned && used < node->gpus)
            room += (node->gpus - used) / gpus;
    }
    return room;
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
        violate(world, "a pod is bound that was never released", pod);
    pod_changes(world, pod);
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
            names[count++] = node_names[i];
    struct gang_answer answer;
    CLEANUP(pod_record) struct pod_record *record = record_of(world, pod);
    gang_answer_filter(process->machine, &policy_default, record, names, count, passes, &answer);
    size_t chosen = choose(world, &answer, count);
    if (chosen == ANSWER_NODE_NONE)
        return;
    must(chosen < count, "an answer names another node");
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
        if (pod->exists && pod->gang == (int)gang && pod->index == index &&
            (same_names || !pod->terminating))
            return true;
    }
    return false;
}

/* The Job controller: what is missing is made anew. */
static void control(struct world *world, unsigned number)
{
    struct world_gang *gang = &world->gangs[number];
    for (uint32_t i = 0; gang->exists && i < gang->size; i++) {
        if (has_pod(world, number, i, gang->same_names))
            continue;
        struct world_pod *pod = add_pod(world);
        if (!pod)
            return;
        pod->gang = (int)number;
        pod->index = i;
        pod->gpus = gang->gpus;
        pod->gated = gang->gate;
        if (gang->same_names)
            snprintf(pod->name, sizeof(pod->name), "g%u-%u", number, i);
        else
            snprintf(pod->name, sizeof(pod->name), "g%u-%u-%u", number, i, pod->serial);
        pod_changes(world, pod);
    }
}

static void make_gang(struct world *world, unsigned number)
{
    struct world_gang *gang = &world->gangs[number];
    for (size_t i = 0; i < world->pod_count; i++)
        if (world->pods[i].exists && world->pods[i].gang == (int)number)
            return; /* the last one's are not all gone */
    *gang = (struct world_gang){
        .exists = true,
        .gate = chance(world, 60),
        .same_names = chance(world, 50),
        .size = 1 + world_draw(world, WORLD_SIZE),
        .gpus = chance(world, 50) ? 8 : 4,
        .priority = (int32_t)world_draw(world, 2),
    };
}

static void remove_pod(struct world *world, struct world_pod *pod)
{
    if (!pod->exists)
        return;
    if (pod->node >= 0 && !pod->terminating) {
        pod->terminating = true;
    } else {
        pod->exists = false;
    }
    pod_changes(world, pod);
}

void world_end_gang(struct world *world, unsigned number)
{
    world->gangs[number].exists = false;
    for (size_t i = 0; i < world->pod_count; i++)
        if (world->pods[i].exists && world->pods[i].gang == (int)number &&
            !world->pods[i].terminating)
            remove_pod(world, &world->pods[i]);
}

static void add_other(struct world *world)
{
    struct world_pod *pod = add_pod(world);
    if (!pod)
        return;
    pod->gpus = 1 + world_draw(world, 8);
    snprintf(pod->name, sizeof(pod->name), "other-%u", pod->serial);
    pod_changes(world, pod);
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
    node_changes(world, number);
    /* Pods of a node that is gone are collected. */
    for (size_t i = 0; !node->exists && i < world->pod_count; i++)
        if (world->pods[i].exists && world->pods[i].node == (int)number)
            remove_pod(world, &world->pods[i]);
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
        deliver(world, process, false);
    for (unsigned i = 0; i < many && take_task(process); i++)
        ;
    for (unsigned i = 0; i < many && process->task_count && chance(world, 70); i++)
        finish(world, process, world_draw(world, (unsigned)process->task_count), false);
}

static void disaster(struct world *world)
{
    unsigned number = world_draw(world, WORLD_PROCESSES);
    struct world_process *process = &world->processes[number];
    switch (world_draw(world, 6)) {
    case 0:
        stop(world, number);
        break;
    case 1:
    case 2:
        lead(world, world_draw(world, WORLD_PROCESSES + 1));
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
            start(world, process);
        for (unsigned list = 0; list < LIST_COUNT; list++)
            if (process->broken[list] || (list == LIST_PODS && process->relists))
                relist(world, process, list);
        process->relists = false;
    }
    if (world->leader == WORLD_LEADER_NONE)
        lead(world, world_draw(world, WORLD_PROCESSES));
}

static void pod_step(struct world *world)
{
    struct world_pod *pod = any_pod(world);
    if (!pod)
        return;
    if (pod->terminating)
        remove_pod(world, pod);
    else if (pod->gang < 0 ? chance(world, 40) : chance(world, 4))
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
    else if (what < 97)
        add_other(world);
    else if (what < 99)
        make_gang(world, world_draw(world, WORLD_GANGS));
    else
        world_end_gang(world, world_draw(world, WORLD_GANGS));
}

static bool settle_turn(struct world *world)
{
    bool worked = false;
    for (unsigned i = 0; i < WORLD_PROCESSES; i++) {
        struct world_process *process = &world->processes[i];
        while (process->event_count)
            deliver(world, process, true);
        while (take_task(process))
            ;
        while (process->task_count) {
            worked |= process->tasks[0].kind == TASK_PATCH_POD ||
                      process->tasks[0].kind == TASK_DELETE_POD;
            finish(world, process, 0, true);
        }
        while (process->event_count)
            deliver(world, process, true);
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

bool world_settle(struct world *world)
{
    repair(world);
    repair(world); /* also the list of who leads only now */
    for (unsigned i = 0; i < WORLD_NODES; i++) {
        world->nodes[i] =
            (struct world_node){.exists = true, .ready = true, .gpus = WORLD_NODE_GPUS};
        node_changes(world, i);
    }
    for (size_t i = 0; i < world->pod_count; i++)
        if (world->pods[i].gang < 0 && !world->pods[i].terminating)
            remove_pod(world, &world->pods[i]);
    unsigned quiet = 0;
    for (unsigned turn = 0; turn < 300 && quiet < 25; turn++)
        quiet = settle_turn(world) ? 0 : quiet + 1;
    return quiet == 25;
}

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
    must(world->arena != NULL, "no memory");
    for (unsigned i = 0; i < WORLD_NODES; i++)
        world->nodes[i] =
            (struct world_node){.exists = true, .ready = true, .gpus = WORLD_NODE_GPUS};
    for (unsigned i = 0; i < WORLD_PROCESSES; i++) {
        world->processes[i].events =
            events[i] ? events[i] : memory_allocate_array(WORLD_EVENTS, sizeof(**events));
        must(world->processes[i].events != NULL, "no memory");
        start(world, &world->processes[i]);
    }
    for (unsigned i = 0; i < WORLD_GANGS; i++)
        if (chance(world, 70))
            make_gang(world, i);
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
