/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"
#include "workload/admin_config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCHEMA "schema: parplan.config/1\n"

static const char whole[] = SCHEMA "enabled: true\n"
                                   "cluster: slurm\n"
                                   "policy:\n"
                                   "  tp_within: node\n"
                                   "  max_tp: 16\n"
                                   "  on_violation: warn\n"
                                   "  require_plan: off\n"
                                   "  on_unknown_topology: deny\n"
                                   "  orders: [tp-cp-ep-pp-dp]\n"
                                   "  on_mismatch: deny\n"
                                   "  spans: {cp: node, ep: nvlink_domain, dp: leaf, pp: off}\n"
                                   "  partitions:\n"
                                   "    debug: {tp_within: \"off\"}\n"
                                   "    nvl72: {tp_within: nvlink_domain, on_violation: fix}\n"
                                   "  qos: {night: {max_tp: 8}, day: {max_tp: 32}}\n"
                                   "  accounts:\n"
                                   "    students: {require_plan: deny, on_violation: deny}\n"
                                   "    staff: {max_tp: 0, on_unknown_topology: allow}\n"
                                   "  users: {ada: {max_tp: 64, require_plan: warn},\n"
                                   "          \"1001\": {tp_within: \"off\"}}\n"
                                   "defaults: {parplan: auto}\n"
                                   "slurm: {master_addr: address, hidden_gpus: allow, "
                                   "bind_cpus: off}\n";

static struct admin_config *parse(const char *text, struct error_info *err)
{
    return admin_config_parse(text, strlen(text), "parplan.yaml", err);
}

#define SPANS                                                                                      \
    {                                                                                              \
        SPAN_NODE, SPAN_NVLINK_DOMAIN, SPAN_LEAF, SPAN_OFF                                         \
    }

static void reads_every_field(void **state)
{
    (void)state;
    struct error_info err = {0};
    CLEANUP(admin_config) struct admin_config *config = parse(whole, &err);
    if (!config)
        fail_msg("%s", err.text);
    assert_true(config->enabled);
    assert_string_equal(config->source, "parplan.yaml");
    assert_string_equal(config->cluster, "slurm");
    assert_string_equal(config->default_parplan, "auto");
    assert_string_equal(config->master_addr, "address");
    assert_true(config->hidden_gpus_allowed);
    assert_true(config->cpus_unbound);
    const struct policy want = {TP_WITHIN_NODE, 16,           POLICY_WARN,
                                REQUIRE_OFF,    UNKNOWN_DENY, 1u << ORDER_TP_CP_EP_PP_DP,
                                MISMATCH_DENY,  SPANS};
    assert_memory_equal(&config->policy, &want, sizeof(want));
    assert_int_equal(config->scopes.sections[SCOPE_PARTITION].count, 2);
    assert_int_equal(config->scopes.sections[SCOPE_USER].count, 2);
}

static const struct scope_case {
    struct policy_subject subject; /* partition, QOS, account, user, uid */
    struct policy want;
} scope_cases[] = {
#define REST 1u << ORDER_TP_CP_EP_PP_DP, MISMATCH_DENY, SPANS
    {{{NULL}}, {TP_WITHIN_NODE, 16, POLICY_WARN, REQUIRE_OFF, UNKNOWN_DENY, REST}},
    {{{"gpu", "", "", "", ""}}, {TP_WITHIN_NODE, 16, POLICY_WARN, REQUIRE_OFF, UNKNOWN_DENY, REST}},
    {{{"debug"}}, {TP_WITHIN_OFF, 16, POLICY_WARN, REQUIRE_OFF, UNKNOWN_DENY, REST}},
    {{{"nvl72"}}, {TP_WITHIN_NVLINK_DOMAIN, 16, POLICY_FIX, REQUIRE_OFF, UNKNOWN_DENY, REST}},
    /* QOS and accounts tighten, and never loosen */
    {{{NULL, "night"}}, {TP_WITHIN_NODE, 8, POLICY_WARN, REQUIRE_OFF, UNKNOWN_DENY, REST}},
    {{{NULL, "day"}}, {TP_WITHIN_NODE, 16, POLICY_WARN, REQUIRE_OFF, UNKNOWN_DENY, REST}},
    {{{NULL, NULL, "students"}},
     {TP_WITHIN_NODE, 16, POLICY_DENY, REQUIRE_DENY, UNKNOWN_DENY, REST}},
    {{{NULL, NULL, "staff"}}, {TP_WITHIN_NODE, 16, POLICY_WARN, REQUIRE_OFF, UNKNOWN_DENY, REST}},
    /* users win, by name or number */
    {{{"debug", "night", "students", "ada", "7"}},
     {TP_WITHIN_OFF, 64, POLICY_DENY, REQUIRE_WARN, UNKNOWN_DENY, REST}},
    {{{"nvl72", NULL, NULL, "bob", "1001"}},
     {TP_WITHIN_OFF, 16, POLICY_FIX, REQUIRE_OFF, UNKNOWN_DENY, REST}},
    /* a name of another kind is none */
    {{{"ada", "students", "debug", "night"}},
     {TP_WITHIN_NODE, 16, POLICY_WARN, REQUIRE_OFF, UNKNOWN_DENY, REST}},
};

