/* SPDX-License-Identifier: MIT */
/*
 * hwloc_import: an hwloc topology as evidence, in this process. The one file that includes
 * hwloc.h. hwloc_reader.h is what callers want: hwloc_import_xml() on text from outside can
 * crash inside hwloc, and is for the reader's child process and for tests on good files.
 */
#ifndef TOPOLOGY_HWLOC_IMPORT_H
#define TOPOLOGY_HWLOC_IMPORT_H

#include "topology/node_evidence.h"

#define HWLOC_IMPORT_MAXIMUM_NOTES 64u

struct node_evidence *hwloc_import_live(struct error_info *err);
/* text[bytes] must be NUL. */
struct node_evidence *hwloc_import_xml(const char *text, size_t bytes, const char *source,
                                       struct error_info *err);
const char *hwloc_import_version(void); /* of the hwloc this was built with: "2.9.0" */

#endif
