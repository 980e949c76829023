/* SPDX-License-Identifier: MIT */
#include "mapping/solver/mapping_search.h"
#include "tests/support/solver_case.h"
#include "tests/support/unit_test.h"

#define ROUNDING 1e-9
#define BUDGET UINT64_C(1500)

struct tally {
    unsigned cases, optimal;
};

static struct mapping_problem problem_of(const struct solver_case *sample)
{
    return (struct mapping_problem){.cluster = sample->cluster,
                                    .tree = sample->tree,
                                    .order = &sample->blocks,
                                    .weights = &sample->weights,
                                    .block_ranks = sample->block_ranks};
}

static struct mapping_quality solved(const struct solver_case *sample,
                                     const struct mapping_problem *problem, unsigned *ret_nodes)
{
    struct mapping_quality quality;
    struct error_info err = {.kind = ERROR_NONE};
    if (mapping_search(problem, ret_nodes, &quality, &err) < 0)
        fail_msg("%s: %s", sample->name, err.text);
    return quality;
}

static void expect_nodes_apart(const struct solver_case *sample, const unsigned *nodes)
{
    bool taken[SOLVER_CASE_BLOCKS] = {false};
    for (unsigned block = 0; block < sample->blocks.block_count; block++) {
        if (nodes[block] >= sample->cluster->node_count || taken[nodes[block]])
            fail_msg("%s: block %u", sample->name, block);
        taken[nodes[block]] = true;
    }
}

static bool is_near(double value, double expected)
{
    return value >= expected * (1 - ROUNDING) && value <= expected * (1 + ROUNDING);
}

/* Small enough to be tried whole, so what it says is proven and is the optimum. */
static void expect_the_optimum(const struct solver_case *sample, void *context)
{
    struct tally *tally = context;
    unsigned nodes[SOLVER_CASE_BLOCKS];
    const struct mapping_problem problem = problem_of(sample);
    struct mapping_quality quality = solved(sample, &problem, nodes);
    expect_nodes_apart(sample, nodes);
    double cost = (double)solver_case_cost(sample, nodes) * sample->weights.unit_seconds;
    if (!is_near(quality.cost, cost))
        fail_msg("%s: says %.17g, is %.17g", sample->name, quality.cost, cost);
    assert_true(quality.lower_bound <= quality.cost * (1 + ROUNDING));
    tally->cases++;
    tally->optimal += quality.optimal;
    if (sample->unit_nodes > 1)
        return;
    uint64_t least = solver_case_optimum(sample);
    for (unsigned f = 0; f < sample->weights.flow_count; f++)
        least += sample->graph->inside[f] * sample->weights.weights[f][COST_SLOT_NODE];
    if (solver_case_cost(sample, nodes) != least || !quality.optimal)
        fail_msg("%s: %llu, optimum %llu", sample->name,
                 (unsigned long long)solver_case_cost(sample, nodes), (unsigned long long)least);
    assert_true(mapping_quality_gap(&quality) <= 0);
}

static void finds_the_optimum_of_small_cases(void **state)
{
    (void)state;
    struct tally tally = {.cases = 0};
    struct error_info err = {.kind = ERROR_NONE};
    if (solver_cases_visit(expect_the_optimum, &tally, &err) < 100)
        fail_msg("%s", err.text);
    assert_true(tally.optimal * 10 > tally.cases * 9);
}

/* Every unit of one node has a node that it must have, the same ones that are free anyway. */
static void expect_all_pinned(const struct solver_case *sample, void *context)
{
    struct node_pin pins[SOLVER_CASE_BLOCKS];
    unsigned nodes[SOLVER_CASE_BLOCKS], count = sample->blocks.block_count;
    struct mapping_problem problem = problem_of(sample);
    (void)context;
    if (sample->unit_nodes > 1)
        return;
    for (unsigned block = 0; block < count; block++)
        pins[block] = (struct node_pin){
            .node = sample->tree->nodes[sample->tree->node_count - 1 - block], .block = block};
    problem.pins = pins;
    problem.budget = BUDGET;
    for (problem.pin_count = 1; problem.pin_count <= count; problem.pin_count++) {
        solved(sample, &problem, nodes);
        expect_nodes_apart(sample, nodes);
        for (size_t i = 0; i < problem.pin_count; i++)
            if (nodes[pins[i].block] != pins[i].node)
                fail_msg("%s: of %zu pins the %zu-th", sample->name, problem.pin_count, i);
    }
}

