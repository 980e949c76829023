/* SPDX-License-Identifier: MIT */
#include "report/scaling/scaling_report.h"
#include "tests/support/unit_test.h"

#include <string.h>

#define GIB ((uint64_t)1 << 30)

static const struct cluster_topology cluster = {.name = "dgx-h100:16", .node_count = 16};
static const struct plan_request plan_request = {.cluster = &cluster};

#define PLAN(dp_, seconds, rate)                                                                   \
    {                                                                                              \
        .degrees = {.tp = 8, .cp = 1, .ep = 1, .etp = 8, .pp = 1, .vpp = 1, .dp = (dp_)},          \
        .sharding = SHARDING_ZERO1, .memory = {.total_bytes = 60 * GIB}, .time = {                 \
            .step_seconds = (seconds),                                                             \
            .tokens_per_second = (rate)                                                            \
        }                                                                                          \
    }

static const struct scaling_row rows[] = {
    {.nodes = 1, .gpus = 8, .why_not = "does not fit: 99.0 GiB of 79.1 at least"},
    {.nodes = 2,
     .gpus = 16,
     .fits = true,
     .plan = PLAN(2, 40, 1e5),
     .efficiency = 1,
     .trillion_gpu_hours = 44444,
     .run = {.days = 115.7, .gpu_hours = 44444, .cost = 88888},
     .pareto = true},
    {.nodes = 4,
     .gpus = 32,
     .fits = true,
     .plan = PLAN(4, 25, 1.6e5),
     .efficiency = 0.8,
     .trillion_gpu_hours = 55555,
     .run = {.days = 72.3, .gpu_hours = 55555, .cost = 111111}},
};
static const struct scaling_row between = {.nodes = 3,
                                           .gpus = 24,
                                           .fits = true,
                                           .plan = PLAN(3, 30, 1.3e5),
                                           .run = {.days = 89.25, .gpu_hours = 51000}};
static const struct node_scaling scaling = {.rows = rows,
                                            .row_count = 3,
                                            .recommended = &rows[2],
                                            .reason = "the most tokens a second",
                                            .smallest_that_fits = 2,
                                            .stride = 1};
static const struct node_scaling in_time = {.rows = rows,
                                            .row_count = 3,
                                            .recommended = &between,
                                            .in_time = &between,
                                            .reason = "the fewest that finish",
                                            .smallest_that_fits = 2,
                                            .stride = 1};
static const struct node_scaling nothing = {
    .rows = rows, .row_count = 1, .reason = "nothing fits on any of these counts", .stride = 1};

static void expect_text(const struct scaling_report *report, const char *const *words)
{
    const struct text_style style = {.width = 100};
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 1 << 20);
    scaling_report_text(report, &style, &out);
    for (; !text_buffer_failed(&out) && *words; words++)
        if (!strstr(text_buffer_text(&out), *words))
            fail_msg("'%s' is not in:\n%s", *words, text_buffer_text(&out));
}

static void shows_the_counts(void **state)
{
    (void)state;
    static const char *const words[] = {
        "Node counts of dgx-h100:16, objective throughput\n",
        "    2    16  zero1 tp=8,pp=1,dp=2  40.0 s     100 k     100.0 %      44.4 k  60.0  yes\n",
        "    4    32  zero1 tp=8,pp=1,dp=4  25.0 s     160 k      80.0 %      55.6 k  60.0  no\n",
        "       1  does not fit: 99.0 GiB of 79.1 at least\n",
        "The run of 1.00 T tokens: computing alone, no restarts or checkpoints\n",
        "      4  72.3     55.6 k   111 k\n",
        "Recommended: 4 nodes: the most tokens a second\n",
        NULL,
    };
    const struct scaling_request request = {.plan = &plan_request,
                                            .run = {.tokens = 1e12, .price_per_gpu_hour = 2}};
    const struct scaling_report report = {&request, &scaling};
    expect_text(&report, words);
}

