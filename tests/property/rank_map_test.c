/* SPDX-License-Identifier: MIT */
/* Random clusters, degrees and orders: every rank has a place of its own, TP groups stay on
 * a node, replicas stay together, and neither the order nor the names of the nodes change
 * what the mapping costs. PARPLAN_CASES sets how many. */
#include "mapping/mapping_cost.h"
#include "tests/support/test_cluster.h"
#include "tests/support/unit_test.h"

#include <stdio.h>
#include <string.h>

#define ROUNDS 400u
#define NODES_MAXIMUM 96u
#define GPUS_MAXIMUM 8u
#define RANKS_MAXIMUM (NODES_MAXIMUM * GPUS_MAXIMUM)

static uint64_t random_state = 20240607;

/* Knuth's MMIX generator: the same cases on every run and machine. */
static unsigned draw(unsigned below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return below > 0 ? (unsigned)(random_state >> 33) % below : 0;
}

/* How often the rarer properties were put to the test. */
static unsigned wide_groups_kept, near_replicas;

static void shuffle(unsigned *numbers, unsigned count)
{
    for (unsigned i = count - 1; i > 0; i--) {
        unsigned other = draw(i + 1), swap = numbers[i];
        numbers[i] = numbers[other];
        numbers[other] = swap;
    }
}

/* One random case: a shape of the cluster and a job on it. */
struct sample {
    unsigned leaves[NODES_MAXIMUM]; /* of each node */
    unsigned domains[NODES_MAXIMUM];
    unsigned domain_count; /* 0: no NVLink between nodes */
    unsigned node_count, leaf_count, leaves_per_pod;
    unsigned gpus; /* of a node */
    struct node_mapping_request request;
};

static unsigned divisor_of(unsigned number)
{
    unsigned divisor = 1 + draw(number);
    while (number % divisor != 0)
        divisor--;
    return divisor;
}

static struct degrees draw_degrees(unsigned gpus, unsigned nodes)
{
    struct degrees degrees = DEGREES_ONE;
    unsigned world = gpus * nodes;
    degrees.tp = draw(4) ? divisor_of(gpus) : gpus * divisor_of(nodes);
    unsigned rest = world / degrees.tp;
    degrees.cp = draw(3) ? 1 : divisor_of(rest);
    rest /= degrees.cp;
    degrees.pp = divisor_of(rest);
    degrees.dp = rest / degrees.pp;
    degrees.shard = draw(3) ? 1 : divisor_of(degrees.dp);
    degrees.replicate = degrees.dp / degrees.shard;
    degrees.ep = draw(3) ? 1 : divisor_of(degrees.tp * degrees.cp * degrees.dp);
    degrees.etp = degrees.ep == 1 ? degrees.tp : 1;
    return degrees;
}

/* Racks of a few neighbouring nodes inside a leaf, some of them cut short. */
static void draw_domains(struct sample *ret)
{
    unsigned rack = draw(3) ? 0 : 2 + draw(3);
    ret->domain_count = 0;
    for (unsigned i = 0, inside = 0; rack > 0 && i < ret->node_count; i++) {
        bool fresh = i == 0 || ret->leaves[i] != ret->leaves[i - 1] || inside == rack || !draw(9);
        inside = fresh ? 1 : inside + 1;
        ret->domain_count += fresh;
        ret->domains[i] = ret->domain_count - 1;
    }
}

static void draw_sample(struct sample *ret)
{
    ret->gpus = 1u << draw(4);
    ret->leaf_count = 1 + draw(8);
    ret->leaves_per_pod = draw(2) ? 0 : 1 + draw(3);
    unsigned even = draw(2) ? 1 + draw(8) : 0, count = 0;
    for (unsigned leaf = 0; leaf < ret->leaf_count; leaf++)
        for (unsigned nodes = even ? even : 1 + draw(8); nodes > 0; nodes--)
            ret->leaves[count++] = leaf;
    for (unsigned unknown = draw(4) ? 0 : draw(4); unknown > 0; unknown--)
        ret->leaves[count++] = FABRIC_NONE;
    ret->node_count = count;
    draw_domains(ret);
    unsigned used = draw(2) ? count : 1 + draw(count);
    unsigned gpus = draw(4) ? ret->gpus : divisor_of(ret->gpus);
    ret->request =
        (struct node_mapping_request){.degrees = draw_degrees(gpus, used), .gpus_per_node = gpus};
    bool inside =
        draw(2) && rank_order_check(ORDER_TP_CP_EP_PP_DP, &ret->request.degrees, NULL) == 0;
    ret->request.order = inside ? ORDER_TP_CP_EP_PP_DP : ORDER_TP_CP_EP_DP_PP;
}

