/* SPDX-License-Identifier: MIT */
#include "tests/unit/topology/ib_listing.h"
#include "tests/unit/topology/topology_fixture.h"
#include "topology/fabric_readers/fabric_readers.h"

#define NDR 50e9 /* bytes per second of 4xNDR */

static struct fabric *parse(const char *text, struct error_info *err)
{
    return fabric_parse_ibnetdiscover(text, strlen(text), "ib.txt", err);
}

static struct fabric *open_text(const char *text)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct fabric *fabric = parse(text, &err);
    expect_made(fabric, &err);
    return fabric;
}

static struct fabric *open_site(const struct ib_site *site)
{
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    ib_listing_write(&text, site);
    assert_false(text_buffer_failed(&text));
    return open_text(text_buffer_text(&text));
}

static const char *switch_at(const struct fabric *fabric, const char *node, unsigned tier)
{
    unsigned at = fabric_switch_at(fabric, fabric_find_node(fabric, node), tier);
    return at == FABRIC_NONE ? "" : fabric->switches[at].name;
}

static const char *rail_leaf(const struct fabric *fabric, const char *node, unsigned rail)
{
    const struct fabric_node *found = &fabric->nodes[fabric_find_node(fabric, node)];
    assert_non_null(found->rail_leaves);
    unsigned leaf = found->rail_leaves[rail];
    return leaf == FABRIC_NONE ? "" : fabric->switches[leaf].name;
}

static unsigned distance(const struct fabric *fabric, const char *left, const char *right)
{
    return fabric_distance(fabric, fabric_find_node(fabric, left), fabric_find_node(fabric, right));
}

static const struct fabric_switch *find_switch(const struct fabric *fabric, const char *name)
{
    for (size_t i = 0; i < fabric->switch_count; i++)
        if (strcmp(fabric->switches[i].name, name) == 0)
            return &fabric->switches[i];
    fail_msg("no switch is called %s", name);
    return NULL;
}

static void expect_warnings(const struct fabric *fabric, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < fabric->warning_count && i < count; i++)
        assert_string_equal(fabric->warnings[i], texts[i]);
    if (fabric->warning_count > count)
        fail_msg("one warning more: %s", fabric->warnings[count]);
    assert_int_equal(fabric->warning_count, count);
}

/* --- whole sites -------------------------------------------------------------------- */

static void reads_one_scalable_unit(void **state)
{
    (void)state;
    const struct ib_site site = {.units = 1, .hosts = 32, .rails = 8, .spines = 4};
    CLEANUP(fabric) struct fabric *fabric = open_site(&site);
    expect_warnings(fabric, NULL, 0);
    assert_int_equal(fabric->tier_count, 2);
    assert_int_equal(fabric->rail_count, 8);
    assert_int_equal(fabric->switch_count, 9);
    assert_int_equal(fabric->node_count, 32);
    assert_string_equal(fabric->nodes[0].name, "gpu0");
    assert_string_equal(fabric->nodes[31].name, "gpu31");
    assert_string_equal(switch_at(fabric, "gpu9", 0), "leaf-0-0");
    assert_string_equal(switch_at(fabric, "gpu9", 1), "spine-0-0+3");
    for (unsigned rail = 0; rail < 8; rail++) {
        char name[16];
        snprintf(name, sizeof(name), "leaf-0-%u", rail);
        assert_string_equal(rail_leaf(fabric, "gpu17", rail), name);
    }
    const struct fabric_switch *leaf = find_switch(fabric, "leaf-0-3");
    assert_true(leaf->downlink_bytes_per_second == 32 * NDR);
    assert_true(leaf->uplink_bytes_per_second == 4 * NDR);
    assert_true(find_switch(fabric, "spine-0-0+3")->downlink_bytes_per_second == 32 * NDR);
    assert_true(find_switch(fabric, "spine-0-0+3")->uplink_bytes_per_second == 0);
}

