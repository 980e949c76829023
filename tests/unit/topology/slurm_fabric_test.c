/* SPDX-License-Identifier: MIT */
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

static void refuses_with_place(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"", "topology.conf: no SwitchName= line"},
        {"# nothing\n\n", "topology.conf: no SwitchName= line"},
        {"SwitchName=a Nodes=n1\nSwichName=b Nodes=n2\n",
         "topology.conf:2: unknown key SwichName; did you mean SwitchName"},
        {"SwitchName=a Frobnicate=1\n", "topology.conf:1: unknown key Frobnicate"},
        {"SwitchName=a Nodes=n1\n\nSwitchName=b \\\n Nodes=n1\n",
         "topology.conf:3: node n1 is in switch b, and at topology.conf:1 already in a"},
        {"SwitchName=a Switches=b\nSwitchName=b Switches=a\n", "is below itself"},
        {"SwitchName=a Switches=b\n", "topology.conf:1: switch a names b, which is not defined"},
        {"Nodes=n1\n", "topology.conf:1: SwitchName= is missing"},
        {"SwitchName= Nodes=n1\n", "topology.conf:1: SwitchName= is missing"},
        {"SwitchName=a Nodes\n", "topology.conf:1: KEY=VALUE is expected at 'Nodes'"},
        {"SwitchName=a =n1\n", "KEY=VALUE is expected"},
        {"SwitchName=a Nodes=n[1-\n", "topology.conf:1: Nodes: "},
        {"SwitchName=a Switches=b]\n", "topology.conf:1: Switches: "},
        {"SwitchName=a Nodes=\"n1\n", "the closing '\"' is missing"},
        {"SwitchName=a Nodes=n1 Nodes=n2\n", "Nodes= stands twice"},
        {"SwitchName=a Level=x Nodes=n1\n", "topology.conf:1: Level: "},
        {"BlockName=b1 Nodes=n[1-4]\n", "topology.conf:1: BlockName= is not read"},
        {"BlockSizes=4\n", "BlockSizes= is not read"},
        {"RingName=r\n", "RingName= is not read"},
        {"include other.conf\n", "KEY=VALUE is expected"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(fabric) struct fabric *fabric = parse(cases[i].text, &err);
        if (fabric)
            fail_msg("accepted: %s", cases[i].text);
        expect_message(&err, cases[i].message);
        assert_int_equal(err.kind, ERROR_INPUT);
    }
}

static void refuses_what_is_no_text(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    assert_null(fabric_parse_slurm("SwitchName=a\0", 13, "t", &err));
    expect_message(&err, "NUL byte");
    assert_null(fabric_parse_slurm("x", FABRIC_TEXT_MAXIMUM_BYTES + 1, "t", &err));
    expect_message(&err, "larger than");
}

/* 10,000 nodes in 250 leaves, named one by one as some generators do. */
static void reads_large_fabrics(void **state)
{
    (void)state;
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
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reads_every_spelling),    cmocka_unit_test(refuses_with_place),
    cmocka_unit_test(refuses_what_is_no_text), cmocka_unit_test(reads_large_fabrics),
    cmocka_unit_test(survives_lack_of_memory),
};

int main(void) { return unit_test_main("topology/slurm_fabric", tests, COUNT_OF(tests)); }
