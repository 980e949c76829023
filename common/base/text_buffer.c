/* SPDX-License-Identifier: MIT */
#include "base/text_buffer.h"
#include "base/parse_number.h"
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <string.h>

#undef text_buffer_add /* the function itself: base/texts/packed_text.h */

#define FIRST_CAPACITY 256u

/* Positional notation between these decimal exponents, as people write numbers. */
#define POSITIONAL_EXPONENT_MINIMUM (-5)
#define POSITIONAL_EXPONENT_MAXIMUM 15
#define REAL_DIGITS_MAXIMUM 17u
#define CERTAIN_DIGITS 15u /* that a double keeps of any decimal number */
#define REAL_TEXT_BYTES 64u

void text_buffer_init(struct text_buffer *buffer, size_t maximum_bytes)
{
    if (maximum_bytes == SIZE_MAX)
        maximum_bytes--; /* the NUL must fit as well */
    *buffer = (struct text_buffer){.maximum_bytes = maximum_bytes};
}

void text_buffer_done(struct text_buffer *buffer)
{
    memory_free(buffer->text);
    buffer->text = NULL;
    buffer->length = buffer->capacity = 0;
}

/* Room for `bytes` more and the NUL. */
static bool reserve(struct text_buffer *buffer, size_t bytes)
{
    if (buffer->failed)
        return false;
    if (buffer->capacity > buffer->length && bytes < buffer->capacity - buffer->length)
        return true;
    if (bytes > buffer->maximum_bytes - buffer->length) {
        buffer->failed = true;
        return false;
    }
    size_t needed = buffer->length + bytes + 1;
    size_t capacity = buffer->capacity ? buffer->capacity : FIRST_CAPACITY;
    while (capacity < needed)
        capacity = capacity > SIZE_MAX / 2 ? needed : capacity * 2;
    if (capacity > buffer->maximum_bytes + 1)
        capacity = buffer->maximum_bytes + 1;
    char *grown = memory_grow_array(buffer->text, buffer->capacity, capacity, 1);
    if (!grown) {
        buffer->failed = true;
        return false;
    }
    buffer->text = grown;
    buffer->capacity = capacity;
    return true;
}

int text_format(char *out, size_t bytes, const char *format, va_list arguments)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = uselocale(plain);
    int length = vsnprintf(out, bytes, packed_text(format), arguments);
    uselocale(before);
    if (plain)
        freelocale(plain);
    return length;
}

void text_buffer_add(struct text_buffer *buffer, const char *format, ...)
{
    if (!reserve(buffer, 0))
        return;
    va_list arguments;
    va_start(arguments, format);
    va_list again;
    va_copy(again, arguments);
    size_t room = buffer->capacity - buffer->length;
    int length = text_format(buffer->text + buffer->length, room, format, arguments);
    if (length < 0) {
        buffer->failed = true;
    } else if ((size_t)length < room) {
        buffer->length += (size_t)length;
    } else if (reserve(buffer, (size_t)length)) {
        text_format(buffer->text + buffer->length, (size_t)length + 1, format, again);
        buffer->length += (size_t)length;
    }
    if (buffer->failed)
        buffer->text[buffer->length] = '\0';
    va_end(again);
    va_end(arguments);
}

void text_buffer_add_text(struct text_buffer *buffer, const char *text)
{
    text_buffer_add_bytes(buffer, text, strlen(text));
}

void text_buffer_add_bytes(struct text_buffer *buffer, const char *text, size_t bytes)
{
    if (!reserve(buffer, bytes))
        return;
    if (bytes > 0)
        memcpy(buffer->text + buffer->length, text, bytes);
    buffer->length += bytes;
    buffer->text[buffer->length] = '\0';
}

void text_buffer_add_repeated(struct text_buffer *buffer, char character, size_t count)
{
    if (!reserve(buffer, count))
        return;
    memset(buffer->text + buffer->length, character, count);
    buffer->length += count;
    buffer->text[buffer->length] = '\0';
}

static void add_positional(struct text_buffer *buffer, const char *digits, size_t count,
                           int exponent)
{
    if (exponent < 0) {
        text_buffer_add_text(buffer, "0.");
        text_buffer_add_repeated(buffer, '0', (size_t)(-exponent - 1));
        text_buffer_add_bytes(buffer, digits, count);
        return;
    }
    size_t whole = (size_t)exponent + 1;
    text_buffer_add_bytes(buffer, digits, count < whole ? count : whole);
    if (count <= whole) {
        text_buffer_add_repeated(buffer, '0', whole - count);
        return;
    }
    text_buffer_add_text(buffer, ".");
    text_buffer_add_bytes(buffer, digits + whole, count - whole);
}

