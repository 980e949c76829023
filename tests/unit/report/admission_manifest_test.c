/* SPDX-License-Identifier: MIT */
#include "base/data_file.h"
#include "report/kubernetes/admission_manifest.h"
#include "report/policy/policy_rules.h"
#include "tests/support/unit_test.h"

#include <stdio.h>
#include <string.h>

#define HEAD "schema: parplan.config/1\n"

static const char *const schedulers[] = {"default-scheduler"};

/* What the template makes of the file. */
static int fill(const char *file, const char *template, struct text_buffer *out,
                struct error_info *err)
{
    CLEANUP(admin_config)
    struct admin_config *config = admin_config_parse(file, strlen(file), "parplan.yaml", err);
    text_buffer_init(out, (size_t)1 << 20);
    if (!config)
        return -1;
    const struct admission_request request = {.config = config,
                                              .source = "parplan.yaml",
                                              .namespace = "parplan-system",
                                              .schedulers = schedulers,
                                              .scheduler_count = 1,
                                              .cluster = "rack's\\own\n",
                                              .nvlink_domain_gpus = 72};
    return admission_manifest_write(&request, template, strlen(template), out, err);
}

static void says_what_the_file_says(void **state)
{
    (void)state;
    static const struct {
        const char *file, *template, *want;
    } rows[] = {
        {HEAD, "@max_tp@ @tp_within@ @orders@", "0 'node' []\n"},
        {HEAD "policy: {max_tp: 8, orders: [tp-cp-ep-pp-dp]}", "@max_tp@ @orders@",
         "8 ['tp-cp-ep-pp-dp']\n"},
        {HEAD "policy: {partitions: {a: {max_tp: 4}, b: {max_tp: 0}, c: {max_tp: 2}}}", "@max_tp@",
         "{'a': 4, 'c': 2}[?request.namespace].orValue(0)"},
        {HEAD "policy: {partitions: {Debug: {max_tp: 4}}}", "@max_tp@", "0"},
        {HEAD "policy: {partitions: {a: {tp_within: \"off\"}}}", "@tp_within@",
         "{'a': 'off'}[?request.namespace].orValue('node')"},
        {HEAD, "@cluster@ @domain_gpus@", "'rack\\'s\\\\own?' 72\n"},
        {HEAD, "@account@ @scheduler@ @schedulers@",
         "system:serviceaccount:parplan-system:parplan-extender default-scheduler "
         "'default-scheduler'\n"},
        {HEAD "policy: {qos: {a: {max_tp: 1}}, partitions: {\"b\\n# c\": {max_tp: 1}}}", "@notes@",
         "# policy.qos is Slurm's and does not apply here.\n"
         "# policy.partitions: no namespace can be called b?# c.\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_DONE(text_buffer) struct text_buffer out;
        assert_int_equal(fill(rows[i].file, rows[i].template, &out, &err), 0);
        assert_string_equal(text_buffer_text(&out), rows[i].want);
    }
}

/* "name: action operator [values]" of each binding, in their order. */
static void list_bindings(const char *text, char *ret, size_t bytes)
{
    static const char *const marks[] = {"  name: ", "validationActions: ", "operator: "};
    size_t used = 0;
    ret[0] = '\0';
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        for (size_t i = 0; i < COUNT_OF(marks); i++) {
            const char *at = strstr(line, marks[i]);
            if (!at || at >= line + length)
                continue;
            at += strlen(marks[i]);
            used += (size_t)snprintf(ret + used, bytes - used, "%.*s%s", (int)(line + length - at),
                                     at, i == 2 ? "\n" : " ");
        }
        line += length + (line[length] != '\0');
    }
}

#define NOWHERE " DoesNotExist}\n"
#define ALL " NotIn, values: [kube-system]}\n"

/* Each binding that there can be is in each manifest: `kubectl apply` takes none away, and a
 * stricter file's would stay in force. */
