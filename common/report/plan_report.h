/* SPDX-License-Identifier: MIT */
/*
 * plan_report: the planner's answer for people, without the walk through the rules (that
 * is plan_explanation.h) and as the document parplan.plan/1 and parplan.check/1.
 */
#ifndef REPORT_PLAN_REPORT_H
#define REPORT_PLAN_REPORT_H

#include "base/json_document.h"
#include "planner/plan_search.h"
#include "report/text_style.h"
#include "workload/training_spec.h"

struct method_comparison;

/* What was asked and what came out; everything belongs to the caller. */
struct plan_report {
    const struct plan_request *request;
    const struct training_spec *training;
    const char *framework; /* the profile's name */
    uint64_t world;        /* GPUs that take part */
    unsigned gpus_per_node;
    const struct plan_list *list;
    const struct method_comparison *methods; /* NULL: not asked for */
};

/* What was asked, the best plans as one table, notes; when nothing fits what is needed, what
 * there is, and the remedies. */
void plan_report_text(const struct plan_report *report, const struct text_style *style,
                      struct text_buffer *out);
/* One plan's verdict: policy, memory, step time. */
void check_report_text(const struct plan_report *report, const struct text_style *style,
                       struct text_buffer *out);

/* NULL only without memory for the root; json_value_write reports later failures. */
struct json_value *plan_report_json(const struct plan_report *report);
struct json_value *check_report_json(const struct plan_report *report);

/* Parts that other documents share: one plan as in plans[] (key NULL: appended to an array), and
 * the members that say what was asked. */
void plan_report_json_plan(struct json_value *parent, const char *key, const struct plan *plan);
void plan_report_json_request(struct json_value *document, const struct plan_report *report);

/* Degrees without a model: the policy's verdict alone, the fit unknown. */
void policy_report_text(const struct degrees *degrees, const struct policy_verdict *verdict,
                        const struct text_style *style, struct text_buffer *out);
struct json_value *policy_report_json(const struct degrees *degrees,
                                      const struct policy_verdict *verdict);

/* lead, then "policy 3, memory 1,204"; nothing when none was rejected. */
void plan_report_rejections(const struct plan_list *list, const char *lead,
                            struct text_buffer *out);

/* Parts that several reports share: what was asked; the remedies; the notes; a sentence that
 * says what the nearest plan needs and what there is ("nothing fits: …"). */
void plan_report_request(const struct plan_report *report, const struct text_style *style,
                         struct text_buffer *out);
void plan_report_plans(const struct plan_report *report, const struct text_style *style,
                       struct text_buffer *out);
void plan_report_remedies(const struct plan_list *list, const struct text_style *style,
                          struct text_buffer *out);
void plan_report_notes(const struct plan_list *list, const struct text_style *style,
                       struct text_buffer *out);
void plan_report_misfit(const struct plan_report *report, const struct text_style *style,
                        struct text_buffer *out);

#endif
