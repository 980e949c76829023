/* SPDX-License-Identifier: MIT */
/*
 * gang_machine_bench: milliseconds of processor time that the gangs' state machine takes for one
 * gang: its pods come one by one, it is planned (by a stand-in), each pod is released and bound,
 * and what is to be done is asked for after every event, as the extender does. Fails
 * where all of it takes more than LIMIT_MILLISECONDS for 1,000 pods; for others as their square.
 *
 *     gang_machine_bench [PODS]
 */
#include "base/memory.h"
#include "base/parse_number.h"
#include "k8s_extender/gang/annotations.h"
#include "k8s_extender/gang/gang_machine.h"
#include "k8s_extender/objects/pod_block.h"
#include "tests/support/fake_planner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PODS 1000u
#define PODS_MAXIMUM 16000u
#define LIMIT_MILLISECONDS 500.0
#define TURNS_MAXIMUM 100000u

struct bench {
    struct gang_machine *machine;
    struct pod_state {
        bool gated, bound;
        char node[16], *plan, *shape;
    } * pods;
    unsigned count, version, patches;
};

static void must(bool truth, const char *what)
{
    if (truth)
        return;
    fprintf(stderr, "gang_machine_bench: %s\n", what);
    exit(1);
}

static double now_milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void set_node(struct bench *bench, unsigned number)
{
    char text[400];
    int bytes =
        snprintf(text, sizeof(text),
                 "{\"metadata\":{\"name\":\"n%u\",\"uid\":\"n%u\"},\"status\":{"
                 "\"allocatable\":{\"cpu\":\"64\",\"pods\":\"10\",\"nvidia.com/gpu\":\"8\"},"
                 "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}",
                 number, number);
    struct node_record *node = node_record_parse(text, (size_t)bytes, NULL);
    must(node && gang_machine_set_node(bench->machine, node) == 0, "a node");
}

/* The pod as it is now. */
static void tell_pod(struct bench *bench, unsigned number)
{
    const struct pod_state *pod = &bench->pods[number];
    char name[16], version[16];
    snprintf(name, sizeof(name), "p%u", number);
    snprintf(version, sizeof(version), "%u", ++bench->version);
    struct label labels[3];
    size_t count = 0;
    if (pod->node[0])
        labels[count++] = (struct label){ANNOTATION_NODE, pod->node};
    if (pod->plan)
        labels[count++] = (struct label){ANNOTATION_PLAN, pod->plan};
    if (pod->shape)
        labels[count++] = (struct label){ANNOTATION_PLAN_SHAPE, pod->shape};
    const struct resource_amount gpus = {.name = "nvidia.com/gpu", .amount = 8};
    const struct pod_record draft = {
        .namespace = "d",
        .name = name,
        .uid = name,
        .resource_version = version,
        .scheduler_name = "default-scheduler",
        .node = pod->bound ? pod->node : NULL,
        .gated = pod->gated,
        .requests = {.amounts = {[RESOURCE_PODS] = 1}, .others = &gpus, .other_count = 1},
        .gang = {.key = "d/g",
                 .group = "g",
                 .found_by = LABEL_GANG,
                 .index = number,
                 .size = bench->count},
        .annotations = {.labels = labels, .count = count},
    };
    struct pod_record *record = pod_block_create(&draft, NULL);
    must(record && gang_machine_set_pod(bench->machine, record) == 0, "a pod");
}

static unsigned number_of(const struct gang_task *task)
{
    uint64_t number = 0;
    must(parse_unsigned(task->pod + 1, 0, PODS_MAXIMUM, &number, NULL) == 0, "a name");
    return (unsigned)number;
}

static void apply(struct bench *bench, const struct gang_task *task)
{
    unsigned number = number_of(task);
    struct pod_state *pod = &bench->pods[number];
    const char *plan = label_set_find(&task->annotations, ANNOTATION_PLAN);
    const char *shape = label_set_find(&task->annotations, ANNOTATION_PLAN_SHAPE);
    if (plan && !pod->plan)
        pod->plan = memory_copy_text(plan);
    if (shape && !pod->shape)
        pod->shape = memory_copy_text(shape);
    if (task->release) {
        pod->gated = false;
        snprintf(pod->node, sizeof(pod->node), "%s", task->node);
        bench->patches++;
    }
}

