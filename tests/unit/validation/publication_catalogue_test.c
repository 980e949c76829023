/* SPDX-License-Identifier: MIT */
#include "tests/support/run_table.h"
#include "tests/support/unit_test.h"

#include "topology/preset_catalogue.h"
#include <string.h>

static void builtin_names_what_there_is(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(run_bench) struct run_bench bench;
    if (run_bench_init(&bench, &err) < 0) {
        fail_msg("%s", err.text);
        return;
    }
    const struct publication_catalogue *catalogue = bench.publications;
    for (size_t i = 0; i < catalogue->publication_count; i++) {
        const struct publication *row = &catalogue->publications[i];
        if (!framework_catalogue_find(bench.frameworks, row->framework, &err))
            fail_msg("%s: %s", row->set, err.text);
        assert_true(strlen(row->source) > 0 && row->network_gbit_per_gpu > 0);
    }
    for (size_t i = 0; i < catalogue->gpu_count; i++)
        if (!preset_catalogue_find(bench.presets, catalogue->gpus[i].preset))
            fail_msg("%s: no preset %s", catalogue->gpus[i].gpu, catalogue->gpus[i].preset);
    publication_catalogue_free(NULL);
}

static const char head[] = "schema: parplan.publications/1\n";
static const char good[] =
    "publications:\n"
    "  - {set: SC21, sharding: zero3, framework: a, network_gbit_per_gpu: 200, source: s}\n"
    "  - {set: SC21, framework: b, network_gbit_per_gpu: 100, source: s}\n"
    "  - {set: SC, framework: c, network_gbit_per_gpu: 50, source: s}\n"
    "  - {set: \"\", framework: d, network_gbit_per_gpu: 400, source: s}\n"
    "gpus:\n"
    "  - {gpu: A100, memory_gb: 80, preset: a80}\n"
    "  - {gpu: A100, memory_gb: 40, preset: a40}\n"
    "  - {gpu: B200, memory_gb: 180, preset: b}\n"
    "  - {gpu: GB200, memory_gb: 186, preset: gb, nvlink_gb_per_second: 900}\n";

static struct publication_catalogue *parse(const char *text, struct error_info *err)
{
    char all[2048];
    snprintf(all, sizeof(all), "%s%s", head, text);
    return publication_catalogue_parse(all, strlen(all), "p.yaml", err);
}

static void finds_the_first_that_fits(void **state)
{
    (void)state;
    static const struct {
        const char *set, *sharding, *framework;
    } rows[] = {
        {"SC21-T2", "zero3", "a"}, {"SC21-T2", "zero1", "b"}, {"SC21", "", "b"},
        {"SC22", "zero3", "c"},    {"sc21", "zero3", "d"},    {"", "", "d"},
    };
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(publication_catalogue) struct publication_catalogue *catalogue = parse(good, &err);
    if (!catalogue) {
        fail_msg("%s", err.text);
        return;
    }
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_string_equal(publication_of_set(catalogue, rows[i].set, rows[i].sharding)->framework,
                            rows[i].framework);
}

static void finds_the_longest_name_and_the_nearest_memory(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double memory_gb;
        const char *preset;
    } rows[] = {
        {"A100 SXM", 40, "a40"}, {"A100 SXM", 80, "a80"},
        {"A100", 0, "a80"},      {"NVIDIA A100", 59, "a40"},
        {"GB200", 0, "gb"},      {"HGX B200", 186, "b"},
        {"T4", 16, NULL},        {"HB200", 0, NULL},
        {"NVB200,B200", 0, "b"}, {"", 80, NULL},
    };
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(publication_catalogue) struct publication_catalogue *catalogue = parse(good, &err);
    if (!catalogue) {
        fail_msg("%s", err.text);
        return;
    }
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct publication_gpu *gpu =
            publication_gpu_of(catalogue, rows[i].text, rows[i].memory_gb);
        assert_true((gpu != NULL) == (rows[i].preset != NULL));
        if (gpu)
            assert_string_equal(gpu->preset, rows[i].preset);
    }
}

static void refuses_with_the_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"gpus: [{gpu: a, memory_gb: 1, preset: b}]\n",
         "p.yaml:1: the key publications is missing"},
        {"publications: []\ngpus: []\n",
         "p.yaml:2: publications: must be a list of 1 to 1024 mappings"},
        {"publications:\n- {set: x, framework: a, network_gbit_per_gpu: 1, source: s}\ngpus: []\n",
         "p.yaml:2: publications: the last row's set must be \"\""},
        {"publications:\n- {set: '', framework: a, network_gbit_per_gpu: 0, source: s}\ngpus: []\n",
         "p.yaml:3: publications[0].network_gbit_per_gpu: '0' is not a number from 1 to 100000"},
        {"publications:\n- {set: '', framework: a, network_gbit_per_gpu: 1, source: s}\ngpus: []\n",
         "p.yaml:4: gpus: must be a list of 1 to 1024 mappings"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        assert_null(parse(rows[i].text, &err));
        assert_string_equal(err.text, rows[i].error);
    }
    struct error_info err = {.kind = ERROR_NONE};
    assert_null(publication_catalogue_parse("schema: x/1\n", 12, "p.yaml", &err));
    assert_non_null(strstr(err.text, "parplan.publications/1"));
}

static int scenario(void *context, struct error_info *err)
{
    CLEANUP(publication_catalogue) struct publication_catalogue *catalogue = parse(context, err);
    return catalogue ? 0 : -1;
}

static void failing_memory_is_clean(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(scenario, (void *)good);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(builtin_names_what_there_is),
        cmocka_unit_test(finds_the_first_that_fits),
        cmocka_unit_test(finds_the_longest_name_and_the_nearest_memory),
        cmocka_unit_test(refuses_with_the_line),
        cmocka_unit_test(failing_memory_is_clean),
    };
    return unit_test_main("validation/publication_catalogue", tests, COUNT_OF(tests));
}
