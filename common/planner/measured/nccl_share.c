/* SPDX-License-Identifier: MIT */
#include "planner/measured/nccl_share.h"

static double whole_of(double exposed, double overlap)
{
    return overlap < 1 ? exposed / (1 - overlap) : exposed;
}

static double data_parallel_seconds(const struct plan_context *context, const struct plan *plan)
{
    const double *parts = plan->time.parts;
    double exposed = parts[TIME_DP];
    double whole = whole_of(exposed, context->profile->overlap_dp);
    bool throughout = plan->sharding == SHARDING_ZERO2 || plan->sharding == SHARDING_ZERO3 ||
                      plan->sharding == SHARDING_HSDP;
    double window = parts[TIME_COMPUTE] + parts[TIME_TP] + parts[TIME_CP] + parts[TIME_EP] +
                    parts[TIME_PP] + parts[TIME_HOST];
    if (!throughout && plan->micro_batches > 1)
        window /= plan->micro_batches;
    return whole - exposed > window ? exposed + window : whole;
}

void nccl_share_of(const struct plan_context *context, const struct plan *plan,
                   struct nccl_share *ret)
{
    const double *parts = plan->time.parts;
    const struct framework_profile *profile = context->profile;
    *ret = (struct nccl_share){.seconds = 0};
    if (plan->time.step_seconds <= 0)
        return;
    ret->exposed_seconds =
        parts[TIME_TP] + parts[TIME_CP] + parts[TIME_EP] + parts[TIME_PP] + parts[TIME_DP];
    ret->seconds = whole_of(parts[TIME_TP], profile->overlap_tp) +
                   whole_of(parts[TIME_CP], profile->overlap_cp) +
                   whole_of(parts[TIME_EP], profile->overlap_ep) +
                   whole_of(parts[TIME_PP], profile->overlap_pp) +
                   data_parallel_seconds(context, plan);
    ret->of_step = ret->seconds / plan->time.step_seconds;
    ret->of_kernels = ret->seconds / (ret->seconds + parts[TIME_COMPUTE]);
}
