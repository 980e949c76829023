/* SPDX-License-Identifier: MIT */
#include "topology/link.h"

const char *link_kind_name(enum link_kind kind)
{
    static const char *const names[LINK_KIND_COUNT] = {
        [LINK_UNKNOWN] = "unknown", [LINK_NVLINK] = "nvlink", [LINK_XGMI] = "xgmi",
        [LINK_PIX] = "pix",         [LINK_PXB] = "pxb",       [LINK_PHB] = "phb",
        [LINK_NODE] = "node",       [LINK_SYS] = "sys",
    };
    return kind < LINK_KIND_COUNT ? names[kind] : "unknown";
}

const char *nvlink_state_name(enum nvlink_state state)
{
    static const char *const names[NVLINK_STATE_COUNT] = {
        [NVLINK_UNKNOWN] = "unknown",
        [NVLINK_NONE] = "none",
        [NVLINK_KNOWN] = "known",
    };
    return state < NVLINK_STATE_COUNT ? names[state] : "unknown";
}

unsigned link_distance(enum link_kind kind)
{
    return kind == LINK_UNKNOWN ? (unsigned)LINK_KIND_COUNT : (unsigned)kind;
}
