/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"
#include "workload/framework_profile.h"

#include <string.h>

/* Bytes per parameter that one rank holds unsharded, and what each says of ZeRO under
 * pipeline parallelism: none, zero1, zero2, zero3, hsdp. */
static const struct {
    const char *name;
    double bytes;
    const char *pipeline; /* r: recommended, a: allowed, n: refused */
} profiles[] = {
    {"megatron-core", 18, "araaa"},
    {"nemo", 16, "araaa"},
    {"megatron-deepspeed", 18, "arnnn"},
    {"deepspeed", 16, "arnnn"},
    {"fsdp2", 16, "araaa"},
    {"torchtitan", 16, "araaa"},
    {"megatron-lm-2021", 18, "arnnn"},
    {"llm-foundry", 16, "araaa"},
    {"internevo", 26, "araaa"},
    {"deepspeed-2021", 16, "arnnn"},
};

static void builtin_profiles(void **state)
{
    (void)state;
    struct error_info err = {0};
    CLEANUP(framework_catalogue)
    struct framework_catalogue *catalogue = framework_catalogue_builtin(&err);
    if (!catalogue)
        fail_msg("%s", err.text);
    assert_int_equal(catalogue->count, COUNT_OF(profiles));
    for (size_t i = 0; i < COUNT_OF(profiles); i++) {
        const struct framework_profile *profile =
            framework_catalogue_find(catalogue, profiles[i].name, NULL);
        assert_non_null(profile);
        assert_true(profile->parameter_bytes + profile->gradient_bytes + profile->optimizer_bytes ==
                    profiles[i].bytes);
        assert_true(profile->constant_bytes > 0 && strlen(profile->source) > 0);
        for (unsigned j = 0; j < SHARDING_COUNT; j++) {
            assert_int_equal("ran"[profile->pipeline[j]], profiles[i].pipeline[j]);
            assert_true(strlen(profile->pipeline_reason[j]) > 0);
        }
    }
}

static void the_default_and_the_unknown(void **state)
{
    (void)state;
    struct error_info err = {0};
    CLEANUP(framework_catalogue)
    struct framework_catalogue *catalogue = framework_catalogue_builtin(NULL);
    assert_non_null(catalogue);
    assert_string_equal(framework_catalogue_find(catalogue, NULL, NULL)->name, "megatron-core");
    assert_null(framework_catalogue_find(catalogue, "jax", &err));
    assert_string_equal(err.text, "framework: \"jax\" is not one of megatron-core, nemo, "
                                  "megatron-deepspeed, deepspeed, fsdp2, torchtitan, "
                                  "megatron-lm-2021, llm-foundry, internevo, deepspeed-2021");
}

#define SCHEMA "schema: parplan.frameworks/1\nframeworks:\n"
#define START                                                                                      \
    "  - {name: x, title: X, source: s, parameter_bytes: 2, gradient_bytes: 4, "                   \
    "optimizer_bytes: 12, logits_bytes: 10, constant_bytes: 2GiB, fragmentation: 0, "              \
    "sequence_parallel: true, overlap_gather: 0, overlap_tp: 0, overlap_pp: 0, "                   \
    "overlap_cp: 0, overlap_ep: 0, "
#define VERDICT "{verdict: allowed, reason: r}"
#define PIPELINE                                                                                   \
    "pipeline: {none: " VERDICT ", zero1: " VERDICT ", zero2: " VERDICT ", zero3: " VERDICT
#define WHOLE SCHEMA START "overlap_dp: 0.5, " PIPELINE ", hsdp: " VERDICT "}}\n"

static struct framework_catalogue *parse(const char *text, struct error_info *err)
{
    return framework_catalogue_parse(text, strlen(text), "frameworks.yaml", err);
}

static const struct {
    const char *text, *part; /* of the message */
} invalid[] = {
    {"schema: parplan.models/1\n", "parplan.frameworks/1"},
    {"schema: parplan.frameworks/1\n", "frameworks"},
    {"schema: parplan.frameworks/1\nframeworks: []\n", "needs a list of 1 to 64 frameworks"},
    {SCHEMA "  - {name: x}\n", "title"},
    {SCHEMA START "device_connections: 33, overlap_dp: 0.5, " PIPELINE "}}\n",
     "device_connections"},
    {SCHEMA START "overlap_dp: 1.5, " PIPELINE ", hsdp: " VERDICT "}}\n", "overlap_dp"},
    {SCHEMA START "overlap_dp: 0.5, " PIPELINE "}}\n", "hsdp"},
    {SCHEMA START "overlap_dp: 0.5, " PIPELINE ", hsdp: {verdict: maybe, reason: r}}}\n",
     "verdict"},
    {SCHEMA START "overlap_dp: 0.5, " PIPELINE ", hsdp: {verdict: refused}}}\n", "reason"},
    {SCHEMA START "overlap_dp: 0.5, " PIPELINE ", hsdp: refused}}\n", "hsdp"},
    {SCHEMA START "overlap_dp: 0.5, pipeline: x}\n", "pipeline"},
};

static void bad_files_name_the_field(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(invalid); i++) {
        struct error_info err = {0};
        assert_null(parse(invalid[i].text, &err));
        if (!strstr(err.text, invalid[i].part))
            fail_msg("\"%s\" lacks \"%s\"", err.text, invalid[i].part);
    }
}

static int parse_scenario(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(framework_catalogue) struct framework_catalogue *catalogue = parse(WHOLE, err);
    return catalogue ? 0 : -1;
}

static void fails_cleanly_without_memory(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(parse_scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builtin_profiles),
        cmocka_unit_test(the_default_and_the_unknown),
        cmocka_unit_test(bad_files_name_the_field),
        cmocka_unit_test(fails_cleanly_without_memory),
    };
    return unit_test_main("workload/framework_profile", tests, COUNT_OF(tests));
}
