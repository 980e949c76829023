/* SPDX-License-Identifier: MIT */
/*
 * mapping_document: reads places from the JSON that `parplan map` writes (parplan.map/1). Part of
 * mapping_file.
 */
#ifndef MAPPING_MAPPING_DOCUMENT_H
#define MAPPING_MAPPING_DOCUMENT_H

#include "base/error.h"
#include "mapping/evaluation/rank_places.h"
#include "topology/cluster_topology.h"

/* Of the document `schema` and ranks[] count: rank, node, and gpu where it is not null. */
struct rank_places *mapping_document_parse(const char *text, size_t bytes, const char *source,
                                           const struct cluster_topology *cluster, uint64_t world,
                                           struct error_info *err);

#endif
