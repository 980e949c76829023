/* SPDX-License-Identifier: MIT */
/*
 * nccl_values: what the attributes of NCCL's topology XML mean. Pure. NULL texts are unknown
 * values. Internal to nccl_topology.
 */
#ifndef TOPOLOGY_NCCL_VALUES_H
#define TOPOLOGY_NCCL_VALUES_H

#include "base/error.h"
#include "base/text_buffer.h"
#include <stdbool.h>

#define BUS_ID_BYTES 24u

/* "00000000:0F:00.0" to "0000:0f:00.0"; false: no bus id ("ffffffff:ffff:ff"). */
bool nccl_read_bus_id(const char *text, char ret[BUS_ID_BYTES]);
/* "0x030200": 0x030200; 0: unknown. Vendors and devices likewise. */
unsigned nccl_read_hexadecimal(const char *text);
/* "ffff0000,000000ff", the highest CPUs first, to "0-7,48-63". 0: done, also where the mask is
 * empty or no mask; -1: out of memory. */
int nccl_read_affinity(const char *text, struct text_buffer *ret, struct error_info *err);
/* "32.0 GT/s PCIe" and "16" lanes, in bytes per second, one direction; 0: unknown. */
double nccl_read_pcie(const char *speed, const char *width);

enum nccl_net_speed { NCCL_SPEED_KNOWN, NCCL_SPEED_DEFAULT, NCCL_SPEED_ODD };
/* Mb/s. NCCL_SPEED_DEFAULT: what NCCL writes where it does not know; _ODD: cannot be Mb/s. */
enum nccl_net_speed nccl_read_net_speed(const char *text, double *ret_bytes_per_second);

#endif