static void gives_blocks_their_nodes(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    if (solver_cases_visit(expect_all_pinned, NULL, &err) < 100)
        fail_msg("%s", err.text);
}

/* The node that is used last, then two of them, whichever blocks they get. */
static void expect_used(const struct solver_case *sample, void *context)
{
    unsigned *spared = context, nodes[SOLVER_CASE_BLOCKS], last = sample->tree->node_count - 1;
    struct mapping_problem problem = problem_of(sample);
    if (sample->unit_nodes > 1 || sample->blocks.block_count < 2)
        return;
    const struct node_pin pins[] = {{sample->tree->nodes[last], SITE_NONE},
                                    {sample->tree->nodes[0], SITE_NONE},
                                    {sample->tree->nodes[last - 1], 0}};
    problem.pins = pins;
    problem.budget = BUDGET;
    for (problem.pin_count = 1; problem.pin_count <= 3; problem.pin_count++) {
        if (problem.pin_count > sample->blocks.block_count)
            return;
        solved(sample, &problem, nodes);
        expect_nodes_apart(sample, nodes);
        for (size_t i = 0; i < problem.pin_count; i++) {
            unsigned block = 0;
            while (block < sample->blocks.block_count && nodes[block] != pins[i].node)
                block++;
            if (block == sample->blocks.block_count || (i == 2 && block != 0))
                fail_msg("%s: of %zu pins the %zu-th", sample->name, problem.pin_count, i);
        }
    }
    *spared += sample->tree->node_count > sample->blocks.block_count;
}

static void uses_the_nodes_that_it_must(void **state)
{
    (void)state;
    unsigned spared = 0;
    struct error_info err = {.kind = ERROR_NONE};
    if (solver_cases_visit(expect_used, &spared, &err) < 100)
        fail_msg("%s", err.text);
    assert_true(spared > 30);
}

static void expect_refusal(const struct test_cluster *cluster, const struct solver_job *job,
                           struct node_pin pin, const char *text)
{
    struct mapping_quality quality = {.exchanges = 77};
    struct error_info err = {.kind = ERROR_NONE};
    unsigned nodes[SOLVER_CASE_BLOCKS] = {77};
    CLEANUP_DONE(solver_case) struct solver_case sample = {.cluster = NULL};
    if (solver_case_init(&sample, cluster, job, &err) < 0)
        fail_msg("%s", err.text);
    struct mapping_problem problem = problem_of(&sample);
    CLEANUP(fabric_tree) struct fabric_tree *even = fabric_tree_create(sample.cluster, 4, 2, &err);
    assert_non_null(even);
    problem.tree = even;
    problem.pins = &pin;
    problem.pin_count = 1;
    assert_int_equal(mapping_search(&problem, nodes, &quality, &err), -1);
    assert_string_equal(err.text, text);
    assert_int_equal(nodes[0], 77);
    assert_int_equal(quality.exchanges, 77);
}

static void refuses_pins_that_cannot_hold(void **state)
{
    (void)state;
    static const struct test_cluster flat = {.nodes = "n[1-7]", .gpus = 4};
    const struct solver_job wide = {.degrees = {.tp = 8, .dp = 2}, .ranks = 4};
    const struct solver_job narrow = {.degrees = {.tp = 4, .dp = 4}, .ranks = 4};
    expect_refusal(&flat, &wide, (struct node_pin){.node = 1, .block = SITE_NONE},
                   "TP groups of 2 nodes cannot be pinned; use a smaller tp or no pins");
    expect_refusal(&flat, &narrow, (struct node_pin){.node = 6, .block = 0},
                   "n7 is pinned, but has fewer GPUs than the job uses of a node");
}

