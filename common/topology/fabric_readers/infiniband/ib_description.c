/* SPDX-License-Identifier: MIT */
#include "topology/fabric_readers/infiniband/ib_description.h"
#include "base/cleanup.h"
#include "base/parse_number.h"
#include "topology/fabric.h"
#include <string.h>

/* What cards and switches are called before someone names them. */
static const char *const default_words[] = {"Mellanox Technologies", "NVIDIA Corporation"};
static const char *const default_hosts[] = {"localhost", "localhost.localdomain", "(none)",
                                            "unknown"};

/* Labels with a number, and where that counts from. */
static const struct {
    const char *prefix;
    unsigned first;
} labels[] = {{"mlx5_", 0}, {"mlx4_", 0}, {"HCA-", 1}, {"hfi1_", 0}, {"qib", 0}};

static bool is_default(const char *text)
{
    for (size_t i = 0; i < COUNT_OF(default_words); i++)
        if (strstr(text, default_words[i]))
            return true;
    return false;
}

static unsigned label_number(const char *label)
{
    for (size_t i = 0; i < COUNT_OF(labels); i++) {
        size_t length = strlen(labels[i].prefix);
        uint64_t number = 0;
        if (strncmp(label, labels[i].prefix, length) == 0 &&
            parse_unsigned(label + length, labels[i].first, FABRIC_MAXIMUM_RAILS, &number, NULL) ==
                0)
            return (unsigned)number - labels[i].first;
    }
    return FABRIC_NONE;
}

static bool name_character_is_valid(char character)
{
    return character > ' ' && character < 0x7f && character != ',' && character != '[' &&
           character != ']';
}

/* A GUID alone names no host: 16 hexadecimal digits, maybe behind 0x. */
static bool is_guid(const char *text)
{
    text += strncmp(text, "0x", 2) == 0 ? 2 : 0;
    return strlen(text) == 16 && strspn(text, "0123456789abcdefABCDEF") == 16;
}

static bool is_host_name(const char *text)
{
    size_t length = 0;
    while (name_character_is_valid(text[length]))
        length++;
    if (text[length] || length == 0 || length >= IB_NAME_BYTES || is_guid(text) ||
        label_number(text) != FABRIC_NONE)
        return false;
    for (size_t i = 0; i < COUNT_OF(default_hosts); i++)
        if (strcmp(text, default_hosts[i]) == 0)
            return false;
    return true;
}

enum ib_adapter_kind ib_description_adapter(char *text, const char **ret_host,
                                            const char **ret_label, unsigned *ret_number)
{
    if (strstr(text, "Aggregation Node"))
        return IB_ADAPTER_AGGREGATION;
    if (is_default(text))
        return IB_ADAPTER_UNNAMED;
    char *host = text + strspn(text, " \t");
    char *end = host + strcspn(host, " \t");
    char *label = end + strspn(end, " \t");
    label[strcspn(label, " \t")] = '\0';
    *end = '\0';
    if (!is_host_name(host))
        return IB_ADAPTER_UNNAMED;
    *ret_host = host;
    *ret_label = label;
    *ret_number = label_number(label);
    return IB_ADAPTER_HOST;
}

static void add_clean(char *name, size_t *length, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes && *length + 1 < IB_NAME_BYTES; i++)
        name[(*length)++] = name_character_is_valid(text[i]) ? text[i] : '_';
    name[*length] = '\0';
}

/* "/L01" of ":MCS8500/L01/U1", nothing of ":MQM8700/U1". */
static const char *chassis_part(const char *model, size_t *ret_bytes)
{
    const char *part = strchr(model, '/');
    if (!part)
        part = "";
    *ret_bytes = strlen(part);
    if (*ret_bytes >= 3 && strcmp(part + *ret_bytes - 3, "/U1") == 0)
        *ret_bytes -= 3;
    return part;
}

void ib_description_switch(const char *text, const char *id, char ret_name[IB_NAME_BYTES])
{
    const char *semicolon = strchr(text, ';');
    const char *name = semicolon ? semicolon + 1 : text;
    const char *model = semicolon ? strchr(name, ':') : NULL;
    size_t bytes = model ? (size_t)(model - name) : strlen(name), length = 0;
    bool unnamed = bytes == 0 || is_default(text);
    add_clean(ret_name, &length, unnamed ? id : name, unnamed ? strlen(id) : bytes);
    if (!model || unnamed)
        return;
    const char *part = chassis_part(model, &bytes);
    add_clean(ret_name, &length, part, bytes);
}