static void a_count_between_the_rows_stands_among_them(void **state)
{
    (void)state;
    static const char *const words[] = {
        "objective the fewest in time\n",
        "      2   116     44.4 k\n      3  89.2     51.0 k\n      4  72.3     55.6 k",
        "Recommended: 3 nodes: the fewest that finish. The smallest that fits: 2.\n",
        NULL,
    };
    const struct scaling_request request = {
        .plan = &plan_request, .doubling = true, .run = {.tokens = 1e12, .within_days = 90}};
    const struct scaling_report report = {&request, &in_time};
    expect_text(&report, words);
}

static void says_that_nothing_fits(void **state)
{
    (void)state;
    static const char *const words[] = {"not on  why\n", "\nnothing fits on any of these counts\n",
                                        NULL};
    const struct scaling_request request = {.plan = &plan_request, .prefer = PREFER_GPU_HOURS};
    const struct scaling_report report = {&request, &nothing};
    expect_text(&report, words);
}

static void expect_json(struct json_value *document, const char *const *words)
{
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 1 << 20);
    if (json_value_write(document, JSON_STYLE_COMPACT, &out, NULL) < 0)
        return; /* no memory */
    for (; *words; words++)
        if (!strstr(text_buffer_text(&out), *words))
            fail_msg("'%s' is not in:\n%s", *words, text_buffer_text(&out));
}

static void writes_documents(void **state)
{
    (void)state;
    static const char *const words[] = {
        "{\"scaling\":{\"rows\":[{\"nodes\":1,\"gpus\":8,\"plan\":null,\"why_not\":\"does not fit",
        "\"efficiency\":0.8,\"gpu_hours_per_trillion_tokens\":55555,\"days\":72.3,",
        "\"pareto\":true},{\"nodes\":4,",
        "\"objective\":\"throughput\",\"recommended\":{\"nodes\":4,",
        "\"smallest_that_fits\":2}",
        "\"run\":{\"tokens\":1000000000000,\"within_days\":null,\"price_per_gpu_hour\":2,\"days\":",
        NULL,
    };
    static const char *const misfit[] = {
        "\"recommended\":null,\"reason\":\"nothing fits on any of these counts\","
        "\"smallest_that_fits\":null}}",
        NULL};
    const struct scaling_request request = {.plan = &plan_request,
                                            .run = {.tokens = 1e12, .price_per_gpu_hour = 2}};
    const struct scaling_report report = {&request, &scaling}, none = {&request, &nothing};
    const struct run_length not_asked = {.tokens = 0};
    CLEANUP(json_value) struct json_value *document = json_value_create_object();
    CLEANUP(json_value) struct json_value *other = json_value_create_object();
    scaling_report_json(&report, document);
    run_report_json(&request.run, &rows[1].plan, 16, document);
    expect_json(document, words);
    scaling_report_json(&none, other);
    run_report_json(&not_asked, NULL, 8, other);
    expect_json(other, misfit);
}

static void says_what_a_run_takes(void **state)
{
    (void)state;
    const struct text_style style = {.width = 100};
    const struct run_length run = {.tokens = 1e12, .price_per_gpu_hour = 2.5}, none = {0};
    const struct plan untimed = {.micro_batch = 1};
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 1 << 20);
    run_report_text(&none, &rows[1].plan, 16, &style, &out);
    assert_int_equal(out.length, 0);
    run_report_text(&run, &rows[1].plan, 16, &style, &out);
    run_report_text(&run, &untimed, 16, &style, &out);
    if (text_buffer_failed(&out))
        return;
    assert_non_null(strstr(text_buffer_text(&out), "  116 days on 16 GPUs, 44.4 k GPU-hours, cost "
                                                   "111 k at 2.5 a GPU-hour\n"));
    assert_non_null(strstr(text_buffer_text(&out), "  unknown: the GPU is not in the catalogue\n"));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(shows_the_counts),
    cmocka_unit_test(a_count_between_the_rows_stands_among_them),
    cmocka_unit_test(says_that_nothing_fits),
    cmocka_unit_test(writes_documents),
    cmocka_unit_test(says_what_a_run_takes),
};

int main(void) { return unit_test_main("report/scaling_report", tests, COUNT_OF(tests)); }
