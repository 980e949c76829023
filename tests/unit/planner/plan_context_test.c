/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"

#include "planner/efficiency_catalogue.h"
#include "tests/support/planner_fixture.h"
#include <stdio.h>
#include <string.h>

#define HEAD "schema: parplan.cluster/1\n"
#define GIGA 1e9

struct bench {
    struct planner_fixture fixture;
    struct plan_context context;
    struct error_info err;
    int result;
};

/* text: a cluster file, or a preset when it has no line break. */
static void bench_init(struct bench *bench, const char *model, const char *text, const char *keys)
{
    bool file = strchr(text, '\n') != NULL;
    struct planner_fixture *fixture = &bench->fixture;
    bench->err = (struct error_info){.kind = ERROR_NONE};
    if (planner_fixture_init(fixture, model, file ? "dgx-h100:1" : text, keys, &bench->err) < 0)
        fail_msg("%s", bench->err.text);
    if (file) {
        cluster_topology_free(fixture->cluster);
        fixture->cluster = cluster_topology_parse(text, strlen(text), "cluster.yaml",
                                                  fixture->presets, fixture->gpus, &bench->err);
        if (!fixture->cluster)
            fail_msg("%s", bench->err.text);
        fixture->request.cluster = fixture->cluster;
    }
    bench->context = (struct plan_context){.world = 0};
    bench->result = plan_context_init(&bench->context, &fixture->request, &bench->err);
}

static void bench_done(struct bench *bench)
{
    plan_context_done(&bench->context);
    planner_fixture_done(&bench->fixture);
}

static void assert_rate(double value, double expected)
{
    if (value < expected * 0.999 || value > expected * 1.001)
        fail_msg("%g, expected %g", value, expected);
}

static const char mixed[] =
    HEAD "kinds: {fast: {preset: dgx-h100}, slow: {preset: dgx-a100-40}}\n"
         "nodes: [{names: \"a[1-2]\", kind: fast}, {names: \"b[1-2]\", kind: slow}]\n";

static void mixed_clusters_plan_for_the_slowest(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "llama3-8b", mixed, NULL);
    assert_int_equal(bench.result, 0);
    const struct gpu_model *gpu = bench.context.gpu;
    assert_true(gpu && strcmp(gpu->architecture, "ampere") == 0);
    assert_true((double)bench.context.capacity_bytes < 45 * GIGA);
    assert_int_equal(bench.context.world, 32);
    assert_int_equal(bench.context.shape.tier_count, 0);
    struct plan_list *list = plan_search(&bench.fixture.request, &bench.err);
    assert_non_null(list);
    bool said[2] = {false, false};
    for (size_t i = 0; i < list->note_count; i++) {
        said[0] = said[0] || strstr(list->notes[i], "slowest GPU (a100-sxm-40 of kind slow)");
        said[1] = said[1] || strstr(list->notes[i], "between nodes");
    }
    assert_true(said[0] && said[1]);
    plan_list_free(list);
    bench_done(&bench);
}

static const char slow_links[] =
    HEAD "kinds:\n"
         "  slow: {gpu: a100-sxm-40, gpus: 8, nvlink: switch, nics: 8, nic_rate: 200Gb/s}\n"
         "  fast: {gpu: h100-sxm, gpus: 8, nvlink: switch, nics: 1, nic_rate: 100Gb/s}\n"
         "  login: {gpu: h100-sxm, gpus: 8, nvlink: none, nics: 0}\n"
         "nodes: [{names: \"a[1-2]\", kind: slow}, {names: \"b[1-2]\", kind: fast},\n"
         "        {names: \"c1\", kind: login}]\n";

static void every_kinds_links_count(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "llama3-8b", slow_links, NULL);
    assert_int_equal(bench.result, 0);
    assert_true(bench.context.network_assumed);
    assert_rate(bench.context.nvlink_bytes_per_second + 1, 1);
    bench_done(&bench);
}

