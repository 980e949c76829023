/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"
#include "workload/rank_order.h"

#include "base/cleanup.h"

/* Eight ranks and their coordinates, written out by hand from the two formulas. */
struct numbered {
    enum rank_order order;
    unsigned tp, cp, ep, etp, pp;
    unsigned rank;
    struct rank_coordinates want; /* tp cp ep etp edp pp dp */
};

static const struct numbered numbered[] = {
    {ORDER_TP_CP_EP_DP_PP, 8, 1, 1, 8, 4, 0, {0, 0, 0, 0, 0, 0, 0}},
    {ORDER_TP_CP_EP_DP_PP, 8, 1, 1, 8, 4, 9, {1, 0, 0, 1, 1, 0, 1}},
    {ORDER_TP_CP_EP_DP_PP, 8, 1, 1, 8, 4, 63, {7, 0, 0, 7, 1, 3, 1}},
    {ORDER_TP_CP_EP_DP_PP, 2, 2, 8, 1, 2, 37, {1, 0, 5, 0, 0, 1, 1}},
    {ORDER_TP_CP_EP_DP_PP, 2, 2, 8, 2, 2, 31, {1, 1, 7, 1, 1, 0, 7}},
    {ORDER_TP_CP_EP_PP_DP, 8, 1, 1, 8, 4, 9, {1, 0, 0, 1, 0, 1, 0}},
    {ORDER_TP_CP_EP_PP_DP, 8, 1, 1, 8, 4, 40, {0, 0, 0, 0, 1, 1, 1}},
    {ORDER_TP_CP_EP_PP_DP, 4, 1, 2, 2, 4, 23, {3, 0, 1, 1, 1, 1, 1}},
    {ORDER_TP_CP_EP_PP_DP, 2, 1, 8, 1, 1, 29, {1, 0, 5, 0, 3, 0, 14}},
};

static void numbers_as_the_framework(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(numbered); i++) {
        const struct numbered *row = &numbered[i];
        struct degrees degrees = {
            .tp = row->tp, .cp = row->cp, .ep = row->ep, .etp = row->etp, .pp = row->pp};
        struct rank_coordinates got;
        assert_int_equal(degrees_complete(&degrees, 64, NULL), 0);
        assert_int_equal(rank_order_check(row->order, &degrees, NULL), 0);
        rank_coordinates_of(row->order, &degrees, row->rank, &got);
        assert_memory_equal(&got, &row->want, sizeof(got));
        assert_int_equal(rank_of(row->order, &degrees, got.tp, got.cp, got.dp, got.pp), row->rank);
    }
}

static void names_are_read_back(void **state)
{
    (void)state;
    enum rank_order order = ORDER_TP_CP_EP_DP_PP;
    struct error_info err = {0};
    assert_int_equal(rank_order_parse("tp-cp-ep-pp-dp", &order, &err), 0);
    assert_int_equal(order, ORDER_TP_CP_EP_PP_DP);
    assert_string_equal(rank_order_name(order), "tp-cp-ep-pp-dp");
    assert_int_equal(rank_order_parse("pp-tp", &order, &err), -1);
    assert_string_equal(err.text,
                        "\"pp-tp\" is not a rank order; use tp-cp-ep-dp-pp or tp-cp-ep-pp-dp");
    assert_int_equal(order, ORDER_TP_CP_EP_PP_DP);
    assert_string_equal(rank_order_name(RANK_ORDER_COUNT), "unknown");
}

static void refuses_what_megatron_asserts(void **state)
{
    (void)state;
    struct error_info err = {0};
    struct degrees degrees = {.tp = 2, .ep = 8, .pp = 2};
    assert_int_equal(degrees_complete(&degrees, 64, NULL), 0);
    assert_int_equal(rank_order_check(ORDER_TP_CP_EP_DP_PP, &degrees, &err), 0);
    assert_int_equal(rank_order_check(ORDER_TP_CP_EP_PP_DP, &degrees, &err), -1);
    assert_string_equal(err.text,
                        "order tp-cp-ep-pp-dp needs pp=1, or the experts' data parallel degree "
                        "equal to dp; with tp=2,cp=1,ep=8,etp=1 they are 4 and 16; use "
                        "order=tp-cp-ep-dp-pp");
    degrees = (struct degrees){.tp = 2, .cp = 2, .pp = 2}; /* dense, and yet etp*ep != tp*cp */
    assert_int_equal(degrees_complete(&degrees, 64, NULL), 0);
    assert_int_equal(rank_order_check(ORDER_TP_CP_EP_PP_DP, &degrees, &err), -1);
    degrees = (struct degrees){.tp = 2, .ep = 8};
    assert_int_equal(degrees_complete(&degrees, 64, NULL), 0);
    assert_int_equal(rank_order_check(ORDER_TP_CP_EP_PP_DP, &degrees, &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_as_the_framework),
        cmocka_unit_test(names_are_read_back),
        cmocka_unit_test(refuses_what_megatron_asserts),
    };
    return unit_test_main("workload/rank_order", tests, COUNT_OF(tests));
}
