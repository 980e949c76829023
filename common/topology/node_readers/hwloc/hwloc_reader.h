/* SPDX-License-Identifier: MIT */
/*
 * hwloc_reader: a node through hwloc, live or from XML (hwloc.h itself: hwloc_import.c only).
 * NVLink closure over switches is our own (hwloc's TRANSITIVE_CLOSURE before 2.12 loses
 * direct links); a missing matrix means NVLINK_UNKNOWN.
 * For the CLI and daemons that discover; never in srun, slurmstepd or slurmctld.
 */
#ifndef TOPOLOGY_HWLOC_READER_H
#define TOPOLOGY_HWLOC_READER_H

#include "topology/node_evidence.h"

#define HWLOC_XML_MAXIMUM_BYTES ((size_t)32 << 20)

/* This machine. Hides hwloc's banners on stderr and restores the environment it touched. */
struct node_evidence *hwloc_read_live(struct error_info *err);

/* XML from outside: its version attribute is checked first ("3.0 XML needs hwloc 2.12; this
 * build has 2.9: export with lstopo --export-xml-flags v2"), then it is imported in a forked
 * child with limits on time and memory, since hwloc 2.9 crashes on some broken files. */
struct node_evidence *hwloc_read_xml(const char *text, size_t bytes, const char *source,
                                     struct error_info *err);

#endif
