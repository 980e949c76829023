/* SPDX-License-Identifier: MIT */
/*
 * interconnect_text: the network between nodes, as publications write it.
 *
 * A text is several parts joined by "+" ("NVLink3 + 4x Omni-Path 100G"); NVLink's and NVSwitch's
 * say nothing of the network. Understood: "8x HDR IB 200G", "4x100Gb RoCE" (a count of NICs of a
 * node), "800 Gb/s per node", "3200 Gbps/node", "400G/GPU", "IB 800G" (a GPU), and InfiniBand's
 * generations alone ("8x HDR IB"): EDR 100, HDR 200, NDR 400, XDR 800 Gb/s.
 */
#ifndef VALIDATION_INTERCONNECT_TEXT_H
#define VALIDATION_INTERCONNECT_TEXT_H

#include <stdbool.h>

/* Gb/s of one GPU, one direction; 0: the text does not say. */
double interconnect_gbit_per_gpu(const char *text, unsigned gpus_per_node);

/* A NIC's name that stands for the kind of network in the text ("hfi1_0" of Omni-Path, "efa_0"),
 * and whether its link layer is Ethernet. */
const char *interconnect_nic_name(const char *text, bool *ret_is_ethernet);

#endif
