/* SPDX-License-Identifier: MIT */
/*
 * rank_map_bench: time to map 131,072 ranks on 16,384 nodes and 524,288 on 65,536, beside a
 * floor of the same run: group the nodes by leaf and write one node and GPU for each rank.
 * Prints the median and the 99th percentile over the rounds in milliseconds of processor
 * time, so that other load counts less. Fails where the map with every rank's node and GPU
 * written is BENCH_SLACK times over the design's figures, 5 ms and 25 ms.
 */
#include "mapping/mapping_cost.h"
#include "tests/support/test_cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 101u
#define GPUS 8u
#define LEAF_NODES 32u
#define POD_LEAVES 32u
#define BENCH_SLACK 3.0

enum layout { ALIGNED, RAGGED, SHUFFLED, LAYOUT_COUNT };

static const char *const layout_names[LAYOUT_COUNT] = {"aligned", "ragged leaves",
                                                       "ragged, names shuffled"};

struct bench {
    unsigned nodes;
    enum layout layout;
    struct degrees degrees;
    double limit_milliseconds;
};

static const struct bench benches[] = {
    {16384, ALIGNED, {8, 1, 1, 8, 16, 1, 1024, 1, 1024}, 5},
    {16384, RAGGED, {8, 1, 1, 8, 16, 1, 1024, 1, 1024}, 5},
    {16384, SHUFFLED, {8, 1, 1, 8, 16, 1, 1024, 1, 1024}, 5},
    {65536, ALIGNED, {8, 1, 1, 8, 16, 1, 4096, 1, 4096}, 25},
    {65536, RAGGED, {8, 1, 1, 8, 16, 1, 4096, 1, 4096}, 25},
    {65536, SHUFFLED, {8, 1, 1, 8, 16, 1, 4096, 1, 4096}, 25},
};

static uint64_t random_state = 1;

static unsigned draw(unsigned below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return below > 0 ? (unsigned)(random_state >> 33) % below : 0;
}

static double spent_milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int compare_times(const void *left, const void *right)
{
    double l = *(const double *)left, r = *(const double *)right;
    return (l > r) - (l < r);
}

/* Leaves of 32, or of 16 to 48 nodes. */
static struct cluster_topology *create_cluster(const struct bench *bench, unsigned *leaves,
                                               struct error_info *err)
{
    CLEANUP(node_list) struct node_list *names = node_list_create(err);
    CLEANUP_MEMORY unsigned *numbers = memory_allocate_array(bench->nodes, sizeof(*numbers));
    if (!names || !numbers)
        return NULL;
    unsigned leaf = 0, room = LEAF_NODES;
    for (unsigned i = 0; i < bench->nodes; i++, room--) {
        if (room == 0) {
            leaf++;
            room = bench->layout == ALIGNED ? LEAF_NODES : LEAF_NODES / 2 + draw(LEAF_NODES);
        }
        leaves[i] = leaf;
        numbers[i] = i;
    }
    for (unsigned i = bench->nodes - 1; bench->layout == SHUFFLED && i > 0; i--) {
        unsigned other = draw(i + 1), swap = numbers[i];
        numbers[i] = numbers[other];
        numbers[other] = swap;
    }
    for (unsigned i = 0; i < bench->nodes; i++) {
        char name[32];
        snprintf(name, sizeof(name), "gpu-node-%05u", numbers[i]);
        if (node_list_add(names, name, err) < 0)
            return NULL;
    }
    const struct test_grid grid = {.names = names,
                                   .leaves = leaves,
                                   .leaf_count = leaf + 1,
                                   .leaves_per_pod = POD_LEAVES,
                                   .gpus = GPUS};
    return test_grid_create(&grid, err);
}

/* What no map can do without: count nodes per leaf, place them, write each rank's place. */
static void run_floor(const unsigned *leaves, unsigned nodes, unsigned *counts, unsigned *order,
                      unsigned *places)
{
    for (unsigned i = 0; i < nodes; i++)
        counts[leaves[i] + 1] = 0;
    counts[0] = 0;
    for (unsigned i = 0; i < nodes; i++)
        counts[leaves[i] + 1]++;
    for (unsigned i = 1; i <= leaves[nodes - 1]; i++)
        counts[i] += counts[i - 1];
    for (unsigned i = 0; i < nodes; i++)
        order[counts[leaves[i]]++] = i;
    for (unsigned i = 0; i < nodes; i++)
        for (unsigned gpu = 0; gpu < GPUS; gpu++)
            places[i * GPUS + gpu] = order[i] * GPUS + gpu;
}

