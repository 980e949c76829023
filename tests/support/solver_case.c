/* SPDX-License-Identifier: MIT */
#include "tests/support/solver_case.h"
#include "tests/support/unit_test.h"

#include <stdio.h>

struct member {
    uint64_t group;
    unsigned index;
};

unsigned solver_draw(uint64_t *random, unsigned below)
{
    *random ^= *random >> 12;
    *random ^= *random << 25;
    *random ^= *random >> 27;
    return below > 0 ? (unsigned)((*random * UINT64_C(2685821657736338717)) >> 33) % below : 0;
}

static unsigned draw_divisor(uint64_t *random, unsigned number)
{
    unsigned divisor = 1 + solver_draw(random, number);
    while (number % divisor != 0)
        divisor--;
    return divisor;
}

static struct degrees completed(struct degrees degrees)
{
    unsigned *all[] = {&degrees.tp,  &degrees.cp, &degrees.ep,   &degrees.pp,
                       &degrees.vpp, &degrees.dp, &degrees.shard};
    for (size_t i = 0; i < COUNT_OF(all); i++)
        if (*all[i] == 0)
            *all[i] = 1;
    if (degrees.etp == 0)
        degrees.etp = degrees.ep > 1 ? 1 : degrees.tp;
    degrees.replicate = degrees.dp / degrees.shard;
    return degrees;
}

struct degrees solver_draw_degrees(uint64_t *random, enum rank_order order, uint64_t most)
{
    for (;;) {
        struct degrees degrees = {.tp = 1 + solver_draw(random, 4),
                                  .cp = 1 + solver_draw(random, 4),
                                  .pp = 1 + solver_draw(random, 5),
                                  .dp = 1 + solver_draw(random, 6)};
        unsigned stage = degrees.tp * degrees.cp * degrees.dp;
        degrees.etp = draw_divisor(random, stage);
        degrees.ep = draw_divisor(random, stage / degrees.etp);
        degrees.shard = draw_divisor(random, degrees.dp);
        degrees = completed(degrees);
        if (degrees_world(&degrees) <= most && rank_order_check(order, &degrees, NULL) == 0)
            return degrees;
    }
}

/* --- rank by rank ------------------------------------------------------------------- */

static struct member dense_member(const struct degrees *degrees, const struct rank_coordinates *at,
                                  enum group_dimension dimension)
{
    const uint64_t tp = at->tp, cp = at->cp, pp = at->pp, dp = at->dp, shard = degrees->shard;
    uint64_t stage = pp * degrees->tp + tp, cell = stage * degrees->cp + cp;
    switch (dimension) {
    case GROUP_TP:
        return (struct member){(pp * degrees->dp + dp) * degrees->cp + cp, at->tp};
    case GROUP_CP:
        return (struct member){stage * degrees->dp + dp, at->cp};
    case GROUP_PP:
        return (struct member){(tp * degrees->cp + cp) * degrees->dp + dp, at->pp};
    case GROUP_SHARD:
        return (struct member){cell * degrees->dp + dp / shard, (unsigned)(dp % shard)};
    case GROUP_REPLICATE:
        return (struct member){cell * degrees->dp + dp % shard, (unsigned)(dp / shard)};
    case GROUP_STATES:
        return (struct member){stage, (unsigned)(cp + degrees->cp * dp)};
    case GROUP_STATE_SHARD:
        return (struct member){stage * degrees->dp + dp / shard,
                               (unsigned)(cp + degrees->cp * (dp % shard))};
    default:
        return (struct member){cell, at->dp};
    }
}

static struct member member_of(const struct degrees *degrees, const struct rank_coordinates *at,
                               enum group_dimension dimension)
{
    const uint64_t etp = at->etp, ep = at->ep, edp = at->edp, all = degrees_edp(degrees);
    uint64_t expert = ((uint64_t)at->pp * degrees->ep + ep) * degrees->etp + etp;
    unsigned shard = group_size(degrees, GROUP_EXPERT_SHARD);
    switch (dimension) {
    case GROUP_ETP:
        return (struct member){(at->pp * all + edp) * degrees->ep + ep, at->etp};
    case GROUP_EP:
        return (struct member){(at->pp * all + edp) * degrees->etp + etp, at->ep};
    case GROUP_EDP:
        return (struct member){expert, at->edp};
    case GROUP_EXPERT_SHARD:
        return (struct member){expert * all + edp / shard, at->edp % shard};
    case GROUP_EXPERT_REPLICATE:
        return (struct member){expert * all + edp % shard, at->edp / shard};
    default:
        return dense_member(degrees, at, dimension);
    }
}

