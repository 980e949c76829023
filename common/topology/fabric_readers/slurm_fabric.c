/* SPDX-License-Identifier: MIT */
/* Slurm's topology.conf and the text of `scontrol show topology`, which uses the same words. */
#include "base/parse_number.h"
#include "base/yaml_fields.h"
#include "topology/fabric.h"
#include <string.h>
#include <strings.h>

#define FIRST_CAPACITY 64u
#define BLANKS " \t\r"
#define READER_MAXIMUM_BYTES ((size_t)256 << 20)

enum slurm_key { KEY_SWITCH, KEY_NODES, KEY_SWITCHES, KEY_LINK_SPEED, KEY_LEVEL, KEY_COUNT };

static const char *const key_names[KEY_COUNT] = {
    [KEY_SWITCH] = "SwitchName",    [KEY_NODES] = "Nodes", [KEY_SWITCHES] = "Switches",
    [KEY_LINK_SPEED] = "LinkSpeed", [KEY_LEVEL] = "Level",
};

/* Words of other topologies, to say what they are instead of "unknown key". */
static const char *const other_topologies[] = {"BlockName", "BlockSizes", "AggregatedBlock",
                                               "RingName", "Include"};

struct reader {
    const char *source;
    unsigned line;
    struct fabric_switch_input *switches;
    size_t count, capacity;
    struct arena *arena; /* names and places */
};

static void free_switches(struct reader *reader)
{
    for (size_t i = 0; i < reader->count; i++) {
        node_list_free((struct node_list *)reader->switches[i].nodes);
        node_list_free((struct node_list *)reader->switches[i].children);
    }
    memory_free(reader->switches);
    arena_free(reader->arena);
}

/* Length of a backslash at the end of a line, with that end; 0: none here. */
static size_t continuation(const char *text)
{
    if (text[0] != '\\')
        return 0;
    return text[1] == '\n' ? 2 : text[1] == '\r' && text[2] == '\n' ? 3 : 0;
}

/* Cuts the next logical line out of the text, in place: a backslash at the end of a line joins
 * the next one to it, with nothing between, as Slurm does. NULL at the end. */
static char *next_line(char **text, unsigned *line, unsigned *next)
{
    char *start = *text, *read = start, *write = start;
    if (!*start)
        return NULL;
    *line = *next;
    while (*read && *read != '\n') {
        size_t joined = continuation(read);
        *next += joined > 0;
        if (joined > 0)
            read += joined;
        else
            *write++ = *read++;
    }
    (*next)++;
    *text = *read ? read + 1 : read;
    *write = '\0';
    return start;
}

static void cut_comment(char *line)
{
    bool quoted = false;
    for (; *line; line++) {
        quoted = quoted != (*line == '"');
        if (*line == '#' && !quoted)
            *line = '\0';
        if (!*line)
            return;
    }
}

static int find_key(const struct reader *reader, const char *key, enum slurm_key *ret,
                    struct error_info *err)
{
    for (unsigned i = 0; i < KEY_COUNT; i++) {
        if (strcasecmp(key, key_names[i]) != 0)
            continue;
        *ret = (enum slurm_key)i;
        return 0;
    }
    for (size_t i = 0; i < COUNT_OF(other_topologies); i++)
        if (strcasecmp(key, other_topologies[i]) == 0)
            return error_set(err,
                             "%s:%u: %s= is not read; a tree (SwitchName=) is expected, or a "
                             "cluster file with nvlink_domains",
                             reader->source, reader->line, other_topologies[i]);
    const char *nearest = name_nearest(key, key_names, KEY_COUNT);
    return error_set(err, "%s:%u: unknown key %s%s%s", reader->source, reader->line, key,
                     nearest ? "; did you mean "
                             : "; SwitchName, Nodes, Switches and LinkSpeed "
                               "are known",
                     nearest ? nearest : "");
}

/* The next KEY=VALUE of the line. *ret_key is NULL at the end. */
static int next_pair(const struct reader *reader, char **line, char **ret_key, char **ret_value,
                     struct error_info *err)
{
    char *key = *line + strspn(*line, BLANKS);
    *ret_key = *key ? key : NULL;
    if (!*key)
        return 0;
    char *equals = key + strcspn(key, "=" BLANKS);
    if (*equals != '=' || equals == key)
        return error_set(err, "%s:%u: KEY=VALUE is expected at '%.40s'", reader->source,
                         reader->line, key);
    *equals = '\0';
    bool quoted = equals[1] == '"';
    char *value = equals + (quoted ? 2 : 1);
    char *end = value + strcspn(value, quoted ? "\"" : BLANKS);
    if (quoted && !*end)
        return error_set(err, "%s:%u: %s: the closing '\"' is missing", reader->source,
                         reader->line, key);
    *line = *end ? end + 1 : end;
    *end = '\0';
    *ret_value = value;
    return 0;
}

/* "(null)" is what scontrol prints where there is nothing. */
static bool is_empty(const char *value) { return !*value || strcmp(value, "(null)") == 0; }

