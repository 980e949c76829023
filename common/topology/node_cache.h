/* SPDX-License-Identifier: MIT */
/*
 * node_cache: a node's topology in a file that root wrote at boot or in a prolog, for those who
 * may not discover anything themselves: every slurmstepd, in less than a millisecond. It counts
 * only on the boot and with the driver it was written for; else the node is unknown.
 *     parplan.node-cache/1
 *     boot 0f0e…
 *     driver 580.65.06
 *     parplan.evidence/…            (node_readers/evidence_text.h)
 */
#ifndef TOPOLOGY_NODE_CACHE_H
#define TOPOLOGY_NODE_CACHE_H

#include "base/text_buffer.h"
#include "topology/node_topology.h"

#define NODE_CACHE_PATH "/run/parplan/node.cache"
#define NODE_CACHE_MAXIMUM_BYTES ((size_t)4 << 20)
#define NODE_CACHE_KEY_BYTES 64u

/* What must be the same now. Empty: not known (no GPU driver). */
struct node_cache_key {
    char boot[NODE_CACHE_KEY_BYTES];
    char driver[NODE_CACHE_KEY_BYTES];
};

enum node_cache_state {
    NODE_CACHE_USED,    /* *ret_node is set */
    NODE_CACHE_MISSING, /* no file */
    NODE_CACHE_STALE,   /* of another boot or driver */
    NODE_CACHE_BAD      /* unsafe, unreadable or garbled */
};

/* Of this machine, from /proc and /sys. */
void node_cache_key_read(struct node_cache_key *ret);

/* Sticky failure in out. */
int node_cache_encode(const struct node_topology *node, const struct node_cache_key *key,
                      struct text_buffer *out, struct error_info *err);
/* source: for messages. err says why in every case but NODE_CACHE_USED. */
enum node_cache_state node_cache_decode(const char *text, size_t bytes, const char *source,
                                        const struct node_cache_key *key,
                                        struct node_topology **ret_node, struct error_info *err);
/* The file, trusted only as admins' files are (text_file_read_trusted). */
enum node_cache_state node_cache_load(const char *path, unsigned owner_uid,
                                      const struct node_cache_key *key,
                                      struct node_topology **ret_node, struct error_info *err);

#endif
