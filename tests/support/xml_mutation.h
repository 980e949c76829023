/* SPDX-License-Identifier: MIT */
/*
 * xml_mutation: systematic damage to an XML text, numbered, so that the n-th damaged text is
 * the same in every run. Attributes dropped and emptied, lines doubled, elements dropped,
 * numbers swapped with the next one, bits flipped, the text cut off.
 * Reads tags and quotes, no more: any text may be given.
 */
#ifndef TESTS_SUPPORT_XML_MUTATION_H
#define TESTS_SUPPORT_XML_MUTATION_H

#include <stddef.h>
#include <stdint.h>

#define XML_MUTATION_CUTS 200u
#define XML_MUTATION_FLIPS 600u

struct xml_mutation;

/* text stays the caller's and must outlive it. NULL: no memory. */
struct xml_mutation *xml_mutation_create(const char *text, size_t bytes, uint64_t seed);
void xml_mutation_free(struct xml_mutation *mutation);

size_t xml_mutation_count(const struct xml_mutation *mutation);
/* Writes the damaged text and a final NUL; returns its bytes. */
size_t xml_mutation_write(const struct xml_mutation *mutation, size_t number, char *out);
/* What a buffer for any of them must hold, the NUL included. */
size_t xml_mutation_maximum_bytes(const struct xml_mutation *mutation);
/* "attribute dropped", and where in the text that is. */
const char *xml_mutation_describe(const struct xml_mutation *mutation, size_t number,
                                  size_t *ret_offset);

#endif
