/* SPDX-License-Identifier: MIT */
#include "mapping/rails/rail_agreement.h"
#include "mapping/gpu_mapping.h"

static int rail_of(const struct rank_map *map, size_t kind, unsigned local_rank)
{
    return gpu_rail(map->cluster->kinds[kind], map->kind_gpus[kind][local_rank]);
}

static bool has_rails(const struct rank_map *map, size_t kind)
{
    if (!map->kind_gpus[kind])
        return false;
    for (unsigned i = 0; i < map->gpus_per_node; i++)
        if (rail_of(map, kind, i) < 0)
            return false;
    return true;
}

static bool is_permuted(const struct rank_map *map, size_t kind)
{
    for (unsigned i = 1; i < map->gpus_per_node; i++)
        if (rail_of(map, kind, i) < rail_of(map, kind, i - 1))
            return true;
    return false;
}

static struct rail_use use_of(const struct rank_map *map, size_t kind, unsigned local_rank)
{
    return (struct rail_use){
        .kind = map->cluster->kind_names[kind],
        .rail = (unsigned)rail_of(map, kind, local_rank),
        .is_permuted = is_permuted(map, kind),
    };
}

/* The first kind after `first` that puts the local rank elsewhere; kind_count: none does. */
static size_t find_other(const struct rank_map *map, size_t first, unsigned local_rank)
{
    size_t other = first + 1;
    while (other < map->cluster->kind_count &&
           (!has_rails(map, other) ||
            rail_of(map, other, local_rank) == rail_of(map, first, local_rank)))
        other++;
    return other;
}

bool rail_agreement_differs(const struct rank_map *map, struct rail_difference *ret)
{
    size_t first = 0, kinds = map->cluster->kind_count;
    unsigned count = 0;
    while (first < kinds && !has_rails(map, first))
        first++;
    for (unsigned i = 0; first < kinds && i < map->gpus_per_node; i++) {
        size_t other = find_other(map, first, i);
        if (other == kinds)
            continue;
        if (count++ == 0)
            *ret = (struct rail_difference){
                .local_rank = i, .first = use_of(map, first, i), .other = use_of(map, other, i)};
    }
    if (count > 0)
        ret->count = count;
    return count > 0;
}
