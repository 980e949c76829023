/* SPDX-License-Identifier: MIT */
#include "tests/support/fragmented_case.h"

#include "base/memory.h"
#include "mapping/mapping_cost.h"
#include "tests/support/test_cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CASE_BYTES ((size_t)64 << 20)
#define TAPER 4.0
#define SPREAD_COLLECTIVE 0.17
#define SPREAD_MESSAGE 0.70

struct generator {
    uint64_t state;
};

static unsigned draw(struct generator *generator, unsigned below)
{
    generator->state =
        generator->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return below > 0 ? (unsigned)(generator->state >> 33) % below : 0;
}

/* --- cluster ------------------------------------------------------------------------ */

/* One node in each leaf, the others by chance: even, a few favoured, or up to a leaf's size. */
static int draw_leaves(struct generator *generator, struct fragmented_case *sample,
                       struct error_info *err)
{
    unsigned leaves = sample->leaf_count, favoured = 1 + draw(generator, leaves);
    unsigned *counts = arena_allocate_array(sample->arena, leaves, sizeof(*counts));
    unsigned *of = arena_allocate_array(sample->arena, sample->node_count, sizeof(*of));
    if (!counts || !of)
        return error_set_memory(err);
    for (unsigned leaf = 0; leaf < leaves; leaf++)
        counts[leaf] = 1;
    unsigned manner = draw(generator, 3), even = sample->node_count / leaves + 1;
    for (unsigned left = sample->node_count - leaves; left > 0; left--) {
        unsigned leaf = draw(generator, manner == 1 && draw(generator, 2) ? favoured : leaves);
        while (manner == 2 && counts[leaf] >= even)
            leaf = (leaf + 1) % leaves;
        counts[leaf]++;
    }
    for (unsigned leaf = 0, node = 0; leaf < leaves; leaf++)
        for (unsigned i = 0; i < counts[leaf]; i++)
            of[node++] = leaf;
    sample->leaves = of;
    return 0;
}

/* Racks of a few neighbours inside a leaf, some cut short; every fourth cluster has them. */
static int draw_domains(struct generator *generator, struct fragmented_case *sample, bool plain,
                        struct error_info *err)
{
    unsigned rack = draw(generator, 4) || plain ? 0 : 2 + draw(generator, 3);
    unsigned *of = arena_allocate_array(sample->arena, sample->node_count, sizeof(*of));
    if (!of)
        return error_set_memory(err);
    for (unsigned i = 0, inside = 0; i < sample->node_count; i++) {
        bool fresh = i == 0 || sample->leaves[i] != sample->leaves[i - 1] || inside >= rack ||
                     !draw(generator, 6);
        inside = fresh ? 1 : inside + 1;
        of[i] = rack == 0 ? FABRIC_NONE : sample->domain_count + fresh - 1;
        sample->domain_count += rack > 0 && fresh;
    }
    sample->domains = of;
    return 0;
}

static void draw_shape(struct generator *generator, const struct fragmented_range *range,
                       struct fragmented_case *sample)
{
    unsigned nodes = range->nodes_low + draw(generator, range->nodes_high - range->nodes_low + 1);
    unsigned low = nodes <= 64 ? 2 : nodes / 26, high = nodes <= 64 ? 8 : nodes / 7;
    high = high > nodes / 2 ? nodes / 2 : high;
    sample->node_count = nodes;
    sample->leaf_count = low + draw(generator, high - low + 1);
    sample->leaves_per_pod = draw(generator, 3) ? 0 : 2 + draw(generator, sample->leaf_count / 2);
    unsigned spare = range->plain || draw(generator, 3) ? 0 : draw(generator, nodes / 4 + 1);
    sample->block_count = nodes - spare;
    sample->tapered = !draw(generator, 3);
}

/* --- job ---------------------------------------------------------------------------- */

/* Any divisor, each as likely. */
static unsigned draw_divisor(struct generator *generator, unsigned number)
{
    unsigned count = 0;
    for (unsigned i = 1; i <= number; i++)
        count += number % i == 0;
    unsigned chosen = draw(generator, count);
    for (unsigned i = 1; i <= number; i++)
        if (number % i == 0 && chosen-- == 0)
            return i;
    return 1;
}

/* One stage, or one replica, is drawn twice as rarely. */
static unsigned draw_stages(struct generator *generator, unsigned blocks)
{
    unsigned stages = draw_divisor(generator, blocks);
    return stages == 1 || stages == blocks ? draw_divisor(generator, blocks) : stages;
}

