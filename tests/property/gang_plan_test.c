/* SPDX-License-Identifier: MIT */
/* Random clusters, gangs and losses: every pod of a plan has a node with room, no node holds more
 * than it has places, TP groups are not split against policy, the same problem gives the same
 * bytes, the plan comes back from its text, other names of the nodes do not change what it costs,
 * and a replan moves nothing that is fixed. PARPLAN_CASES sets how many. */
#include "mapping/mapping_cost.h"
#include "tests/support/gang_fixture.h"
#include "tests/support/test_cluster.h"
#include "tests/support/unit_test.h"

#include <stdio.h>
#include <string.h>

#define ROUNDS 300u
#define NODES_MAXIMUM 64u

static uint64_t random_state = 20251130;

/* Knuth's MMIX generator: the same cases on every run and machine. */
static unsigned draw(unsigned below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return below > 0 ? (unsigned)(random_state >> 33) % below : 0;
}

static unsigned divisor_of(unsigned number)
{
    unsigned divisor = 1 + draw(number);
    while (number % divisor != 0)
        divisor--;
    return divisor;
}

/* How often each property was put to the test. */
static unsigned planned, renamings, shared_nodes, wide_groups, replans, groups_without_spare;

struct sample {
    unsigned leaves[NODES_MAXIMUM], domains[NODES_MAXIMUM], slots[NODES_MAXIMUM];
    unsigned node_count, leaf_count, leaves_per_spine, domain_count, gpus;
    uint32_t pods, gpus_per_pod;
    unsigned tp, pp;
    bool wide_allowed, has_degrees;
};

/* Racks of a few neighbouring nodes inside a leaf. */
static void draw_domains(struct sample *ret)
{
    unsigned rack = draw(3) ? 2 + draw(7) : 0;
    ret->domain_count = 0;
    for (unsigned i = 0, inside = 0; rack > 0 && i < ret->node_count; i++) {
        bool fresh = i == 0 || ret->leaves[i] != ret->leaves[i - 1] || inside == rack;
        inside = fresh ? 1 : inside + 1;
        ret->domain_count += fresh;
        ret->domains[i] = ret->domain_count - 1;
    }
}

static void draw_sample(struct sample *ret)
{
    uint64_t places = 0;
    *ret = (struct sample){.leaf_count = 1 + draw(7), .gpus = 1u << draw(4)};
    ret->leaves_per_spine = draw(2) ? 0 : 1 + draw(3);
    for (unsigned leaf = 0; leaf < ret->leaf_count; leaf++)
        for (unsigned nodes = 1 + draw(8); nodes > 0; nodes--)
            ret->leaves[ret->node_count++] = leaf;
    draw_domains(ret);
    ret->gpus_per_pod = draw(3) ? ret->gpus : divisor_of(ret->gpus);
    for (unsigned i = 0; i < ret->node_count; i++) {
        ret->slots[i] = draw(4) ? 1 + draw(ret->gpus / ret->gpus_per_pod) : 0;
        places += ret->slots[i];
    }
    ret->pods = 1 + draw((unsigned)(places + places / 8));
    unsigned world = ret->pods * ret->gpus_per_pod;
    ret->tp = draw(2) ? divisor_of(ret->gpus_per_pod) : ret->gpus_per_pod * divisor_of(ret->pods);
    ret->pp = divisor_of(world / ret->tp);
    ret->wide_allowed = draw(4);
    ret->has_degrees = draw(8);
}

/* names[i]: the number in node i's name. */
static struct cluster_topology *create_cluster(const struct sample *sample, const unsigned *numbers)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(node_list) struct node_list *names = node_list_create(&err);
    for (unsigned i = 0; i < sample->node_count; i++) {
        char name[32];
        snprintf(name, sizeof(name), "n%u", numbers ? numbers[i] : i);
        assert_int_equal(node_list_add(names, name, &err), 0);
    }
    const struct test_grid grid = {.names = names,
                                   .leaves = sample->leaves,
                                   .leaf_count = sample->leaf_count,
                                   .leaves_per_pod = sample->leaves_per_spine,
                                   .domains = sample->domain_count ? sample->domains : NULL,
                                   .domain_count = sample->domain_count,
                                   .gpus = sample->gpus};
    struct cluster_topology *cluster = test_grid_create(&grid, &err);
    if (!cluster)
        fail_msg("%s", err.text);
    return cluster;
}

/* The catalogues of `base`, and the sample's cluster and gang. */
struct gang_case {
    struct gang_candidate candidates[NODES_MAXIMUM];
    struct cluster_view view;
    struct label labels[2];
    char tp[16], pp[16];
    uint32_t fixed[NODES_MAXIMUM * 8];
    struct gang_problem problem;
};

