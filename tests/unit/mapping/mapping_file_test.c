/* SPDX-License-Identifier: MIT */
#include "base/text_buffer.h"
#include "mapping/evaluation/mapping_file.h"
#include "tests/support/test_cluster.h"
#include "tests/support/unit_test.h"

#include <string.h>

/* Four nodes of two GPUs; the plans have four ranks. */
static const struct test_cluster four_nodes = {.nodes = "n[1-4]", .gpus = 2};
#define WORLD 4u

static struct rank_places *parse(const struct cluster_topology *cluster, const char *text,
                                 struct error_info *err)
{
    return mapping_file_parse(text, strlen(text), "there", cluster, WORLD, err);
}

/* Digits: the node (1 to 4) of each rank. */
static const struct {
    const char *name, *text, *nodes, *gpus;
} valid[] = {
    {"Slurm's hostfile", "n1\nn1\nn2\nn2\n", "1122", "0101"},
    {"in any order of nodes", "n4\nn1\nn4\nn1", "4141", "0011"},
    {"comments, blanks, an empty line, carriage returns",
     "# hosts\r\n n1 \r\n\r\nn2 # two\nn3\nn4\n", "1234", "0000"},
    {"a count and commas", "n2*2\nn1,n3\n", "2213", "0100"},
    {"Open MPI's slots", "n1 slots=2\nn2 slots=2 max_slots=8\n", "1122", "0101"},
    {"more slots than ranks", "n3 slots=2\nn2\tmax-slots=8 slots=1\nn1 slots=2\n", "3321", "0100"},
    {"MPICH's slots", "n3:1\nn2:2\nn1:2\n", "3221", "0010"},
    {"a name without slots is one", "n3\nn2:2\nn1\n", "3221", "0010"},
    {"rankfile", "rank 0=n1 slot=0\nrank 1=n1 slot=1\nrank 2=n2 slot=0:1\nrank 3=n4 slot=1-2\n",
     "1124", "0100"},
    {"rankfile in another order",
     "rank 3=n1 slot=0\nrank 2=n1 slots=p1,3\nrank 0=n2 slot=*\n"
     "rank 1=n4 slot=0:0-1\n",
     "2411", "0001"},
    {"blanks in a rankfile",
     "rank\t0 = n1 slot = 0\nrank 1=n2  slot=1\nrank 2=n3 slot=1\n"
     "rank 3=n4 slot=1",
     "1234", "0000"},
    {"srun --label", "3: n1\n0: n2\n2: n4\n1: n3\n", "2341", "0000"},
    {"srun --label with a width and a domain", "03: n1.cluster.example\n 0: n2\n2: n2\n01: n1\n",
     "2121", "0011"},
    {"a document",
     " \n{\"schema\": \"parplan.map/1\", \"ranks\": [{\"rank\": 1, \"node\": \"n1\", \"gpu\": 1},"
     "{\"rank\": 0, \"node\": \"n1\", \"gpu\": 0}, {\"rank\": 3, \"node\": \"n3\", \"gpu\": 1},"
     "{\"rank\": 2, \"node\": \"n2\", \"gpu\": 1}]}",
     "1123", "0111"},
    {"a document without GPUs",
     "{\"ranks\": [{\"rank\": 0, \"node\": \"n2\"}, {\"rank\": 1, \"node\": \"n2\", \"gpu\": null},"
     "{\"rank\": 2, \"node\": \"n1\"}, {\"rank\": 3, \"node\": \"n1\"}],"
     "\"schema\": \"parplan.map/1\"}",
     "2211", "0101"},
};

#define DOCUMENT(items) "{\"schema\": \"parplan.map/1\", \"ranks\": [" items "]}"
#define ITEM(rank, node, gpu) "{\"rank\": " #rank ", \"node\": \"" node "\", \"gpu\": " #gpu "}"
#define REST ", " ITEM(1, "n1", 1) ", " ITEM(2, "n2", 0) ", " ITEM(3, "n2", 1)

