/* SPDX-License-Identifier: MIT */
/*
 * infiniband_reader: the node's fabric NICs as the kernel lists them: RDMA devices
 * (/sys/class/infiniband: InfiniBand, RoCE, EFA) and Slingshot interfaces (/sys/class/net/hsi*,
 * hsn*) that are no RDMA devices too. What hwloc does not tell: link layer, rate, port state.
 *
 * One NIC for each device, by its best port (active first, then fastest); the others are notes.
 * driver_class: "openfabrics"; "nvswitch" where the VPD says SW_MNG (the NVSwitch management
 * functions of an HGX B200 look like four more HCAs; reading the VPD needs root); "hsi".
 * Rates are payload (sysfs_text.h), and only told of active ports: a port that is down shows a
 * rate of no meaning. is_virtual: SR-IOV functions and devices of software (rxe, siw).
 * problem: a port that is down or waits for its subnet manager; PCIe lanes lost; a port slower
 * than most others of the same board and link layer here. Where only some are slower (storage
 * NICs of the same board), that is not called a problem.
 * Distances to GPUs are not known here, but for the NUMA node.
 */
#ifndef TOPOLOGY_INFINIBAND_READER_H
#define TOPOLOGY_INFINIBAND_READER_H

#include "topology/node_evidence.h"

#define INFINIBAND_MAXIMUM_PORTS 16u /* of one device; more are not looked at */

/* root: "" or "/" is the live machine; else a copy of it or of its /sys. 0 and *ret NULL: no
 * such device there. Where there are more than NODE_MAXIMUM_NICS, virtual functions are left
 * out first, with a note. */
int infiniband_read(const char *root, struct node_evidence **ret, struct error_info *err);

#endif
