/* SPDX-License-Identifier: MIT */
#include "tests/support/xml_mutation.h"
#include "base/memory.h"
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define MAXIMUM_DEPTH 256u

/* A part of the text; middle: where an attribute's value begins. */
struct part {
    size_t start, middle, end;
};

struct parts {
    struct part *list;
    size_t count;
};

enum damage {
    ATTRIBUTE_DROPPED,
    ATTRIBUTE_EMPTIED,
    LINE_DOUBLED,
    ELEMENT_DROPPED,
    NUMBERS_SWAPPED,
    BIT_FLIPPED,
    TEXT_CUT,
    DAMAGE_COUNT
};

static const char *const damage_names[DAMAGE_COUNT] = {
    "attribute dropped", "attribute emptied", "line doubled", "element dropped",
    "numbers swapped",   "bit flipped",       "text cut"};

struct xml_mutation {
    const char *text;
    size_t bytes;
    uint64_t seed;
    struct parts attributes, lines, elements, numbers;
};

/* --- what is in the text ----------------------------------------------------------- */

static bool add(struct parts *parts, struct part part)
{
    /* Doubles at each power of two. */
    if ((parts->count & (parts->count - 1)) == 0) {
        size_t room = parts->count > 0 ? parts->count * 2 : 1;
        struct part *list =
            memory_grow_array(parts->list, parts->count, room, sizeof(*parts->list));
        if (!list)
            return false;
        parts->list = list;
    }
    parts->list[parts->count++] = part;
    return true;
}

static size_t find(const struct xml_mutation *mutation, size_t at, char wanted)
{
    const char *found =
        at < mutation->bytes ? memchr(mutation->text + at, wanted, mutation->bytes - at) : NULL;
    return found ? (size_t)(found - mutation->text) : mutation->bytes;
}

static bool find_lines(struct xml_mutation *mutation)
{
    bool ok = true;
    for (size_t at = 0; ok && at < mutation->bytes;) {
        size_t end = find(mutation, at, '\n');
        end += end < mutation->bytes;
        ok = add(&mutation->lines, (struct part){.start = at, .end = end});
        at = end;
    }
    return ok;
}

/* A value that begins with a number. */
static bool find_number(struct xml_mutation *mutation, size_t at, size_t end)
{
    size_t start = at;
    while (at < end && isdigit((unsigned char)mutation->text[at]))
        at++;
    return at == start || add(&mutation->numbers, (struct part){.start = start, .end = at});
}

static bool find_attributes(struct xml_mutation *mutation, size_t at, size_t end)
{
    while (at < end) {
        size_t quote = find(mutation, at, '"');
        size_t close = find(mutation, quote + 1, '"');
        if (close >= end)
            return true;
        size_t start = quote;
        while (start > at && mutation->text[start - 1] != ' ')
            start--;
        start -= start > at;
        if (!add(&mutation->attributes,
                 (struct part){.start = start, .middle = quote + 1, .end = close + 1}) ||
            !find_number(mutation, quote + 1, close))
            return false;
        at = close + 1;
    }
    return true;
}

/* One tag of the text: an element of its own, the start of one, or the end of the last. */
static bool take_tag(struct xml_mutation *mutation, size_t at, size_t end, size_t *open,
                     size_t *depth)
{
    char first = at + 1 < end ? mutation->text[at + 1] : '\0';
    if (first == '?' || first == '!')
        return true;
    if (first == '/') {
        if (*depth > 0 && --*depth < MAXIMUM_DEPTH)
            return add(&mutation->elements, (struct part){.start = open[*depth], .end = end});
        return true;
    }
    if (mutation->text[end - 2] == '/')
        return find_attributes(mutation, at, end) &&
               add(&mutation->elements, (struct part){.start = at, .end = end});
    if (*depth < MAXIMUM_DEPTH)
        open[*depth] = at;
    ++*depth;
    return find_attributes(mutation, at, end);
}

static bool find_tags(struct xml_mutation *mutation)
{
    size_t open[MAXIMUM_DEPTH], depth = 0;
    for (size_t at = find(mutation, 0, '<'); at < mutation->bytes;
         at = find(mutation, at + 1, '<')) {
        size_t end = find(mutation, at, '>');
        if (end < mutation->bytes && !take_tag(mutation, at, end + 1, open, &depth))
            return false;
    }
    return true;
}

struct xml_mutation *xml_mutation_create(const char *text, size_t bytes, uint64_t seed)
{
    struct xml_mutation *mutation = memory_allocate(sizeof(*mutation));
    if (!mutation)
        return NULL;
    *mutation = (struct xml_mutation){.text = text, .bytes = bytes, .seed = seed};
    if (find_lines(mutation) && find_tags(mutation))
        return mutation;
    xml_mutation_free(mutation);
    return NULL;
}

void xml_mutation_free(struct xml_mutation *mutation)
{
    if (!mutation)
        return;
    memory_free(mutation->attributes.list);
    memory_free(mutation->lines.list);
    memory_free(mutation->elements.list);
    memory_free(mutation->numbers.list);
    memory_free(mutation);
}

/* --- the damage ---------------------------------------------------------------------- */

