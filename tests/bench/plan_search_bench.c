/* SPDX-License-Identifier: MIT */
/*
 * plan_search_bench: for each search the configurations (costed, and decided by a neighbour),
 * milliseconds, configurations a second and the peak memory of a process that does it once beyond
 * one that only loads the catalogues; and as ratios within the run: the time of one configuration
 * to a floor (a loop of as many dependent divisions as its formulas hold), and of each search to
 * the first. Fails where a search misses the design's figures (5 us a configuration, 50 ms for
 * 175B on 1,024 GPUs, 1 s on 16,384, 16 MiB) times BENCH_SLACK.
 */
#include "tests/support/planner_fixture.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 11u
#define FLOOR_DIVISIONS 200u
#define FLOOR_ROUNDS 20000u
#define BENCH_SLACK 3.0
#define LIMIT_MICROSECONDS 5.0
#define LIMIT_KIB 16384

struct bench {
    const char *model, *cluster, *keys;
    double limit_milliseconds;
};

static const struct bench benches[] = {
    {"gpt3-175b", "dgx-a100-80:128", "global_batch=1536,sequence_length=2048", 50},
    {"gpt3-175b", "dgx-a100-80:2048", "global_batch=6144,sequence_length=2048", 1000},
    {"llama3-8b", "dgx-h100:8", "global_batch=512", 50},
    {"llama3-405b", "dgx-h100:2048", "global_batch=2048,sequence_length=8192", 1000},
    {"llama3-8b", "dgx-h100:128", "global_batch=512,sequence_length=131072", 1000},
    {"deepseek-v3", "dgx-h100:256", "global_batch=15360", 1000},
};

static double now_microseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static double floor_microseconds(void)
{
    volatile double cell = 1.5;
    double start = now_microseconds();
    for (unsigned round = 0; round < FLOOR_ROUNDS; round++) {
        double value = cell;
        for (unsigned i = 0; i < FLOOR_DIVISIONS; i++)
            value = 3.0 / (value + 0.5);
        cell = value;
    }
    return (now_microseconds() - start) / FLOOR_ROUNDS;
}

/* The best of the rounds: what is left after other programs' noise. 0: failed. */
static double search_microseconds(struct planner_fixture *fixture, struct plan_list **ret_list)
{
    double best = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct error_info err = {.kind = ERROR_NONE};
        double start = now_microseconds();
        struct plan_list *list = plan_search(&fixture->request, &err);
        double taken = now_microseconds() - start;
        plan_list_free(*ret_list);
        *ret_list = list;
        if (!list) {
            printf("%s\n", err.text);
            return 0;
        }
        if (round == 0 || taken < best)
            best = taken;
    }
    return best;
}

/* What one process needs for the search, or (rounds 0) for the fixture alone; -1: failed. */
static long peak_kib(const struct bench *bench, unsigned rounds)
{
    struct rusage usage;
    int status;
    pid_t child = fork();
    if (child == 0) {
        struct planner_fixture fixture;
        int result =
            planner_fixture_init(&fixture, bench->model, bench->cluster, bench->keys, NULL);
        struct plan_list *list =
            result == 0 && rounds > 0 ? plan_search(&fixture.request, NULL) : NULL;
        _exit(result == 0 && (list || rounds == 0) ? 0 : 1);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) < 0 || status != 0)
        return -1;
    return usage.ru_maxrss;
}

struct result {
    double milliseconds, microseconds_each;
    uint64_t costed, pruned;
    long kib;
};

static int measure(const struct bench *bench, struct result *ret)
{
    CLEANUP_DONE(planner_fixture) struct planner_fixture fixture;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(plan_list) struct plan_list *list = NULL;
    long peak = peak_kib(bench, 1), base = peak_kib(bench, 0);
    if (planner_fixture_init(&fixture, bench->model, bench->cluster, bench->keys, &err) < 0) {
        printf("%s\n", err.text);
        return -1;
    }
    double taken = search_microseconds(&fixture, &list);
    if (taken <= 0 || list->examined == 0 || peak < 0 || base < 0)
        return -1;
    *ret = (struct result){.milliseconds = taken / 1e3,
                           .microseconds_each = taken / (double)list->examined,
                           .costed = list->examined,
                           .pruned = list->pruned,
                           .kib = peak > base ? peak - base : 0};
    return 0;
}

static int run(const struct bench *bench, double floor, double *first)
{
    struct result result;
    if (measure(bench, &result) < 0)
        return -1;
    if (*first <= 0)
        *first = result.milliseconds;
    printf("%-12s %-17s %6llu costed %6llu pruned %8.2f ms %8.0f /s %6ld KiB; each %5.1f floors, "
           "search %5.2f of the first\n",
           bench->model, bench->cluster, (unsigned long long)result.costed,
           (unsigned long long)result.pruned, result.milliseconds, 1e6 / result.microseconds_each,
           result.kib, result.microseconds_each / floor, result.milliseconds / *first);
    return result.microseconds_each <= LIMIT_MICROSECONDS * BENCH_SLACK &&
                   result.milliseconds <= bench->limit_milliseconds * BENCH_SLACK &&
                   result.kib <= LIMIT_KIB
               ? 0
               : -1;
}

int main(void)
{
    double floor = floor_microseconds(), first = 0;
    int result = 0;
    printf("floor: %u dependent divisions %.2f us\n", FLOOR_DIVISIONS, floor);
    fflush(stdout);
    for (size_t i = 0; i < COUNT_OF(benches); i++) {
        if (run(&benches[i], floor, &first) < 0)
            result = 1;
        fflush(stdout);
    }
    return result;
}
