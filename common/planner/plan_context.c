/* SPDX-License-Identifier: MIT */
#include "planner/plan_context.h"

#include "planner/efficiency_catalogue.h"
#include "planner/step_time.h"
#include <string.h>

#define BYTES_PER_GIB ((uint64_t)1 << 30)

static const enum gpu_precision gpu_precisions[PRECISION_COUNT] = {
    [PRECISION_FP32] = GPU_TF32,
    [PRECISION_FP16] = GPU_FP16,
    [PRECISION_BF16] = GPU_BF16,
    [PRECISION_FP8] = GPU_FP8,
};

static double minimum(double left, double right) { return left < right ? left : right; }

struct plan_shape plan_context_shape(const struct plan_context *context, const struct plan *plan)
{
    return (struct plan_shape){.plan = plan,
                               .model = context->model,
                               .parameters = &context->parameters,
                               .profile = context->profile,
                               .training = &context->training};
}

static double speed_of(const struct gpu_model *gpu)
{
    return gpu ? gpu->flops_per_second[GPU_FP16] : 0;
}

/* What is known of a kind's first GPU; the model may be NULL. */
static const struct gpu_model *first_gpu(const struct plan_context *context,
                                         const struct node_topology *node, uint64_t *ret_memory)
{
    const struct node_gpu *first = &node->gpus[0];
    const struct gpu_model *gpu =
        first->model ? gpu_catalogue_find(context->request->gpus, first->model, first->memory_bytes)
                     : NULL;
    *ret_memory = first->memory_bytes > 0 || !gpu ? first->memory_bytes : gpu->memory_bytes;
    return gpu;
}

static uint64_t given_bytes(const struct plan_context *context, enum job_key key, uint64_t bytes)
{
    const struct job_value *value = &context->request->job->values[key];
    return value->given ? value->number * BYTES_PER_GIB : bytes;
}

/* The slowest kind decides times, the smallest GPU capacity. */
static void find_node(struct plan_context *context)
{
    const struct cluster_topology *cluster = context->request->cluster;
    for (size_t i = 0; i < cluster->kind_count; i++) {
        const struct node_topology *node = cluster->kinds[i];
        uint64_t memory = 0;
        if (node->gpu_count == 0)
            continue;
        const struct gpu_model *gpu = first_gpu(context, node, &memory);
        if (!context->node || speed_of(gpu) < speed_of(context->gpu)) {
            context->node = node;
            context->kind_name = cluster->kind_names[i];
            context->gpu = gpu;
        }
        if (memory > 0 && (context->capacity_bytes == 0 || memory < context->capacity_bytes))
            context->capacity_bytes = memory;
    }
}

static int choose_precision(struct plan_context *context, struct error_info *err)
{
    const struct gpu_model *gpu = context->gpu;
    if (context->training.precision_given)
        context->precision = context->training.precision;
    else if (!gpu || gpu->flops_per_second[GPU_BF16] > 0)
        context->precision = PRECISION_BF16;
    else
        context->precision = gpu->flops_per_second[GPU_FP16] > 0 ? PRECISION_FP16 : PRECISION_FP32;
    if (gpu && context->precision != PRECISION_FP32 &&
        gpu->flops_per_second[gpu_precisions[context->precision]] <= 0)
        return error_set(err, "precision=%s: %s does not have it; use %s",
                         precision_name(context->precision), gpu->name,
                         gpu->flops_per_second[GPU_BF16] > 0 ? "bf16" : "fp16");
    return 0;
}

static void find_compute_rates(struct plan_context *context)
{
    const struct gpu_model *gpu = context->gpu;
    if (!gpu)
        return;
    enum gpu_precision precision = gpu_precisions[context->precision];
    if (precision == GPU_TF32 && gpu->flops_per_second[GPU_TF32] <= 0)
        precision = GPU_FP32;
    double measured = gpu->gemm_share[precision] > 0 ? gpu->gemm_share[precision]
                                                     : context->architecture->gemm_peak_share;
    context->peak_flops_per_second = gpu->flops_per_second[precision];
    context->gemm_flops_per_second =
        context->peak_flops_per_second * measured * context->architecture->gemm_share;
    context->attention_flops_per_second = context->precision == PRECISION_FP8
                                              ? gpu->flops_per_second[GPU_BF16]
                                              : context->peak_flops_per_second;
    context->memory_bytes_per_second =
        gpu->memory_bytes_per_second * context->architecture->memory_share;
}

/* The switch-to-switch share of one GPU, over every switch below a tier whose uplink is known:
 * a tapered fabric gives less than the NIC. */
