/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"
#include "topology/node_readers/sysfs/sysfs_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void reads_properties(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t type, weight;
        unsigned malformed;
        const char *why;
    } rows[] = {
        {"type 11\nweight 15\n", 11, 15, 0, NULL},
        {"type 11\r\nweight 15", 11, 15, 0, NULL},
        {"other 1\n\nweight 15\nname_of 7\ntype 2\n", 2, 15, 0, NULL},
        {"weight 18446744073709551615\n", 0, UINT64_MAX, 0, NULL},
        {"weight 18446744073709551616\n", 0, 0, 1, "line 1: weight: '18446744073709551616'"},
        {"", 0, 0, 0, NULL},
        {"type 2\ngarbage\nweight 20\n", 2, 20, 1, "line 2: 'garbage' is no key and value"},
        {"type -2\ntype 2\nweight x\n", 2, 0, 2, "line 1: type: '-2' is not"},
        {"type 2\ntype 3\n", 2, 0, 1, "line 2: type stands twice"},
        {" type 2\n", 0, 0, 1, "line 1: ' type 2' is no key"},
        {"type  2\n", 0, 0, 1, "line 1: type: "},
        {"type 2 3\n", 0, 0, 1, "line 1: type: "},
        {"type \n", 0, 0, 1, "line 1: 'type' is no key and value"},
        {"type 0x2\n", 0, 0, 1, "line 1: type: "},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct sysfs_property values[] = {{.key = "type"}, {.key = "weight"}};
        struct error_info why = {.kind = ERROR_NONE};
        assert_int_equal(sysfs_parse_properties(rows[i].text, values, 2, &why), rows[i].malformed);
        assert_int_equal(values[0].value, rows[i].type);
        assert_int_equal(values[1].value, rows[i].weight);
        if (rows[i].why && strncmp(why.text, rows[i].why, strlen(rows[i].why)) != 0)
            fail_msg("row %zu: %s", i, why.text);
    }
}

static void limits_properties(void **state)
{
    (void)state;
    static char text[200000];
    struct sysfs_property value = {.key = "key"};
    struct error_info why = {.kind = ERROR_NONE};
    for (size_t i = 0; i + 7 < sizeof(text); i += 6)
        memcpy(text + i, "odd 1\n", 7);
    assert_int_equal(sysfs_parse_properties(text, &value, 1, &why), 1);
    assert_string_equal(why.text, "line 513: more lines than 512");
    memset(text, 'x', sizeof(text) - 1);
    assert_int_equal(sysfs_parse_properties(text, &value, 1, &why), 1);
    assert_string_equal(why.text, "line 1: longer than 127 bytes");
    assert_false(value.known);
}

static void reads_rates(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double gigabytes; /* 0: refused */
    } rows[] = {
        {"400 Gb/sec (4X NDR)", 50},
        {"800 Gb/sec (4X XDR)", 100},
        {"200 Gb/sec (4X HDR)", 25},
        {"100 Gb/sec (4X EDR)", 12.5},
        {"100 Gb/sec (2X HDR)", 12.5},
        {"56 Gb/sec (4X FDR)", 6.8125},
        {"40 Gb/sec (4X FDR10)", 5},
        {"40 Gb/sec (4X QDR)", 4},
        {"2.5 Gb/sec (1X SDR)", 0.25},
        {"100 Gb/sec", 12.5},
        {"0 Gb/sec", 0},
        {"", 0},
        {"400", 0},
        {"400 Gb/second", 0},
        {"400 Mb/sec (4X NDR)", 0},
        {" 400 Gb/sec", 0},
        {"-1 Gb/sec (4X SDR)", 0},
        {"nan Gb/sec", 0},
        {"1e99 Gb/sec", 0},
        {"99999999999999999999999999999999999999 Gb/sec", 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        double rate = 0;
        struct error_info err = {.kind = ERROR_NONE};
        int result = sysfs_parse_rate(rows[i].text, &rate, &err);
        if (fabs(rate - rows[i].gigabytes * 1e9) > 1)
            fail_msg("%s: %g", rows[i].text, rate);
        assert_int_equal(result < 0, err.kind == ERROR_INPUT);
    }
}

static void reads_guids(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t guid;
        bool good;
    } rows[] = {
        {"a088:c203:0012:3456", UINT64_C(0xa088c20300123456), true},
        {"A088C20300123456", UINT64_C(0xa088c20300123456), true},
        {"0000:0000:0000:0000", 0, true},
        {"a088:c203:0012:345", 0, false},
        {"a088:c203:0012:34567", 0, false},
        {"a088:c203:0012:345g", 0, false},
        {"", 0, false},
        {"::::", 0, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint64_t guid = 0;
        assert_int_equal(sysfs_parse_guid(rows[i].text, &guid, NULL), rows[i].good ? 0 : -1);
        assert_int_equal(guid, rows[i].guid);
    }
}

static void knows_nvswitches_by_their_vpd(void **state)
{
    (void)state;
    static const char vpd[] = "\x82\x0c\0Example HCA\x90\x10\0V3\x06SW_MNG\0\x78";
    assert_true(sysfs_vpd_is_nvswitch(vpd, sizeof(vpd)));
    assert_false(sysfs_vpd_is_nvswitch(vpd, 20));
    assert_false(sysfs_vpd_is_nvswitch("", 0));
    assert_false(sysfs_vpd_is_nvswitch("SW_MN", 5));
}

static void knows_bus_ids(void **state)
{
    (void)state;
    static const struct {
        const char *path, *bus_id; /* NULL: none */
    } rows[] = {
        {"0000:18:00.0", "0000:18:00.0"},
        {"sys/devices/pci0000:15/0000:15:01.0/0000:18:00.1", "0000:18:00.1"},
        {"sys/devices/pci0000:15/0000:15:01.0/0000:18:00.1/net/ib0", "0000:18:00.1"},
        {"sys/devices/10001:C0:1F.7", "10001:c0:1f.7"},
        {"00000000:18:00.0", "0000:18:00.0"},
        {"000000000:18:00.0", NULL},
        {"sys/devices/virtual/infiniband/rxe0", NULL},
        {"pci0000:15", NULL},
        {"0000:18:00", NULL},
        {"0000:18:00.0x", NULL},
        {"000g:18:00.0", NULL},
        {"0000-18:00.0", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char bus_id[PCI_BUS_ID_BYTES] = "";
        bool found = sysfs_path_bus_id(rows[i].path, bus_id);
        if (found != (rows[i].bus_id != NULL))
            fail_msg("%s", rows[i].path);
        if (found)
            assert_string_equal(bus_id, rows[i].bus_id);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reads_properties), cmocka_unit_test(limits_properties),
    cmocka_unit_test(reads_rates),      cmocka_unit_test(reads_guids),
    cmocka_unit_test(knows_bus_ids),    cmocka_unit_test(knows_nvswitches_by_their_vpd),
};

int main(void) { return unit_test_main("topology/sysfs_text", tests, COUNT_OF(tests)); }
