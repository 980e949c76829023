/* SPDX-License-Identifier: MIT */
/* map_picture: what the lines are, with the totals by tier. */
#include "report/number_text.h"
#include "report/pictures/map/map_scene.h"
#include <math.h>

#define TABLE_ROW 19.0
#define TABLE_GAP 26.0
#define SAMPLE_WIDTH 26.0
#define WORDS_LEFT (PICTURE_MARGIN + SAMPLE_WIDTH + 10.0)
#define FIRST_COLUMN (PICTURE_MARGIN + 390.0)
#define COLUMN 104.0

static const char *const dimension_words[TRAFFIC_DIMENSION_COUNT] = {
    [TRAFFIC_TP] = "tensor parallel: rings",
    [TRAFFIC_CP] = "context parallel: rings",
    [TRAFFIC_EP] = "experts: all-to-all, drawn as rings",
    [TRAFFIC_PP] = "pipeline: each stage and its next",
    [TRAFFIC_DP] = "data parallel: rings of replicas",
};

static uint64_t slot_pairs(const struct mapping_cost *cost, unsigned slot)
{
    uint64_t pairs = 0;
    for (unsigned dimension = 0; dimension < TRAFFIC_DIMENSION_COUNT; dimension++)
        pairs += cost->pairs[dimension][slot];
    return pairs;
}

static uint64_t dimension_pairs(const struct mapping_cost *cost, unsigned dimension)
{
    uint64_t pairs = 0;
    for (unsigned slot = 0; slot < cost->slot_count; slot++)
        pairs += cost->pairs[dimension][slot];
    return pairs;
}

/* Columns stay where they are when a tier has none, but for the rare ones. */
static bool is_shown(const struct mapping_cost *cost, unsigned slot)
{
    bool rare = slot == COST_SLOT_DOMAIN || slot + 1 == cost->slot_count;
    return !rare || slot_pairs(cost, slot) > 0;
}

static void draw_head(struct map_scene *scene, double y)
{
    const struct mapping_cost *cost = scene->cost;
    struct text_buffer *out = &scene->picture.body;
    double x = FIRST_COLUMN;
    svg_text(out, PICTURE_MARGIN, y, &font_strong, SVG_START,
             cost->bytes_known ? "Bytes per step, by how far they go"
                               : "Neighbour pairs, by how far they are");
    for (unsigned slot = 0; slot < cost->slot_count; slot++) {
        if (!is_shown(cost, slot))
            continue;
        const struct svg_box place = {x, y, COLUMN - 8.0, 0.0};
        svg_text_fit(out, &place, &font_plain, SVG_END, cost->slot_names[slot]);
        x += COLUMN;
    }
}

static void draw_row(struct map_scene *scene, unsigned dimension, double y)
{
    const struct mapping_cost *cost = scene->cost;
    struct text_buffer *out = &scene->picture.body;
    CLEANUP_DONE(text_buffer) struct text_buffer words;
    text_buffer_init(&words, PICTURE_MAXIMUM_BYTES);
    text_buffer_add(&words, "%s   %s", traffic_dimension_name((enum traffic_dimension)dimension),
                    dimension_words[dimension]);
    svg_group_begin(out, map_scene_link_hue(dimension), NULL);
    svg_path_begin(out, "arc cross", 3.0);
    svg_path_move(out, PICTURE_MARGIN, y - 4.0);
    svg_path_line(out, PICTURE_MARGIN + SAMPLE_WIDTH, y - 4.0);
    svg_path_end(out);
    svg_group_end(out);
    svg_text(out, WORDS_LEFT, y, &font_plain, SVG_START, picture_text(&scene->picture, &words));
    double x = FIRST_COLUMN;
    for (unsigned slot = 0; slot < cost->slot_count; slot++) {
        if (!is_shown(cost, slot))
            continue;
        uint64_t pairs = cost->pairs[dimension][slot];
        if (pairs > 0)
            svg_text(out, x, y, &font_plain, SVG_END,
                     cost->bytes_known ? number_bytes_real(cost->bytes[dimension][slot]).text
                                       : number_grouped(pairs).text);
        x += COLUMN;
    }
}

void map_scene_draw_table(struct map_scene *scene)
{
    double y = scene->picture.bottom + TABLE_GAP;
    bool begun = false;
    for (unsigned dimension = 0; dimension < TRAFFIC_DIMENSION_COUNT; dimension++) {
        if (dimension_pairs(scene->cost, dimension) == 0)
            continue;
        if (!begun)
            draw_head(scene, y);
        begun = true;
        y += TABLE_ROW;
        draw_row(scene, dimension, y);
    }
    if (begun)
        scene->picture.bottom = y;
}
