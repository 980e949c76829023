/* SPDX-License-Identifier: MIT */
/*
 * link_fit: what a kind of link reaches, from tables of nccl-tests.
 *
 * Each row is predicted by communication_model.h on the cluster that it ran on, as a plan's
 * groups are. Of one kind of link are the rows whose group reaches no farther: first groups
 * inside an NVLink domain (or over PCIe), then those between nodes, with the inner figures found
 * before. In turn the share is the one with the smallest mean |ln(predicted / measured)| over
 * messages of LINK_FIT_LARGE_BYTES and more, which must be there, and the latency of a hop over
 * those up to LINK_FIT_SMALL_BYTES, without which it stays as it is. Messages in between, where the
 * model's choice of a protocol matters most, count in the residual alone.
 *
 * Over several nodes the model adds the time inside a node to that between nodes, which NCCL
 * overlaps: a network's share above 1 stands for that. Where no share within calibration.h's limits
 * is enough, the network's must come from tables that hardly use the inner links (sendrecv,
 * alltoall).
 */
#ifndef VALIDATION_CALIBRATION_LINK_FIT_H
#define VALIDATION_CALIBRATION_LINK_FIT_H

#include "topology/cluster_topology.h"
#include "validation/calibration/calibration.h"
#include "validation/calibration/nccl_table.h"

#define LINK_FIT_LARGE_BYTES 16777216.0
#define LINK_FIT_SMALL_BYTES 65536.0
#define LINK_FIT_MAXIMUM_RESIDUAL 0.5 /* more: one figure does not describe the tables */
#define LINK_FIT_MAXIMUM_TABLES 32u
#define LINK_FIT_MAXIMUM_LAYOUTS 32u /* different numbers of ranks and nodes */

struct link_fit_request {
    const struct cluster_topology *cluster; /* where all of them ran */
    const struct gpu_catalogue *gpus;
    const struct efficiency_catalogue *efficiencies;
    const struct nccl_table *const *tables;
    size_t table_count;
};

/* *ret_links: of ret's arena, at most CALIBRATED_LINK_COUNT. A table that does not list its ranks
 * counts as one of the whole cluster. Refuses: more ranks or nodes than the cluster has, a GPU
 * of another kind, unknown rates, messages that are all small, a figure that ends at a limit of
 * calibration.h, a residual above LINK_FIT_MAXIMUM_RESIDUAL: these name the largest message. */
int link_fit(const struct link_fit_request *request, struct arena *arena,
             const struct link_figures **ret_links, size_t *ret_count, struct error_info *err);

#endif
