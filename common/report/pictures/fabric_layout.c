/* SPDX-License-Identifier: MIT */
#include "report/pictures/fabric_layout.h"
#include "report/pictures/picture.h"
#include <math.h>

#define CONTENT_WIDTH 940.0
#define NARROW_COLUMN 60.0
#define WIDE_COLUMN 320.0
#define RAIL_BOX 30.0
#define RAIL_COLUMN (COLUMN_LEAVES * RAIL_BOX + 26.0)
#define SWITCH_WIDTH 116.0
#define SWITCH_GAP 10.0

struct placing {
    const struct fabric_columns *columns;
    struct fabric_layout *layout;
    unsigned *box_of; /* by switch: its box + 1, or 0 */
};

static unsigned box_for(struct placing *placing, unsigned index)
{
    struct fabric_layout *layout = placing->layout;
    if (placing->box_of[index] == 0 && layout->box_count < LAYOUT_SWITCHES) {
        layout->boxes[layout->box_count] =
            (struct switch_box){.index = index, .above = LAYOUT_NO_BOX};
        placing->box_of[index] = ++layout->box_count;
    }
    return placing->box_of[index] ? placing->box_of[index] - 1 : LAYOUT_NO_BOX;
}

static void hang(struct placing *placing, unsigned above, double x)
{
    if (above == LAYOUT_NO_BOX)
        return;
    placing->layout->boxes[above].sum += x;
    placing->layout->boxes[above].below++;
}

static void place_columns(struct placing *placing, double narrowest)
{
    struct fabric_layout *layout = placing->layout;
    unsigned count = placing->columns->count > 0 ? placing->columns->count : 1;
    double width = fmin(fmax(CONTENT_WIDTH / count, NARROW_COLUMN), WIDE_COLUMN);
    layout->column_width = placing->columns->railed ? fmax(width, RAIL_COLUMN) : width;
    double room = narrowest - LAYOUT_GUTTER - PICTURE_MARGIN - count * layout->column_width;
    layout->left = LAYOUT_GUTTER + fmax(room / 2.0, 0.0);
    for (unsigned i = 0; i < count; i++) {
        layout->column_x[i] = layout->left + (i + 0.5) * layout->column_width;
        layout->column_above[i] = LAYOUT_NO_BOX;
    }
    layout->right = layout->left + count * layout->column_width;
}

static void place_leaves(struct placing *placing, unsigned column_index)
{
    const struct fabric_column *column = &placing->columns->columns[column_index];
    double x = placing->layout->column_x[column_index], room = placing->layout->column_width - 12.0;
    bool set = column->leaf_total > 1;
    double step = set ? RAIL_BOX : room;
    for (unsigned i = 0; i < column->leaf_count; i++) {
        bool known = placing->box_of[column->leaves[i]] > 0;
        unsigned at = box_for(placing, column->leaves[i]);
        if (known || at == LAYOUT_NO_BOX)
            continue; /* a leaf of two sets stands in the first */
        struct switch_box *box = &placing->layout->boxes[at];
        box->x = x + (i - (column->leaf_count - 1) / 2.0) * step;
        box->width = set ? RAIL_BOX - 4.0 : fmin(room, SWITCH_WIDTH);
        box->railed = set;
        box->is_leaf = true;
        box->rail = i;
    }
}

/* What the columns hang from, with all that is above it. */
static void collect_ancestors(struct placing *placing)
{
    const struct fabric *fabric = placing->columns->fabric;
    for (unsigned i = 0; i < placing->columns->count; i++) {
        const struct fabric_column *column = &placing->columns->columns[i];
        if (column->above != FABRIC_NONE && column->kind != COLUMN_LEAF)
            placing->layout->column_above[i] = box_for(placing, column->above);
    }
    for (unsigned i = 0; i < placing->layout->box_count; i++) {
        unsigned parent = fabric->switches[placing->layout->boxes[i].index].parent;
        if (parent != FABRIC_NONE)
            placing->layout->boxes[i].above = box_for(placing, parent);
        else
            placing->layout->roots++;
    }
}

