/* SPDX-License-Identifier: MIT */
#include "k8s_extender/server/wire_scan.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum argument { ARGUMENT_POD, ARGUMENT_NODES, ARGUMENT_NAMES, ARGUMENT_COUNT };

static const char *const argument_keys[ARGUMENT_COUNT] = {"Pod", "Nodes", "NodeNames"};

struct cursor {
    const char *at, *end;
};

/* A look-up, since most of a body is names. */
static const bool name_characters[256] = {
    ['a' ... 'z'] = true, ['0' ... '9'] = true, ['-'] = true, ['.'] = true};

static inline bool is_name_character(char character)
{
    return name_characters[(unsigned char)character];
}

bool wire_name_is_plain(const char *name, size_t bytes)
{
    if (bytes == 0 || bytes > WIRE_NAME_MAXIMUM_BYTES)
        return false;
    for (size_t i = 0; i < bytes; i++)
        if (!is_name_character(name[i]))
            return false;
    return true;
}

static void skip_blanks(struct cursor *cursor)
{
    while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\t' ||
                                        *cursor->at == '\n' || *cursor->at == '\r'))
        cursor->at++;
}

static bool take(struct cursor *cursor, char character)
{
    skip_blanks(cursor);
    if (cursor->at == cursor->end || *cursor->at != character)
        return false;
    cursor->at++;
    return true;
}

static bool take_word(struct cursor *cursor, const char *word)
{
    size_t bytes = strlen(word);
    skip_blanks(cursor);
    if ((size_t)(cursor->end - cursor->at) < bytes || memcmp(cursor->at, word, bytes) != 0)
        return false;
    cursor->at += bytes;
    return true;
}

static bool take_key(struct cursor *cursor, enum argument *ret)
{
    if (!take(cursor, '"'))
        return false;
    const char *end = memchr(cursor->at, '"', (size_t)(cursor->end - cursor->at));
    for (enum argument i = 0; end && i < ARGUMENT_COUNT; i++) {
        size_t bytes = strlen(argument_keys[i]);
        if ((size_t)(end - cursor->at) == bytes &&
            strncasecmp(cursor->at, argument_keys[i], bytes) == 0) {
            cursor->at = end + 1;
            *ret = i;
            return take(cursor, ':');
        }
    }
    return false;
}

/* Behind the closing quote of a string that begins at the cursor. */
static bool skip_string(struct cursor *cursor)
{
    for (cursor->at++; cursor->at < cursor->end; cursor->at++) {
        if (*cursor->at == '"') {
            cursor->at++;
            return true;
        }
        cursor->at += *cursor->at == '\\';
    }
    cursor->at = cursor->end;
    return false;
}

/* The object's end by its brackets alone: where the whole text is JSON, that is its end. */
static bool take_object(struct cursor *cursor, struct wire_scan *scan)
{
    skip_blanks(cursor);
    scan->pod = cursor->at;
    if (cursor->at == cursor->end || *cursor->at != '{')
        return false;
    size_t depth = 0;
    while (cursor->at < cursor->end) {
        char character = *cursor->at;
        if (character == '"') {
            if (!skip_string(cursor))
                return false;
            continue;
        }
        cursor->at++;
        depth += character == '{' || character == '[';
        if ((character == '}' || character == ']') && --depth == 0) {
            scan->pod_bytes = (size_t)(cursor->at - scan->pod);
            return true;
        }
    }
    return false;
}

static bool take_name(struct cursor *cursor, char **write)
{
    if (!take(cursor, '"'))
        return false;
    const char *start = cursor->at, *at = start;
    while (at < cursor->end && is_name_character(*at))
        at++;
    size_t bytes = (size_t)(at - start);
    if (bytes == 0 || bytes > WIRE_NAME_MAXIMUM_BYTES || at == cursor->end || *at != '"')
        return false;
    memcpy(*write, start, bytes);
    (*write)[bytes] = '\0';
    *write += bytes + 1;
    cursor->at = at + 1;
    return true;
}

/* Writes the names one behind the other, each with its NUL, which takes its quote's place. */
static bool take_names(struct cursor *cursor, char *write, size_t *ret_count)
{
    size_t count = 0;
    if (!take(cursor, '['))
        return false;
    if (take(cursor, ']'))
        return true;
    do {
        if (!take_name(cursor, &write))
            return false;
        count++;
    } while (take(cursor, ','));
    *ret_count = count;
    return take(cursor, ']');
}

