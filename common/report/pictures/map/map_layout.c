/* SPDX-License-Identifier: MIT */
#include "report/pictures/map/map_layout.h"
#include "report/pictures/picture.h"
#include <math.h>

#define CONTENT_WIDTH 1060.0
#define NARROWEST 880.0
#define GUTTER 26.0 /* left of the first frame: what the rows are */
#define ARC_SMALLEST 6.0
#define ARC_LARGEST 130.0
#define ARC_HALF 480.0 /* the span of half of the largest height */
#define ARC_ROOM 8.0

/* How wide things are at the three sizes. */
enum layout_size { SIZE_WORDY, SIZE_NARROW, SIZE_GROUPS, SIZE_COUNT };

static const struct size_rule {
    double narrowest, widest; /* from one unit to the next */
    double between;           /* of that: units */
    double frame_gap, frame_padding;
    double row_height, cell_height;
} sizes[SIZE_COUNT] = {
    [SIZE_WORDY] = {46.0, 104.0, 12.0, 20.0, 6.0, 13.0, 15.0},
    [SIZE_NARROW] = {11.0, 40.0, 3.0, 12.0, 5.0, 11.0, 8.0},
    [SIZE_GROUPS] = {86.0, 150.0, 12.0, 18.0, 6.0, 14.0, 0.0},
};

/* Columns of cells for as many GPUs. */
static const struct {
    unsigned gpus, wordy, narrow;
} columns_of[] = {{2, 1, 1}, {8, 2, 1}, {16, 4, 2}, {32, 4, 2}, {NODE_MAXIMUM_GPUS, 8, 4}};

static enum layout_size size_of(const struct map_units *units)
{
    if (units->grouped)
        return SIZE_GROUPS;
    return units->count <= UNITS_IN_WORDS ? SIZE_WORDY : SIZE_NARROW;
}

static void place_units(const struct map_units *units, const struct size_rule *size,
                        struct map_layout *ret)
{
    double apart = size->frame_gap + 2.0 * size->frame_padding;
    double frames = units->frame_count * apart, count = units->count > 0 ? units->count : 1;
    ret->pitch = fmin(fmax((CONTENT_WIDTH - frames) / count, size->narrowest), size->widest);
    ret->pitch = floor(ret->pitch * 2.0) / 2.0;
    ret->box_width = ret->pitch - size->between;
    double content = count * ret->pitch + frames - size->frame_gap;
    ret->width = fmax(content + GUTTER + 2.0 * PICTURE_MARGIN, NARROWEST);
    double x = PICTURE_MARGIN + GUTTER +
               fmax(floor((ret->width - 2.0 * PICTURE_MARGIN - GUTTER - content) / 2.0), 0.0);
    for (unsigned i = 0; i < units->frame_count; i++) {
        const struct map_frame *frame = &units->frames[i];
        ret->frame_left[i] = x;
        for (unsigned j = 0; j < frame->count; j++)
            ret->unit_x[frame->first + j] = x + size->frame_padding + (j + 0.5) * ret->pitch;
        x += frame->count * ret->pitch + 2.0 * size->frame_padding;
        ret->frame_right[i] = x;
        x += size->frame_gap;
    }
}

static void add_row(struct map_layout *layout, bool wanted, enum box_row row)
{
    if (wanted)
        layout->rows[layout->row_count++] = row;
}

static bool has_leaving(const struct map_units *units, const struct map_links *links,
                        unsigned dimension)
{
    for (unsigned i = 0; i < units->count; i++)
        if (links->leaving[i * TRAFFIC_DIMENSION_COUNT + dimension] > 0)
            return true;
    return false;
}

static bool has_spare(const struct map_units *units)
{
    for (unsigned i = 0; i < units->count; i++)
        if (units->units[i].used < units->units[i].count)
            return true;
    return false;
}

static void choose_rows(const struct map_units *units, const struct map_links *links,
                        struct map_layout *ret)
{
    const struct degrees *degrees = &units->map->degrees;
    add_row(ret, ret->wordy, ROW_NAME);
    add_row(ret, units->grouped, ROW_NODES);
    add_row(ret, units->grouped && has_spare(units), ROW_SPARE);
    add_row(ret, units->grouped, ROW_RANKS);
    add_row(ret, degrees->cp > 1, ROW_CP);
    add_row(ret, degrees->pp > 1, ROW_PP);
    add_row(ret, degrees->dp > 1, ROW_DP);
    for (unsigned i = 0; i < TRAFFIC_DIMENSION_COUNT; i++)
        add_row(ret, units->grouped && has_leaving(units, links, i),
                (enum box_row)(ROW_LEAVING + i));
}

static unsigned most_gpus(const struct map_units *units)
{
    const struct cluster_topology *cluster = units->map->cluster;
    unsigned most = 1;
    for (unsigned i = 0; i < units->count; i++) {
        unsigned kind = cluster->nodes[units->order[units->units[i].first]].kind;
        most = cluster->kinds[kind]->gpu_count > most ? cluster->kinds[kind]->gpu_count : most;
    }
    return most;
}

