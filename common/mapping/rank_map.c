/* SPDX-License-Identifier: MIT */
#include "mapping/rank_map.h"
#include "mapping/gpu_mapping.h"

#define ARENA_BYTES ((size_t)64 << 20)

/* One permutation for each kind that holds a block; the others stay NULL. */
static int map_gpus(struct rank_map *map, struct error_info *err)
{
    const struct cluster_topology *cluster = map->cluster;
    const unsigned **kinds = arena_allocate_array(map->arena, cluster->kind_count, sizeof(*kinds));
    if (!kinds)
        return error_set_memory(err);
    map->kind_gpus = kinds;
    for (size_t block = 0; block < map->block_count; block++) {
        unsigned kind = cluster->nodes[map->block_nodes[block]].kind;
        if (kinds[kind])
            continue;
        unsigned *gpus = arena_allocate_array(map->arena, map->gpus_per_node, sizeof(*gpus));
        if (!gpus)
            return error_set_memory(err);
        if (gpu_mapping_solve(cluster->kinds[kind], &map->degrees, map->order, map->gpus_per_node,
                              gpus, err) < 0)
            return -1;
        kinds[kind] = gpus;
    }
    return 0;
}

static int fill_map(struct rank_map *map, const struct node_mapping_request *request,
                    struct error_info *err)
{
    unsigned *nodes =
        arena_allocate_array(map->arena, request->cluster->node_count, sizeof(*nodes));
    if (!nodes)
        return error_set_memory(err);
    map->block_nodes = nodes;
    if (node_mapping_solve(request, nodes, &map->block_count, &map->quality, err) < 0)
        return -1;
    map->world = (uint64_t)map->block_count * map->gpus_per_node;
    return map_gpus(map, err);
}

struct rank_map *rank_map_create(const struct node_mapping_request *request, struct error_info *err)
{
    struct arena *arena = arena_create(ARENA_BYTES);
    CLEANUP(rank_map) struct rank_map *map = arena ? arena_allocate(arena, sizeof(*map)) : NULL;
    if (!map) {
        arena_free(arena);
        return error_null(error_set_memory(err));
    }
    *map = (struct rank_map){
        .cluster = request->cluster,
        .degrees = request->locality_only ? DEGREES_ONE : request->degrees,
        .order = request->order,
        .locality_only = request->locality_only,
        .gpus_per_node = request->gpus_per_node,
        .arena = arena,
    };
    return fill_map(map, request, err) < 0 ? NULL : move_pointer(map);
}

void rank_map_free(struct rank_map *map)
{
    if (map)
        arena_free(map->arena);
}

void rank_map_place(const struct rank_map *map, uint64_t rank, struct rank_place *ret)
{
    size_t block = (size_t)(rank / map->gpus_per_node);
    unsigned local_rank = (unsigned)(rank % map->gpus_per_node);
    unsigned node = map->block_nodes[block], kind = map->cluster->nodes[node].kind;
    unsigned gpu = map->kind_gpus[kind][local_rank];
    const struct node_gpu *device = &map->cluster->kinds[kind]->gpus[gpu];
    *ret = (struct rank_place){
        .rank = rank,
        .node = node,
        .local_rank = local_rank,
        .gpu = gpu,
        .nic = device->nic_count > 0 ? (int)device->nics[0] : -1,
    };
    if (!map->locality_only)
        rank_coordinates_of(map->order, &map->degrees, rank, &ret->coordinates);
}

const char *rank_map_master(const struct rank_map *map)
{
    return map->cluster->nodes[map->block_nodes[0]].name;
}
