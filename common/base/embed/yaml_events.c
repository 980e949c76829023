/* SPDX-License-Identifier: MIT */
/*
 * yaml_events [--brief] FILE.yaml: a program of the build. Writes what yaml_document_replay()
 * reads, without comments, to standard output. --brief, for the plugin, which counts its bytes:
 * no line numbers, and "x" for the texts of `source` and `title`, which only the program's reports
 * show.
 */
#include "base/text_file.h"
#include "base/yaml_document.h"
#include <stdio.h>
#include <string.h>

struct writer {
    bool brief;
    unsigned line;
};

static void write_text(char mark, const char *text)
{
    putchar(mark);
    fputs(text, stdout);
    putchar('\0');
}

static bool is_for_reports(const char *key)
{
    return key && (!strcmp(key, "source") || !strcmp(key, "title"));
}

static void write_scalar(const struct writer *writer, const struct yaml_node *node)
{
    bool cut = writer->brief && is_for_reports(node->key);
    write_text(node->quoted ? YAML_EVENT_QUOTED : YAML_EVENT_TEXT, cut ? "x" : node->text);
}

static void write_node(struct writer *writer, const struct yaml_node *node)
{
    for (; !writer->brief && writer->line < node->line; writer->line++)
        putchar(YAML_EVENT_LINE);
    if (node->key)
        write_text(YAML_EVENT_TEXT, node->key);
    if (node->kind == YAML_SCALAR) {
        write_scalar(writer, node);
        return;
    }
    putchar(node->kind == YAML_MAPPING ? YAML_EVENT_MAPPING : YAML_EVENT_SEQUENCE);
    for (size_t i = 0; i < node->child_count; i++)
        write_node(writer, node->children[i]);
    putchar(YAML_EVENT_CLOSE);
}

int main(int argument_count, char **arguments)
{
    struct error_info err = {.kind = ERROR_NONE};
    const char *path = arguments[argument_count - 1];
    struct writer writer = {.brief = argument_count == 3, .line = 1};
    size_t bytes = 0;
    CLEANUP_MEMORY char *text = text_file_read(path, YAML_MAXIMUM_BYTES, &bytes, &err);
    CLEANUP(yaml_document)
    struct yaml_document *document = text ? yaml_document_parse(text, bytes, path, &err) : NULL;
    if (!document) {
        fprintf(stderr, "yaml_events: %s\n", err.text);
        return 1;
    }
    write_node(&writer, yaml_document_root(document));
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
