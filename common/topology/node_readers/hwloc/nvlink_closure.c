/* SPDX-License-Identifier: MIT */
#include "topology/node_readers/hwloc/nvlink_closure.h"
#include <math.h>

static double switch_sum(const uint64_t *matrix, size_t count, const int *gpu_of, size_t entry)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++)
        if (gpu_of[k] == NVLINK_SWITCH)
            sum += (double)matrix[entry * count + k];
    return sum;
}

static void make_symmetric(double *rates, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        rates[i * n + i] = 0;
        for (size_t j = 0; j < i; j++) {
            double rate = fmin(rates[i * n + j], rates[j * n + i]);
            rates[i * n + j] = rates[j * n + i] = rate;
        }
    }
}

bool nvlink_closure(const uint64_t *matrix, size_t count, const int *gpu_of, size_t gpu_count,
                    double unit_bytes_per_second, double *ret)
{
    bool switched = false;
    for (size_t a = 0; a < count; a++) {
        for (size_t b = 0; b < count; b++) {
            if (gpu_of[a] < 0 || gpu_of[b] < 0 || gpu_of[a] == gpu_of[b])
                continue;
            double through =
                fmin(switch_sum(matrix, count, gpu_of, a), switch_sum(matrix, count, gpu_of, b));
            double rate = ((double)matrix[a * count + b] + through) * unit_bytes_per_second;
            double *pair = &ret[(size_t)gpu_of[a] * gpu_count + (size_t)gpu_of[b]];
            *pair = fmax(*pair, rate); /* a GPU may stand twice, as two devices */
            switched = switched || through > 0;
        }
    }
    make_symmetric(ret, gpu_count);
    return switched;
}
