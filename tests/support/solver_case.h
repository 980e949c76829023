/* SPDX-License-Identifier: MIT */
/*
 * solver_case: the blocks of a job on a small cluster, weighed by the rule, ready for a search;
 * and the same counted the long way: rank by rank from rank_coordinates_of, and over every way
 * to lay the units.
 */
#ifndef TESTS_SUPPORT_SOLVER_CASE_H
#define TESTS_SUPPORT_SOLVER_CASE_H

#include "mapping/solver/arrangement.h"
#include "mapping/solver/block_order.h"
#include "tests/support/test_cluster.h"

#define SOLVER_CASE_BLOCKS 64u
#define SOLVER_CASE_NAME_BYTES 256u

/* xorshift64*: the same numbers on every run and machine. Below 0: 0. */
unsigned solver_draw(uint64_t *random, unsigned below);

/* Degrees of `most` ranks at most that the order allows, with a shard of dp and an expert grid. */
struct degrees solver_draw_degrees(uint64_t *random, enum rank_order order, uint64_t most);

/* Whether left sends to right, of two ranks: a ring closes from the last to the first. */
bool solver_ranks_talk(const struct degrees *degrees, enum rank_order order,
                       enum group_dimension dimension, enum pair_pattern pattern, uint64_t left,
                       uint64_t right);

struct solver_job {
    struct degrees degrees; /* 0: 1 */
    enum rank_order order;
    enum sharding sharding;
    unsigned ranks; /* of a block */
};

struct solver_case {
    struct cluster_topology *cluster;
    struct fabric_tree *tree;
    struct degrees degrees;
    enum rank_order order;
    unsigned block_ranks, unit_nodes;
    uint64_t world;
    struct block_order blocks;
    struct flow_weights weights;
    struct block_graph *graph; /* of units */
    struct site_map *sites;
    struct arena *arena;
    char name[SOLVER_CASE_NAME_BYTES]; /* for a failure's message */
};

int solver_case_init(struct solver_case *ret, const struct test_cluster *cluster,
                     const struct solver_job *job, struct error_info *err);
void solver_case_done(struct solver_case *sample);

/* Of blocks on cluster nodes, rank by rank, with cluster_distance. */
uint64_t solver_case_cost(const struct solver_case *sample, const unsigned *nodes);
/* Of units on sites: the same. */
uint64_t solver_case_site_cost(const struct solver_case *sample, const unsigned *site_of);
/* The least of all, over every choice of a leaf for each unit; the edges of the graph. */
uint64_t solver_case_optimum(const struct solver_case *sample);
/* A random arrangement, that owns nothing. */
int solver_case_shuffle(const struct solver_case *sample, uint64_t *random, struct arrangement *ret,
                        struct error_info *err);
/* The same, in a test that fails without it. */
struct arrangement solver_case_shuffled(const struct solver_case *sample, uint64_t *random);
/* Every unit on a site of its own, and the arrays say the same. */
bool solver_case_is_sound(const struct arrangement *arrangement);

/* Cases of seven units or fewer: trees of one and two tiers, uneven ones, NVLink domains, nodes
 * of no switch, spare sites; jobs of several kinds in both orders. Those that do not fit are
 * left out. Returns how many there were; -1 without memory. Skips the test in the torture mode. */
typedef void (*solver_case_fn)(const struct solver_case *sample, void *context);
int solver_cases_visit(solver_case_fn visit, void *context, struct error_info *err);

/* Pairs inside a unit cost the same on every site. */
bool solver_case_is_even(const struct solver_case *sample);

DEFINE_CLEANUP_DONE(solver_case);

#endif
