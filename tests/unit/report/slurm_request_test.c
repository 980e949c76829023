/* SPDX-License-Identifier: MIT */
#include "report/launchers/slurm_request.h"
#include "tests/support/planner_fixture.h"
#include "tests/support/unit_test.h"
#include <string.h>

static struct slurm_request request_for(const struct planner_fixture *fixture,
                                        const struct plan *plan, uint64_t nodes)
{
    struct slurm_request request = {.nodes = 0};
    const struct plan_list list = {.plans = plan, .plan_count = 1};
    const struct plan_report report = {
        .request = &fixture->request,
        .world = nodes * cluster_gpus_per_node(fixture->cluster),
        .gpus_per_node = cluster_gpus_per_node(fixture->cluster),
        .list = &list,
    };
    struct error_info err = {.kind = ERROR_NONE};
    if (slurm_request_of(&report, &request, &err) < 0)
        fail_msg("%s", err.text);
    return request;
}

/* tp cp ep etp pp vpp dp shard replicate */
static void takes_the_widest_group_that_a_block_holds(void **state)
{
    (void)state;
    static const struct {
        const char *cluster;
        uint64_t nodes;
        struct degrees degrees;
        enum sharding sharding;
        uint64_t segment;
        const char *what;
    } rows[] = {
        {"dgx-h100:64", 64, {8, 1, 1, 8, 8, 1, 8, 1, 8}, SHARDING_ZERO1, 8, "a pipeline"},
        {"dgx-h100:64", 64, {8, 2, 1, 8, 8, 1, 4, 1, 4}, SHARDING_ZERO1, 16, "a pipeline"},
        {"dgx-h100:64", 64, {8, 1, 1, 8, 1, 1, 64, 16, 4}, SHARDING_HSDP, 16, "a shard group"},
        {"dgx-h100:64",
         64,
         {1, 1, 64, 1, 1, 1, 512, 1, 512},
         SHARDING_ZERO1,
         8,
         "a group of experts"},
        {"dgx-h100:64", 64, {8, 4, 1, 8, 1, 1, 16, 1, 16}, SHARDING_ZERO1, 4, "a context group"},
        {"gb200-nvl72:36", 36, {8, 1, 1, 8, 2, 1, 9, 1, 9}, SHARDING_ZERO1, 4, "a pipeline"},
        {"gb200-nvl72:36", 36, {8, 1, 1, 8, 1, 1, 18, 1, 18}, SHARDING_NONE, 2, "a tensor group"},
        /* A pipeline of 36 nodes is wider than a block of 18: its stages alone. */
        {"gb200-nvl72:36", 36, {8, 1, 1, 8, 18, 1, 1, 1, 1}, SHARDING_NONE, 2, "a tensor group"},
        /* Inside a node, or over everything: nothing to ask. */
        {"dgx-h100:64", 64, {8, 1, 1, 8, 1, 1, 64, 1, 64}, SHARDING_ZERO1, 0, NULL},
        {"dgx-h100:64", 64, {1, 1, 1, 1, 1, 1, 512, 512, 1}, SHARDING_ZERO3, 0, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_DONE(planner_fixture) struct planner_fixture fixture = {.gpus = NULL};
        if (planner_fixture_init(&fixture, "llama3-8b", rows[i].cluster, NULL, &err) < 0) {
            fail_msg("%s", err.text);
            return;
        }
        const struct plan plan = {.degrees = rows[i].degrees, .sharding = rows[i].sharding};
        const struct slurm_request got = request_for(&fixture, &plan, rows[i].nodes);
        if (got.segment != rows[i].segment || (got.segment_of == NULL) != (rows[i].what == NULL) ||
            (rows[i].what && strcmp(got.segment_of, rows[i].what) != 0))
            fail_msg("row %zu: %llu, %s", i, (unsigned long long)got.segment,
                     got.segment_of ? got.segment_of : "-");
    }
}

static void counts_leaves_and_spare_nodes(void **state)
{
    (void)state;
    static const struct {
        const char *cluster, *keys;
        uint64_t world_nodes, nodes, switches;
        bool has_blocks;
    } rows[] = {
        {"dgx-h100:64", NULL, 32, 32, 1, false},
        {"dgx-h100:64", NULL, 33, 33, 2, false},
        {"dgx-h100:64", "place=slurm,spare=1", 32, 33, 2, false},
        {"dgx-h100:64", "spare=1", 32, 32, 1, false}, /* no srun would leave it out */
        {"gb200-nvl72:36", NULL, 36, 36, 2, true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_DONE(planner_fixture) struct planner_fixture fixture = {.gpus = NULL};
        if (planner_fixture_init(&fixture, "llama3-8b", rows[i].cluster, rows[i].keys, &err) < 0) {
            fail_msg("%s", err.text);
            return;
        }
        const struct plan plan = {.degrees = DEGREES_ONE};
        const struct slurm_request got = request_for(&fixture, &plan, rows[i].world_nodes);
        if (got.nodes != rows[i].nodes || got.switches != rows[i].switches ||
            got.has_blocks != rows[i].has_blocks)
            fail_msg("row %zu: %llu nodes, %llu switches", i, (unsigned long long)got.nodes,
                     (unsigned long long)got.switches);
    }
}

static int write_once(void *context, struct error_info *err)
{
    struct planner_fixture *fixture = context;
    const struct plan plan = {.degrees = {8, 1, 1, 8, 8, 1, 8, 1, 8}};
    const struct plan_list list = {.plans = &plan, .plan_count = 1};
    const struct plan_report report = {
        .request = &fixture->request, .world = 512, .gpus_per_node = 8, .list = &list};
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 4096);
    return slurm_request_text(&report, &out, err);
}

static void fails_cleanly_without_memory(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(planner_fixture) struct planner_fixture fixture = {.gpus = NULL};
    if (planner_fixture_init(&fixture, "llama3-8b", "dgx-h100:64", NULL, &err) == 0)
        unit_test_expect_clean_failures(write_once, &fixture);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_the_widest_group_that_a_block_holds),
        cmocka_unit_test(counts_leaves_and_spare_nodes),
        cmocka_unit_test(fails_cleanly_without_memory),
    };
    return unit_test_main("report/slurm_request", tests, COUNT_OF(tests));
}
