/* SPDX-License-Identifier: MIT */
#include "tests/support/placement_rival.h"

#include "base/memory.h"
#include "base/parse_number.h"
#include "mapping/solver/block_graph.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATH_BYTES 256u
#define ARGUMENTS_MAXIMUM 10u
#define LINE_BYTES 256u
#define RUN_SECONDS 10.0
#define NAP_NANOSECONDS 100000L
/* METIS counts in 32 bits. */
#define EDGE_SUM 1e9
#define DISTANCE_UNIT 1000.0

static const char *const programs[RIVAL_COUNT] = {"scotch_gmap", "gpmetis"};

/* Groups are what the nodes of a leaf and domain are: alike, and neighbours in the case. */
struct board {
    const struct fragmented_case *sample;
    const struct cluster_topology *cluster;
    const char *folder;
    struct flow_weights weights;
    struct block_graph *graph;
    unsigned *group_of; /* case node -> group */
    unsigned *first;    /* group -> its first node; group_count + 1 */
    unsigned group_count;
    unsigned *placed;     /* vertex (block, then spare) -> group */
    unsigned *room;       /* group -> nodes left; below 0: overfull */
    unsigned *nodes;      /* block -> node */
    unsigned char *slots; /* group x group */
    struct arena *arena;
};

const char *rival_name(enum placement_rival rival) { return programs[rival]; }

bool rival_is_installed(enum placement_rival rival)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof(path), "/usr/bin/%s", programs[rival]);
    return access(path, X_OK) == 0;
}

/* --- board ---------------------------------------------------------------------------- */

static void find_groups(struct board *board)
{
    const struct fragmented_case *sample = board->sample;
    for (unsigned i = 0; i < sample->node_count; i++) {
        bool fresh = i == 0 || sample->leaves[i] != sample->leaves[i - 1] ||
                     sample->domains[i] != sample->domains[i - 1];
        if (fresh)
            board->first[board->group_count++] = i;
        board->group_of[i] = board->group_count - 1;
    }
    board->first[board->group_count] = sample->node_count;
}

static unsigned capacity(const struct board *board, unsigned group)
{
    return board->first[group + 1] - board->first[group];
}

/* Nodes of one group: as far as its first two are. */
static void find_slots(struct board *board)
{
    for (unsigned a = 0; a < board->group_count; a++) {
        for (unsigned b = 0; b < board->group_count; b++) {
            unsigned left = board->first[a], right = board->first[b];
            if (a == b && capacity(board, a) > 1)
                right++;
            int distance = cluster_distance(board->cluster, left, right);
            board->slots[a * board->group_count + b] = (unsigned char)(distance + 2);
        }
    }
}

static int board_init(struct board *board, struct error_info *err)
{
    const struct fragmented_case *sample = board->sample;
    size_t nodes = sample->node_count + 1;
    unsigned **arrays[] = {&board->group_of, &board->first, &board->placed, &board->room,
                           &board->nodes};
    for (size_t i = 0; i < COUNT_OF(arrays); i++) {
        *arrays[i] = arena_allocate_array(board->arena, nodes, sizeof(unsigned));
        if (!*arrays[i]) {
            error_set_memory(err);
            return -1;
        }
    }
    find_groups(board);
    board->slots =
        arena_allocate_array(board->arena, (size_t)board->group_count * board->group_count, 1);
    if (!board->slots) {
        error_set_memory(err);
        return -1;
    }
    find_slots(board);
    flow_weights_of(&sample->traffic, &sample->seconds, &sample->degrees, sample->order,
                    &board->weights);
    board->graph =
        block_graph_create(&board->weights, degrees_world(&sample->degrees), FRAGMENTED_GPUS, err);
    return board->graph ? 0 : -1;
}

static unsigned nearest_slot(const struct board *board)
{
    return board->sample->domain_count > 0 ? COST_SLOT_DOMAIN : COST_SLOT_TIERS;
}

