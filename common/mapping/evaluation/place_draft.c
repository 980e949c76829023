/* SPDX-License-Identifier: MIT */
#include "mapping/evaluation/place_draft.h"
#include "base/arena.h"
#include "base/name_index.h"
#include <stdio.h>
#include <string.h>

struct place_draft {
    struct arena *arena;
    const struct cluster_topology *cluster;
    const char *source;
    enum place_unit unit;
    struct name_index *names;
    struct rank_places *places;
    unsigned *lines;     /* rank -> the line that placed it */
    unsigned *ranks_on;  /* node -> ranks so far */
    uint64_t *first_gpu; /* node -> its first entry in holders */
    uint64_t *holders;   /* GPU of the cluster -> rank + 1, 0: free */
    uint64_t placed;
};

static unsigned gpus_of(const struct place_draft *draft, unsigned node)
{
    return draft->cluster->kinds[draft->cluster->nodes[node].kind]->gpu_count;
}

static int index_nodes(struct place_draft *draft)
{
    const struct cluster_topology *cluster = draft->cluster;
    uint64_t gpus = 0;
    draft->names = name_index_create();
    draft->first_gpu =
        arena_allocate_array(draft->arena, cluster->node_count, sizeof(*draft->first_gpu));
    if (!draft->names || !draft->first_gpu)
        return -1;
    for (unsigned node = 0; node < cluster->node_count; node++) {
        draft->first_gpu[node] = gpus;
        gpus += gpus_of(draft, node);
        if (name_index_add(draft->names, cluster->nodes[node].name, node) < 0)
            return -1;
    }
    draft->holders = arena_allocate_array(draft->arena, (size_t)gpus, sizeof(*draft->holders));
    return draft->holders ? 0 : -1;
}

static int fill_draft(struct place_draft *draft, uint64_t world)
{
    draft->places = rank_places_create(world);
    draft->lines = arena_allocate_array(draft->arena, (size_t)world, sizeof(*draft->lines));
    draft->ranks_on =
        arena_allocate_array(draft->arena, draft->cluster->node_count, sizeof(*draft->ranks_on));
    if (!draft->places || !draft->lines || !draft->ranks_on)
        return -1;
    return index_nodes(draft);
}

struct place_draft *place_draft_create(const struct cluster_topology *cluster, uint64_t world,
                                       const char *source, enum place_unit unit,
                                       struct error_info *err)
{
    struct arena *arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    CLEANUP(place_draft)
    struct place_draft *draft = arena ? arena_allocate(arena, sizeof(*draft)) : NULL;
    if (!draft) {
        arena_free(arena);
        return error_null(error_set_memory(err));
    }
    *draft =
        (struct place_draft){.arena = arena, .cluster = cluster, .source = source, .unit = unit};
    if (fill_draft(draft, world) < 0)
        return error_null(error_set_memory(err));
    return move_pointer(draft);
}

void place_draft_free(struct place_draft *draft)
{
    if (!draft)
        return;
    rank_places_free(draft->places);
    name_index_free(draft->names);
    arena_free(draft->arena);
}

/* Programs print their host's name with or without its domain. */
static size_t find_node(const struct place_draft *draft, const char *name)
{
    char host[NODE_LIST_NAME_BYTES];
    size_t node = name_index_find(draft->names, name), bytes = strcspn(name, ".");
    if (node != NAME_INDEX_NONE || name[bytes] == '\0' || bytes >= sizeof(host))
        return node;
    memcpy(host, name, bytes);
    host[bytes] = '\0';
    return name_index_find(draft->names, host);
}

static int check_rank(const struct place_draft *draft, uint64_t rank, struct error_info *err)
{
    uint64_t world = draft->places->world;
    if (rank >= world)
        return error_set(err,
                         "rank %llu, but the plan has ranks 0 to %llu; plan for as many GPUs as "
                         "the mapping has ranks (--nodes, --plan)",
                         (unsigned long long)rank, (unsigned long long)world - 1);
    if (draft->places->nodes[rank] == RANK_PLACE_NONE)
        return 0;
    return error_set(err, "rank %llu stands twice, first in %s %u; keep one",
                     (unsigned long long)rank, draft->unit == PLACE_LINES ? "line" : "item",
                     draft->lines[rank]);
}

