/* SPDX-License-Identifier: MIT */
#include "report/evaluation/evaluation_report.h"
#include "report/number_text.h"
#include "report/text_table.h"
#include <math.h>
#include <string.h>

#define TITLE_MAXIMUM_COLUMNS 32u
#define SAME_WITHIN 1e-9 /* of the larger one: sums of the same bytes in another order */

/* One figure of both mappings. */
struct pair_of_costs {
    double ours, theirs;
    bool is_bytes;
};

static bool both_in_bytes(const struct mapping_evaluation *evaluation,
                          const struct mapping_cost *ours)
{
    return ours->bytes_known && evaluation->cost.bytes_known;
}

/* Both are of one cluster, so their slots are the same. */
static struct pair_of_costs of_dimension(const struct mapping_evaluation *evaluation,
                                         const struct mapping_cost *ours, unsigned dimension,
                                         unsigned slot)
{
    const struct mapping_cost *theirs = &evaluation->cost;
    if (both_in_bytes(evaluation, ours))
        return (struct pair_of_costs){ours->bytes[dimension][slot], theirs->bytes[dimension][slot],
                                      true};
    return (struct pair_of_costs){(double)ours->pairs[dimension][slot],
                                  (double)theirs->pairs[dimension][slot], false};
}

static void add_up(struct pair_of_costs *sum, const struct pair_of_costs *costs)
{
    sum->ours += costs->ours;
    sum->theirs += costs->theirs;
}

static struct pair_of_costs of_slot(const struct mapping_evaluation *evaluation,
                                    const struct mapping_cost *ours, unsigned slot)
{
    struct pair_of_costs sum = {.is_bytes = both_in_bytes(evaluation, ours)};
    for (unsigned dimension = 0; dimension < TRAFFIC_DIMENSION_COUNT; dimension++) {
        struct pair_of_costs costs = of_dimension(evaluation, ours, dimension, slot);
        add_up(&sum, &costs);
    }
    return sum;
}

static bool is_some(const struct pair_of_costs *costs)
{
    return costs->ours > 0 || costs->theirs > 0;
}

/* Theirs less ours. */
static double difference_of(const struct pair_of_costs *costs)
{
    double difference = costs->theirs - costs->ours;
    double larger = costs->theirs > costs->ours ? costs->theirs : costs->ours;
    return fabs(difference) <= SAME_WITHIN * larger ? 0.0 : difference;
}

static struct number_text amount(double value, bool is_bytes)
{
    return is_bytes ? number_bytes_real(value) : number_grouped((uint64_t)value);
}

/* A file goes by its last name, where that is short. */
static const char *title_of(const struct mapping_evaluation *evaluation)
{
    const char *slash = strrchr(evaluation->source, '/');
    const char *name = slash && slash[1] ? slash + 1 : evaluation->source;
    return text_columns(name) <= TITLE_MAXIMUM_COLUMNS ? name : "the file";
}

static void add_row(struct text_table *table, const char *tier, const char *dimension,
                    const struct pair_of_costs *costs)
{
    double difference = difference_of(costs);
    text_table_add(table, tier);
    text_table_add(table, dimension);
    text_table_add(table, amount(costs->ours, costs->is_bytes).text);
    text_table_add(table, amount(costs->theirs, costs->is_bytes).text);
    text_table_add_format(table, "%s%s",
                          difference > 0   ? "+"
                          : difference < 0 ? "-"
                                           : "",
                          amount(fabs(difference), costs->is_bytes).text);
}

/* Pairs of different dimensions do not add up to anything: a TP pair moves far more. */
static void add_pair_rows(struct text_table *table, const struct mapping_evaluation *evaluation,
                          const struct mapping_cost *ours, unsigned slot)
{
    const char *tier = ours->slot_names[slot];
    for (unsigned dimension = 0; dimension < TRAFFIC_DIMENSION_COUNT; dimension++) {
        struct pair_of_costs costs = of_dimension(evaluation, ours, dimension, slot);
        if (!is_some(&costs))
            continue;
        add_row(table, tier, traffic_dimension_name((enum traffic_dimension)dimension), &costs);
        tier = "";
    }
}

