/* SPDX-License-Identifier: MIT */
#include "mapping/evaluation/mapping_file.h"
#include "base/parse_number.h"
#include "mapping/evaluation/mapping_document.h"
#include "mapping/evaluation/place_draft.h"
#include "topology/fabric_readers/text_lines.h"
#include "workload/parallelism.h"
#include <string.h>

#define BLANKS " \t\r"
#define DIGITS "0123456789"

struct mapping_lines {
    struct text_lines lines;
    struct place_draft *draft;
    uint64_t world;
    uint64_t places; /* of hosts: ranks, or slots */
    bool has_slots;  /* there may be more places than ranks */
};

typedef int (*read_line_fn)(struct mapping_lines *mapping, char *line, struct error_info *err);

static char *skip_blanks(char *text) { return text + strspn(text, BLANKS); }

/* Cuts the text at the first of those characters; what follows it, or its end. */
static char *cut(char *text, const char *characters)
{
    char *end = text + strcspn(text, characters);
    if (*end == '\0')
        return end;
    *end = '\0';
    return end + 1;
}

static int error_here(const struct mapping_lines *mapping, struct error_info *err)
{
    return error_prefix(err, "%s:%u", mapping->lines.source, mapping->lines.number);
}

static int error_shape(const struct mapping_lines *mapping, const char *shape, const char *text,
                       struct error_info *err)
{
    error_set(err, "\"%s\" is expected, as in the lines before, at '%.40s'", shape, text);
    return error_here(mapping, err);
}

static int put(struct mapping_lines *mapping, uint64_t rank, const char *node,
               struct error_info *err)
{
    return place_draft_put(mapping->draft, mapping->lines.number, rank, node, RANK_PLACE_NONE, err);
}

static int read_rank(const struct mapping_lines *mapping, const char *text, uint64_t *ret,
                     struct error_info *err)
{
    if (parse_unsigned(text, 0, WORLD_MAXIMUM, ret, err) == 0)
        return 0;
    error_prefix(err, "rank");
    return error_here(mapping, err);
}

/* --- lists of hosts --------------------------------------------------------------- */

#define HOST_SHAPE "NODE, NODE slots=N or NODE:N"

static int read_count(struct mapping_lines *mapping, const char *name, const char *text,
                      uint64_t *ret, struct error_info *err)
{
    if (parse_unsigned(text, 1, WORLD_MAXIMUM, ret, err) == 0)
        return 0;
    error_prefix(err, "%s", name);
    return error_here(mapping, err);
}

/* The words behind the names: "slots=8 max_slots=16". *ret_slots stays without "slots". */
static int read_slots(struct mapping_lines *mapping, char *words, uint64_t *ret_slots,
                      struct error_info *err)
{
    static const char *const keys[] = {"slots", "max_slots", "max-slots"};
    while (*words) {
        char *next = skip_blanks(cut(words, BLANKS)), *value = cut(words, "=");
        size_t key = 0;
        uint64_t count;
        while (key < COUNT_OF(keys) && strcmp(words, keys[key]) != 0)
            key++;
        if (key == COUNT_OF(keys))
            return error_shape(mapping, HOST_SHAPE, words, err);
        if (read_count(mapping, words, value, &count, err) < 0)
            return -1;
        mapping->has_slots = true;
        *ret_slots = key == 0 ? count : *ret_slots;
        words = next;
    }
    return 0;
}

/* "n001", "n001*8" or "n001:8" */
static int put_host(struct mapping_lines *mapping, char *name, uint64_t slots,
                    struct error_info *err)
{
    size_t length = strcspn(name, "*:");
    uint64_t count = slots;
    bool is_slots = name[length] == ':';
    if (name[length]) {
        name[length] = '\0';
        if (read_count(mapping, name, name + length + 1, &count, err) < 0)
            return -1;
    }
    mapping->has_slots |= is_slots;
    for (uint64_t i = 0; i < count && mapping->places + i < mapping->world; i++) {
        if (put(mapping, mapping->places + i, name, err) < 0)
            return -1;
    }
    mapping->places += count;
    return 0;
}

static int read_host_line(struct mapping_lines *mapping, char *line, struct error_info *err)
{
    char *words = skip_blanks(cut(line, BLANKS)), *next;
    uint64_t slots = 1;
    if (read_slots(mapping, words, &slots, err) < 0)
        return -1;
    for (char *name = line; *name; name = next) {
        next = cut(name, ",");
        if (*name == '\0')
            return error_shape(mapping, HOST_SHAPE, next, err);
        if (put_host(mapping, name, slots, err) < 0)
            return -1;
    }
    return 0;
}

static bool is_any(const char *line)
{
    (void)line;
    return true;
}

/* --- rankfile --------------------------------------------------------------------- */

#define RANKFILE_SHAPE "rank R=NODE slot=S"