static void scopes_apply_in_their_order(void **state)
{
    (void)state;
    CLEANUP(admin_config) struct admin_config *config = parse(whole, NULL);
    assert_non_null(config);
    for (size_t i = 0; i < COUNT_OF(scope_cases); i++) {
        struct policy got;
        admin_config_policy(config, &scope_cases[i].subject, &got);
        if (memcmp(&got, &scope_cases[i].want, sizeof(got)) != 0)
            fail_msg("case %zu: %d %u %d %d %d %u", i, got.tp_within, got.max_tp, got.on_violation,
                     got.require_plan, got.on_unknown_topology, got.orders);
    }
}

/* cp, ep, dp, pp; a partition and a user may loosen, an account narrows. */
static void spans_of_accounts_only_narrow(void **state)
{
    (void)state;
    static const char text[] =
        SCHEMA "policy:\n"
               "  spans: {cp: nvlink_domain, ep: leaf}\n"
               "  partitions: {wide: {spans: {cp: \"off\"}}}\n"
               "  qos: {near: {spans: {cp: leaf, dp: leaf}}}\n"
               "  accounts: {a: {spans: {cp: node, ep: off, pp: nvlink_domain}}}\n"
               "  users: {u: {spans: {cp: leaf, ep: off}}}\n";
    static const struct {
        struct policy_subject subject;
        unsigned spans[SPAN_DIMENSION_COUNT];
    } cases[] = {
        {{{NULL}}, {SPAN_NVLINK_DOMAIN, SPAN_LEAF, SPAN_OFF, SPAN_OFF}},
        {{{"wide"}}, {SPAN_OFF, SPAN_LEAF, SPAN_OFF, SPAN_OFF}},
        {{{NULL, "near"}}, {SPAN_NVLINK_DOMAIN, SPAN_LEAF, SPAN_LEAF, SPAN_OFF}},
        {{{"wide", "near"}}, {SPAN_LEAF, SPAN_LEAF, SPAN_LEAF, SPAN_OFF}},
        {{{NULL, NULL, "a"}}, {SPAN_NODE, SPAN_LEAF, SPAN_OFF, SPAN_NVLINK_DOMAIN}},
        {{{NULL, "near", "a", "u"}}, {SPAN_LEAF, SPAN_OFF, SPAN_LEAF, SPAN_NVLINK_DOMAIN}},
    };
    CLEANUP(admin_config) struct admin_config *config = parse(text, NULL);
    assert_non_null(config);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct policy got;
        admin_config_policy(config, &cases[i].subject, &got);
        assert_memory_equal(got.spans, cases[i].spans, sizeof(got.spans));
    }
}

static void orders_of_accounts_only_narrow(void **state)
{
    (void)state;
    static const char text[] =
        SCHEMA "policy:\n"
               "  partitions: {one: {orders: [tp-cp-ep-dp-pp]}}\n"
               "  accounts: {a: {orders: [tp-cp-ep-pp-dp]}, b: {on_violation: warn}}\n"
               "  users: {u: {orders: [tp-cp-ep-dp-pp, tp-cp-ep-pp-dp]}}\n";
    static const struct {
        struct policy_subject subject;
        unsigned orders;
    } cases[] = {
        {{{NULL}}, 0},
        {{{"one"}}, 1},
        {{{NULL, NULL, "a"}}, 2},
        {{{"one", NULL, "a"}}, 1}, /* none in common: the first list stays */
        {{{"one", NULL, "b"}}, 1},
        {{{NULL, NULL, "A"}}, 2}, /* Slurm has accounts in lower case */
        {{{"ONE"}}, 0},
        {{{"one", NULL, "a", "u"}}, 3},
    };
    CLEANUP(admin_config) struct admin_config *config = parse(text, NULL);
    assert_non_null(config);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct policy got;
        admin_config_policy(config, &cases[i].subject, &got);
        assert_int_equal(got.orders, cases[i].orders);
        assert_int_equal(got.on_violation, POLICY_DENY);
        assert_int_equal(got.max_tp, 0);
    }
}

