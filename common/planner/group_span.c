/* SPDX-License-Identifier: MIT */
#include "planner/group_span.h"

static unsigned greatest_common_divisor(unsigned left, unsigned right)
{
    while (right != 0) {
        unsigned rest = left % right;
        left = right;
        right = rest;
    }
    return left;
}

/* Nodes per switch of one tier: sizes of runs of equal switches, wherever the nodes stand.
 * counts: zeroed, one for each switch. */
static unsigned tier_run(const struct cluster_topology *cluster, unsigned tier, unsigned *counts)
{
    const struct fabric *fabric = cluster->fabric;
    unsigned common = 0, switches = 0;
    for (size_t i = 0; i < cluster->node_count; i++) {
        unsigned node = cluster->nodes[i].fabric_node;
        unsigned found = node == FABRIC_NONE ? FABRIC_NONE : fabric_switch_at(fabric, node, tier);
        if (found == FABRIC_NONE)
            return 1; /* the careful answer: every pair of nodes may be far apart */
        counts[found]++;
    }
    for (size_t i = 0; i < fabric->switch_count; i++) {
        if (counts[i] == 0)
            continue;
        common = greatest_common_divisor(common, counts[i]);
        switches++;
    }
    return switches == 1 ? 0 : common;
}

static int find_tiers(const struct cluster_topology *cluster, struct cluster_shape *shape,
                      struct error_info *err)
{
    if (!cluster->fabric)
        return 0;
    size_t switches = cluster->fabric->switch_count;
    shape->tier_count = cluster->fabric->tier_count;
    CLEANUP_MEMORY unsigned *counts =
        memory_allocate_array(shape->tier_count * (switches + 1), sizeof(*counts));
    if (!counts)
        return error_set_memory(err);
    for (unsigned tier = 0; tier < shape->tier_count; tier++)
        shape->tier_nodes[tier] = tier_run(cluster, tier, counts + tier * switches);
    return 0;
}

int cluster_shape_of(const struct cluster_topology *cluster, unsigned gpus_per_node,
                     struct cluster_shape *ret, struct error_info *err)
{
    unsigned whole = cluster_gpus_per_node(cluster);
    struct cluster_shape shape = {.gpus_per_node = whole};
    if (gpus_per_node > 0 && (gpus_per_node < whole || whole == 0))
        shape.gpus_per_node = gpus_per_node;
    if (shape.gpus_per_node == 0)
        shape.gpus_per_node = 1;
    shape.domain_known = cluster->nvlink_known;
    shape.domain_gpus = cluster_nvlink_domain_in_use(cluster, shape.gpus_per_node);
    if (find_tiers(cluster, &shape, err) < 0)
        return -1;
    *ret = shape;
    return 0;
}

/* Members of a group with that stride and size in one block of consecutive ranks; the
 * largest equal parts where the block does not hold it whole. */
static unsigned members_in_block(unsigned stride, unsigned size, unsigned block)
{
    if (size <= 1 || stride >= block)
        return 1;
    unsigned room = block / stride;
    if (block % stride != 0)
        return greatest_common_divisor(size, room);
    if (size <= room)
        return room % size == 0 ? size : greatest_common_divisor(room, size);
    return size % room == 0 ? room : greatest_common_divisor(size, room);
}

struct stride {
    unsigned size, stride;
};

/* Experts are sharded as wide as the dense parameters' groups reach. */
static unsigned expert_shard(const struct degrees *degrees)
{
    unsigned copies = degrees_edp(degrees);
    uint64_t width = degrees->dp > 0 ? (uint64_t)copies * degrees->shard / degrees->dp : 1;
    while (width > 1 && copies % width != 0)
        width--;
    return width > 1 ? (unsigned)width : 1;
}

static unsigned ratio(unsigned whole, unsigned part) { return part > 0 ? whole / part : whole; }

/* One case each, not a table: a search asks this more often than anything else, and the experts'
 * sizes need divisions. */
