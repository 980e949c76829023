/* SPDX-License-Identifier: MIT */
#include "validation/calibration/link_fit.h"

#include "base/memory.h"
#include "planner/communication_model.h"
#include "validation/calibration/factor_search.h"
#include <math.h>
#include <string.h>

#define ROUNDS 4 /* of share and latency in turn: each hardly touches the other's messages */

/* Ranks on nodes, and what a plan of them would look at. */
struct layout {
    unsigned ranks, nodes;
    enum calibrated_link kind;
    struct group_span span;
    struct plan_context context;
};

struct measurement {
    const struct nccl_table *table;
    const struct nccl_row *row;
    const struct layout *layout;
};

/* The figures that are being turned, and all that is predicted with them. */
struct fit {
    const struct link_fit_request *request;
    struct plan_request plan;
    struct gpu_model gpu;
    struct efficiency_catalogue efficiencies;
    struct efficiency_network networks[EFFICIENCY_MAXIMUM_ROWS];
    struct layout layouts[LINK_FIT_MAXIMUM_LAYOUTS];
    size_t layout_count;
    struct measurement *measurements; /* of all kinds */
    size_t count;
    enum calibrated_link kind; /* that is being found */
    struct search_value share, hop;
    double least_bytes, most_bytes; /* messages that count */
};

/* --- from the catalogues to a prediction ----------------------------------------------- */

static const struct node_topology *first_node(const struct cluster_topology *cluster)
{
    for (size_t i = 0; i < cluster->kind_count; i++)
        if (cluster->kinds[i]->gpu_count > 0)
            return cluster->kinds[i];
    return NULL;
}

static int open_catalogues(struct fit *fit, struct error_info *err)
{
    const struct link_fit_request *request = fit->request;
    const struct node_topology *node = first_node(request->cluster);
    const char *name = node ? node->gpus[0].model : NULL;
    const struct gpu_model *gpu =
        name ? gpu_catalogue_find(request->gpus, name, node->gpus[0].memory_bytes) : NULL;
    if (!gpu)
        return error_set(err, "%s: its GPUs are not in the catalogue (`parplan gpus`)",
                         request->cluster->name);
    fit->gpu = *gpu;
    fit->efficiencies = *request->efficiencies;
    memcpy(fit->networks, request->efficiencies->networks,
           request->efficiencies->network_count * sizeof(fit->networks[0]));
    fit->efficiencies.networks = fit->networks;
    fit->plan = (struct plan_request){.cluster = request->cluster, .gpus = request->gpus};
    return 0;
}

static enum calibrated_link kind_of(const struct layout *layout)
{
    const struct group_span *span = &layout->span;
    bool nvlink = span->per_domain >= span->per_node && span->per_domain > 1 &&
                  layout->context.nvlink_bytes_per_second > 0;
    if (span->size > (nvlink ? span->per_domain : span->per_node))
        return CALIBRATED_NETWORK;
    return nvlink ? CALIBRATED_NVLINK : CALIBRATED_PCIE;
}

/* A run that one NVLink domain of several nodes can hold was in one: a search would also count
 * groups that do not divide the domain. */
static void keep_in_domain(struct cluster_shape *shape, unsigned ranks)
{
    if (shape->domain_gpus > shape->gpus_per_node && ranks <= shape->domain_gpus)
        shape->domain_gpus = ranks;
}

static int open_layout(struct fit *fit, struct layout *layout, struct error_info *err)
{
    const struct cluster_topology *cluster = fit->request->cluster;
    struct plan_context *context = &layout->context;
    struct degrees degrees = DEGREES_ONE;
    degrees.tp = layout->ranks;
    *context = (struct plan_context){
        .request = &fit->plan,
        .node = first_node(cluster),
        .gpu = &fit->gpu,
        .efficiencies = &fit->efficiencies,
        .architecture = efficiency_of_architecture(&fit->efficiencies, fit->gpu.architecture),
        .precision = PRECISION_BF16,
        .world = layout->ranks,
    };
    if (cluster_shape_of(cluster, layout->ranks / layout->nodes, &context->shape, err) < 0)
        return -1;
    keep_in_domain(&context->shape, layout->ranks);
    group_span_in(&context->shape, &degrees, ORDER_TP_CP_EP_DP_PP, GROUP_TP, &layout->span);
    plan_context_rates(context);
    layout->kind = kind_of(layout);
    if (context->nvlink_bytes_per_second <= 0 && context->pcie_bytes_per_second <= 0)
        return error_set(err, "%s: neither NVLink's nor PCIe's rate is known", cluster->name);
    if (layout->kind == CALIBRATED_NETWORK && context->network_assumed)
        return error_set(err,
                         "%s: the NICs' rate is not known, so no share of it can be found; "
                         "describe the node (--node FILE)",
                         cluster->name);
    return 0;
}