static const struct {
    const char *text, *error;
} invalid[] = {
    {"", "there: no rank is in it; give one line for each"},
    {"# nothing\n\n", "there: no rank is in it"},
    {"n1\nn9\nn2\nn2\n", "there:2: node 'n9' is not in "},
    {"n1\nn1\nn1\nn2\n", "there:3: n1 gets 3 ranks, but has 2 GPUs; put some on other nodes"},
    {"n1\nn2\n", "there: 2 ranks, but the plan has 4; give a place for each rank of the plan"},
    {"n1\n", "there: 1 rank, but the plan has 4"},
    {"n1\nn2\nn3\nn4\nn1\n", "there: 5 ranks, but the plan has 4"},
    {"n1:2\nn2\n", "there: 3 ranks, but the plan has 4"},
    {"n1 slots=two\n", "there:1: slots: 'two' is not a whole number from 1 to"},
    {"n1 slots\n", "there:1: slots: '' is not a whole number"},
    {"n1 slots=0\n", "there:1: slots: '0' is not"},
    {"n1:0\n", "there:1: n1: '0' is not"},
    {"n1:2:3\n", "there:1: n1: '2:3' is not"},
    {"n1*x\n", "there:1: n1: 'x' is not"},
    {"n1 n2\n",
     "there:1: \"NODE, NODE slots=N or NODE:N\" is expected, as in the lines before, at"},
    {"n1,,n2\n", "there:1: \"NODE, NODE slots=N or NODE:N\" is expected"},
    {":2\n", "there:1: node '' is not in"},
    {"n1\nrank 1=n1 slot=0\n", "there:2: \"NODE, NODE slots=N or NODE:N\" is expected"},
    {"n[1-4]\n", "there:1: node 'n[1-4]' is not in"},
    {"rank 0=+n0 slot=0\n",
     "there:1: '+n0' counts the nodes of an allocation; write the node's name"},
    {"rank 0=n1 slot=0\nn2\n", "there:2: \"rank R=NODE slot=S\" is expected, as in the lines "
                               "before, at 'n2'"},
    {"rank 0=n1\n", "there:1: \"rank R=NODE slot=S\" is expected"},
    {"rank 0=\n", "there:1: \"rank R=NODE slot=S\" is expected"},
    {"rank 0=n1 slot=\n", "there:1: \"rank R=NODE slot=S\" is expected"},
    {"rank 0=n1 slot=one\n", "there:1: \"rank R=NODE slot=S\" is expected"},
    {"rank 0=n1 socket=1\n", "there:1: \"rank R=NODE slot=S\" is expected"},
    {"rank x=n1 slot=0\n", "there:1: rank: 'x' is not a whole number"},
    {"rank -1=n1 slot=0\n", "there:1: rank: '-1' is not a whole number"},
    {"rank 4=n1 slot=0\n", "there:1: rank 4, but the plan has ranks 0 to 3; plan for as many"},
    {"rank 0=n1 slot=0\nrank 0=n2 slot=0\n",
     "there:2: rank 0 stands twice, first in line 1; keep one"},
    {"rank 0=n1 slot=0\nrank 1=n1 slot=1\nrank 3=n2 slot=0\n",
     "there: rank 2 is missing, 3 of 4 ranks have a place; add the rest"},
    {"0: n1\n1: n1\nn2\n", "there:3: \"R: NODE\" is expected"},
    {"0: n1 n2\n", "there:1: \"R: NODE\" is expected"},
    {"0: n1\n1: n9\n", "there:2: node 'n9' is not in"},
    {"99999999999999999999: n1\n", "there:1: rank: '99999999999999999999' is not"},
    {"{", "there: "},
    {"{}", "there: schema: parplan.map/1 is expected, not ''; give what `parplan map"},
    {"{\"schema\": \"parplan.plan/1\"}",
     "there: schema: parplan.map/1 is expected, not 'parplan.pl"},
    {"{\"schema\": \"parplan.map/1\"}", "there: `ranks` is not a list"},
    {"{\"schema\": \"parplan.map/1\", \"ranks\": {}}", "there: `ranks` is not a list"},
    {DOCUMENT(ITEM(0, "n1", 0)), "there: 1 rank, but the plan has 4"},
    {DOCUMENT("1, 2, 3, 4"), "there: ranks[0]: `rank` is not the number of a rank"},
    {DOCUMENT("{\"rank\": 0}" REST), "there: ranks[0]: `node` is not the name of a node"},
    {DOCUMENT(ITEM(0, "n1", "x") REST), "there: ranks[0]: `gpu` is not the number of a GPU"},
    {DOCUMENT(ITEM(0, "n1", -1) REST), "there: ranks[0]: `gpu` is not the number of a GPU"},
    {DOCUMENT(ITEM(0, "n1", 2) REST), "there: ranks[0]: GPU 2 of n1 does not exist, it has 2; use"},
    {DOCUMENT(ITEM(0, "n1", 1) REST), "there: ranks[1]: GPU 1 of n1 holds rank 0 already; give"},
    {DOCUMENT(ITEM(0, "n1", null) REST), "there: ranks[1]: the GPU is told for some ranks only"},
    {DOCUMENT(ITEM(3, "n1", 0) REST), "there: ranks[3]: rank 3 stands twice, first in item 0"},
    {DOCUMENT(ITEM(0, "n5", 0) REST), "there: ranks[0]: node 'n5' is not in"},
};

