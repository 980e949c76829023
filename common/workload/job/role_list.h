/* SPDX-License-Identifier: MIT */
/*
 * role_list: the models that one job holds at once (RLHF: actor and critic are trained, reference
 * and reward are frozen), each with its own plan, on nodes of its own or on another role's.
 *
 *     schema: parplan.roles/1
 *     roles:
 *       - {name: actor, model: llama3-70b, nodes: 8}
 *       - {name: reference, model: llama3-70b, with: actor, keys: "trainable=frozen"}
 *
 * Where no role says nodes or with, all share all nodes.
 */
#ifndef WORKLOAD_JOB_ROLE_LIST_H
#define WORKLOAD_JOB_ROLE_LIST_H

#include "base/arena.h"
#include "base/error.h"
#include <stdint.h>

#define ROLE_FILE_MAXIMUM_BYTES ((size_t)64 << 10)
#define ROLE_MAXIMUM 16u
#define ROLE_NODES_MAXIMUM 1048576u

struct role {
    const char *name;
    const char *model; /* as model_source.h takes it */
    const char *keys;  /* of the job, as --set takes them; NULL: none */
    const char *with;  /* NULL: nodes of its own */
    uint64_t nodes;    /* 0: of `with`, or all */
    size_t home;       /* the role whose nodes it is on: itself, or another */
};

struct role_list {
    const struct role *roles;
    size_t count;
    struct arena *arena;
};

/* Refuses: names twice, a role with nodes and with, a role with neither where others have one, a
 * `with` that is no role or shares another's nodes itself. */
struct role_list *role_list_parse(const char *text, size_t bytes, const char *source,
                                  struct error_info *err);
struct role_list *role_list_load(const char *path, struct error_info *err);
void role_list_free(struct role_list *list);

DEFINE_CLEANUP(role_list);

#endif
