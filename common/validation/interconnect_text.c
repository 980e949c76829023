/* SPDX-License-Identifier: MIT */
#include "validation/interconnect_text.h"

#include "base/cleanup.h"
#include "base/parse_number.h"
#include <ctype.h>
#include <string.h>

#define PART_BYTES 96
#define NUMBER_BYTES 16
#define MOST_GBIT 1e6

struct generation {
    const char *word;
    double gbit;
};

static const struct generation generations[] = {
    {"EDR", 100}, {"HDR", 200}, {"NDR", 400}, {"XDR", 800}};

/* The number at `text`; *ret_after: what follows it. 0: none. */
static double number_at(const char *text, const char **ret_after)
{
    char digits[NUMBER_BYTES];
    double value = 0;
    size_t length = strspn(text, "0123456789.");
    *ret_after = text + length;
    if (length == 0 || length >= sizeof(digits))
        return 0;
    memcpy(digits, text, length);
    digits[length] = '\0';
    return parse_real(digits, 0, MOST_GBIT, &value, NULL) == 0 ? value : 0;
}

/* "G", "Gb", "Gbps", "Gb/s", "Gbit/s", but neither "GB/s" nor "GHz" nor "GPUs". */
static bool is_gigabit(const char *unit)
{
    unit += strspn(unit, " ");
    return unit[0] == 'G' && (unit[1] == 'b' || !isalpha((unsigned char)unit[1]));
}

struct network {
    double count, gbit;
};

/* A digit inside a word ("NVLink4", "CX-7") is no number of its own. */
static bool starts_number(const char *part, size_t at)
{
    if (!isdigit((unsigned char)part[at]))
        return false;
    return at == 0 ||
           !(isalnum((unsigned char)part[at - 1]) || part[at - 1] == '-' || part[at - 1] == '.') ||
           part[at - 1] == 'x';
}

static struct network network_of(const char *part)
{
    struct network network = {0, 0};
    for (size_t i = 0; part[i] != '\0'; i++) {
        const char *after;
        if (!starts_number(part, i))
            continue;
        double value = number_at(part + i, &after);
        if (*after == 'x')
            network.count = value;
        else if (is_gigabit(after))
            network.gbit = value;
    }
    for (size_t i = 0; i < COUNT_OF(generations) && network.gbit <= 0; i++)
        if (strstr(part, generations[i].word))
            network.gbit = generations[i].gbit;
    return network;
}

static double part_gbit(const char *part, unsigned gpus_per_node)
{
    if (strstr(part, "NVLink") || strstr(part, "NVSwitch"))
        return 0;
    struct network network = network_of(part);
    bool of_node = strstr(part, "/node") || strstr(part, "per node");
    if (network.count > 0)
        return network.gbit * network.count / gpus_per_node;
    return of_node ? network.gbit / gpus_per_node : network.gbit;
}

double interconnect_gbit_per_gpu(const char *text, unsigned gpus_per_node)
{
    double gbit = 0;
    while (*text != '\0' && gpus_per_node > 0) {
        char part[PART_BYTES];
        size_t length = strcspn(text, "+");
        size_t kept = length < sizeof(part) ? length : sizeof(part) - 1;
        memcpy(part, text, kept);
        part[kept] = '\0';
        double found = part_gbit(part, gpus_per_node);
        if (found > 0)
            gbit = found;
        text += length + (text[length] == '+');
    }
    return gbit;
}

const char *interconnect_nic_name(const char *text, bool *ret_is_ethernet)
{
    *ret_is_ethernet = strstr(text, "RoCE") || strstr(text, "Ethernet");
    if (strstr(text, "Omni-Path"))
        return "hfi1_0";
    return strstr(text, "EFA") ? "efa_0" : "mlx5_0";
}
