/* SPDX-License-Identifier: MIT */
/*
 * nccl_topology: a node from NCCL's or RCCL's topology XML (NCCL_TOPO_DUMP_FILE, and the files
 * that clouds ship for NCCL_TOPO_FILE). Pure; EVIDENCE_NCCL_XML.
 *
 * What it gives, GPUs and NICs in the order of the file:
 *   GPU    <pci> with a <gpu>, or of a GPU's class (0302, 0380, 1200). bus_id "dddd:bb:dd.f",
 *          model_text "10de:2330" (vendor and device), NUMA node and CPUs of the <cpu> around it
 *   NIC    each <net>: its name, its <pci>'s bus id, its rate (speed= is in Mb/s); or a <pci>
 *          of class 02xx without one: bus id only. Ports of one card share it. A <net> without
 *          GUID and without GPUDirect is one of NCCL's sockets: driver_class "ethernet"
 *   links  numbers of NVLinks or XGMI links, and what one carries (by sm= or gcn=). Behind
 *          switches (tclass 068000, or a target that is no bus id) a pair has
 *          direct + min(one's links to switches, the other's)
 *   class  PIX below one <pci>, PXB where they meet in a <pci> farther up, NODE below one <cpu>
 *          (the file does not tell host bridges apart), else SYS; unknown outside of <pci>
 *
 * What stays unknown: NVLink as a whole where no pair has links (a file without them says
 * nothing); pairs of a GPU without <gpu>, or whose links lead to itself (Azure's NCv4 files);
 * speeds that cannot be Mb/s, or that NCCL writes where it does not know (10000). Each leaves a
 * note. GUIDs are not taken: they are the card's, in another byte order than the kernel's.
 * Of a file of several hosts (NVLink across nodes) the first one's devices are read.
 *
 * NULL with "file:line: …": no XML, another root, a limit, two GPUs of one bus id.
 * Sources: NCCL's src/graph/xml.cc and topo.cc for the meaning of the attributes; files of AWS,
 * Azure, OCI and RCCL for what stands in them.
 */
#ifndef TOPOLOGY_NCCL_TOPOLOGY_H
#define TOPOLOGY_NCCL_TOPOLOGY_H

#include "topology/node_evidence.h"

struct node_evidence *nccl_topology_parse(const char *text, size_t bytes, const char *source,
                                          struct error_info *err);

#endif
