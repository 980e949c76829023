/* SPDX-License-Identifier: MIT */
/*
 * label_fabric: a fabric from nodes' labels (Kubernetes). Which labels speak of NVLink domains
 * and which of tiers of switches is a list that sites can replace.
 *
 * Domains: the first key, in order of trust, that any node has counts; nodes without it are in
 * no domain. Those that have a later key are part of the fabric all the same (their NVLink fabric
 * may not be complete), and a warning counts them. A domain is a candidate: whether NVLink leaves
 * the node is for the kind of the nodes to say. With a sub key the domain is "domain/sub-domain",
 * the smaller of the two, within which NVLink is sure. Tiers: the set whose nearest key the most
 * nodes have (if none has one, the set of which the most nodes have any key); the first of equals.
 * Then as node_paths.h says.
 *
 * Sources of the default keys: the documentation of NVIDIA's device plugin and topograph, AWS,
 * Google Cloud, OCI and Nebius, and Slinky. Left out on purpose: topology.k8s.aws/
 * capacity-block-id (a reservation, which may be wider than an UltraServer) and
 * cloud.google.com/gce-topology-host (one node each).
 *
 *     domains:                          # as YAML, either list may be left out: the default
 *     - nvidia.com/gpu.clique
 *     - {key: accelerator.topograph.run/domain, sub_key: accelerator.topograph.run/sub-domain}
 *     tiers:                            # sets, near to far
 *     - [fabric.topograph.run/tier-0, fabric.topograph.run/tier-1]
 *     - [topology.kubernetes.io/rack, topology.kubernetes.io/zone]
 */
#ifndef TOPOLOGY_LABEL_FABRIC_H
#define TOPOLOGY_LABEL_FABRIC_H

#include "base/yaml_document.h"
#include "topology/fabric.h"

#define LABEL_KEYS_SCHEMA "parplan.labels/1"
#define LABEL_KEYS_MAXIMUM_BYTES ((size_t)1 << 20)
#define LABEL_MAXIMUM_DOMAIN_KEYS 32u
#define LABEL_MAXIMUM_TIER_SETS 16u
#define LABEL_MAXIMUM_NODES 131072u
#define LABEL_MAXIMUM_PER_NODE 4096u

struct fabric_label_domain {
    const char *key;
    const char *sub_key; /* or NULL */
};

struct fabric_label_tiers {
    const char *keys[FABRIC_MAXIMUM_TIERS]; /* near to far */
    unsigned count;
};

struct fabric_label_keys {
    const struct fabric_label_domain *domains; /* in order of trust */
    size_t domain_count;
    const struct fabric_label_tiers *tier_sets;
    size_t tier_set_count;
    struct arena *arena; /* NULL: compiled in */
};

const struct fabric_label_keys *fabric_label_keys_default(void);
struct fabric_label_keys *fabric_label_keys_load(const struct yaml_node *mapping,
                                                 struct error_info *err);
/* A file of schema parplan.labels/1 whose root is such a mapping. */
struct fabric_label_keys *fabric_label_keys_parse(const char *text, size_t bytes,
                                                  const char *source, struct error_info *err);
void fabric_label_keys_free(struct fabric_label_keys *keys);

struct fabric_label {
    const char *key, *value;
};

struct fabric_label_node {
    const char *name;
    const struct fabric_label *labels; /* in any order; others than the known ones are skipped */
    size_t label_count;
};

/* Pure. source is for messages ("kubernetes"). Nodes without any of the labels are not part of
 * the fabric; where no node has any, that is an error. */
struct fabric *fabric_from_labels(const char *source, const struct fabric_label_node *nodes,
                                  size_t node_count, const struct fabric_label_keys *keys,
                                  struct error_info *err);

DEFINE_CLEANUP(fabric_label_keys);

#endif
