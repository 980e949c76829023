/* SPDX-License-Identifier: MIT */
/*
 * evidence_text: node_evidence as lines of text, between a reader's child process and us, and
 * in the cache that steps read. Everything that node_evidence has is carried.
 *     parplan.evidence/2
 *     node nvml known 1 0 0 0 63000000000 0 0 0 550.54.15 counts 25000000000 nvml
 *     gpu 0000:06:00.0 NVIDIA%20H200 GPU-… 150109978624 1 0-47 - 0 0 PCIe%20x8%20of%20x16
 *     nic mlx5_4 0000:93:00.0 openfabrics active 0 0 0 b8e9240300baa4c0 6 0 - rail 0 alone
 *     nvlink 0 1 18
 *     gpulink 0 1 node
 *     niclink 0 0 pix
 *     note 0000:53:00.0%20is%20no%20GPU
 *     fact nvlink known nvml
 *     end
 * The words after
 *     node     source, NVLink's state, switched, leaves the node, domain's nodes, rates of a GPU's
 *              NVLink and PCIe, host memory and NVMe, CPUs, driver, what the nvlink lines
 *              carry (rates, counts, assumed rates, or none), the rate of one link, the source's
 * name gpu      bus id, model, UUID, memory, NUMA, CPUs, NVLink clique, MIG, NVLink lost, problem
 *     nic      name, bus id, class, state, Ethernet, virtual, shares its card, GUID, NUMA, rate,
 *              problem, role, rail, reason
 * Words are separated by one space; bytes outside '!'..'~', '%' and a lone '-' are %XX; '-' is
 * NULL, or no role. nvlink lines stand only where a pair is not 0; "unknown" is
 * NVLINK_RATE_UNKNOWN or NVLINK_COUNT_UNKNOWN. Pairs of GPUs stand once: of two directions that
 * differ the smaller counts. Rates are whole bytes per second. Decoding treats the text as
 * hostile: every count, number and index is checked, and nothing but this form is accepted.
 */
#ifndef TOPOLOGY_EVIDENCE_TEXT_H
#define TOPOLOGY_EVIDENCE_TEXT_H

#include "base/text_buffer.h"
#include "topology/node_evidence.h"

#define EVIDENCE_TEXT_MAXIMUM_BYTES ((size_t)4 << 20)
#define EVIDENCE_TEXT_MAXIMUM_NOTES 256u
#define EVIDENCE_TEXT_MAXIMUM_FACTS 1024u

/* Sticky failure in out. */
void evidence_text_encode(const struct node_evidence *evidence, struct text_buffer *out);
struct node_evidence *evidence_text_decode(const char *text, size_t bytes, const char *source,
                                           struct error_info *err);

#endif