static unsigned size_of(const struct degrees *degrees, enum group_dimension dimension)
{
    switch (dimension) {
    case GROUP_TP:
        return degrees->tp;
    case GROUP_ETP:
        return degrees->etp;
    case GROUP_CP:
        return degrees->cp;
    case GROUP_EP:
        return degrees->ep;
    case GROUP_PP:
        return degrees->pp;
    case GROUP_DP:
        return degrees->dp;
    case GROUP_SHARD:
        return degrees->shard;
    case GROUP_STATES:
        return degrees->dp * degrees->cp;
    case GROUP_STATE_SHARD:
        return degrees->shard * degrees->cp;
    case GROUP_REPLICATE:
        return ratio(degrees->dp, degrees->shard);
    case GROUP_EDP:
        return degrees_edp(degrees);
    case GROUP_EXPERT_SHARD:
        return expert_shard(degrees);
    case GROUP_EXPERT_REPLICATE:
        return degrees_edp(degrees) / expert_shard(degrees);
    case GROUP_DIMENSION_COUNT:
        break;
    }
    return 1;
}

unsigned group_size(const struct degrees *degrees, enum group_dimension dimension)
{
    unsigned size = size_of(degrees, dimension);
    return size > 0 ? size : 1;
}

unsigned group_stride(const struct degrees *degrees, enum rank_order order,
                      enum group_dimension dimension)
{
    bool pp_inside = order == ORDER_TP_CP_EP_PP_DP;
    unsigned cell = degrees->tp * degrees->cp;
    unsigned experts = degrees->etp * degrees->ep;
    unsigned behind_pp = pp_inside ? degrees->pp : 1;

    switch (dimension) {
    case GROUP_TP:
    case GROUP_ETP:
        return 1;
    case GROUP_CP:
        return degrees->tp;
    case GROUP_EP:
        return degrees->etp;
    case GROUP_PP:
        return pp_inside ? cell : cell * degrees->dp;
    case GROUP_STATES: /* CP stands between TP and DP: one group */
    case GROUP_STATE_SHARD:
        return degrees->tp * behind_pp;
    case GROUP_REPLICATE:
        return cell * behind_pp * group_size(degrees, GROUP_SHARD);
    case GROUP_EDP:
    case GROUP_EXPERT_SHARD:
        return experts * behind_pp;
    case GROUP_EXPERT_REPLICATE:
        return experts * behind_pp * expert_shard(degrees);
    default:
        return cell * behind_pp;
    }
}

static struct stride group_of(const struct degrees *degrees, enum rank_order order,
                              enum group_dimension dimension)
{
    unsigned stride = group_stride(degrees, order, dimension);
    return (struct stride){group_size(degrees, dimension), stride > 0 ? stride : 1};
}

static unsigned ceiling(unsigned value, unsigned divisor)
{
    return divisor > 0 ? (value + divisor - 1) / divisor : value;
}

static unsigned nodes_of(const struct cluster_shape *shape, const struct degrees *degrees,
                         enum rank_order order, enum group_dimension dimension)
{
    struct stride group = group_of(degrees, order, dimension);
    return ceiling(group.size, members_in_block(group.stride, group.size, shape->gpus_per_node));
}

struct reach_inputs {
    const struct cluster_shape *shape;
    const struct degrees *degrees;
    unsigned tp;      /* nodes of one TP group */
    unsigned cell;    /* of one TP x CP block */
    unsigned experts; /* of one ETP x EP block */
    unsigned shard;   /* of one shard group, when it is narrower than DP; else 1 */
};

static unsigned larger(unsigned left, unsigned right) { return left > right ? left : right; }

/* Nodes side by side over which the group's members spread when the mapping lays TP
 * innermost, then CP and EP, then a narrow shard group, then PP, and DP outermost. */
