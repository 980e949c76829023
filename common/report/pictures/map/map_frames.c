/* SPDX-License-Identifier: MIT */
/* map_picture: frames, what is above them, and what is around boxes. */
#include "report/number_text.h"
#include "report/pictures/map/map_scene.h"
#include <math.h>
#include <stdio.h>

#define BRACKET_FOOT 5.0
#define NAME_BYTES 160u

static const struct cluster_topology *cluster_of(const struct map_scene *scene)
{
    return scene->map->cluster;
}

/* The switch of that tier above a frame, or FABRIC_NONE. */
static unsigned bracket_switch(const struct map_scene *scene, unsigned frame, unsigned tier)
{
    const struct map_units *units = &scene->units;
    unsigned node = units->order[units->units[units->frames[frame].first].first];
    unsigned above = map_switch_above(cluster_of(scene), node, tier);
    if (above == FABRIC_NONE || units->units[units->frames[frame].first].kind == UNIT_BUNDLE)
        return FABRIC_NONE;
    return cluster_of(scene)->fabric->switches[above].tier == tier ? above : FABRIC_NONE;
}

static void draw_bracket(struct map_scene *scene, double left, double right, double y,
                         unsigned switch_index)
{
    struct text_buffer *out = &scene->picture.body;
    const struct fabric *fabric = cluster_of(scene)->fabric;
    const struct fabric_switch *here = &fabric->switches[switch_index];
    const char *name = fabric->rail_count > 1 ? fabric->tier_names[here->tier] : here->name;
    double room = right - left - 8.0, width = fmin(svg_text_width(&font_plain, name), room);
    const struct svg_box blank = {(left + right) / 2.0 - width / 2.0 - 5.0, y - 8.0, width + 10.0,
                                  16.0};
    const struct svg_box place = {(left + right) / 2.0, y + 4.0, room, 0.0};
    svg_path_begin(out, "brk", 0.0);
    svg_path_move(out, left, y + BRACKET_FOOT);
    svg_path_line(out, left, y);
    svg_path_line(out, right, y);
    svg_path_line(out, right, y + BRACKET_FOOT);
    svg_path_end(out);
    svg_rectangle(out, &blank, 0.0, "blank");
    svg_text_fit(out, &place, &font_plain, SVG_MIDDLE, name);
}

static void draw_brackets(struct map_scene *scene)
{
    const struct map_layout *layout = &scene->layout;
    for (unsigned row = 0; row < layout->bracket_count; row++) {
        unsigned tier = layout->bracket_tiers[row];
        double y = layout->brackets_top + row * LAYOUT_BRACKET + 10.0;
        for (unsigned i = 0; i < scene->units.frame_count;) {
            unsigned above = bracket_switch(scene, i, tier), end = i + 1;
            while (end < scene->units.frame_count && bracket_switch(scene, end, tier) == above)
                end++;
            if (above != FABRIC_NONE)
                draw_bracket(scene, layout->frame_left[i], layout->frame_right[end - 1], y, above);
            i = end;
        }
    }
}

static bool is_nowhere(const struct map_scene *scene, const struct map_frame *frame)
{
    return frame->switch_index == FABRIC_NONE &&
           scene->units.units[frame->first].kind != UNIT_BUNDLE;
}

/* "leaf1 · 6 nodes, 1 spare" as far as there is room. */
static void frame_words(const struct map_scene *scene, const struct map_frame *frame,
                        struct text_buffer *text)
{
    const struct fabric *fabric = cluster_of(scene)->fabric;
    size_t nodes = 0, used = 0;
    for (unsigned i = frame->first; i < frame->first + frame->count; i++) {
        nodes += scene->units.units[i].count;
        used += scene->units.units[i].used;
    }
    if (frame->switch_index != FABRIC_NONE)
        text_buffer_add(text, "%s%s", fabric->switches[frame->switch_index].name,
                        fabric->rail_count > 1 ? " and other rails" : "");
    else if (scene->units.units[frame->first].kind == UNIT_BUNDLE)
        return; /* its box says it */
    else
        text_buffer_add_text(text, "switch ?");
    if (used > 0)
        text_buffer_add(text, " · %s node%s", number_grouped(nodes).text, nodes == 1 ? "" : "s");
    if (used == 0)
        text_buffer_add(text, " · %zu spare", nodes);
    else if (nodes > used)
        text_buffer_add(text, ", %zu spare", nodes - used);
}

