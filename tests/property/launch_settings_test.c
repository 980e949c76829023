/* SPDX-License-Identifier: MIT */
/* Every plan that the planner finds, for every launcher: it is refused in one line, or what is
 * written reads back (launch_flags), arguments and configuration file, as the plan's degrees. */
#include "tests/support/unit_test.h"

#include "report/launchers/launch_config.h"
#include "report/launchers/launch_report.h"
#include "tests/support/planner_fixture.h"
#include "workload/launch_flags.h"
#include <string.h>

#define PLANS 40u
#define TEXT_BYTES ((size_t)1 << 16)

static const char *const requests[][3] = {
    {"llama3-70b", "dgx-h100:16", "global_batch=1024,framework=megatron-core"},
    {"llama3-70b", "dgx-h100:16", "global_batch=1024,framework=nemo,order=tp-cp-ep-pp-dp"},
    {"llama3-70b", "dgx-h100:16", "global_batch=1024,framework=torchtitan,pp=4"},
    {"llama3-8b", "dgx-h100:4", "global_batch=256,framework=fsdp2,sequence_length=32768"},
    {"llama3-8b", "dgx-h100:4", "global_batch=256,framework=deepspeed,cp=2"},
    {"llama3-8b", "dgx-h100:2", "global_batch=256,framework=fsdp2,sharding=zero1"},
    {"mixtral-8x7b", "dgx-h100:8", "global_batch=512,framework=megatron-core,ep=8"},
    {"mixtral-8x7b", "dgx-h100:8", "global_batch=512,framework=torchtitan,ep=4"},
    {"llama3-405b", "gb200-nvl72:18", "global_batch=1152,framework=megatron-core,tp=4"},
};

struct tally {
    unsigned written[16], refused[16];
};

static void add_words(struct text_buffer *words, const struct json_value *document)
{
    const struct json_value *array = json_value_get(document, "arguments");
    for (size_t i = 0; i < json_value_count(array); i++)
        text_buffer_add_bytes(words, json_value_text(json_value_at(array, i)),
                              strlen(json_value_text(json_value_at(array, i))) + 1);
}

/* What stands in the file that the arguments name. */
static const struct launch_settings *written;

static char *read_config(const char *path, size_t maximum, size_t *ret_bytes,
                         struct error_info *err)
{
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, maximum);
    assert_string_equal(path, written->launcher->config_file);
    assert_int_equal(launch_config_write(written, &text, err), 0);
    *ret_bytes = text.length;
    return text_buffer_take(&text);
}

/* What the reader makes of the written arguments and file. */
static void read_back(const struct launch_report *report, struct job_spec *job,
                      struct text_buffer *notices)
{
    struct error_info err = {.kind = ERROR_NONE};
    const char *arguments[2 * LAUNCH_SETTINGS_MAXIMUM] = {report->settings->launcher->name};
    size_t count = 1; /* "accelerate" is a program */
    CLEANUP_DONE(text_buffer) struct text_buffer words;
    text_buffer_init(&words, TEXT_BYTES);
    CLEANUP(json_value) struct json_value *document = launch_report_json(report);
    assert_non_null(document);
    add_words(&words, document);
    const char *text = text_buffer_text(&words);
    for (size_t at = 0; at < words.length; at += strlen(text + at) + 1) {
        assert_true(count < COUNT_OF(arguments));
        arguments[count++] = text + at;
    }
    struct launch_counts counts;
    const struct launch_command command = {
        .arguments = arguments, .count = count, .read = read_config};
    written = report->settings;
    if (launch_command_read(&command, job, &counts, notices, &err) < 0)
        fail_msg("%s: %s", report->settings->launcher->name, err.text);
}

struct degree_row {
    enum job_key key;
    enum plan_value value;
};

static void check_degrees(const struct launch_report *report, const struct job_spec *job)
{
    static const struct degree_row rows[] = {{JOB_TP, VALUE_TP},
                                             {JOB_CP, VALUE_CP},
                                             {JOB_EP, VALUE_EP},
                                             {JOB_ETP, VALUE_ETP},
                                             {JOB_PP, VALUE_PP},
                                             {JOB_DP, VALUE_DP},
                                             {JOB_SHARD, VALUE_SHARD},
                                             {JOB_ORDER, VALUE_ORDER},
                                             {JOB_MICRO_BATCH, VALUE_MICRO_BATCH},
                                             {JOB_GLOBAL_BATCH, VALUE_GLOBAL_BATCH},
                                             {JOB_SEQUENCE_LENGTH, VALUE_SEQUENCE_LENGTH}};
    const struct plan *plan = report->launch->plan;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint64_t want = rows[i].key == JOB_ORDER
                            ? plan->order
                            : launch_plan_number(report->launch, rows[i].value);
        uint64_t have = job_spec_number(job, rows[i].key, want);
        if (have != want)
            fail_msg("%s: %s reads back as %llu, is %llu", report->settings->launcher->name,
                     job_key_info(rows[i].key)->name, (unsigned long long)have,
                     (unsigned long long)want);
    }
    uint64_t sharding = job_spec_number(job, JOB_SHARDING, plan->sharding);
    assert_int_equal(sharding, plan->sharding);
}

