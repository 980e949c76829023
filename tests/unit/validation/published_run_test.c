/* SPDX-License-Identifier: MIT */
#include "tests/support/run_table.h"
#include "tests/support/unit_test.h"

#include <string.h>

/* One bench for all rows of a test, one row at a time. */
struct reader {
    struct run_bench bench;
    struct csv_table *table;
    struct published_run run;
    const char *reason;
};

static void reader_done(struct reader *reader)
{
    csv_table_free(reader->table);
    run_bench_done(&reader->bench);
}
DEFINE_CLEANUP_DONE(reader);

/* What is tested allocates nothing, so there is nothing to torture. */
static void reader_init(struct reader *reader)
{
    struct error_info err = {.kind = ERROR_NONE};
    *reader = (struct reader){.table = NULL};
    UNIT_TEST_SKIP_TORTURE();
    if (run_bench_init(&reader->bench, &err) < 0)
        fail_msg("%s", err.text);
}

static void read_row(struct reader *reader, const char *row)
{
    struct error_info err = {.kind = ERROR_NONE};
    csv_table_free(reader->table);
    reader->table = run_table_create(&row, 1, &err);
    if (!reader->table) {
        fail_msg("%s", err.text);
        return;
    }
    bool read = published_run_read(reader->table, 0, reader->bench.publications,
                                   reader->bench.models, &reader->run, &reader->reason);
    assert_true(read == (reader->reason == NULL));
}

static void expect_read(struct reader *reader, const char *row)
{
    read_row(reader, row);
    if (reader->reason)
        fail_msg("%s: %s", row, reader->reason);
}

static void reads_the_usual_row(void **state)
{
    (void)state;
    CLEANUP_DONE(reader) struct reader reader;
    reader_init(&reader);
    expect_read(&reader, "");
    const struct published_run *run = &reader.run;
    assert_string_equal(run->id, "r");
    assert_string_equal(run->set, "Toy");
    assert_string_equal(run->model_name, "toy");
    assert_string_equal(run->preset, "dgx-a100-80");
    assert_string_equal(run->framework, "megatron-core");
    assert_string_equal(run->nic_name, "mlx5_0");
    assert_false(run->is_ethernet);
    assert_true(run->network_bytes_per_second == 25e9 && run->nvlink_bytes_per_second == 0);
    assert_int_equal(run->gpus, 64);
    assert_int_equal(run->gpus_per_node, 8);
    assert_int_equal(run->sequence_length, 4096);
    assert_int_equal(run->global_batch, 512);
    assert_true(run->sequence_parallel_given && run->sequence_parallel);
    const struct plan *plan = &run->plan;
    assert_int_equal(plan->degrees.tp, 2);
    assert_int_equal(plan->degrees.etp, 2);
    assert_int_equal(plan->degrees.pp, 2);
    assert_int_equal(plan->degrees.dp, 16);
    assert_int_equal(plan->degrees.shard, 16);
    assert_int_equal(plan->degrees.replicate, 1);
    assert_int_equal(plan->sharding, SHARDING_ZERO1);
    assert_int_equal(plan->schedule, SCHEDULE_1F1B);
    assert_int_equal(plan->recompute, RECOMPUTE_NONE);
    assert_int_equal(plan->precision, PRECISION_BF16);
    assert_int_equal(plan->micro_batch, 1);
    assert_int_equal(plan->micro_batches, 32);
    assert_true(run->step_seconds == 10 && run->tokens_per_second == 0);
    assert_int_equal(run->memory_fact, MEMORY_NO_FACT);
}

