/* SPDX-License-Identifier: MIT */
#include "workload/rank_order.h"

#include <string.h>

static const char *const order_names[RANK_ORDER_COUNT] = {
    [ORDER_TP_CP_EP_DP_PP] = "tp-cp-ep-dp-pp",
    [ORDER_TP_CP_EP_PP_DP] = "tp-cp-ep-pp-dp",
};

const char *rank_order_name(enum rank_order order)
{
    return (unsigned)order < RANK_ORDER_COUNT ? order_names[order] : "unknown";
}

int rank_order_parse(const char *text, enum rank_order *ret, struct error_info *err)
{
    for (unsigned i = 0; i < RANK_ORDER_COUNT; i++) {
        if (strcmp(text, order_names[i]) == 0) {
            *ret = (enum rank_order)i;
            return 0;
        }
    }
    return error_set(err, "\"%s\" is not a rank order; use %s or %s", text,
                     order_names[ORDER_TP_CP_EP_DP_PP], order_names[ORDER_TP_CP_EP_PP_DP]);
}

int rank_order_check(enum rank_order order, const struct degrees *degrees, struct error_info *err)
{
    unsigned edp = degrees_edp(degrees);
    if (order == ORDER_TP_CP_EP_DP_PP || degrees->pp == 1 || edp == degrees->dp)
        return 0;
    return error_set(err,
                     "order %s needs pp=1, or the experts' data parallel degree equal to dp; with "
                     "tp=%u,cp=%u,ep=%u,etp=%u they are %u and %u; use order=%s",
                     rank_order_name(order), degrees->tp, degrees->cp, degrees->ep, degrees->etp,
                     edp, degrees->dp, order_names[ORDER_TP_CP_EP_DP_PP]);
}

void rank_coordinates_of(enum rank_order order, const struct degrees *degrees, uint64_t rank,
                         struct rank_coordinates *ret)
{
    uint64_t inner = (uint64_t)degrees->tp * degrees->cp;
    uint64_t expert_inner = (uint64_t)degrees->etp * degrees->ep;
    uint64_t outer = rank / inner, stage_ranks = inner * degrees->dp;
    bool pipeline_last = order == ORDER_TP_CP_EP_DP_PP;
    *ret = (struct rank_coordinates){
        .tp = (unsigned)(rank % degrees->tp),
        .cp = (unsigned)(rank / degrees->tp % degrees->cp),
        .dp = (unsigned)(pipeline_last ? outer % degrees->dp : outer / degrees->pp),
        .pp = (unsigned)(pipeline_last ? outer / degrees->dp : outer % degrees->pp),
        .etp = (unsigned)(rank % degrees->etp),
        .ep = (unsigned)(rank / degrees->etp % degrees->ep),
    };
    ret->edp = (unsigned)(pipeline_last ? rank % stage_ranks / expert_inner
                                        : rank / expert_inner / degrees->pp);
}

uint64_t rank_of(enum rank_order order, const struct degrees *degrees, unsigned tp, unsigned cp,
                 unsigned dp, unsigned pp)
{
    uint64_t outer = order == ORDER_TP_CP_EP_DP_PP ? dp + (uint64_t)degrees->dp * pp
                                                   : pp + (uint64_t)degrees->pp * dp;
    return tp + (uint64_t)degrees->tp * (cp + degrees->cp * outer);
}
