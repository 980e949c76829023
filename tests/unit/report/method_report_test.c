/* SPDX-License-Identifier: MIT */
#include "report/comparison/method_report.h"
#include "tests/support/unit_test.h"

#include <string.h>

#define GIB ((uint64_t)1 << 30)

#define CHOSEN                                                                                     \
    {                                                                                              \
        .degrees = {.tp = 8, .cp = 1, .ep = 1, .etp = 8, .pp = 1, .vpp = 1, .dp = 2},              \
        .sharding = SHARDING_ZERO1, .memory = {.total_bytes = 60 * GIB, .verdict = FIT_FITS},      \
        .time = {.parts = {[TIME_TP] = 1, [TIME_DP] = 1}, .step_seconds = 20},                     \
    }

static const struct plan chosen = CHOSEN;

static const struct method_comparison comparison = {
    .neighbours =
        {
            {.name = "tp=4",
             .fits = true,
             .plan = {.degrees = {.tp = 4, .cp = 1, .ep = 1, .etp = 4, .pp = 1, .vpp = 1, .dp = 4},
                      .memory = {.total_bytes = 65 * GIB, .verdict = FIT_FITS},
                      .time = {.step_seconds = 22}}},
            {.name = "pp=2", .why_not = "no split satisfies the constraints"},
        },
    .neighbour_count = 2,
    .rows = {
        {.name = "DDP", .why_not = "does not fit: 99.0 GiB of 79.1 at least"},
        {.name = "ZeRO-1", .why_not = "excluded by --plan: tp: 8"},
        {.name = "FSDP", .why_not = "excluded by --plan: tp: 8"},
        {.name = "TP", .fits = true, .plan = CHOSEN},
        {.name = "PP",
         .fits = true,
         .plan = {.degrees = {.tp = 1, .cp = 1, .ep = 1, .etp = 1, .pp = 4, .vpp = 1, .dp = 4},
                  .memory = {.total_bytes = 70 * GIB, .verdict = FIT_TIGHT},
                  .time = {.step_seconds = 25, .bubble_fraction = 0.1}}},
        {.name = "TP and PP",
         .fits = true,
         .plan = {.degrees = {.tp = 2, .cp = 1, .ep = 1, .etp = 2, .pp = 2, .vpp = 1, .dp = 4},
                  .memory = {.total_bytes = 50 * GIB, .verdict = FIT_FITS}}},
    }};

static void shows_the_ways(void **state)
{
    (void)state;
    static const char *const words[] = {
        "  TP         zero1 tp=8,pp=1,dp=2  none       60.0  fits   20.0 s   10.0 %",
        "chosen\n",
        "  PP         tp=1,pp=4,dp=4        none       70.0  tight  25.0 s    0.0 %",
        "+25.0 %\n",
        "  TP and PP  tp=2,pp=2,dp=4        none       50.0  fits        ?        ?",
        "  DDP     does not fit: 99.0 GiB of 79.1 at least\n",
        "  FSDP    excluded by --plan: tp: 8\n",
        "One step from the chosen plan\n  instead  best plan",
        "  tp=4     tp=4,pp=1,dp=4  none       65.0  fits  22.0 s    0.0 %  +10.0 %\n",
        "  pp=2  no split satisfies the constraints\n",
    };
    const struct text_style style = {.width = 100};
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 1 << 20);
    method_report_text(&comparison, &chosen, &style, &out);
    method_report_text(&comparison, NULL, &style, &out);
    for (size_t i = 0; !text_buffer_failed(&out) && i < COUNT_OF(words); i++)
        if (!strstr(text_buffer_text(&out), words[i]))
            fail_msg("'%s' is not in:\n%s", words[i], text_buffer_text(&out));
}

static void writes_the_member(void **state)
{
    (void)state;
    static const char *const words[] = {
        "{\"methods\":[{\"method\":\"DDP\",\"plan\":null,\"why_not\":\"does not fit: 99.0 GiB of "
        "79.1 at "
        "least\",\"memory_bytes\":null,\"step_seconds\":null,\"exposed_fraction\":null,\"bubble_"
        "fraction\":null},",
        "{\"method\":\"TP\",\"plan\":\"zero1 tp=8,pp=1,dp=2\",\"why_not\":null,"
        "\"memory_bytes\":64424509440,\"step_seconds\":20,\"exposed_fraction\":0.1,\"bubble_"
        "fraction\":0}",
        "\"neighbours\":[{\"instead\":\"tp=4\",\"plan\":\"tp=4,pp=1,dp=4\",",
    };
    CLEANUP(json_value) struct json_value *document = json_value_create_object();
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 1 << 20);
    method_report_json(&comparison, document);
    if (json_value_write(document, JSON_STYLE_COMPACT, &out, NULL) < 0)
        return; /* no memory */
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (!strstr(text_buffer_text(&out), words[i]))
            fail_msg("'%s' is not in:\n%s", words[i], text_buffer_text(&out));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(shows_the_ways),
    cmocka_unit_test(writes_the_member),
};

int main(void) { return unit_test_main("report/method_report", tests, COUNT_OF(tests)); }
