/* SPDX-License-Identifier: MIT */
#include "base/text_buffer.h"
#include "tests/unit/topology/topology_fixture.h"
#include "topology/fabric_readers/fabric_readers.h"

#define A "0a1b2c3d-0001-4000-8000-00000000000a"
#define B "0a1b2c3d-0001-4000-8000-00000000000b" /* differs from A in the last digit */
#define ZERO "00000000-0000-0000-0000-000000000000"

static struct fabric *parse(const char *text, struct error_info *err)
{
    return fabric_parse_cluster_uuids(text, strlen(text), "uuids.txt", err);
}

static struct fabric *open_text(const char *text)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct fabric *fabric = parse(text, &err);
    expect_made(fabric, &err);
    return fabric;
}

static unsigned domain_of(const struct fabric *fabric, const char *node)
{
    return fabric->nodes[fabric_find_node(fabric, node)].nvlink_block;
}

static void reads_domains(void **state)
{
    (void)state;
    CLEANUP(fabric)
    struct fabric *fabric = open_text("n1: " A "\nn2: " B "\n\n# GPU by GPU\nn1: " A "\nn3:" A);
    assert_int_equal(fabric->switch_count, 0);
    assert_int_equal(fabric->warning_count, 0);
    assert_int_equal(fabric->node_count, 3);
    assert_int_equal(fabric->domain_count, 2);
    assert_string_equal(fabric->domains[0].id, A);
    assert_string_equal(fabric->domains[1].id, B);
    assert_int_equal(fabric->domains[0].node_count, 2);
    assert_int_equal(domain_of(fabric, "n1"), domain_of(fabric, "n3"));
    assert_int_not_equal(domain_of(fabric, "n1"), domain_of(fabric, "n2"));
    assert_int_equal(fabric->nodes[0].leaf, FABRIC_NONE);
}

static void reads_cliques(void **state)
{
    (void)state;
    CLEANUP(fabric)
    struct fabric *fabric = open_text(
        "n1: " A " 32766\r\nn2: " A ".32766\nn3: " A ", 1\nn4: " B "\nn5:\n"
        "n6: N/A\nn7: " ZERO "\nn8: " ZERO " 0\nn9: 0A1B2C3D-0001-4000-8000-00000000000B\n");
    assert_int_equal(fabric->domain_count, 3);
    assert_string_equal(fabric->domains[0].id, A ".32766");
    assert_string_equal(fabric->domains[1].id, A ".1");
    assert_int_equal(domain_of(fabric, "n1"), domain_of(fabric, "n2"));
    assert_int_equal(domain_of(fabric, "n4"), domain_of(fabric, "n9"));
    assert_int_equal(fabric->node_count, 5);
    assert_int_equal(fabric->warning_count, 1);
    assert_string_equal(fabric->warnings[0],
                        "uuids.txt: 4 hosts have no ClusterUUID and are left out");
}

static void refuses_with_place(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"", "uuids.txt: no line \"HOST: ClusterUUID\" names a domain"},
        {"n1: N/A\n", "uuids.txt: no line \"HOST: ClusterUUID\" names a domain"},
        {"n1 " A "\n", "uuids.txt:1: \"HOST: VALUE\" is expected at 'n1 " A "'"},
        {"n1: abc\n", "uuids.txt:1: 'abc' is no ClusterUUID (8-4-4-4-12 hexadecimal digits)"},
        {"n1: 0a1b2c3d-0001-4000-8000_00000000000a\n",
         "uuids.txt:1: '0a1b2c3d-0001-4000-8000_00000000000a' is no ClusterUUID (8-4-4-4-12 "
         "hexadecimal digits)"},
        {"n1: " A "a\n", "uuids.txt:1: '" A "a' is no ClusterUUID (8-4-4-4-12 hexadecimal digits)"},
        {"n1: " A " x\n", "uuids.txt:1: CliqueID: 'x' is not a whole number from 0 to 4294967295"},
        {"n1: " A " 1 2\n",
         "uuids.txt:1: CliqueID: '1 2' is not a whole number from 0 to 4294967295"},
        {"n1: " A " 1\nn2: " A "\n",
         "uuids.txt:2: ClusterUUID " A " stands with a CliqueID in one line and without in "
         "another; give all or none"},
        {"n1: " A "\nn1: " B "\n",
         "uuids.txt:2: host n1 is in another NVLink domain at an earlier line"},
        {"n1: " A "\nn1:\n", "uuids.txt:2: host n1 is in another NVLink domain at an earlier line"},
        {"a b: " A "\n", "uuids.txt:1: 'a b' is no node name"},
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
    assert_null(fabric_parse_cluster_uuids("n1:\0", 4, "uuids.txt", &err));
    assert_string_equal(err.text, "uuids.txt: has a NUL byte; a text file is expected");
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, 1u << 20);
    text_buffer_add_repeated(&text, 'n', 300);
    text_buffer_add_text(&text, ": " A "\n");
    assert_null(parse(text_buffer_text(&text), &err));
    expect_message(&err, "is no node name");
    text_buffer_add_repeated(&text, 'n', 70000);
    err.text[0] = '\0';
    assert_null(
        fabric_parse_cluster_uuids(text_buffer_text(&text) + 339, 70000, "uuids.txt", &err));
    assert_string_equal(err.text, "uuids.txt:1: the line has more than 65535 bytes");
}

static void reads_large_clusters(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, (size_t)4 << 20);
    for (unsigned i = 0; i < 10008; i++)
        text_buffer_add(&text, "tray%u: 5e000000-0000-4000-8000-%012x 32766\n", i, i % 556);
    CLEANUP(fabric) struct fabric *fabric = open_text(text_buffer_text(&text));
    assert_int_equal(fabric->node_count, 10008);
    assert_int_equal(fabric->domain_count, 556);
    for (size_t i = 0; i < fabric->domain_count; i++)
        assert_int_equal(fabric->domains[i].node_count, 18);
}

static int parse_small(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(fabric)
    struct fabric *fabric = parse("n1: " A "\nn2: " B " 7\nn3: " B " 8\nn4:\n", err);
    return fabric ? 0 : -1;
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(parse_small, NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reads_domains),        cmocka_unit_test(reads_cliques),
    cmocka_unit_test(refuses_with_place),   cmocka_unit_test(refuses_what_is_no_text),
    cmocka_unit_test(reads_large_clusters), cmocka_unit_test(survives_lack_of_memory),
};

int main(void) { return unit_test_main("topology/cluster_uuids_fabric", tests, COUNT_OF(tests)); }
