/* SPDX-License-Identifier: MIT */
#include "mapping/node_mapping.h"
#include "mapping/solver/node_packing.h"
#include <inttypes.h>
#include <string.h>

static unsigned largest_node(const struct cluster_topology *cluster)
{
    unsigned largest = 0;
    for (size_t i = 0; i < cluster->node_count; i++) {
        unsigned gpus = cluster->kinds[cluster->nodes[i].kind]->gpu_count;
        largest = gpus > largest ? gpus : largest;
    }
    return largest;
}

static bool is_usable(const struct node_mapping_request *request, size_t node)
{
    const struct cluster_topology *cluster = request->cluster;
    return cluster->kinds[cluster->nodes[node].kind]->gpu_count >= request->gpus_per_node;
}

static size_t usable_nodes(const struct node_mapping_request *request)
{
    size_t usable = 0;
    for (size_t i = 0; i < request->cluster->node_count; i++)
        usable += is_usable(request, i);
    return usable;
}

static int refuse_size(const struct node_mapping_request *request, struct error_info *err)
{
    unsigned largest = largest_node(request->cluster);
    return error_set(err, "%u ranks per node, but the largest node of %s has %u GPUs; use %u",
                     request->gpus_per_node, request->cluster->name, largest, largest);
}

static int check_room(const struct node_mapping_request *request, size_t usable, size_t blocks,
                      struct error_info *err)
{
    unsigned ranks = request->gpus_per_node;
    if (usable == 0)
        return refuse_size(request, err);
    if (usable < blocks)
        return error_set(err,
                         "%zu ranks need %zu nodes with %u GPUs, and %s has %zu; use %zu more, or "
                         "a plan for %zu ranks",
                         blocks * ranks, blocks, ranks, request->cluster->name, usable,
                         blocks - usable, usable * ranks);
    return 0;
}

/* Without degrees: whole nodes of the world, or every usable node. */
static int plain_order(const struct node_mapping_request *request, size_t usable,
                       struct block_order *ret, struct error_info *err)
{
    uint64_t ranks = request->gpus_per_node;
    uint64_t world = request->world ? request->world : usable * ranks;
    if (usable == 0)
        return refuse_size(request, err);
    if (world > WORLD_MAXIMUM || world % ranks != 0)
        return error_set(err,
                         "%" PRIu64 " ranks do not fill nodes of %" PRIu64 "; use a multiple of "
                         "%" PRIu64 ", at most %u",
                         world, ranks, ranks, WORLD_MAXIMUM);
    block_order_plain((unsigned)(world / ranks), ret);
    return 0;
}

static void keep_cluster_order(const struct node_mapping_request *request, unsigned blocks,
                               unsigned *ret_nodes)
{
    for (unsigned i = 0, block = 0; block < blocks; i++) {
        unsigned node = request->node_order ? request->node_order[i] : i;
        if (is_usable(request, node))
            ret_nodes[block++] = node;
    }
}

#define NEAR_WEIGHT 1e6 /* beyond all that the rule weighs */

static int permute_nodes(const struct node_mapping_request *request, const struct fabric_tree *tree,
                         const struct block_order *order, unsigned *ret_nodes,
                         struct mapping_quality *ret_quality, struct error_info *err)
{
    const struct plan plan = {.degrees = request->degrees, .sharding = request->sharding};
    struct traffic rule;
    struct link_seconds slots;
    struct flow_weights weights;
    traffic_of_rule(&plan, &rule);
    for (unsigned i = 0; i < rule.flow_count; i++)
        if (request->near_dimensions >> rule.flows[i].dimension & 1)
            rule.flows[i].pair_bytes *= NEAR_WEIGHT;
    link_seconds_of_rule(cluster_tier_count(request->cluster), &slots);
    bool given = request->traffic && request->seconds;
    flow_weights_of(given ? request->traffic : &rule, given ? request->seconds : &slots,
                    &request->degrees, request->order, &weights);
    const struct mapping_problem problem = {
        .cluster = request->cluster,
        .tree = tree,
        .order = order,
        .weights = &weights,
        .block_ranks = request->gpus_per_node,
        .budget = request->budget,
        .exact = request->exact,
        .pins = request->pins,
        .pin_count = request->pin_count,
    };
    return mapping_search(&problem, ret_nodes, ret_quality, err);
}

/* Nodes of which each NVLink domain (or leaf) holds whole TP groups, where these are enough. */
static struct fabric_tree *create_tree(const struct node_mapping_request *request,
                                       const struct block_order *order, struct error_info *err)
{
    CLEANUP(fabric_tree)
    struct fabric_tree *tree =
        fabric_tree_create(request->cluster, request->gpus_per_node, order->tp_blocks, err);
    if (!tree || order->tp_blocks == 1 || tree->node_count >= order->block_count)
        return move_pointer(tree);
    return fabric_tree_create(request->cluster, request->gpus_per_node, 1, err);
}

int node_mapping_solve(const struct node_mapping_request *request, unsigned *ret_nodes,
                       size_t *ret_blocks, struct mapping_quality *ret_quality,
                       struct error_info *err)
{
    if (request->gpus_per_node == 0)
        return error_set(err, "a mapping needs at least one rank per node");
    struct block_order order = {.block_count = 0};
    struct mapping_quality quality = {.optimal = false};
    size_t usable = usable_nodes(request);
    int made = request->locality_only ? plain_order(request, usable, &order, err)
                                      : block_order_of(&request->degrees, request->order,
                                                       request->gpus_per_node, &order, err);
    if (made < 0 || check_room(request, usable, order.block_count, err) < 0)
        return -1;
    if (request->identity) {
        keep_cluster_order(request, order.block_count, ret_nodes);
    } else {
        CLEANUP(fabric_tree) struct fabric_tree *tree = create_tree(request, &order, err);
        if (!tree)
            return -1;
        int laid = request->locality_only
                       ? node_packing_solve(tree, &order, ret_nodes, err)
                       : permute_nodes(request, tree, &order, ret_nodes, &quality, err);
        if (laid < 0)
            return -1;
    }
    if (ret_quality)
        *ret_quality = quality;
    *ret_blocks = order.block_count;
    return 0;
}

int fabric_order(const struct cluster_topology *cluster, unsigned *ret_nodes,
                 struct error_info *err)
{
    CLEANUP(fabric_tree) struct fabric_tree *tree = fabric_tree_create(cluster, 0, 1, err);
    if (!tree)
        return -1;
    memcpy(ret_nodes, tree->nodes, tree->node_count * sizeof(*ret_nodes));
    return 0;
}
