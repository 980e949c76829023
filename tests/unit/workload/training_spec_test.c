/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"
#include "workload/training_spec.h"

static struct job_spec *new_spec(void)
{
    struct job_spec *spec = job_spec_create(NULL);
    assert_non_null(spec);
    return spec;
}

static const struct {
    const char *job;
    uint64_t world;
    unsigned sequence, batch;
    bool sequence_is_default, batch_is_default;
} rows[] = {
    {"auto", 64, 4096, 1024, true, true},
    {"sequence_length=8192", 64, 8192, 512, false, true},
    {"sequence_length=8192,global_batch=1024", 64, 8192, 1024, false, false},
    {"auto", 96, 4096, 960, true, true}, /* a multiple of N */
    {"auto", 1000, 4096, 1000, true, true},
    {"auto", 4096, 4096, 4096, true, true}, /* one sequence per rank */
    {"sequence_length=131072", 1, 131072, 32, false, true},
    {"sequence_length=134217728", 8, 134217728, 8, false, true},
    {"max_global_batch=256", 64, 4096, 256, true, true},
    {"max_global_batch=2048", 64, 4096, 1024, true, true},
    {"auto", 0, 4096, 1024, true, true},
};

static void defaults_are_filled_in_and_said(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(job_spec) struct job_spec *job = new_spec();
        struct training_spec training;
        assert_int_equal(job_spec_parse_option(job, rows[i].job, "--set", NULL), 0);
        assert_int_equal(training_spec_from_job(job, rows[i].world, &training, NULL), 0);
        assert_int_equal(training.sequence_length, rows[i].sequence);
        assert_int_equal(training.global_batch, rows[i].batch);
        assert_int_equal(training.sequence_length_is_default, rows[i].sequence_is_default);
        assert_int_equal(training.global_batch_is_default, rows[i].batch_is_default);
        assert_true(training.global_batch <= training.max_global_batch);
    }
}

static void experts_are_loaded_as_said(void **state)
{
    (void)state;
    static const struct {
        const char *keys;
        double load;
    } cases[] = {
        {"auto", 1},
        {"imbalance=2", 2},
        {"capacity_factor=1.25", 1.25},
        {"imbalance=2,capacity_factor=1.25", 1.25},
        {"imbalance=1.1,capacity_factor=1.25", 1.1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP(job_spec) struct job_spec *job = new_spec();
        struct training_spec training;
        assert_int_equal(job_spec_parse_option(job, cases[i].keys, "--set", NULL), 0);
        assert_int_equal(training_spec_from_job(job, 8, &training, NULL), 0);
        assert_true(training_expert_load(&training) == cases[i].load);
    }
    struct training_spec none = {.expert_load = 0};
    assert_true(training_expert_load(&none) == 1);
}

/* Of Adam's 8 bytes; Muon leaves embedding and head, here half of the model, to Adam. */
static void optimizers_save_moments(void **state)
{
    (void)state;
    static const struct {
        const char *keys;
        double saved;
    } cases[] = {
        {"auto", 0},
        {"optimizer=adam", 0},
        {"optimizer=adam_8bit", 6},
        {"optimizer=adam_bf16", 4},
        {"optimizer=sgd", 4},
        {"optimizer=muon", 2},
    };
    const struct model_parameters counts = {.total = 100, .embedding = 30, .head = 20};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP(job_spec) struct job_spec *job = new_spec();
        struct training_spec training;
        assert_int_equal(job_spec_parse_option(job, cases[i].keys, "--set", NULL), 0);
        assert_int_equal(training_spec_from_job(job, 8, &training, NULL), 0);
        training_spec_adapt(&training, NULL, &counts);
        assert_true(training.moments_saved == cases[i].saved);
    }
}

static void precision_and_share(void **state)
{
    (void)state;
    CLEANUP(job_spec) struct job_spec *job = new_spec();
    struct training_spec training;
    assert_int_equal(training_spec_from_job(job, 8, &training, NULL), 0);
    assert_false(training.precision_given);
    assert_int_equal(training.precision, PRECISION_BF16);
    assert_true(training.trainable == 1);
    assert_int_equal(job_spec_parse_option(job, "precision=fp8,trainable=0.25", "--set", NULL), 0);
    assert_int_equal(training_spec_from_job(job, 8, &training, NULL), 0);
    assert_true(training.precision_given);
    assert_int_equal(training.precision, PRECISION_FP8);
    assert_true(training.trainable == 0.25);
}

static const struct {
    const char *job;
    double trainable;
    unsigned rank, mtp_layers;
} trained[] = {
    {"auto", 1, 0, 0},
    {"trainable=1,mtp=2", 1, 0, 2},
    {"trainable=frozen", 0, 0, 0},
    {"trainable=lora", 41943040 / 8030261248.0, 16, 0},
    {"trainable=lora:64", 4 * 41943040 / 8030261248.0, 64, 0},
};

/* Llama-3-8B: 8,030,261,248 parameters, 41,943,040 adapters of rank 16. */
static void adapters_are_a_share_of_the_model(void **state)
{
    (void)state;
    CLEANUP(model_catalogue) struct model_catalogue *models = model_catalogue_builtin(NULL);
    assert_non_null(models);
    const struct model_spec *model = model_catalogue_find(models, "llama3-8b", NULL);
    for (size_t i = 0; i < COUNT_OF(trained); i++) {
        CLEANUP(job_spec) struct job_spec *job = new_spec();
        struct training_spec training;
        struct model_parameters counts;
        assert_int_equal(job_spec_parse_option(job, trained[i].job, "--set", NULL), 0);
        assert_int_equal(training_spec_from_job(job, 8, &training, NULL), 0);
        assert_int_equal(model_parameters_count(model, &counts, NULL), 0);
        training_spec_adapt(&training, model, &counts);
        assert_true(training.trainable == trained[i].trainable);
        assert_int_equal(training.lora_rank, trained[i].rank);
        assert_int_equal(training.mtp_layers, trained[i].mtp_layers);
    }
}

static void a_batch_over_its_maximum_is_refused(void **state)
{
    (void)state;
    CLEANUP(job_spec) struct job_spec *job = new_spec();
    struct training_spec training;
    struct error_info err = {0};
    assert_int_equal(job_spec_set(job, "global_batch", "2048", "job.yaml:3", NULL), 0);
    assert_int_equal(job_spec_set(job, "max_global_batch", "1024", "--set", NULL), 0);
    assert_int_equal(training_spec_from_job(job, 8, &training, &err), -1);
    assert_string_equal(
        err.text,
        "job.yaml:3: global_batch: 2048 is more than max_global_batch=1024 (--set); use less");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_filled_in_and_said),
        cmocka_unit_test(experts_are_loaded_as_said),
        cmocka_unit_test(optimizers_save_moments),
        cmocka_unit_test(precision_and_share),
        cmocka_unit_test(adapters_are_a_share_of_the_model),
        cmocka_unit_test(a_batch_over_its_maximum_is_refused),
    };
    return unit_test_main("workload/training_spec", tests, COUNT_OF(tests));
}
