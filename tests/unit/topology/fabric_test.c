/* SPDX-License-Identifier: MIT */
#include "tests/unit/topology/topology_fixture.h"

#define MAXIMUM_SWITCHES 12

/* A switch as a line of text; lists are decoded by build(). */
struct line {
    const char *name, *nodes, *children, *tier;
    int rail; /* -1: none */
};

static struct fabric *build_with(const struct line *lines, size_t count, const char *const *tiers,
                                 unsigned tier_count, const char *const *domains,
                                 size_t domain_count, struct error_info *err)
{
    struct fabric_switch_input switches[MAXIMUM_SWITCHES] = {{0}};
    struct fabric_domain_input inputs[MAXIMUM_SWITCHES] = {{0}};
    struct node_list *lists[3 * MAXIMUM_SWITCHES] = {NULL};
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        switches[i].name = lines[i].name;
        switches[i].tier_name = lines[i].tier;
        switches[i].has_rail = lines[i].rail >= 0;
        switches[i].rail = lines[i].rail >= 0 ? (unsigned)lines[i].rail : 0;
        switches[i].where = lines[i].name;
        if (lines[i].nodes)
            switches[i].nodes = lists[used++] = names_of(lines[i].nodes);
        if (lines[i].children)
            switches[i].children = lists[used++] = names_of(lines[i].children);
    }
    for (size_t i = 0; i < domain_count; i++) {
        inputs[i].where = domains[i];
        inputs[i].nodes = lists[used++] = names_of(domains[i]);
    }
    const struct fabric_input input = {
        .source = "test",
        .switches = switches,
        .switch_count = count,
        .tier_names = tiers,
        .tier_name_count = tier_count,
        .nvlink_domains = inputs,
        .nvlink_domain_count = domain_count,
    };
    struct fabric *fabric = fabric_build(&input, err);
    while (used-- > 0)
        node_list_free(lists[used]);
    return fabric;
}

static struct fabric *build(const struct line *lines, size_t count)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct fabric *fabric = build_with(lines, count, NULL, 0, NULL, 0, &err);
    expect_made(fabric, &err);
    return fabric;
}

static unsigned distance(const struct fabric *fabric, const char *left, const char *right)
{
    return fabric_distance(fabric, fabric_find_node(fabric, left), fabric_find_node(fabric, right));
}

/* Parents may stand before their children. */
static const struct line three_tiers[] = {
    {"core", NULL, "spine[1-2]", NULL, -1}, {"spine1", NULL, "leaf[1-2]", NULL, -1},
    {"spine2", NULL, "leaf3", NULL, -1},    {"leaf1", "n[01-02]", NULL, NULL, -1},
    {"leaf2", "n[03-04]", NULL, NULL, -1},  {"leaf3", "n[05-06]", NULL, NULL, -1},
};

static void derives_tiers(void **state)
{
    (void)state;
    CLEANUP(fabric) struct fabric *fabric = build(three_tiers, COUNT_OF(three_tiers));
    assert_int_equal(fabric->tier_count, 3);
    assert_string_equal(fabric->tier_names[0], "leaf");
    assert_string_equal(fabric->tier_names[2], "core");
    assert_int_equal(fabric->node_count, 6);
    assert_int_equal(distance(fabric, "n01", "n01"), 0);
    assert_int_equal(distance(fabric, "n01", "n02"), 0);
    assert_int_equal(distance(fabric, "n01", "n03"), 1);
    assert_int_equal(distance(fabric, "n06", "n03"), 2);
    assert_int_equal(fabric_find_node(fabric, "n07"), FABRIC_NONE);
    unsigned n03 = fabric_find_node(fabric, "n03");
    assert_string_equal(fabric->switches[fabric_switch_at(fabric, n03, 0)].name, "leaf2");
    assert_string_equal(fabric->switches[fabric_switch_at(fabric, n03, 1)].name, "spine1");
    assert_string_equal(fabric->switches[fabric_switch_at(fabric, n03, 2)].name, "core");
    assert_int_equal(fabric_switch_at(fabric, n03, 3), FABRIC_NONE);
    assert_int_equal(fabric->warning_count, 0);
}