static int check_room(const struct place_draft *draft, unsigned node, struct error_info *err)
{
    unsigned gpus = gpus_of(draft, node);
    if (draft->ranks_on[node] < gpus)
        return 0;
    return error_set(err, "%s gets %u ranks, but has %u GPU%s; put some on other nodes",
                     draft->cluster->nodes[node].name, draft->ranks_on[node] + 1, gpus,
                     gpus == 1 ? "" : "s");
}

static int take_gpu(struct place_draft *draft, uint64_t rank, unsigned node, unsigned gpu,
                    struct error_info *err)
{
    const char *name = draft->cluster->nodes[node].name;
    unsigned gpus = gpus_of(draft, node);
    if (draft->placed > 0 && draft->places->gpus_told != (gpu != RANK_PLACE_NONE))
        return error_set(err, "the GPU is told for some ranks only; give it for all or for none");
    draft->places->gpus_told = gpu != RANK_PLACE_NONE;
    if (gpu == RANK_PLACE_NONE)
        return 0;
    if (gpu >= gpus)
        return error_set(err, "GPU %u of %s does not exist, it has %u; use 0 to %u", gpu, name,
                         gpus, gpus - 1);
    uint64_t *holder = &draft->holders[draft->first_gpu[node] + gpu];
    if (*holder > 0)
        return error_set(err, "GPU %u of %s holds rank %llu already; give each rank its own", gpu,
                         name, (unsigned long long)*holder - 1);
    *holder = rank + 1;
    return 0;
}

static int put(struct place_draft *draft, unsigned at, uint64_t rank, const char *name,
               unsigned gpu, struct error_info *err)
{
    if (check_rank(draft, rank, err) < 0)
        return -1;
    size_t found = find_node(draft, name);
    if (found == NAME_INDEX_NONE)
        return error_set(err,
                         "node '%.60s' is not in %s; name a cluster that has every node of the "
                         "mapping (--cluster, --nodes; the key spare keeps the rest free)",
                         name, draft->cluster->name);
    unsigned node = (unsigned)found;
    if (check_room(draft, node, err) < 0 || take_gpu(draft, rank, node, gpu, err) < 0)
        return -1;
    draft->places->nodes[rank] = node;
    draft->places->gpus[rank] = gpu;
    draft->ranks_on[node]++;
    draft->lines[rank] = at;
    draft->placed++;
    return 0;
}

int place_draft_put(struct place_draft *draft, unsigned at, uint64_t rank, const char *node,
                    unsigned gpu, struct error_info *err)
{
    if (put(draft, at, rank, node, gpu, err) == 0)
        return 0;
    return draft->unit == PLACE_LINES ? error_prefix(err, "%s:%u", draft->source, at)
                                      : error_prefix(err, "%s: ranks[%u]", draft->source, at);
}

int place_draft_wrong_count(const struct place_draft *draft, uint64_t ranks, struct error_info *err)
{
    return error_set(err,
                     "%s: %llu rank%s, but the plan has %llu; give a place for each rank of the "
                     "plan, or plan for as many GPUs (--nodes, --plan)",
                     draft->source, (unsigned long long)ranks, ranks == 1 ? "" : "s",
                     (unsigned long long)draft->places->world);
}

struct rank_places *place_draft_finish(struct place_draft *draft, struct error_info *err)
{
    struct rank_places *places = draft->places;
    uint64_t rank = 0;
    while (rank < places->world && places->nodes[rank] != RANK_PLACE_NONE)
        rank++;
    if (rank < places->world)
        return error_null(error_set(
            err, "%s: rank %llu is missing, %llu of %llu ranks have a place; add the rest",
            draft->source, (unsigned long long)rank, (unsigned long long)draft->placed,
            (unsigned long long)places->world));
    if (!places->gpus_told && rank_places_number_gpus(places, draft->cluster->node_count) < 0)
        return error_null(error_set_memory(err));
    return move_pointer(draft->places);
}
