/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"
#include "workload/policy.h"

#include "base/cleanup.h"
#include <string.h>

/* The places that the design names. */
static const struct policy_place h100 = {"cluster dgx-h100:2", 8, 8, true, 0, NULL};
static const struct policy_place nvl72 = {"cluster gb200-nvl72:18", 4, 72, true, 0, NULL};
static const struct policy_place a6000 = {"cluster a6000:4", 8, 2, true, 0, NULL};
static const struct policy_place l40s = {"cluster l40s:4", 8, 1, true, 0, NULL};
static const struct policy_place quads = {"partition hgx", 12, 6, true, 0, NULL};
static const struct policy_place six = {"partition six", 6, 6, true, 0, NULL};
static const struct policy_place no_nvlink = {"partition gpu", 8, 0, false, 0, NULL};
static const struct policy_place lost = {
    "dgx-b200", 8, 7, true, 7, "dgx-b200: GPU 2 lost NVLink: 0 of 18 links are up"};
static const struct policy_place instances = {
    "dgx-a100", 8, 1, true, 1, "dgx-a100: GPU 0 is cut into MIG instances"};
static const struct policy_place nothing = {NULL, 0, 0, false, 0, NULL};

static const struct policy node = {.tp_within = TP_WITHIN_NODE};
static const struct policy node_warn = {.tp_within = TP_WITHIN_NODE, .on_violation = POLICY_WARN};
static const struct policy node_fix = {.tp_within = TP_WITHIN_NODE, .on_violation = POLICY_FIX};
static const struct policy domain = {.tp_within = TP_WITHIN_NVLINK_DOMAIN};
static const struct policy domain_strict = {.tp_within = TP_WITHIN_NVLINK_DOMAIN,
                                            .on_unknown_topology = UNKNOWN_DENY};
static const struct policy domain_lax = {.tp_within = TP_WITHIN_NVLINK_DOMAIN,
                                         .on_unknown_topology = UNKNOWN_ALLOW};
static const struct policy off = {.tp_within = TP_WITHIN_OFF};
static const struct policy off_limit = {.tp_within = TP_WITHIN_OFF, .max_tp = 8};

