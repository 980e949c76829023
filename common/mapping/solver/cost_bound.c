/* SPDX-License-Identifier: MIT */
#include "mapping/solver/cost_bound.h"
#include "base/memory.h"

#define NO_COST UINT64_MAX
/* Sums over the sizes that sets may have are found exactly up to here, else from the best ratio. */
#define CHOICES_MAXIMUM (UINT64_C(1) << 22)

/* A flow between blocks: groups of `size` blocks, `lanes` blocks apart. */
struct block_line {
    uint64_t lanes;
    unsigned size;
    enum pair_pattern pattern;
    uint64_t pairs;  /* of ranks, between two neighbouring blocks */
    uint64_t weight; /* of the level at hand: pairs times what one of them adds */
};

struct bound {
    const struct flow_weights *weights;
    const struct fabric_tree *tree;
    unsigned blocks, block_ranks;
    struct block_line lines[TRAFFIC_FLOWS_MAXIMUM];
    unsigned pipeline; /* the flow that is a chain over stages; flow_count: none */
    unsigned stage_blocks, stages;
    unsigned window; /* blocks of the widest group inside a stage; 1: none */
    uint64_t outside[TRAFFIC_FLOWS_MAXIMUM]; /* pairs between blocks */
    uint64_t inside[TRAFFIC_FLOWS_MAXIMUM];
};

/* What the flow is between blocks; size 1 where it is nothing, or nothing regular. */
static struct block_line line_of(const struct group_line *line, enum pair_pattern pattern,
                                 unsigned block)
{
    struct block_line found = {.lanes = 1, .size = 1, .pattern = pattern};
    uint64_t span = line->stride * line->size;
    if (line->outer_size > 1)
        return found;
    if (line->stride % block == 0) {
        found.lanes = line->stride / block;
        found.size = line->size;
        found.pairs = block;
    } else if (block % line->stride == 0 && span > block && span % block == 0) {
        uint64_t members = block / line->stride;
        found.size = (unsigned)(span / block);
        found.pairs = pattern == PAIRS_ALL ? line->stride * members * members : line->stride;
    }
    return found;
}

static void find_lines(struct bound *bound)
{
    const struct flow_weights *weights = bound->weights;
    bound->pipeline = weights->flow_count;
    for (unsigned f = 0; f < weights->flow_count; f++) {
        bound->lines[f] = line_of(&weights->lines[f], weights->patterns[f], bound->block_ranks);
        if (weights->patterns[f] == PAIRS_CHAIN && bound->lines[f].size > 1)
            bound->pipeline = f;
    }
    bound->stages = 1;
    if (bound->pipeline < weights->flow_count)
        bound->stages = bound->lines[bound->pipeline].size;
    bound->stage_blocks = bound->blocks / bound->stages;
}

/* A ring over the whole stage, or one whose lanes fill it. */
static bool goes_round_stage(const struct bound *bound, const struct block_line *line)
{
    return line->size > 1 && line->pattern == PAIRS_RING &&
           line->lanes * line->size >= bound->stage_blocks;
}

static void find_window(struct bound *bound)
{
    bound->window = 1;
    for (unsigned f = 0; f < bound->weights->flow_count; f++) {
        const struct block_line *line = &bound->lines[f];
        uint64_t blocks = line->lanes * line->size;
        bool inner = line->size > 1 && f != bound->pipeline && !goes_round_stage(bound, line);
        if (inner && blocks > bound->window && bound->stage_blocks % blocks == 0)
            bound->window = (unsigned)blocks;
    }
    for (unsigned f = 0; f < bound->weights->flow_count; f++) {
        const struct block_line *line = &bound->lines[f];
        bool whole = line->pattern == PAIRS_ALL && line->lanes == 1;
        if (whole && line->size == bound->stage_blocks && bound->stages > 1)
            bound->window = bound->stage_blocks;
    }
}

struct pair_sum {
    uint64_t inside, outside;
};

