/* SPDX-License-Identifier: MIT */
#include "report/pictures/fabric_picture.h"
#include "report/number_text.h"
#include "report/pictures/fabric_scene.h"
#include <math.h>
#include <stdio.h>

#define TIER_STEP 92.0
#define BOX_HEIGHT 30.0
#define NARROWEST 760.0
#define UNKNOWN_BAR 46.0 /* what joins several roots, where nothing says it */
#define NODES_GAP 26.0
#define STUB 30.0

static double tier_top(const struct fabric_scene *scene, unsigned tier)
{
    unsigned tiers = scene->columns.fabric->tier_count;
    double first = PICTURE_HEAD + 6.0 + (scene->unjoined ? UNKNOWN_BAR : 0.0);
    return first + (tiers - 1 - tier) * TIER_STEP;
}

static unsigned tier_of(const struct fabric_scene *scene, const struct switch_box *box)
{
    return scene->columns.fabric->switches[box->index].tier;
}

static void draw_tier_names(struct fabric_scene *scene)
{
    const struct fabric *fabric = scene->columns.fabric;
    for (unsigned tier = 0; tier < fabric->tier_count; tier++) {
        const struct svg_box place = {PICTURE_MARGIN, tier_top(scene, tier) + 19.0,
                                      LAYOUT_GUTTER - PICTURE_MARGIN - 4.0, 0.0};
        svg_text_fit(&scene->picture.body, &place, &font_faint, SVG_START,
                     fabric->tier_names[tier]);
    }
}

/* The uplink that every switch of a tier has, or 0. */
static double common_uplink(const struct fabric *fabric, unsigned tier)
{
    double common = -1.0;
    for (size_t i = 0; i < fabric->switch_count; i++) {
        double rate = fabric->switches[i].uplink_bytes_per_second;
        if (fabric->switches[i].tier != tier)
            continue;
        if (common >= 0.0 && (rate < common || rate > common))
            return 0.0;
        common = rate;
    }
    return common;
}

/* Leaves of rails are too narrow for the rate of their uplinks: once for all of them. */
static void draw_rail_rate(struct fabric_scene *scene)
{
    double rate = common_uplink(scene->columns.fabric, 0);
    if (!scene->columns.railed || rate <= 0.0)
        return;
    char text[48];
    snprintf(text, sizeof(text), "↑ %s", number_network(rate).text);
    const struct svg_box place = {PICTURE_MARGIN, tier_top(scene, 0) + 33.0,
                                  LAYOUT_GUTTER - PICTURE_MARGIN + 10.0, 0.0};
    svg_text_fit(&scene->picture.body, &place, &font_faint, SVG_START, text);
}

/* From below up to a switch: a bend in the middle, or straight and by rail. */
static void draw_uplink(struct fabric_scene *scene, double x, double y,
                        const struct switch_box *above, const char *class_name, bool straight)
{
    struct text_buffer *out = &scene->picture.body;
    double foot = tier_top(scene, tier_of(scene, above)) + BOX_HEIGHT, bend = foot + 18.0;
    svg_path_begin(out, class_name, 0.0);
    svg_path_move(out, x, y);
    if (straight) {
        svg_path_curve(out, (const double[]){x, y - 34.0, above->x, foot + 34.0, above->x, foot});
    } else {
        svg_path_line(out, x, bend);
        svg_path_line(out, above->x, bend);
        svg_path_line(out, above->x, foot);
    }
    svg_path_end(out);
}

static void draw_uplinks(struct fabric_scene *scene)
{
    const struct fabric_layout *layout = &scene->layout;
    for (unsigned i = 0; i < layout->box_count; i++) {
        const struct switch_box *box = &layout->boxes[i];
        char class_name[PICTURE_CLASS_BYTES];
        if (box->above == LAYOUT_NO_BOX)
            continue;
        if (box->railed)
            picture_hue_class(class_name, "edge", box->rail);
        else
            snprintf(class_name, sizeof(class_name), "wire");
        draw_uplink(scene, box->x, tier_top(scene, tier_of(scene, box)), &layout->boxes[box->above],
                    class_name, box->railed || scene->columns.railed);
    }
}

