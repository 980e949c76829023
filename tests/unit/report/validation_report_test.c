/* SPDX-License-Identifier: MIT */
#include "report/measured/validation_report.h"
#include "tests/support/unit_test.h"

#include <math.h>
#include <string.h>

static const struct published_run runs[] = {
    {.id = "gt1",
     .set = "Toy-T1",
     .model_name = "toy",
     .gpus = 64,
     .plan.degrees = {2, 1, 1, 2, 2, 1, 16, 16, 1},
     .memory_fact = MEMORY_PEAK,
     .memory_bytes = 64 * 1073741824.0},
    {.id = "gt2",
     .set = "Other",
     .model_name = "toy-2",
     .gpus = 8,
     .plan.degrees = {1, 1, 1, 1, 1, 1, 8, 8, 1},
     .memory_fact = MEMORY_RAN_OUT},
};
static const struct accuracy_row times[] = {{&runs[0], 10, 11, 12}, {&runs[1], 2, 1.5, 0}};
static const struct accuracy_row peaks[] = {{&runs[0], 64 * 1073741824.0, 32 * 1073741824.0, 0}};
static const struct validation_memory memory[] = {{&runs[0], FIT_FITS, 32 * 1073741824.0},
                                                  {&runs[1], FIT_OOM, 96 * 1073741824.0}};
static const struct validation_skip skipped[] = {{"gt3", "FP4 is not modelled"}};
static const struct choice_group groups[] = {{&times[1], &times[0], 5, 0.25, 2}};
static struct accuracy time_sets[] = {{"Toy-T1", 1, 0.1, 0.1, 0.1, 0.1, 0.2},
                                      {"Other", 1, 0.25, 0.25, 0.25, -0.25, NAN}};
static struct accuracy memory_sets[] = {{"Toy-T1", 1, 0.5, 0.5, 0.5, -0.5, NAN}};

static const struct validation full = {
    .time = times,
    .time_count = 2,
    .time_accuracy = {time_sets, 2, {NULL, 2, 0.175, 0.175, 0.25, -0.075, 0.2}},
    .choice = {.groups = 1,
               .top1_regret_mean = 0.043,
               .top1_regret_max = 0.384,
               .best_in_top5 = 1,
               .each = groups},
    .peaks = peaks,
    .peak_count = 1,
    .memory_accuracy = {memory_sets, 1, {NULL, 1, 0.5, 0.5, 0.5, -0.5, NAN}},
    .memory = memory,
    .memory_count = 2,
    .ran_out = 1,
    .ran = 1,
    .skipped = skipped,
    .skipped_count = 1,
};
static const struct validation nothing = {
    .time_accuracy.overall = {NULL, 0, NAN, NAN, NAN, NAN, NAN},
    .memory_accuracy.overall = {NULL, 0, NAN, NAN, NAN, NAN, NAN},
};

/* What it writes, in *ret; false: no memory left, in the torture. */
static bool write_text(const struct validation *validation, bool every_row, struct text_buffer *ret)
{
    const struct text_style style = {.width = 120};
    text_buffer_init(ret, (size_t)1 << 20);
    validation_report_text(validation, every_row, &style, ret);
    return !text_buffer_failed(ret);
}

static void expect_lines(const struct validation *validation, bool every_row,
                         const char *const *lines)
{
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    if (!write_text(validation, every_row, &out))
        return;
    for (; *lines; lines++)
        if (!strstr(text_buffer_text(&out), *lines))
            fail_msg("'%s' is not in:\n%s", *lines, text_buffer_text(&out));
}

static void sums_up(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "step time, predicted / measured - 1\n",
        "set     n    MAPE  median  largest     bias  left out\n",
        "Toy-T1  1  10.0 %  10.0 %   10.0 %  +10.0 %    20.0 %\n",
        "Other   1  25.0 %  25.0 %   25.0 %  -25.0 %\n",
        "all     2  17.5 %  17.5 %   25.0 %   -7.5 %    20.0 %\n",
        "choice: 1 group of 4 runs or more; the predicted best is 4.3 % slower than the measured "
        "best (most 38.4 %), which is\n  among our first 5 in 100 %\n",
        "peak memory, predicted / measured - 1\n",
        "Toy-T1  1  50.0 %  50.0 %   50.0 %  -50.0 %\n",
        "of 1 run out of memory 0 are called \"fits\"; of 1 that ran 0 are called \"oom\"\n",
        "1 row is not compared; --explain says why\n",
        NULL,
    };
    expect_lines(&full, false, lines);
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    if (write_text(&full, false, &out))
        assert_null(strstr(text_buffer_text(&out), "gt1"));
}

static void explains_every_row(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "row  set     model  GPUs  plan",
        "gt1  Toy-T1  toy      64  tp=2,pp=2,dp=16    10.0 s     11.0 s  +10.0 %\n",
        "gt2  Other   toy-2     8  tp=1,pp=1,dp=8     2.00 s     1.50 s  -25.0 %\n",
        "gt1  Toy-T1  toy    tp=2,pp=2,dp=16  peak       64.0 GiB   32.0 GiB  fits\n",
        "gt2  Other   toy-2  tp=1,pp=1,dp=8   ran out               96.0 GiB  oom\n",
        "1 row is not compared:\n  gt3: FP4 is not modelled\n",
        NULL,
    };
    expect_lines(&full, true, lines);
}

