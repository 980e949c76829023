/* SPDX-License-Identifier: MIT */
#include "topology/node_readers/hwloc/hwloc_reader.h"
#include "base/parse_number.h"
#include "topology/node_readers/hwloc/hwloc_import.h"
#include "topology/node_readers/reader_child.h"
#include <string.h>

/* The topology element stands in the first lines; anything else is not hwloc's. */
#define HEAD_BYTES 4096u
#define REMEDY "export it again with lstopo --of xml, and see that it is whole"

struct node_evidence *hwloc_read_live(struct error_info *err) { return hwloc_import_live(err); }

/* The value of `name="…"` between start and end, of at most value_bytes - 1 characters. */
static bool find_attribute(const char *start, const char *end, const char *name, char *value,
                           size_t value_bytes)
{
    size_t length = strlen(name);
    for (const char *at = start; at + length + 2 < end; at++) {
        if (strncmp(at, name, length) != 0 || strncmp(at + length, "=\"", 2) != 0)
            continue;
        const char *from = at + length + 2;
        const char *quote = memchr(from, '"', (size_t)(end - from));
        if (!quote || (size_t)(quote - from) >= value_bytes)
            return false;
        memcpy(value, from, (size_t)(quote - from));
        value[quote - from] = '\0';
        return true;
    }
    return false;
}

/* Major version of the format; 1 where the file does not say (1.x did not). */
static int read_version(const char *text, size_t bytes, const char *source, uint64_t *ret_major,
                        struct error_info *err)
{
    char head[HEAD_BYTES + 1], version[16];
    size_t length = bytes < HEAD_BYTES ? bytes : HEAD_BYTES;
    memcpy(head, text, length);
    head[length] = '\0';
    const char *element = strstr(head, "<topology");
    const char *end = element ? strchr(element, '>') : NULL;
    if (!end)
        return error_set(err,
                         "%s: not an XML file of hwloc (no <topology>); write one with "
                         "lstopo --of xml",
                         source);
    *ret_major = 1;
    if (!find_attribute(element, end, " version", version, sizeof(version)))
        return 0;
    char *dot = strchr(version, '.');
    if (dot)
        *dot = '\0';
    if (parse_unsigned(version, 1, 3, ret_major, NULL) < 0)
        return error_set(err, "%s: version %s of hwloc's XML is not known", source, version);
    return 0;
}

struct node_evidence *hwloc_read_xml(const char *text, size_t bytes, const char *source,
                                     struct error_info *err)
{
    uint64_t major = 0;
    if (bytes > HWLOC_XML_MAXIMUM_BYTES)
        return error_null(
            error_set(err, "%s: larger than %zu MiB", source, HWLOC_XML_MAXIMUM_BYTES >> 20));
    if (bytes > 0 && memchr(text, '\0', bytes))
        return error_null(error_set(err, "%s: has a NUL byte; an XML file is expected", source));
    if (read_version(text, bytes, source, &major, err) < 0)
        return NULL;
    /* hwloc wants a final NUL, which text need not have. */
    CLEANUP_MEMORY char *copy = memory_copy_bytes(text, bytes);
    if (!copy)
        return error_null(error_set_memory(err));
    struct error_info why = {.kind = ERROR_NONE};
    const struct reader_job job = {.read = hwloc_import_xml,
                                   .text = copy,
                                   .bytes = bytes,
                                   .source = source,
                                   .what = "hwloc",
                                   .remedy = REMEDY};
    struct node_evidence *evidence = reader_child_run(&job, &why);
    if (evidence)
        return evidence;
    if (major > 2 && why.kind == ERROR_INPUT)
        return error_null(error_set(err,
                                    "%s: XML of hwloc %llu.x, which this hwloc (%s) does not read; "
                                    "write it again with lstopo --export-xml-flags v2",
                                    source, (unsigned long long)major, hwloc_import_version()));
    if (err)
        *err = why;
    return NULL;
}
