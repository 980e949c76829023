/* SPDX-License-Identifier: MIT */
#include "base/yaml_document.h"
#include "base/arena.h"
#include "base/name_index.h"
#include "base/text_buffer.h"
#include <stdarg.h>
#include <string.h>
#include <yaml.h>

#define FIRST_CAPACITY 16u
#define PATH_BYTES 512u
#define SHORT_MAPPING 16u /* up to here, comparing all keys is cheaper than an index */

struct yaml_document {
    struct arena *arena;
    const char *source;
    const struct yaml_node *root;
};

/* A sequence or mapping that is still open. Its children collect on the builder's stack
 * and move to the arena when it closes. */
struct open_collection {
    struct yaml_node *node;
    size_t first_child;
    const char *key; /* waiting for its value, in a mapping */
    unsigned key_line;
};

struct builder {
    struct yaml_document *document;
    yaml_parser_t parser;
    struct open_collection open[YAML_MAXIMUM_DEPTH];
    size_t depth;
    const struct yaml_node **children;
    size_t child_count;
    size_t child_capacity;
    size_t node_count;
    unsigned documents;
    bool json;
    struct error_info *err;
};

static int error_at(struct builder *builder, unsigned line, const char *text)
{
    return error_set(builder->err, "%s:%u: %s", builder->document->source, line, text);
}

static int push_child(struct builder *builder, const struct yaml_node *node)
{
    if (builder->child_count == builder->child_capacity) {
        size_t capacity = builder->child_capacity ? builder->child_capacity * 2 : FIRST_CAPACITY;
        const struct yaml_node **grown =
            memory_grow_array(builder->children, builder->child_capacity, capacity, sizeof(*grown));
        if (!grown)
            return error_set_memory(builder->err);
        builder->children = grown;
        builder->child_capacity = capacity;
    }
    builder->children[builder->child_count++] = node;
    return 0;
}

static struct open_collection *innermost(struct builder *builder)
{
    return builder->depth > 0 ? &builder->open[builder->depth - 1] : NULL;
}

/* Whether the next scalar is a key. */
static bool expects_key(struct builder *builder)
{
    const struct open_collection *open = innermost(builder);
    return open && open->node->kind == YAML_MAPPING && !open->key;
}

static struct yaml_node *add_node(struct builder *builder, enum yaml_kind kind, unsigned line)
{
    if (++builder->node_count > YAML_MAXIMUM_NODES) {
        error_at(builder, line, UNPACKED_TEXT("the file has too many values"));
        return NULL;
    }
    struct yaml_node *node = arena_allocate(builder->document->arena, sizeof(*node));
    if (!node)
        return error_null(error_set_memory(builder->err));
    *node = (struct yaml_node){.kind = kind, .line = line, .document = builder->document};
    struct open_collection *open = innermost(builder);
    if (!open) {
        builder->document->root = node;
        return node;
    }
    node->parent = open->node;
    node->position = builder->child_count - open->first_child;
    if (open->key) {
        node->key = move_pointer(open->key);
        node->line = open->key_line; /* where people look for it */
    }
    return push_child(builder, node) < 0 ? NULL : node;
}

/* A key, or a value; the text is the document's. */
static int add_text(struct builder *builder, const char *text, bool quoted, unsigned line)
{
    if (expects_key(builder)) {
        struct open_collection *open = innermost(builder);
        open->key = text;
        open->key_line = line;
        return 0;
    }
    struct yaml_node *node = add_node(builder, YAML_SCALAR, line);
    if (!node)
        return -1;
    node->text = text;
    node->quoted = quoted;
    return 0;
}

static int error_marked(struct builder *builder, unsigned line)
{
    return error_at(builder, line,
                    UNPACKED_TEXT("anchors and tags are not supported; write the value out"));
}

static int add_scalar(struct builder *builder, const yaml_event_t *event, unsigned line)
{
    const char *value = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    if (memchr(value, '\0', length))
        return error_at(builder, line, UNPACKED_TEXT("a text holds a NUL character"));
    char *text = arena_copy_bytes(builder->document->arena, value, length);
    if (!text)
        return error_set_memory(builder->err);
    return add_text(builder, text, event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE, line);
}

