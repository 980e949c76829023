/* SPDX-License-Identifier: MIT */
#include "k8s_extender/gang/store/request_match.h"
#include <string.h>

bool requests_equal(const struct resource_list *left, const struct resource_list *right)
{
    if (left->other_count != right->other_count)
        return false;
    for (unsigned kind = 0; kind < RESOURCE_KIND_COUNT; kind++)
        if (left->amounts[kind] != right->amounts[kind])
            return false;
    for (unsigned i = 0; i < left->other_count; i++)
        if (left->others[i].amount != right->others[i].amount ||
            strcmp(left->others[i].name, right->others[i].name) != 0)
            return false;
    return true;
}
