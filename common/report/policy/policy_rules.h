/* SPDX-License-Identifier: MIT */
/*
 * policy_rules: the admins' policy itself, for people and as parplan.policy/1: the general one,
 * or that of one partition, QOS, account and user, and what every sub-policy changes.
 */
#ifndef REPORT_POLICY_POLICY_RULES_H
#define REPORT_POLICY_POLICY_RULES_H

#include "base/json_document.h"
#include "report/text_style.h"
#include "workload/admin_config.h"

struct policy_rules {
    const struct admin_config *config;
    struct policy_subject subject; /* without names: the general policy, and all sub-policies */
};

void policy_rules_text(const struct policy_rules *rules, const struct text_style *style,
                       struct text_buffer *out);
struct json_value *policy_rules_json(const struct policy_rules *rules);

#endif
