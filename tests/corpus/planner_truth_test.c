/* SPDX-License-Identifier: MIT */
/*
 * planner_truth: the planner against published step times and memory peaks. Prints the mean
 * absolute error of each set, and fails when the models leave the range of sanity.
 * PLANNER_TRUTH: the folder (default ../shared/truth); PLANNER_TRUTH_ROWS=1: every row;
 * PLANNER_TRUTH_EFFICIENCIES: another efficiencies.yaml.
 */
#include "tests/support/unit_test.h"

#include "base/text_file.h"
#include "planner/memory_model.h"
#include "planner/step_time.h"
#include "tests/support/planner_fixture.h"
#include "tests/support/truth_table.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GIB 1073741824.0
#define SETS_MAXIMUM 64u
#define HEADS_MULTIPLE 8u
#define USUAL_HEAD_DIM 128u
#define USUAL_VOCABULARY 51200
#define USUAL_GATED_VOCABULARY 32000
#define SANE_TIME_ERROR 0.25
#define SANE_MEMORY_ERROR 0.25

/* How a publication's runs were made, as far as its rows do not say. */
struct publication {
    const char *set; /* prefix */
    const char *framework;
    double nic_gbit_per_gpu;
    double logits_bytes; /* 0: the profile's */
    bool checked;        /* of the plain ones that the range of sanity is asked of */
};

static const struct publication publications[] = {
    {"SC21", "megatron-deepspeed", 200, 0, true},
    {"Korthikanti", "megatron-deepspeed", 200, 0, true},
    {"vTrain", "megatron-deepspeed", 100, 0, true},
    {"BigScience-A100", "megatron-deepspeed", 50, 0, true},
    /* loss_fn: fused_crossentropy, in place on bf16 logits */
    {"llm-foundry", "fsdp2", 200, 4, true},
    {"MBridge", "nemo", 400, 0, true},
    {"torchtitan", "torchtitan", 400, 0, false},
    {"InternEvo", "megatron-core", 50, 0, false},
};

struct gpu_node {
    const char *gpu;
    double memory;
    const char *preset;
};

static const struct gpu_node gpu_nodes[] = {
    {"A100 SXM", 40, "dgx-a100-40"}, {"A100 SXM", 80, "dgx-a100-80"},
    {"H100 SXM", 80, "dgx-h100"},    {"H100 SXM (96GB HBM2e,500W)", 96, "dgx-h100"},
    {"H200", 141, "dgx-h200"},       {"B200", 180, "hgx-b200"},
    {"GB200", 186, "gb200-nvl72"},
};

struct statistics {
    const char *set;
    bool checked;
    size_t count;
    double error, bias, worst;
};

struct run {
    const struct truth_table *table;
    size_t row;
    const struct publication *publication;
    struct planner_fixture fixture;
    struct model_spec model;
    struct framework_profile profile;
    struct framework_catalogue frameworks;
    struct plan_context context;
    struct plan plan;
};

static double number(const struct run *run, const char *name, double otherwise)
{
    return truth_number(run->table, run->row, name, otherwise);
}

static const char *text(const struct run *run, const char *name)
{
    return truth_cell(run->table, run->row, name);
}

static const struct publication *publication_of(const char *set)
{
    for (size_t i = 0; i < COUNT_OF(publications); i++)
        if (strncmp(set, publications[i].set, strlen(publications[i].set)) == 0)
            return &publications[i];
    return NULL;
}

static const char *preset_of(const struct run *run)
{
    const char *best = NULL;
    double memory = number(run, "gpu_mem_gb", 80), distance = 1e9;
    for (size_t i = 0; i < COUNT_OF(gpu_nodes); i++) {
        if (strcmp(gpu_nodes[i].gpu, text(run, "gpu")) != 0)
            continue;
        if (fabs(gpu_nodes[i].memory - memory) < distance) {
            distance = fabs(gpu_nodes[i].memory - memory);
            best = gpu_nodes[i].preset;
        }
    }
    return best;
}

