/* SPDX-License-Identifier: MIT */
/*
 * request_match: lists of requests side by side.
 */
#ifndef K8S_EXTENDER_GANG_STORE_REQUEST_MATCH_H
#define K8S_EXTENDER_GANG_STORE_REQUEST_MATCH_H

#include "k8s_extender/objects/resource_list.h"

/* Whether they are of equal content. */
bool requests_equal(const struct resource_list *left, const struct resource_list *right);

/* Makes *most, whose others stand in the caller's array, the larger of each. New names are not
 * copied. Returns how many are left out because there is no room for more. */
unsigned requests_raise(struct resource_list *most,
                        struct resource_amount others[RESOURCE_LIST_MAXIMUM_OTHERS],
                        const struct resource_list *more);

#endif