static const struct test_switch leaves[] = {{"leaf1", "n[1-7]", NULL},
                                            {"leaf2", "n[8-18]", NULL},
                                            {"leaf3", "n[19-23]", NULL},
                                            {"leaf4", "n[24-32]", NULL},
                                            {"spine", NULL, "leaf[1-4]"}};
static const struct test_cluster rough = {
    .nodes = "n[1-32]", .gpus = 8, .switches = leaves, .switch_count = COUNT_OF(leaves)};

/* More is never worse, here where the rule's order alone is not the best. */
static void gains_by_its_budget(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    const struct solver_job job = {.degrees = {.tp = 8, .pp = 6, .dp = 5}, .ranks = 8};
    struct error_info err = {.kind = ERROR_NONE};
    unsigned nodes[SOLVER_CASE_BLOCKS];
    CLEANUP_DONE(solver_case) struct solver_case sample = {.cluster = NULL};
    if (solver_case_init(&sample, &rough, &job, &err) < 0)
        fail_msg("%s", err.text);
    struct mapping_problem problem = problem_of(&sample);
    problem.budget = 1;
    struct mapping_quality start = solved(&sample, &problem, nodes);
    assert_true(start.exchanges <= 1 && !start.optimal);
    problem.budget = 20000;
    struct mapping_quality found = solved(&sample, &problem, nodes);
    assert_true(found.exchanges <= 20000 && found.exchanges > 1);
    assert_true(found.cost < start.cost &&
                mapping_quality_gap(&found) < mapping_quality_gap(&start));
    expect_nodes_apart(&sample, nodes);
    assert_true(is_near(found.cost,
                        (double)solver_case_cost(&sample, nodes) * sample.weights.unit_seconds));
}

static void says_the_gap(void **state)
{
    (void)state;
    const struct mapping_quality open = {.cost = 3, .lower_bound = 2};
    const struct mapping_quality proven = {.cost = 3, .lower_bound = 2, .optimal = true};
    const struct mapping_quality nothing = {.cost = 0, .lower_bound = 0};
    const struct mapping_quality rounded = {.cost = 2, .lower_bound = 2.0000001};
    assert_true(is_near(mapping_quality_gap(&open), 0.5));
    assert_true(mapping_quality_gap(&proven) <= 0);
    assert_true(mapping_quality_gap(&nothing) <= 0);
    assert_true(mapping_quality_gap(&rounded) <= 0);
}

static int search_once(void *context, struct error_info *err)
{
    const struct solver_case *sample = context;
    static const struct node_pin pin = {.node = 2, .block = 1};
    struct mapping_problem problem = problem_of(sample);
    struct mapping_quality quality;
    unsigned nodes[SOLVER_CASE_BLOCKS];
    problem.budget = 20000;
    if (mapping_search(&problem, nodes, &quality, err) < 0)
        return -1;
    problem.pins = &pin;
    problem.pin_count = 1;
    return mapping_search(&problem, nodes, &quality, err);
}

static void fails_cleanly_without_memory(void **state)
{
    (void)state;
    const struct solver_job job = {.degrees = {.tp = 8, .pp = 5, .dp = 2}, .ranks = 8};
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(solver_case) struct solver_case sample = {.cluster = NULL};
    if (solver_case_init(&sample, &rough, &job, &err) == 0)
        unit_test_expect_clean_failures(search_once, &sample);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(finds_the_optimum_of_small_cases),
    cmocka_unit_test(gives_blocks_their_nodes),
    cmocka_unit_test(uses_the_nodes_that_it_must),
    cmocka_unit_test(refuses_pins_that_cannot_hold),
    cmocka_unit_test(gains_by_its_budget),
    cmocka_unit_test(says_the_gap),
    cmocka_unit_test(fails_cleanly_without_memory),
};

int main(void) { return unit_test_main("mapping/solver/mapping_search", tests, COUNT_OF(tests)); }