static void reads_sharding_as_it_is_written(void **state)
{
    (void)state;
    static const struct {
        const char *row;
        enum sharding sharding;
        unsigned shard, replicate;
    } rows[] = {
        {"zero_fsdp=none", SHARDING_NONE, 1, 16},
        {"zero_fsdp=DDP", SHARDING_NONE, 1, 16},
        {"zero_fsdp=", SHARDING_ZERO1, 16, 1},
        {"zero_fsdp=ZeRO2", SHARDING_ZERO2, 16, 1},
        {"zero_fsdp=zero3", SHARDING_ZERO3, 16, 1},
        {"zero_fsdp=FSDP", SHARDING_ZERO3, 16, 1},
        {"zero_fsdp=fsdp within 8 GPUs", SHARDING_HSDP, 8, 2},
        {"zero_fsdp=zero1 within 8 GPUs (hybrid)", SHARDING_ZERO1, 8, 2},
        {"zero_fsdp=zero1 within 5 GPUs", SHARDING_ZERO1, 16, 1},
        {"zero_fsdp=zero1 within a node", SHARDING_ZERO1, 16, 1},
        {"zero_fsdp=zero1 within 99999999999", SHARDING_ZERO1, 16, 1},
        {"zero_fsdp=zero1 within 0", SHARDING_ZERO1, 16, 1},
        {"zero_fsdp=HSDP within 4", SHARDING_HSDP, 4, 4},
    };
    CLEANUP_DONE(reader) struct reader reader;
    reader_init(&reader);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        expect_read(&reader, rows[i].row);
        const struct plan *plan = &reader.run.plan;
        if (plan->sharding != rows[i].sharding || plan->degrees.shard != rows[i].shard ||
            plan->degrees.replicate != rows[i].replicate)
            fail_msg("%s: sharding %d, %u x %u", rows[i].row, (int)plan->sharding,
                     plan->degrees.shard, plan->degrees.replicate);
    }
}

static void reads_words_of_the_plan(void **state)
{
    (void)state;
    static const struct {
        const char *row;
        enum recompute recompute;
        enum precision precision;
        enum schedule schedule;
    } rows[] = {
        {"recompute=full;precision=fp16", RECOMPUTE_FULL, PRECISION_FP16, SCHEDULE_1F1B},
        {"recompute=Selective;precision=FP8-CS", RECOMPUTE_SELECTIVE, PRECISION_FP8, SCHEDULE_1F1B},
        {"recompute=;precision=", RECOMPUTE_NONE, PRECISION_BF16, SCHEDULE_1F1B},
        {"precision=TF32;vpp=4", RECOMPUTE_NONE, PRECISION_FP32, SCHEDULE_INTERLEAVED},
        {"pp=1;vpp=4", RECOMPUTE_NONE, PRECISION_BF16, SCHEDULE_NONE},
        {"note=GPipe, as they say", RECOMPUTE_NONE, PRECISION_BF16, SCHEDULE_GPIPE},
    };
    CLEANUP_DONE(reader) struct reader reader;
    reader_init(&reader);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        expect_read(&reader, rows[i].row);
        assert_int_equal(reader.run.plan.recompute, rows[i].recompute);
        assert_int_equal(reader.run.plan.precision, rows[i].precision);
        assert_int_equal(reader.run.plan.schedule, rows[i].schedule);
    }
}

static void fills_the_batch_as_the_header_says(void **state)
{
    (void)state;
    static const struct {
        const char *row;
        unsigned global, micro, count;
    } rows[] = {
        {"gbs=512;mbs=4", 512, 4, 8},
        {"gbs=;mbs=2;pp=1", 64, 2, 1},               /* dp 32, one micro batch */
        {"gbs=;mbs=2", 2 * 16 * 8, 2, 8},            /* four micro batches a stage */
        {"gbs=512;mbs=;pp=1", 512, 16, 1},           /* all at once */
        {"gbs=512;mbs=", 512, 1, 32},                /* a pipeline: recipes say 1 */
        {"gbs=512;mbs=;zero_fsdp=fsdp", 512, 16, 2}, /* as many as there are stages */
        {"gbs=16;mbs=;zero_fsdp=fsdp", 16, 1, 1},
        {"gbs=500;mbs=3", 500, 3, 10},
    };
    CLEANUP_DONE(reader) struct reader reader;
    reader_init(&reader);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        expect_read(&reader, rows[i].row);
        const struct published_run *run = &reader.run;
        if (run->global_batch != rows[i].global || run->plan.micro_batch != rows[i].micro ||
            run->plan.micro_batches != rows[i].count)
            fail_msg("%s: %u = %u x %u", rows[i].row, run->global_batch, run->plan.micro_batch,
                     run->plan.micro_batches);
    }
}

