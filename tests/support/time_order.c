/* SPDX-License-Identifier: MIT */
#include "tests/support/time_order.h"

#include <stdlib.h>

static int compare(const void *left_pointer, const void *right_pointer)
{
    const double *left = left_pointer, *right = right_pointer;
    return (*left > *right) - (*left < *right);
}

void time_order_sort(double *times, size_t count) { qsort(times, count, sizeof(*times), compare); }
