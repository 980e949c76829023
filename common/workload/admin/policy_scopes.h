/* SPDX-License-Identifier: MIT */
/*
 * policy_scopes: the sub-policies of parplan.yaml, by partition, QOS, account and user.
 *
 *     policy:
 *       max_tp: 16
 *       partitions: {nvl72: {tp_within: nvlink_domain}}
 *       qos:        {debug: {max_tp: 8}}
 *       accounts:   {students: {require_plan: deny}}
 *       users:      {ada: {on_violation: warn}, "1001": {max_tp: 4}}
 *
 * Each changes only the fields that it gives, in this order: general, partition, QOS, account,
 * user; a later one wins. Partitions and users may loosen. QOS and accounts only tighten, and
 * cannot give tp_within, whose words have no order of strictness: a node knows account and QOS
 * from the step's environment alone, where a user can write what he likes (docs/slurm.md).
 * Pure; the names point into the arena.
 */
#ifndef WORKLOAD_ADMIN_POLICY_SCOPES_H
#define WORKLOAD_ADMIN_POLICY_SCOPES_H

#include "base/arena.h"
#include "base/error.h"
#include "base/yaml_document.h"
#include "workload/policy.h"
#include <stdbool.h>

#define POLICY_RULES_MAXIMUM 1024u /* of each kind */

/* The order in which they apply. The last two are both looked up under users:. */
enum policy_scope {
    SCOPE_PARTITION,
    SCOPE_QOS,
    SCOPE_ACCOUNT,
    SCOPE_USER,
    SCOPE_USER_ID, /* in decimal */
    POLICY_SCOPE_COUNT
};

#define POLICY_SECTIONS ((unsigned)SCOPE_USER_ID)

/* Whose policy it is; NULL or "": not known, or none. */
struct policy_subject {
    const char *names[POLICY_SCOPE_COUNT];
};

/* Where Slurm names them in a step's environment: "SLURM_JOB_PARTITION". */
extern const char *const policy_scope_variables[POLICY_SCOPE_COUNT];

/* What a mapping gives: a policy whose fields are POLICY_KEEP where it says nothing. */
#define POLICY_KEEP UINT32_MAX
#define POLICY_FIELDS (sizeof(struct policy) / sizeof(unsigned))
union policy_change {
    struct policy policy;
    unsigned fields[POLICY_FIELDS];
};

struct policy_rule {
    const char *name;
    union policy_change change;
};

struct policy_scopes {
    struct {
        const struct policy_rule *rules;
        size_t count;
    } sections[POLICY_SECTIONS]; /* by enum policy_scope */
};

/* policy: of the file: *general is changed by it, *ret holds its sub-policies. */
int policy_scopes_read(const struct yaml_node *node, struct arena *arena, struct policy *general,
                       struct policy_scopes *ret, struct error_info *err);
/* Changes *policy, the general one, into the subject's. */
void policy_scopes_apply(const struct policy_scopes *scopes, const struct policy_subject *subject,
                         struct policy *policy);

#endif
