/* SPDX-License-Identifier: MIT */
/*
 * manifest_template: a text with words and blocks that are put in, line by line.
 *
 *     %# a remark that is left out
 *     %define NAME      the lines up to %end are block NAME; they stand where a line is
 *     %end              "  %NAME", with that line's indentation. Blocks hold no blocks.
 *     … @word@ …        the word's text. Alone in its line it brings its own line ends, and
 *                       an empty one leaves no line.
 */
#ifndef REPORT_KUBERNETES_MANIFEST_TEMPLATE_H
#define REPORT_KUBERNETES_MANIFEST_TEMPLATE_H

#include "base/error.h"
#include "base/text_buffer.h"

#define TEMPLATE_MAXIMUM_BLOCKS 16u

struct template_word {
    const char *name, *text;
};

/* Refuses, with its line: a word or block that does not exist, a block that does not end, too
 * many blocks. */
int manifest_template_write(const char *text, size_t bytes, const struct template_word *words,
                            size_t word_count, struct text_buffer *out, struct error_info *err);

#endif
