/* SPDX-License-Identifier: MIT */
/*
 * fabric_redraft: a fabric as the draft of itself: to write it down, or to build another one
 * with more in it. Switches keep their order, tiers, rails and rates; each switch lists the
 * nodes that it is nearest to. Warnings stay behind.
 */
#ifndef TOPOLOGY_FABRIC_REDRAFT_H
#define TOPOLOGY_FABRIC_REDRAFT_H

#include "topology/fabric_readers/fabric_draft.h"

/* NVLink domains are added where `domains` is true. The fabric must outlive the draft. */
struct fabric_draft *fabric_redraft(const struct fabric *fabric, bool domains,
                                    struct error_info *err);

#endif
