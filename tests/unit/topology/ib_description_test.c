/* SPDX-License-Identifier: MIT */
/* Node descriptions and rates, as InfiniBand's tools write them. */
#include "tests/unit/topology/topology_fixture.h"
#include "topology/fabric_readers/infiniband/ib_description.h"
#include "topology/fabric_readers/infiniband/ib_rate.h"

#define NONE FABRIC_NONE

static void reads_descriptions_of_adapters(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum ib_adapter_kind kind;
        const char *host, *label;
        unsigned number;
    } cases[] = {
        {"dgx-04 mlx5_5", IB_ADAPTER_HOST, "dgx-04", "mlx5_5", 5},
        {"dgx-04 HCA-6", IB_ADAPTER_HOST, "dgx-04", "HCA-6", 5},
        {"dgx.site.example mlx5_0 port 1", IB_ADAPTER_HOST, "dgx.site.example", "mlx5_0", 0},
        {"  n1\tHCA-1 ", IB_ADAPTER_HOST, "n1", "HCA-1", 0},
        {"n1 ibp12s0f0", IB_ADAPTER_HOST, "n1", "ibp12s0f0", NONE},
        {"n1 mlx5_bond_0", IB_ADAPTER_HOST, "n1", "mlx5_bond_0", NONE},
        {"n1 HCA-0", IB_ADAPTER_HOST, "n1", "HCA-0", NONE},
        {"n1 HCA-65", IB_ADAPTER_HOST, "n1", "HCA-65", NONE},
        {"n1", IB_ADAPTER_HOST, "n1", "", NONE},
        {"Mellanox Technologies Aggregation Node", IB_ADAPTER_AGGREGATION, "", "", NONE},
        {"MT4123 ConnectX6   Mellanox Technologies", IB_ADAPTER_UNNAMED, "", "", NONE},
        {"", IB_ADAPTER_UNNAMED, "", "", NONE},
        {"   ", IB_ADAPTER_UNNAMED, "", "", NONE},
        {"mlx5_3", IB_ADAPTER_UNNAMED, "", "", NONE},
        {"localhost HCA-1", IB_ADAPTER_UNNAMED, "", "", NONE},
        {"0002c9030000abcd", IB_ADAPTER_UNNAMED, "", "", NONE},
        {"n[1] mlx5_0", IB_ADAPTER_UNNAMED, "", "", NONE},
        {"n\xc3\xa4 mlx5_0", IB_ADAPTER_UNNAMED, "", "", NONE},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP_MEMORY char *text = memory_copy_text(cases[i].text);
        const char *host = "", *label = "";
        unsigned number = NONE;
        assert_non_null(text);
        assert_int_equal(ib_description_adapter(text, &host, &label, &number), cases[i].kind);
        assert_string_equal(host, cases[i].host);
        assert_string_equal(label, cases[i].label);
        assert_int_equal(number, cases[i].number);
    }
}

static void reads_descriptions_of_switches(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"MF0;leaf-01:MQM9701/U1", "leaf-01"},
        {"MF0;dir-a:MCS8500/L07/U1", "dir-a/L07"},
        {"MF0;dir-a:MCS8500/S01/U2", "dir-a/S01/U2"},
        {"MF0;odd:MQM", "odd"},
        {"ibsw1", "ibsw1"},
        {"rack 3, top [a]", "rack_3__top__a_"},
        {"MF0;:MQM8700/U1", "S-12"},
        {"Quantum Mellanox Technologies", "S-12"},
        {"", "S-12"},
    };
    char name[IB_NAME_BYTES], wide[300];
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        ib_description_switch(cases[i][0], "S-12", name);
        assert_string_equal(name, cases[i][1]);
    }
    memset(wide, 'x', sizeof(wide) - 1);
    wide[sizeof(wide) - 1] = '\0';
    ib_description_switch(wide, "S-12", name);
    assert_int_equal(strlen(name), IB_NAME_BYTES - 1);
}

static void knows_rates(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        double gigabits_per_second;
    } cases[] = {
        {"4xSDR", 10},  {"4xDDR", 20},     {"4xQDR", 40},   {"4xFDR10", 40}, {"4xFDR", 56.25},
        {"4xEDR", 100}, {"4xHDR", 200},    {"2xHDR", 100},  {"1xHDR", 50},   {"4xNDR", 400},
        {"2xNDR", 200}, {"4xXDR", 800},    {"12xQDR", 120}, {"4xhdr", 200},  {"8xHDR", 400},
        {"", 0},        {"4x", 0},         {"xHDR", 0},     {"3xHDR", 0},    {"4HDR", 0},
        {"4xABC", 0},   {"123456xHDR", 0}, {"0xHDR", 0},    {"HDR", 0},      {"lid", 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        unsigned rate = ib_rate_parse(cases[i].word);
        assert_true(rate < IB_RATE_COUNT);
        assert_true(ib_rate_bytes_per_second(rate) == cases[i].gigabits_per_second * 0.125e9);
    }
    assert_int_equal(ib_rate_lanes(ib_rate_parse("2xNDR")), 2);
    assert_string_equal(ib_rate_speed(ib_rate_parse("2xndr")), "NDR");
    assert_int_equal(ib_rate_lanes(IB_RATE_UNKNOWN), 0);
    assert_string_equal(ib_rate_speed(IB_RATE_UNKNOWN), "unknown");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reads_descriptions_of_adapters),
    cmocka_unit_test(reads_descriptions_of_switches),
    cmocka_unit_test(knows_rates),
};

int main(void) { return unit_test_main("topology/ib_description", tests, COUNT_OF(tests)); }
