/* SPDX-License-Identifier: MIT */
#include "report/launchers/launch_report.h"
#include "tests/support/launch_fixture.h"
#include "tests/support/unit_test.h"

#include <string.h>

static const char *const command_notes[] = {"two\nlines"};

struct example {
    struct launch_fixture fixture;
    struct launch_settings *settings;
    struct launch_report report;
};

static int example_init(struct example *example, const char *keys, const struct launcher *launcher,
                        struct error_info *err)
{
    launch_fixture_init(&example->fixture, keys);
    example->settings = launch_settings_create(launcher, &example->fixture.launch, err);
    example->report = (struct launch_report){
        .launch = &example->fixture.launch,
        .settings = example->settings,
        .cluster = "of\033[31m",
        .notes = command_notes,
        .note_count = 1,
    };
    return example->settings ? 0 : -1;
}

static void example_done(struct example *example) { launch_settings_free(example->settings); }

DEFINE_CLEANUP_DONE(example);

/* A shell runs the text: what comes from outside stays in one line of comment. */
static void writes_a_script(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(example) struct example example;
    assert_int_equal(example_init(&example, "tp=8,sharding=zero3", &deepspeed_launcher, &err), 0);
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 100000);
    assert_int_equal(launch_report_text(&example.report, &out, &err), 0);
    static const char *const parts[] = {
        "# parplan flags --launcher deepspeed: DeepSpeed, names of ",
        "# toy on of?[31m: tp=8,pp=1,dp=8, sharding=zero3, micro_batch=1, global_batch=512\n",
        "# RANK: tp-cp-ep-dp-pp (deepspeed.initialize: ",
        "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True # ",
        "cat > ds_config.json << 'END_OF_PARPLAN'\n{\n",
        "}\nEND_OF_PARPLAN\n",
        "parplan_arguments=(\n    --deepspeed_config ds_config.json\n)\n# torchrun ",
        "# two?lines\n",
    };
    const char *rest = text_buffer_text(&out);
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        const char *found = strstr(rest, parts[i]);
        if (!found) {
            fail_msg("\"%s\" is missing, or stands too early, in:\n%s", parts[i],
                     text_buffer_text(&out));
            return;
        }
        rest = found + strlen(parts[i]);
    }
}

static void unsets_and_overrides(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(example) struct example example;
    assert_int_equal(example_init(&example, "sharding=hsdp,shard=8", &bridge_launcher, &err), 0);
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 100000);
    assert_int_equal(launch_report_text(&example.report, &out, &err), 0);
    const char *text = text_buffer_text(&out);
    assert_non_null(strstr(text, "dp=64, sharding=hsdp, shard=8, micro_batch=1"));
    assert_non_null(strstr(text, "\nunset CUDA_DEVICE_MAX_CONNECTIONS # "));
    assert_non_null(strstr(text, "\n    model.tensor_model_parallel_size=1\n"));
    assert_null(strstr(text, "END_OF_PARPLAN"));
}

static struct json_value *read_back(const struct json_value *document)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 100000);
    assert_non_null(document);
    if (json_value_write(document, JSON_STYLE_COMPACT, &out, &err) < 0)
        fail_msg("%s", err.text);
    return json_value_parse(text_buffer_text(&out), out.length, "document", &err);
}

static void check_words(const struct json_value *array, const char *const *words)
{
    size_t i = 0;
    for (; words[i]; i++)
        assert_string_equal(json_value_text(json_value_at(array, i)), words[i]);
    assert_int_equal(json_value_count(array), i);
}

static void writes_a_document(void **state)
{
    (void)state;
    static const char *const words[] = {"--nnodes", "8", "--nproc-per-node", "8", NULL};
    struct error_info err = {.kind = ERROR_NONE};
    uint64_t number = 0;
    CLEANUP_DONE(example) struct example example;
    assert_int_equal(example_init(&example, "cp=2", &torchrun_fsdp_launcher, &err), 0);
    CLEANUP(json_value) struct json_value *document = launch_report_json(&example.report);
    CLEANUP(json_value) struct json_value *back = read_back(document);
    assert_non_null(back);
    assert_string_equal(json_value_text(json_value_get(back, "schema")), "parplan.flags/1");
    assert_string_equal(json_value_text(json_value_get(back, "order")), "tp-cp-ep-dp-pp");
    check_words(json_value_get(back, "arguments"), words);
    const struct json_value *degrees = json_value_get(back, "degrees");
    assert_int_equal(json_value_unsigned(json_value_get(degrees, "dp"), 1000, &number), 0);
    assert_int_equal(number, 32);
    const struct json_value *mesh = json_value_get(json_value_get(back, "config"), "device_mesh");
    assert_int_equal(json_value_unsigned(json_value_get(mesh, "cp"), 1000, &number), 0);
    assert_int_equal(number, 2);
    const struct json_value *variable = json_value_at(json_value_get(back, "environment"), 0);
    assert_string_equal(json_value_text(json_value_get(variable, "name")),
                        "PYTORCH_CUDA_ALLOC_CONF");
    assert_string_equal(json_value_text(json_value_at(json_value_get(back, "notes"), 0)),
                        command_notes[0]);
}

/* Overrides are one word each, switches have no value, a variable to unset is null. */
static void documents_of_other_shapes(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(example) struct example example;
    assert_int_equal(example_init(&example, "sharding=zero3", &bridge_launcher, &err), 0);
    CLEANUP(json_value) struct json_value *document = launch_report_json(&example.report);
    CLEANUP(json_value) struct json_value *back = read_back(document);
    assert_non_null(back);
    assert_string_equal(json_value_text(json_value_at(json_value_get(back, "arguments"), 0)),
                        "model.tensor_model_parallel_size=1");
    assert_null(json_value_get(back, "config_file"));
    const struct json_value *variable = json_value_at(json_value_get(back, "environment"), 0);
    assert_string_equal(json_value_text(json_value_get(variable, "name")),
                        "CUDA_DEVICE_MAX_CONNECTIONS");
    assert_int_equal(json_value_kind(json_value_get(variable, "value")), JSON_NULL);
}

static int report_both(void *context, struct error_info *err)
{
    const struct launch_report *report = context;
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 100000);
    if (launch_report_text(report, &out, err) < 0)
        return -1;
    CLEANUP(json_value) struct json_value *document = launch_report_json(report);
    if (!document || text_buffer_failed(&out))
        return error_set_memory(err);
    return json_value_write(document, JSON_STYLE_COMPACT, &out, err);
}

static void fails_cleanly(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(example) struct example example;
    assert_int_equal(example_init(&example, "cp=2", &torchrun_fsdp_launcher, &err), 0);
    unit_test_expect_clean_failures(report_both, &example.report);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_a_script),   cmocka_unit_test(unsets_and_overrides),
        cmocka_unit_test(writes_a_document), cmocka_unit_test(documents_of_other_shapes),
        cmocka_unit_test(fails_cleanly),
    };
    return unit_test_main("report/launch_report", tests, COUNT_OF(tests));
}
