/* SPDX-License-Identifier: MIT */
#include "report/pictures/map/map_picture.h"
#include "report/number_text.h"
#include "report/pictures/map/map_scene.h"
#include <math.h>
#include <stdio.h>

#define VERDICT_Y 86.0
#define BODY_TOP 102.0
#define PIPELINES_LISTED 12u

static const char map_style[] =
    ".ca{fill:currentColor;fill-opacity:.3;stroke:#fff}\n"
    ".cb{fill:currentColor;fill-opacity:.55;stroke:#fff}\n"
    ".cl{fill:#b9c4d0;stroke:#fff}\n"
    ".cn{fill:#e4e9ef;stroke:#fff}\n"
    ".arc{fill:none;stroke:currentColor;stroke-linecap:round}\n"
    ".near{stroke-opacity:.4}\n"
    ".cross{stroke-opacity:.95}\n"
    ".lost{stroke-opacity:.75;stroke-dasharray:2 4}\n"
    ".lpp{color:#c2261f}\n"
    ".ldp{color:#6f9bc8}\n"
    ".cross.ldp{stroke-opacity:.7}\n"
    ".lany{color:#3e4c59}\n"
    ".ltp{color:#2f8f6b}\n"
    ".lcp{color:#8a55b8}\n"
    ".lep{color:#c7791c}\n"
    ".brk{fill:none;stroke:#7b8794;stroke-width:1.3}\n"
    ".dom{fill:#2f8f6b;fill-opacity:.12;stroke:#2f8f6b;stroke-opacity:.6}\n"
    ".hide{fill:#f5f7fa}\n"
    ".hideq{fill:#fff8e6}\n";

static void write_title(const struct rank_map *map, struct text_buffer *out)
{
    char degrees[DEGREES_TEXT_BYTES];
    degrees_text(&map->degrees, degrees);
    text_buffer_add(out, "%s", map->locality_only ? "Nodes, GPUs and NICs by locality" : degrees);
}

static void write_subtitle(const struct map_scene *scene, struct text_buffer *out)
{
    const struct rank_map *map = scene->map;
    text_buffer_add(out, "%s ranks on %s node%s", number_grouped(map->world).text,
                    number_grouped(map->block_count).text, map->block_count == 1 ? "" : "s");
    text_buffer_add(out, " of %s", map->cluster->name);
    if (!map->locality_only)
        text_buffer_add(out, " · rank order %s", rank_order_name(map->order));
    text_buffer_add(out, " · MASTER_ADDR %s", rank_map_master(map));
}

static void write_sources(const struct map_scene *scene, struct text_buffer *out)
{
    bool bytes = scene->cost->bytes_known;
    if (!scene->map->locality_only)
        text_buffer_add(out, "%s; a line is as wide as the root of its %s",
                        bytes ? "Bytes are per step and modelled" : "Bytes need --model",
                        bytes ? "bytes" : "number of pairs");
    if (scene->units.left_out_nodes > 0)
        text_buffer_add(out, "%s%s nodes below switches without a rank are not shown",
                        out->length > 0 ? "; " : "",
                        number_grouped(scene->units.left_out_nodes).text);
}

static void list_pipelines(const struct map_links *links, enum link_reach reach,
                           struct text_buffer *out)
{
    unsigned listed = 0;
    for (unsigned i = 0; i < links->pipeline_count && listed <= PIPELINES_LISTED; i++) {
        if (links->pipelines[i] != reach)
            continue;
        if (listed++ == PIPELINES_LISTED)
            text_buffer_add_text(out, ", …");
        else
            text_buffer_add(out, "%s%u", listed == 1 ? ": dp " : ", ", i);
    }
}

static void write_pipelines(const struct map_links *links, const char *tier,
                            struct text_buffer *out)
{
    unsigned total = links->pipeline_count, far = links->far_pipelines;
    if (links->unknown_pipelines > 0) {
        text_buffer_add(out, "%u of %u pipeline%s on nodes that no known switch joins",
                        links->unknown_pipelines, total, total == 1 ? "" : "s");
        list_pipelines(links, REACH_UNKNOWN, out);
        text_buffer_add_text(out, far > 0 ? "; " : "");
    }
    if (far > 0) {
        text_buffer_add(out, "%u of %u pipeline%s cross%s a %s switch", far, total,
                        total == 1 ? "" : "s", far == 1 ? "es" : "", tier);
        list_pipelines(links, REACH_FAR, out);
    } else if (links->unknown_pipelines == 0) {
        text_buffer_add(out, "No pipeline crosses a %s switch", tier);
    }
}

/* "pairs that cross: pp 16 of 96, dp 104 of 128". */
static void write_crossings(const struct map_links *links, struct text_buffer *out)
{
    bool begun = false;
    for (unsigned i = 0; i < TRAFFIC_DIMENSION_COUNT; i++) {
        const uint64_t *pairs = links->pairs[i];
        if (pairs[REACH_FAR] == 0)
            continue;
        if (!begun)
            text_buffer_add(out, "%s",
                            out->length > 0 ? " · pairs that cross:" : "Pairs that cross:");
        text_buffer_add(
            out, "%s %s %s of %s", begun ? "," : "",
            traffic_dimension_name((enum traffic_dimension)i),
            number_grouped(pairs[REACH_FAR]).text,
            number_grouped(pairs[REACH_NEAR] + pairs[REACH_FAR] + pairs[REACH_UNKNOWN]).text);
        begun = true;
    }
}