static void what_is_left_of_a_mixed_cluster_is_not_mixed(void **state)
{
    (void)state;
    struct bench bench;
    struct plan_context context;
    bench_init(&bench, "llama3-8b", slow_links, NULL);
    CLEANUP(node_list) struct node_list *names = node_list_decode("b[1-2]", &bench.err);
    if (!names)
        fail_msg("%s", bench.err.text);
    CLEANUP(cluster_topology)
    struct cluster_topology *part =
        cluster_topology_select(bench.fixture.cluster, names, &bench.err);
    if (!part)
        fail_msg("%s", bench.err.text);
    assert_int_equal(part->kind_count, 1);
    assert_string_equal(part->kind_names[0], "fast");
    bench.fixture.request.cluster = part;
    bench.fixture.request.world = 0;
    assert_int_equal(plan_context_init(&context, &bench.fixture.request, &bench.err), 0);
    assert_string_equal(context.gpu->name, "h100-sxm");
    assert_string_equal(context.kind_name, "fast");
    assert_rate(context.network_bytes_per_second, 12.5 * GIGA / 8 * context.network->share);
    assert_true(context.nvlink_bytes_per_second > 100 * GIGA);
    plan_context_done(&context);
    bench_done(&bench);
}

static const char bare[] = HEAD "kinds: {k: {gpu: h100-sxm, gpus: 8, nvlink: unknown}}\n"
                                "nodes: [{names: \"n[1-4]\", kind: k}]\n";

static void unknown_links_are_assumed_and_said(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "llama3-8b", bare, NULL);
    assert_int_equal(bench.result, 0);
    assert_true(bench.context.network_assumed);
    assert_false(bench.context.shape.domain_known);
    assert_int_equal(bench.context.shape.domain_gpus, 1);
    assert_rate(bench.context.network_bytes_per_second,
                bench.fixture.efficiencies->assumed_nic_bytes_per_second *
                    bench.context.network->share);
    assert_string_equal(bench.context.network->name, EFFICIENCY_DEFAULT_ROW);
    assert_rate(bench.context.pcie_bytes_per_second, 63 * GIGA * 0.76);
    bench_done(&bench);
}

static const char tapered[] =
    HEAD "kinds: {h: {preset: dgx-h100}}\n"
         "nodes: [{names: \"n[01-16]\", kind: h}]\n"
         "fabric:\n"
         "  tiers: [leaf, spine]\n"
         "  switches:\n"
         "    - {name: leaf1, tier: leaf, nodes: \"n[01-08]\", uplink: 12.8Tb/s}\n"
         "    - {name: leaf2, tier: leaf, nodes: \"n[09-16]\", uplink: 12.8Tb/s}\n"
         "    - {name: spine, tier: spine, children: \"leaf[1-2]\"}\n";

static void tapered_fabrics_give_less(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "llama3-8b", tapered, NULL);
    assert_int_equal(bench.result, 0);
    assert_int_equal(bench.context.shape.tier_count, 2);
    assert_int_equal(bench.context.shape.tier_nodes[0], 8);
    assert_int_equal(bench.context.shape.tier_nodes[1], 0);
    /* 1.6 TB/s for 64 GPUs: half of their NICs. */
    assert_rate(bench.context.tier_bytes_per_second[0], 50 * GIGA * 0.8);
    assert_rate(bench.context.tier_bytes_per_second[1], 25 * GIGA * 0.8);
    assert_rate(bench.context.tier_bytes_per_second[2], 25 * GIGA * 0.8);
    bench_done(&bench);
}

static const char partial[] = HEAD "kinds: {h: {preset: dgx-h100}}\n"
                                   "nodes: [{names: \"n[1-4]\", kind: h}]\n"
                                   "fabric:\n"
                                   "  tiers: [leaf]\n"
                                   "  switches: [{name: leaf1, tier: leaf, nodes: \"n[1-3]\"}]\n";

static void nodes_outside_the_fabric_are_far(void **state)
{
    (void)state;
    struct bench bench;
    struct group_span span;
    struct degrees degrees = DEGREES_ONE;
    degrees.dp = degrees.shard = 32;
    bench_init(&bench, "llama3-8b", partial, NULL);
    assert_int_equal(bench.result, 0);
    group_span_in(&bench.context.shape, &degrees, ORDER_TP_CP_EP_DP_PP, GROUP_DP, &span);
    assert_int_equal(span.tier, bench.context.shape.tier_count);
    bench_done(&bench);
}

