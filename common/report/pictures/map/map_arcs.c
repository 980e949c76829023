/* SPDX-License-Identifier: MIT */
/* map_picture: who talks to whom. */
#include "report/number_text.h"
#include "report/pictures/map/map_scene.h"
#include <math.h>
#include <stdio.h>

#define NARROWEST_LINE 1.0
#define WIDEST_LINE 4.2
#define APEX 0.75 /* of how far a curve's control points are away */

static const char *const reach_class[REACH_COUNT] = {
    [REACH_NEAR] = "near", [REACH_FAR] = "cross", [REACH_UNKNOWN] = "lost"};

const char *map_scene_link_hue(unsigned dimension)
{
    static const char *const hues[TRAFFIC_DIMENSION_COUNT] = {[TRAFFIC_TP] = "ltp",
                                                              [TRAFFIC_CP] = "lcp",
                                                              [TRAFFIC_EP] = "lep",
                                                              [TRAFFIC_PP] = "lpp",
                                                              [TRAFFIC_DP] = "ldp"};
    return hues[dimension];
}

/* The area would mislead: twice the weight is drawn less than twice as wide. */
static double line_width(const struct map_scene *scene, const struct map_link *link)
{
    double share = scene->links.heaviest > 0.0 ? link->weight / scene->links.heaviest : 0.0;
    double widest = fmin(WIDEST_LINE, fmax(scene->layout.box_width / 8.0, 1.8));
    return NARROWEST_LINE + (widest - NARROWEST_LINE) * sqrt(fmax(share, 0.0));
}

static void draw_arc(struct map_scene *scene, const struct map_link *link)
{
    const struct map_layout *layout = &scene->layout;
    struct text_buffer *out = &scene->picture.body;
    bool above = map_arc_is_above(link), outside = map_arc_leaves_frame(&scene->units, link);
    double left = map_arc_left(layout, link), right = map_arc_right(layout, link);
    double foot = above ? layout->box_top : layout->box_bottom;
    double turn = !outside ? foot : above ? layout->frame_top : layout->frame_bottom;
    double control = turn + map_arc_height(layout, link) / (above ? -APEX : APEX);
    char class_name[PICTURE_CLASS_BYTES];
    snprintf(class_name, sizeof(class_name), "arc %s %s", reach_class[link->reach],
             map_scene_link_hue(link->dimension));
    svg_path_begin(out, class_name, line_width(scene, link));
    svg_path_move(out, left, foot);
    if (outside)
        svg_path_line(out, left, turn);
    svg_path_curve(out, (const double[]){left, control, right, control, right, turn});
    if (outside)
        svg_path_line(out, right, foot);
    svg_path_end(out);
}

/* What is far lies on what is near, pipelines on rings. */
void map_scene_draw_links(struct map_scene *scene)
{
    for (unsigned pass = 0; pass < 4; pass++) {
        for (size_t i = 0; i < scene->links.count; i++) {
            const struct map_link *link = &scene->links.links[i];
            unsigned turn = (link->reach == REACH_NEAR ? 0u : 2u) + map_arc_is_above(link);
            if (turn == pass)
                draw_arc(scene, link);
        }
    }
}
