/* SPDX-License-Identifier: MIT */
#include "mapping/rails/rail_agreement.h"
#include "tests/support/test_cluster.h"
#include "tests/support/unit_test.h"

#include <string.h>

#define GPUS 4u
#define KINDS 3u

/* For each kind the rail of each local rank, "0123"; "-" for an unknown one; "": the kind holds
 * no rank. */
static const struct row {
    const char *rails[KINDS];
    unsigned count, local_rank, first, other; /* count 0: all agree */
    const char *first_kind, *other_kind;
    bool first_permuted, other_permuted;
} rows[] = {
    {{"0123", "0123", "0123"}, 0, 0, 0, 0, NULL, NULL, false, false},
    {{"0123", "0213", "0123"}, 2, 1, 1, 2, "a", "b", false, true},
    {{"0123", "0123", "3210"}, 4, 0, 0, 3, "a", "c", false, true},
    {{"3210", "0123", "0123"}, 4, 0, 3, 0, "a", "b", true, false},
    {{"", "0123", "0122"}, 1, 3, 3, 2, "b", "c", false, false}, /* fewer NICs */
    {{"012-", "0123", "3210"}, 4, 0, 0, 3, "b", "c", false, true},
    {{"0123", "----", ""}, 0, 0, 0, 0, NULL, NULL, false, false},
    {{"", "", ""}, 0, 0, 0, 0, NULL, NULL, false, false},
    {{"0123", "0132", "1023"}, 4, 0, 0, 1, "a", "c", false, true},
};

static struct node_topology *make_kind(const char *rails)
{
    struct node_topology *node = test_node_create(GPUS, NULL, NVLINK_KNOWN);
    for (unsigned i = 0; node && *rails && i < GPUS; i++) {
        ((struct node_nic *)node->nics)[i].rail = rails[i] - '0';
        if (rails[i] == '-')
            ((struct node_gpu *)node->gpus)[i].nic_count = 0;
    }
    return node;
}

static void finds_the_first_difference(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "c"};
    static const unsigned plain[] = {0, 1, 2, 3};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct node_topology *kinds[KINDS];
        const unsigned *gpus[KINDS];
        for (unsigned kind = 0; kind < KINDS; kind++) {
            kinds[kind] = make_kind(rows[i].rails[kind]);
            assert_non_null(kinds[kind]);
            gpus[kind] = rows[i].rails[kind][0] ? plain : NULL;
        }
        const struct cluster_topology cluster = {.kinds =
                                                     (const struct node_topology *const *)kinds,
                                                 .kind_names = names,
                                                 .kind_count = KINDS};
        const struct rank_map map = {.cluster = &cluster, .gpus_per_node = GPUS, .kind_gpus = gpus};
        struct rail_difference found = {.count = 0};
        assert_int_equal(rail_agreement_differs(&map, &found), rows[i].count > 0);
        assert_int_equal(found.count, rows[i].count);
        if (found.count > 0) {
            assert_int_equal(found.local_rank, rows[i].local_rank);
            assert_int_equal(found.first.rail, rows[i].first);
            assert_int_equal(found.other.rail, rows[i].other);
            assert_string_equal(found.first.kind, rows[i].first_kind);
            assert_string_equal(found.other.kind, rows[i].other_kind);
            assert_int_equal(found.first.is_permuted, rows[i].first_permuted);
            assert_int_equal(found.other.is_permuted, rows[i].other_permuted);
        }
        for (unsigned kind = 0; kind < KINDS; kind++)
            node_topology_free(kinds[kind]);
    }
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(finds_the_first_difference)};

int main(void) { return unit_test_main("mapping/rails/rail_agreement", tests, COUNT_OF(tests)); }
