/* SPDX-License-Identifier: MIT */
/*
 * rank_order: RANK <-> coordinates. The order belongs to the framework.
 *
 * ORDER_TP_CP_EP_DP_PP: dense RANK = tp + TP*(cp + CP*(dp + DP*pp)),
 *                       expert RANK = etp + ETP*(ep + EP*(edp + EDP*pp)).
 * ORDER_TP_CP_EP_PP_DP: dense RANK = tp + TP*(cp + CP*(pp + PP*dp)), experts alike
 *                       (etp + ETP*(ep + EP*(pp + PP*edp))); it requires pp = 1 or edp = dp,
 *                       also of dense models (Megatron asserts it of all), since the stages
 *                       of the two grids would differ.
 * Source: Megatron-LM parallel_state.py (RankGenerator; default "tp-cp-ep-dp-pp", and
 * "tp-cp-ep-pp-dp" with --use-tp-pp-dp-mapping).
 */
#ifndef WORKLOAD_RANK_ORDER_H
#define WORKLOAD_RANK_ORDER_H

#include "base/error.h"
#include "workload/parallelism.h"

enum rank_order { ORDER_TP_CP_EP_DP_PP, ORDER_TP_CP_EP_PP_DP, RANK_ORDER_COUNT };

struct rank_coordinates {
    unsigned tp, cp, ep, etp, edp, pp, dp;
};

const char *rank_order_name(enum rank_order order); /* "tp-cp-ep-dp-pp" */
int rank_order_parse(const char *text, enum rank_order *ret, struct error_info *err);
/* Refuses what the framework's own assertion refuses. */
int rank_order_check(enum rank_order order, const struct degrees *degrees, struct error_info *err);

/* Of complete degrees (degrees_complete), that rank_order_check accepts; rank < N. */
void rank_coordinates_of(enum rank_order order, const struct degrees *degrees, uint64_t rank,
                         struct rank_coordinates *ret);
/* The dense inverse. */
uint64_t rank_of(enum rank_order order, const struct degrees *degrees, unsigned tp, unsigned cp,
                 unsigned dp, unsigned pp);

#endif
