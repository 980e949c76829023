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

/* Where that name stands, or belongs. */
static unsigned place_of(const struct resource_amount *others, unsigned count, const char *name)
{
    unsigned at = 0;
    while (at < count && strcmp(others[at].name, name) < 0)
        at++;
    return at;
}

unsigned requests_raise(struct resource_list *most,
                        struct resource_amount others[RESOURCE_LIST_MAXIMUM_OTHERS],
                        const struct resource_list *more)
{
    unsigned left_out = 0;
    for (unsigned kind = 0; kind < RESOURCE_KIND_COUNT; kind++)
        if (most->amounts[kind] < more->amounts[kind])
            most->amounts[kind] = more->amounts[kind];
    for (unsigned i = 0; i < more->other_count; i++) {
        const struct resource_amount *other = &more->others[i];
        unsigned at = place_of(others, most->other_count, other->name);
        bool known = at < most->other_count && strcmp(others[at].name, other->name) == 0;
        if (known && others[at].amount < other->amount) {
            others[at].amount = other->amount;
        } else if (!known && most->other_count == RESOURCE_LIST_MAXIMUM_OTHERS) {
            left_out++;
        } else if (!known) {
            memmove(&others[at + 1], &others[at], (most->other_count - at) * sizeof(*others));
            others[at] = *other;
            most->other_count++;
        }
    }
    most->others = others;
    return left_out;
}