static void several_roots_are_unknown_to_each_other(void **state)
{
    (void)state;
    static const struct line lines[] = {
        {"a", "n1,n2", NULL, NULL, -1},
        {"b", "n3", NULL, NULL, -1},
        {"empty", NULL, NULL, NULL, -1},
    };
    CLEANUP(fabric) struct fabric *fabric = build(lines, COUNT_OF(lines));
    assert_int_equal(fabric->tier_count, 1);
    assert_int_equal(distance(fabric, "n1", "n2"), 0);
    assert_int_equal(distance(fabric, "n1", "n3"), 1);
    assert_int_equal(fabric->warning_count, 1);
    assert_non_null(strstr(fabric->warnings[0], "switch empty has neither nodes nor switches"));
}

/* A leaf right under the core, beside spines; and a switch with nodes and children. */
static void uneven_trees(void **state)
{
    (void)state;
    static const struct line lines[] = {
        {"leaf1", "n1", NULL, NULL, -1},
        {"spine", "s1", "leaf1", NULL, -1},
        {"leaf2", "n2", NULL, NULL, -1},
        {"core", NULL, "spine,leaf2", NULL, -1},
    };
    CLEANUP(fabric) struct fabric *fabric = build(lines, COUNT_OF(lines));
    assert_int_equal(fabric->tier_count, 3);
    assert_int_equal(distance(fabric, "n1", "s1"), 1);
    assert_int_equal(distance(fabric, "n1", "n2"), 2);
    assert_int_equal(fabric_switch_at(fabric, fabric_find_node(fabric, "n2"), 1), FABRIC_NONE);
    assert_int_equal(fabric_switch_at(fabric, fabric_find_node(fabric, "s1"), 0), FABRIC_NONE);
}

/* scontrol lists a spine's nodes too. */
static void upper_switches_may_list_their_nodes(void **state)
{
    (void)state;
    static const struct line lines[] = {
        {"spine", "n[1-4]", "leaf[1-2]", NULL, -1},
        {"leaf1", "n[1-2]", NULL, NULL, -1},
        {"leaf2", "n[3-4]", NULL, NULL, -1},
    };
    CLEANUP(fabric) struct fabric *fabric = build(lines, COUNT_OF(lines));
    assert_int_equal(fabric->node_count, 4);
    assert_int_equal(distance(fabric, "n1", "n4"), 1);
}

static void names_tiers(void **state)
{
    (void)state;
    static const char *const tiers[] = {"rack", "row", "hall"};
    static const struct line lines[] = {
        {"r1", "n1", NULL, "rack", -1},
        {"r2", "n2", NULL, NULL, -1},
        {"top", NULL, "r1,r2", "hall", -1},
    };
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(fabric)
    struct fabric *fabric = build_with(lines, COUNT_OF(lines), tiers, 3, NULL, 0, &err);
    expect_made(fabric, &err);
    assert_int_equal(fabric->tier_count, 3);
    assert_string_equal(fabric->tier_names[1], "row");
    assert_int_equal(distance(fabric, "n1", "n2"), 2);
}

