/* SPDX-License-Identifier: MIT */
#include "report/roles/role_report.h"
#include "tests/support/unit_test.h"

#include <string.h>

#define GIB ((uint64_t)1 << 30)

static struct job_spec trained,
    frozen = {.values[JOB_TRAINABLE] = {.given = true, .text = "frozen"}};
static const struct model_spec model = {.name = "toy"};
static const struct role roles[] = {{.name = "actor", .home = 0},
                                    {.name = "reference", .with = "actor", .home = 0}};
static const struct role_list list = {.roles = roles, .count = 2};
static const struct role_request requests[] = {
    {"actor", {.model = &model, .job = &trained, .world = 16}, 0},
    {"reference", {.model = &model, .job = &frozen, .world = 16}, 0}};
static const struct plan plan = {.degrees = {2, 1, 1, 1, 1, 1, 8, 8, 1},
                                 .memory = {.total_bytes = 40 * GIB, .verdict = FIT_FITS},
                                 .time.step_seconds = 2};
static const struct plan nearest = {.memory.total_bytes = 99 * GIB};
static struct plan_list found = {.plan_count = 0}, missed = {.nearest = &nearest};
static struct role_result results[] = {
    {.list = &found, .plan = &plan, .kept_bytes = 10 * GIB, .others_bytes = 5 * GIB},
    {.list = &found, .plan = &plan, .kept_bytes = 5 * GIB, .others_bytes = 10 * GIB}};
static struct role_result misfit[] = {{.list = &found, .plan = &plan, .kept_bytes = 10 * GIB},
                                      {.list = &missed, .others_bytes = 10 * GIB}};
static const struct role_plans plans = {results, 2}, missing = {misfit, 2};

static void expect(const struct role_plans *shown, const char *const *words)
{
    const struct role_report report = {&list, requests, shown, "toy:2", 8};
    const struct text_style style = {.width = 120};
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 1 << 16);
    role_report_text(&report, &style, &out);
    for (; !text_buffer_failed(&out) && *words; words++)
        if (!strstr(text_buffer_text(&out), *words))
            fail_msg("'%s' is not in:\n%s", *words, text_buffer_text(&out));
}

static void shows_every_role(void **state)
{
    (void)state;
    static const char *const words[] = {"2 roles on toy:2\n",
                                        "actor      toy    16 GPUs ",
                                        "reference  toy    with actor ",
                                        "40.0          5.0  2.00 s\n",
                                        "40.0         10.0\n",
                                        NULL};
    expect(&plans, words);
}

static void says_what_does_not_fit(void **state)
{
    (void)state;
    static const char *const words[] = {"does not fit: 99.0 GiB at least", NULL};
    expect(&missing, words);
    const struct role_report good = {&list, requests, &plans, "toy:2", 8};
    const struct role_report bad = {&list, requests, &missing, "toy:2", 8};
    assert_true(role_report_fits(&good));
    assert_false(role_report_fits(&bad));
}

static void writes_the_document(void **state)
{
    (void)state;
    const struct role_report report = {&list, requests, &missing, "toy:2", 8};
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    CLEANUP(json_value) struct json_value *document = role_report_json(&report);
    text_buffer_init(&out, 1 << 16);
    if (!document || json_value_write(document, JSON_STYLE_COMPACT, &out, &err) < 0)
        return; /* no memory left, in the torture */
    static const char *const words[] = {
        "{\"schema\":\"parplan.roles_plan/1\",\"cluster\":\"toy:2\",\"roles\":[",
        "\"with\":null,\"gpus\":16,",
        "\"kept_bytes\":10737418240,\"verdict\":\"fits\",\"step_seconds\":2}",
        "\"with\":\"actor\"",
        "\"plan\":null,\"step_seconds\":null}]}",
        NULL};
    for (size_t i = 0; words[i]; i++)
        if (!strstr(text_buffer_text(&out), words[i]))
            fail_msg("'%s' is not in:\n%s", words[i], text_buffer_text(&out));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_every_role),
        cmocka_unit_test(says_what_does_not_fit),
        cmocka_unit_test(writes_the_document),
    };
    return unit_test_main("report/role_report", tests, COUNT_OF(tests));
}
