/* SPDX-License-Identifier: MIT */
#include "topology/collect/node_stream.h"
#include "base/name_index.h"
#include "base/text_buffer.h"
#include <string.h>

#define LABEL_BYTES 16u
#define FIRST_CAPACITY 16u
#define SCHEMA_KEY "schema:"
#define SEPARATOR "---"

struct slice {
    const char *text;
    size_t bytes;
};

struct node_stream {
    struct slice *documents;
    size_t count, capacity;
    struct text_buffer *tasks; /* of `srun --label`: each task's lines */
    size_t task_count, task_capacity;
};

void node_stream_free(struct node_stream *stream)
{
    if (!stream)
        return;
    for (size_t i = 0; i < stream->task_count; i++)
        text_buffer_done(&stream->tasks[i]);
    memory_free(stream->tasks);
    memory_free(stream->documents);
    memory_free(stream);
}

size_t node_stream_count(const struct node_stream *stream) { return stream->count; }

const char *node_stream_document(const struct node_stream *stream, size_t index, size_t *ret_bytes)
{
    *ret_bytes = stream->documents[index].bytes;
    return stream->documents[index].text;
}

/* The array with room for one more; NULL: out of memory, and the old one stays. */
static void *make_room(void *array, size_t count, size_t *capacity, size_t element_bytes)
{
    if (count < *capacity)
        return array;
    size_t wanted = *capacity ? *capacity * 2 : FIRST_CAPACITY;
    void *grown = memory_grow_array(array, *capacity, wanted, element_bytes);
    if (grown)
        *capacity = wanted;
    return grown;
}

/* The line without its end; moves *rest behind it. */
static struct slice next_line(struct slice *rest)
{
    const char *end = memchr(rest->text, '\n', rest->bytes);
    struct slice line = {.text = rest->text,
                         .bytes = end ? (size_t)(end - rest->text) : rest->bytes};
    size_t taken = line.bytes + (end ? 1 : 0);
    rest->text += taken;
    rest->bytes -= taken;
    return line;
}

static bool is_blank(struct slice text)
{
    for (size_t i = 0; i < text.bytes; i++)
        if (text.text[i] != ' ' && text.text[i] != '\t' && text.text[i] != '\r' &&
            text.text[i] != '\n')
            return false;
    return true;
}

static bool begins_with(struct slice line, const char *word)
{
    size_t length = strlen(word);
    return line.bytes >= length && memcmp(line.text, word, length) == 0;
}

static bool is_separator(struct slice line)
{
    struct slice after = {.text = line.text + strlen(SEPARATOR)};
    if (!begins_with(line, SEPARATOR))
        return false;
    after.bytes = line.bytes - strlen(SEPARATOR);
    return is_blank(after);
}

static int add_document(struct node_stream *stream, const char *from, const char *to,
                        const char *source, struct error_info *err)
{
    struct slice document = {.text = from, .bytes = (size_t)(to - from)};
    if (is_blank(document))
        return 0;
    if (stream->count == NODE_STREAM_MAXIMUM_DOCUMENTS)
        return error_set(err, "%s: more than %u nodes", source, NODE_STREAM_MAXIMUM_DOCUMENTS);
    struct slice *documents =
        make_room(stream->documents, stream->count, &stream->capacity, sizeof(*documents));
    if (!documents)
        return error_set_memory(err);
    stream->documents = documents;
    documents[stream->count++] = document;
    return 0;
}

static int split_documents(struct node_stream *stream, struct slice text, const char *source,
                           struct error_info *err)
{
    const char *begin = text.text;
    bool has_schema = false;
    for (struct slice rest = text; rest.bytes > 0;) {
        struct slice line = next_line(&rest);
        bool schema = begins_with(line, SCHEMA_KEY), separator = is_separator(line);
        if (separator || (schema && has_schema)) {
            if (add_document(stream, begin, line.text, source, err) < 0)
                return -1;
            begin = separator ? rest.text : line.text;
            has_schema = false;
        }
        has_schema = has_schema || schema;
    }
    return add_document(stream, begin, text.text + text.bytes, source, err);
}

/* "  12: text": the bytes of the label, or 0. */
static size_t read_label(struct slice line, char label[LABEL_BYTES])
{
    size_t at = 0, length = 0;
    while (at < line.bytes && line.text[at] == ' ')
        at++;
    while (at < line.bytes && line.text[at] >= '0' && line.text[at] <= '9' &&
           length < LABEL_BYTES - 1)
        label[length++] = line.text[at++];
    label[length] = '\0';
    if (length == 0 || at == line.bytes || line.text[at] != ':')
        return 0;
    at++;
    return at + (at < line.bytes && line.text[at] == ' ');
}

static int add_line(struct node_stream *stream, struct name_index *labels, const char *label,
                    struct slice line, size_t maximum_bytes, struct error_info *err)
{
    int added = name_index_add(labels, label, stream->task_count);
    if (added < 0)
        return error_set_memory(err);
    if (added == 0) {
        struct text_buffer *tasks =
            make_room(stream->tasks, stream->task_count, &stream->task_capacity, sizeof(*tasks));
        if (!tasks)
            return error_set_memory(err);
        stream->tasks = tasks;
        text_buffer_init(&tasks[stream->task_count++], maximum_bytes);
    }
    struct text_buffer *task = &stream->tasks[name_index_find(labels, label)];
    text_buffer_add_bytes(task, line.text, line.bytes);
    text_buffer_add_bytes(task, "\n", 1);
    return text_buffer_failed(task) ? error_set_memory(err) : 0;
}

static int sort_lines(struct node_stream *stream, struct slice text, const char *source,
                      struct error_info *err)
{
    CLEANUP(name_index) struct name_index *labels = name_index_create();
    size_t maximum_bytes = text.bytes + 1;
    unsigned number = 0;
    if (!labels)
        return error_set_memory(err);
    while (text.bytes > 0) {
        char label[LABEL_BYTES];
        struct slice line = next_line(&text);
        number++;
        size_t skipped = read_label(line, label);
        if (skipped == 0 && is_blank(line))
            continue;
        if (skipped == 0)
            return error_set(err,
                             "%s:%u: the lines before begin with their task's number (\"3: \"), "
                             "this one does not",
                             source, number);
        line.text += skipped;
        line.bytes -= skipped;
        if (add_line(stream, labels, label, line, maximum_bytes, err) < 0)
            return -1;
    }
    return 0;
}

static int split(struct node_stream *stream, struct slice text, const char *source,
                 struct error_info *err)
{
    char label[LABEL_BYTES];
    if (read_label(text, label) == 0)
        return split_documents(stream, text, source, err);
    if (sort_lines(stream, text, source, err) < 0)
        return -1;
    for (size_t i = 0; i < stream->task_count; i++) {
        struct slice task = {.text = text_buffer_text(&stream->tasks[i]),
                             .bytes = stream->tasks[i].length};
        if (split_documents(stream, task, source, err) < 0)
            return -1;
    }
    return 0;
}

struct node_stream *node_stream_split(const char *text, size_t bytes, const char *source,
                                      struct error_info *err)
{
    CLEANUP(node_stream) struct node_stream *stream = memory_allocate(sizeof(*stream));
    if (!stream)
        return error_null(error_set_memory(err));
    if (split(stream, (struct slice){.text = text, .bytes = bytes}, source, err) < 0)
        return NULL;
    return move_pointer(stream);
}
