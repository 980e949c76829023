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
 * both ends of each link. Aggregation nodes and adapters that name no host are left out. A leaf
 * is a switch with hosts; switches above that share one below are one group, "spine-1+3" for
 * spine-1 and 3 more; line cards and spines of a chassis are tiers like others. Where most hosts
 * sit on several leaves, leaves have rails, by the adapters' labels ("mlx5_5" is "HCA-6") of
 * most of their hosts. Rates are sums of the links' in one direction. Parts of the text without
 * a link between them have no common root. Warnings: adapters cabled unlike their neighbours',
 * links slower than most of their tiers, switches without a section. */
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

#endif
