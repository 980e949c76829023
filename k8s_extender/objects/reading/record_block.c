/* SPDX-License-Identifier: MIT */
#include "k8s_extender/objects/reading/record_block.h"
#include "base/memory.h"
#include "k8s_extender/objects/reading/shared_text.h"
#include <string.h>

#define ALIGNMENT 8u /* pointers and 64-bit numbers: all that records hold */

int record_block_allocate(struct record_block *block)
{
    block->memory = memory_allocate(block->used);
    block->used = 0;
    return block->memory ? 0 : -1;
}

void *record_block_array(struct record_block *block, size_t count, size_t element_bytes)
{
    if (count == 0)
        return NULL;
    size_t start = (block->used + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    block->used = start + count * element_bytes;
    return block->memory ? block->memory + start : NULL;
}

const char *record_block_text(struct record_block *block, const char *text)
{
    if (!text)
        return NULL;
    size_t bytes = strlen(text) + 1;
    size_t start = block->used;
    block->used += bytes;
    return block->memory ? memcpy(block->memory + start, text, bytes) : NULL;
}

const char *record_block_shared(struct record_block *block, const char *text)
{
    if (!text || !block->memory)
        return NULL;
    const char *shared = shared_text_take(text);
    block->failed = block->failed || !shared;
    return shared;
}

void record_block_labels(struct record_block *block, const struct label_set *from,
                         struct label_set *to)
{
    struct label *labels = record_block_array(block, from->count, sizeof(*labels));
    for (size_t i = 0; labels && i < from->count; i++) {
        labels[i].key = record_block_shared(block, from->labels[i].key);
        labels[i].value = record_block_shared(block, from->labels[i].value);
    }
    *to = (struct label_set){.labels = labels, .count = from->count};
}

void record_block_release_labels(const struct label_set *labels)
{
    for (size_t i = 0; i < labels->count; i++) {
        shared_text_release(labels->labels[i].key);
        shared_text_release(labels->labels[i].value);
    }
}

void record_block_resources(struct record_block *block, const struct resource_list *from,
                            struct resource_list *to)
{
    struct resource_amount *others = record_block_array(block, from->other_count, sizeof(*others));
    for (unsigned i = 0; others && i < from->other_count; i++) {
        others[i].name = record_block_shared(block, from->others[i].name);
        others[i].amount = from->others[i].amount;
    }
    *to = *from;
    to->others = others;
}

void record_block_release_resources(const struct resource_list *list)
{
    for (unsigned i = 0; i < list->other_count; i++)
        shared_text_release(list->others[i].name);
}
