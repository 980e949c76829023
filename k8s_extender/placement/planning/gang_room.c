/* SPDX-License-Identifier: MIT */
#include "k8s_extender/placement/planning/gang_room.h"
#include <stdlib.h>
#include <string.h>

#define ROOM_ARENA_MAXIMUM_BYTES ((size_t)64 << 20)
#define NO_POOL GANG_POOLS_MAXIMUM

/* What a kind of node is to a gang. */
struct kind_class {
    unsigned pool; /* NO_POOL: too few GPUs */
    bool sound;
};

/* Nodes of one GPU model, while they are counted. */
struct model_count {
    const char *gpu;
    uint64_t sound, places;
    unsigned number; /* in order of first appearance */
};

struct counting {
    const struct gang_problem *problem;
    struct kind_class *kinds;
    struct model_count models[GANG_POOLS_MAXIMUM];
    unsigned model_count;
};

static bool same_model(const char *left, const char *right)
{
    return left == right || (left && right && strcmp(left, right) == 0);
}

/* Beyond the maximum everything counts as the last model. */
static unsigned find_model(struct counting *counting, const char *gpu)
{
    for (unsigned i = 0; i < counting->model_count; i++)
        if (same_model(counting->models[i].gpu, gpu))
            return i;
    if (counting->model_count == GANG_POOLS_MAXIMUM)
        return GANG_POOLS_MAXIMUM - 1;
    counting->models[counting->model_count] =
        (struct model_count){.gpu = gpu, .number = counting->model_count};
    return counting->model_count++;
}

static void classify_kinds(struct counting *counting)
{
    const struct cluster_topology *cluster = counting->problem->view->cluster;
    for (size_t i = 0; i < cluster->kind_count; i++) {
        const struct node_topology *kind = cluster->kinds[i];
        struct node_fault fault;
        counting->kinds[i] = (struct kind_class){.pool = NO_POOL};
        if (kind->gpu_count < counting->problem->gpus_per_pod || kind->gpu_count == 0)
            continue;
        counting->kinds[i].pool = find_model(counting, kind->gpus[0].model);
        counting->kinds[i].sound = !node_topology_find_fault(kind, &fault);
    }
}

static uint32_t places_of(const struct gang_problem *problem,
                          const struct gang_candidate *candidate)
{
    return candidate->slots < problem->pods ? candidate->slots : problem->pods;
}

static const struct kind_class *class_of(const struct counting *counting,
                                         const struct gang_candidate *candidate)
{
    return &counting->kinds[counting->problem->view->cluster->nodes[candidate->node].kind];
}

static void count_candidates(struct counting *counting, struct gang_room *room)
{
    const struct gang_problem *problem = counting->problem;
    for (size_t i = 0; i < problem->candidate_count; i++) {
        const struct kind_class *kind = class_of(counting, &problem->candidates[i]);
        uint32_t places = places_of(problem, &problem->candidates[i]);
        if (kind->pool == NO_POOL)
            continue;
        counting->models[kind->pool].places += places;
        counting->models[kind->pool].sound += kind->sound ? places : 0;
        room->places += places;
        room->nodes++;
        room->shared = room->shared || places > 1;
    }
}

static int compare_models(const void *left, const void *right)
{
    const struct model_count *l = left, *r = right;
    if (l->places != r->places)
        return l->places > r->places ? -1 : 1;
    return l->number < r->number ? -1 : 1;
}

/* pool NO_POOL: of every model. */
static int fill_pool(const struct counting *counting, unsigned pool, bool sound_only,
                     struct gang_room *room, struct error_info *err)
{
    const struct gang_problem *problem = counting->problem;
    struct gang_pool *ret = &room->pools[room->pool_count++];
    struct gang_candidate *own =
        arena_allocate_array(room->arena, problem->candidate_count, sizeof(*own));
    if (!own)
        return error_set_memory(err);
    for (size_t i = 0; i < problem->candidate_count; i++) {
        const struct kind_class *kind = class_of(counting, &problem->candidates[i]);
        if (kind->pool == NO_POOL || (pool != NO_POOL && kind->pool != pool) ||
            (sound_only && !kind->sound))
            continue;
        own[ret->count++] = problem->candidates[i];
        ret->places += places_of(problem, &problem->candidates[i]);
    }
    ret->candidates = own;
    return 0;
}

static int fill_pools(struct counting *counting, uint64_t wanted, struct gang_room *room,
                      struct error_info *err)
{
    struct model_count sorted[GANG_POOLS_MAXIMUM];
    uint64_t sound = 0;
    memcpy(sorted, counting->models, sizeof(sorted));
    qsort(sorted, counting->model_count, sizeof(*sorted), compare_models);
    for (unsigned i = 0; i < counting->model_count && sorted[i].places >= wanted; i++) {
        if (fill_pool(counting, sorted[i].number, sorted[i].sound >= wanted, room, err) < 0)
            return -1;
        room->pools[room->pool_count - 1].gpu = sorted[i].gpu;
    }
    for (unsigned i = 0; i < counting->model_count; i++)
        sound += sorted[i].sound;
    if (room->pool_count > 0 || room->places < wanted)
        return 0;
    return fill_pool(counting, NO_POOL, sound >= wanted, room, err);
}

