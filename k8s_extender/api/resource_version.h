/* SPDX-License-Identifier: MIT */
/*
 * resource_version: which of two resourceVersions of one kind of object is the older one.
 * Kubernetes promises since 1.35 that they are decimal numbers and ascend; what is no number is not
 * compared. One that went back means that etcd was restored from a backup. Pure.
 */
#ifndef K8S_EXTENDER_API_RESOURCE_VERSION_H
#define K8S_EXTENDER_API_RESOURCE_VERSION_H

#include <stdbool.h>

/* False where either is no number of that form: digits without a leading zero. */
bool resource_version_is_older(const char *version, const char *than);

#endif
