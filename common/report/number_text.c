/* SPDX-License-Identifier: MIT */
#include "report/number_text.h"
#include "base/cleanup.h"
#include "base/numbers/real.h"
#include "base/parse_number.h"
#include "base/text_buffer.h"
#include <math.h>

#define DIGITS 3u

struct unit {
    double scale;
    const char *name;
};

static const struct unit binary_bytes[] = {
    {1.0, "B"},
    {1024.0, "KiB"},
    {1048576.0, "MiB"},
    {1073741824.0, "GiB"},
    {1099511627776.0, "TiB"},
};
static const struct unit decimal_rate[] = {
    {1.0, "B/s"}, {1e3, "kB/s"}, {1e6, "MB/s"}, {1e9, "GB/s"}, {1e12, "TB/s"},
};
static const struct unit bit_rate[] = {
    {0.125, "b/s"}, {0.125e3, "kb/s"}, {0.125e6, "Mb/s"}, {0.125e9, "Gb/s"}, {0.125e12, "Tb/s"},
};
static const struct unit durations[] = {{1e-9, "ns"}, {1e-6, "us"}, {1e-3, "ms"}, {1.0, "s"}};
static const struct unit counts[] = {{1.0, ""},  {1e3, "k"},  {1e6, "M"},
                                     {1e9, "G"}, {1e12, "T"}, {1e15, "P"}};

static const struct unit parameters[] = {
    {1.0, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "B"}, {1e12, "T"}};

__attribute__((format(printf, 2, 3))) static void put(struct number_text *out, const char *format,
                                                      ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_format(out->text, sizeof(out->text), format, arguments);
    va_end(arguments);
}

/* Decimals that leave DIGITS significant ones: 61.2, 4.21, 394. */
static int decimals_of(double value)
{
    double size = fabs(value);
    if (size >= 100.0)
        return 0;
    return size >= 10.0 ? 1 : 2;
}

/* The largest unit in which the rounded value is at least 1. Whole values of the smallest
 * unit are written without decimals. */
static struct number_text scaled(double value, const struct unit *units, size_t count)
{
    struct number_text out = {""};
    /* 999.6 is written in the next unit since it rounds to 1000; 1024 rounds to 1020. */
    double size = fabs(value), rounded = fabs(round_significant(value, DIGITS));
    size = rounded > size ? rounded : size;
    size_t unit = 0;
    while (unit + 1 < count && size >= units[unit + 1].scale)
        unit++;
    double shown = round_significant(value / units[unit].scale, DIGITS);
    /* 1,023.6 KiB rounds to 1020 in binary units: three digits would lie, so write it whole. */
    if (fabs(shown) >= 1000.0)
        shown = round_significant(value / units[unit].scale, DIGITS + 1);
    bool whole = unit == 0 && units[0].scale == 1.0 && shown == real_of(whole_of(shown));
    put(&out, "%.*f%s%s", whole ? 0 : decimals_of(shown), shown, units[unit].name[0] ? " " : "",
        units[unit].name);
    return out;
}

static struct number_text words(const char *text)
{
    struct number_text out = {""};
    put(&out, "%s", text);
    return out;
}

struct number_text number_bytes(uint64_t bytes) { return number_bytes_real(real_of(bytes)); }

struct number_text number_bytes_real(double bytes)
{
    if (!isfinite(bytes))
        return words("?");
    return bytes > 0.0 ? scaled(bytes, binary_bytes, COUNT_OF(binary_bytes)) : words("0");
}

struct number_text number_gib(uint64_t bytes)
{
    struct number_text out = {""};
    put(&out, "%.1f", real_of(bytes) / 1073741824.0);
    return out;
}

struct number_text number_bandwidth(double bytes_per_second)
{
    if (!(bytes_per_second > 0.0) || !isfinite(bytes_per_second))
        return words("?");
    return scaled(bytes_per_second, decimal_rate, COUNT_OF(decimal_rate));
}

struct number_text number_network(double bytes_per_second)
{
    if (!(bytes_per_second > 0.0) || !isfinite(bytes_per_second))
        return words("?");
    return scaled(bytes_per_second, bit_rate, COUNT_OF(bit_rate));
}

struct number_text number_seconds(double seconds)
{
    if (!isfinite(seconds))
        return words("?");
    return seconds > 0.0 ? scaled(seconds, durations, COUNT_OF(durations)) : words("0");
}

struct number_text number_si(double value)
{
    return isfinite(value) ? scaled(value, counts, COUNT_OF(counts)) : words("?");
}

struct number_text number_parameters(double count)
{
    return isfinite(count) ? scaled(count, parameters, COUNT_OF(parameters)) : words("?");
}

struct number_text number_percent(double share)
{
    struct number_text out = {""};
    if (!isfinite(share))
        return words("?");
    put(&out, "%.1f %%", round_significant(share * 100.0, 12));
    return out;
}

struct number_text number_grouped(uint64_t value)
{
    struct number_text out = {""};
    char digits[32];
    struct number_text plain = {""};
    put(&plain, "%llu", (unsigned long long)value);
    size_t count = 0;
    while (plain.text[count])
        count++;
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 3 == 0)
            digits[length++] = ',';
        digits[length++] = plain.text[i];
    }
    digits[length] = '\0';
    put(&out, "%s", digits);
    return out;
}

struct number_text number_index(int index)
{
    struct number_text out = {""};
    if (index < 0)
        return words("-");
    put(&out, "%d", index);
    return out;
}