static void add_exponential(struct text_buffer *buffer, const char *digits, size_t count,
                            int exponent)
{
    text_buffer_add_bytes(buffer, digits, 1);
    if (count > 1) {
        text_buffer_add_text(buffer, ".");
        text_buffer_add_bytes(buffer, digits + 1, count - 1);
    }
    text_buffer_add(buffer, "e%d", exponent);
}

/* "d.ddde±xx", whatever the locale's decimal point, into its digits without final zeros. */
static size_t collect_digits(const char *text, char digits[REAL_DIGITS_MAXIMUM], int *ret_exponent)
{
    size_t count = 0;
    const char *end = strchr(text, 'e');
    for (const char *read = text; read < end && count < REAL_DIGITS_MAXIMUM; read++)
        if (*read >= '0' && *read <= '9')
            digits[count++] = *read;
    uint64_t exponent = 0;
    parse_unsigned(end + 2, 0, 999, &exponent, NULL);
    *ret_exponent = end[1] == '-' ? -(int)exponent : (int)exponent;
    while (count > 1 && digits[count - 1] == '0')
        count--;
    return count;
}

/* From 16 digits on, a double's own digits end in noise ("0.14999999999999999"): the fewest
 * digits that give the same double are written instead. */
static void format_shortest(double magnitude, unsigned digits, char text[REAL_TEXT_BYTES])
{
    unsigned tried = digits < CERTAIN_DIGITS ? digits : CERTAIN_DIGITS;
    do {
        snprintf(text, REAL_TEXT_BYTES, "%.*e", (int)tried - 1, magnitude);
    } while (++tried <= digits && round_significant(magnitude, tried - 1) != magnitude);
}

void text_buffer_add_real(struct text_buffer *buffer, double number, unsigned digits)
{
    if (!isfinite(number)) {
        text_buffer_add_text(buffer, isnan(number) ? "nan" : number > 0 ? "inf" : "-inf");
        return;
    }
    if (digits == 0 || digits > REAL_DIGITS_MAXIMUM)
        digits = digits ? REAL_DIGITS_MAXIMUM : 1;
    double rounded = round_significant(number, digits);
    char text[REAL_TEXT_BYTES];
    format_shortest(fabs(rounded), digits, text);
    char figures[REAL_DIGITS_MAXIMUM];
    int exponent;
    size_t count = collect_digits(text, figures, &exponent);
    if (rounded < 0)
        text_buffer_add_text(buffer, "-");
    if (exponent >= POSITIONAL_EXPONENT_MINIMUM && exponent <= POSITIONAL_EXPONENT_MAXIMUM)
        add_positional(buffer, figures, count, exponent);
    else
        add_exponential(buffer, figures, count, exponent);
}

bool text_buffer_failed(const struct text_buffer *buffer) { return buffer->failed; }

const char *text_buffer_text(const struct text_buffer *buffer)
{
    return buffer->text ? buffer->text : "";
}

char *text_buffer_take(struct text_buffer *buffer)
{
    if (!reserve(buffer, 0))
        return NULL;
    char *text = move_pointer(buffer->text);
    buffer->length = buffer->capacity = 0;
    return text;
}

static size_t character_bytes(unsigned char first)
{
    if (first < 0x80)
        return first != 0;
    if (first >= 0xc2 && first <= 0xdf)
        return 2;
    if (first >= 0xe0 && first <= 0xef)
        return 3;
    return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

bool text_lists(const char *words, const char *word)
{
    size_t bytes = strlen(word);
    for (const char *at = words; bytes > 0 && (at = strstr(at, word)); at++)
        if (at > words && at[-1] == ' ' && at[bytes] == ' ')
            return true;
    return false;
}

size_t text_character(const char *text, uint32_t *ret_code)
{
    static const uint32_t first_code[] = {0, 1, 0x80, 0x800, 0x10000};
    static const unsigned char first_mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    size_t bytes = character_bytes((unsigned char)text[0]);
    uint32_t code = (unsigned char)text[0] & first_mask[bytes];
    for (size_t i = 1; i < bytes; i++) {
        unsigned char next = (unsigned char)text[i];
        if ((next & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (next & 0x3fu);
    }
    if (code < first_code[bytes] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return 0;
    *ret_code = code;
    return bytes;
}
