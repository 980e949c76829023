/* SPDX-License-Identifier: MIT */
#include "planner/communication_model.h"

#include "planner/efficiency_catalogue.h"
#include <math.h>

struct levels {
    double inside, parts;             /* ranks inside a part, and parts */
    double inside_rate, outside_rate; /* bytes per second */
    bool nvlink;
};

static double smaller(double left, double right) { return left < right ? left : right; }

static double outside_rate(const struct plan_context *context, const struct group_span *span)
{
    unsigned tier = span->tier > 0 ? (unsigned)span->tier : 0;
    if (tier > context->shape.tier_count)
        tier = context->shape.tier_count;
    return context->tier_bytes_per_second[tier];
}

static struct levels levels_of(const struct plan_context *context, const struct group_span *span)
{
    struct levels levels = {.outside_rate = outside_rate(context, span)};
    levels.nvlink = span->per_domain >= span->per_node && span->per_domain > 1 &&
                    context->nvlink_bytes_per_second > 0;
    unsigned inside = levels.nvlink ? span->per_domain : span->per_node;
    levels.inside = inside;
    levels.parts = (double)span->size / inside;
    levels.inside_rate = context->pcie_bytes_per_second;
    if (levels.nvlink)
        levels.inside_rate = smaller(context->nvlink_bytes_per_second,
                                     (inside - 1) * context->pair_bytes_per_second);
    return levels;
}

/* log2, rounded up. */
static double rounds(unsigned parts)
{
    unsigned hops = 0;
    while (hops < 32 && (uint64_t)1 << hops < parts)
        hops++;
    return hops;
}

struct hops {
    double inside, outside;
};

static struct hops hops_of(const struct levels *levels, enum collective collective)
{
    double inside = levels->inside - 1, outside = levels->parts - 1;
    switch (collective) {
    case COLLECTIVE_ALL_REDUCE:
        return (struct hops){2 * inside, 2 * smaller(outside, rounds((unsigned)levels->parts))};
    case COLLECTIVE_ALL_GATHER:
        return (struct hops){inside, outside};
    default:
        return (struct hops){outside > 0 ? 0 : 1, outside > 0 ? 1 : 0};
    }
}

/* Bytes that cross the inside and the outside of the group's parts. */
struct crossing {
    double inside, outside;
};

static struct crossing crossing_of(const struct levels *levels, enum collective collective,
                                   double bytes)
{
    double inside = levels->inside, parts = levels->parts, size = inside * parts;
    double around = (inside - 1) / inside * bytes, between = (parts - 1) / parts * bytes / inside;
    switch (collective) {
    case COLLECTIVE_ALL_REDUCE:
        return (struct crossing){2 * around, 2 * between};
    case COLLECTIVE_ALL_GATHER:
        return (struct crossing){around, between};
    case COLLECTIVE_ALL_TO_ALL:
        return (struct crossing){(inside - 1) / size * bytes, (size - inside) / size * bytes};
    default:
        return (struct crossing){parts > 1 ? 0 : bytes, parts > 1 ? bytes : 0};
    }
}

/* Over more parts a collective's messages collide more often. */
static double collision_factor(const struct plan_context *context, const struct levels *levels,
                               enum collective collective)
{
    if (collective == COLLECTIVE_SEND || levels->parts <= 1)
        return 1;
    return 1 + context->network->doubling_loss * log2(levels->parts);
}

static double crossing_seconds(const struct plan_context *context, const struct levels *levels,
                               const struct crossing *crossing, enum collective collective)
{
    struct hops hops = hops_of(levels, collective);
    double transfer = crossing->inside > 0 ? crossing->inside / levels->inside_rate : 0;
    double fastest = 0;
    if (crossing->outside > 0)
        transfer += crossing->outside / levels->outside_rate *
                    collision_factor(context, levels, collective);
    for (unsigned i = 0; i < EFFICIENCY_PROTOCOLS; i++) {
        const struct efficiency_protocol *protocol = &context->efficiencies->protocols[i];
        double hop = levels->nvlink ? protocol->nvlink_hop_seconds : protocol->pcie_hop_seconds;
        double seconds = protocol->base_seconds + hops.inside * hop +
                         hops.outside * protocol->network_hop_seconds +
                         transfer / protocol->bandwidth_share;
        if (i == 0 || seconds < fastest)
            fastest = seconds;
    }
    return fastest;
}

double collective_seconds(const struct plan_context *context, const struct group_span *span,
                          enum collective collective, double bytes)
{
    if (span->size <= 1)
        return 0;
    struct levels levels = levels_of(context, span);
    struct crossing crossing = crossing_of(&levels, collective, bytes);
    return crossing_seconds(context, &levels, &crossing, collective);
}

double dispatch_seconds(const struct plan_context *context, const struct group_span *span,
                        double copies, double bytes)
{
    if (span->size <= 1)
        return 0;
    struct levels levels = levels_of(context, span);
    double parts = levels.parts, inside = levels.inside;
    double reached = (parts - 1) * (1 - pow(1 - 1 / parts, copies));
    struct crossing crossing = {(inside - 1) / inside * bytes, reached / copies * bytes};
    return crossing_seconds(context, &levels, &crossing, COLLECTIVE_ALL_TO_ALL);
}

void plan_spans_of(const struct plan_context *context, const struct plan *plan,
                   struct plan_spans *ret)
{
    const struct cluster_shape *shape = &context->shape;
    for (unsigned i = 0; i < GROUP_DIMENSION_COUNT; i++)
        group_span_in(shape, &plan->degrees, plan->order, (enum group_dimension)i, &ret->of[i]);
}