/* Left to right by where they would stand, ties by the switch. */
static unsigned order_tier(const struct placing *placing, unsigned tier, unsigned *order)
{
    const struct fabric_layout *layout = placing->layout;
    unsigned count = 0;
    for (unsigned i = 0; i < layout->box_count; i++) {
        if (placing->columns->fabric->switches[layout->boxes[i].index].tier != tier ||
            layout->boxes[i].width > 0.0)
            continue;
        unsigned at = count++;
        for (; at > 0; at--) {
            const struct switch_box *left = &layout->boxes[order[at - 1]];
            if (left->x < layout->boxes[i].x ||
                (left->x <= layout->boxes[i].x && left->index < layout->boxes[i].index))
                break;
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
    return count;
}

static void spread_tier(struct fabric_layout *layout, const unsigned *order, unsigned count)
{
    if (count == 0)
        return;
    double room = layout->right - layout->left;
    double width = fmin(SWITCH_WIDTH, fmax(room / count - SWITCH_GAP, 14.0)),
           step = width + SWITCH_GAP;
    double first = 0.0, mean = 0.0;
    for (unsigned i = 0; i < count; i++) {
        struct switch_box *box = &layout->boxes[order[i]];
        mean += box->x / count;
        box->width = width;
        if (i > 0)
            box->x = fmax(box->x, layout->boxes[order[i - 1]].x + step);
        first += box->x / count;
    }
    double left = layout->boxes[order[0]].x - width / 2.0 - (first - mean);
    double right = layout->boxes[order[count - 1]].x + width / 2.0 - (first - mean);
    double inside = fmax(layout->left - left, fmin(layout->right - right, 0.0));
    for (unsigned i = 0; i < count; i++)
        layout->boxes[order[i]].x += inside - (first - mean);
}

/* In a tree each stands above columns of its own; above several there is room. */
static void size_tier(struct fabric_layout *layout, const unsigned *order, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct switch_box *box = &layout->boxes[order[i]];
        box->width =
            box->below > 1 ? SWITCH_WIDTH : fmin(SWITCH_WIDTH, layout->column_width - 10.0);
    }
}

static void settle_tier(struct placing *placing, unsigned tier)
{
    struct fabric_layout *layout = placing->layout;
    unsigned order[LAYOUT_SWITCHES];
    for (unsigned i = 0; i < layout->box_count; i++)
        if (layout->boxes[i].width <= 0.0 && layout->boxes[i].below > 0)
            layout->boxes[i].x = layout->boxes[i].sum / layout->boxes[i].below;
    unsigned count = order_tier(placing, tier, order);
    if (placing->columns->railed)
        spread_tier(layout, order, count);
    else
        size_tier(layout, order, count);
    for (unsigned i = 0; i < layout->box_count; i++)
        if (placing->columns->fabric->switches[layout->boxes[i].index].tier == tier)
            hang(placing, layout->boxes[i].above, layout->boxes[i].x);
}

int fabric_layout_make(const struct fabric_columns *columns, double narrowest,
                       struct fabric_layout *ret, struct error_info *err)
{
    struct placing placing = {.columns = columns, .layout = ret};
    *ret = (struct fabric_layout){.box_count = 0};
    place_columns(&placing, narrowest);
    if (!columns->fabric)
        return 0;
    CLEANUP_MEMORY unsigned *box_of =
        memory_allocate_array(columns->fabric->switch_count + 1, sizeof(*box_of));
    if (!box_of)
        return error_set_memory(err);
    placing.box_of = box_of;
    for (unsigned i = 0; i < columns->count; i++)
        place_leaves(&placing, i);
    collect_ancestors(&placing);
    for (unsigned i = 0; i < columns->count; i++)
        hang(&placing, ret->column_above[i], ret->column_x[i]);
    for (unsigned tier = 0; tier < columns->fabric->tier_count; tier++)
        settle_tier(&placing, tier);
    return 0;
}
