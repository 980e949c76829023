/* SPDX-License-Identifier: MIT */
/*
 * id_set: a set of small unsigned numbers (CPUs, GPU indices), written "0-3,8,10-11".
 */
#ifndef BASE_ID_SET_H
#define BASE_ID_SET_H

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text_buffer.h"
#include <stdbool.h>

#define ID_SET_MAXIMUM_ID 65535u

struct id_set;

struct id_set *id_set_create(void); /* NULL: out of memory */
void id_set_free(struct id_set *set);
int id_set_add(struct id_set *set, unsigned id, struct error_info *err);
bool id_set_contains(const struct id_set *set, unsigned id);
unsigned id_set_count(const struct id_set *set);
/* Iteration in ascending order: first >= from, or ID_SET_END. */
#define ID_SET_END (~0u)
unsigned id_set_next(const struct id_set *set, unsigned from);
/* "0-3,8"; an empty text is the empty set. Overlaps are fine, "3-1" is not. */
struct id_set *id_set_decode(const char *text, struct error_info *err);
void id_set_encode(const struct id_set *set, struct text_buffer *out);

DEFINE_CLEANUP(id_set);

#endif
