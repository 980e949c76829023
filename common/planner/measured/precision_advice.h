/* SPDX-License-Identifier: MIT */
/*
 * precision_advice: which precision a GPU should train in, and why.
 *
 * BF16 wherever the GPU has it: it keeps the exponent of FP32, so no loss needs scaling (Kalamkar
 * 2019, arXiv 1905.12322). FP16 where it does not (Volta, Turing): as fast as the GPU gets, but
 * gradients below 2^-24 vanish, so the loss is scaled and steps that overflow are dropped
 * (Micikevicius 2018, arXiv 1710.03740). FP8 on request alone: it doubles the peak of matrix
 * products and of nothing else, needs a scale for each tensor or block, and is a change of the
 * recipe (Micikevicius 2022, arXiv 2209.05433). What it brought is read from published runs of
 * one recipe in both precisions.
 * Pure; texts belong to the caller's arena.
 */
#ifndef PLANNER_MEASURED_PRECISION_ADVICE_H
#define PLANNER_MEASURED_PRECISION_ADVICE_H

#include "planner/measured/mfu_reference.h"

enum precision_verdict {
    PRECISION_RECOMMENDED,
    PRECISION_ON_REQUEST,
    PRECISION_NOT_NEEDED, /* the GPU has a better one of the same rate */
    PRECISION_ABSENT,     /* the GPU does not have it */
    PRECISION_VERDICT_COUNT
};

#define PRECISION_ADVICE_COUNT 3u /* BF16, FP16, FP8 */

struct precision_advice {
    enum precision precision;
    enum precision_verdict verdict;
    double peak_flops_per_second; /* dense; 0: absent */
    const char *reason;           /* one line */
};

/* query: its GPU is known; its precision does not count. -1: out of memory. */
int precision_advice_of(const struct mfu_reference_catalogue *catalogue,
                        const struct mfu_query *query, struct arena *arena,
                        struct precision_advice ret[PRECISION_ADVICE_COUNT],
                        struct error_info *err);
const char *precision_verdict_name(enum precision_verdict verdict); /* "recommended", … */

#endif
