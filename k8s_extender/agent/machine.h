/* SPDX-License-Identifier: MIT */
/*
 * machine: this machine as the annotation of its node. Reads devices as `parplan topology` does
 * (live_node.h): what may hang or crash runs in a child with limits.
 */
#ifndef K8S_EXTENDER_AGENT_MACHINE_H
#define K8S_EXTENDER_AGENT_MACHINE_H

#include "base/text_buffer.h"
#include "topology/gpu_catalogue.h"

#define MACHINE_WORDS_BYTES ((size_t)256)

/* The annotation (memory_free). words gets what it is for people: "8x-h100-sxm". nvml, sysfs: as
 * live_node_open takes them. */
char *machine_look(const char *nvml, const char *sysfs, const struct gpu_catalogue *gpus,
                   struct text_buffer *words, struct error_info *err);

#endif
