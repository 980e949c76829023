/* SPDX-License-Identifier: MIT */
#include "planner/scan/scan_grid.h"
#include "planner/search/candidate_pool.h"
#include "tests/support/planner_fixture.h"
#include "tests/support/unit_test.h"

#include <string.h>

#define KEYS "global_batch=128,sequence_length=2048"

struct scanned {
    struct planner_fixture fixture;
    struct scan_grid *grid;
};

static bool scan(struct scanned *ret, const char *model, const char *cluster, const char *keys,
                 unsigned candidates)
{
    struct error_info err = {.kind = ERROR_NONE};
    ret->grid = NULL;
    if (planner_fixture_init(&ret->fixture, model, cluster, keys, &err) == 0)
        ret->grid = scan_grid_create(&ret->fixture.request, candidates, &err);
    if (!ret->grid && err.kind == ERROR_INPUT)
        fail_msg("%s", err.text);
    return ret->grid != NULL;
}

static void done(struct scanned *scanned)
{
    scan_grid_free(scanned->grid);
    planner_fixture_done(&scanned->fixture);
}

static bool is_of_class(const struct degrees *degrees, enum scan_role role)
{
    bool tp = role == SCAN_WITH_TP || role == SCAN_WITH_BOTH;
    bool pp = role == SCAN_WITH_PP || role == SCAN_WITH_BOTH;
    return (degrees->tp > 1) == tp && (degrees->pp > 1) == pp;
}

static void check_class(const struct scan_grid *grid, enum scan_role role)
{
    size_t row = grid->row_of[role];
    assert_int_not_equal(row == SCAN_NO_ROW, grid->absent[role] == NULL);
    if (row != SCAN_NO_ROW) {
        assert_true(is_of_class(&grid->rows[row].plan.degrees, role));
        assert_true(grid->rows[row].roles & (1u << role));
    }
}

/* The number of GPUs and the global batch are the same in every row, and each row is another
 * split that fits. */
static void check_rows(const struct scan_grid *grid, uint64_t world, unsigned global_batch)
{
    assert_int_equal(grid->row_of[SCAN_ANSWER], 0);
    for (size_t i = 0; i < grid->row_count; i++) {
        const struct scan_row *row = &grid->rows[i];
        const struct plan *plan = &row->plan;
        assert_int_equal(degrees_world(&plan->degrees), world);
        assert_int_equal(plan->micro_batch * plan->micro_batches * plan->degrees.dp, global_batch);
        assert_true(plan->memory.verdict == FIT_FITS || plan->memory.verdict == FIT_TIGHT);
        assert_int_not_equal(row->roles, 0);
        assert_null(plan->reasons);
        for (size_t other = 0; other < i; other++) {
            assert_string_not_equal(row->id, grid->rows[other].id);
            assert_false(plan_is_variant(plan, &grid->rows[other].plan) &&
                         plan->degrees.pp == grid->rows[other].plan.degrees.pp);
        }
    }
    for (unsigned role = SCAN_FIRST_CLASS; role < SCAN_ROLE_COUNT; role++)
        check_class(grid, (enum scan_role)role);
}

static void rows_keep_gpus_and_batch(void **state)
{
    (void)state;
    static const struct {
        const char *model, *cluster, *keys;
        uint64_t world;
        unsigned global_batch;
    } rows[] = {
        {"llama2-7b", "dgx-a100-80:2", KEYS, 16, 128},
        {"llama3-70b", "dgx-h100:8", "global_batch=256,sequence_length=8192", 64, 256},
        {"mixtral-8x7b", "dgx-h100:8", "global_batch=512", 64, 512},
        {"gpt2", "a6000-pairs:1", "global_batch=64,sequence_length=1024", 8, 64},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct scanned scanned;
        if (scan(&scanned, rows[i].model, rows[i].cluster, rows[i].keys, SCAN_DEFAULT_CANDIDATES))
            check_rows(scanned.grid, rows[i].world, rows[i].global_batch);
        done(&scanned);
    }
}

