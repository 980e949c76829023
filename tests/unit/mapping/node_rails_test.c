/* SPDX-License-Identifier: MIT */
#include "mapping/rails/node_rails.h"
#include "tests/support/unit_test.h"

#include <string.h>

#define RAIL(number, text)                                                                         \
    {                                                                                              \
        .name = (text), .role = NIC_RAIL, .state = NIC_ACTIVE, .rail = (number)                    \
    }
#define MAXIMUM 5u

static void expect_text(const struct text_buffer *got, const char *expected, size_t row)
{
    if (strcmp(text_buffer_text(got), expected) != 0)
        fail_msg("row %zu: '%s', expected '%s'", row, text_buffer_text(got), expected);
}

static void writes_the_rails_that_are_up(void **state)
{
    (void)state;
    static const struct {
        struct node_nic nics[MAXIMUM];
        unsigned nic_count, rails;
        const char *expected;
    } rows[] = {
        {{RAIL(0, "mlx5_0")}, 0, 0, ""},
        {{RAIL(0, "mlx5_0"), RAIL(1, "mlx5_1")}, 2, 2, "=mlx5_0,mlx5_1"},
        {{RAIL(2, "mlx5_0"), RAIL(0, "mlx5_9"), RAIL(1, "mlx5_10")},
         3,
         3,
         "=mlx5_9,mlx5_10,mlx5_0"},
        {{RAIL(-1, "mlx5_0"), RAIL(0, "mlx5_1"), RAIL(-1, "mlx5_2"), RAIL(99, "mlx5_3")},
         4,
         4,
         "=mlx5_1,mlx5_0,mlx5_2,mlx5_3"},
        {{{.name = "mlx5_0", .role = NIC_RAIL, .state = NIC_DOWN}, RAIL(1, "mlx5_1")},
         2,
         1,
         "=mlx5_1"},
        {{{.name = "mlx5_0", .role = NIC_RAIL, .state = NIC_STATE_UNKNOWN}}, 1, 1, "=mlx5_0"},
        {{{.name = "mlx5_0", .role = NIC_STORAGE, .state = NIC_ACTIVE}, RAIL(0, "mlx5_bond_0")},
         2,
         1,
         "=mlx5_bond_0"},
        {{{.name = "mlx5_0", .role = NIC_STORAGE, .state = NIC_ACTIVE}}, 1, 0, ""},
        {{RAIL(0, "ibp24s0"), RAIL(1, "rocep3s0"), RAIL(2, "bnxt_re0")},
         3,
         3,
         "=ibp24s0,rocep3s0,bnxt_re0"},
        {{RAIL(0, "mlx5_0"), RAIL(1, NULL)}, 2, 2, ""},
        {{RAIL(0, "mlx5_0"), RAIL(1, "eth0")}, 2, 2, ""},
        {{RAIL(0, "enp24s0")}, 1, 1, ""},
        {{RAIL(0, "ib0")}, 1, 1, ""},
        {{RAIL(0, "hsi0")}, 1, 1, ""},
        {{RAIL(0, "cxi0")}, 1, 1, ""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct node_topology node = {.nics = rows[i].nics, .nic_count = rows[i].nic_count};
        CLEANUP_DONE(text_buffer) struct text_buffer got;
        text_buffer_init(&got, 512);
        node_rails_write(&node, &got);
        expect_text(&got, rows[i].expected, i);
        assert_int_equal(node_rails_count(&node), rows[i].rails);
    }
}

static void says_what_is_not_as_planned(void **state)
{
    (void)state;
    static const struct node_nic up[] = {RAIL(0, "mlx5_0"), RAIL(1, "mlx5_1")};
    static const struct node_nic half[] = {
        RAIL(0, "mlx5_0"), {.name = "mlx5_1", .role = NIC_OTHER, .state = NIC_DOWN, .rail = -1}};
    static const struct node_gpu h100[] = {{.model = "h100-sxm"}, {.model = "h100-sxm"}};
    static const struct node_gpu mixed[] = {{.model = NULL}, {.model = "h100-pcie"}};
    static const struct node_gpu free_text[] = {{.model = "NVIDIA X9000 SXM"}, {.model = NULL}};
    static const struct {
        const struct node_gpu *gpus;
        const struct node_nic *nics;
        unsigned nic_count, per_node;
        struct wire_facts facts;
        const char *expected;
    } rows[] = {
        {h100, up, 2, 2, {.rails = 2, .gpu = "h100-sxm"}, ""},
        {h100, up, 2, 1, {.rails = 1, .gpu = "h100-sxm"}, ""},
        {h100, up, 2, 2, {0}, ""},
        {h100, up, 0, 2, {.rails = 8}, ""},
        {free_text, up, 2, 2, {.gpu = "h100-sxm"}, ""},
        {h100, up, 2, 4, {.gpu = "a100"}, "4 GPUs are planned and 2 are here"},
        {mixed, up, 2, 2, {.gpu = "h100-sxm"}, "h100-sxm is planned and GPU 1 here is h100-pcie"},
        {h100, up, 2, 2, {.rails = 8}, "8 rails are planned and 2 here are up"},
        {h100, half, 2, 2, {.rails = 2}, "2 rails are planned and 1 here are up (mlx5_1 is down)"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct node_topology node = {.gpus = rows[i].gpus,
                                           .gpu_count = 2,
                                           .nics = rows[i].nics,
                                           .nic_count = rows[i].nic_count};
        const struct wire_plan wire = {.gpus_per_node = rows[i].per_node, .facts = rows[i].facts};
        CLEANUP_DONE(text_buffer) struct text_buffer got;
        text_buffer_init(&got, 512);
        node_rails_compare(&node, &wire, &got);
        expect_text(&got, rows[i].expected, i);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_the_rails_that_are_up),
        cmocka_unit_test(says_what_is_not_as_planned),
    };
    return unit_test_main("mapping/node_rails", tests, COUNT_OF(tests));
}
