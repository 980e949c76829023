/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"

#include "planner/search/model_plan.h"
#include "planner/sizes/stage_parameters.h"
#include "workload/model_spec.h"

#include <math.h>
#include <string.h>

struct bench {
    struct model_catalogue *models;
    struct model_parameters counts;
    struct training_spec training;
    struct plan plan;
    struct plan_shape shape;
    struct pipeline_layout layout;
};

static struct model_catalogue *catalogue(void)
{
    struct model_catalogue *models = model_catalogue_builtin(NULL);
    assert_non_null(models);
    return models;
}

static void bench_init(struct bench *bench, const char *name, const char *keys)
{
    CLEANUP(job_spec) struct job_spec *job = job_spec_create(NULL);
    struct error_info err = {0};
    *bench = (struct bench){.models = catalogue()};
    const struct model_spec *model = model_catalogue_find(bench->models, name, NULL);
    assert_true(job && model);
    if (job_spec_parse_option(job, keys, "--plan", &err) < 0 ||
        model_plan_from_job(model, job, &bench->plan, &err) < 0 ||
        model_parameters_count(model, &bench->counts, &err) < 0 ||
        training_spec_from_job(job, 1, &bench->training, &err) < 0)
        fail_msg("%s %s: %s", name, keys, err.text);
    training_spec_adapt(&bench->training, model, &bench->counts);
    bench->shape = (struct plan_shape){.plan = &bench->plan,
                                       .model = model,
                                       .parameters = &bench->counts,
                                       .training = &bench->training};
    assert_true(pipeline_layout_of(model->layers, bench->plan.degrees.pp, bench->plan.degrees.vpp,
                                   &bench->layout));
}

static void bench_done(struct bench *bench) { model_catalogue_free(bench->models); }

static void count(const struct bench *bench, unsigned stage, struct stage_parameters *ret)
{
    assert_int_equal(stage_parameters_count(&bench->shape, &bench->layout, stage, ret, NULL), 0);
}

/* 20 layers of 150,994,944 + 704,643,072, and 129,024 rows (of 128,256) of 8192 at each end. */
static void stages_of_llama3_70b(void **state)
{
    (void)state;
    struct bench bench;
    struct stage_parameters first, second, last;
    bench_init(&bench, "llama3-70b", "tp=8,pp=4");
    count(&bench, 0, &first);
    count(&bench, 1, &second);
    count(&bench, 3, &last);
    assert_int_equal(second.whole[PARAMETERS_TENSOR], 20ull * 855638016);
    assert_int_equal(second.rank[PARAMETERS_TENSOR], 20ull * 855638016 / 8);
    assert_int_equal(second.whole[PARAMETERS_REPLICATED], 20 * 16384);
    assert_int_equal(second.padding, 0);
    assert_int_equal(first.whole[PARAMETERS_TENSOR] - second.whole[PARAMETERS_TENSOR],
                     129024ull * 8192);
    assert_int_equal(first.padding, 768 * 8192);
    assert_int_equal(last.whole[PARAMETERS_TENSOR], first.whole[PARAMETERS_TENSOR]);
    assert_int_equal(last.rank[PARAMETERS_REPLICATED], 20 * 16384 + 8192);
    bench_done(&bench);
}

struct law_case {
    const char *model, *keys;
    unsigned tables; /* beyond those of the model: copies of a tied table */
};

static const struct law_case laws[] = {
    {"llama3-8b", "auto", 0},
    {"llama3-70b", "tp=8,pp=8,vpp=2", 0},
    {"gpt2-xl", "tp=5,pp=3", 1},
    {"gemma-2b", "pp=2", 1},
    {"bloom", "tp=8,pp=12", 1},
    {"mixtral-8x7b", "tp=2,ep=8,pp=2", 0},
    {"mixtral-8x22b", "tp=8,ep=2,etp=4,pp=4", 0},
    {"deepseek-v2", "tp=4,ep=8,pp=4", 0},
    {"deepseek-v3", "tp=2,ep=64,pp=16", 0},
    {"deepseek-v3", "tp=2,ep=64,pp=16,mtp=1,trainable=lora:8", 0},
    {"gpt-oss-20b", "tp=4,ep=8,pp=4,trainable=0.5", 0},
};

