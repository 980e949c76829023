/* SPDX-License-Identifier: MIT */
/*
 * evidence_draft: what a node reader has gathered so far, with room for the largest node.
 * Texts are copied, with '?' for what could break a line or a terminal. evidence_draft_finish
 * packs it into node_evidence.
 * Out of memory anywhere shows in the finish.
 */
#ifndef TOPOLOGY_EVIDENCE_DRAFT_H
#define TOPOLOGY_EVIDENCE_DRAFT_H

#include "base/texts/packed_text.h"
#include "topology/node_evidence.h"

#define EVIDENCE_DRAFT_NOTES 256u

/* The arrays come last: what is near the start is reached by shorter code. */
struct evidence_draft {
    struct arena *arena;
    bool failed;
    bool has_rates, has_link_counts, has_gpu_links, has_nic_links;
    struct node_evidence evidence; /* its plain fields (nvlink, host_memory_bytes, …) are the
                                    * reader's to set; arrays, counts and texts are the draft's */
    struct evidence_gpu gpus[NODE_MAXIMUM_GPUS];
    struct evidence_nic nics[NODE_MAXIMUM_NICS];
    /* Rows of NODE_MAXIMUM_GPUS. Both directions are the reader's to set; the finish keeps what
     * it finds. Rates and counts exclude each other. */
    double rates[NODE_MAXIMUM_GPUS][NODE_MAXIMUM_GPUS];
    unsigned link_counts[NODE_MAXIMUM_GPUS][NODE_MAXIMUM_GPUS];
    enum link_kind gpu_links[NODE_MAXIMUM_GPUS][NODE_MAXIMUM_GPUS];
    enum link_kind nic_links[NODE_MAXIMUM_GPUS][NODE_MAXIMUM_NICS];
    const char *notes[EVIDENCE_DRAFT_NOTES];
};

/* source_text: "nvml", "topo -m n1.txt". On the heap: the draft is about 100 KiB. */
struct evidence_draft *evidence_draft_create(enum evidence_source source, const char *source_text,
                                             struct error_info *err);
void evidence_draft_free(struct evidence_draft *draft);

/* The new, empty GPU or NIC (numa NUMA_UNKNOWN, rail -1), to be filled with texts of
 * evidence_draft_copy; NULL with err: there are NODE_MAXIMUM_* already. */
struct evidence_gpu *evidence_draft_add_gpu(struct evidence_draft *draft, struct error_info *err);
struct evidence_nic *evidence_draft_add_nic(struct evidence_draft *draft, struct error_info *err);
const char *evidence_draft_copy(struct evidence_draft *draft, const char *text); /* NULL passes */
const char *evidence_draft_format(struct evidence_draft *draft, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Past EVIDENCE_DRAFT_NOTES they are dropped. */
void evidence_draft_note(struct evidence_draft *draft, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A note that is a warning (EVIDENCE_WARNING). */
void evidence_draft_warn(struct evidence_draft *draft, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Both directions, and the flag that says there are any. */
void evidence_draft_set_rate(struct evidence_draft *draft, unsigned first, unsigned second,
                             double bytes_per_second);
void evidence_draft_set_link_count(struct evidence_draft *draft, unsigned first, unsigned second,
                                   unsigned count);
void evidence_draft_set_gpu_link(struct evidence_draft *draft, unsigned first, unsigned second,
                                 enum link_kind link);
void evidence_draft_set_nic_link(struct evidence_draft *draft, unsigned gpu, unsigned nic,
                                 enum link_kind link);

/* The draft is empty afterwards, and still to be freed. */
struct node_evidence *evidence_draft_finish(struct evidence_draft *draft, struct error_info *err);

#ifdef TEXTS_PACKED /* base/texts/packed_text.h */
#define evidence_draft_format(draft, format, ...)                                                  \
    (evidence_draft_format)(draft, PACKED_TEXT(format), ##__VA_ARGS__)
#define evidence_draft_note(draft, format, ...)                                                    \
    (evidence_draft_note)(draft, PACKED_TEXT(format), ##__VA_ARGS__)
#define evidence_draft_warn(draft, format, ...)                                                    \
    (evidence_draft_warn)(draft, PACKED_TEXT(format), ##__VA_ARGS__)
#endif

DEFINE_CLEANUP(evidence_draft);

#endif