static unsigned farthest_slot(const struct board *board) { return board->weights.slot_count - 2; }

/* What an edge costs more on the farthest links than on the nearest. */
static double edge_weight(const struct board *board, const struct block_edge *edge)
{
    const uint64_t *weights = board->weights.weights[edge->flow];
    return (double)edge->pairs *
           (double)(weights[farthest_slot(board)] - weights[nearest_slot(board)]);
}

static double edge_scale(const struct board *board)
{
    const struct block_graph *graph = board->graph;
    double sum = 1;
    for (uint64_t i = 0; i < graph->first[graph->block_count]; i++)
        sum += edge_weight(board, &graph->edges[i]);
    return EDGE_SUM / sum;
}

/* --- graph files ---------------------------------------------------------------------- */

/* The two formats say the same in another order; each pair of blocks once, flows summed. */
static unsigned neighbours(const struct board *board, unsigned block, double *sums,
                           unsigned *ret_to)
{
    const struct block_graph *graph = board->graph;
    unsigned count = 0;
    if (block >= graph->block_count)
        return 0;
    for (uint64_t i = graph->first[block]; i < graph->first[block + 1]; i++) {
        const struct block_edge *edge = &graph->edges[i];
        if (sums[edge->to] <= 0)
            ret_to[count++] = edge->to;
        sums[edge->to] += edge_weight(board, edge);
    }
    return count;
}

static void write_vertices(const struct board *board, FILE *file, bool scotch, double *sums,
                           unsigned *to)
{
    double scale = edge_scale(board);
    for (unsigned vertex = 0; vertex < board->sample->node_count; vertex++) {
        unsigned count = neighbours(board, vertex, sums, to);
        if (scotch)
            fprintf(file, "%u", count);
        for (unsigned i = 0; i < count; i++) {
            long weight = lrint(sums[to[i]] * scale) + 1;
            if (scotch)
                fprintf(file, " %ld %u", weight, to[i]);
            else
                fprintf(file, " %u %ld", to[i] + 1, weight);
            sums[to[i]] = 0;
        }
        fputc('\n', file);
    }
}

static unsigned long count_arcs(const struct board *board, double *sums, unsigned *to)
{
    unsigned long arcs = 0;
    for (unsigned vertex = 0; vertex < board->sample->node_count; vertex++) {
        unsigned count = neighbours(board, vertex, sums, to);
        arcs += count;
        for (unsigned i = 0; i < count; i++)
            sums[to[i]] = 0;
    }
    return arcs;
}

static FILE *open_file(const struct board *board, const char *name, const char *mode,
                       struct error_info *err)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof(path), "%s/%s", board->folder, name);
    FILE *file = fopen(path, mode);
    if (!file)
        error_set(err, "%s: cannot be opened", path);
    return file;
}

static int write_graph(const struct board *board, bool scotch, struct error_info *err)
{
    size_t nodes = board->sample->node_count;
    CLEANUP_MEMORY double *sums = memory_allocate_array(nodes, sizeof(*sums));
    CLEANUP_MEMORY unsigned *to = memory_allocate_array(nodes, sizeof(*to));
    if (!sums || !to)
        return error_set_memory(err);
    for (size_t i = 0; i < nodes; i++)
        sums[i] = 0;
    unsigned long arcs = count_arcs(board, sums, to);
    FILE *file = open_file(board, "graph", "w", err);
    if (!file)
        return -1;
    if (scotch)
        fprintf(file, "0\n%zu %lu\n0 010\n", nodes, arcs);
    else
        fprintf(file, "%zu %lu 001\n", nodes, arcs / 2);
    write_vertices(board, file, scotch, sums, to);
    return fclose(file) == 0 ? 0 : error_set(err, "graph: cannot be written");
}

/* --- targets -------------------------------------------------------------------------- */

