/* SPDX-License-Identifier: MIT */
/* Random links, rails and degrees: every local rank has a GPU of its own, no TP group is off its
 * links where a partition exists that has none off, wider groups stay in domains that hold them,
 * and neither the numbers of the GPUs nor the names and order of the kinds change the rails. */
#include "mapping/gpu_mapping.h"
#include "mapping/rank_map.h"
#include "tests/support/test_cluster.h"
#include "tests/support/unit_test.h"
#include "topology/groups/nvlink_domain.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS 3000u
#define GPUS 8u
#define LINK_RATE 25e9

static uint64_t random_state = 20261130;

/* Knuth's MMIX generator: the same cases on every run and machine. */
static unsigned draw(unsigned below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return below > 0 ? (unsigned)(random_state >> 33) % below : 0;
}

/* How often the rarer properties were put to the test. */
static unsigned held_partitions, held_wider, permuted_rails;

struct sample {
    unsigned gpus, ranks, domain; /* domain 0: random links; else GPUs of each domain */
    unsigned strength[GPUS][GPUS];
    unsigned rails[GPUS];
    struct degrees degrees;
    enum rank_order order;
};

static void shuffle(unsigned *order, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        order[i] = i;
    for (unsigned i = count; i > 1; i--) {
        unsigned other = draw(i), kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
}

static unsigned draw_divisor(unsigned number)
{
    unsigned divisor;
    do
        divisor = 1 + draw(number);
    while (number % divisor != 0);
    return divisor;
}

static void draw_links(struct sample *sample)
{
    unsigned place[GPUS], density = 1 + draw(4);
    shuffle(place, sample->gpus);
    sample->domain = draw(2) ? draw_divisor(sample->gpus) : 0;
    for (unsigned i = 0; i < sample->gpus; i++) {
        for (unsigned j = 0; j < i; j++) {
            unsigned strength = draw(4) < density ? 1 + draw(2) : 0;
            if (sample->domain)
                strength = place[i] / sample->domain == place[j] / sample->domain;
            sample->strength[i][j] = sample->strength[j][i] = strength;
        }
    }
}

static void draw_sample(struct sample *sample)
{
    memset(sample, 0, sizeof(*sample));
    sample->gpus = 2 + draw(GPUS - 1);
    sample->ranks = draw(3) ? sample->gpus : 1 + draw(sample->gpus);
    draw_links(sample);
    shuffle(sample->rails, sample->gpus);
    sample->degrees = DEGREES_ONE;
    sample->degrees.tp = draw_divisor(sample->ranks);
    sample->degrees.cp = 1 + draw(4);
    sample->degrees.ep = 1 + draw(4);
    sample->degrees.shard = 1 + draw(4);
    sample->degrees.pp = 1 + draw(2);
    sample->order = (enum rank_order)draw(RANK_ORDER_COUNT);
}

/* GPU i of the sample is GPU number[i] of the node. */
static struct node_topology *create(const struct sample *sample, const unsigned *number)
{
    struct node_topology *node = test_node_create(sample->gpus, NULL, NVLINK_KNOWN);
    assert_non_null(node);
    double *rates = (double *)node->nvlink_bytes_per_second;
    enum link_kind *links = (enum link_kind *)node->links;
    for (unsigned i = 0; i < sample->gpus; i++) {
        ((struct node_nic *)node->nics)[number[i]].rail = (int)sample->rails[i];
        for (unsigned j = 0; j < sample->gpus; j++) {
            size_t pair = (size_t)number[i] * sample->gpus + number[j];
            rates[pair] = sample->strength[i][j] * LINK_RATE;
            links[pair] = i == j ? LINK_UNKNOWN : sample->strength[i][j] ? LINK_NVLINK : LINK_SYS;
        }
    }
    return node;
}

static void solve(const struct sample *sample, const struct node_topology *node, unsigned *gpus)
{
    struct error_info err = {.kind = ERROR_NONE};
    if (gpu_mapping_solve(node, &sample->degrees, sample->order, sample->ranks, gpus, &err) < 0)
        fail_msg("%s", err.text);
}

static void gpus_are_distinct(const struct sample *sample, const unsigned *gpus)
{
    bool used[GPUS] = {false};
    for (unsigned i = 0; i < sample->ranks; i++) {
        assert_in_range(gpus[i], 0, sample->gpus - 1);
        assert_false(used[gpus[i]]);
        used[gpus[i]] = true;
    }
}

static bool is_on_links(const struct node_topology *node, const unsigned *gpus, unsigned width)
{
    struct gpu_group_quality quality;
    gpu_group_rate(node, gpus, width, &quality);
    return width < 2 || quality.ring_bytes_per_second > 0;
}

static bool all_on_links(const struct node_topology *node, const unsigned *gpus, unsigned ranks,
                         unsigned width)
{
    for (unsigned at = 0; at < ranks; at += width)
        if (!is_on_links(node, gpus + at, width))
            return false;
    return true;
}

/* By force: whether so many groups fit on links into the GPUs that are not in `used`. */
static bool can_be_held(const struct node_topology *node, unsigned used, unsigned width,
                        unsigned groups)
{
    for (unsigned set = 1; groups > 0 && set < 1u << node->gpu_count; set++) {
        unsigned gpus[GPUS], count = 0;
        if (set & used || (unsigned)__builtin_popcount(set) != width)
            continue;
        for (unsigned i = 0; i < node->gpu_count; i++)
            if (set & 1u << i)
                gpus[count++] = i;
        if (is_on_links(node, gpus, width) && can_be_held(node, used | set, width, groups - 1))
            return true;
    }
    return groups == 0;
}

static void tp_groups_are_on_links(const struct sample *sample, const struct node_topology *node,
                                   const unsigned *gpus)
{
    unsigned tp = sample->degrees.tp;
    bool held = all_on_links(node, gpus, sample->ranks, tp);
    held_partitions += held && tp > 1;
    if (!held && can_be_held(node, 0, tp, sample->ranks / tp))
        fail_msg("a TP group of %u is off its links", tp);
}

static int compare_qualities(const void *left, const void *right)
{
    return gpu_group_compare(left, right);
}

static void rate_groups(const struct node_topology *node, const unsigned *gpus, unsigned width,
                        struct gpu_group_quality *qualities)
{
    unsigned count = node->gpu_count / width;
    for (unsigned i = 0; i < count; i++)
        gpu_group_rate(node, gpus + (size_t)i * width, width, &qualities[i]);
    qsort(qualities, count, sizeof(*qualities), compare_qualities);
}

/* What lies around them costs TP groups nothing. */
static void tp_groups_are_the_best(const struct sample *sample, const struct node_topology *node,
                                   const unsigned *gpus)
{
    unsigned best[NODE_MAXIMUM_GPUS], count, tp = sample->degrees.tp;
    struct gpu_group_quality theirs[GPUS], ours[GPUS];
    if (sample->ranks < sample->gpus)
        return;
    assert_int_equal(gpu_groups_partition(node, tp, best, &count, NULL), 0);
    rate_groups(node, best, tp, theirs);
    rate_groups(node, gpus, tp, ours);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(gpu_group_compare(&ours[i], &theirs[i]), 0);
}

/* Domains of equal size hold every width that divides theirs. */
static void wider_groups_stay_in_domains(const struct sample *sample,
                                         const struct node_topology *node, const unsigned *gpus)
{
    const struct degrees *degrees = &sample->degrees;
    const unsigned widths[] = {degrees->tp * degrees->cp, degrees->ep,
                               degrees->tp * degrees->cp * degrees->shard};
    bool shards_near = sample->order == ORDER_TP_CP_EP_DP_PP || degrees->pp == 1;
    for (unsigned i = 0; i < COUNT_OF(widths) - !shards_near; i++) {
        unsigned width = widths[i];
        if (sample->domain == 0 || sample->domain % width != 0 || width % degrees->tp != 0 ||
            sample->ranks < sample->gpus)
            continue;
        assert_true(all_on_links(node, gpus, sample->ranks, width));
        held_wider += width > degrees->tp;
    }
}

static void numbers_of_gpus_change_no_rail(const struct sample *sample,
                                           const struct node_topology *node, const unsigned *gpus)
{
    unsigned number[GPUS], others[GPUS];
    shuffle(number, sample->gpus);
    CLEANUP(node_topology) struct node_topology *renumbered = create(sample, number);
    solve(sample, renumbered, others);
    for (unsigned i = 0; i < sample->ranks; i++) {
        assert_int_equal(gpu_rail(node, gpus[i]), gpu_rail(renumbered, others[i]));
        permuted_rails += gpus[i] != others[i];
    }
}

static void holds_on_random_nodes(void **state)
{
    (void)state;
    static const unsigned plain[GPUS] = {0, 1, 2, 3, 4, 5, 6, 7};
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct sample sample;
        unsigned gpus[GPUS];
        draw_sample(&sample);
        CLEANUP(node_topology) struct node_topology *node = create(&sample, plain);
        solve(&sample, node, gpus);
        gpus_are_distinct(&sample, gpus);
        tp_groups_are_on_links(&sample, node, gpus);
        tp_groups_are_the_best(&sample, node, gpus);
        wider_groups_stay_in_domains(&sample, node, gpus);
        numbers_of_gpus_change_no_rail(&sample, node, gpus);
    }
    assert_true(held_partitions > 100 && held_wider > 100 && permuted_rails > 100);
}

