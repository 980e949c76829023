/* SPDX-License-Identifier: MIT */
#include "validation/coefficient_fit.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define ROUNDS 4
#define FIRST_STEP 0.25 /* of the logarithm */
#define NEXT_STEP 0.6   /* of the step before */
#define LEAST_GAIN 1e-6
#define MOST_ROW_COST 0.5
#define NEUTRAL_WEIGHT 0.004
#define MAXIMUM_KNOBS 128
#define MAXIMUM_SETS 64

struct knob_kind {
    size_t offset;
    double neutral, most;
};

#define ARCHITECTURE(member, neutral, most)                                                        \
    {                                                                                              \
        offsetof(struct efficiency_architecture, member), neutral, most                            \
    }
#define FRAMEWORK(member, neutral, most)                                                           \
    {                                                                                              \
        offsetof(struct efficiency_framework, member), neutral, most                               \
    }
#define PROFILE(member, neutral, most)                                                             \
    {                                                                                              \
        offsetof(struct framework_profile, member), neutral, most                                  \
    }

static const struct knob_kind architecture_kinds[] = {
    ARCHITECTURE(gemm_share, 0.85, 1),
    ARCHITECTURE(token_half, 300, 1e4),
    ARCHITECTURE(expert_token_half, 600, 1e4),
    ARCHITECTURE(width_half, 300, 1e4),
    ARCHITECTURE(unaligned_share, 0.8, 1),
    ARCHITECTURE(attention_forward_share, 0.5, 0.8),
    ARCHITECTURE(attention_backward_share, 0.4, 0.7),
    ARCHITECTURE(memory_share, 0.8, 1),
};

static const struct knob_kind framework_kinds[] = {
    FRAMEWORK(attention_scale, 0.8, 1),
    FRAMEWORK(elementwise_passes, 2.5, 16),
    FRAMEWORK(fp8_cast_bytes, 8, 64),
    FRAMEWORK(softmax_bytes_forward, 11, 64),
    FRAMEWORK(softmax_bytes_backward, 17, 64),
    FRAMEWORK(host_forward_seconds, 0.3e-3, 0.01),
    FRAMEWORK(host_backward_seconds, 0.5e-3, 0.01),
    FRAMEWORK(moe_host_seconds, 1e-3, 0.02),
    FRAMEWORK(state_share, 0.8, 1),
    FRAMEWORK(owner_seconds, 1e-5, 0.1),
    FRAMEWORK(step_seconds, 0.02, 2),
};

static const struct knob_kind profile_kinds[] = {
    PROFILE(overlap_dp, 0.6, 0.95), PROFILE(overlap_gather, 0.6, 0.95),
    PROFILE(overlap_tp, 0.05, 0.8), PROFILE(overlap_pp, 0.5, 0.9),
    PROFILE(overlap_cp, 0.5, 0.95), PROFILE(overlap_ep, 0.05, 0.8),
};

struct knob {
    double *value;
    double neutral, most;
    bool still; /* moves no row */
};

struct fit {
    const struct fit_row *rows;
    size_t count;
    unsigned *sets; /* of each row, borrowed from the caller's frame */
    double set_rows[MAXIMUM_SETS];
    unsigned set_count;
    struct coefficients *coefficients;
    struct knob knobs[MAXIMUM_KNOBS];
    size_t knob_count;
};

static void add_knobs(struct fit *fit, void *base, const struct knob_kind *kinds, size_t count)
{
    for (size_t i = 0; i < count && fit->knob_count < MAXIMUM_KNOBS; i++) {
        double *value = (double *)(void *)((char *)base + kinds[i].offset);
        *value = kinds[i].neutral;
        fit->knobs[fit->knob_count++] =
            (struct knob){.value = value, .neutral = kinds[i].neutral, .most = kinds[i].most};
    }
}

static const struct efficiency_architecture *found_for(const struct coefficients *coefficients,
                                                       const struct efficiency_architecture *kind)
{
    for (size_t i = 0; i < coefficients->architecture_count; i++)
        if (coefficients->kinds[i] == kind)
            return &coefficients->architectures[i];
    return NULL;
}

static void add_architectures(struct fit *fit)
{
    struct coefficients *coefficients = fit->coefficients;
    for (size_t i = 0; i < fit->count; i++) {
        const struct efficiency_architecture *kind =
            run_case_catalogue_architecture(fit->rows[i].run_case);
        size_t next = coefficients->architecture_count;
        if (next == FIT_MAXIMUM_ARCHITECTURES || found_for(coefficients, kind))
            continue;
        coefficients->kinds[next] = kind;
        coefficients->architectures[next] = *kind;
        coefficients->architecture_count++;
        add_knobs(fit, &coefficients->architectures[next], architecture_kinds,
                  COUNT_OF(architecture_kinds));
    }
}

