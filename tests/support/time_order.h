/* SPDX-License-Identifier: MIT */
/*
 * time_order: measured times in their order, for what benches say of them.
 */
#ifndef TESTS_SUPPORT_TIME_ORDER_H
#define TESTS_SUPPORT_TIME_ORDER_H

#include <stddef.h>

/* The shortest first. */
void time_order_sort(double *times, size_t count);

#endif
