/* SPDX-License-Identifier: MIT */
#include "base/arena.h"
#include "base/text_buffer.h"
#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#undef arena_format /* the function itself: base/texts/packed_text.h */

#define FIRST_CHUNK_BYTES ((size_t)1 << 10)
#define LARGEST_CHUNK_BYTES ((size_t)1 << 20)
#define ARENA_ALIGNMENT alignof(max_align_t)

struct chunk {
    struct chunk *next;
    size_t used;
    size_t bytes;
    alignas(max_align_t) unsigned char data[];
};

struct arena {
    struct chunk *chunks; /* the first one is being filled */
    size_t next_chunk_bytes;
    size_t remaining_bytes;
};

struct arena *arena_create(size_t maximum_bytes)
{
    struct arena *arena = memory_allocate(sizeof(*arena));
    if (!arena)
        return NULL;
    arena->next_chunk_bytes = FIRST_CHUNK_BYTES;
    arena->remaining_bytes = maximum_bytes;
    return arena;
}

void arena_free(struct arena *arena)
{
    if (!arena)
        return;
    for (struct chunk *chunk = arena->chunks; chunk;) {
        struct chunk *next = chunk->next;
        memory_free(chunk);
        chunk = next;
    }
    memory_free(arena);
}

static struct chunk *chunk_create(size_t bytes)
{
    size_t total;
    if (__builtin_add_overflow(bytes, sizeof(struct chunk), &total))
        return NULL;
    struct chunk *chunk = memory_allocate(total);
    if (chunk)
        chunk->bytes = bytes;
    return chunk;
}

/* A large block gets a chunk of its own behind the one being filled, which goes on. */
static void *allocate_own_chunk(struct arena *arena, size_t bytes)
{
    struct chunk *chunk = chunk_create(bytes);
    if (!chunk)
        return NULL;
    chunk->used = bytes;
    if (arena->chunks) {
        chunk->next = arena->chunks->next;
        arena->chunks->next = chunk;
    } else {
        arena->chunks = chunk;
    }
    return chunk->data;
}

static int add_chunk(struct arena *arena)
{
    struct chunk *chunk = chunk_create(arena->next_chunk_bytes);
    if (!chunk)
        return -1;
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    if (arena->next_chunk_bytes < LARGEST_CHUNK_BYTES)
        arena->next_chunk_bytes *= 2;
    return 0;
}

void *arena_allocate(struct arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX - ARENA_ALIGNMENT)
        return NULL;
    size_t rounded = (bytes + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
    if (rounded == 0)
        rounded = ARENA_ALIGNMENT;
    if (rounded > arena->remaining_bytes)
        return NULL;
    void *block;
    struct chunk *chunk = arena->chunks;
    if (chunk && rounded <= chunk->bytes - chunk->used) {
        block = chunk->data + chunk->used;
        chunk->used += rounded;
    } else if (rounded > arena->next_chunk_bytes / 4) {
        block = allocate_own_chunk(arena, rounded);
    } else {
        if (add_chunk(arena) < 0)
            return NULL;
        block = arena->chunks->data;
        arena->chunks->used = rounded;
    }
    if (block)
        arena->remaining_bytes -= rounded;
    return block;
}

void *arena_allocate_array(struct arena *arena, size_t count, size_t element_bytes)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, element_bytes, &bytes))
        return NULL;
    return arena_allocate(arena, bytes);
}

char *arena_copy_text(struct arena *arena, const char *text)
{
    return arena_copy_bytes(arena, text, strlen(text));
}

char *arena_copy_bytes(struct arena *arena, const char *text, size_t bytes)
{
    char *copy = bytes < SIZE_MAX ? arena_allocate(arena, bytes + 1) : NULL;
    if (copy && bytes > 0)
        memcpy(copy, text, bytes);
    return copy;
}

char *arena_format(struct arena *arena, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    va_list again;
    va_copy(again, arguments);
    int length = text_format(NULL, 0, format, arguments);
    if (length >= 0)
        text = arena_allocate(arena, (size_t)length + 1);
    if (text)
        text_format(text, (size_t)length + 1, format, again);
    va_end(again);
    va_end(arguments);
    return text;
}
