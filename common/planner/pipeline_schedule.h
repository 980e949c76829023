/* SPDX-License-Identifier: MIT */
/*
 * pipeline_schedule: which layers a stage holds, and how many micro batches are in flight on
 * it. What filling and draining cost follows from the stages' times (step_time.h).
 *
 * Sources: Huang 2019 (GPipe: all M in flight); Narayanan 2021, "Efficient large-scale
 * language model training on GPU clusters using Megatron-LM", sections 2.2.1 and 2.2.2 (1F1B:
 * at most p in flight; interleaved: needs M % p = 0); Megatron-LM schedules.py (warm-up of stage i:
 * 2(p-i-1) + (v-1)p chunks, which gives Korthikanti 2022 section 4.2.3's factor 1 + (p-1)/(p v));
 * Qi 2023, "Zero bubble pipeline parallelism" (arXiv 2401.10241). Naive: one micro batch in the
 * whole pipeline.
 */
#ifndef PLANNER_PIPELINE_SCHEDULE_H
#define PLANNER_PIPELINE_SCHEDULE_H

#include "workload/parallelism.h"

/* Layers over pp * vpp chunks. Even where they divide. Else, as Megatron-LM does:
 * one or two short, the embedding or the loss (or both) counts as a layer
 * (--account-for-loss-in-pipeline-split, …embedding…); with vpp = 1 the last stage may hold
 * fewer (--decoder-last-pipeline-num-layers). */
struct pipeline_layout {
    unsigned pp, vpp;
    unsigned chunk_layers; /* of a full chunk */
    unsigned first_short;  /* layers that the first chunk lacks */
    unsigned last_short;   /* layers that the last chunk lacks */
};

/* false: no such layout. */
bool pipeline_layout_of(unsigned layers, unsigned pp, unsigned vpp, struct pipeline_layout *ret);
bool pipeline_layout_is_even(const struct pipeline_layout *layout);
unsigned pipeline_stage_layers(const struct pipeline_layout *layout, unsigned stage);
/* How many layers that chunk of the stage has; *ret_first is the model's first of them. */
unsigned pipeline_chunk_layers(const struct pipeline_layout *layout, unsigned stage, unsigned chunk,
                               unsigned *ret_first);

/* What a stage idles in a step, in times of the other stages' micro batch: 1F1B's and GPipe's 1
 * (fill and drain), naive's one for every micro batch, interleaved's 1/v, zero-bubble's 1/3
 * (Qi 2023, ZB-H1: gradients of weights wait until there is nothing else to do; 1F1B's memory). */
double pipeline_idle(enum schedule schedule, unsigned vpp, unsigned micro_batches);

/* Micro batches' worth of the stage's activations that it keeps at its peak; fractions of
 * one come from interleaving. */
double pipeline_in_flight(enum schedule schedule, unsigned pp, unsigned vpp, unsigned stage,
                          unsigned micro_batches);

#endif