/* --- the measurements ------------------------------------------------------------------ */

static int check_layout(const struct fit *fit, const struct nccl_table *table,
                        const struct nccl_row *row, unsigned ranks, unsigned nodes,
                        struct error_info *err)
{
    const struct cluster_topology *cluster = fit->request->cluster;
    unsigned gpus = first_node(cluster)->gpu_count;
    if (ranks < 2)
        return error_set(err, "%s:%u: one rank sends nothing; take two at least", table->source,
                         row->line);
    if (nodes > cluster->node_count || ranks / nodes > gpus)
        return error_set(err,
                         "%s:%u: %u ranks on %u nodes, but %s has %zu node%s of %u GPUs; name the "
                         "cluster that it ran on with --cluster",
                         table->source, row->line, ranks, nodes, cluster->name, cluster->node_count,
                         cluster->node_count == 1 ? "" : "s", gpus);
    return 0;
}

static int find_layout(struct fit *fit, const struct nccl_table *table, const struct nccl_row *row,
                       const struct layout **ret, struct error_info *err)
{
    const struct cluster_topology *cluster = fit->request->cluster;
    unsigned nodes = row->ranks > 0 ? row->nodes : (unsigned)cluster->node_count;
    unsigned ranks = row->ranks > 0 ? row->ranks : nodes * first_node(cluster)->gpu_count;
    for (size_t i = 0; i < fit->layout_count; i++)
        if (fit->layouts[i].ranks == ranks && fit->layouts[i].nodes == nodes) {
            *ret = &fit->layouts[i];
            return 0;
        }
    if (check_layout(fit, table, row, ranks, nodes, err) < 0)
        return -1;
    if (fit->layout_count == LINK_FIT_MAXIMUM_LAYOUTS)
        return error_set(err, "%s:%u: more than %u different numbers of ranks", table->source,
                         row->line, LINK_FIT_MAXIMUM_LAYOUTS);
    struct layout *layout = &fit->layouts[fit->layout_count];
    *layout = (struct layout){.ranks = ranks, .nodes = nodes};
    if (open_layout(fit, layout, err) < 0)
        return -1;
    fit->layout_count++;
    *ret = layout;
    return 0;
}

static int check_gpu(const struct fit *fit, const struct nccl_table *table, struct error_info *err)
{
    const struct gpu_model *gpu =
        table->gpu ? gpu_catalogue_find(fit->request->gpus, table->gpu, 0) : NULL;
    if (!gpu || strcmp(gpu->architecture, fit->gpu.architecture) == 0)
        return 0;
    return error_set(err, "%s: ran on %s, but %s has %s; name the cluster that it ran on",
                     table->source, table->gpu, fit->request->cluster->name, fit->gpu.title);
}

static int open_measurements(struct fit *fit, struct error_info *err)
{
    const struct link_fit_request *request = fit->request;
    size_t total = 0;
    for (size_t i = 0; i < request->table_count; i++)
        total += request->tables[i]->count;
    fit->measurements = memory_allocate_array(total + 1, sizeof(*fit->measurements));
    if (!fit->measurements)
        return error_set_memory(err);
    for (size_t i = 0; i < request->table_count; i++) {
        const struct nccl_table *table = request->tables[i];
        if (check_gpu(fit, table, err) < 0)
            return -1;
        for (size_t j = 0; j < table->count; j++) {
            struct measurement *next = &fit->measurements[fit->count];
            next->table = table;
            next->row = &table->rows[j];
            if (find_layout(fit, table, next->row, &next->layout, err) < 0)
                return -1;
            fit->count++;
        }
    }
    return 0;
}

/* --- one kind of link ------------------------------------------------------------------ */

static const struct efficiency_network *network_of(const struct fit *fit)
{
    for (size_t i = 0; i < fit->layout_count; i++)
        if (fit->layouts[i].kind == CALIBRATED_NETWORK)
            return fit->layouts[i].context.network;
    return NULL;
}

static void use_share(struct fit *fit)
{
    const struct efficiency_network *network = network_of(fit);
    double share = fit->share.value;
    if (fit->kind == CALIBRATED_NVLINK)
        fit->gpu.nvlink_efficiency = share;
    else if (fit->kind == CALIBRATED_PCIE)
        fit->efficiencies.pcie_share = share;
    else if (network)
        fit->networks[network - fit->networks].share = share;
}

static double share_of(const struct fit *fit)
{
    const struct efficiency_network *network = network_of(fit);
    if (fit->kind == CALIBRATED_PCIE)
        return fit->efficiencies.pcie_share;
    if (fit->kind == CALIBRATED_NETWORK)
        return network ? network->share : 1;
    return fit->gpu.nvlink_efficiency > 0 ? fit->gpu.nvlink_efficiency
                                          : fit->efficiencies.nvlink_share;
}