bool solver_ranks_talk(const struct degrees *degrees, enum rank_order order,
                       enum group_dimension dimension, enum pair_pattern pattern, uint64_t left,
                       uint64_t right)
{
    struct rank_coordinates from, to;
    rank_coordinates_of(order, degrees, left, &from);
    rank_coordinates_of(order, degrees, right, &to);
    struct member sender = member_of(degrees, &from, dimension);
    struct member receiver = member_of(degrees, &to, dimension);
    unsigned size = group_size(degrees, dimension);
    if (sender.group != receiver.group || size < 2)
        return false;
    if (pattern == PAIRS_ALL)
        return sender.index < receiver.index;
    bool closes = pattern == PAIRS_RING && sender.index + 1 == size && receiver.index == 0;
    return closes || sender.index + 1 == receiver.index;
}

/* --- cases -------------------------------------------------------------------------- */

static int draw_up(struct solver_case *sample, enum sharding sharding, struct error_info *err)
{
    const struct plan plan = {.degrees = sample->degrees, .sharding = sharding};
    struct traffic traffic;
    struct link_seconds seconds;
    traffic_of_rule(&plan, &traffic);
    link_seconds_of_rule(cluster_tier_count(sample->cluster), &seconds);
    flow_weights_of(&traffic, &seconds, &sample->degrees, sample->order, &sample->weights);
    sample->tree =
        fabric_tree_create(sample->cluster, sample->block_ranks, sample->unit_nodes, err);
    sample->sites = sample->tree ? site_map_create(sample->tree, sample->unit_nodes, err) : NULL;
    if (!sample->sites)
        return -1;
    sample->graph = block_graph_create(&sample->weights, sample->world,
                                       sample->block_ranks * sample->unit_nodes, err);
    return sample->graph ? 0 : -1;
}

int solver_case_init(struct solver_case *ret, const struct test_cluster *cluster,
                     const struct solver_job *job, struct error_info *err)
{
    struct solver_case sample = {
        .degrees = completed(job->degrees), .order = job->order, .block_ranks = job->ranks};
    sample.world = degrees_world(&sample.degrees);
    *ret = (struct solver_case){.cluster = NULL};
    if (block_order_of(&sample.degrees, job->order, job->ranks, &sample.blocks, err) < 0)
        return -1;
    sample.unit_nodes = sample.blocks.tp_blocks;
    sample.arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    sample.cluster = sample.arena ? test_cluster_create(cluster, err) : NULL;
    char text[DEGREES_TEXT_BYTES];
    degrees_text(&sample.degrees, text);
    snprintf(sample.name, sizeof(sample.name), "%s shard=%u %s on %s, %zu switches, %zu domains",
             text, sample.degrees.shard, rank_order_name(job->order), cluster->nodes,
             cluster->switch_count, cluster->domain_count);
    int drawn = sample.cluster ? draw_up(&sample, job->sharding, err) : -1;
    if (!sample.arena)
        error_set_memory(err);
    if (drawn < 0) {
        solver_case_done(&sample);
        return -1;
    }
    *ret = sample;
    ret->graph->weights = &ret->weights; /* not the copy's */
    return 0;
}

void solver_case_done(struct solver_case *sample)
{
    block_graph_free(sample->graph);
    site_map_free(sample->sites);
    fabric_tree_free(sample->tree);
    cluster_topology_free(sample->cluster);
    arena_free(sample->arena);
}

static unsigned slot_between(const struct solver_case *sample, unsigned left, unsigned right)
{
    int distance = cluster_distance(sample->cluster, left, right);
    if (left == right || distance == DISTANCE_SAME_NODE)
        return COST_SLOT_NODE;
    return distance == DISTANCE_SAME_NVLINK_DOMAIN ? COST_SLOT_DOMAIN
                                                   : COST_SLOT_TIERS + (unsigned)distance;
}

uint64_t solver_case_cost(const struct solver_case *sample, const unsigned *nodes)
{
    uint64_t cost = 0;
    for (unsigned f = 0; f < sample->weights.flow_count; f++)
        for (uint64_t left = 0; left < sample->world; left++)
            for (uint64_t right = 0; right < sample->world; right++)
                if (solver_ranks_talk(&sample->degrees, sample->order, sample->weights.groups[f],
                                      sample->weights.patterns[f], left, right))
                    cost += sample->weights
                                .weights[f][slot_between(sample, nodes[left / sample->block_ranks],
                                                         nodes[right / sample->block_ranks])];
    return cost;
}

uint64_t solver_case_site_cost(const struct solver_case *sample, const unsigned *site_of)
{
    unsigned nodes[SOLVER_CASE_BLOCKS], wide = sample->unit_nodes;
    for (unsigned block = 0; block < sample->blocks.block_count; block++)
        nodes[block] =
            sample->tree->nodes[sample->sites->positions[site_of[block / wide]] + block % wide];
    return solver_case_cost(sample, nodes);
}