static void size_cells(const struct map_units *units, const struct size_rule *size,
                       struct map_layout *ret)
{
    unsigned gpus = most_gpus(units), at = 0;
    while (at + 1 < COUNT_OF(columns_of) && columns_of[at].gpus < gpus)
        at++;
    ret->cell_columns = ret->wordy ? columns_of[at].wordy : columns_of[at].narrow;
    ret->cell_rows = (gpus + ret->cell_columns - 1) / ret->cell_columns;
    ret->cell_width = (ret->box_width - 4.0) / ret->cell_columns;
    ret->cell_height = size->cell_height;
}

static void choose_brackets(const struct map_units *units, struct map_layout *ret)
{
    const struct cluster_topology *cluster = units->map->cluster;
    for (unsigned tier = cluster_tier_count(cluster); tier-- > units->frame_tier + 1;) {
        bool known = false;
        for (unsigned i = 0; i < units->frame_count; i++) {
            unsigned node = units->order[units->units[units->frames[i].first].first];
            unsigned above = map_switch_above(cluster, node, tier);
            known =
                known || (above != FABRIC_NONE && cluster->fabric->switches[above].tier == tier);
        }
        if (known)
            ret->bracket_tiers[ret->bracket_count++] = tier;
    }
}

bool map_arc_is_above(const struct map_link *link) { return link->dimension == TRAFFIC_PP; }

bool map_arc_leaves_frame(const struct map_units *units, const struct map_link *link)
{
    return units->units[link->left].frame != units->units[link->right].frame;
}

/* Arcs of a box leave it side by side: those to the right at its right half. */
static double arc_offset(const struct map_layout *layout, const struct map_link *link)
{
    static const double shares[TRAFFIC_DIMENSION_COUNT] = {[TRAFFIC_TP] = 0.08,
                                                           [TRAFFIC_CP] = 0.17,
                                                           [TRAFFIC_EP] = 0.26,
                                                           [TRAFFIC_PP] = 0.22,
                                                           [TRAFFIC_DP] = 0.35};
    return layout->box_width * shares[link->dimension];
}

double map_arc_left(const struct map_layout *layout, const struct map_link *link)
{
    return layout->unit_x[link->left] + arc_offset(layout, link);
}

double map_arc_right(const struct map_layout *layout, const struct map_link *link)
{
    return layout->unit_x[link->right] - arc_offset(layout, link);
}

double map_arc_height(const struct map_layout *layout, const struct map_link *link)
{
    double span = fmax(map_arc_right(layout, link) - map_arc_left(layout, link), 0.0);
    return ARC_SMALLEST + ARC_LARGEST * span / (span + ARC_HALF);
}

struct arc_room {
    double above_outside, above_inside, below_inside, below_outside;
};

static struct arc_room measure_arcs(const struct map_units *units, const struct map_links *links,
                                    const struct map_layout *layout)
{
    struct arc_room room = {0.0, 0.0, 0.0, 0.0};
    for (size_t i = 0; i < links->count; i++) {
        const struct map_link *link = &links->links[i];
        bool outside = map_arc_leaves_frame(units, link);
        double *side = map_arc_is_above(link)
                           ? (outside ? &room.above_outside : &room.above_inside)
                           : (outside ? &room.below_outside : &room.below_inside);
        *side = fmax(*side, map_arc_height(layout, link) + ARC_ROOM);
    }
    return room;
}

static bool has_bands(const struct map_units *units)
{
    for (unsigned i = 0; i < units->count && !units->grouped; i++)
        if (map_units_domain(units, i) != FABRIC_NONE)
            return true;
    return false;
}

static void stack(const struct map_units *units, const struct arc_room *room, double top,
                  struct map_layout *ret)
{
    ret->brackets_top = top;
    ret->frame_top = ceil(top + ret->bracket_count * LAYOUT_BRACKET + room->above_outside);
    ret->box_top = ceil(ret->frame_top + LAYOUT_NAME + fmax(room->above_inside, 4.0));
    ret->cells_top = ret->box_top + ret->row_count * ret->row_height + 4.0;
    ret->box_bottom = ret->cells_top + 2.0;
    if (!units->grouped)
        ret->box_bottom += ret->cell_rows * ret->cell_height;
    ret->frame_bottom = ceil(ret->box_bottom + (ret->banded ? LAYOUT_BAND_NAME : 0.0) +
                             fmax(room->below_inside, 8.0));
    ret->bottom = ceil(ret->frame_bottom + room->below_outside);
}

void map_layout_make(const struct map_units *units, const struct map_links *links, double top,
                     struct map_layout *ret)
{
    const struct size_rule *size = &sizes[size_of(units)];
    *ret = (struct map_layout){
        .wordy = size_of(units) != SIZE_NARROW,
        .row_height = size->row_height,
        .banded = has_bands(units),
    };
    place_units(units, size, ret);
    choose_rows(units, links, ret);
    size_cells(units, size, ret);
    choose_brackets(units, ret);
    const struct arc_room room = measure_arcs(units, links, ret);
    stack(units, &room, top, ret);
}
