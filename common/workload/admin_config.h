/* SPDX-License-Identifier: MIT */
/*
 * admin_config: parplan.yaml (schema parplan.config/1), the admins' file: policy, its
 * scopes, defaults, and where the cluster's topology comes from.
 */
#ifndef WORKLOAD_ADMIN_CONFIG_H
#define WORKLOAD_ADMIN_CONFIG_H

#include "base/arena.h"
#include "workload/admin/policy_scopes.h"

#define ADMIN_CONFIG_DEFAULT_PATH "/etc/parplan/parplan.yaml"
#define ADMIN_CONFIG_MAXIMUM_BYTES ((size_t)1 << 20)

struct admin_config {
    const char *source; /* path, or "built-in defaults" */
    bool enabled;
    const char *cluster;  /* "slurm", "dgx-h100:16", a path; NULL: not given */
    struct policy policy; /* the general one */
    struct policy_scopes scopes;
    const char *default_parplan; /* defaults.parplan: the option used when none is given, or NULL */
    const char *master_addr;     /* slurm.master_addr: "name", "address"; or NULL */
    bool hidden_gpus_allowed;    /* slurm.hidden_gpus: "refuse" (default) or "allow" */
    bool cpus_unbound;           /* slurm.bind_cpus: "free" (default: bind where Slurm and the
                                  * user leave a task all CPUs) or "off" (true: never) */
    struct arena *arena;
};

struct admin_config *admin_config_default(struct error_info *err);
/* Refuses, with its line: an unknown key, a word that is no choice, a default that is no
 * option, another schema. */
struct admin_config *admin_config_parse(const char *text, size_t bytes, const char *source,
                                        struct error_info *err);
void admin_config_free(struct admin_config *config);
/* The one policy that counts for the subject: the general one with its scopes applied. */
void admin_config_policy(const struct admin_config *config, const struct policy_subject *subject,
                         struct policy *ret);

/* Read the admins' file. path NULL: the default path, where a missing file means the
 * built-in defaults; a named file must exist. A file that others can write is refused
 * (owner_uid: 0 in production). */
struct admin_config *admin_config_load(const char *path, unsigned owner_uid,
                                       struct error_info *err);

DEFINE_CLEANUP(admin_config);

#endif