/* --- every way ---------------------------------------------------------------------- */

struct trial {
    const struct solver_case *sample;
    unsigned leaf_of[SOLVER_CASE_BLOCKS], room[SOLVER_CASE_BLOCKS];
    uint64_t least;
};

static uint64_t trial_cost(const struct trial *trial)
{
    const struct block_graph *graph = trial->sample->graph;
    uint64_t twice = 0;
    for (unsigned unit = 0; unit < graph->block_count; unit++)
        for (uint64_t e = graph->first[unit]; e < graph->first[unit + 1]; e++)
            twice +=
                graph->edges[e].pairs * graph->weights->weights[graph->edges[e].flow][site_map_slot(
                                            trial->sample->sites, trial->leaf_of[unit],
                                            trial->leaf_of[graph->edges[e].to])];
    return twice / 2;
}

/* As deep as there are units. */
static void try_unit(struct trial *trial, unsigned unit)
{
    if (unit == trial->sample->graph->block_count) {
        uint64_t cost = trial_cost(trial);
        trial->least = cost < trial->least ? cost : trial->least;
        return;
    }
    for (unsigned leaf = 0; leaf < trial->sample->sites->leaf_count; leaf++) {
        if (trial->room[leaf] == 0)
            continue;
        trial->room[leaf]--;
        trial->leaf_of[unit] = leaf;
        try_unit(trial, unit + 1);
        trial->room[leaf]++;
    }
}

uint64_t solver_case_optimum(const struct solver_case *sample)
{
    struct trial trial = {.sample = sample, .least = UINT64_MAX};
    for (unsigned leaf = 0; leaf < sample->sites->leaf_count; leaf++)
        trial.room[leaf] = sample->sites->counts[leaf];
    try_unit(&trial, 0);
    return trial.least;
}

int solver_case_shuffle(const struct solver_case *sample, uint64_t *random, struct arrangement *ret,
                        struct error_info *err)
{
    unsigned sites[SOLVER_CASE_BLOCKS], count = sample->sites->site_count;
    if (arrangement_init(ret, sample->graph, sample->sites, sample->arena, err) < 0)
        return -1;
    for (unsigned i = 0; i < count; i++)
        sites[i] = i;
    for (unsigned i = count; i-- > 1;) {
        unsigned other = solver_draw(random, i + 1), swap = sites[i];
        sites[i] = sites[other];
        sites[other] = swap;
    }
    arrangement_fill(ret, sites);
    return 0;
}

struct arrangement solver_case_shuffled(const struct solver_case *sample, uint64_t *random)
{
    struct arrangement arrangement;
    struct error_info err = {.kind = ERROR_NONE};
    if (solver_case_shuffle(sample, random, &arrangement, &err) < 0)
        fail_msg("%s: %s", sample->name, err.text);
    return arrangement;
}

bool solver_case_is_sound(const struct arrangement *arrangement)
{
    const struct site_map *sites = arrangement->sites;
    unsigned held = 0;
    for (unsigned site = 0; site < sites->site_count; site++) {
        unsigned unit = arrangement->unit_at[site];
        if (unit == SITE_NONE)
            continue;
        held++;
        if (unit >= arrangement->graph->block_count || arrangement->site_of[unit] != site ||
            arrangement->leaf_of[unit] != sites->leaves[site])
            return false;
    }
    return held == arrangement->graph->block_count;
}

/* --- a choice of cases -------------------------------------------------------------- */

static const struct test_switch two_leaves[] = {
    {"leaf1", "n[1-4]", NULL}, {"leaf2", "n[5-8]", NULL}, {"spine", NULL, "leaf[1-2]"}};
static const struct test_switch uneven_leaves[] = {
    {"leaf1", "n[1-3]", NULL}, {"leaf2", "n[4-8]", NULL}, {"spine", NULL, "leaf[1-2]"}};
static const struct test_switch ragged_leaves[] = {{"leaf1", "n1", NULL},
                                                   {"leaf2", "n[2-4]", NULL},
                                                   {"leaf3", "n[5-6]", NULL},
                                                   {"spine", NULL, "leaf[1-3]"}};
static const struct test_switch two_tiers[] = {
    {"leaf1", "n[1-2]", NULL}, {"leaf2", "n[3-4]", NULL},   {"leaf3", "n[5-6]", NULL},
    {"leaf4", "n[7-8]", NULL}, {"pod1", NULL, "leaf[1-2]"}, {"pod2", NULL, "leaf[3-4]"},
    {"core", NULL, "pod[1-2]"}};
static const struct test_switch uneven_pods[] = {
    {"leaf1", "n[1-3]", NULL}, {"leaf2", "n4", NULL},       {"leaf3", "n[5-6]", NULL},
    {"leaf4", "n7", NULL},     {"pod1", NULL, "leaf[1-3]"}, {"pod2", NULL, "leaf4"},
    {"core", NULL, "pod[1-2]"}};
