/* SPDX-License-Identifier: MIT */
#include "k8s_extender/placement/planning/gang_neighbours.h"

/* A distance is at most a dozen and a pod has 64 GPUs at most, so that each weighs more than all
 * below it together. */
#define WEIGHT_TP UINT64_C(1000000000000)
#define WEIGHT_CP UINT64_C(100000000)
#define WEIGHT_PP UINT64_C(10000)
#define WEIGHT_DP UINT64_C(1)

struct collection {
    const struct gang_shape *shape;
    uint32_t pod;
    struct gang_neighbour *neighbours;
    size_t count;
};

static void add_pod(struct collection *collection, uint64_t pod, uint64_t weight)
{
    if (pod == collection->pod)
        return;
    for (size_t i = 0; i < collection->count; i++) {
        if (collection->neighbours[i].pod != pod)
            continue;
        collection->neighbours[i].weight += weight;
        return;
    }
    if (collection->count < GANG_NEIGHBOURS_MAXIMUM)
        collection->neighbours[collection->count++] =
            (struct gang_neighbour){(uint32_t)pod, weight};
}

/* The pod of other coordinates. */
static void add_rank(struct collection *collection, const struct rank_coordinates *at,
                     uint64_t weight)
{
    const struct gang_shape *shape = collection->shape;
    uint64_t rank = rank_of(shape->order, &shape->degrees, at->tp, at->cp, at->dp, at->pp);
    add_pod(collection, rank / shape->gpus_per_pod, weight);
}

static void add_context(struct collection *collection, struct rank_coordinates at, unsigned size)
{
    unsigned own = at.cp;
    for (unsigned step = 1; size > 1 && step<size; step += size> 2 ? size - 2 : 1) {
        at.cp = (own + step) % size;
        add_rank(collection, &at, WEIGHT_CP);
    }
}

static void add_replicas(struct collection *collection, struct rank_coordinates at, unsigned size)
{
    unsigned own = at.dp;
    for (unsigned step = 1; size > 1 && step<size; step += size> 2 ? size - 2 : 1) {
        at.dp = (own + step) % size;
        add_rank(collection, &at, WEIGHT_DP);
    }
}

static void add_chain(struct collection *collection, struct rank_coordinates at, unsigned size)
{
    unsigned own = at.pp;
    if (own > 0) {
        at.pp = own - 1;
        add_rank(collection, &at, WEIGHT_PP);
    }
    if (own + 1 < size) {
        at.pp = own + 1;
        add_rank(collection, &at, WEIGHT_PP);
    }
}

/* Other pods of a group, outward from this one: of a wide group the nearest find a place. */
static void add_nearest(struct collection *collection, uint64_t first, uint64_t last,
                        uint64_t weight)
{
    uint64_t pod = collection->pod;
    for (uint64_t step = 1; step <= last - first; step++) {
        if (pod >= first + step)
            add_pod(collection, pod - step, weight);
        if (pod + step <= last)
            add_pod(collection, pod + step, weight);
    }
}

/* Experts of one group are etp * ep neighbouring ranks of a stage (rank_order.h); each rank of this
 * pod weighs. */
static void add_experts(struct collection *collection)
{
    const struct degrees *degrees = &collection->shape->degrees;
    uint64_t width = (uint64_t)degrees->etp * degrees->ep, gpus = collection->shape->gpus_per_pod;
    uint64_t rank = collection->pod * gpus, end = rank + gpus;
    while (degrees->ep > 1 && rank < end) {
        uint64_t first = rank / width * width, next = first + width;
        uint64_t own = (next < end ? next : end) - rank;
        add_nearest(collection, first / gpus, (next - 1) / gpus, own * WEIGHT_CP);
        rank = next;
    }
}

uint32_t gang_shape_group(const struct gang_shape *shape)
{
    return shape->has_degrees && shape->degrees.tp > shape->gpus_per_pod
               ? shape->degrees.tp / shape->gpus_per_pod
               : 1;
}

static void add_group(struct collection *collection)
{
    uint32_t group = gang_shape_group(collection->shape);
    uint32_t first = collection->pod / group * group;
    add_nearest(collection, first, first + group - 1, WEIGHT_TP);
}

static void add_ranks(struct collection *collection)
{
    const struct gang_shape *shape = collection->shape;
    uint64_t first = (uint64_t)collection->pod * shape->gpus_per_pod;
    for (uint64_t rank = first; rank < first + shape->gpus_per_pod; rank++) {
        struct rank_coordinates at;
        rank_coordinates_of(shape->order, &shape->degrees, rank, &at);
        add_context(collection, at, shape->degrees.cp);
        add_chain(collection, at, shape->degrees.pp);
        add_replicas(collection, at, shape->degrees.dp);
    }
}

size_t gang_neighbours_of(const struct gang_shape *shape, uint32_t pod,
                          struct gang_neighbour ret[GANG_NEIGHBOURS_MAXIMUM])
{
    struct collection collection = {.shape = shape, .pod = pod, .neighbours = ret};
    if (shape->has_degrees) {
        /* Two of each first: the groups take what room is left. */
        add_ranks(&collection);
        add_group(&collection);
        add_experts(&collection);
        return collection.count;
    }
    if (pod > 0)
        add_pod(&collection, pod - 1, WEIGHT_PP);
    if (pod + 1 < shape->pods)
        add_pod(&collection, pod + 1, WEIGHT_PP);
    return collection.count;
}
