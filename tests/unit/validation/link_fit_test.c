/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"

#include "base/text_buffer.h"
#include "planner/communication_model.h"
#include "tests/support/planner_fixture.h"
#include "validation/calibration/link_fit.h"
#include <math.h>
#include <string.h>

#define SMALLEST 8.0
#define LARGEST 8e9

/* What the text is made with: figures that the catalogues do not have. */
static const char truth[] =
    "schema: parplan.calibration/1\n"
    "links:\n"
    "  - {kind: nvlink, name: h100-sxm, share: 0.6, hop_seconds: 3.0e-6, n: 1, residual: 0, "
    "source: s}\n"
    "  - {kind: network, name: default, share: 0.4, hop_seconds: 2.0e-5, n: 1, residual: 0, "
    "source: s}\n"
    "  - {kind: nvlink, name: gb200, share: 0.7, hop_seconds: 3.0e-6, n: 1, residual: 0, "
    "source: s}\n"
    "  - {kind: pcie, name: \"\", share: 0.5, hop_seconds: 4.0e-6, n: 1, residual: 0, source: s}\n";

struct text_case {
    const char *cluster;
    unsigned ranks, nodes;
    double smallest, largest;
    double slower; /* times what the true figures give; 0: 1 */
    double middle; /* the same of messages of neither fit; 0: as slower */
    double small;  /* the same of messages up to LINK_FIT_SMALL_BYTES */
};

static double seconds_of(const struct plan_context *context, const struct text_case *made,
                         double bytes)
{
    struct cluster_shape shape = context->shape;
    struct degrees degrees = DEGREES_ONE;
    struct group_span span;
    degrees.tp = made->ranks;
    shape.gpus_per_node = made->ranks / made->nodes;
    if (shape.domain_gpus > shape.gpus_per_node)
        shape.domain_gpus = made->ranks;
    group_span_in(&shape, &degrees, ORDER_TP_CP_EP_DP_PP, GROUP_TP, &span);
    return collective_seconds(context, &span, COLLECTIVE_ALL_REDUCE, bytes);
}

/* Text as of a run on a cluster with the true figures. */
static int write_text(const struct text_case *made, struct text_buffer *out, struct error_info *err)
{
    CLEANUP_DONE(planner_fixture) struct planner_fixture fixture = {.gpus = NULL};
    CLEANUP_DONE(plan_context) struct plan_context context = {.request = NULL};
    CLEANUP(calibration)
    struct calibration *calibration = calibration_parse(truth, strlen(truth), "truth", err);
    if (!calibration || planner_fixture_init(&fixture, "llama2-7b", made->cluster, NULL, err) < 0 ||
        calibration_apply(calibration, fixture.gpus, fixture.efficiencies, err) < 0 ||
        plan_context_init(&context, &fixture.request, err) < 0)
        return -1;
    text_buffer_add_text(out, "# all_reduce_perf\n");
    for (unsigned i = 0; i < made->ranks; i++)
        text_buffer_add(out, "# Rank %u Group 0 Pid 1 on node%u device %u [0x00] GPU\n", i,
                        i / (made->ranks / made->nodes), i);
    text_buffer_add_text(out, "# size count time algbw busbw\n");
    for (double bytes = made->smallest; bytes <= made->largest; bytes *= 4) {
        double slower = made->slower > 0 ? made->slower : 1;
        if (bytes > 1e5 && bytes < 1e7 && made->middle > 0)
            slower = made->middle;
        if (bytes <= 1e5 && made->small > 0)
            slower = made->small;
        text_buffer_add(out, "%.0f 1 %.6f 0 0\n", bytes,
                        seconds_of(&context, made, bytes) * slower * 1e6);
    }
    return text_buffer_failed(out) ? error_set_memory(err) : 0;
}

struct bench {
    struct planner_fixture fixture;
    struct nccl_table *tables[2];
    size_t table_count;
    struct arena *arena;
    const struct link_figures *links;
    size_t link_count;
};

static int add_table(struct bench *bench, const struct text_case *made, struct error_info *err)
{
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, 1 << 20);
    if (write_text(made, &text, err) < 0)
        return -1;
    struct nccl_table *table =
        nccl_table_parse(text_buffer_text(&text), text.length, "out.txt", NULL, err);
    bench->tables[bench->table_count] = table;
    bench->table_count += table != NULL;
    return table ? 0 : -1;
}

