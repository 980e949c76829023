/* SPDX-License-Identifier: MIT */
/* Slurm's topology.conf and the text of `scontrol show topology`, which uses the same words. */
#include "base/parse_number.h"
#include "base/yaml_fields.h"
#include "topology/fabric_readers/slurm_blocks.h"
#include <string.h>
#include <strings.h>

#define BLANKS " \t\r"

enum slurm_key {
    KEY_SWITCH, /* the first four say what a line is */
    KEY_BLOCK,
    KEY_AGGREGATE,
    KEY_SIZES,
    HEAD_COUNT,
    KEY_NODES = HEAD_COUNT,
    KEY_SWITCHES,
    KEY_LINK_SPEED, /* in units of the admin's own choice: says nothing to us */
    KEY_LEVEL,      /* follows from the tree */
    KEY_INDEX,
    KEY_SIZE,
    KEY_COUNT
};

static const char *const key_names[KEY_COUNT] = {
    [KEY_SWITCH] = "SwitchName",    [KEY_BLOCK] = "BlockName", [KEY_AGGREGATE] = "AggregatedBlock",
    [KEY_SIZES] = "BlockSizes",     [KEY_NODES] = "Nodes",     [KEY_SWITCHES] = "Switches",
    [KEY_LINK_SPEED] = "LinkSpeed", [KEY_LEVEL] = "Level",     [KEY_INDEX] = "BlockIndex",
    [KEY_SIZE] = "BlockSize",
};

#define BLOCK_KEYS (1u << KEY_NODES | 1u << KEY_INDEX | 1u << KEY_SIZE)

/* What a line may hold beside its head. */
static const unsigned beside_head[HEAD_COUNT] = {
    [KEY_SWITCH] = 1u << KEY_NODES | 1u << KEY_SWITCHES | 1u << KEY_LINK_SPEED | 1u << KEY_LEVEL,
    [KEY_BLOCK] = BLOCK_KEYS,
    [KEY_AGGREGATE] = BLOCK_KEYS,
};

struct reader {
    struct fabric_draft *draft;
    const char *source;
    unsigned line;
    unsigned hidden_line;      /* the first BlockName= or SwitchName= in a comment, or 0 */
    char *values[KEY_COUNT];   /* of the line at hand */
    const char *id, *id_block; /* of the comments above: for the next block, or that one */
    bool is_part;              /* BlockIndex= shows that blocks are left out */
    struct slurm_block_sizes sizes;
};

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

/* The comment behind the line, which it is cut off from; or NULL. */
static char *cut_comment(char *line)
{
    bool quoted = false;
    for (; *line; line++) {
        quoted = quoted != (*line == '"');
        if (*line != '#' || quoted)
            continue;
        *line = '\0';
        return line + 1;
    }
    return NULL;
}

/* "<uuid> <clique>" to "<uuid>.<clique>". */
static void join_words(char *text)
{
    char *blank = text + strcspn(text, BLANKS);
    char *second = blank + strspn(blank, BLANKS);
    if (!*second)
        return;
    *blank = '.';
    memmove(blank + 1, second, strlen(second) + 1);
}

static bool is_hidden_line(const char *text)
{
    return strncasecmp(text, "BlockName=", 10) == 0 || strncasecmp(text, "SwitchName=", 11) == 0;
}

/* "ClusterUUID and CliqueID: <uuid> <clique>" as Azure's tools write it, and "block=domain" as
 * topograph does, stand above a block. */
