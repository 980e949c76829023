/* SPDX-License-Identifier: MIT */
#include "topology/node_readers/sysfs/sysfs_text.h"
#include "base/cleanup.h"
#include "base/parse_number.h"
#include <string.h>

#define LINE_BYTES 128u
#define NUMBER_BYTES 32u
#define MAXIMUM_GIGABITS 100000.0
#define BYTES_PER_GIGABIT 125e6

/* --- properties ------------------------------------------------------------------- */

static int read_property(char *line, struct sysfs_property *properties, size_t count,
                         struct error_info *why)
{
    uint64_t value = 0;
    char *blank = strchr(line, ' ');
    if (!blank || blank == line)
        return error_set(why, "'%s' is no key and value", line);
    *blank = '\0';
    if (parse_unsigned(blank + 1, 0, UINT64_MAX, &value, why) < 0)
        return error_prefix(why, "%s", line);
    for (size_t i = 0; i < count; i++) {
        struct sysfs_property *property = &properties[i];
        if (strcmp(property->key, line) != 0)
            continue;
        if (property->known)
            return error_set(why, "%s stands twice", line);
        property->value = value;
        property->known = true;
        return 0;
    }
    return 0;
}

static int read_property_line(const char *start, size_t length, struct sysfs_property *properties,
                              size_t count, struct error_info *why)
{
    char line[LINE_BYTES];
    while (length > 0 && (start[length - 1] == '\r' || start[length - 1] == ' '))
        length--;
    if (length == 0)
        return 0;
    if (length >= sizeof(line))
        return error_set(why, "longer than %zu bytes", sizeof(line) - 1);
    memcpy(line, start, length);
    line[length] = '\0';
    return read_property(line, properties, count, why);
}

unsigned sysfs_parse_properties(const char *text, struct sysfs_property *properties, size_t count,
                                struct error_info *why)
{
    unsigned malformed = 0;
    for (unsigned line = 1; *text; line++) {
        struct error_info reason = {.kind = ERROR_NONE};
        size_t length = strcspn(text, "\n");
        int result = line > SYSFS_PROPERTIES_MAXIMUM_LINES
                         ? error_set(&reason, "more lines than %u", SYSFS_PROPERTIES_MAXIMUM_LINES)
                         : read_property_line(text, length, properties, count, &reason);
        if (result < 0 && malformed++ == 0)
            error_set(why, "line %u: %s", line, reason.text);
        if (line > SYSFS_PROPERTIES_MAXIMUM_LINES)
            break;
        text += length + (text[length] == '\n');
    }
    return malformed;
}

/* --- rates and GUIDs -------------------------------------------------------------- */

static const struct {
    const char *generation;
    double payload;
} encodings[] = {
    {"SDR)", 0.8},
    {"DDR)", 0.8},
    {"QDR)", 0.8},
    {"FDR)", 54.5 / 56},
};

static double payload_share(const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i < COUNT_OF(encodings); i++) {
        size_t words = strlen(encodings[i].generation);
        if (length > words && text[length - words - 1] == ' ' &&
            strcmp(text + length - words, encodings[i].generation) == 0)
            return encodings[i].payload;
    }
    return 1;
}

int sysfs_parse_rate(const char *text, double *ret_bytes_per_second, struct error_info *err)
{
    static const char unit[] = " Gb/sec";
    char number[NUMBER_BYTES];
    double gigabits = 0;
    size_t length = strcspn(text, " ");
    const char *rest = text + length;
    if (length == 0 || length >= sizeof(number) || strncmp(rest, unit, strlen(unit)) != 0 ||
        (rest[strlen(unit)] != '\0' && rest[strlen(unit)] != ' '))
        return error_set(err, "'%.64s' is no rate as '400 Gb/sec (4X NDR)'", text);
    memcpy(number, text, length);
    number[length] = '\0';
    if (parse_real(number, 0, MAXIMUM_GIGABITS, &gigabits, err) < 0)
        return -1;
    *ret_bytes_per_second = gigabits * BYTES_PER_GIGABIT * payload_share(text);
    return 0;
}

int sysfs_parse_guid(const char *text, uint64_t *ret_guid, struct error_info *err)
{
    char digits[17];
    size_t count = 0;
    for (const char *at = text; *at && count < sizeof(digits); at++)
        if (*at != ':')
            digits[count++] = *at;
    if (count != sizeof(digits) - 1)
        return error_set(err, "'%.64s' is no GUID of 16 hexadecimal digits", text);
    digits[count] = '\0';
    return parse_hexadecimal(digits, UINT64_MAX, ret_guid, err);
}

bool sysfs_vpd_is_nvswitch(const void *bytes, size_t count)
{
    static const char word[] = "SW_MNG";
    return count > 0 && memmem(bytes, count, word, strlen(word));
}

/* --- PCI -------------------------------------------------------------------------- */

static bool is_hexadecimal(char character)
{
    return (character >= '0' && character <= '9') || (character >= 'a' && character <= 'f') ||
           (character >= 'A' && character <= 'F');
}

/* '#' stands for a digit. */
static bool has_form(const char *text, const char *form)
{
    for (; *form; text++, form++)
        if (*form == '#' ? !is_hexadecimal(*text) : *text != *form)
            return false;
    return true;
}

static char lower(char character)
{
    return (char)(character >= 'A' && character <= 'F' ? character - 'A' + 'a' : character);
}

bool sysfs_parse_bus_id(const char *text, size_t length, char ret_bus_id[PCI_BUS_ID_BYTES])
{
    static const char form[] = "########:##:##.#", shortest[] = "####:##:##.#";
    if (length < strlen(shortest) || length > strlen(form) ||
        !has_form(text, form + strlen(form) - length))
        return false;
    for (; length > strlen(shortest) && *text == '0'; text++)
        length--;
    for (size_t i = 0; i < length; i++)
        ret_bus_id[i] = lower(text[i]);
    ret_bus_id[length] = '\0';
    return true;
}

bool sysfs_path_bus_id(const char *path, char ret_bus_id[PCI_BUS_ID_BYTES])
{
    bool found = false;
    for (const char *at = path; *at;) {
        size_t length = strcspn(at, "/");
        found = sysfs_parse_bus_id(at, length, ret_bus_id) || found;
        at += length + (at[length] == '/');
    }
    return found;
}
