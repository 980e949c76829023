/* SPDX-License-Identifier: MIT */
#include "topology/link_generation.h"
#include "base/cleanup.h"
#include <stddef.h>
#include <string.h>
#include <strings.h>

#define GIGA 1e9

struct number_rate {
    unsigned number;
    double bytes_per_second;
};

static const struct number_rate versions[] = {
    {1, 20 * GIGA}, /* NVLink 1: P100 */
    {2, 25 * GIGA}, /* NVLink 2: V100 */
    {3, 25 * GIGA}, /* NVLink 2.2 */
    {4, 25 * GIGA}, /* NVLink 3: A100 */
    {5, 14 * GIGA}, /* NVLink 3.1: A6000, RTX 3090; 112.5 GB/s over 4 links in both directions */
    {6, 25 * GIGA}, /* NVLink 4: H100, H200 */
    {7, 50 * GIGA}, /* NVLink 5: B200, GB200, B300 */
};

static const struct number_rate computes[] = {
    {60, 20 * GIGA}, {70, 25 * GIGA}, {75, 25 * GIGA},  {80, 25 * GIGA},
    {86, 14 * GIGA}, {90, 25 * GIGA}, {100, 50 * GIGA}, {103, 50 * GIGA},
};

static const struct {
    const char *gfx;
    double bytes_per_second;
} accelerators[] = {
    {"90a", 50 * GIGA},                                           /* MI210, MI250X */
    {"940", 64 * GIGA},   {"941", 64 * GIGA}, {"942", 64 * GIGA}, /* MI300A, MI300X, MI325X */
    {"950", 76.5 * GIGA},                                         /* MI350X */
};

static double find(const struct number_rate *table, size_t count, unsigned number)
{
    for (size_t i = 0; i < count; i++)
        if (table[i].number == number)
            return table[i].bytes_per_second;
    return 0;
}

double nvlink_rate_of_version(unsigned nvml_version)
{
    return find(versions, COUNT_OF(versions), nvml_version);
}

double nvlink_rate_of_compute(unsigned compute)
{
    return find(computes, COUNT_OF(computes), compute);
}

double xgmi_rate_of_gfx(const char *name)
{
    if (strncasecmp(name, "gfx", 3) == 0)
        name += 3;
    for (size_t i = 0; i < COUNT_OF(accelerators); i++)
        if (strcasecmp(accelerators[i].gfx, name) == 0)
            return accelerators[i].bytes_per_second;
    return 0;
}