static void binds_by_namespace(void **state)
{
    (void)state;
    static const struct {
        const char *file, *want;
    } rows[] = {
        {HEAD, "parplan-degrees-deny [Deny]" ALL "parplan-degrees-warn [Warn, Audit]" NOWHERE
               "parplan-require-plan-deny [Deny]" NOWHERE
               "parplan-require-plan-warn [Warn, Audit]" NOWHERE "parplan-gangs-deny [Deny]" ALL
               "parplan-gangs-warn [Warn, Audit]" NOWHERE},
        {HEAD "enabled: false",
         "parplan-degrees-deny [Deny]" NOWHERE "parplan-degrees-warn [Warn, Audit]" NOWHERE
         "parplan-require-plan-deny [Deny]" NOWHERE
         "parplan-require-plan-warn [Warn, Audit]" NOWHERE "parplan-gangs-deny [Deny]" NOWHERE
         "parplan-gangs-warn [Warn, Audit]" NOWHERE},
        {HEAD
         "policy: {on_violation: warn, require_plan: deny, partitions: {a: {on_violation: fix}, "
         "b: {require_plan: warn}, \"1\": {require_plan: \"off\"}}}",
         "parplan-degrees-deny [Deny] In, values: [\"a\"]}\n"
         "parplan-degrees-warn [Warn, Audit] NotIn, values: [kube-system, \"a\"]}\n"
         "parplan-require-plan-deny [Deny] NotIn, values: [kube-system, \"b\", \"1\"]}\n"
         "parplan-require-plan-warn [Warn, Audit] In, values: [\"b\"]}\n"
         "parplan-gangs-deny [Deny]" ALL "parplan-gangs-warn [Warn, Audit]" NOWHERE},
        {HEAD "policy: {partitions: {kube-system: {require_plan: deny, on_violation: warn}}}",
         "parplan-degrees-deny [Deny]" ALL "parplan-degrees-warn [Warn, Audit]" NOWHERE
         "parplan-require-plan-deny [Deny]" NOWHERE
         "parplan-require-plan-warn [Warn, Audit]" NOWHERE "parplan-gangs-deny [Deny]" ALL
         "parplan-gangs-warn [Warn, Audit]" NOWHERE},
    };
    char list[4096];
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_DONE(text_buffer) struct text_buffer out;
        assert_int_equal(fill(rows[i].file, "@bindings@", &out, &err), 0);
        list_bindings(text_buffer_text(&out), list, sizeof(list));
        assert_string_equal(list, rows[i].want);
    }
}

static void refuses_names(void **state)
{
    (void)state;
    static const struct {
        const char *namespace, *scheduler, *want;
    } rows[] = {
        {"", "a", " is no namespace's name"},     {"a.b", "a", "a.b is no namespace's name"},
        {"-a", "a", "-a is no namespace's name"}, {"a'b", "a", "a'b is no namespace's name"},
        {"a", "A", "A is no scheduler's name"},   {"a", "a.", "a. is no scheduler's name"},
    };
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(admin_config) struct admin_config *config = admin_config_default(&err);
    assert_non_null(config);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP_DONE(text_buffer) struct text_buffer out;
        text_buffer_init(&out, 4096);
        const struct admission_request request = {.config = config,
                                                  .source = "x",
                                                  .namespace = rows[i].namespace,
                                                  .schedulers = &rows[i].scheduler,
                                                  .scheduler_count = 1};
        assert_int_equal(admission_manifest_write(&request, "", 0, &out, &err), -1);
        assert_string_equal(err.text, rows[i].want);
    }
}

static int write_all(void *context, struct error_info *err)
{
    size_t bytes;
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    const char *template = data_file_text(ADMISSION_TEMPLATE, &bytes, err);
    text_buffer_init(&out, (size_t)1 << 20);
    text_buffer_done(&out);
    return template ? fill(context, template, &out, err) : -1;
}

static void fails_cleanly(void **state)
{
    (void)state;
    static char file[] = HEAD "policy: {partitions: {a: {max_tp: 4, require_plan: deny}}}";
    unit_test_expect_clean_failures(write_all, file);
}

static int print_rules(void *context, struct error_info *err)
{
    const char *file = context;
    CLEANUP(admin_config)
    struct admin_config *config = admin_config_parse(file, strlen(file), "parplan.yaml", err);
    if (!config)
        return -1;
    const struct policy_rules rules = {config, {{NULL}}};
    const struct text_style style = {.width = 100};
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, (size_t)1 << 20);
    policy_rules_text(&rules, &style, &out);
    CLEANUP(json_value) struct json_value *document = policy_rules_json(&rules);
    if (json_value_write(document, JSON_STYLE_PRETTY, &out, err) < 0)
        return -1;
    return text_buffer_failed(&out) ? error_set_memory(err) : 0;
}

static void rules_fail_cleanly(void **state)
{
    (void)state;
    static char file[] = HEAD "policy: {partitions: {a: {max_tp: 4, spans: {cp: node}}}}";
    unit_test_expect_clean_failures(print_rules, file);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(says_what_the_file_says), cmocka_unit_test(binds_by_namespace),
    cmocka_unit_test(refuses_names),           cmocka_unit_test(fails_cleanly),
    cmocka_unit_test(rules_fail_cleanly),
};

int main(void)
{
    return unit_test_main("report/kubernetes/admission_manifest", tests, COUNT_OF(tests));
}
