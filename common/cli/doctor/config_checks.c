/* SPDX-License-Identifier: MIT */
#include "cli/doctor/config_checks.h"
#include "cli/doctor/path_access.h"
#include <string.h>

/* True: something was said. */
static bool say_access(const struct doctor_facts *facts, const char *path,
                       struct findings *findings)
{
    struct error_info why = {.kind = ERROR_NONE};
    enum path_access access = path_access_find(path, PATH_FROM_FOLDER, facts->owner, &why);
    if (access == PATH_FREE)
        return false;
    findings_add(findings, "config", access == PATH_CLOSED ? FINDING_FAULT : FINDING_WARNING,
                 "srun refuses every --parplan of users who cannot read the admins' file: %s",
                 why.text);
    return true;
}

static void say_state(const struct admin_config *config, struct findings *findings)
{
    if (config->enabled)
        findings_add(findings, "config", FINDING_OK, "%s%s", config->source,
                     strchr(config->source, '/') ? "" : ": there is no " ADMIN_CONFIG_DEFAULT_PATH);
    else
        findings_add(findings, "config", FINDING_WARNING,
                     "%s: enabled: false, parplan is switched off; write enabled: true",
                     config->source);
}

int check_config(const struct doctor_facts *facts, struct admin_config **ret,
                 struct findings *findings, struct error_info *err)
{
    struct error_info why = {.kind = ERROR_NONE};
    const char *path = facts->config_path[0] ? facts->config_path : NULL;
    *ret = NULL;
    CLEANUP(admin_config)
    struct admin_config *config = admin_config_load(path, facts->owner, &why);
    if (why.kind == ERROR_MEMORY)
        return error_set_memory(err);
    bool said = say_access(facts, path ? path : ADMIN_CONFIG_DEFAULT_PATH, findings);
    if (!config && !said)
        findings_add(findings, "config", FINDING_FAULT, "%s%s", why.text,
                     remedy_unless_in(why.text, "; steps that use parplan are refused until it "
                                                "is mended"));
    else if (config && !said)
        say_state(config, findings);
    *ret = move_pointer(config);
    return 0;
}

static bool is_required(unsigned require_plan)
{
    return require_plan == REQUIRE_WARN || require_plan == REQUIRE_DENY;
}

bool config_requires_plan(const struct admin_config *config)
{
    if (!config->enabled)
        return false;
    if (is_required(config->policy.require_plan))
        return true;
    for (size_t scope = 0; scope < POLICY_SECTIONS; scope++)
        for (size_t i = 0; i < config->scopes.sections[scope].count; i++)
            if (is_required(config->scopes.sections[scope].rules[i].change.policy.require_plan))
                return true;
    return false;
}
