/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"
#include "workload/job/job_bounds.h"

#include <string.h>

static struct job_spec *new_spec(void)
{
    struct job_spec *spec = job_spec_create(NULL);
    assert_non_null(spec);
    return spec;
}

/* All bounds, in the table's order. */
static void say(const struct job_spec *spec, char *out, size_t bytes)
{
    size_t used = 0;
    out[0] = '\0';
    for (unsigned i = 0; i < JOB_KEY_COUNT; i++) {
        char text[JOB_BOUNDS_TEXT_BYTES];
        job_bounds_text(spec, (enum job_key)i, text);
        if (text[0] != '\0')
            used += (size_t)snprintf(out + used, bytes - used, "%s%s", used > 0 ? "," : "", text);
    }
}

static const struct {
    const char *option, *said;
} valid[] = {
    {"pp<=4", "pp<=4"},
    {"tp>=2,tp<=4", "tp>=2,tp<=4"},
    {"tp<=4,tp>=2", "tp>=2,tp<=4"},
    {"tp<=4,tp<=4", "tp<=4"},
    {"tp>=4,tp<=4", "tp>=4,tp<=4"},
    {"tp=4,tp<=4", "tp<=4"},
    {"tp>=2,tp=4", "tp>=2"},
    {"auto,model=llama3-8b,cp>=2,dp<=8", "cp>=2,dp<=8"},
    {"ep>=1,etp<=2,vpp<=3,shard>=8,micro_batch<=2", "ep>=1,etp<=2,vpp<=3,shard>=8,micro_batch<=2"},
    {"tp<=1048576", "tp<=1048576"},
};

static void bounds_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(valid); i++) {
        CLEANUP(job_spec) struct job_spec *spec = new_spec();
        struct error_info err = {0};
        char said[256];
        if (job_spec_parse_option(spec, valid[i].option, "--plan", &err) < 0)
            fail_msg("%s: %s", valid[i].option, err.text);
        say(spec, said, sizeof(said));
        assert_string_equal(said, valid[i].said);
    }
}

static const struct {
    const char *option, *text;
} invalid[] = {
    {"tp<4", "--plan: tp: \"<4\" is no bound; write tp<=4 or tp>=2"},
    {"tp<", "--plan: tp: \"<\" is no bound; write tp<=4 or tp>=2"},
    {"tp>=2>=3", "--plan: tp: '2>=3' is not a whole number from 1 to 1048576"},
    {"tp<=0", "--plan: tp: '0' is not a whole number from 1 to 1048576"},
    {"tp<=", "--plan: tp: '' is not a whole number from 1 to 1048576"},
    {"tp<=1048577", "--plan: tp: '1048577' is not a whole number from 1 to 1048576"},
    {"tp<=4,tp<=8", "--plan: tp<=8, but --plan says tp<=4; keep one of them"},
    {"tp<=4,tp>=8", "--plan: tp>=8, but --plan says tp<=4; keep one of them"},
    {"tp<=4,tp=8", "--plan: tp=8, but --plan says tp<=4; keep one of them"},
    {"tp=8,tp<=4", "--plan: tp<=4, but --plan says tp=8; keep one of them"},
    {"<=4", "--plan: \"<=4\" has no key before the '='"},
    {"global_batch<=4",
     "--plan: global_batch takes one value, no bounds; write global_batch=VALUE"},
    {"sharding>=zero1", "--plan: sharding takes one value, no bounds; write sharding=VALUE"},
};

static void what_is_no_bound_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(invalid); i++) {
        CLEANUP(job_spec) struct job_spec *spec = new_spec();
        struct error_info err = {0};
        assert_int_equal(job_spec_parse_option(spec, invalid[i].option, "--plan", &err), -1);
        assert_string_equal(err.text, invalid[i].text);
    }
}

static void job_files_have_them_in_quotes(void **state)
{
    (void)state;
    static const char text[] = "schema: parplan.job/1\ntp: \">=2,<=4\"\npp: \"<=8\"\ndp: \">=2\"\n";
    CLEANUP(job_spec) struct job_spec *spec = new_spec();
    CLEANUP(job_spec) struct job_spec *option = new_spec();
    struct error_info err = {0};
    char said[256];
    if (job_spec_parse_yaml(spec, text, sizeof(text) - 1, "job.yaml", &err) < 0 ||
        job_spec_parse_option(option, "pp=16", "--plan", &err) < 0)
        fail_msg("%s", err.text);
    say(spec, said, sizeof(said));
    assert_string_equal(said, "tp>=2,tp<=4,pp<=8,dp>=2");
    assert_int_equal(job_spec_merge_below(option, spec, &err), -1);
    assert_string_equal(err.text, "job.yaml:3: pp<=8, but --plan says pp=16; keep one of them");
}

static void what_is_within(void **state)
{
    (void)state;
    CLEANUP(job_spec) struct job_spec *spec = new_spec();
    CLEANUP(job_spec) struct job_spec *merged = new_spec();
    struct error_info err = {0};
    if (job_spec_parse_option(spec, "tp>=2,tp<=4,pp<=8", "--plan", &err) < 0 ||
        job_spec_merge_below(merged, spec, &err) < 0)
        fail_msg("%s", err.text);
    assert_true(job_bounds_given(merged, JOB_TP) && job_bounds_given(merged, JOB_PP));
    assert_false(job_bounds_given(merged, JOB_DP));
    assert_false(merged->values[JOB_TP].given);
    assert_false(job_bounds_hold(merged, JOB_TP, 1));
    assert_true(job_bounds_hold(merged, JOB_TP, 2) && job_bounds_hold(merged, JOB_TP, 4));
    assert_false(job_bounds_hold(merged, JOB_TP, 5));
    assert_true(job_bounds_hold(merged, JOB_PP, 1));
    assert_true(job_bounds_hold(merged, JOB_DP, 1000));
}

static void without_a_search_they_are_refused(void **state)
{
    (void)state;
    CLEANUP(job_spec) struct job_spec *spec = new_spec();
    struct error_info err = {0};
    if (job_spec_parse_option(spec, "tp=4,tp<=8", "--plan", &err) < 0 ||
        job_bounds_refuse(spec, &err) < 0)
        fail_msg("%s", err.text);
    if (job_spec_parse_option(spec, "pp<=4", "--parplan", &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(job_bounds_refuse(spec, &err), -1);
    assert_string_equal(err.text, "--parplan: pp<=4 bounds a search, which needs a model; name one "
                                  "with model=NAME, or give pp one value");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_are_read),
        cmocka_unit_test(what_is_no_bound_is_refused),
        cmocka_unit_test(job_files_have_them_in_quotes),
        cmocka_unit_test(what_is_within),
        cmocka_unit_test(without_a_search_they_are_refused),
    };
    return unit_test_main("workload/job_bounds", tests, COUNT_OF(tests));
}
