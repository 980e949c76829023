/* SPDX-License-Identifier: MIT */
#include "base/parse_number.h"
#include "base/cleanup.h"
#include "base/numbers/real.h"
#include "base/text_buffer.h"
#include <float.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Longest piece of a refused text that a message shows. */
#define SHOWN_CHARACTERS 60

static int error_whole(struct error_info *err, const char *text, const char *range)
{
    return error_set(err, "'%.*s' is not a whole number%s", SHOWN_CHARACTERS, text, range);
}

static int error_unsigned(struct error_info *err, const char *text, uint64_t minimum,
                          uint64_t maximum)
{
    char range[64] = "";
    if (maximum < UINT64_MAX)
        snprintf(range, sizeof(range), " from %llu to %llu", (unsigned long long)minimum,
                 (unsigned long long)maximum);
    else if (minimum > 0)
        snprintf(range, sizeof(range), " of at least %llu", (unsigned long long)minimum);
    return error_whole(err, text, range);
}

/* 0 to 15, or a number that is a digit of no base. */
static unsigned digit_of(char character)
{
    if (character >= '0' && character <= '9')
        return (unsigned)(character - '0');
    if (character >= 'a' && character <= 'f')
        return (unsigned)(character - 'a') + 10;
    if (character >= 'A' && character <= 'F')
        return (unsigned)(character - 'A') + 10;
    return UINT_MAX;
}

/* The whole text as digits of the base. False: no digits, other characters, overflow. */
static bool read_digits(const char *text, unsigned base, uint64_t *ret)
{
    uint64_t number = 0;
    for (const char *read = text; *read; read++) {
        unsigned digit = digit_of(*read);
        if (digit >= base || __builtin_mul_overflow(number, base, &number) ||
            __builtin_add_overflow(number, digit, &number))
            return false;
    }
    *ret = number;
    return *text != '\0';
}

int parse_unsigned(const char *text, uint64_t minimum, uint64_t maximum, uint64_t *ret,
                   struct error_info *err)
{
    uint64_t number;
    if (!read_digits(text, 10, &number) || number < minimum || number > maximum)
        return error_unsigned(err, text, minimum, maximum);
    *ret = number;
    return 0;
}

static bool read_signed(const char *text, int64_t *ret)
{
    uint64_t magnitude;
    if (*text != '-') {
        if (!read_digits(text, 10, &magnitude) || magnitude > INT64_MAX)
            return false;
        *ret = (int64_t)magnitude;
        return true;
    }
    if (!read_digits(text + 1, 10, &magnitude) || magnitude > (uint64_t)INT64_MAX + 1)
        return false;
    *ret = (int64_t)-magnitude; /* unsigned: INT64_MIN has no positive counterpart */
    return true;
}

int parse_signed(const char *text, int64_t minimum, int64_t maximum, int64_t *ret,
                 struct error_info *err)
{
    int64_t number;
    if (!read_signed(text, &number) || number < minimum || number > maximum) {
        char range[64] = "";
        if (minimum > INT64_MIN || maximum < INT64_MAX)
            snprintf(range, sizeof(range), " from %lld to %lld", (long long)minimum,
                     (long long)maximum);
        return error_whole(err, text, range);
    }
    *ret = number;
    return 0;
}

static const char *skip_digits(const char *text) { return text + strspn(text, "0123456789"); }

/* [-] digits [. digits] [e [+-] digits]; digits on at least one side of the point. */
static bool real_is_well_formed(const char *text)
{
    const char *whole = text + (*text == '-');
    const char *read = skip_digits(whole);
    bool has_digits = read > whole;
    if (*read == '.') {
        const char *fraction = read + 1;
        read = skip_digits(fraction);
        has_digits = has_digits || read > fraction;
    }
    if (!has_digits)
        return false;
    if (*read == 'e' || *read == 'E') {
        const char *exponent = read + 1;
        exponent += *exponent == '+' || *exponent == '-';
        read = skip_digits(exponent);
        if (read == exponent)
            return false;
    }
    return *read == '\0';
}