/* --- domains ------------------------------------------------------------------------ */

struct domain_count {
    uint32_t domain, nodes;
    uint64_t places;
};

static int compare_domains(const void *left, const void *right)
{
    const struct domain_count *l = left, *r = right;
    if (l->places != r->places)
        return l->places > r->places ? -1 : 1;
    return l->domain < r->domain ? -1 : l->domain > r->domain;
}

/* The places of the smallest domain that is needed; 0: domains do not matter. Sorts. */
static uint64_t needed_domain(struct domain_count *domains, size_t count, uint64_t wanted)
{
    uint64_t sum = 0;
    bool wide = false;
    qsort(domains, count, sizeof(*domains), compare_domains);
    for (size_t i = 0; i < count; i++)
        wide = wide || domains[i].nodes > 1;
    for (size_t i = 0; i < count && wide; i++) {
        sum += domains[i].places;
        if (sum >= wanted)
            return domains[i].places;
    }
    return 0;
}

static uint32_t domain_of(const struct gang_problem *problem,
                          const struct gang_candidate *candidate)
{
    return problem->view->cluster->nodes[candidate->node].nvlink_block;
}

static uint32_t domain_limit(const struct gang_problem *problem, const struct gang_pool *pool)
{
    uint32_t limit = 0;
    for (size_t i = 0; i < pool->count; i++)
        if (domain_of(problem, &pool->candidates[i]) >= limit)
            limit = domain_of(problem, &pool->candidates[i]) + 1;
    return limit;
}

static int keep_large_domains(const struct gang_problem *problem, uint64_t wanted,
                              struct gang_pool *pool, struct error_info *err)
{
    struct gang_candidate *candidates = (struct gang_candidate *)pool->candidates; /* the room's */
    uint32_t limit = domain_limit(problem, pool);
    CLEANUP_MEMORY struct domain_count *sorted = memory_allocate_array(limit, sizeof(*sorted));
    CLEANUP_MEMORY uint64_t *places = memory_allocate_array(limit, sizeof(*places));
    if (!sorted || !places)
        return error_set_memory(err);
    for (size_t i = 0; i < pool->count; i++) {
        uint32_t domain = domain_of(problem, &candidates[i]);
        sorted[domain].domain = domain;
        sorted[domain].nodes++;
        sorted[domain].places += places_of(problem, &candidates[i]);
        places[domain] = sorted[domain].places;
    }
    uint64_t least = needed_domain(sorted, limit, wanted);
    size_t kept = 0;
    pool->places = 0;
    for (size_t i = 0; i < pool->count; i++) {
        if (places[domain_of(problem, &candidates[i])] < least)
            continue;
        pool->places += places_of(problem, &candidates[i]);
        candidates[kept++] = candidates[i];
    }
    pool->count = kept;
    return 0;
}

static int sift_pools(const struct gang_problem *problem, uint64_t wanted, struct gang_room *room,
                      struct error_info *err)
{
    for (size_t i = 0; i < room->pool_count; i++)
        if (keep_large_domains(problem, wanted, &room->pools[i], err) < 0)
            return -1;
    return 0;
}

/* --- the whole ---------------------------------------------------------------------- */

int gang_room_find(const struct gang_problem *problem, uint64_t wanted, bool by_domain,
                   struct gang_room *ret, struct error_info *err)
{
    struct gang_room room = {.pool_count = 0};
    const struct cluster_topology *cluster = problem->view->cluster;
    struct counting counting = {.problem = problem};
    if (!cluster) {
        *ret = room;
        return 0;
    }
    room.arena = arena_create(ROOM_ARENA_MAXIMUM_BYTES);
    CLEANUP_MEMORY struct kind_class *kinds =
        memory_allocate_array(cluster->kind_count, sizeof(*kinds));
    if (!room.arena || !kinds) {
        gang_room_done(&room);
        return error_set_memory(err);
    }
    counting.kinds = kinds;
    classify_kinds(&counting);
    count_candidates(&counting, &room);
    if (fill_pools(&counting, wanted, &room, err) < 0 ||
        (by_domain && sift_pools(problem, wanted, &room, err) < 0)) {
        gang_room_done(&room);
        return -1;
    }
    *ret = room;
    return 0;
}

void gang_room_done(struct gang_room *room)
{
    arena_free(room->arena);
    *room = (struct gang_room){.pool_count = 0};
}
