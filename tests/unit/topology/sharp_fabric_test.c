/* SPDX-License-Identifier: MIT */
#include "base/text_buffer.h"
#include "tests/unit/topology/topology_fixture.h"
#include "topology/fabric_readers/fabric_readers.h"

/* Two groups of two hosts with two rails: leaves a0 a1 and b0 b1, a spine for each rail, and a
 * core that names the spines and is named by them. */
#define LISTING                                                                                    \
    "SwitchName=a0 Nodes=0x10,0x20\nSwitchName=a1 Nodes=0x11,0x21\n"                               \
    "SwitchName=core Switches=s0,s1\n"                                                             \
    "SwitchName=b0 Nodes=0x30,0x40\nSwitchName=b1 Nodes=0x31,0x41\n"                               \
    "SwitchName=s0 Switches=a0,b0,core\nSwitchName=s1 Switches=a1,b1,core\n"
#define OWNERS "n1: 0x10\nn1: 0x11\nn2: 0x21\nn2: 0x20\nn3: 0x30\nn3: 0x31\nn4: 0x40\nn4: 0x41\n"

static struct fabric *parse(const char *listing, const char *owners, struct error_info *err)
{
    return fabric_parse_sharp(listing, strlen(listing), "sharp.txt", owners, strlen(owners),
                              "guids.txt", err);
}

static struct fabric *open_texts(const char *listing, const char *owners)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct fabric *fabric = parse(listing, owners, &err);
    expect_made(fabric, &err);
    return fabric;
}

static unsigned distance(const struct fabric *fabric, const char *left, const char *right)
{
    return fabric_distance(fabric, fabric_find_node(fabric, left), fabric_find_node(fabric, right));
}

static const char *rail_leaf(const struct fabric *fabric, const char *node, unsigned rail)
{
    const struct fabric_node *found = &fabric->nodes[fabric_find_node(fabric, node)];
    assert_non_null(found->rail_leaves);
    return fabric->switches[found->rail_leaves[rail]].name;
}

static void reads_rails_through_cycles(void **state)
{
    (void)state;
    CLEANUP(fabric) struct fabric *fabric = open_texts(LISTING, OWNERS);
    assert_int_equal(fabric->warning_count, 0);
    assert_int_equal(fabric->tier_count, 3);
    assert_int_equal(fabric->rail_count, 2);
    assert_int_equal(fabric->node_count, 4);
    assert_int_equal(distance(fabric, "n1", "n2"), 0);
    assert_int_equal(distance(fabric, "n1", "n3"), 1);
    assert_string_equal(rail_leaf(fabric, "n2", 0), "a0");
    assert_string_equal(rail_leaf(fabric, "n2", 1), "a1");
    assert_string_equal(rail_leaf(fabric, "n4", 1), "b1");
    unsigned root = fabric_switch_at(fabric, 0, 2);
    assert_string_equal(fabric->switches[root].name, "core");
}

static void reads_other_spellings(void **state)
{
    (void)state;
    CLEANUP(fabric)
    struct fabric *fabric = open_texts(
        "# fabric\r\n\r\n  switchname=s nodes=00000000000000AB,0XaC linkspeed=1 # two\r\n",
        "n1:0xab\r\n\tn2:\tAC  \n");
    assert_int_equal(fabric->node_count, 2);
    assert_int_equal(fabric->rail_count, 0);
    assert_int_equal(distance(fabric, "n1", "n2"), 0);
}

