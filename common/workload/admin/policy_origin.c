/* SPDX-License-Identifier: MIT */
#include "workload/admin/policy_origin.h"
#include <stdio.h>
#include <string.h>

#define ORIGIN_BYTES 96

static const char *const scope_words[POLICY_SCOPE_COUNT] = {
    [SCOPE_PARTITION] = "partition", [SCOPE_QOS] = "QOS",      [SCOPE_ACCOUNT] = "account",
    [SCOPE_USER] = "user",           [SCOPE_USER_ID] = "user",
};

#define FIELD(member) (1u + offsetof(struct policy, member) / sizeof(unsigned))
/* Of each code the policy's field, counted from 1; 0: no field says it. */
static const unsigned char fields[POLICY_CODE_COUNT] = {
    [POLICY_TP_EXCEEDS_NODE] = FIELD(tp_within),
    [POLICY_TP_SPLITS_NODE] = FIELD(tp_within),
    [POLICY_TP_EXCEEDS_DOMAIN] = FIELD(tp_within),
    [POLICY_TP_EXCEEDS_MAXIMUM] = FIELD(max_tp),
    [POLICY_TOPOLOGY_UNKNOWN] = FIELD(on_unknown_topology),
    [POLICY_PLAN_REQUIRED] = FIELD(require_plan),
    [POLICY_ORDER_NOT_ALLOWED] = FIELD(orders),
    [POLICY_NODE_MISMATCH] = FIELD(on_mismatch),
    [POLICY_SPANS] = FIELD(spans),
    [POLICY_SPAN_SPLITS] = FIELD(spans),
};

/* The last scope that changes the field, as they apply one after the other. */
static unsigned find_scope(const struct policy *general, const struct policy_scopes *scopes,
                           const struct policy_subject *subject, unsigned field)
{
    struct policy_subject known = {{NULL}};
    union policy_change before = {.policy = *general};
    unsigned found = POLICY_SCOPE_COUNT;
    for (unsigned scope = 0; scope < POLICY_SCOPE_COUNT; scope++) {
        union policy_change after = {.policy = *general};
        known.names[scope] = subject->names[scope];
        policy_scopes_apply(scopes, &known, &after.policy);
        if (after.fields[field] != before.fields[field])
            found = scope;
        before = after;
    }
    return found;
}

void policy_origin_add(const struct policy *general, const struct policy_scopes *scopes,
                       const struct policy_subject *subject, struct policy_verdict *verdict)
{
    char text[POLICY_TEXT_BYTES + ORIGIN_BYTES];
    unsigned field = fields[verdict->code];
    size_t length = strcspn(verdict->text, ":");
    if (field == 0 || !verdict->text[length])
        return;
    unsigned scope = find_scope(general, scopes, subject, field - 1 + verdict->part);
    if (scope == POLICY_SCOPE_COUNT)
        return;
    snprintf(text, sizeof(text), "%.*s (%s %.64s)%s", (int)length, verdict->text,
             scope_words[scope], subject->names[scope], verdict->text + length);
    error_clean_text(text);
    snprintf(verdict->text, sizeof(verdict->text), "%.*s", (int)sizeof(verdict->text) - 1, text);
}
