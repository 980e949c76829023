/* SPDX-License-Identifier: MIT */
#include "base/name_index.h"
#include "base/arena.h"
#include <stdbool.h>
#include <string.h>

#define FIRST_SLOT_BITS 4u

struct slot {
    const char *name; /* NULL: free */
    uint64_t hash;
    size_t number;
};

struct name_index {
    struct arena *names;
    struct slot *slots; /* open addressing, linear probing, at most 3/4 full */
    unsigned slot_bits;
    size_t count;
    uint64_t spread;
};

uint64_t name_hash_add(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ byte[i]) * UINT64_C(1099511628211);
    return hash;
}

struct name_index *name_index_create(void)
{
    struct name_index *index = memory_allocate(sizeof(*index));
    if (!index)
        return NULL;
    index->slot_bits = FIRST_SLOT_BITS;
    /* The slots depend on where the index lies in memory, so that nobody can choose names
     * which all fall on one slot. Nothing that callers see depends on it. */
    index->spread = name_hash_add(NAME_HASH_START, &index, sizeof(index)) | 1;
    index->names = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    index->slots = memory_allocate_array((size_t)1 << FIRST_SLOT_BITS, sizeof(*index->slots));
    if (!index->names || !index->slots) {
        name_index_free(index);
        return NULL;
    }
    return index;
}

void name_index_free(struct name_index *index)
{
    if (!index)
        return;
    arena_free(index->names);
    memory_free(index->slots);
    memory_free(index);
}

/* The slot that holds the name, or the free one where it belongs. */
static struct slot *find_slot(const struct name_index *index, const char *name, uint64_t hash)
{
    size_t mask = ((size_t)1 << index->slot_bits) - 1;
    size_t at = (size_t)((hash * index->spread) >> (64 - index->slot_bits));
    for (;; at = (at + 1) & mask) {
        struct slot *slot = &index->slots[at];
        if (!slot->name || (slot->hash == hash && strcmp(slot->name, name) == 0))
            return slot;
    }
}

static int grow_slots(struct name_index *index)
{
    size_t old_count = (size_t)1 << index->slot_bits;
    struct slot *old = index->slots;
    struct slot *grown = memory_allocate_array(old_count * 2, sizeof(*grown));
    if (!grown)
        return -1;
    index->slots = grown;
    index->slot_bits++;
    for (size_t i = 0; i < old_count; i++)
        if (old[i].name)
            *find_slot(index, old[i].name, old[i].hash) = old[i];
    memory_free(old);
    return 0;
}

int name_index_add(struct name_index *index, const char *name, size_t number)
{
    size_t length = strlen(name);
    uint64_t hash = name_hash_add(NAME_HASH_START, name, length);
    struct slot *slot = find_slot(index, name, hash);
    if (slot->name)
        return 1;
    size_t slot_count = (size_t)1 << index->slot_bits;
    if (index->count + 1 > slot_count / 4 * 3) {
        if (grow_slots(index) < 0)
            return -1;
        slot = find_slot(index, name, hash);
    }
    char *copy = arena_copy_bytes(index->names, name, length);
    if (!copy)
        return -1;
    *slot = (struct slot){.name = copy, .hash = hash, .number = number};
    index->count++;
    return 0;
}

size_t name_index_find(const struct name_index *index, const char *name)
{
    const struct slot *slot =
        find_slot(index, name, name_hash_add(NAME_HASH_START, name, strlen(name)));
    return slot->name ? slot->number : NAME_INDEX_NONE;
}
