/* SPDX-License-Identifier: MIT */
/* objective=cost on seeded fragmented cases (fragmented_case.h): near the exact optimum, never
 * worse than a fixed order, never below the bound that it prints, the same however the cluster
 * is written down, and no dearer than any rectangle
 * of stages and replicas where the tree is aligned. PARPLAN_CASES sets how many random
 * cases each law is tried on. */
#include "base/memory.h"
#include "mapping/mapping_cost.h"
#include "tests/support/fragmented_case.h"
#include "tests/support/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CASES 500u
#define NODES_MAXIMUM 64u
#define ALIGNED_NODES 40u
#define ROUNDING 1e-9
#define MEDIAN_GAP_LIMIT 0.02
#define GAP_LIMIT 0.05
#define OPTIMUM_SECONDS 60u
#define TOLD_MAXIMUM 20u
#define DESCRIPTION_BYTES 256u

static const struct fragmented_range small = {4, 16, false};
static const struct fragmented_range medium = {4, NODES_MAXIMUM, false};

static struct fragmented_case *draw_case(uint64_t seed, const struct fragmented_range *range)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct fragmented_case *sample = fragmented_case_create(seed, range, &err);
    if (!sample)
        fail_msg("%s", err.text);
    return sample;
}

static struct cluster_topology *cluster_of(const struct fragmented_case *sample,
                                           const struct fragmented_naming *naming)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct cluster_topology *cluster = fragmented_case_cluster(sample, naming, &err);
    if (!cluster)
        fail_msg("%s", err.text);
    return cluster;
}

static struct rank_map *map_on(const struct fragmented_case *sample,
                               const struct cluster_topology *cluster)
{
    struct error_info err = {.kind = ERROR_NONE};
    const struct node_mapping_request request = fragmented_case_request(sample, cluster);
    struct rank_map *map = rank_map_create(&request, &err);
    if (!map)
        fail_msg("seed %llu: %s", (unsigned long long)sample->seed, err.text);
    return map;
}

/* All cases that break a law are counted, the first ones told: which they are says more. */
static unsigned broken;

static void fail_case(const struct fragmented_case *sample, const char *law, double left,
                      double right)
{
    char text[DESCRIPTION_BYTES];
    if (broken++ >= TOLD_MAXIMUM)
        return;
    fragmented_case_describe(sample, text, sizeof(text));
    printf("# %s: %.9g and %.9g, %.3f %%; %s\n", law, left, right, 100 * (left - right) / right,
           text);
}

static void expect_unbroken(void)
{
    unsigned count = broken;
    broken = 0;
    assert_int_equal(count, 0);
}

static void expect_at_most(const struct fragmented_case *sample, const char *law, double left,
                           double right)
{
    if (left > right * (1 + ROUNDING))
        fail_case(sample, law, left, right);
}

static void expect_same(const struct fragmented_case *sample, const char *law, double left,
                        double right)
{
    if (fabs(left - right) > ROUNDING * right)
        fail_case(sample, law, left, right);
}

/* --- laws of one map ------------------------------------------------------------------ */

/* One block a node: no leaf holds more than its nodes, and TP groups, a node each, are whole. */
static void nodes_are_distinct(const struct fragmented_case *sample, const struct rank_map *map)
{
    bool taken[NODES_MAXIMUM] = {false};
    struct mapping_cost cost;
    assert_int_equal(map->block_count, sample->block_count);
    for (size_t i = 0; i < map->block_count; i++) {
        unsigned node = map->block_nodes[i];
        assert_true(node < sample->node_count && !taken[node]);
        taken[node] = true;
    }
    mapping_cost_compute(map, &sample->traffic, &sample->seconds, &cost);
    for (unsigned slot = COST_SLOT_NODE + 1; slot < cost.slot_count; slot++)
        assert_int_equal(cost.pairs[TRAFFIC_TP][slot], 0);
}

static double seconds_of(const struct fragmented_case *sample, const struct rank_map *map)
{
    return fragmented_case_seconds(sample, map->cluster, map->block_nodes);
}

static void no_fixed_order_is_cheaper(const struct fragmented_case *sample,
                                      const struct rank_map *map)
{
    static const char *const laws[] = {"replica after replica is cheaper",
                                       "stage after stage is cheaper", "switch order is cheaper"};
    struct error_info err = {.kind = ERROR_NONE};
    unsigned nodes[NODES_MAXIMUM];
    for (unsigned order = 0; order < FIXED_ORDER_COUNT; order++) {
        assert_int_equal(
            fragmented_case_fix(sample, map->cluster, (enum fixed_order)order, nodes, &err), 0);
        expect_at_most(sample, laws[order], seconds_of(sample, map),
                       fragmented_case_seconds(sample, map->cluster, nodes));
    }
}

static void quality_is_true(const struct fragmented_case *sample, const struct rank_map *map)
{
    const struct mapping_quality *quality = &map->quality;
    expect_same(sample, "cost printed and counted", quality->cost, seconds_of(sample, map));
    expect_at_most(sample, "bound above the cost", quality->lower_bound, quality->cost);
    if (quality->optimal)
        expect_same(sample, "optimal, but the bound", quality->cost, quality->lower_bound);
}

