/* SPDX-License-Identifier: MIT */
#include "report/map_report.h"
#include "report/number_text.h"

#define FIRST_NODES_SHOWN 24u
#define LAST_NODES_SHOWN 8u

/* The coordinates that a map shows, in the order of the columns. */
enum coordinate { AT_TP, AT_CP, AT_EP, AT_ETP, AT_PP, AT_DP, COORDINATE_COUNT };

static unsigned coordinate_of(const struct rank_coordinates *at, unsigned which)
{
    const unsigned values[COORDINATE_COUNT] = {
        [AT_TP] = at->tp,   [AT_CP] = at->cp, [AT_EP] = at->ep,
        [AT_ETP] = at->etp, [AT_PP] = at->pp, [AT_DP] = at->dp,
    };
    return values[which];
}

static bool is_shown(const struct rank_map *map, unsigned which)
{
    const unsigned degrees[COORDINATE_COUNT] = {
        [AT_TP] = map->degrees.tp, [AT_CP] = map->degrees.cp,
        [AT_EP] = map->degrees.ep, [AT_ETP] = map->degrees.ep > 1 ? map->degrees.etp : 1,
        [AT_PP] = map->degrees.pp, [AT_DP] = map->degrees.dp,
    };
    return !map->locality_only && degrees[which] > 1;
}

/* Presets know how many NICs there are, not their names: "#3". */
static void add_nic(struct text_table *table, const struct node_topology *kind,
                    const struct rank_place *place)
{
    if (place->nic < 0)
        text_table_add(table, "-");
    else if (kind->nics[place->nic].name)
        text_table_add(table, kind->nics[place->nic].name);
    else
        text_table_add_format(table, "#%d", place->nic);
    for (unsigned i = 1; i < MAP_DEVICE_COLUMNS; i++)
        text_table_add(table, "");
}

static void add_rank_row(struct text_table *table, const struct map_report *report, uint64_t rank)
{
    const struct rank_map *map = report->map;
    struct rank_place place;
    rank_map_place(map, rank, &place);
    const struct cluster_node *node = &map->cluster->nodes[place.node];
    const struct node_topology *kind = map->cluster->kinds[node->kind];
    text_table_add_unsigned(table, rank);
    text_table_add(table, node->name);
    text_table_add_unsigned(table, place.local_rank);
    text_table_add_unsigned(table, place.gpu);
    (report->add_devices ? report->add_devices : add_nic)(table, kind, &place);
    for (unsigned i = 0; i < COORDINATE_COUNT; i++) {
        if (is_shown(map, i))
            text_table_add_unsigned(table, coordinate_of(&place.coordinates, i));
        else
            text_table_add(table, "");
    }
}

static void add_range(struct text_table *table, uint64_t first, uint64_t last)
{
    if (first == last)
        text_table_add_unsigned(table, first);
    else
        text_table_add_format(table, "%llu-%llu", (unsigned long long)first,
                              (unsigned long long)last);
}

/* "0-7" in natural order, else the list. */
static void add_gpus(struct text_table *table, const struct rank_map *map, unsigned node)
{
    const unsigned *gpus = map->kind_gpus[map->cluster->nodes[node].kind];
    bool natural = true;
    CLEANUP_DONE(text_buffer) struct text_buffer list;
    text_buffer_init(&list, TEXT_BUFFER_REPORT_MAXIMUM);
    for (unsigned i = 0; i < map->gpus_per_node; i++) {
        natural = natural && gpus[i] == gpus[0] + i;
        text_buffer_add(&list, "%s%u", i > 0 ? "," : "", gpus[i]);
    }
    if (natural)
        add_range(table, gpus[0], gpus[map->gpus_per_node - 1]);
    else
        text_table_add(table, text_buffer_text(&list));
}

static void add_node_row(struct text_table *table, const struct rank_map *map, size_t block)
{
    uint64_t first = (uint64_t)block * map->gpus_per_node;
    struct rank_place place;
    unsigned low[COORDINATE_COUNT], high[COORDINATE_COUNT];
    rank_map_place(map, first, &place);
    for (unsigned j = 0; j < COORDINATE_COUNT; j++)
        low[j] = high[j] = coordinate_of(&place.coordinates, j);
    for (unsigned i = 1; i < map->gpus_per_node; i++) {
        rank_map_place(map, first + i, &place);
        for (unsigned j = 0; j < COORDINATE_COUNT; j++) {
            unsigned value = coordinate_of(&place.coordinates, j);
            low[j] = value < low[j] ? value : low[j];
            high[j] = value > high[j] ? value : high[j];
        }
    }
    add_range(table, first, first + map->gpus_per_node - 1);
    text_table_add(table, map->cluster->nodes[place.node].name);
    add_range(table, 0, map->gpus_per_node - 1);
    add_gpus(table, map, place.node);
    for (unsigned i = 0; i < MAP_DEVICE_COLUMNS; i++)
        text_table_add(table, "");
    for (unsigned j = 0; j < COORDINATE_COUNT; j++) {
        if (is_shown(map, j))
            add_range(table, low[j], high[j]);
        else
            text_table_add(table, "");
    }
}

