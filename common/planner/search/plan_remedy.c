/* SPDX-License-Identifier: MIT */
#include "planner/search/plan_remedy.h"

#include "base/numbers/real.h"
#include "planner/memory_model.h"
#include "planner/search/configuration_search.h"
#include "planner/strategy.h"
#include "workload/job/job_bounds.h"
#include <string.h>

#define GIB 1073741824.0

struct remedies {
    const struct plan_context *context;
    const struct plan *nearest; /* NULL: bounds leave no configuration at all */
    enum offload offload;
    struct candidate_pool *pool;
    struct arena *arena;
    struct plan_remedy *rows;
    size_t count;
    bool failed;
};

typedef void (*remedy_fn)(struct remedies *remedies);

static double gib(double bytes) { return bytes / GIB; }

static void add(struct remedies *remedies, const char *kind, const char *text)
{
    if (!text)
        remedies->failed = true;
    else
        remedies->rows[remedies->count++] = (struct plan_remedy){kind, text};
}

/* Anything that fits in that context; the pool then has it first. */
static bool fits(struct remedies *remedies, const struct plan_context *context,
                 enum offload offload)
{
    memset(remedies->pool, 0, sizeof(*remedies->pool));
    configuration_search_run(context, offload, SEARCH_MEMORY_ONLY, remedies->pool);
    return remedies->pool->count > 0;
}

/* The same request without one given key. */
static void try_without(struct remedies *remedies, enum job_key key, const char *kind,
                        const char *words)
{
    if (!remedies->context->request->job->values[key].given)
        return;
    struct plan_context context = *remedies->context;
    struct plan_request request = *context.request;
    struct job_spec job = *request.job;
    job.values[key].given = false;
    request.job = &job;
    context.request = &request;
    if (!fits(remedies, &context, remedies->offload))
        return;
    const struct plan *plan = &remedies->pool->plans[0];
    char label[PLAN_LABEL_BYTES];
    plan_label(plan, label);
    add(remedies, kind,
        arena_format(remedies->arena, "%s: %s, micro batch %u, recompute %s needs %.1f GiB of %.1f",
                     words, label, plan->micro_batch, recompute_name(plan->recompute),
                     gib(real_of(plan->memory.total_bytes)),
                     gib(real_of(plan->memory.capacity_bytes))));
}

static void remedy_given_keys(struct remedies *remedies)
{
    try_without(remedies, JOB_RECOMPUTE, "recompute", "recompute more than given");
    try_without(remedies, JOB_MICRO_BATCH, "micro-batch", "use a smaller micro batch");
    try_without(remedies, JOB_SHARDING, "sharding", "leave the sharding open");
    try_without(remedies, JOB_TP, "tp", "leave tp open");
    try_without(remedies, JOB_PP, "pp", "leave pp open");
    try_without(remedies, JOB_DP, "dp", "leave dp open");
}

/* The search with that key at that value alone; the pool then has what fits. */
static bool fits_at(struct remedies *remedies, enum job_key key, uint64_t value)
{
    struct plan_context context = *remedies->context;
    struct plan_request request = *context.request;
    struct job_spec job = *request.job;
    job.bounds[key][JOB_LEAST] = job.bounds[key][JOB_MOST] =
        (struct job_bound){.given = true, .number = value};
    request.job = &job;
    context.request = &request;
    return fits(remedies, &context, remedies->offload);
}

/* Values that no search tries are passed over at once: the degrees divide N. */
static bool worth_trying(const struct remedies *remedies, enum job_key key, uint64_t value)
{
    bool divides = key != JOB_EP && key != JOB_ETP && key != JOB_VPP && key != JOB_MICRO_BATCH;
    return value > 0 && (!divides || remedies->context->world % value == 0);
}

