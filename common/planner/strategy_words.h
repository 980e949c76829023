/* SPDX-License-Identifier: MIT */
/*
 * strategy_words: figures and comparisons of plans in words, the same in every rule and
 * reason. A text compares the figures that it prints: a plan whose memory is tight is printed
 * with what it counts as, and a margin beside the share that it is held against.
 * Texts belong to the strategy's arena; NULL: out of memory.
 */
#ifndef PLANNER_STRATEGY_WORDS_H
#define PLANNER_STRATEGY_WORDS_H

#include "planner/strategy.h"

#define PERCENT 100.0

/* "zero1 tp=1,pp=1,dp=64 (4.2 s)", "(4.2 s; memory tight, counts as 4.452 s)"; NULL plan: "none
 * that fits". */
const char *words_figure(const struct strategy *strategy, const struct plan *plan);

/* What `simple` costs beyond the step of `other`, and how that stands to the margin:
 * "12.1 % more than 4.2 s, beyond the margin of 10 %", "no more". */
const char *words_against_margin(const struct strategy *strategy, const struct plan *simple,
                                 const struct plan *other);

/* Where the groups of the chosen plan sit, and whether what talks more sits nearer: "tp=8
 * inside an NVLink domain; pp=4 between nodes under one leaf; …". */
const char *words_golden(const struct strategy *strategy, const char **ret_verdict);

#endif
