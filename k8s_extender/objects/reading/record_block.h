/* SPDX-License-Identifier: MIT */
/*
 * record_block: a record and all that it points to as one exact allocation. The same code runs
 * twice: once without memory, to count the bytes, then to copy.
 *
 *     struct record_block block = {.memory = NULL};
 *     pack(&block, draft);                     counts
 *     if (record_block_allocate(&block) < 0)   memory
 *     struct noun *record = pack(&block, draft);
 */
#ifndef K8S_EXTENDER_OBJECTS_READING_RECORD_BLOCK_H
#define K8S_EXTENDER_OBJECTS_READING_RECORD_BLOCK_H

#include "k8s_extender/objects/label_set.h"
#include "k8s_extender/objects/resource_list.h"

struct record_block {
    char *memory; /* NULL: only counts */
    size_t used;
    bool failed; /* no memory for a shared text */
};

/* Zeroed memory (memory_free) for what was counted; -1: there is none. */
int record_block_allocate(struct record_block *block);
/* Room for an array; NULL while counting, and for a count of 0. */
void *record_block_array(struct record_block *block, size_t count, size_t element_bytes);
/* A copy of the text, which NULL stays; NULL while counting. */
const char *record_block_text(struct record_block *block, const char *text);
/* The same, as a reference to a shared text, which the record's owner releases. */
const char *record_block_shared(struct record_block *block, const char *text);

/* Keys and values are shared texts. */
void record_block_labels(struct record_block *block, const struct label_set *from,
                         struct label_set *to);
void record_block_release_labels(const struct label_set *labels);
/* Names are shared texts. */
void record_block_resources(struct record_block *block, const struct resource_list *from,
                            struct resource_list *to);
void record_block_release_resources(const struct resource_list *list);

#endif