static void wide_domains_hold_parts_of_groups(void **state)
{
    (void)state;
    struct bench bench;
    struct group_span span;
    struct degrees degrees = DEGREES_ONE;
    bench_init(&bench, "llama3-8b", "gb200-nvl72:36", NULL);
    assert_int_equal(bench.result, 0);
    assert_int_equal(bench.context.shape.domain_gpus, 72);
    degrees.dp = degrees.shard = 144;
    group_span_in(&bench.context.shape, &degrees, ORDER_TP_CP_EP_DP_PP, GROUP_DP, &span);
    assert_int_equal(span.per_node, 4);
    assert_int_equal(span.per_domain, 72);
    degrees.tp = 4;
    degrees.pp = 4;
    degrees.dp = degrees.shard = 9;
    group_span_in(&bench.context.shape, &degrees, ORDER_TP_CP_EP_DP_PP, GROUP_DP, &span);
    assert_true(span.per_domain < span.size);
    bench_done(&bench);
}

static void worlds_have_limits(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "llama3-8b", "dgx-h100:4", "spare=1");
    assert_int_equal(bench.result, 0);
    assert_int_equal(bench.context.world, 24);
    plan_context_done(&bench.context);
    bench.fixture.request.world = 4;
    assert_int_equal(plan_context_init(&bench.context, &bench.fixture.request, &bench.err), 0);
    assert_int_equal(bench.context.shape.gpus_per_node, 4);
    plan_context_done(&bench.context);
    bench.fixture.request.world = 33;
    assert_int_equal(plan_context_init(&bench.context, &bench.fixture.request, &bench.err), -1);
    assert_non_null(strstr(bench.err.text, "more nodes"));
    bench_done(&bench);
    bench_init(&bench, "llama3-8b", "dgx-h100:4", "spare=4");
    assert_int_equal(bench.result, -1);
    bench_done(&bench);
}

static void builtin_efficiencies_are_the_default(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "llama3-8b", "dgx-h100:4", NULL);
    plan_context_done(&bench.context);
    bench.fixture.request.efficiencies = NULL;
    assert_int_equal(plan_context_init(&bench.context, &bench.fixture.request, &bench.err), 0);
    assert_string_equal(bench.context.architecture->name, "hopper");
    assert_ptr_equal(bench.context.efficiencies, bench.context.own_efficiencies);
    bench_done(&bench);
}

static void windows_cut_attention(void **state)
{
    (void)state;
    struct bench bench;
    struct model_spec model;
    bench_init(&bench, "llama3-8b", "dgx-h100:4", "sequence_length=8192");
    double full = bench.context.attention_scores;
    assert_rate(full, 8192.0 * 8192 / 2);
    plan_context_done(&bench.context);
    model = *bench.fixture.request.model;
    model.sliding_window = 1024;
    bench.fixture.request.model = &model;
    assert_int_equal(plan_context_init(&bench.context, &bench.fixture.request, &bench.err), 0);
    assert_rate(bench.context.attention_scores, 1024.0 * 8192 - 1024.0 * 1024 / 2);
    bench_done(&bench);
}

static void old_gpus_train_in_fp32(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "llama3-8b", "dgx1-v100:4", "precision=fp32");
    assert_int_equal(bench.result, 0);
    assert_true(bench.context.peak_flops_per_second < 20e12);
    bench_done(&bench);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixed_clusters_plan_for_the_slowest),
        cmocka_unit_test(every_kinds_links_count),
        cmocka_unit_test(what_is_left_of_a_mixed_cluster_is_not_mixed),
        cmocka_unit_test(unknown_links_are_assumed_and_said),
        cmocka_unit_test(tapered_fabrics_give_less),
        cmocka_unit_test(nodes_outside_the_fabric_are_far),
        cmocka_unit_test(wide_domains_hold_parts_of_groups),
        cmocka_unit_test(worlds_have_limits),
        cmocka_unit_test(builtin_efficiencies_are_the_default),
        cmocka_unit_test(windows_cut_attention),
        cmocka_unit_test(old_gpus_train_in_fp32),
    };
    return unit_test_main("planner/plan_context", tests, COUNT_OF(tests));
}