static int open_collection(struct builder *builder, enum yaml_kind kind, unsigned line)
{
    if (expects_key(builder))
        return error_at(builder, line, UNPACKED_TEXT("a key must be plain text"));
    if (builder->depth == YAML_MAXIMUM_DEPTH)
        return error_set(builder->err, "%s:%u: nested deeper than %u levels",
                         builder->document->source, line, YAML_MAXIMUM_DEPTH);
    struct yaml_node *node = add_node(builder, kind, line);
    if (!node)
        return -1;
    builder->open[builder->depth++] =
        (struct open_collection){.node = node, .first_child = builder->child_count};
    return 0;
}

static int error_duplicate(const struct yaml_node *node, unsigned first_line,
                           struct error_info *err)
{
    return yaml_node_error(node, err, "the key stands twice, first in line %u", first_line);
}

static int check_keys_by_index(const struct yaml_node *mapping, struct error_info *err)
{
    CLEANUP(name_index) struct name_index *index = name_index_create();
    if (!index)
        return error_set_memory(err);
    for (size_t i = 0; i < mapping->child_count; i++) {
        const struct yaml_node *child = mapping->children[i];
        int added = name_index_add(index, child->key, i);
        if (added < 0)
            return error_set_memory(err);
        if (added > 0)
            return error_duplicate(
                child, mapping->children[name_index_find(index, child->key)]->line, err);
    }
    return 0;
}

static int check_keys(const struct yaml_node *mapping, struct error_info *err)
{
    if (mapping->child_count > SHORT_MAPPING)
        return check_keys_by_index(mapping, err);
    for (size_t i = 1; i < mapping->child_count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(mapping->children[i]->key, mapping->children[j]->key) == 0)
                return error_duplicate(mapping->children[i], mapping->children[j]->line, err);
    return 0;
}

static int close_collection(struct builder *builder)
{
    struct open_collection *open = innermost(builder);
    size_t count = builder->child_count - open->first_child;
    const struct yaml_node **children =
        arena_allocate_array(builder->document->arena, count, sizeof(*children));
    if (!children)
        return error_set_memory(builder->err);
    if (count > 0)
        memcpy(children, builder->children + open->first_child, count * sizeof(*children));
    open->node->children = children;
    open->node->child_count = count;
    builder->child_count = open->first_child;
    builder->depth--;
    return open->node->kind == YAML_MAPPING ? check_keys(open->node, builder->err) : 0;
}

static int handle_event(struct builder *builder, const yaml_event_t *event)
{
    unsigned line = (unsigned)event->start_mark.line + 1;
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return ++builder->documents > 1
                   ? error_at(builder, line, UNPACKED_TEXT("a second document starts"))
                   : 0;
    case YAML_ALIAS_EVENT:
        return error_at(builder, line,
                        UNPACKED_TEXT("aliases are not supported; write the value out"));
    case YAML_SCALAR_EVENT:
        if (event->data.scalar.anchor || event->data.scalar.tag)
            return error_marked(builder, line);
        return add_scalar(builder, event, line);
    case YAML_SEQUENCE_START_EVENT:
        if (event->data.sequence_start.anchor || event->data.sequence_start.tag)
            return error_marked(builder, line);
        return open_collection(builder, YAML_SEQUENCE, line);
    case YAML_MAPPING_START_EVENT:
        if (event->data.mapping_start.anchor || event->data.mapping_start.tag)
            return error_marked(builder, line);
        return open_collection(builder, YAML_MAPPING, line);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return close_collection(builder);
    default:
        return 0;
    }
}

/* Elsewhere the scanner skips tabs. */
static bool stands_at_tab(const yaml_parser_t *parser)
{
    return parser->error == YAML_SCANNER_ERROR && *parser->buffer.pointer == '\t';
}