static bool is_rankfile(const char *line)
{
    return strncmp(line, "rank", 4) == 0 && (line[4] == ' ' || line[4] == '\t') &&
           strchr(line, '=');
}

/* "0", "0:1", "1-2", "0:0,2", "p3", "*": checked for its spelling alone. */
static bool is_slot_list(const char *text)
{
    return strpbrk(text, DIGITS "*") && text[strspn(text, DIGITS ":,-*pP")] == '\0';
}

/* Blanks may stand at both sides of each '='. */
static int read_rankfile_line(struct mapping_lines *mapping, char *line, struct error_info *err)
{
    uint64_t rank;
    if (!is_rankfile(line))
        return error_shape(mapping, RANKFILE_SHAPE, line, err);
    char *number = skip_blanks(line + 4), *node = skip_blanks(cut(number, "="));
    number[strcspn(number, BLANKS)] = '\0';
    char *key = skip_blanks(cut(node, BLANKS)), *value = skip_blanks(cut(key, "="));
    key[strcspn(key, BLANKS)] = '\0';
    if (read_rank(mapping, number, &rank, err) < 0)
        return -1;
    if (node[0] == '+') {
        error_set(err, "'%.40s' counts the nodes of an allocation; write the node's name", node);
        return error_here(mapping, err);
    }
    if (node[0] == '\0' || (strcmp(key, "slot") != 0 && strcmp(key, "slots") != 0) ||
        !is_slot_list(value))
        return error_shape(mapping, RANKFILE_SHAPE, node[0] ? key : node, err);
    return put(mapping, rank, node, err);
}

/* --- srun --label hostname -------------------------------------------------------- */

#define LABEL_SHAPE "R: NODE"

static bool is_labelled(const char *line)
{
    size_t digits = strspn(line, DIGITS);
    return digits > 0 && line[digits] == ':' && line[digits + 1] &&
           strchr(BLANKS, line[digits + 1]);
}

static int read_labelled_line(struct mapping_lines *mapping, char *line, struct error_info *err)
{
    uint64_t rank;
    if (!is_labelled(line))
        return error_shape(mapping, LABEL_SHAPE, line, err);
    const char *node = skip_blanks(cut(line, ":"));
    if (node[strcspn(node, BLANKS)])
        return error_shape(mapping, LABEL_SHAPE, node, err);
    return read_rank(mapping, line, &rank, err) < 0 ? -1 : put(mapping, rank, node, err);
}

/* --- any of them ------------------------------------------------------------------ */

static const struct line_format {
    bool (*fits)(const char *line);
    read_line_fn read;
    bool counts; /* lines in RANK order: their number is the number of ranks */
} formats[] = {
    {is_rankfile, read_rankfile_line, false},
    {is_labelled, read_labelled_line, false},
    {is_any, read_host_line, true},
};

static const struct line_format *format_of(const char *line)
{
    const struct line_format *format = formats;
    while (!format->fits(line))
        format++;
    return format;
}

static int read_lines(struct mapping_lines *mapping, struct error_info *err)
{
    const struct line_format *format = NULL;
    int status;
    while ((status = text_lines_next(&mapping->lines, err)) > 0) {
        format = format ? format : format_of(mapping->lines.text);
        if (format->read(mapping, mapping->lines.text, err) < 0)
            return -1;
    }
    if (status < 0)
        return -1;
    if (!format)
        return error_set(err, "%s: no rank is in it; give one line for each",
                         mapping->lines.source);
    bool too_many = mapping->places > mapping->world && !mapping->has_slots;
    if (format->counts && (mapping->places < mapping->world || too_many))
        return place_draft_wrong_count(mapping->draft, mapping->places, err);
    return 0;
}

static struct rank_places *parse_lines(const char *text, size_t bytes, const char *source,
                                       const struct cluster_topology *cluster, uint64_t world,
                                       struct error_info *err)
{
    CLEANUP_MEMORY struct mapping_lines *mapping = memory_allocate(sizeof(*mapping));
    if (!mapping)
        return error_null(error_set_memory(err));
    if (text_lines_init(&mapping->lines, text, bytes, source, err) < 0)
        return NULL;
    CLEANUP(place_draft)
    struct place_draft *draft = place_draft_create(cluster, world, source, PLACE_LINES, err);
    if (!draft)
        return NULL;
    mapping->draft = draft;
    mapping->world = world;
    return read_lines(mapping, err) < 0 ? NULL : place_draft_finish(draft, err);
}

struct rank_places *mapping_file_parse(const char *text, size_t bytes, const char *source,
                                       const struct cluster_topology *cluster, uint64_t world,
                                       struct error_info *err)
{
    size_t start = 0;
    while (start < bytes && text[start] && strchr(BLANKS "\n", text[start]))
        start++;
    bool is_document = start < bytes && text[start] == '{';
    return (is_document ? mapping_document_parse : parse_lines)(text, bytes, source, cluster, world,
                                                                err);
}
