/* SPDX-License-Identifier: MIT */
#include "k8s_extender/gang/store/record_table.h"
#include "base/name_index.h"
#include <stdbool.h>
#include <string.h>

#define FIRST_BITS 4u

struct item {
    const char *first, *second;
    void *value;
};

/* Where an item is found. */
struct place {
    uint32_t hash;
    uint32_t item; /* its number + 1; 0: free */
};

/* The items lie one behind the other, and only the small places are spread: of 50,000 pods that is
 * half of the memory. */
struct record_table {
    struct place *places; /* linear probing, at most 3/4 full */
    struct item *items;
    unsigned bits;
    size_t count, capacity; /* of items */
    uint64_t spread; /* of its address, where each hash starts: nobody can choose names that all
                      * fall on one place */
};

struct record_table *record_table_create(void)
{
    struct record_table *table = memory_allocate(sizeof(*table));
    if (!table)
        return NULL;
    table->bits = FIRST_BITS;
    table->places = memory_allocate_array((size_t)1 << FIRST_BITS, sizeof(*table->places));
    table->spread = name_hash_add(NAME_HASH_START, &table, sizeof(table)) | 1;
    if (table->places)
        return table;
    memory_free(table);
    return NULL;
}

void record_table_free(struct record_table *table)
{
    if (!table)
        return;
    memory_free(table->places);
    memory_free(table->items);
    memory_free(table);
}

/* The upper half of the product, so that its upper bits are a home in a table of any size. */
static uint32_t hash_of(const struct record_table *table, const char *first, const char *second)
{
    uint64_t hash = name_hash_add(table->spread, first, strlen(first) + 1);
    if (*second)
        hash = name_hash_add(hash, second, strlen(second));
    return (uint32_t)((hash * table->spread) >> 32);
}

static size_t mask_of(const struct record_table *table) { return ((size_t)1 << table->bits) - 1; }

static size_t home_of(const struct record_table *table, uint32_t hash)
{
    return hash >> (32 - table->bits);
}

static bool is_item(const struct record_table *table, const struct place *place, const char *first,
                    const char *second, uint32_t hash)
{
    if (place->hash != hash)
        return false;
    const struct item *item = &table->items[place->item - 1];
    return strcmp(item->first, first) == 0 && strcmp(item->second, second) == 0;
}

/* The place that holds the name, or the free one where it belongs. */
static struct place *place_of(const struct record_table *table, const char *first,
                              const char *second, uint32_t hash)
{
    size_t at = home_of(table, hash);
    while (table->places[at].item && !is_item(table, &table->places[at], first, second, hash))
        at = (at + 1) & mask_of(table);
    return &table->places[at];
}

void *record_table_find(const struct record_table *table, const char *first, const char *second)
{
    const struct place *place = place_of(table, first, second, hash_of(table, first, second));
    return place->item ? table->items[place->item - 1].value : NULL;
}

static void put_place(struct record_table *table, struct place put)
{
    size_t at = home_of(table, put.hash);
    while (table->places[at].item)
        at = (at + 1) & mask_of(table);
    table->places[at] = put;
}

static int grow_places(struct record_table *table)
{
    size_t old_count = mask_of(table) + 1;
    struct place *old = table->places;
    struct place *grown = memory_allocate_array(old_count * 2, sizeof(*grown));
    if (!grown)
        return -1;
    table->places = grown;
    table->bits++;
    for (size_t i = 0; i < old_count; i++)
        if (old[i].item)
            put_place(table, old[i]);
    memory_free(old);
    return 0;
}

static int grow_items(struct record_table *table)
{
    size_t capacity = table->capacity ? table->capacity + table->capacity / 2 : 8;
    struct item *grown = memory_grow_array(table->items, table->capacity, capacity, sizeof(*grown));
    if (!grown)
        return -1;
    table->items = grown;
    table->capacity = capacity;
    return 0;
}

static int make_room(struct record_table *table)
{
    if (table->count >= RECORD_TABLE_MAXIMUM ||
        (table->count == table->capacity && grow_items(table) < 0))
        return -1;
    return table->count < (mask_of(table) + 1) / 4 * 3 ? 0 : grow_places(table);
}

int record_table_set(struct record_table *table, const char *first, const char *second, void *value)
{
    const struct item item = {.first = first, .second = second, .value = value};
    uint32_t hash = hash_of(table, first, second);
    const struct place *place = place_of(table, first, second, hash);
    if (place->item) {
        table->items[place->item - 1] = item;
        return 0;
    }
    if (make_room(table) < 0)
        return -1;
    table->items[table->count++] = item;
    put_place(table, (struct place){.hash = hash, .item = (uint32_t)table->count});
    return 0;
}

/* What lies behind moves up as far as its own home allows, so that no search meets a hole. */
static void close_hole(struct record_table *table, size_t hole)
{
    size_t mask = mask_of(table);
    for (size_t at = (hole + 1) & mask; table->places[at].item; at = (at + 1) & mask) {
        size_t home = home_of(table, table->places[at].hash);
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            table->places[hole] = table->places[at];
            hole = at;
        }
    }
    table->places[hole].item = 0;
}

void record_table_remove(struct record_table *table, const char *first, const char *second)
{
    struct place *place = place_of(table, first, second, hash_of(table, first, second));
    if (!place->item)
        return;
    const struct item *last = &table->items[table->count - 1];
    struct item *removed = &table->items[place->item - 1];
    if (removed != last) {
        struct place *moved =
            place_of(table, last->first, last->second, hash_of(table, last->first, last->second));
        moved->item = place->item;
        *removed = *last;
    }
    table->count--;
    close_hole(table, (size_t)(place - table->places));
}

size_t record_table_count(const struct record_table *table) { return table->count; }

void *record_table_at(const struct record_table *table, size_t item)
{
    return table->items[item].value;
}