static void add_gap_row(struct text_table *table, size_t nodes)
{
    text_table_tone(table, TONE_FAINT);
    text_table_add(table, "…");
    text_table_add_format(table, "%zu more", nodes);
    for (unsigned i = 2; i < 4 + MAP_DEVICE_COLUMNS + COORDINATE_COUNT; i++)
        text_table_add(table, "");
}

static void add_places(const struct map_report *report, struct text_table *table)
{
    const struct rank_map *map = report->map;
    if (report->every_rank || map->world < MAP_REPORT_FOLD_RANKS) {
        for (uint64_t rank = 0; rank < map->world; rank++)
            add_rank_row(table, report, rank);
        return;
    }
    bool folded = map->block_count > MAP_REPORT_FOLD_NODES;
    for (size_t block = 0; block < map->block_count; block++) {
        if (folded && block == FIRST_NODES_SHOWN) {
            add_gap_row(table, map->block_count - FIRST_NODES_SHOWN - LAST_NODES_SHOWN);
            block = map->block_count - LAST_NODES_SHOWN;
        }
        add_node_row(table, map, block);
    }
}

static bool dimension_has_pairs(const struct mapping_cost *cost, unsigned dimension)
{
    for (unsigned slot = 0; slot < cost->slot_count; slot++) {
        if (cost->pairs[dimension][slot] > 0)
            return true;
    }
    return false;
}

static void add_cost(const struct mapping_cost *cost, const struct text_style *style,
                     struct text_buffer *out)
{
    struct text_column columns[1 + COST_SLOT_MAXIMUM] = {{.title = ""}};
    for (unsigned slot = 0; slot < cost->slot_count; slot++)
        columns[1 + slot] =
            (struct text_column){.title = cost->slot_names[slot], .align = ALIGN_RIGHT};
    CLEANUP(text_table)
    struct text_table *table = text_table_create(columns, 1 + cost->slot_count);
    for (unsigned dimension = 0; dimension < TRAFFIC_DIMENSION_COUNT; dimension++) {
        if (!dimension_has_pairs(cost, dimension))
            continue;
        text_table_add(table, traffic_dimension_name((enum traffic_dimension)dimension));
        for (unsigned slot = 0; slot < cost->slot_count; slot++) {
            uint64_t pairs = cost->pairs[dimension][slot];
            if (pairs == 0)
                text_table_add(table, "");
            else if (cost->bytes_known)
                text_table_add(table, number_bytes_real(cost->bytes[dimension][slot]).text);
            else
                text_table_add_unsigned(table, pairs);
        }
    }
    if (text_table_rows(table) == 0)
        return;
    text_heading(style, out, "%s",
                 cost->bytes_known ? UNPACKED_TEXT("Bytes per step, by how far they go")
                                   : UNPACKED_TEXT("Neighbour pairs, by how far they are "
                                                   "(bytes need --model)"));
    text_table_write(table, style, out);
}

/* "3.9 % above the lower bound", "the least there can be". */
static void add_gap(const struct mapping_quality *quality, struct text_buffer *out)
{
    if (quality->optimal) {
        text_buffer_add(out, "the least there can be");
        return;
    }
    text_buffer_add_real(out, 100 * mapping_quality_gap(quality), 3);
    text_buffer_add(out, " %% above the lower bound");
}

static void add_quality(const struct map_report *report, struct text_buffer *out)
{
    const struct objective_result *outlook = report->outlook;
    const struct mapping_quality *quality = &outlook->quality;
    if (!quality->optimal && quality->lower_bound <= 0)
        return;
    if (!outlook->cost.seconds_known) {
        text_buffer_add(out, "  by the rule's weights (TP nearest, replicas last): ");
        add_gap(quality, out);
        text_buffer_add_text(out, "\n");
        return;
    }
    text_buffer_add(out, "  %s of a step wait for communication, %s objective: ",
                    number_seconds(outlook->cost.exposed_seconds).text,
                    outlook->objective == OBJECTIVE_COST ? "cost" : "golden");
    add_gap(quality, out);
    if (!quality->optimal)
        text_buffer_add(out, " of %s", number_seconds(quality->lower_bound).text);
    text_buffer_add_text(out, "\n");
    if (outlook->objective == OBJECTIVE_COST &&
        outlook->golden_seconds > outlook->cost.exposed_seconds)
        text_buffer_add(out, "  the rule's order would wait for %s\n",
                        number_seconds(outlook->golden_seconds).text);
}

