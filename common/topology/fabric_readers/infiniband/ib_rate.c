/* SPDX-License-Identifier: MIT */
#include "topology/fabric_readers/infiniband/ib_rate.h"
#include "base/cleanup.h"
#include "base/parse_number.h"
#include <string.h>
#include <strings.h>

#define GIGABIT_BYTES 0.125e9

static const struct {
    const char *name;
    double gigabits_per_second; /* of one lane */
} speeds[] = {
    {"SDR", 2.5}, {"DDR", 5},  {"QDR", 10},  {"FDR10", 10}, {"FDR", 14.0625},
    {"EDR", 25},  {"HDR", 50}, {"NDR", 100}, {"XDR", 200},
};

static const unsigned widths[] = {1, 2, 4, 8, 12};

_Static_assert(COUNT_OF(speeds) * COUNT_OF(widths) < IB_RATE_COUNT, "rates do not fit");

unsigned ib_rate_parse(const char *word)
{
    char digits[3] = "";
    size_t length = strspn(word, "0123456789");
    uint64_t lanes = 0;
    if (length == 0 || length >= sizeof(digits) || word[length] != 'x')
        return IB_RATE_UNKNOWN;
    memcpy(digits, word, length);
    if (parse_unsigned(digits, 1, 12, &lanes, NULL) < 0)
        return IB_RATE_UNKNOWN;
    for (unsigned w = 0; w < COUNT_OF(widths); w++)
        for (unsigned s = 0; s < COUNT_OF(speeds); s++)
            if (widths[w] == lanes && strcasecmp(word + length + 1, speeds[s].name) == 0)
                return s * (unsigned)COUNT_OF(widths) + w + 1;
    return IB_RATE_UNKNOWN;
}

unsigned ib_rate_lanes(unsigned rate)
{
    return rate == IB_RATE_UNKNOWN ? 0 : widths[(rate - 1) % COUNT_OF(widths)];
}

const char *ib_rate_speed(unsigned rate)
{
    return rate == IB_RATE_UNKNOWN ? "unknown" : speeds[(rate - 1) / COUNT_OF(widths)].name;
}

double ib_rate_bytes_per_second(unsigned rate)
{
    if (rate == IB_RATE_UNKNOWN)
        return 0;
    return speeds[(rate - 1) / COUNT_OF(widths)].gigabits_per_second * ib_rate_lanes(rate) *
           GIGABIT_BYTES;
}
