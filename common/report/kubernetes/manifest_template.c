/* SPDX-License-Identifier: MIT */
#include "report/kubernetes/manifest_template.h"
#include <string.h>

struct piece {
    const char *text;
    size_t bytes;
};

struct block {
    struct piece name, lines;
};

struct template
{
    const struct template_word *words;
    size_t word_count;
    struct block blocks[TEMPLATE_MAXIMUM_BLOCKS];
    size_t block_count;
    struct text_buffer *out;
    unsigned line;
    struct error_info *err;
};

/* Takes the first line off the rest, without its line end. */
static struct piece take_line(struct piece *rest)
{
    const char *end = memchr(rest->text, '\n', rest->bytes);
    struct piece line = {rest->text, end ? (size_t)(end - rest->text) : rest->bytes};
    size_t used = line.bytes + (end ? 1 : 0);
    *rest = (struct piece){rest->text + used, rest->bytes - used};
    return line;
}

static bool begins(struct piece line, const char *word)
{
    return line.bytes >= strlen(word) && memcmp(line.text, word, strlen(word)) == 0;
}

static bool is(struct piece piece, const char *word)
{
    return piece.bytes == strlen(word) && begins(piece, word);
}

static size_t indentation(struct piece line)
{
    size_t blanks = 0;
    while (blanks < line.bytes && line.text[blanks] == ' ')
        blanks++;
    return blanks;
}

static const struct template_word *find_word(const struct template *template, struct piece name)
{
    for (size_t i = 0; i < template->word_count; i++)
        if (is(name, template->words[i].name))
            return &template->words[i];
    return NULL;
}

/* The word that begins at text ("@name@"), or an empty piece. */
static struct piece word_at(struct piece text)
{
    size_t bytes = 1;
    while (bytes < text.bytes && strchr("abcdefghijklmnopqrstuvwxyz_", text.text[bytes]))
        bytes++;
    bool whole = bytes > 1 && bytes < text.bytes && text.text[bytes] == '@';
    return (struct piece){text.text + 1, whole ? bytes - 1 : 0};
}

static int add_line(struct template *template, size_t indent, struct piece line)
{
    bool alone = line.bytes > 2 && line.text[0] == '@' && word_at(line).bytes == line.bytes - 2;
    text_buffer_add_repeated(template->out, ' ', line.bytes > 0 && !alone ? indent : 0);
    while (line.bytes > 0) {
        const char *at = memchr(line.text, '@', line.bytes);
        size_t plain = at ? (size_t)(at - line.text) : line.bytes;
        text_buffer_add_bytes(template->out, line.text, plain);
        line = (struct piece){line.text + plain, line.bytes - plain};
        if (line.bytes == 0)
            break;
        struct piece name = word_at(line);
        const struct template_word *word = find_word(template, name);
        if (!word)
            return error_set(template->err, "line %u: @%.*s: there is no such word", template->line,
                             (int)name.bytes, name.text);
        text_buffer_add_text(template->out, word->text);
        line = (struct piece){line.text + name.bytes + 2, line.bytes - name.bytes - 2};
    }
    text_buffer_add_text(template->out, alone ? "" : "\n");
    return 0;
}

static int add_block(struct template *template, size_t indent, struct piece name)
{
    for (size_t i = 0; i < template->block_count; i++) {
        const struct block *block = &template->blocks[i];
        if (block->name.bytes != name.bytes || memcmp(block->name.text, name.text, name.bytes) != 0)
            continue;
        struct piece rest = block->lines;
        while (rest.bytes > 0)
            if (add_line(template, indent, take_line(&rest)) < 0)
                return -1;
        return 0;
    }
    return error_set(template->err, "line %u: %%%.*s: there is no such block", template->line,
                     (int)name.bytes, name.text);
}

static int define_block(struct template *template, struct piece name, struct piece *rest)
{
    unsigned first = template->line;
    struct block block = {name, {rest->text, 0}};
    if (template->block_count == TEMPLATE_MAXIMUM_BLOCKS)
        return error_set(template->err, "line %u: more than %u blocks", first,
                         TEMPLATE_MAXIMUM_BLOCKS);
    while (rest->bytes > 0) {
        struct piece line = take_line(rest);
        template->line++;
        if (is(line, "%end")) {
            block.lines.bytes = (size_t)(line.text - block.lines.text);
            template->blocks[template->block_count++] = block;
            return 0;
        }
    }
    return error_set(template->err, "line %u: the block has no %%end", first);
}

static int take(struct template *template, struct piece line, struct piece *rest)
{
    static const char define[] = "%define ";
    size_t indent = indentation(line);
    struct piece inner = {line.text + indent, line.bytes - indent};
    if (begins(line, "%#"))
        return 0;
    if (begins(line, define))
        return define_block(template,
                            (struct piece){line.text + strlen(define), line.bytes - strlen(define)},
                            rest);
    if (begins(inner, "%"))
        return add_block(template, indent, (struct piece){inner.text + 1, inner.bytes - 1});
    return add_line(template, indent, inner);
}

int manifest_template_write(const char *text, size_t bytes, const struct template_word *words,
                            size_t word_count, struct text_buffer *out, struct error_info *err)
{
    struct template template = {.words = words, .word_count = word_count, .out = out, .err = err};
    struct piece rest = {text, bytes};
    while (rest.bytes > 0) {
        template.line++;
        struct piece line = take_line(&rest);
        if (take(&template, line, &rest) < 0)
            return -1;
    }
    return text_buffer_failed(out) ? error_set_memory(err) : 0;
}
