/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"
#include "workload/policy.h"

#include "base/cleanup.h"
#include <string.h>

/* The places that the design names. */
#define PLACE(name, gpus, domain)                                                                  \
    {                                                                                              \
        .where = (name), .gpus_per_node = (gpus), .nvlink_domain_gpus = (domain),                  \
        .nvlink_known = true                                                                       \
    }
static const struct policy_place h100 = PLACE("cluster dgx-h100:2", 8, 8);
static const struct policy_place nvl72 = PLACE("cluster gb200-nvl72:18", 4, 72);
static const struct policy_place a6000 = PLACE("cluster a6000:4", 8, 2);
static const struct policy_place l40s = PLACE("cluster l40s:4", 8, 1);
static const struct policy_place quads = PLACE("partition hgx", 12, 6);
static const struct policy_place six = PLACE("partition six", 6, 6);
static const struct policy_place no_nvlink = {.where = "partition gpu", .gpus_per_node = 8};
static const struct policy_place nothing;

/* Faults. */
static const char b200_fault[] = "dgx-b200: GPU 2 lost NVLink: 0 of 18 links are up";
static const unsigned char seven_cover[9] = {0, 8, 6, 6, 4, 5, 6, 7};
static const struct policy_place lost = {
    "dgx-b200", 8, 7, true, 7, b200_fault, .nvlink_cover = seven_cover};
static const struct policy_place instances = {
    "dgx-a100", 8, 1, true, 1, "dgx-a100: GPU 0 is cut into MIG instances", .nodes = 0};
static const struct policy_place l40s_cut = {"l40s", 4, 1, true, 3, "l40s: GPU 3: cut", .nodes = 0};
static const struct policy_place unknown_cut = {
    .where = "h100", .gpus_per_node = 4, .sound_gpus = 3, .fault = "h100: GPU 3: cut"};
static const struct policy_place no_manager = {"b200",    8, 1, true, 0, "b200: GPU 0: in progress",
                                               .nodes = 0};

/* What a cluster tells: {0-3},{4},{5}; {0-1},{2}; two domains of 5 trays; 4 trays of which
 * nobody says who shares; 2 trays that do and 2 more. */
static const unsigned char uneven_cover[7] = {0, 6, 4, 3, 4};
static const struct policy_place uneven = {"uneven", 6,          4,
                                           true,     .nodes = 1, .nvlink_cover = uneven_cover};
static const unsigned char three_cover[4] = {0, 3, 2};
static const struct policy_place three = {"three", 3,          2,
                                          true,    .nodes = 1, .nvlink_cover = three_cover};
static const unsigned char tray_cover[5] = {0, 4, 4, 3, 4};
static const unsigned fives[] = {5, 5}, pair[] = {2};
static const struct policy_place trays = {"trays",
                                          4,
                                          20,
                                          true,
                                          .nodes = 10,
                                          .domain_nodes = fives,
                                          .domain_count = 2,
                                          .nvlink_cover = tray_cover};
static const struct policy_place eight_trays = {"trays",
                                                4,
                                                20,
                                                true,
                                                .nodes = 8,
                                                .domain_nodes = fives,
                                                .domain_count = 2,
                                                .nvlink_cover = tray_cover};
static const struct policy_place open_trays = {
    "gb200", 4, 4, true, .nodes = 4, .open_nodes = 4, .nvlink_cover = tray_cover};
static const struct policy_place half_open = {"gb200",
                                              4,
                                              4,
                                              true,
                                              .nodes = 6,
                                              .open_nodes = 2,
                                              .domain_nodes = pair,
                                              .domain_count = 1,
                                              .nvlink_cover = tray_cover};

static const struct policy node = {.tp_within = TP_WITHIN_NODE};
static const struct policy node_warn = {.tp_within = TP_WITHIN_NODE, .on_violation = POLICY_WARN};
static const struct policy node_fix = {.tp_within = TP_WITHIN_NODE, .on_violation = POLICY_FIX};
static const struct policy domain = {.tp_within = TP_WITHIN_NVLINK_DOMAIN};
static const struct policy domain_strict = {.tp_within = TP_WITHIN_NVLINK_DOMAIN,
                                            .on_unknown_topology = UNKNOWN_DENY};
