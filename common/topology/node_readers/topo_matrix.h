/* SPDX-License-Identifier: MIT */
/*
 * topo_matrix: a node from the text of `nvidia-smi topo -m`. Pure; EVIDENCE_TOPO_M.
 *
 * What it gives: GPUs by position (the text has no bus ids) with CPUs and NUMA node; numbers of
 * NVLinks between GPUs (NV12) or, where there are none, the PCIe class; classes from GPUs to
 * NICs; the NICs' names (from the header or the "NIC Legend:"; NULL where the text has neither).
 * Rates, bus ids, models and port states it does not know.
 *
 * What it takes: tabs or blanks between cells, colour codes, text before and behind the table,
 * a table without its header or without some rows, rows that are cut off. A row is aligned by
 * its X: the cells before it count as far as there are as many as columns before it, those
 * behind it likewise. What cannot be aligned stays unknown (the transposed cell may know), with a
 * note that names line and GPU. Of two cells that contradict each other the one with fewer
 * links, or the farther class, counts.
 *
 * Conclusions that need the whole table:
 *   nvlink       known with the first NV cell; none where every pair has a cell and none is NV
 *                (with a single GPU: unknown)
 *   switched     a GPU with more links over its row than any GPU has (NVLINK_MAXIMUM_LINKS)
 *   leaves_node  switched, and "GPU NUMA ID" has numbers: Grace, whose switches are elsewhere
 *   numa         "3"; of a list ("0,3-9,11-17") its first, where "GPU NUMA ID" has a number: the
 *                others are memory of GPUs. "0-1" names two nodes: unknown
 *   problem      of a GPU that surely has no NVLink to any other, while others have
 *
 * Only the first table of a text is read. NULL with err: no table, NUL bytes, too large.
 * Source of the forms: public copies of such tables (H100, A100, GB200, V100, A6000, L40S).
 */
#ifndef TOPOLOGY_TOPO_MATRIX_H
#define TOPOLOGY_TOPO_MATRIX_H

#include "topology/node_evidence.h"

#define TOPO_MATRIX_MAXIMUM_BYTES ((size_t)1 << 20)

struct node_evidence *topo_matrix_parse(const char *text, size_t bytes, const char *source,
                                        struct error_info *err);

#endif
