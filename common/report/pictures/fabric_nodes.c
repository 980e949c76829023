/* SPDX-License-Identifier: MIT */
/* fabric_picture: the nodes of a column. */
#include "base/node_list.h"
#include "report/number_text.h"
#include "report/pictures/fabric_scene.h"
#include <math.h>
#include <stdio.h>

#define PADDING 6.0
#define BAND_LABEL 19.0
#define BAND_GAP 6.0
#define SQUARES_MAXIMUM 96u /* of a column */
#define BANDS_MAXIMUM 6u    /* of a column */
#define TOOLTIPS_MAXIMUM 256u
#define NAMES_LISTED 1024u
#define NAMES_BYTES 160u
#define BLOCKS_MAXIMUM ((size_t)4 << 20)
#define COUNT_HEIGHT 34.0
#define CAPTION_ROW 15.0

/* Nodes side by side that share one NVLink domain, or that share none. */
struct run {
    size_t first, count;
    unsigned block; /* or FABRIC_NONE: each has its own */
};

static size_t node_at(const struct fabric_scene *scene, size_t position)
{
    return scene->columns.order[position];
}

static unsigned kind_of(const struct fabric_scene *scene, size_t node)
{
    return scene->columns.cluster ? scene->columns.cluster->nodes[node].kind : 0;
}

static unsigned gpus_of(const struct fabric_scene *scene, size_t node)
{
    const struct cluster_topology *cluster = scene->columns.cluster;
    return cluster ? cluster->kinds[kind_of(scene, node)]->gpu_count : 0;
}

int scene_count_blocks(struct fabric_scene *scene, struct error_info *err)
{
    size_t count = 0;
    for (size_t i = 0; i < scene->columns.node_count; i++) {
        unsigned block = columns_nvlink_block(&scene->columns, i);
        if (block != FABRIC_NONE && block < BLOCKS_MAXIMUM && block >= count)
            count = (size_t)block + 1;
    }
    scene->blocks = memory_allocate_array(count + 1, sizeof(*scene->blocks));
    if (!scene->blocks)
        return error_set_memory(err);
    scene->block_count = count;
    for (size_t i = 0; i < scene->columns.node_count; i++) {
        unsigned block = columns_nvlink_block(&scene->columns, i);
        if (block >= count)
            continue;
        scene->blocks[block].nodes++;
        scene->blocks[block].gpus += gpus_of(scene, i);
    }
    scene->has_tooltips = scene->columns.node_count <= TOOLTIPS_MAXIMUM;
    return 0;
}

/* The domain of a node where it has more nodes than this one. */
static unsigned shared_block(const struct fabric_scene *scene, size_t position)
{
    unsigned block = columns_nvlink_block(&scene->columns, node_at(scene, position));
    bool shared = block < scene->block_count && scene->blocks[block].nodes > 1;
    return shared ? block : FABRIC_NONE;
}

static struct run run_from(const struct fabric_scene *scene, size_t first, size_t end)
{
    struct run run = {.first = first, .count = 1, .block = shared_block(scene, first)};
    while (first + run.count < end && shared_block(scene, first + run.count) == run.block)
        run.count++;
    return run;
}

struct column_totals {
    uint64_t gpus;
    size_t runs, blocks;
};

static struct column_totals totals_of(struct fabric_scene *scene, unsigned index)
{
    const struct fabric_column *column = &scene->columns.columns[index];
    struct column_totals totals = {.gpus = 0};
    size_t end = column->first + column->node_count;
    for (size_t at = column->first; at < end; at++)
        totals.gpus += gpus_of(scene, node_at(scene, at));
    for (size_t at = column->first; at < end;) {
        struct run run = run_from(scene, at, end);
        at += run.count;
        totals.runs++;
        if (run.block == FABRIC_NONE || scene->blocks[run.block].counted == index + 1)
            continue;
        scene->blocks[run.block].counted = index + 1;
        totals.blocks++;
    }
    return totals;
}

struct grid {
    double side, pitch;
    unsigned per_row;
};

/* Round numbers of squares in a row where there is room: racks of 18 as 9 + 9, others by 8. */
static struct grid grid_of(double width, size_t count)
{
    struct grid grid = {.side = 8.0, .pitch = 10.0};
    if (width >= 140.0)
        grid = (struct grid){.side = 13.0, .pitch = 17.0};
    unsigned fits = (unsigned)((width + grid.pitch - grid.side) / grid.pitch);
    grid.per_row = fits > 0 ? fits : 1;
    if (fits >= 16)
        grid.per_row = 16;
    else if (fits >= 9 && count % 9 == 0)
        grid.per_row = 9;
    else if (fits >= 8)
        grid.per_row = 8;
    if (count < grid.per_row)
        grid.per_row = count > 0 ? (unsigned)count : 1;
    return grid;
}

