/* SPDX-License-Identifier: MIT */
/*
 * gpu_labels: what a node's labels say of its GPUs: the product, how many the machine has, their
 * memory. One table of keys, in order of trust (gpu_labels.c, each with its source).
 */
#ifndef K8S_EXTENDER_PLACEMENT_GPU_LABELS_H
#define K8S_EXTENDER_PLACEMENT_GPU_LABELS_H

#include "k8s_extender/objects/label_set.h"
#include <stdint.h>

struct gpu_labels {
    const char *key, *product; /* the label and its value, as the labels own them; NULL: none */
    const char *name;          /* what the GPU catalogue finds it by: the product, mostly */
    uint64_t memory_bytes;     /* of one GPU; 0: unknown */
    unsigned count;            /* of the machine; 0: not said */
    bool is_part; /* what is counted are MIG instances or time slices, not whole GPUs */
};

/* What is malformed is not there. */
void gpu_labels_read(const struct label_set *labels, struct gpu_labels *ret);

#endif