static const struct {
    const struct policy *policy;
    const struct policy_place *place;
    unsigned tp;
    enum policy_result result;
    const char *text;
} verdicts[] = {
    {&node, &h100, 8, POLICY_ALLOWED, ""},
    {&node, &h100, 16, POLICY_DENIED,
     "policy tp-within-node: tp=16 needs 16 GPUs in one node, cluster dgx-h100:2 has 8; use tp=8 "
     "or less"},
    {&node_warn, &h100, 16, POLICY_WARNED,
     "policy tp-within-node: tp=16 needs 16 GPUs in one node, cluster dgx-h100:2 has 8; use tp=8 "
     "or less"},
    {&node_fix, &h100, 16, POLICY_DENIED,
     "policy tp-within-node: tp=16 needs 16 GPUs in one node, cluster dgx-h100:2 has 8; use tp=8 "
     "or less (on_violation: fix changes only degrees that parplan chose)"},
    {&node, &h100, 6, POLICY_DENIED,
     "policy tp-splits-node: tp=6 does not divide the 8 GPUs in use on cluster "
     "dgx-h100:2, so that a TP group would lie on two nodes; use tp=4"},
    {&node, &six, 6, POLICY_ALLOWED, ""},
    {&node, &six, 4, POLICY_DENIED,
     "policy tp-splits-node: tp=4 does not divide the 6 GPUs in use on partition six, "
     "so that a TP group would lie on two nodes; use tp=3"},
    {&off, &h100, 16, POLICY_ALLOWED, ""},
    {&off_limit, &h100, 8, POLICY_ALLOWED, ""},
    {&off_limit, &h100, 16, POLICY_DENIED,
     "policy max-tp: tp=16 is more than the 8 that are allowed; use tp=8 or less"},

    {&node, &lost, 1, POLICY_ALLOWED, ""},
    {&node, &lost, 4, POLICY_WARNED,
     "policy tp-degraded-node: tp=4 is allowed, but not every TP group of a node avoids its fault "
     "(dgx-b200: GPU 2 lost NVLink: 0 of 18 links are up); leave that node out"},
    {&node, &lost, 8, POLICY_DENIED,
     "policy tp-degraded-node: tp=8 needs 8 GPUs joined by NVLink, a node here has 7 (dgx-b200: "
     "GPU 2 "
     "lost NVLink: 0 of 18 links are up); use tp=4 or less, or leave that node out"},
    {&off, &lost, 8, POLICY_WARNED,
     "policy tp-degraded-node: tp=8 needs 8 GPUs joined by NVLink, a node here has 7 (dgx-b200: "
     "GPU 2 "
     "lost NVLink: 0 of 18 links are up); use tp=4 or less, or leave that node out"},
    {&node, &instances, 2, POLICY_DENIED,
     "policy tp-degraded-node: tp=2 needs 2 GPUs joined by NVLink, a node here has 1 (dgx-a100: "
     "GPU 0 "
     "is cut into MIG instances); use tp=1, or leave that node out"},
    {&node, &nvl72, 4, POLICY_ALLOWED, ""},
    {&node, &nvl72, 8, POLICY_DENIED,
     "policy tp-within-node: tp=8 needs 8 GPUs in one node, cluster gb200-nvl72:18 has 4; use "
     "tp=4 or less"},
    {&domain, &nvl72, 8, POLICY_ALLOWED, ""},
    {&domain, &nvl72, 72, POLICY_ALLOWED, ""},
    {&domain, &nvl72, 6, POLICY_DENIED,
     "policy tp-splits-node: tp=6 does not divide the 4 GPUs in use on cluster "
     "gb200-nvl72:18, so that a TP group would lie on two nodes; use tp=4"},
    {&domain, &nvl72, 144, POLICY_DENIED,
     "policy tp-within-nvlink-domain: tp=144 needs 144 GPUs in one NVLink domain, cluster "
     "gb200-nvl72:18 has 72; use tp=72 or less"},

    {&node, &a6000, 2, POLICY_ALLOWED, ""},
    {&node, &a6000, 4, POLICY_WARNED,
     "policy tp-within-nvlink-domain: tp=4 is allowed in one node, but NVLink joins only 2 GPUs "
     "on cluster a6000:4, the rest goes over PCIe; tp=2 is faster"},
    {&node, &a6000, 8, POLICY_WARNED,
     "policy tp-within-nvlink-domain: tp=8 is allowed in one node, but NVLink joins only 2 GPUs "
     "on cluster a6000:4, the rest goes over PCIe; tp=2 is faster"},
    {&domain, &a6000, 2, POLICY_ALLOWED, ""},
    {&domain, &a6000, 4, POLICY_DENIED,
     "policy tp-within-nvlink-domain: tp=4 needs 4 GPUs in one NVLink domain, cluster a6000:4 "
     "has 2; use tp=2 or less"},

    {&node, &l40s, 8, POLICY_WARNED,
     "policy tp-within-nvlink-domain: tp=8 is allowed in one node, but cluster l40s:4 has no "
     "NVLink, all goes over PCIe"},
    {&node, &l40s, 16, POLICY_DENIED,
     "policy tp-within-node: tp=16 needs 16 GPUs in one node, cluster l40s:4 has 8; use tp=8 or "
     "less"},
    {&domain, &l40s, 2, POLICY_DENIED,
     "policy tp-within-nvlink-domain: tp=2 needs 2 GPUs in one NVLink domain, cluster l40s:4 has "
     "1; use tp=1"},
    {&domain, &l40s, 1, POLICY_ALLOWED, ""},
    {&domain, &quads, 4, POLICY_DENIED,
     "policy tp-within-nvlink-domain: tp=4 does not divide the NVLink domains of 6 GPUs on "
     "partition hgx, so that a TP group would lie in two; use tp=3"},

    {&node, &no_nvlink, 8, POLICY_ALLOWED, ""},
    {&domain, &no_nvlink, 8, POLICY_WARNED,
     "policy unknown-topology: tp=8 cannot be checked: NVLink of partition gpu is unknown"},
    {&domain_strict, &no_nvlink, 8, POLICY_DENIED,
     "policy unknown-topology: tp=8 cannot be checked: NVLink of partition gpu is unknown; "
     "describe it in the cluster file, or use tp=1"},
    {&domain_strict, &no_nvlink, 1, POLICY_ALLOWED, ""},
    {&domain_lax, &no_nvlink, 8, POLICY_ALLOWED, ""},
    {&node, &nothing, 8, POLICY_WARNED,
     "policy unknown-topology: tp=8 cannot be checked: the number of GPUs of each node here is "
     "unknown"},
};