static void add_note(const char *note, const struct text_style *style, struct text_buffer *out)
{
    if (note)
        text_buffer_add(out, "  %s%s%s\n", text_tone_begin(style, TONE_WARNING), note,
                        text_tone_end(style, TONE_WARNING));
}

static bool is_in_fabric(const struct cluster_topology *cluster, unsigned node)
{
    unsigned at = cluster->nodes[node].fabric_node;
    return at != FABRIC_NONE && cluster->fabric->nodes[at].leaf != FABRIC_NONE;
}

/* Nodes of the map that no switch is known to join. */
static void add_strays(const struct rank_map *map, struct text_buffer *out)
{
    size_t strays = 0;
    const char *first = NULL;
    for (size_t block = 0; map->cluster->fabric && block < map->block_count; block++) {
        unsigned node = map->block_nodes[block];
        if (is_in_fabric(map->cluster, node))
            continue;
        first = strays++ == 0 ? map->cluster->nodes[node].name : first;
    }
    if (strays > 0 && strays < map->block_count)
        text_buffer_add(out,
                        "  %zu of %zu nodes (%s%s) are under no switch that is known: counted as "
                        "farthest, used last\n",
                        strays, map->block_count, first, strays > 1 ? ", ..." : "");
}

static void add_title(const struct map_report *report, const struct text_style *style,
                      struct text_buffer *out)
{
    const struct rank_map *map = report->map;
    char degrees[DEGREES_TEXT_BYTES];
    degrees_text(&map->degrees, degrees);
    text_heading(style, out, "%llu ranks on %zu node%s of %s", (unsigned long long)map->world,
                 map->block_count, map->block_count == 1 ? "" : "s", map->cluster->name);
    if (map->locality_only)
        text_buffer_add(out, "  locality only: node, GPU and NIC order; no degrees given");
    else
        text_buffer_add(out, "  %s, rank order %s", degrees, rank_order_name(map->order));
    text_buffer_add(out, "; MASTER_ADDR %s\n",
                    report->master ? report->master : rank_map_master(map));
    add_note(report->policy_note, style, out);
    add_note(report->rail_note, style, out);
}

void map_report_text(const struct map_report *report, const struct text_style *style,
                     struct text_buffer *out)
{
    static const struct text_column columns[] = {
        {.title = "rank", .align = ALIGN_RIGHT},
        {.title = "node"},
        {.title = "local", .align = ALIGN_RIGHT},
        {.title = "gpu", .align = ALIGN_RIGHT},
        {.title = "nic"},
        {.title = "rail", .align = ALIGN_RIGHT},
        {.title = "numa", .align = ALIGN_RIGHT},
        {.title = "cpus"},
        {.title = "tp", .align = ALIGN_RIGHT},
        {.title = "cp", .align = ALIGN_RIGHT},
        {.title = "ep", .align = ALIGN_RIGHT},
        {.title = "etp", .align = ALIGN_RIGHT},
        {.title = "pp", .align = ALIGN_RIGHT},
        {.title = "dp", .align = ALIGN_RIGHT},
    };
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    add_title(report, style, out);
    add_places(report, table);
    text_buffer_add_text(out, "\n");
    text_table_write(table, style, out);
    if (!report->every_rank && report->map->world >= MAP_REPORT_FOLD_RANKS)
        text_buffer_add(out, "  one row per node; --all prints one per rank\n");
    add_cost(&report->outlook->cost, style, out);
    add_quality(report, out);
    add_strays(report->map, out);
}

void map_report_hostfile(const struct map_report *report, struct text_buffer *out)
{
    const struct rank_map *map = report->map;
    for (uint64_t rank = 0; rank < map->world; rank++) {
        unsigned node = map->block_nodes[rank / map->gpus_per_node];
        text_buffer_add_text(out, map->cluster->nodes[node].name);
        text_buffer_add_text(out, "\n");
    }
}

void map_report_rankfile(const struct map_report *report, struct text_buffer *out)
{
    const struct rank_map *map = report->map;
    for (uint64_t rank = 0; rank < map->world; rank++) {
        unsigned node = map->block_nodes[rank / map->gpus_per_node];
        text_buffer_add(out, "rank %llu=%s slot=%u\n", (unsigned long long)rank,
                        map->cluster->nodes[node].name, (unsigned)(rank % map->gpus_per_node));
    }
}