static double grid_height(const struct grid *grid, size_t count)
{
    size_t rows = (count + grid->per_row - 1) / grid->per_row;
    return (double)rows * grid->pitch - (grid->pitch - grid->side);
}

static void kind_class(unsigned kind, char *class_name)
{
    if (kind % SCENE_KINDS == 0)
        snprintf(class_name, PICTURE_CLASS_BYTES, "node");
    else
        picture_hue_class(class_name, "bar", PICTURE_HUES - kind % SCENE_KINDS);
}

/* Where a grid begins, and the corner of its i-th square. */
struct corner {
    double x, y;
};

static struct corner corner_of(const struct grid *grid, const struct corner *first, size_t i)
{
    size_t row = i / grid->per_row, place = i % grid->per_row;
    return (struct corner){first->x + (double)place * grid->pitch,
                           first->y + (double)row * grid->pitch};
}

static void draw_named_squares(struct fabric_scene *scene, const struct run *run,
                               const struct grid *grid, const struct corner *first)
{
    for (size_t i = 0; i < run->count; i++) {
        size_t node = node_at(scene, run->first + i);
        char class_name[PICTURE_CLASS_BYTES];
        const struct corner at = corner_of(grid, first, i);
        const struct svg_box box = {at.x, at.y, grid->side, grid->side};
        kind_class(kind_of(scene, node), class_name);
        svg_group_begin(&scene->picture.body, NULL, columns_node_name(&scene->columns, node));
        svg_rectangle(&scene->picture.body, &box, 2.0, class_name);
        svg_group_end(&scene->picture.body);
    }
}

/* Without names: one path for all nodes of a kind. */
static void draw_plain_squares(struct fabric_scene *scene, const struct run *run,
                               const struct grid *grid, const struct corner *first)
{
    struct text_buffer *out = &scene->picture.body;
    for (unsigned kind = 0; kind < SCENE_KINDS; kind++) {
        bool begun = false;
        for (size_t i = 0; i < run->count; i++) {
            char class_name[PICTURE_CLASS_BYTES];
            if (kind_of(scene, node_at(scene, run->first + i)) % SCENE_KINDS != kind)
                continue;
            kind_class(kind, class_name);
            if (!begun)
                svg_path_begin(out, class_name, 0.0);
            begun = true;
            const struct corner at = corner_of(grid, first, i);
            svg_path_square(out, at.x, at.y, grid->side);
        }
        if (begun)
            svg_path_end(out);
    }
}

static void block_words(const struct fabric_scene *scene, const struct run *run,
                        struct text_buffer *text)
{
    const struct nvlink_block *block = &scene->blocks[run->block];
    const struct fabric *fabric = scene->columns.fabric;
    bool named = fabric && run->block < fabric->domain_count && fabric->domains[run->block].name;
    if (named)
        text_buffer_add(text, "%s · ", fabric->domains[run->block].name);
    if (run->count < block->nodes)
        text_buffer_add(text, "%zu of %zu nodes", run->count, block->nodes);
    else if (block->gpus > 0)
        text_buffer_add(text, "%s GPUs", number_grouped(block->gpus).text);
    else
        text_buffer_add(text, "%zu nodes", block->nodes);
}

static void draw_block(struct fabric_scene *scene, const struct run *run, const struct svg_box *box)
{
    struct nvlink_block *block = &scene->blocks[run->block];
    struct text_buffer *out = &scene->picture.body;
    CLEANUP_DONE(text_buffer) struct text_buffer words;
    text_buffer_init(&words, PICTURE_MAXIMUM_BYTES);
    block_words(scene, run, &words);
    if (block->hue == 0)
        block->hue = ++scene->next_hue;
    char class_name[PICTURE_CLASS_BYTES], tooltip[64];
    snprintf(class_name, sizeof(class_name), "hue%u", (block->hue - 1) % PICTURE_HUES);
    snprintf(tooltip, sizeof(tooltip), "NVLink domain of %zu nodes", block->nodes);
    svg_group_begin(out, class_name, tooltip);
    svg_rectangle(out, box, 5.0, "band");
    const struct svg_box place = {box->x + box->width / 2.0, box->y + 14.0, box->width - 6.0, 0.0};
    svg_text_fit(out, &place, &font_hue, SVG_MIDDLE, picture_text(&scene->picture, &words));
    svg_group_end(out);
}

