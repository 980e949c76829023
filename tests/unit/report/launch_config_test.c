/* SPDX-License-Identifier: MIT */
#include "report/launchers/launch_config.h"
#include "tests/support/unit_test.h"

#include <string.h>

/* Every kind of value, at the top, in a section and in one inside a section. */
static const struct launch_setting nested[] = {
    {"steps", SETTING_NUMBER, 8, NULL},
    {"zero.stage", SETTING_NUMBER, 3, NULL},
    {"zero.overlap", SETTING_TRUE, 0, NULL},
    {"zero.offload.device", SETTING_WORD, 0, "cpu"},
    {"zero.offload.pin", SETTING_FALSE, 0, NULL},
    {"zeros", SETTING_NULL, 0, NULL},
    {"names", SETTING_LIST, 0, "a"},
};
static const struct launch_setting flat[] = {
    {"model.converters", SETTING_LIST, 0, "float8"},
    {"model.layers", SETTING_NUMBER, 80, NULL},
    {"models.name", SETTING_WORD, 0, "toy"},
    {"job.compile", SETTING_TRUE, 0, NULL},
    {"job.dump", SETTING_FALSE, 0, NULL},
};

struct config_case {
    enum launcher_config style;
    const struct launch_setting *items;
    size_t count;
    const char *text;
};

static const struct config_case cases[] = {
    {CONFIG_JSON, nested, COUNT_OF(nested),
     "{\n"
     "  \"steps\": 8,\n"
     "  \"zero\": {\n"
     "    \"stage\": 3,\n"
     "    \"overlap\": true,\n"
     "    \"offload\": {\n"
     "      \"device\": \"cpu\",\n"
     "      \"pin\": false\n"
     "    }\n"
     "  },\n"
     "  \"zeros\": null,\n"
     "  \"names\": [\n"
     "    \"a\"\n"
     "  ]\n"
     "}\n"},
    {CONFIG_YAML, nested, COUNT_OF(nested),
     "steps: 8\n"
     "zero:\n"
     "  stage: 3\n"
     "  overlap: true\n"
     "  offload:\n"
     "    device: cpu\n"
     "    pin: false\n"
     "zeros: null\n"
     "names:\n"
     "- a\n"},
    {CONFIG_TOML, flat, COUNT_OF(flat),
     "[model]\n"
     "converters = [\"float8\"]\n"
     "layers = 80\n"
     "\n"
     "[models]\n"
     "name = \"toy\"\n"
     "\n"
     "[job]\n"
     "compile = true\n"
     "dump = false\n"},
    {CONFIG_TOML, NULL, 0, ""},
};

static int write_case(const struct config_case *row, struct text_buffer *out,
                      struct error_info *err)
{
    const struct launcher launcher = {.config_style = row->style};
    struct launch_settings settings = {.launcher = &launcher, .config.count = row->count};
    if (row->count > 0)
        memcpy(settings.config.items, row->items, row->count * sizeof(row->items[0]));
    text_buffer_init(out, 10000);
    if (launch_config_write(&settings, out, err) < 0)
        return -1;
    return text_buffer_failed(out) ? error_set_memory(err) : 0;
}

static void writes_each_format(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_DONE(text_buffer) struct text_buffer out;
        assert_int_equal(write_case(&cases[i], &out, &err), 0);
        assert_string_equal(text_buffer_text(&out), cases[i].text);
    }
}

static void writes_values(void **state)
{
    (void)state;
    static const struct {
        struct launch_setting setting;
        const char *text;
    } rows[] = {
        {{"x", SETTING_NUMBER, UINT64_MAX, NULL}, "18446744073709551615"},
        {{"x", SETTING_WORD, 0, "bf16_mixed"}, "bf16_mixed"},
        {{"x", SETTING_LIST, 0, "a"}, "a"},
        {{"x", SETTING_SWITCH, 0, NULL}, "true"},
        {{"x", SETTING_TRUE, 0, NULL}, "true"},
        {{"x", SETTING_FALSE, 0, NULL}, "false"},
        {{"x", SETTING_NULL, 0, NULL}, "null"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP_DONE(text_buffer) struct text_buffer out;
        text_buffer_init(&out, 100);
        launch_setting_write(&rows[i].setting, &out);
        assert_string_equal(text_buffer_text(&out), rows[i].text);
    }
}

static int write_once(void *context, struct error_info *err)
{
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    return write_case(context, &out, err);
}

static void fails_cleanly(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        unit_test_expect_clean_failures(write_once, (void *)&cases[i]);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_each_format),
        cmocka_unit_test(writes_values),
        cmocka_unit_test(fails_cleanly),
    };
    return unit_test_main("report/launch_config", tests, COUNT_OF(tests));
}
