/* SPDX-License-Identifier: MIT */
#include "mapping/name_order.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NUMBERS_MAXIMUM 4u
#define DIGITS_MAXIMUM 9u /* of a number: fit 30 bits */
#define RADIX_BITS 11u
#define RADIX (1u << RADIX_BITS)

struct name_numbers {
    unsigned values[NUMBERS_MAXIMUM];
};

/* rank: the numbers of the name, most significant first. Where all names are alike but for
 * their numbers, two different ranks decide as node_name_compare would. */
struct name_key {
    uint64_t rank;
    const char *name;
    unsigned node;
};

static bool is_digit(char character) { return character >= '0' && character <= '9'; }

static bool read_number(const char **text, unsigned *ret)
{
    unsigned number = 0, digits = 0;
    while (digits < DIGITS_MAXIMUM && is_digit(**text)) {
        number = number * 10 + (unsigned)(*(*text)++ - '0');
        digits++;
    }
    *ret = number;
    return !is_digit(**text);
}

/* The numbers of a name that reads like the pattern; false where it does not. */
static bool read_numbers(const char *pattern, const char *name, struct name_numbers *ret)
{
    unsigned count = 0;
    while (*pattern || *name) {
        if (is_digit(*pattern) && is_digit(*name)) {
            if (count == NUMBERS_MAXIMUM || !read_number(&name, &ret->values[count++]))
                return false;
            while (is_digit(*pattern))
                pattern++;
        } else if (*pattern++ != *name++) {
            return false;
        }
    }
    return true;
}

/* Bits that all ranks fit in; 0: some name reads otherwise, or the numbers are too large. */
static unsigned fill_ranks(struct name_key *keys, struct name_numbers *numbers, size_t count)
{
    unsigned used[NUMBERS_MAXIMUM] = {0}, bits[NUMBERS_MAXIMUM] = {0}, total = 0;
    for (size_t i = 0; i < count; i++) {
        if (!read_numbers(keys[0].name, keys[i].name, &numbers[i]))
            return 0;
        for (unsigned n = 0; n < NUMBERS_MAXIMUM; n++)
            used[n] |= numbers[i].values[n];
    }
    for (unsigned n = 0; n < NUMBERS_MAXIMUM; n++) {
        while (used[n] >> bits[n])
            bits[n]++;
        total += bits[n];
    }
    if (total > 64)
        return 0;
    for (size_t i = 0; i < count; i++)
        for (unsigned n = 0; n < NUMBERS_MAXIMUM; n++)
            keys[i].rank = keys[i].rank << bits[n] | numbers[i].values[n];
    return total;
}

static int compare_names(const void *left, const void *right)
{
    const struct name_key *l = left, *r = right;
    int order = node_name_compare(l->name, r->name);
    return order != 0 ? order : (l->node > r->node) - (l->node < r->node);
}

static bool ranks_ascend(const struct name_key *keys, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (keys[i - 1].rank >= keys[i].rank)
            return false;
    return true;
}

/* One stable counting pass over RADIX_BITS of the rank. */
static void sort_pass(const struct name_key *from, struct name_key *to, size_t count,
                      unsigned shift)
{
    size_t starts[RADIX + 1] = {0};
    for (size_t i = 0; i < count; i++)
        starts[(from[i].rank >> shift & (RADIX - 1)) + 1]++;
    for (unsigned digit = 0; digit < RADIX; digit++)
        starts[digit + 1] += starts[digit];
    for (size_t i = 0; i < count; i++)
        to[starts[from[i].rank >> shift & (RADIX - 1)]++] = from[i];
}

/* By rank, then names of one rank ("n8" and "n08") as they compare. The result is in keys. */
static void sort_by_rank(struct name_key *keys, struct name_key *spare, size_t count, unsigned bits)
{
    struct name_key *from = keys, *to = spare;
    for (unsigned shift = 0; shift < bits; shift += RADIX_BITS) {
        sort_pass(from, to, count, shift);
        struct name_key *swap = from;
        from = to;
        to = swap;
    }
    if (from != keys)
        memcpy(keys, from, count * sizeof(*keys));
    for (size_t start = 0, end; start < count; start = end) {
        for (end = start + 1; end < count && keys[end].rank == keys[start].rank;)
            end++;
        if (end - start > 1)
            qsort(keys + start, end - start, sizeof(*keys), compare_names);
    }
}

int name_order_sort(const struct cluster_topology *cluster, unsigned *nodes, size_t count,
                    struct error_info *err)
{
    if (count < 2)
        return 0;
    CLEANUP_MEMORY struct name_key *keys = memory_allocate_array(2 * count, sizeof(*keys));
    CLEANUP_MEMORY struct name_numbers *numbers = memory_allocate_array(count, sizeof(*numbers));
    if (!keys || !numbers)
        return error_set_memory(err);
    for (size_t i = 0; i < count; i++)
        keys[i] = (struct name_key){.name = cluster->nodes[nodes[i]].name, .node = nodes[i]};
    unsigned bits = fill_ranks(keys, numbers, count);
    if (bits == 0)
        qsort(keys, count, sizeof(*keys), compare_names);
    else if (!ranks_ascend(keys, count))
        sort_by_rank(keys, keys + count, count, bits);
    for (size_t i = 0; i < count; i++)
        nodes[i] = keys[i].node;
    return 0;
}