/* Mean over the flows of what a level costs more than the nearest, of the farthest's. */
static long level_distance(const struct board *board, unsigned slot)
{
    const struct flow_weights *weights = &board->weights;
    double sum = 0, whole = 0;
    for (unsigned f = 0; f < weights->flow_count; f++) {
        double near = (double)weights->weights[f][nearest_slot(board)];
        sum += (double)weights->weights[f][slot] - near;
        whole += (double)weights->weights[f][farthest_slot(board)] - near;
    }
    return 1 + lrint(DISTANCE_UNIT * (whole > 0 ? sum / whole : 0));
}

/* How many below one vertex of each level at most: leaves in a pod, domains in a leaf, nodes. */
struct tree_widths {
    unsigned pods, leaves, domains, nodes;
};

static struct tree_widths widths_of(const struct board *board)
{
    const struct fragmented_case *sample = board->sample;
    unsigned per_pod = sample->leaves_per_pod ? sample->leaves_per_pod : sample->leaf_count;
    struct tree_widths widths = {(sample->leaf_count + per_pod - 1) / per_pod, per_pod, 1, 1};
    unsigned domains = 0;
    for (unsigned g = 0; g < board->group_count; g++) {
        bool fresh =
            g == 0 || sample->leaves[board->first[g]] != sample->leaves[board->first[g - 1]];
        domains = fresh ? 1 : domains + 1;
        widths.domains = domains > widths.domains ? domains : widths.domains;
        widths.nodes = capacity(board, g) > widths.nodes ? capacity(board, g) : widths.nodes;
    }
    return widths;
}

/* Far to near; Scotch wants no level with one child. */
static void write_levels(const struct board *board, const struct tree_widths *widths, FILE *file)
{
    const unsigned counts[] = {widths->pods, widths->leaves, widths->domains, widths->nodes};
    const long distances[] = {level_distance(board, farthest_slot(board)),
                              level_distance(board, COST_SLOT_TIERS + 1),
                              level_distance(board, COST_SLOT_TIERS), 1};
    unsigned levels = 0;
    for (size_t i = 0; i < COUNT_OF(counts); i++)
        levels += counts[i] > 1;
    fprintf(file, "tleaf %u", levels);
    for (size_t i = 0; i < COUNT_OF(counts); i++)
        if (counts[i] > 1)
            fprintf(file, " %u %ld", counts[i], distances[i]);
    fputc('\n', file);
}

static int write_target(const struct board *board, struct error_info *err)
{
    const struct fragmented_case *sample = board->sample;
    struct tree_widths widths = widths_of(board);
    FILE *file = open_file(board, "target", "w", err);
    if (!file)
        return -1;
    fprintf(file, "sub\n%u", sample->node_count);
    for (unsigned g = 0, inside = 0; g < board->group_count; g++) {
        unsigned node = board->first[g], leaf = sample->leaves[node];
        inside = g > 0 && sample->leaves[node - 1] == leaf ? inside + 1 : 0;
        for (unsigned i = 0; i < capacity(board, g); i++)
            fprintf(file, " %u", (leaf * widths.domains + inside) * widths.nodes + i);
    }
    fputc('\n', file);
    write_levels(board, &widths, file);
    return fclose(file) == 0 ? 0 : error_set(err, "target: cannot be written");
}

static int write_shares(const struct board *board, struct error_info *err)
{
    FILE *file = open_file(board, "shares", "w", err);
    if (!file)
        return -1;
    for (unsigned g = 0; g < board->group_count; g++)
        fprintf(file, "%u = %.9f\n", g,
                (double)capacity(board, g) / (double)board->sample->node_count);
    return fclose(file) == 0 ? 0 : error_set(err, "shares: cannot be written");
}

/* --- runs ----------------------------------------------------------------------------- */

static double now_milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Scotch hangs now and then under load: what takes longer than RUN_SECONDS ends badly too. */
static int wait_for(pid_t child)
{
    const struct timespec nap = {.tv_nsec = NAP_NANOSECONDS};
    double end = now_milliseconds() + 1e3 * RUN_SECONDS;
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (now_milliseconds() > end) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            return 1;
        }
        nanosleep(&nap, NULL);
    }
    return status == 0 ? 0 : 1;
}

