/* SPDX-License-Identifier: MIT */
/*
 * gang_plan_bench: milliseconds of processor time that one plan of a gang of 1,000 pods takes on a
 * cluster of 5,000 nodes: the median and the slowest of the rounds, and the bytes of its text.
 * Nodes are all free, or fragmented: of each leaf some are not there. Fails where the slowest is
 * over the design's 0.5 s.
 *
 *     gang_plan_bench [ROUNDS]
 */
#include "base/parse_number.h"
#include "tests/support/gang_fixture.h"
#include "tests/support/time_order.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 11u
#define ROUNDS_MAXIMUM 1000u
#define LIMIT_MILLISECONDS 500.0
#define DOMAIN "  tp_within: nvlink_domain\n"

struct bench {
    const char *name, *cluster, *policy;
    uint32_t pods, gpus;
    const char *annotations;
    bool fragmented;
    uint32_t lost; /* a replan, with so many pods to be placed */
};

static const struct bench benches[] = {
    {"tp=8,pp=10, all free", "dgx-h100:5000", NULL, 1000, 8, "tp=8 pp=10", false, 0},
    {"tp=8,pp=10, fragmented", "dgx-h100:5000", NULL, 1000, 8, "tp=8 pp=10", true, 0},
    {"405B, all free", "dgx-h100:5000", NULL, 1000, 8, "model=llama3-405b global-batch=2000", false,
     0},
    {"405B, fragmented", "dgx-h100:5000", NULL, 1000, 8, "model=llama3-405b global-batch=2000",
     true, 0},
    {"mixture of experts, fragmented", "dgx-h100:5000", NULL, 1000, 8,
     "model=deepseek-v3 global-batch=8000", true, 0},
    {"with 10 to spare, fragmented", "dgx-h100:5000", NULL, 1000, 8, "tp=8 pp=10 spare=10", true,
     0},
    {"half nodes, fragmented", "dgx-h100:5000", NULL, 1000, 4, "tp=4 pp=10", true, 0},
    {"pods of one GPU, fragmented", "dgx-h100:5000", NULL, 1000, 1, "pp=10", true, 0},
    {"tp=16 over trays, fragmented", "gb200-nvl72:5004", DOMAIN, 1000, 4, "tp=16 pp=5", true, 0},
    {"locality only, fragmented", "dgx-h100:5000", NULL, 1000, 8, "", true, 0},
    {"nothing fits", "dgx-h100:5000", NULL, 1000, 1, "model=deepseek-v3 sharding=none", true, 0},
    {"one pod lost, fragmented", "dgx-h100:5000", NULL, 1000, 8, "tp=8 pp=10", true, 1},
    {"half of the pods lost", "dgx-h100:5000", NULL, 1000, 8, "tp=8 pp=10", true, 500},
    {"half of the pods lost, tp=16", "gb200-nvl72:5004", DOMAIN, 1000, 4, "tp=16 pp=5", true, 500},
};

static double now_milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static unsigned draw(uint64_t *state, unsigned below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(*state >> 33) % below;
}

/* Of every 64 nodes a share of its own is taken by others. */
static void fragment(struct gang_fixture *fixture)
{
    uint64_t state = 1;
    size_t kept = 0;
    unsigned busy = 0;
    for (size_t i = 0; i < fixture->problem.candidate_count; i++) {
        if (i % 64 == 0)
            busy = 1 + draw(&state, 7);
        if (draw(&state, 10) >= busy)
            fixture->candidates[kept++] = fixture->candidates[i];
    }
    fixture->problem.candidate_count = kept;
}

static int lose(struct gang_fixture *fixture, uint32_t lost, struct error_info *err)
{
    uint64_t state = 7;
    CLEANUP(gang_plan) struct gang_plan *plan = gang_fixture_plan(fixture, err);
    if (!plan)
        return -1;
    if (plan->outcome != GANG_PLANNED)
        return error_set(err, "%s", plan->reason);
    if (gang_fixture_fix(fixture, plan, err) < 0)
        return -1;
    for (; lost > 0; lost--)
        fixture->fixed[draw(&state, fixture->problem.pods)] = VIEW_NODE_NONE;
    return 0;
}

static size_t text_bytes(const struct gang_plan *plan)
{
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, GANG_PLAN_TEXT_MAXIMUM);
    return plan->outcome == GANG_PLANNED && gang_plan_encode(plan, &text) == 0 ? text.length : 0;
}

static int time_plan(const struct bench *bench, const struct gang_fixture *fixture, unsigned rounds,
                     struct error_info *err)
{
    CLEANUP_MEMORY double *times = memory_allocate_array(rounds, sizeof(*times));
    size_t bytes = 0;
    if (!times)
        return error_set_memory(err);
    for (unsigned round = 0; round < rounds; round++) {
        double start = now_milliseconds();
        CLEANUP(gang_plan) struct gang_plan *plan = gang_fixture_plan(fixture, err);
        times[round] = now_milliseconds() - start;
        if (!plan)
            return -1;
        if (round == 0 && plan->outcome != GANG_PLANNED)
            printf("%s: %.100s\n", bench->name, plan->reason);
        bytes = text_bytes(plan);
    }
    time_order_sort(times, rounds);
    printf("%-32s %6zu candidates  median %7.2f ms  slowest %7.2f ms  text %6zu bytes\n",
           bench->name, fixture->problem.candidate_count, times[rounds / 2], times[rounds - 1],
           bytes);
    if (times[rounds - 1] > LIMIT_MILLISECONDS)
        return error_set(err, "over %.0f ms", LIMIT_MILLISECONDS);
    return 0;
}

static int run_bench(const struct bench *bench, unsigned rounds, struct error_info *err)
{
    CLEANUP_DONE(gang_fixture) struct gang_fixture fixture;
    if (gang_fixture_init(&fixture, bench->cluster, bench->policy, bench->pods, bench->gpus, err) <
        0)
        return -1;
    if (gang_fixture_annotate(&fixture, bench->annotations, err) < 0)
        return -1;
    if (bench->fragmented)
        fragment(&fixture);
    if (bench->lost > 0 && lose(&fixture, bench->lost, err) < 0)
        return -1;
    return time_plan(bench, &fixture, rounds, err);
}

int main(int argc, char **argv)
{
    struct error_info err = {.kind = ERROR_NONE};
    uint64_t rounds = ROUNDS;
    int status = EXIT_SUCCESS;
    if (argc > 1 && parse_unsigned(argv[1], 1, ROUNDS_MAXIMUM, &rounds, &err) < 0) {
        fprintf(stderr, "gang_plan_bench: %s\n", err.text);
        return 2;
    }
    for (size_t i = 0; i < COUNT_OF(benches); i++) {
        if (run_bench(&benches[i], (unsigned)rounds, &err) == 0)
            continue;
        fprintf(stderr, "gang_plan_bench: %s: %s\n", benches[i].name, err.text);
        status = EXIT_FAILURE;
    }
    return status;
}
