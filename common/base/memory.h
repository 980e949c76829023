/* SPDX-License-Identifier: MIT */
/*
 * memory: the one door to the heap. Everything of ours is allocated here, so that the
 * torture tests can make the n-th allocation fail (builds with MEMORY_TORTURE only).
 * All functions return zeroed memory or NULL; sizes that overflow return NULL.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stddef.h>

void *memory_allocate(size_t bytes);
void *memory_allocate_array(size_t count, size_t element_bytes);
/* Grow an array from old_count to new_count elements; the new part is zeroed. On failure
 * NULL, and old stays valid. */
void *memory_grow_array(void *old, size_t old_count, size_t new_count, size_t element_bytes);
char *memory_copy_text(const char *text);
char *memory_copy_bytes(const char *text, size_t bytes); /* adds a final NUL */
void memory_free(void *pointer);                         /* NULL is fine */

#ifdef MEMORY_TORTURE
/* The n-th allocation from now fails, and only that one (0: none fails). Not thread safe. */
void memory_torture_fail_at(unsigned long nth);
/* Allocations since the last memory_torture_fail_at. */
unsigned long memory_torture_count(void);
/* Blocks that are allocated and not freed yet. */
unsigned long memory_torture_live(void);
#endif

#endif
