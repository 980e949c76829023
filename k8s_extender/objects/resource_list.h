/* SPDX-License-Identifier: MIT */
/*
 * resource_list: amounts of what a node offers or a pod asks for. CPU is in millicores, all else
 * in whole units (bytes, devices). Four resources have a place of their own; all others
 * ("nvidia.com/gpu", "rdma/hca") stand by name, sorted, without zeros. Plain values; the names
 * belong to whoever owns the list (a record's arena). Where there are more others than
 * RESOURCE_LIST_MAXIMUM_OTHERS, which the API allows, nvidia.com/gpu and amd.com/gpu stay, then
 * other GPUs, then names without a domain (hugepages-2Mi), then what fits; left_out says so.
 */
#ifndef K8S_EXTENDER_OBJECTS_RESOURCE_LIST_H
#define K8S_EXTENDER_OBJECTS_RESOURCE_LIST_H

#include "base/arena.h"
#include "base/error.h"
#include "base/json_document.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RESOURCE_LIST_MAXIMUM_OTHERS 64u
#define RESOURCE_NAME_MAXIMUM_BYTES 317u /* a DNS prefix of 253, '/', a name of 63 */

enum resource_kind {
    RESOURCE_CPU, /* millicores, rounded up */
    RESOURCE_MEMORY,
    RESOURCE_STORAGE, /* ephemeral-storage */
    RESOURCE_PODS,
    RESOURCE_KIND_COUNT
};

struct resource_amount {
    const char *name;
    uint64_t amount;
};

struct resource_list {
    uint64_t amounts[RESOURCE_KIND_COUNT];
    const struct resource_amount *others; /* by name, bytewise */
    unsigned other_count;
    bool left_out; /* of more kinds there was no room for some */
};

/* A JSON object {"cpu": "2", "memory": "512Mi", "nvidia.com/gpu": "8"}; NULL is the empty list.
 * Errors: an amount that is no quantity, or is below zero; a name that is none. */
int resource_list_read(const struct json_value *object, struct arena *arena,
                       struct resource_list *ret, struct error_info *err);
uint64_t resource_list_amount(const struct resource_list *list, const char *name);
/* The sum, and for each resource the larger; sums stop at UINT64_MAX. */
int resource_list_add(const struct resource_list *left, const struct resource_list *right,
                      struct arena *arena, struct resource_list *ret);
int resource_list_maximum(const struct resource_list *left, const struct resource_list *right,
                          struct arena *arena, struct resource_list *ret);
/* A copy whose names and amounts lie in the arena. */
int resource_list_copy(const struct resource_list *list, struct arena *arena,
                       struct resource_list *ret);

/* What a pod finds too little of. */
struct resource_lack {
    const char *resource; /* NULL: of nothing */
    uint64_t asked, left;
};
#define RESOURCE_AMOUNT_TEXT_BYTES 32u
/* "500" and "1500m" of cpu, "5000Gi" of bytes; `up`: rounded up to what is shown, else down. */
void resource_amount_text(const char *name, uint64_t amount, bool up,
                          char ret[RESOURCE_AMOUNT_TEXT_BYTES]);
/* "cpu" and the others that have a place of their own. */
extern const char *const resource_kind_names[RESOURCE_KIND_COUNT];

/* Whole GPUs: nvidia.com/gpu, amd.com/gpu and what else ends in "/gpu"; MIG instances, shared GPUs
 * and percents of GPUs ("nvidia.com/mig-1g.10gb", "nvidia.com/gpu.shared", "koordinator.sh/gpu")
 * are none. */
bool resource_is_gpu(const char *name);
/* GPUs of all kinds; *ret_name, where it is not NULL, becomes the name of the first kind, or NULL.
 */
uint64_t resource_list_gpus(const struct resource_list *list, const char **ret_name);

#endif
