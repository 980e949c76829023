/* SPDX-License-Identifier: MIT */
/*
 * request_match: whether two lists of requests are of equal content.
 */
#ifndef K8S_EXTENDER_GANG_STORE_REQUEST_MATCH_H
#define K8S_EXTENDER_GANG_STORE_REQUEST_MATCH_H

#include "k8s_extender/objects/resource_list.h"

bool requests_equal(const struct resource_list *left, const struct resource_list *right);

#endif