/* Stages together hold the model, padding aside, and a rank what the planner says it does. */
static void check_law(const struct law_case *law)
{
    struct bench bench;
    uint64_t sum = 0;
    bench_init(&bench, law->model, law->keys);
    const struct model_spec *model = bench.shape.model;
    for (unsigned stage = 0; stage < bench.layout.pp; stage++) {
        struct stage_parameters stage_counts;
        struct rank_parameters rank, trained;
        count(&bench, stage, &stage_counts);
        for (unsigned class = 0; class < PARAMETER_CLASS_COUNT; class ++)
            sum += stage_counts.whole[class];
        sum -= stage_counts.padding;
        rank_stage_parameters(&bench.shape, &bench.layout, stage, &rank);
        rank_trained_parameters(&bench.shape, &bench.layout, stage, &rank, &trained);
        uint64_t dense =
            stage_counts.rank[PARAMETERS_TENSOR] + stage_counts.rank[PARAMETERS_REPLICATED];
        assert_true(fabs((double)dense - rank.dense) < 1);
        assert_true(fabs((double)stage_counts.rank[PARAMETERS_EXPERT] - rank.expert) < 1);
        assert_true(fabs((double)stage_counts.trained - trained.dense - trained.expert) < 1);
    }
    uint64_t extra = (uint64_t)law->tables * model->vocabulary * model->hidden;
    if (bench.training.mtp_layers > 0)
        extra += bench.counts.moe_layer + 2ull * 7168 * 7168 + 3 * 7168 + 129280ull * 7168;
    if (sum != bench.counts.total + extra)
        fail_msg("%s %s: %llu, not %llu", law->model, law->keys, (unsigned long long)sum,
                 (unsigned long long)(bench.counts.total + extra));
    bench_done(&bench);
}

static void stages_hold_the_model(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(laws); i++)
        check_law(&laws[i]);
}

static void overflow_is_an_error(void **state)
{
    (void)state;
    struct bench bench;
    struct stage_parameters stage;
    struct error_info err = {0};
    bench_init(&bench, "llama3-8b", "pp=2");
    bench.counts.dense_mlp = UINT64_MAX / 8;
    assert_int_equal(stage_parameters_count(&bench.shape, &bench.layout, 0, &stage, &err), -1);
    assert_string_equal(err.text,
                        "stage 0 of llama3-8b has more parameters than 64 bits can count");
    bench_done(&bench);
}

static const struct {
    const char *model, *keys, *text;
} refused[] = {
    {"llama3-70b", "tp=7", "tp=7 does not divide the 64 heads of llama3-70b; use tp=4"},
    {"llama3-70b", "tp=16", "tp=16 does not divide the 8 kv heads of llama3-70b; use tp=8"},
    {"llama3-70b", "pp=81",
     "pp=81: the 80 layers of llama3-70b do not go over that many stages; use pp=80"},
    {"llama3-70b", "pp=8,vpp=11",
     "vpp=11: the 80 layers of llama3-70b do not go over pp=8 in that many chunks; use vpp=10"},
    {"llama3-70b", "ep=2", "ep=2: llama3-70b has no experts; leave ep out"},
    {"mixtral-8x7b", "ep=3", "ep=3 does not divide the 8 experts of mixtral-8x7b; use ep=2"},
    {"mixtral-8x7b", "tp=8,ep=4,dp=1,etp=4",
     "ep=4,etp=4 need a stage whose ranks 16 divides, but tp*cp*dp is 8; use ep=2"},
    {"llama3-8b", "tp=8,precision=fp8",
     "--plan: precision changes no parameter count; leave it out here"},
    {"llama3-8b", "tp>=2,pp=4", "tp has bounds, which are for a search; give it one value here"},
    {"llama3-8b", "pp=32,dp=1048576",
     "these degrees make more than 2097152 ranks; use smaller ones"},
    {"llama3-8b", "tp=1048576,cp=1048576,pp=1048576,dp=1048576",
     "these degrees make more than 2097152 ranks; use smaller ones"},
};

static void plans_that_do_not_go_are_refused(void **state)
{
    (void)state;
    CLEANUP(model_catalogue) struct model_catalogue *models = catalogue();
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        CLEANUP(job_spec) struct job_spec *job = job_spec_create(NULL);
        struct error_info err = {0};
        struct plan plan;
        assert_non_null(job);
        assert_int_equal(job_spec_parse_option(job, refused[i].keys, "--plan", NULL), 0);
        assert_int_equal(model_plan_from_job(model_catalogue_find(models, refused[i].model, NULL),
                                             job, &plan, &err),
                         -1);
        assert_string_equal(err.text, refused[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages_of_llama3_70b),
        cmocka_unit_test(stages_hold_the_model),
        cmocka_unit_test(overflow_is_an_error),
        cmocka_unit_test(plans_that_do_not_go_are_refused),
    };
    return unit_test_main("planner/stage_parameters", tests, COUNT_OF(tests));
}
