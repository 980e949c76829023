/* SPDX-License-Identifier: MIT */
#include "planner/plan_search.h"

static unsigned gpus_in_use(const struct cluster_topology *cluster, unsigned gpus_per_node)
{
    unsigned whole = cluster_gpus_per_node(cluster);
    return gpus_per_node > 0 && (gpus_per_node < whole || whole == 0) ? gpus_per_node : whole;
}

/* The node kind: what every caller knows alike, so that a verdict has the same words on the
 * command line and in srun. */
static const char *place_name(const struct cluster_topology *cluster)
{
    return cluster->kind_count == 1 ? cluster->kind_names[0] : cluster->name;
}

void policy_place_of(const struct cluster_topology *cluster, unsigned gpus_per_node, uint64_t world,
                     const char *where, struct policy_place *ret)
{
    unsigned used = gpus_in_use(cluster, gpus_per_node);
    uint64_t nodes = world > 0 && used > 0 ? (world + used - 1) / used : cluster->node_count;
    *ret = (struct policy_place){
        .where = where ? where : place_name(cluster),
        .gpus_per_node = used,
        .nvlink_domain_gpus =
            cluster->nvlink_known ? cluster_nvlink_domain_in_use(cluster, used) : 0,
        .nvlink_known = cluster->nvlink_known,
        .sound_gpus = cluster->sound_gpus,
        .fault = cluster->fault,
        .nodes = (unsigned)nodes,
        .open_nodes = cluster->open_nodes,
        .nvlink_cover = cluster->nvlink_cover,
        .domain_nodes = cluster->domain_nodes,
        .domain_count = cluster->domain_count,
    };
}

/* The widest shard group that still sits in one node. */
static unsigned node_shard(const struct cluster_topology *cluster, const struct degrees *degrees)
{
    unsigned gpus = cluster ? cluster_gpus_per_node(cluster) : 0;
    unsigned width = gpus / (degrees->tp * degrees->cp);
    while (width > 1 && degrees->dp % width != 0)
        width--;
    return width > 1 ? width : degrees->dp;
}

int plan_shard_width(const struct job_spec *job, const struct cluster_topology *cluster,
                     enum sharding sharding, struct degrees *degrees, struct error_info *err)
{
    uint64_t given = job_spec_number(job, JOB_SHARD, 0);
    unsigned width = given > DEGREE_MAXIMUM ? DEGREE_MAXIMUM : (unsigned)given;
    if (width == 0 && sharding == SHARDING_HSDP)
        width = node_shard(cluster, degrees);
    return degrees_set_shard(degrees, sharding, width, err);
}

static enum schedule schedule_for(const struct job_spec *job, const struct degrees *degrees)
{
    enum schedule schedule = SCHEDULE_NONE;
    if (degrees->pp > 1)
        schedule = degrees->vpp > 1 ? SCHEDULE_INTERLEAVED : SCHEDULE_1F1B;
    return (enum schedule)job_spec_number(job, JOB_SCHEDULE, schedule);
}

/* A given schedule against the degrees that were filled in. */
static int check_schedule(const struct job_spec *job, const struct degrees *degrees,
                          struct error_info *err)
{
    const struct job_value *schedule = &job->values[JOB_SCHEDULE];
    if (!schedule->given)
        return 0;
    bool none = schedule->number == SCHEDULE_NONE;
    if (none == (degrees->pp > 1))
        return error_set(err, "%s: schedule=%s contradicts pp=%u; %s", schedule->where,
                         schedule->text, degrees->pp,
                         none ? UNPACKED_TEXT("use schedule=1f1b, or pp=1")
                              : UNPACKED_TEXT("use pp=2 or more, or leave schedule out"));
    if (schedule->number == SCHEDULE_INTERLEAVED && degrees->vpp == 1)
        return error_set(err, "%s: schedule=interleaved needs two chunks or more; give vpp=2",
                         schedule->where);
    return 0;
}

/* Micro batches follow from the batch where both are given; 0: unknown. */
static unsigned micro_batches_for(const struct job_spec *job, const struct degrees *degrees)
{
    uint64_t batch = job_spec_number(job, JOB_GLOBAL_BATCH, 0);
    uint64_t rows = job_spec_number(job, JOB_MICRO_BATCH, 0) * degrees->dp;
    return rows > 0 && batch % rows == 0 ? (unsigned)(batch / rows) : 0;
}

int plan_from_degrees(const struct job_spec *job, const struct cluster_topology *cluster,
                      uint64_t world, struct plan *ret, struct error_info *err)
{
    struct plan plan = {0};
    job_spec_degrees(job, &plan.degrees);
    if (job_spec_check_available(job, err) < 0 || degrees_complete(&plan.degrees, world, err) < 0 ||
        check_schedule(job, &plan.degrees, err) < 0)
        return -1;
    plan.sharding = (enum sharding)job_spec_number(job, JOB_SHARDING, SHARDING_NONE);
    if (plan_shard_width(job, cluster, plan.sharding, &plan.degrees, err) < 0)
        return -1;
    plan.order = job_spec_order(job);
    if (rank_order_check(plan.order, &plan.degrees, err) < 0)
        return -1;
    uint64_t offload = job_spec_number(job, JOB_OFFLOAD, OFFLOAD_NONE);
    plan.offload = offload < OFFLOAD_COUNT ? (enum offload)offload : OFFLOAD_NONE;
    plan.schedule = schedule_for(job, &plan.degrees);
    plan.recompute = (enum recompute)job_spec_number(job, JOB_RECOMPUTE, RECOMPUTE_NONE);
    plan.precision = (enum precision)job_spec_number(job, JOB_PRECISION, PRECISION_BF16);
    plan.micro_batch = (unsigned)job_spec_number(job, JOB_MICRO_BATCH, 0);
    plan.micro_batches = micro_batches_for(job, &plan.degrees);
    *ret = plan;
    return 0;
}