static const struct policy domain_lax = {.tp_within = TP_WITHIN_NVLINK_DOMAIN,
                                         .on_unknown_topology = UNKNOWN_ALLOW};
static const struct policy domain_warn = {.tp_within = TP_WITHIN_NVLINK_DOMAIN,
                                          .max_tp = 2,
                                          .on_violation = POLICY_WARN,
                                          .on_unknown_topology = UNKNOWN_DENY};
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
     "dgx-h100:2, so that a TP group would lie on two nodes; use one that does, or use tp=4 or "
     "less"},
    {&node, &six, 6, POLICY_ALLOWED, ""},
    {&node, &six, 4, POLICY_DENIED,
     "policy tp-splits-node: tp=4 does not divide the 6 GPUs in use on partition six, "
     "so that a TP group would lie on two nodes; use one that does, or use tp=3 or less"},
    {&off, &h100, 16, POLICY_ALLOWED, ""},
    {&off_limit, &h100, 8, POLICY_ALLOWED, ""},
    {&off_limit, &h100, 16, POLICY_DENIED,
     "policy max-tp: tp=16 is more than the 8 that are allowed; use tp=8 or less"},

    {&node, &lost, 1, POLICY_ALLOWED, ""},
    {&node, &lost, 4, POLICY_WARNED,
     "policy tp-degraded-node: tp=4 is allowed, but not every TP group of a node avoids its fault "
     "(dgx-b200: GPU 2 lost NVLink: 0 of 18 links are up); leave that node out"},
    {&node, &lost, 8, POLICY_DENIED,
     "policy tp-degraded-node: tp=8 needs 8 GPUs without a fault, a node here has 7 (dgx-b200: GPU "
     "2 lost NVLink: 0 of 18 links are up); leave that node out, or use tp=4 or less"},
    {&node_fix, &lost, 8, POLICY_DENIED,
     "policy tp-degraded-node: tp=8 needs 8 GPUs without a fault, a node here has 7 (dgx-b200: GPU "
     "2 lost NVLink: 0 of 18 links are up); leave that node out, or use tp=4 or less "
     "(on_violation: fix changes only degrees that parplan chose)"},
    {&off, &lost, 8, POLICY_WARNED,
     "policy tp-degraded-node: tp=8 needs 8 GPUs without a fault, a node here has 7 (dgx-b200: GPU "
     "2 lost NVLink: 0 of 18 links are up); leave that node out, or use tp=4 or less"},
    {&domain, &lost, 8, POLICY_DENIED,
     "policy tp-degraded-node: tp=8 needs 8 GPUs without a fault, a node here has 7 (dgx-b200: GPU "
     "2 lost NVLink: 0 of 18 links are up); leave that node out, or use tp=1"},
    {&domain, &lost, 4, POLICY_DENIED,
     "policy tp-within-nvlink-domain: tp=4 leaves GPUs over in NVLink domains of dgx-b200, so "
     "that a TP group would lie in two; use tp=1"},
    {&node, &instances, 2, POLICY_DENIED,
     "policy tp-degraded-node: tp=2 needs 2 GPUs without a fault, a node here has 1 (dgx-a100: "
     "GPU 0 is cut into MIG instances); leave that node out, or use tp=1"},
    {&node, &l40s_cut, 2, POLICY_WARNED,
     "policy tp-degraded-node: tp=2 is allowed, but not every TP group of a node avoids its fault "
     "(l40s: GPU 3: cut); leave that node out"},
    {&domain, &l40s_cut, 2, POLICY_DENIED,
     "policy tp-within-nvlink-domain: tp=2 needs 2 GPUs in one NVLink domain, l40s has 1; use "
     "tp=1"},
    {&node, &unknown_cut, 2, POLICY_WARNED,
     "policy tp-degraded-node: tp=2 is allowed, but not every TP group of a node avoids its fault "
     "(h100: GPU 3: cut); leave that node out"},
    {&domain_strict, &unknown_cut, 2, POLICY_DENIED,
     "policy unknown-topology: tp=2 cannot be checked: NVLink of h100 is unknown; describe it in "
     "the cluster file, or use tp=1"},
    {&node, &no_manager, 1, POLICY_WARNED,
     "policy tp-degraded-node: no GPU of a node here has its NVLink (b200: GPU 0: in progress), "
     "and CUDA may not start on it; leave that node out"},
    {&node, &no_manager, 2, POLICY_DENIED,
     "policy tp-degraded-node: tp=2 needs 2 GPUs without a fault, a node here has 0 (b200: GPU 0: "
     "in progress); leave that node out, or use tp=1"},

    {&domain, &uneven, 2, POLICY_DENIED,
     "policy tp-within-nvlink-domain: tp=2 leaves GPUs over in NVLink domains of uneven, so that "
     "a TP group would lie in two; use tp=1"},
    {&node, &uneven, 2, POLICY_WARNED,
     "policy tp-within-nvlink-domain: tp=2 is allowed in one node, but NVLink joins only 2 of the "
     "3 TP groups of a node on uneven, the rest goes over PCIe"},
    {&node, &three, 3, POLICY_WARNED,
     "policy tp-within-nvlink-domain: tp=3 is allowed in one node, but NVLink joins only 2 GPUs "
     "on three, the rest goes over PCIe"},
    {&domain, &trays, 4, POLICY_ALLOWED, ""},
    {&domain, &trays, 20, POLICY_ALLOWED, ""},
    {&domain, &trays, 8, POLICY_DENIED,
     "policy tp-within-nvlink-domain: tp=8 leaves GPUs over in NVLink domains of trays, so that a "
     "TP group would lie in two; use tp=4 or less"},
    {&domain, &eight_trays, 8, POLICY_ALLOWED, ""},
    {&domain, &open_trays, 4, POLICY_ALLOWED, ""},
    {&domain, &open_trays, 8, POLICY_WARNED,
     "policy unknown-topology: tp=8 cannot be checked: the NVLink between nodes of gb200 is "
     "unknown; name its nvlink_domains in the cluster file or give --fabric"},
    {&domain_strict, &open_trays, 8, POLICY_DENIED,
     "policy unknown-topology: tp=8 cannot be checked: the NVLink between nodes of gb200 is "
     "unknown; name its nvlink_domains in the cluster file or give --fabric, or use tp=4 or less"},
    {&domain_lax, &open_trays, 8, POLICY_ALLOWED, ""},
    {&domain, &half_open, 8, POLICY_DENIED,
     "policy tp-within-nvlink-domain: tp=8 needs 8 GPUs in one NVLink domain, gb200 has 4; use "
     "tp=4 or less"},
    {&domain_warn, &h100, 4, POLICY_WARNED,
     "policy max-tp: tp=4 is more than the 2 that are allowed; use tp=2 or less"},
    {&domain_warn, &no_nvlink, 4, POLICY_DENIED,
     "policy unknown-topology: tp=4 cannot be checked: NVLink of partition gpu is unknown; "
     "describe it in the cluster file, or use tp=1"},
    {&node, &nvl72, 4, POLICY_ALLOWED, ""},
    {&node, &nvl72, 8, POLICY_DENIED,
     "policy tp-within-node: tp=8 needs 8 GPUs in one node, cluster gb200-nvl72:18 has 4; use "
     "tp=4 or less"},
    {&domain, &nvl72, 8, POLICY_ALLOWED, ""},
    {&domain, &nvl72, 72, POLICY_ALLOWED, ""},
    {&domain, &nvl72, 6, POLICY_DENIED,
     "policy tp-splits-node: tp=6 does not divide the 4 GPUs in use on cluster "
     "gb200-nvl72:18, so that a TP group would lie on two nodes; use one that does, or use tp=4 or "
     "less"},
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
     "policy tp-within-nvlink-domain: tp=4 leaves GPUs over in NVLink domains of partition hgx, "
     "so that a TP group would lie in two; use tp=3 or less"},

    {&node, &no_nvlink, 8, POLICY_ALLOWED, ""},
    {&domain, &no_nvlink, 8, POLICY_WARNED,
     "policy unknown-topology: tp=8 cannot be checked: NVLink of partition gpu is unknown; "
     "describe it in the cluster file"},
    {&domain_strict, &no_nvlink, 8, POLICY_DENIED,
     "policy unknown-topology: tp=8 cannot be checked: NVLink of partition gpu is unknown; "
     "describe it in the cluster file, or use tp=1"},
    {&domain_strict, &no_nvlink, 1, POLICY_ALLOWED, ""},
    {&domain_lax, &no_nvlink, 8, POLICY_ALLOWED, ""},
    {&node, &nothing, 8, POLICY_WARNED,
     "policy unknown-topology: tp=8 cannot be checked: the number of GPUs of each node here is "
     "unknown; describe it in the cluster file"},
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
    {&domain, &lost, 1},
    {&node, &lost, 4},
    {&node, &l40s_cut, 2},
    {&node, &no_manager, 1},
    {&domain, &uneven, 1},
    {&domain, &trays, 20},
    {&domain_warn, &no_nvlink, 1},
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

