/* SPDX-License-Identifier: MIT */
#include "mapping/rank_map.h"
#include "mapping/wire_plan.h"
#include "tests/support/test_cluster.h"
#include "tests/support/unit_test.h"

#include <stdio.h>
#include <string.h>

#define LARGE_NODES 20000u
#define SIXTY_FOUR ((struct degrees){8, 1, 1, 8, 4, 1, 2, 1, 2})

static const struct test_switch two_leaves[] = {
    {"leaf1", "n[1-4]", NULL}, {"leaf2", "n[5-8]", NULL}, {"spine", NULL, "leaf[1-2]"}};
static const struct test_cluster eight_nodes = {
    .nodes = "n[1-8]", .gpus = 8, .switches = two_leaves, .switch_count = COUNT_OF(two_leaves)};

static struct wire_plan *create(const struct cluster_topology *cluster, struct degrees degrees,
                                unsigned tasks_per_node, const char *master, bool by_slurm,
                                struct error_info *err)
{
    const struct node_mapping_request request = {.cluster = cluster,
                                                 .degrees = degrees,
                                                 .gpus_per_node = 8,
                                                 .locality_only = degrees.tp == 0};
    CLEANUP(rank_map) struct rank_map *map = rank_map_create(&request, err);
    return map ? wire_plan_create(map, tasks_per_node, master, by_slurm, err) : NULL;
}

static char *encode(const struct wire_plan *wire, struct error_info *err)
{
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, WIRE_PLAN_MAXIMUM_BYTES);
    return wire_plan_encode(wire, &text, err) < 0 ? NULL : text_buffer_take(&text);
}

static void expect_equal(const struct wire_plan *a, const struct wire_plan *b)
{
    assert_memory_equal(&a->degrees, &b->degrees, sizeof(a->degrees));
    assert_int_equal(a->order, b->order);
    assert_int_equal(a->locality_only, b->locality_only);
    assert_int_equal(a->by_slurm, b->by_slurm);
    assert_int_equal(a->world, b->world);
    assert_int_equal(a->node_count, b->node_count);
    assert_int_equal(a->gpus_per_node, b->gpus_per_node);
    assert_int_equal(a->tasks_per_node, b->tasks_per_node);
    assert_memory_equal(a->block_nodes, b->block_nodes, a->node_count * sizeof(unsigned));
    assert_memory_equal(a->node_blocks, b->node_blocks, a->node_count * sizeof(unsigned));
    assert_string_equal(a->master, b->master);
    assert_string_equal(a->id, b->id);
    assert_true(a->cluster_digest == b->cluster_digest);
    assert_int_equal(a->facts.rails, b->facts.rails);
    assert_int_equal(a->facts.device_connections, b->facts.device_connections);
    assert_int_equal(a->facts.slurm_ranks, b->facts.slurm_ranks);
    assert_string_equal(a->facts.gpu, b->facts.gpu);
}

static void round_trips(void **state)
{
    (void)state;
    static const struct {
        struct degrees degrees;
        unsigned tasks_per_node;
        const char *master, *contains;
        bool by_slurm;
    } rows[] = {
        {SIXTY_FOUR, 8, NULL,
         ";n=64;nodes=8;per_node=8;tasks_per_node=8;tp=8;cp=1;ep=1;etp=8;pp=4;vpp=1;dp=2;shard=1;"
         "order=tp-cp-ep-dp-pp;master=n1;cluster=",
         false},
        {SIXTY_FOUR, 1, "10.0.0.7", ";tasks_per_node=1;", false},
        {SIXTY_FOUR, 8, NULL, ";order=tp-cp-ep-dp-pp;place=slurm;master=n1;", true},
        {{2, 1, 4, 1, 2, 2, 16, 4, 4}, 8, "fe80::1%eth0", ";vpp=2;dp=16;shard=4;", false},
        {{0},
         8,
         "n1.cluster.example",
         ";tasks_per_node=8;master=n1.cluster.example;cluster=",
         false},
        {{0}, 8, NULL, ";tasks_per_node=8;place=slurm;master=n1;", true},
    };
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster = test_cluster_create(&eight_nodes, &err);
    assert_non_null(cluster);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(wire_plan)
        struct wire_plan *wire = create(cluster, rows[i].degrees, rows[i].tasks_per_node,
                                        rows[i].master, rows[i].by_slurm, &err);
        assert_non_null(wire);
        CLEANUP_MEMORY char *text = encode(wire, &err);
        assert_non_null(text);
        if (!strstr(text, rows[i].contains))
            fail_msg("'%s' does not contain '%s'", text, rows[i].contains);
        CLEANUP(wire_plan) struct wire_plan *back = wire_plan_decode(text, &err);
        if (!back) {
            fail_msg("%s: %s", text, err.text);
            return;
        }
        expect_equal(wire, back);
    }
}

