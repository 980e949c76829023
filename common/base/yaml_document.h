/* SPDX-License-Identifier: MIT */
/*
 * yaml_document: a YAML text as a tree of nodes that know their line. Parsed with libyaml
 * (the only file that includes yaml.h). Refused, with the line: aliases and anchors, tags,
 * more than one document, duplicate keys, keys that are not plain text, depth over
 * YAML_MAXIMUM_DEPTH, more than YAML_MAXIMUM_NODES nodes, text over YAML_MAXIMUM_BYTES,
 * NUL bytes and invalid UTF-8.
 * JSON is read too, as YAML's flow style: a text whose first character is '{' or '['. In it a
 * character beyond U+FFFF that is written as two escapes (\ud83d\ude00) becomes two U+FFFD, as
 * YAML has no such escapes; tabs may indent, and a key has at most 1,024 characters.
 * Everything belongs to the document.
 */
#ifndef BASE_YAML_DOCUMENT_H
#define BASE_YAML_DOCUMENT_H

#include "base/cleanup.h"
#include "base/error.h"
#include "base/texts/packed_text.h"
#include <stdbool.h>
#include <stddef.h>

#define YAML_MAXIMUM_BYTES ((size_t)64 << 20)
#define YAML_MAXIMUM_NODES ((size_t)4 << 20)
#define YAML_MAXIMUM_DEPTH 32u

enum yaml_kind { YAML_SCALAR, YAML_SEQUENCE, YAML_MAPPING };

struct yaml_document;

struct yaml_node {
    enum yaml_kind kind : 8;
    bool quoted;                             /* YAML_SCALAR: it stands in quotation marks */
    unsigned line;                           /* 1-based */
    const char *key;                         /* the key this node is the value of, or NULL */
    const char *text;                        /* YAML_SCALAR */
    const struct yaml_node *const *children; /* YAML_SEQUENCE and YAML_MAPPING, file order */
    size_t child_count;
    const struct yaml_document *document;
    const struct yaml_node *parent; /* NULL for the root */
    size_t position;                /* among the parent's children */
};

/* source: the name for messages ("job.yaml"). An empty text gives an error. */
struct yaml_document *yaml_document_parse(const char *text, size_t bytes, const char *source,
                                          struct error_info *err);

/* A document that the build has parsed (embed/yaml_events.c): its events, of one character each;
 * a text, as a key or a value, follows up to its NUL; a NUL ends them. Trusted as code is: nothing
 * is checked. The document points to the texts, which must outlive it. */
enum yaml_event_mark {
    YAML_EVENT_LINE = '\n', /* the next line begins */
    YAML_EVENT_MAPPING = '{',
    YAML_EVENT_SEQUENCE = '[',
    YAML_EVENT_CLOSE = '}',
    YAML_EVENT_TEXT = ':',
    YAML_EVENT_QUOTED = '"'
};
struct yaml_document *yaml_document_replay(const char *events, const char *source,
                                           struct error_info *err);

void yaml_document_free(struct yaml_document *document);
const struct yaml_node *yaml_document_root(const struct yaml_document *document);
const char *yaml_document_source(const struct yaml_document *document);

/* "key:" with nothing behind it, as where all that belongs to it is a comment. */
bool yaml_node_is_empty(const struct yaml_node *node);
const struct yaml_node *yaml_node_get(const struct yaml_node *mapping,
                                      const char *key); /* or NULL */

/* "job.yaml:12: policy.tp_within: <formatted>"; the path is the keys from the root, with
 * [i] for list positions. Always returns -1. */
int yaml_node_error(const struct yaml_node *node, struct error_info *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* yaml_document_parse and yaml_document_check_schema. */
struct yaml_document *yaml_document_open(const char *text, size_t bytes, const char *source,
                                         const char *schema, struct error_info *err);

/* Refuses a root that is not a mapping or whose `schema:` is missing or another one,
 * naming the expected one. */
int yaml_document_check_schema(const struct yaml_document *document, const char *schema,
                               struct error_info *err);

#ifdef TEXTS_PACKED /* base/texts/packed_text.h */
#define yaml_node_error(node, err, format, ...)                                                    \
    (yaml_node_error)(node, err, PACKED_TEXT(format), ##__VA_ARGS__)
#endif

DEFINE_CLEANUP(yaml_document);

#endif