/* 1: it ended badly. */
static int run(const struct board *board, char *const *arguments, struct error_info *err)
{
    char log[PATH_BYTES];
    posix_spawn_file_actions_t actions;
    pid_t child;
    snprintf(log, sizeof(log), "%s/log", board->folder);
    if (posix_spawn_file_actions_init(&actions) != 0)
        return error_set_memory(err);
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    int failed = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed)
        return error_set(err, "%s could not be run", arguments[0]);
    return wait_for(child);
}

/* A number from the start of *text on, which is moved behind it. */
static int read_number(char **text, unsigned below, unsigned *ret, struct error_info *err)
{
    uint64_t number;
    char *start = *text + strspn(*text, " \t");
    size_t bytes = strspn(start, "0123456789");
    *text = start + bytes + (start[bytes] ? 1 : 0);
    start[bytes] = '\0';
    if (parse_unsigned(start, 0, below - 1, &number, err) < 0)
        return -1;
    *ret = (unsigned)number;
    return 0;
}

/* Scotch: a count, then vertex and node; METIS: one part a line. */
static int read_answer(struct board *board, bool scotch, struct error_info *err)
{
    const struct fragmented_case *sample = board->sample;
    char name[32], line[LINE_BYTES];
    snprintf(name, sizeof(name), scotch ? "answer" : "graph.part.%u", board->group_count);
    FILE *file = open_file(board, name, "r", err);
    if (!file)
        return -1;
    int status = 0;
    unsigned vertex = 0, value = 0, read = 0;
    if (scotch && !fgets(line, sizeof(line), file))
        status = error_set(err, "%s: empty", name);
    while (status == 0 && read < sample->node_count && fgets(line, sizeof(line), file)) {
        char *text = line;
        vertex = read++;
        if (scotch)
            status = read_number(&text, sample->node_count, &vertex, err);
        if (status == 0)
            status =
                read_number(&text, scotch ? sample->node_count : board->group_count, &value, err);
        board->placed[vertex] = scotch ? board->group_of[value] : value;
    }
    fclose(file);
    return status == 0 && read < sample->node_count ? error_set(err, "%s: too short", name)
                                                    : status;
}

/* --- making it feasible ----------------------------------------------------------------- */

static double block_cost(const struct board *board, unsigned block, unsigned group)
{
    const struct block_graph *graph = board->graph;
    double cost = 0;
    for (uint64_t i = graph->first[block]; i < graph->first[block + 1]; i++) {
        const struct block_edge *edge = &graph->edges[i];
        unsigned slot = board->slots[group * board->group_count + board->placed[edge->to]];
        cost += (double)edge->pairs * (double)board->weights.weights[edge->flow][slot];
    }
    return cost;
}

/* The cheapest single move from an overfull group into one with room; false: none is overfull. */
static bool mend_once(struct board *board)
{
    double best = INFINITY;
    unsigned moved = 0, target = 0;
    for (unsigned block = 0; block < board->sample->block_count; block++) {
        unsigned from = board->placed[block];
        if (board->room[from] <= capacity(board, from))
            continue;
        double here = block_cost(board, block, from);
        for (unsigned to = 0; to < board->group_count; to++) {
            if (board->room[to] >= capacity(board, to))
                continue;
            double more = block_cost(board, block, to) - here;
            if (more < best) {
                best = more;
                moved = block;
                target = to;
            }
        }
    }
    if (isinf(best))
        return false;
    board->room[board->placed[moved]]--;
    board->room[target]++;
    board->placed[moved] = target;
    return true;
}

