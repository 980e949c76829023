/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"

#include "planner/strategy_words.h"
#include "tests/support/planner_fixture.h"
#include <string.h>

#define ARENA_BYTES ((size_t)1 << 20)

struct bench {
    struct planner_fixture fixture;
    struct plan_context context;
    struct strategy strategy;
    struct plan plan;
};

static void bench_init(struct bench *bench, const char *cluster)
{
    struct error_info err = {.kind = ERROR_NONE};
    if (planner_fixture_init(&bench->fixture, "llama3-8b", cluster, NULL, &err) < 0 ||
        plan_context_init(&bench->context, &bench->fixture.request, &err) < 0)
        fail_msg("%s", err.text);
    bench->plan = (struct plan){.degrees = DEGREES_ONE, .sharding = SHARDING_ZERO1};
    bench->strategy = (struct strategy){
        .context = &bench->context, .chosen = &bench->plan, .arena = arena_create(ARENA_BYTES)};
    assert_non_null(bench->strategy.arena);
}

static void bench_done(struct bench *bench)
{
    arena_free(bench->strategy.arena);
    plan_context_done(&bench->context);
    planner_fixture_done(&bench->fixture);
}

/* Words are NULL without memory. */
static void expect_text(const char *got, const char *wanted)
{
    assert_non_null(got);
    assert_string_equal(got, wanted);
}

static void tight_plans_say_what_they_count_as(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "dgx-h100:1");
    bench.plan.time.step_seconds = 4;
    expect_text(words_figure(&bench.strategy, &bench.plan), "zero1 tp=1,pp=1,dp=1 (4 s)");
    bench.plan.memory.verdict = FIT_TIGHT;
    expect_text(words_figure(&bench.strategy, &bench.plan),
                "zero1 tp=1,pp=1,dp=1 (4 s; memory tight, counts as 4.24 s)");
    expect_text(words_figure(&bench.strategy, NULL), "none that fits");
    bench_done(&bench);
}

struct margin_case {
    double simple, other;
    enum fit_verdict verdict; /* of the simple one */
    const char *text;
};

static const struct margin_case margin_cases[] = {
    {4, 5, FIT_FITS, "no more"},
    {5, 5, FIT_FITS, "no more"},
    {5.2, 5, FIT_FITS, "4.0 % more than 5 s, within the margin of 10 %"},
    {6, 5, FIT_FITS, "20.0 % more than 5 s, beyond the margin of 10 %"},
    {5.2, 5, FIT_TIGHT, "10.2 % more than 5 s, beyond the margin of 10 %"},
};

static void margins_stand_beside_their_figures(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "dgx-h100:1");
    for (size_t i = 0; i < COUNT_OF(margin_cases); i++) {
        const struct margin_case *test = &margin_cases[i];
        struct plan simple = {.time = {.step_seconds = test->simple},
                              .memory = {.verdict = test->verdict}};
        struct plan other = {.time = {.step_seconds = test->other}};
        expect_text(words_against_margin(&bench.strategy, &simple, &other), test->text);
    }
    bench_done(&bench);
}

struct golden_case {
    const char *cluster;
    unsigned tp, pp, dp;
    const char *verdict, *text;
};

static const struct golden_case golden_cases[] = {
    {"dgx-h100:8", 8, 4, 2, "holds",
     "tp=8 inside an NVLink domain; pp=4 between nodes under one leaf; dp=2 between nodes under "
     "one leaf; what talks more often sits at least as near"},
    {"dgx-h100:8", 1, 1, 64, "not applicable",
     "dp=64 between nodes under one leaf; nothing else talks, so there is nothing to order"},
    {"dgx-h100:8", 2, 8, 4, "overruled",
     "tp=2 inside an NVLink domain; pp=8 between nodes under one leaf; dp=4 inside an NVLink "
     "domain; dp sits nearer than pp, which talks more often: the rank order numbers it further "
     "inside"},
    {"dgx-h100:8", 16, 1, 4, "overruled",
     "tp=16 between nodes under one leaf; dp=4 between nodes under one leaf; tp leaves the node: "
     "given, or still faster than the alternatives"},
    {"a6000-pairs:1", 4, 1, 2, "overruled",
     "tp=4 inside a node; dp=2 inside a node; tp leaves the NVLink domain: given, or still "
     "faster than the alternatives"},
    {"l40s-pcie:1", 4, 1, 2, "holds",
     "tp=4 inside a node; dp=2 inside a node; no NVLink is known, so tp is kept inside the node"},
    {"dgx-h100:1", 1, 1, 1, "not applicable", "one GPU: nothing talks"},
};

static void the_golden_rule_says_who_sits_where(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(golden_cases); i++) {
        const struct golden_case *test = &golden_cases[i];
        struct bench bench;
        const char *verdict = NULL;
        bench_init(&bench, test->cluster);
        bench.plan.degrees.tp = bench.plan.degrees.etp = test->tp;
        bench.plan.degrees.pp = test->pp;
        bench.plan.degrees.dp = bench.plan.degrees.shard = test->dp;
        expect_text(words_golden(&bench.strategy, &verdict), test->text);
        assert_string_equal(verdict, test->verdict);
        bench_done(&bench);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(tight_plans_say_what_they_count_as),
        cmocka_unit_test(margins_stand_beside_their_figures),
        cmocka_unit_test(the_golden_rule_says_who_sits_where),
    };
    return unit_test_main("planner/strategy_words", tests, COUNT_OF(tests));
}