/* Does all that is to be done; of a pod that was patched is heard at once. */
static void drain(struct bench *bench)
{
    for (unsigned turn = 0; turn < TURNS_MAXIMUM; turn++) {
        struct gang_task task;
        must(gang_machine_next(bench->machine, &task) == 0, "a task");
        if (task.kind == TASK_NONE)
            return;
        unsigned patched = bench->count;
        if (task.kind == TASK_PLAN)
            must(gang_machine_planned(bench->machine, task.problem,
                                      fake_planner_plan(task.problem)) == 0,
                 "a plan");
        if (task.kind == TASK_PATCH_POD) {
            apply(bench, &task);
            patched = number_of(&task);
        }
        must(gang_machine_finished(bench->machine, &task, TASK_SUCCEEDED) == 0, "a result");
        if (patched < bench->count)
            tell_pod(bench, patched);
    }
    must(false, "there is no end of tasks");
}

static void open_machine(struct bench *bench, const struct cluster_view_sources *sources)
{
    const struct gang_machine_settings settings = {.release_milliseconds = 60000,
                                                   .retry_milliseconds = 30000,
                                                   .settle_milliseconds = UINT64_MAX,
                                                   .view = *sources};
    bench->machine = gang_machine_create(&settings, NULL);
    must(bench->machine != NULL, "no machine");
    gang_machine_lead(bench->machine, true);
    gang_machine_begin_list(bench->machine, LIST_NODES);
    for (unsigned i = 0; i < bench->count + bench->count / 4; i++)
        set_node(bench, i);
    must(gang_machine_end_list(bench->machine, LIST_NODES) == 0, "nodes");
    gang_machine_begin_list(bench->machine, LIST_PODS);
    must(gang_machine_end_list(bench->machine, LIST_PODS) == 0, "pods");
}

static double run(struct bench *bench)
{
    double start = now_milliseconds();
    for (unsigned i = 0; i < bench->count; i++) {
        bench->pods[i].gated = true;
        tell_pod(bench, i);
        if (i + 1 < bench->count)
            drain(bench);
    }
    double collected = now_milliseconds();
    drain(bench);
    double released = now_milliseconds();
    must(bench->patches == bench->count, "not every pod was released");
    for (unsigned i = 0; i < bench->count; i++) {
        bench->pods[i].bound = true;
        tell_pod(bench, i);
        drain(bench);
    }
    double bound = now_milliseconds();
    struct gang_counts counts;
    gang_machine_count(bench->machine, &counts);
    must(counts.gangs[GANG_RUNNING] == 1, "the gang does not run");
    printf("%u pods: collected in %.1f ms, planned and released in %.1f ms, bound in %.1f ms\n",
           bench->count, collected - start, released - collected, bound - released);
    return bound - start;
}

int main(int argc, char **argv)
{
    uint64_t pods = PODS;
    if (argc > 1 && parse_unsigned(argv[1], 1, PODS_MAXIMUM, &pods, NULL) < 0)
        return 2;
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = gpu_catalogue_builtin(NULL);
    CLEANUP(preset_catalogue) struct preset_catalogue *presets = preset_catalogue_builtin(NULL);
    struct bench bench = {.count = (unsigned)pods};
    bench.pods = memory_allocate_array(bench.count, sizeof(*bench.pods));
    must(gpus && presets && bench.pods, "no memory");
    open_machine(&bench, &(const struct cluster_view_sources){.presets = presets,
                                                              .gpus = gpus,
                                                              .keys = fabric_label_keys_default()});
    double milliseconds = run(&bench);
    gang_machine_free(bench.machine);
    for (unsigned i = 0; i < bench.count; i++) {
        memory_free(bench.pods[i].plan);
        memory_free(bench.pods[i].shape);
    }
    memory_free(bench.pods);
    double size = (double)pods / PODS, limit = LIMIT_MILLISECONDS * size * size;
    printf("together %.1f ms, at most %.0f\n", milliseconds, limit);
    return milliseconds > limit;
}
