/* SPDX-License-Identifier: MIT */
/*
 * text_lines: the lines of a text one after another, without comments ('#' to the end), blanks
 * at both ends and empty lines. The text is not changed; a line is cut up in the buffer.
 */
#ifndef TOPOLOGY_TEXT_LINES_H
#define TOPOLOGY_TEXT_LINES_H

#include "base/error.h"
#include "topology/fabric.h"

#define TEXT_LINES_BYTES 65536u /* a line may list the nodes of a leaf one by one */

struct text_lines {
    const char *source;
    const char *next, *end;
    unsigned number; /* of the line, from 1 */
    char text[TEXT_LINES_BYTES];
};

/* -1: larger than FABRIC_TEXT_MAXIMUM_BYTES, or no text (a NUL byte). */
int text_lines_init(struct text_lines *lines, const char *text, size_t bytes, const char *source,
                    struct error_info *err);
/* 1: the next line is in lines->text; 0: the end; -1: it is too long. */
int text_lines_next(struct text_lines *lines, struct error_info *err);
/* The line as "NAME: VALUE"; the value may be empty. NAME is one that node lists take. */
int text_lines_pair(struct text_lines *lines, const char **ret_name, char **ret_value,
                    struct error_info *err);

#endif
