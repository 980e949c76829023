/* SPDX-License-Identifier: MIT */
#include "cli/doctor/slurm_text.h"
#include "base/parse_number.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define BLANKS " \t\r"
#define NAME_BYTES 256u
#define GRES_BYTES 1024u
#define VERSION_PARTS 3u
#define RELEASE_MASK 0xffff00u

static bool copy(const char *from, size_t length, char *ret, size_t bytes)
{
    ret[0] = '\0';
    if (length == 0 || length >= bytes)
        return false;
    memcpy(ret, from, length);
    ret[length] = '\0';
    return true;
}

/* The value of a line that holds this key; NULL: another one. */
static const char *value_of(const char *line, const char *key)
{
    size_t length = strlen(key);
    line += strspn(line, BLANKS);
    if (strncasecmp(line, key, length) != 0)
        return NULL;
    line += length;
    line += strspn(line, BLANKS);
    return *line == '=' ? line + 1 + strspn(line + 1, BLANKS) : NULL;
}

bool slurm_setting_find(const char *text, const char *key, char *ret, size_t bytes)
{
    ret[0] = '\0';
    for (const char *line = text; line && *line;
         line += strcspn(line, "\n"), line += *line == '\n') {
        const char *value = value_of(line, key);
        if (!value)
            continue;
        size_t length = strcspn(value, "\n#");
        while (length > 0 && strchr(BLANKS, value[length - 1]))
            length--;
        if (length == strlen("(null)") && memcmp(value, "(null)", length) == 0)
            return false;
        return copy(value, length, ret, bytes);
    }
    return false;
}

/* One part of a version, at most 255; *text moves behind it. */
static bool take_part(const char **text, uint32_t *ret)
{
    char digits[4];
    uint64_t number;
    size_t length = strspn(*text, "0123456789");
    if (!copy(*text, length, digits, sizeof(digits)) ||
        parse_unsigned(digits, 0, 255, &number, NULL) < 0)
        return false;
    *text += length;
    *ret = (uint32_t)number;
    return true;
}

static uint32_t version_at(const char *text)
{
    uint32_t version = 0, part;
    for (unsigned i = 0; i < VERSION_PARTS; i++) {
        if ((i > 0 && *text++ != '.') || !take_part(&text, &part))
            return 0;
        version = version << 8 | part;
    }
    return version;
}

uint32_t slurm_version_parse(const char *text)
{
    for (const char *at = text; *at; at++) {
        if (!isdigit((unsigned char)*at) || (at > text && !strchr(" \t\n", at[-1])))
            continue;
        uint32_t version = version_at(at);
        if (version)
            return version;
    }
    return 0;
}

void slurm_version_write(uint32_t version, bool with_micro, char ret[SLURM_VERSION_BYTES])
{
    int used = snprintf(ret, SLURM_VERSION_BYTES, "%u.%02u", version >> 16, version >> 8 & 255u);
    if (with_micro)
        snprintf(ret + used, SLURM_VERSION_BYTES - (size_t)used, ".%u", version & 255u);
}

bool slurm_version_same_release(uint32_t left, uint32_t right)
{
    return ((left ^ right) & RELEASE_MASK) == 0;
}

bool slurm_node_value(const char *line, const char *word, char *ret, size_t bytes)
{
    size_t length = strlen(word);
    for (const char *at = line; *at && *at != '\n';) {
        size_t size = strcspn(at, " \n");
        if (size > length && memcmp(at, word, length) == 0 && at[length] == '=')
            return copy(at + length + 1, size - length - 1, ret, bytes);
        at += size;
        at += *at == ' ';
    }
    ret[0] = '\0';
    return false;
}

unsigned slurm_node_gpus(const char *line, char ret_type[static GPU_TYPE_BYTES])
{
    char gres[GRES_BYTES], type[GPU_TYPE_BYTES];
    const char *at = gres;
    unsigned total = 0, count = 0, types = 0;
    ret_type[0] = '\0';
    slurm_node_value(line, "Gres", gres, sizeof(gres));
    while (gres_text_next(&at, &count, type)) {
        if (types++ == 0)
            memcpy(ret_type, type, sizeof(type));
        else
            ret_type[0] = '\0';
        total += count < NODE_MAXIMUM_GPUS ? count : NODE_MAXIMUM_GPUS;
    }
    return total;
}

const char *slurm_next_line(const char *line)
{
    line += strcspn(line, "\n");
    return *line ? line + 1 : line;
}

static bool is_host(const char *name, const char *host)
{
    size_t length = strcspn(host, ".");
    return strcmp(name, host) == 0 || (strlen(name) == length && !memcmp(name, host, length));
}

const char *slurm_node_find(const char *text, const char *host)
{
    static const char *const words[] = {"NodeName", "NodeHostName"};
    char name[NAME_BYTES];
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        for (const char *line = text; *line; line = slurm_next_line(line))
            if (slurm_node_value(line, words[i], name, sizeof(name)) && is_host(name, host))
                return line;
    return NULL;
}