static void reads_two_scalable_units(void **state)
{
    (void)state;
    const struct ib_site site = {.units = 2, .hosts = 32, .rails = 8, .spines = 4, .cores = 2};
    CLEANUP(fabric) struct fabric *fabric = open_site(&site);
    expect_warnings(fabric, NULL, 0);
    assert_int_equal(fabric->tier_count, 3);
    assert_int_equal(fabric->rail_count, 8);
    assert_int_equal(fabric->switch_count, 16 + 2 + 1);
    assert_int_equal(fabric->node_count, 64);
    assert_string_equal(rail_leaf(fabric, "gpu40", 5), "leaf-1-5");
    assert_string_equal(switch_at(fabric, "gpu40", 1), "spine-1-0+3");
    assert_string_equal(switch_at(fabric, "gpu40", 2), "core-0+1");
    assert_int_equal(distance(fabric, "gpu0", "gpu31"), 0);
    assert_int_equal(distance(fabric, "gpu0", "gpu32"), 2);
}

static void keeps_apart_what_is_not_joined(void **state)
{
    (void)state;
    const struct ib_site site = {.units = 2, .hosts = 4, .rails = 2, .spines = 2};
    CLEANUP(fabric) struct fabric *fabric = open_site(&site);
    assert_int_equal(fabric->tier_count, 2);
    assert_int_equal(distance(fabric, "gpu0", "gpu3"), 0);
    assert_int_equal(distance(fabric, "gpu0", "gpu4"), fabric->tier_count);
}

static void reads_sections_in_any_order(void **state)
{
    (void)state;
    struct ib_site site = {.units = 2, .hosts = 6, .rails = 4, .spines = 2, .cores = 2};
    CLEANUP(fabric) struct fabric *forwards = open_site(&site);
    site.backwards = true;
    CLEANUP(fabric) struct fabric *backwards = open_site(&site);
    assert_int_equal(forwards->switch_count, backwards->switch_count);
    assert_int_equal(forwards->node_count, backwards->node_count);
    for (size_t i = 0; i < forwards->switch_count; i++) {
        const struct fabric_switch *a = &forwards->switches[i], *b = &backwards->switches[i];
        assert_string_equal(a->name, b->name);
        assert_int_equal(a->parent, b->parent);
        assert_true(a->uplink_bytes_per_second == b->uplink_bytes_per_second);
        assert_true(a->downlink_bytes_per_second == b->downlink_bytes_per_second);
    }
    for (size_t i = 0; i < forwards->node_count; i++)
        assert_string_equal(forwards->nodes[i].name, backwards->nodes[i].name);
}

/* 10,016 hosts with 8 adapters: 25 MB of text. */
static void reads_large_sites(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    const struct ib_site site = {.units = 313, .hosts = 32, .rails = 8, .spines = 4, .cores = 4};
    CLEANUP(fabric) struct fabric *fabric = open_site(&site);
    expect_warnings(fabric, NULL, 0);
    assert_int_equal(fabric->node_count, 10016);
    assert_int_equal(fabric->switch_count, 313 * 9 + 1);
    assert_int_equal(fabric->rail_count, 8);
    assert_int_equal(distance(fabric, "gpu0", "gpu10015"), 2);
    assert_int_equal(distance(fabric, "gpu9984", "gpu10015"), 0);
}

/* --- cables ------------------------------------------------------------------------- */

static void reports_swapped_cables(void **state)
{
    (void)state;
    const struct ib_site site = {.units = 1, .hosts = 8, .rails = 4, .spines = 2, .swapped = 3};
    static const char *const warnings[] = {
        "ib.txt: host gpu2: adapter mlx5_1 is cabled to leaf-0-0; its neighbours have that rail "
        "at leaf-0-1",
        "ib.txt: host gpu2: adapter mlx5_0 is cabled to leaf-0-1; its neighbours have that rail "
        "at leaf-0-0",
    };
    CLEANUP(fabric) struct fabric *fabric = open_site(&site);
    expect_warnings(fabric, warnings, COUNT_OF(warnings));
    /* It is on both leaves all the same. */
    assert_string_equal(rail_leaf(fabric, "gpu2", 0), "leaf-0-0");
    assert_string_equal(rail_leaf(fabric, "gpu2", 1), "leaf-0-1");
}

static void decides_between_few_hosts(void **state)
{
    (void)state;
    /* Each label stands once at each of the two leaves: only the hosts' other rails decide. */
    const struct ib_site site = {.units = 1, .hosts = 2, .rails = 4, .spines = 2, .swapped = 2};
    CLEANUP(fabric) struct fabric *fabric = open_site(&site);
    assert_int_equal(fabric->rail_count, 4);
    for (unsigned rail = 0; rail < 4; rail++)
        assert_string_equal(rail_leaf(fabric, "gpu0", rail), rail_leaf(fabric, "gpu1", rail));
}

