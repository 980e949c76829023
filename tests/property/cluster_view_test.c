/* SPDX-License-Identifier: MIT */
/* Random clusters of Kubernetes: in whatever order its nodes come, the view is the same, and other
 * names of nodes change nothing of what a plan on it costs. PARPLAN_CASES sets how many. */
#include "mapping/mapping_cost.h"
#include "mapping/rank_map.h"
#include "tests/unit/k8s_extender/view_fixture.h"

#define ROUNDS 60u
#define NODES_MAXIMUM 48u
#define RACK_NODES 3u
#define RACKS_MAXIMUM 18u

static uint64_t random_state = 20261130;

/* Knuth's MMIX generator: the same cases on every run and machine. */
static unsigned draw(unsigned below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return below > 0 ? (unsigned)(random_state >> 33) % below : 0;
}

static void shuffle(unsigned *numbers, unsigned count)
{
    for (unsigned i = count - 1; i > 0; i--) {
        unsigned other = draw(i + 1), swap = numbers[i];
        numbers[i] = numbers[other];
        numbers[other] = swap;
    }
}

struct sample {
    unsigned count, leaf_nodes, leaf_count;
    unsigned gpus; /* of a node: trays of 4, or machines of 8 */
    bool has_fabric, annotated[NODES_MAXIMUM], has_clique[NODES_MAXIMUM];
    const char *annotations[RACKS_MAXIMUM]; /* one for each rack */
};

/* Racks end with their leaf. */
static unsigned rack_of(const struct sample *sample, unsigned node)
{
    unsigned racks = (sample->leaf_nodes + RACK_NODES - 1) / RACK_NODES;
    return node / sample->leaf_nodes * racks + node % sample->leaf_nodes / RACK_NODES;
}

static struct node_record *draw_node(const struct sample *sample, unsigned node, unsigned number)
{
    char name[32], labels[512];
    bool tray = sample->gpus == 4;
    int used = snprintf(labels, sizeof(labels), "nvidia.com/gpu.product=%s",
                        tray ? "NVIDIA-GB200" : "NVIDIA-H100-80GB-HBM3");
    if (sample->has_fabric)
        used += snprintf(labels + used, sizeof(labels) - (size_t)used,
                         " fabric.topograph.run/tier-0=l%u fabric.topograph.run/tier-1=s",
                         node / sample->leaf_nodes);
    if (tray && sample->has_clique[node])
        snprintf(labels + used, sizeof(labels) - (size_t)used, " nvidia.com/gpu.clique=c%u.1",
                 rack_of(sample, node));
    snprintf(name, sizeof(name), "n%u", number);
    return make_node(name, sample->gpus, labels,
                     sample->annotated[node] ? sample->annotations[rack_of(sample, node)] : NULL);
}

static void draw_sample(struct sample *ret)
{
    *ret = (struct sample){.leaf_nodes = 1 + draw(8), .leaf_count = 1 + draw(6)};
    ret->count = ret->leaf_nodes * ret->leaf_count;
    ret->gpus = draw(2) ? 4 : 8;
    ret->has_fabric = draw(4) > 0;
    for (unsigned rack = 0; rack < RACKS_MAXIMUM; rack++) {
        char clique[32];
        snprintf(clique, sizeof(clique), "c%u.1", rack);
        ret->annotations[rack] =
            ret->gpus == 4 ? annotation_of("gb200-nvl72", clique) : annotation_of("dgx-h100", NULL);
    }
    /* Who has no annotation has its clique's label, so that each tray is in its rack. */
    for (unsigned i = 0; i < ret->count; i++) {
        ret->annotated[i] = draw(2);
        ret->has_clique[i] = !ret->annotated[i] || draw(2);
    }
}

static void sample_done(struct sample *sample)
{
    for (unsigned rack = 0; rack < RACKS_MAXIMUM; rack++)
        memory_free((void *)sample->annotations[rack]);
}

/* numbers[i]: of node i's name; order[i]: the node that comes i-th. */
static struct cluster_view *view_of(const struct sample *sample, const unsigned *numbers,
                                    const unsigned *order)
{
    struct node_record *nodes[NODES_MAXIMUM];
    for (unsigned i = 0; i < sample->count; i++)
        nodes[i] = draw_node(sample, order[i], numbers[order[i]]);
    struct cluster_view *view = make_view(nodes, sample->count);
    assert_int_equal(view->warning_count, 0);
    assert_int_equal(view->cluster->node_count, sample->count);
    free_nodes(nodes, sample->count);
    return view;
}

static struct rank_map *map_on(const struct sample *sample, const struct cluster_view *view)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct degrees degrees = DEGREES_ONE;
    degrees.tp = sample->gpus;
    degrees.etp = degrees.tp;
    degrees.pp = sample->leaf_count;
    degrees.dp = sample->leaf_nodes;
    degrees.replicate = degrees.dp;
    const struct node_mapping_request request = {.cluster = view->cluster,
                                                 .degrees = degrees,
                                                 .gpus_per_node = sample->gpus,
                                                 .order = ORDER_TP_CP_EP_DP_PP};
    struct rank_map *map = rank_map_create(&request, &err);
    expect_made(map, &err);
    return map;
}

static void same_cost(const struct rank_map *left, const struct rank_map *right)
{
    struct mapping_cost a, b;
    mapping_cost_compute(left, NULL, NULL, &a);
    mapping_cost_compute(right, NULL, NULL, &b);
    assert_int_equal(a.slot_count, b.slot_count);
    assert_memory_equal(a.pairs, b.pairs, sizeof(a.pairs));
}

static void check_sample(const struct sample *sample)
{
    unsigned plain[NODES_MAXIMUM], order[NODES_MAXIMUM], numbers[NODES_MAXIMUM];
    for (unsigned i = 0; i < sample->count; i++)
        plain[i] = order[i] = numbers[i] = i;
    shuffle(order, sample->count);
    shuffle(numbers, sample->count);
    CLEANUP(cluster_view) struct cluster_view *view = view_of(sample, plain, plain);
    CLEANUP(cluster_view) struct cluster_view *reordered = view_of(sample, plain, order);
    CLEANUP(cluster_view) struct cluster_view *renamed = view_of(sample, numbers, order);
    assert_true(view->digest == reordered->digest);
    assert_true(cluster_digest(view->cluster) == cluster_digest(reordered->cluster));
    CLEANUP(rank_map) struct rank_map *map = map_on(sample, view);
    CLEANUP(rank_map) struct rank_map *map_reordered = map_on(sample, reordered);
    CLEANUP(rank_map) struct rank_map *map_renamed = map_on(sample, renamed);
    assert_memory_equal(map->block_nodes, map_reordered->block_nodes,
                        map->block_count * sizeof(*map->block_nodes));
    same_cost(map, map_reordered);
    same_cost(map, map_renamed);
}

static void the_order_and_names_of_nodes_do_not_count(void **state)
{
    (void)state;
    unsigned rounds = unit_test_cases(ROUNDS);
    for (unsigned round = 0; round < rounds; round++) {
        struct sample sample;
        draw_sample(&sample);
        check_sample(&sample);
        sample_done(&sample);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_order_and_names_of_nodes_do_not_count)};

int main(void)
{
    return unit_test_main("k8s_extender/cluster_view (property)", tests, COUNT_OF(tests));
}