/* Launchers whose degrees stand in their arguments name all that are larger than 1. */
static void check_complete(const struct launch_report *report, const struct job_spec *job)
{
    static const char *const spelled[] = {"megatron-lm", "megatron-bridge", "torchtitan"};
    const struct degrees *degrees = &report->launch->plan->degrees;
    for (size_t i = 0; i < COUNT_OF(spelled); i++) {
        if (strcmp(report->settings->launcher->name, spelled[i]) != 0)
            continue;
        assert_int_equal(job_spec_number(job, JOB_TP, 0), degrees->tp);
        assert_int_equal(job_spec_number(job, JOB_CP, 0), degrees->cp);
        assert_int_equal(job_spec_number(job, JOB_PP, 0), degrees->pp);
        assert_int_equal(job_spec_number(job, JOB_EP, 1), degrees->ep);
    }
}

static void check_written(const struct launch_report *report)
{
    CLEANUP(job_spec) struct job_spec *job = job_spec_create(NULL);
    CLEANUP_DONE(text_buffer) struct text_buffer notices;
    text_buffer_init(&notices, TEXT_BYTES);
    assert_non_null(job);
    read_back(report, job, &notices);
    check_degrees(report, job);
    check_complete(report, job);
    const struct launcher *launcher = report->settings->launcher;
    bool own = strncmp(launcher->name, "torchrun-", 9) == 0;
    if (launcher->config_style != CONFIG_NONE && !own)
        assert_non_null(strstr(text_buffer_text(&notices), launcher->config_file));
    assert_null(strstr(text_buffer_text(&notices), "not read"));
}

static void check_plan(const struct launch_plan *launch, struct tally *tally)
{
    const struct launcher *launcher;
    for (size_t i = 0; (launcher = launcher_at(i)); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(launch_settings)
        struct launch_settings *settings = launch_settings_create(launcher, launch, &err);
        if (!settings) {
            assert_int_equal(err.kind, ERROR_INPUT);
            assert_null(strchr(err.text, '\n'));
            assert_non_null(strstr(err.text, "; use "));
            tally->refused[i]++;
            continue;
        }
        assert_true(settings->arguments.count < LAUNCH_SETTINGS_MAXIMUM);
        assert_true(settings->config.count < LAUNCH_SETTINGS_MAXIMUM);
        assert_true(settings->note_count < LAUNCH_NOTES_MAXIMUM);
        check_written(
            &(struct launch_report){.launch = launch, .settings = settings, .cluster = "here"});
        tally->written[i]++;
    }
}

static void check_request(const char *const *request, struct tally *tally)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(planner_fixture) struct planner_fixture fixture;
    if (planner_fixture_init(&fixture, request[0], request[1], request[2], &err) < 0)
        fail_msg("%s", err.text);
    fixture.request.top = PLANS;
    struct training_spec training;
    uint64_t world = cluster_gpu_count(fixture.cluster);
    assert_int_equal(training_spec_from_job(fixture.job, world, &training, &err), 0);
    CLEANUP(plan_list) struct plan_list *list = plan_search(&fixture.request, &err);
    if (!list || list->plan_count == 0)
        fail_msg("%s: no plan: %s", request[2], err.text);
    const char *name = job_spec_text(fixture.job, JOB_FRAMEWORK);
    for (size_t i = 0; i < list->plan_count; i++) {
        const struct launch_plan launch = {
            .plan = &list->plans[i],
            .model = fixture.request.model,
            .training = &training,
            .profile = framework_catalogue_find(fixture.frameworks, name, &err),
            .world = world,
            .gpus_per_node = fixture.cluster->kinds[0]->gpu_count,
        };
        assert_non_null(launch.profile);
        check_plan(&launch, tally);
    }
}

static void what_is_written_reads_back(void **state)
{
    (void)state;
    struct tally tally = {.written = {0}};
    for (size_t i = 0; i < COUNT_OF(requests); i++)
        check_request(requests[i], &tally);
    const struct launcher *launcher;
    for (size_t i = 0; (launcher = launcher_at(i)); i++)
        if (tally.written[i] == 0 || tally.refused[i] == 0)
            fail_msg("%s: %u plans written, %u refused", launcher->name, tally.written[i],
                     tally.refused[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_reads_back),
    };
    return unit_test_main("property/launch_settings", tests, COUNT_OF(tests));
}