static void reports_cables_into_another_unit(void **state)
{
    (void)state;
    const struct ib_site site = {
        .units = 2, .hosts = 8, .rails = 4, .spines = 2, .cores = 1, .crossed = 6};
    static const char *const warnings[] = {
        "ib.txt: host gpu5: adapter mlx5_2 is cabled to leaf-1-2; its neighbours have that rail "
        "at leaf-0-2",
    };
    CLEANUP(fabric) struct fabric *fabric = open_site(&site);
    expect_warnings(fabric, warnings, COUNT_OF(warnings));
    assert_string_equal(rail_leaf(fabric, "gpu5", 2), "leaf-1-2");
    assert_string_equal(rail_leaf(fabric, "gpu5", 3), "leaf-0-3");
    assert_string_equal(rail_leaf(fabric, "gpu4", 2), "leaf-0-2");
}

/* Labels of two tools, cards without a driver, and rails 0 to 3 that are adapters 0, 1, 4, 5. */
static void reads_mixed_labels(void **state)
{
    (void)state;
    static const unsigned numbers[] = {0, 1, 4, 5};
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, 1u << 20);
    for (unsigned leaf = 0; leaf < 8; leaf++) {
        char name[64];
        snprintf(name, sizeof(name), "MF0;leaf-%u-%u:M/U1", leaf % 4 + 1, leaf / 4);
        ib_listing_head(&text, "Switch", 0x10 + leaf, name);
        for (unsigned i = 0; i < 6; i++) {
            unsigned host = leaf / 4 * 6 + i, number = numbers[leaf % 4];
            if (i == 0)
                snprintf(name, sizeof(name), "MT4129 ConnectX7   Mellanox Technologies");
            else if (i % 2 == 1)
                snprintf(name, sizeof(name), "dgx-%02u mlx5_%u", host, number);
            else
                snprintf(name, sizeof(name), "dgx-%02u HCA-%u", host, number + 1);
            ib_listing_to_host(&text, i + 1, 0x100 + leaf * 16 + i, name, "4xNDR");
        }
        ib_listing_to_switch(&text, 33, 0x90, leaf + 1, "spine", "4xNDR");
    }
    CLEANUP(fabric) struct fabric *fabric = open_text(text_buffer_text(&text));
    assert_int_equal(fabric->rail_count, 4);
    assert_int_equal(fabric->node_count, 10);
    for (unsigned rail = 0; rail < 4; rail++) {
        char name[16];
        snprintf(name, sizeof(name), "leaf-%u-1", rail + 1);
        assert_string_equal(rail_leaf(fabric, "dgx-07", rail), name);
        assert_string_equal(rail_leaf(fabric, "dgx-08", rail), name);
    }
    assert_int_equal(fabric->warning_count, 2);
    assert_string_equal(fabric->warnings[0],
                        "ib.txt: 8 adapters name no host (no driver has set their node "
                        "description) and are left out");
}

static void counts_the_rest_of_many(void **state)
{
    (void)state;
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    const struct ib_site site = {.units = 1, .hosts = 1, .rails = 1, .spines = 1};
    ib_listing_write(&text, &site);
    ib_listing_head(&text, "Switch", 0x77, "MF0;slow:MQM9700/U1");
    for (unsigned i = 0; i < 40; i++) {
        char name[32];
        snprintf(name, sizeof(name), "host%u mlx5_0", i);
        ib_listing_to_host(&text, i + 1, 0x900 + i, name, i < 15 ? "1xNDR" : "4xNDR");
    }
    CLEANUP(fabric) struct fabric *fabric = open_text(text_buffer_text(&text));
    assert_int_equal(fabric->warning_count, 14);
    assert_string_equal(fabric->warnings[1],
                        "ib.txt: the link of host host0 mlx5_0 to slow runs at 1xNDR; most links "
                        "to hosts run at 4xNDR");
    assert_string_equal(fabric->warnings[13],
                        "ib.txt: 3 more links run slower than most of their kind");
}

/* --- small networks ----------------------------------------------------------------- */

#define SWITCH(guid, name) "Switch 41 \"S-" guid "\" # \"" name "\" enhanced port 0 lid 1 lmc 0\n"
#define TO_SWITCH(port, guid, peer, name, rate)                                                    \
    "[" port "] \"S-" guid "\"[" peer "] # \"" name "\" lid 2 " rate "\n"
