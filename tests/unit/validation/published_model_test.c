/* SPDX-License-Identifier: MIT */
#include "tests/support/run_table.h"
#include "tests/support/unit_test.h"

#include "validation/published_model.h"
#include <string.h>

/* The model of one row, beside the table that it borrows from. */
struct model_bench {
    struct model_catalogue *models;
    struct csv_table *table;
    struct model_spec model;
    const char *reason;
};

static void model_bench_done(struct model_bench *bench)
{
    csv_table_free(bench->table);
    model_catalogue_free(bench->models);
}
DEFINE_CLEANUP_DONE(model_bench);

/* What is tested allocates nothing, so there is nothing to torture. */
static void read_row(struct model_bench *bench, const char *row)
{
    struct error_info err = {.kind = ERROR_NONE};
    UNIT_TEST_SKIP_TORTURE();
    if (!bench->models)
        bench->models = model_catalogue_builtin(&err);
    csv_table_free(bench->table);
    bench->table = run_table_create(&row, 1, &err);
    if (!bench->models || !bench->table) {
        fail_msg("%s", err.text);
        return;
    }
    bench->reason = published_model_read(bench->table, 0, bench->models, &bench->model);
}

static void presets_are_found_by_any_spelling(void **state)
{
    (void)state;
    static const struct {
        const char *row, *name; /* NULL: no preset */
    } rows[] = {
        {"model=Qwen3_235B_a22B;layers=;hidden=", "qwen3-235b-a22b"},
        {"model=LLAMA3 70B;layers=80;hidden=8192", "llama3-70b"},
        {"model=llama3-70b;layers=;hidden=8192", "llama3-70b"},
        {"model=llama3-70b;layers=79;hidden=8192;heads=64", NULL},
        {"model=llama3-70b;layers=80;hidden=4096", NULL},
        {"model=llama3-70;layers=80;hidden=8192;heads=64", NULL},
        {"model=llama3-70bx;layers=80;hidden=8192;heads=64", NULL},
    };
    CLEANUP_DONE(model_bench) struct model_bench bench = {.models = NULL};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        read_row(&bench, rows[i].row);
        assert_null(bench.reason);
        assert_null(bench.model.arena);
        bool preset = model_catalogue_find(bench.models, bench.model.name, NULL) != NULL &&
                      bench.model.source != NULL;
        assert_true(preset == (rows[i].name != NULL));
        if (rows[i].name)
            assert_string_equal(bench.model.name, rows[i].name);
    }
}

static void shapes_become_a_llama_or_a_gpt(void **state)
{
    (void)state;
    CLEANUP_DONE(model_bench) struct model_bench bench = {.models = NULL};
    const struct model_spec *model = &bench.model;
    read_row(&bench, "heads=32;kv_heads=8");
    assert_null(bench.reason);
    assert_string_equal(model->family, "llama");
    assert_true(model->gated_mlp && !model->tied_embeddings && !model->qkv_bias);
    assert_int_equal(model->norm, NORM_RMS);
    assert_int_equal(model->kv_heads, 8);
    assert_int_equal(model->head_dim, 128);
    assert_int_equal(model->ffn, 11008);
    assert_int_equal(model->vocabulary, 32000);
    assert_int_equal(model->experts, 0);

    read_row(&bench, "gated=0;ffn=;vocab=;kv_heads=");
    assert_null(bench.reason);
    assert_string_equal(model->family, "gpt2");
    assert_true(!model->gated_mlp && model->tied_embeddings && model->qkv_bias);
    assert_int_equal(model->norm, NORM_LAYER);
    assert_int_equal(model->ffn, 4 * 4096);
    assert_int_equal(model->vocabulary, 51200);
    assert_int_equal(model->kv_heads, 32);

    read_row(&bench, "vocab=");
    assert_int_equal(model->vocabulary, 32000);
}

static void heads_are_of_the_usual_width(void **state)
{
    (void)state;
    static const struct {
        const char *row;
        unsigned heads;
    } rows[] = {
        {"heads=;kv_heads=;hidden=4096", 32},   {"heads=;kv_heads=;hidden=14400", 120},
        {"heads=;kv_heads=;hidden=2304", 16},   {"heads=;kv_heads=;hidden=64", 8},
        {"heads=48;kv_heads=;hidden=6144", 48},
    };
    CLEANUP_DONE(model_bench) struct model_bench bench = {.models = NULL};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        read_row(&bench, rows[i].row);
        assert_null(bench.reason);
        assert_int_equal(bench.model.heads, rows[i].heads);
        assert_int_equal(bench.model.kv_heads, rows[i].heads);
    }
}

static void experts_take_the_rows_width(void **state)
{
    (void)state;
    CLEANUP_DONE(model_bench) struct model_bench bench = {.models = NULL};
    read_row(&bench, "experts=8;topk=2");
    assert_null(bench.reason);
    assert_int_equal(bench.model.experts, 8);
    assert_int_equal(bench.model.experts_per_token, 2);
    assert_int_equal(bench.model.expert_ffn, 11008);
    read_row(&bench, "experts=8;topk=");
    assert_null(bench.reason);
    assert_int_equal(bench.model.experts_per_token, 1);
}

static void unknown_shapes_say_so(void **state)
{
    (void)state;
    static const struct {
        const char *row, *reason; /* part of it */
    } rows[] = {
        {"layers=", "not published"},           {"hidden=", "not published"},
        {"hidden=many", "not published"},       {"kv_heads=MLA", "latent attention"},
        {"hidden=16;heads=32", "more heads"},   {"hidden=100000000;heads=", "contradicts"},
        {"heads=32;kv_heads=5", "contradicts"}, {"layers=99999999", "contradicts"},
        {"experts=2;topk=3", "contradicts"},
    };
    CLEANUP_DONE(model_bench) struct model_bench bench = {.models = NULL};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        read_row(&bench, rows[i].row);
        if (!bench.reason || !strstr(bench.reason, rows[i].reason))
            fail_msg("%s: '%s'", rows[i].row, bench.reason ? bench.reason : "read");
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(presets_are_found_by_any_spelling),
        cmocka_unit_test(shapes_become_a_llama_or_a_gpt),
        cmocka_unit_test(heads_are_of_the_usual_width),
        cmocka_unit_test(experts_take_the_rows_width),
        cmocka_unit_test(unknown_shapes_say_so),
    };
    return unit_test_main("validation/published_model", tests, COUNT_OF(tests));
}
