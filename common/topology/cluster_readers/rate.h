/* SPDX-License-Identifier: MIT */
/*
 * rate: bandwidths as people write them: "400Gb/s", "1.6Tb/s" (bits), "50GB/s" (bytes).
 * Powers of ten. A number without a unit is refused.
 */
#ifndef TOPOLOGY_RATE_H
#define TOPOLOGY_RATE_H

#include "base/error.h"

#define RATE_MINIMUM_BYTES_PER_SECOND 1.0
#define RATE_MAXIMUM_BYTES_PER_SECOND 1e15

/* On failure *ret is not touched. */
int rate_parse(const char *text, double *ret_bytes_per_second, struct error_info *err);

#endif
