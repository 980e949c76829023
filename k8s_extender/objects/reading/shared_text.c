/* SPDX-License-Identifier: MIT */
#include "k8s_extender/objects/reading/shared_text.h"
#include "base/memory.h"
#include "base/name_index.h"
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define FIRST_BUCKETS 64u

struct entry {
    struct entry *next; /* of the same bucket */
    uint32_t hash;
    uint32_t references;
    char text[];
};

static struct {
    pthread_mutex_t mutex;
    struct entry **buckets;
    size_t bucket_count; /* a power of two */
    size_t count;
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static struct entry *entry_of(const char *text)
{
    return (struct entry *)(uintptr_t)(text - offsetof(struct entry, text));
}

static struct entry **bucket_of(uint32_t hash)
{
    return &table.buckets[hash & (table.bucket_count - 1)];
}

/* A table that cannot grow only becomes slower. */
static void grow_table(void)
{
    size_t old_count = table.bucket_count;
    struct entry **old = table.buckets;
    struct entry **buckets = memory_allocate_array(old_count * 2, sizeof(*buckets));
    if (!buckets)
        return;
    table.buckets = buckets;
    table.bucket_count = old_count * 2;
    for (size_t i = 0; i < old_count; i++)
        for (struct entry *entry = old[i]; entry;) {
            struct entry *next = entry->next;
            struct entry **bucket = bucket_of(entry->hash);
            entry->next = *bucket;
            *bucket = entry;
            entry = next;
        }
    memory_free(old);
}

static bool make_room(void)
{
    if (!table.buckets) {
        table.buckets = memory_allocate_array(FIRST_BUCKETS, sizeof(struct entry *));
        table.bucket_count = table.buckets ? FIRST_BUCKETS : 0;
    } else if (table.count >= table.bucket_count) {
        grow_table();
    }
    return table.buckets;
}

static void drop_empty_table(void)
{
    if (table.count > 0)
        return;
    memory_free(table.buckets);
    table.buckets = NULL;
    table.bucket_count = 0;
}

static struct entry *find_entry(uint32_t hash, const char *text)
{
    if (!table.buckets)
        return NULL;
    for (struct entry *entry = *bucket_of(hash); entry; entry = entry->next)
        if (entry->hash == hash && strcmp(entry->text, text) == 0)
            return entry;
    return NULL;
}

static struct entry *add_entry(uint32_t hash, const char *text, size_t length)
{
    if (!make_room())
        return NULL;
    struct entry *entry = memory_allocate(sizeof(*entry) + length + 1);
    if (!entry) {
        drop_empty_table();
        return NULL;
    }
    memcpy(entry->text, text, length);
    entry->hash = hash;
    struct entry **bucket = bucket_of(hash);
    entry->next = *bucket;
    *bucket = entry;
    table.count++;
    return entry;
}

const char *shared_text_take(const char *text)
{
    size_t length = strlen(text);
    uint32_t hash = (uint32_t)name_hash_add(NAME_HASH_START, text, length);
    pthread_mutex_lock(&table.mutex);
    struct entry *entry = find_entry(hash, text);
    if (!entry)
        entry = add_entry(hash, text, length);
    if (entry)
        entry->references++;
    pthread_mutex_unlock(&table.mutex);
    return entry ? entry->text : NULL;
}

static void remove_entry(struct entry *entry)
{
    struct entry **link = bucket_of(entry->hash);
    while (*link != entry)
        link = &(*link)->next;
    *link = entry->next;
    memory_free(entry);
    table.count--;
    drop_empty_table();
}

void shared_text_release(const char *text)
{
    if (!text)
        return;
    struct entry *entry = entry_of(text);
    pthread_mutex_lock(&table.mutex);
    if (--entry->references == 0)
        remove_entry(entry);
    pthread_mutex_unlock(&table.mutex);
}
