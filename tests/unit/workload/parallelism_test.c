/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"
#include "workload/parallelism.h"

#include "base/cleanup.h"
#include <string.h>

struct completion {
    const char *what;
    struct degrees given;
    uint64_t world;
    struct degrees want; /* shard and replicate too */
};

static const struct completion completions[] = {
    {"dp follows", {.tp = 8, .pp = 4}, 64, {8, 1, 1, 8, 4, 1, 2, 1, 2}},
    {"nothing given", {0}, 64, {1, 1, 1, 1, 1, 1, 64, 1, 64}},
    {"all given", {.tp = 8, .cp = 1, .pp = 4, .dp = 2}, 64, {8, 1, 1, 8, 4, 1, 2, 1, 2}},
    {"tp follows", {.pp = 4, .dp = 2}, 64, {8, 1, 1, 8, 4, 1, 2, 1, 2}},
    {"pp follows", {.tp = 8, .dp = 2}, 64, {8, 1, 1, 8, 4, 1, 2, 1, 2}},
    {"etp is 1 with experts", {.tp = 2, .ep = 8}, 64, {2, 1, 8, 1, 1, 1, 32, 1, 32}},
    {"etp without ep", {.tp = 4, .etp = 2}, 8, {4, 1, 1, 2, 1, 1, 2, 1, 2}},
    {"shard", {.tp = 1, .shard = 8}, 64, {1, 1, 1, 1, 1, 1, 64, 8, 8}},
    {"vpp", {.tp = 1, .pp = 8, .vpp = 4}, 8, {1, 1, 1, 1, 8, 4, 1, 1, 1}},
    {"ep over the whole of dp", {.pp = 16, .ep = 64}, 1024, {1, 1, 64, 1, 16, 1, 64, 1, 64}},
    {"largest N", {.tp = 2}, WORLD_MAXIMUM, {2, 1, 1, 2, 1, 1, 1048576, 1, 1048576}},
};

static void completes_omitted_degrees(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(completions); i++) {
        const struct completion *row = &completions[i];
        struct degrees degrees = row->given;
        struct error_info err = {0};
        if (degrees_complete(&degrees, row->world, &err) < 0)
            fail_msg("%s: %s", row->what, err.text);
        if (memcmp(&degrees, &row->want, sizeof(degrees)) != 0) {
            char text[DEGREES_TEXT_BYTES];
            degrees_text(&degrees, text);
            fail_msg("%s: %s", row->what, text);
        }
        assert_int_equal(degrees_world(&degrees), row->world);
    }
}

struct refusal {
    struct degrees given;
    uint64_t world;
    const char *text;
};

static const struct refusal refusals[] = {
    {{.tp = 8, .pp = 2, .dp = 2},
     64,
     "tp=8,pp=2,dp=2 make 32 ranks, but there are 64; use dp=4, or 32 GPUs"},
    {{.tp = 8, .cp = 1, .pp = 4, .dp = 4},
     64,
     "tp=8,cp=1,pp=4,dp=4 make 128 ranks, but there are 64; use dp=2, or 128 GPUs"},
    {{.tp = 8, .pp = 4, .dp = 4},
     64,
     "tp=8,pp=4,dp=4 make 128 ranks, but there are 64; use dp=2, or 128 GPUs"},
    {{.tp = 8, .pp = 4, .dp = 3},
     128,
     "tp=8,pp=4,dp=3 make 96 ranks, but there are 128; use dp=4, or 96 GPUs"},
    {{.pp = 4, .dp = 5}, 64, "pp=4,dp=5: needs a multiple of 20 ranks, but there are 64; use dp=4"},
    {{.tp = 12}, 64, "tp=12: needs a multiple of 12 ranks, but there are 64; use tp=4"},
    {{.tp = 8, .pp = 4}, 40, "tp=8,pp=4: needs a multiple of 32 ranks, but there are 40; use tp=2"},
    {{.tp = 8, .pp = 4}, 56, "tp=8,pp=4: needs a multiple of 32 ranks, but there are 56; use tp=2"},
    {{.tp = 8, .pp = 4, .dp = 2},
     40,
     "tp=8,pp=4,dp=2 make 64 ranks, but there are 40; use other degrees, or 64 GPUs"},
    {{.tp = 16, .pp = 8},
     64,
     "tp=16,pp=8: needs a multiple of 128 ranks, but there are 64; use tp=8"},
    {{.tp = 8, .pp = 3}, 64, "tp=8,pp=3: needs a multiple of 24 ranks, but there are 64; use pp=2"},
    {{.tp = 3, .pp = 5},
     64,
     "tp=3,pp=5: needs a multiple of 15 ranks, but there are 64; use degrees whose product divides "
     "it"},
    {{.tp = 65536, .cp = 65536, .pp = 65536, .dp = 65536},
     64,
     "tp=65536,cp=65536,pp=65536,dp=65536 make more than 2097152 ranks, but there are 64; use "
     "other degrees"},
    {{.tp = 1}, 0, "N: 0 ranks cannot be split; a job has from 1 to 2097152 GPUs that take part"},
    {{.tp = 1},
     (uint64_t)1 << 40,
     "N: 1099511627776 ranks cannot be split; a job has from 1 to 2097152 GPUs that take part"},
    {{.tp = 2000000}, 64, "tp: 2000000 is not a whole number from 1 to 1048576"},
    {{0},
     WORLD_MAXIMUM,
     "dp=2097152 would follow from 2097152 ranks, more than 1048576; give more degrees"},
    {{.tp = 8, .ep = 6},
     64,
     "ep=6,etp=1 need a stage whose ranks 6 divides, but tp*cp*dp is 64; use ep=4"},
    {{.pp = 8, .ep = 16},
     64,
     "ep=16,etp=1 need a stage whose ranks 16 divides, but tp*cp*dp is 8; use ep=8"},
    {{.tp = 1, .ep = 8, .etp = 3},
     64,
     "ep=8,etp=3 need a stage whose ranks 24 divides, but tp*cp*dp is 64; use etp=2"},
    {{.tp = 1, .ep = 3, .etp = 3},
     64,
     "ep=3,etp=3 need a stage whose ranks 9 divides, but tp*cp*dp is 64; use ep=1,etp=1"},
    {{.tp = 8, .vpp = 2}, 64, "vpp=2 needs a pipeline, but pp is 1; use pp=2 or more, or vpp=1"},
    {{.tp = 8, .shard = 6}, 64, "shard=6 does not divide dp=8; use shard=4"},
};

