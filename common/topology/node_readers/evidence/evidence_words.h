/* SPDX-License-Identifier: MIT */
/*
 * evidence_words: the words and limits that both directions of evidence_text share. Internal to
 * them.
 */
#ifndef TOPOLOGY_EVIDENCE_WORDS_H
#define TOPOLOGY_EVIDENCE_WORDS_H

#include "topology/node_evidence.h"

#define EVIDENCE_FIRST_LINE "parplan.evidence/2"
#define EVIDENCE_MAXIMUM_RATE UINT64_C(1000000000000000)
#define EVIDENCE_MAXIMUM_LINKS 999u                         /* of a pair */
#define EVIDENCE_MAXIMUM_LINK_RATE UINT64_C(10000000000000) /* so a pair's rate is a rate too */
#define EVIDENCE_UNKNOWN_WORD "unknown"

/* What the nvlink lines carry. */
enum evidence_pairs {
    EVIDENCE_PAIRS_NONE,
    EVIDENCE_PAIRS_RATES,
    EVIDENCE_PAIRS_COUNTS,
    EVIDENCE_PAIRS_ASSUMED, /* rates, nvlink_assumed */
    EVIDENCE_PAIRS_COUNT
};

extern const char *const evidence_source_words[EVIDENCE_SOURCE_COUNT];
extern const char *const evidence_pair_words[EVIDENCE_PAIRS_COUNT];

#endif