/* A finished map: what its nodes are known not to share is refused, what nobody knows is not. */
static void split_groups(void **state)
{
    (void)state;
    static const struct {
        const struct policy *policy;
        const struct policy_place *place;
        enum policy_result result;
        enum policy_code code;
    } splits[] = {
        {&off, &trays, POLICY_ALLOWED, POLICY_OK},
        {&node, &trays, POLICY_DENIED, POLICY_TP_EXCEEDS_NODE},
        {&domain, &trays, POLICY_DENIED, POLICY_TP_EXCEEDS_DOMAIN},
        {&domain, &open_trays, POLICY_WARNED, POLICY_TOPOLOGY_UNKNOWN},
        {&domain_lax, &open_trays, POLICY_ALLOWED, POLICY_OK},
        {&domain_strict, &open_trays, POLICY_DENIED, POLICY_TOPOLOGY_UNKNOWN},
    };
    struct policy_verdict got;
    for (size_t i = 0; i < COUNT_OF(splits); i++) {
        policy_check_split(splits[i].policy, 8, 2, splits[i].place, &got);
        assert_int_equal(got.result, splits[i].result);
        assert_int_equal(got.code, splits[i].code);
        policy_check_split(splits[i].policy, 8, 0, splits[i].place, &got);
        assert_int_equal(got.result, POLICY_ALLOWED);
    }
    policy_check_split(&domain, 8, 2, &trays, &got);
    assert_string_equal(
        got.text, "policy tp-within-nvlink-domain: on the nodes of this job 2 links of TP groups "
                  "(tp=8) leave their NVLink domain; ask for nodes of whole domains, or use tp=4 "
                  "or less");
}