static void sum_run(void *context, unsigned from, unsigned to, unsigned count)
{
    struct pair_sum *sum = context;
    if (from == to)
        sum->inside += count;
    else
        sum->outside += count;
}

/* --- one set of blocks -------------------------------------------------------------- */

static uint64_t smaller(uint64_t left, uint64_t right) { return left < right ? left : right; }

/* Of n units in a grid of `lines` pipelines by `stages`: the least w_pp a + w_ring b. */
static uint64_t grid_cut(uint64_t units, uint64_t lines, uint64_t stages, uint64_t pipeline,
                         uint64_t ring)
{
    uint64_t least = pipeline * lines + (units % lines != 0 ? ring : 0);
    if (units < lines && lines > 1)
        least = pipeline * units + ring;
    for (uint64_t b = 1; b <= stages && b <= units; b++) {
        uint64_t a = (units + b - 1) / b;
        if (a <= lines)
            least = smaller(least, pipeline * a + ring * b);
    }
    return least;
}

/* The least that a set costs which holds `rest` blocks of one group and the others whole. */
static uint64_t cut_group(const struct block_line *line, unsigned rest)
{
    if (rest == 0)
        return 0;
    if (line->pattern == PAIRS_ALL) /* each pair is counted by both of its sets */
        return line->weight * rest * (line->size - rest) / 2;
    return line->weight;
}

/* Blocks side by side inside a stage. */
static bool is_window(const struct bound *bound, unsigned flow)
{
    const struct block_line *line = &bound->lines[flow];
    return flow != bound->pipeline && line->size > 1 && line->lanes == 1 &&
           !goes_round_stage(bound, line);
}

/* Groups inside a stage that a set of this many blocks cannot hold whole. */
static uint64_t forced_cuts(const struct bound *bound, unsigned blocks)
{
    uint64_t cost = 0;
    for (unsigned f = 0; f < bound->weights->flow_count; f++)
        if (is_window(bound, f))
            cost += cut_group(&bound->lines[f], blocks % bound->lines[f].size);
    return cost;
}

/* One window at least is not whole. */
static uint64_t least_window_cut(const struct bound *bound)
{
    uint64_t cost = 0;
    for (unsigned f = 0; f < bound->weights->flow_count; f++)
        if (is_window(bound, f) && bound->lines[f].size == bound->window)
            cost += cut_group(&bound->lines[f], 1);
    return cost;
}

/* Of one stage that a set touches and does not hold whole. */
static uint64_t ring_weight(const struct bound *bound, bool whole_windows)
{
    uint64_t weight = 0;
    for (unsigned f = 0; f < bound->weights->flow_count; f++) {
        const struct block_line *line = &bound->lines[f];
        if (goes_round_stage(bound, line) && (whole_windows || line->lanes == 1))
            weight += line->weight * smaller(line->lanes, bound->window);
    }
    return weight;
}

/* Least cost of a set of that many blocks; w_pp Y too much, see the header. */
static uint64_t set_cost(const struct bound *bound, unsigned blocks)
{
    if (blocks == 0)
        return 0;
    uint64_t pipeline =
        bound->pipeline < bound->weights->flow_count ? bound->lines[bound->pipeline].weight : 0;
    unsigned window = bound->window, lines = bound->stage_blocks / window;
    uint64_t cut = grid_cut(blocks, bound->stage_blocks, bound->stages, pipeline,
                            bound->stage_blocks > 1 ? ring_weight(bound, window == 1) : 0);
    if (window == 1)
        return cut;
    uint64_t forced = forced_cuts(bound, blocks);
    if (blocks % window != 0)
        return cut + forced;
    uint64_t whole = grid_cut(blocks / window, lines, bound->stages, pipeline * window,
                              lines > 1 ? ring_weight(bound, true) : 0);
    return smaller(whole, cut + least_window_cut(bound));
}

/* --- one level ---------------------------------------------------------------------- */

struct size_count {
    unsigned size, count;
};

