/* SPDX-License-Identifier: MIT */
#include "k8s_extender/server/pod_identity.h"
#include <string.h>

#define OUTER_DEPTH 1u
#define METADATA_DEPTH 2u

enum part { PART_UID, PART_VERSION, PART_COUNT };

static const char *const part_keys[PART_COUNT] = {"uid", "resourceVersion"};

struct scan {
    const char *at, *end;
    unsigned depth;
    unsigned metadata_seen; /* how often */
    bool in_metadata;
    unsigned seen[PART_COUNT];
    struct pod_identity found;
};

struct word {
    const char *text;
    size_t bytes;
};

static bool is(const struct word *word, const char *text)
{
    return word->bytes == strlen(text) && memcmp(word->text, text, word->bytes) == 0;
}

static void skip_blanks(struct scan *scan)
{
    while (scan->at < scan->end &&
           (*scan->at == ' ' || *scan->at == '\t' || *scan->at == '\n' || *scan->at == '\r'))
        scan->at++;
}

/* The string that begins at the cursor, which goes behind it. What has an escape is no key or value
 * of ours, but might be one in another spelling: *ret_escaped. */
static bool take_string(struct scan *scan, struct word *ret, bool *ret_escaped)
{
    const char *start = ++scan->at;
    *ret_escaped = false;
    for (; scan->at < scan->end && *scan->at != '"'; scan->at++)
        if (*scan->at == '\\') {
            *ret_escaped = true;
            scan->at++;
        }
    if (scan->at >= scan->end)
        return false;
    *ret = (struct word){.text = start, .bytes = (size_t)(scan->at++ - start)};
    return true;
}

static bool take_value(struct scan *scan, char ret[IDENTITY_BYTES])
{
    struct word word;
    bool escaped;
    skip_blanks(scan);
    if (scan->at == scan->end || *scan->at != '"' || !take_string(scan, &word, &escaped) ||
        word.bytes == 0 || word.bytes >= IDENTITY_BYTES)
        return false;
    for (size_t i = 0; i < word.bytes; i++) {
        char character = word.text[i];
        if (!((character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
              (character >= '0' && character <= '9') || character == '-'))
            return false;
    }
    memcpy(ret, word.text, word.bytes);
    ret[word.bytes] = '\0';
    return true;
}

static bool take_part(struct scan *scan, const struct word *key)
{
    char *const values[PART_COUNT] = {scan->found.uid, scan->found.version};
    for (enum part i = 0; i < PART_COUNT; i++)
        if (is(key, part_keys[i]))
            return scan->seen[i]++ == 0 && take_value(scan, values[i]);
    return true;
}

/* A string of the outer object or of metadata, where keys count. False: leave it to the tree. */
static bool look_at_string(struct scan *scan)
{
    struct word word;
    bool escaped;
    if (!take_string(scan, &word, &escaped))
        return false;
    bool here = scan->depth == OUTER_DEPTH || (scan->depth == METADATA_DEPTH && scan->in_metadata);
    if (!here)
        return true;
    skip_blanks(scan);
    if (scan->at == scan->end || *scan->at != ':')
        return true; /* a value */
    scan->at++;
    if (escaped)
        return false;
    if (scan->depth == METADATA_DEPTH)
        return take_part(scan, &word);
    if (!is(&word, "metadata"))
        return true;
    skip_blanks(scan);
    scan->in_metadata = scan->at < scan->end && *scan->at == '{';
    return scan->in_metadata && scan->metadata_seen++ == 0;
}

bool pod_identity_scan(const char *text, size_t bytes, struct pod_identity *ret)
{
    struct scan scan = {.at = text, .end = text + bytes};
    while (scan.at < scan.end) {
        if (*scan.at == '"') {
            if (!look_at_string(&scan))
                return false;
            continue;
        }
        bool closes = *scan.at == '}' || *scan.at == ']';
        scan.depth += *scan.at == '{' || *scan.at == '[';
        if (closes && scan.depth-- == 0)
            return false;
        if (closes && scan.depth == OUTER_DEPTH)
            scan.in_metadata = false;
        scan.at++;
    }
    if (scan.depth != 0 || scan.seen[PART_UID] != 1 || scan.seen[PART_VERSION] != 1)
        return false;
    *ret = scan.found;
    return true;
}