/* On a line, which is blanked behind it. */
static void draw_label(struct fabric_scene *scene, double x, double y, const char *text)
{
    double room = scene->layout.column_width - 4.0;
    double width = fmin(svg_text_width(&font_uplink, text), room);
    const struct svg_box blank = {x - width / 2.0 - 2.0, y - 10.0, width + 4.0, 13.0};
    const struct svg_box place = {x, y, room, 0.0};
    svg_rectangle(&scene->picture.body, &blank, 0.0, "blank");
    svg_text_fit(&scene->picture.body, &place, &font_uplink, SVG_MIDDLE, text);
}

/* "102 Tb/s" and "2:1", above the switch. */
static void draw_rate(struct fabric_scene *scene, const struct switch_box *box)
{
    const struct fabric_switch *here = &scene->columns.fabric->switches[box->index];
    double y = tier_top(scene, here->tier);
    if (here->uplink_bytes_per_second <= 0.0 || box->above == LAYOUT_NO_BOX || box->railed)
        return;
    draw_label(scene, box->x, y - 8.0, number_network(here->uplink_bytes_per_second).text);
    if (here->downlink_bytes_per_second <= 0.0)
        return;
    CLEANUP_DONE(text_buffer) struct text_buffer ratio;
    text_buffer_init(&ratio, PICTURE_MAXIMUM_BYTES);
    text_buffer_add_real(&ratio, here->downlink_bytes_per_second / here->uplink_bytes_per_second,
                         2);
    text_buffer_add_text(&ratio, ":1");
    draw_label(scene, box->x, y - 21.0, picture_text(&scene->picture, &ratio));
    scene->has_ratio = true;
}

static void switch_tooltip(const struct fabric_scene *scene, const struct switch_box *box,
                           struct text_buffer *text)
{
    const struct fabric_switch *here = &scene->columns.fabric->switches[box->index];
    text_buffer_add(text, "%s %s", scene->columns.fabric->tier_names[here->tier], here->name);
    if (box->railed)
        text_buffer_add(text, ", rail %u", box->rail);
    if (box->above != LAYOUT_NO_BOX)
        text_buffer_add(text, "; uplink %s", number_network(here->uplink_bytes_per_second).text);
    if (here->downlink_bytes_per_second > 0.0)
        text_buffer_add(text, ", downlinks %s",
                        number_network(here->downlink_bytes_per_second).text);
}

static void draw_switch(struct fabric_scene *scene, const struct switch_box *box)
{
    struct text_buffer *out = &scene->picture.body;
    const char *name = scene->columns.fabric->switches[box->index].name;
    double y = tier_top(scene, tier_of(scene, box));
    const struct svg_box rectangle = {box->x - box->width / 2.0, y, box->width, BOX_HEIGHT};
    CLEANUP_DONE(text_buffer) struct text_buffer tooltip;
    text_buffer_init(&tooltip, PICTURE_MAXIMUM_BYTES);
    switch_tooltip(scene, box, &tooltip);
    char class_name[PICTURE_CLASS_BYTES] = "switch", number[16];
    if (box->railed)
        picture_hue_class(class_name, "bar", box->rail);
    svg_group_begin(out, NULL, picture_text(&scene->picture, &tooltip));
    svg_rectangle(out, &rectangle, 5.0, class_name);
    const struct svg_box place = {box->x, y + 19.0, box->width - 8.0, 0.0};
    snprintf(number, sizeof(number), "%u", box->rail);
    svg_text_fit(out, &place, box->railed ? &font_chip : &font_switch, SVG_MIDDLE,
                 box->railed ? number : name);
    svg_group_end(out);
}

/* A bundle's switches: how many of each tier, where that tier's row is. */
static void draw_bundle(struct fabric_scene *scene, unsigned index)
{
    const struct fabric_column *column = &scene->columns.columns[index];
    struct text_buffer *out = &scene->picture.body;
    double x = scene->layout.column_x[index],
           width = fmin(scene->layout.column_width - 12.0, column->sets > 0 ? 170.0 : 116.0);
    for (unsigned i = 0; i <= column->top_tier; i++) {
        unsigned tier = column->top_tier - i;
        char text[96];
        double y = tier_top(scene, tier);
        size_t count = column->sets > 0 ? column->sets : column->switches[tier];
        if (count == 0)
            continue;
        snprintf(text, sizeof(text), column->sets > 0 ? "%s sets of leaves more" : "× %s",
                 number_grouped(count).text);
        const struct svg_box box = {x - width / 2.0, y, width, BOX_HEIGHT};
        const struct svg_box behind = {box.x + 4.0, y - 4.0, width, BOX_HEIGHT};
        if (i > 0 || column->sets > 0) /* where sets lead to is drawn for the others */
            svg_line(out, x, y - (i > 0 ? TIER_STEP - BOX_HEIGHT : STUB), x, y, "far");
        svg_rectangle(out, &behind, 5.0, "vague");
        svg_rectangle(out, &box, 5.0, "vague");
        const struct svg_box place = {x, y + 19.0, width - 8.0, 0.0};
        svg_text_fit(out, &place, &font_small, SVG_MIDDLE, text);
    }
}

