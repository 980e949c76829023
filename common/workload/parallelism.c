/* SPDX-License-Identifier: MIT */
#include "workload/parallelism.h"

#include "base/cleanup.h"
#include <limits.h>
#include <stddef.h>
#include <stdio.h>

static const char *const sharding_names[SHARDING_COUNT] = {
    [SHARDING_NONE] = "none",   [SHARDING_ZERO1] = "zero1", [SHARDING_ZERO2] = "zero2",
    [SHARDING_ZERO3] = "zero3", [SHARDING_HSDP] = "hsdp",
};
static const char *const schedule_names[SCHEDULE_COUNT] = {
    [SCHEDULE_NONE] = "none",
    [SCHEDULE_NAIVE] = "naive",
    [SCHEDULE_GPIPE] = "gpipe",
    [SCHEDULE_1F1B] = "1f1b",
    [SCHEDULE_ZERO_BUBBLE] = "zero-bubble",
    [SCHEDULE_INTERLEAVED] = "interleaved",
};
static const char *const recompute_names[RECOMPUTE_COUNT] = {
    [RECOMPUTE_NONE] = "none",
    [RECOMPUTE_SELECTIVE] = "selective",
    [RECOMPUTE_FULL] = "full",
};
static const char *const precision_names[PRECISION_COUNT] = {
    [PRECISION_FP32] = "fp32",
    [PRECISION_FP16] = "fp16",
    [PRECISION_BF16] = "bf16",
    [PRECISION_FP8] = "fp8",
};
static const char *const offload_names[OFFLOAD_COUNT] = {
    [OFFLOAD_NONE] = "none",
    [OFFLOAD_CPU] = "cpu",
    [OFFLOAD_NVME] = "nvme",
};

static const char *name_in(const char *const *names, unsigned count, unsigned value)
{
    return value < count ? names[value] : "unknown";
}

const char *sharding_name(enum sharding sharding)
{
    return name_in(sharding_names, SHARDING_COUNT, sharding);
}

const char *schedule_name(enum schedule schedule)
{
    return name_in(schedule_names, SCHEDULE_COUNT, schedule);
}

const char *recompute_name(enum recompute recompute)
{
    return name_in(recompute_names, RECOMPUTE_COUNT, recompute);
}

const char *precision_name(enum precision precision)
{
    return name_in(precision_names, PRECISION_COUNT, precision);
}

const char *offload_name(enum offload offload)
{
    return name_in(offload_names, OFFLOAD_COUNT, offload);
}

/* The degrees in the order of the key table. `dense` ones multiply to N. */
struct degree_field {
    const char *name;
    size_t offset;
    bool dense;
};

enum { FIELD_TP, FIELD_CP, FIELD_EP, FIELD_ETP, FIELD_PP, FIELD_VPP, FIELD_DP, FIELD_SHARD };

static const struct degree_field fields[] = {
    [FIELD_TP] = {"tp", offsetof(struct degrees, tp), true},
    [FIELD_CP] = {"cp", offsetof(struct degrees, cp), true},
    [FIELD_EP] = {"ep", offsetof(struct degrees, ep), false},
    [FIELD_ETP] = {"etp", offsetof(struct degrees, etp), false},
    [FIELD_PP] = {"pp", offsetof(struct degrees, pp), true},
    [FIELD_VPP] = {"vpp", offsetof(struct degrees, vpp), false},
    [FIELD_DP] = {"dp", offsetof(struct degrees, dp), true},
    [FIELD_SHARD] = {"shard", offsetof(struct degrees, shard), false},
};

/* Which omitted degree takes what is left of N, and which given one a remedy changes. An
 * omitted cp is 1: whoever gives tp, pp and dp thinks of the whole. */
static const unsigned fill_order[] = {FIELD_DP, FIELD_TP, FIELD_PP};
static const unsigned remedy_order[] = {FIELD_DP, FIELD_TP, FIELD_PP, FIELD_CP};

static unsigned degree_of(const struct degrees *degrees, unsigned field)
{
    return *(const unsigned *)((const char *)degrees + fields[field].offset);
}

static unsigned *degree_at(struct degrees *degrees, unsigned field)
{
    return (unsigned *)((char *)degrees + fields[field].offset);
}

/* The product of the dense degrees that are not 0, without `skip`; UINT64_MAX on overflow. */
static uint64_t dense_product(const struct degrees *degrees, unsigned skip)
{
    uint64_t product = 1;
    for (unsigned i = 0; i < COUNT_OF(fields); i++) {
        unsigned degree = degree_of(degrees, i);
        if (!fields[i].dense || i == skip || degree == 0)
            continue;
        if (__builtin_mul_overflow(product, (uint64_t)degree, &product))
            return UINT64_MAX;
    }
    return product;
}

uint64_t degrees_world(const struct degrees *degrees)
{
    if (degrees->tp == 0 || degrees->cp == 0 || degrees->pp == 0 || degrees->dp == 0)
        return 0;
    uint64_t product = dense_product(degrees, COUNT_OF(fields));
    return product > WORLD_MAXIMUM ? 0 : product;
}

