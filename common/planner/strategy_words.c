/* SPDX-License-Identifier: MIT */
#include "planner/strategy_words.h"

const char *words_figure(const struct strategy *strategy, const struct plan *plan)
{
    if (!plan)
        return "none that fits";
    char label[PLAN_LABEL_BYTES];
    plan_label(plan, label);
    if (plan->memory.verdict != FIT_TIGHT)
        return arena_format(strategy->arena, "%s (%.4g s)", label, plan->time.step_seconds);
    return arena_format(strategy->arena, "%s (%.4g s; memory tight, counts as %.4g s)", label,
                        plan->time.step_seconds, plan_cost_seconds(plan));
}

const char *words_against_margin(const struct strategy *strategy, const struct plan *simple,
                                 const struct plan *other)
{
    double base = other->time.step_seconds;
    double more = base > 0 ? plan_cost_seconds(simple) / base - 1 : 0;
    if (more <= 0)
        return "no more";
    return arena_format(strategy->arena, "%.1f %% more than %.4g s, %s the margin of %.0f %%",
                        more * PERCENT, base,
                        more <= STRATEGY_SIMPLICITY_MARGIN ? "within" : "beyond",
                        STRATEGY_SIMPLICITY_MARGIN * PERCENT);
}

static const char *reach_words(const struct strategy *strategy, const struct group_span *span)
{
    const struct cluster_topology *cluster = strategy->context->request->cluster;
    if (span->tier == DISTANCE_SAME_NODE)
        return span->per_domain >= span->size ? "inside an NVLink domain" : "inside a node";
    if (span->tier == DISTANCE_SAME_NVLINK_DOMAIN)
        return "inside an NVLink domain of several nodes";
    if ((unsigned)span->tier >= cluster_tier_count(cluster))
        return "between nodes";
    return arena_format(strategy->arena, "between nodes under one %s",
                        cluster_tier_name(cluster, (unsigned)span->tier));
}

struct named_group {
    enum group_dimension dimension;
    const char *name;
};

/* From what talks most to what talks least. */
static const struct named_group talkers[] = {
    {GROUP_TP, "tp"}, {GROUP_CP, "cp"}, {GROUP_EP, "ep"}, {GROUP_PP, "pp"}, {GROUP_DP, "dp"},
};

struct placed {
    unsigned talking; /* dimensions larger than 1 */
    const char *far;  /* one that sits farther than the next, which talks less; or NULL */
    const char *near; /* that next */
    const char *text; /* NULL: out of memory */
};

static struct placed places_of(const struct strategy *strategy)
{
    const struct plan *plan = strategy->chosen;
    struct placed placed = {.text = ""};
    const char *last = NULL;
    int tier = DISTANCE_SAME_NODE;
    for (size_t i = 0; i < COUNT_OF(talkers) && placed.text; i++) {
        struct group_span span;
        group_span_in(&strategy->context->shape, &plan->degrees, plan->order, talkers[i].dimension,
                      &span);
        if (span.size <= 1)
            continue;
        if (last && span.tier < tier) {
            placed.far = last;
            placed.near = talkers[i].name;
        }
        placed.talking++;
        tier = span.tier;
        last = talkers[i].name;
        const char *reach = reach_words(strategy, &span);
        placed.text = reach ? arena_format(strategy->arena, "%s%s=%u %s; ", placed.text, last,
                                           span.size, reach)
                            : NULL;
    }
    return placed;
}

/* How a tp beyond NVLink stands; NULL: it is not. */
static const char *tp_words(const struct strategy *strategy)
{
    const struct cluster_shape *shape = &strategy->context->shape;
    unsigned tp = strategy->chosen->degrees.tp;
    if (tp <= 1 || tp <= shape->domain_gpus)
        return NULL;
    if (tp > shape->gpus_per_node)
        return "tp leaves the node: given, or still faster than the alternatives";
    return shape->domain_gpus > 1
               ? "tp leaves the NVLink domain: given, or still faster than the alternatives"
               : "no NVLink is known, so tp is kept inside the node";
}

const char *words_golden(const struct strategy *strategy, const char **ret_verdict)
{
    struct placed placed = places_of(strategy);
    const char *tp = tp_words(strategy), *end = tp;
    bool inside = strategy->chosen->degrees.tp <= strategy->context->shape.gpus_per_node &&
                  strategy->context->shape.domain_gpus <= 1;
    if (!placed.text)
        return NULL;
    *ret_verdict = tp && !inside ? "overruled" : "holds";
    if (placed.far && !end) {
        *ret_verdict = "overruled";
        end = arena_format(strategy->arena,
                           "%s sits nearer than %s, which talks more often: the rank order numbers "
                           "it further inside",
                           placed.near, placed.far);
    } else if (placed.talking < 2 && !end) {
        *ret_verdict = "not applicable";
        end = placed.talking > 0 ? "nothing else talks, so there is nothing to order"
                                 : "one GPU: nothing talks";
    } else if (!end) {
        end = "what talks more often sits at least as near";
    }
    return end ? arena_format(strategy->arena, "%s%s", placed.text, end) : NULL;
}