static const struct test_switch part_known[] = {{"leaf1", "n[1-4]", NULL}};
static const struct test_switch rack_leaves[] = {
    {"leaf1", "n[1-6]", NULL}, {"leaf2", "n[7-9]", NULL}, {"spine", NULL, "leaf[1-2]"}};
static const char *const domains_of_three[] = {"n[1-3]", "n[4-6]", "n[7-9]"};
static const char *const domain_of_two[] = {"n[1-2]"};

#define SWITCHES(list) .switches = (list), .switch_count = COUNT_OF(list)
#define DOMAINS(list) .domains = (list), .domain_count = COUNT_OF(list)

static const struct test_cluster clusters[] = {
    {.nodes = "n[1-8]", .gpus = 4, SWITCHES(two_leaves)},
    {.nodes = "n[1-8]", .gpus = 4, SWITCHES(uneven_leaves)},
    {.nodes = "n[1-6]", .gpus = 4, SWITCHES(ragged_leaves)},
    {.nodes = "n[1-8]", .gpus = 4, SWITCHES(two_tiers)},
    {.nodes = "n[1-7]", .gpus = 4, SWITCHES(uneven_pods)},
    {.nodes = "n[1-7]", .gpus = 4, SWITCHES(part_known)},
    {.nodes = "n[1-9]", .gpus = 4, DOMAINS(domains_of_three)},
    {.nodes = "n[1-9]", .gpus = 4, SWITCHES(rack_leaves), DOMAINS(domains_of_three)},
    {.nodes = "n[1-8]", .gpus = 4, SWITCHES(two_leaves), DOMAINS(domain_of_two)},
    {.nodes = "n[1-6]", .gpus = 4},
};

static const struct {
    struct degrees degrees;
    enum sharding sharding;
} jobs[] = {
    {{.tp = 4, .pp = 3, .dp = 2}, SHARDING_NONE},
    {{.tp = 4, .pp = 2, .dp = 3}, SHARDING_NONE},
    {{.tp = 4, .pp = 7}, SHARDING_NONE},
    {{.tp = 2, .cp = 4, .pp = 3}, SHARDING_NONE},
    {{.tp = 2, .cp = 2, .pp = 2, .dp = 3}, SHARDING_ZERO1},
    {{.tp = 8, .pp = 2, .dp = 2}, SHARDING_NONE},
    {{.tp = 4, .dp = 4, .shard = 2}, SHARDING_HSDP},
    {{.tp = 1, .pp = 3, .dp = 8, .ep = 8, .etp = 1}, SHARDING_NONE},
    {{.tp = 1, .dp = 20, .ep = 5, .etp = 1}, SHARDING_ZERO3},
    {{.tp = 2, .pp = 3, .dp = 4}, SHARDING_NONE},
    {{.tp = 4, .pp = 5}, SHARDING_NONE},
};

static int visit_one(const struct test_cluster *cluster, const struct solver_job *job,
                     solver_case_fn visit, void *context, struct error_info *err)
{
    struct degrees degrees = completed(job->degrees);
    if (rank_order_check(job->order, &degrees, NULL) < 0)
        return 0;
    CLEANUP_DONE(solver_case) struct solver_case sample = {.cluster = NULL};
    if (solver_case_init(&sample, cluster, job, err) < 0)
        return -1;
    if (sample.sites->site_count < sample.graph->block_count)
        return 0;
    visit(&sample, context);
    return 1;
}

int solver_cases_visit(solver_case_fn visit, void *context, struct error_info *err)
{
    int count = 0;
    UNIT_TEST_SKIP_TORTURE();
    for (size_t c = 0; c < COUNT_OF(clusters); c++)
        for (size_t j = 0; j < COUNT_OF(jobs) * RANK_ORDER_COUNT; j++) {
            const struct solver_job job = {.degrees = jobs[j / RANK_ORDER_COUNT].degrees,
                                           .order = (enum rank_order)(j % RANK_ORDER_COUNT),
                                           .sharding = jobs[j / RANK_ORDER_COUNT].sharding,
                                           .ranks = 4};
            int visited = visit_one(&clusters[c], &job, visit, context, err);
            if (visited < 0)
                return -1;
            count += visited;
        }
    return count;
}

bool solver_case_is_even(const struct solver_case *sample)
{
    const struct site_map *sites = sample->sites;
    for (unsigned leaf = 1; sample->unit_nodes > 1 && leaf < sites->leaf_count; leaf++)
        if (site_map_slot(sites, leaf, leaf) != site_map_slot(sites, 0, 0))
            return false;
    return true;
}
