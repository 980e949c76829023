/* SPDX-License-Identifier: MIT */
#include "planner/measured/precision_advice.h"

#include <string.h>

struct advisor {
    const struct mfu_reference_catalogue *catalogue;
    const struct mfu_query *query;
    struct arena *arena;
};

const char *precision_verdict_name(enum precision_verdict verdict)
{
    static const char *const names[PRECISION_VERDICT_COUNT] = {
        [PRECISION_RECOMMENDED] = "recommended",
        [PRECISION_ON_REQUEST] = "on request",
        [PRECISION_NOT_NEEDED] = "not needed",
        [PRECISION_ABSENT] = "absent",
    };
    return names[verdict];
}

static double peak_of(const struct advisor *advisor, enum gpu_precision precision)
{
    return advisor->query->gpu->flops_per_second[precision];
}

/* --- what FP8 brought ------------------------------------------------------------------ */

static const struct mfu_reference *find_twin(const struct mfu_range *range,
                                             const struct mfu_reference *row)
{
    for (size_t i = 0; i < range->count; i++) {
        const struct mfu_reference *other = range->rows[i];
        if (strcmp(other->gpu, row->gpu) == 0 && strcmp(other->recipe, row->recipe) == 0 &&
            strcmp(other->source, row->source) == 0)
            return other;
    }
    return NULL;
}

struct speedup {
    double low, high; /* 0: no recipe is known in both */
};

static void widen(struct speedup *speedup, double factor)
{
    if (speedup->low <= 0 || factor < speedup->low)
        speedup->low = factor;
    if (factor > speedup->high)
        speedup->high = factor;
}

static int find_speedup(const struct advisor *advisor, struct speedup *ret, struct error_info *err)
{
    struct mfu_query query = *advisor->query;
    struct mfu_range eight, sixteen;
    double ratio = peak_of(advisor, GPU_FP8) / peak_of(advisor, GPU_BF16);
    *ret = (struct speedup){.low = 0};
    query.any_size = true;
    query.precision = PRECISION_FP8;
    if (mfu_reference_range(advisor->catalogue, &query, advisor->arena, &eight, err) < 0)
        return -1;
    query.precision = PRECISION_BF16;
    if (mfu_reference_range(advisor->catalogue, &query, advisor->arena, &sixteen, err) < 0)
        return -1;
    for (size_t i = 0; i < eight.count; i++) {
        const struct mfu_reference *twin = find_twin(&sixteen, eight.rows[i]);
        if (twin)
            widen(ret, ratio * eight.rows[i]->typical / twin->typical);
    }
    return 0;
}

static const char *speedup_text(struct arena *arena, const struct speedup *speedup)
{
    if (speedup->low <= 0)
        return "no published recipe ran in both here";
    if (speedup->high - speedup->low < 0.005)
        return arena_format(arena, "a published recipe that ran in both was %.2f times as fast",
                            speedup->low);
    return arena_format(arena, "published recipes that ran in both were %.2f to %.2f times as fast",
                        speedup->low, speedup->high);
}

/* --- one precision --------------------------------------------------------------------- */

static int advise_bf16(const struct advisor *advisor, struct precision_advice *ret,
                       struct error_info *err)
{
    (void)err;
    ret->peak_flops_per_second = peak_of(advisor, GPU_BF16);
    bool has = ret->peak_flops_per_second > 0;
    ret->verdict = has ? PRECISION_RECOMMENDED : PRECISION_ABSENT;
    ret->reason = has ? "the exponent of FP32: no loss scaling, no dropped steps"
                      : "needs Ampere, MI200 or later";
    return 0;
}

static int advise_fp16(const struct advisor *advisor, struct precision_advice *ret,
                       struct error_info *err)
{
    (void)err;
    ret->peak_flops_per_second = peak_of(advisor, GPU_FP16);
    if (ret->peak_flops_per_second <= 0) {
        ret->verdict = PRECISION_ABSENT;
        ret->reason = "no 16 bit matrix units: FP32";
    } else if (peak_of(advisor, GPU_BF16) > 0) {
        ret->verdict = PRECISION_NOT_NEEDED;
        ret->reason = "no faster than BF16, and small gradients vanish without loss scaling; for "
                      "recipes that were tuned in it";
    } else {
        ret->verdict = PRECISION_RECOMMENDED;
        ret->reason = "the GPU's fastest; with dynamic loss scaling, since gradients below 2^-24 "
                      "vanish; steps that overflow are dropped";
    }
    return 0;
}

static int advise_fp8(const struct advisor *advisor, struct precision_advice *ret,
                      struct error_info *err)
{
    struct speedup speedup;
    ret->peak_flops_per_second = peak_of(advisor, GPU_FP8);
    if (ret->peak_flops_per_second <= 0 || peak_of(advisor, GPU_BF16) <= 0) {
        ret->verdict = PRECISION_ABSENT;
        ret->reason = "needs Ada, Hopper, MI300 or later";
        return 0;
    }
    ret->verdict = PRECISION_ON_REQUEST;
    if (find_speedup(advisor, &speedup, err) < 0)
        return -1;
    const char *brought = speedup_text(advisor->arena, &speedup);
    ret->reason = brought ? arena_format(advisor->arena,
                                         "speeds up matrix products alone: %s; needs a scale for "
                                         "each tensor or block, and a look at the loss",
                                         brought)
                          : NULL;
    return ret->reason ? 0 : error_set_memory(err);
}

int precision_advice_of(const struct mfu_reference_catalogue *catalogue,
                        const struct mfu_query *query, struct arena *arena,
                        struct precision_advice ret[PRECISION_ADVICE_COUNT], struct error_info *err)
{
    static const struct {
        enum precision precision;
        int (*advise)(const struct advisor *advisor, struct precision_advice *ret,
                      struct error_info *err);
    } advisers[PRECISION_ADVICE_COUNT] = {
        {PRECISION_BF16, advise_bf16},
        {PRECISION_FP16, advise_fp16},
        {PRECISION_FP8, advise_fp8},
    };
    const struct advisor advisor = {.catalogue = catalogue, .query = query, .arena = arena};
    struct precision_advice advice[PRECISION_ADVICE_COUNT];
    for (size_t i = 0; i < PRECISION_ADVICE_COUNT; i++) {
        advice[i] = (struct precision_advice){.precision = advisers[i].precision};
        if (advisers[i].advise(&advisor, &advice[i], err) < 0)
            return -1;
    }
    memcpy(ret, advice, sizeof(advice));
    return 0;
}