/* Of all plans that the search keeps none of the class is better. */
static void classes_have_their_best(void **state)
{
    (void)state;
    struct scanned scanned;
    if (scan(&scanned, "llama3-70b", "dgx-h100:8", "global_batch=256,sequence_length=8192", 1)) {
        const struct scan_grid *grid = scanned.grid;
        for (unsigned role = SCAN_FIRST_CLASS; role < SCAN_ROLE_COUNT; role++) {
            assert_int_not_equal(grid->row_of[role], SCAN_NO_ROW);
            const struct plan *best = &grid->rows[grid->row_of[role]].plan;
            for (size_t i = 1; i < grid->list->plan_count; i++)
                if (is_of_class(&grid->list->plans[i].degrees, (enum scan_role)role) &&
                    grid->row_of[role] != 0)
                    assert_true(plan_compare(best, &grid->list->plans[i]) <= 0);
        }
    }
    done(&scanned);
}

static void counts_the_candidates(void **state)
{
    (void)state;
    for (unsigned wanted = 1; wanted <= 5; wanted++) {
        struct scanned scanned;
        size_t chosen = 0;
        if (scan(&scanned, "llama2-7b", "dgx-a100-80:2", KEYS, wanted)) {
            for (size_t i = 0; i < scanned.grid->row_count; i++)
                chosen +=
                    (scanned.grid->rows[i].roles & (1u << SCAN_ANSWER | 1u << SCAN_CANDIDATE)) != 0;
            assert_int_equal(chosen, wanted);
        }
        done(&scanned);
    }
}

