/* SPDX-License-Identifier: MIT */
/* map_picture: nodes with their GPUs, and switches that stand for many of them. */
#include "report/number_text.h"
#include "report/pictures/map/map_scene.h"
#include <stdio.h>
#include <string.h>

#define WORD_BYTES 64u
#define SHORT_COUNT 10000u
#define CELL_LIFT 4.0 /* of a rank's base line */

/* Smallest and largest coordinate of a unit's ranks. */
struct extent {
    unsigned low[ROW_COUNT], high[ROW_COUNT];
};

static void widen(struct extent *extent, enum box_row row, unsigned value)
{
    if (value < extent->low[row])
        extent->low[row] = value;
    if (value > extent->high[row])
        extent->high[row] = value;
}

static struct extent extent_of(const struct map_scene *scene, const struct map_unit *unit)
{
    const struct map_units *units = &scene->units;
    struct extent extent;
    memset(extent.low, 0xff, sizeof(extent.low));
    memset(extent.high, 0, sizeof(extent.high));
    for (size_t i = 0; i < unit->count; i++) {
        size_t block = units->block_of[units->order[unit->first + i]];
        if (block == scene->map->block_count)
            continue;
        for (unsigned local = 0; local < scene->map->gpus_per_node; local++) {
            struct rank_place place;
            rank_map_place(scene->map, (uint64_t)block * scene->map->gpus_per_node + local, &place);
            widen(&extent, ROW_CP, place.coordinates.cp);
            widen(&extent, ROW_PP, place.coordinates.pp);
            widen(&extent, ROW_DP, place.coordinates.dp);
        }
    }
    return extent;
}

static const char *unit_name(const struct map_scene *scene, const struct map_unit *unit)
{
    const struct cluster_topology *cluster = scene->map->cluster;
    if (unit->kind == UNIT_NODE || (unit->kind == UNIT_SPARE && unit->count == 1))
        return cluster->nodes[scene->units.order[unit->first]].name;
    if (unit->kind == UNIT_GROUP && unit->switch_index != FABRIC_NONE)
        return cluster->fabric->switches[unit->switch_index].name;
    return NULL;
}

static void name_words(const struct map_unit *unit, char *words)
{
    if (unit->kind == UNIT_BUNDLE)
        snprintf(words, WORD_BYTES, "%zu more", unit->switches);
    else if (unit->kind == UNIT_SPARE)
        snprintf(words, WORD_BYTES, "%zu spare", unit->count);
    else
        snprintf(words, WORD_BYTES, "switch ?");
}

/* Boxes are narrow. */
static struct number_text short_count(uint64_t count)
{
    return count < SHORT_COUNT ? number_grouped(count) : number_si((double)count);
}

static void range_words(const struct map_scene *scene, const struct extent *extent,
                        enum box_row row, char *words)
{
    static const char *const names[ROW_COUNT] = {
        [ROW_CP] = "cp ", [ROW_PP] = "pp ", [ROW_DP] = "dp "};
    const char *name = scene->layout.wordy ? names[row] : "";
    if (extent->low[row] == extent->high[row])
        snprintf(words, WORD_BYTES, "%s%u", name, extent->low[row]);
    else
        snprintf(words, WORD_BYTES, "%s%u-%u", name, extent->low[row], extent->high[row]);
}

static void count_words(const struct map_scene *scene, unsigned index, enum box_row row,
                        char *words)
{
    const struct map_unit *unit = &scene->units.units[index];
    const uint64_t *leaving = scene->links.leaving + (size_t)index * TRAFFIC_DIMENSION_COUNT;
    if (row == ROW_NODES)
        snprintf(words, WORD_BYTES, "%s node%s", short_count(unit->count).text,
                 unit->count == 1 ? "" : "s");
    else if (row == ROW_RANKS)
        snprintf(words, WORD_BYTES, "%s ranks",
                 short_count((uint64_t)unit->used * scene->map->gpus_per_node).text);
    else if (row == ROW_SPARE && unit->count > unit->used)
        snprintf(words, WORD_BYTES, "%s spare", short_count(unit->count - unit->used).text);
    else if (row >= ROW_LEAVING)
        snprintf(words, WORD_BYTES, "%s out %s",
                 traffic_dimension_name((enum traffic_dimension)(row - ROW_LEAVING)),
                 short_count(leaving[row - ROW_LEAVING]).text);
}