/* Returns the y below. */
static double draw_run(struct fabric_scene *scene, const struct run *run,
                       const struct svg_box *area, double y)
{
    bool banded = run->block != FABRIC_NONE;
    struct grid grid = grid_of(area->width - 2.0 * PADDING, run->count);
    double height = grid_height(&grid, run->count);
    double width = grid.per_row * grid.pitch - (grid.pitch - grid.side);
    const struct corner first = {area->x + (area->width - width) / 2.0,
                                 y + (banded ? BAND_LABEL : 0.0)};
    if (banded) {
        const struct svg_box band = {area->x + 3.0, y, area->width - 6.0,
                                     BAND_LABEL + height + 5.0};
        draw_block(scene, run, &band);
    }
    if (scene->has_tooltips)
        draw_named_squares(scene, run, &grid, &first);
    else
        draw_plain_squares(scene, run, &grid, &first);
    scene->has_squares = true;
    return first.y + height + (banded ? 5.0 + BAND_GAP : BAND_GAP);
}

static double measure_runs(const struct fabric_scene *scene, const struct fabric_column *column,
                           double width)
{
    double height = 0.0;
    size_t end = column->first + column->node_count;
    for (size_t at = column->first; at < end;) {
        struct run run = run_from(scene, at, end);
        struct grid grid = grid_of(width - 2.0 * PADDING, run.count);
        height += grid_height(&grid, run.count) + BAND_GAP;
        height += run.block != FABRIC_NONE ? BAND_LABEL + 5.0 : 0.0;
        at += run.count;
    }
    return height - BAND_GAP;
}

static void draw_runs(struct fabric_scene *scene, const struct fabric_column *column,
                      const struct svg_box *area)
{
    size_t end = column->first + column->node_count;
    double y = area->y + PADDING;
    for (size_t at = column->first; at < end;) {
        struct run run = run_from(scene, at, end);
        y = draw_run(scene, &run, area, y);
        at += run.count;
    }
}

/* "n[001-032]", or the first and the last. */
static void names_of(const struct fabric_scene *scene, const struct fabric_column *column,
                     struct text_buffer *text)
{
    CLEANUP(node_list) struct node_list *names = node_list_create(NULL);
    bool listed = column->node_count <= NAMES_LISTED;
    bool failed = !names;
    for (size_t i = 0; listed && !failed && i < column->node_count; i++)
        failed = node_list_add(
                     names, columns_node_name(&scene->columns, node_at(scene, column->first + i)),
                     NULL) < 0;
    if (failed) {
        text->failed = true;
        return;
    }
    if (listed)
        node_list_encode(names, text);
    if (column->node_count == 0 || (listed && text->length <= NAMES_BYTES))
        return;
    size_t last = column->first + column->node_count - 1;
    text->length = 0;
    text_buffer_add(text, "%.80s … %.80s",
                    columns_node_name(&scene->columns, node_at(scene, column->first)),
                    columns_node_name(&scene->columns, node_at(scene, last)));
}

static void caption_line(struct fabric_scene *scene, struct svg_box *place,
                         const struct svg_font *font, const char *text)
{
    place->y += CAPTION_ROW - 1.0;
    svg_text_fit(&scene->picture.body, place, font, SVG_MIDDLE, text);
    scene->picture.bottom = fmax(scene->picture.bottom, place->y + 4.0);
}

/* On one line, or the first and the last on two. */
static void draw_names(struct fabric_scene *scene, const struct fabric_column *column,
                       struct svg_box *place)
{
    CLEANUP_DONE(text_buffer) struct text_buffer names;
    text_buffer_init(&names, PICTURE_MAXIMUM_BYTES);
    names_of(scene, column, &names);
    if (svg_text_width(&font_small, picture_text(&scene->picture, &names)) <= place->width ||
        column->node_count < 2) {
        caption_line(scene, place, &font_small, picture_text(&scene->picture, &names));
        return;
    }
    size_t last = column->first + column->node_count - 1;
    names.length = 0;
    text_buffer_add(&names, "%.80s …",
                    columns_node_name(&scene->columns, node_at(scene, column->first)));
    caption_line(scene, place, &font_small, picture_text(&scene->picture, &names));
    caption_line(scene, place, &font_small,
                 columns_node_name(&scene->columns, node_at(scene, last)));
}

