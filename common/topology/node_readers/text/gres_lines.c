/* SPDX-License-Identifier: MIT */
#include "topology/node_readers/text/gres_lines.h"
#include "base/cleanup.h"
#include "base/yaml_fields.h"
#include <string.h>
#include <strings.h>

#define BLANKS " \t\r"
#define OUTPUT_MARK "Gres Name="
#define OUTPUT_SKIP 5u /* "Gres " */

static const struct {
    const char *name;
    enum gres_key key;
} keys[] = {
    {"AutoDetect", GRES_AUTO_DETECT},
    {"Cores", GRES_CORES},
    {"Count", GRES_COUNT},
    {"File", GRES_FILE},
    {"Links", GRES_LINKS},
    {"MultipleFiles", GRES_MULTIPLE_FILES},
    {"Name", GRES_NAME},
    {"NodeName", GRES_NODE_NAME},
    {"Type", GRES_TYPE},
    {"CPUs", GRES_CORES}, /* before Slurm 15.08 */
    {"Flags", GRES_UNUSED},
    {"Index", GRES_UNUSED},
    {"ID", GRES_UNUSED},
    {"CoreCnt", GRES_UNUSED},
    {"UniqueId", GRES_UNUSED},
};

void gres_lines_init(struct gres_lines *lines, char *text, const char *source)
{
    *lines = (struct gres_lines){
        .source = source, .next = text, .number = 1, .is_output = strstr(text, OUTPUT_MARK)};
}

/* Length of a backslash at the end of a line, with that end; 0: none here. */
static size_t continuation(const char *text)
{
    if (text[0] != '\\')
        return 0;
    return text[1] == '\n' ? 2 : text[1] == '\r' && text[2] == '\n' ? 3 : 0;
}

/* The next line, with the lines that a backslash joins to it; NULL at the end. */
static char *cut_line(struct gres_lines *lines, unsigned *ret_number)
{
    char *start = lines->next, *read = start, *write = start;
    if (!*start)
        return NULL;
    *ret_number = lines->number;
    while (*read && *read != '\n') {
        size_t joined = continuation(read);
        lines->number += joined > 0;
        if (joined > 0)
            read += joined;
        else
            *write++ = *read++;
    }
    lines->number++;
    lines->next = *read ? read + 1 : read;
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

static int refuse_key(const struct gres_lines *lines, unsigned number, const char *key,
                      struct error_info *err)
{
    const char *names[COUNT_OF(keys)];
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        names[i] = keys[i].name;
    const char *nearest = name_nearest(key, names, COUNT_OF(keys));
    return error_set(err, "%s:%u: unknown key %.40s%s%s", lines->source, number, key,
                     nearest ? "; did you mean " : "; gres.conf's keys are expected",
                     nearest ? nearest : "");
}

/* GRES_KEY_COUNT: unknown. */
static enum gres_key find_key(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        if (strcasecmp(name, keys[i].name) == 0)
            return keys[i].key;
    return GRES_KEY_COUNT;
}

/* The next KEY=VALUE of the line; *ret_key is NULL at the end. */
static int next_pair(const struct gres_lines *lines, unsigned number, char **line, char **ret_key,
                     char **ret_value, struct error_info *err)
{
    char *key = *line + strspn(*line, BLANKS);
    *ret_key = *key ? key : NULL;
    if (!*key)
        return 0;
    char *equals = key + strcspn(key, "=" BLANKS);
    if (*equals != '=' || equals == key)
        return error_set(err, "%s:%u: KEY=VALUE is expected at '%.40s'", lines->source, number,
                         key);
    *equals = '\0';
    bool quoted = equals[1] == '"';
    char *value = equals + (quoted ? 2 : 1);
    char *end = value + strcspn(value, quoted ? "\"" : BLANKS);
    if (quoted && !*end)
        return error_set(err, "%s:%u: %.40s: the closing '\"' is missing", lines->source, number,
                         key);
    *line = *end ? end + 1 : end;
    *end = '\0';
    *ret_value = value;
    return 0;
}

static int read_pairs(const struct gres_lines *lines, char *text, struct gres_line *ret,
                      struct error_info *err)
{
    unsigned seen = 0;
    for (;;) {
        char *name = NULL, *value = NULL;
        if (next_pair(lines, ret->number, &text, &name, &value, err) < 0)
            return -1;
        if (!name || !value)
            return 0;
        enum gres_key key = find_key(name);
        if (key == GRES_KEY_COUNT && !lines->is_output)
            return refuse_key(lines, ret->number, name, err);
        if (key >= GRES_UNUSED)
            continue;
        if (seen & 1u << key)
            return error_set(err, "%s:%u: %.40s= stands twice", lines->source, ret->number, name);
        seen |= 1u << key;
        if (*value && strcmp(value, "(null)") != 0)
            ret->values[key] = value;
    }
}

static bool is_include(const char *line)
{
    static const char word[] = "include";
    size_t length = sizeof(word) - 1;
    return strncasecmp(line, word, length) == 0 && line[length] && strchr(BLANKS, line[length]);
}

/* The part of a line that says something; empty: none does. */
static char *cut_statement(const struct gres_lines *lines, char *line)
{
    if (!lines->is_output) {
        cut_comment(line);
        return line + strspn(line, BLANKS);
    }
    char *mark = strstr(line, OUTPUT_MARK);
    return mark ? mark + OUTPUT_SKIP : line + strlen(line);
}

int gres_lines_next(struct gres_lines *lines, struct gres_line *ret, struct error_info *err)
{
    char *line;
    *ret = (struct gres_line){.number = 0};
    while ((line = cut_line(lines, &ret->number))) {
        line = cut_statement(lines, line);
        if (!*line)
            continue;
        if (is_include(line))
            return error_set(err,
                             "%s:%u: Include is not followed; give the file that it names, or the "
                             "output of slurmd -G",
                             lines->source, ret->number);
        return read_pairs(lines, line, ret, err) < 0 ? -1 : 1;
    }
    return 0;
}
