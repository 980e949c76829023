/* SPDX-License-Identifier: MIT */
#include "mapping/gpu_mapping.h"
#include "mapping/rails/gpu_nics.h"
#include "report/evaluation/evaluation_report.h"
#include "report/map_report.h"

#define NUMBER_BYTES 24u
#define NO_KIND UINT32_MAX

/* What stands in a rank's row of its devices, the same for a local rank on every node of a kind:
 * ends[i] of the text is where local rank i's part ends. */
struct device_rows {
    unsigned kind;
    struct text_buffer text;
    size_t ends[NODE_MAXIMUM_GPUS];
};

/* text_buffer_add formats in a locale of its own, which costs more than the number: this is
 * what makes 131,072 ranks cheap. */
static void add_number(struct text_buffer *out, uint64_t number)
{
    char digits[NUMBER_BYTES];
    size_t start = sizeof(digits);
    do {
        digits[--start] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    text_buffer_add_bytes(out, digits + start, sizeof(digits) - start);
}

static void add_quoted(struct text_buffer *out, const char *text)
{
    if (!text) {
        text_buffer_add_text(out, "null");
        return;
    }
    text_buffer_add_text(out, "\"");
    for (; *text; text++) {
        unsigned char character = (unsigned char)*text;
        if (character < 0x20)
            text_buffer_add(out, "\\u%04x", character);
        else if (character == '"' || character == '\\')
            text_buffer_add(out, "\\%c", character);
        else
            text_buffer_add_bytes(out, text, 1);
    }
    text_buffer_add_text(out, "\"");
}

static void add_field(struct text_buffer *out, const char *name, uint64_t number)
{
    text_buffer_add_text(out, name);
    add_number(out, number);
}

static void add_coordinates(struct text_buffer *out, const struct rank_coordinates *at)
{
    add_field(out, ", \"tp\": ", at->tp);
    add_field(out, ", \"cp\": ", at->cp);
    add_field(out, ", \"ep\": ", at->ep);
    add_field(out, ", \"etp\": ", at->etp);
    add_field(out, ", \"pp\": ", at->pp);
    add_field(out, ", \"dp\": ", at->dp);
}

static void add_known(struct text_buffer *out, const char *name, int number)
{
    text_buffer_add_text(out, name);
    if (number >= 0)
        add_number(out, (unsigned)number);
    else
        text_buffer_add_text(out, "null");
}

/* The names, or null where one is unknown or there is no NIC. */
static void add_nics(struct text_buffer *out, const struct node_topology *kind, unsigned gpu)
{
    unsigned nics[NODE_MAXIMUM_NICS];
    unsigned count = gpu_nics_find(kind, gpu, nics);
    bool known = count > 0;
    for (unsigned i = 0; i < count; i++)
        known = known && kind->nics[nics[i]].name;
    text_buffer_add_text(out, known ? ", \"nics\": [" : ", \"nics\": null");
    for (unsigned i = 0; known && i < count; i++) {
        text_buffer_add_text(out, i > 0 ? ", " : "");
        add_quoted(out, kind->nics[nics[i]].name);
    }
    text_buffer_add_text(out, known ? "]" : "");
}

static void add_devices(struct text_buffer *out, const struct node_topology *kind, unsigned gpu)
{
    const struct node_gpu *device = &kind->gpus[gpu];
    add_field(out, ", \"gpu\": ", gpu);
    text_buffer_add_text(out, ", \"nic\": ");
    add_quoted(out, device->nic_count > 0 ? kind->nics[device->nics[0]].name : NULL);
    add_nics(out, kind, gpu);
    add_known(out, ", \"rail\": ", gpu_rail(kind, gpu));
    add_known(out, ", \"numa\": ", device->numa);
    text_buffer_add_text(out, ", \"cpus\": ");
    add_quoted(out, device->cpus);
}

static void fill_device_rows(const struct rank_map *map, unsigned kind, struct device_rows *rows)
{
    rows->kind = kind;
    rows->text.length = 0;
    for (unsigned i = 0; i < map->gpus_per_node; i++) {
        add_devices(&rows->text, map->cluster->kinds[kind], map->kind_gpus[kind][i]);
        rows->ends[i] = rows->text.length;
    }
}

static void add_rank(struct text_buffer *out, const struct rank_map *map,
                     const struct rank_place *place, struct device_rows *rows)
{
    const struct cluster_node *node = &map->cluster->nodes[place->node];
    if (node->kind != rows->kind)
        fill_device_rows(map, node->kind, rows);
    size_t start = place->local_rank > 0 ? rows->ends[place->local_rank - 1] : 0;
    add_field(out, "{\"rank\": ", place->rank);
    text_buffer_add_text(out, ", \"node\": ");
    add_quoted(out, node->name);
    add_field(out, ", \"local_rank\": ", place->local_rank);
    text_buffer_add_bytes(out, text_buffer_text(&rows->text) + start,
                          rows->ends[place->local_rank] - start);
    if (map->locality_only)
        text_buffer_add_text(out, ", \"tp\": null, \"cp\": null, \"ep\": null, \"etp\": null, "
                                  "\"pp\": null, \"dp\": null");
    else
        add_coordinates(out, &place->coordinates);
    text_buffer_add_text(out, "}");
}

static void add_ranks(struct text_buffer *out, const struct rank_map *map)
{
    struct device_rows rows = {.kind = NO_KIND};
    text_buffer_init(&rows.text, TEXT_BUFFER_REPORT_MAXIMUM);
    text_buffer_add_text(out, "  \"ranks\": [");
    for (uint64_t rank = 0; rank < map->world; rank++) {
        struct rank_place place;
        rank_map_place(map, rank, &place);
        text_buffer_add_text(out, rank > 0 ? ",\n    " : "\n    ");
        add_rank(out, map, &place, &rows);
    }
    text_buffer_add_text(out, "\n  ]\n");
    out->failed = out->failed || text_buffer_failed(&rows.text);
    text_buffer_done(&rows.text);
}

static void add_notes(struct text_buffer *out, const struct map_report *report)
{
    text_buffer_add_text(out, ",\n  \"notes\": [");
    if (report->rail_note)
        add_quoted(out, report->rail_note);
    text_buffer_add_text(out, "],\n");
}

static void add_tiers(struct text_buffer *out, const struct mapping_cost *cost, bool as_bytes)
{
    text_buffer_add_text(out, "{");
    for (unsigned slot = 0; slot < cost->slot_count; slot++) {
        double bytes = 0.0;
        uint64_t pairs = 0;
        for (unsigned dimension = 0; dimension < TRAFFIC_DIMENSION_COUNT; dimension++) {
            bytes += cost->bytes[dimension][slot];
            pairs += cost->pairs[dimension][slot];
        }
        text_buffer_add_text(out, slot > 0 ? ", " : "");
        add_quoted(out, cost->slot_names[slot]);
        text_buffer_add_text(out, ": ");
        if (!as_bytes)
            add_number(out, pairs);
        else if (cost->bytes_known)
            text_buffer_add_real(out, bytes, 12);
        else
            text_buffer_add_text(out, "null");
    }
    text_buffer_add_text(out, "}");
}

static void add_figure(struct text_buffer *out, const char *name, double figure, bool known)
{
    text_buffer_add_text(out, name);
    if (known)
        text_buffer_add_real(out, figure, 12);
    else
        text_buffer_add_text(out, "null");
}

/* Seconds with a model; the gap also without one, in the rule's weights. */
static void add_quality(struct text_buffer *out, const struct map_report *report)
{
    const struct objective_result *outlook = report->outlook;
    const struct mapping_quality *quality = &outlook->quality;
    bool seconds = outlook->cost.seconds_known,
         searched = quality->optimal || quality->lower_bound > 0;
    add_figure(out, ",\n    \"exposed_seconds\": ", outlook->cost.exposed_seconds, seconds);
    add_figure(out, ",\n    \"lower_bound_seconds\": ", quality->lower_bound, seconds && searched);
    add_figure(out, ",\n    \"gap\": ", mapping_quality_gap(quality), searched);
    text_buffer_add(out, ",\n    \"gap_of\": %s,\n    \"optimal\": %s",
                    searched ? (seconds ? "\"seconds\"" : "\"rule\"") : "null",
                    searched && quality->optimal ? "true" : "false");
    add_field(out, ",\n    \"exchanges\": ", quality->exchanges);
    text_buffer_add(out, ",\n    \"objective\": \"%s\"\n  },\n",
                    outlook->objective == OBJECTIVE_COST ? "cost" : "golden");
}

static void add_cost(struct text_buffer *out, const struct map_report *report)
{
    const struct mapping_cost *cost = &report->outlook->cost;
    text_buffer_add_text(out, "  \"cost\": {\n    \"bytes\": ");
    add_tiers(out, cost, true);
    text_buffer_add_text(out, ",\n    \"pairs\": ");
    add_tiers(out, cost, false);
    add_quality(out, report);
}

/* The bound is one of blocks on nodes: a mapping that cuts them has none. */
static void add_evaluation(struct text_buffer *out, const struct mapping_evaluation *evaluation)
{
    text_buffer_add_text(out, "  \"evaluated\": {\n    \"source\": ");
    add_quoted(out, evaluation->source);
    text_buffer_add_text(out, ",\n    \"cost\": {\n      \"bytes\": ");
    add_tiers(out, &evaluation->cost, true);
    text_buffer_add_text(out, ",\n      \"pairs\": ");
    add_tiers(out, &evaluation->cost, false);
    add_figure(out, ",\n      \"exposed_seconds\": ", evaluation->cost.exposed_seconds,
               evaluation->cost.seconds_known);
    text_buffer_add_text(out, ",\n      \"lower_bound_seconds\": null,\n"
                              "      \"gap\": null\n    }");
    text_buffer_add(out, ",\n    \"tp_within\": \"%s\"", evaluation_tp_within(evaluation));
    add_field(out, ",\n    \"tp_groups\": ", evaluation->tp_groups);
    add_field(out, ",\n    \"tp_groups_split\": ", evaluation->tp_groups_split);
    add_field(out, ",\n    \"ranks_on_other_nodes\": ", evaluation->other_nodes);
    add_field(out, ",\n    \"ranks_on_other_gpus\": ", evaluation->other_gpus);
    text_buffer_add(out, ",\n    \"same\": %s\n  },\n", evaluation->same ? "true" : "false");
}

static void add_degrees(struct text_buffer *out, const struct rank_map *map)
{
    const struct degrees *degrees = &map->degrees;
    if (map->locality_only) {
        text_buffer_add_text(out, "  \"degrees\": null,\n  \"order\": null,\n");
        return;
    }
    text_buffer_add(out,
                    "  \"degrees\": {\"tp\": %u, \"cp\": %u, \"ep\": %u, \"etp\": %u, \"pp\": %u, "
                    "\"vpp\": %u, \"dp\": %u, \"shard\": %u, \"replicate\": %u},\n",
                    degrees->tp, degrees->cp, degrees->ep, degrees->etp, degrees->pp, degrees->vpp,
                    degrees->dp, degrees->shard, degrees->replicate);
    text_buffer_add(out, "  \"order\": \"%s\",\n", rank_order_name(map->order));
}

void map_report_json(const struct map_report *report, struct text_buffer *out)
{
    const struct rank_map *map = report->map;
    text_buffer_add_text(out, "{\n  \"schema\": \"parplan.map/1\",\n  \"cluster\": ");
    add_quoted(out, map->cluster->name);
    text_buffer_add(out, ",\n  \"world\": %llu,\n  \"gpus_per_node\": %u,\n",
                    (unsigned long long)map->world, map->gpus_per_node);
    add_degrees(out, map);
    text_buffer_add_text(out, "  \"master_addr\": ");
    add_quoted(out, rank_map_master(map));
    add_notes(out, report);
    add_cost(out, report);
    if (report->evaluation)
        add_evaluation(out, report->evaluation);
    add_ranks(out, map);
    text_buffer_add_text(out, "}\n");
}