/* Few numbers of nodes have many divisors: primes are made even, for PP x DP to mean something. */
static void draw_degrees(struct generator *generator, bool plain, struct fragmented_case *sample)
{
    struct degrees degrees = DEGREES_ONE;
    unsigned wide = plain ? 0 : draw(generator, 5);
    if (sample->block_count % 2 != 0 && draw(generator, 4))
        sample->block_count--;
    unsigned rest = sample->block_count;
    degrees.tp = degrees.etp = FRAGMENTED_GPUS;
    if (wide == 1 && rest % 2 == 0)
        degrees.cp = rest % 4 == 0 && draw(generator, 2) ? 4 : 2;
    rest /= degrees.cp;
    degrees.pp = draw_stages(generator, rest);
    degrees.dp = degrees.replicate = rest / degrees.pp;
    if (wide == 2 && degrees.dp % 2 == 0) {
        degrees.ep = FRAGMENTED_GPUS * (degrees.dp % 4 == 0 && draw(generator, 2) ? 4 : 2);
        degrees.etp = 1;
    }
    sample->degrees = degrees;
    bool inside = draw(generator, 2) && rank_order_check(ORDER_TP_CP_EP_PP_DP, &degrees, NULL) == 0;
    sample->order = inside ? ORDER_TP_CP_EP_PP_DP : ORDER_TP_CP_EP_DP_PP;
}

static void draw_traffic(struct generator *generator, struct fragmented_case *sample)
{
    const struct degrees *degrees = &sample->degrees;
    double pp = 0.25e9 * (1 + draw(generator, 20)), dp = 0.25e9 * (1 + draw(generator, 20));
    double cp = 0.5e9 * (1 + draw(generator, 8)), ep = 0.5e9 * (1 + draw(generator, 8));
    const struct traffic_flow flows[] = {
        {TRAFFIC_TP, GROUP_TP, PAIRS_RING, false, 10e9, 1},
        {TRAFFIC_CP, GROUP_CP, PAIRS_RING, false, cp, 1},
        {TRAFFIC_EP, GROUP_EP, PAIRS_ALL, false, ep / FRAGMENTED_GPUS, 1},
        {TRAFFIC_PP, GROUP_PP, PAIRS_CHAIN, true, pp, 1},
        {TRAFFIC_DP, GROUP_DP, PAIRS_RING, false, dp, 0.5 + draw(generator, 2) * 0.5},
    };
    for (unsigned i = 0; i < COUNT_OF(flows); i++)
        if (group_size(degrees, flows[i].group) > 1)
            sample->traffic.flows[sample->traffic.flow_count++] = flows[i];
}

static void fill_seconds(struct fragmented_case *sample)
{
    unsigned spines = sample->leaves_per_pod ? (sample->leaf_count + sample->leaves_per_pod - 1) /
                                                   sample->leaves_per_pod
                                             : 1;
    unsigned tiers = spines > 1 ? 3 : 2;
    struct link_seconds *seconds = &sample->seconds;
    seconds->slot_count = COST_SLOT_TIERS + tiers + 1;
    for (unsigned slot = 0; slot < COST_SLOT_TIERS; slot++)
        seconds->collective[slot] = seconds->message[slot] = 1 / 450e9;
    for (unsigned tier = 0; tier <= tiers; tier++) {
        double link = (tier > 0 && sample->tapered ? TAPER : 1) / 50e9;
        seconds->collective[COST_SLOT_TIERS + tier] = link * (1 + SPREAD_COLLECTIVE * tier);
        seconds->message[COST_SLOT_TIERS + tier] = link * (1 + SPREAD_MESSAGE * tier);
    }
}

/* --- the whole ---------------------------------------------------------------------- */

struct fragmented_case *fragmented_case_create(uint64_t seed, const struct fragmented_range *range,
                                               struct error_info *err)
{
    CLEANUP(arena) struct arena *arena = arena_create(CASE_BYTES);
    struct fragmented_case *sample = arena ? arena_allocate(arena, sizeof(*sample)) : NULL;
    struct generator generator = {seed * UINT64_C(0x9e3779b97f4a7c15)};
    if (!sample)
        return error_null(error_set_memory(err));
    *sample = (struct fragmented_case){.seed = seed, .arena = arena};
    draw(&generator, 0);
    draw_shape(&generator, range, sample);
    draw_degrees(&generator, range->plain, sample);
    draw_traffic(&generator, sample);
    fill_seconds(sample);
    if (draw_leaves(&generator, sample, err) < 0 ||
        draw_domains(&generator, sample, range->plain, err) < 0)
        return NULL;
    arena = NULL;
    return sample;
}