static void finds_the_place(void **state)
{
    (void)state;
    static const struct {
        const char *row, *preset, *framework, *nic;
        double network;
    } rows[] = {
        {"set=SC21-T1;zero_fsdp=zero3", "dgx-a100-80", "deepspeed-2021", "mlx5_0", 25e9},
        {"set=SC21-T1;zero_fsdp=zero1", "dgx-a100-80", "megatron-lm-2021", "mlx5_0", 25e9},
        {"set=BigScience-A100;interconnect=", "dgx-a100-80", "megatron-deepspeed", "mlx5_0",
         6.25e9},
        {"interconnect=4x Omni-Path 100G", "dgx-a100-80", "megatron-core", "hfi1_0", 6.25e9},
        {"gpus_per_node=4;interconnect=4x Omni-Path 100G", "dgx-a100-80", "megatron-core", "hfi1_0",
         12.5e9},
        {"gpus_per_node=;interconnect=4x Omni-Path 100G", "dgx-a100-80", "megatron-core", "hfi1_0",
         6.25e9},
        {"gpu_mem_gb=40", "dgx-a100-40", "megatron-core", "mlx5_0", 25e9},
        {"cluster=dgx-h200;gpu=nothing known", "dgx-h200", "megatron-core", "mlx5_0", 25e9},
        {"framework=torchtitan", "dgx-a100-80", "torchtitan", "mlx5_0", 25e9},
    };
    CLEANUP_DONE(reader) struct reader reader;
    reader_init(&reader);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        expect_read(&reader, rows[i].row);
        assert_string_equal(reader.run.preset, rows[i].preset);
        assert_string_equal(reader.run.framework, rows[i].framework);
        assert_string_equal(reader.run.nic_name, rows[i].nic);
        assert_true(reader.run.network_bytes_per_second == rows[i].network);
    }
    expect_read(&reader, "gpu=A800");
    assert_true(reader.run.nvlink_bytes_per_second == 200e9);
}

static void reads_what_was_measured(void **state)
{
    (void)state;
    CLEANUP_DONE(reader) struct reader reader;
    reader_init(&reader);
    const struct published_run *run = &reader.run;
    expect_read(&reader, "step_time_s=;tokens_s_gpu=5000;tflops_gpu=150;params_b=6.7");
    assert_true(run->step_seconds == 0 && run->tokens_per_second == 5000);
    assert_true(run->flops_per_second == 150e12 && run->parameters == 6.7e9);
    assert_int_equal(run->flops_kind, FLOPS_MODEL);
    expect_read(&reader, "flops_kind=hardware(incl recompute)");
    assert_int_equal(run->flops_kind, FLOPS_HARDWARE);
    expect_read(&reader, "flops_kind=hardware (8*params)");
    assert_int_equal(run->flops_kind, FLOPS_EIGHT_PER_PARAMETER);
    expect_read(&reader, "step_time_s=2-10");
    assert_true(run->step_seconds == 0);
    expect_read(&reader, "tp=1;sp=1");
    assert_false(run->sequence_parallel_given);
    expect_read(&reader, "sp=");
    assert_false(run->sequence_parallel_given);
    expect_read(&reader, "sp=0");
    assert_true(run->sequence_parallel_given && !run->sequence_parallel);
}

static void reads_facts_about_memory(void **state)
{
    (void)state;
    static const struct {
        const char *row;
        enum memory_fact fact;
        double bytes;
        bool fragmented, allocated;
    } rows[] = {
        {"measured=peak;value=10;unit=GB", MEMORY_PEAK, 10e9, false, false},
        {"measured=peak;value=10;unit=GiB", MEMORY_PEAK, 10737418240.0, false, false},
        {"measured=peak;value=", MEMORY_NO_FACT, 0, false, false},
        {"measured=estimate;value=10", MEMORY_NO_FACT, 10e9, false, false},
        {"measured=fit/OOM", MEMORY_FITTED, 0, false, false},
        {"measured=fit/OOM;status=OOM", MEMORY_RAN_OUT, 0, false, false},
        {"measured=peak;value=9;status=oom", MEMORY_RAN_OUT, 9e9, false, false},
        {"measured=fit/OOM;status=OOM;note=by Fragmentation alone", MEMORY_RAN_OUT, 0, true, false},
        {"measured=peak;value=1;what=max allocated", MEMORY_PEAK, 1e9, false, true},
        {"measured=peak;value=1;what=torch Reserved", MEMORY_PEAK, 1e9, false, true},
        {"measured=peak;value=1;what=of a middle stage", MEMORY_NO_FACT, 1e9, false, false},
    };
    CLEANUP_DONE(reader) struct reader reader;
    reader_init(&reader);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        expect_read(&reader, rows[i].row);
        const struct published_run *run = &reader.run;
        if (run->memory_fact != rows[i].fact || run->memory_bytes != rows[i].bytes ||
            run->memory_fragmented != rows[i].fragmented ||
            run->memory_allocated != rows[i].allocated)
            fail_msg("%s: fact %d, %g bytes", rows[i].row, (int)run->memory_fact,
                     run->memory_bytes);
    }
}

