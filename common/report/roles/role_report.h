/* SPDX-License-Identifier: MIT */
/*
 * role_report: the plans of a job's several models, for people and as parplan.roles_plan/1.
 */
#ifndef REPORT_ROLES_ROLE_REPORT_H
#define REPORT_ROLES_ROLE_REPORT_H

#include "base/json_document.h"
#include "planner/roles/role_plans.h"
#include "report/text_style.h"
#include "workload/job/role_list.h"

struct role_report {
    const struct role_list *list;
    const struct role_request *requests;
    const struct role_plans *plans;
    const char *cluster;
    unsigned gpus_per_node;
};

bool role_report_fits(const struct role_report *report); /* every role has a plan */
void role_report_text(const struct role_report *report, const struct text_style *style,
                      struct text_buffer *out);
struct json_value *role_report_json(const struct role_report *report);

#endif