static int add_size(struct size_count *sizes, unsigned *kinds, unsigned size, unsigned count)
{
    for (unsigned i = 0; i < *kinds; i++) {
        if (sizes[i].size != size)
            continue;
        sizes[i].count += count;
        return 0;
    }
    sizes[(*kinds)++] = (struct size_count){size, count};
    return 0;
}

/* The sets of nodes that are no farther apart than the level, by size. */
static unsigned sets_of(const struct fabric_tree *tree, unsigned level, struct size_count *ret)
{
    unsigned kinds = 0;
    for (unsigned v = 0; v < tree->vertex_count; v++) {
        const struct fabric_vertex *vertex = &tree->vertices[v];
        bool near = vertex->slot <= level;
        bool top = v == 0 || tree->vertices[vertex->parent].slot > level;
        if (vertex->node_count == 0)
            continue;
        if (near && top)
            add_size(ret, &kinds, vertex->node_count, 1);
        else if (!near && vertex->child_count == 0)
            add_size(ret, &kinds, 1, vertex->node_count);
    }
    return kinds;
}

static uint64_t sum_of_sizes(const struct bound *bound, const struct size_count *sizes,
                             unsigned kinds)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < kinds; i++)
        sum += sizes[i].count * set_cost(bound, sizes[i].size);
    return sum;
}

/* No set is cheaper for each of its blocks than the cheapest size is. */
static uint64_t sum_by_ratio(const struct bound *bound, unsigned most)
{
    double best = -1;
    for (unsigned size = 1; size <= most && size <= bound->blocks; size++) {
        double each = (double)set_cost(bound, size) / size;
        if (best < 0 || each < best)
            best = each;
    }
    return best > 0 ? (uint64_t)(best * bound->blocks * (1 - 1e-9)) : 0;
}

/* sums[n]: the least that n blocks cost in the sets so far; one more set of up to `most`. */
static void add_set(uint64_t *sums, unsigned blocks, const uint64_t *costs, unsigned most)
{
    for (unsigned n = blocks; n > 0; n--)
        for (unsigned size = 1; size <= most && size <= n; size++)
            if (sums[n - size] != NO_COST)
                sums[n] = smaller(sums[n], sums[n - size] + costs[size]);
}

struct choices {
    unsigned most;  /* the largest set */
    uint64_t turns; /* that finding the cheapest way takes */
};

static struct choices choices_of(const struct size_count *sizes, unsigned kinds, unsigned blocks)
{
    struct choices choices = {0, 0};
    for (unsigned i = 0; i < kinds; i++) {
        choices.most = sizes[i].size > choices.most ? sizes[i].size : choices.most;
        choices.turns += (uint64_t)sizes[i].count * sizes[i].size * blocks;
    }
    return choices;
}

/* The cheapest way to spread the blocks over sets that hold at most so many. */
static int sum_of_choices(const struct bound *bound, const struct size_count *sizes, unsigned kinds,
                          uint64_t *ret, struct error_info *err)
{
    unsigned blocks = bound->blocks;
    struct choices choices = choices_of(sizes, kinds, blocks);
    if (choices.turns > CHOICES_MAXIMUM) {
        *ret = sum_by_ratio(bound, choices.most);
        return 0;
    }
    CLEANUP_MEMORY uint64_t *sums = memory_allocate_array((size_t)blocks + 1, sizeof(*sums));
    CLEANUP_MEMORY
    uint64_t *costs = memory_allocate_array((size_t)choices.most + 1, sizeof(*costs));
    if (!sums || !costs)
        return error_set_memory(err);
    for (unsigned size = 0; size <= choices.most; size++)
        costs[size] = set_cost(bound, size < blocks ? size : blocks);
    for (unsigned n = 1; n <= blocks; n++)
        sums[n] = NO_COST;
    for (unsigned i = 0; i < kinds; i++)
        for (unsigned set = 0; set < sizes[i].count; set++)
            add_set(sums, blocks, costs, sizes[i].size);
    *ret = sums[blocks] == NO_COST ? 0 : sums[blocks];
    return 0;
}