static int bench_fit(struct bench *bench, const struct text_case *made, size_t count,
                     const char *cluster, struct error_info *err)
{
    *bench = (struct bench){.arena = NULL};
    for (size_t i = 0; i < count; i++)
        if (add_table(bench, &made[i], err) < 0)
            return -1;
    if (planner_fixture_init(&bench->fixture, "llama2-7b", cluster, NULL, err) < 0)
        return -1;
    bench->arena = arena_create(1 << 20);
    if (!bench->arena)
        return error_set_memory(err);
    const struct link_fit_request request = {
        .cluster = bench->fixture.cluster,
        .gpus = bench->fixture.gpus,
        .efficiencies = bench->fixture.efficiencies,
        .tables = (const struct nccl_table *const *)bench->tables,
        .table_count = bench->table_count,
    };
    return link_fit(&request, bench->arena, &bench->links, &bench->link_count, err);
}

static void bench_done(struct bench *bench)
{
    for (size_t i = 0; i < bench->table_count; i++)
        nccl_table_free(bench->tables[i]);
    planner_fixture_done(&bench->fixture);
    arena_free(bench->arena);
}

static void assert_near(double value, double expected, double share)
{
    if (!(value >= expected * (1 - share) && value <= expected * (1 + share)))
        fail_msg("%.9g, expected %.9g", value, expected);
}

static void true_figures_are_found(void **state)
{
    (void)state;
    static const struct text_case made[] = {{"dgx-h100:2", 8, 1, SMALLEST, LARGEST, .slower = 1},
                                            {"dgx-h100:2", 16, 2, SMALLEST, LARGEST, .slower = 1}};
    struct error_info err = {.kind = ERROR_NONE};
    struct bench bench;
    if (bench_fit(&bench, made, COUNT_OF(made), "dgx-h100:2", &err) == 0) {
        const struct link_figures *links = bench.links;
        assert_int_equal(bench.link_count, 2);
        assert_int_equal(links[0].kind, CALIBRATED_NVLINK);
        assert_string_equal(links[0].name, "h100-sxm");
        assert_near(links[0].share, 0.6, 0.005);
        assert_near(links[0].hop_seconds, 3e-6, 0.01);
        assert_int_equal(links[0].n, 15);
        assert_true(links[0].residual < 0.01);
        assert_true(links[0].residual_before > 0.1);
        assert_int_equal(links[1].kind, CALIBRATED_NETWORK);
        assert_string_equal(links[1].name, "default");
        assert_near(links[1].share, 0.4, 0.01);
        assert_near(links[1].hop_seconds, 2e-5, 0.01);
        assert_true(links[1].residual < 0.02);
        assert_non_null(strstr(links[1].source, "16 ranks on 2 nodes, 8 to "));
    }
    bench_done(&bench);
    assert_true(err.kind == ERROR_NONE || err.kind == ERROR_MEMORY);
}

static void without_nvlink_it_is_pcie(void **state)
{
    (void)state;
    static const struct text_case made = {"l40s-pcie:1", 8, 1, SMALLEST, LARGEST, .slower = 1};
    struct error_info err = {.kind = ERROR_NONE};
    struct bench bench;
    if (bench_fit(&bench, &made, 1, "l40s-pcie:1", &err) == 0) {
        assert_int_equal(bench.link_count, 1);
        assert_int_equal(bench.links[0].kind, CALIBRATED_PCIE);
        assert_string_equal(bench.links[0].name, "");
        assert_near(bench.links[0].share, 0.5, 0.005);
        assert_near(bench.links[0].hop_seconds, 4e-6, 0.01);
    }
    bench_done(&bench);
    assert_true(err.kind == ERROR_NONE || err.kind == ERROR_MEMORY);
}

