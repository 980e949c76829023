/* SPDX-License-Identifier: MIT */
/*
 * record_table: a hash table from a name of one or two parts to a pointer, with removal. Neither
 * the names nor what the pointers lead to belong to the table: the names must live as long as their
 * entry. No order that depends on the hash may reach a decision: only record_table_at walks it.
 */
#ifndef K8S_EXTENDER_GANG_STORE_RECORD_TABLE_H
#define K8S_EXTENDER_GANG_STORE_RECORD_TABLE_H

#include "base/cleanup.h"
#include <stddef.h>
#include <stdint.h>

#define RECORD_TABLE_MAXIMUM ((size_t)1 << 28)

struct record_table;

struct record_table *record_table_create(void); /* NULL: out of memory */
void record_table_free(struct record_table *table);

/* second: "" where the name has one part. NULL: not there. */
void *record_table_find(const struct record_table *table, const char *first, const char *second);
/* Adds it, or puts the new names and pointer in the old ones' place (never fails then). -1: out of
 * memory, or there are RECORD_TABLE_MAXIMUM. */
int record_table_set(struct record_table *table, const char *first, const char *second,
                     void *value);
void record_table_remove(struct record_table *table, const char *first, const char *second);
size_t record_table_count(const struct record_table *table);
/* Walks all: items 0 … record_table_count - 1, in no order that means anything. Removing one puts
 * the last one in its place: look at that again. */
void *record_table_at(const struct record_table *table, size_t item);

DEFINE_CLEANUP(record_table);

#endif
