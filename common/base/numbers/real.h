/* SPDX-License-Identifier: MIT */
/*
 * real: counts, bytes and costs as doubles. They are below 2^63 (model_parameters and
 * MEMORY_PART_MAXIMUM_BYTES say so of the largest), and so converted as signed numbers: one
 * instruction, where unsigned ones take seven, in dozens of places of the plugin.
 */
#ifndef BASE_NUMBERS_REAL_H
#define BASE_NUMBERS_REAL_H

#include <stdint.h>

static inline double real_of(uint64_t whole) { return (double)(int64_t)whole; }
/* The whole part; 0 <= real < 2^63. */
static inline uint64_t whole_of(double real) { return (uint64_t)(int64_t)real; }

#endif