static void note_comment(struct reader *reader, char *text)
{
    text += strspn(text, "#" BLANKS);
    size_t end = strlen(text);
    while (end > 0 && strchr(BLANKS, text[end - 1]))
        text[--end] = '\0';
    char *equals = strchr(text, '='), *colon = strchr(text, ':');
    if (is_hidden_line(text)) {
        reader->hidden_line = reader->hidden_line > 0 ? reader->hidden_line : reader->line;
    } else if (strncasecmp(text, "ClusterUUID", 11) == 0 && colon) {
        char *id = colon + 1 + strspn(colon + 1, BLANKS);
        join_words(id);
        reader->id = *id ? id : NULL;
        reader->id_block = NULL;
    } else if (equals && !text[strcspn(text, BLANKS)]) {
        *equals = '\0';
        reader->id = equals + 1;
        reader->id_block = text;
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
    if (strcasecmp(key, "RingName") == 0)
        return error_set(err,
                         "%s:%u: RingName= is not read; describe the network with SwitchName= or "
                         "BlockName=, or in a cluster file",
                         reader->source, reader->line);
    const char *nearest = name_nearest(key, key_names, KEY_COUNT);
    return error_set(
        err, "%s:%u: unknown key %s; %s%s", reader->source, reader->line, key,
        nearest ? "did you mean "
                : UNPACKED_TEXT("SwitchName, Nodes, Switches, BlockName and BlockSizes are known"),
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

static int store_value(struct reader *reader, enum slurm_key key, char *value,
                       struct error_info *err)
{
    if ((key == KEY_NODES || key == KEY_SWITCHES) && strchr(value, '{'))
        return error_set(err,
                         "%s:%u: %s=%.40s is a function that only slurmctld can resolve; write the "
                         "names out",
                         reader->source, reader->line, key_names[key], value);
    /* "(null)" is what scontrol prints where there is nothing. */
    reader->values[key] = *value && strcmp(value, "(null)") != 0 ? value : NULL;
    return 0;
}

static int read_pairs(struct reader *reader, char *line, unsigned *ret_seen, struct error_info *err)
{
    memset(reader->values, 0, sizeof(reader->values));
    for (;;) {
        char *key_text = NULL, *value = line;
        enum slurm_key key = KEY_COUNT;
        if (next_pair(reader, &line, &key_text, &value, err) < 0)
            return -1;
        if (!key_text)
            return 0;
        if (find_key(reader, key_text, &key, err) < 0)
            return -1;
        if (*ret_seen & 1u << key)
            return error_set(err, "%s:%u: %s= stands twice", reader->source, reader->line,
                             key_names[key]);
        *ret_seen |= 1u << key;
        if (store_value(reader, key, value, err) < 0)
            return -1;
    }
}

static int read_number(const struct reader *reader, enum slurm_key key, uint64_t *ret,
                       struct error_info *err)
{
    if (reader->values[key] && parse_unsigned(reader->values[key], 0, UINT32_MAX, ret, err) < 0)
        return error_prefix(err, "%s:%u: %s", reader->source, reader->line, key_names[key]);
    return 0;
}

static int note_size(struct reader *reader, enum slurm_key key, const char *text,
                     struct error_info *err)
{
    if (text && slurm_block_sizes_add(&reader->sizes, text, err) < 0)
        return error_prefix(err, "%s:%u: %s", reader->source, reader->line, key_names[key]);
    return 0;
}

static int read_switch(struct reader *reader, struct error_info *err)
{
    struct fabric_draft *draft = reader->draft;
    size_t index = fabric_draft_switch_count(draft);
    const char *nodes = reader->values[KEY_NODES], *children = reader->values[KEY_SWITCHES];
    uint64_t ignored;
    if (read_number(reader, KEY_LEVEL, &ignored, err) < 0 ||
        !fabric_draft_add_switch(draft, reader->values[KEY_SWITCH], reader->line, err) ||
        (nodes && fabric_draft_decode_nodes(draft, index, nodes, err) < 0) ||
        (children && fabric_draft_decode_children(draft, index, children, err) < 0))
        return -1;
    return 0;
}

static int read_block(struct reader *reader, struct error_info *err)
{
    struct fabric_draft *draft = reader->draft;
    size_t number = fabric_draft_domain_count(draft);
    const char *nodes = reader->values[KEY_NODES], *name = reader->values[KEY_BLOCK];
    bool is_named = !reader->id_block || strcmp(reader->id_block, name) == 0;
    uint64_t index = number;
    if (read_number(reader, KEY_INDEX, &index, err) < 0 ||
        note_size(reader, KEY_SIZE, reader->values[KEY_SIZE], err) < 0 ||
        fabric_draft_add_domain(draft, name, is_named ? reader->id : NULL, reader->line, err) < 0)
        return -1;
    fabric_draft_set_candidate(draft, number);
    if (nodes && fabric_draft_decode_domain(draft, number, nodes, err) < 0)
        return -1;
    reader->is_part = reader->is_part || index != number;
    return 0;
}

static int read_sizes(struct reader *reader, struct error_info *err)
{
    for (char *next, *size = reader->values[KEY_SIZES]; size; size = next) {
        next = strchr(size, ',');
        if (next)
            *next++ = '\0';
        if (note_size(reader, KEY_SIZES, size, err) < 0)
            return -1;
    }
    return 0;
}

static int read_line(struct reader *reader, char *line, struct error_info *err)
{
    unsigned seen = 0, head = 0;
    if (read_pairs(reader, line, &seen, err) < 0)
        return -1;
    while (head < HEAD_COUNT && !reader->values[head])
        head++;
    if (head == HEAD_COUNT)
        return error_set(err, "%s:%u: SwitchName= or BlockName= is missing", reader->source,
                         reader->line);
    for (unsigned key = 0; key < KEY_COUNT; key++)
        if (seen & ~beside_head[head] & 1u << key && key != head)
            return error_set(err, "%s:%u: %s= does not belong to a line with %s=", reader->source,
                             reader->line, key_names[key], key_names[head]);
    switch (head) {
    case KEY_SWITCH:
        return read_switch(reader, err);
    case KEY_BLOCK:
        return read_block(reader, err);
    case KEY_SIZES:
        return read_sizes(reader, err);
    default: /* an aggregate: its place follows from its size */
        return note_size(reader, KEY_SIZE, reader->values[KEY_SIZE], err);
    }
}

static int read_lines(struct reader *reader, char *text, struct error_info *err)
{
    unsigned next = 1;
    char *line;
    while ((line = next_line(&text, &reader->line, &next))) {
        char *comment = cut_comment(line);
        if (!line[strspn(line, BLANKS)]) {
            if (comment)
                note_comment(reader, comment);
            continue;
        }
        if (read_line(reader, line, err) < 0)
            return -1;
        reader->id = NULL;
        reader->id_block = NULL;
    }
    return 0;
}

static int finish(struct reader *reader, struct error_info *err)
{
    size_t switches = fabric_draft_switch_count(reader->draft);
    size_t blocks = fabric_draft_domain_count(reader->draft);
    if (switches + blocks == 0 && reader->hidden_line > 0)
        return error_set(err,
                         "%s:%u: every block or switch is a comment, the first one here; remove "
                         "the '#' where the line is meant",
                         reader->source, reader->hidden_line);
    if (switches + blocks == 0)
        return error_set(
            err, "%s: no SwitchName= or BlockName= line, so no tree of switches and no blocks",
            reader->source);
    if (reader->is_part && reader->sizes.count > 1) {
        reader->sizes.count = 1;
        fabric_draft_warn(reader->draft, "%s: only a part of the blocks; aggregates are left out",
                          reader->source);
    }
    return switches > 0 ? 0 : slurm_blocks_place(reader->draft, &reader->sizes, err);
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
    CLEANUP(fabric_draft) struct fabric_draft *draft = fabric_draft_create(source, err);
    struct reader reader = {.draft = draft, .source = source};
    if (!draft || read_lines(&reader, copy, err) < 0 || finish(&reader, err) < 0)
        return NULL;
    return fabric_draft_build(draft, err);
}
