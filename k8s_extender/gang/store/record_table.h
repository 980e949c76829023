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

struct record_table;

struct record_table *record_table_create(void); /* NULL: out of memory */
void record_table_free(struct record_table *table);

/* second: "" where the name has one part. NULL: not there. */
void *record_table_find(const struct record_table *table, const char *first, const char *second);
/* Adds it, or puts the new names and pointer in the old ones' place (never fails then). */
int record_table_set(struct record_table *table, const char *first, const char *second,
                     void *value);
void record_table_remove(struct record_table *table, const char *first, const char *second);
size_t record_table_count(const struct record_table *table);
/* Walks all: places 0 … record_table_places - 1, NULL where there is none. Removing the entry of a
 * place moves others to it or before it: look at it again. */
size_t record_table_places(const struct record_table *table);
void *record_table_at(const struct record_table *table, size_t place);

DEFINE_CLEANUP(record_table);

#endif
