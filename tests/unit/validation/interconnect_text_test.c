/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"
#include "validation/interconnect_text.h"

#include <string.h>

static void reads_the_rate_of_a_gpu(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned gpus_per_node;
        double gbit;
    } rows[] = {
        {"", 8, 0},
        {"NVSwitch 600GB/s + 8x HDR IB 200G", 8, 200},
        {"NVLink3 + 4x Omni-Path 100G", 8, 50},
        {"NVLink 4 900 GB/s", 8, 0},
        {"4x100Gb RoCE", 8, 50},
        {"4x 100Gbit/s RoCE", 4, 100},
        {"800 Gb/s per node", 8, 100},
        {"NVLink4 + 3200 Gbps/node EFA", 8, 400},
        {"400G/GPU", 8, 400},
        {"IB 800G", 4, 800},
        {"8x HDR IB", 8, 200},
        {"EDR", 8, 100},
        {"NDR InfiniBand", 8, 400},
        {"XDR", 4, 800},
        {"CX-7 400 Gb/s", 8, 400},
        {"8x CX7 NDR", 4, 800},
        {"1.6 Tb/s", 8, 0},
        {"PCIe 64 GB/s", 8, 0},
        {"400G for 8 GPUs", 8, 400}, /* a number of GPUs is no rate */
        {"2.4 GHz", 8, 0},
        {"HDR IB + NDR IB", 8, 400}, /* the last part counts */
        {"8x HDR IB 200G", 0, 0},
        {"99999999999999999999G", 8, 0},
        {"1.2.3G", 8, 0},
        {"+++", 8, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        double gbit = interconnect_gbit_per_gpu(rows[i].text, rows[i].gpus_per_node);
        if (gbit != rows[i].gbit)
            fail_msg("'%s' over %u: %g Gb/s, not %g", rows[i].text, rows[i].gpus_per_node, gbit,
                     rows[i].gbit);
    }
}

static void long_parts_are_cut(void **state)
{
    (void)state;
    char text[400];
    memset(text, 'x', sizeof(text));
    memcpy(text, "HDR IB ", 7);
    memcpy(text + 300, "+ NDR", 6);
    assert_true(interconnect_gbit_per_gpu(text, 8) == 400);
    text[300] = '\0';
    assert_true(interconnect_gbit_per_gpu(text, 8) == 200);
}

static void names_the_kind_of_network(void **state)
{
    (void)state;
    static const struct {
        const char *text, *nic;
        bool is_ethernet;
    } rows[] = {
        {"8x HDR IB 200G", "mlx5_0", false},         {"4x100Gb RoCE", "mlx5_0", true},
        {"NVLink3 + 4x Omni-Path", "hfi1_0", false}, {"3200 Gbps/node EFA", "efa_0", false},
        {"25 Gb/s Ethernet", "mlx5_0", true},        {"", "mlx5_0", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        bool is_ethernet = !rows[i].is_ethernet;
        assert_string_equal(interconnect_nic_name(rows[i].text, &is_ethernet), rows[i].nic);
        assert_int_equal(is_ethernet, rows[i].is_ethernet);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_rate_of_a_gpu),
        cmocka_unit_test(long_parts_are_cut),
        cmocka_unit_test(names_the_kind_of_network),
    };
    return unit_test_main("validation/interconnect_text", tests, COUNT_OF(tests));
}
