/* SPDX-License-Identifier: MIT */
/*
 * nvml_reader: this machine's NVIDIA GPUs through NVIDIA's management library, found at run time
 * (no headers of it, nothing linked). What it says about NVLink is the truth of the ladder: a
 * pair is joined where P2P through NVLink is OK; the other end of a link is told apart by its
 * bus id (a GPU that is visible, or a switch, also where virtual machines and NVLink 5 hide it).
 * GPU faults are in words: lost NVLinks, a fabric manager that has not finished, a narrow PCIe
 * link. NVLink's pairs come as counts of links, with the rate of one where the version is known.
 * Since a wedged driver hangs, everything runs in a forked child (reader_child.h).
 * For the CLI and daemons that discover; never in srun, slurmstepd or slurmctld.
 */
#ifndef TOPOLOGY_NVML_READER_H
#define TOPOLOGY_NVML_READER_H

#include "topology/node_evidence.h"
#include <stddef.h>

#define NVML_LIBRARY "libnvidia-ml.so.1"
/* Drivers without persistence mode wake each GPU first: seconds for each. */
#define NVML_SECONDS 60u

/* library: a path, or NULL for NVML_LIBRARY. 0 with *ret_evidence NULL: this machine has no NVML
 * (no library, no driver) or no GPU is visible: nothing is known then. -1: one line and what to
 * do (the driver and the library differ in version, no permission, a GPU is lost, a hang). */
int nvml_read(const char *library, struct node_evidence **ret_evidence, struct error_info *err);
/* The same with another time limit. */
int nvml_read_within(const char *library, unsigned seconds, struct node_evidence **ret_evidence,
                     struct error_info *err);

/* In this process: what the child runs (a reader_fn; bytes is not used). No GPUs in the evidence:
 * there is no NVML, or nothing is visible. */
struct node_evidence *nvml_read_here(const char *library, size_t bytes, const char *source,
                                     struct error_info *err);

#endif
