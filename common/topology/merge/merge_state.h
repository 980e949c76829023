/* SPDX-License-Identifier: MIT */
/*
 * merge_state: what the parts of node_topology_merge share, which node_merge.c calls:
 * gpu_merge.c with gpu_identity.c and comparison.c, nvlink_merge.c with link_rates.c and
 * nvlink_domains.c, nic_merge.c and health.c. Internal to the merge.
 */
#ifndef TOPOLOGY_MERGE_STATE_H
#define TOPOLOGY_MERGE_STATE_H

#include "base/texts/packed_text.h"
#include "topology/merge/remarks.h"
#include "topology/node_evidence.h"

#define MERGE_MAXIMUM_SOURCES 16u
#define MERGE_MAXIMUM_FACTS 1024u
#define MERGE_MAXIMUM_WARNINGS 64u
#define MERGE_NO_GPU (~0u)
#define MERGE_CATALOGUE_SOURCE "gpu catalogue"

struct merge_state;

/* Where a source contradicts a higher one: the first pair, and how many. */
struct link_contradiction {
    unsigned first, second, count;
    bool denies; /* no link, against the higher source's link */
    const struct node_evidence *winner;
};

/* What several sources say of the same things (a GPU's model, memory, UUID, NUMA node, links: one
 * warning for each kind and lower source), and what only some list: comparison.c. Kept apart, so
 * that a program that merges one source at a time does not link it. */
struct merge_comparison {
    void (*gpus)(struct merge_state *state);
    void (*links)(struct merge_state *state, const struct link_contradiction *found,
                  const char *loser);
    /* decided_by: who decided each pair; NULL: nobody. */
    void (*open_links)(struct merge_state *state, const struct node_evidence *const *decided_by);
};

extern const struct merge_comparison merge_comparison;

/* The arrays come last: what is near the start is reached by shorter code. */
struct merge_state {
    struct node_topology *node;
    struct arena *arena;
    const struct gpu_catalogue *catalogue;
    const char *gpu_source; /* who says which GPUs there are */
    struct node_gpu *gpus;
    struct node_nic *nics;
    struct topology_fact *facts;
    const char **warnings;
    const struct merge_comparison *comparison; /* NULL: one source contradicts nothing */
    bool failed;                               /* out of memory, found at the end */
    size_t count;
    const struct node_evidence *evidence[MERGE_MAXIMUM_SOURCES]; /* highest rank first */
    bool gpus_known[MERGE_MAXIMUM_SOURCES]; /* some of the source's GPUs are the node's */
    bool hidden[NODE_MAXIMUM_GPUS];         /* PCI shows it, the driver does not */
    const struct gpu_model *models[NODE_MAXIMUM_GPUS];         /* NULL: not in the catalogue */
    unsigned gpu_of[MERGE_MAXIMUM_SOURCES][NODE_MAXIMUM_GPUS]; /* source's GPU -> node's GPU */
};

/* For node_topology_of(): nobody contradicts the one source, or completes it. */
static inline bool merge_is_of_one(const struct merge_state *state)
{
    return !REMARKS_KEPT || !state->comparison;
}

/* How many sources there are. */
static inline size_t merge_count(const struct merge_state *state)
{
    return merge_is_of_one(state) ? 1 : state->count;
}

/* A fact with a formatted value; sticky failure. Facts past the maximum are dropped. */
void merge_add_fact(struct merge_state *state, const char *fact, const char *source,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));
/* What people must know: degraded devices, conflicts. Past the maximum they are dropped. */
void merge_warn(struct merge_state *state, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Two sources contradict each other: the winner's value stands, and both are told. */
void merge_conflict(struct merge_state *state, const char *what, const char *winner,
                    const char *stands, const char *loser, const char *falls);
const char *merge_copy_text(struct merge_state *state, const char *text); /* NULL passes */
const char *merge_format(struct merge_state *state, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "GPU 3" has a problem, unless a higher source has named one. */
void merge_gpu_problem(struct merge_state *state, unsigned gpu, const char *text);
/* The merge's own finding, beside what sources say against the GPU. */
void merge_gpu_finding(struct merge_state *state, unsigned gpu, const char *text);

/* The parts, in this order. Each fills its fields of state->node. */
int merge_gpus(struct merge_state *state, struct error_info *err);
int merge_nvlink(struct merge_state *state, struct error_info *err);
int merge_nics(struct merge_state *state, struct error_info *err);
void merge_health(struct merge_state *state);

/* False: the source describes GPUs, and none of them is the node's: it does not count. */
bool merge_counts(const struct merge_state *state, size_t e);

/* gpu_identity.c: fills node->gpu_count, bus ids, gpu_of, gpus_known and gpu_source. GPUs of two
 * sources are one by bus id, else by UUID, else by position where the counts agree. */
int merge_gpu_identity(struct merge_state *state, struct error_info *err);

/* nvlink_reach.c: how far NVLink goes beyond this node: its clique, and how many nodes share it. */
void nvlink_reach_conclude(struct merge_state *state);

/* nvlink_domains.c: connected groups over node->nvlink_bytes_per_second. */
int nvlink_domains_find(struct merge_state *state, const char *source, struct error_info *err);

#ifdef TEXTS_PACKED /* base/texts/packed_text.h */
#define merge_add_fact(state, fact, source, format, ...)                                           \
    (merge_add_fact)(state, fact, source, PACKED_TEXT(format), ##__VA_ARGS__)
#define merge_warn(state, format, ...) (merge_warn)(state, PACKED_TEXT(format), ##__VA_ARGS__)
#define merge_format(state, format, ...) (merge_format)(state, PACKED_TEXT(format), ##__VA_ARGS__)
#endif

#endif
