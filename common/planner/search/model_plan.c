/* SPDX-License-Identifier: MIT */
#include "planner/search/model_plan.h"

#include "planner/search/refusal.h"
#include "workload/job/job_bounds.h"

#define TEXT_MAXIMUM_BYTES ((size_t)1 << 16)

#define KEY(key) (1u << (key))
#define COUNTED_KEYS                                                                               \
    (KEY(JOB_MODEL) | KEY(JOB_TP) | KEY(JOB_CP) | KEY(JOB_EP) | KEY(JOB_ETP) | KEY(JOB_PP) |       \
     KEY(JOB_VPP) | KEY(JOB_DP) | KEY(JOB_TRAINABLE) | KEY(JOB_MTP))

static int check_keys(const struct job_spec *job, struct error_info *err)
{
    for (unsigned i = 0; i < JOB_KEY_COUNT; i++) {
        enum job_key key = (enum job_key)i;
        if (job->values[key].given && !(COUNTED_KEYS & KEY(key)))
            return error_set(err, "%s: %s changes no parameter count; leave it out here",
                             job->values[key].where, job_key_info(key)->name);
        if (!job->values[key].given && job_bounds_given(job, key))
            return error_set(err, "%s has bounds, which are for a search; give it one value here",
                             job_key_info(key)->name);
    }
    return 0;
}

static uint64_t common_divisor(uint64_t left, uint64_t right)
{
    while (right > 0) {
        uint64_t rest = left % right;
        left = right;
        right = rest;
    }
    return left;
}

/* Ranks of the smallest job with these degrees; over WORLD_MAXIMUM: too many. */
static uint64_t smallest_world(const struct job_spec *job)
{
    uint64_t tp = job_spec_number(job, JOB_TP, 1), cp = job_spec_number(job, JOB_CP, 1);
    uint64_t pp = job_spec_number(job, JOB_PP, 1), ep = job_spec_number(job, JOB_EP, 1);
    uint64_t experts = ep * job_spec_number(job, JOB_ETP, ep > 1 ? 1 : tp);
    uint64_t dp = job_spec_number(job, JOB_DP, experts / common_divisor(experts, tp * cp));
    uint64_t stage, world;
    if (__builtin_mul_overflow(tp * cp, dp, &stage) || __builtin_mul_overflow(stage, pp, &world))
        return UINT64_MAX;
    return world;
}

/* An omitted degree takes no ranks here. */
static int complete(const struct job_spec *job, uint64_t world, struct plan *ret,
                    struct error_info *err)
{
    struct degrees degrees;
    if (job_spec_check_available(job, err) < 0)
        return -1;
    job_spec_degrees(job, &degrees);
    degrees.tp = degrees.tp > 0 ? degrees.tp : 1;
    degrees.pp = degrees.pp > 0 ? degrees.pp : 1;
    if (world > WORLD_MAXIMUM)
        return error_set(err, "these degrees make more than %u ranks; use smaller ones",
                         WORLD_MAXIMUM);
    if (degrees_complete(&degrees, world, err) < 0)
        return -1;
    *ret = (struct plan){.degrees = degrees};
    return 0;
}

/* dp may still be anything that the nearest ep needs. */
static void free_dp(const struct model_spec *model, const struct job_spec *job, struct plan *plan)
{
    if (!job->values[JOB_DP].given && model->experts > 0)
        plan->degrees.dp = model->experts * plan->degrees.etp;
}

int model_plan_from_job(const struct model_spec *model, const struct job_spec *job,
                        struct plan *ret, struct error_info *err)
{
    static const enum constraint_id ids[] = {CONSTRAINT_HEADS, CONSTRAINT_LAYERS,
                                             CONSTRAINT_EXPERTS, CONSTRAINT_CHUNKS};
    struct plan plan = {.degrees = DEGREES_ONE};
    if (check_keys(job, err) < 0 || complete(job, smallest_world(job), &plan, err) < 0)
        return -1;
    const struct plan_request request = {.model = model, .job = job};
    /* world 0: a remedy may be any degree, whatever N follows from it. */
    const struct plan_context context = {.request = &request, .model = model};
    for (unsigned i = 0; i < COUNT_OF(ids); i++) {
        if (constraint_holds(&context, &plan, ids[i]))
            continue;
        free_dp(model, job, &plan);
        CLEANUP(arena) struct arena *arena = arena_create(TEXT_MAXIMUM_BYTES);
        const char *text = arena ? refusal_text(&context, &plan, ids[i], arena) : NULL;
        return text ? error_set(err, "%s", text) : error_set_memory(err);
    }
    *ret = plan;
    return 0;
}
