/* SPDX-License-Identifier: MIT */
/*
 * node_document: the two documents that the agent exchanges with the API server: its own Node,
 * and the merge patch (RFC 7386) that sets its one annotation. Pure.
 */
#ifndef K8S_EXTENDER_AGENT_NODE_DOCUMENT_H
#define K8S_EXTENDER_AGENT_NODE_DOCUMENT_H

#include "base/error.h"
#include "base/text_buffer.h"

#define NODE_PATCH_CONTENT_TYPE "application/merge-patch+json"

/* The annotation of a Node, or "" where there is none (memory_free). NULL: no Node. */
char *node_document_annotation(const char *text, size_t bytes, struct error_info *err);
int node_document_patch(const char *annotation, struct text_buffer *out, struct error_info *err);

#endif