#define TO_HOST(port, guid, name, rate)                                                            \
    "[" port "] \"H-" guid "\"[1](" guid ") # \"" name "\" lid 3 " rate "\n"

static void reads_a_chassis(void **state)
{
    (void)state;
    CLEANUP(fabric)
    struct fabric *fabric = open_text(
        SWITCH("50", "MF0;dir:MCS/S01/U1") TO_SWITCH("1", "61", "21", "MF0;dir:MCS/L01/U1", "4xHDR")
            TO_SWITCH("2", "62", "21", "MF0;dir:MCS/L02/U1",
                      "4xHDR") TO_HOST("41", "99", "Mellanox Technologies Aggregation Node",
                                       "4xHDR") SWITCH("61", "MF0;dir:MCS/L01/U1")
                TO_SWITCH("1", "71", "9", "MF0;a:MQM/U1", "4xHDR") TO_SWITCH(
                    "2", "72", "9", "MF0;b:MQM/U1", "4xHDR") SWITCH("62", "MF0;dir:MCS/L02/U1")
                    TO_SWITCH("1", "73", "9", "MF0;c:MQM/U1", "4xHDR") SWITCH("71", "MF0;a:MQM/U1")
                        TO_HOST("1", "81", "n1 ibp12s0", "4xHDR") SWITCH("72", "MF0;b:MQM/U1")
                            TO_HOST("1", "82", "n2 ibp12s0", "4xHDR") SWITCH("73", "MF0;c:MQM/U1")
                                TO_HOST("1", "83", "n3 ibp12s0", "2xHDR"));
    static const char *const warnings[] = {
        "ib.txt: 1 aggregation nodes (SHARP, inside switches) are no hosts and left out",
        "ib.txt: the link of host n3 ibp12s0 to c runs at 2xHDR; most links to hosts run at 4xHDR",
    };
    expect_warnings(fabric, warnings, COUNT_OF(warnings));
    assert_int_equal(fabric->tier_count, 3);
    assert_int_equal(fabric->rail_count, 0);
    assert_int_equal(distance(fabric, "n1", "n2"), 1);
    assert_int_equal(distance(fabric, "n1", "n3"), 2);
    assert_string_equal(switch_at(fabric, "n3", 1), "dir/L02");
    assert_string_equal(switch_at(fabric, "n3", 2), "dir/S01");
    assert_true(find_switch(fabric, "dir/L01")->downlink_bytes_per_second == 2 * 25e9);
}

/* Two leaves and two spines, each leaf with that many hosts of its own. */
static void add_small_tree(struct text_buffer *text, unsigned hosts)
{
    char name[32];
    text_buffer_init(text, 1u << 20);
    for (unsigned leaf = 0; leaf < 2; leaf++) {
        snprintf(name, sizeof(name), "MF0;l%u:M/U1", leaf);
        ib_listing_head(text, "Switch", 0x10 + leaf, name);
        for (unsigned i = 0; i < hosts; i++) {
            snprintf(name, sizeof(name), "n%u HCA-1", leaf * hosts + i);
            ib_listing_to_host(text, i + 1, 0x100 + leaf * hosts + i, name, "4xHDR");
        }
        ib_listing_to_switch(text, 31, 0x20, leaf + 1, "s0", "4xHDR");
        ib_listing_to_switch(text, 32, 0x21, leaf + 1, "s1", leaf == 0 ? "4xHDR" : "4xEDR");
    }
}

static void takes_no_spine_for_a_leaf(void **state)
{
    (void)state;
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    add_small_tree(&text, 4);
    ib_listing_head(&text, "Switch", 0x20, "MF0;s0:M/U1");
    ib_listing_to_host(&text, 9, 0x900, "manager mlx5_0", "4xHDR");
    ib_listing_head(&text, "Switch", 0x21, "MF0;s1:M/U1");
    CLEANUP(fabric) struct fabric *fabric = open_text(text_buffer_text(&text));
    static const char *const warnings[] = {
        "ib.txt: the link l1[32] to s1[2] runs at 4xEDR; most between these tiers run at 4xHDR",
    };
    expect_warnings(fabric, warnings, COUNT_OF(warnings));
    assert_int_equal(fabric->tier_count, 2);
    assert_int_equal(fabric->node_count, 9);
    assert_int_equal(distance(fabric, "n0", "n4"), 1);
    assert_int_equal(distance(fabric, "n0", "manager"), 1);
    assert_string_equal(switch_at(fabric, "n0", 1), "s0+1");
    assert_true(find_switch(fabric, "s0+1")->downlink_bytes_per_second ==
                25e9 * 4 - 12.5e9 + 25e9); /* four links, one of them EDR, and the manager */
}