/* The reader knows only a byte offset where the scanner knows a line. */
static int error_from_parser(struct builder *builder, const char *text)
{
    const yaml_parser_t *parser = &builder->parser;
    if (parser->error == YAML_MEMORY_ERROR)
        return error_set_memory(builder->err);
    unsigned line = (unsigned)parser->problem_mark.line + 1;
    if (parser->error == YAML_READER_ERROR) {
        line = 1;
        for (size_t i = 0; i < parser->problem_offset; i++)
            line += text[i] == '\n';
    }
    return error_set(
        builder->err, "%s:%u: not valid %s: %s%s%s%s", builder->document->source, line,
        builder->json ? "JSON" : "YAML", parser->context ? parser->context : "",
        parser->context ? ", " : "", parser->problem ? parser->problem : "unknown problem",
        stands_at_tab(parser) ? UNPACKED_TEXT("; a tab indents here, use spaces") : "");
}

static int run_parser(struct builder *builder, const char *text)
{
    for (;;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&builder->parser, &event))
            return error_from_parser(builder, text);
        yaml_event_type_t type = event.type;
        int result = handle_event(builder, &event);
        yaml_event_delete(&event);
        if (result < 0 || type == YAML_STREAM_END_EVENT)
            return result;
    }
}

/* \ud800 to \udfff, the halves of a pair, become \ufffd. */
static char *copy_without_surrogates(const char *text, size_t bytes)
{
    static const char replacement[] = {'f', 'f', 'f', 'd'};
    char *copy = memory_copy_bytes(text, bytes);
    for (size_t i = 0; copy && i + 5 < bytes; i++)
        if (copy[i] == '\\' && copy[++i] == 'u' && (copy[i + 1] | 0x20) == 'd' &&
            copy[i + 2] >= '8')
            memcpy(&copy[i + 1], replacement, sizeof(replacement));
    return copy;
}

static int build(struct yaml_document *document, const char *text, size_t bytes,
                 struct error_info *err)
{
    struct builder builder = {
        .document = document,
        .json = bytes > 0 && (text[0] == '{' || text[0] == '['),
        .err = err,
    };
    CLEANUP_MEMORY char *copy = builder.json ? copy_without_surrogates(text, bytes) : NULL;
    if (builder.json && !(text = copy))
        return error_set_memory(err);
    if (!yaml_parser_initialize(&builder.parser))
        return error_set_memory(err);
    yaml_parser_set_encoding(&builder.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&builder.parser, (const unsigned char *)text, bytes);
    int result = run_parser(&builder, text);
    yaml_parser_delete(&builder.parser);
    memory_free(builder.children);
    if (result == 0 && !document->root)
        return error_set(err, "%s: the file is empty", document->source);
    return result;
}

static struct yaml_document *create(const char *source, struct error_info *err)
{
    CLEANUP(yaml_document)
    struct yaml_document *document = memory_allocate(sizeof(*document));
    if (!document)
        return error_null(error_set_memory(err));
    document->arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    if (!document->arena)
        return error_null(error_set_memory(err));
    document->source = arena_copy_text(document->arena, source);
    if (!document->source)
        return error_null(error_set_memory(err));
    return move_pointer(document);
}

struct yaml_document *yaml_document_parse(const char *text, size_t bytes, const char *source,
                                          struct error_info *err)
{
    if (bytes > YAML_MAXIMUM_BYTES)
        return error_null(error_set(err, "%s: %zu bytes are too many; at most %zu are possible",
                                    source, bytes, YAML_MAXIMUM_BYTES));
    CLEANUP(yaml_document) struct yaml_document *document = create(source, err);
    if (!document || build(document, text, bytes, err) < 0)
        return NULL;
    return move_pointer(document);
}

static int replay(struct builder *builder, const char *events)
{
    unsigned line = 1;
    int result = 0;
    while (*events && result == 0) {
        char mark = *events++;
        switch (mark) {
        case YAML_EVENT_LINE:
            line++;
            break;
        case YAML_EVENT_MAPPING:
        case YAML_EVENT_SEQUENCE:
            result = open_collection(
                builder, mark == YAML_EVENT_MAPPING ? YAML_MAPPING : YAML_SEQUENCE, line);
            break;
        case YAML_EVENT_CLOSE:
            result = close_collection(builder);
            break;
        default:
            result = add_text(builder, events, mark == YAML_EVENT_QUOTED, line);
            events += strlen(events) + 1;
        }
    }
    return result;
}

