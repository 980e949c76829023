/* SPDX-License-Identifier: MIT */
/*
 * ib_rate: what an InfiniBand port runs at, as tools write it: "4xHDR" is 4 lanes at HDR.
 * A rate is a small number, so that rates can be counted. 10^9 bytes per second, one direction,
 * without the line code's few percent; per lane in Gbit/s: SDR 2.5, DDR 5, QDR 10, FDR10 10,
 * FDR 14.0625, EDR 25, HDR 50, NDR 100, XDR 200 (the IBTA's roadmap).
 */
#ifndef TOPOLOGY_IB_RATE_H
#define TOPOLOGY_IB_RATE_H

#define IB_RATE_UNKNOWN 0u
#define IB_RATE_COUNT 64u

/* IB_RATE_UNKNOWN for what is none. Without case. */
unsigned ib_rate_parse(const char *word);
double ib_rate_bytes_per_second(unsigned rate); /* 0: unknown */
unsigned ib_rate_lanes(unsigned rate);
const char *ib_rate_speed(unsigned rate); /* "HDR" */

#endif
