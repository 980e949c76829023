/* SPDX-License-Identifier: MIT */
#include "base/tables/toml_scan.h"
#include <stdbool.h>
#include <string.h>

#define BARE "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
#define BLANK " \t\r"

struct scan {
    const char *at; /* up to a NUL */
    const char *source;
    unsigned line;
    const char *value; /* the last string, key part or bare value; NULL: one that is skipped */
    size_t value_bytes;
    size_t table, used;         /* bytes of `pair`: the open table's path, and all */
    char pair[TOML_PAIR_BYTES]; /* the path, then the value */
    struct error_info *err;
};

static int refuse(const struct scan *scan, const char *what)
{
    return error_set(scan->err, "%s:%u: %s", scan->source, scan->line, what);
}

static void skip_blanks(struct scan *scan) { scan->at += strspn(scan->at, BLANK); }

/* To the next key or table head, over comments and lines. */
static void skip_lines(struct scan *scan)
{
    for (;; scan->at++, scan->line++) {
        skip_blanks(scan);
        if (*scan->at == '#')
            scan->at += strcspn(scan->at, "\n");
        if (*scan->at != '\n')
            return;
    }
}

static size_t run_length(const char *text, char of)
{
    size_t length = 0;
    while (text[length] == of)
        length++;
    return length;
}

static int read_string(struct scan *scan)
{
    char quote = *scan->at;
    bool lines = run_length(scan->at, quote) >= 3;
    const char *start = scan->at += lines ? 3 : 1;
    for (; *scan->at && (lines || *scan->at != '\n'); scan->at++) {
        size_t run = run_length(scan->at, quote);
        if (run >= (lines ? 3 : 1)) {
            scan->value = lines ? NULL : start;
            scan->value_bytes = (size_t)(scan->at - start);
            scan->at += lines ? run : 1; /* of up to five that end it, two are text */
            return 0;
        }
        if (*scan->at == '\\' && quote == '"' && scan->at[1])
            scan->at++;
        scan->line += *scan->at == '\n';
    }
    return refuse(scan, UNPACKED_TEXT("a string does not end"));
}

static int add(struct scan *scan, const char *text, size_t bytes)
{
    if (bytes >= sizeof(scan->pair) - scan->used)
        return refuse(scan, UNPACKED_TEXT("a key or value is too long"));
    memcpy(scan->pair + scan->used, text, bytes);
    scan->used += bytes;
    scan->pair[scan->used] = '\0';
    return 0;
}

static int read_key_part(struct scan *scan)
{
    skip_blanks(scan);
    if (*scan->at == '"' || *scan->at == '\'')
        return read_string(scan);
    scan->value = scan->at;
    scan->value_bytes = strspn(scan->at, BARE);
    scan->at += scan->value_bytes;
    return 0;
}

/* a."b".c, behind what the path holds, and the character after it. */
static int read_key(struct scan *scan, char after)
{
    for (;; scan->at++) {
        if (read_key_part(scan) < 0 || (scan->used && add(scan, ".", 1) < 0))
            return -1;
        if (!scan->value || add(scan, scan->value, scan->value_bytes) < 0)
            break;
        skip_blanks(scan);
        if (*scan->at == after)
            return scan->at++, 0;
        if (*scan->at != '.')
            break;
    }
    return refuse(scan, UNPACKED_TEXT("neither a key with its value nor a table"));
}

static int read_head(struct scan *scan)
{
    scan->at += strspn(scan->at, "[");
    scan->used = 0;
    int status = read_key(scan, ']');
    scan->table = scan->used;
    return status;
}

/* An array or inline table, to its last bracket. */
static int skip_brackets(struct scan *scan)
{
    size_t depth = 0;
    do {
        skip_lines(scan);
        char c = *scan->at;
        if (!c)
            return refuse(scan, UNPACKED_TEXT("a bracket does not end"));
        if (c == '"' || c == '\'') {
            if (read_string(scan) < 0)
                return -1;
            continue;
        }
        scan->at++;
        depth += c == '[' || c == '{';
        depth -= c == ']' || c == '}';
    } while (depth > 0);
    scan->value = NULL;
    return 0;
}

static int read_value(struct scan *scan)
{
    skip_blanks(scan);
    if (*scan->at == '"' || *scan->at == '\'')
        return read_string(scan);
    if (*scan->at == '[' || *scan->at == '{')
        return skip_brackets(scan);
    scan->value = scan->at;
    scan->value_bytes = strcspn(scan->at, BLANK "\n#");
    return 0;
}

static int read_pair(struct scan *scan, toml_visit_fn visit, void *context)
{
    struct toml_value value = {.path = scan->pair, .line = scan->line};
    scan->used = scan->table;
    if (read_key(scan, '=') < 0 || read_value(scan) < 0)
        return -1;
    if (!scan->value)
        return 0;
    value.text = scan->pair + ++scan->used;
    if (add(scan, scan->value, scan->value_bytes) < 0)
        return -1;
    return visit(context, &value, scan->err);
}

int toml_scan(const char *text, size_t bytes, const char *source, toml_visit_fn visit,
              void *context, struct error_info *err)
{
    struct scan scan = {.at = text, .source = source, .line = 1, .err = err};
    if (bytes > TOML_MAXIMUM_BYTES || strlen(text) != bytes)
        return refuse(&scan, UNPACKED_TEXT("too long for TOML, or no text"));
    int status = 0;
    for (skip_lines(&scan); *scan.at && status == 0; skip_lines(&scan)) {
        status = *scan.at == '[' ? read_head(&scan) : read_pair(&scan, visit, context);
        scan.at += strcspn(scan.at, "\n");
    }
    return status;
}
