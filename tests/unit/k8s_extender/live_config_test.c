/* SPDX-License-Identifier: MIT */
#include "k8s_extender/extender/live_config.h"
#include "tests/support/file_tree.h"
#include "tests/support/unit_test.h"
#include <stdio.h>
#include <string.h>

#define WITH_MAXIMUM "schema: parplan.config/1\npolicy: {max_tp: %u}\n"

struct place {
    char folder[FILE_TREE_ROOT_BYTES], path[FILE_TREE_ROOT_BYTES + 16];
};

static int open_place(void **state)
{
    static struct place place;
    file_tree_create(place.folder);
    snprintf(place.path, sizeof(place.path), "%s/parplan.yaml", place.folder);
    *state = &place;
    return 0;
}

static void write_maximum(const struct place *place, unsigned maximum)
{
    char text[128];
    snprintf(text, sizeof(text), WITH_MAXIMUM, maximum);
    file_tree_replace(place->path, text);
}

static unsigned maximum_of(struct live_config *live)
{
    const struct admin_config *config = live_config_take(live);
    unsigned maximum = config->policy.max_tp;
    live_config_give(live, config);
    return maximum;
}

static void follows_the_file(void **state)
{
    const struct place *place = *state;
    struct error_info err = {.kind = ERROR_NONE};
    bool changed = true;
    write_maximum(place, 4);
    CLEANUP(live_config) struct live_config *live = live_config_create(place->path, &err);
    if (!live)
        fail_msg("%s", err.text);
    assert_int_equal(maximum_of(live), 4);
    assert_int_equal(live_config_refresh(live, &changed, &err), 0);
    assert_false(changed);
    write_maximum(place, 8);
    if (live_config_refresh(live, &changed, &err) < 0)
        fail_msg("%s", err.text);
    assert_true(changed);
    assert_int_equal(maximum_of(live), 8);
}

static void keeps_what_was_where_the_new_one_is_wrong(void **state)
{
    const struct place *place = *state;
    struct error_info err = {.kind = ERROR_NONE};
    bool changed;
    write_maximum(place, 4);
    CLEANUP(live_config) struct live_config *live = live_config_create(place->path, &err);
    if (!live)
        fail_msg("%s", err.text);
    file_tree_replace(place->path, "schema: parplan.config/1\npolicy: {max_tp: many}\n");
    assert_int_equal(live_config_refresh(live, &changed, &err), -1);
    assert_non_null(strstr(err.text, "parplan.yaml:2"));
    assert_int_equal(maximum_of(live), 4);
    assert_int_equal(live_config_refresh(live, &changed, &err), 0); /* said once */
    file_tree_remove(place->folder, "parplan.yaml");
    assert_int_equal(live_config_refresh(live, &changed, &err), -1);
    assert_int_equal(maximum_of(live), 4);
}

static void a_snapshot_outlives_its_file(void **state)
{
    const struct place *place = *state;
    struct error_info err = {.kind = ERROR_NONE};
    bool changed;
    write_maximum(place, 4);
    CLEANUP(live_config) struct live_config *live = live_config_create(place->path, &err);
    if (!live)
        fail_msg("%s", err.text);
    const struct admin_config *before = live_config_take(live);
    for (unsigned i = 5; i < 8; i++) {
        write_maximum(place, i);
        if (live_config_refresh(live, &changed, &err) < 0)
            fail_msg("%s", err.text);
    }
    assert_int_equal(before->policy.max_tp, 4);
    assert_int_equal(maximum_of(live), 7);
    live_config_give(live, before);
}

static void a_named_file_must_be_there(void **state)
{
    struct error_info err = {.kind = ERROR_NONE};
    (void)state;
    assert_null(live_config_create("/nonexistent/parplan.yaml", &err));
    assert_non_null(strstr(err.text, "/nonexistent/parplan.yaml"));
}

#define WITH_PLACE(test) cmocka_unit_test_setup(test, open_place)

static const struct CMUnitTest tests[] = {
    WITH_PLACE(follows_the_file),
    WITH_PLACE(keeps_what_was_where_the_new_one_is_wrong),
    WITH_PLACE(a_snapshot_outlives_its_file),
    cmocka_unit_test(a_named_file_must_be_there),
};

int main(void)
{
    if (!file_tree_begin())
        return 1;
    int failed = unit_test_main("k8s_extender/live_config", tests, COUNT_OF(tests));
    file_tree_end();
    return failed;
}