void map_scene_name_frames(struct map_scene *scene)
{
    const struct map_layout *layout = &scene->layout;
    struct text_buffer *out = &scene->picture.body;
    for (unsigned i = 0; i < scene->units.frame_count; i++) {
        CLEANUP_DONE(text_buffer) struct text_buffer words;
        text_buffer_init(&words, PICTURE_MAXIMUM_BYTES);
        frame_words(scene, &scene->units.frames[i], &words);
        const char *text = picture_text(&scene->picture, &words);
        double room = layout->frame_right[i] - layout->frame_left[i] - 10.0;
        double width = fmin(svg_text_width(&font_plain, text), room);
        const struct svg_box blank = {layout->frame_left[i] + 4.0, layout->frame_top + 4.0,
                                      width + 4.0, 14.0};
        const struct svg_box place = {layout->frame_left[i] + 6.0, layout->frame_top + 15.0, room,
                                      0.0};
        svg_rectangle(out, &blank, 0.0,
                      is_nowhere(scene, &scene->units.frames[i]) ? "hideq" : "hide");
        svg_text_fit(out, &place, &font_plain, SVG_START, text);
    }
}

static void draw_band(struct map_scene *scene, unsigned first, unsigned last)
{
    const struct map_layout *layout = &scene->layout;
    const struct fabric *fabric = cluster_of(scene)->fabric;
    unsigned domain = map_units_domain(&scene->units, first);
    double edge = layout->wordy ? 4.0 : 1.0;
    double left = layout->unit_x[first] - layout->box_width / 2.0 - edge;
    double right = layout->unit_x[last] + layout->box_width / 2.0 + edge;
    const struct svg_box band = {left, layout->box_top - 4.0, right - left,
                                 layout->box_bottom - layout->box_top + LAYOUT_BAND_NAME + 6.0};
    const struct svg_box place = {(left + right) / 2.0, layout->box_bottom + 12.0,
                                  right - left - 4.0, 0.0};
    bool named = fabric && domain < fabric->domain_count && fabric->domains[domain].name;
    char words[NAME_BYTES];
    snprintf(words, sizeof(words), "NVLink%s%.100s", named ? " " : "",
             named ? fabric->domains[domain].name : "");
    svg_rectangle(&scene->picture.body, &band, 5.0, "dom");
    svg_text_fit(&scene->picture.body, &place, &font_small, SVG_MIDDLE, words);
}

/* Nodes side by side of one domain. */
static void draw_bands(struct map_scene *scene)
{
    const struct map_units *units = &scene->units;
    for (unsigned i = 0; scene->layout.banded && i < units->count;) {
        unsigned domain = map_units_domain(units, i), end = i + 1;
        while (end < units->count && domain != FABRIC_NONE &&
               units->units[end].frame == units->units[i].frame &&
               map_units_domain(units, end) == domain)
            end++;
        if (domain != FABRIC_NONE)
            draw_band(scene, i, end - 1);
        i = end;
    }
}

void map_scene_draw_frames(struct map_scene *scene)
{
    const struct map_layout *layout = &scene->layout;
    for (unsigned i = 0; i < scene->units.frame_count; i++) {
        const struct svg_box box = {layout->frame_left[i], layout->frame_top,
                                    layout->frame_right[i] - layout->frame_left[i],
                                    layout->frame_bottom - layout->frame_top};
        svg_rectangle(&scene->picture.body, &box, 6.0,
                      is_nowhere(scene, &scene->units.frames[i]) ? "unsure" : "frame");
    }
    draw_brackets(scene);
    draw_bands(scene);
}
