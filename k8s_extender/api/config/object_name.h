/* SPDX-License-Identifier: MIT */
/*
 * object_name: what the API server takes as the name of a node, a Lease and most other objects (RFC
 * 1123 subdomain: small letters, digits, '-' and '.', at most 253, a letter or digit at both ends
 * of each part) or of a namespace (RFC 1123 label: the same without '.', at most 63). Nothing else
 * gets near a path. The error is one line. Pure.
 */
#ifndef K8S_EXTENDER_API_CONFIG_OBJECT_NAME_H
#define K8S_EXTENDER_API_CONFIG_OBJECT_NAME_H

#include "base/error.h"

#define OBJECT_NAME_MAXIMUM_BYTES 253u
#define NAMESPACE_NAME_MAXIMUM_BYTES 63u

int object_name_check(const char *name, struct error_info *err);
int namespace_name_check(const char *name, struct error_info *err);

#endif