static void leaves_out_empty_leaves(void **state)
{
    (void)state;
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    add_small_tree(&text, 2);
    ib_listing_head(&text, "Switch", 0x12, "MF0;l2:M/U1");
    ib_listing_to_switch(&text, 31, 0x20, 3, "s0", "4xHDR");
    ib_listing_to_switch(&text, 32, 0x21, 3, "s1", "4xHDR");
    ib_listing_head(&text, "Switch", 0x66, "MF0;alone:M/U1");
    CLEANUP(fabric) struct fabric *fabric = open_text(text_buffer_text(&text));
    assert_int_equal(fabric->tier_count, 2);
    assert_int_equal(fabric->switch_count, 3);
    assert_string_equal(fabric->warnings[0],
                        "ib.txt: 2 switches are named at links but have no section: the sweep or "
                        "the text is incomplete");
    assert_string_equal(fabric->warnings[1],
                        "ib.txt: 2 switches without hosts join nothing and are left out");
}

static void joins_leaves_without_a_spine(void **state)
{
    (void)state;
    CLEANUP(fabric)
    struct fabric *fabric =
        open_text(SWITCH("1", "MF0;a:M/U1") TO_HOST("1", "11", "n1 mlx5_0", "4xNDR")
                      TO_SWITCH("9", "2", "9", "MF0;b:M/U1", "4xNDR") SWITCH("2", "MF0;b:M/U1")
                          TO_HOST("1", "12", "n2 mlx5_0", "4xNDR"));
    expect_warnings(fabric, NULL, 0);
    assert_int_equal(fabric->tier_count, 2);
    assert_int_equal(distance(fabric, "n1", "n2"), 1);
    assert_string_equal(switch_at(fabric, "n1", 1), "a-mesh");
}

/* Both ports of one adapter, each to a leaf of its own: two rails. */
static void reads_two_ports_of_an_adapter(void **state)
{
    (void)state;
    CLEANUP(fabric)
    struct fabric *fabric = open_text(
        SWITCH("1", "MF0;a:M/U1") TO_HOST("1", "11", "n1 mlx5_0", "4xNDR")
            TO_HOST("2", "12", "n2 mlx5_0", "4xNDR") SWITCH("2", "MF0;b:M/U1")
                TO_HOST("1", "11", "n1 mlx5_0", "4xNDR") TO_HOST("2", "12", "n2 mlx5_0", "4xNDR"));
    expect_warnings(fabric, NULL, 0);
    assert_int_equal(fabric->rail_count, 2);
    assert_string_equal(rail_leaf(fabric, "n2", 0), "a");
    assert_string_equal(rail_leaf(fabric, "n2", 1), "b");
}

static void chooses_a_leaf_without_rails(void **state)
{
    (void)state;
    CLEANUP(fabric)
    struct fabric *fabric = open_text(
        SWITCH("1", "MF0;a:M/U1") TO_HOST("1", "11", "n1 mlx5_0", "4xNDR")
            TO_HOST("2", "12", "n2 mlx5_0", "4xNDR") TO_HOST("3", "21", "store mlx5_0", "4xNDR")
                SWITCH("2", "MF0;b:M/U1") TO_HOST("3", "22", "store mlx5_1", "4xNDR")
                    TO_HOST("4", "23", "store mlx5_2", "4xNDR"));
    assert_int_equal(fabric->rail_count, 0);
    assert_string_equal(switch_at(fabric, "store", 0), "b");
    assert_string_equal(fabric->warnings[0],
                        "ib.txt: 1 of 3 hosts are on several leaves; without rails each counts for "
                        "the leaf with most of its ports");
}

