/* SPDX-License-Identifier: MIT */
/*
 * live_config: the admins' file of a program that runs for months: read again when it changes,
 * parsed whole or kept as before. One reader's snapshot stays valid while it holds it.
 * Thread safe.
 *
 * A file mounted into a pod (a ConfigMap: links to files of root) must be readable; who owns it is
 * the kubelet's business. Elsewhere admin_config_load's rule holds.
 */
#ifndef K8S_EXTENDER_EXTENDER_LIVE_CONFIG_H
#define K8S_EXTENDER_EXTENDER_LIVE_CONFIG_H

#include "workload/admin_config.h"

struct live_config;

/* path NULL: the default path, where a missing file means the built-in defaults. */
struct live_config *live_config_create(const char *path, struct error_info *err);
void live_config_free(struct live_config *live);

/* Looks at the file. -1: it changed and cannot be used, the reason once for each change. */
int live_config_refresh(struct live_config *live, bool *ret_changed, struct error_info *err);

/* One snapshot: to be given back. */
const struct admin_config *live_config_take(struct live_config *live);
void live_config_give(struct live_config *live, const struct admin_config *snapshot);

DEFINE_CLEANUP(live_config);

#endif