/* strtod_l with the C locale: exact, and the same under every locale of the host program.
 * glibc's C locale is a constant object, so making it neither allocates nor fails. */
static double real_value(const char *text)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain)
        return NAN;
    double number = strtod_l(text, NULL, plain);
    freelocale(plain);
    return number;
}

static int error_real(struct error_info *err, const char *text, double minimum, double maximum)
{
    if (minimum > -DBL_MAX && maximum < DBL_MAX)
        return error_set(err, "'%.*s' is not a number from %g to %g", SHOWN_CHARACTERS, text,
                         minimum, maximum);
    if (minimum > -DBL_MAX)
        return error_set(err, "'%.*s' is not a number of at least %g", SHOWN_CHARACTERS, text,
                         minimum);
    if (maximum < DBL_MAX)
        return error_set(err, "'%.*s' is not a number of at most %g", SHOWN_CHARACTERS, text,
                         maximum);
    return error_set(err, "'%.*s' is not a number", SHOWN_CHARACTERS, text);
}

int parse_real(const char *text, double minimum, double maximum, double *ret,
               struct error_info *err)
{
    double number = real_is_well_formed(text) ? real_value(text) : NAN;
    if (!isfinite(number) || number < minimum || number > maximum)
        return error_real(err, text, minimum, maximum);
    *ret = number;
    return 0;
}

int parse_hexadecimal(const char *text, uint64_t maximum, uint64_t *ret, struct error_info *err)
{
    uint64_t number;
    if (!read_digits(text, 16, &number) || number > maximum)
        return error_set(err, "'%.*s' is not a hexadecimal number up to %llx", SHOWN_CHARACTERS,
                         text, (unsigned long long)maximum);
    *ret = number;
    return 0;
}

static const struct {
    const char *name;
    uint64_t bytes;
} byte_units[] = {
    {"", 1},
    {"B", 1},
    {"KB", UINT64_C(1000)},
    {"MB", UINT64_C(1000000)},
    {"GB", UINT64_C(1000000000)},
    {"TB", UINT64_C(1000000000000)},
    {"KiB", UINT64_C(1) << 10},
    {"MiB", UINT64_C(1) << 20},
    {"GiB", UINT64_C(1) << 30},
    {"TiB", UINT64_C(1) << 40},
};

static uint64_t find_unit(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(byte_units); i++)
        if (strcmp(byte_units[i].name, name) == 0)
            return byte_units[i].bytes;
    return 0;
}

/* Six digits of fraction of a TiB still fit in 64 bits: 10^6 * 2^40 < 2^60. */
#define FRACTION_DIGITS_MAXIMUM 6

/* "7.68TB" is exact in integers: the part behind the point counts unit / 10^digits each, and
 * must come out whole. */
static bool read_fraction(const char *digits, size_t count, uint64_t unit, uint64_t *ret_bytes)
{
    uint64_t number = 0, scale = 1;
    if (count == 0 || count > FRACTION_DIGITS_MAXIMUM)
        return false;
    for (size_t i = 0; i < count; i++) {
        number = number * 10 + (uint64_t)(digits[i] - '0');
        scale *= 10;
    }
    *ret_bytes = number * unit / scale;
    return number * unit % scale == 0;
}

static bool read_bytes(const char *text, uint64_t *ret_bytes)
{
    char whole[24];
    size_t whole_count = (size_t)(skip_digits(text) - text);
    if (whole_count == 0 || whole_count >= sizeof(whole))
        return false;
    memcpy(whole, text, whole_count);
    whole[whole_count] = '\0';
    const char *read = text + whole_count;
    const char *fraction = *read == '.' ? read + 1 : NULL;
    if (fraction)
        read = skip_digits(fraction);
    uint64_t unit = find_unit(read);
    uint64_t bytes, more = 0;
    if (unit == 0 || !read_digits(whole, 10, &bytes) || __builtin_mul_overflow(bytes, unit, &bytes))
        return false;
    if (fraction && !read_fraction(fraction, (size_t)(read - fraction), unit, &more))
        return false;
    return !__builtin_add_overflow(bytes, more, ret_bytes);
}

