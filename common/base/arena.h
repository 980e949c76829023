/* SPDX-License-Identifier: MIT */
/*
 * arena: many small allocations with one owner and one free. Immutable objects (a
 * topology, a plan list) keep everything they point to in their own arena.
 * All memory is zeroed and aligned for any type. A maximum bounds what hostile input
 * can make it grow to.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/cleanup.h"
#include "base/texts/packed_text.h"
#include <stddef.h>

struct arena;

#define ARENA_DEFAULT_MAXIMUM_BYTES ((size_t)1 << 30)

struct arena *arena_create(size_t maximum_bytes); /* NULL: out of memory */
void arena_free(struct arena *arena);             /* NULL is fine */

/* NULL: out of memory, or the maximum is reached. */
void *arena_allocate(struct arena *arena, size_t bytes);
void *arena_allocate_array(struct arena *arena, size_t count, size_t element_bytes);
char *arena_copy_text(struct arena *arena, const char *text);
char *arena_copy_bytes(struct arena *arena, const char *text, size_t bytes);
char *arena_format(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#ifdef TEXTS_PACKED /* base/texts/packed_text.h */
#define arena_format(arena, format, ...) (arena_format)(arena, PACKED_TEXT(format), ##__VA_ARGS__)
#endif

DEFINE_CLEANUP(arena);

#endif
