/* SPDX-License-Identifier: MIT */
/* admission_wire and pod_admission. */
#include "k8s_extender/server/admission_wire.h"
#include "k8s_extender/server/pod_admission.h"
#include "tests/support/unit_test.h"
#include <stdio.h>
#include <string.h>

#define OUT_BYTES ((size_t)1 << 20)
#define OWN_USER "system:serviceaccount:parplan-system:parplan-extender"
#define FIELD(name, annotation)                                                                    \
    "{\"name\":\"" name "\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":"                           \
    "\"metadata.annotations['parplan.io/" annotation "']\"}}}"

static struct json_value *parse(const char *text)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct json_value *tree = json_value_parse(text, strlen(text), "test", &err);
    if (!tree)
        fail_msg("%s: %s", text, err.text);
    return tree;
}

/* --- what is added ---------------------------------------------------------------- */

static void expect_patch(const char *pod_text, const char *expected)
{
    CLEANUP(json_value) struct json_value *pod = parse(pod_text);
    CLEANUP(json_value) struct json_value *patch = pod_admission_patch(pod);
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, OUT_BYTES);
    assert_non_null(patch);
    assert_int_equal(json_value_write(patch, JSON_STYLE_COMPACT, &out, NULL), 0);
    assert_string_equal(text_buffer_text(&out), expected);
}

