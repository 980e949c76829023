/* SPDX-License-Identifier: MIT */
#include "tests/support/machine_fixture.h"
#include "tests/support/fake_planner.h"
#include "tests/support/unit_test.h"

#include <stdio.h>
#include <string.h>

void machine_fixture_set_node(struct machine_fixture *fixture, const char *name, bool ready)
{
    char text[400];
    int bytes =
        snprintf(text, sizeof(text),
                 "{\"metadata\":{\"name\":\"%s\",\"uid\":\"%s\"},\"status\":{\"allocatable\":{"
                 "\"cpu\":\"64\",\"pods\":\"10\",\"nvidia.com/gpu\":\"8\"},"
                 "\"conditions\":[{\"type\":\"Ready\",\"status\":\"%s\"}]}}",
                 name, name, ready ? "True" : "False");
    struct node_record *node = node_record_parse(text, (size_t)bytes, NULL);
    assert_non_null(node);
    assert_int_equal(gang_machine_set_node(fixture->machine, node), 0);
}

void machine_fixture_init(struct machine_fixture *fixture)
{
    *fixture = (struct machine_fixture){.gpus = gpu_catalogue_builtin(NULL),
                                        .presets = preset_catalogue_builtin(NULL)};
    assert_true(fixture->gpus && fixture->presets);
    const struct gang_machine_settings settings = {.release_milliseconds = 60000,
                                                   .retry_milliseconds = 30000,
                                                   .settle_milliseconds = UINT64_MAX,
                                                   .view = {.presets = fixture->presets,
                                                            .gpus = fixture->gpus,
                                                            .keys = fabric_label_keys_default()}};
    fixture->machine = gang_machine_create(&settings, NULL);
    assert_non_null(fixture->machine);
    gang_machine_lead(fixture->machine, true);
    gang_machine_begin_list(fixture->machine, LIST_NODES);
    machine_fixture_set_node(fixture, "n1", true);
    machine_fixture_set_node(fixture, "n2", true);
    assert_int_equal(gang_machine_end_list(fixture->machine, LIST_NODES), 0);
    gang_machine_begin_list(fixture->machine, LIST_PODS);
    assert_int_equal(gang_machine_end_list(fixture->machine, LIST_PODS), 0);
}

void machine_fixture_done(struct machine_fixture *fixture)
{
    gang_machine_free(fixture->machine);
    gpu_catalogue_free(fixture->gpus);
    preset_catalogue_free(fixture->presets);
}

static const char *or_else(const char *text, const char *other) { return text ? text : other; }

static void write_owner(const struct pod_words *words, struct text_buffer *out)
{
    if (words->job)
        text_buffer_add(out,
                        ",\"ownerReferences\":[{\"kind\":\"%s\",\"name\":\"%s\",\"uid\":\"o-%s\","
                        "\"controller\":true}]",
                        or_else(words->kind, "Job"), words->job, words->job);
}

static void write_gang(const struct pod_words *words, struct text_buffer *out)
{
    const char *key = words->job ? "batch.kubernetes.io/job-completion-index" : "parplan.io/index";
    text_buffer_add(out, ",\"resourceVersion\":\"%s\",\"labels\":{\"parplan.io/gang\":\"%s\"}",
                    or_else(words->version, "1"), words->gang);
    text_buffer_add(out, ",\"annotations\":{\"parplan.io/size\":\"%s\",\"%s\":\"%s\"%s}",
                    or_else(words->size, "2"), or_else(words->index_key, key),
                    or_else(words->index, "0"), or_else(words->annotations, ""));
}

/* Text of a Pod; a gang's has what the words say, any other only GPUs. */
static void write_pod(const struct pod_words *words, struct text_buffer *out)
{
    text_buffer_add(out, "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"d\",\"uid\":\"u-%s\"",
                    words->name, words->name);
    if (words->created)
        text_buffer_add(out, ",\"creationTimestamp\":\"%s\"", words->created);
    write_owner(words, out);
    if (words->gang)
        write_gang(words, out);
    text_buffer_add(out,
                    "},\"spec\":{%s\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":{"
                    "\"nvidia.com/gpu\":\"%u\"}}}]},\"status\":{\"phase\":\"%s\"}}",
                    words->gang ? or_else(words->spec, "") : "", words->gpus ? words->gpus : 8,
                    or_else(words->phase, "Pending"));
}

struct pod_record *machine_fixture_pod_of(const struct pod_words *words)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, 4096);
    write_pod(words, &text);
    assert_false(text_buffer_failed(&text));
    struct pod_record *pod = pod_record_parse(text_buffer_text(&text), text.length, &err);
    if (!pod)
        fail_msg("%s: %s", err.text, text_buffer_text(&text));
    return pod;
}

