/* SPDX-License-Identifier: MIT */
#include "k8s_extender/api/config/base64.h"
#include "base/cleanup.h"

#include <stdint.h>
#include <string.h>

static int digit_value(char digit)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = digit ? strchr(digits, digit) : NULL;
    return found ? (int)(found - digits) : -1;
}

static const char *skip_blanks(const char *text) { return text + strspn(text, " \t\r\n"); }

char *base64_decode(const char *text, size_t *ret_bytes)
{
    CLEANUP_MEMORY char *bytes = memory_allocate(strlen(text) / 4 * 3 + 4);
    if (!bytes)
        return NULL;
    size_t count = 0, digits = 0;
    uint32_t window = 0;
    for (text = skip_blanks(text); *text && *text != '='; text = skip_blanks(text + 1)) {
        int value = digit_value(*text);
        if (value < 0)
            return NULL;
        window = window << 6 | (uint32_t)value;
        if (++digits % 4 != 1)
            bytes[count++] = (char)(window >> (6 - (digits - 1) % 4 * 2) & 0xff);
    }
    size_t padding = 0;
    for (; *text == '='; text = skip_blanks(text + 1))
        padding++;
    if (*text || digits % 4 == 1 || (digits + padding) % 4 != 0 || padding > 2)
        return NULL;
    *ret_bytes = count;
    return move_pointer(bytes);
}
