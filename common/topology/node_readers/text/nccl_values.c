/* SPDX-License-Identifier: MIT */
#include "topology/node_readers/text/nccl_values.h"
#include "base/id_set.h"
#include "base/parse_number.h"
#include <stdio.h>
#include <string.h>

#define FIELD_BYTES 9u /* of eight hexadecimal digits */
#define GROUP_CPUS 32u
#define LANES_MAXIMUM 32u
#define NET_DEFAULT_MEGABITS 10000u   /* ncclTopoAddNet */
#define NET_MAXIMUM_MEGABITS 1600000u /* the fastest port announced */
#define BYTES_PER_MEGABIT 125000.0

/* Signalling rates in tenths of GT/s, and what one lane carries: a sixteenth of 4, 8, 15.75,
 * 31.5, 63 and 121 GB/s. */
static const struct {
    unsigned decitransfers;
    double bytes_per_second;
} lanes[] = {
    {25, 0.25e9}, {50, 0.5e9}, {80, 0.984375e9}, {160, 1.96875e9}, {320, 3.9375e9}, {640, 7.5625e9},
};

/* The hexadecimal number before the end sign; behind it, or NULL. */
static const char *read_field(const char *text, char end, uint64_t maximum, uint64_t *ret)
{
    char field[FIELD_BYTES] = "";
    size_t length = strcspn(text, ":.,");
    if (length == 0 || length >= sizeof(field) || text[length] != end)
        return NULL;
    memcpy(field, text, length);
    if (parse_hexadecimal(field, maximum, ret, NULL) < 0)
        return NULL;
    return text + length + (end != '\0');
}

bool nccl_read_bus_id(const char *text, char ret[BUS_ID_BYTES])
{
    uint64_t domain, bus, device, function;
    if (!text || !(text = read_field(text, ':', UINT32_MAX, &domain)) ||
        !(text = read_field(text, ':', 0xff, &bus)) ||
        !(text = read_field(text, '.', 0x1f, &device)) || !read_field(text, '\0', 0x7, &function))
        return false;
    snprintf(ret, BUS_ID_BYTES, "%04x:%02x:%02x.%x", (unsigned)domain, (unsigned)bus,
             (unsigned)device, (unsigned)function);
    return true;
}

unsigned nccl_read_hexadecimal(const char *text)
{
    uint64_t value;
    if (!text || strncmp(text, "0x", 2) != 0 ||
        parse_hexadecimal(text + 2, UINT32_MAX, &value, NULL) < 0)
        return 0;
    return (unsigned)value;
}

/* Words of 32 CPUs, from the last one on. 1: no mask. */
static int add_groups(const char *text, struct id_set *cpus, struct error_info *err)
{
    const char *end = text + strlen(text);
    for (unsigned first = 0; end; first += GROUP_CPUS) {
        const char *start = end;
        while (start > text && start[-1] != ',')
            start--;
        uint64_t group;
        char field[FIELD_BYTES] = "";
        if ((size_t)(end - start) >= sizeof(field) || first > ID_SET_MAXIMUM_ID - GROUP_CPUS)
            return 1;
        memcpy(field, start, (size_t)(end - start));
        if (parse_hexadecimal(field, UINT32_MAX, &group, NULL) < 0)
            return 1;
        for (unsigned i = 0; i < GROUP_CPUS; i++)
            if (group >> i & 1 && id_set_add(cpus, first + i, err) < 0)
                return -1;
        end = start > text ? start - 1 : NULL;
    }
    return 0;
}

int nccl_read_affinity(const char *text, struct text_buffer *ret, struct error_info *err)
{
    if (!text)
        return 0;
    CLEANUP(id_set) struct id_set *cpus = id_set_create();
    if (!cpus)
        return error_set_memory(err);
    int status = add_groups(text, cpus, err);
    if (status == 0)
        id_set_encode(cpus, ret);
    return status < 0 || text_buffer_failed(ret) ? error_set_memory(err) : 0;
}

double nccl_read_pcie(const char *speed, const char *width)
{
    char number[FIELD_BYTES] = "";
    size_t length = speed ? strcspn(speed, " ") : 0;
    uint64_t count;
    double transfers;
    if (length == 0 || length >= sizeof(number) || !width ||
        parse_unsigned(width, 1, LANES_MAXIMUM, &count, NULL) < 0)
        return 0;
    memcpy(number, speed, length);
    if (parse_real(number, 0, 1000, &transfers, NULL) < 0)
        return 0;
    for (size_t i = 0; i < COUNT_OF(lanes); i++)
        if (lanes[i].decitransfers == (unsigned)(transfers * 10 + 0.5))
            return lanes[i].bytes_per_second * (double)count;
    return 0;
}

enum nccl_net_speed nccl_read_net_speed(const char *text, double *ret_bytes_per_second)
{
    uint64_t megabits;
    if (!text || parse_unsigned(text, 1, NET_MAXIMUM_MEGABITS, &megabits, NULL) < 0)
        return NCCL_SPEED_ODD;
    if (megabits == NET_DEFAULT_MEGABITS)
        return NCCL_SPEED_DEFAULT;
    *ret_bytes_per_second = (double)megabits * BYTES_PER_MEGABIT;
    return NCCL_SPEED_KNOWN;
}