static int find_uplinks(struct plan_context *context, struct error_info *err)
{
    const struct cluster_topology *cluster = context->request->cluster;
    const struct fabric *fabric = cluster->fabric;
    if (context->shape.tier_count < 2)
        return 0;
    CLEANUP_MEMORY unsigned *nodes = memory_allocate_array(fabric->switch_count, sizeof(*nodes));
    if (!nodes)
        return error_set_memory(err);
    for (size_t i = 0; i < cluster->node_count; i++) {
        unsigned node = cluster->nodes[i].fabric_node;
        unsigned at = node == FABRIC_NONE ? FABRIC_NONE : fabric->nodes[node].leaf;
        for (; at != FABRIC_NONE; at = fabric->switches[at].parent)
            nodes[at]++;
    }
    for (size_t i = 0; i < fabric->switch_count; i++) {
        const struct fabric_switch *below = &fabric->switches[i];
        double gpus = (double)nodes[i] * context->shape.gpus_per_node;
        if (below->tier + 1 >= context->shape.tier_count || gpus <= 0)
            continue;
        double *lowest = &context->uplink_bytes_per_second[below->tier + 1];
        double share = below->uplink_bytes_per_second / gpus;
        if (share > 0 && (*lowest <= 0 || share < *lowest))
            *lowest = share;
    }
    return 0;
}

/* By the first rail's name (drivers: hfi1, efa) and link layer; NULL: unknown. */
static const char *network_name(const struct node_topology *node)
{
    for (unsigned i = 0; i < node->nic_count; i++) {
        const struct node_nic *nic = &node->nics[i];
        if (nic->role != NIC_RAIL || !nic->name)
            continue;
        if (strncmp(nic->name, "hfi1", strlen("hfi1")) == 0)
            return "omni-path";
        if (strncmp(nic->name, "efa", strlen("efa")) == 0 ||
            strncmp(nic->name, "rdmap", strlen("rdmap")) == 0)
            return "efa";
        return nic->is_ethernet ? "ethernet" : "infiniband";
    }
    return NULL;
}

enum rate_link { RATE_NIC, RATE_NVLINK };

static double rate_of(const struct node_topology *node, enum rate_link link)
{
    return link == RATE_NIC ? node->gpu_nic_bytes_per_second : node->gpu_nvlink_bytes_per_second;
}

/* Of all kinds: a ring runs at the rate of its slowest member. 0: unknown for one. */
static double lowest_rate(const struct plan_context *context, enum rate_link link)
{
    const struct cluster_topology *cluster = context->request->cluster;
    double lowest = rate_of(context->node, link);
    for (size_t i = 0; i < cluster->kind_count; i++)
        if (cluster->kinds[i]->gpu_count > 0)
            lowest = minimum(lowest, rate_of(cluster->kinds[i], link));
    return lowest;
}

static void find_network_rates(struct plan_context *context)
{
    const struct efficiency_catalogue *shares = context->efficiencies;
    double nic = lowest_rate(context, RATE_NIC);
    context->network_assumed = nic <= 0;
    if (nic <= 0)
        nic = shares->assumed_nic_bytes_per_second;
    context->network = efficiency_of_network(shares, network_name(context->node));
    context->network_bytes_per_second = nic * context->network->share;
    double lowest = context->network_bytes_per_second;
    for (unsigned tier = 0; tier <= context->shape.tier_count; tier++) {
        double uplink =
            tier < context->shape.tier_count ? context->uplink_bytes_per_second[tier] : 0;
        if (uplink > 0)
            lowest = minimum(lowest, uplink * context->network->share);
        context->tier_bytes_per_second[tier] = lowest;
    }
}

static void find_node_rates(struct plan_context *context)
{
    const struct efficiency_catalogue *shares = context->efficiencies;
    const struct node_topology *node = context->node;
    double ring = shares->nvlink_share;
    if (context->gpu && context->gpu->nvlink_efficiency > 0)
        ring = context->gpu->nvlink_efficiency;
    context->nvlink_bytes_per_second = lowest_rate(context, RATE_NVLINK) * ring;
    double pair = 0;
    for (unsigned i = 1; i < node->gpu_count && node->nvlink_bytes_per_second; i++)
        if (node->nvlink_bytes_per_second[i] > pair)
            pair = node->nvlink_bytes_per_second[i];
    context->pair_bytes_per_second = pair > 0 ? pair * ring : context->nvlink_bytes_per_second;
    double pcie = node->pcie_bytes_per_second;
    if (pcie <= 0 && context->gpu)
        pcie = context->gpu->pcie_bytes_per_second;
    context->pcie_bytes_per_second = pcie * shares->pcie_share;
}

/* Scores of one head and one sequence below the diagonal, cut to the sliding window; where
 * some layers have none, the mean over all layers. */