/* names[i] is the number in node i's name; order[i] the node at position i of the cluster. */
static struct cluster_topology *create(const struct sample *sample, const unsigned *numbers,
                                       const unsigned *order)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(node_list) struct node_list *names = node_list_create(&err);
    unsigned leaves[NODES_MAXIMUM], domains[NODES_MAXIMUM];
    for (unsigned i = 0; i < sample->node_count; i++) {
        char name[32];
        snprintf(name, sizeof(name), "n%u", numbers[order[i]]);
        assert_int_equal(node_list_add(names, name, &err), 0);
        leaves[i] = sample->leaves[order[i]];
        domains[i] = sample->domain_count ? sample->domains[order[i]] : FABRIC_NONE;
    }
    const struct test_grid grid = {.names = names,
                                   .leaves = leaves,
                                   .leaf_count = sample->leaf_count,
                                   .leaves_per_pod = sample->leaves_per_pod,
                                   .domains = domains,
                                   .domain_count = sample->domain_count,
                                   .gpus = sample->gpus};
    struct cluster_topology *cluster = test_grid_create(&grid, &err);
    if (!cluster)
        fail_msg("%s", err.text);
    return cluster;
}

static struct rank_map *map_on(const struct sample *sample, const struct cluster_topology *cluster)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct node_mapping_request request = sample->request;
    request.cluster = cluster;
    struct rank_map *map = rank_map_create(&request, &err);
    if (!map)
        fail_msg("%s", err.text);
    return map;
}

/* --- properties --------------------------------------------------------------------- */

static void places_are_distinct(const struct sample *sample, const struct rank_map *map)
{
    static bool taken[RANKS_MAXIMUM];
    memset(taken, 0, sizeof(taken));
    assert_int_equal(map->world, degrees_world(&map->degrees));
    for (uint64_t rank = 0; rank < map->world; rank++) {
        struct rank_place place;
        rank_map_place(map, rank, &place);
        assert_true(place.node < sample->node_count && place.gpu < sample->gpus);
        assert_true(place.local_rank < map->gpus_per_node);
        assert_false(taken[place.node * GPUS_MAXIMUM + place.gpu]);
        taken[place.node * GPUS_MAXIMUM + place.gpu] = true;
    }
}

static void tp_groups_stay_on_a_node(const struct rank_map *map)
{
    if (map->gpus_per_node % map->degrees.tp != 0)
        return;
    for (uint64_t rank = 0; rank < map->world; rank++) {
        struct rank_place first, place;
        rank_map_place(map, rank - rank % map->degrees.tp, &first);
        rank_map_place(map, rank, &place);
        assert_int_equal(place.node, first.node);
    }
}

/* TP groups wider than a node stay in an NVLink domain where enough of them fit whole. */
static void tp_groups_stay_in_a_domain(const struct sample *sample, const struct rank_map *map)
{
    unsigned nodes = map->degrees.tp / map->gpus_per_node, sizes[NODES_MAXIMUM] = {0}, room = 0;
    if (sample->domain_count == 0 || nodes < 2)
        return;
    for (unsigned i = 0; i < sample->node_count; i++)
        sizes[sample->domains[i]]++;
    for (unsigned i = 0; i < sample->domain_count; i++)
        room += sizes[i] - sizes[i] % nodes;
    if (room < map->block_count)
        return;
    struct mapping_cost cost;
    mapping_cost_compute(map, NULL, NULL, &cost);
    for (unsigned slot = COST_SLOT_TIERS; slot < cost.slot_count; slot++)
        assert_int_equal(cost.pairs[TRAFFIC_TP][slot], 0);
    wide_groups_kept++;
}

/* Equal leaves below one spine, all used, and neither leaf nor cell nor replica ends inside
 * another. Returns the nodes of a replica, or 0. */
static unsigned aligned_replica(const struct sample *sample, const struct rank_map *map)
{
    const struct degrees *degrees = &map->degrees;
    if (sample->leaf_count == 0)
        return 0;
    unsigned cell = degrees->tp * degrees->cp / map->gpus_per_node;
    unsigned leaf = sample->node_count / sample->leaf_count, replica = cell * degrees->pp;
    if (degrees->ep != 1 || degrees->shard != 1 || map->block_count != sample->node_count ||
        sample->leaves_per_pod || sample->domain_count)
        return 0;
    if (leaf == 0 || cell == 0 || degrees->tp * degrees->cp % map->gpus_per_node != 0)
        return 0;
    for (unsigned i = 0; i < sample->node_count; i++)
        if (sample->leaves[i] != i / leaf)
            return 0;
    bool nested = leaf % cell == 0 && (replica % leaf == 0 || leaf % replica == 0);
    return nested ? replica : 0;
}

