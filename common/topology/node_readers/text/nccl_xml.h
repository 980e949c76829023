/* SPDX-License-Identifier: MIT */
/*
 * nccl_xml: the elements of an NCCL or RCCL topology file, as they stand in it. Internal to
 * nccl_topology; the only place that knows expat (docs/decisions/0010).
 * A DOCTYPE is refused, so there are no entities to expand. Elements and attributes that are
 * not in the tables of nccl_xml.c are passed over; the children of such an element belong to
 * the element around it.
 */
#ifndef TOPOLOGY_NCCL_XML_H
#define TOPOLOGY_NCCL_XML_H

#include "base/arena.h"
#include "base/error.h"

#define NCCL_XML_MAXIMUM_BYTES ((size_t)4 << 20)
#define NCCL_XML_MAXIMUM_ELEMENTS 16384u
#define NCCL_XML_MAXIMUM_DEPTH 64u
#define NCCL_XML_MAXIMUM_VALUE 4096u /* bytes of one attribute */
#define NCCL_XML_NONE (~0u)

enum nccl_tag {
    NCCL_SYSTEM,
    NCCL_CPU,
    NCCL_PCI,
    NCCL_GPU,
    NCCL_NVLINK,
    NCCL_XGMI,
    NCCL_NIC,
    NCCL_NET,
    NCCL_TAG_COUNT
};

enum nccl_attribute {
    NCCL_AFFINITY,
    NCCL_BUSID,
    NCCL_CLASS,
    NCCL_COUNT,
    NCCL_DEVICE,
    NCCL_GCN,
    NCCL_GDR,
    NCCL_GUID,
    NCCL_HOST_HASH,
    NCCL_LINK_SPEED,
    NCCL_LINK_WIDTH,
    NCCL_NAME,
    NCCL_NUMAID,
    NCCL_SM,
    NCCL_SPEED,
    NCCL_TARGET,
    NCCL_TCLASS,
    NCCL_VENDOR,
    NCCL_ATTRIBUTE_COUNT
};

struct nccl_element {
    enum nccl_tag tag;
    unsigned line;
    unsigned parent;                              /* an index, or NCCL_XML_NONE */
    const char *attributes[NCCL_ATTRIBUTE_COUNT]; /* NULL: not there */
};

struct nccl_xml {
    struct nccl_element *elements; /* in the order of the file: parents before children */
    unsigned count, capacity;
};

/* Values go to the arena. -1 with "file:line: …": no XML, another root, a limit. */
int nccl_xml_read(const char *text, size_t bytes, const char *source, struct arena *arena,
                  struct nccl_xml *ret, struct error_info *err);
void nccl_xml_done(struct nccl_xml *xml);

DEFINE_CLEANUP_DONE(nccl_xml);

#endif