static void add_seconds(struct text_table *table, const struct mapping_cost *ours,
                        const struct mapping_cost *theirs)
{
    struct pair_of_costs costs = {.ours = ours->exposed_seconds, .theirs = theirs->exposed_seconds};
    double difference = difference_of(&costs);
    if (!ours->seconds_known || !theirs->seconds_known)
        return;
    text_table_add(table, "waiting");
    text_table_add(table, "");
    text_table_add(table, number_seconds(costs.ours).text);
    text_table_add(table, number_seconds(costs.theirs).text);
    text_table_add_format(table, "%s%s",
                          difference > 0   ? "+"
                          : difference < 0 ? "-"
                                           : "",
                          number_seconds(fabs(difference)).text);
}

static void add_table(const struct mapping_evaluation *evaluation, const struct mapping_cost *ours,
                      const struct text_style *style, struct text_buffer *out)
{
    const struct text_column columns[] = {{.title = "tier"},
                                          {.title = "of"},
                                          {.title = "ours", .align = ALIGN_RIGHT},
                                          {.title = title_of(evaluation), .align = ALIGN_RIGHT},
                                          {.title = "difference", .align = ALIGN_RIGHT}};
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    struct pair_of_costs total = {.is_bytes = both_in_bytes(evaluation, ours)};
    for (unsigned slot = 0; slot < ours->slot_count; slot++) {
        struct pair_of_costs costs = of_slot(evaluation, ours, slot);
        add_up(&total, &costs);
        if (!costs.is_bytes)
            add_pair_rows(table, evaluation, ours, slot);
        else if (is_some(&costs))
            add_row(table, ours->slot_names[slot], "", &costs);
    }
    add_row(table, "total", "", &total);
    add_seconds(table, ours, &evaluation->cost);
    text_table_write(table, style, out);
}

/* The farthest slot that either uses; COST_SLOT_NODE: nothing leaves the nodes. */
static unsigned farthest_slot(const struct mapping_evaluation *evaluation,
                              const struct mapping_cost *ours)
{
    unsigned slot = ours->slot_count - 1;
    for (; slot > COST_SLOT_NODE; slot--) {
        struct pair_of_costs costs = of_slot(evaluation, ours, slot);
        if (is_some(&costs))
            break;
    }
    return slot;
}

static void add_farthest_bytes(const struct pair_of_costs *costs, struct text_buffer *out)
{
    double difference = difference_of(costs);
    if (difference == 0.0) {
        text_buffer_add(out, "%s in both\n", number_bytes_real(costs->ours).text);
        return;
    }
    text_buffer_add(out, "ours moves %s %s (%s instead of %s",
                    number_bytes_real(fabs(difference)).text, difference > 0 ? "less" : "more",
                    number_bytes_real(costs->ours).text, number_bytes_real(costs->theirs).text);
    if (costs->theirs > 0)
        text_buffer_add(out, ", %s%s", difference > 0 ? "-" : "+",
                        number_percent(fabs(difference) / costs->theirs).text);
    text_buffer_add_text(out, ")\n");
}

/* Dimensions that have the same there in both are left out. */
static void add_farthest_pairs(const struct mapping_evaluation *evaluation,
                               const struct mapping_cost *ours, unsigned slot,
                               struct text_buffer *out)
{
    unsigned differing = 0;
    for (unsigned dimension = 0; dimension < TRAFFIC_DIMENSION_COUNT; dimension++) {
        struct pair_of_costs costs = of_dimension(evaluation, ours, dimension, slot);
        if (difference_of(&costs) == 0.0)
            continue;
        text_buffer_add(out, "%s%s %s instead of %s", differing++ > 0 ? ", " : "ours has ",
                        traffic_dimension_name((enum traffic_dimension)dimension),
                        number_grouped((uint64_t)costs.ours).text,
                        number_grouped((uint64_t)costs.theirs).text);
    }
    text_buffer_add_text(out, differing > 0 ? " pairs\n" : "the same pairs in both\n");
}