static void carries_facts_of_the_nodes(void **state)
{
    (void)state;
    static const struct {
        struct wire_facts facts;
        const char *written;
    } rows[] = {
        {{0}, ";shard=1;order="},
        {{.rails = 8}, ";shard=1;rails=8;order="},
        {{.device_connections = 32}, ";shard=1;connections=32;order="},
        {{.slurm_ranks = 1}, ";shard=1;slurm_ranks=1;order="},
        {{.gpu = "h100-sxm"}, ";shard=1;gpu=h100-sxm;order="},
        {{8, 1, 1, "gb200"}, ";rails=8;connections=1;slurm_ranks=1;gpu=gb200;order="},
        {{.rails = 2, .gpu = "NVIDIA H100; 80GB"}, ";rails=2;order="},
    };
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster = test_cluster_create(&eight_nodes, &err);
    assert_non_null(cluster);
    CLEANUP(wire_plan) struct wire_plan *wire = create(cluster, SIXTY_FOUR, 8, NULL, false, &err);
    assert_non_null(wire);
    char id[WIRE_PLAN_ID_BYTES] = "";
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_int_equal(wire_plan_set_facts(wire, &rows[i].facts, &err), 0);
        assert_string_not_equal(wire->id, id);
        memcpy(id, wire->id, sizeof(id));
        CLEANUP_MEMORY char *text = encode(wire, &err);
        assert_non_null(text);
        if (!strstr(text, rows[i].written))
            fail_msg("row %zu: %s", i, text);
        CLEANUP(wire_plan) struct wire_plan *back = wire_plan_decode(text, &err);
        assert_non_null(back);
        expect_equal(wire, back);
    }
}

/* Replaces one stretch of a good plan; the id still belongs to the plan before. */
static void forge(const char *good, const char *from, const char *to, char *ret, size_t bytes)
{
    const char *at = strstr(good, from);
    if (!at)
        fail_msg("'%s' does not contain '%s'", good, from);
    snprintf(ret, bytes, "%.*s%s%s", (int)(at - good), good, to, at + strlen(from));
}

