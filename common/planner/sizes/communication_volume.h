/* SPDX-License-Identifier: MIT */
/*
 * communication_volume: what the ranks of a plan send each other: which group, by which
 * collective, how many bytes, how often. The one place that says so: step_time.h turns it
 * into seconds, mapping/traffic.h into bytes per tier.
 *
 * n tokens of a rank, w bytes of an activation, T as memory_model.h, F 1 (2 with full
 * recompute: forward runs twice), u trainable share, P parameters of a rank, G bytes of a
 * gradient (plan_shape.h: 2 under FP16, 4 under FP32), g bytes of a gathered parameter.
 * Of a layer and micro batch:
 *   TP  2 (F + 1) all-reduces of w n h, each an all-gather and a reduce-scatter with sequence
 *       parallelism (Shoeybi 2019, section 3; Korthikanti 2022); an MoE layer without shared
 *       experts half as many; with ETP 2 (F + 1) all-gathers of w n h K ETP/T over ETP
 *   CP  (F + 2) (c-1) sends of K and V, w n 2 k d/t (MLA: a (nope + rope + v)/t): ring
 *       attention, backward moves their gradients too (Liu 2023)
 *   EP  2 (F + 1) all-to-alls of w n h K/T: dispatch and combine
 * Of a stage and micro batch:
 *   PP  2 v sends of w n h/T: an output forward, a gradient back, for every chunk
 *       (Narayanan 2021, section 2.2)
 * Of a step, for dense parameters (over D c ranks, D_s c of them a shard group) and experts
 * (over EDP, and its shard groups), Rajbhandari 2020, section 7:
 *   none        all-reduce of u G P
 *   zero1       reduce-scatter of u G P, all-gather of the u g P that were updated
 *   zero2       the same, reduced for each of the M micro batches
 *   zero3/hsdp  M reduce-scatters of u G P, 2 M all-gathers of g P; one with pp > 1, where
 *               the stage stays gathered (memory_model.h)
 * over the shard group; where that is narrower than all, its u G P/width are all-reduced over
 * the replicas, once.
 */
#ifndef PLANNER_SIZES_COMMUNICATION_VOLUME_H
#define PLANNER_SIZES_COMMUNICATION_VOLUME_H

#include "planner/group_span.h"
#include "planner/sizes/plan_shape.h"

enum collective {
    COLLECTIVE_ALL_REDUCE,
    COLLECTIVE_ALL_GATHER, /* or reduce-scatter */
    COLLECTIVE_ALL_TO_ALL,
    COLLECTIVE_SEND
};

struct exchange {
    enum group_dimension group;
    enum collective collective;
    double bytes; /* of one: the whole tensor; what one rank sends for all-to-all and send */
    double count;
};

#define EXCHANGES_MAXIMUM 4u

/* Groups of one rank are left out, and what has no bytes. */
struct exchange_list {
    struct exchange of[EXCHANGES_MAXIMUM];
    unsigned count;
};

void tensor_exchanges(const struct plan_shape *shape, bool moe, struct exchange_list *ret);
void context_exchanges(const struct plan_shape *shape, struct exchange_list *ret);
void expert_exchanges(const struct plan_shape *shape, struct exchange_list *ret); /* MoE layer */
void pipeline_exchanges(const struct plan_shape *shape, struct exchange_list *ret);

enum state_kind { STATES_DENSE, STATES_EXPERT };

/* parameters: of that kind, on the rank. A framework sends them in many messages: here they
 * are one. */
void state_exchanges(const struct plan_shape *shape, enum state_kind kind, double parameters,
                     struct exchange_list *ret);

/* Bytes that leave one rank in rings: 2 (n-1)/n, (n-1)/n, (n-1)/n and all of a message. */
double exchange_rank_bytes(const struct exchange_list *list, const struct degrees *degrees);

#endif