static void fill_case(const struct sample *sample, struct cluster_topology *cluster,
                      struct gang_case *ret)
{
    size_t count = 0;
    for (uint32_t i = 0; i < sample->node_count; i++)
        if (sample->slots[i] > 0)
            ret->candidates[count++] = (struct gang_candidate){i, sample->slots[i]};
    snprintf(ret->tp, sizeof(ret->tp), "%u", sample->tp);
    snprintf(ret->pp, sizeof(ret->pp), "%u", sample->pp);
    ret->labels[0] = (struct label){"parplan.io/pp", ret->pp};
    ret->labels[1] = (struct label){"parplan.io/tp", ret->tp};
    ret->view = (struct cluster_view){.cluster = cluster};
    ret->problem = (struct gang_problem){.key = "a/b",
                                         .namespace = "a",
                                         .pods = sample->pods,
                                         .gpus_per_pod = sample->gpus_per_pod,
                                         .view = &ret->view,
                                         .candidates = ret->candidates,
                                         .candidate_count = count,
                                         .inputs = {ret->labels, sample->has_degrees ? 2 : 0}};
}

static uint32_t node_of(const struct cluster_topology *cluster, const char *name)
{
    for (uint32_t i = 0; i < cluster->node_count; i++)
        if (strcmp(cluster->nodes[i].name, name) == 0)
            return i;
    return VIEW_NODE_NONE;
}

static void check_room(const struct gang_case *given, const struct gang_plan *plan)
{
    uint32_t used[NODES_MAXIMUM] = {0};
    for (uint32_t pod = 0; pod < plan->pods; pod++) {
        uint32_t node = node_of(given->view.cluster, plan->nodes[pod]);
        assert_int_not_equal(node, VIEW_NODE_NONE);
        used[node]++;
    }
    for (size_t i = 0; i < given->problem.candidate_count; i++) {
        const struct gang_candidate *candidate = &given->candidates[i];
        assert_true(used[candidate->node] <= candidate->slots);
        shared_nodes += used[candidate->node] > 1;
        used[candidate->node] = 0;
    }
    for (uint32_t node = 0; node < NODES_MAXIMUM; node++)
        assert_int_equal(used[node], 0); /* nothing outside of the candidates */
}

/* Groups of several pods lie in one NVLink domain, or on one node. */
static void check_groups(const struct gang_case *given, const struct gang_plan *plan)
{
    uint32_t group = gang_plan_group_pods(plan);
    for (uint32_t pod = 0; pod < plan->pods; pod++) {
        uint32_t first = node_of(given->view.cluster, plan->nodes[pod / group * group]);
        uint32_t node = node_of(given->view.cluster, plan->nodes[pod]);
        assert_true(cluster_distance(given->view.cluster, first, node) < 0);
    }
    wide_groups += group > 1;
}

static void check_text(const struct gang_plan *plan)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, GANG_PLAN_TEXT_MAXIMUM);
    assert_int_equal(gang_plan_encode(plan, &text), 0);
    CLEANUP(gang_plan)
    struct gang_plan *back = gang_plan_decode(text.text, text.length, "a/b", &err);
    assert_non_null(back);
    assert_string_equal(back->id, plan->id);
    for (uint32_t pod = 0; pod < plan->pods; pod++)
        assert_string_equal(back->nodes[pod], plan->nodes[pod]);
}

/* By the rule that maps without a model are made by. */
static double cost_of(const struct gang_case *given, const struct gang_plan *plan)
{
    const struct plan degrees = {.degrees = plan->degrees, .order = plan->order};
    const struct cluster_topology *cluster = given->view.cluster;
    unsigned nodes[NODES_MAXIMUM];
    struct traffic traffic;
    struct link_seconds seconds;
    struct mapping_cost cost;
    for (uint32_t pod = 0; pod < plan->pods; pod++)
        nodes[pod] = node_of(cluster, plan->nodes[pod]);
    const struct rank_map map = {.cluster = cluster,
                                 .degrees = plan->degrees,
                                 .order = plan->order,
                                 .world = (uint64_t)plan->pods * plan->gpus_per_pod,
                                 .gpus_per_node = plan->gpus_per_pod,
                                 .block_count = plan->pods,
                                 .block_nodes = nodes};
    traffic_of_rule(&degrees, &traffic);
    link_seconds_of_rule(cluster_tier_count(cluster), &seconds);
    mapping_cost_compute(&map, &traffic, &seconds, &cost);
    return cost.exposed_seconds;
}

/* Then the cluster that is mapped on is the candidates' own. */
static bool has_single_places(const struct sample *sample)
{
    for (unsigned i = 0; i < sample->node_count; i++)
        if (sample->slots[i] > 1)
            return false;
    return true;
}

static struct gang_plan *make_plan(const struct gang_fixture *base, const struct sample *sample,
                                   const struct gang_case *given)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct gang_plan_sources sources = base->sources;
    struct admin_config config = *base->config;
    config.policy.tp_within = sample->wide_allowed ? TP_WITHIN_NVLINK_DOMAIN : TP_WITHIN_NODE;
    sources.config = &config;
    struct gang_plan *plan = gang_plan_create(&given->problem, &sources, &err);
    if (!plan)
        fail_msg("%s", err.text);
    return plan;
}