/* --- spans: against every rank of small jobs ------------------------------------------- */

#define RANKS_MAXIMUM 128u

/* The group of that rank, as a number. */
static unsigned group_of(enum span_dimension dimension, const struct degrees *degrees,
                         enum rank_order order, unsigned rank)
{
    struct rank_coordinates at;
    rank_coordinates_of(order, degrees, rank, &at);
    switch (dimension) {
    case SPAN_CP:
        return (at.tp * degrees->dp + at.dp) * degrees->pp + at.pp;
    case SPAN_EP:
        return (at.etp * degrees_edp(degrees) + at.edp) * degrees->pp + at.pp;
    case SPAN_DP:
        return (at.tp * degrees->cp + at.cp) * degrees->pp + at.pp;
    default:
        return (at.tp * degrees->cp + at.cp) * degrees->dp + at.dp;
    }
}

static bool lies_on_several_nodes(enum span_dimension dimension, const struct degrees *degrees,
                                  enum rank_order order, unsigned gpus)
{
    unsigned first[RANKS_MAXIMUM], ranks = (unsigned)degrees_world(degrees);
    memset(first, 0xff, sizeof(first));
    for (unsigned rank = 0; rank < ranks; rank++) {
        unsigned *seen = &first[group_of(dimension, degrees, order, rank)];
        if (*seen == UINT32_MAX)
            *seen = rank / gpus;
        if (*seen != rank / gpus)
            return true;
    }
    return false;
}