int parse_bytes(const char *text, uint64_t *ret_bytes, struct error_info *err)
{
    uint64_t bytes;
    if (!read_bytes(text, &bytes))
        return error_set(err,
                         "'%.*s' is not a size in bytes; write as 80GiB or 80GB (units B KB MB "
                         "GB TB KiB MiB GiB TiB)",
                         SHOWN_CHARACTERS, text);
    *ret_bytes = bytes;
    return 0;
}

int parse_boolean(const char *text, bool *ret, struct error_info *err)
{
    static const struct {
        const char *name;
        bool truth;
    } words[] = {{"true", true}, {"false", false}, {"yes", true},
                 {"no", false},  {"on", true},     {"off", false}};
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (strcmp(words[i].name, text) == 0) {
            *ret = words[i].truth;
            return 0;
        }
    }
    return error_set(err, "'%.*s' is neither true nor false", SHOWN_CHARACTERS, text);
}

/* Powers of ten that a double holds exactly. */
static const double exact_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                      1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                      1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
#define EXACT_POWER_MAXIMUM 22
#define EXACT_DIGITS_MAXIMUM 15u
#define DIGITS_MAXIMUM 17u /* what tells any two doubles apart */

/* The decimal exponent of 10^-21 <= magnitude < 10^21, without libm's last bits. */
static int decimal_exponent(double magnitude)
{
    int exponent = 0;
    if (magnitude >= 1) {
        while (exponent < EXACT_POWER_MAXIMUM && magnitude >= exact_powers[exponent + 1])
            exponent++;
        return exponent;
    }
    while (exponent < EXACT_POWER_MAXIMUM && magnitude * exact_powers[exponent] < 1)
        exponent++;
    return -exponent;
}

static double round_by_text(double value, unsigned digits)
{
    char text[64];
    snprintf(text, sizeof(text), "%.*e", (int)digits - 1, value);
    double rounded = strtod(text, NULL); /* the same locale wrote it */
    if (isfinite(rounded))
        return rounded;
    /* Near DBL_MAX rounding up would leave the doubles: half a last digit less rounds down. */
    return round_by_text(value - copysign(5 * pow(10, DBL_MAX_10_EXP - (int)digits), value),
                         digits);
}

/* The power of ten that moves the wanted digits before the point. False: it is not one that a
 * double holds exactly. */
static bool find_shift(double magnitude, unsigned digits, int *ret_shift)
{
    if (digits > EXACT_DIGITS_MAXIMUM || magnitude < 1e-21 || magnitude >= 1e21)
        return false;
    *ret_shift = (int)digits - 1 - decimal_exponent(magnitude);
    return *ret_shift >= -EXACT_POWER_MAXIMUM && *ret_shift <= EXACT_POWER_MAXIMUM;
}

/* As round(), for 1 to 10^15. */
static double nearest_whole(double magnitude) { return real_of(whole_of(magnitude + 0.5)); }

double round_significant(double value, unsigned digits)
{
    double magnitude = fabs(value);
    if (magnitude == 0)
        return 0; /* also for -0 */
    if (!isfinite(value))
        return value;
    digits = digits < 1 ? 1 : digits > DIGITS_MAXIMUM ? DIGITS_MAXIMUM : digits;
    int shift;
    if (!find_shift(magnitude, digits, &shift))
        return round_by_text(value, digits);
    /* Whole numbers below 10^15 are exact as well, so that the last division or product is
     * the double nearest to the decimal number. */
    double power = exact_powers[shift < 0 ? -shift : shift];
    double whole = nearest_whole(shift < 0 ? magnitude / power : magnitude * power);
    return copysign(shift < 0 ? whole * power : whole / power, value);
}
