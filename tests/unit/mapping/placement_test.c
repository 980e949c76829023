/* SPDX-License-Identifier: MIT */
#include "mapping/placement.h"
#include "tests/support/unit_test.h"
#include "topology/preset_catalogue.h"
#include <string.h>

/* Two NVL72 racks of which the job has three trays and five: no two-node TP group more than
 * one fits into the first. */
static const char odd_racks[] = "schema: parplan.cluster/1\n"
                                "kinds: {tray: {preset: gb200-nvl72}}\n"
                                "nodes: [{names: \"t[1-8]\", kind: tray}]\n"
                                "fabric:\n"
                                "  tiers: [leaf]\n"
                                "  switches: [{name: leaf1, tier: leaf, nodes: \"t[1-8]\"}]\n"
                                "  nvlink_domains: [{nodes: \"t[1-3]\"}, {nodes: \"t[4-8]\"}]\n";

struct place_case {
    const char *cluster; /* PRESET:N, or the file above when NULL */
    const char *option;
    enum tp_within tp_within;
    enum policy_action on_violation;
};

struct place_inputs {
    struct gpu_catalogue *gpus;
    struct preset_catalogue *presets;
    struct cluster_topology *cluster;
    struct job_spec *job;
};

static void inputs_done(struct place_inputs *inputs)
{
    job_spec_free(inputs->job);
    cluster_topology_free(inputs->cluster);
    preset_catalogue_free(inputs->presets);
    gpu_catalogue_free(inputs->gpus);
}

static int open_inputs(const struct place_case *wanted, struct place_inputs *inputs,
                       struct error_info *err)
{
    inputs->gpus = gpu_catalogue_builtin(err);
    inputs->presets = inputs->gpus ? preset_catalogue_builtin(err) : NULL;
    if (!inputs->presets)
        return -1;
    inputs->cluster =
        wanted->cluster
            ? cluster_topology_from_preset(wanted->cluster, inputs->presets, inputs->gpus, err)
            : cluster_topology_parse(odd_racks, strlen(odd_racks), "racks.yaml", inputs->presets,
                                     inputs->gpus, err);
    inputs->job = inputs->cluster ? job_spec_create(err) : NULL;
    return inputs->job ? job_spec_parse_option(inputs->job, wanted->option, "--plan", err) : -1;
}

static int try_place(const struct place_case *wanted, struct placement *ret, char *ret_refusal,
                     struct error_info *err)
{
    struct place_inputs inputs = {.gpus = NULL};
    struct policy policy = policy_default;
    policy.tp_within = wanted->tp_within;
    policy.on_violation = wanted->on_violation;
    int result = open_inputs(wanted, &inputs, err);
    if (result == 0) {
        const struct plan_request request = {
            .cluster = inputs.cluster, .gpus = inputs.gpus, .job = inputs.job, .policy = &policy};
        result = placement_create(&request, NULL, ret, err);
    }
    struct error_info refusal = {.kind = ERROR_NONE};
    if (result == 0 && ret->outcome != PLACEMENT_DONE)
        placement_refusal(ret, &refusal);
    if (ret_refusal)
        memcpy(ret_refusal, refusal.text, ERROR_TEXT_BYTES);
    inputs_done(&inputs); /* nothing of the outcome is looked at but counts and texts */
    return result;
}

static void outcomes(void **state)
{
    (void)state;
    static const struct {
        struct place_case wanted;
        enum placement_outcome outcome;
        enum policy_result result;
        const char *words;
    } cases[] = {
        {{"dgx-h100:8", "tp=8,pp=4,dp=2", TP_WITHIN_NODE, POLICY_DENY},
         PLACEMENT_DONE,
         POLICY_ALLOWED,
         ""},
        {{"dgx-h100:2", "auto", TP_WITHIN_NODE, POLICY_DENY}, PLACEMENT_DONE, POLICY_ALLOWED, ""},
        {{"dgx-h100:2", "tp=16", TP_WITHIN_NODE, POLICY_DENY},
         PLACEMENT_DENIED,
         POLICY_DENIED,
         "policy tp-within-node: tp=16 needs 16 GPUs in one node"},
        {{"dgx-h100:2", "tp=16", TP_WITHIN_NODE, POLICY_WARN}, PLACEMENT_DONE, POLICY_WARNED, ""},
        {{"gb200-nvl72:18", "tp=8", TP_WITHIN_NVLINK_DOMAIN, POLICY_DENY},
         PLACEMENT_DONE,
         POLICY_ALLOWED,
         ""},
        {{NULL, "tp=8", TP_WITHIN_NVLINK_DOMAIN, POLICY_DENY},
         PLACEMENT_DENIED,
         POLICY_DENIED,
         "leaves GPUs over in NVLink domains of tray, so that a TP group would lie in two; use "
         "tp=4 or less"},
        {{NULL, "tp=8", TP_WITHIN_NVLINK_DOMAIN, POLICY_WARN}, PLACEMENT_DONE, POLICY_WARNED, ""},
        {{NULL, "tp=8", TP_WITHIN_OFF, POLICY_DENY}, PLACEMENT_DONE, POLICY_ALLOWED, ""},
        {{NULL, "tp=4", TP_WITHIN_NVLINK_DOMAIN, POLICY_DENY}, PLACEMENT_DONE, POLICY_ALLOWED, ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP_DONE(placement) struct placement placement = {.map = NULL};
        char refusal[ERROR_TEXT_BYTES];
        assert_int_equal(try_place(&cases[i].wanted, &placement, refusal, NULL), 0);
        assert_int_equal(placement.outcome, cases[i].outcome);
        assert_int_equal(placement.verdict.result, cases[i].result);
        assert_int_equal(placement.map != NULL, cases[i].outcome == PLACEMENT_DONE);
        if (!strstr(refusal, cases[i].words))
            fail_msg("\"%s\" does not say \"%s\"", refusal, cases[i].words);
    }
}

static int place_once(void *context, struct error_info *err)
{
    struct placement placement = {.map = NULL};
    if (try_place(context, &placement, NULL, err) < 0)
        return -1;
    placement_done(&placement);
    return 0;
}

static void fails_cleanly_without_memory(void **state)
{
    (void)state;
    static struct place_case wanted = {NULL, "tp=4", TP_WITHIN_NODE, POLICY_DENY};
    unit_test_expect_clean_failures(place_once, &wanted);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(outcomes),
        cmocka_unit_test(fails_cleanly_without_memory),
    };
    return unit_test_main("mapping/placement", tests, COUNT_OF(tests));
}
