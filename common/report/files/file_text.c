/* SPDX-License-Identifier: MIT */
#include "report/files/file_text.h"
#include "base/error.h"
#include "base/yaml_writer.h"
#include "topology/cluster_readers/rate.h"
#include <string.h>

#define RATE_BYTES 64u
#define DIGITS_MAXIMUM 17u /* what tells any two doubles apart */

void file_add_bytes(struct text_buffer *out, uint64_t bytes)
{
    static const struct {
        const char *name;
        uint64_t bytes;
    } units[] = {
        {"TiB", UINT64_C(1) << 40}, {"TB", UINT64_C(1000000000000)},
        {"GiB", UINT64_C(1) << 30}, {"GB", UINT64_C(1000000000)},
        {"MiB", UINT64_C(1) << 20}, {"MB", UINT64_C(1000000)},
        {"KiB", UINT64_C(1) << 10}, {"B", 1},
    };
    size_t i = 0;
    while (bytes % units[i].bytes != 0)
        i++;
    text_buffer_add(out, "%llu%s", (unsigned long long)(bytes / units[i].bytes), units[i].name);
}

/* The number in that unit, with as few digits as give the same double back. */
static bool find_rate_text(double rate, const char *unit, double unit_rate, char text[RATE_BYTES],
                           struct text_buffer *out)
{
    static const unsigned digits[] = {6, 15, DIGITS_MAXIMUM};
    for (size_t i = 0; i < COUNT_OF(digits); i++) {
        CLEANUP_DONE(text_buffer) struct text_buffer number;
        text_buffer_init(&number, RATE_BYTES);
        text_buffer_add_real(&number, rate / unit_rate, digits[i]);
        snprintf(text, RATE_BYTES, "%s%s", text_buffer_text(&number), unit);
        out->failed = out->failed || text_buffer_failed(&number);
        double back;
        if (rate_parse(text, &back, NULL) == 0 && !(back < rate) && !(back > rate))
            return true;
    }
    return false;
}

void file_add_rate(struct text_buffer *out, double bytes_per_second, enum rate_unit unit)
{
    static const struct {
        const char *name;
        double bytes_per_second;
        enum rate_unit kind;
        double least; /* smaller rates read better in the next unit */
    } units[] = {
        {"Tb/s", 125e9, RATE_IN_BITS, 125e9},
        {"Gb/s", 125e6, RATE_IN_BITS, 0},
        {"GB/s", 1e9, RATE_IN_BYTES, 0},
        {"B/s", 1, RATE_IN_BYTES, 0},
    };
    char text[RATE_BYTES];
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        if ((units[i].kind == RATE_IN_BITS && unit != RATE_IN_BITS) ||
            bytes_per_second < units[i].least ||
            !find_rate_text(bytes_per_second, units[i].name, units[i].bytes_per_second, text, out))
            continue;
        text_buffer_add_text(out, text);
        return;
    }
    out->failed = true;
}

void file_add_text(struct text_buffer *out, const char *text)
{
    CLEANUP_MEMORY char *clean = memory_copy_text(text);
    if (!clean) {
        out->failed = true;
        return;
    }
    error_clean_text(clean);
    yaml_text_write(clean, out);
}

static void begin_line(struct text_buffer *out, unsigned indent, const char *key)
{
    text_buffer_add_repeated(out, ' ', indent);
    text_buffer_add(out, "%s: ", key);
}

void file_line_text(struct text_buffer *out, unsigned indent, const char *key, const char *text)
{
    if (!text || !text[0])
        return;
    begin_line(out, indent, key);
    file_add_text(out, text);
    text_buffer_add_text(out, "\n");
}

void file_line_unsigned(struct text_buffer *out, unsigned indent, const char *key, uint64_t number)
{
    if (number == 0)
        return;
    begin_line(out, indent, key);
    text_buffer_add(out, "%llu\n", (unsigned long long)number);
}

void file_line_bytes(struct text_buffer *out, unsigned indent, const char *key, uint64_t bytes)
{
    if (bytes == 0)
        return;
    begin_line(out, indent, key);
    file_add_bytes(out, bytes);
    text_buffer_add_text(out, "\n");
}

void file_line_rate(struct text_buffer *out, unsigned indent, const char *key, double rate)
{
    if (!(rate > 0))
        return;
    begin_line(out, indent, key);
    file_add_rate(out, rate, RATE_IN_BYTES);
    text_buffer_add_text(out, "\n");
}

void file_line_true(struct text_buffer *out, unsigned indent, const char *key, bool truth)
{
    if (!truth)
        return;
    begin_line(out, indent, key);
    text_buffer_add_text(out, "true\n");
}

struct flow_mapping flow_begin(struct text_buffer *out)
{
    text_buffer_add_text(out, "{");
    return (struct flow_mapping){.out = out};
}

void flow_key(struct flow_mapping *flow, const char *key)
{
    text_buffer_add(flow->out, "%s%s: ", flow->begun ? ", " : "", key);
    flow->begun = true;
}

void flow_text(struct flow_mapping *flow, const char *key, const char *text)
{
    if (!text || !text[0])
        return;
    flow_key(flow, key);
    file_add_text(flow->out, text);
}

void flow_index(struct flow_mapping *flow, const char *key, int index)
{
    if (index < 0)
        return;
    flow_key(flow, key);
    text_buffer_add(flow->out, "%d", index);
}

void flow_bytes(struct flow_mapping *flow, const char *key, uint64_t bytes)
{
    if (bytes == 0)
        return;
    flow_key(flow, key);
    file_add_bytes(flow->out, bytes);
}

void flow_rate(struct flow_mapping *flow, const char *key, double rate, enum rate_unit unit)
{
    if (!(rate > 0))
        return;
    flow_key(flow, key);
    file_add_rate(flow->out, rate, unit);
}

void flow_true(struct flow_mapping *flow, const char *key, bool truth)
{
    if (!truth)
        return;
    flow_key(flow, key);
    text_buffer_add_text(flow->out, "true");
}

void flow_end(struct flow_mapping *flow) { text_buffer_add_text(flow->out, "}"); }