static void counts_other_kinds_of_hosts(void **state)
{
    (void)state;
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    const struct ib_site site = {.units = 1, .hosts = 8, .rails = 4, .spines = 2};
    ib_listing_write(&text, &site);
    /* A manager whose two adapters are on rails 2 and 3. */
    static const char *const leaves[] = {"MF0;leaf-0-2:M/U1", "MF0;leaf-0-3:M/U1"};
    for (unsigned i = 0; i < 2; i++) {
        char name[32];
        snprintf(name, sizeof(name), "manager mlx5_%u", i);
        ib_listing_head(&text, "Ca", 0x900 + i, name);
        text_buffer_add(&text, "[1](90%u) \"S-%016x\"[60] # lid 9 lmc 0 \"%s\" lid 3 4xNDR\n", i,
                        IB_LEAF + 2 + i, leaves[i]);
    }
    CLEANUP(fabric) struct fabric *fabric = open_text(text_buffer_text(&text));
    static const char *const warnings[] = {
        "ib.txt: 1 hosts have most adapters on other rails than their labels say (other kinds of "
        "hosts?)",
    };
    expect_warnings(fabric, warnings, COUNT_OF(warnings));
    assert_string_equal(rail_leaf(fabric, "manager", 2), "leaf-0-2");
    assert_string_equal(rail_leaf(fabric, "manager", 0), "");
}

static void leaves_out_what_is_no_host(void **state)
{
    (void)state;
    CLEANUP(fabric)
    struct fabric *fabric = open_text(
        "ibwarn: [12] mad_rpc: timed out\n" SWITCH("1", "MF0;a:M/U1")
            TO_HOST("1", "11", "n1 mlx5_0", "4xNDR") TO_HOST("2", "12", "", "4xNDR")
                TO_HOST("3", "13", "MT4129 ConnectX7   Mellanox Technologies", "4xNDR")
                    TO_HOST("4", "14", "0x0002c9030000abcd", "4xNDR")
                        TO_HOST("5", "15", "localhost mlx5_0", "4xNDR")
                            TO_HOST("6", "16", "mlx5_0", "4xNDR")
                                TO_HOST("7", "17", "n2",
                                        "4xWHAT") "[8] \"R-77\"[1] # \"router\" lid 5 4xNDR\n"
                                                  "Rt 2 \"R-77\" # \"router\"\n[1] \"S-1\"[8] # "
                                                  "\"x\" lid 1 4xNDR\n" SWITCH("1", "MF0;a:M/U1")
                                                      TO_HOST("1", "19", "n9 mlx5_0", "4xNDR"));
    static const char *const warnings[] = {
        ("ib.txt: 5 adapters name no host (no driver has set their node description) and are left "
         "out"),
        "ib.txt: 1 sections of switches stand again; the first is taken",
        "ib.txt: 1 routers are left out",
        "ib.txt: 1 link ends have no known width and speed",
        "ib.txt:1: no line of ibnetdiscover's; 1 such lines are skipped",
    };
    expect_warnings(fabric, warnings, COUNT_OF(warnings));
    assert_int_equal(fabric->node_count, 2);
    assert_true(find_switch(fabric, "a")->downlink_bytes_per_second == 0); /* one is unknown */
}

static void leaves_out_names_of_several_machines(void **state)
{
    (void)state;
    static const char *const warnings[] = {
        "ib.txt: host ubuntu: several adapters are called mlx5_0, so several machines bear that "
        "name; they are left out",
    };
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(fabric)
    struct fabric *fabric = open_text(
        SWITCH("1", "MF0;a:M/U1") TO_HOST("1", "11", "ubuntu mlx5_0", "4xNDR")
            TO_HOST("2", "12", "ubuntu mlx5_0", "4xNDR") TO_HOST("3", "13", "n1 HCA", "4xNDR")
                TO_HOST("4", "14", "n1 HCA", "4xNDR"));
    expect_warnings(fabric, warnings, 1);
    assert_int_equal(fabric->node_count, 1);
    assert_null(parse(SWITCH("1", "MF0;a:M/U1") TO_HOST("1", "11", "u mlx5_0", "4xNDR")
                          TO_HOST("2", "12", "u mlx5_0", "4xNDR"),
                      &err));
    assert_string_equal(err.text, "ib.txt: each of the hosts' names is that of several machines; "
                                  "give them names of their own");
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, 1u << 20);
    ib_listing_head(&text, "Switch", 1, "MF0;a:M/U1");
    for (unsigned i = 0; i < 31; i++) {
        char name[32];
        snprintf(name, sizeof(name), "n%u mlx5_0", i / 2);
        ib_listing_to_host(&text, i + 1, 0x900 + i, name, "4xNDR");
    }
    CLEANUP(fabric) struct fabric *many = open_text(text_buffer_text(&text));
    assert_int_equal(many->node_count, 1);
    assert_int_equal(many->warning_count, 13);
    assert_string_equal(many->warnings[12], "ib.txt: 3 more names are those of several machines");
}

