/* SPDX-License-Identifier: MIT */
/*
 * parse_number: the only place where text becomes a number. The whole text must be the
 * number: no blanks, no trailing junk, no hexadecimal, no locale. On failure *ret is not
 * touched, and err says what was read and what is allowed ("12x is not a whole number
 * from 1 to 1024").
 */
#ifndef BASE_PARSE_NUMBER_H
#define BASE_PARSE_NUMBER_H

#include "base/error.h"
#include <stdbool.h>
#include <stdint.h>

int parse_unsigned(const char *text, uint64_t minimum, uint64_t maximum, uint64_t *ret,
                   struct error_info *err);
int parse_signed(const char *text, int64_t minimum, int64_t maximum, int64_t *ret,
                 struct error_info *err);
/* Decimal with optional fraction and exponent; finite only. */
int parse_real(const char *text, double minimum, double maximum, double *ret,
               struct error_info *err);
/* Hexadecimal digits without prefix (PCI ids, GUIDs). */
int parse_hexadecimal(const char *text, uint64_t maximum, uint64_t *ret, struct error_info *err);
/* "80GiB", "512MiB", "80GB" (10^9), "1048576"; units B KB MB GB TB KiB MiB GiB TiB. */
int parse_bytes(const char *text, uint64_t *ret_bytes, struct error_info *err);
/* true/false, yes/no, on/off. */
int parse_boolean(const char *text, bool *ret, struct error_info *err);

/* value rounded to that many significant digits, half away from zero: what reports
 * print and comparisons use, so that output does not depend on the last bits. A value
 * within the rounding error of a product of its decimal half counts as that half (0.15 at
 * one digit is 0.2). Outside 1e-21 to 1e21, and from 16 digits on, printf's rounding.
 * Never -0. */
double round_significant(double value, unsigned digits);

#endif
