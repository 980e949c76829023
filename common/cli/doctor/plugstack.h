/* SPDX-License-Identifier: MIT */
/*
 * plugstack: Slurm's plugstack.conf and the files that it includes, in the order in which Slurm
 * runs them (slurm's src/common/spank.c): lines
 *     required|optional PLUGIN [ARGUMENT…]
 *     include GLOB                        relative to the folder of the file that has it
 * and comments from a '#' on, wherever it stands.
 * Limits: PLUGSTACK_MAXIMUM_*.
 */
#ifndef CLI_DOCTOR_PLUGSTACK_H
#define CLI_DOCTOR_PLUGSTACK_H

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/error.h"
#include <stdbool.h>

#define PLUGSTACK_MAXIMUM_BYTES ((size_t)1 << 20) /* of one file */
#define PLUGSTACK_MAXIMUM_FILES 256u
#define PLUGSTACK_MAXIMUM_ENTRIES 256u
#define PLUGSTACK_MAXIMUM_DEPTH 8u
#define PLUGSTACK_WORD_BYTES 4096u

struct plugstack_entry {
    bool required;
    const char *path;      /* as it stands there */
    const char *arguments; /* the rest of the line, "" without */
    const char *where;     /* "/etc/slurm/plugstack.conf:3" */
};

struct plugstack {
    struct plugstack_entry entries[PLUGSTACK_MAXIMUM_ENTRIES];
    size_t count;
    const char *files[PLUGSTACK_MAXIMUM_FILES]; /* that were read, the first one first */
    size_t file_count;
    struct arena *arena;
};

enum plugstack_word {
    PLUGSTACK_NOTHING,
    PLUGSTACK_REQUIRED,
    PLUGSTACK_OPTIONAL,
    PLUGSTACK_INCLUDE
};

/* One line: its kind, its second word and the rest; PLUGSTACK_NOTHING: empty, or a comment. An
 * error has no "where". */
int plugstack_line_parse(const char *line, size_t bytes, enum plugstack_word *ret_word,
                         char ret_path[PLUGSTACK_WORD_BYTES],
                         char ret_arguments[PLUGSTACK_WORD_BYTES], struct error_info *err);

/* A file that cannot be read or a line that Slurm does not take is an error. */
struct plugstack *plugstack_load(const char *path, struct error_info *err);
void plugstack_free(struct plugstack *stack);

/* The entry whose file has that name (without its folder) from index `from` on, or count. */
size_t plugstack_find(const struct plugstack *stack, const char *file_name, size_t from);
/* The first entry that was meant to be that file: mistyped, or with parplan in its name. */
const struct plugstack_entry *plugstack_find_near(const struct plugstack *stack,
                                                  const char *file_name);
/* "config=/x": the value of an argument of the entry; false: it has none such. */
bool plugstack_argument(const struct plugstack_entry *entry, const char *key, char *ret,
                        size_t bytes);

DEFINE_CLEANUP(plugstack);

#endif