static void parts_switches_of_one_name(void **state)
{
    (void)state;
    CLEANUP(fabric)
    struct fabric *fabric =
        open_text(SWITCH("1", "MF0;sw:M/U1") TO_HOST("1", "11", "n1 mlx5_0", "4xNDR")
                      SWITCH("2", "MF0;sw:M/U1") TO_HOST("1", "12", "n2 mlx5_0", "4xNDR")
                          SWITCH("3", "Quantum Mellanox Technologies")
                              TO_HOST("1", "13", "n3 mlx5_0", "4xNDR"));
    assert_string_equal(switch_at(fabric, "n1", 0), "sw");
    assert_string_equal(switch_at(fabric, "n2", 0), "sw#S-2");
    assert_string_equal(switch_at(fabric, "n3", 0), "S-3");
}

/* --- what is refused ---------------------------------------------------------------- */

#define NONE                                                                                       \
    "ib.txt: no switch is named; the whole output of ibnetdiscover is expected, without -l, -p "   \
    "or a node type"
#define CUT "; is the text cut off or edited?"

static void refuses_with_place(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"", NONE},
        {"nothing of the kind\n", NONE},
        {"# Initiated\n\nvendid=0x2c9\ncaguid=0x1\nCa\t1 \"H-1\"\t\t# \"n1 HCA-1\"\n", NONE},
        {SWITCH("1", "a"),
         "ib.txt: no switch has a link to a host (0 adapters without a host's name); hosts need a "
         "node description, as rdma-ndd sets it"},
        {"[1] \"S-1\"[1] # \"a\" 4xNDR\n",
         "ib.txt:1: a port stands before the first Switch or Ca" CUT},
        {SWITCH("1", "a") "[x] \"H-1\"[1] # \"n\" 4xNDR\n",
         "ib.txt:2: a port number in brackets is expected" CUT},
        {SWITCH("1", "a") "[70000] \"H-1\"[1] # \"n\" 4xNDR\n",
         "ib.txt:2: a port number in brackets is expected" CUT},
        {SWITCH("1", "a") "[1] H-1[1] # \"n\" 4xNDR\n",
         "ib.txt:2: \"S-GUID\" or \"H-GUID\" is expected behind the port" CUT},
        {SWITCH("1", "a") "[1] \"H-xyz\"[1] # \"n\" 4xNDR\n",
         "ib.txt:2: \"S-GUID\" or \"H-GUID\" is expected behind the port" CUT},
        {SWITCH("1", "a") "[1] \"H-1\"\n",
         "ib.txt:2: the port at the link's other end is missing" CUT},
        {SWITCH("1", "a") "[1] \"H-1\"[1](1) # \"n1 HC",
         "ib.txt:2: # and the quoted name of the link's other end are missing" CUT},
        {SWITCH("1", "a") "[1] \"H-1\"[1](1)\n",
         "ib.txt:2: # and the quoted name of the link's other end are missing" CUT},
        {"Switch \"S-1\" # \"a\"\n", "ib.txt:1: the number of ports is missing" CUT},
        {"Switch 41 \"S-1\"\n",
         "ib.txt:1: \"S-GUID\" or \"H-GUID\", # and the quoted name are expected" CUT},
        {"Ca 2 \"X-1\" # \"n1 HCA-1\"\n",
         "ib.txt:1: \"S-GUID\" or \"H-GUID\", # and the quoted name are expected" CUT},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(fabric) struct fabric *fabric = parse(cases[i].text, &err);
        if (fabric)
            fail_msg("accepted: %s", cases[i].text);
        assert_string_equal(err.text, cases[i].message);
        assert_int_equal(err.kind, ERROR_INPUT);
    }
}

