/* SPDX-License-Identifier: MIT */
/*
 * rule_words: what several rules say alike. Texts belong to the strategy's arena; NULL: out of
 * memory.
 */
#ifndef PLANNER_EXPLANATION_RULE_WORDS_H
#define PLANNER_EXPLANATION_RULE_WORDS_H

#include "planner/strategy_words.h"

double rule_gib(double bytes);

/* Why there is no plan: nothing was costed, or what was did not do (`costed`). */
const char *rule_no_plan(const struct strategy *strategy, const char *costed);

/* The best candidate that matches; NULL: none. */
const struct plan *rule_best_with(const struct strategy *strategy,
                                  bool (*matches)(const struct plan *plan, unsigned value),
                                  unsigned value);

/* "rule; the best plan with that is …; the chosen is …", and why a dearer one was chosen. */
const char *rule_compare(const struct strategy *strategy, const struct plan *other,
                         const char *rule);

/* Where the cost model agrees, against what: "rule; the best plan with another tp is …; the chosen
 * is …". lead: "with another tp". */
const char *rule_agree(const struct strategy *strategy, const struct plan *other, const char *rule,
                       const char *lead);

#endif