static void warns_of_strangers(void **state)
{
    (void)state;
    CLEANUP(fabric)
    struct fabric *fabric =
        open_texts(LISTING "SwitchName=c0 Nodes=0x90,0x91\nSwitchName=c1 Nodes=0x92 Switches=c0\n",
                   OWNERS "n5: 0x50\nn5: 0x51\nn4: 0x42\n");
    static const char *const warnings[] = {
        "sharp.txt: 3 GUIDs are no host's in guids.txt",
        "guids.txt: host n4: 1 of 3 GUIDs are not in sharp.txt",
        "guids.txt: host n5: 2 of 2 GUIDs are not in sharp.txt",
        "sharp.txt: 2 switches without hosts join nothing and are left out",
    };
    assert_int_equal(fabric->warning_count, COUNT_OF(warnings));
    for (size_t i = 0; i < COUNT_OF(warnings); i++)
        assert_string_equal(fabric->warnings[i], warnings[i]);
    assert_int_equal(fabric->node_count, 4);
}

static void counts_many_strangers(void **state)
{
    (void)state;
    CLEANUP_DONE(text_buffer) struct text_buffer owners;
    text_buffer_init(&owners, 1u << 16);
    for (unsigned i = 0; i < 20; i++)
        text_buffer_add(&owners, "n%u: 0x%x\n", i, 0x100 + i);
    CLEANUP(fabric)
    struct fabric *fabric = open_texts("SwitchName=s Nodes=0x100\n", text_buffer_text(&owners));
    assert_int_equal(fabric->warning_count, 13);
    assert_string_equal(fabric->warnings[12],
                        "guids.txt: 7 more hosts have GUIDs that are not in sharp.txt");
}

static void refuses_with_place(void **state)
{
    (void)state;
    static const struct {
        const char *listing, *owners, *message;
    } cases[] = {
        {LISTING, "",
         "guids.txt: no line \"HOST: 0xGUID\": without the hosts' adapters the GUIDs of sharp.txt "
         "belong to nobody"},
        {LISTING, "n1 0x10\n", "guids.txt:1: \"HOST: VALUE\" is expected at 'n1 0x10'"},
        {LISTING, ": 0x10\n", "guids.txt:1: \"HOST: VALUE\" is expected at ': 0x10'"},
        {LISTING, "n[1]: 0x10\n", "guids.txt:1: 'n[1]' is no node name"},
        {LISTING, "n1:\n", "guids.txt:1: the GUID of host n1: "},
        {LISTING, "n1: 0x10\nn1: ten\n", "guids.txt:2: the GUID of host n1: "},
        {LISTING, "n1: 0x10\nn2: 0x10\n",
         "guids.txt:2: host n2 has the GUID 0000000000000010, which is host n1's already"},
        {"", OWNERS, "sharp.txt: no SwitchName= line"},
        {"SwitchName=a Nodes=0x99\n", OWNERS,
         "sharp.txt: none of the GUIDs is a host's in guids.txt; are the two of one cluster?"},
        {"SwitchName=a Nodes=0x10\nSwitchName=b Switches=a,c\n", OWNERS,
         "sharp.txt: switch c is named in Switches= and has no line"},
        {"SwitchName=a Nodes=0x10\n\nSwitchName=a Nodes=0x11\n", OWNERS,
         "sharp.txt:3: switch a stands at line 1 already"},
        {"SwitchName=a Nodes=0x10\nSwitchName=b Nodes=0x10\n", OWNERS,
         "sharp.txt:2: the GUID 0x10 stands at line 1 already"},
        {"SwitchName=a Nodes=n1\n", OWNERS, "sharp.txt:1: Nodes: "},
        {"SwitchName=a Nodes=n[1-\n", OWNERS, "sharp.txt:1: "},
        {"SwitchName=a Level=0\n", OWNERS,
         "sharp.txt:1: unknown key Level; SwitchName, Nodes and Switches are known"},
        {"Nodes=0x10\n", OWNERS, "sharp.txt:1: SwitchName= is expected first"},
        {"SwitchName=a SwitchName=b\n", OWNERS, "sharp.txt:1: SwitchName= stands twice"},
        {"SwitchName= Nodes=0x10\n", OWNERS,
         "sharp.txt:1: SwitchName= needs a name of at most 255 characters"},
        {"SwitchName\n", OWNERS, "sharp.txt:1: KEY=VALUE is expected at 'SwitchName'"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(fabric) struct fabric *fabric = parse(cases[i].listing, cases[i].owners, &err);
        if (fabric)
            fail_msg("accepted: %s", cases[i].listing);
        size_t length = strlen(cases[i].message);
        bool open_end = cases[i].message[length - 1] == ' ';
        if (strncmp(err.text, cases[i].message, open_end ? length : length + 1) != 0)
            fail_msg("'%s' is not '%s'", err.text, cases[i].message);
        assert_int_equal(err.kind, ERROR_INPUT);
    }
}

static void refuses_what_is_no_text(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    assert_null(fabric_parse_sharp(LISTING, 10, "s", "n1: 1\0", 6, "g", &err));
    assert_string_equal(err.text, "g: has a NUL byte; a text file is expected");
    assert_null(fabric_parse_sharp("x", FABRIC_TEXT_MAXIMUM_BYTES + 1, "s", "n1: 1", 5, "g", &err));
    assert_string_equal(err.text, "s: larger than 64 MiB");
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, 1u << 20);
    text_buffer_add_repeated(&text, 'x', 70000);
    assert_null(parse(text_buffer_text(&text), "n1: 1", &err));
    assert_string_equal(err.text, "sharp.txt:1: the line has more than 65535 bytes");
}

