/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"
#include "workload/admin/policy_origin.h"
#include "workload/admin_config.h"

#include <string.h>

static const char text[] = "schema: parplan.config/1\n"
                           "policy:\n"
                           "  max_tp: 16\n"
                           "  partitions: {debug: {max_tp: 4}, same: {max_tp: 16}}\n"
                           "  qos: {night: {max_tp: 2}, loose: {max_tp: 64}}\n"
                           "  accounts: {students: {require_plan: deny}}\n"
                           "  users: {ada: {max_tp: 1}, \"7\": {tp_within: nvlink_domain}}\n";

static void names_the_last_scope_that_changed_it(void **state)
{
    (void)state;
    static const struct {
        struct policy_subject subject; /* partition, QOS, account, user, uid */
        enum policy_code code;
        const char *want;
    } rows[] = {
        {{{NULL}}, POLICY_TP_EXCEEDS_MAXIMUM, "policy x: y"},
        {{{"debug"}}, POLICY_TP_EXCEEDS_MAXIMUM, "policy x (partition debug): y"},
        {{{"same"}}, POLICY_TP_EXCEEDS_MAXIMUM, "policy x: y"},
        {{{"gpu"}}, POLICY_TP_EXCEEDS_MAXIMUM, "policy x: y"},
        {{{"debug", "night"}}, POLICY_TP_EXCEEDS_MAXIMUM, "policy x (QOS night): y"},
        {{{"debug", "loose"}}, POLICY_TP_EXCEEDS_MAXIMUM, "policy x (partition debug): y"},
        {{{"debug", NULL, NULL, "ada"}}, POLICY_TP_EXCEEDS_MAXIMUM, "policy x (user ada): y"},
        {{{"debug", NULL, NULL, "ada"}}, POLICY_TP_EXCEEDS_NODE, "policy x: y"},
        {{{NULL, NULL, "students"}}, POLICY_PLAN_REQUIRED, "policy x (account students): y"},
        {{{NULL, NULL, NULL, NULL, "7"}}, POLICY_TP_EXCEEDS_DOMAIN, "policy x (user 7): y"},
        {{{"debug"}}, POLICY_TP_NEEDS_SOUND, "policy x: y"},
        {{{"debug"}}, POLICY_OK, "policy x: y"},
    };
    CLEANUP(admin_config)
    struct admin_config *config = admin_config_parse(text, strlen(text), "a.yaml", NULL);
    for (size_t i = 0; config && i < COUNT_OF(rows); i++) {
        struct policy_verdict verdict = {.code = rows[i].code, .text = "policy x: y"};
        policy_origin_add(&config->policy, &config->scopes, &rows[i].subject, &verdict);
        assert_string_equal(verdict.text, rows[i].want);
    }
}

static void stays_one_clean_line_within_its_room(void **state)
{
    (void)state;
    char name[256], file[512];
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    snprintf(file, sizeof(file),
             "schema: parplan.config/1\npolicy: {partitions: {%s: {max_tp: 4}}}\n", name);
    CLEANUP(admin_config)
    struct admin_config *config = admin_config_parse(file, strlen(file), "a.yaml", NULL);
    const struct policy_subject subject = {{name}};
    struct policy_verdict verdict = {.code = POLICY_TP_EXCEEDS_MAXIMUM};
    if (!config)
        return;
    policy_origin_add(&config->policy, &config->scopes, &subject, &verdict);
    assert_string_equal(verdict.text, "");
    memset(verdict.text, 'x', sizeof(verdict.text) - 1);
    verdict.text[6] = ':';
    policy_origin_add(&config->policy, &config->scopes, &subject, &verdict);
    assert_int_equal(strlen(verdict.text), sizeof(verdict.text) - 1);
    assert_int_equal(strncmp(verdict.text, "xxxxxx (partition nnn", 21), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_the_last_scope_that_changed_it),
        cmocka_unit_test(stays_one_clean_line_within_its_room),
    };
    return unit_test_main("workload/policy_origin", tests, COUNT_OF(tests));
}