struct fragmented_case *fragmented_case_aligned(uint64_t seed, unsigned leaf_count,
                                                unsigned leaf_nodes, unsigned pp,
                                                struct error_info *err)
{
    CLEANUP(arena) struct arena *arena = arena_create(CASE_BYTES);
    unsigned nodes = leaf_count * leaf_nodes;
    struct fragmented_case *sample = arena ? arena_allocate(arena, sizeof(*sample)) : NULL;
    unsigned *leaves = sample ? arena_allocate_array(arena, nodes, sizeof(*leaves)) : NULL;
    unsigned *domains = leaves ? arena_allocate_array(arena, nodes, sizeof(*domains)) : NULL;
    struct generator generator = {seed * UINT64_C(0x9e3779b97f4a7c15)};
    if (!domains)
        return error_null(error_set_memory(err));
    for (unsigned i = 0; i < nodes; i++) {
        leaves[i] = i / leaf_nodes;
        domains[i] = FABRIC_NONE;
    }
    *sample = (struct fragmented_case){.seed = seed,
                                       .arena = arena,
                                       .node_count = nodes,
                                       .leaf_count = leaf_count,
                                       .block_count = nodes,
                                       .leaves = leaves,
                                       .domains = domains,
                                       .degrees = DEGREES_ONE,
                                       .order = draw(&generator, 2) ? ORDER_TP_CP_EP_PP_DP
                                                                    : ORDER_TP_CP_EP_DP_PP};
    sample->degrees.tp = sample->degrees.etp = FRAGMENTED_GPUS;
    sample->degrees.pp = pp;
    sample->degrees.dp = sample->degrees.replicate = nodes / pp;
    sample->tapered = draw(&generator, 2);
    draw_traffic(&generator, sample);
    fill_seconds(sample);
    arena = NULL;
    return sample;
}

void fragmented_case_free(struct fragmented_case *sample)
{
    if (sample)
        arena_free(sample->arena);
}

static unsigned at(const unsigned *numbers, unsigned index)
{
    return numbers ? numbers[index] : index;
}

struct cluster_topology *fragmented_case_cluster(const struct fragmented_case *sample,
                                                 const struct fragmented_naming *naming,
                                                 struct error_info *err)
{
    static const struct fragmented_naming as_it_is = {NULL, NULL, NULL};
    CLEANUP(node_list) struct node_list *names = node_list_create(err);
    CLEANUP_MEMORY unsigned *leaves = memory_allocate_array(sample->node_count, sizeof(*leaves));
    CLEANUP_MEMORY unsigned *domains = memory_allocate_array(sample->node_count, sizeof(*domains));
    naming = naming ? naming : &as_it_is;
    if (!names || !leaves || !domains)
        return error_null(error_set_memory(err));
    for (unsigned i = 0; i < sample->node_count; i++) {
        unsigned node = at(naming->order, i);
        char name[32];
        snprintf(name, sizeof(name), "n%05u", at(naming->numbers, node));
        if (node_list_add(names, name, err) < 0)
            return NULL;
        leaves[i] = at(naming->leaves, sample->leaves[node]);
        domains[i] = sample->domains[node];
    }
    const struct test_grid grid = {.names = names,
                                   .leaves = leaves,
                                   .leaf_count = sample->leaf_count,
                                   .leaves_per_pod = sample->leaves_per_pod,
                                   .domains = domains,
                                   .domain_count = sample->domain_count,
                                   .gpus = FRAGMENTED_GPUS};
    return test_grid_create(&grid, err);
}

struct node_mapping_request fragmented_case_request(const struct fragmented_case *sample,
                                                    const struct cluster_topology *cluster)
{
    return (struct node_mapping_request){.cluster = cluster,
                                         .degrees = sample->degrees,
                                         .order = sample->order,
                                         .gpus_per_node = FRAGMENTED_GPUS,
                                         .traffic = &sample->traffic,
                                         .seconds = &sample->seconds};
}

void fragmented_case_describe(const struct fragmented_case *sample, char *ret, size_t size)
{
    const struct degrees *d = &sample->degrees;
    snprintf(ret, size,
             "seed %llu: %u of %u nodes, %u leaves, %u per pod, %u domains, pp %u dp %u cp %u ep %u"
             ", %s%s",
             (unsigned long long)sample->seed, sample->block_count, sample->node_count,
             sample->leaf_count, sample->leaves_per_pod, sample->domain_count, d->pp, d->dp, d->cp,
             d->ep, rank_order_name(sample->order), sample->tapered ? ", tapered" : "");
}

/* --- placements ----------------------------------------------------------------------- */

struct block_place {
    uint64_t key;
    unsigned block;
};

static int compare_places(const void *left, const void *right)
{
    const struct block_place *l = left, *r = right;
    return (l->key > r->key) - (l->key < r->key);
}