struct yaml_document *yaml_document_replay(const char *events, const char *source,
                                           struct error_info *err)
{
    CLEANUP(yaml_document) struct yaml_document *document = create(source, err);
    struct builder builder = {.document = document, .err = err};
    int result = document ? replay(&builder, events) : -1;
    memory_free(builder.children);
    return result == 0 ? move_pointer(document) : NULL;
}

void yaml_document_free(struct yaml_document *document)
{
    if (!document)
        return;
    arena_free(document->arena);
    memory_free(document);
}

const struct yaml_node *yaml_document_root(const struct yaml_document *document)
{
    return document->root;
}

const char *yaml_document_source(const struct yaml_document *document) { return document->source; }

bool yaml_node_is_empty(const struct yaml_node *node)
{
    return node->kind == YAML_SCALAR && !node->quoted && node->text[0] == '\0';
}

const struct yaml_node *yaml_node_get(const struct yaml_node *mapping, const char *key)
{
    if (mapping->kind != YAML_MAPPING)
        return NULL;
    for (size_t i = 0; i < mapping->child_count; i++)
        if (strcmp(mapping->children[i]->key, key) == 0)
            return mapping->children[i];
    return NULL;
}

/* "policy.partitions[2].name", or nothing for the root. A path too long is cut. */
static void write_path(const struct yaml_node *node, char path[PATH_BYTES])
{
    const struct yaml_node *steps[YAML_MAXIMUM_DEPTH + 1];
    size_t count = 0;
    for (; node->parent; node = node->parent)
        steps[count++] = node;
    size_t length = 0;
    path[0] = '\0';
    while (count > 0 && length < PATH_BYTES) {
        const struct yaml_node *step = steps[--count];
        int added = step->key
                        ? snprintf(path + length, PATH_BYTES - length, "%s%s",
                                   length > 0 ? "." : "", step->key)
                        : snprintf(path + length, PATH_BYTES - length, "[%zu]", step->position);
        if (added < 0)
            return;
        length += (size_t)added;
    }
}

int yaml_document_check_schema(const struct yaml_document *document, const char *schema,
                               struct error_info *err)
{
    const struct yaml_node *root = document->root;
    if (root->kind != YAML_MAPPING)
        return yaml_node_error(root, err, "not a mapping; the file starts with 'schema: %s'",
                               schema);
    const struct yaml_node *found = yaml_node_get(root, "schema");
    if (!found)
        return yaml_node_error(root, err, "no schema; add the line 'schema: %s'", schema);
    if (found->kind != YAML_SCALAR)
        return yaml_node_error(found, err, "not a text; write 'schema: %s'", schema);
    if (strcmp(found->text, schema) != 0)
        return yaml_node_error(found, err, "'%.60s' is not supported here; write 'schema: %s'",
                               found->text, schema);
    return 0;
}

struct yaml_document *yaml_document_open(const char *text, size_t bytes, const char *source,
                                         const char *schema, struct error_info *err)
{
    CLEANUP(yaml_document)
    struct yaml_document *document = yaml_document_parse(text, bytes, source, err);
    return document && yaml_document_check_schema(document, schema, err) == 0
               ? move_pointer(document)
               : NULL;
}

#undef yaml_node_error /* the function itself: base/texts/packed_text.h */

int yaml_node_error(const struct yaml_node *node, struct error_info *err, const char *format, ...)
{
    if (!err)
        return -1;
    char reason[ERROR_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    text_format(reason, sizeof(reason), format, arguments);
    va_end(arguments);
    char path[PATH_BYTES];
    write_path(node, path);
    return error_set(err, "%s:%u: %s%s%s", node->document->source, node->line, path,
                     path[0] ? ": " : "", reason);
}