static bool has_reach(const struct map_links *links, enum link_reach reach)
{
    for (size_t i = 0; i < links->count; i++)
        if (links->links[i].reach == reach)
            return true;
    return false;
}

void map_scene_verdict(const struct map_scene *scene, struct text_buffer *out)
{
    if (scene->links.pipeline_count > 0)
        write_pipelines(&scene->links, cluster_tier_name(scene->map->cluster, 0), out);
    write_crossings(&scene->links, out);
    if (out->length > 0)
        return;
    if (scene->map->locality_only)
        text_buffer_add_text(out, "No degrees are given: who talks to whom is not known");
    else if (has_reach(&scene->links, REACH_UNKNOWN))
        text_buffer_add_text(out, "How far nodes are from each other, no source tells");
    else
        text_buffer_add(out, "Nothing crosses a %s switch",
                        cluster_tier_name(scene->map->cluster, 0));
}

static bool has_spare(const struct map_units *units)
{
    bool spare = false;
    for (unsigned i = 0; i < units->count; i++)
        spare = spare || units->units[i].kind == UNIT_SPARE;
    return spare;
}

static void add_legend(struct map_scene *scene)
{
    struct picture *picture = &scene->picture;
    const char *tier = cluster_tier_name(scene->map->cluster, 0);
    snprintf(scene->near_words, MAP_WORDS_BYTES, "stays below one %.60s switch", tier);
    snprintf(scene->far_words, MAP_WORDS_BYTES, "crosses a %.60s switch", tier);
    if (!scene->units.grouped && !scene->map->locality_only)
        picture_add_legend(picture, LEGEND_BOX, "cb hue1", 0.0,
                           "a TP group: hue by dp, tint by stage");
    if (has_reach(&scene->links, REACH_NEAR))
        picture_add_legend(picture, LEGEND_LINE, "arc near lany", 3.0, scene->near_words);
    if (has_reach(&scene->links, REACH_FAR))
        picture_add_legend(picture, LEGEND_LINE, "arc cross lany", 3.0, scene->far_words);
    if (has_reach(&scene->links, REACH_UNKNOWN))
        picture_add_legend(picture, LEGEND_LINE, "arc lost lany", 3.0, "how far, no source tells");
    if (has_spare(&scene->units))
        picture_add_legend(picture, LEGEND_BOX, "dim", 0.0, "no rank");
    if (scene->layout.banded)
        picture_add_legend(picture, LEGEND_BOX, "dom", 0.0, "NVLink domain");
    if (scene->units.count > 0 && scene->units.units[scene->units.count - 1].kind == UNIT_BUNDLE)
        picture_add_legend(picture, LEGEND_BOX, "vague", 0.0, "further switches");
}

static void draw_body(struct map_scene *scene, const char *verdict)
{
    const struct svg_box place = {PICTURE_MARGIN, VERDICT_Y,
                                  scene->picture.width - 2.0 * PICTURE_MARGIN, 0.0};
    svg_text_fit(&scene->picture.body, &place, &font_strong, SVG_START, verdict);
    map_scene_draw_frames(scene);
    map_scene_draw_links(scene);
    map_scene_name_frames(scene);
    map_scene_draw_boxes(scene);
    scene->picture.bottom = scene->layout.bottom;
    map_scene_draw_table(scene);
    add_legend(scene);
}

static void draw_scene(struct map_scene *scene, struct text_buffer *out)
{
    CLEANUP_DONE(text_buffer) struct text_buffer title, subtitle, verdict, sources, description;
    text_buffer_init(&title, PICTURE_MAXIMUM_BYTES);
    text_buffer_init(&subtitle, PICTURE_MAXIMUM_BYTES);
    text_buffer_init(&verdict, PICTURE_MAXIMUM_BYTES);
    text_buffer_init(&sources, PICTURE_MAXIMUM_BYTES);
    map_layout_make(&scene->units, &scene->links, BODY_TOP, &scene->layout);
    write_title(scene->map, &title);
    write_subtitle(scene, &subtitle);
    map_scene_verdict(scene, &verdict);
    text_buffer_init(&description, PICTURE_MAXIMUM_BYTES);
    write_sources(scene, &sources);
    text_buffer_add(&description, "%s. %s.", text_buffer_text(&subtitle),
                    text_buffer_text(&verdict));
    picture_init(&scene->picture, scene->layout.width);
    scene->picture.style = map_style;
    scene->picture.title = picture_text(&scene->picture, &title);
    scene->picture.subtitle = picture_text(&scene->picture, &subtitle);
    scene->picture.sources = picture_text(&scene->picture, &sources);
    scene->picture.description = picture_text(&scene->picture, &description);
    if (scene->policy_note)
        picture_add_note(&scene->picture, scene->policy_note);
    draw_body(scene, picture_text(&scene->picture, &verdict));
    picture_finish(&scene->picture, out);
    picture_done(&scene->picture);
}

void map_picture(const struct rank_map *map, const struct mapping_cost *cost,
                 const char *policy_note, struct text_buffer *out)
{
    CLEANUP_MEMORY struct map_scene *scene = memory_allocate(sizeof(*scene));
    if (!scene) {
        out->failed = true;
        return;
    }
    scene->map = map;
    scene->cost = cost;
    scene->policy_note = policy_note;
    if (map_units_init(&scene->units, scene->map, NULL) < 0 ||
        map_links_init(&scene->links, &scene->units, scene->cost, NULL) < 0)
        out->failed = true;
    else
        draw_scene(scene, out);
    map_links_done(&scene->links);
    map_units_done(&scene->units);
}