/* Where the source gives none: the head width nearest to 128 with heads that TP 8 divides. */
static unsigned usual_heads(unsigned hidden)
{
    unsigned best = HEADS_MULTIPLE;
    for (unsigned heads = HEADS_MULTIPLE; heads <= hidden / 16; heads += HEADS_MULTIPLE)
        if (hidden % heads == 0 && fabs((double)hidden / heads - USUAL_HEAD_DIM) <
                                       fabs((double)hidden / best - USUAL_HEAD_DIM))
            best = heads;
    return best;
}

/* Shapes that a publication names but does not list. */
static const struct model_spec named_models[] = {
    {.name = "InternLM-7B",
     .layers = 32,
     .hidden = 4096,
     .ffn = 11008,
     .heads = 32,
     .vocabulary = 103168,
     .gated_mlp = true},
};

/* The shape's plain figures; hidden 0: unknown. */
static struct model_spec shape_of(const struct run *run)
{
    for (size_t i = 0; i < COUNT_OF(named_models); i++)
        if (strcmp(text(run, "model"), named_models[i].name) == 0)
            return named_models[i];
    struct model_spec shape = {
        .name = text(run, "model"),
        .layers = (unsigned)number(run, "layers", 0),
        .hidden = (unsigned)number(run, "hidden", 0),
        .heads = (unsigned)number(run, "heads", 0),
        .gated_mlp = number(run, "gated", 0) > 0,
    };
    shape.ffn = (unsigned)number(run, "ffn", 4.0 * shape.hidden);
    shape.vocabulary =
        (unsigned)number(run, "vocab", shape.gated_mlp ? USUAL_GATED_VOCABULARY : USUAL_VOCABULARY);
    return shape;
}

static bool read_model(struct run *run)
{
    struct model_spec *model = &run->model;
    *model = shape_of(run);
    if (model->hidden == 0 || model->layers == 0 || number(run, "experts", 0) > 0)
        return false;
    if (model->heads == 0)
        model->heads = usual_heads(model->hidden);
    bool gated = model->gated_mlp;
    model->family = gated ? "llama" : "gpt2";
    model->kv_heads = (unsigned)number(run, "kv_heads", model->heads);
    model->head_dim = model->hidden / model->heads;
    model->tied_embeddings = !gated;
    model->norm = gated ? NORM_RMS : NORM_LAYER;
    model->norms_per_layer = 2;
    model->final_norm = true;
    model->qkv_bias = model->attention_output_bias = model->mlp_bias = !gated;
    return true;
}

struct word {
    const char *word;
    unsigned value;
};

/* The first whose word stands in the text. */
static unsigned word_value(const struct word *words, size_t count, const char *cell,
                           unsigned otherwise)
{
    for (size_t i = 0; i < count; i++)
        if (strstr(cell, words[i].word))
            return words[i].value;
    return otherwise;
}

static const struct word sharding_words[] = {
    {"none", SHARDING_NONE},   {"zero0", SHARDING_NONE},  {"zero1", SHARDING_ZERO1},
    {"zero2", SHARDING_ZERO2}, {"zero3", SHARDING_ZERO3}, {"fsdp", SHARDING_ZERO3},
};
static const struct word recompute_words[] = {
    {"selective", RECOMPUTE_SELECTIVE},
    {"full", RECOMPUTE_FULL},
    {"none", RECOMPUTE_NONE},
};
static const struct word precision_words[] = {
    {"fp16", PRECISION_FP16}, {"bf16", PRECISION_BF16}, {"BF16", PRECISION_BF16},
    {"FP8", PRECISION_FP8},   {"fp8", PRECISION_FP8},   {"FP4", PRECISION_COUNT},
};