static void refuses_broken_trees(void **state)
{
    (void)state;
    static const char *const tiers[] = {"leaf", "spine"};
    static const struct {
        struct line lines[4];
        size_t count;
        const char *message;
    } cases[] = {
        {{{"a", NULL, "b", NULL, -1}, {"b", NULL, "a", NULL, -1}}, 2, "is below itself"},
        {{{"a", NULL, "a", NULL, -1}}, 1, "switch a is below itself"},
        {{{"x", NULL, "a", NULL, -1},
          {"a", NULL, "b", NULL, -1},
          {"b", NULL, "c", NULL, -1},
          {"c", NULL, "b", NULL, -1}},
         4,
         "switch b is below a already"},
        {{{"a", "n1", NULL, NULL, -1}, {"a", "n2", NULL, NULL, -1}}, 2, "a is defined already"},
        {{{"a", NULL, "b", NULL, -1}}, 1, "switch a names b, which is not defined"},
        {{{"l", "n1", NULL, NULL, -1}, {"p", NULL, "l", NULL, -1}, {"q", NULL, "l", NULL, -1}},
         3,
         "switch l is below p already (p)"},
        {{{"a", "n1", NULL, NULL, -1}, {"b", "n[1-2]", NULL, NULL, -1}},
         2,
         "b: node n1 is in switch b, and at a already in a"},
        {{{"a", "n1,n1", NULL, NULL, -1}}, 1, "node n1 stands twice in switch a"},
        {{{"a", "n1", NULL, "spin", -1}}, 1, "no tier is called spin; did you mean spine"},
        {{{"a", "n1", NULL, "spine", -1}, {"b", NULL, "a", "spine", -1}},
         2,
         "not above all of its children"},
        {{{"a", "n1", NULL, NULL, 64}}, 1, "rails are 0 to 63"},
        {{{"a", "n1", NULL, NULL, 0}, {"b", "n1", NULL, NULL, 0}}, 2, "already in a"},
        {{{"a", "n1", NULL, NULL, -1}, {"b", "n1", NULL, NULL, 0}}, 2, "already in a"},
        {{{"a", "n1", NULL, NULL, 1}, {"b", "n1", NULL, NULL, -1}}, 2, "already in a"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(fabric)
        struct fabric *fabric = build_with(cases[i].lines, cases[i].count, tiers, 2, NULL, 0, &err);
        assert_null(fabric);
        expect_message(&err, cases[i].message);
    }
}

static void limits_depth(void **state)
{
    (void)state;
    static const struct line lines[] = {
        {"s1", "n1", NULL, NULL, -1}, {"s2", NULL, "s1", NULL, -1}, {"s3", NULL, "s2", NULL, -1},
        {"s4", NULL, "s3", NULL, -1}, {"s5", NULL, "s4", NULL, -1}, {"s6", NULL, "s5", NULL, -1},
        {"s7", NULL, "s6", NULL, -1}, {"s8", NULL, "s7", NULL, -1}, {"s9", NULL, "s8", NULL, -1},
    };
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(fabric) struct fabric *eight = build(lines, 8);
    assert_int_equal(eight->tier_count, FABRIC_MAXIMUM_TIERS);
    assert_string_equal(eight->tier_names[3], "tier4");
    assert_null(build_with(lines, 9, NULL, 0, NULL, 0, &err));
    expect_message(&err, "8 tiers are possible");
}

/* Each node in one leaf of each of two rails; n3 is cabled crosswise. */
static void rails(void **state)
{
    (void)state;
    static const struct line lines[] = {
        {"r0a", "n[1-2]", NULL, NULL, 0},      {"r0b", "n3", NULL, NULL, 0},
        {"r1a", "n[1-3]", NULL, NULL, 1},      {"r1b", "n4", NULL, NULL, 1},
        {"spine0", NULL, "r0a,r0b", NULL, -1}, {"spine1", NULL, "r1[a,b]", NULL, -1},
    };
    CLEANUP(fabric) struct fabric *fabric = build(lines, 4);
    assert_int_equal(fabric->rail_count, 2);
    assert_int_equal(distance(fabric, "n1", "n2"), 0);
    assert_int_equal(distance(fabric, "n1", "n3"), 0); /* on rail 1 */
    assert_int_equal(distance(fabric, "n1", "n4"), 1); /* unknown */
    const struct fabric_node *n4 = &fabric->nodes[fabric_find_node(fabric, "n4")];
    assert_int_equal(n4->rail_leaves[0], FABRIC_NONE);
    assert_string_equal(fabric->switches[n4->rail_leaves[1]].name, "r1b");
    assert_string_equal(fabric->switches[n4->leaf].name, "r1b");
}

static void nvlink_domains(void **state)
{
    (void)state;
    static const struct line lines[] = {{"leaf", "n[1-4]", NULL, NULL, -1}};
    static const char *const domains[] = {"n[1-2]", "n3,x1"};
    static const char *const twice[] = {"n[1-2]", "n[2-3]"};
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(fabric) struct fabric *fabric = build_with(lines, 1, NULL, 0, domains, 2, &err);
    expect_made(fabric, &err);
    assert_int_equal(fabric->nodes[fabric_find_node(fabric, "n1")].nvlink_block, 0);
    assert_int_equal(fabric->nodes[fabric_find_node(fabric, "n3")].nvlink_block, 1);
    assert_int_equal(fabric->nodes[fabric_find_node(fabric, "n4")].nvlink_block, FABRIC_NONE);
    assert_int_equal(fabric->nodes[fabric_find_node(fabric, "x1")].leaf, FABRIC_NONE);
    assert_int_equal(distance(fabric, "n1", "x1"), 1);
    assert_null(build_with(lines, 1, NULL, 0, twice, 2, &err));
    expect_message(&err, "n[2-3]: node n2 is in an NVLink domain already (n[1-2])");
}

static void selects_nodes(void **state)
{
    (void)state;
    CLEANUP(fabric) struct fabric *fabric = build(three_tiers, COUNT_OF(three_tiers));
    CLEANUP(node_list) struct node_list *names = names_of("n05,n01,other,n03");
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(fabric) struct fabric *part = fabric_select(fabric, names, &err);
    expect_made(part, &err);
    assert_int_equal(part->node_count, 3);
    assert_string_equal(part->nodes[0].name, "n05");
    assert_int_equal(part->switch_count, 6);
    assert_int_equal(part->tier_count, 3);
    assert_int_equal(distance(part, "n01", "n03"), 1);
    assert_int_equal(distance(part, "n05", "n03"), 2);
    CLEANUP(node_list) struct node_list *one = names_of("n05");
    CLEANUP(fabric) struct fabric *path = fabric_select(fabric, one, &err);
    expect_made(path, &err);
    assert_int_equal(path->switch_count, 3);
    assert_string_equal(path->switches[fabric_switch_at(path, 0, 1)].name, "spine2");
}

static void selects_rails(void **state)
{
    (void)state;
    static const struct line lines[] = {
        {"r0a", "n1", NULL, NULL, 0},
        {"r0b", "n2", NULL, NULL, 0},
        {"r1", "n2", NULL, NULL, 1},
    };
    CLEANUP(fabric) struct fabric *fabric = build(lines, COUNT_OF(lines));
    CLEANUP(node_list) struct node_list *names = names_of("n2,n2");
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(fabric) struct fabric *part = fabric_select(fabric, names, &err);
    expect_made(part, &err);
    assert_int_equal(part->node_count, 1);
    assert_int_equal(part->switch_count, 2);
    assert_string_equal(part->switches[part->nodes[0].rail_leaves[0]].name, "r0b");
    assert_string_equal(part->switches[part->nodes[0].rail_leaves[1]].name, "r1");
}

static int build_and_select(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(node_list) struct node_list *nodes = node_list_decode("n[1-3]", err);
    if (!nodes)
        return -1;
    const struct fabric_switch_input switches[] = {
        {.name = "a", .nodes = nodes, .where = "a", .has_rail = true},
        {.name = "b", .where = "b"},
    };
    CLEANUP(fabric)
    struct fabric *fabric = fabric_create("test", switches, COUNT_OF(switches), NULL, 0, err);
    if (!fabric)
        return -1;
    CLEANUP(fabric) struct fabric *part = fabric_select(fabric, nodes, err);
    return part ? 0 : -1;
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(build_and_select, NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(derives_tiers),  cmocka_unit_test(several_roots_are_unknown_to_each_other),
    cmocka_unit_test(uneven_trees),   cmocka_unit_test(upper_switches_may_list_their_nodes),
    cmocka_unit_test(names_tiers),    cmocka_unit_test(refuses_broken_trees),
    cmocka_unit_test(limits_depth),   cmocka_unit_test(rails),
    cmocka_unit_test(nvlink_domains), cmocka_unit_test(selects_nodes),
    cmocka_unit_test(selects_rails),  cmocka_unit_test(survives_lack_of_memory),
};

int main(void) { return unit_test_main("topology/fabric", tests, COUNT_OF(tests)); }
