/* SPDX-License-Identifier: MIT */
#include "base/id_set.h"
#include "base/parse_number.h"
#include <stdint.h>
#include <string.h>

#define WORD_BITS 64u
#define MAXIMUM_RANGES (ID_SET_MAXIMUM_ID + 1)

struct id_set {
    uint64_t *words;
    size_t word_count;
    unsigned count;
};

struct id_set *id_set_create(void) { return memory_allocate(sizeof(struct id_set)); }

void id_set_free(struct id_set *set)
{
    if (!set)
        return;
    memory_free(set->words);
    memory_free(set);
}

static int reserve_word(struct id_set *set, size_t word)
{
    if (word < set->word_count)
        return 0;
    size_t word_count = set->word_count * 2 > word ? set->word_count * 2 : word + 1;
    uint64_t *grown = memory_grow_array(set->words, set->word_count, word_count, sizeof(*grown));
    if (!grown)
        return -1;
    set->words = grown;
    set->word_count = word_count;
    return 0;
}

/* Word by word: a hostile list repeats "0-65535" very often. */
static int add_range(struct id_set *set, unsigned first, unsigned last, struct error_info *err)
{
    if (reserve_word(set, last / WORD_BITS) < 0)
        return error_set_memory(err);
    for (size_t word = first / WORD_BITS; word <= last / WORD_BITS; word++) {
        uint64_t bits = ~UINT64_C(0);
        if (word == first / WORD_BITS)
            bits = bits >> (first % WORD_BITS) << (first % WORD_BITS);
        if (word == last / WORD_BITS)
            bits &= ~UINT64_C(0) >> (WORD_BITS - 1 - last % WORD_BITS);
        set->count += (unsigned)__builtin_popcountll(bits & ~set->words[word]);
        set->words[word] |= bits;
    }
    return 0;
}

int id_set_add(struct id_set *set, unsigned id, struct error_info *err)
{
    if (id > ID_SET_MAXIMUM_ID)
        return error_set(err, "%u is too large; numbers go up to %u", id, ID_SET_MAXIMUM_ID);
    return add_range(set, id, id, err);
}

bool id_set_contains(const struct id_set *set, unsigned id)
{
    size_t word = id / WORD_BITS;
    return word < set->word_count && (set->words[word] >> (id % WORD_BITS) & 1);
}

unsigned id_set_count(const struct id_set *set) { return set->count; }

unsigned id_set_next(const struct id_set *set, unsigned from)
{
    size_t word = from / WORD_BITS;
    if (word >= set->word_count)
        return ID_SET_END;
    uint64_t bits = set->words[word] >> (from % WORD_BITS) << (from % WORD_BITS);
    while (bits == 0) {
        if (++word == set->word_count)
            return ID_SET_END;
        bits = set->words[word];
    }
    return (unsigned)(word * WORD_BITS) + (unsigned)__builtin_ctzll(bits);
}

/* Longest number that is of any use, with the leading zeros that people write. */
#define NUMBER_CHARACTERS 16u

static const char *read_id(const char *text, unsigned *ret, struct error_info *err)
{
    size_t length = strspn(text, "0123456789");
    char number[NUMBER_CHARACTERS + 1] = "";
    memcpy(number, text, length < NUMBER_CHARACTERS ? length : NUMBER_CHARACTERS);
    uint64_t id;
    if (length == 0)
        return error_null(error_set(err, "'%.20s' does not start with a number", text));
    if (length > NUMBER_CHARACTERS || parse_unsigned(number, 0, ID_SET_MAXIMUM_ID, &id, NULL) < 0)
        return error_null(
            error_set(err, "'%.20s' is too large; numbers go up to %u", text, ID_SET_MAXIMUM_ID));
    *ret = (unsigned)id;
    return text + length;
}

static const char *read_range(struct id_set *set, const char *text, struct error_info *err)
{
    unsigned first, last;
    const char *read = read_id(text, &first, err);
    if (!read)
        return NULL;
    last = first;
    if (*read == '-') {
        read = read_id(read + 1, &last, err);
        if (!read)
            return NULL;
    }
    if (last < first)
        return error_null(error_set(err, "the range %u-%u runs backwards; write %u-%u", first, last,
                                    last, first));
    return add_range(set, first, last, err) < 0 ? NULL : read;
}

static int decode_ranges(struct id_set *set, const char *text, struct error_info *err)
{
    if (*text == '\0')
        return 0;
    unsigned ranges = 0;
    for (const char *read = text;; read++) {
        if (++ranges > MAXIMUM_RANGES)
            return error_set(err, "more than %u numbers and ranges", MAXIMUM_RANGES);
        read = read_range(set, read, err);
        if (!read)
            return -1;
        if (*read == '\0')
            return 0;
        if (*read != ',')
            return error_set(err, "'%.20s' where a comma was expected", read);
    }
}

struct id_set *id_set_decode(const char *text, struct error_info *err)
{
    CLEANUP(id_set) struct id_set *set = id_set_create();
    if (!set)
        return error_null(error_set_memory(err));
    struct error_info why = {.kind = ERROR_NONE};
    if (decode_ranges(set, text, &why) == 0)
        return move_pointer(set);
    if (why.kind == ERROR_MEMORY)
        return error_null(error_set_memory(err));
    return error_null(error_set(err, "'%.60s': %s", text, why.text));
}

void id_set_encode(const struct id_set *set, struct text_buffer *out)
{
    const char *separator = "";
    for (unsigned first = id_set_next(set, 0); first != ID_SET_END;) {
        unsigned last = first;
        while (id_set_contains(set, last + 1))
            last++;
        text_buffer_add(out, "%s%u", separator, first);
        if (last > first)
            text_buffer_add(out, "-%u", last);
        separator = ",";
        first = id_set_next(set, last + 1);
    }
}
