/* SPDX-License-Identifier: MIT */
#include "k8s_extender/placement/plan_answer.h"
#include "tests/support/gang_fixture.h"
#include "tests/support/unit_test.h"

#include <string.h>

#define TEMPLATE                                                                                   \
    "{\"metadata\":{\"labels\":{\"parplan.io/gang\":\"llama\"},\"annotations\":{\"parplan.io/"     \
    "tp\":"                                                                                        \
    "\"8\"}},\"spec\":{\"containers\":[{\"name\":\"a\",\"command\":[\"torchrun\"],\"resources\":{" \
    "\"limits\":{\"nvidia.com/gpu\":\"8\"}}}]}}"

static void reads_templates_and_pods(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"pod\":" TEMPLATE ",\"size\":16}",
        "{\"size\":16,\"pod\":{\"kind\":\"Pod\",\"metadata\":{\"name\":\"llama-0\",\"uid\":\"u\","
        "\"annotations\":{\"parplan.io/tp\":\"8\"}},\"spec\":{\"containers\":[{\"name\":\"a\","
        "\"command\":[\"torchrun\"],\"resources\":{\"limits\":{\"nvidia.com/gpu\":8}}}]},"
        "\"status\":{\"phase\":\"Running\"}}}",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_DONE(plan_question) struct plan_question question = {.pod = NULL};
        if (plan_question_parse(texts[i], strlen(texts[i]), &question, &err) < 0)
            fail_msg("%s", err.text);
        assert_int_equal(question.size, 16);
        assert_int_equal(resource_list_gpus(&question.pod->requests, NULL), 8);
        assert_string_equal(pod_record_annotation(question.pod, "parplan.io/tp"), "8");
        assert_string_equal(question.pod->arguments[0], "torchrun");
    }
}

static const struct {
    const char *text, *words;
} refused[] = {
    {"", "/plan"},
    {"[]", "no pod with a spec"},
    {"{\"size\":16}", "no pod with a spec"},
    {"{\"pod\":{\"metadata\":{}},\"size\":16}", "no pod with a spec"},
    {"{\"pod\":{\"spec\":{\"template\":" TEMPLATE "}},\"size\":16}",
     "/plan: pod is what makes pods; give the template in its spec"},
    {"{\"pod\":" TEMPLATE "}", "size has to be the gang's number of pods, 1 to 16384"},
    {"{\"pod\":" TEMPLATE ",\"size\":0}", "size has to be"},
    {"{\"pod\":" TEMPLATE ",\"size\":16385}", "size has to be"},
    {"{\"pod\":" TEMPLATE ",\"size\":\"16\"}", "size has to be"},
    {"{\"pod\":{\"spec\":{\"containers\":[{\"name\":\"a\",\"resources\":{\"limits\":{\"cpu\":\"x\"}"
     "}}]}},\"size\":16}",
     "/plan: "},
    {"{\"pod\":{\"metadata\":{\"namespace\":\"a b\"},\"spec\":{}},\"size\":1}", "/plan: "},
};

static void refuses_other_bodies(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        struct plan_question question = {.pod = NULL};
        int result = plan_question_parse(refused[i].text, strlen(refused[i].text), &question, &err);
        if (result == 0 || !strstr(err.text, refused[i].words))
            fail_msg("'%s': '%s', not '%s'", refused[i].text, err.text, refused[i].words);
        assert_null(question.pod);
    }
}

static void expect_answer(const struct gang_plan *plan, const char *expected)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, PLAN_ANSWER_MAXIMUM_BYTES);
    assert_int_equal(plan_answer_write(plan, &text, &err), 0);
    CLEANUP(json_value)
    struct json_value *root = json_value_parse(text.text, text.length, "answer", &err);
    assert_non_null(root);
    CLEANUP_DONE(text_buffer) struct text_buffer compact;
    text_buffer_init(&compact, PLAN_ANSWER_MAXIMUM_BYTES);
    assert_int_equal(json_value_write(root, JSON_STYLE_COMPACT, &compact, &err), 0);
    assert_string_equal(text_buffer_text(&compact), expected);
}

static void writes_what_was_planned(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(gang_fixture) struct gang_fixture fixture;
    assert_int_equal(gang_fixture_init(&fixture, "dgx-h100:2", NULL, 2, 8, &err), 0);
    assert_int_equal(gang_fixture_annotate(&fixture, "tp=4 pp=2", &err), 0);
    CLEANUP(gang_plan) struct gang_plan *plan = gang_fixture_plan(&fixture, &err);
    assert_non_null(plan);
    assert_int_equal(plan->outcome, GANG_PLANNED);
    snprintf(plan->reason, sizeof(plan->reason), "why");
    snprintf(plan->id, sizeof(plan->id), "0123456789abcdef");
    expect_answer(
        plan, "{\"schema\":\"parplan.gang_plan/1\",\"outcome\":\"planned\",\"reason\":\"why\","
              "\"plan_id\":\"0123456789abcdef\",\"gpus_per_pod\":8,\"order\":\"tp-cp-ep-dp-pp\","
              "\"degrees\":{\"tp\":4,\"cp\":1,\"ep\":1,\"etp\":4,\"pp\":2,\"vpp\":1,\"dp\":2,"
              "\"shard\":1,\"replicate\":2},\"pods\":[{\"index\":0,\"node\":\"n001\",\"rank\":0,"
              "\"ranks\":8,\"tp\":0,\"cp\":0,\"ep\":0,\"etp\":0,\"pp\":0,\"dp\":0},{\"index\":1,"
              "\"node\":\"n002\",\"rank\":8,\"ranks\":8,\"tp\":0,\"cp\":0,\"ep\":0,\"etp\":0,"
              "\"pp\":1,\"dp\":0}]}");
    plan->has_degrees = false;
    plan->pods = 1;
    expect_answer(plan, "{\"schema\":\"parplan.gang_plan/1\",\"outcome\":\"planned\",\"reason\":"
                        "\"why\",\"plan_id\":\"0123456789abcdef\",\"gpus_per_pod\":8,\"order\":"
                        "null,\"degrees\":null,\"pods\":[{\"index\":0,\"node\":\"n001\",\"rank\":0,"
                        "\"ranks\":8,\"tp\":null,\"cp\":null,\"ep\":null,\"etp\":null,\"pp\":null,"
                        "\"dp\":null}]}");
    plan->outcome = GANG_DENIED;
    expect_answer(plan, "{\"schema\":\"parplan.gang_plan/1\",\"outcome\":\"denied\",\"reason\":"
                        "\"why\",\"plan_id\":null,\"gpus_per_pod\":8,\"order\":null,\"degrees\":"
                        "null,\"pods\":[]}");
    assert_string_equal(gang_outcome_name(GANG_NO_FIT), "no-fit");
    assert_string_equal(gang_outcome_name(GANG_BAD_INPUT), "bad-input");
}

static int ask_once(void *context, struct error_info *err)
{
    const char *text = context;
    CLEANUP_DONE(plan_question) struct plan_question question = {.pod = NULL};
    return plan_question_parse(text, strlen(text), &question, err);
}

static void fails_cleanly(void **state)
{
    (void)state;
    static char text[] = "{\"pod\":" TEMPLATE ",\"size\":16}";
    unit_test_expect_clean_failures(ask_once, text);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reads_templates_and_pods),
    cmocka_unit_test(refuses_other_bodies),
    cmocka_unit_test(writes_what_was_planned),
    cmocka_unit_test(fails_cleanly),
};

int main(void) { return unit_test_main("k8s_extender/plan_answer", tests, COUNT_OF(tests)); }