struct times {
    double map[ROUNDS], write[ROUNDS], places[ROUNDS], cost[ROUNDS], floor[ROUNDS];
    uint64_t sum; /* so that nothing is optimised away */
};

/* Node and GPU of every rank, as one number. */
static void write_places(const struct rank_map *map, unsigned *places)
{
    for (size_t block = 0; block < map->block_count; block++) {
        unsigned node = map->block_nodes[block];
        const unsigned *gpus = map->kind_gpus[map->cluster->nodes[node].kind];
        for (unsigned local = 0; local < map->gpus_per_node; local++)
            *places++ = node * GPUS + gpus[local];
    }
}

static int run_round(const struct node_mapping_request *request, struct times *times,
                     unsigned *places, unsigned round, struct error_info *err)
{
    double start = spent_milliseconds();
    CLEANUP(rank_map) struct rank_map *map = rank_map_create(request, err);
    if (!map)
        return -1;
    double mapped = spent_milliseconds();
    write_places(map, places);
    double written = spent_milliseconds();
    for (uint64_t rank = 0; rank < map->world; rank++) {
        struct rank_place place;
        rank_map_place(map, rank, &place);
        times->sum += place.node + place.gpu + place.coordinates.dp;
    }
    double placed = spent_milliseconds();
    struct mapping_cost cost;
    mapping_cost_compute(map, NULL, NULL, &cost);
    times->cost[round] = spent_milliseconds() - placed;
    times->sum += cost.pairs[TRAFFIC_DP][COST_SLOT_TIERS];
    times->map[round] = mapped - start;
    times->write[round] = written - start;
    times->places[round] = placed - written;
    return 0;
}

static double print_times(const char *what, double times[static ROUNDS])
{
    qsort(times, ROUNDS, sizeof(*times), compare_times);
    printf("    %-34s p50 %7.3f  p99 %7.3f ms\n", what, times[ROUNDS / 2],
           times[ROUNDS * 99 / 100]);
    return times[ROUNDS * 99 / 100];
}

static int run_bench(const struct bench *bench, struct error_info *err)
{
    size_t ranks = (size_t)bench->nodes * GPUS;
    CLEANUP_MEMORY unsigned *leaves = memory_allocate_array(bench->nodes, sizeof(*leaves));
    CLEANUP_MEMORY unsigned *counts = memory_allocate_array(bench->nodes + 1, sizeof(*counts));
    CLEANUP_MEMORY unsigned *order = memory_allocate_array(bench->nodes, sizeof(*order));
    CLEANUP_MEMORY unsigned *places = memory_allocate_array(ranks, sizeof(*places));
    CLEANUP_MEMORY struct times *times = memory_allocate(sizeof(*times));
    if (!leaves || !counts || !order || !places || !times)
        return error_set_memory(err);
    CLEANUP(cluster_topology) struct cluster_topology *cluster = create_cluster(bench, leaves, err);
    if (!cluster)
        return -1;
    const struct node_mapping_request request = {
        .cluster = cluster, .degrees = bench->degrees, .gpus_per_node = GPUS};
    for (unsigned round = 0; round < ROUNDS; round++) {
        double start = spent_milliseconds();
        run_floor(leaves, bench->nodes, counts, order, places);
        times->floor[round] = spent_milliseconds() - start;
        times->sum += places[draw((unsigned)ranks)];
        if (run_round(&request, times, places, round, err) < 0)
            return -1;
    }
    printf("%zu ranks on %u nodes, %s (%llu)\n", ranks, bench->nodes, layout_names[bench->layout],
           (unsigned long long)times->sum);
    print_times("floor: group and write", times->floor);
    print_times("map", times->map);
    double worst = print_times("map and write", times->write);
    print_times("place of every rank, with degrees", times->places);
    print_times("cost by tier", times->cost);
    if (worst > bench->limit_milliseconds * BENCH_SLACK)
        return error_set(err, "map took %.1f ms, the design says %.0f", worst,
                         bench->limit_milliseconds);
    return 0;
}

int main(void)
{
    for (size_t i = 0; i < COUNT_OF(benches); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        if (run_bench(&benches[i], &err) < 0) {
            fprintf(stderr, "rank_map_bench: %s\n", err.text);
            return 1;
        }
    }
    return 0;
}
