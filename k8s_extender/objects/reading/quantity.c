/* SPDX-License-Identifier: MIT */
#include "k8s_extender/objects/reading/quantity.h"
#include "base/cleanup.h"
#include "base/parse_number.h"
#include <stdbool.h>
#include <string.h>

#define SIGNIFICANT_DIGITS 19u /* all that a uint64_t holds for sure */
#define EXPONENT_MAXIMUM 999
#define MILLI_EXPONENT 3
#define SHOWN_CHARACTERS 60

__extension__ typedef unsigned __int128 wide; /* a type of the compiler, no struct */

/* digits * 10^exponent * 2^binary; more: something that is not zero stood behind the digits. */
struct parts {
    char digits[SIGNIFICANT_DIGITS + 1];
    unsigned count;
    bool more;
    int exponent;
    unsigned binary;
    bool negative;
};

static const struct {
    const char *suffix;
    int exponent;
    unsigned binary;
} suffixes[] = {
    {"", 0, 0},    {"n", -9, 0},  {"u", -6, 0},  {"m", -3, 0},  {"k", 3, 0},   {"M", 6, 0},
    {"G", 9, 0},   {"T", 12, 0},  {"P", 15, 0},  {"E", 18, 0},  {"Ki", 0, 10}, {"Mi", 0, 20},
    {"Gi", 0, 30}, {"Ti", 0, 40}, {"Pi", 0, 50}, {"Ei", 0, 60},
};

static bool is_digit(char character) { return character >= '0' && character <= '9'; }

/* Leading zeros are not kept; of the digits that have no room only the place counts. */
static void take_digit(struct parts *parts, char digit, bool of_fraction)
{
    if (parts->count < SIGNIFICANT_DIGITS) {
        if (parts->count > 0 || digit != '0')
            parts->digits[parts->count++] = digit;
        parts->exponent -= of_fraction;
        return;
    }
    parts->more = parts->more || digit != '0';
    parts->exponent += !of_fraction;
}

/* Returns what follows the number, or NULL where there is none. */
static const char *take_number(struct parts *parts, const char *text)
{
    const char *at = text;
    unsigned seen = 0;
    for (; is_digit(*at); at++, seen++)
        take_digit(parts, *at, false);
    if (*at == '.')
        for (at++; is_digit(*at); at++, seen++)
            take_digit(parts, *at, true);
    return seen > 0 ? at : NULL;
}

static bool take_suffix(struct parts *parts, const char *suffix)
{
    for (size_t i = 0; i < COUNT_OF(suffixes); i++)
        if (strcmp(suffix, suffixes[i].suffix) == 0) {
            parts->exponent += suffixes[i].exponent;
            parts->binary = suffixes[i].binary;
            return true;
        }
    if (*suffix != 'e' && *suffix != 'E')
        return false;
    int64_t exponent;
    const char *number = suffix + 1 + (suffix[1] == '+' && is_digit(suffix[2]));
    if (parse_signed(number, -EXPONENT_MAXIMUM, EXPONENT_MAXIMUM, &exponent, NULL) < 0)
        return false;
    parts->exponent += (int)exponent;
    return true;
}

/* 19 digits * 2^60 is below 2^128, so nothing is lost before the division. */
static uint64_t value_of(const struct parts *parts)
{
    uint64_t digits = 0;
    if (parts->count == 0 || parse_unsigned(parts->digits, 0, UINT64_MAX, &digits, NULL) < 0)
        return 0;
    wide value = (wide)digits << parts->binary;
    bool more = parts->more;
    for (int i = 0; i < parts->exponent; i++) {
        value *= 10;
        if (value > QUANTITY_MAXIMUM)
            return QUANTITY_MAXIMUM;
    }
    for (int i = parts->exponent; i < 0 && value > 0; i++) {
        more = more || value % 10 != 0;
        value /= 10;
    }
    if (value >= QUANTITY_MAXIMUM)
        return QUANTITY_MAXIMUM;
    return (uint64_t)value + more;
}

static int error_quantity(struct error_info *err, const char *text)
{
    return error_set(err,
                     "'%.*s' is no quantity; a number is needed, with a suffix such as m, k, M, "
                     "G, Ki, Mi, Gi or none",
                     SHOWN_CHARACTERS, text);
}

int quantity_parse(const char *text, enum quantity_unit unit, uint64_t *ret, struct error_info *err)
{
    struct parts parts = {.negative = *text == '-'};
    if (strnlen(text, QUANTITY_MAXIMUM_BYTES + 1) > QUANTITY_MAXIMUM_BYTES)
        return error_quantity(err, text);
    const char *suffix = take_number(&parts, text + (*text == '-' || *text == '+'));
    if (!suffix || !take_suffix(&parts, suffix))
        return error_quantity(err, text);
    if (unit == QUANTITY_MILLI)
        parts.exponent += MILLI_EXPONENT;
    uint64_t value = value_of(&parts);
    if (parts.negative && value > 0)
        return error_set(err, "'%.*s' is below zero", SHOWN_CHARACTERS, text);
    *ret = value;
    return 0;
}
