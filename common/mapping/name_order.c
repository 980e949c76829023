/* SPDX-License-Identifier: MIT */
#include "mapping/name_order.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MAXIMUM 18u /* fit 64 bits */

/* number: the digits behind the common beginning, where there are some; two different ones
 * decide as node_name_compare would, everything else is left to it. */
struct name_key {
    uint64_t number;
    const char *name;
    unsigned node;
    bool numbered;
};

static bool is_digit(char character) { return character >= '0' && character <= '9'; }

/* Bytes that all names begin with, not ending inside a number. */
static size_t common_beginning(const struct name_key *keys, size_t count)
{
    const char *first = keys[0].name;
    size_t common = strlen(first);
    for (size_t i = 1; i < count; i++) {
        if (strncmp(first, keys[i].name, common) == 0)
            continue;
        size_t same = 0;
        while (first[same] == keys[i].name[same])
            same++;
        common = same;
    }
    while (common > 0 && is_digit(first[common - 1]))
        common--;
    return common;
}

static void read_number(struct name_key *key, size_t start)
{
    const char *digits = key->name + start;
    size_t count = 0;
    while (count <= DIGITS_MAXIMUM && is_digit(digits[count]))
        key->number = key->number * 10 + (unsigned)(digits[count++] - '0');
    key->numbered = count > 0 && count <= DIGITS_MAXIMUM;
}

static int compare_keys(const void *left, const void *right)
{
    const struct name_key *l = left, *r = right;
    if (l->numbered && r->numbered && l->number != r->number)
        return l->number < r->number ? -1 : 1;
    int order = node_name_compare(l->name, r->name);
    return order != 0 ? order : (l->node > r->node) - (l->node < r->node);
}

static bool is_sorted(const struct name_key *keys, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (compare_keys(&keys[i - 1], &keys[i]) > 0)
            return false;
    return true;
}

int name_order_sort(const struct cluster_topology *cluster, unsigned *nodes, size_t count,
                    struct error_info *err)
{
    if (count < 2)
        return 0;
    CLEANUP_MEMORY struct name_key *keys = memory_allocate_array(count, sizeof(*keys));
    if (!keys)
        return error_set_memory(err);
    for (size_t i = 0; i < count; i++)
        keys[i] = (struct name_key){.name = cluster->nodes[nodes[i]].name, .node = nodes[i]};
    size_t common = common_beginning(keys, count);
    for (size_t i = 0; i < count; i++)
        read_number(&keys[i], common);
    if (!is_sorted(keys, count))
        qsort(keys, count, sizeof(*keys), compare_keys);
    for (size_t i = 0; i < count; i++)
        nodes[i] = keys[i].node;
    return 0;
}
