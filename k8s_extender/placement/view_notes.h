/* SPDX-License-Identifier: MIT */
/*
 * view_notes: what people should know of a view, a line each, in an arena: the first
 * VIEW_MAXIMUM_WARNINGS - 1, and how many more there were. Sticky failure (memory).
 */
#ifndef K8S_EXTENDER_PLACEMENT_VIEW_NOTES_H
#define K8S_EXTENDER_PLACEMENT_VIEW_NOTES_H

#include "base/arena.h"
#include <stdbool.h>

#define VIEW_MAXIMUM_WARNINGS 64u

struct view_notes {
    struct arena *arena;
    const char *lines[VIEW_MAXIMUM_WARNINGS];
    size_t count, dropped;
    bool failed;
};

void view_notes_add(struct view_notes *notes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The line that says how many were left out. */
void view_notes_close(struct view_notes *notes);

#endif