static bool take_arguments(struct cursor *cursor, char *names, struct wire_scan *scan)
{
    unsigned seen = 0;
    if (!take(cursor, '{'))
        return false;
    do {
        enum argument key;
        if (!take_key(cursor, &key) || (seen & 1u << key))
            return false;
        seen |= 1u << key;
        bool taken = key == ARGUMENT_POD     ? take_object(cursor, scan)
                     : key == ARGUMENT_NODES ? take_word(cursor, "null")
                                             : take_names(cursor, names, &scan->name_count);
        if (!taken)
            return false;
    } while (take(cursor, ','));
    if (!take(cursor, '}'))
        return false;
    skip_blanks(cursor);
    unsigned needed = 1u << ARGUMENT_POD | 1u << ARGUMENT_NAMES;
    return cursor->at == cursor->end && (seen & needed) == needed;
}

static const char *const *list_names(const char *packed, size_t count, struct arena *arena)
{
    const char **names = arena_allocate_array(arena, count, sizeof(*names));
    for (size_t i = 0; names && i < count; i++) {
        names[i] = packed;
        packed += strlen(packed) + 1;
    }
    return names;
}

enum wire_scan_result wire_scan_arguments(const char *text, size_t bytes, size_t maximum,
                                          struct arena *arena, struct wire_scan *ret)
{
    struct cursor cursor = {.at = text, .end = text + bytes};
    struct wire_scan scan = {.pod = NULL};
    char *packed = arena_allocate(arena, bytes + 1);
    if (!packed)
        return WIRE_NO_MEMORY;
    if (!take_arguments(&cursor, packed, &scan) || scan.name_count > maximum)
        return WIRE_UNUSUAL;
    scan.names = list_names(packed, scan.name_count, arena);
    if (!scan.names)
        return WIRE_NO_MEMORY;
    *ret = scan;
    return WIRE_SCANNED;
}

/* --- is a name there twice? ------------------------------------------------------- */

#define PROBES_PER_NAME 16u /* many more than names that nobody chose to collide need */

/* A product's lower bits know nothing of the upper ones of what is multiplied, which is where names
 * differ ("gpu-0001"), so that they are mixed in before each product. */
uint64_t wire_name_hash(const char *name)
{
    static const uint64_t factor = UINT64_C(0xff51afd7ed558ccd);
    uint64_t hash = UINT64_C(0x9e3779b97f4a7c15);
    for (size_t left = strlen(name); left > 0;) {
        uint64_t word = 0;
        size_t step = left < sizeof(word) ? left : sizeof(word);
        memcpy(&word, name, step);
        hash = (hash ^ hash >> 32 ^ word) * factor;
        name += step;
        left -= step;
    }
    return (hash ^ hash >> 32) * factor;
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(**(const char *const *const *)left, **(const char *const *const *)right);
}

int wire_names_sorted_repeat(const char *const *names, size_t count, size_t *ret_index)
{
    CLEANUP_MEMORY const char *const **sorted = memory_allocate_array(count, sizeof(*sorted));
    if (!sorted)
        return -1;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &names[i];
    qsort(sorted, count, sizeof(*sorted), compare_names);
    for (size_t i = 1; i < count; i++)
        if (strcmp(*sorted[i - 1], *sorted[i]) == 0) {
            const char *const *later = sorted[i] > sorted[i - 1] ? sorted[i] : sorted[i - 1];
            *ret_index = (size_t)(later - names);
            return 1;
        }
    return 0;
}

int wire_names_repeat(const char *const *names, size_t count, size_t *ret_index)
{
    unsigned bits = 6;
    while ((size_t)1 << bits < count * 2)
        bits++;
    size_t size = (size_t)1 << bits;
    CLEANUP_MEMORY uint32_t *table = memory_allocate_array(size, sizeof(*table));
    if (!table)
        return -1;
    size_t probes = count * PROBES_PER_NAME;
    for (size_t i = 0; i < count; i++) {
        size_t slot = (size_t)(wire_name_hash(names[i]) >> (64 - bits));
        for (; table[slot]; slot = (slot + 1) & (size - 1)) {
            if (strcmp(names[table[slot] - 1], names[i]) == 0) {
                *ret_index = i;
                return 1;
            }
            if (probes-- == 0)
                return wire_names_sorted_repeat(names, count, ret_index);
        }
        table[slot] = (uint32_t)i + 1;
    }
    return 0;
}
