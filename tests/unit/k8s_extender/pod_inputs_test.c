/* SPDX-License-Identifier: MIT */
#include "k8s_extender/gang/annotations.h"
#include "k8s_extender/placement/pod_inputs.h"
#include "tests/support/unit_test.h"

#include <string.h>

struct inputs_fixture {
    struct model_catalogue *models;
    struct admin_config *config;
};

static void open_fixture(struct inputs_fixture *ret, const char *config)
{
    struct error_info err = {.kind = ERROR_NONE};
    ret->models = model_catalogue_builtin(&err);
    ret->config = admin_config_parse(config, strlen(config), "parplan.yaml", &err);
    if (!ret->models || !ret->config) {
        model_catalogue_free(ret->models);
        admin_config_free(ret->config);
        fail_msg("%s", err.text);
    }
}

static void close_fixture(struct inputs_fixture *fixture)
{
    model_catalogue_free(fixture->models);
    admin_config_free(fixture->config);
}

struct input_case {
    struct label labels[3];
    const char *words; /* of the refusal; NULL: read */
    enum job_key key;  /* … and then what this key is, as text; NULL: not given */
    const char *value;
    const char *arguments[3];
};

#define PLAIN "schema: parplan.config/1\n"

static int read_case(const struct inputs_fixture *fixture, const struct input_case *test,
                     struct pod_inputs *ret, struct error_info *err)
{
    size_t labels = 0, arguments = 0;
    while (labels < COUNT_OF(test->labels) && test->labels[labels].key)
        labels++;
    while (arguments < COUNT_OF(test->arguments) && test->arguments[arguments])
        arguments++;
    const struct pod_inputs_request request = {.annotations = {test->labels, labels},
                                               .arguments = test->arguments,
                                               .argument_count = arguments,
                                               .config = fixture->config,
                                               .models = fixture->models};
    return pod_inputs_read(&request, ret, err);
}

static const struct input_case cases[] = {
    {{{"parplan.io/tp", "8"}}, NULL, JOB_TP, "8", {NULL}},
    {{{"parplan.io/global-batch", "64"}}, NULL, JOB_GLOBAL_BATCH, "64", {NULL}},
    {{{"parplan.io/global_batch", "64"}}, NULL, JOB_GLOBAL_BATCH, "64", {NULL}},
    {{{"parplan.io/model", "llama3-8b"}}, NULL, JOB_MODEL, "llama3-8b", {NULL}},
    {{{"parplan.io/model", "meta-llama/Llama-3.1-8B"}},
     NULL,
     JOB_MODEL,
     "meta-llama/Llama-3.1-8B",
     {NULL}},
    {{{"parplan.io/parplan", "auto"}}, NULL, JOB_TP, NULL, {NULL}},
    {{{"parplan.io/parplan", "auto,tp=8"}, {"parplan.io/tp", "8"}}, NULL, JOB_TP, "8", {NULL}},
    {{{"example.com/tp", "many"}}, NULL, JOB_TP, NULL, {NULL}},
    {{{ANNOTATION_SIZE, "16"}, {ANNOTATION_PLAN_ID, "x"}, {ANNOTATION_ON_NO_SPARE, "wait"}},
     NULL,
     JOB_TP,
     NULL,
     {NULL}},
    {{{NULL, NULL}}, NULL, JOB_TP, "4", {"train.py", "--tensor-model-parallel-size", "4"}},
    {{{"parplan.io/pp", "2"}},
     NULL,
     JOB_PP,
     "2",
     {"torchrun", "--config-file", "/etc/passwd.yaml"}},
    {{{"parplan.io/tp", "8"}},
     "tp",
     JOB_TP,
     NULL,
     {"train.py", "--tensor-model-parallel-size", "4"}},
    {{{"parplan.io/parplan", "tp=4"}, {"parplan.io/tp", "8"}},
     "annotation parplan.io/tp",
     JOB_TP,
     NULL,
     {NULL}},
    {{{"parplan.io/tp", "eight"}}, "annotation parplan.io/tp: ", JOB_TP, NULL, {NULL}},
    {{{"parplan.io/tp", ""}}, "annotation parplan.io/tp: ", JOB_TP, NULL, {NULL}},
    {{{"parplan.io/tpp", "8"}},
     "annotation parplan.io/tpp is not known; did you mean "
     "parplan.io/",
     JOB_TP,
     NULL,
     {NULL}},
    {{{"parplan.io/globl-batch", "8"}},
     "did you mean parplan.io/global_batch?",
     JOB_TP,
     NULL,
     {NULL}},
    {{{"parplan.io/sizes", "8"}}, "did you mean parplan.io/size?", JOB_TP, NULL, {NULL}},
    {{{ANNOTATION_ON_PARTIAL, "delete"}, {ANNOTATION_ON_NO_SPARE, "relax"}},
     NULL,
     JOB_TP,
     NULL,
     {NULL}},
    {{{ANNOTATION_ON_PARTIAL, "Delete"}},
     "annotation parplan.io/on-partial: 'Delete' is not one of: keep, delete",
     JOB_TP,
     NULL,
     {NULL}},
    {{{ANNOTATION_ON_NO_SPARE, ""}},
     "annotation parplan.io/on-no-spare: '' is not one of: wait, move, relax",
     JOB_TP,
     NULL,
     {NULL}},
    {{{"parplan.io/something-else-altogether", "8"}},
     "inputs are parplan.io/model",
     JOB_TP,
     NULL,
     {NULL}},
    {{{"parplan.io/parplan", "off"}}, "take its label parplan.io/gang away", JOB_TP, NULL, {NULL}},
    {{{"parplan.io/parplan", "job.yaml"}}, "'job.yaml' is a file", JOB_TP, NULL, {NULL}},
    {{{"parplan.io/parplan", "/etc/job"}}, "is a file", JOB_TP, NULL, {NULL}},
    {{{"parplan.io/parplan", "tpp=8"}}, "annotation parplan.io/parplan", JOB_TP, NULL, {NULL}},
    {{{"parplan.io/place", "slurm"}},
     "place=slurm orders the nodes of a Slurm job",
     JOB_TP,
     NULL,
     {NULL}},
    {{{"parplan.io/order", "auto"}}, "order=auto leaves open", JOB_TP, NULL, {NULL}},
    {{{"parplan.io/schedule", "1f1b"}, {"parplan.io/vpp", "2"}}, "vpp", JOB_TP, NULL, {NULL}},
    {{{"parplan.io/model", "./config.json"}},
     "no preset is called './config.json'",
     JOB_TP,
     NULL,
     {NULL}},
};