static void nothing_is_said_of_nothing(void **state)
{
    (void)state;
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    if (write_text(&nothing, true, &out))
        assert_string_equal(text_buffer_text(&out), "");
}

static void expect_json(const struct validation *validation, const char *want)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    CLEANUP(json_value) struct json_value *document = validation_report_json(validation);
    text_buffer_init(&out, (size_t)1 << 20);
    if (!document || json_value_write(document, JSON_STYLE_COMPACT, &out, &err) < 0)
        return; /* no memory left, in the torture */
    assert_string_equal(text_buffer_text(&out), want);
}

static void writes_the_document(void **state)
{
    (void)state;
    expect_json(
        &full,
        "{\"schema\":\"parplan.validate/1\",\"time\":{\"sets\":["
        "{\"set\":\"Toy-T1\",\"n\":1,\"mape\":0.1,\"median\":0.1,\"max\":0.1,\"bias\":0.1,"
        "\"leave_one_out\":0.2},"
        "{\"set\":\"Other\",\"n\":1,\"mape\":0.25,\"median\":0.25,\"max\":0.25,\"bias\":-0.25,"
        "\"leave_one_out\":null}],"
        "\"overall\":{\"n\":2,\"mape\":0.175,\"median\":0.175,\"max\":0.25,\"bias\":-0.075,"
        "\"leave_one_out\":0.2}},"
        "\"memory\":{\"sets\":[{\"set\":\"Toy-T1\",\"n\":1,\"mape\":0.5,\"median\":0.5,"
        "\"max\":0.5,\"bias\":-0.5,\"leave_one_out\":null}],"
        "\"overall\":{\"n\":1,\"mape\":0.5,\"median\":0.5,\"max\":0.5,\"bias\":-0.5,"
        "\"leave_one_out\":null},"
        "\"ran_out\":1,\"ran\":1,\"false_fit\":0,\"false_oom\":0,\"false_oom_share\":0},"
        "\"choice\":{\"groups\":1,\"top1_regret_mean\":0.043,\"top1_regret_max\":0.384,"
        "\"best_in_top5\":1,\"each\":[{\"set\":\"Toy-T1\",\"model\":\"toy\",\"gpus\":64,"
        "\"global_batch\":0,\"n\":5,\"chosen\":\"gt2\",\"best\":\"gt1\",\"regret\":0.25,"
        "\"best_rank\":2}]},"
        "\"rows\":[{\"id\":\"gt1\",\"what\":\"step_seconds\",\"measured\":10,\"predicted\":11},"
        "{\"id\":\"gt2\",\"what\":\"step_seconds\",\"measured\":2,\"predicted\":1.5},"
        "{\"id\":\"gt1\",\"what\":\"memory_bytes\",\"measured\":68719500000,"
        "\"predicted\":34359700000,\"verdict\":\"fits\"},"
        "{\"id\":\"gt2\",\"what\":\"memory_bytes\",\"measured\":null,"
        "\"predicted\":103079000000,\"verdict\":\"oom\"}],"
        "\"skipped\":[{\"id\":\"gt3\",\"reason\":\"FP4 is not modelled\"}]}");
}

/* What is unknown is null, not 0. */
static void unknown_is_null(void **state)
{
    (void)state;
    expect_json(&nothing,
                "{\"schema\":\"parplan.validate/1\","
                "\"time\":{\"sets\":[],\"overall\":{\"n\":0,\"mape\":null,\"median\":null,"
                "\"max\":null,\"bias\":null,\"leave_one_out\":null}},"
                "\"memory\":{\"sets\":[],\"overall\":{\"n\":0,\"mape\":null,\"median\":null,"
                "\"max\":null,\"bias\":null,\"leave_one_out\":null},\"ran_out\":0,\"ran\":0,"
                "\"false_fit\":0,\"false_oom\":0,\"false_oom_share\":null},"
                "\"choice\":{\"groups\":0,\"top1_regret_mean\":null,\"top1_regret_max\":null,"
                "\"best_in_top5\":null,\"each\":[]},\"rows\":[],\"skipped\":[]}");
}

static int scenario(void *context, struct error_info *err)
{
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    CLEANUP(json_value) struct json_value *document = validation_report_json(context);
    text_buffer_init(&out, (size_t)1 << 20);
    if (!document)
        return error_set_memory(err);
    return json_value_write(document, JSON_STYLE_PRETTY, &out, err);
}

static int text_scenario(void *context, struct error_info *err)
{
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    return write_text(context, true, &out) ? 0 : error_set_memory(err);
}

static void failing_memory_is_clean(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(scenario, (void *)&full);
    unit_test_expect_clean_failures(text_scenario, (void *)&full);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_up),
        cmocka_unit_test(explains_every_row),
        cmocka_unit_test(nothing_is_said_of_nothing),
        cmocka_unit_test(writes_the_document),
        cmocka_unit_test(unknown_is_null),
        cmocka_unit_test(failing_memory_is_clean),
    };
    return unit_test_main("report/measured/validation_report", tests, COUNT_OF(tests));
}
