/* SPDX-License-Identifier: MIT */
#include "k8s_extender/placement/view_notes.h"
#include "base/error.h"
#include "base/text_buffer.h"

void view_notes_add(struct view_notes *notes, const char *format, ...)
{
    if (notes->count + 1 >= VIEW_MAXIMUM_WARNINGS) {
        notes->dropped++;
        return;
    }
    char line[ERROR_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    text_format(line, sizeof(line), format, arguments);
    va_end(arguments);
    error_clean_text(line);
    notes->lines[notes->count] = arena_copy_text(notes->arena, line);
    notes->failed = notes->failed || !notes->lines[notes->count];
    notes->count += notes->lines[notes->count] != NULL;
}

void view_notes_close(struct view_notes *notes)
{
    if (notes->dropped == 0)
        return;
    notes->lines[notes->count] = arena_format(notes->arena, "and %zu more", notes->dropped);
    notes->failed = notes->failed || !notes->lines[notes->count];
    notes->count += notes->lines[notes->count] != NULL;
}