static void use_values(struct fit *fit)
{
    use_share(fit);
    calibration_set_hop(&fit->efficiencies, fit->kind, fit->hop.value);
    for (size_t i = 0; i < fit->layout_count; i++)
        plan_context_rates(&fit->layouts[i].context);
}

static double predicted_ratio(const struct measurement *measurement)
{
    const struct nccl_row *row = measurement->row;
    return collective_seconds(&measurement->layout->context, &measurement->layout->span,
                              row->collective, row->bytes) /
           row->seconds;
}

static double cost_of(void *context)
{
    struct fit *fit = context;
    double sum = 0, rows = 0;
    use_values(fit);
    for (size_t i = 0; i < fit->count; i++) {
        const struct measurement *next = &fit->measurements[i];
        if (next->layout->kind != fit->kind || next->row->bytes < fit->least_bytes ||
            next->row->bytes > fit->most_bytes)
            continue;
        sum += fabs(log(predicted_ratio(next)));
        rows++;
    }
    return rows > 0 ? sum / rows : 0;
}

struct extent {
    const struct nccl_row *first;
    const struct layout *layout;
    double smallest, largest;
    uint64_t n;
    bool several; /* tests or layouts */
    double residual;
};

static struct extent extent_of(const struct fit *fit)
{
    struct extent extent = {.n = 0};
    for (size_t i = 0; i < fit->count; i++) {
        const struct measurement *next = &fit->measurements[i];
        if (next->layout->kind != fit->kind)
            continue;
        if (extent.n++ == 0) {
            extent.first = next->row;
            extent.layout = next->layout;
            extent.smallest = extent.largest = next->row->bytes;
        }
        extent.smallest = fmin(extent.smallest, next->row->bytes);
        extent.largest = fmax(extent.largest, next->row->bytes);
        extent.several |= next->layout != extent.layout || next->row->test != extent.first->test;
        extent.residual += fabs(predicted_ratio(next) - 1);
    }
    if (extent.n > 0)
        extent.residual /= (double)extent.n;
    return extent;
}

static const char *link_row_name(const struct fit *fit)
{
    const struct efficiency_network *network = network_of(fit);
    if (fit->kind == CALIBRATED_NETWORK && network)
        return network->name;
    return fit->kind == CALIBRATED_NVLINK ? fit->gpu.name : "";
}

static int describe(const struct fit *fit, const struct extent *extent, struct arena *arena,
                    struct link_figures *ret, struct error_info *err)
{
    ret->kind = fit->kind;
    ret->name = arena_copy_text(arena, link_row_name(fit));
    ret->source = arena_format(
        arena, "nccl-tests: %s, %u ranks on %u node%s%s, %.0f to %.0f bytes", extent->first->test,
        extent->layout->ranks, extent->layout->nodes, extent->layout->nodes > 1 ? "s" : "",
        extent->several ? " and others" : "", extent->smallest, extent->largest);
    return ret->name && ret->source ? 0 : error_set_memory(err);
}

static void search(struct fit *fit, bool has_small)
{
    fit->share =
        (struct search_value){share_of(fit), CALIBRATION_MINIMUM_SHARE, CALIBRATION_MAXIMUM_SHARE};
    fit->hop =
        (struct search_value){calibrated_least_hop(&fit->efficiencies, fit->kind),
                              CALIBRATION_MINIMUM_HOP_SECONDS, CALIBRATION_MAXIMUM_HOP_SECONDS};
    for (int round = 0; round < ROUNDS; round++) {
        fit->least_bytes = LINK_FIT_LARGE_BYTES;
        fit->most_bytes = INFINITY;
        factor_search(&fit->share, 1, cost_of, fit);
        if (!has_small)
            break;
        fit->least_bytes = 0;
        fit->most_bytes = LINK_FIT_SMALL_BYTES;
        factor_search(&fit->hop, 1, cost_of, fit);
    }
    use_values(fit);
}

/* --- figures that say nothing ---------------------------------------------------------- */

#define NEAR_LIMIT 0.01 /* the search's last steps are smaller */
#define GIGA 1e9
#define MICRO 1e-6
#define PERCENT 100.0

static bool at_most(const struct search_value *value)
{
    return value->value >= value->most * (1 - NEAR_LIMIT);
}

static bool at_least(const struct search_value *value)
{
    return value->value <= value->least * (1 + NEAR_LIMIT);
}

/* Of one GPU over that kind of link, without a share. */
static double full_rate(const struct fit *fit, const struct plan_context *context)
{
    const double rates[CALIBRATED_LINK_COUNT] = {
        [CALIBRATED_NVLINK] = context->nvlink_bytes_per_second,
        [CALIBRATED_PCIE] = context->pcie_bytes_per_second,
        [CALIBRATED_NETWORK] = context->network_bytes_per_second,
    };
    return rates[fit->kind] / share_of(fit);
}