static int decode_list(const struct reader *reader, enum slurm_key key, const char *value,
                       const struct node_list **ret, struct error_info *err)
{
    struct node_list *list = node_list_decode(value, err);
    if (!list)
        return error_prefix(err, "%s:%u: %s", reader->source, reader->line, key_names[key]);
    *ret = list;
    return 0;
}

static int read_value(struct reader *reader, struct fabric_switch_input *entry, enum slurm_key key,
                      const char *value, struct error_info *err)
{
    uint64_t level;
    switch (key) {
    case KEY_SWITCH:
        entry->name = arena_copy_text(reader->arena, value);
        return entry->name ? 0 : error_set_memory(err);
    case KEY_NODES:
        return is_empty(value) ? 0 : decode_list(reader, key, value, &entry->nodes, err);
    case KEY_SWITCHES:
        return is_empty(value) ? 0 : decode_list(reader, key, value, &entry->children, err);
    case KEY_LEVEL:
        /* Tiers follow from the tree; a level that is no number is a sign of other input. */
        if (parse_unsigned(value, 0, UINT16_MAX, &level, err) < 0)
            return error_prefix(err, "%s:%u: Level", reader->source, reader->line);
        return 0;
    case KEY_LINK_SPEED: /* in units of the admin's own choice: says nothing to us */
    case KEY_COUNT:
        break;
    }
    return 0;
}

static int grow(struct reader *reader, struct error_info *err)
{
    if (reader->count == FABRIC_MAXIMUM_SWITCHES)
        return error_set(err, "%s:%u: more than %u switches", reader->source, reader->line,
                         FABRIC_MAXIMUM_SWITCHES);
    if (reader->count < reader->capacity)
        return 0;
    size_t capacity = reader->capacity ? reader->capacity * 2 : FIRST_CAPACITY;
    struct fabric_switch_input *switches =
        memory_grow_array(reader->switches, reader->capacity, capacity, sizeof(*reader->switches));
    if (!switches) {
        error_set_memory(err);
        return -1;
    }
    reader->switches = switches;
    reader->capacity = capacity;
    return 0;
}

static int read_pairs(struct reader *reader, char *line, struct fabric_switch_input *entry,
                      struct error_info *err)
{
    unsigned seen = 0;
    for (;;) {
        char *key_text = NULL, *value = NULL;
        enum slurm_key key = KEY_COUNT;
        if (next_pair(reader, &line, &key_text, &value, err) < 0)
            return -1;
        if (!key_text)
            break;
        if (find_key(reader, key_text, &key, err) < 0)
            return -1;
        if (seen & 1u << key)
            return error_set(err, "%s:%u: %s= stands twice", reader->source, reader->line,
                             key_names[key]);
        seen |= 1u << key;
        if (read_value(reader, entry, key, value, err) < 0)
            return -1;
    }
    if (!entry->name || !*entry->name)
        return error_set(err, "%s:%u: SwitchName= is missing", reader->source, reader->line);
    return 0;
}

static int read_line(struct reader *reader, char *line, struct error_info *err)
{
    cut_comment(line);
    line += strspn(line, BLANKS);
    if (!*line)
        return 0;
    if (grow(reader, err) < 0)
        return -1;
    struct fabric_switch_input *entry = &reader->switches[reader->count++];
    entry->where = arena_format(reader->arena, "%s:%u", reader->source, reader->line);
    if (!entry->where)
        return error_set_memory(err);
    return read_pairs(reader, line, entry, err);
}

static struct fabric *read_text(struct reader *reader, char *text, struct error_info *err)
{
    unsigned next = 1;
    char *line;
    reader->arena = arena_create(READER_MAXIMUM_BYTES);
    if (!reader->arena)
        return error_null(error_set_memory(err));
    while ((line = next_line(&text, &reader->line, &next)))
        if (read_line(reader, line, err) < 0)
            return NULL;
    if (reader->count == 0)
        return error_null(error_set(err,
                                    "%s: no SwitchName= line: the file, or the controller, "
                                    "describes no tree of switches",
                                    reader->source));
    return fabric_create(reader->source, reader->switches, reader->count, NULL, 0, err);
}

struct fabric *fabric_parse_slurm(const char *text, size_t bytes, const char *source,
                                  struct error_info *err)
{
    if (bytes > FABRIC_TEXT_MAXIMUM_BYTES)
        return error_null(
            error_set(err, "%s: larger than %zu MiB", source, FABRIC_TEXT_MAXIMUM_BYTES >> 20));
    if (bytes > 0 && memchr(text, '\0', bytes))
        return error_null(error_set(err, "%s: has a NUL byte; a text file is expected", source));
    CLEANUP_MEMORY char *copy = memory_copy_bytes(text, bytes);
    if (!copy)
        return error_null(error_set_memory(err));
    struct reader reader = {.source = source};
    struct fabric *fabric = read_text(&reader, copy, err);
    free_switches(&reader);
    return fabric;
}
