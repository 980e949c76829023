/* SPDX-License-Identifier: MIT */
#include "mapping/evaluation/launcher_layout.h"
#include "base/parse_number.h"
#include <string.h>

/* Ranks that a node gets in one turn. */
enum turn { TURN_ONE, TURN_NODE, TURN_GIVEN };

static const struct layout_word {
    const char *word;
    enum turn turn;
} words[] = {
    {"slurm:block", TURN_NODE}, {"slurm:cyclic", TURN_ONE}, {"slurm:plane=", TURN_GIVEN},
    {"mpirun:slot", TURN_NODE}, {"mpirun:node", TURN_ONE},
};

bool launcher_layout_is_word(const char *text)
{
    return strncmp(text, "slurm:", 6) == 0 || strncmp(text, "mpirun:", 7) == 0;
}

static bool is_word(const struct layout_word *row, const char *text)
{
    return row->turn == TURN_GIVEN ? strncmp(text, row->word, strlen(row->word)) == 0
                                   : strcmp(text, row->word) == 0;
}

/* Slurm itself deals on, past the number of tasks that a node is to get. */
static int read_plane(const char *text, unsigned ranks_per_node, uint64_t *ret,
                      struct error_info *err)
{
    uint64_t plane;
    if (parse_unsigned(text, 1, WORLD_MAXIMUM, &plane, err) < 0)
        return error_prefix(err, "slurm:plane");
    if (ranks_per_node % plane != 0) {
        uint64_t fits = plane < ranks_per_node ? plane : ranks_per_node;
        while (ranks_per_node % fits != 0)
            fits--;
        return error_set(err,
                         "slurm:plane: %llu does not divide the %u ranks of a node, and Slurm "
                         "would put more on some nodes than they have GPUs; use %llu",
                         (unsigned long long)plane, ranks_per_node, (unsigned long long)fits);
    }
    *ret = plane;
    return 0;
}

static int read_turn(const char *text, const struct rank_map *ours, uint64_t *ret,
                     struct error_info *err)
{
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (!is_word(&words[i], text))
            continue;
        if (words[i].turn == TURN_GIVEN)
            return read_plane(text + strlen(words[i].word), ours->gpus_per_node, ret, err);
        *ret = words[i].turn == TURN_ONE ? 1 : ours->gpus_per_node;
        return 0;
    }
    return error_set(err,
                     "'%.60s' is no layout; use slurm:block, slurm:cyclic, slurm:plane=N, "
                     "mpirun:slot, mpirun:node, or a file (./%.60s)",
                     text, text);
}

/* Where the node of a block stands among the used ones in the cluster's order. */
static unsigned *used_nodes(const struct rank_map *ours)
{
    size_t node_count = ours->cluster->node_count, found = 0;
    CLEANUP_MEMORY bool *used = memory_allocate_array(node_count, sizeof(*used));
    unsigned *nodes = used ? memory_allocate_array(ours->block_count, sizeof(*nodes)) : NULL;
    if (!nodes)
        return NULL;
    for (size_t block = 0; block < ours->block_count; block++)
        used[ours->block_nodes[block]] = true;
    for (unsigned node = 0; node < node_count; node++) {
        if (used[node])
            nodes[found++] = node;
    }
    return nodes;
}

static void deal(const struct rank_map *ours, const unsigned *nodes, uint64_t turn,
                 struct rank_places *places)
{
    for (uint64_t rank = 0; rank < ours->world; rank++)
        places->nodes[rank] = nodes[rank / turn % ours->block_count];
}

struct rank_places *launcher_layout_create(const char *word, const struct rank_map *ours,
                                           struct error_info *err)
{
    uint64_t turn = 1;
    if (read_turn(word, ours, &turn, err) < 0)
        return NULL;
    CLEANUP_MEMORY unsigned *nodes = used_nodes(ours);
    CLEANUP(rank_places) struct rank_places *places = rank_places_create(ours->world);
    if (!nodes || !places)
        return error_null(error_set_memory(err));
    deal(ours, nodes, turn, places);
    if (rank_places_number_gpus(places, ours->cluster->node_count) < 0)
        return error_null(error_set_memory(err));
    return move_pointer(places);
}
