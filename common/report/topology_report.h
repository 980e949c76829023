/* SPDX-License-Identifier: MIT */
/*
 * topology_report: a node, a fabric or a cluster, for people and as parplan.topology/1.
 * What is unknown is said to be unknown ("?" in text, null in JSON), never left out.
 */
#ifndef REPORT_TOPOLOGY_REPORT_H
#define REPORT_TOPOLOGY_REPORT_H

#include "base/json_document.h"
#include "report/text_style.h"
#include "topology/cluster_topology.h"

struct topology_report_options {
    bool explain; /* text: every fact with its source, every NIC with the reason of its role */
};

void node_report_text(const struct node_topology *node,
                      const struct topology_report_options *options, const struct text_style *style,
                      struct text_buffer *out);
void fabric_report_text(const struct fabric *fabric, const struct text_style *style,
                        struct text_buffer *out);
void cluster_report_text(const struct cluster_topology *cluster,
                         const struct topology_report_options *options,
                         const struct text_style *style, struct text_buffer *out);

/* NULL with err: out of memory, or a partition of the GPUs failed. */
struct json_value *node_report_json(const struct node_topology *node, struct error_info *err);
struct json_value *fabric_report_json(const struct fabric *fabric, struct error_info *err);
/* The fabric's fields, with each node's kind and GPUs, and `kinds`: one node document each. */
struct json_value *cluster_report_json(const struct cluster_topology *cluster,
                                       struct error_info *err);

#endif
