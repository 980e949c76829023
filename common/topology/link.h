/* SPDX-License-Identifier: MIT */
/*
 * link: words for how two devices of a node are connected.
 */
#ifndef TOPOLOGY_LINK_H
#define TOPOLOGY_LINK_H

/* Near to far. PIX..SYS as `nvidia-smi topo -m` names them: one PCIe switch, several
 * PCIe switches, one host bridge, one NUMA node, the sockets' interconnect. */
enum link_kind {
    LINK_UNKNOWN,
    LINK_NVLINK,
    LINK_XGMI,
    LINK_PIX,
    LINK_PXB,
    LINK_PHB,
    LINK_NODE,
    LINK_SYS,
    LINK_KIND_COUNT
};

/* What is known of NVLink/XGMI in a node. A source that sees PCIe only gives
 * NVLINK_UNKNOWN, never NVLINK_NONE. */
enum nvlink_state { NVLINK_UNKNOWN, NVLINK_NONE, NVLINK_KNOWN, NVLINK_STATE_COUNT };

const char *link_kind_name(enum link_kind kind);        /* "nvlink", "pix", … */
unsigned link_distance(enum link_kind kind);            /* near to far; unknown is farthest */
const char *nvlink_state_name(enum nvlink_state state); /* "known", "unknown", "none" */

#endif