unsigned degrees_edp(const struct degrees *degrees)
{
    uint64_t dense = (uint64_t)degrees->tp * degrees->cp * degrees->dp;
    uint64_t expert = (uint64_t)degrees->etp * degrees->ep;
    return expert == 0 ? 0 : (unsigned)(dense / expert);
}

/* "tp=8,pp=4": the degrees that are not 0. */
static void given_text(const struct degrees *degrees, char ret[static DEGREES_TEXT_BYTES])
{
    size_t used = 0;
    ret[0] = '\0';
    for (unsigned i = 0; i < FIELD_SHARD; i++) {
        unsigned degree = degree_of(degrees, i);
        if (degree == 0 || !fields[i].dense)
            continue;
        used += (size_t)snprintf(ret + used, DEGREES_TEXT_BYTES - used, "%s%s=%u",
                                 used > 0 ? "," : "", fields[i].name, degree);
    }
}

static int check_ranges(const struct degrees *degrees, uint64_t world, struct error_info *err)
{
    if (world == 0 || world > WORLD_MAXIMUM)
        return error_set(
            err, "N: %llu ranks cannot be split; a job has from 1 to %u GPUs that take part",
            (unsigned long long)world, WORLD_MAXIMUM);
    for (unsigned i = 0; i < COUNT_OF(fields); i++)
        if (degree_of(degrees, i) > DEGREE_MAXIMUM)
            return error_set(err, "%s: %u is not a whole number from 1 to %u", fields[i].name,
                             degree_of(degrees, i), DEGREE_MAXIMUM);
    return 0;
}

/* The largest value up to `limit` whose product with `factor` divides `whole`; 0: none. */
static unsigned largest_that_divides(uint64_t factor, uint64_t whole, unsigned limit)
{
    if (factor == 0 || factor > whole || whole % factor != 0)
        return 0;
    uint64_t rest = whole / factor, largest = 1;
    for (uint64_t small = 1; small * small <= rest; small++) {
        if (rest % small != 0)
            continue;
        if (small <= limit && small > largest)
            largest = small;
        if (rest / small <= limit && rest / small > largest)
            largest = rest / small;
    }
    return (unsigned)largest;
}

static unsigned greatest_common_divisor(uint64_t left, unsigned right)
{
    while (right != 0) {
        unsigned rest = (unsigned)(left % right);
        left = right;
        right = rest;
    }
    return (unsigned)left;
}

/* The value of that degree with which the product is N (exact), or divides it; 0: none. A TP that
 * divides the given one cuts no node and no head that the given one does not cut. */
static uint64_t value_that_fits(const struct degrees *degrees, unsigned field, uint64_t world,
                                bool exact)
{
    uint64_t others = dense_product(degrees, field);
    unsigned degree = degree_of(degrees, field);
    if (degree == 0 || world % others != 0)
        return 0;
    uint64_t rest = world / others;
    if (field == FIELD_TP && exact)
        return degree % rest == 0 ? rest : 0;
    if (field == FIELD_TP)
        return greatest_common_divisor(rest, degree);
    return largest_that_divides(1, rest, exact ? UINT_MAX : degree);
}

/* One given degree that, changed alone, lets the product be N, or divide it where another
 * one is omitted and takes the rest. */
static void remedy_text(const struct degrees *degrees, uint64_t world, bool exact,
                        char ret[static DEGREES_TEXT_BYTES])
{
    snprintf(ret, DEGREES_TEXT_BYTES,
             exact ? "use other degrees" : UNPACKED_TEXT("use degrees whose product divides it"));
    for (unsigned i = 0; i < COUNT_OF(remedy_order); i++) {
        unsigned field = remedy_order[i];
        uint64_t value = value_that_fits(degrees, field, world, exact);
        if (value == 0 || value > DEGREE_MAXIMUM)
            continue;
        snprintf(ret, DEGREES_TEXT_BYTES, "use %s=%u", fields[field].name, (unsigned)value);
        return;
    }
}

static int mismatch(const struct degrees *degrees, uint64_t world, struct error_info *err)
{
    char given[DEGREES_TEXT_BYTES], remedy[DEGREES_TEXT_BYTES];
    uint64_t product = dense_product(degrees, COUNT_OF(fields));
    bool exact = degrees->tp > 0 && degrees->pp > 0 && degrees->dp > 0;
    given_text(degrees, given);
    remedy_text(degrees, world, exact, remedy);
    if (product > WORLD_MAXIMUM)
        return error_set(err, "%s make more than %u ranks, but there are %llu; %s", given,
                         WORLD_MAXIMUM, (unsigned long long)world, remedy);
    if (!exact)
        return error_set(err, "%s: needs a multiple of %llu ranks, but there are %llu; %s", given,
                         (unsigned long long)product, (unsigned long long)world, remedy);
    return error_set(err, "%s make %llu ranks, but there are %llu; %s, or %llu GPUs", given,
                     (unsigned long long)product, (unsigned long long)world, remedy,
                     (unsigned long long)product);
}