/* The same cluster under other names. */
static void check_names(const struct gang_fixture *base, const struct sample *sample,
                        const struct gang_case *given, const struct gang_plan *plan)
{
    unsigned numbers[NODES_MAXIMUM];
    struct gang_case renamed;
    for (unsigned i = 0; i < sample->node_count; i++)
        numbers[i] = i;
    for (unsigned i = sample->node_count - 1; i > 0; i--) {
        unsigned other = draw(i + 1), swap = numbers[i];
        numbers[i] = numbers[other];
        numbers[other] = swap;
    }
    CLEANUP(cluster_topology) struct cluster_topology *cluster = create_cluster(sample, numbers);
    fill_case(sample, cluster, &renamed);
    CLEANUP(gang_plan) struct gang_plan *other = make_plan(base, sample, &renamed);
    assert_int_equal(other->outcome, plan->outcome);
    if (!sample->has_degrees || plan->outcome != GANG_PLANNED || !has_single_places(sample))
        return;
    double cost = cost_of(given, plan), renamed_cost = cost_of(&renamed, other);
    if (renamed_cost > cost * (1 + 1e-9) || cost > renamed_cost * (1 + 1e-9))
        fail_msg("cost %.17g under other names, %.17g before", renamed_cost, cost);
    renamings++;
}

/* Some pods lose their nodes; places stay as they are. */
static void check_replan(const struct gang_fixture *base, const struct sample *sample,
                         struct gang_case *given, const struct gang_plan *plan)
{
    unsigned lost = 1 + draw(plan->pods);
    for (uint32_t pod = 0; pod < plan->pods; pod++)
        given->fixed[pod] = node_of(given->view.cluster, plan->nodes[pod]);
    for (; lost > 0; lost--)
        given->fixed[draw(plan->pods)] = VIEW_NODE_NONE;
    given->problem.fixed = given->fixed;
    given->problem.has_degrees = plan->has_degrees;
    given->problem.degrees = plan->degrees;
    given->problem.order = plan->order;
    CLEANUP(gang_plan) struct gang_plan *again = make_plan(base, sample, given);
    if (again->outcome != GANG_PLANNED) { /* whole groups may have taken each other's domains */
        assert_int_equal(again->outcome, GANG_NO_FIT);
        assert_true(again->no_spare && gang_plan_group_pods(plan) > 1);
        groups_without_spare++;
        return;
    }
    check_room(given, again);
    check_groups(given, again);
    check_text(again);
    for (uint32_t pod = 0; pod < plan->pods; pod++)
        if (given->fixed[pod] != VIEW_NODE_NONE)
            assert_string_equal(again->nodes[pod], plan->nodes[pod]);
    replans++;
}

static void check_sample(const struct gang_fixture *base, const struct sample *sample)
{
    struct gang_case given;
    CLEANUP(cluster_topology) struct cluster_topology *cluster = create_cluster(sample, NULL);
    fill_case(sample, cluster, &given);
    CLEANUP(gang_plan) struct gang_plan *plan = make_plan(base, sample, &given);
    CLEANUP(gang_plan) struct gang_plan *same = make_plan(base, sample, &given);
    assert_int_equal(plan->outcome, same->outcome);
    assert_string_equal(plan->reason, same->reason);
    assert_string_equal(plan->id, same->id);
    check_names(base, sample, &given, plan);
    if (plan->outcome != GANG_PLANNED) {
        assert_int_not_equal(plan->reason[0], '\0');
        return;
    }
    planned++;
    check_room(&given, plan);
    check_groups(&given, plan);
    check_text(plan);
    check_replan(base, sample, &given, plan);
}

static void plans_keep_their_promises(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(gang_fixture) struct gang_fixture base;
    unsigned rounds = unit_test_cases(ROUNDS);
    if (unit_test_is_tortured())
        rounds = 1;
    assert_int_equal(gang_fixture_init(&base, "dgx-h100:1", NULL, 1, 8, &err), 0);
    for (unsigned round = 0; round < rounds; round++) {
        struct sample sample;
        draw_sample(&sample);
        check_sample(&base, &sample);
    }
    printf("%u planned, %u renamed, %u nodes shared, %u with wide groups, %u replanned, %u without "
           "spare\n",
           planned, renamings, shared_nodes, wide_groups, replans, groups_without_spare);
    if (rounds < ROUNDS)
        return;
    assert_true(planned > rounds / 2 && renamings > 0 && shared_nodes > 0);
    assert_true(wide_groups > 0 && replans > 0);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(plans_keep_their_promises)};

int main(void) { return unit_test_main("property/gang_plan", tests, COUNT_OF(tests)); }
