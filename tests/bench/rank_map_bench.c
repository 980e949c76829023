/* SPDX-License-Identifier: MIT */
/*
 * rank_map_bench: time to map 8,192 ranks on 1,024 nodes, 131,072 on 16,384 and 524,288 on
 * 65,536, under the rule and under the cost objective, beside a floor of the same run: group the
 * nodes by leaf and write one node and GPU for each rank. Prints the median and the 99th
 * percentile over the rounds in milliseconds of processor time, so that other load counts less,
 * how many floors that is, the memory that a map takes while it is made and after, and the gap to
 * the bound. Fails where the map with every rank's node and GPU written is BENCH_SLACK times over
 * the design's figures, 5 ms and 25 ms.
 *
 *     rank_map_bench [ROUNDS [NODES LAYOUT OBJECTIVE]]     as 1 16384 aligned cost
 */
#include "base/parse_number.h"
#include "mapping/mapping_cost.h"
#include "tests/support/test_cluster.h"
#include "tests/support/time_order.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 101u
#define ROUNDS_MAXIMUM 10000u
#define GPUS 8u
#define LEAF_NODES 32u
#define POD_LEAVES 32u
#define STAGES 16u
#define BENCH_SLACK 3.0

enum layout { ALIGNED, RAGGED, SHUFFLED, LAYOUT_COUNT };
enum objective { RULE, COST, OBJECTIVE_COUNT };

static const char *const layout_names[LAYOUT_COUNT] = {"aligned", "ragged", "shuffled"};
static const char *const objective_names[OBJECTIVE_COUNT] = {"rule", "cost"};

static const struct size {
    unsigned nodes;
    double limit_milliseconds; /* 0: the design has no figure */
} sizes[] = {{1024, 0}, {16384, 5}, {65536, 25}};

/* GB of a pair per step of a 70B model, TP 8 x PP x DP; 450 and 50 GB/s, the spine and what is
 * above it 1.17 (collectives) and 1.70 times (messages) as long a tier. */
static const struct traffic traffic = {
    .flows = {{TRAFFIC_TP, GROUP_TP, PAIRS_RING, false, 10e9, 1},
              {TRAFFIC_PP, GROUP_PP, PAIRS_CHAIN, true, 1.07e9, 1},
              {TRAFFIC_DP, GROUP_DP, PAIRS_RING, false, 6.5e9, 0.5}},
    .flow_count = 3};
static const struct link_seconds seconds = {
    .slot_count = 6,
    .collective = {1 / 450e9, 1 / 450e9, 1 / 50e9, 1.17 / 50e9, 1.34 / 50e9, 1.51 / 50e9},
    .message = {1 / 450e9, 1 / 450e9, 1 / 50e9, 1.70 / 50e9, 2.40 / 50e9, 3.10 / 50e9}};

struct bench {
    unsigned nodes;
    enum layout layout;
    enum objective objective;
    double limit_milliseconds;
    unsigned rounds;
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
    double map[ROUNDS_MAXIMUM], write[ROUNDS_MAXIMUM], places[ROUNDS_MAXIMUM], cost[ROUNDS_MAXIMUM],
        floor[ROUNDS_MAXIMUM];
    size_t peak_bytes, held_bytes; /* above what was there before the first map */
    struct mapping_quality quality;
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

/* Of /proc/self/statm; 0: unknown. */
static size_t resident_bytes(void)
{
    char text[128] = "";
    uint64_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file)
        return 0;
    char *start = fgets(text, sizeof(text), file) ? strchr(text, ' ') : NULL;
    fclose(file);
    if (!start)
        return 0;
    start++;
    start[strcspn(start, " ")] = '\0';
    if (parse_unsigned(start, 0, UINT32_MAX, &pages, NULL) < 0)
        return 0;
    return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* The kernel counts pages in batches: small differences may come out below 0. */
static size_t above(size_t bytes, size_t before) { return bytes > before ? bytes - before : 0; }

static size_t peak_bytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (size_t)usage.ru_maxrss * 1024;
}

/* Linux: 5 makes the peak what is resident now (proc(5)). */
static size_t reset_peak(void)
{
    malloc_trim(0); /* what the cluster's making left behind would hide the map's */
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (file) {
        fputs("5", file);
        fclose(file);
    }
    return resident_bytes();
}

static int run_round(const struct node_mapping_request *request, struct times *times,
                     unsigned *places, unsigned round, struct error_info *err)
{
    size_t before = round == 0 ? reset_peak() : 0;
    double start = spent_milliseconds();
    CLEANUP(rank_map) struct rank_map *map = rank_map_create(request, err);
    if (!map)
        return -1;
    if (round == 0) {
        times->held_bytes = above(resident_bytes(), before);
        times->peak_bytes = above(peak_bytes(), before);
        if (times->peak_bytes < times->held_bytes)
            times->peak_bytes = times->held_bytes;
        times->quality = map->quality;
    }
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
    mapping_cost_compute(map, &traffic, &seconds, &cost);
    times->cost[round] = spent_milliseconds() - placed;
    times->sum += cost.pairs[TRAFFIC_DP][COST_SLOT_TIERS];
    times->map[round] = mapped - start;
    times->write[round] = written - start;
    times->places[round] = placed - written;
    return 0;
}

/* Sorts. */
static double median(double *times, unsigned rounds)
{
    time_order_sort(times, rounds);
    return times[rounds / 2];
}