static void reads_annotations_and_flags(void **state)
{
    (void)state;
    struct inputs_fixture fixture;
    open_fixture(&fixture, PLAIN);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_DONE(pod_inputs) struct pod_inputs inputs = {.job = NULL};
        int result = read_case(&fixture, &cases[i], &inputs, &err);
        if ((result < 0) != (cases[i].words != NULL) ||
            (result < 0 && !strstr(err.text, cases[i].words)))
            fail_msg("%s=%s: '%s', not '%s'", cases[i].labels[0].key, cases[i].labels[0].value,
                     err.text, cases[i].words ? cases[i].words : "");
        if (result < 0)
            continue;
        const char *value = job_spec_text(inputs.job, cases[i].key);
        assert_int_equal(value != NULL, cases[i].value != NULL);
        if (value)
            assert_string_equal(value, cases[i].value);
        assert_int_equal(inputs.model != NULL, cases[i].key == JOB_MODEL);
    }
    close_fixture(&fixture);
}

static void defaults_are_taken_where_nothing_is_given(void **state)
{
    (void)state;
    struct inputs_fixture fixture;
    static const struct input_case none = {.words = NULL};
    static const struct input_case given = {.labels = {{"parplan.io/pp", "2"}}};
    struct error_info err = {.kind = ERROR_NONE};
    open_fixture(&fixture, PLAIN "defaults: {parplan: \"tp=8\"}\n");
    CLEANUP_DONE(pod_inputs) struct pod_inputs inputs = {.job = NULL}, other = {.job = NULL};
    assert_int_equal(read_case(&fixture, &none, &inputs, &err), 0);
    assert_int_equal(job_spec_number(inputs.job, JOB_TP, 0), 8);
    assert_int_equal(read_case(&fixture, &given, &other, &err), 0);
    assert_int_equal(job_spec_number(other.job, JOB_TP, 0), 0);
    close_fixture(&fixture);
}

static void says_what_it_reads(void **state)
{
    (void)state;
    static const char *const inputs[] = {"parplan.io/tp", "parplan.io/parplan",
                                         "parplan.io/sequence-length", "parplan.io/model"};
    static const char *const others[] = {ANNOTATION_SIZE,
                                         ANNOTATION_INDEX,
                                         ANNOTATION_PLAN,
                                         ANNOTATION_TP_RANK,
                                         "example.com/tp",
                                         "parplan.io/",
                                         "tp",
                                         "parplan.io/tp-cp-ep-dp-pp-tp-cp-ep-dp-pp-tp-cp-ep-dp"};
    for (size_t i = 0; i < COUNT_OF(inputs); i++)
        assert_true(pod_inputs_is_input(inputs[i]));
    for (size_t i = 0; i < COUNT_OF(others); i++)
        assert_false(pod_inputs_is_input(others[i]));
}

struct torture {
    struct inputs_fixture fixture;
    struct input_case test;
};

static int read_once(void *context, struct error_info *err)
{
    const struct torture *torture = context;
    CLEANUP_DONE(pod_inputs) struct pod_inputs inputs = {.job = NULL};
    return read_case(&torture->fixture, &torture->test, &inputs, err);
}

static void fails_cleanly(void **state)
{
    (void)state;
    struct torture torture = {
        .test = {.labels = {{"parplan.io/model", "llama3-8b"}, {"parplan.io/parplan", "pp=2"}},
                 .arguments = {"train.py", "--tensor-model-parallel-size", "4"}}};
    open_fixture(&torture.fixture, PLAIN);
    unit_test_expect_clean_failures(read_once, &torture);
    close_fixture(&torture.fixture);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reads_annotations_and_flags),
    cmocka_unit_test(defaults_are_taken_where_nothing_is_given),
    cmocka_unit_test(says_what_it_reads),
    cmocka_unit_test(fails_cleanly),
};

int main(void) { return unit_test_main("k8s_extender/pod_inputs", tests, COUNT_OF(tests)); }
