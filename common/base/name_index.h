/* SPDX-License-Identifier: MIT */
/*
 * name_index: name -> number, a hash table. The names are copied.
 */
#ifndef BASE_NAME_INDEX_H
#define BASE_NAME_INDEX_H

#include "base/cleanup.h"
#include <stddef.h>
#include <stdint.h>

#define NAME_INDEX_NONE ((size_t)-1)

struct name_index;

struct name_index *name_index_create(void); /* NULL: out of memory */
void name_index_free(struct name_index *index);
/* 0 added, 1 the name stands already (its number stays), -1 out of memory. */
int name_index_add(struct name_index *index, const char *name, size_t number);
size_t name_index_find(const struct name_index *index, const char *name); /* or NAME_INDEX_NONE */

/* FNV-1a, 64 bits: also used for digests of plans and clusters (guards against mix-ups,
 * not against attackers). Start with NAME_HASH_START, feed parts in order. */
#define NAME_HASH_START UINT64_C(14695981039346656037)
uint64_t name_hash_add(uint64_t hash, const void *bytes, size_t count);

DEFINE_CLEANUP(name_index);

#endif