/* --- near the optimum ----------------------------------------------------------------- */

struct gaps {
    double *whole, *inner; /* of all exposed seconds; of those above all neighbours near */
    unsigned count, unproven, exact;
};

static void add_gap(struct gaps *gaps, const struct fragmented_case *sample,
                    const struct rank_map *map)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct case_optimum optimum;
    assert_int_equal(fragmented_case_optimum(sample, map->cluster, OPTIMUM_SECONDS, &optimum, &err),
                     0);
    if (!optimum.proven) {
        gaps->unproven++;
        return;
    }
    double seconds = seconds_of(sample, map), near = fragmented_case_near_seconds(sample);
    double over = seconds > optimum.seconds * (1 + ROUNDING) ? seconds - optimum.seconds : 0;
    expect_at_most(sample, "bound above the optimum", map->quality.lower_bound, optimum.seconds);
    expect_at_most(sample, "optimum above what was found", optimum.seconds, seconds);
    if (over > GAP_LIMIT * optimum.seconds)
        fail_case(sample, "gap", seconds, optimum.seconds);
    gaps->whole[gaps->count] = over / optimum.seconds;
    bool all_near = optimum.seconds <= near * (1 + ROUNDING);
    gaps->inner[gaps->count++] = over <= 0  ? 0
                                 : all_near ? INFINITY
                                            : over / (optimum.seconds - near);
    gaps->exact += over <= 0;
}

static int compare_doubles(const void *left, const void *right)
{
    double l = *(const double *)left, r = *(const double *)right;
    return (l > r) - (l < r);
}

static void print_gaps(const char *what, const double *sorted, unsigned count)
{
    printf("# gap to the optimum, %s: median %.3f %%, 90th %.3f %%, largest %.3f %%\n", what,
           100 * sorted[count / 2], 100 * sorted[(size_t)count * 9 / 10], 100 * sorted[count - 1]);
}

static void is_near_the_optimum(void **state)
{
    (void)state;
    unsigned count = unit_test_cases(CASES);
    struct gaps gaps = {.whole = memory_allocate_array(count, sizeof(double)),
                        .inner = memory_allocate_array(count, sizeof(double))};
    assert_true(gaps.whole && gaps.inner);
    for (unsigned seed = 1; seed <= count; seed++) {
        CLEANUP(fragmented_case) struct fragmented_case *sample = draw_case(seed, &small);
        CLEANUP(cluster_topology) struct cluster_topology *cluster = cluster_of(sample, NULL);
        CLEANUP(rank_map) struct rank_map *map = map_on(sample, cluster);
        nodes_are_distinct(sample, map);
        quality_is_true(sample, map);
        no_fixed_order_is_cheaper(sample, map);
        add_gap(&gaps, sample, map);
    }
    assert_true(gaps.count > 0 && gaps.unproven <= count / 50);
    qsort(gaps.whole, gaps.count, sizeof(double), compare_doubles);
    qsort(gaps.inner, gaps.count, sizeof(double), compare_doubles);
    printf("# %u cases, %u optimal, %u not proven\n", count, gaps.exact, gaps.unproven);
    print_gaps("of the exposed seconds", gaps.whole, gaps.count);
    print_gaps("of those above all near", gaps.inner, gaps.count);
    double median = gaps.whole[gaps.count / 2];
    memory_free(gaps.whole);
    memory_free(gaps.inner);
    assert_true(median <= MEDIAN_GAP_LIMIT);
    expect_unbroken();
}

/* --- however the cluster is written down ------------------------------------------------ */

static uint64_t random_state = 20261130;

static unsigned draw(unsigned below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(random_state >> 33) % below;
}

/* Leaves change places inside their pod only: pods are made of neighbours. */
static void shuffle(unsigned *numbers, unsigned count, unsigned window)
{
    for (unsigned i = 0; i < count; i++)
        numbers[i] = i;
    for (unsigned i = 0; i < count; i++) {
        unsigned first = window ? i - i % window : 0, other = first + draw(i - first + 1);
        unsigned swap = numbers[i];
        numbers[i] = numbers[other];
        numbers[other] = swap;
    }
}

static void expect_written(const struct fragmented_case *sample, const struct rank_map *map,
                           const struct fragmented_naming *naming, const char *law)
{
    CLEANUP(cluster_topology) struct cluster_topology *cluster = cluster_of(sample, naming);
    CLEANUP(rank_map) struct rank_map *other = map_on(sample, cluster);
    expect_same(sample, law, seconds_of(sample, other), seconds_of(sample, map));
    expect_same(sample, law, other->quality.lower_bound, map->quality.lower_bound);
}