/* The omitted degree that takes what is left of N; COUNT_OF(fields): all are given. */
static unsigned field_to_fill(const struct degrees *degrees)
{
    for (unsigned i = 0; i < COUNT_OF(fill_order); i++)
        if (degree_of(degrees, fill_order[i]) == 0)
            return fill_order[i];
    return COUNT_OF(fields);
}

static int fill_dense(struct degrees *degrees, uint64_t world, struct error_info *err)
{
    unsigned filled = field_to_fill(degrees);
    bool all_given = filled == COUNT_OF(fields);
    uint64_t product = dense_product(degrees, COUNT_OF(fields));
    if (world % product != 0 || (all_given && product != world))
        return mismatch(degrees, world, err);
    uint64_t rest = world / product;
    if (rest > DEGREE_MAXIMUM)
        return error_set(err,
                         "%s=%llu would follow from %llu ranks, more than %u; give more degrees",
                         fields[filled].name, (unsigned long long)rest, (unsigned long long)world,
                         DEGREE_MAXIMUM);
    for (unsigned i = 0; i < COUNT_OF(fields); i++)
        if (fields[i].dense && degree_of(degrees, i) == 0)
            *degree_at(degrees, i) = i == filled ? (unsigned)rest : 1;
    return 0;
}

static unsigned default_etp(const struct degrees *degrees)
{
    return degrees->ep == 1 ? degrees->tp : 1;
}

static int fill_experts(struct degrees *degrees, struct error_info *err)
{
    if (degrees->ep == 0)
        degrees->ep = 1;
    if (degrees->etp == 0)
        degrees->etp = default_etp(degrees);
    uint64_t dense = (uint64_t)degrees->tp * degrees->cp * degrees->dp;
    uint64_t expert = (uint64_t)degrees->etp * degrees->ep;
    if (expert > 0 && dense % expert == 0)
        return 0;
    unsigned ep = largest_that_divides(degrees->etp, dense, degrees->ep);
    unsigned etp = largest_that_divides(degrees->ep, dense, degrees->etp);
    char remedy[DEGREES_TEXT_BYTES] = "use ep=1,etp=1";
    if (ep > 0)
        snprintf(remedy, sizeof(remedy), "use ep=%u", ep);
    else if (etp > 0)
        snprintf(remedy, sizeof(remedy), "use etp=%u", etp);
    return error_set(
        err, "ep=%u,etp=%u need a stage whose ranks %llu divides, but tp*cp*dp is %llu; %s",
        degrees->ep, degrees->etp, (unsigned long long)expert, (unsigned long long)dense, remedy);
}

static int fill_pipeline_and_shard(struct degrees *degrees, struct error_info *err)
{
    if (degrees->vpp == 0)
        degrees->vpp = 1;
    if (degrees->vpp > 1 && degrees->pp == 1)
        return error_set(err, "vpp=%u needs a pipeline, but pp is 1; use pp=2 or more, or vpp=1",
                         degrees->vpp);
    return degrees_set_shard(degrees, SHARDING_HSDP, degrees->shard == 0 ? 1 : degrees->shard, err);
}

int degrees_complete(struct degrees *degrees, uint64_t world, struct error_info *err)
{
    struct degrees complete = *degrees;
    if (check_ranges(&complete, world, err) < 0 || fill_dense(&complete, world, err) < 0 ||
        fill_experts(&complete, err) < 0 || fill_pipeline_and_shard(&complete, err) < 0)
        return -1;
    *degrees = complete;
    return 0;
}

int degrees_set_shard(struct degrees *degrees, enum sharding sharding, unsigned shard,
                      struct error_info *err)
{
    unsigned width = shard;
    if (width == 0)
        width = sharding == SHARDING_NONE ? 1 : degrees->dp;
    if (sharding == SHARDING_NONE && width != 1)
        return error_set(err,
                         "shard=%u needs a sharding, but that is none; use sharding=hsdp or "
                         "leave shard out",
                         width);
    if (degrees->dp == 0 || degrees->dp % width != 0)
        return error_set(err, "shard=%u does not divide dp=%u; use shard=%u", width, degrees->dp,
                         largest_that_divides(1, degrees->dp, width));
    degrees->shard = width;
    degrees->replicate = degrees->dp / width;
    return 0;
}

void degrees_text(const struct degrees *degrees, char ret[static DEGREES_TEXT_BYTES])
{
    size_t used = 0;
    ret[0] = '\0';
    for (unsigned i = 0; i < FIELD_SHARD; i++) {
        unsigned degree = degree_of(degrees, i);
        unsigned quiet = i == FIELD_ETP ? default_etp(degrees) : 1;
        bool always = i == FIELD_TP || i == FIELD_PP || i == FIELD_DP;
        if (!always && degree == quiet)
            continue;
        used += (size_t)snprintf(ret + used, DEGREES_TEXT_BYTES - used, "%s%s=%u",
                                 used > 0 ? "," : "", fields[i].name, degree);
    }
}