static unsigned compare_on_nodes(const struct degrees *degrees, enum rank_order order)
{
    unsigned compared = 0, ranks = (unsigned)degrees_world(degrees);
    for (unsigned gpus = 1; gpus <= 16; gpus++) {
        struct policy_place place = PLACE("here", gpus, gpus);
        for (unsigned i = 0; ranks % gpus == 0 && i < 2u * SPAN_DIMENSION_COUNT; i++) {
            enum span_dimension dimension = (enum span_dimension)(i / 2);
            struct policy policy = policy_default;
            struct policy_verdict got;
            policy.spans[dimension] = i % 2 ? SPAN_NVLINK_DOMAIN : SPAN_NODE;
            policy_check_spans(&policy, degrees, order, &place, &got);
            bool broken = lies_on_several_nodes(dimension, degrees, order, gpus);
            assert_int_equal(got.result, broken ? POLICY_DENIED : POLICY_ALLOWED);
            assert_int_equal(policy_spans_allow(&policy, degrees, order, &place, 0), !broken);
            assert_true(policy_spans_allow(&policy, degrees, order, &place, 1u << dimension));
            compared++;
        }
    }
    return compared;
}

static void spans_agree_with_every_rank(void **state)
{
    (void)state;
    static const unsigned sizes[] = {1, 2, 3, 4};
    unsigned compared = 0;
    for (unsigned i = 0; i < 4u * 4 * 4 * 4 * 4 * 3 * RANK_ORDER_COUNT; i++) {
        enum rank_order order = (enum rank_order)(i % 2);
        struct degrees degrees = DEGREES_ONE;
        degrees.tp = sizes[i / 2 % 4];
        degrees.cp = sizes[i / 8 % 4];
        degrees.dp = degrees.shard = sizes[i / 32 % 4];
        degrees.pp = sizes[i / 128 % 4];
        degrees.ep = sizes[i / 512 % 4];
        degrees.etp = sizes[i / 2048 % 3];
        if (degrees.tp * degrees.cp * degrees.dp % (degrees.ep * degrees.etp) != 0 ||
            degrees_world(&degrees) > RANKS_MAXIMUM || rank_order_check(order, &degrees, NULL) < 0)
            continue;
        compared += compare_on_nodes(&degrees, order);
    }
    assert_true(compared > 10000);
}