/* The value nearest to the bounds of one key with which something fits. */
static void try_beyond(struct remedies *remedies, enum job_key key)
{
    const struct job_bound *bounds = remedies->context->request->job->bounds[key];
    uint64_t least = bounds[JOB_LEAST].number, most = bounds[JOB_MOST].number;
    for (uint64_t step = 1; step <= REMEDY_BOUND_STEPS; step++) {
        uint64_t sides[] = {bounds[JOB_LEAST].given && least > step ? least - step : 0,
                            bounds[JOB_MOST].given ? most + step : 0};
        for (unsigned i = 0; i < COUNT_OF(sides); i++) {
            if (!worth_trying(remedies, key, sides[i]) || !fits_at(remedies, key, sides[i]))
                continue;
            char text[JOB_BOUNDS_TEXT_BYTES], label[PLAN_LABEL_BYTES];
            job_bounds_text(remedies->context->request->job, key, text);
            plan_label(&remedies->pool->plans[0], label);
            add(remedies, job_key_info(key)->name,
                arena_format(remedies->arena,
                             "%s leaves nothing that fits; the nearest is %s=%llu: %s", text,
                             job_key_info(key)->name, (unsigned long long)sides[i], label));
            return;
        }
    }
}

static void remedy_bounds(struct remedies *remedies)
{
    for (unsigned key = JOB_TP; key <= JOB_MICRO_BATCH; key++)
        if (job_bounds_given(remedies->context->request->job, (enum job_key)key))
            try_beyond(remedies, (enum job_key)key);
}

static const char *enough(double needed, uint64_t available)
{
    if (available == 0)
        return "available is unknown";
    return needed <= real_of(available) ? "enough" : "too little";
}

static void try_offload(struct remedies *remedies, enum offload offload, const char *where,
                        uint64_t available)
{
    if (!fits(remedies, remedies->context, offload))
        return;
    const struct plan *plan = &remedies->pool->plans[0];
    double needed = memory_offload_bytes_per_node(remedies->context, plan);
    const char *have =
        available > 0 ? arena_format(remedies->arena, ", has %.0f GiB", gib(real_of(available)))
                      : "";
    add(remedies, "offload",
        have ? arena_format(remedies->arena,
                            "offload=%s with %s: %.1f GiB of %.1f on the GPU; each node needs "
                            "%.0f GiB of %s%s (%s)",
                            offload_name(offload), sharding_name(plan->sharding),
                            gib(real_of(plan->memory.total_bytes)),
                            gib(real_of(plan->memory.capacity_bytes)), gib(needed), where, have,
                            enough(needed, available))
             : NULL);
}

static void remedy_offload(struct remedies *remedies)
{
    const struct plan_context *context = remedies->context;
    if (remedies->offload != OFFLOAD_NONE)
        return;
    try_offload(remedies, OFFLOAD_CPU, "host memory", context->host_memory_bytes);
    try_offload(remedies, OFFLOAD_NVME, "NVMe", context->host_nvme_bytes);
}

/* A default batch follows the number of replicas; a given one stays. */
static void resize(struct plan_context *context, unsigned nodes)
{
    context->world = (uint64_t)nodes * context->shape.gpus_per_node;
    struct training_spec *training = &context->training;
    if (!training->global_batch_is_default)
        return;
    uint64_t rounds = (training->global_batch + context->world - 1) / context->world;
    training->global_batch = (unsigned)(rounds * context->world);
}

static void remedy_nodes(struct remedies *remedies)
{
    const struct cluster_topology *cluster = remedies->context->request->cluster;
    unsigned gpus = remedies->context->shape.gpus_per_node;
    unsigned nodes = (unsigned)(remedies->context->world / gpus);
    while (nodes < REMEDY_MAXIMUM_NODES) {
        nodes = nodes < REMEDY_EVERY_NODE_COUNT ? nodes + 1 : nodes * 2;
        struct plan_context context = *remedies->context;
        resize(&context, nodes);
        if (context.world > WORLD_MAXIMUM)
            return;
        if (!fits(remedies, &context, OFFLOAD_NONE))
            continue;
        const struct plan *plan = &remedies->pool->plans[0];
        char label[PLAN_LABEL_BYTES];
        plan_label(plan, label);
        add(remedies, "nodes",
            arena_format(remedies->arena, "needs %u nodes of %s (%llu GPUs): %s, %.1f GiB of %.1f",
                         nodes, cluster->kind_count == 1 ? cluster->kind_names[0] : cluster->name,
                         (unsigned long long)context.world, label,
                         gib(real_of(plan->memory.total_bytes)),
                         gib(real_of(plan->memory.capacity_bytes))));
        return;
    }
}

