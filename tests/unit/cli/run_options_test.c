/* SPDX-License-Identifier: MIT */
#include "cli/inputs/run_options.h"
#include "tests/support/unit_test.h"

#include <string.h>

static void reads_ranges(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned first, last; /* 0: refused */
    } rows[] = {
        {"12-16", 12, 16}, {"12..16", 12, 16}, {"1-64", 1, 64}, {"4-4", 4, 4}, {"16-12", 0, 0},
        {"12", 0, 0},      {"12-", 0, 0},      {"-16", 0, 0},   {"", 0, 0},    {"0-4", 0, 0},
        {"1-65", 0, 0},    {"1.4", 0, 0},      {"1-4x", 0, 0},  {"a-b", 0, 0}, {"1--4", 0, 0},
        {"1...4", 0, 0},   {"1- 4", 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        unsigned first = 7, last = 7;
        int result = run_options_read_range(rows[i].text, 64, &first, &last, &err);
        if (rows[i].first > 0) {
            assert_int_equal(result, 0);
            assert_int_equal(first, rows[i].first);
            assert_int_equal(last, rows[i].last);
            continue;
        }
        assert_int_equal(result, -1);
        assert_int_equal(first, 7);
        assert_int_equal(last, 7);
        assert_non_null(strstr(err.text, "write FIRST-LAST, up to 64, as 12-16"));
    }
}

static void reads_tokens(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double tokens; /* 0: refused */
    } rows[] = {
        {"15T", 15e12}, {"300B", 300e9}, {"1.5e12", 1.5e12}, {"20M", 20e6}, {"4K", 4000},
        {"7", 7},       {"0", 0},        {"T", 0},           {"", 0},       {"-3T", 0},
        {"15 T", 0},    {"15t", 0},      {"15TT", 0},        {"2e18", 0},   {"2000000T", 0},
        {"nan", 0},     {"infT", 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        double tokens = 7;
        int result = run_options_read_tokens(rows[i].text, &tokens, &err);
        assert_int_equal(result, rows[i].tokens > 0 ? 0 : -1);
        assert_true(tokens == (rows[i].tokens > 0 ? rows[i].tokens : 7));
        if (result < 0)
            assert_non_null(strstr(err.text, "--tokens: "));
    }
}

static void a_range_among_nodes_is_one(void **state)
{
    (void)state;
    static const struct {
        const char *nodes;
        bool range;
    } rows[] = {
        {"12-16", true},   {"1..4", true}, {"5-3", true},    {"1...4", false},  {"..4", false},
        {"n[1-4]", false}, {"12", false},  {"1-2-3", false}, {"rack-1", false}, {"1-n", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct command_options options = {.nodes = rows[i].nodes};
        run_options_take_nodes(&options);
        assert_ptr_equal(options.nodes, rows[i].range ? NULL : rows[i].nodes);
        assert_ptr_equal(options.nodes_range, rows[i].range ? rows[i].nodes : NULL);
    }
    struct command_options both = {.nodes = "1-2", .nodes_range = "3-4"}, none = {.nodes = NULL};
    run_options_take_nodes(&both);
    run_options_take_nodes(&none);
    assert_string_equal(both.nodes, "1-2");
    assert_null(none.nodes_range);
}

struct bench {
    struct command_options options;
    struct cluster_topology cluster;
    struct scenario scenario;
};

static void bench_init(struct bench *bench)
{
    *bench = (struct bench){.cluster = {.name = "dgx-h100:16", .node_count = 16}};
    bench->scenario.cluster = &bench->cluster;
    bench->scenario.gpus_per_node = 8;
    bench->options.job = job_spec_create(NULL);
}

static void combines_options(void **state)
{
    (void)state;
    struct bench bench;
    struct error_info err = {.kind = ERROR_NONE};
    struct run_options run;
    bench_init(&bench);
    if (!bench.options.job)
        return;
    assert_int_equal(run_options_read(&bench.options, &bench.scenario, &run, &err), 0);
    assert_false(run.counts);
    bench.options.tokens = "15T";
    bench.options.within = "90";
    bench.options.price = "2.5";
    assert_int_equal(run_options_read(&bench.options, &bench.scenario, &run, &err), 0);
    assert_true(run.counts && run.scaling.doubling);
    assert_int_equal(run.scaling.last, 16);
    assert_true(run.scaling.run.within_days == 90 && run.scaling.run.price_per_gpu_hour == 2.5);
    bench.options.nodes_range = "12-16";
    assert_int_equal(run_options_read(&bench.options, &bench.scenario, &run, &err), 0);
    assert_true(!run.scaling.doubling && run.scaling.first == 12);
    job_spec_free(bench.options.job);
}

static void refuses_what_lacks_another(void **state)
{
    (void)state;
    static const struct {
        struct command_options options;
        const char *want;
    } rows[] = {
        {{.within = "90"}, "--within needs the length of the run; give --tokens"},
        {{.price = "2"}, "--price-per-gpu-hour needs the length of the run"},
        {{.tokens = "1T", .within = "0"}, "--within: \"0\" is no number above 0"},
        {{.tokens = "1T", .price = "x"}, "--price-per-gpu-hour: \"x\" is no number above 0"},
        {{.prefer = "gpu-hours"}, "--prefer chooses between node counts"},
        {{.scaling = true, .prefer = "speed"}, "neither throughput nor gpu-hours"},
        {{.nodes_range = "12-17"},
         "--nodes-range: \"12-17\" is no range; write FIRST-LAST, up to 16"},
        {{.nodes_range = "5-3", .range_is_nodes = true}, "--nodes: \"5-3\" is no range"},
        {{.nodes_range = "2-4", .scaling = true}, "--nodes-range 2-4 and --scaling both say"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct bench bench;
        struct error_info err = {.kind = ERROR_NONE};
        struct run_options run;
        bench_init(&bench);
        if (!bench.options.job)
            return;
        struct job_spec *job = bench.options.job;
        bench.options = rows[i].options;
        bench.options.job = job;
        assert_int_equal(run_options_read(&bench.options, &bench.scenario, &run, &err), -1);
        if (!strstr(err.text, rows[i].want))
            fail_msg("'%s' is not in: %s", rows[i].want, err.text);
        job_spec_free(job);
    }
}

static void spare_nodes_and_counts_exclude_each_other(void **state)
{
    (void)state;
    struct bench bench;
    struct error_info err = {.kind = ERROR_NONE};
    struct run_options run;
    bench_init(&bench);
    bench.options.scaling = true;
    if (!bench.options.job || job_spec_set(bench.options.job, "spare", "1", "--set", &err) < 0) {
        job_spec_free(bench.options.job);
        return;
    }
    assert_int_equal(run_options_read(&bench.options, &bench.scenario, &run, &err), -1);
    assert_non_null(strstr(err.text, "--set: spare=1: node counts are asked for"));
    job_spec_free(bench.options.job);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reads_ranges),
    cmocka_unit_test(reads_tokens),
    cmocka_unit_test(a_range_among_nodes_is_one),
    cmocka_unit_test(combines_options),
    cmocka_unit_test(refuses_what_lacks_another),
    cmocka_unit_test(spare_nodes_and_counts_exclude_each_other),
};

int main(void) { return unit_test_main("cli/run_options", tests, COUNT_OF(tests)); }