static unsigned reach_of(const struct reach_inputs *inputs, enum group_dimension dimension,
                         unsigned nodes)
{
    unsigned per_node = inputs->shape->gpus_per_node;
    bool narrow = inputs->degrees->shard < inputs->degrees->dp;
    switch (dimension) {
    case GROUP_TP:
    case GROUP_ETP:
        return nodes;
    case GROUP_CP:
        return inputs->cell;
    case GROUP_EP:
        return larger(inputs->experts, nodes);
    case GROUP_PP:
        return larger(larger(inputs->cell, inputs->experts), inputs->cell * inputs->shard) * nodes;
    case GROUP_SHARD:
        if (narrow)
            return inputs->cell * nodes;
        break;
    case GROUP_STATE_SHARD:
        if (narrow)
            return inputs->tp * nodes;
        break;
    case GROUP_EXPERT_SHARD:
        if (narrow)
            return inputs->experts * nodes;
        break;
    default:
        break;
    }
    return ceiling((unsigned)degrees_world(inputs->degrees), per_node);
}

static struct reach_inputs reach_inputs_of(const struct cluster_shape *shape,
                                           const struct degrees *degrees, enum rank_order order)
{
    bool narrow = degrees->shard < degrees->dp;
    unsigned tp = nodes_of(shape, degrees, order, GROUP_TP);
    return (struct reach_inputs){
        .shape = shape,
        .degrees = degrees,
        .tp = tp,
        .cell = tp * nodes_of(shape, degrees, order, GROUP_CP),
        .experts = ceiling(degrees->etp * degrees->ep, shape->gpus_per_node),
        .shard = narrow ? nodes_of(shape, degrees, order, GROUP_SHARD) : 1,
    };
}

static unsigned members_in_domain(const struct cluster_shape *shape, const struct stride *group,
                                  const struct group_span *span, unsigned reach)
{
    unsigned domain_nodes = ceiling(shape->domain_gpus, shape->gpus_per_node);
    if (domain_nodes <= 1)
        return members_in_block(group->stride, group->size, shape->domain_gpus);
    if (reach == 0 || (reach <= domain_nodes && domain_nodes % reach == 0))
        return group->size;
    unsigned apart = span->nodes > 0 ? reach / span->nodes : 0;
    unsigned inside = apart > 0 ? domain_nodes / apart : 1;
    return inside > 1 ? span->per_node * greatest_common_divisor(inside, span->nodes)
                      : span->per_node;
}

static int tier_for(const struct cluster_shape *shape, unsigned reach)
{
    for (unsigned tier = 0; tier < shape->tier_count; tier++)
        if (shape->tier_nodes[tier] == 0 || (reach > 0 && shape->tier_nodes[tier] % reach == 0))
            return (int)tier;
    return (int)shape->tier_count;
}

void group_span_in(const struct cluster_shape *shape, const struct degrees *degrees,
                   enum rank_order order, enum group_dimension dimension, struct group_span *ret)
{
    struct stride group = group_of(degrees, order, dimension);
    struct group_span span = {.size = group.size, .per_domain = 1, .nodes = 1};
    span.per_node = members_in_block(group.stride, group.size, shape->gpus_per_node);
    span.tier = DISTANCE_SAME_NODE;
    if (group.size > 1) {
        span.nodes = ceiling(group.size, span.per_node);
        struct reach_inputs inputs = reach_inputs_of(shape, degrees, order);
        unsigned reach = reach_of(&inputs, dimension, span.nodes);
        span.per_domain = members_in_domain(shape, &group, &span, reach);
        if (span.nodes > 1)
            span.tier =
                span.per_domain >= span.size ? DISTANCE_SAME_NVLINK_DOMAIN : tier_for(shape, reach);
    }
    *ret = span;
}

int group_span_of(const struct cluster_topology *cluster, unsigned gpus_per_node,
                  const struct degrees *degrees, enum rank_order order,
                  enum group_dimension dimension, struct group_span *ret, struct error_info *err)
{
    struct cluster_shape shape;
    if (cluster_shape_of(cluster, gpus_per_node, &shape, err) < 0)
        return -1;
    group_span_in(&shape, degrees, order, dimension, ret);
    return 0;
}