/* p99, in milliseconds. */
static double print_times(const char *what, double *times, unsigned rounds, double floor)
{
    double middle = median(times, rounds), high = times[(size_t)rounds * 99 / 100];
    printf("    %-34s p50 %7.3f  p99 %7.3f ms  %7.1f floors\n", what, middle, high,
           floor > 0 ? middle / floor : 0);
    return high;
}

static double print_bench(const struct bench *bench, struct times *times)
{
    unsigned rounds = bench->rounds;
    const struct mapping_quality *quality = &times->quality;
    printf("%u ranks on %u nodes, %s, %s\n", bench->nodes * GPUS, bench->nodes,
           layout_names[bench->layout], objective_names[bench->objective]);
    double floor = median(times->floor, rounds);
    print_times("floor: group and write", times->floor, rounds, floor);
    print_times("map", times->map, rounds, floor);
    double worst = print_times("map and write", times->write, rounds, floor);
    print_times("place of every rank, with degrees", times->places, rounds, floor);
    print_times("cost by tier", times->cost, rounds, floor);
    printf("    memory %.2f MB while mapping, %.2f MB after; gap to the bound %.3f %%, %llu "
           "exchanges (%llu)\n",
           (double)times->peak_bytes / 1e6, (double)times->held_bytes / 1e6,
           100 * mapping_quality_gap(quality), (unsigned long long)quality->exchanges,
           (unsigned long long)times->sum % 10);
    return worst;
}

static int run_rounds(const struct bench *bench, const struct cluster_topology *cluster,
                      const unsigned *leaves, struct times *times, struct error_info *err)
{
    size_t ranks = (size_t)bench->nodes * GPUS;
    CLEANUP_MEMORY unsigned *counts = memory_allocate_array(bench->nodes + 1, sizeof(*counts));
    CLEANUP_MEMORY unsigned *order = memory_allocate_array(bench->nodes, sizeof(*order));
    CLEANUP_MEMORY unsigned *places = memory_allocate_array(ranks, sizeof(*places));
    if (!counts || !order || !places)
        return error_set_memory(err);
    struct node_mapping_request request = {
        .cluster = cluster, .degrees = DEGREES_ONE, .gpus_per_node = GPUS};
    request.degrees.tp = request.degrees.etp = GPUS;
    request.degrees.pp = STAGES;
    request.degrees.dp = request.degrees.replicate = bench->nodes / STAGES;
    if (bench->objective == COST) {
        request.traffic = &traffic;
        request.seconds = &seconds;
    }
    for (unsigned round = 0; round < bench->rounds; round++) {
        double start = spent_milliseconds();
        run_floor(leaves, bench->nodes, counts, order, places);
        times->floor[round] = spent_milliseconds() - start;
        times->sum += places[draw((unsigned)ranks)];
        if (run_round(&request, times, places, round, err) < 0)
            return -1;
    }
    return 0;
}

static int run_bench(const struct bench *bench, struct error_info *err)
{
    CLEANUP_MEMORY unsigned *leaves = memory_allocate_array(bench->nodes, sizeof(*leaves));
    CLEANUP_MEMORY struct times *times = memory_allocate(sizeof(*times));
    if (!leaves || !times)
        return error_set_memory(err);
    CLEANUP(cluster_topology) struct cluster_topology *cluster = create_cluster(bench, leaves, err);
    if (!cluster || run_rounds(bench, cluster, leaves, times, err) < 0)
        return -1;
    double worst = print_bench(bench, times);
    if (bench->limit_milliseconds > 0 && worst > bench->limit_milliseconds * BENCH_SLACK)
        return error_set(err, "map took %.1f ms, the design says %.0f", worst,
                         bench->limit_milliseconds);
    return 0;
}

/* In a process of its own: what one bench leaves in the heap is not another's. */
static int run_apart(const struct bench *bench)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct error_info err = {.kind = ERROR_NONE};
        int failed = run_bench(bench, &err) < 0;
        if (failed)
            fprintf(stderr, "rank_map_bench: %s\n", err.text);
        exit(failed);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return -1;
    return status == 0 ? 0 : -1;
}

static bool is_asked_for(const struct bench *bench, int count, char **arguments)
{
    char nodes[16];
    if (count < 5)
        return true;
    snprintf(nodes, sizeof(nodes), "%u", bench->nodes);
    return strcmp(arguments[2], nodes) == 0 &&
           strcmp(arguments[3], layout_names[bench->layout]) == 0 &&
           strcmp(arguments[4], objective_names[bench->objective]) == 0;
}

int main(int count, char **arguments)
{
    uint64_t rounds = ROUNDS;
    struct error_info err = {.kind = ERROR_NONE};
    int status = 0;
    if (count > 1 && parse_unsigned(arguments[1], 1, ROUNDS_MAXIMUM, &rounds, &err) < 0) {
        fprintf(stderr, "rank_map_bench: %s\n", err.text);
        return 2;
    }
    for (size_t i = 0; i < COUNT_OF(sizes) * LAYOUT_COUNT * OBJECTIVE_COUNT; i++) {
        const struct size *size = &sizes[i / (LAYOUT_COUNT * OBJECTIVE_COUNT)];
        const struct bench bench = {.nodes = size->nodes,
                                    .limit_milliseconds = size->limit_milliseconds,
                                    .layout = i / OBJECTIVE_COUNT % LAYOUT_COUNT,
                                    .objective = i % OBJECTIVE_COUNT,
                                    .rounds = (unsigned)rounds};
        if (is_asked_for(&bench, count, arguments) && run_apart(&bench) < 0)
            status = 1;
    }
    return status;
}