static const struct forgery {
    const char *from, *to, *message;
} forgeries[] = {
    {"v=1;", "", "does not start with v=1"},
    {"v=1;", "v=2;",
     "has version '2', and this node's plugin reads 1; install one version of parplan on submit "
     "and compute nodes"},
    {"v=1;", "v=1;v=1;", "v stands twice"},
    {"n=64;", "n=65;", "nodes=8 of per_node=8 do not make n=65"},
    {"n=64;", "n=;", "n: '' is not a whole number from 1 to 2097152"},
    {"n=64;", "", "n is missing"},
    {"n=64;", "n=64;n=64;", "n stands twice"},
    {"n=64;", "n=64;gpus=8;", "unknown key 'gpus'"},
    {"n=64;", "n=64;;", "'' is not key=value"},
    {"n=64;", "n=64;tp;", "'tp' is not key=value"},
    {"nodes=8;", "nodes=0;", "nodes: '0' is not a whole number from 1 to 262144"},
    {"nodes=8;", "nodes=99999999999999999999;",
     "nodes: '99999999999999999999' is not a whole number from 1 to 262144"},
    {";per_node=8", ";per_node=8x", "per_node: '8x' is not a whole number from 1 to 64"},
    {"tasks_per_node=8", "tasks_per_node=4", "tasks_per_node=4 is neither 1 nor per_node=8"},
    {"tp=8;", "", "tp is missing"},
    {"dp=2;", "dp=4;", "tp=8,cp=1,pp=4,dp=4 do not make n=64"},
    {"tp=8;cp=1;ep=1;etp=8;pp=4;vpp=1;dp=2", "tp=16;cp=1;ep=1;etp=16;pp=4;vpp=1;dp=1",
     "id: 'ID' does not belong to this plan, whose id is OTHER"},
    {"tp=8;cp=1;ep=1;etp=8;pp=4", "tp=1;cp=8;ep=3;etp=1;pp=4",
     "ep=3,etp=1 do not divide the 16 ranks of a stage"},
    {"shard=1;", "shard=3;", "shard=3 does not divide dp=2"},
    {"order=tp-cp-ep-dp-pp;", "order=pp-tp;", NULL},
    {"order=tp-cp-ep-dp-pp;", "", "order is missing"},
    {"order=tp-cp-ep-dp-pp;", "order=tp-cp-ep-pp-dp;",
     "id: 'ID' does not belong to this plan, whose id is OTHER"},
    {"master=n1;", "place=env;master=n1;", "place: 'env' is not slurm"},
    {"master=n1;", "place=;master=n1;", "place: '' is not slurm"},
    {"master=n1;", "place=slurm;place=slurm;master=n1;", "place stands twice"},
    {"master=n1;", "place=slurm;master=n1;",
     "id: 'ID' does not belong to this plan, whose id is OTHER"},
    {"master=n1;", "master=;", "master: has 0 characters; from 1 to 255 are possible"},
    {"master=n1;", "master=$(reboot);", "master: '$(reboot)' is no host name or address"},
    {"master=n1;", "master=n2;", "id: 'ID' does not belong to this plan, whose id is OTHER"},
    {"cluster=", "cluster=0", NULL},
    {"map=", "rails=0;map=", "rails: '0' is not a whole number from 1 to 128"},
    {"map=", "rails=129;map=", "rails: '129' is not a whole number from 1 to 128"},
    {"map=", "rails=8;rails=8;map=", "rails stands twice"},
    {"map=", "rails=8;map=", "id: 'ID' does not belong to this plan, whose id is OTHER"},
    {"map=", "connections=33;map=", "connections: '33' is not a whole number from 1 to 32"},
    {"map=", "slurm_ranks=2;map=", "slurm_ranks: '2' is not a whole number from 1 to 1"},
    {"map=", "gpu=h100-sxm;map=", "id: 'ID' does not belong to this plan, whose id is OTHER"},
    {"map=0,4,1,5,2,6,3,7", "map=0,4,1,5,2,6,3,3", "map: node 3 stands for two blocks, 6 and 7"},
    {"map=0,4,1,5,2,6,3,7", "map=0-8", "map: '8' does not start with a number below 8"},
    {"map=0,4,1,5,2,6,3,7", "map=0-7", "id: 'ID' does not belong to this plan, whose id is OTHER"},
    {"id=", "id=0", NULL},
    {"id=", "id=%s%n", NULL},
    {"id=", "id=\x1b[31m", NULL},
};

static void expect_message(const struct forgery *row, const char *text, const char *id,
                           const char *other)
{
    char expected[512];
    if (!row->message)
        return;
    if (!strstr(row->message, "'ID'")) {
        assert_string_equal(text, row->message);
        return;
    }
    snprintf(expected, sizeof(expected), "id: '%s' does not belong to this plan, whose id is %s",
             id, other);
    assert_string_equal(text, expected);
}

static void refuses_forged_plans(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster = test_cluster_create(&eight_nodes, &err);
    assert_non_null(cluster);
    CLEANUP(wire_plan) struct wire_plan *wire = create(cluster, SIXTY_FOUR, 8, NULL, false, &err);
    assert_non_null(wire);
    CLEANUP_MEMORY char *good = encode(wire, &err);
    assert_non_null(good);
    for (size_t i = 0; i < COUNT_OF(forgeries); i++) {
        char bad[1024];
        forge(good, forgeries[i].from, forgeries[i].to, bad, sizeof(bad));
        CLEANUP(wire_plan) struct wire_plan *back = wire_plan_decode(bad, &err);
        if (back)
            fail_msg("accepted: %s", bad);
        assert_int_equal(err.kind, ERROR_INPUT);
        assert_null(strchr(err.text, '\n'));
        assert_null(strchr(err.text, '\x1b'));
        const char *other = strstr(err.text, "whose id is ");
        expect_message(&forgeries[i], err.text, wire->id, other ? other + 12 : "");
    }
}

static void refuses_what_is_no_plan(void **state)
{
    (void)state;
    static const char *const texts[] = {"", ";", "=", "v", "v=1", "v=1;", "hello", "v=;id="};
    struct error_info err;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        err.kind = ERROR_NONE;
        assert_null(wire_plan_decode(texts[i], &err));
        assert_int_equal(err.kind, ERROR_INPUT);
    }
    static char large[WIRE_PLAN_MAXIMUM_BYTES + 1];
    memset(large, 'v', sizeof(large) - 1);
    assert_null(wire_plan_decode(large, &err));
    assert_string_equal(err.text, "has more than 61439 characters");
    wire_plan_free(NULL);
}

