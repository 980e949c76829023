/* SPDX-License-Identifier: MIT */
/*
 * evaluation_report: a mapping made elsewhere beside ours, for people: one row for each tier that
 * either uses, what that means for the farthest one, for TP groups, and whether it is the same.
 * Not a part of map_report_text, which the plugin has.
 */
#ifndef REPORT_EVALUATION_REPORT_H
#define REPORT_EVALUATION_REPORT_H

#include "mapping/evaluation/mapping_evaluation.h"
#include "report/text_style.h"

/* Bytes per step where both costs know them, else neighbour pairs by dimension (those of several
 * dimensions are no measure together). The column "difference" is theirs less ours.
 * Below the total what a step waits for communication, where both costs know it. */
void evaluation_report_text(const struct mapping_evaluation *evaluation,
                            const struct mapping_cost *ours, const struct text_style *style,
                            struct text_buffer *out);

/* The word of the policy: "node", "nvlink_domain", "off". */
const char *evaluation_tp_within(const struct mapping_evaluation *evaluation);

#endif
