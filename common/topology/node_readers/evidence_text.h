/* SPDX-License-Identifier: MIT */
/*
 * evidence_text: node_evidence as lines of text, between a reader's child process and us.
 *     parplan.evidence/1
 *     node hwloc known 1 18 0 0 1099511627776 0 224 hwloc%20xml%20n1.xml
 *     gpu 0000:06:00.0 NVIDIA%20H200 GPU-… 150109978624 1
 *     nic mlx5_4 0000:93:00.0 openfabrics active 0 0 b8e9240300baa4c0 6 0
 *     nvlink 0 1 150000000000
 *     gpulink 0 1 node
 *     niclink 0 0 pix
 *     note 0000:53:00.0%20is%20no%20GPU
 *     end
 * Words are separated by one space; bytes outside '!'..'~', '%' and a lone '-' are %XX; '-' is
 * NULL. nvlink lines stand only where NVLink is known and not 0. Rates are whole bytes per
 * second. Decoding treats the text as hostile: every count, number and index is checked, and
 * nothing but this form is accepted.
 */
#ifndef TOPOLOGY_EVIDENCE_TEXT_H
#define TOPOLOGY_EVIDENCE_TEXT_H

#include "base/text_buffer.h"
#include "topology/node_evidence.h"

#define EVIDENCE_TEXT_MAXIMUM_BYTES ((size_t)4 << 20)
#define EVIDENCE_TEXT_MAXIMUM_NOTES 256u

/* Sticky failure in out. */
void evidence_text_encode(const struct node_evidence *evidence, struct text_buffer *out);
struct node_evidence *evidence_text_decode(const char *text, size_t bytes, const char *source,
                                           struct error_info *err);

#endif
