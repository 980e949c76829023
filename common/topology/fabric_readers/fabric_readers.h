/* SPDX-License-Identifier: MIT */
/*
 * fabric_readers: fabrics from what a site's tools write, one function for each format. All are
 * pure: text in, a new fabric or NULL and one line of why not ("file:line: …") out; source is
 * what messages call the text. What a reader leaves out or doubts stands in fabric's warnings.
 * (fabric_parse_slurm, which the plugin needs too, is in fabric.h.)
 */
#ifndef TOPOLOGY_FABRIC_READERS_H
#define TOPOLOGY_FABRIC_READERS_H

#include "topology/fabric.h"

#define FABRIC_IBNETDISCOVER_MAXIMUM_BYTES ((size_t)256 << 20)

/* The output of `ibnetdiscover` (infiniband-diags), also with -f or -g: the whole network with
 * both ends of each link. Left out: aggregation nodes, adapters that name no host, and hosts'
 * names that several machines bear (two adapters of one label). A leaf is a switch with hosts;
 * switches above that share one below are one group, "spine-1+3" for spine-1 and 3 more; line
 * cards and spines of a chassis are tiers like others. Where most hosts sit on several leaves,
 * leaves have rails, by the adapters' labels ("mlx5_5" is "HCA-6") of most of their hosts. Rates
 * are sums of the links' in one direction. Parts of the text without a link between them have no
 * common root. Warnings: adapters cabled unlike their neighbours', links slower than most of
 * their tiers, switches without a section. */
struct fabric *fabric_parse_ibnetdiscover(const char *text, size_t bytes, const char *source,
                                          struct error_info *err);

/* A switch listing by adapters, as SHARP's aggregation manager and Azure's tools write it
 * ("SwitchName=ibsw1 Nodes=0x155dfffd33ff7d,…", "SwitchName=ibsw14 Switches=ibsw3,ibsw47", where
 * lines name switches above as well as below), with a map from hosts to their adapters
 * ("host: 0x155dfffd33ff33", one adapter a line). Tiers as above; an adapter's rail is its place
 * among its host's by GUID, which the leaf's majority decides. Rates are unknown. */
struct fabric *fabric_parse_sharp(const char *topology, size_t bytes, const char *source,
                                  const char *guids, size_t guid_bytes, const char *guid_source,
                                  struct error_info *err);

/* NVLink domains by nodes: "host: ClusterUUID", or "host: ClusterUUID CliqueID" (also joined by
 * '.', as in nvidia.com/gpu.clique), one or more lines a host. Domains in order of appearance,
 * their id is "ClusterUUID" or "ClusterUUID.CliqueID". Hosts with an empty, "N/A" or all-zero
 * UUID are in no domain (a warning). There are no switches. */
struct fabric *fabric_parse_cluster_uuids(const char *text, size_t bytes, const char *source,
                                          struct error_info *err);

/* Slurm's topology.yaml (25.05 and later): "- topology: NAME", cluster_default:, and tree:
 * {switches: [{switch, children, nodes}]}, block: {block_sizes: [18, 36], blocks: [{block,
 * nodes}]} or flat: true. The cluster's default tree, else the first, gives the switches; blocks
 * (the default's, else the first ones) its domains; without a tree they are switches as in
 * topology.conf (fabric.h). Others are left out (a warning). Only flat ones, and a default of
 * another kind (ring:, torus3d:), are refused. */
struct fabric *fabric_parse_slurm_yaml(const char *text, size_t bytes, const char *source,
                                       struct error_info *err);

/* topograph's model of a cluster, YAML: switches: {spine: {switches: [leaf]}}, blocks: [{switch:
 * leaf, nodes: ["n[1-8]"], annotations: {…/domain: nvl1, …/sub-domain: rack1}}]. A leaf needs no
 * entry. A sub-domain is the NVLink domain where there are both: "nvl1/rack1". */
struct fabric *fabric_parse_topograph_model(const char *text, size_t bytes, const char *source,
                                            struct error_info *err);

/* topograph's graph, JSON: {"instances": [{"id": "n1", "network_layers": ["leaf1", "spine1"]}]},
 * near to far; the NVLink domain is nvlink_domain, accelerator, or a label …/domain,
 * …/sub-domain as above. Switches as labels/label_fabric.h says. */
struct fabric *fabric_parse_topograph_graph(const char *text, size_t bytes, const char *source,
                                            struct error_info *err);

/* Kubernetes' nodes, as `kubectl get nodes -o json` prints them: labels as labels/label_fabric.h
 * says (keys: NULL for the default ones), and Slinky's annotation topology.slinky.slurm.net/spec
 * as labels topology.slinky.slurm.net/switch and /block. Nodes that are not ready stay; where
 * any node has GPUs, those without are left out. */
struct fabric_label_keys;
struct fabric *fabric_parse_kubernetes(const char *text, size_t bytes, const char *source,
                                       const struct fabric_label_keys *keys,
                                       struct error_info *err);

#endif
