/* SPDX-License-Identifier: MIT */
#include "tests/unit/topology/fabric_checks.h"
#include "tests/unit/topology/topology_fixture.h"

#include "base/text_buffer.h"
#include <stdlib.h>

static struct fabric *parse(const char *text, struct error_info *err)
{
    return fabric_parse_slurm(text, strlen(text), "topology.conf", err);
}

static void reads_every_spelling(void **state)
{
    (void)state;
    static const char *const texts[] = {
        /* topology.conf */
        "SwitchName=leaf1 Nodes=n[01-08]\n"
        "SwitchName=leaf2 Nodes=n[09-16]\n"
        "SwitchName=spine Switches=leaf[1-2]\n",
        /* other case, comments, quotes, blank lines, tabs, CR, no final newline */
        "# fabric\r\n\r\n  switchname=leaf1\tNODES=\"n[01-08]\" # first\r\n"
        "SWITCHNAME=leaf2 nodes=n[09-16] linkspeed=100\r\n"
        "SwitchName=spine switches=leaf1,leaf2",
        /* continued lines */
        "SwitchName=leaf1 \\\n  Nodes=n[01-08]\n"
        "SwitchName=leaf2 Nodes=n[09-12],\\\r\nn[13-16]\n"
        "SwitchName=spine Switches=leaf[1-2] \\\n",
        /* scontrol show topology */
        "SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=n[01-08]\n"
        "SwitchName=leaf2 Level=0 LinkSpeed=1 Nodes=n[09-16] Switches=(null)\n"
        "SwitchName=spine Level=1 LinkSpeed=1 Nodes=n[01-16] Switches=leaf[1-2]\n",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(fabric) struct fabric *fabric = parse(texts[i], &err);
        expect_made(fabric, &err);
        assert_int_equal(fabric->switch_count, 3);
        assert_int_equal(fabric->node_count, 16);
        assert_int_equal(fabric->tier_count, 2);
        unsigned first = fabric_find_node(fabric, "n01"), last = fabric_find_node(fabric, "n16");
        assert_int_equal(fabric_distance(fabric, first, last), 1);
        assert_int_equal(fabric_distance(fabric, first, fabric_find_node(fabric, "n08")), 0);
    }
}

