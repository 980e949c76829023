/* SPDX-License-Identifier: MIT */
/*
 * node_permutation: a permutation of 0 … count - 1 as short text, for the wire plan.
 *
 * Two forms, whichever is shorter (runs as long as they are short enough to read):
 *   runs     "0-7", "4-7,0-3", "0-62/2,1-63/2": items `first`, `first-last`, `first-last/step`;
 *            a transposed grid of nodes stays short however many nodes it has;
 *   packed   "~" and base64 (A-Z a-z 0-9 + /, no padding): each number in as many bits as
 *            count - 1 needs, high bits first, the last character filled with zero bits.
 * Both directions are total: decode refuses hostile text in one line.
 */
#ifndef MAPPING_NODE_PERMUTATION_H
#define MAPPING_NODE_PERMUTATION_H

#include "base/error.h"
#include "base/text_buffer.h"

/* Failure is the buffer's: text_buffer_failed(). */
void node_permutation_encode(const unsigned *numbers, unsigned count, struct text_buffer *out);

/* Exactly count numbers, each below count; repetitions are node_permutation_invert's to find. */
int node_permutation_decode(const char *text, unsigned count, unsigned *ret_numbers,
                            struct error_info *err);

/* ret_inverse[numbers[i]] = i. Refuses what is no permutation; ret_inverse is then undefined. */
int node_permutation_invert(const unsigned *numbers, unsigned count, unsigned *ret_inverse,
                            struct error_info *err);

#endif
