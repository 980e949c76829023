/* SPDX-License-Identifier: MIT */
#include "mapping/solver/flow_weights.h"
#include "base/numbers/real.h"

#define WHOLE_JOB 0x1p48

static double pair_seconds(const struct traffic_flow *flow, const struct link_seconds *seconds,
                           unsigned slot)
{
    double each = flow->is_message ? seconds->message[slot] : seconds->collective[slot];
    return flow->exposed * flow->pair_bytes * each;
}

/* No fewer than the flow has. */
static double pairs_of(const struct traffic_flow *flow, const struct degrees *degrees, double world)
{
    return flow->pattern == PAIRS_ALL ? world * (group_size(degrees, flow->group) - 1) / 2 : world;
}

void flow_weights_of(const struct traffic *traffic, const struct link_seconds *seconds,
                     const struct degrees *degrees, enum rank_order order, struct flow_weights *ret)
{
    double world = real_of(degrees_world(degrees)), total = 0;
    *ret =
        (struct flow_weights){.flow_count = traffic->flow_count, .slot_count = seconds->slot_count};
    for (unsigned f = 0; f < traffic->flow_count; f++)
        total += pairs_of(&traffic->flows[f], degrees, world) *
                 pair_seconds(&traffic->flows[f], seconds, seconds->slot_count - 1);
    double unit = total > 0 ? total / WHOLE_JOB : 1;
    ret->unit_seconds = unit / world;
    for (unsigned f = 0; f < traffic->flow_count; f++) {
        const struct traffic_flow *flow = &traffic->flows[f];
        ret->lines[f] = group_line_of(degrees, order, flow->group);
        ret->patterns[f] = flow->pattern;
        ret->groups[f] = flow->group;
        for (unsigned slot = 0; slot < ret->slot_count; slot++)
            ret->weights[f][slot] = (uint64_t)(pair_seconds(flow, seconds, slot) / unit + 0.5);
    }
}