static const struct measurement *largest_message(const struct fit *fit)
{
    const struct measurement *largest = NULL;
    for (size_t i = 0; i < fit->count; i++) {
        const struct measurement *next = &fit->measurements[i];
        if (next->layout->kind == fit->kind && (!largest || next->row->bytes > largest->row->bytes))
            largest = next;
    }
    return largest;
}

/* Inside and outside a node the model adds up, where NCCL may do both at once. */
static const char network_remedy[] =
    "; measure the network alone (sendrecv_perf, alltoall_perf), and check --cluster and the file";
static const char any_remedy[] = "; check --cluster and the file";
static const char hop_remedy[] = "; check the file, or begin at larger messages (-b 1M)";

static int refuse(const struct fit *fit, const char *what, double figure, const char *unit,
                  const char *remedy, struct error_info *err)
{
    const struct measurement *most = largest_message(fit);
    const struct nccl_row *row = most->row;
    unsigned nodes = most->layout->nodes;
    return error_set(
        err,
        "%s:%u: %s over %u ranks on %u node%s: %.0f bytes took %.6g us (algbw %.4g GB/s), "
        "and %s has %.4g GB/s a GPU: %s %.4g%s%s",
        most->table->source, row->line, row->test, most->layout->ranks, nodes,
        nodes == 1 ? "" : "s", row->bytes, row->seconds / MICRO, row->bytes / row->seconds / GIGA,
        calibrated_link_name(fit->kind), full_rate(fit, &most->layout->context) / GIGA, what,
        figure, unit, remedy);
}

static int check_figures(const struct fit *fit, bool has_small, double residual,
                         struct error_info *err)
{
    const char *unit = " %, a limit";
    if (at_most(&fit->share))
        return refuse(fit, "its share would reach", fit->share.most * PERCENT, unit,
                      fit->kind == CALIBRATED_NETWORK ? network_remedy : any_remedy, err);
    if (at_least(&fit->share))
        return refuse(fit, "its share would be down at", fit->share.least * PERCENT, unit,
                      any_remedy, err);
    if (has_small && (at_most(&fit->hop) || at_least(&fit->hop)))
        return refuse(fit, "a hop's latency would be at its limit of", fit->hop.value, " s",
                      hop_remedy, err);
    if (residual > LINK_FIT_MAXIMUM_RESIDUAL)
        return refuse(fit, "no share and latency predict these tables, the best are off by",
                      residual * PERCENT, " % on average", any_remedy, err);
    return 0;
}

static int find_kind(struct fit *fit, struct arena *arena, struct link_figures *ret,
                     struct error_info *err)
{
    struct extent before = extent_of(fit);
    if (!before.first || before.largest < LINK_FIT_LARGE_BYTES)
        return error_set(err,
                         "%s: the largest message has %.0f bytes, which says nothing of the "
                         "bandwidth; run to 1 GiB (-e 1G)",
                         calibrated_link_name(fit->kind), before.largest);
    bool has_small = before.smallest <= LINK_FIT_SMALL_BYTES;
    search(fit, has_small);
    struct extent after = extent_of(fit);
    if (check_figures(fit, has_small, after.residual, err) < 0)
        return -1;
    *ret = (struct link_figures){
        .share = fit->share.value,
        .hop_seconds = fit->hop.value,
        .n = after.n,
        .residual = after.residual,
        .residual_before = before.residual,
    };
    return describe(fit, &before, arena, ret, err);
}

static int find_all(struct fit *fit, struct arena *arena, struct link_figures *links,
                    size_t *ret_count, struct error_info *err)
{
    /* Network last: its groups cross the inner links too. */
    size_t count = 0;
    for (unsigned kind = 0; kind < CALIBRATED_LINK_COUNT; kind++) {
        fit->kind = (enum calibrated_link)kind;
        if (extent_of(fit).n == 0)
            continue;
        if (find_kind(fit, arena, &links[count], err) < 0)
            return -1;
        count++;
    }
    *ret_count = count;
    return 0;
}

int link_fit(const struct link_fit_request *request, struct arena *arena,
             const struct link_figures **ret_links, size_t *ret_count, struct error_info *err)
{
    CLEANUP_MEMORY struct fit *fit = memory_allocate(sizeof(*fit));
    struct link_figures *links = arena_allocate_array(arena, CALIBRATED_LINK_COUNT, sizeof(*links));
    if (!fit || !links)
        return error_set_memory(err);
    fit->request = request;
    int status = open_catalogues(fit, err);
    if (status == 0)
        status = open_measurements(fit, err);
    if (status == 0)
        status = find_all(fit, arena, links, ret_count, err);
    memory_free(fit->measurements);
    if (status == 0)
        *ret_links = links;
    return status;
}
