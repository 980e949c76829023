/* SPDX-License-Identifier: MIT */
/*
 * cache_file: `parplan topology --write-cache FILE`: this node for slurmstepd
 * (topology/node_cache.h).
 */
#ifndef CLI_CACHE_FILE_H
#define CLI_CACHE_FILE_H

#include "topology/node_topology.h"

/* Makes the folder of NODE_CACHE_PATH where that is missing. slurmstepd trusts the file only where
 * it and its folder are root's. */
int cache_file_write(const struct node_topology *node, const char *path, struct error_info *err);

#endif