static void add_farthest(const struct mapping_evaluation *evaluation,
                         const struct mapping_cost *ours, struct text_buffer *out)
{
    unsigned slot = farthest_slot(evaluation, ours);
    if (slot == COST_SLOT_NODE) {
        text_buffer_add_text(out, "  nothing leaves the nodes in either\n");
        return;
    }
    struct pair_of_costs costs = of_slot(evaluation, ours, slot);
    text_buffer_add(out, "  farthest tier, %s: ", ours->slot_names[slot]);
    if (costs.is_bytes)
        add_farthest_bytes(&costs, out);
    else
        add_farthest_pairs(evaluation, ours, slot, out);
}

const char *evaluation_tp_within(const struct mapping_evaluation *evaluation)
{
    static const char *const words[TP_WITHIN_COUNT] = {[TP_WITHIN_NODE] = "node",
                                                       [TP_WITHIN_NVLINK_DOMAIN] = "nvlink_domain",
                                                       [TP_WITHIN_OFF] = "off"};
    return words[evaluation->tp_within];
}

static void add_tp_groups(const struct mapping_evaluation *evaluation,
                          const struct text_style *style, struct text_buffer *out)
{
    unsigned long long groups = evaluation->tp_groups, split = evaluation->tp_groups_split;
    bool domain = evaluation->tp_within == TP_WITHIN_NVLINK_DOMAIN;
    const char *places = domain ? "several NVLink domains" : "several nodes";
    bool bad = split > 0 && evaluation->tp_within != TP_WITHIN_OFF;
    enum text_tone tone = bad ? TONE_WARNING : TONE_PLAIN;
    if (groups == 0)
        return;
    text_buffer_add(out, "  %sTP groups there: ", text_tone_begin(style, tone));
    if (split == 0)
        text_buffer_add(out, "none of %llu is split over %s", groups, places);
    else
        text_buffer_add(out, "%llu of %llu are split over %s, %s policy tp_within: %s", split,
                        groups, places, bad ? "against" : "as allowed by",
                        evaluation_tp_within(evaluation));
    text_buffer_add(out, "%s\n", text_tone_end(style, tone));
}

static void add_sameness(const struct mapping_evaluation *evaluation, struct text_buffer *out)
{
    if (evaluation->same)
        text_buffer_add_text(out, "  the same mapping: every rank sits where ours has it\n");
    else if (evaluation->other_nodes > 0)
        text_buffer_add(out, "  another mapping: %llu of %llu ranks sit on another node\n",
                        (unsigned long long)evaluation->other_nodes,
                        (unsigned long long)evaluation->world);
    else
        text_buffer_add(out, "  the same nodes, but %llu of %llu ranks have another GPU\n",
                        (unsigned long long)evaluation->other_gpus,
                        (unsigned long long)evaluation->world);
}

void evaluation_report_text(const struct mapping_evaluation *evaluation,
                            const struct mapping_cost *ours, const struct text_style *style,
                            struct text_buffer *out)
{
    bool has_neighbours = false;
    for (unsigned slot = 0; slot < ours->slot_count; slot++) {
        struct pair_of_costs costs = of_slot(evaluation, ours, slot);
        has_neighbours = has_neighbours || is_some(&costs);
    }
    const char *unit = both_in_bytes(evaluation, ours)
                           ? ", in bytes per step"
                           : ", in neighbour pairs (bytes need --model)";
    text_heading(style, out, "Ours beside %s%s", evaluation->source, has_neighbours ? unit : "");
    if (has_neighbours) {
        add_table(evaluation, ours, style, out);
        add_farthest(evaluation, ours, out);
    } else {
        text_buffer_add_text(out, "  no rank has neighbours to compare: give --plan or --model\n");
    }
    add_tp_groups(evaluation, style, out);
    add_sameness(evaluation, out);
}
