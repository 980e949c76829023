/* SPDX-License-Identifier: MIT */
#include "tests/unit/topology/topology_fixture.h"
#include "topology/cluster_readers/gres_text.h"

static void reads_what_slurm_writes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool found;
        unsigned count;
        const char *type;
    } cases[] = {
        {"gpu:8(S:0-1)", true, 8, ""},
        {"gpu:h100:8(S:0-1)", true, 8, "h100"},
        {"gpu:(null):8(IDX:0-7)", true, 8, ""},
        {"gres:gpu:4", true, 4, ""},
        {"gres/gpu:a100_80gb:2", true, 2, "a100_80gb"},
        {"gres:gpu", true, 1, ""},
        {"gpu:h100", true, 1, "h100"},
        {"nic:2,gpu:h100:8(IDX:0,2,4),shard:16", true, 8, "h100"},
        {"gpumem:80", false, 0, NULL},
        {"nic:2", false, 0, NULL},
        {"", false, 0, NULL},
        {NULL, false, 0, NULL},
        {"gpu:99999999999999999999", true, 1, "99999999999999999999"},
        {",,,", false, 0, NULL},
        {"((((", false, 0, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        unsigned count = 0;
        char type[GPU_TYPE_BYTES] = "";
        bool found = gres_text_parse(cases[i].text, &count, type);
        assert_int_equal(found, cases[i].found);
        if (found) {
            assert_int_equal(count, cases[i].count);
            assert_string_equal(type, cases[i].type);
        }
    }
}

static void goes_from_entry_to_entry(void **state)
{
    (void)state;
    const char *text = "gpu:a6000:4(IDX:0,2),nic:2,gpu:l40s:2,gpu";
    static const struct {
        unsigned count;
        const char *type;
    } expected[] = {{4, "a6000"}, {2, "l40s"}, {1, ""}};
    unsigned count = 0;
    char type[GPU_TYPE_BYTES] = "";
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        assert_true(gres_text_next(&text, &count, type));
        assert_int_equal(count, expected[i].count);
        assert_string_equal(type, expected[i].type);
    }
    assert_false(gres_text_next(&text, &count, type));
    assert_int_equal(count, 1);
}

static void stands_for_a_node(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = open_gpus();
    CLEANUP(node_topology)
    struct node_topology *typed = gres_unknown_node("n", "h100", 4, gpus, &err);
    CLEANUP(node_topology)
    struct node_topology *plain = gres_unknown_node("n", NULL, 2, gpus, &err);
    expect_made(typed, &err);
    expect_made(plain, &err);
    assert_int_equal(typed->gpu_count, 4);
    assert_string_equal(typed->gpus[3].model, "h100-sxm");
    assert_int_equal(typed->nvlink, NVLINK_UNKNOWN);
    assert_int_equal(plain->gpu_count, 2);
    assert_null(plain->gpus[0].model);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_slurm_writes),
        cmocka_unit_test(goes_from_entry_to_entry),
        cmocka_unit_test(stands_for_a_node),
    };
    return unit_test_main("topology/gres_text", tests, COUNT_OF(tests));
}
