/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"
#include "workload/job/role_list.h"

#include <string.h>

#define HEAD "schema: parplan.roles/1\nroles:\n"

static struct role_list *parse(const char *text, struct error_info *err)
{
    return role_list_parse(text, strlen(text), "r.yaml", err);
}

static void places_roles(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(role_list)
    struct role_list *list = parse(HEAD "  - {name: actor, model: m, nodes: 4}\n"
                                        "  - {name: reference, model: m, with: actor, keys: "
                                        "\"trainable=frozen\"}\n"
                                        "  - {name: critic, model: n, nodes: 1}\n",
                                   &err);
    if (!list) {
        fail_msg("%s", err.text);
        return;
    }
    assert_int_equal(list->count, 3);
    static const size_t homes[] = {0, 0, 2};
    for (size_t i = 0; i < COUNT_OF(homes); i++)
        assert_int_equal(list->roles[i].home, homes[i]);
    assert_string_equal(list->roles[1].keys, "trainable=frozen");
    assert_null(list->roles[0].keys);
    assert_true(list->roles[0].nodes == 4);
}

static void without_places_all_share_all_nodes(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(role_list)
    struct role_list *list = parse(HEAD "  - {name: a, model: m}\n  - {name: b, model: m}\n", &err);
    if (!list) {
        fail_msg("%s", err.text);
        return;
    }
    assert_int_equal(list->roles[0].home, 0);
    assert_int_equal(list->roles[1].home, 0);
}

static void refuses_in_one_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } cases[] = {
        {HEAD "  - {name: a, model: m}\n  - {name: a, model: m}\n",
         "role a is there twice; give every role its own name"},
        {HEAD "  - {name: a, model: m, nodes: 1}\n  - {name: b, model: m}\n",
         "role b has neither nodes nor with, which others have; give one"},
        {HEAD "  - {name: a, model: m, nodes: 1}\n  - {name: b, model: m, with: a, nodes: 1}\n",
         "role b has nodes and with; keep one"},
        {HEAD "  - {name: a, model: m, nodes: 1}\n  - {name: b, model: m, with: c}\n",
         "role b is with a role that is not there"},
        {HEAD "  - {name: a, model: m, with: a}\n",
         "role a is with a role that has no nodes of its own"},
        {HEAD "  - {name: a, model: m, nodes: 0}\n", "nodes"},
        {HEAD "  - {name: a}\n", "model"},
        {HEAD "  []\n", "1 to 16"},
        {"schema: parplan.roles/2\nroles: []\n", "parplan.roles/1"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(role_list) struct role_list *list = parse(cases[i].text, &err);
        assert_null(list);
        if (!strstr(err.text, cases[i].error) || strncmp(err.text, "r.yaml:", 7) != 0)
            fail_msg("'%s' is not in '%s'", cases[i].error, err.text);
    }
}

static int scenario(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(role_list)
    struct role_list *list = parse(HEAD "  - {name: a, model: m}\n  - {name: b, model: m}\n", err);
    return list ? 0 : -1;
}

static void failing_memory_is_clean(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(scenario, NULL);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_roles),
        cmocka_unit_test(without_places_all_share_all_nodes),
        cmocka_unit_test(refuses_in_one_line),
        cmocka_unit_test(failing_memory_is_clean),
    };
    return unit_test_main("workload/role_list", tests, COUNT_OF(tests));
}