/* Two nodes, of two kinds; turned: the kinds change places and names. */
static struct cluster_topology *create_cluster(const struct sample *samples, bool turned)
{
    static const unsigned plain[GPUS] = {0, 1, 2, 3, 4, 5, 6, 7};
    static const char *const kind_names[2][2] = {{"a", "b"}, {"x", "w"}};
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(node_list) struct node_list *names = node_list_decode("n[1-2]", &err);
    struct node_topology *kinds[2];
    const unsigned node_kinds[] = {turned, !turned};
    for (unsigned i = 0; i < 2; i++)
        kinds[node_kinds[i]] = create(&samples[i], plain);
    struct cluster_topology *cluster =
        cluster_topology_create("two", kinds, kind_names[turned], 2, names, node_kinds, NULL, &err);
    assert_non_null(cluster);
    return cluster;
}

static void names_of_kinds_change_nothing(void **state)
{
    (void)state;
    for (unsigned round = 0; round < ROUNDS / 10; round++) {
        struct sample samples[2];
        do
            draw_sample(&samples[0]);
        while (samples[0].ranks < samples[0].gpus);
        samples[1] = samples[0];
        draw_links(&samples[1]);
        struct rank_map *maps[2];
        CLEANUP(cluster_topology) struct cluster_topology *first = create_cluster(samples, false);
        CLEANUP(cluster_topology) struct cluster_topology *turned = create_cluster(samples, true);
        for (unsigned i = 0; i < 2; i++) {
            struct node_mapping_request request = {.cluster = i ? turned : first,
                                                   .degrees = DEGREES_ONE,
                                                   .gpus_per_node = samples[0].ranks};
            request.degrees.tp = samples[0].degrees.tp;
            request.degrees.dp = samples[0].ranks * 2 / request.degrees.tp;
            maps[i] = rank_map_create(&request, NULL);
            assert_non_null(maps[i]);
        }
        for (uint64_t rank = 0; rank < maps[0]->world; rank++) {
            struct rank_place places[2];
            for (unsigned i = 0; i < 2; i++)
                rank_map_place(maps[i], rank, &places[i]);
            assert_int_equal(places[0].node, places[1].node);
            assert_int_equal(places[0].gpu, places[1].gpu);
            assert_int_equal(places[0].nic, places[1].nic);
        }
        rank_map_free(maps[0]);
        rank_map_free(maps[1]);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(holds_on_random_nodes),
    cmocka_unit_test(names_of_kinds_change_nothing),
};

int main(void) { return unit_test_main("mapping/gpu_mapping (property)", tests, COUNT_OF(tests)); }