static void refuses_with_a_remedy(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refusals); i++) {
        struct degrees degrees = refusals[i].given;
        struct error_info err = {0};
        assert_int_equal(degrees_complete(&degrees, refusals[i].world, &err), -1);
        assert_string_equal(err.text, refusals[i].text);
        assert_int_equal(err.kind, ERROR_INPUT);
        assert_memory_equal(&degrees, &refusals[i].given, sizeof(degrees));
    }
}

static void world_is_zero_where_it_overflows(void **state)
{
    (void)state;
    struct degrees degrees = DEGREES_ONE;
    assert_int_equal(degrees_world(&degrees), 1);
    degrees.tp = degrees.cp = degrees.pp = degrees.dp = DEGREE_MAXIMUM;
    assert_int_equal(degrees_world(&degrees), 0);
    degrees.tp = degrees.cp = degrees.pp = degrees.dp = ~0u;
    assert_int_equal(degrees_world(&degrees), 0);
    degrees.tp = 0;
    assert_int_equal(degrees_world(&degrees), 0);
    degrees.etp = 0;
    assert_int_equal(degrees_edp(&degrees), 0);
}

static void expert_data_parallel_is_what_is_left(void **state)
{
    (void)state;
    struct degrees degrees = {.tp = 2, .pp = 16, .ep = 64}; /* a published DeepSeek-V3 run */
    assert_int_equal(degrees_complete(&degrees, 1024, NULL), 0);
    assert_int_equal(degrees.dp, 32);
    assert_int_equal(degrees_edp(&degrees), 1);
}

static void shard_follows_the_sharding(void **state)
{
    (void)state;
    struct degrees degrees = {.tp = 8, .pp = 4};
    struct error_info err = {0};
    assert_int_equal(degrees_complete(&degrees, 512, NULL), 0);
    assert_int_equal(degrees_set_shard(&degrees, SHARDING_ZERO1, 0, &err), 0);
    assert_int_equal(degrees.shard, 16);
    assert_int_equal(degrees.replicate, 1);
    assert_int_equal(degrees_set_shard(&degrees, SHARDING_NONE, 0, &err), 0);
    assert_int_equal(degrees.shard, 1);
    assert_int_equal(degrees_set_shard(&degrees, SHARDING_HSDP, 4, &err), 0);
    assert_int_equal(degrees.replicate, 4);
    assert_int_equal(degrees_set_shard(&degrees, SHARDING_NONE, 4, &err), -1);
    assert_string_equal(err.text,
                        "shard=4 needs a sharding, but that is none; use sharding=hsdp or "
                        "leave shard out");
    assert_int_equal(degrees.shard, 4);
}

static void text_names_what_is_not_one(void **state)
{
    (void)state;
    char text[DEGREES_TEXT_BYTES];
    struct degrees degrees = {.tp = 8, .pp = 4};
    degrees_complete(&degrees, 64, NULL);
    degrees_text(&degrees, text);
    assert_string_equal(text, "tp=8,pp=4,dp=2");
    degrees = (struct degrees){.tp = 2, .cp = 2, .ep = 8, .etp = 2, .pp = 4, .vpp = 5};
    degrees_complete(&degrees, 128, NULL);
    degrees_text(&degrees, text);
    assert_string_equal(text, "tp=2,cp=2,ep=8,etp=2,pp=4,vpp=5,dp=8");
    memset(&degrees, 0xff, sizeof(degrees));
    degrees_text(&degrees, text);
    assert_true(strlen(text) < DEGREES_TEXT_BYTES);
}

static void words_of_the_key_table(void **state)
{
    (void)state;
    assert_string_equal(sharding_name(SHARDING_HSDP), "hsdp");
    assert_string_equal(schedule_name(SCHEDULE_1F1B), "1f1b");
    assert_string_equal(recompute_name(RECOMPUTE_SELECTIVE), "selective");
    assert_string_equal(precision_name(PRECISION_FP8), "fp8");
    assert_string_equal(offload_name(OFFLOAD_NVME), "nvme");
    assert_string_equal(offload_name(OFFLOAD_COUNT), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(completes_omitted_degrees),
        cmocka_unit_test(refuses_with_a_remedy),
        cmocka_unit_test(world_is_zero_where_it_overflows),
        cmocka_unit_test(expert_data_parallel_is_what_is_left),
        cmocka_unit_test(shard_follows_the_sharding),
        cmocka_unit_test(text_names_what_is_not_one),
        cmocka_unit_test(words_of_the_key_table),
    };
    return unit_test_main("workload/parallelism", tests, COUNT_OF(tests));
}
