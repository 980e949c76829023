/* SPDX-License-Identifier: MIT */
#include "planner/plan.h"

static const char *const memory_part_names[MEMORY_PART_COUNT] = {
    [MEMORY_PARAMETERS] = "parameters", [MEMORY_GRADIENTS] = "gradients",
    [MEMORY_OPTIMIZER] = "optimizer",   [MEMORY_ACTIVATIONS] = "activations",
    [MEMORY_LOGITS] = "logits",         [MEMORY_TRANSIENT] = "transient",
    [MEMORY_BUFFERS] = "buffers",       [MEMORY_FRAMEWORK] = "framework",
};

static const char *const time_part_names[TIME_PART_COUNT] = {
    [TIME_COMPUTE] = "compute", [TIME_TP] = "tp", [TIME_CP] = "cp",         [TIME_EP] = "ep",
    [TIME_PP] = "pp",           [TIME_DP] = "dp", [TIME_BUBBLE] = "bubble", [TIME_HOST] = "host",
};

static const char *const fit_verdict_names[FIT_COUNT] = {
    [FIT_UNKNOWN] = "unknown",
    [FIT_FITS] = "fits",
    [FIT_TIGHT] = "tight",
    [FIT_OOM] = "oom",
};

static const char *const rejection_names[REJECTION_COUNT] = {
    [REJECT_WORLD] = "world",   [REJECT_DIVISIBILITY] = "divisibility", [REJECT_BATCH] = "batch",
    [REJECT_POLICY] = "policy", [REJECT_FRAMEWORK] = "framework",       [REJECT_MEMORY] = "memory",
};

static const char *name_at(const char *const *names, size_t count, size_t index)
{
    return index < count ? names[index] : "unknown";
}

const char *memory_part_name(enum memory_part part)
{
    return name_at(memory_part_names, MEMORY_PART_COUNT, part);
}

const char *time_part_name(enum time_part part)
{
    return name_at(time_part_names, TIME_PART_COUNT, part);
}

const char *fit_verdict_name(enum fit_verdict verdict)
{
    return name_at(fit_verdict_names, FIT_COUNT, verdict);
}

const char *rejection_name(enum rejection rejection)
{
    return name_at(rejection_names, REJECTION_COUNT, rejection);
}

void plan_list_free(struct plan_list *list)
{
    if (list)
        arena_free(list->arena);
}

bool memory_lacks_host(const struct memory_estimate *memory)
{
    return memory->host_capacity_bytes > 0 && memory->host_bytes > memory->host_capacity_bytes;
}
