/* SPDX-License-Identifier: MIT */
#include "topology/merge/link_rates.h"
#include <math.h>

/* Of one link; 0: the model does not tell. */
static double model_rate(const struct gpu_model *model)
{
    return model && model->nvlink_links > 0 ? model->nvlink_bytes_per_second / model->nvlink_links
                                            : 0;
}

static double lower_of(double first, double second) { return first < second ? first : second; }

/* Of the weaker end; 0: neither the models nor the source tell. One GPU without a known model
 * leaves all to the source: its counts are compared with each other. */
static double link_rate(const struct merge_state *state, size_t e, unsigned first, unsigned second)
{
    const struct node_evidence *evidence = state->evidence[e];
    for (unsigned i = 0; i < evidence->gpu_count; i++)
        if (state->gpu_of[e][i] != MERGE_NO_GPU &&
            model_rate(state->models[state->gpu_of[e][i]]) <= 0)
            return evidence->nvlink_link_bytes_per_second;
    return lower_of(model_rate(state->models[first]), model_rate(state->models[second]));
}

static double rate_links(const struct merge_state *state, size_t e, unsigned i, unsigned j,
                         double links, bool *ret_assumed)
{
    double rate = link_rate(state, e, state->gpu_of[e][i], state->gpu_of[e][j]);
    *ret_assumed = rate <= 0;
    return links * (rate > 0 ? rate : NVLINK_RATE_ASSUMED);
}

static double counted_rate(const struct merge_state *state, size_t e, unsigned i, unsigned j,
                           bool *ret_assumed)
{
    const struct node_evidence *evidence = state->evidence[e];
    size_t n = evidence->gpu_count;
    unsigned there = evidence->nvlink_link_counts[i * n + j];
    unsigned back = evidence->nvlink_link_counts[j * n + i];
    if (there == NVLINK_COUNT_UNKNOWN || back == NVLINK_COUNT_UNKNOWN)
        return NVLINK_RATE_UNKNOWN;
    unsigned links = there < back ? there : back; /* a source in doubt counts low */
    return links > 0 ? rate_links(state, e, i, j, links, ret_assumed) : 0;
}

double link_rate_of_pair(const struct merge_state *state, size_t e, unsigned i, unsigned j,
                         bool *ret_assumed)
{
    const struct node_evidence *evidence = state->evidence[e];
    size_t n = evidence->gpu_count;
    *ret_assumed = false;
    if (evidence->nvlink != NVLINK_KNOWN)
        return 0;
    if (evidence->nvlink_bytes_per_second) {
        double there = evidence->nvlink_bytes_per_second[i * n + j];
        double back = evidence->nvlink_bytes_per_second[j * n + i];
        if (there < 0 || back < 0)
            return NVLINK_RATE_UNKNOWN;
        double rate = lower_of(there, back); /* a link is two-way */
        if (rate > 0 && isfinite(rate) && evidence->nvlink_assumed)
            return rate_links(state, e, i, j, rate / NVLINK_RATE_ASSUMED, ret_assumed);
        if (rate > 0)
            return isfinite(rate) ? rate : 0;
    }
    return evidence->nvlink_link_counts ? counted_rate(state, e, i, j, ret_assumed) : 0;
}

/* Of one GPU of a source, over its peers. */
static unsigned sum_links(const struct node_evidence *evidence, unsigned gpu)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < evidence->gpu_count; i++) {
        unsigned links = evidence->nvlink_link_counts[(size_t)gpu * evidence->gpu_count + i];
        if (i != gpu && links != NVLINK_COUNT_UNKNOWN)
            sum += links;
    }
    return sum;
}

bool link_rates_switched(const struct merge_state *state, size_t e)
{
    const struct node_evidence *evidence = state->evidence[e];
    bool counted = evidence->nvlink == NVLINK_KNOWN && evidence->nvlink_link_counts;
    bool switched = evidence->nvlink_switched;
    for (unsigned i = 0; counted && i < evidence->gpu_count; i++) {
        unsigned gpu = state->gpu_of[e][i];
        const struct gpu_model *model = gpu != MERGE_NO_GPU ? state->models[gpu] : NULL;
        if (model && model->nvlink_links > 0 && sum_links(evidence, i) > model->nvlink_links)
            switched = true;
    }
    return switched;
}

double link_capability(const struct node_topology *node, unsigned gpu, bool switched)
{
    double sum = 0, best = 0;
    for (unsigned i = 0; i < node->gpu_count; i++) {
        double rate = node->nvlink_bytes_per_second[gpu * node->gpu_count + i];
        sum += rate;
        best = rate > best ? rate : best;
    }
    return switched ? best : sum;
}

void link_rates_limit(struct merge_state *state, double *rates, bool switched, bool measured)
{
    size_t n = state->node->gpu_count;
    double factors[NODE_MAXIMUM_GPUS];
    bool limited = false;
    for (unsigned i = 0; i < n; i++) {
        const struct gpu_model *model = measured ? state->models[i] : NULL;
        double limit = model ? model->nvlink_bytes_per_second : 0;
        double used = link_capability(state->node, i, switched);
        factors[i] = limit > 0 && used > limit ? limit / used : 1;
        limited = limited || factors[i] < 1;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            rates[i * n + j] *= lower_of(factors[i], factors[j]);
    if (limited)
        merge_add_fact(state, "nvlink rates", MERGE_CATALOGUE_SOURCE,
                       "scaled down to what the GPU model has");
}