static void experts_have_degrees_of_their_own(void **state)
{
    (void)state;
    CLEANUP_DONE(reader) struct reader reader;
    reader_init(&reader);
    expect_read(&reader, "experts=8;topk=2;ep=8");
    assert_int_equal(reader.run.plan.degrees.ep, 8);
    assert_int_equal(reader.run.plan.degrees.etp, 1);
    assert_int_equal(reader.run.plan.degrees.dp, 16);
}

static void skipped_rows_say_why(void **state)
{
    (void)state;
    static const struct {
        const char *row, *reason; /* part of it */
    } rows[] = {
        {"gpu=T4", "no node preset has that GPU"},
        {"layers=", "the model's shape is not published"},
        {"tp=;pp=", "tp and pp are not published"},
        {"n_gpus=", "does not divide the number of GPUs"},
        {"n_gpus=63", "does not divide the number of GPUs"},
        {"tp=128", "does not divide the number of GPUs"},
        {"tp=3999999999;pp=3999999999;cp=3999999999", "does not divide the number of GPUs"},
        {"n_gpus=131073", "more GPUs than"},
        {"n_gpus=4000000000", "does not divide the number of GPUs"}, /* no number of ours */
        {"experts=8;topk=2;ep=5", "ep does not divide"},
        {"gbs=;mbs=", "neither global nor micro batch"},
        {"gbs=15", "smaller than micro batch * dp"},
        {"gbs=16777217", "the global batch is larger"},
        {"gbs=;mbs=134217728;pp=4;tp=1", "the global batch is larger"}, /* 2^31 * dp * 16 */
        {"mbs=3999999999", "smaller than micro batch * dp"},
        {"precision=nvfp4", "FP4"},
    };
    CLEANUP_DONE(reader) struct reader reader;
    reader_init(&reader);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        read_row(&reader, rows[i].row);
        if (!reader.reason || !strstr(reader.reason, rows[i].reason))
            fail_msg("%s: '%s'", rows[i].row, reader.reason ? reader.reason : "read");
        assert_string_equal(reader.run.id, "r");
    }
}

static const struct {
    const char *header;
    enum published_table kind;
    const char *message; /* NULL: fine */
} headers[] = {
    {"set,layers,cluster,n_gpus,tokens_s_gpu\n", PUBLISHED_RUNS, NULL},
    {"id,model,gpu,n_gpus,tflops_gpu\n", PUBLISHED_RUNS, NULL},
    {"id,model,gpu,n_gpus,status\n", PUBLISHED_MEMORY, NULL},
    {"{}\n", PUBLISHED_RUNS,
     "t.csv: no table of runs: it has no column id or set; model; gpu; n_gpus; step_time_s, "
     "tokens_s_gpu or tflops_gpu"},
    {"id,model,gpu,step_time_s\n", PUBLISHED_RUNS, "no column n_gpus ("},
    {"id,model,gpu,n_gpus,step_time_s\n", PUBLISHED_MEMORY, "no column measured or status ("},
};

static void a_table_must_have_columns_of_use(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(headers); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        const char *header = headers[i].header, *message = headers[i].message;
        CLEANUP(csv_table)
        struct csv_table *table = csv_table_parse(header, strlen(header), "t.csv", &err);
        if (!table)
            return; /* out of memory */
        assert_int_equal(published_runs_check(table, headers[i].kind, &err), message ? -1 : 0);
        if (message && !strstr(err.text, message))
            fail_msg("%zu: \"%s\" does not say %s", i, err.text, message);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_usual_row),
        cmocka_unit_test(reads_sharding_as_it_is_written),
        cmocka_unit_test(reads_words_of_the_plan),
        cmocka_unit_test(fills_the_batch_as_the_header_says),
        cmocka_unit_test(finds_the_place),
        cmocka_unit_test(reads_what_was_measured),
        cmocka_unit_test(reads_facts_about_memory),
        cmocka_unit_test(experts_have_degrees_of_their_own),
        cmocka_unit_test(skipped_rows_say_why),
        cmocka_unit_test(a_table_must_have_columns_of_use),
    };
    return unit_test_main("validation/published_run", tests, COUNT_OF(tests));
}
