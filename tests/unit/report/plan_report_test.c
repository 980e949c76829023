/* SPDX-License-Identifier: MIT */
#include "report/comparison/choice_report.h"
#include "report/plan_report.h"
#include "tests/support/unit_test.h"

#include <string.h>

#define GIB ((uint64_t)1 << 30)

static const struct model_spec model = {
    .name = "toy",
    .family = "llama",
    .layers = 4,
    .hidden = 64,
    .heads = 4,
    .kv_heads = 4,
    .head_dim = 16,
    .ffn = 256,
    .vocabulary = 100,
    .gated_mlp = true,
    .norms_per_layer = 2,
    .final_norm = true,
};
static const struct cluster_topology cluster = {.name = "dgx-h100:2", .node_count = 2};
static const struct training_spec training = {
    .sequence_length = 4096, .global_batch = 64, .sequence_length_is_default = true};
static const struct plan_request request = {
    .model = &model, .cluster = &cluster, .policy = &policy_default};

static const char *const first_reasons[] = {"the fastest"};
static const char *const second_reasons[] = {"20 % slower", "more traffic"};
static const struct plan plans[] = {
    {.degrees = {.tp = 8,
                 .cp = 1,
                 .ep = 1,
                 .etp = 8,
                 .pp = 2,
                 .vpp = 1,
                 .dp = 1,
                 .shard = 1,
                 .replicate = 1},
     .sharding = SHARDING_ZERO1,
     .schedule = SCHEDULE_1F1B,
     .precision = PRECISION_BF16,
     .micro_batch = 1,
     .micro_batches = 64,
     .memory = {.parts = {GIB, GIB, 3 * GIB, 2 * GIB, 0, 0, 0, GIB},
                .stage = 1,
                .total_bytes = 8 * GIB,
                .capacity_bytes = 80 * GIB,
                .tight_bytes = 736 * GIB / 10,
                .verdict = FIT_FITS},
     .time = {.parts = {1.5, 0.25, 0, 0, 0.125, 0, 0.125, 0},
              .step_seconds = 2.0,
              .bubble_fraction = 0.0625,
              .tokens_per_second = 131072,
              .tflops_per_gpu = 400,
              .mfu = 0.405},
     .reasons = first_reasons,
     .reason_count = 1},
    {.degrees = {.tp = 1,
                 .cp = 1,
                 .ep = 1,
                 .etp = 1,
                 .pp = 1,
                 .vpp = 1,
                 .dp = 16,
                 .shard = 16,
                 .replicate = 1},
     .sharding = SHARDING_ZERO3,
     .offload = OFFLOAD_CPU,
     .micro_batch = 4,
     .micro_batches = 1,
     .memory = {.total_bytes = 9 * GIB, .verdict = FIT_UNKNOWN},
     .reasons = second_reasons,
     .reason_count = 2},
};
static const struct plan_rule rules[] = {
    {.rule = "ddp-fits", .inputs = "1 GPU", .verdict = "no", .reason = "too large"},
    {.rule = "inputs", .verdict = "given"},
};
static const char *const notes[] = {"sequence_length is not given: 4096", "policy warns"};

static const struct plan_list found = {
    .plans = plans,
    .plan_count = 2,
    .pareto = plans,
    .pareto_count = 2,
    .rules = rules,
    .rule_count = 2,
    .rejected = {[REJECT_MEMORY] = 1204, [REJECT_POLICY] = 3},
    .examined = 5000,
    .notes = notes,
    .note_count = 2,
    .policy = {.result = POLICY_WARNED, .code = POLICY_TP_EXCEEDS_DOMAIN, .text = "policy warns"},
};
static const struct plan_remedy remedies[] = {{.kind = "nodes", .text = "needs 5 nodes"}};
static const struct plan_list nothing = {
    .remedies = remedies, .remedy_count = 1, .nearest = &plans[0], .rules = rules, .rule_count = 2};
static const struct plan_list none_left = {.rejected = {[REJECT_BATCH] = 7}};

static struct plan_report report_of(const struct plan_list *list)
{
    return (struct plan_report){.request = &request,
                                .training = &training,
                                .framework = "megatron-core",
                                .world = 16,
                                .gpus_per_node = 8,
                                .list = list};
}

typedef void (*write_fn)(const struct plan_report *report, const struct text_style *style,
                         struct text_buffer *out);

static void expect_words(const struct plan_list *list, write_fn write, const char *const *words)
{
    const struct text_style style = {.width = 100};
    const struct plan_report report = report_of(list);
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 1 << 20);
    write(&report, &style, &out);
    if (text_buffer_failed(&out))
        return;
    for (; *words; words++) {
        if (!strstr(text_buffer_text(&out), *words))
            fail_msg("'%s' is not in:\n%s", *words, text_buffer_text(&out));
    }
}

static void shows_the_plans(void **state)
{
    (void)state;
    static const char *const words[] = {
        "toy on dgx-h100:2\n",
        "2 nodes of 8 GPUs = 16 GPUs\n",
        "sequence 4096 (default), global batch 64\n",
        "Plans, best first (memory per GPU: 80.0 GiB)\n",
        "1  tp=8,pp=2,dp=1   zero1",
        "8.0  fits     2.00 s  40.5 %",
        "zero3     cpu",
        "unknown       ?       ?         ?",
        "!  policy warns\n",
        "-  sequence_length is not given: 4096\n",
        NULL,
    };
    expect_words(&found, plan_report_text, words);
}