static void adds_gate_and_names(void **state)
{
    (void)state;
    static const struct {
        const char *pod, *patch;
    } cases[] = {
        {"{}", "[]"},
        {"{\"metadata\":{\"labels\":{\"parplan.io/gang\":\"off\"}}}", "[]"},
        {"{\"metadata\":{\"name\":\"A\",\"labels\":{\"parplan.io/"
         "gang\":\"Big_Job.1\"}},\"spec\":{}}",
         "[{\"op\":\"add\",\"path\":\"/spec/schedulingGates\",\"value\":[{\"name\":"
         "\"parplan.io/gang\"}]},{\"op\":\"add\",\"path\":\"/spec/subdomain\",\"value\":"
         "\"parplan-big-job-1\"}]"},
        {"{\"metadata\":{\"name\":\"j-0-x\",\"labels\":{\"parplan.io/gang\":\"j\"}},\"spec\":{"
         "\"schedulingGates\":[{\"name\":\"kueue.x-k8s.io/admission\"}],\"subdomain\":\"mine\"}}",
         "[{\"op\":\"add\",\"path\":\"/spec/schedulingGates/-\",\"value\":{\"name\":"
         "\"parplan.io/gang\"}},{\"op\":\"add\",\"path\":\"/spec/hostname\",\"value\":\"j-0-x\"}]"},
        {"{\"metadata\":{\"labels\":{\"parplan.io/gang\":\"j\"}},\"spec\":{\"subdomain\":\"s\","
         "\"schedulingGates\":[{\"name\":\"parplan.io/gang\"}]}}",
         "[]"},
        {"{\"metadata\":{\"labels\":{\"parplan.io/gang\":\"j\"}},\"spec\":{\"schedulingGroup\":{"
         "\"podGroupName\":\"j\"},\"hostname\":\"h\"}}",
         "[{\"op\":\"add\",\"path\":\"/spec/subdomain\",\"value\":\"parplan-j\"}]"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        expect_patch(cases[i].pod, cases[i].patch);
}

#define GATED                                                                                      \
    "\"metadata\":{\"labels\":{\"parplan.io/gang\":\"j\"}},\"spec\":{\"subdomain\":\"s\","         \
    "\"schedulingGates\":[{\"name\":\"parplan.io/gang\"}],\"containers\":"
#define ADD(path, value)                                                                           \
    "{\"op\":\"add\",\"path\":\"/spec/containers/" path "\",\"value\":" value "}"
#define LIMIT(name) "\"resources\":{\"limits\":{\"" name "\":\"8\"}}"

static void adds_variables_to_containers_with_gpus(void **state)
{
    (void)state;
    expect_patch(
        "{" GATED "[{\"name\":\"a\"},{" LIMIT("nvidia.com/gpu") "},{" LIMIT("cpu") "}]}}",
        "[" ADD(
            "1/env",
            "[" FIELD("PARPLAN_NODE_RANK", "node-rank") "," FIELD("PARPLAN_PLAN_ID", "plan-id") "," FIELD("PARPLAN_TP_RANK", "tp-rank") "," FIELD("PARPLAN_PP_RANK", "pp-rank") "," FIELD(
                "PARPLAN_DP_"
                "RANK",
                "dp-rank") "," FIELD("PARPLAN_CP_RANK",
                                     "cp-rank") "," FIELD("PARPLAN_EP_RANK",
                                                          "ep-rank") "," FIELD("MASTER_ADDR",
                                                                               "master-addr") "," FIELD("NODE_RANK",
                                                                                                        "node-rank") "," FIELD("PET_NODE_RANK",
                                                                                                                               "node-rank") "," FIELD("PET_MASTER_ADDR",
                                                                                                                                                      "master-addr") ","
                                                                                                                                                                     "{\"name\":\"MASTER_PORT\",\"value\":\"29500\"}]") "]");
    /* The user's stay. */
    expect_patch(
        "{" GATED
        "[{" LIMIT("amd.com/gpu") ",\"env\":["
                                  "{\"name\":\"PARPLAN_NODE_RANK\"},{\"name\":\"PARPLAN_PLAN_ID\"},"
                                  "{\"name\":\"PARPLAN_TP_RANK\"},{\"name\":\"PARPLAN_PP_RANK\"},"
                                  "{\"name\":\"PARPLAN_DP_RANK\"},{\"name\":\"PARPLAN_CP_RANK\"},"
                                  "{\"name\":\"PARPLAN_EP_RANK\"},{\"name\":\"MASTER_PORT\","
                                  "\"value\":\"1\"},"
                                  "{\"name\":\"NODE_RANK\",\"value\":\"7\"},{\"name\":\"PET_MASTER_"
                                  "ADDR\"}]}]}}",
        "[" ADD("0/env/-", FIELD("MASTER_ADDR", "master-addr")) "," ADD(
            "0/env/-", FIELD("PET_NODE_RANK", "node-rank")) "]");
}

static void makes_a_dns_label_of_a_gang(void **state)
{
    (void)state;
    static const struct {
        const char *gang, *label;
    } cases[] = {
        {"j", "parplan-j"},
        {"", "parplan-auto"},
        {"true", "parplan-auto"},
        {"auto", "parplan-auto"},
        {"Aa_b.C-9", "parplan-aa-b-c-9"},
        {"1234567890123456789012345678901234567890123456789012345",
         "parplan-1234567890123456789012345678901234567890123456789012345"},
        {"12345678901234567890123456789012345678901234567890123456",
         "parplan-123456789012345678901234567890123456789012345678901234x"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char label[SUBDOMAIN_BYTES];
        pod_admission_subdomain(cases[i].gang, label);
        assert_string_equal(label, cases[i].label);
    }
}

/* --- what is refused -------------------------------------------------------------- */

#define GANG "{\"metadata\":{\"labels\":{\"parplan.io/gang\":\"j\"}},\"spec\":{"
#define ANNOTATED(annotations) "{\"metadata\":{\"annotations\":{" annotations "}}}"

static void refuses_what_is_not_the_users(void **state)
{
    (void)state;
    static const struct {
        const char *pod, *old, *error; /* error NULL: allowed */
    } cases[] = {
        {"{}", NULL, NULL},
        {GANG "}}", NULL, NULL},
        {GANG "\"nodeName\":\"\"}}", NULL, NULL},
        {"{\"spec\":{\"nodeName\":\"n1\"}}", NULL, NULL},
        {GANG "\"nodeName\":\"n1\"}}", NULL,
         "a pod of a gang gets its node from parplan; take spec.nodeName out (a nodeSelector may "
         "stay)"},
        {GANG "\"resourceClaims\":[{}]}}", NULL,
         "the GPUs of spec.resourceClaims cannot be counted for a gang; ask for them in limits, as "
         "nvidia.com/gpu: 8"},
        {ANNOTATED("\"parplan.io/tp\":\"8\""), NULL, NULL},
        {ANNOTATED("\"parplan.io/node-rank\":\"0\""), NULL,
         "annotation parplan.io/node-rank is written by parplan alone; leave it as it is"},
        {ANNOTATED("\"parplan.io/plan-shape\":\"x\""), NULL,
         "annotation parplan.io/plan-shape is written by parplan alone; leave it as it is"},
        {ANNOTATED("\"parplan.io/node\":\"a\",\"parplan.io/tp\":\"1\""),
         ANNOTATED("\"parplan.io/node\":\"a\",\"parplan.io/tp\":\"2\""), NULL},
        {ANNOTATED("\"parplan.io/node\":\"a\""), ANNOTATED("\"parplan.io/node\":\"b\""),
         "annotation parplan.io/node is written by parplan alone; leave it as it is"},
        {"{}", ANNOTATED("\"parplan.io/plan\":\"b\""),
         "annotation parplan.io/plan is written by parplan alone; leave it as it is"},
        {GANG "}}", "{}",
         "the label parplan.io/gang of a pod stays as it was made; delete the pod and make "
         "another"},
        {GANG "\"nodeName\":\"n1\"}}", GANG "\"nodeName\":\"n1\"}}", NULL},
        {GANG "}}", GANG "\"schedulingGates\":[{\"name\":\"parplan.io/gang\"}]}}",
         "the scheduling gate parplan.io/gang is taken away by parplan once the whole gang has its "
         "nodes; to give the gang up, delete its pods"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(json_value) struct json_value *pod = parse(cases[i].pod);
        CLEANUP(json_value) struct json_value *old = cases[i].old ? parse(cases[i].old) : NULL;
        int result = pod_admission_check(pod, old, &err);
        assert_int_equal(result, cases[i].error ? -1 : 0);
        assert_string_equal(err.text, cases[i].error ? cases[i].error : "");
    }
}

/* --- the wire --------------------------------------------------------------------- */

#define REVIEW(request)                                                                            \
    "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":" request "}"
#define HEAD                                                                                       \
    "\"uid\":\"u-1\",\"kind\":{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Pod\"},"               \
    "\"namespace\":\"d\",\"operation\":\"CREATE\",\"userInfo\":{\"username\":"
#define ANSWER(rest)                                                                               \
    "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"response\":{\"uid\":"  \
    "\"u-1\",\"allowed\":" rest "}}"

static void answers_reviews(void **state)
{
    (void)state;
    static const struct {
        const char *question, *answer;
    } cases[] = {
        {REVIEW("{" HEAD "\"joe\"},\"object\":{},\"oldObject\":null}"), ANSWER("true")},
        {REVIEW("{" HEAD "\"joe\"},\"object\":" GANG "\"nodeName\":\"n\"}}}"),
         ANSWER("false,\"status\":{\"code\":422,\"message\":\"a pod of a gang gets its node from "
                "parplan; take spec.nodeName out (a nodeSelector may stay)\"}")},
        {REVIEW("{" HEAD "\"" OWN_USER "\"},\"object\":" GANG "\"nodeName\":\"n\"}}}"),
         ANSWER("true")},
        {REVIEW("{\"uid\":\"u-1\",\"object\":{}}"), ANSWER("true")},
        {REVIEW("{" HEAD "\"joe\"},\"object\":" GANG "\"subdomain\":\"s\"}}}"),
         ANSWER("true,\"patchType\":\"JSONPatch\",\"patch\":\""
                "W3sib3AiOiJhZGQiLCJwYXRoIjoiL3NwZWMvc2NoZWR1bGluZ0dhdGVzIiwidmFsdWUiOlt7Im5hbWUiOi"
                "JwYXJwbGFuLmlvL2dhbmcifV19XQ==\"")},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(admission_question)
        struct admission_question *question =
            admission_question_parse(cases[i].question, strlen(cases[i].question), &err);
        assert_string_equal(err.text, "");
        assert_non_null(question);
        CLEANUP_DONE(text_buffer) struct text_buffer out;
        text_buffer_init(&out, OUT_BYTES);
        pod_admission_answer(question, OWN_USER, &out);
        assert_string_equal(text_buffer_text(&out), cases[i].answer);
    }
}

static void refuses_bad_reviews(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"", "AdmissionReview: byte 0: the text ends too early"},
        {"[]", "AdmissionReview: the body is no JSON object"},
        {"{}", "AdmissionReview: apiVersion is ''; only admission.k8s.io/v1 is spoken"},
        {"{\"apiVersion\":\"admission.k8s.io/v1beta1\"}",
         "AdmissionReview: apiVersion is 'admission.k8s.io/v1beta1'; only admission.k8s.io/v1 is "
         "spoken"},
        {"{\"apiVersion\":\"admission.k8s.io/v1\"}", "AdmissionReview: there is no request"},
        {REVIEW("{}"), "AdmissionReview: request: uid has 0 bytes; 1 to 253 are possible"},
        {REVIEW("{\"uid\":1}"), "AdmissionReview: request: uid is no text"},
        {REVIEW("{\"uid\":\"u\",\"object\":[]}"), "AdmissionReview: request: object is no object"},
        {REVIEW("[]"), "AdmissionReview: request is no object"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        assert_null(admission_question_parse(cases[i].text, strlen(cases[i].text), &err));
        assert_string_equal(err.text, cases[i].error);
    }
    struct error_info err = {.kind = ERROR_NONE};
    assert_null(admission_question_parse("", ADMISSION_BODY_MAXIMUM_BYTES + 1, &err));
    assert_string_equal(err.text,
                        "AdmissionReview: 3145729 bytes are too many; at most 3145728 are taken");
    admission_question_free(NULL);
}

static void bounds_the_values(void **state)
{
    (void)state;
    enum { COUNT = 200000 };
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    UNIT_TEST_SKIP_TORTURE();
    text_buffer_init(&text, ADMISSION_BODY_MAXIMUM_BYTES);
    text_buffer_add_text(&text, "{\"a\":[");
    for (unsigned i = 0; i < COUNT; i++)
        text_buffer_add_text(&text, "{},");
    text_buffer_add_text(&text, "{}]}");
    assert_null(admission_question_parse(text_buffer_text(&text), text.length, &err));
    assert_string_equal(err.text, "AdmissionReview: byte 75003: the text has too many values; at "
                                  "most 50000 are taken");
}

static int answer_once(void *context, struct error_info *err)
{
    CLEANUP(admission_question)
    struct admission_question *question = admission_question_parse(context, strlen(context), err);
    if (!question)
        return -1;
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, OUT_BYTES);
    pod_admission_answer(question, OWN_USER, &out);
    if (text_buffer_failed(&out) || strstr(text_buffer_text(&out), "out of memory"))
        return error_set_memory(err);
    return 0;
}

static void fails_clean(void **state)
{
    (void)state;
    char text[] = REVIEW("{" HEAD "\"joe\"},\"object\":" GANG
                         "\"containers\":[{" LIMIT("nvidia.com/gpu") "}]}}}");
    unit_test_expect_clean_failures(answer_once, text);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(adds_gate_and_names),
    cmocka_unit_test(adds_variables_to_containers_with_gpus),
    cmocka_unit_test(makes_a_dns_label_of_a_gang),
    cmocka_unit_test(refuses_what_is_not_the_users),
    cmocka_unit_test(answers_reviews),
    cmocka_unit_test(refuses_bad_reviews),
    cmocka_unit_test(bounds_the_values),
    cmocka_unit_test(fails_clean),
};

int main(void) { return unit_test_main("k8s_extender/admission", tests, COUNT_OF(tests)); }
