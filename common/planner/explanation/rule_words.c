/* SPDX-License-Identifier: MIT */
#include "planner/explanation/rule_words.h"

#define GIB 1073741824.0

double rule_gib(double bytes) { return bytes / GIB; }

/* Why there is no plan: nothing was costed, or what was did not do. */
const char *rule_no_plan(const struct strategy *strategy, const char *costed)
{
    return strategy->pool->examined > 0
               ? costed
               : "no split satisfies the constraints (see the remedies), so that none was costed";
}

const struct plan *rule_best_with(const struct strategy *strategy,
                                  bool (*matches)(const struct plan *plan, unsigned value),
                                  unsigned value)
{
    for (size_t i = 0; i < strategy->pool->count; i++)
        if (matches(&strategy->pool->plans[i], value))
            return &strategy->pool->plans[i];
    return NULL;
}

/* "the best plan with it is …; the chosen is …", and why a dearer one was chosen. */
const char *rule_compare(const struct strategy *strategy, const struct plan *other,
                         const char *rule)
{
    const struct plan *chosen = strategy->chosen;
    const char *ours = words_figure(strategy, chosen), *theirs = words_figure(strategy, other);
    if (!ours || !theirs || !rule)
        return NULL;
    if (!other)
        return arena_format(strategy->arena,
                            "%s; no such plan fits or is possible, the chosen is %s", rule, ours);
    bool dearer = plan_cost_seconds(chosen) > plan_cost_seconds(other);
    return arena_format(strategy->arena, "%s; the best plan with that is %s; the chosen is %s%s",
                        rule, theirs, ours,
                        dearer ? ", simpler or with more headroom, within the margins" : "");
}

const char *rule_agree(const struct strategy *strategy, const struct plan *other, const char *rule,
                       const char *lead)
{
    const char *ours = words_figure(strategy, strategy->chosen);
    const char *theirs =
        other ? words_figure(strategy, other) : "none that fits or is possible here";
    if (!ours || !theirs || !rule)
        return NULL;
    return arena_format(strategy->arena, "%s; the best plan %s: %s; the chosen is %s", rule, lead,
                        theirs, ours);
}
