/* SPDX-License-Identifier: MIT */
#include "spank_plugin/node/task_cpus.h"
#include "base/parse_number.h"
#include <sched.h>
#include <string.h>
#include <unistd.h>

#define RANGE_BYTES 16u

static long online_cpus;

void task_cpus_prepare(void) { online_cpus = sysconf(_SC_NPROCESSORS_ONLN); }

/* Whoever narrowed the mask, slurmd's unit included, meant it. */
static bool is_free(spank_t spank, cpu_set_t *ret_mask)
{
    char first[2];
    spank_err_t answer = spank_getenv(spank, "SLURM_CPU_BIND", first, sizeof(first));
    return answer == ESPANK_ENV_NOEXIST && sched_getaffinity(0, sizeof(*ret_mask), ret_mask) == 0 &&
           CPU_COUNT(ret_mask) == online_cpus;
}

/* Takes "0-23," or "7" off the front; false: it is no range of CPUs. */
static bool take_range(const char **list, uint64_t *ret_first, uint64_t *ret_last)
{
    char text[RANGE_BYTES];
    size_t length = strcspn(*list, ",");
    if (length >= sizeof(text))
        return false;
    memcpy(text, *list, length);
    text[length] = '\0';
    *list += length + ((*list)[length] == ',');
    char *dash = strchr(text, '-');
    if (dash)
        *dash = '\0';
    return parse_unsigned(text, 0, CPU_SETSIZE - 1, ret_first, NULL) == 0 &&
           parse_unsigned(dash ? dash + 1 : text, *ret_first, CPU_SETSIZE - 1, ret_last, NULL) == 0;
}

static unsigned bind_to(spank_t spank, const char *cpus)
{
    cpu_set_t mask, wanted;
    CPU_ZERO(&wanted);
    if (!is_free(spank, &mask))
        return 0;
    while (*cpus) {
        uint64_t first = 0, last = 0;
        if (!take_range(&cpus, &first, &last))
            return 0;
        for (; first <= last; first++)
            if (CPU_ISSET(first, &mask))
                CPU_SET(first, &wanted);
    }
    unsigned count = (unsigned)CPU_COUNT(&wanted);
    return count > 0 && sched_setaffinity(0, sizeof(wanted), &wanted) == 0 ? count : 0;
}

unsigned task_cpus_take(spank_t spank, const char *cpus, unsigned sharers, bool may_bind)
{
    char value[RANGE_BYTES];
    uint64_t asked = 0;
    unsigned bound = cpus && may_bind ? bind_to(spank, cpus) : 0;
    if (spank_getenv(spank, "SLURM_CPUS_PER_TASK", value, sizeof(value)) == ESPANK_SUCCESS)
        parse_unsigned(value, 1, UINT16_MAX, &asked, NULL);
    if (asked > 0 || bound == 0)
        return (unsigned)asked;
    return bound > sharers ? bound / sharers : 1;
}