static void spans_and_their_words(void **state)
{
    (void)state;
    static const struct {
        unsigned spans[SPAN_DIMENSION_COUNT];
        struct degrees degrees;
        const struct policy_place *place;
        enum policy_result result;
        const char *text;
    } rows[] = {
        {{SPAN_NODE}, {.tp = 4, .cp = 2}, &h100, POLICY_ALLOWED, ""},
        {{SPAN_NODE},
         {.tp = 4, .cp = 4},
         &h100,
         POLICY_DENIED,
         "policy spans: cp=4 reaches over 16 GPUs in a row, its groups are to lie in one node, and "
         "cluster dgx-h100:2 has 8 GPUs in one; use cp=2"},
        {{SPAN_NODE},
         {.tp = 3, .cp = 2},
         &h100,
         POLICY_DENIED,
         "policy span-splits-node: cp=2 fills blocks of 6 GPUs, which do not divide the 8 in use "
         "on a node of cluster dgx-h100:2, so that a group would lie on two; use cp=1"},
        {{0, SPAN_NVLINK_DOMAIN}, {.tp = 8, .ep = 8, .etp = 1, .dp = 2}, &h100, POLICY_ALLOWED, ""},
        {{0, SPAN_NVLINK_DOMAIN},
         {.tp = 1, .ep = 4, .etp = 1},
         &a6000,
         POLICY_DENIED,
         "policy spans: ep=4 reaches over 4 GPUs in a row, its groups are to lie in one NVLink "
         "domain, and cluster a6000:4 has 2 GPUs in one; use ep=2"},
        {{0, SPAN_NVLINK_DOMAIN}, {.ep = 72, .etp = 1}, &nvl72, POLICY_ALLOWED, ""},
        {{0, SPAN_NVLINK_DOMAIN}, {.ep = 128, .etp = 1}, &nvl72, POLICY_DENIED, NULL},
        {{0, SPAN_NODE}, {.ep = 8, .etp = 1}, &nvl72, POLICY_DENIED, NULL},
        {{0, SPAN_NVLINK_DOMAIN}, {.ep = 16}, &open_trays, POLICY_WARNED, NULL},
        {{0, SPAN_NVLINK_DOMAIN},
         {.ep = 8},
         &no_nvlink,
         POLICY_WARNED,
         "policy unknown-topology: ep=8 cannot be checked: NVLink of partition gpu is unknown; "
         "describe it in the cluster file"},
        {{0, 0, 0, SPAN_NODE}, {.tp = 2, .pp = 2}, &nothing, POLICY_WARNED, NULL},
        {{0, 0, 0, SPAN_NODE}, {.tp = 2, .dp = 2, .pp = 2}, &h100, POLICY_ALLOWED, ""},
        {{0, 0, 0, SPAN_NODE}, {.tp = 2, .dp = 4, .pp = 2}, &h100, POLICY_DENIED, NULL},
        {{0, 0, SPAN_LEAF, SPAN_LEAF}, {.tp = 8, .dp = 64, .pp = 8}, &h100, POLICY_ALLOWED, ""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct policy policy = policy_default;
        struct policy_verdict got;
        memcpy(policy.spans, rows[i].spans, sizeof(policy.spans));
        policy_check_spans(&policy, &rows[i].degrees, ORDER_TP_CP_EP_DP_PP, rows[i].place, &got);
        assert_int_equal(got.result, rows[i].result);
        if (rows[i].text)
            assert_string_equal(got.text, rows[i].text);
        policy.on_violation = POLICY_WARN;
        policy_check_spans(&policy, &rows[i].degrees, ORDER_TP_CP_EP_DP_PP, rows[i].place, &got);
        assert_int_not_equal(got.result, POLICY_DENIED);
    }
}

/* What is unknown is the planner's only where the policy does not deny it. */
static void spans_of_unknown_nodes(void **state)
{
    (void)state;
    struct policy policy = {.spans = {SPAN_NODE}};
    const struct degrees degrees = {.tp = 2, .cp = 2};
    assert_true(policy_spans_allow(&policy, &degrees, ORDER_TP_CP_EP_DP_PP, &nothing, 0));
    policy.on_unknown_topology = UNKNOWN_DENY;
    assert_false(policy_spans_allow(&policy, &degrees, ORDER_TP_CP_EP_DP_PP, &nothing, 0));
}

static void reaches_of_a_finished_map(void **state)
{
    (void)state;
    struct policy policy = {.spans = {[SPAN_PP] = SPAN_LEAF}};
    struct policy_verdict got;
    policy_check_reach(&policy, SPAN_PP, 4, 0, 0, &h100, &got);
    assert_int_equal(got.result, POLICY_ALLOWED);
    policy_check_reach(&policy, SPAN_PP, 4, 16, 0, &h100, &got);
    assert_int_equal(got.result, POLICY_DENIED);
    assert_string_equal(got.text, "policy spans: on the nodes of this job 16 links of pp groups "
                                  "(pp=4) leave their leaf; ask for nodes that are nearer to each "
                                  "other, or use a smaller pp");
    policy_check_reach(&policy, SPAN_PP, 4, 0, 3, &h100, &got);
    assert_int_equal(got.result, POLICY_WARNED);
    assert_string_equal(got.text, "policy unknown-topology: pp=4 cannot be checked: the fabric "
                                  "between nodes of cluster dgx-h100:2 is unknown; describe it "
                                  "in the cluster file or give --fabric");
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
    assert_string_equal(got.text, "policy require-plan: partition gpu needs a plan with degrees; "
                                  "give them (--parplan=tp=8,pp=4), or a model to choose them for "
                                  "(--parplan=auto,model=llama3-8b)");
}

static void orders(void **state)
{
    (void)state;
    struct policy policy = policy_default;
    struct policy_verdict got;
    policy_check_order(&policy, ORDER_TP_CP_EP_PP_DP, &got);
    assert_int_equal(got.result, POLICY_ALLOWED);
    policy.orders = 1u << ORDER_TP_CP_EP_DP_PP;
    policy_check_order(&policy, ORDER_TP_CP_EP_DP_PP, &got);
    assert_int_equal(got.result, POLICY_ALLOWED);
    policy_check_order(&policy, ORDER_TP_CP_EP_PP_DP, &got);
    assert_int_equal(got.result, POLICY_DENIED);
    assert_string_equal(policy_code_name(got.code), "order");
    assert_string_equal(got.text,
                        "policy order: order=tp-cp-ep-pp-dp is not among the orders that are "
                        "allowed; use order=tp-cp-ep-dp-pp, and tell the program");
    policy.on_violation = POLICY_WARN;
    policy_check_order(&policy, ORDER_TP_CP_EP_PP_DP, &got);
    assert_int_equal(got.result, POLICY_WARNED);
}

static void hostile_names_stay_one_line(void **state)
{
    (void)state;
    char name[1024];
    memset(name, 'x', sizeof(name) - 1);
    name[3] = '\n';
    name[sizeof(name) - 1] = '\0';
    struct policy_place place = PLACE(name, 8, 8);
    struct degrees degrees = DEGREES_ONE;
    struct policy_verdict got;
    degrees.tp = 16;
    policy_check(&policy_default, &degrees, &place, &got);
    assert_null(strchr(got.text, '\n'));
    assert_non_null(strstr(got.text, "use tp=8 or less"));
}

static void a_node_that_is_not_as_planned(void **state)
{
    (void)state;
    struct policy policy = policy_default;
    struct policy_verdict got;
    policy_check_mismatch(&policy, "", &got);
    assert_int_equal(got.result, POLICY_ALLOWED);
    policy_check_mismatch(&policy, "8 rails are planned and 7 here are up", &got);
    assert_int_equal(got.result, POLICY_WARNED);
    assert_int_equal(got.code, POLICY_NODE_MISMATCH);
    assert_string_equal(got.text,
                        "policy node-mismatch: this node is not as planned: 8 rails are planned "
                        "and 7 here are up; leave it out, or describe it under cluster: in "
                        "parplan.yaml");
    policy.on_mismatch = MISMATCH_DENY;
    policy_check_mismatch(&policy, "4 GPUs are planned and 2 are here", &got);
    assert_int_equal(got.result, POLICY_DENIED);
}

static void codes_are_stable(void **state)
{
    (void)state;
    static const char *const codes[POLICY_CODE_COUNT] = {
        "ok",     "tp-within-node",   "tp-splits-node", "tp-within-nvlink-domain",
        "max-tp", "unknown-topology", "require-plan",   "tp-degraded-node",
        "order",  "node-mismatch",    "spans",          "span-splits-node"};
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
        cmocka_unit_test(split_groups),
        cmocka_unit_test(spans_agree_with_every_rank),
        cmocka_unit_test(spans_and_their_words),
        cmocka_unit_test(spans_of_unknown_nodes),
        cmocka_unit_test(reaches_of_a_finished_map),
        cmocka_unit_test(undeclared_jobs),
        cmocka_unit_test(orders),
        cmocka_unit_test(hostile_names_stay_one_line),
        cmocka_unit_test(a_node_that_is_not_as_planned),
        cmocka_unit_test(codes_are_stable),
    };
    return unit_test_main("workload/policy", tests, COUNT_OF(tests));
}
