/* SPDX-License-Identifier: MIT */
/*
 * cleanup: variables that free themselves at the end of their scope.
 *
 *     CLEANUP(rank_map) struct rank_map *map = rank_map_create(…);
 *     CLEANUP_MEMORY char *text = memory_copy_text(…);
 *     CLEANUP_FD int fd = open(…);
 *     return move_pointer(map);            gives it to the caller
 *
 * DEFINE_CLEANUP(noun) in a header makes CLEANUP(noun) work for `struct noun *` and
 * `noun_free`; DEFINE_CLEANUP_DONE(noun) makes CLEANUP_DONE(noun) work for a
 * `struct noun` value and `noun_done`.
 */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include "base/memory.h"
#include <stdio.h>
#include <unistd.h>

#define CLEANUP(noun) __attribute__((cleanup(cleanup_##noun)))
#define CLEANUP_DONE(noun) __attribute__((cleanup(cleanup_done_##noun)))

#define DEFINE_CLEANUP(noun)                                                                       \
    static inline void cleanup_##noun(struct noun **pointer) { noun##_free(*pointer); }            \
    struct noun

#define DEFINE_CLEANUP_DONE(noun)                                                                  \
    static inline void cleanup_done_##noun(struct noun *value) { noun##_done(value); }             \
    struct noun

static inline void cleanup_memory_pointer(void *pointer) { memory_free(*(void **)pointer); }

static inline void cleanup_fd(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

static inline void cleanup_file(FILE **file)
{
    if (*file)
        fclose(*file);
}

#define CLEANUP_MEMORY __attribute__((cleanup(cleanup_memory_pointer)))
#define CLEANUP_FD __attribute__((cleanup(cleanup_fd)))
#define CLEANUP_FILE __attribute__((cleanup(cleanup_file)))

/* The pointer's value; the variable becomes NULL, so its cleanup does nothing. */
#define move_pointer(pointer)                                                                      \
    __extension__({                                                                                \
        __typeof__(pointer) moved_ = (pointer);                                                    \
        (pointer) = NULL;                                                                          \
        moved_;                                                                                    \
    })

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#endif
