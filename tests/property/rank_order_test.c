/* SPDX-License-Identifier: MIT */
/* For many degrees and both orders: dense and expert coordinates are each a bijection onto
 * their grid, rank_of inverts, and both grids put a rank into the same pipeline stage. */
#include "tests/support/unit_test.h"
#include "workload/rank_order.h"

#include "base/cleanup.h"
#include <string.h>

#define ROUNDS 4000u
#define GRID_MAXIMUM 4096u

/* xorshift64*: the same degrees on every run and machine. */
static unsigned draw(uint64_t *state, unsigned below)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (unsigned)(*state * UINT64_C(2685821657736338717) >> 33) % below;
}

/* Degrees from 1 to 5 each whose experts fit; false where they do not. */
static bool draw_degrees(uint64_t *random, struct degrees *ret)
{
    unsigned tp = 1 + draw(random, 5), cp = 1 + draw(random, 4), dp = 1 + draw(random, 6);
    unsigned pp = 1 + draw(random, 5);
    *ret = (struct degrees){
        .tp = tp, .cp = cp, .pp = pp, .dp = dp, .ep = draw(random, 7), .etp = draw(random, 4)};
    return degrees_complete(ret, (uint64_t)tp * cp * dp * pp, NULL) == 0;
}

static void mark(unsigned char *seen, uint64_t cell, uint64_t cells)
{
    assert_true(cell < cells);
    assert_int_equal(seen[cell], 0);
    seen[cell] = 1;
}

static void check_bijection(enum rank_order order, const struct degrees *d)
{
    unsigned char dense[GRID_MAXIMUM] = {0}, expert[GRID_MAXIMUM] = {0};
    uint64_t world = degrees_world(d), edp = degrees_edp(d);
    assert_true(world > 0 && world <= GRID_MAXIMUM);
    assert_int_equal(edp * d->ep * d->etp * d->pp, world);
    for (uint64_t rank = 0; rank < world; rank++) {
        struct rank_coordinates c;
        rank_coordinates_of(order, d, rank, &c);
        assert_true(c.tp < d->tp && c.cp < d->cp && c.dp < d->dp && c.pp < d->pp);
        assert_true(c.etp < d->etp && c.ep < d->ep && c.edp < edp);
        assert_int_equal(rank_of(order, d, c.tp, c.cp, c.dp, c.pp), rank);
        mark(dense, ((c.pp * (uint64_t)d->dp + c.dp) * d->cp + c.cp) * d->tp + c.tp, world);
        mark(expert, ((c.pp * edp + c.edp) * d->ep + c.ep) * d->etp + c.etp, world);
    }
}

static void coordinates_are_a_bijection(void **state)
{
    (void)state;
    uint64_t random = 20240607;
    unsigned checked[RANK_ORDER_COUNT] = {0};
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct degrees degrees;
        if (!draw_degrees(&random, &degrees))
            continue;
        for (unsigned order = 0; order < RANK_ORDER_COUNT; order++) {
            if (rank_order_check((enum rank_order)order, &degrees, NULL) < 0)
                continue;
            check_bijection((enum rank_order)order, &degrees);
            checked[order]++;
        }
    }
    assert_true(checked[ORDER_TP_CP_EP_DP_PP] > ROUNDS / 3);
    assert_true(checked[ORDER_TP_CP_EP_PP_DP] > ROUNDS / 8);
}

/* Completion: the product is N, experts divide, and completing again changes nothing. */
static void completion_is_stable(void **state)
{
    (void)state;
    uint64_t random = 7;
    for (unsigned round = 0; round < 10 * ROUNDS; round++) {
        struct degrees degrees = {.tp = draw(&random, 9),
                                  .cp = draw(&random, 3),
                                  .ep = draw(&random, 9),
                                  .pp = draw(&random, 9),
                                  .dp = draw(&random, 9)};
        uint64_t world = 1 + draw(&random, 256);
        if (degrees_complete(&degrees, world, NULL) < 0)
            continue;
        struct degrees again = degrees;
        assert_int_equal(degrees_world(&degrees), world);
        assert_int_equal((uint64_t)degrees.ep * degrees.etp * degrees_edp(&degrees) * degrees.pp,
                         world);
        assert_int_equal(degrees_complete(&again, world, NULL), 0);
        assert_memory_equal(&again, &degrees, sizeof(again));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coordinates_are_a_bijection),
        cmocka_unit_test(completion_is_stable),
    };
    return unit_test_main("property/rank_order", tests, COUNT_OF(tests));
}