static void is_the_same_however_written(void **state)
{
    (void)state;
    unsigned count = unit_test_cases(CASES / 4);
    for (unsigned seed = 1; seed <= count; seed++) {
        unsigned numbers[NODES_MAXIMUM], order[NODES_MAXIMUM], leaves[NODES_MAXIMUM];
        CLEANUP(fragmented_case) struct fragmented_case *sample = draw_case(seed, &medium);
        CLEANUP(cluster_topology) struct cluster_topology *cluster = cluster_of(sample, NULL);
        CLEANUP(rank_map) struct rank_map *map = map_on(sample, cluster);
        CLEANUP(rank_map) struct rank_map *again = map_on(sample, cluster);
        shuffle(numbers, sample->node_count, 0);
        shuffle(order, sample->node_count, 0);
        shuffle(leaves, sample->leaf_count, sample->leaves_per_pod);
        nodes_are_distinct(sample, map);
        quality_is_true(sample, map);
        no_fixed_order_is_cheaper(sample, map);
        assert_memory_equal(map->block_nodes, again->block_nodes,
                            map->block_count * sizeof(*map->block_nodes));
        expect_written(sample, map, &(struct fragmented_naming){.numbers = numbers}, "renamed");
        expect_written(sample, map, &(struct fragmented_naming){.order = order}, "reordered");
        expect_written(sample, map, &(struct fragmented_naming){.leaves = leaves},
                       "leaves in another order");
    }
    expect_unbroken();
}

/* --- aligned trees ---------------------------------------------------------------------- */

static bool fits_whole(unsigned leaf, unsigned group)
{
    return leaf % group == 0 || group % leaf == 0;
}

/* Every leaf holds a rectangle of `stages` stages of some replicas. */
static double rectangle_seconds(const struct fragmented_case *sample,
                                const struct cluster_topology *cluster, unsigned stages,
                                unsigned replicas)
{
    const struct degrees *d = &sample->degrees;
    unsigned nodes[NODES_MAXIMUM];
    for (unsigned block = 0; block < sample->block_count; block++) {
        struct rank_coordinates at;
        rank_coordinates_of(sample->order, d, (uint64_t)block * FRAGMENTED_GPUS, &at);
        unsigned leaf = at.dp / replicas * (d->pp / stages) + at.pp / stages;
        unsigned inside = at.dp % replicas * stages + at.pp % stages;
        nodes[block] = leaf * stages * replicas + inside;
    }
    return fragmented_case_seconds(sample, cluster, nodes);
}

static double best_rectangle(const struct fragmented_case *sample,
                             const struct cluster_topology *cluster)
{
    const struct degrees *d = &sample->degrees;
    unsigned leaf = sample->node_count / sample->leaf_count;
    double best = INFINITY;
    for (unsigned stages = 1; stages <= leaf; stages++) {
        unsigned replicas = leaf / stages;
        if (leaf % stages != 0 || d->pp % stages != 0 || d->dp % replicas != 0)
            continue;
        double seconds = rectangle_seconds(sample, cluster, stages, replicas);
        best = seconds < best ? seconds : best;
    }
    return best;
}

struct aligned_sum {
    unsigned tried, proven;
    double worst; /* gap to the bound */
};

static void expect_best(unsigned leaves, unsigned leaf, unsigned pp, struct aligned_sum *sum)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(fragmented_case)
    struct fragmented_case *sample =
        fragmented_case_aligned(leaves * 1000 + leaf * 10 + pp, leaves, leaf, pp, &err);
    assert_non_null(sample);
    CLEANUP(cluster_topology) struct cluster_topology *cluster = cluster_of(sample, NULL);
    CLEANUP(rank_map) struct rank_map *map = map_on(sample, cluster);
    double gap = mapping_quality_gap(&map->quality);
    nodes_are_distinct(sample, map);
    quality_is_true(sample, map);
    no_fixed_order_is_cheaper(sample, map);
    expect_at_most(sample, "aligned: a rectangle is cheaper", seconds_of(sample, map),
                   best_rectangle(sample, cluster));
    sum->tried++;
    sum->proven += map->quality.optimal;
    sum->worst = gap > sum->worst ? gap : sum->worst;
}

/* The bound is not tight where no rectangle fills a leaf, so not all are proven. */
static void is_best_on_aligned_trees(void **state)
{
    (void)state;
    struct aligned_sum sum = {.tried = 0};
    for (unsigned leaves = 2; leaves <= 8; leaves++) {
        for (unsigned leaf = 2; leaf <= ALIGNED_NODES / leaves; leaf++) {
            for (unsigned pp = 1; pp <= leaves * leaf; pp++) {
                bool divides = leaves * leaf % pp == 0;
                if (divides && (fits_whole(leaf, pp) || fits_whole(leaf, leaves * leaf / pp)))
                    expect_best(leaves, leaf, pp, &sum);
            }
        }
    }
    printf("# %u aligned trees, %u proven by the bound or by trying all, the others at most "
           "%.3f %% above the bound\n",
           sum.tried, sum.proven, 100 * sum.worst);
    assert_true(sum.tried > 100 && sum.proven * 4 > sum.tried * 3);
    expect_unbroken();
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(is_near_the_optimum),
    cmocka_unit_test(is_the_same_however_written),
    cmocka_unit_test(is_best_on_aligned_trees),
};

int main(void) { return unit_test_main("mapping quality (property)", tests, COUNT_OF(tests)); }
