/* SPDX-License-Identifier: MIT */
#include "k8s_extender/gang/store/record_table.h"
#include "base/name_index.h"
#include <string.h>

#define FIRST_BITS 4u

struct place {
    const char *first, *second; /* first NULL: free */
    void *value;
    uint64_t hash;
};

struct record_table {
    struct place *places; /* linear probing, at most 3/4 full */
    unsigned bits;
    size_t count;
    uint64_t spread; /* of its address: nobody can choose names that all fall on one place */
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
    memory_free(table);
}

static uint64_t hash_of(const char *first, const char *second)
{
    uint64_t hash = name_hash_add(NAME_HASH_START, first, strlen(first) + 1);
    return *second ? name_hash_add(hash, second, strlen(second)) : hash;
}

static size_t mask_of(const struct record_table *table) { return ((size_t)1 << table->bits) - 1; }

static size_t home_of(const struct record_table *table, uint64_t hash)
{
    return (size_t)((hash * table->spread) >> (64 - table->bits));
}

/* The place that holds the name, or the free one where it belongs. */
static size_t place_of(const struct record_table *table, const char *first, const char *second,
                       uint64_t hash)
{
    for (size_t at = home_of(table, hash);; at = (at + 1) & mask_of(table)) {
        const struct place *place = &table->places[at];
        if (!place->first || (place->hash == hash && strcmp(place->first, first) == 0 &&
                              strcmp(place->second, second) == 0))
            return at;
    }
}

void *record_table_find(const struct record_table *table, const char *first, const char *second)
{
    return table->places[place_of(table, first, second, hash_of(first, second))].value;
}

static int grow(struct record_table *table)
{
    size_t old_count = mask_of(table) + 1;
    struct place *old = table->places;
    struct place *grown = memory_allocate_array(old_count * 2, sizeof(*grown));
    if (!grown)
        return -1;
    table->places = grown;
    table->bits++;
    for (size_t i = 0; i < old_count; i++)
        if (old[i].first)
            grown[place_of(table, old[i].first, old[i].second, old[i].hash)] = old[i];
    memory_free(old);
    return 0;
}

int record_table_set(struct record_table *table, const char *first, const char *second, void *value)
{
    uint64_t hash = hash_of(first, second);
    size_t at = place_of(table, first, second, hash);
    if (!table->places[at].first) {
        if (table->count + 1 > (mask_of(table) + 1) / 4 * 3) {
            if (grow(table) < 0)
                return -1;
            at = place_of(table, first, second, hash);
        }
        table->count++;
    }
    table->places[at] =
        (struct place){.first = first, .second = second, .value = value, .hash = hash};
    return 0;
}

/* What lies behind moves up as far as its own home allows, so that no search meets a hole. */
void record_table_remove(struct record_table *table, const char *first, const char *second)
{
    size_t hole = place_of(table, first, second, hash_of(first, second));
    if (!table->places[hole].first)
        return;
    size_t mask = mask_of(table);
    for (size_t at = (hole + 1) & mask; table->places[at].first; at = (at + 1) & mask) {
        size_t home = home_of(table, table->places[at].hash);
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            table->places[hole] = table->places[at];
            hole = at;
        }
    }
    table->places[hole] = (struct place){.first = NULL};
    table->count--;
}

size_t record_table_count(const struct record_table *table) { return table->count; }

size_t record_table_places(const struct record_table *table) { return mask_of(table) + 1; }

void *record_table_at(const struct record_table *table, size_t place)
{
    return table->places[place].value;
}
