/* SPDX-License-Identifier: MIT */
#include "mapping/node_permutation.h"
#include <string.h>

#define SHORTEST_RUN 3u    /* two numbers are no longer than their run */
#define READABLE_BYTES 64u /* runs up to here are left as people can read them */
#define DIGITS_MAXIMUM 10u
#define ITEM_BYTES (3u * (DIGITS_MAXIMUM + 1u))
#define BASE64_BITS 6u
#define PACKED_MARK '~'
#define NOT_SEEN (~0u)

static const char base64_digits[64] = {
    'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J', 'K', 'L', 'M', 'N', 'O', 'P',
    'Q', 'R', 'S', 'T', 'U', 'V', 'W', 'X', 'Y', 'Z', 'a', 'b', 'c', 'd', 'e', 'f',
    'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p', 'q', 'r', 's', 't', 'u', 'v',
    'w', 'x', 'y', 'z', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '+', '/'};

static unsigned bits_for(unsigned count)
{
    unsigned bits = 1;
    while (bits < 32 && (count - 1) >> bits)
        bits++;
    return bits;
}

static size_t packed_bytes(unsigned count)
{
    return ((size_t)count * bits_for(count) + BASE64_BITS - 1) / BASE64_BITS;
}

/* By hand: a formatted add for each of 65,536 items would cost more than the whole plan. */
static size_t write_number(char *out, unsigned number)
{
    char reversed[DIGITS_MAXIMUM];
    size_t digits = 0;
    do {
        reversed[digits++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    for (size_t i = 0; i < digits; i++)
        out[i] = reversed[digits - 1 - i];
    return digits;
}

/* Length of the ascending run with one step that starts at numbers[0]. */
static unsigned run_length(const unsigned *numbers, unsigned count)
{
    if (count < SHORTEST_RUN || numbers[1] <= numbers[0])
        return 1;
    unsigned step = numbers[1] - numbers[0], length = 2;
    while (length < count && numbers[length] > numbers[length - 1] &&
           numbers[length] - numbers[length - 1] == step)
        length++;
    return length < SHORTEST_RUN ? 1 : length;
}

/* One item with the comma before it; returns its bytes. */
static size_t write_item(char item[static ITEM_BYTES], const unsigned *numbers, unsigned length,
                         bool first)
{
    size_t bytes = 0;
    if (!first)
        item[bytes++] = ',';
    bytes += write_number(item + bytes, numbers[0]);
    if (length == 1)
        return bytes;
    item[bytes++] = '-';
    bytes += write_number(item + bytes, numbers[length - 1]);
    if (numbers[1] - numbers[0] > 1) {
        item[bytes++] = '/';
        bytes += write_number(item + bytes, numbers[1] - numbers[0]);
    }
    return bytes;
}

/* The length as runs; out NULL: only count, up to the limit. */
static size_t encode_runs(const unsigned *numbers, unsigned count, size_t limit,
                          struct text_buffer *out)
{
    size_t total = 0;
    for (unsigned i = 0; i < count && total <= limit;) {
        char item[ITEM_BYTES];
        unsigned length = run_length(numbers + i, count - i);
        size_t bytes = write_item(item, numbers + i, length, i == 0);
        if (out)
            text_buffer_add_bytes(out, item, bytes);
        total += bytes;
        i += length;
    }
    return total;
}

static void encode_packed(const unsigned *numbers, unsigned count, struct text_buffer *out)
{
    unsigned width = bits_for(count), held = 0;
    uint64_t window = 0;
    char mark = PACKED_MARK;
    text_buffer_add_bytes(out, &mark, 1);
    for (unsigned i = 0; i < count && !text_buffer_failed(out); i++) {
        char digits[32 / BASE64_BITS + 2];
        size_t bytes = 0;
        window = window << width | numbers[i];
        held += width;
        for (; held >= BASE64_BITS; held -= BASE64_BITS)
            digits[bytes++] = base64_digits[window >> (held - BASE64_BITS) & 63];
        text_buffer_add_bytes(out, digits, bytes);
    }
    if (held > 0)
        text_buffer_add_bytes(out, &base64_digits[window << (BASE64_BITS - held) & 63], 1);
}

void node_permutation_encode(const unsigned *numbers, unsigned count, struct text_buffer *out)
{
    size_t packed = packed_bytes(count) + 1;
    size_t limit = packed > READABLE_BYTES ? packed : READABLE_BYTES;
    if (encode_runs(numbers, count, limit, NULL) <= limit)
        encode_runs(numbers, count, limit, out);
    else
        encode_packed(numbers, count, out);
}

static int read_number(const char **text, unsigned below, unsigned *ret, struct error_info *err)
{
    const char *read = *text;
    uint64_t number = 0;
    while (*read >= '0' && *read <= '9' && number < below)
        number = number * 10 + (unsigned)(*read++ - '0');
    if (read == *text || number >= below)
        return error_set(err, "map: '%.20s' does not start with a number below %u", *text, below);
    *text = read;
    *ret = (unsigned)number;
    return 0;
}

struct run {
    unsigned first, last, step;
};

/* first, first-last or first-last/step. */
static int read_run(const char **text, unsigned count, struct run *ret, struct error_info *err)
{
    const char *start = *text;
    *ret = (struct run){.step = 1};
    if (read_number(text, count, &ret->first, err) < 0)
        return -1;
    ret->last = ret->first;
    if (**text != '-')
        return 0;
    ++*text;
    if (read_number(text, count, &ret->last, err) < 0)
        return -1;
    if (**text == '/') {
        ++*text;
        if (read_number(text, count, &ret->step, err) < 0)
            return -1;
    }
    if (ret->last <= ret->first || ret->step == 0 || (ret->last - ret->first) % ret->step != 0)
        return error_set(err, "map: '%.32s' does not start with an ascending run", start);
    return 0;
}

static int read_comma(const char **text, struct error_info *err)
{
    if (**text == ',' && (*text)[1] != '\0')
        ++*text;
    else if (**text != '\0')
        return error_set(err, "map: '%.20s' is not ',' and the next node", *text);
    return 0;
}

static int decode_runs(const char *text, unsigned count, unsigned *ret_numbers,
                       struct error_info *err)
{
    unsigned filled = 0;
    while (*text) {
        struct run run = {.step = 1};
        if (read_run(&text, count, &run, err) < 0 || read_comma(&text, err) < 0)
            return -1;
        unsigned length = (run.last - run.first) / run.step + 1;
        if (length > count - filled)
            return error_set(err, "map: names more than %u nodes", count);
        for (unsigned i = 0; i < length; i++)
            ret_numbers[filled++] = run.first + i * run.step;
    }
    return filled == count ? 0 : error_set(err, "map: names %u of %u nodes", filled, count);
}

static int base64_value(char digit)
{
    const char *found = digit ? memchr(base64_digits, digit, sizeof(base64_digits)) : NULL;
    return found ? (int)(found - base64_digits) : -1;
}

static int decode_packed(const char *text, unsigned count, unsigned *ret_numbers,
                         struct error_info *err)
{
    unsigned width = bits_for(count), held = 0, filled = 0;
    uint64_t window = 0;
    size_t bytes = packed_bytes(count);
    if (strlen(text) != bytes)
        return error_set(err, "map: %zu packed characters, but %u nodes have %zu", strlen(text),
                         count, bytes);
    for (size_t i = 0; i < bytes; i++) {
        int value = base64_value(text[i]);
        if (value < 0)
            return error_set(err, "map: '%c' is no base64 digit", text[i]);
        window = window << BASE64_BITS | (unsigned)value;
        held += BASE64_BITS;
        while (held >= width && filled < count) {
            held -= width;
            unsigned number = (unsigned)(window >> held & ((UINT64_C(1) << width) - 1));
            if (number >= count)
                return error_set(err, "map: node %u of %u", number, count);
            ret_numbers[filled++] = number;
        }
    }
    if (window & ((UINT64_C(1) << held) - 1))
        return error_set(err, "map: bits after the last node are set");
    return 0;
}

int node_permutation_decode(const char *text, unsigned count, unsigned *ret_numbers,
                            struct error_info *err)
{
    if (*text == PACKED_MARK)
        return decode_packed(text + 1, count, ret_numbers, err);
    return decode_runs(text, count, ret_numbers, err);
}

int node_permutation_invert(const unsigned *numbers, unsigned count, unsigned *ret_inverse,
                            struct error_info *err)
{
    for (unsigned i = 0; i < count; i++)
        ret_inverse[i] = NOT_SEEN;
    for (unsigned i = 0; i < count; i++) {
        if (numbers[i] >= count)
            return error_set(err, "map: node %u of %u", numbers[i], count);
        if (ret_inverse[numbers[i]] != NOT_SEEN)
            return error_set(err, "map: node %u stands for two blocks, %u and %u", numbers[i],
                             ret_inverse[numbers[i]], i);
        ret_inverse[numbers[i]] = i;
    }
    return 0;
}