int fragmented_case_fix(const struct fragmented_case *sample,
                        const struct cluster_topology *cluster, enum fixed_order order,
                        unsigned *ret_nodes, struct error_info *err)
{
    CLEANUP_MEMORY struct block_place *places =
        memory_allocate_array(sample->block_count, sizeof(*places));
    CLEANUP_MEMORY unsigned *nodes = memory_allocate_array(sample->node_count, sizeof(*nodes));
    if (!places || !nodes)
        return error_set_memory(err);
    if (fabric_order(cluster, nodes, err) < 0)
        return -1;
    const struct degrees *d = &sample->degrees;
    for (unsigned block = 0; block < sample->block_count; block++) {
        struct rank_coordinates rank;
        rank_coordinates_of(sample->order, d, (uint64_t)block * FRAGMENTED_GPUS, &rank);
        uint64_t outer = order == FIXED_REPLICAS ? (uint64_t)rank.dp * d->pp + rank.pp
                                                 : (uint64_t)rank.pp * d->dp + rank.dp;
        places[block] = (struct block_place){outer * d->cp + rank.cp, block};
        if (order == FIXED_RANKS)
            places[block].key = block;
    }
    qsort(places, sample->block_count, sizeof(*places), compare_places);
    for (unsigned i = 0; i < sample->block_count; i++)
        ret_nodes[places[i].block] = order == FIXED_RANKS ? i : nodes[i];
    return 0;
}

double fragmented_case_seconds(const struct fragmented_case *sample,
                               const struct cluster_topology *cluster, const unsigned *nodes)
{
    const struct rank_map map = {.cluster = cluster,
                                 .degrees = sample->degrees,
                                 .order = sample->order,
                                 .world = degrees_world(&sample->degrees),
                                 .gpus_per_node = FRAGMENTED_GPUS,
                                 .block_count = sample->block_count,
                                 .block_nodes = nodes};
    struct mapping_cost cost;
    mapping_cost_compute(&map, &sample->traffic, &sample->seconds, &cost);
    return cost.exposed_seconds;
}

struct near_sum {
    const struct fragmented_case *sample;
    unsigned flow;
    double seconds;
};

static void add_run(void *context, unsigned from, unsigned to, unsigned count)
{
    struct near_sum *sum = context;
    const struct link_seconds *seconds = &sum->sample->seconds;
    const struct traffic_flow *flow = &sum->sample->traffic.flows[sum->flow];
    unsigned slot = from == to                      ? COST_SLOT_NODE
                    : sum->sample->domain_count > 0 ? COST_SLOT_DOMAIN
                                                    : COST_SLOT_TIERS;
    double each = flow->is_message ? seconds->message[slot] : seconds->collective[slot];
    sum->seconds += count * flow->pair_bytes * flow->exposed * each;
}

double fragmented_case_near_seconds(const struct fragmented_case *sample)
{
    struct near_sum sum = {.sample = sample};
    uint64_t world = degrees_world(&sample->degrees);
    for (sum.flow = 0; sum.flow < sample->traffic.flow_count; sum.flow++) {
        struct group_line line =
            group_line_of(&sample->degrees, sample->order, sample->traffic.flows[sum.flow].group);
        group_pairs_visit(&line, sample->traffic.flows[sum.flow].pattern, world, FRAGMENTED_GPUS,
                          add_run, &sum);
    }
    return sum.seconds / (double)world;
}

/* --- the optimum ------------------------------------------------------------------------ */

static double spent_milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* In the child: what it writes is all that is known of it. */
static void search_exactly(const struct fragmented_case *sample,
                           const struct cluster_topology *cluster, int out)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct node_mapping_request request = fragmented_case_request(sample, cluster);
    struct case_optimum optimum = {.proven = false};
    request.exact = true;
    double start = spent_milliseconds();
    CLEANUP(rank_map) struct rank_map *map = rank_map_create(&request, &err);
    if (!map)
        return;
    optimum.milliseconds = spent_milliseconds() - start;
    optimum.proven = map->quality.optimal;
    optimum.seconds = fragmented_case_seconds(sample, cluster, map->block_nodes);
    if (write(out, &optimum, sizeof(optimum)) != sizeof(optimum))
        return;
}

int fragmented_case_optimum(const struct fragmented_case *sample,
                            const struct cluster_topology *cluster, unsigned limit_seconds,
                            struct case_optimum *ret, struct error_info *err)
{
    const struct rlimit limit = {limit_seconds, limit_seconds};
    struct case_optimum optimum;
    int ends[2];
    fflush(NULL);
    if (pipe(ends) < 0)
        return error_set(err, "no pipe for the exact search");
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CPU, &limit);
        search_exactly(sample, cluster, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &optimum, sizeof(optimum)) != sizeof(optimum))
        optimum = (struct case_optimum){.milliseconds = 1e3 * limit_seconds};
    close(ends[0]);
    if (child < 0)
        return error_set(err, "no child for the exact search");
    waitpid(child, NULL, 0);
    *ret = optimum;
    return 0;
}
