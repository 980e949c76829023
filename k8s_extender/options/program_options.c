/* SPDX-License-Identifier: MIT */
#include "k8s_extender/options/program_options.h"
#include "base/cleanup.h"
#include "base/parse_number.h"
#include "base/yaml_fields.h"
#include "k8s_extender/api/config/object_name.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NAME_BYTES 64u      /* of a misspelt name in a message */
#define HELP_COLUMN 30      /* where the words of an option begin */
#define HELP_LINE_BYTES 100 /* of which an option's words take the rest */

static const struct program_option own_options[] = {
    {.name = "help", .help = "this list", .kind = OPTION_FLAG},
    {.name = "version", .help = "which version this is", .kind = OPTION_FLAG},
};

struct parse {
    const struct program_usage *usage;
    void *fields;
    struct error_info *err;
    bool given[PROGRAM_OPTIONS_MAXIMUM];
};

/* --- help --------------------------------------------------------------------------------- */

/* Words behind the column, on as many lines as they take. */
static void print_words(const char *words, int column)
{
    while (*words) {
        size_t room = (size_t)(HELP_LINE_BYTES - HELP_COLUMN), length = strlen(words);
        if (length > room)
            for (length = room; length > 0 && words[length] != ' ';)
                length--;
        if (length == 0)
            length = strlen(words);
        printf("%*s%.*s\n", HELP_COLUMN - column, "", (int)length, words);
        words += length;
        words += strspn(words, " ");
        column = 0;
    }
}

static void print_option(const struct program_option *option)
{
    int column = printf("  --%s%s%s", option->name, option->argument ? " " : "",
                        option->argument ? option->argument : "");
    if (column + 2 > HELP_COLUMN) {
        putchar('\n');
        column = 0;
    }
    print_words(option->help, column);
}

static int print_help(const struct program_usage *usage, struct error_info *err)
{
    printf("Usage: %s [OPTION...]\n%s\n\n", usage->program, usage->purpose);
    for (size_t i = 0; i < usage->count; i++)
        print_option(&usage->options[i]);
    for (size_t i = 0; i < COUNT_OF(own_options); i++)
        print_option(&own_options[i]);
    if (fflush(stdout) != 0 || ferror(stdout))
        return error_set_system(err, "standard output: %s", error_errno_text(errno));
    return 0;
}

static int print_version(const struct program_usage *usage, struct error_info *err)
{
    printf("%s %s\n", usage->program, PARPLAN_VERSION);
    if (fflush(stdout) != 0 || ferror(stdout))
        return error_set_system(err, "standard output: %s", error_errno_text(errno));
    return 0;
}

/* --- values ------------------------------------------------------------------------------- */

static int set_text(const struct program_option *option, void *field, const char *value,
                    struct error_info *err)
{
    int status = option->kind == OPTION_SUBDOMAIN ? object_name_check(value, err)
                 : option->kind == OPTION_LABEL   ? namespace_name_check(value, err)
                                                  : 0;
    if (status == 0)
        *(const char **)field = value;
    return status;
}

static int set_number(const struct program_option *option, void *field, const char *value,
                      struct error_info *err)
{
    uint64_t number;
    if (parse_unsigned(value, option->minimum, option->maximum, &number, err) < 0)
        return -1;
    *(unsigned *)field = (unsigned)number;
    return 0;
}

static int set_value(struct parse *parse, const struct program_option *option, const char *value)
{
    void *field = (char *)parse->fields + option->offset;
    int status = 0;
    if (value && !*value)
        return error_set(parse->err, "--%s: the value is empty; give %s", option->name,
                         option->argument);
    if (option->kind == OPTION_FLAG)
        *(bool *)field = true;
    else if (option->kind == OPTION_NUMBER)
        status = set_number(option, field, value, parse->err);
    else if (option->kind == OPTION_OTHER)
        status = option->set(parse->fields, value, parse->err);
    else
        status = set_text(option, field, value, parse->err);
    return status < 0 ? error_prefix(parse->err, "--%s", option->name) : 0;
}

/* --- words -------------------------------------------------------------------------------- */

static const struct program_option *find_in(const struct program_option *options, size_t count,
                                            const char *name, size_t length)
{
    for (size_t i = 0; i < count; i++) {
        const struct program_option *option = &options[i];
        if (strlen(option->name) == length && memcmp(option->name, name, length) == 0)
            return option;
    }
    return NULL;
}

static int error_unknown(const struct parse *parse, const char *name, size_t length)
{
    const struct program_usage *usage = parse->usage;
    const char *known[PROGRAM_OPTIONS_MAXIMUM + COUNT_OF(own_options)];
    size_t count = 0;
    char word[NAME_BYTES];
    snprintf(word, sizeof(word), "%.*s", (int)(length < NAME_BYTES ? length : NAME_BYTES), name);
    for (size_t i = 0; i < usage->count; i++)
        known[count++] = usage->options[i].name;
    for (size_t i = 0; i < COUNT_OF(own_options); i++)
        known[count++] = own_options[i].name;
    const char *nearest = name_nearest(word, known, count);
    for (size_t i = 0; i < count && !nearest && length > 1; i++)
        nearest = strncmp(known[i], word, strlen(word)) == 0 ? known[i] : NULL;
    if (nearest)
        return error_set(parse->err, "unknown option --%s; did you mean --%s?", word, nearest);
    return error_set(parse->err, "unknown option --%s; `%s --help` lists the options", word,
                     usage->program);
}

static int note_given(struct parse *parse, const struct program_option *option)
{
    bool *given = &parse->given[option - parse->usage->options];
    if (*given)
        return error_set(parse->err, "--%s is given twice; keep one", option->name);
    *given = true;
    return 0;
}

/* One option; *at stands on its last word then. */
static int take_option(struct parse *parse, int argc, char **argv, int *at)
{
    const char *name = argv[*at] + 2;
    size_t length = strcspn(name, "=");
    const char *value = name[length] ? name + length + 1 : NULL;
    const struct program_option *option =
        find_in(parse->usage->options, parse->usage->count, name, length);
    if (!option)
        option = find_in(own_options, COUNT_OF(own_options), name, length);
    if (!option)
        return error_unknown(parse, name, length);
    if (!option->argument && value)
        return error_set(parse->err, "--%s takes no value", option->name);
    if (option->argument && !value) {
        if (*at + 1 == argc)
            return error_set(parse->err, "--%s needs a value: --%s %s", option->name, option->name,
                             option->argument);
        value = argv[++*at];
    }
    return note_given(parse, option) < 0 ? -1 : set_value(parse, option, value);
}

static int error_word(const struct parse *parse, const char *word)
{
    const char *program = parse->usage->program;
    if (word[0] == '-' && word[1])
        return error_set(parse->err, "unknown option %.100s; `%s --help` lists the options", word,
                         program);
    return error_set(parse->err,
                     "unexpected word '%.100s': %s takes options only; `%s --help` lists them",
                     word, program, program);
}

int program_options_parse(const struct program_usage *usage, int argc, char **argv, void *fields,
                          bool *ret_done, struct error_info *err)
{
    struct parse parse = {.usage = usage, .fields = fields, .err = err};
    *ret_done = false;
    for (int at = 1; at < argc; at++) {
        const char *word = argv[at];
        *ret_done = strcmp(word, "--help") == 0 || strcmp(word, "--version") == 0;
        if (*ret_done)
            return word[2] == 'h' ? print_help(usage, err) : print_version(usage, err);
        if (strncmp(word, "--", 2) != 0 || !word[2])
            return error_word(&parse, word);
        if (take_option(&parse, argc, argv, &at) < 0)
            return -1;
    }
    return 0;
}