static void draw_caption(struct fabric_scene *scene, const struct fabric_column *column,
                         const struct column_totals *totals, const struct svg_box *area)
{
    char text[48];
    struct svg_box place = {area->x + area->width / 2.0, area->y + area->height + 2.0,
                            area->width + 6.0, 0.0};
    draw_names(scene, column, &place);
    snprintf(text, sizeof(text), "%s node%s", number_grouped(column->node_count).text,
             column->node_count == 1 ? "" : "s");
    if (column->kind != COLUMN_BUNDLE || totals->blocks > 0)
        caption_line(scene, &place, &font_faint, text);
    if (totals->gpus == 0)
        return;
    snprintf(text, sizeof(text), "%s GPU%s", number_grouped(totals->gpus).text,
             totals->gpus == 1 ? "" : "s");
    caption_line(scene, &place, &font_faint, text);
}

/* Too many to show one by one. */
static void draw_count(struct fabric_scene *scene, const struct fabric_column *column,
                       const struct column_totals *totals, const struct svg_box *area)
{
    char text[64];
    struct svg_box place = {area->x + area->width / 2.0, area->y + 21.0, area->width - 4.0, 0.0};
    if (totals->blocks > 0)
        snprintf(text, sizeof(text), "%s domain%s", number_grouped(totals->blocks).text,
                 totals->blocks == 1 ? "" : "s");
    else
        snprintf(text, sizeof(text), "%s nodes", number_grouped(column->node_count).text);
    svg_text_fit(&scene->picture.body, &place, &font_small, SVG_MIDDLE, text);
}

void scene_draw_nodes(struct fabric_scene *scene, unsigned index, double y)
{
    const struct fabric_column *column = &scene->columns.columns[index];
    double width = scene->layout.column_width - 8.0;
    bool astray = column->kind == COLUMN_ASTRAY;
    struct column_totals totals = totals_of(scene, index);
    bool counted = column->node_count > SQUARES_MAXIMUM || totals.runs > BANDS_MAXIMUM ||
                   column->kind == COLUMN_BUNDLE;
    struct svg_box area = {scene->layout.column_x[index] - width / 2.0, y, width, COUNT_HEIGHT};
    if (!counted && column->node_count > 0)
        area.height = measure_runs(scene, column, width) + 2.0 * PADDING;
    svg_rectangle(&scene->picture.body, &area, 6.0,
                  astray                          ? "unsure"
                  : column->kind == COLUMN_BUNDLE ? "vague"
                                                  : "frame");
    if (counted || column->node_count == 0)
        draw_count(scene, column, &totals, &area);
    else
        draw_runs(scene, column, &area);
    draw_caption(scene, column, &totals, &area);
}

static void kind_words(struct fabric_scene *scene, unsigned kind)
{
    const struct cluster_topology *cluster = scene->columns.cluster;
    const struct node_topology *node = cluster->kinds[kind];
    size_t count = 0;
    for (size_t i = 0; i < cluster->node_count; i++)
        count += cluster->nodes[i].kind == kind;
    snprintf(scene->kind_texts[kind], sizeof(scene->kind_texts[kind]),
             "%.40s: %s node%s, %u × %.40s", cluster->kind_names[kind], number_grouped(count).text,
             count == 1 ? "" : "s", node->gpu_count,
             node->gpu_count == 0  ? "GPU"
             : node->gpus[0].model ? node->gpus[0].model
                                   : "GPU of unknown model");
}

void scene_add_node_legend(struct fabric_scene *scene)
{
    const struct cluster_topology *cluster = scene->columns.cluster;
    for (unsigned kind = 0; cluster && kind < cluster->kind_count && kind < SCENE_KINDS; kind++) {
        char class_name[PICTURE_CLASS_BYTES];
        kind_class(kind, class_name);
        kind_words(scene, kind);
        picture_add_legend(&scene->picture, LEGEND_BOX, class_name, 0.0, scene->kind_texts[kind]);
    }
    if (!cluster && scene->has_squares)
        picture_add_legend(&scene->picture, LEGEND_BOX, "node", 0.0, "a node");
    if (scene->next_hue > 0)
        picture_add_legend(&scene->picture, LEGEND_BOX, "band hue0", 0.0, "NVLink domain");
    for (unsigned i = 0; i < scene->columns.count; i++) {
        if (scene->columns.columns[i].kind != COLUMN_ASTRAY)
            continue;
        picture_add_legend(&scene->picture, LEGEND_BOX, "unsure", 0.0,
                           "no switch named: place not known");
        break;
    }
}