static const struct refusal refusals[] = {
    {"", "topology.conf: no SwitchName= or BlockName= line"},
    {"# nothing\n\n", "topology.conf: no SwitchName= or BlockName= line"},
    {"BlockSizes=18\n", "topology.conf: no SwitchName= or BlockName= line"},
    {"# Warning: small\n#BlockName=b1 Nodes=n1\n# SwitchName=s Nodes=n2\nBlockSizes=20\n",
     "topology.conf:2: every block or switch is a comment, the first one here; remove the "
     "'#' where the line is meant"},
    {"SwitchName=a Nodes=n1\nSwichName=b Nodes=n2\n",
     "topology.conf:2: unknown key SwichName; did you mean SwitchName"},
    {"SwitchName=a Frobnicate=1\n",
     "topology.conf:1: unknown key Frobnicate; SwitchName, Nodes, Switches, BlockName and "
     "BlockSizes are known"},
    {"SwitchName=a Nodes=n1\n\nSwitchName=b \\\n Nodes=n1\n",
     "topology.conf:3: node n1 is in switch b, and at topology.conf:1 already in a"},
    {"SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n",
     "topology.conf:2: switch a is defined already at topology.conf:1"},
    {"SwitchName=a Switches=b\nSwitchName=b Switches=a\n", "is below itself"},
    {"SwitchName=a Switches=b\n", "topology.conf:1: switch a names b, which is not defined"},
    {"Nodes=n1\n", "topology.conf:1: SwitchName= or BlockName= is missing"},
    {"SwitchName= Nodes=n1\n", "topology.conf:1: SwitchName= or BlockName= is missing"},
    {"SwitchName=a Nodes\n", "topology.conf:1: KEY=VALUE is expected at 'Nodes'"},
    {"SwitchName=a =n1\n", "KEY=VALUE is expected"},
    {"SwitchName=a Nodes=n[1-\n", "topology.conf:1: node list 'n[1-': a '[' has no ']'"},
    {"SwitchName=a Switches=b]\n", "topology.conf:1: node list 'b]'"},
    {"SwitchName=a Nodes=\"n1\n", "the closing '\"' is missing"},
    {"SwitchName=a Nodes=n1 Nodes=n2\n", "Nodes= stands twice"},
    {"SwitchName=a Level=x Nodes=n1\n", "topology.conf:1: Level: "},
    {"SwitchName=a Nodes=block{b1}\n",
     "topology.conf:1: Nodes=block{b1} is a function that only slurmctld can resolve; write "
     "the names out"},
    {"BlockName=b Nodes=switchwith{n1}\n",
     "topology.conf:1: Nodes=switchwith{n1} is a function that only slurmctld can resolve"},
    {"RingName=r\n",
     "topology.conf:1: RingName= is not read; describe the network with SwitchName= or "
     "BlockName=, or in a cluster file"},
    {"include other.conf\n", "KEY=VALUE is expected"},
    {"SwitchName=a BlockName=b\n",
     "topology.conf:1: BlockName= does not belong to a line with SwitchName="},
    {"BlockName=b Switches=a\n",
     "topology.conf:1: Switches= does not belong to a line with BlockName="},
    {"BlockSizes=4 Nodes=n1\n",
     "topology.conf:1: Nodes= does not belong to a line with BlockSizes="},
    {"BlockName=b1 Nodes=n[1-4]\nBlockName=b2 Nodes=n4\n",
     "topology.conf:2: node n4 is in switch b2, and at topology.conf:1 already in b1"},
    {"SwitchName=s Nodes=n[1-4]\nBlockName=b1 Nodes=n1\nBlockName=b2 Nodes=n1\n",
     "topology.conf:3: node n1 is in an NVLink domain already (topology.conf:2)"},
    {"BlockName=b1 Nodes=n1\nBlockName=b1 Nodes=n2\n", "b1 is defined already"},
    {"BlockName=b1 Nodes=n1\nBlockSizes=18,40\n",
     "topology.conf:2: BlockSizes: 40 is not 18 times 2, 4, 8, … and above the size before it"},
    {"BlockName=b1 Nodes=n1\nBlockSizes=18,9\n", "topology.conf:2: BlockSizes: 9 is not 18"},
    {"BlockName=b1 Nodes=n1\nBlockSizes=18,54\n", "topology.conf:2: BlockSizes: 54 is not 18"},
    {"BlockName=b1 Nodes=n1\nBlockSizes=0\n", "topology.conf:2: BlockSizes: "},
    {"BlockName=b1 Nodes=n1\nBlockSizes=1,\n", "topology.conf:2: BlockSizes: "},
    {"BlockName=b1 Nodes=n1\nBlockSizes=1,2,4,8,16,32,64,128,256\n",
     "topology.conf:2: BlockSizes: more than 8 sizes"},
    {"BlockName=b1 Nodes=n1 BlockIndex=x\n", "topology.conf:1: BlockIndex: "},
};

static void refuses_with_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refusals); i++)
        expect_refusal(parse, &refusals[i]);
}

static void refuses_what_is_no_text(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    assert_null(fabric_parse_slurm("SwitchName=a\0", 13, "t", &err));
    expect_message(&err, "NUL byte");
    assert_null(fabric_parse_slurm("x", FABRIC_TEXT_MAXIMUM_BYTES + 1, "t", &err));
    expect_message(&err, "larger than");
    if (unit_test_is_tortured())
        return;
    static const char many[] = "SwitchName=a Nodes=a[1-1048576]\nSwitchName=b Nodes=b[1-1048576]\n"
                               "SwitchName=c Nodes=c1\n";
    assert_null(parse(many, &err));
    assert_string_equal(err.text, "topology.conf: more than 2097152 names in all lists together");
}