/* What stands in a row of a unit's box; empty: nothing. */
static void row_words(const struct map_scene *scene, unsigned index, enum box_row row,
                      const struct extent *extent, char *words)
{
    const struct map_unit *unit = &scene->units.units[index];
    words[0] = '\0';
    if (row < ROW_CP || row >= ROW_LEAVING)
        count_words(scene, index, row, words);
    else if (unit->used > 0)
        range_words(scene, extent, row, words);
    else if (scene->layout.wordy && row == scene->layout.rows[1] && unit->count == 1)
        snprintf(words, WORD_BYTES, "spare"); /* below its name */
}

/* Names differ at their ends: what is cut is the beginning. */
static void draw_name(struct map_scene *scene, const struct svg_box *place, const char *name)
{
    const char *tail = name;
    char words[WORD_BYTES * 2];
    while (svg_text_width(&font_plain, tail) + font_plain.size > place->width && tail[0] &&
           svg_text_width(&font_plain, name) > place->width) {
        uint32_t code;
        size_t bytes = text_character(tail, &code);
        tail += bytes > 0 ? bytes : 1;
    }
    snprintf(words, sizeof(words), "%s%.100s", tail > name ? "…" : "", tail);
    svg_text_fit(&scene->picture.body, place, &font_plain, SVG_MIDDLE, words);
}

/* Where one is too wide for its box, none is shown: tooltips have them all. */
static bool row_fits(const struct map_scene *scene, enum box_row row)
{
    char words[WORD_BYTES];
    if (scene->layout.wordy)
        return true;
    for (unsigned i = 0; i < scene->units.count; i++) {
        const struct extent extent = extent_of(scene, &scene->units.units[i]);
        row_words(scene, i, row, &extent, words);
        if (svg_text_width(&font_cell, words) > scene->layout.box_width)
            return false;
    }
    return true;
}

static void draw_rows(struct map_scene *scene, unsigned index, const struct extent *extent)
{
    const struct map_layout *layout = &scene->layout;
    const struct map_unit *unit = &scene->units.units[index];
    const struct svg_font *font = layout->wordy ? &font_small : &font_cell;
    struct svg_box place = {layout->unit_x[index], layout->box_top, layout->box_width - 2.0, 0.0};
    for (unsigned i = 0; i < layout->row_count; i++) {
        char words[WORD_BYTES];
        if (!(scene->rows_shown & 1u << i))
            continue;
        place.y = layout->box_top + (i + 1.0) * layout->row_height - 1.0;
        const char *name = layout->rows[i] == ROW_NAME ? unit_name(scene, unit) : NULL;
        row_words(scene, index, layout->rows[i], extent, words);
        if (layout->rows[i] == ROW_NAME && !name)
            name_words(unit, words);
        if (name)
            draw_name(scene, &place, name);
        else if (words[0] && svg_text_width(font, words) <= layout->box_width)
            svg_text(&scene->picture.body, place.x, place.y, font, SVG_MIDDLE, words);
    }
}

static void cell_class(const struct map_scene *scene, const struct rank_coordinates *at,
                       char *class_name)
{
    if (scene->map->locality_only)
        snprintf(class_name, PICTURE_CLASS_BYTES, "cl");
    else
        picture_hue_class(class_name, (at->pp + at->cp) % 2 == 0 ? "ca" : "cb", at->dp);
}

static void draw_cell(struct map_scene *scene, const struct svg_box *box,
                      const struct rank_place *place)
{
    char class_name[PICTURE_CLASS_BYTES] = "cn", words[WORD_BYTES];
    if (place)
        cell_class(scene, &place->coordinates, class_name);
    svg_rectangle(&scene->picture.body, box, 1.5, class_name);
    if (!place || !scene->layout.wordy)
        return;
    snprintf(words, sizeof(words), "%llu", (unsigned long long)place->rank);
    if (svg_text_width(&font_cell, words) <= box->width)
        svg_text(&scene->picture.body, box->x + box->width / 2.0, box->y + box->height - CELL_LIFT,
                 &font_cell, SVG_MIDDLE, words);
}