static void refuses_what_is_no_text(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    assert_null(fabric_parse_ibnetdiscover("Switch\0", 7, "ib.txt", &err));
    assert_string_equal(err.text, "ib.txt: has a NUL byte; a text file is expected");
    assert_null(
        fabric_parse_ibnetdiscover("x", FABRIC_IBNETDISCOVER_MAXIMUM_BYTES + 1, "ib.txt", &err));
    assert_string_equal(err.text, "ib.txt: larger than 256 MiB");
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, 1u << 16);
    text_buffer_add_repeated(&text, 'x', 3000);
    assert_null(parse(text_buffer_text(&text), &err));
    assert_string_equal(err.text, "ib.txt:1: the line has more than 2047 bytes");
}

static void limits_hosts_and_chains(void **state)
{
    (void)state;
    CLEANUP_DONE(text_buffer) struct text_buffer many, chain;
    struct error_info err = {.kind = ERROR_NONE};
    text_buffer_init(&many, 1u << 20);
    for (unsigned i = 0; i < 65; i++) {
        ib_listing_head(&many, "Switch", 0x100 + i, "MF0;a:M/U1");
        ib_listing_to_host(&many, 1, 0x900, "n1 mlx5_0", "4xNDR");
    }
    assert_null(parse(text_buffer_text(&many), &err));
    assert_string_equal(err.text, "ib.txt: host n1 is on more than 64 switches");
    text_buffer_init(&chain, 1u << 20);
    ib_listing_head(&chain, "Switch", 1, "MF0;s1:M/U1");
    ib_listing_to_host(&chain, 1, 0x900, "n1 mlx5_0", "4xNDR");
    for (unsigned i = 1; i < 12; i++) {
        char name[16];
        snprintf(name, sizeof(name), "s%u", i + 1);
        ib_listing_to_switch(&chain, 2, i + 1, 1, name, "4xNDR");
        snprintf(name, sizeof(name), "MF0;s%u:M/U1", i + 1);
        ib_listing_head(&chain, "Switch", i + 1, name);
    }
    assert_null(parse(text_buffer_text(&chain), &err));
    assert_string_equal(err.text, "ib.txt: switch s9 is 9 links away from the nearest host; 8 "
                                  "tiers of switches are possible");
}

static int parse_small(void *context, struct error_info *err)
{
    CLEANUP(fabric) struct fabric *fabric = parse(context, err);
    return fabric ? 0 : -1;
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    const struct ib_site site = {.units = 2, .hosts = 2, .rails = 2, .spines = 1, .swapped = 1};
    ib_listing_write(&text, &site);
    text_buffer_add_text(
        &text, SWITCH("1", "MF0;a:M/U1") TO_HOST("1", "11", "n1 x", "4xNDR")
                   TO_HOST("2", "12", "", "4xNDR") TO_SWITCH("9", "2", "9", "MF0;a:M/U1", "1xNDR")
                       SWITCH("2", "MF0;a:M/U1") TO_HOST("1", "13", "n2 x", "4xNDR"));
    assert_false(text_buffer_failed(&text));
    unit_test_expect_clean_failures(parse_small, text.text);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reads_one_scalable_unit),
    cmocka_unit_test(reads_two_scalable_units),
    cmocka_unit_test(keeps_apart_what_is_not_joined),
    cmocka_unit_test(reads_sections_in_any_order),
    cmocka_unit_test(reads_large_sites),
    cmocka_unit_test(reports_swapped_cables),
    cmocka_unit_test(decides_between_few_hosts),
    cmocka_unit_test(reports_cables_into_another_unit),
    cmocka_unit_test(reads_mixed_labels),
    cmocka_unit_test(counts_the_rest_of_many),
    cmocka_unit_test(reads_a_chassis),
    cmocka_unit_test(takes_no_spine_for_a_leaf),
    cmocka_unit_test(leaves_out_empty_leaves),
    cmocka_unit_test(joins_leaves_without_a_spine),
    cmocka_unit_test(reads_two_ports_of_an_adapter),
    cmocka_unit_test(chooses_a_leaf_without_rails),
    cmocka_unit_test(counts_other_kinds_of_hosts),
    cmocka_unit_test(leaves_out_what_is_no_host),
    cmocka_unit_test(leaves_out_names_of_several_machines),
    cmocka_unit_test(parts_switches_of_one_name),
    cmocka_unit_test(refuses_with_place),
    cmocka_unit_test(refuses_what_is_no_text),
    cmocka_unit_test(limits_hosts_and_chains),
    cmocka_unit_test(survives_lack_of_memory),
};

int main(void) { return unit_test_main("topology/ibnetdiscover_fabric", tests, COUNT_OF(tests)); }