static const char azure_blocks[] = "# Number of Nodes in block1: 18\n"
                                   "# ClusterUUID and CliqueID:  b78ed242-7b98  32766 \n"
                                   "BlockName=block1 Nodes=n[1-18]\n"
                                   "# ClusterUUID and CliqueID: cc79d754-915f\n"
                                   "# Number of Nodes in block2: 16\n"
                                   "BlockName=block2 Nodes=n[19-34]\n"
                                   "BlockName=block3 Nodes=n[35-42]\n"
                                   "BlockSizes=5\n";

static void reads_blocks_with_ids(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(fabric) struct fabric *fabric = parse(azure_blocks, &err);
    expect_made(fabric, &err);
    assert_int_equal(fabric->domain_count, 3);
    assert_true(fabric->domains[0].candidate);
    expect_domain(fabric, 0, "block1", "b78ed242-7b98.32766", 18);
    expect_domain(fabric, 1, "block2", "cc79d754-915f", 16);
    expect_domain(fabric, 2, "block3", NULL, 8);
    assert_int_equal(fabric->switch_count, 3);
    assert_int_equal(fabric->tier_count, 1);
    assert_string_equal(fabric->tier_names[0], "block");
    expect_distance(fabric, "n1", "n18", 0);
    expect_distance(fabric, "n1", "n19", 1);
}

static void reads_comments_of_topograph(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(fabric)
    struct fabric *fabric = parse("# rack1=nvl-1\nBlockName=rack1 Nodes=n1\n"
                                  "# other=nvl-2\nBlockName=rack2 Nodes=n2\n"
                                  "# rack3 = nvl-3\nBlockName=rack3 Nodes=n3\n"
                                  "# ClusterUUID and CliqueID:\nBlockName=rack4 Nodes=n4\n",
                                  &err);
    expect_made(fabric, &err);
    expect_domain(fabric, 0, "rack1", "nvl-1", 1);
    expect_domain(fabric, 1, "rack2", NULL, 1);
    expect_domain(fabric, 2, "rack3", NULL, 1);
    expect_domain(fabric, 3, "rack4", NULL, 1);
}

static void joins_blocks_to_aggregates(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\nBlockName=b3 Nodes=n[5-6]\n"
        "BlockName=b4 Nodes=n[7-8]\nBlockName=b5 Nodes=n9,n10\nBlockSizes=2,4,16\n",
        /* scontrol show topology */
        "BlockName=b1 BlockIndex=0 Nodes=n[1-2] BlockSize=2\n"
        "BlockName=b2 BlockIndex=1 Nodes=n[3-4] BlockSize=2\n"
        "BlockName=b3 BlockIndex=2 Nodes=n[5-6] BlockSize=2\n"
        "BlockName=b4 BlockIndex=3 Nodes=n[7-8] BlockSize=2\n"
        "BlockName=b5 BlockIndex=4 Nodes=n[9-10] BlockSize=2\n"
        "AggregatedBlock=b[1-2] BlockIndex=5 Nodes=n[1-4] BlockSize=4\n"
        "AggregatedBlock=b[3-4] BlockIndex=6 Nodes=n[5-8] BlockSize=4\n"
        "AggregatedBlock=b5 BlockIndex=7 Nodes=n[9-10] BlockSize=4\n"
        "AggregatedBlock=b[1-5] BlockIndex=8 Nodes=n[1-10] BlockSize=16\n",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(fabric) struct fabric *fabric = parse(texts[i], &err);
        expect_made(fabric, &err);
        assert_int_equal(fabric->tier_count, 3);
        assert_string_equal(fabric->tier_names[1], "aggregate-4");
        assert_string_equal(fabric->tier_names[2], "aggregate-16");
        assert_int_equal(fabric->switch_count, 5 + 3 + 1);
        assert_string_equal(fabric->switches[7].name, "aggregate-4.3");
        expect_distance(fabric, "n1", "n4", 1);
        expect_distance(fabric, "n1", "n5", 2);
        expect_distance(fabric, "n5", "n8", 1);
        expect_distance(fabric, "n1", "n10", 2);
        assert_int_equal(fabric->domain_count, 5);
    }
}