/* Spare vertices give way first: only blocks need a node. room: blocks in each group. */
static bool mend(struct board *board)
{
    bool broken = false;
    for (unsigned g = 0; g < board->group_count; g++)
        board->room[g] = 0;
    for (unsigned block = 0; block < board->sample->block_count; block++)
        board->room[board->placed[block]]++;
    while (mend_once(board))
        broken = true;
    for (unsigned g = 0; g < board->group_count; g++)
        board->room[g] = board->first[g];
    for (unsigned block = 0; block < board->sample->block_count; block++)
        board->nodes[block] = board->room[board->placed[block]]++;
    return broken;
}

static int take_answer(struct board *board, char *const *arguments, bool scotch,
                       struct rival_answer *ret, struct error_info *err)
{
    double start = now_milliseconds();
    int ended = run(board, arguments, err);
    ret->milliseconds += now_milliseconds() - start;
    ret->runs++;
    ret->failed += ended > 0;
    if (ended != 0)
        return ended < 0 ? -1 : 0;
    if (read_answer(board, scotch, err) < 0)
        return -1;
    ret->mended += mend(board);
    double seconds = fragmented_case_seconds(board->sample, board->cluster, board->nodes);
    if (seconds < ret->seconds)
        ret->seconds = seconds;
    return 0;
}

static int ask_scotch(struct board *board, struct rival_answer *ret, struct error_info *err)
{
    static const char *const strategies[][2] = {{"-cq", "-b0"}, {"-cb", "-b0"}, {"-cq", "-b0.1"}};
    char graph[PATH_BYTES], target[PATH_BYTES], answer[PATH_BYTES];
    snprintf(graph, sizeof(graph), "%s/graph", board->folder);
    snprintf(target, sizeof(target), "%s/target", board->folder);
    snprintf(answer, sizeof(answer), "%s/answer", board->folder);
    if (write_graph(board, true, err) < 0 || write_target(board, err) < 0)
        return -1;
    for (size_t i = 0; i < COUNT_OF(strategies); i++) {
        const char *arguments[ARGUMENTS_MAXIMUM] = {
            programs[RIVAL_SCOTCH], strategies[i][0], strategies[i][1], graph, target, answer};
        if (take_answer(board, (char *const *)arguments, true, ret, err) < 0)
            return -1;
    }
    return 0;
}

static int ask_metis(struct board *board, unsigned seeds, struct rival_answer *ret,
                     struct error_info *err)
{
    char graph[PATH_BYTES], shares[PATH_BYTES + 16], seed[32], parts[32];
    snprintf(graph, sizeof(graph), "%s/graph", board->folder);
    snprintf(shares, sizeof(shares), "-tpwgts=%s/shares", board->folder);
    snprintf(parts, sizeof(parts), "%u", board->group_count);
    if (write_graph(board, false, err) < 0 || write_shares(board, err) < 0)
        return -1;
    for (unsigned i = 0; i < 2 * seeds; i++) {
        snprintf(seed, sizeof(seed), "-seed=%u", 1 + i / 2);
        const char *arguments[ARGUMENTS_MAXIMUM] = {programs[RIVAL_METIS],
                                                    i % 2 ? "-ptype=kway" : "-ptype=rb",
                                                    "-ufactor=1",
                                                    seed,
                                                    shares,
                                                    graph,
                                                    parts};
        if (take_answer(board, (char *const *)arguments, false, ret, err) < 0)
            return -1;
    }
    return 0;
}

int rival_place(const struct fragmented_case *sample, const struct cluster_topology *cluster,
                enum placement_rival rival, const char *folder, unsigned seeds,
                struct rival_answer *ret, struct error_info *err)
{
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    struct board board = {.sample = sample, .cluster = cluster, .folder = folder, .arena = arena};
    struct rival_answer answer = {.seconds = INFINITY};
    if (!arena)
        return error_set_memory(err);
    int status = board_init(&board, err);
    if (status == 0)
        status = rival == RIVAL_SCOTCH ? ask_scotch(&board, &answer, err)
                                       : ask_metis(&board, seeds, &answer, err);
    block_graph_free(board.graph);
    if (status == 0)
        *ret = answer;
    return status;
}