static void verdicts_and_their_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(verdicts); i++) {
        struct degrees degrees = DEGREES_ONE;
        struct policy_verdict got;
        struct policy policy = *verdicts[i].policy;
        degrees.tp = verdicts[i].tp;
        policy_check(&policy, &degrees, verdicts[i].place, &got);
        assert_string_equal(got.text, verdicts[i].text);
        assert_int_equal(got.result, verdicts[i].result);
        assert_int_equal(got.code == POLICY_OK, got.text[0] == '\0');
    }
}

static const struct {
    const struct policy *policy;
    const struct policy_place *place;
    unsigned largest;
} bounds[] = {
    {&node, &h100, 8},
    {&node, &nvl72, 4},
    {&domain, &nvl72, 72},
    {&domain, &a6000, 2},
    {&node, &a6000, 8},
    {&domain, &l40s, 1},
    {&off, &h100, 0},
    {&off_limit, &h100, 8},
    {&node_warn, &h100, 8},
    {&domain, &no_nvlink, 8},
    {&domain_strict, &no_nvlink, 1},
    {&node, &nothing, 0},
    {&domain_lax, &nothing, 0},
};

static void largest_tp_is_the_planners_bound(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bounds); i++)
        assert_int_equal(policy_largest_tp(bounds[i].policy, bounds[i].place), bounds[i].largest);
    struct policy tight = policy_default;
    tight.max_tp = 2;
    assert_int_equal(policy_largest_tp(&tight, &h100), 2);
    tight.max_tp = 64;
    assert_int_equal(policy_largest_tp(&tight, &h100), 8);
}

/* What the policy lets parplan choose passes its own check. */
static void largest_tp_is_allowed(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bounds); i++) {
        struct degrees degrees = DEGREES_ONE;
        struct policy_verdict got;
        degrees.tp = bounds[i].largest;
        if (degrees.tp == 0)
            continue;
        policy_check(bounds[i].policy, &degrees, bounds[i].place, &got);
        assert_int_not_equal(got.result, POLICY_DENIED);
    }
}

static void undeclared_jobs(void **state)
{
    (void)state;
    struct policy policy = policy_default;
    struct policy_verdict got;
    policy_check_undeclared(&policy, "partition gpu", &got);
    assert_int_equal(got.result, POLICY_ALLOWED);
    policy.require_plan = REQUIRE_WARN;
    policy_check_undeclared(&policy, "partition gpu", &got);
    assert_int_equal(got.result, POLICY_WARNED);
    policy.require_plan = REQUIRE_DENY;
    policy_check_undeclared(&policy, "partition gpu", &got);
    assert_int_equal(got.result, POLICY_DENIED);
    assert_int_equal(got.code, POLICY_PLAN_REQUIRED);
    assert_string_equal(got.text, "policy require-plan: partition gpu needs a plan; add "
                                  "--parplan=auto, or the degrees as --parplan=tp=8,pp=4");
}

static void hostile_names_stay_one_line(void **state)
{
    (void)state;
    char name[1024];
    memset(name, 'x', sizeof(name) - 1);
    name[3] = '\n';
    name[sizeof(name) - 1] = '\0';
    struct policy_place place = {name, 8, 8, true, 0, NULL};
    struct degrees degrees = DEGREES_ONE;
    struct policy_verdict got;
    degrees.tp = 16;
    policy_check(&policy_default, &degrees, &place, &got);
    assert_null(strchr(got.text, '\n'));
    assert_non_null(strstr(got.text, "use tp=8 or less"));
}

static void codes_are_stable(void **state)
{
    (void)state;
    static const char *const codes[POLICY_CODE_COUNT] = {
        "ok",     "tp-within-node",   "tp-splits-node", "tp-within-nvlink-domain",
        "max-tp", "unknown-topology", "require-plan",   "tp-degraded-node"};
    for (unsigned i = 0; i < POLICY_CODE_COUNT; i++)
        assert_string_equal(policy_code_name((enum policy_code)i), codes[i]);
    assert_string_equal(policy_code_name(POLICY_CODE_COUNT), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_and_their_words),
        cmocka_unit_test(largest_tp_is_the_planners_bound),
        cmocka_unit_test(largest_tp_is_allowed),
        cmocka_unit_test(undeclared_jobs),
        cmocka_unit_test(hostile_names_stay_one_line),
        cmocka_unit_test(codes_are_stable),
    };
    return unit_test_main("workload/policy", tests, COUNT_OF(tests));
}