/* Complete and on N; batch divisible; else the row says too little. */
static bool read_degrees(struct run *run)
{
    struct plan *plan = &run->plan;
    double gpus = number(run, "n_gpus", 0);
    struct degrees *degrees = &plan->degrees;
    *plan = (struct plan){.degrees = DEGREES_ONE};
    degrees->tp = (unsigned)number(run, "tp", 1);
    degrees->pp = (unsigned)number(run, "pp", 1);
    degrees->cp = (unsigned)number(run, "cp", 1);
    degrees->vpp = (unsigned)number(run, "vpp", 1);
    if (degrees->vpp == 0)
        degrees->vpp = 1;
    degrees->etp = degrees->tp;
    degrees->dp = (unsigned)(gpus / (degrees->tp * degrees->pp * degrees->cp));
    plan->sharding = (enum sharding)word_value(sharding_words, COUNT_OF(sharding_words),
                                               text(run, "zero_fsdp"), SHARDING_ZERO1);
    degrees->shard = plan->sharding == SHARDING_NONE ? 1 : degrees->dp;
    if (strstr(text(run, "zero_fsdp"), "within 8"))
        degrees->shard = 8;
    if (strstr(text(run, "zero_fsdp"), "within 4"))
        degrees->shard = 4;
    degrees->replicate = degrees->shard > 0 ? degrees->dp / degrees->shard : 1;
    plan->recompute = (enum recompute)word_value(recompute_words, COUNT_OF(recompute_words),
                                                 text(run, "recompute"), RECOMPUTE_NONE);
    plan->precision = (enum precision)word_value(precision_words, COUNT_OF(precision_words),
                                                 text(run, "precision"), PRECISION_BF16);
    plan->schedule = degrees->pp == 1   ? SCHEDULE_NONE
                     : degrees->vpp > 1 ? SCHEDULE_INTERLEAVED
                                        : SCHEDULE_1F1B;
    plan->micro_batch = (unsigned)number(run, "mbs", 0);
    double batch = number(run, "gbs", 0);
    if (degrees->dp == 0 || plan->micro_batch == 0 || batch <= 0 ||
        plan->precision == PRECISION_COUNT || degrees_world(degrees) != (uint64_t)gpus)
        return false;
    plan->micro_batches = (unsigned)(batch / ((double)plan->micro_batch * degrees->dp));
    return plan->micro_batches > 0;
}

/* The compiled-in ones, or those of a file under trial. */
static int replace_efficiencies(struct planner_fixture *fixture, struct error_info *err)
{
    const char *path = getenv("PLANNER_TRUTH_EFFICIENCIES");
    size_t bytes = 0;
    if (!path)
        return 0;
    CLEANUP_MEMORY char *file = text_file_read(path, (size_t)1 << 20, &bytes, err);
    efficiency_catalogue_free(fixture->efficiencies);
    fixture->efficiencies = file ? efficiency_catalogue_parse(file, bytes, path, err) : NULL;
    fixture->request.efficiencies = fixture->efficiencies;
    return fixture->efficiencies ? 0 : -1;
}

static int prepare_context(struct run *run, struct error_info *err)
{
    char cluster[64], keys[160];
    unsigned gpus = (unsigned)number(run, "n_gpus", 0);
    const char *preset = preset_of(run);
    unsigned per_node = strcmp(preset, "gb200-nvl72") == 0 ? 4 : 8;
    snprintf(cluster, sizeof(cluster), "%s:%u", preset, (gpus + per_node - 1) / per_node);
    snprintf(keys, sizeof(keys), "sequence_length=%.0f,global_batch=%.0f,precision=%s",
             number(run, "seq", 2048), number(run, "gbs", 1), precision_name(run->plan.precision));
    if (planner_fixture_init(&run->fixture, "llama2-7b", cluster, keys, err) < 0)
        return -1;
    if (replace_efficiencies(&run->fixture, err) < 0)
        return -1;
    const struct framework_profile *profile =
        framework_catalogue_find(run->fixture.frameworks, run->publication->framework, err);
    if (!profile)
        return -1;
    run->profile = *profile;
    if (run->plan.degrees.tp > 1 && *text(run, "sp") != '\0')
        run->profile.sequence_parallel = number(run, "sp", 0) > 0;
    run->profile.name = run->publication->framework;
    if (run->publication->logits_bytes > 0)
        run->profile.logits_bytes = run->publication->logits_bytes;
    run->frameworks = (struct framework_catalogue){.profiles = &run->profile, .count = 1};
    /* The kinds are the fixture's own: a slower fabric than the preset's is a figure. */
    ((struct node_topology *)run->fixture.cluster->kinds[0])->gpu_nic_bytes_per_second =
        run->publication->nic_gbit_per_gpu * 1e9 / 8;
    struct job_spec *job = run->fixture.job;
    if (job_spec_set(job, "framework", run->publication->framework, "truth", err) < 0)
        return -1;
    run->fixture.request.model = &run->model;
    run->fixture.request.frameworks = &run->frameworks;
    run->fixture.request.world = gpus;
    return plan_context_init(&run->context, &run->fixture.request, err);
}

