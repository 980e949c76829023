/* SPDX-License-Identifier: MIT */
#include "report/evaluation/evaluation_report.h"
#include "tests/support/unit_test.h"

#include <string.h>

/* Slots: node, NVLink domain, leaf, spine, unknown. */
static struct mapping_cost cost_of(bool bytes_known)
{
    return (struct mapping_cost){
        .slot_count = 5,
        .slot_names = {"node", "nvlink domain", "leaf", "spine", "unknown"},
        .bytes_known = bytes_known};
}

static void set(struct mapping_cost *cost, unsigned dimension, unsigned slot, uint64_t pairs)
{
    static const double bytes[TRAFFIC_DIMENSION_COUNT] = {1 << 20, 1 << 18, 1 << 16, 1 << 12,
                                                          1 << 10};
    cost->pairs[dimension][slot] = pairs;
    cost->bytes[dimension][slot] = cost->bytes_known ? bytes[dimension] * (double)pairs : 0.0;
}

static void expect_text(const struct mapping_evaluation *evaluation,
                        const struct mapping_cost *ours, const char *expected)
{
    const struct text_style style = {.width = 100};
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 1 << 16);
    evaluation_report_text(evaluation, ours, &style, &out);
    if (!text_buffer_failed(&out) && !strstr(text_buffer_text(&out), expected))
        fail_msg("'%s' is not in:\n%s", expected, text_buffer_text(&out));
}

static void shows_bytes_by_tier(void **state)
{
    (void)state;
    struct mapping_cost ours = cost_of(true);
    struct mapping_evaluation evaluation = {.source = "/home/u/hosts",
                                            .cost = cost_of(true),
                                            .tp_groups = 8,
                                            .tp_groups_split = 3,
                                            .world = 64,
                                            .other_nodes = 40};
    set(&ours, TRAFFIC_TP, 0, 64);
    set(&ours, TRAFFIC_DP, 2, 64);
    set(&evaluation.cost, TRAFFIC_TP, 0, 32);
    set(&evaluation.cost, TRAFFIC_TP, 3, 32);
    set(&evaluation.cost, TRAFFIC_DP, 2, 48);
    set(&evaluation.cost, TRAFFIC_DP, 3, 16);
    expect_text(
        &evaluation, &ours,
        "Ours beside /home/u/hosts, in bytes per step\n"
        "  tier       ours     hosts  difference\n"
        "  node   64.0 MiB  32.0 MiB   -32.0 MiB\n"
        "  leaf   64.0 KiB  48.0 KiB   -16.0 KiB\n"
        "  spine         0  32.0 MiB   +32.0 MiB\n"
        "  total  64.1 MiB  64.1 MiB           0\n"
        "  farthest tier, spine: ours moves 32.0 MiB less (0 instead of 32.0 MiB, -100.0 %)\n"
        "  TP groups there: 3 of 8 are split over several nodes, against policy "
        "tp_within: node\n"
        "  another mapping: 40 of 64 ranks sit on another node\n");
    evaluation.cost = cost_of(true);
    set(&ours, TRAFFIC_DP, 3, 4);
    set(&evaluation.cost, TRAFFIC_TP, 0, 64);
    set(&evaluation.cost, TRAFFIC_DP, 2, 66);
    set(&evaluation.cost, TRAFFIC_DP, 3, 2);
    expect_text(&evaluation, &ours,
                "spine: ours moves 2.00 KiB more (4.00 KiB instead of 2.00 KiB, +100.0 %)\n");
    set(&evaluation.cost, TRAFFIC_DP, 3, 0);
    expect_text(&evaluation, &ours, "spine: ours moves 4.00 KiB more (4.00 KiB instead of 0)\n");
    expect_text(&evaluation, &evaluation.cost, "farthest tier, leaf: 66.0 KiB in both\n");
}

static void shows_seconds_where_both_know_them(void **state)
{
    (void)state;
    struct mapping_cost ours = cost_of(true);
    struct mapping_evaluation evaluation = {.source = "x", .cost = cost_of(true), .world = 64};
    set(&ours, TRAFFIC_TP, 0, 64);
    set(&evaluation.cost, TRAFFIC_TP, 3, 64);
    ours.exposed_seconds = 0.25;
    evaluation.cost.exposed_seconds = 1.5;
    ours.seconds_known = true;
    expect_text(&evaluation, &ours, "0\n  farthest tier");
    evaluation.cost.seconds_known = true;
    expect_text(&evaluation, &ours, "  waiting    250 ms    1.50 s     +1.25 s\n");
}

