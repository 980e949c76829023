/* SPDX-License-Identifier: MIT */
/*
 * kernel_profile: what a GPU's time went into, from a profiler's summary of kernels as CSV.
 *
 * Nsight Systems: `nsys stats --report cuda_gpu_kern_sum --format csv` (older releases:
 * gpukernsum): columns "Total Time (ns)" (or (us), (ms), (s): --timeunit), "Instances", "Name"
 * and others. What nsys prints before the header is skipped, and the table ends at an empty line.
 * PyTorch: key_averages() as a table of its events' attributes (torch/autograd/profiler_util.py,
 * FunctionEventAvg): "key", "device_type", "self_device_time_total" (older releases:
 * self_cuda_time_total; microseconds), "count", and if there "is_user_annotation". Rows of the
 * CPU hold the time of the kernels that they launched once more, and are left out.
 *
 * Kernels are told apart by their names. A summary counts every kernel's whole duration: kernels
 * that run at the same time count twice, so the shares are of the sum of kernel times and not of
 * the step, and a collective also counts the time that it waits for the slowest rank.
 * Pure; immutable; plain data without ownership.
 */
#ifndef PLANNER_MEASURED_KERNEL_PROFILE_H
#define PLANNER_MEASURED_KERNEL_PROFILE_H

#include "base/tables/csv_table.h"
#include <stdbool.h>
#include <stdint.h>

/* The collectives first. */
enum kernel_class {
    KERNEL_ALL_REDUCE,
    KERNEL_ALL_GATHER,
    KERNEL_REDUCE_SCATTER,
    KERNEL_ALL_TO_ALL,
    KERNEL_SEND_RECV,  /* PP, CP's ring, and all-to-all where it is made of sends */
    KERNEL_BROADCAST,  /* and reduce */
    KERNEL_COLLECTIVE, /* of a kind that the name does not tell */
    KERNEL_GEMM,
    KERNEL_ATTENTION,
    KERNEL_ELEMENTWISE, /* norms, activations, optimizer, copies, reductions */
    KERNEL_OTHER,
    KERNEL_CLASS_COUNT
};

struct kernel_profile {
    const char *kind; /* "nsys" or "pytorch" */
    double seconds[KERNEL_CLASS_COUNT];
    uint64_t instances[KERNEL_CLASS_COUNT];
    double total_seconds; /* above 0 */
    size_t kernels;       /* rows that counted */
};

/* Refuses: CSV that csv_table refuses, neither tool's columns, no time at all, a time that is
 * no number or negative. Errors name the line. */
int kernel_profile_parse(const char *text, size_t bytes, const char *source,
                         struct kernel_profile *ret, struct error_info *err);
int kernel_profile_load(const char *path, struct kernel_profile *ret, struct error_info *err);

enum kernel_class kernel_class_of(const char *name);
const char *kernel_class_name(enum kernel_class class); /* "all_reduce", … as in the JSON */
bool kernel_class_is_collective(enum kernel_class class);
/* Seconds in collectives, of the sum of all kernels' seconds. */
double kernel_profile_nccl_share(const struct kernel_profile *profile);

#endif
