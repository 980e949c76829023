/* SPDX-License-Identifier: MIT */
#include "mapping/evaluation/rank_places.h"

struct rank_places *rank_places_create(uint64_t world)
{
    CLEANUP(rank_places) struct rank_places *places = memory_allocate(sizeof(*places));
    if (!places)
        return NULL;
    places->world = world;
    places->nodes = memory_allocate_array((size_t)world, sizeof(*places->nodes));
    places->gpus = memory_allocate_array((size_t)world, sizeof(*places->gpus));
    if (!places->nodes || !places->gpus)
        return NULL;
    for (uint64_t rank = 0; rank < world; rank++)
        places->nodes[rank] = places->gpus[rank] = RANK_PLACE_NONE;
    return move_pointer(places);
}

void rank_places_free(struct rank_places *places)
{
    if (!places)
        return;
    memory_free(places->nodes);
    memory_free(places->gpus);
    memory_free(places);
}

int rank_places_number_gpus(struct rank_places *places, size_t node_count)
{
    CLEANUP_MEMORY unsigned *used = memory_allocate_array(node_count, sizeof(*used));
    if (!used)
        return -1;
    for (uint64_t rank = 0; rank < places->world; rank++)
        places->gpus[rank] = used[places->nodes[rank]]++;
    return 0;
}
