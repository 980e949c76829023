/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef MEMORY_TORTURE

static unsigned long torture_fail_at;
static unsigned long torture_count;
static unsigned long torture_live;

void memory_torture_fail_at(unsigned long nth)
{
    torture_fail_at = nth;
    torture_count = 0;
}

unsigned long memory_torture_count(void) { return torture_count; }

unsigned long memory_torture_live(void) { return torture_live; }

static bool torture_fails(void)
{
    torture_count++;
    return torture_count == torture_fail_at;
}

static void torture_note(bool created, bool gone)
{
    torture_live += created;
    torture_live -= gone;
}

#else

static inline bool torture_fails(void) { return false; }

static inline void torture_note(bool created, bool gone)
{
    (void)created;
    (void)gone;
}

#endif

void *memory_allocate(size_t bytes) { return memory_allocate_array(1, bytes); }

/* Larger blocks than PTRDIFF_MAX do not exist; asking for one upsets sanitizers. A size of
 * nothing becomes a byte, since NULL must always mean a failure. */
static bool block_bytes(size_t count, size_t element_bytes, size_t *ret_bytes)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, element_bytes, &bytes) || bytes > PTRDIFF_MAX)
        return false;
    *ret_bytes = bytes > 0 ? bytes : 1;
    return true;
}

void *memory_allocate_array(size_t count, size_t element_bytes)
{
    size_t bytes;
    if (torture_fails() || !block_bytes(count, element_bytes, &bytes))
        return NULL;
    void *created = calloc(1, bytes);
    torture_note(created != NULL, false);
    return created;
}

void *memory_grow_array(void *old, size_t old_count, size_t new_count, size_t element_bytes)
{
    size_t bytes;
    if (torture_fails() || !block_bytes(new_count, element_bytes, &bytes))
        return NULL;
    bool is_first = old == NULL;
    unsigned char *grown = realloc(old, bytes);
    if (!grown)
        return NULL;
    torture_note(is_first, false);
    if (new_count > old_count)
        memset(grown + old_count * element_bytes, 0, (new_count - old_count) * element_bytes);
    return grown;
}

char *memory_copy_text(const char *text) { return memory_copy_bytes(text, strlen(text)); }

char *memory_copy_bytes(const char *text, size_t bytes)
{
    size_t with_nul;
    if (__builtin_add_overflow(bytes, 1, &with_nul))
        return NULL;
    char *copy = memory_allocate(with_nul);
    if (copy && bytes > 0)
        memcpy(copy, text, bytes);
    return copy;
}

void memory_free(void *pointer)
{
    torture_note(false, pointer != NULL);
    free(pointer);
}