static void draw_columns(struct fabric_scene *scene, double y)
{
    const struct fabric_layout *layout = &scene->layout;
    for (unsigned i = 0; i < scene->columns.count; i++) {
        const struct fabric_column *column = &scene->columns.columns[i];
        bool bundle = column->kind == COLUMN_BUNDLE;
        if (layout->column_above[i] != LAYOUT_NO_BOX)
            draw_uplink(scene, layout->column_x[i],
                        bundle ? tier_top(scene, column->top_tier) - 4.0 : y,
                        &layout->boxes[layout->column_above[i]], bundle ? "far" : "wire", false);
        if (bundle) {
            svg_line(&scene->picture.body, layout->column_x[i], y - NODES_GAP, layout->column_x[i],
                     y, "far");
            draw_bundle(scene, i);
        }
    }
    for (unsigned i = 0; i < scene->columns.count; i++)
        scene_draw_nodes(scene, i, y);
}

/* Lines from the leaves down to their nodes. */
static void draw_downlinks(struct fabric_scene *scene, double y)
{
    for (unsigned i = 0; i < scene->layout.box_count; i++) {
        const struct switch_box *box = &scene->layout.boxes[i];
        char class_name[PICTURE_CLASS_BYTES] = "wire";
        if (!box->is_leaf)
            continue;
        if (box->railed)
            picture_hue_class(class_name, "edge", box->rail);
        svg_line(&scene->picture.body, box->x, tier_top(scene, tier_of(scene, box)) + BOX_HEIGHT,
                 box->x, y, class_name);
    }
}

/* Several roots: nothing says whether and how they are joined. */
static void draw_unknown_bar(struct fabric_scene *scene)
{
    struct text_buffer *out = &scene->picture.body;
    double left = scene->layout.left, right = scene->layout.right, y = PICTURE_HEAD;
    const struct svg_box bar = {left, y, right - left, 24.0};
    for (unsigned i = 0; i < scene->layout.box_count; i++) {
        const struct switch_box *box = &scene->layout.boxes[i];
        if (box->above == LAYOUT_NO_BOX)
            svg_line(out, box->x, y + 24.0, box->x, tier_top(scene, tier_of(scene, box)), "guess");
    }
    svg_rectangle(out, &bar, 5.0, "unsure");
    svg_text(out, (left + right) / 2.0, y + 16.0, &font_plain, SVG_MIDDLE,
             "? what joins these, no source tells");
}

static void draw_fabric(struct fabric_scene *scene)
{
    if (!scene->columns.fabric || scene->columns.fabric->tier_count == 0) {
        scene->picture.bottom = PICTURE_HEAD;
        draw_columns(scene, PICTURE_HEAD);
        return;
    }
    double y = tier_top(scene, 0) + BOX_HEIGHT + NODES_GAP;
    scene->picture.bottom = y;
    draw_tier_names(scene);
    draw_rail_rate(scene);
    if (scene->unjoined)
        draw_unknown_bar(scene);
    draw_uplinks(scene);
    draw_downlinks(scene, y);
    draw_columns(scene, y);
    for (unsigned i = 0; i < scene->layout.box_count; i++) {
        draw_rate(scene, &scene->layout.boxes[i]);
        draw_switch(scene, &scene->layout.boxes[i]);
    }
}

static void add_warnings(struct fabric_scene *scene)
{
    const struct fabric *fabric = scene->columns.fabric;
    const struct cluster_topology *cluster = scene->columns.cluster;
    for (size_t i = 0; fabric && i < fabric->warning_count; i++)
        picture_add_note(&scene->picture, fabric->warnings[i]);
    for (size_t k = 0; cluster && k < cluster->kind_count; k++)
        for (size_t i = 0; i < cluster->kinds[k]->warning_count; i++)
            picture_add_note(&scene->picture, cluster->kinds[k]->warnings[i]);
}