void coefficients_use(const struct coefficients *coefficients, struct run_case *run_case)
{
    const struct efficiency_architecture *kind = run_case_catalogue_architecture(run_case);
    const struct efficiency_architecture *found = found_for(coefficients, kind);
    run_case_use(run_case, found ? found : kind, &coefficients->framework, &coefficients->profile);
}

static double row_cost(const struct fit *fit, size_t row)
{
    struct run_case *run_case = fit->rows[row].run_case;
    coefficients_use(fit->coefficients, run_case);
    double error = fabs(log(run_case_predicted_seconds(run_case) / fit->rows[row].measured));
    return error < MOST_ROW_COST ? error : MOST_ROW_COST;
}

static double distance_from_neutral(const struct fit *fit)
{
    double sum = 0;
    for (size_t i = 0; i < fit->knob_count; i++) {
        double distance = log(*fit->knobs[i].value / fit->knobs[i].neutral);
        sum += distance * distance;
    }
    return NEUTRAL_WEIGHT * sum / (double)fit->knob_count;
}

static double cost_of(const struct fit *fit)
{
    double sums[MAXIMUM_SETS] = {0}, sum = 0, weights = 0;
    for (size_t i = 0; i < fit->count; i++)
        sums[fit->sets[i]] += row_cost(fit, i);
    for (unsigned set = 0; set < fit->set_count; set++) {
        double weight = sqrt(fit->set_rows[set]);
        sum += weight * sums[set] / fit->set_rows[set];
        weights += weight;
    }
    return sum / weights + distance_from_neutral(fit);
}

/* Moves the knob as long as it gains; true: the cost depends on it. */
static bool turn(struct fit *fit, struct knob *knob, double factor, double *cost)
{
    bool moves = false;
    double before = distance_from_neutral(fit);
    for (;;) {
        double kept = *knob->value;
        *knob->value = fmin(kept * factor, knob->most);
        if (*knob->value == kept)
            return moves;
        double next = cost_of(fit);
        double rows_gain = fabs((next - distance_from_neutral(fit)) - (*cost - before));
        moves = moves || rows_gain > LEAST_GAIN;
        if (next >= *cost - LEAST_GAIN) {
            *knob->value = kept;
            return moves;
        }
        *cost = next;
        before = distance_from_neutral(fit);
    }
}

static void search(struct fit *fit)
{
    double cost = cost_of(fit), step = FIRST_STEP;
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < fit->knob_count; i++) {
            struct knob *knob = &fit->knobs[i];
            if (knob->still)
                continue;
            bool moves = turn(fit, knob, exp(step), &cost);
            moves = turn(fit, knob, exp(-step), &cost) || moves;
            knob->still = !moves;
        }
        step *= NEXT_STEP;
    }
}

/* Rows of one set follow each other or not; a set beyond the limit shares the last number. */
static void number_sets(struct fit *fit)
{
    const char *names[MAXIMUM_SETS] = {NULL};
    for (size_t i = 0; i < fit->count; i++) {
        const char *name = run_case_run(fit->rows[i].run_case)->set;
        unsigned set = 0;
        while (set < fit->set_count && names[set] && strcmp(names[set], name) != 0)
            set++;
        if (set == MAXIMUM_SETS)
            set--;
        if (set == fit->set_count)
            names[fit->set_count++] = name;
        fit->sets[i] = set;
        fit->set_rows[set]++;
    }
}

int coefficients_fit(const struct fit_row *rows, size_t count, struct coefficients *ret,
                     struct error_info *err)
{
    if (count == 0)
        return error_set(err, "no runs to fit");
    CLEANUP_MEMORY unsigned *sets = memory_allocate_array(count, sizeof(*sets));
    struct fit fit = {.rows = rows, .count = count, .sets = sets, .coefficients = ret};
    if (!sets)
        return error_set_memory(err);
    *ret = (struct coefficients){0};
    const struct plan_context *first = run_case_context(rows[0].run_case);
    ret->framework = *run_case_catalogue_framework(rows[0].run_case);
    ret->profile = *first->profile;
    add_knobs(&fit, &ret->framework, framework_kinds, COUNT_OF(framework_kinds));
    add_knobs(&fit, &ret->profile, profile_kinds, COUNT_OF(profile_kinds));
    add_architectures(&fit);
    number_sets(&fit);
    search(&fit);
    return 0;
}