static void reads_every_format(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster = test_cluster_create(&four_nodes, &err);
    assert_non_null(cluster);
    for (size_t i = 0; i < COUNT_OF(valid); i++) {
        CLEANUP(rank_places) struct rank_places *places = parse(cluster, valid[i].text, &err);
        if (!places)
            fail_msg("%s: %s", valid[i].name, err.text);
        for (unsigned rank = 0; rank < WORLD; rank++) {
            if (places->nodes[rank] + 1 != (unsigned)(valid[i].nodes[rank] - '0') ||
                places->gpus[rank] != (unsigned)(valid[i].gpus[rank] - '0'))
                fail_msg("%s: rank %u is on n%u, GPU %u", valid[i].name, rank,
                         places->nodes[rank] + 1, places->gpus[rank]);
        }
        assert_int_equal(places->world, WORLD);
    }
}

static void refuses_in_one_line(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster = test_cluster_create(&four_nodes, &err);
    assert_non_null(cluster);
    for (size_t i = 0; i < COUNT_OF(invalid); i++) {
        err = (struct error_info){.kind = ERROR_NONE};
        CLEANUP(rank_places) struct rank_places *places = parse(cluster, invalid[i].text, &err);
        if (places || err.kind != ERROR_INPUT || strstr(err.text, invalid[i].error) != err.text)
            fail_msg("'%s': '%s'", invalid[i].text, places ? "read" : err.text);
    }
}

static void refuses_what_is_no_text(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster = test_cluster_create(&four_nodes, &err);
    assert_non_null(cluster);
    assert_null(mapping_file_parse("n1\0n2", 5, "there", cluster, WORLD, &err));
    assert_string_equal(err.text, "there: has a NUL byte; a text file is expected");
    CLEANUP_MEMORY char *line = memory_allocate(70000);
    assert_non_null(line);
    memset(line, 'n', 69999);
    assert_null(parse(cluster, line, &err));
    assert_non_null(strstr(err.text, "there:1: the line has more than"));
}

/* 24 mappings, each written as every line format that can hold it. */
static void write_places(const unsigned *nodes, unsigned format, struct text_buffer *out)
{
    for (unsigned i = 0; i < WORLD; i++) {
        unsigned rank = format == 0 ? i : WORLD - 1 - i;
        if (format == 0)
            text_buffer_add(out, "n%u\n", nodes[rank] + 1);
        else if (format == 1)
            text_buffer_add(out, "rank %u=n%u slot=%u\n", rank, nodes[rank] + 1, i);
        else
            text_buffer_add(out, "%u: n%u\n", rank, nodes[rank] + 1);
    }
}

static void comes_back_the_same(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster = test_cluster_create(&four_nodes, &err);
    assert_non_null(cluster);
    for (unsigned code = 0; code < 256 * 3; code++) {
        unsigned nodes[WORLD], ranks_on[4] = {0}, most = 0;
        for (unsigned rank = 0; rank < WORLD; rank++) {
            nodes[rank] = code / 3 >> (2 * rank) & 3;
            ranks_on[nodes[rank]]++;
            most = ranks_on[nodes[rank]] > most ? ranks_on[nodes[rank]] : most;
        }
        CLEANUP_DONE(text_buffer) struct text_buffer text;
        text_buffer_init(&text, 4096);
        write_places(nodes, code % 3, &text);
        CLEANUP(rank_places)
        struct rank_places *places = parse(cluster, text_buffer_text(&text), &err);
        assert_int_equal(places != NULL, most <= 2);
        if (places)
            assert_memory_equal(places->nodes, nodes, sizeof(nodes));
    }
}

static int read_once(void *context, struct error_info *err)
{
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster = test_cluster_create(&four_nodes, err);
    CLEANUP(rank_places) struct rank_places *places = cluster ? parse(cluster, context, err) : NULL;
    return places ? 0 : -1;
}

static void fails_cleanly_without_memory(void **state)
{
    (void)state;
    static char lines[] =
        "rank 0=n1 slot=0\nrank 1=n1 slot=1\nrank 2=n2 slot=0\nrank 3=n2 slot=1\n";
    static char document[] = DOCUMENT(ITEM(0, "n1", 0) REST);
    unit_test_expect_clean_failures(read_once, lines);
    unit_test_expect_clean_failures(read_once, document);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_format),           cmocka_unit_test(refuses_in_one_line),
        cmocka_unit_test(refuses_what_is_no_text),      cmocka_unit_test(comes_back_the_same),
        cmocka_unit_test(fails_cleanly_without_memory),
    };
    return unit_test_main("mapping/evaluation/mapping_file", tests, COUNT_OF(tests));
}