static double causal_scores(const struct model_spec *model, double sequence)
{
    double window = model->sliding_window, all = sequence * sequence / 2;
    if (window <= 0 || window >= sequence)
        return all;
    double full = (double)model->full_attention_layers / model->layers;
    return full * all + (1 - full) * (window * sequence - window * window / 2);
}

static int find_efficiencies(struct plan_context *context, struct error_info *err)
{
    const struct plan_request *request = context->request;
    context->efficiencies = request->efficiencies;
    if (!context->efficiencies) {
        context->own_efficiencies = efficiency_catalogue_builtin(err);
        if (!context->own_efficiencies)
            return -1;
        context->efficiencies = context->own_efficiencies;
    }
    context->architecture = efficiency_of_architecture(
        context->efficiencies, context->gpu ? context->gpu->architecture : NULL);
    context->framework = efficiency_of_framework(context->efficiencies, context->profile->name);
    return 0;
}

static int find_world(struct plan_context *context, struct error_info *err)
{
    const struct plan_request *request = context->request;
    if (cluster_shape_of(request->cluster, request->gpus_per_node, &context->shape, err) < 0)
        return -1;
    uint64_t nodes = request->cluster->node_count;
    uint64_t spare = job_spec_number(request->job, JOB_SPARE, 0);
    uint64_t all = nodes * context->shape.gpus_per_node;
    uint64_t used = spare < nodes ? (nodes - spare) * context->shape.gpus_per_node : 0;
    context->world = request->world > 0 ? request->world : used;
    if (context->world == 0 || context->world > WORLD_MAXIMUM || !context->node)
        return error_set(err, "%s has no GPUs to plan for%s", request->cluster->name,
                         spare > 0 ? "; use less spare" : "");
    if (context->world > all)
        return error_set(err, "%llu GPUs are asked for, but these nodes have %llu; use more nodes",
                         (unsigned long long)context->world, (unsigned long long)all);
    if (context->world < context->shape.gpus_per_node)
        context->shape.gpus_per_node = (unsigned)context->world;
    return 0;
}

void plan_context_rates(struct plan_context *context)
{
    find_compute_rates(context);
    find_node_rates(context);
    find_network_rates(context);
}

/* All tokens at as few experts as each of them needs is the most there is. */
static int check_imbalance(const struct plan_request *request, struct error_info *err)
{
    const struct job_value *imbalance = &request->job->values[JOB_IMBALANCE];
    const struct model_spec *model = request->model;
    if (!imbalance->given || model->experts == 0)
        return 0;
    double most = (double)model->experts / model->experts_per_token;
    if (imbalance->real <= most)
        return 0;
    return error_set(err,
                     "%s: imbalance=%s is more than %u experts with %u per token allow; use %g or "
                     "less",
                     imbalance->where, imbalance->text, model->experts, model->experts_per_token,
                     most);
}

int plan_context_init(struct plan_context *ret, const struct plan_request *request,
                      struct error_info *err)
{
    *ret = (struct plan_context){.request = request, .model = request->model};
    ret->policy = request->policy ? *request->policy : policy_default;
    find_node(ret);
    uint64_t reserved = request->reserved_bytes;
    if (reserved > 0 && ret->capacity_bytes > 0)
        ret->capacity_bytes = ret->capacity_bytes > reserved ? ret->capacity_bytes - reserved : 1;
    if (ret->node) {
        ret->host_memory_bytes =
            given_bytes(ret, JOB_HOST_MEMORY_GIB, ret->node->host_memory_bytes);
        ret->host_nvme_bytes = given_bytes(ret, JOB_HOST_NVME_GIB, ret->node->host_nvme_bytes);
    }
    const struct job_value *framework = &request->job->values[JOB_FRAMEWORK];
    ret->profile = framework_catalogue_find(request->frameworks,
                                            framework->given ? framework->text : NULL, err);
    if (!ret->profile || find_world(ret, err) < 0 || find_uplinks(ret, err) < 0 ||
        find_efficiencies(ret, err) < 0 ||
        model_parameters_count(request->model, &ret->parameters, err) < 0 ||
        training_spec_from_job(request->job, ret->world, &ret->training, err) < 0)
        return -1;
    if (check_imbalance(request, err) < 0)
        return -1;
    training_spec_adapt(&ret->training, ret->model, &ret->parameters);
    ret->order = job_spec_order(request->job);
    policy_place_of(request->cluster, ret->shape.gpus_per_node, ret->world, request->policy_where,
                    &ret->place);
    if (choose_precision(ret, err) < 0)
        return -1;
    plan_context_rates(ret);
    ret->attention_scores = causal_scores(ret->model, ret->training.sequence_length);
    ret->model_flops = step_model_flops(ret);
    return 0;
}

void plan_context_done(struct plan_context *context)
{
    efficiency_catalogue_free(context->own_efficiencies);
    context->own_efficiencies = NULL;
}
