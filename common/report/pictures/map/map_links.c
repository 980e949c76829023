/* SPDX-License-Identifier: MIT */
#include "report/pictures/map/map_links.h"

/* Ranks r, r + stride, … are neighbours in this dimension; size of them. */
struct grid_line {
    uint64_t stride;
    unsigned size;
    bool ring;
};

struct counting {
    const struct map_units *units;
    const struct rank_map *map;
    struct map_links *links;
    struct grid_line lines[TRAFFIC_DIMENSION_COUNT];
    uint64_t *between; /* [(dimension * units + left) * units + right] */
};

static void find_lines(struct counting *counting)
{
    const struct rank_map *map = counting->map;
    const struct degrees *degrees = &map->degrees;
    struct grid_line *lines = counting->lines;
    lines[TRAFFIC_TP] = (struct grid_line){1, degrees->tp, true};
    lines[TRAFFIC_CP] =
        (struct grid_line){rank_of(map->order, degrees, 0, 1, 0, 0), degrees->cp, true};
    lines[TRAFFIC_EP] = (struct grid_line){degrees->etp, degrees->ep, true};
    lines[TRAFFIC_PP] =
        (struct grid_line){rank_of(map->order, degrees, 0, 0, 0, 1), degrees->pp, false};
    lines[TRAFFIC_DP] =
        (struct grid_line){rank_of(map->order, degrees, 0, 0, 1, 0), degrees->dp, true};
}

static uint64_t place_on(const struct grid_line *line, uint64_t rank)
{
    return rank / line->stride % line->size;
}

static enum link_reach reach_between(const struct cluster_topology *cluster, size_t left,
                                     size_t right)
{
    unsigned tiers = cluster_tier_count(cluster);
    int distance = cluster_distance(cluster, left, right);
    if (distance < 0)
        return REACH_NEAR;
    if ((unsigned)distance >= tiers)
        return REACH_UNKNOWN;
    return distance == 0 ? REACH_NEAR : REACH_FAR;
}

static unsigned node_of(const struct rank_map *map, uint64_t rank)
{
    return map->block_nodes[rank / map->gpus_per_node];
}

static void count_pair(struct counting *counting, unsigned dimension, uint64_t from, uint64_t to)
{
    struct map_links *links = counting->links;
    unsigned source = node_of(counting->map, from), target = node_of(counting->map, to);
    unsigned left = counting->units->unit_of[source], right = counting->units->unit_of[target];
    enum link_reach reach =
        source == target ? REACH_NEAR : reach_between(counting->map->cluster, source, target);
    links->pairs[dimension][reach]++;
    if (dimension == TRAFFIC_PP) {
        uint64_t pipeline = place_on(&counting->lines[TRAFFIC_DP], from);
        if (reach > links->pipelines[pipeline])
            links->pipelines[pipeline] = (unsigned char)reach;
    }
    if (left == right)
        return;
    links->leaving[left * TRAFFIC_DIMENSION_COUNT + dimension]++;
    links->leaving[right * TRAFFIC_DIMENSION_COUNT + dimension]++;
    size_t count = counting->units->count, low = left < right ? left : right;
    counting->between[(dimension * count + low) * count + (left < right ? right : left)]++;
}

static void count_dimension(struct counting *counting, unsigned dimension)
{
    const struct grid_line *line = &counting->lines[dimension];
    uint64_t last = line->stride * (line->size - 1);
    for (uint64_t rank = 0; line->size > 1 && rank < counting->map->world; rank++) {
        if (place_on(line, rank) + 1 < line->size)
            count_pair(counting, dimension, rank, rank + line->stride);
        else if (line->ring)
            count_pair(counting, dimension, rank, rank - last);
    }
}

/* What a pair of a dimension counts for. */
static double pair_weight(const struct mapping_cost *cost, unsigned dimension)
{
    double bytes = 0.0;
    uint64_t pairs = 0;
    for (unsigned slot = 0; slot < cost->slot_count; slot++) {
        bytes += cost->bytes[dimension][slot];
        pairs += cost->pairs[dimension][slot];
    }
    return !cost->bytes_known ? 1.0 : pairs > 0 ? bytes / (double)pairs : 0.0;
}

static void list_links(struct counting *counting, const struct mapping_cost *cost)
{
    const struct map_units *units = counting->units;
    struct map_links *links = counting->links;
    size_t count = units->count;
    for (size_t at = 0; at < count * count * TRAFFIC_DIMENSION_COUNT; at++) {
        if (counting->between[at] == 0)
            continue;
        unsigned left = (unsigned)(at / count % count), right = (unsigned)(at % count);
        unsigned dimension = (unsigned)(at / count / count);
        struct map_link *link = &links->links[links->count++];
        *link = (struct map_link){
            .left = left,
            .right = right,
            .dimension = (enum traffic_dimension)dimension,
            .reach = reach_between(counting->map->cluster, units->order[units->units[left].first],
                                   units->order[units->units[right].first]),
            .pairs = counting->between[at],
        };
        link->weight = (double)link->pairs * pair_weight(cost, dimension);
        if (link->weight > links->heaviest)
            links->heaviest = link->weight;
    }
}

static int make_list(struct counting *counting, const struct mapping_cost *cost,
                     struct error_info *err)
{
    size_t count = counting->units->count, links = 0;
    for (size_t at = 0; at < count * count * TRAFFIC_DIMENSION_COUNT; at++)
        links += counting->between[at] > 0;
    counting->links->links = memory_allocate_array(links + 1, sizeof(struct map_link));
    if (!counting->links->links)
        return error_set_memory(err);
    list_links(counting, cost);
    return 0;
}

static int allocate(struct counting *counting, struct error_info *err)
{
    struct map_links *links = counting->links;
    size_t count = counting->units->count, cells = count * TRAFFIC_DIMENSION_COUNT;
    counting->between = memory_allocate_array(cells * count + 1, sizeof(*counting->between));
    links->leaving = memory_allocate_array(cells + 1, sizeof(*links->leaving));
    links->pipelines = memory_allocate_array(counting->map->degrees.dp, 1);
    bool failed = !counting->between || !links->leaving || !links->pipelines;
    return failed ? error_set_memory(err) : 0;
}

static void count_pipelines(struct map_links *links, const struct degrees *degrees)
{
    links->pipeline_count = degrees->pp > 1 ? degrees->dp : 0;
    for (unsigned i = 0; i < links->pipeline_count; i++) {
        links->far_pipelines += links->pipelines[i] == REACH_FAR;
        links->unknown_pipelines += links->pipelines[i] == REACH_UNKNOWN;
    }
}

int map_links_init(struct map_links *links, const struct map_units *units,
                   const struct mapping_cost *cost, struct error_info *err)
{
    struct counting counting = {.units = units, .map = units->map, .links = links};
    *links = (struct map_links){.count = 0};
    int status = allocate(&counting, err);
    if (status == 0 && !units->map->locality_only) {
        find_lines(&counting);
        for (unsigned dimension = 0; dimension < TRAFFIC_DIMENSION_COUNT; dimension++)
            count_dimension(&counting, dimension);
        count_pipelines(links, &units->map->degrees);
    }
    if (status == 0)
        status = make_list(&counting, cost, err);
    memory_free(counting.between);
    return status;
}

void map_links_done(struct map_links *links)
{
    memory_free(links->links);
    memory_free(links->leaving);
    memory_free(links->pipelines);
}