void machine_fixture_set_pod(struct machine_fixture *fixture, const struct pod_words *words)
{
    assert_int_equal(gang_machine_set_pod(fixture->machine, machine_fixture_pod_of(words)), 0);
}

/* Carries out all that is to be done but patches; stops at the first patch or deletion, which it
 * answers as done, and returns its kind. */
enum gang_task_kind machine_fixture_run(struct machine_fixture *fixture)
{
    for (unsigned turn = 0; turn < 100; turn++) {
        struct gang_task task;
        assert_int_equal(gang_machine_next(fixture->machine, &task), 0);
        enum gang_task_kind kind = task.kind;
        if (kind == TASK_NONE)
            return TASK_NONE;
        if (kind == TASK_EVENT)
            snprintf(fixture->said + strlen(fixture->said),
                     sizeof(fixture->said) - strlen(fixture->said), "%s: %s\n", task.reason,
                     task.message);
        if (kind == TASK_PLAN) {
            struct gang_plan *plan = fixture->no_spare ? fake_planner_no_spare(task.problem)
                                                       : fake_planner_plan(task.problem);
            assert_non_null(plan);
            assert_int_equal(gang_machine_planned(fixture->machine, task.problem, plan), 0);
        }
        fixture->services += kind == TASK_SERVICE;
        bool stops = kind == TASK_PATCH_POD || kind == TASK_DELETE_POD || kind == TASK_ASK_SIZE;
        if (stops) {
            snprintf(fixture->patched, sizeof(fixture->patched), "%s", task.pod);
            snprintf(fixture->node, sizeof(fixture->node), "%s", task.node ? task.node : "");
            fixture->released = task.release;
            fixture->annotations[0] = '\0';
            for (size_t i = 0; i < task.annotations.count; i++) {
                assert_true(gang_annotation_is_output(task.annotations.labels[i].key));
                snprintf(fixture->annotations + strlen(fixture->annotations),
                         sizeof(fixture->annotations) - strlen(fixture->annotations),
                         ",\"%s\":\"%s\"", task.annotations.labels[i].key,
                         task.annotations.labels[i].value);
            }
        }
        assert_int_equal(gang_machine_finished(fixture->machine, &task, TASK_SUCCEEDED), 0);
        if (stops)
            return kind;
    }
    fail_msg("there is no end of tasks");
    return TASK_NONE;
}

enum answer_kind machine_fixture_ask(struct machine_fixture *fixture, const struct pod_words *words,
                                     const char *node, struct gang_answer *ret)
{
    static bool passes[1];
    CLEANUP(pod_record) struct pod_record *pod = machine_fixture_pod_of(words);
    gang_answer_filter(fixture->machine, &policy_default, pod, &node, 1, passes, ret);
    return ret->kind;
}

void machine_fixture_expect_placed(struct machine_fixture *fixture, const char *pod,
                                   const char *node)
{
    assert_int_equal(machine_fixture_run(fixture), TASK_PATCH_POD);
    assert_string_equal(fixture->patched, pod);
    assert_string_equal(fixture->node, node);
}

void machine_fixture_expect_said(const struct machine_fixture *fixture, const char *words)
{
    if (!strstr(fixture->said, words))
        fail_msg("'%s' is not in what was said:\n%s", words, fixture->said);
}

const char *machine_fixture_planned(const struct machine_fixture *fixture, const char *words)
{
    return strstr(fixture->annotations, words);
}

void machine_fixture_set_released(struct machine_fixture *fixture, struct released_gang *ret)
{
    ret->first = (struct pod_words){
        .name = "a", .gang = "g", .index = "0", .job = "x", .created = "2026-01-01T00:00:00Z"};
    ret->second = ret->first;
    ret->second.name = "b";
    ret->second.index = "1";
    ret->first.spec = ret->second.spec = GATE;
    machine_fixture_set_pod(fixture, &ret->first);
    machine_fixture_set_pod(fixture, &ret->second);
    assert_int_equal(machine_fixture_run(fixture), TASK_PATCH_POD);
    assert_non_null(machine_fixture_planned(fixture, "nodes=n[1-2]"));
    snprintf(ret->outputs, sizeof(ret->outputs), "%s%s", fixture->annotations, RELEASED("n1"));
    ret->first.annotations = ret->outputs;
    ret->first.spec = ON("n1");
    ret->first.version = "2";
    machine_fixture_set_pod(fixture, &ret->first);
}
