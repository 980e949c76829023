/* SPDX-License-Identifier: MIT */
/*
 * policy_origin: which sub-policy of parplan.yaml set what a verdict is about, for people who
 * wonder why a job of theirs is judged by other rules than their neighbour's. Pure.
 */
#ifndef WORKLOAD_ADMIN_POLICY_ORIGIN_H
#define WORKLOAD_ADMIN_POLICY_ORIGIN_H

#include "workload/admin/policy_scopes.h"

/* Puts the scope into the verdict's text: "policy max-tp (partition debug): …". Nothing changes
 * where the general policy (or no key at all) says it, and in a verdict without text. */
void policy_origin_add(const struct policy *general, const struct policy_scopes *scopes,
                       const struct policy_subject *subject, struct policy_verdict *verdict);

#endif
