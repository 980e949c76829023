/* SPDX-License-Identifier: MIT */
/* Files of roles: no crash; every role that was read is on nodes of a role that has its own. */
#include "tests/fuzz/fuzz_target.h"
#include "workload/job/role_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(role_list)
    struct role_list *list = role_list_parse((const char *)data, size, "roles.yaml", &err);
    if (!list) {
        fuzz_require_error(&err);
        return 0;
    }
    for (size_t i = 0; i < list->count; i++) {
        const struct role *role = &list->roles[i];
        fuzz_require(role->home < list->count, "no such home", role->name);
        const struct role *home = &list->roles[role->home];
        fuzz_require(!home->with && list->roles[role->home].home == role->home, "a home is away",
                     role->name);
    }
    return 0;
}