/* 10,000 hosts with 8 adapters in groups of 20, a spine for each rail, one core. */
static void reads_large_fabrics(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    CLEANUP_DONE(text_buffer) struct text_buffer listing, owners;
    text_buffer_init(&listing, (size_t)64 << 20);
    text_buffer_init(&owners, (size_t)64 << 20);
    for (unsigned leaf = 0; leaf < 500 * 8; leaf++) {
        text_buffer_add(&listing, "SwitchName=leaf%u Nodes=", leaf);
        for (unsigned i = 0; i < 20; i++)
            text_buffer_add(&listing, "%s0x%x", i > 0 ? "," : "",
                            0x100000 + (leaf / 8 * 20 + i) * 8 + leaf % 8);
        text_buffer_add_text(&listing, "\n");
    }
    for (unsigned rail = 0; rail < 8; rail++) {
        text_buffer_add(&listing, "SwitchName=spine%u Switches=core", rail);
        for (unsigned group = 0; group < 500; group++)
            text_buffer_add(&listing, ",leaf%u", group * 8 + rail);
        text_buffer_add_text(&listing, "\n");
    }
    text_buffer_add_text(&listing, "SwitchName=core Switches=spine[0-7]\n");
    for (unsigned i = 0; i < 80000; i++)
        text_buffer_add(&owners, "host%u: 0x%x\n", i / 8, 0x100000 + i);
    CLEANUP(fabric)
    struct fabric *fabric = open_texts(text_buffer_text(&listing), text_buffer_text(&owners));
    assert_int_equal(fabric->node_count, 10000);
    assert_int_equal(fabric->rail_count, 8);
    assert_int_equal(fabric->tier_count, 3);
    assert_int_equal(distance(fabric, "host0", "host19"), 0);
    assert_int_equal(distance(fabric, "host0", "host9999"), 1);
}

static int parse_small(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(fabric)
    struct fabric *fabric = parse(LISTING "SwitchName=c0 Nodes=0x90\n", OWNERS "n5: 0x50\n", err);
    return fabric ? 0 : -1;
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(parse_small, NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reads_rails_through_cycles), cmocka_unit_test(reads_other_spellings),
    cmocka_unit_test(warns_of_strangers),         cmocka_unit_test(counts_many_strangers),
    cmocka_unit_test(refuses_with_place),         cmocka_unit_test(refuses_what_is_no_text),
    cmocka_unit_test(reads_large_fabrics),        cmocka_unit_test(survives_lack_of_memory),
};

int main(void) { return unit_test_main("topology/sharp_fabric", tests, COUNT_OF(tests)); }