static void remedy_sequence(struct remedies *remedies)
{
    unsigned sequence = remedies->context->training.sequence_length / 2;
    for (; sequence >= REMEDY_SHORTEST_SEQUENCE; sequence /= 2) {
        struct plan_context context = *remedies->context;
        context.training.sequence_length = sequence;
        if (!fits(remedies, &context, remedies->offload))
            continue;
        add(remedies, "sequence",
            arena_format(remedies->arena, "sequence_length=%u fits: %.1f GiB of %.1f", sequence,
                         gib(real_of(remedies->pool->plans[0].memory.total_bytes)),
                         gib(real_of(remedies->pool->plans[0].memory.capacity_bytes))));
        return;
    }
}

/* Where a node's memory is short, not the GPU's. */
static void remedy_host(struct remedies *remedies)
{
    const struct memory_estimate *memory = &remedies->nearest->memory;
    if (!memory_lacks_host(memory))
        return;
    bool drives = remedies->nearest->offload == OFFLOAD_NVME;
    add(remedies, drives ? "host_nvme_gib" : "host_memory_gib",
        arena_format(remedies->arena, "offload=%s needs %.0f GiB of a node, it has %.0f",
                     offload_name(remedies->nearest->offload), gib(real_of(memory->host_bytes)),
                     gib(real_of(memory->host_capacity_bytes))));
}

static void remedy_gpu(struct remedies *remedies)
{
    const struct gpu_catalogue *gpus = remedies->context->request->gpus;
    uint64_t needed = remedies->nearest->memory.total_bytes;
    const struct gpu_model *best = NULL;
    if (needed <= remedies->nearest->memory.capacity_bytes)
        return;
    for (size_t i = 0; i < gpus->count; i++) {
        const struct gpu_model *gpu = &gpus->models[i];
        if (gpu->memory_bytes >= needed && (!best || gpu->memory_bytes < best->memory_bytes))
            best = gpu;
    }
    if (best)
        add(remedies, "gpu",
            arena_format(remedies->arena, "a GPU of at least %.1f GiB, as %s (%.1f GiB)",
                         gib(real_of(needed)), best->name, gib(real_of(best->memory_bytes))));
}

#define REMEDIES_EACH 9u /* the most that one of them adds: every key that takes bounds */

static const remedy_fn tries[] = {remedy_bounds, remedy_given_keys, remedy_host, remedy_offload,
                                  remedy_nodes,  remedy_sequence,   remedy_gpu};

int plan_remedies(const struct plan_context *context, const struct plan *nearest,
                  struct candidate_pool *pool, struct arena *arena,
                  const struct plan_remedy **ret_remedies, size_t *ret_count,
                  struct error_info *err)
{
    struct remedies remedies = {
        .context = context, .nearest = nearest, .pool = pool, .arena = arena};
    if (nearest)
        remedies.offload = nearest->offload;
    remedies.rows =
        arena_allocate_array(arena, COUNT_OF(tries) * REMEDIES_EACH, sizeof(*remedies.rows));
    if (!remedies.rows)
        return error_set_memory(err);
    for (size_t i = 0; i < (nearest ? COUNT_OF(tries) : 1) && !remedies.failed; i++)
        tries[i](&remedies);
    if (remedies.failed)
        return error_set_memory(err);
    *ret_remedies = remedies.rows;
    *ret_count = remedies.count;
    return 0;
}