/* GPUs in the order of the node, not of their ranks. */
static void draw_cells(struct map_scene *scene, unsigned index)
{
    const struct map_layout *layout = &scene->layout;
    unsigned node = scene->units.order[scene->units.units[index].first];
    unsigned kind = scene->map->cluster->nodes[node].kind;
    size_t block = scene->units.block_of[node];
    double left = layout->unit_x[index] - layout->box_width / 2.0 + 2.0;
    for (unsigned gpu = 0; gpu < scene->map->cluster->kinds[kind]->gpu_count; gpu++) {
        struct rank_place place;
        unsigned local = 0;
        while (local < scene->map->gpus_per_node && scene->map->kind_gpus[kind][local] != gpu)
            local++;
        bool used = local < scene->map->gpus_per_node;
        if (used)
            rank_map_place(scene->map, (uint64_t)block * scene->map->gpus_per_node + local, &place);
        unsigned row = gpu / layout->cell_columns, column = gpu % layout->cell_columns;
        const struct svg_box box = {left + column * layout->cell_width,
                                    layout->cells_top + row * layout->cell_height,
                                    layout->cell_width, layout->cell_height};
        draw_cell(scene, &box, used ? &place : NULL);
    }
}

static void unit_tooltip(const struct map_scene *scene, unsigned index, const struct extent *extent,
                         struct text_buffer *text)
{
    const struct map_unit *unit = &scene->units.units[index];
    const char *name = unit_name(scene, unit);
    uint64_t first = (uint64_t)scene->units.block_of[scene->units.order[unit->first]] *
                     scene->map->gpus_per_node;
    text_buffer_add(text, "%s", name ? name : "nodes");
    if (unit->used == 0)
        text_buffer_add_text(text, ": no rank");
    else if (unit->kind == UNIT_NODE)
        text_buffer_add(text, ": ranks %llu-%llu", (unsigned long long)first,
                        (unsigned long long)first + scene->map->gpus_per_node - 1);
    if (unit->used > 0 && !scene->map->locality_only)
        text_buffer_add(text, ", pp %u-%u, dp %u-%u", extent->low[ROW_PP], extent->high[ROW_PP],
                        extent->low[ROW_DP], extent->high[ROW_DP]);
}

static void draw_box(struct map_scene *scene, unsigned index)
{
    const struct map_layout *layout = &scene->layout;
    const struct map_unit *unit = &scene->units.units[index];
    const struct extent extent = extent_of(scene, unit);
    const struct svg_box box = {layout->unit_x[index] - layout->box_width / 2.0, layout->box_top,
                                layout->box_width, layout->box_bottom - layout->box_top};
    CLEANUP_DONE(text_buffer) struct text_buffer tooltip;
    text_buffer_init(&tooltip, PICTURE_MAXIMUM_BYTES);
    unit_tooltip(scene, index, &extent, &tooltip);
    svg_group_begin(&scene->picture.body, NULL, picture_text(&scene->picture, &tooltip));
    svg_rectangle(&scene->picture.body, &box, layout->wordy ? 4.0 : 2.0,
                  unit->kind == UNIT_BUNDLE  ? "vague"
                  : unit->kind == UNIT_SPARE ? "dim"
                                             : "box");
    if (unit->kind == UNIT_NODE)
        draw_cells(scene, index);
    draw_rows(scene, index, &extent);
    svg_group_end(&scene->picture.body);
}

/* Where boxes are too narrow for it, once for all of them. */
static void name_rows(struct map_scene *scene)
{
    static const char *const names[ROW_COUNT] = {[ROW_CP] = "cp", [ROW_PP] = "pp", [ROW_DP] = "dp"};
    const struct map_layout *layout = &scene->layout;
    for (unsigned i = 0; i < layout->row_count && !layout->wordy; i++)
        if (names[layout->rows[i]] && scene->rows_shown & 1u << i)
            svg_text(&scene->picture.body, layout->frame_left[0] - 5.0,
                     layout->box_top + (i + 1.0) * layout->row_height - 1.0, &font_faint, SVG_END,
                     names[layout->rows[i]]);
}

void map_scene_draw_boxes(struct map_scene *scene)
{
    for (unsigned i = 0; i < scene->layout.row_count; i++)
        if (row_fits(scene, scene->layout.rows[i]))
            scene->rows_shown |= 1u << i;
    for (unsigned i = 0; i < scene->units.count; i++)
        draw_box(scene, i);
    name_rows(scene);
}