static const char *const valid[] = {
    SCHEMA,
    SCHEMA "enabled: false\n",
    SCHEMA "policy: {tp_within: off}\n",
    SCHEMA "policy: {tp_within: \"off\", partitions: {}}\n",
    SCHEMA "policy: {accounts: {a: {}}, qos: {}, users: {\"0\": {max_tp: 0}}}\n",
    SCHEMA "cluster: dgx-h100:16\n",
    SCHEMA "cluster: /etc/parplan/cluster.yaml\n",
    SCHEMA "defaults: {parplan: \"off\"}\n",
    SCHEMA "defaults: {parplan: /etc/parplan/job.yaml}\n",
    SCHEMA "defaults: {parplan: job.yaml}\n",
    SCHEMA "defaults: {parplan: \"auto,framework=torchtitan\"}\n",
    SCHEMA "slurm: {master_addr: name}\n",
    /* what belongs to a key is all comments */
    SCHEMA "policy:\n  #max_tp: 8\ndefaults:\n  #parplan: auto\nslurm:\n",
    SCHEMA "policy:\n  partitions:\n    #debug: {}\n  users: {ada: }\n",
};

static void accepts(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(valid); i++) {
        struct error_info err = {0};
        CLEANUP(admin_config) struct admin_config *config = parse(valid[i], &err);
        if (!config)
            fail_msg("%s: %s", valid[i], err.text);
    }
}

static const struct {
    const char *text, *part; /* of the message */
} invalid[] = {
    {"", "parplan.yaml"},
    {"enabled: true\n", "parplan.config/1"},
    {"schema: parplan.job/1\n", "parplan.config/1"},
    {SCHEMA "enable: true\n", "parplan.yaml:2: enable: unknown key; did you mean enabled?"},
    {SCHEMA "accounts: {a: {}}\n", "parplan.yaml:2: accounts: unknown key"},
    {SCHEMA "policy:\n  groups: {}\n", "parplan.yaml:3: policy.groups: unknown key"},
    {SCHEMA "policy:\n  users: []\n", "parplan.yaml:3: policy.users: needs a mapping"},
    {SCHEMA "policy:\n  users: {ada: {users: {}}}\n",
     "parplan.yaml:3: policy.users.ada.users: unknown key"},
    {SCHEMA "policy:\n  accounts: {a: {tp_within: node}}\n",
     "parplan.yaml:3: policy.accounts.a.tp_within: unknown key"},
    {SCHEMA "policy:\n  qos: {q: {tp_within: node}}\n",
     "parplan.yaml:3: policy.qos.q.tp_within: unknown key"},
    {SCHEMA "policy:\n  qos: {q: {max_tp: many}}\n", "parplan.yaml:3: policy.qos.q.max_tp:"},
    {SCHEMA "policy:\n  spans: node\n", "parplan.yaml:3: policy.spans: a mapping"},
    {SCHEMA "policy:\n  spans: {tp: node}\n", "parplan.yaml:3: policy.spans.tp: unknown key"},
    {SCHEMA "policy:\n  spans: {cp: rack}\n", "parplan.yaml:3: policy.spans.cp: 'rack' is not"},
    {SCHEMA "policy:\n  orders: []\n", "parplan.yaml:3: policy.orders: needs a list"},
    {SCHEMA "policy:\n  orders: tp-cp-ep-dp-pp\n", "parplan.yaml:3: policy.orders: needs a list"},
    {SCHEMA "policy:\n  orders: {a: tp-cp-ep-dp-pp}\n",
     "parplan.yaml:3: policy.orders: needs a list"},
    {SCHEMA "policy:\n  orders: [[tp]]\n", "policy.orders[0]: \"\" is not a rank order"},
    {SCHEMA "policy:\n  orders: [tp-cp-ep-dp-pp,\n    tp-pp-dp]\n",
     "parplan.yaml:4: policy.orders[1]: \"tp-pp-dp\" is not a rank order; use tp-cp-ep-dp-pp or "
     "tp-cp-ep-pp-dp"},
    {SCHEMA "policy:\n  partitions:\n    debug: {partitions: {}}\n",
     "parplan.yaml:4: policy.partitions.debug.partitions: unknown key"},
    {SCHEMA "policy:\n  tp_within: rack\n", "parplan.yaml:3: policy.tp_within:"},
    {SCHEMA "policy:\n  tp_within: false\n", "parplan.yaml:3: policy.tp_within:"},
    {SCHEMA "policy:\n  max_tp: -1\n", "parplan.yaml:3: policy.max_tp:"},
    {SCHEMA "policy:\n  max_tp: 2000000\n", "parplan.yaml:3: policy.max_tp:"},
    {SCHEMA "policy: deny\n", "parplan.yaml:2: policy:"},
    {SCHEMA "policy: \"\"\n", "parplan.yaml:2: policy:"},
    {SCHEMA "policy:\n  partitions: [debug]\n",
     "parplan.yaml:3: policy.partitions: needs a mapping"},
    {SCHEMA "policy:\n  partitions: {debug: off}\n", "parplan.yaml:3: policy.partitions.debug:"},
    {SCHEMA "enabled: maybe\n", "parplan.yaml:2: enabled:"},
    {SCHEMA "cluster: {a: b}\n", "parplan.yaml:2: cluster: needs one value"},
    {SCHEMA "cluster: \"\"\n", "parplan.yaml:2: cluster: needs one value"},
    {SCHEMA "cluster: \"a\\nb\"\n", "parplan.yaml:2: cluster: \"a?b\" has control characters"},
    {SCHEMA "defaults: {parplan: tpp=8}\n",
     "parplan.yaml:2: defaults.parplan: as an option: unknown key \"tpp\"; did you mean tp?"},
    {SCHEMA "defaults: {parplan: \"model=a/b,tpp=8\"}\n", "unknown key \"tpp\"; did you mean tp?"},
    {SCHEMA "defaults: {parplan: [auto]}\n", "parplan.yaml:2: defaults.parplan: needs one value"},
    {SCHEMA "defaults: {model: x}\n", "parplan.yaml:2: defaults.model: unknown key"},
    {SCHEMA "defaults: auto\n", "parplan.yaml:2: defaults:"},
    {SCHEMA "slurm: {master_addr: dns}\n", "parplan.yaml:2: slurm.master_addr:"},
    {SCHEMA "slurm: {port: 1}\n", "parplan.yaml:2: slurm.port: unknown key"},
};

