/* SPDX-License-Identifier: MIT */
/*
 * nvlink_closure: from a matrix over GPUs, NVSwitches and CPUs to bandwidths between GPUs:
 *     rate(i, j) = direct(i, j) + min(sum of i's links to switches, sum of j's)
 * CPUs' columns (POWER) do not count. Pure.
 */
#ifndef TOPOLOGY_NVLINK_CLOSURE_H
#define TOPOLOGY_NVLINK_CLOSURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NVLINK_SWITCH (-1)
#define NVLINK_OTHER (-2)

/* matrix: count^2 rates in row-major order. gpu_of[k]: the GPU that entry k is, NVLINK_SWITCH or
 * NVLINK_OTHER. ret: gpu_count^2, zeroed by the caller; symmetric afterwards (the smaller of
 * the two directions), diagonal 0. Returns whether some pair meets in switches. */
bool nvlink_closure(const uint64_t *matrix, size_t count, const int *gpu_of, size_t gpu_count,
                    double unit_bytes_per_second, double *ret);

#endif