static void weigh_level(struct bound *bound, unsigned level)
{
    const struct flow_weights *weights = bound->weights;
    for (unsigned f = 0; f < weights->flow_count; f++)
        bound->lines[f].weight =
            bound->lines[f].pairs * (weights->weights[f][level + 1] - weights->weights[f][level]);
}

/* What pairs that go farther than the level add at least. */
static int level_cost(struct bound *bound, unsigned level, struct size_count *sizes, uint64_t *ret,
                      struct error_info *err)
{
    const struct flow_weights *weights = bound->weights;
    uint64_t sum = 0, pipelines = 0;
    weigh_level(bound, level);
    unsigned kinds = sets_of(bound->tree, level, sizes);
    if (bound->tree->node_count == bound->blocks)
        sum = sum_of_sizes(bound, sizes, kinds);
    else if (sum_of_choices(bound, sizes, kinds, &sum, err) < 0)
        return -1;
    if (bound->pipeline < weights->flow_count)
        pipelines = bound->lines[bound->pipeline].weight * bound->stage_blocks;
    *ret = sum > pipelines ? sum - pipelines : 0;
    return 0;
}

/* How near two nodes can be. */
static unsigned nearest_slot(const struct fabric_tree *tree)
{
    unsigned nearest = tree->vertices[0].slot;
    for (unsigned v = 0; v < tree->vertex_count; v++)
        if (tree->vertices[v].node_count > 1 && tree->vertices[v].slot < nearest)
            nearest = tree->vertices[v].slot;
    return nearest;
}

unsigned cost_bound_stages(const struct flow_weights *weights, const struct fabric_tree *tree,
                           unsigned vertex, uint64_t world, unsigned block_ranks, unsigned stages,
                           unsigned multiple)
{
    struct bound bound = {.weights = weights,
                          .tree = tree,
                          .blocks = (unsigned)(world / block_ranks),
                          .block_ranks = block_ranks};
    uint64_t least = NO_COST;
    unsigned best = stages, level = tree->vertices[vertex].slot;
    find_lines(&bound);
    find_window(&bound);
    if (bound.pipeline == weights->flow_count || level + 1 >= weights->slot_count)
        return stages;
    weigh_level(&bound, level);
    unsigned units = tree->vertices[vertex].node_count / bound.window;
    unsigned lines = bound.stage_blocks / bound.window;
    for (unsigned b = stages; b >= multiple; b--) {
        uint64_t a = ((uint64_t)units + b - 1) / b;
        if (stages % b != 0 || b % multiple != 0 || b > units)
            continue;
        uint64_t cut = bound.lines[bound.pipeline].weight * bound.window * smaller(a, lines) +
                       (a < lines ? ring_weight(&bound, true) * b : 0);
        if (cut < least) {
            least = cut;
            best = b;
        }
    }
    return best;
}

int cost_bound(const struct flow_weights *weights, const struct fabric_tree *tree, uint64_t world,
               unsigned block_ranks, uint64_t *ret, struct error_info *err)
{
    struct bound bound = {.weights = weights,
                          .tree = tree,
                          .blocks = (unsigned)(world / block_ranks),
                          .block_ranks = block_ranks};
    unsigned nearest = nearest_slot(tree);
    uint64_t total = 0;
    CLEANUP_MEMORY struct size_count *sizes =
        memory_allocate_array(tree->vertex_count, sizeof(*sizes));
    if (!sizes)
        return error_set_memory(err);
    find_lines(&bound);
    find_window(&bound);
    for (unsigned f = 0; f < weights->flow_count; f++) {
        struct pair_sum sum = {0, 0};
        group_pairs_visit(&weights->lines[f], weights->patterns[f], world, block_ranks, sum_run,
                          &sum);
        total += sum.inside * weights->weights[f][COST_SLOT_NODE] +
                 sum.outside * weights->weights[f][nearest];
    }
    for (unsigned level = nearest; level + 1 < weights->slot_count; level++) {
        uint64_t added;
        if (level_cost(&bound, level, sizes, &added, err) < 0)
            return -1;
        total += added;
    }
    *ret = total;
    return 0;
}
