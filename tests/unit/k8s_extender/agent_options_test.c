/* SPDX-License-Identifier: MIT */
#include "k8s_extender/agent/agent_options.h"
#include "tests/support/argument_list.h"
#include "tests/support/unit_test.h"
#include <stdio.h>
#include <string.h>

static int parse(const char *line, const char *variable, struct agent_options *ret,
                 struct error_info *err)
{
    static struct argument_list list; /* the options point into it */
    bool done;
    argument_list_init(&list, "parplan-node-agent", line);
    *err = (struct error_info){.kind = ERROR_NONE};
    return agent_options_parse(list.argc, list.argv, variable, ret, &done, err);
}

static void takes_what_is_given(void **state)
{
    (void)state;
    struct agent_options options;
    struct error_info err;
    if (parse("", "gpu-07.site", &options, &err) < 0)
        fail_msg("%s", err.text);
    assert_string_equal(options.node, "gpu-07.site");
    assert_int_equal(options.interval_seconds, 300);
    assert_false(options.once || options.print);
    if (parse("--node n1 --kubeconfig k --interval 5 --once --data d --nvml l --sysfs s", "n2",
              &options, &err) < 0)
        fail_msg("%s", err.text);
    assert_string_equal(options.node, "n1");
    assert_string_equal(options.kubeconfig, "k");
    assert_string_equal(options.data, "d");
    assert_string_equal(options.nvml, "l");
    assert_string_equal(options.sysfs, "s");
    assert_int_equal(options.interval_seconds, 5);
    assert_true(options.once);
    if (parse("--print", NULL, &options, &err) < 0)
        fail_msg("%s", err.text);
    assert_true(options.print);
}

static void refuses_in_one_line(void **state)
{
    (void)state;
    static const struct {
        const char *line, *variable, *says;
    } cases[] = {
        {"", NULL, "which node is this? Set NODE_NAME from spec.nodeName"},
        {"", "", "which node is this?"},
        {"--node ../pods/x", NULL, "--node: '../pods/x' is no name of an object in Kubernetes"},
        {"--node N1", NULL, "--node: 'N1' is no name of an object"},
        {"", "n1?dryRun=All", "NODE_NAME: 'n1?dryRun=All' is no name of an object"},
        {"--node=", NULL, "--node: the value is empty; give NAME"},
        {"--nodes n1", NULL, "unknown option --nodes; did you mean --node?"},
        {"--once --once", "n1", "--once is given twice"},
        {"--interval 0", "n1", "--interval: '0' is not"},
        {"--interval 1e3", "n1", "--interval: '1e3' is not"},
        {"--interval 86401", "n1", "--interval: '86401' is not"},
        {"now", "n1", "unexpected word 'now': parplan-node-agent takes options only"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct agent_options options;
        struct error_info err;
        assert_int_equal(parse(cases[i].line, cases[i].variable, &options, &err), -1);
        if (!strstr(err.text, cases[i].says))
            fail_msg("'%s' has no '%s'", err.text, cases[i].says);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(takes_what_is_given),
    cmocka_unit_test(refuses_in_one_line),
};

int main(void) { return unit_test_main("k8s_extender/agent_options", tests, COUNT_OF(tests)); }