static void refuses_with_the_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(invalid); i++) {
        struct error_info err = {0};
        assert_null(parse(invalid[i].text, &err));
        if (!strstr(err.text, invalid[i].part))
            fail_msg("\"%s\" lacks \"%s\"", err.text, invalid[i].part);
        assert_int_equal(err.kind, ERROR_INPUT);
    }
}

static void defaults_are_built_in(void **state)
{
    (void)state;
    CLEANUP(admin_config) struct admin_config *config = admin_config_default(NULL);
    assert_non_null(config);
    assert_string_equal(config->source, "built-in defaults");
    assert_true(config->enabled);
    assert_null(config->default_parplan);
    assert_null(config->cluster);
    assert_memory_equal(&config->policy, &policy_default, sizeof(policy_default));
}

/* A folder of our own with one file; the caller's uid stands for root's. */
static void write_file(char folder[], char path[], size_t bytes, const char *text, mode_t mode)
{
    assert_non_null(mkdtemp(folder));
    snprintf(path, bytes, "%s/parplan.yaml", folder);
    CLEANUP_FILE FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fchmod(fileno(file), mode);
}

static void loads_only_what_the_owner_alone_can_write(void **state)
{
    (void)state;
    char folder[] = "/tmp/admin_config_XXXXXX", path[64];
    struct error_info err = {0};
    write_file(folder, path, sizeof(path), whole, 0644);
    CLEANUP(admin_config) struct admin_config *config = admin_config_load(path, getuid(), &err);
    chmod(path, 0666);
    struct admin_config *unsafe = admin_config_load(path, getuid(), &err);
    unlink(path);
    struct error_info missing = {0};
    struct admin_config *absent = admin_config_load(path, getuid(), &missing);
    rmdir(folder);
    assert_non_null(config);
    assert_string_equal(config->source, path);
    assert_null(unsafe);
    assert_non_null(strstr(err.text, "chmod go-w"));
    assert_null(absent);
    assert_non_null(strstr(missing.text, "does not exist"));
}

static void a_missing_default_file_means_the_defaults(void **state)
{
    (void)state;
    if (access(ADMIN_CONFIG_DEFAULT_PATH, F_OK) == 0)
        skip(); /* this machine has one */
    CLEANUP(admin_config) struct admin_config *config = admin_config_load(NULL, 0, NULL);
    assert_non_null(config);
    assert_string_equal(config->source, "built-in defaults");
}

static int parse_scenario(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(admin_config) struct admin_config *config = parse(whole, err);
    return config ? 0 : -1;
}

static void fails_cleanly_without_memory(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(parse_scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_field),
        cmocka_unit_test(scopes_apply_in_their_order),
        cmocka_unit_test(spans_of_accounts_only_narrow),
        cmocka_unit_test(orders_of_accounts_only_narrow),
        cmocka_unit_test(accepts),
        cmocka_unit_test(refuses_with_the_line),
        cmocka_unit_test(defaults_are_built_in),
        cmocka_unit_test(loads_only_what_the_owner_alone_can_write),
        cmocka_unit_test(a_missing_default_file_means_the_defaults),
        cmocka_unit_test(fails_cleanly_without_memory),
    };
    return unit_test_main("workload/admin_config", tests, COUNT_OF(tests));
}
