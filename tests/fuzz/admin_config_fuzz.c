/* SPDX-License-Identifier: MIT */
/* parplan.yaml: no crash; a policy that was read gives a verdict on any degrees. */
#include "workload/admin_config.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_policy(const struct policy *policy)
{
    static const struct policy_place places[] = {
        {.where = "here", .gpus_per_node = 8, .nvlink_domain_gpus = 8, .nvlink_known = true},
        {.where = "here", .gpus_per_node = 4, .nvlink_domain_gpus = 72, .nvlink_known = true},
        {.where = "here", .gpus_per_node = 8, .nvlink_domain_gpus = 1, .nvlink_known = true},
        {.where = NULL},
    };
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        for (unsigned tp = 1; tp <= 96; tp++) {
            struct degrees degrees = DEGREES_ONE;
            struct policy_verdict verdict;
            degrees.tp = tp;
            policy_check(policy, &degrees, &places[i], &verdict);
            if ((verdict.code == POLICY_OK) != (verdict.text[0] == '\0') ||
                (tp == 1 && verdict.result == POLICY_DENIED))
                abort();
        }
    }
}

/* What a user can forge never loosens. */
static void check_tighter(const struct policy *general, const struct policy *policy, unsigned scope)
{
    if (scope != SCOPE_QOS && scope != SCOPE_ACCOUNT)
        return;
    bool wider = general->max_tp > 0 && (policy->max_tp == 0 || policy->max_tp > general->max_tp);
    if (wider || policy->require_plan < general->require_plan ||
        policy->tp_within != general->tp_within ||
        (general->on_violation == POLICY_DENY && policy->on_violation != POLICY_DENY) ||
        (general->on_unknown_topology == UNKNOWN_DENY &&
         policy->on_unknown_topology != UNKNOWN_DENY) ||
        (general->orders > 0 && (policy->orders & ~general->orders || policy->orders == 0)))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error_info err = {0};
    CLEANUP(admin_config)
    struct admin_config *config =
        admin_config_parse((const char *)data, size, "parplan.yaml", &err);
    if (!config) {
        if (strncmp(err.text, "parplan.yaml", 12) != 0 || strchr(err.text, '\n'))
            abort();
        return 0;
    }
    struct policy_subject subject = {{NULL}};
    struct policy policy;
    admin_config_policy(config, &subject, &policy);
    check_policy(&policy);
    for (unsigned scope = 0; scope < POLICY_SECTIONS; scope++) {
        subject = (struct policy_subject){{NULL}};
        for (size_t i = 0; i < config->scopes.sections[scope].count && i < 8; i++) {
            subject.names[scope] = config->scopes.sections[scope].rules[i].name;
            admin_config_policy(config, &subject, &policy);
            check_policy(&policy);
            check_tighter(&config->policy, &policy, scope);
        }
    }
    return 0;
}
