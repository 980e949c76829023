/* SPDX-License-Identifier: MIT */
/*
 * quantity: amounts as Kubernetes writes them (apimachinery, resource.Quantity): a sign, digits
 * with an optional fraction ("2", "1.5", ".5", "5."), then one of
 *     n u m k M G T P E        powers of 1000, "" is 1
 *     Ki Mi Gi Ti Pi Ei        powers of 1024
 *     e3 E-3                   a decimal exponent
 * Exact: whatever the number of digits, the result is rounded up, as the scheduler does it. Amounts
 * beyond 2^63-1 count as 2^63-1, as there. Pure.
 */
#ifndef K8S_EXTENDER_OBJECTS_READING_QUANTITY_H
#define K8S_EXTENDER_OBJECTS_READING_QUANTITY_H

#include "base/error.h"
#include <stdint.h>

#define QUANTITY_MAXIMUM_BYTES 128u
#define QUANTITY_MAXIMUM ((uint64_t)INT64_MAX)

enum quantity_unit { QUANTITY_WHOLE, QUANTITY_MILLI };

/* Errors: no quantity, or one below zero (-0 is zero). */
int quantity_parse(const char *text, enum quantity_unit unit, uint64_t *ret,
                   struct error_info *err);

#endif