/* A TP pair and a DP pair do not add up, so each dimension has its row. */
static void shows_pairs_by_dimension(void **state)
{
    (void)state;
    struct mapping_cost ours = cost_of(false);
    struct mapping_evaluation evaluation = {.source = "slurm:cyclic",
                                            .cost = cost_of(false),
                                            .tp_within = TP_WITHIN_OFF,
                                            .tp_groups = 8,
                                            .tp_groups_split = 8,
                                            .world = 64,
                                            .other_gpus = 6};
    set(&ours, TRAFFIC_TP, 0, 64);
    set(&ours, TRAFFIC_PP, 2, 48);
    set(&evaluation.cost, TRAFFIC_TP, 2, 64);
    set(&evaluation.cost, TRAFFIC_PP, 0, 48);
    expect_text(&evaluation, &ours,
                "Ours beside slurm:cyclic, in neighbour pairs (bytes need --model)\n"
                "  tier   of  ours  slurm:cyclic  difference\n"
                "  node   tp    64             0         -64\n"
                "         pp     0            48         +48\n"
                "  leaf   tp     0            64         +64\n"
                "         pp    48             0         -48\n"
                "  total       112           112           0\n"
                "  farthest tier, leaf: ours has tp 0 instead of 64, pp 48 instead of 0 pairs\n"
                "  TP groups there: 8 of 8 are split over several nodes, as allowed by policy "
                "tp_within: off\n"
                "  the same nodes, but 6 of 64 ranks have another GPU\n");
}

static void leaves_out_what_is_equal(void **state)
{
    (void)state;
    struct mapping_cost ours = cost_of(false);
    struct mapping_evaluation evaluation = {.source = "x", .cost = cost_of(false), .world = 64};
    set(&ours, TRAFFIC_PP, 3, 1200);
    set(&evaluation.cost, TRAFFIC_PP, 3, 1200);
    expect_text(&evaluation, &ours, "farthest tier, spine: the same pairs in both\n");
    set(&evaluation.cost, TRAFFIC_DP, 3, 2400);
    expect_text(&evaluation, &ours, "spine: ours has dp 0 instead of 2,400 pairs\n");
}

static void says_when_there_is_nothing(void **state)
{
    (void)state;
    struct mapping_cost ours = cost_of(false);
    struct mapping_evaluation evaluation = {.source =
                                                "a/a-name-that-no-table-has-room-for-in-its-head",
                                            .cost = cost_of(false),
                                            .tp_within = TP_WITHIN_NVLINK_DOMAIN,
                                            .world = 64,
                                            .same = true};
    expect_text(&evaluation, &ours,
                "Ours beside a/a-name-that-no-table-has-room-for-in-its-head\n"
                "  no rank has neighbours to compare: give --plan or --model\n"
                "  the same mapping: every rank sits where ours has it\n");
    evaluation.tp_groups = 8;
    set(&ours, TRAFFIC_TP, 0, 64);
    set(&evaluation.cost, TRAFFIC_TP, 0, 64);
    expect_text(&evaluation, &ours, "  tier   of  ours  the file  difference\n");
    expect_text(&evaluation, &ours,
                "  nothing leaves the nodes in either\n"
                "  TP groups there: none of 8 is split over several NVLink domains\n");
    evaluation.tp_groups_split = 1;
    expect_text(&evaluation, &ours,
                "1 of 8 are split over several NVLink domains, against policy tp_within: "
                "nvlink_domain\n");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_bytes_by_tier),
        cmocka_unit_test(shows_seconds_where_both_know_them),
        cmocka_unit_test(shows_pairs_by_dimension),
        cmocka_unit_test(leaves_out_what_is_equal),
        cmocka_unit_test(says_when_there_is_nothing),
    };
    return unit_test_main("report/evaluation/evaluation_report", tests, COUNT_OF(tests));
}