static void explains_the_choice(void **state)
{
    (void)state;
    static const char *const words[] = {
        "ddp-fits  no       too large\n",
        "inputs: 1 GPU\n",
        "inputs    given\n",
        "Chosen plan: tp=8,pp=2,dp=1\n",
        "why       the fastest\n",
        "Memory per GPU on pipeline stage 1 (of 0 to 1), the fullest\n",
        "optimizer    3.0 GiB  37.5 %\n",
        "total        8.0 GiB          of 80.0 GiB: fits (tight from 73.6)\n",
        "Step time, exposed part of each\n",
        "compute  1.50 s  75.0 %\n",
        "MFU 40.5 % (400 TFLOP/s per GPU), 131 k tokens/s, pipeline bubble 6.2 %\n",
        "20 % slower\n",
        "tp=1,pp=1,dp=16  zero3     none            ?  9.0           1\n",
        "more traffic\n",
        "5,000 configurations costed; left out: policy 3, memory 1,204\n",
        NULL,
    };
    expect_words(&found, choice_report_text, words);
}

static void says_what_would_help(void **state)
{
    (void)state;
    static const char *const words[] = {
        "nothing fits: toy on dgx-h100:2: the nearest plan (tp=8,pp=2,dp=1, zero1, recompute "
        "none) needs 8.00\nGiB per GPU, it has 80.0 GiB\n",
        "What would help, nearest first\n  nodes  needs 5 nodes\n",
        NULL,
    };
    static const char *const left[] = {"nothing fits: toy on dgx-h100:2; left out: batch 7", NULL};
    expect_words(&nothing, plan_report_text, words);
    expect_words(&nothing, check_report_text, words);
    expect_words(&nothing, choice_report_text, words + 1);
    expect_words(&none_left, plan_report_text, left);
}

static void checks_one_plan(void **state)
{
    (void)state;
    static const char *const words[] = {
        "warning  policy warns\n",
        "memory   fits: 8.00 GiB of 80.0 GiB on the fullest GPU (pipeline stage 1)\n",
        "step     2.00 s, 131 k tokens/s, MFU 40.5 %\n",
        NULL,
    };
    expect_words(&found, check_report_text, words);
}

static void expect_json(struct json_value *document, const char *const *words)
{
    CLEANUP(json_value) struct json_value *owned = document;
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 1 << 20);
    if (json_value_write(owned, JSON_STYLE_COMPACT, &out, NULL) < 0)
        return; /* no memory */
    for (; *words; words++) {
        if (!strstr(text_buffer_text(&out), *words))
            fail_msg("'%s' is not in:\n%s", *words, text_buffer_text(&out));
    }
}

static void writes_documents(void **state)
{
    (void)state;
    static const char *const plan_words[] = {
        "{\"schema\":\"parplan.plan/1\",\"model\":\"toy\"",
        "\"degrees\":{\"tp\":8,\"cp\":1,\"ep\":1,\"etp\":8,\"pp\":2,\"vpp\":1,\"dp\":1,"
        "\"shard\":1,\"replicate\":1}",
        "\"stage\":1,\"total\":8589934592,\"capacity\":85899345920,\"tight_from\":79027398246,"
        "\"verdict\":\"fits\"",
        "\"capacity\":null,\"tight_from\":null,\"verdict\":\"unknown\"",
        "\"step_seconds\":2,",
        "\"step_seconds\":null",
        "\"reasons\":[\"20 % slower\",\"more traffic\"]",
        "{\"rule\":\"inputs\",\"inputs\":null,\"verdict\":\"given\",\"reason\":null}",
        "\"pareto\":[{\"degrees\":{\"tp\":8,",
        "\"policy\":{\"verdict\":\"warned\",\"code\":\"tp-within-nvlink-domain\","
        "\"text\":\"policy warns\"}",
        "\"memory\":1204",
        "\"examined\":5000",
        "\"nearest\":null",
        NULL,
    };
    static const char *const check_words[] = {
        "{\"schema\":\"parplan.check/1\"", "\"fit\":\"fits\",\"plan\":null",
        "\"remedies\":[{\"kind\":\"nodes\",\"text\":\"needs 5 nodes\"}]", "\"nearest\":{", NULL};
    static const char *const policy_words[] = {"{\"schema\":\"parplan.check/1\",\"degrees\":{",
                                               "\"fit\":\"unknown\"}", NULL};
    const struct plan_report report = report_of(&found), misfit = report_of(&nothing);
    expect_json(plan_report_json(&report), plan_words);
    expect_json(check_report_json(&misfit), check_words);
    expect_json(policy_report_json(&plans[0].degrees, &found.policy), policy_words);
}

static void shows_a_policy_verdict(void **state)
{
    (void)state;
    const struct text_style style = {.width = 100};
    const struct policy_verdict allowed = {.result = POLICY_ALLOWED};
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 10000);
    policy_report_text(&plans[0].degrees, &allowed, &style, &out);
    if (!text_buffer_failed(&out))
        assert_string_equal(text_buffer_text(&out), "  plan    tp=8,pp=2,dp=1\n"
                                                    "  policy  allowed\n"
                                                    "  memory  unknown without --model\n");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(shows_the_plans),      cmocka_unit_test(explains_the_choice),
    cmocka_unit_test(says_what_would_help), cmocka_unit_test(checks_one_plan),
    cmocka_unit_test(writes_documents),     cmocka_unit_test(shows_a_policy_verdict),
};

int main(void) { return unit_test_main("report/plan_report", tests, COUNT_OF(tests)); }