static void refuses_maps_that_do_not_fit_the_step(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster = test_cluster_create(&eight_nodes, &err);
    assert_non_null(cluster);
    const struct degrees small = {8, 1, 1, 8, 2, 1, 2, 1, 2};
    assert_null(create(cluster, small, 8, NULL, false, &err));
    assert_string_equal(err.text, "the plan uses 4 of the step's 8 nodes; start the step on 4");
    assert_null(create(cluster, SIXTY_FOUR, 4, NULL, false, &err));
    assert_string_equal(err.text, "tasks_per_node=4 is neither 1 nor per_node=8");
    assert_null(create(cluster, SIXTY_FOUR, 8, "a b", false, &err));
    assert_string_equal(err.text, "master: 'a b' is no host name or address");
}

/* A plan by hand, as large as nodes get, with a random order of nodes. */
static struct rank_map large_map(struct cluster_topology *cluster, struct cluster_node *nodes,
                                 unsigned *order, unsigned count, bool shuffle)
{
    uint64_t random = 99;
    for (unsigned i = 0; i < count; i++) {
        nodes[i] = (struct cluster_node){.name = "n", .fabric_node = FABRIC_NONE};
        order[i] = i;
    }
    for (unsigned i = count - 1; shuffle && i > 0; i--) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        unsigned other = (unsigned)(random >> 33) % (i + 1), swap = order[i];
        order[i] = order[other];
        order[other] = swap;
    }
    *cluster = (struct cluster_topology){.name = "large", .nodes = nodes, .node_count = count};
    return (struct rank_map){.cluster = cluster,
                             .degrees = {8, 1, 1, 8, 1, 1, count, 1, count},
                             .world = (uint64_t)count * 8,
                             .gpus_per_node = 8,
                             .block_count = count,
                             .block_nodes = order};
}

static void fits_large_steps(void **state)
{
    (void)state;
    static struct cluster_node nodes[CLUSTER_MAXIMUM_NODES];
    static unsigned order[CLUSTER_MAXIMUM_NODES];
    static const struct {
        unsigned nodes;
        bool shuffle, fits;
    } rows[] = {{16384, true, true},
                {LARGE_NODES, true, true},
                {65536, true, false},
                {65536, false, true},
                {CLUSTER_MAXIMUM_NODES, false, true}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        struct cluster_topology cluster;
        const struct rank_map map =
            large_map(&cluster, nodes, order, rows[i].nodes, rows[i].shuffle);
        CLEANUP(wire_plan) struct wire_plan *wire = wire_plan_create(&map, 8, NULL, false, &err);
        if (!wire) {
            fail_msg("%u nodes: %s", rows[i].nodes, err.text);
            return;
        }
        CLEANUP_MEMORY char *text = encode(wire, &err);
        assert_int_equal(text != NULL, rows[i].fits);
        if (text) {
            CLEANUP(wire_plan) struct wire_plan *back = wire_plan_decode(text, &err);
            assert_non_null(back);
            expect_equal(wire, back);
        } else {
            assert_non_null(strstr(err.text, "bytes for the order of 65536 nodes"));
        }
    }
}

static int encode_and_decode(void *context, struct error_info *err)
{
    static const struct wire_facts facts = {8, 1, 1, "h100-sxm"};
    CLEANUP(wire_plan) struct wire_plan *wire = create(context, SIXTY_FOUR, 8, NULL, true, err);
    if (!wire || wire_plan_set_facts(wire, &facts, err) < 0)
        return -1;
    CLEANUP_MEMORY char *text = encode(wire, err);
    CLEANUP(wire_plan) struct wire_plan *back = text ? wire_plan_decode(text, err) : NULL;
    return back ? 0 : -1;
}

static void fails_cleanly_without_memory(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster = test_cluster_create(&eight_nodes, &err);
    if (cluster)
        unit_test_expect_clean_failures(encode_and_decode, cluster);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(round_trips),
    cmocka_unit_test(carries_facts_of_the_nodes),
    cmocka_unit_test(refuses_forged_plans),
    cmocka_unit_test(refuses_what_is_no_plan),
    cmocka_unit_test(refuses_maps_that_do_not_fit_the_step),
    cmocka_unit_test(fits_large_steps),
    cmocka_unit_test(fails_cleanly_without_memory),
};

int main(void) { return unit_test_main("mapping/wire_plan", tests, COUNT_OF(tests)); }
