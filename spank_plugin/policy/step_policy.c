/* SPDX-License-Identifier: MIT */
#include "spank_plugin/policy/step_policy.h"
#include "workload/launch_flags.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

#define NAME_BYTES 256

void step_policy_read(const struct admin_config *config, const spank_t *task, struct policy *ret)
{
    char names[POLICY_SCOPE_COUNT][NAME_BYTES];
    struct policy_subject subject;
    uid_t uid;
    for (unsigned scope = 0; scope < POLICY_SCOPE_COUNT; scope++) {
        const char *variable = policy_scope_variables[scope];
        subject.names[scope] = names[scope];
        if (!task)
            subject.names[scope] = getenv(variable);
        else if (spank_getenv(*task, variable, names[scope], NAME_BYTES) != ESPANK_SUCCESS)
            names[scope][0] = '\0';
    }
    if (task && spank_get_item(*task, S_JOB_UID, &uid) == ESPANK_SUCCESS)
        snprintf(names[SCOPE_USER_ID], NAME_BYTES, "%u", (unsigned)uid);
    admin_config_policy(config, &subject, ret);
    if (!config->enabled)
        ret->require_plan = REQUIRE_OFF;
}

void step_policy_judge_unplanned(const struct admin_config *config, spank_t spank,
                                 struct policy_verdict *ret)
{
    struct policy policy;
    char **command = NULL;
    int count = 0;
    step_policy_read(config, &spank, &policy);
    if (spank_get_item(spank, S_JOB_ARGV, &count, &command) == ESPANK_SUCCESS && count > 0 &&
        launch_command_is_daemon(command[0]))
        policy.require_plan = REQUIRE_OFF;
    policy_check_undeclared(&policy, NULL, ret);
}