static void add_count(struct text_buffer *out, uint64_t count, const char *word, const char *more)
{
    text_buffer_add(out, "%s%s %s", out->length > 0 ? " · " : "", number_grouped(count).text,
                    count == 1 ? word : more);
}

static void write_subtitle(const struct fabric_columns *columns, struct text_buffer *out)
{
    bool known = false;
    add_count(out, columns->node_count, "node", "nodes");
    if (columns->cluster)
        add_count(out, cluster_gpu_count(columns->cluster), "GPU", "GPUs");
    if (columns->fabric)
        add_count(out, columns->fabric->switch_count, "switch", "switches");
    else
        text_buffer_add_text(out, " · switches ?");
    if (columns->fabric && columns->railed)
        add_count(out, columns->fabric->rail_count, "rail", "rails");
    if (!columns->cluster)
        return;
    unsigned domain = cluster_nvlink_domain_gpus(columns->cluster, &known);
    text_buffer_add(out, " · NVLink domain %s%s", known ? number_grouped(domain).text : "?",
                    !known        ? ""
                    : domain == 1 ? " GPU"
                                  : " GPUs");
}

static void write_sources(const struct fabric_columns *columns, struct text_buffer *out)
{
    const char *fabric = columns->fabric ? columns->fabric->source : NULL;
    text_buffer_add(out, "Source: %s",
                    fabric             ? fabric
                    : columns->cluster ? columns->cluster->name
                                       : "?");
}

static void add_bundle_legend(struct fabric_scene *scene)
{
    for (unsigned i = 0; i < scene->columns.count; i++) {
        if (scene->columns.columns[i].kind != COLUMN_BUNDLE)
            continue;
        picture_add_legend(&scene->picture, LEGEND_BOX, "vague", 0.0,
                           "that many, not drawn one by one");
        return;
    }
}

static void draw_scene(struct fabric_scene *scene, const char *title, struct text_buffer *out)
{
    CLEANUP_DONE(text_buffer) struct text_buffer subtitle, sources;
    text_buffer_init(&subtitle, PICTURE_MAXIMUM_BYTES);
    text_buffer_init(&sources, PICTURE_MAXIMUM_BYTES);
    write_subtitle(&scene->columns, &subtitle);
    write_sources(&scene->columns, &sources);
    picture_init(&scene->picture, fmax(scene->layout.right + PICTURE_MARGIN, NARROWEST));
    scene->picture.title = title;
    scene->picture.subtitle = picture_text(&scene->picture, &subtitle);
    scene->picture.sources = picture_text(&scene->picture, &sources);
    scene->unjoined = scene->layout.roots > 1 && !scene->columns.railed;
    draw_fabric(scene);
    scene_add_node_legend(scene);
    if (scene->columns.railed)
        picture_add_legend(&scene->picture, LEGEND_BOX, "bar hue0", 0.0, "leaf, by its rail");
    add_bundle_legend(scene);
    if (scene->has_ratio)
        picture_add_legend(&scene->picture, LEGEND_LINE, "wire", 0.0,
                           "uplink; 2:1 is downlinks to uplink");
    add_warnings(scene);
    picture_finish(&scene->picture, out);
    picture_done(&scene->picture);
}

static void draw(const struct fabric *fabric, const struct cluster_topology *cluster,
                 const char *title, struct text_buffer *out)
{
    CLEANUP_MEMORY struct fabric_scene *scene = memory_allocate(sizeof(*scene));
    if (!scene) {
        out->failed = true;
        return;
    }
    if (fabric_columns_init(&scene->columns, fabric, cluster, NULL) < 0 ||
        fabric_layout_make(&scene->columns, NARROWEST, &scene->layout, NULL) < 0 ||
        scene_count_blocks(scene, NULL) < 0)
        out->failed = true;
    else
        draw_scene(scene, title, out);
    memory_free(scene->blocks);
    fabric_columns_done(&scene->columns);
}

void fabric_picture(const struct fabric *fabric, struct text_buffer *out)
{
    draw(fabric, NULL, fabric->source ? fabric->source : "fabric", out);
}

void cluster_picture(const struct cluster_topology *cluster, struct text_buffer *out)
{
    draw(cluster->fabric, cluster, cluster->name ? cluster->name : "cluster", out);
}