/* false: the row is outside of what is modelled here. */
static bool prepare(struct run *run)
{
    struct error_info err = {.kind = ERROR_NONE};
    run->publication = publication_of(text(run, "set"));
    if (!run->publication || !preset_of(run) || !read_model(run) || !read_degrees(run))
        return false;
    if (prepare_context(run, &err) == 0)
        return true;
    printf("  %s: %s\n", text(run, "id"), err.text);
    return false;
}

static void finish(struct run *run)
{
    plan_context_done(&run->context);
    planner_fixture_done(&run->fixture);
}

/* SC21's hardware FLOPs: full recompute, its equation 3; BigScience's 8 P a token. */
static double published_flops(const struct run *run, double tokens)
{
    const struct model_spec *model = &run->model;
    double h = model->hidden, s = number(run, "seq", 2048), l = model->layers;
    if (strstr(text(run, "flops_kind"), "8*params"))
        return 8 * number(run, "params_b", 0) * 1e9 * tokens;
    if (strstr(text(run, "flops_kind"), "hardware"))
        return 96 * tokens * l * h * h * (1 + s / (6 * h) + model->vocabulary / (16 * l * h));
    return run->context.model_flops;
}

static double measured_seconds(const struct run *run)
{
    double seconds = number(run, "step_time_s", 0), gpus = number(run, "n_gpus", 1);
    double tokens = number(run, "gbs", 0) * number(run, "seq", 2048);
    if (seconds > 0)
        return seconds;
    double rate = number(run, "tokens_s_gpu", 0);
    if (rate > 0)
        return tokens / (rate * gpus);
    double flops = number(run, "tflops_gpu", 0);
    return flops > 0 ? published_flops(run, tokens) / (flops * 1e12 * gpus) : 0;
}

/* A published figure above the hardware's peak is a bad cell. */
static bool is_possible(const struct run *run, double seconds)
{
    double peak = run->context.peak_flops_per_second * number(run, "n_gpus", 1);
    return seconds > 0 && run->context.model_flops / seconds < peak;
}

static void record(struct statistics *sets, const struct run *run, double predicted,
                   double measured)
{
    const char *set = text(run, "set");
    bool rows = getenv("PLANNER_TRUTH_ROWS") != NULL;
    size_t i = 0;
    while (i + 1 < SETS_MAXIMUM && sets[i].set && strcmp(sets[i].set, set) != 0)
        i++;
    double error = predicted / measured - 1;
    sets[i].set = set;
    sets[i].checked = run->publication->checked;
    sets[i].count++;
    sets[i].error += fabs(error);
    sets[i].bias += error;
    if (fabs(error) > fabs(sets[i].worst))
        sets[i].worst = error;
    if (rows)
        printf("  row %s %s %s n%s tp%s pp%s v%s b%s %s %s: %.4g of %.4g, %+.1f %%\n",
               text(run, "id"), set, text(run, "model"), text(run, "n_gpus"), text(run, "tp"),
               text(run, "pp"), text(run, "vpp"), text(run, "mbs"), text(run, "recompute"),
               text(run, "precision"), predicted, measured, error * 100);
}