static void says_why_a_class_is_absent(void **state)
{
    (void)state;
    static const struct {
        const char *model, *cluster, *keys;
        enum scan_role role;
        const char *want;
    } rows[] = {
        {"llama2-7b", "dgx-a100-80:2", KEYS ",tp=2", SCAN_DATA_ONLY, "tp=2 is given"},
        {"llama2-7b", "dgx-a100-80:2", KEYS ",pp=2", SCAN_WITH_TP, "pp=2 is given"},
        {"llama2-7b", "dgx-a100-80:2", KEYS ",pp>=2", SCAN_WITH_TP, "pp>=2 is given"},
        {"llama2-7b", "dgx-a100-80:2", KEYS ",dp=4", SCAN_DATA_ONLY, "dp=4"},
        {"llama2-7b", "dgx-a100-80:2", KEYS ",tp=1", SCAN_WITH_BOTH, "fits or is allowed"},
        {"gpt3-175b", "dgx-a100-80:128", "global_batch=1536,sequence_length=2048,cp=1",
         SCAN_DATA_ONLY, "the global batch"},
        {"llama3-70b", "dgx-h100:2", "global_batch=64", SCAN_DATA_ONLY, "does not fit: needs"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct scanned scanned;
        if (scan(&scanned, rows[i].model, rows[i].cluster, rows[i].keys, 2)) {
            const char *absent = scanned.grid->absent[rows[i].role];
            if (!absent || !strstr(absent, rows[i].want))
                fail_msg("row %zu: '%s' has no '%s'", i, absent ? absent : "(null)", rows[i].want);
        }
        done(&scanned);
    }
}

static void writes_ids_and_keys(void **state)
{
    (void)state;
    static const struct {
        const char *keys, *id, *want, *launch;
    } rows[] = {
        {KEYS ",tp=2,pp=2,schedule=1f1b,sharding=zero1,micro_batch=4,recompute=none", "tp2-pp2-dp4",
         "tp=2,pp=2,dp=4,sharding=zero1,micro_batch=4,recompute=none,precision=bf16",
         "tp=2,pp=2,dp=4,sharding=zero1"},
        {KEYS ",tp=2,pp=2,schedule=gpipe,sharding=none,micro_batch=1,recompute=full,order="
              "tp-cp-ep-pp-dp",
         "tp2-pp2-dp4",
         "tp=2,pp=2,dp=4,sharding=none,order=tp-cp-ep-pp-dp,micro_batch=1,recompute=full,"
         "precision=bf16,schedule=gpipe",
         "tp=2,pp=2,dp=4,sharding=none,order=tp-cp-ep-pp-dp"},
        {KEYS ",tp=1,pp=2,schedule=naive,sharding=zero1,micro_batch=1,recompute=full",
         "tp1-pp2-dp8",
         "tp=1,pp=2,dp=8,sharding=zero1,micro_batch=1,recompute=full,precision=bf16,"
         "schedule=naive",
         "tp=1,pp=2,dp=8,sharding=zero1"},
        {KEYS ",tp=1,pp=1,sharding=hsdp,shard=8,micro_batch=1,recompute=full", "tp1-pp1-dp16",
         "tp=1,pp=1,dp=16,sharding=hsdp,shard=8,micro_batch=1,recompute=full,precision=bf16",
         "tp=1,pp=1,dp=16,sharding=hsdp,shard=8"},
        {KEYS ",tp=1,pp=1,sharding=zero3,offload=cpu,micro_batch=1,recompute=full", "tp1-pp1-dp16",
         "tp=1,pp=1,dp=16,sharding=zero3,micro_batch=1,recompute=full,precision=bf16,offload=cpu",
         "tp=1,pp=1,dp=16,sharding=zero3"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct scanned scanned;
        if (scan(&scanned, "gpt2", "dgx-a100-80:2", rows[i].keys, 1)) {
            assert_int_equal(scanned.grid->row_count, 1);
            assert_string_equal(scanned.grid->rows[0].id, rows[i].id);
            assert_string_equal(scanned.grid->rows[0].keys, rows[i].want);
            assert_string_equal(scanned.grid->rows[0].launch_keys, rows[i].launch);
        }
        done(&scanned);
    }
}

/* A row's keys, given, are planned as that row. */
static void keys_lead_back(void **state)
{
    (void)state;
    struct scanned scanned, again;
    if (scan(&scanned, "llama2-7b", "dgx-a100-80:2", KEYS, 4)) {
        for (size_t i = 0; i < scanned.grid->row_count; i++) {
            char keys[512];
            snprintf(keys, sizeof(keys), KEYS ",%s", scanned.grid->rows[i].keys);
            if (scan(&again, "llama2-7b", "dgx-a100-80:2", keys, 1))
                assert_int_equal(
                    plan_compare(&scanned.grid->rows[i].plan, &again.grid->rows[0].plan), 0);
            done(&again);
        }
    }
    done(&scanned);
}

static void has_no_rows_where_nothing_fits(void **state)
{
    (void)state;
    struct scanned scanned;
    if (scan(&scanned, "llama3-70b", "dgx-h100:1", "global_batch=64", 4)) {
        assert_int_equal(scanned.grid->row_count, 0);
        assert_non_null(scanned.grid->list->nearest);
        for (unsigned role = 0; role < SCAN_ROLE_COUNT; role++)
            assert_int_equal(scanned.grid->row_of[role], SCAN_NO_ROW);
    }
    done(&scanned);
}

static void refuses_counts(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    const struct plan_request request = {.model = NULL};
    assert_null(scan_grid_create(&request, 0, &err));
    assert_null(scan_grid_create(&request, SCAN_MAXIMUM_CANDIDATES + 1, &err));
    assert_string_equal(err.text, "a scan takes 1 to 24 of the planner's plans, not 25");
    assert_string_equal(scan_role_name(SCAN_DATA_ONLY), "dp-only");
    assert_string_equal(scan_role_purpose(SCAN_WITH_TP), "+TP");
}

static int create_and_free(void *context, struct error_info *err)
{
    const struct plan_request *request = context;
    CLEANUP(scan_grid) struct scan_grid *grid = scan_grid_create(request, 2, err);
    return grid ? 0 : -1;
}

static void gives_everything_back(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(planner_fixture) struct planner_fixture fixture;
    if (planner_fixture_init(&fixture, "gpt2", "dgx-a100-80:1",
                             "global_batch=8,sequence_length=1024,tp=2,micro_batch=1", &err) == 0)
        unit_test_expect_clean_failures(create_and_free, &fixture.request);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(rows_keep_gpus_and_batch),
    cmocka_unit_test(classes_have_their_best),
    cmocka_unit_test(counts_the_candidates),
    cmocka_unit_test(says_why_a_class_is_absent),
    cmocka_unit_test(writes_ids_and_keys),
    cmocka_unit_test(keys_lead_back),
    cmocka_unit_test(has_no_rows_where_nothing_fits),
    cmocka_unit_test(refuses_counts),
    cmocka_unit_test(gives_everything_back),
};

int main(void) { return unit_test_main("planner/scan_grid", tests, COUNT_OF(tests)); }