/* `scontrol show topology node=n3` prints a part. */
static void leaves_aggregates_of_a_part_out(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(fabric)
    struct fabric *fabric = parse("BlockName=b2 BlockIndex=1 Nodes=n[3-4] BlockSize=2\n"
                                  "AggregatedBlock=b[1-2] BlockIndex=5 Nodes=n[1-4] BlockSize=4\n",
                                  &err);
    expect_made(fabric, &err);
    assert_int_equal(fabric->tier_count, 1);
    assert_int_equal(fabric->warning_count, 1);
    assert_string_equal(fabric->warnings[0],
                        "topology.conf: only a part of the blocks; aggregates are left out");
}

static void reads_a_tree_with_blocks(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(fabric)
    struct fabric *fabric = parse("SwitchName=s1 Nodes=n[1-2]\nSwitchName=s2 Nodes=n[3-4]\n"
                                  "BlockName=b1 Nodes=n[1-4]\nBlockSizes=4,8\n",
                                  &err);
    expect_made(fabric, &err);
    assert_int_equal(fabric->switch_count, 2);
    assert_int_equal(fabric->domain_count, 1);
    assert_int_equal(fabric->nodes[3].nvlink_block, 0);
    assert_string_equal(fabric->tier_names[0], "leaf");
}

static int parse_blocks(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(fabric)
    struct fabric *fabric = parse("# ClusterUUID and CliqueID: a 1\nBlockName=b1 Nodes=n[1-2]\n"
                                  "BlockName=b2 Nodes=n3\nBlockSizes=2,4\n",
                                  err);
    return fabric ? 0 : -1;
}

/* 10,000 nodes in 250 leaves, named one by one as some generators do. */
static void reads_large_fabrics(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE(); /* the same allocations as in the small ones, more often */
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, (size_t)4 << 20);
    for (unsigned leaf = 0; leaf < 250; leaf++) {
        text_buffer_add(&text, "SwitchName=leaf%u Nodes=", leaf);
        for (unsigned node = 0; node < 40; node++)
            text_buffer_add(&text, "%snode%05u", node > 0 ? "," : "", leaf * 40 + node);
        text_buffer_add_text(&text, "\n");
    }
    text_buffer_add_text(&text, "SwitchName=spine Switches=leaf[0-249] Nodes=node[00000-09999]\n");
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(fabric) struct fabric *fabric = parse(text_buffer_text(&text), &err);
    expect_made(fabric, &err);
    assert_int_equal(fabric->node_count, 10000);
    assert_int_equal(fabric_distance(fabric, 0, 9999), 1);
    assert_int_equal(fabric_distance(fabric, 40, 79), 0);
}

static int parse_small(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(fabric)
    struct fabric *fabric = parse("SwitchName=a Nodes=n[1-2]\nSwitchName=b Switches=a\n", err);
    return fabric ? 0 : -1;
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(parse_small, NULL);
    unit_test_expect_clean_failures(parse_blocks, NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reads_every_spelling),
    cmocka_unit_test(refuses_with_place),
    cmocka_unit_test(refuses_what_is_no_text),
    cmocka_unit_test(reads_large_fabrics),
    cmocka_unit_test(survives_lack_of_memory),
    cmocka_unit_test(reads_blocks_with_ids),
    cmocka_unit_test(reads_comments_of_topograph),
    cmocka_unit_test(joins_blocks_to_aggregates),
    cmocka_unit_test(leaves_aggregates_of_a_part_out),
    cmocka_unit_test(reads_a_tree_with_blocks),
};

int main(void) { return unit_test_main("topology/slurm_fabric", tests, COUNT_OF(tests)); }