/* Then replica i holds the i-th nodes of the fabric order, from the first stage to the last. */
static void replicas_are_near(const struct sample *sample, const struct rank_map *map)
{
    unsigned nodes = aligned_replica(sample, map);
    if (nodes == 0)
        return;
    for (uint64_t rank = 0; rank < map->world; rank++) {
        struct rank_place place;
        rank_map_place(map, rank, &place);
        assert_int_equal(place.node / nodes, place.coordinates.dp);
    }
    near_replicas++;
}

static void same_cost(const struct rank_map *left, const struct rank_map *right, const char *what)
{
    struct mapping_cost a, b;
    mapping_cost_compute(left, NULL, NULL, &a);
    mapping_cost_compute(right, NULL, NULL, &b);
    assert_int_equal(a.slot_count, b.slot_count);
    for (unsigned d = 0; d < TRAFFIC_DIMENSION_COUNT; d++)
        for (unsigned slot = 0; slot < a.slot_count; slot++)
            if (a.pairs[d][slot] != b.pairs[d][slot])
                fail_msg("%s: %s pairs over %s: %llu and %llu", what,
                         traffic_dimension_name((enum traffic_dimension)d), a.slot_names[slot],
                         (unsigned long long)a.pairs[d][slot],
                         (unsigned long long)b.pairs[d][slot]);
}

static void same_bytes(const struct rank_map *left, const struct rank_map *right)
{
    assert_int_equal(left->block_count, right->block_count);
    assert_memory_equal(left->block_nodes, right->block_nodes,
                        left->block_count * sizeof(*left->block_nodes));
}

/* What the cost table says is what counting rank by rank says. */
static void cost_is_exact(const struct rank_map *map)
{
    struct mapping_cost cost;
    mapping_cost_compute(map, NULL, NULL, &cost);
    const struct degrees *d = &map->degrees;
    uint64_t pp[COST_SLOT_MAXIMUM] = {0}, dp[COST_SLOT_MAXIMUM] = {0};
    for (uint64_t rank = 0; rank < map->world; rank++) {
        struct rank_place here, next;
        rank_map_place(map, rank, &here);
        const struct rank_coordinates *at = &here.coordinates;
        if (at->pp + 1 < d->pp) {
            rank_map_place(map, rank_of(map->order, d, at->tp, at->cp, at->dp, at->pp + 1), &next);
            int distance = cluster_distance(map->cluster, here.node, next.node);
            pp[distance + 2]++;
        }
        if (d->dp > 1) {
            unsigned other = (at->dp + 1) % d->dp;
            rank_map_place(map, rank_of(map->order, d, at->tp, at->cp, other, at->pp), &next);
            int distance = cluster_distance(map->cluster, here.node, next.node);
            dp[distance + 2]++;
        }
    }
    assert_memory_equal(pp, cost.pairs[TRAFFIC_PP], sizeof(pp));
    assert_memory_equal(dp, cost.pairs[TRAFFIC_DP], sizeof(dp));
}

static void check_sample(const struct sample *sample)
{
    unsigned plain[NODES_MAXIMUM], order[NODES_MAXIMUM] = {0}, numbers[NODES_MAXIMUM] = {0};
    for (unsigned i = 0; i < sample->node_count; i++)
        plain[i] = order[i] = numbers[i] = i;
    shuffle(order, sample->node_count);
    shuffle(numbers, sample->node_count);
    CLEANUP(cluster_topology) struct cluster_topology *cluster = create(sample, plain, plain);
    CLEANUP(cluster_topology) struct cluster_topology *reordered = create(sample, plain, order);
    CLEANUP(cluster_topology) struct cluster_topology *renamed = create(sample, numbers, plain);
    CLEANUP(rank_map) struct rank_map *map = map_on(sample, cluster);
    CLEANUP(rank_map) struct rank_map *again = map_on(sample, cluster);
    CLEANUP(rank_map) struct rank_map *map_reordered = map_on(sample, reordered);
    CLEANUP(rank_map) struct rank_map *map_renamed = map_on(sample, renamed);
    places_are_distinct(sample, map);
    tp_groups_stay_on_a_node(map);
    tp_groups_stay_in_a_domain(sample, map);
    replicas_are_near(sample, map);
    same_bytes(map, again);
    cost_is_exact(map);
    same_cost(map, map_reordered, "reordered");
    same_cost(map, map_renamed, "renamed");
}

static void holds_on_random_clusters(void **state)
{
    (void)state;
    unsigned rounds = unit_test_cases(ROUNDS);
    for (unsigned round = 0; round < rounds; round++) {
        struct sample sample;
        draw_sample(&sample);
        check_sample(&sample);
    }
    assert_true(rounds < ROUNDS || (wide_groups_kept > 2 && near_replicas > 2));
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(holds_on_random_clusters)};

int main(void) { return unit_test_main("mapping/rank_map (property)", tests, COUNT_OF(tests)); }