/* 16 does not divide the 72 GPUs of the domain, but these 16 are in it. */
static void a_domain_of_several_nodes_is_nvlink(void **state)
{
    (void)state;
    static const struct text_case made = {"gb200-nvl72:18", 16, 4, SMALLEST, LARGEST, .slower = 1};
    struct error_info err = {.kind = ERROR_NONE};
    struct bench bench;
    if (bench_fit(&bench, &made, 1, "gb200-nvl72:18", &err) == 0) {
        assert_int_equal(bench.link_count, 1);
        assert_int_equal(bench.links[0].kind, CALIBRATED_NVLINK);
        assert_string_equal(bench.links[0].name, "gb200");
        assert_near(bench.links[0].share, 0.7, 0.005);
    }
    bench_done(&bench);
    assert_true(err.kind == ERROR_NONE || err.kind == ERROR_MEMORY);
}

static void latency_needs_small_messages(void **state)
{
    (void)state;
    static const struct text_case made = {"dgx-h100:1", 8, 1, 1e9, LARGEST, .slower = 1};
    struct error_info err = {.kind = ERROR_NONE};
    struct bench bench;
    if (bench_fit(&bench, &made, 1, "dgx-h100:1", &err) == 0) {
        assert_near(bench.links[0].share, 0.6, 0.01);
        assert_near(bench.links[0].hop_seconds,
                    calibrated_least_hop(bench.fixture.efficiencies, CALIBRATED_NVLINK), 1e-9);
    }
    bench_done(&bench);
}

static const struct {
    struct text_case made;
    const char *cluster, *message;
} refused[] = {
    {{"dgx-h100:1", 8, 1, SMALLEST, 1e6, .slower = 1}, "dgx-h100:1", "nvlink: the largest message"},
    {{"dgx-h100:2", 16, 2, SMALLEST, LARGEST, .slower = 1},
     "dgx-h100:1",
     "16 ranks on 2 nodes, but"},
    {{"dgx-h100:1", 1, 1, SMALLEST, LARGEST, .slower = 1}, "dgx-h100:1", "no row"},
    {{"dgx-h100:2", 16, 2, 1e8, LARGEST, .slower = 0.3},
     "dgx-h100:2",
     "and network has 50 GB/s a GPU: its share would reach 200 %, a limit; measure the network "
     "alone"},
    {{"dgx-h100:2", 16, 2, 1e8, LARGEST, .slower = 1e5},
     "dgx-h100:2",
     "its share would be down at 1 %, a limit"},
    {{"dgx-h100:1", 8, 1, 1e8, LARGEST, .slower = 0.01},
     "dgx-h100:1",
     "and nvlink has 450 GB/s a GPU: its share would reach 200 %, a limit; check --cluster"},
    {{"dgx-h100:1", 8, 1, SMALLEST, LARGEST, .small = 1e-2},
     "dgx-h100:1",
     "a hop's latency would be at its limit of 1e-09 s"},
    {{"dgx-h100:1", 8, 1, SMALLEST, LARGEST, .middle = 1e-2},
     "dgx-h100:1",
     "no share and latency predict these tables, the best are off by"},
};

static void what_cannot_be_told_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        struct bench bench;
        assert_int_equal(bench_fit(&bench, &refused[i].made, 1, refused[i].cluster, &err), -1);
        bench_done(&bench);
        if (err.kind != ERROR_MEMORY && !strstr(err.text, refused[i].message))
            fail_msg("%zu: \"%s\" does not say %s", i, err.text, refused[i].message);
    }
}

static int scenario(void *context, struct error_info *err)
{
    struct bench bench;
    int result = bench_fit(&bench, context, 1, "dgx-h100:1", err);
    bench_done(&bench);
    return result;
}

static void failing_memory_is_clean(void **state)
{
    (void)state;
    static struct text_case made = {"dgx-h100:1", 8, 1, SMALLEST, LARGEST, .slower = 1};
    unit_test_expect_clean_failures(scenario, &made);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(true_figures_are_found),
        cmocka_unit_test(without_nvlink_it_is_pcie),
        cmocka_unit_test(a_domain_of_several_nodes_is_nvlink),
        cmocka_unit_test(latency_needs_small_messages),
        cmocka_unit_test(what_cannot_be_told_is_refused),
        cmocka_unit_test(failing_memory_is_clean),
    };
    return unit_test_main("validation/link_fit", tests, COUNT_OF(tests));
}
