/* SPDX-License-Identifier: MIT */
#include "topology/cluster_readers/rate.h"
#include "base/cleanup.h"
#include "base/parse_number.h"
#include <string.h>

#define NUMBER_BYTES 32u
#define SHOWN_MAXIMUM 1e5 /* above this a number was not meant as Gb/s */

static const struct {
    const char *name;
    double bytes_per_second;
} units[] = {
    {"B/s", 1},      {"KB/s", 1e3},     {"MB/s", 1e6},     {"GB/s", 1e9},     {"TB/s", 1e12},
    {"Mb/s", 125e3}, {"Gb/s", 125e6},   {"Tb/s", 125e9},   {"Mbit/s", 125e3}, {"Gbps", 125e6},
    {"Tbps", 125e9}, {"Gbit/s", 125e6}, {"Tbit/s", 125e9}, {"Mbps", 125e3},
};

static int error_rate(struct error_info *err, const char *text)
{
    return error_set(err, "'%.40s' is not a rate; write as 400Gb/s (bits) or 50GB/s (bytes)", text);
}

/* 400 could be Gb/s as well as bytes per second. */
static int error_unit(struct error_info *err, const char *number)
{
    double value;
    if (parse_real(number, 0, SHOWN_MAXIMUM, &value, NULL) < 0 || value <= 0)
        return error_rate(err, number);
    return error_set(err, "%s has no unit; write %sGb/s or %gGB/s", number, number, value / 8);
}

int rate_parse(const char *text, double *ret_bytes_per_second, struct error_info *err)
{
    size_t digits = strspn(text, "0123456789.");
    if (digits == 0 || digits >= NUMBER_BYTES)
        return error_rate(err, text);
    char number[NUMBER_BYTES];
    memcpy(number, text, digits);
    number[digits] = '\0';
    if (text[digits] == '\0')
        return error_unit(err, number);
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        if (strcmp(text + digits, units[i].name) != 0)
            continue;
        double value;
        if (parse_real(number, 0, RATE_MAXIMUM_BYTES_PER_SECOND, &value, NULL) < 0 ||
            value * units[i].bytes_per_second < RATE_MINIMUM_BYTES_PER_SECOND ||
            value * units[i].bytes_per_second > RATE_MAXIMUM_BYTES_PER_SECOND)
            break;
        *ret_bytes_per_second = value * units[i].bytes_per_second;
        return 0;
    }
    return error_rate(err, text);
}