/* Prints the sets; the mean error over all rows of checked sets. */
static double summary(const struct statistics *sets, const char *what)
{
    double error = 0;
    size_t count = 0;
    for (size_t i = 0; i < SETS_MAXIMUM && sets[i].set; i++) {
        double n = (double)sets[i].count;
        printf("%s %-20s n %3zu  MAPE %5.1f %%  bias %+6.1f %%  worst %+6.1f %%\n", what,
               sets[i].set, sets[i].count, sets[i].error / n * 100, sets[i].bias / n * 100,
               sets[i].worst * 100);
        if (sets[i].checked) {
            error += sets[i].error;
            count += sets[i].count;
        }
    }
    double mean = count > 0 ? error / (double)count : 0;
    printf("%s checked sets: n %zu, MAPE %.1f %%\n", what, count, mean * 100);
    return mean;
}

static struct truth_table *open_table(const char *name, struct error_info *err)
{
    char path[512];
    const char *folder = getenv("PLANNER_TRUTH");
    snprintf(path, sizeof(path), "%s/%s", folder ? folder : "../shared/truth", name);
    return truth_table_read(path, err);
}

static void step_times_are_sane(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    struct statistics sets[SETS_MAXIMUM] = {{.set = NULL}};
    CLEANUP(truth_table) struct truth_table *table = open_table("training_runs.csv", &err);
    if (!table) {
        skip();
        return;
    }
    for (size_t row = 0; row < table->rows; row++) {
        struct run run = {.table = table, .row = row};
        if (prepare(&run)) {
            double measured = measured_seconds(&run);
            step_time_of(&run.context, &run.plan, &run.plan.time);
            if (is_possible(&run, measured) && run.plan.time.step_seconds > 0)
                record(sets, &run, run.plan.time.step_seconds, measured);
        }
        finish(&run);
    }
    assert_true(summary(sets, "time") < SANE_TIME_ERROR);
}

static void memory_is_sane(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    struct statistics sets[SETS_MAXIMUM] = {{.set = NULL}};
    CLEANUP(truth_table) struct truth_table *table = open_table("memory_peaks.csv", &err);
    unsigned false_fits = 0, false_misses = 0;
    if (!table) {
        skip();
        return;
    }
    for (size_t row = 0; row < table->rows; row++) {
        struct run run = {.table = table, .row = row};
        if (prepare(&run)) {
            memory_estimate_plan(&run.context, &run.plan, &run.plan.memory);
            double unit = strcmp(text(&run, "unit"), "GiB") == 0 ? GIB : 1e9;
            double measured = number(&run, "value", 0) * unit;
            bool oom = strcmp(text(&run, "status"), "OOM") == 0;
            if (oom && run.plan.memory.verdict == FIT_FITS)
                false_fits++;
            if (!oom && run.plan.memory.verdict == FIT_OOM)
                false_misses++;
            if (strcmp(text(&run, "measured"), "peak") == 0 && measured > 0)
                record(sets, &run, (double)run.plan.memory.total_bytes, measured);
            else if (getenv("PLANNER_TRUTH_ROWS"))
                printf("  fit %s %s %s %s: %s, %.1f GiB\n", text(&run, "id"), text(&run, "set"),
                       text(&run, "model"), text(&run, "status"),
                       fit_verdict_name(run.plan.memory.verdict),
                       (double)run.plan.memory.total_bytes / GIB);
        }
        finish(&run);
    }
    printf("memory: %u runs out of memory called a fit, %u runs called out of memory\n", false_fits,
           false_misses);
    assert_true(summary(sets, "memory") < SANE_MEMORY_ERROR);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(step_times_are_sane),
        cmocka_unit_test(memory_is_sane),
    };
    return unit_test_main("corpus/planner_truth", tests, COUNT_OF(tests));
}