static size_t count_of(const struct xml_mutation *mutation, enum damage damage)
{
    switch (damage) {
    case ATTRIBUTE_DROPPED:
    case ATTRIBUTE_EMPTIED:
        return mutation->attributes.count;
    case LINE_DOUBLED:
        return mutation->lines.count;
    case ELEMENT_DROPPED:
        return mutation->elements.count;
    case NUMBERS_SWAPPED:
        return mutation->numbers.count / 2;
    case BIT_FLIPPED:
        return mutation->bytes > 0 ? XML_MUTATION_FLIPS : 0;
    default:
        return mutation->bytes > 0 ? XML_MUTATION_CUTS : 0;
    }
}

size_t xml_mutation_count(const struct xml_mutation *mutation)
{
    size_t count = 0;
    for (enum damage damage = 0; damage < DAMAGE_COUNT; damage++)
        count += count_of(mutation, damage);
    return count;
}

static enum damage split(const struct xml_mutation *mutation, size_t *number)
{
    enum damage damage = 0;
    while (damage < TEXT_CUT && *number >= count_of(mutation, damage))
        *number -= count_of(mutation, damage++);
    return damage;
}

/* splitmix64 (Steele, Lea, Flood 2014): every number has its own value. */
static uint64_t random_of(uint64_t seed, size_t number)
{
    uint64_t mixed = seed + (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

size_t xml_mutation_maximum_bytes(const struct xml_mutation *mutation)
{
    size_t longest = 0;
    for (size_t i = 0; i < mutation->lines.count; i++) {
        size_t bytes = mutation->lines.list[i].end - mutation->lines.list[i].start;
        longest = bytes > longest ? bytes : longest;
    }
    return mutation->bytes + longest + 1;
}

struct writer {
    const struct xml_mutation *mutation;
    char *out;
    size_t bytes;
};

static void copy(struct writer *writer, size_t start, size_t end)
{
    memcpy(writer->out + writer->bytes, writer->mutation->text + start, end - start);
    writer->bytes += end - start;
}

static void swap_numbers(struct writer *writer, struct part first, struct part second)
{
    copy(writer, 0, first.start);
    copy(writer, second.start, second.end);
    copy(writer, first.end, second.start);
    copy(writer, first.start, first.end);
    copy(writer, second.end, writer->mutation->bytes);
}

static size_t flip_at(const struct xml_mutation *mutation, size_t number)
{
    return (size_t)(random_of(mutation->seed, number) % mutation->bytes);
}

static void flip_bit(struct writer *writer, size_t number)
{
    const struct xml_mutation *mutation = writer->mutation;
    size_t at = flip_at(mutation, number);
    copy(writer, 0, mutation->bytes);
    writer->out[at] = (char)((unsigned char)writer->out[at] ^ (1u << (number % 8)));
}

static size_t cut_at(const struct xml_mutation *mutation, size_t number)
{
    return mutation->bytes / XML_MUTATION_CUTS * number +
           mutation->bytes % XML_MUTATION_CUTS * number / XML_MUTATION_CUTS;
}

/* NULL: this damage is done to no part of its own. */
static const struct part *part_of(const struct xml_mutation *mutation, enum damage damage,
                                  size_t number)
{
    switch (damage) {
    case ATTRIBUTE_DROPPED:
    case ATTRIBUTE_EMPTIED:
        return mutation->attributes.list + number;
    case LINE_DOUBLED:
        return mutation->lines.list + number;
    case ELEMENT_DROPPED:
        return mutation->elements.list + number;
    case NUMBERS_SWAPPED:
        return mutation->numbers.list + 2 * number;
    default:
        return NULL;
    }
}

static void leave_out(struct writer *writer, size_t start, size_t end)
{
    copy(writer, 0, start);
    copy(writer, end, writer->mutation->bytes);
}

size_t xml_mutation_write(const struct xml_mutation *mutation, size_t number, char *out)
{
    struct writer writer = {.mutation = mutation, .out = out};
    enum damage damage = split(mutation, &number);
    const struct part *part = part_of(mutation, damage, number);
    switch (damage) {
    case ATTRIBUTE_DROPPED:
    case ELEMENT_DROPPED:
        leave_out(&writer, part->start, part->end);
        break;
    case ATTRIBUTE_EMPTIED:
        leave_out(&writer, part->middle, part->end - 1);
        break;
    case LINE_DOUBLED:
        copy(&writer, 0, part->end);
        copy(&writer, part->start, mutation->bytes);
        break;
    case NUMBERS_SWAPPED:
        swap_numbers(&writer, part[0], part[1]);
        break;
    case BIT_FLIPPED:
        flip_bit(&writer, number);
        break;
    default:
        copy(&writer, 0, cut_at(mutation, number));
        break;
    }
    out[writer.bytes] = '\0';
    return writer.bytes;
}

const char *xml_mutation_describe(const struct xml_mutation *mutation, size_t number,
                                  size_t *ret_offset)
{
    enum damage damage = split(mutation, &number);
    if (damage == BIT_FLIPPED)
        *ret_offset = flip_at(mutation, number);
    else if (damage == TEXT_CUT)
        *ret_offset = cut_at(mutation, number);
    else
        *ret_offset = part_of(mutation, damage, number)->start;
    return damage_names[damage];
}
