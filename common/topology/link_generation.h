/* SPDX-License-Identifier: MIT */
/*
 * link_generation: what one NVLink or XGMI link carries, by the signs that sources give: NVML's
 * version code, CUDA's compute capability, AMD's gfx name. 10^9 bytes per second, one direction,
 * the specified payload rate (not the signalling rate that `nvidia-smi nvlink -s` prints).
 * Sources: the NVML codes 1 to 7 as hwloc 2.12 lists them; rates of the NVLink generations as in
 * stas00/ml-engineering network/README.md; XGMI from AMD's MI250X, MI300X and MI350X datasheets.
 */
#ifndef TOPOLOGY_LINK_GENERATION_H
#define TOPOLOGY_LINK_GENERATION_H

/* No GPU has more NVLinks (Hopper, Blackwell). */
#define NVLINK_MAXIMUM_LINKS 18u

/* 0: not known. */
double nvlink_rate_of_version(unsigned nvml_version);
/* compute: major * 10 + minor, as 90. Boards without NVLink are not told apart. */
double nvlink_rate_of_compute(unsigned compute);
/* name: "gfx942" or "942", without case. */
double xgmi_rate_of_gfx(const char *name);

#endif
