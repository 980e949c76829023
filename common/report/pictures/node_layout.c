/* SPDX-License-Identifier: MIT */
#include "report/pictures/node_layout.h"
#include "report/pictures/picture.h"
#include <math.h>

#define FRAME_PADDING 16.0
#define FRAME_GAP 20.0

unsigned lane_set_take(struct lane_set *set, double left, double right)
{
    unsigned lane = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (unsigned i = 0; i < set->count; i++) {
            if (set->taken[i].lane != lane || set->taken[i].right <= left ||
                set->taken[i].left >= right)
                continue;
            lane++;
            moved = true;
        }
    }
    if (set->count < LAYOUT_INTERVALS) {
        set->taken[set->count].left = left;
        set->taken[set->count].right = right;
        set->taken[set->count++].lane = lane;
    }
    if (lane >= set->lanes)
        set->lanes = lane + 1;
    return lane;
}

/* The order in which GPUs stand: NUMA nodes by their first GPU, GPUs by index. */
static void order_gpus(const struct node_topology *node, unsigned *order)
{
    uint64_t taken = 0;
    unsigned count = 0;
    for (unsigned i = 0; i < node->gpu_count; i++) {
        if (taken >> i & 1)
            continue;
        for (unsigned j = i; j < node->gpu_count; j++) {
            if (node->gpus[j].numa != node->gpus[i].numa)
                continue;
            taken |= (uint64_t)1 << j;
            order[count++] = j;
        }
    }
}

static unsigned same_numa_from(const struct node_topology *node, const unsigned *order,
                               unsigned first)
{
    unsigned count = 0;
    while (first + count < node->gpu_count &&
           node->gpus[order[first + count]].numa == node->gpus[order[first]].numa)
        count++;
    return count;
}

struct cursor {
    unsigned row, used;
    double x;
};

static void next_row(struct cursor *cursor)
{
    cursor->row++;
    cursor->used = 0;
    cursor->x = PICTURE_MARGIN;
}

/* One frame of count GPUs at the cursor. */
static void place_frame(const struct node_topology *node, const unsigned *order, unsigned count,
                        struct cursor *cursor, struct node_layout *layout)
{
    unsigned index = layout->frame_count++;
    const struct node_gpu *first = &node->gpus[order[0]];
    layout->frames[index] = (struct layout_frame){
        .numa = first->numa,
        .row = cursor->row,
        .gpu_count = count,
        .cpus = first->cpus,
        .left = cursor->x,
        .right = cursor->x + 2.0 * FRAME_PADDING + count * LAYOUT_SLOT,
    };
    for (unsigned i = 0; i < count; i++)
        layout->gpus[order[i]] = (struct layout_gpu){
            .row = cursor->row,
            .frame = index,
            .x = cursor->x + FRAME_PADDING + (i + 0.5) * LAYOUT_SLOT,
        };
    cursor->used += count;
    cursor->x = layout->frames[index].right + FRAME_GAP;
}

static void place_gpus(const struct node_topology *node, struct node_layout *layout)
{
    unsigned order[NODE_MAXIMUM_GPUS];
    order_gpus(node, order);
    struct cursor cursor = {.x = PICTURE_MARGIN};
    for (unsigned at = 0; at < node->gpu_count;) {
        unsigned together = same_numa_from(node, order, at);
        if (cursor.used > 0 && cursor.used + together > LAYOUT_ROW_GPUS)
            next_row(&cursor);
        if (together > LAYOUT_ROW_GPUS)
            together = LAYOUT_ROW_GPUS;
        place_frame(node, &order[at], together, &cursor, layout);
        at += together;
    }
    layout->row_count = node->gpu_count > 0 ? cursor.row + 1 : 0;
    for (unsigned i = 0; i < layout->frame_count; i++) {
        struct layout_row *row = &layout->rows[layout->frames[i].row];
        row->right = fmax(row->right, layout->frames[i].right);
        layout->right = fmax(layout->right, row->right);
    }
}

static void centre(const struct node_topology *node, double narrowest, struct node_layout *layout)
{
    double shift = fmax((narrowest - PICTURE_MARGIN - layout->right) / 2.0, 0.0);
    layout->left = PICTURE_MARGIN + shift;
    layout->right += shift;
    for (unsigned i = 0; i < layout->row_count; i++)
        layout->rows[i].right += shift;
    for (unsigned i = 0; i < layout->frame_count; i++) {
        layout->frames[i].left += shift;
        layout->frames[i].right += shift;
    }
    for (unsigned i = 0; i < node->gpu_count; i++)
        layout->gpus[i].x += shift;
}

static enum link_kind kind_between(const struct node_topology *node, unsigned gpu, unsigned nic)
{
    return node->nic_links ? node->nic_links[(size_t)gpu * node->nic_count + nic] : LINK_UNKNOWN;
}

static enum link_kind nearest_kind(const struct node_topology *node, unsigned nic)
{
    enum link_kind best = LINK_UNKNOWN;
    for (unsigned gpu = 0; gpu < node->gpu_count; gpu++) {
        enum link_kind kind = kind_between(node, gpu, nic);
        if (kind >= LINK_PIX && (best == LINK_UNKNOWN || kind < best))
            best = kind;
    }
    return best;
}

static uint64_t gpus_at(const struct node_topology *node, unsigned nic, enum link_kind kind)
{
    uint64_t gpus = 0;
    for (unsigned gpu = 0; gpu < node->gpu_count; gpu++)
        if (kind_between(node, gpu, nic) == kind)
            gpus |= (uint64_t)1 << gpu;
    return gpus;
}

static uint64_t gpus_that_prefer(const struct node_topology *node, unsigned nic)
{
    uint64_t gpus = 0;
    for (unsigned gpu = 0; gpu < node->gpu_count; gpu++)
        if (node->gpus[gpu].nic_count > 0 && node->gpus[gpu].nics[0] == nic)
            gpus |= (uint64_t)1 << gpu;
    return gpus;
}

static uint64_t gpus_of_numa(const struct node_topology *node, int numa)
{
    uint64_t gpus = 0;
    for (unsigned gpu = 0; numa != NUMA_UNKNOWN && gpu < node->gpu_count; gpu++)
        if (node->gpus[gpu].numa == numa)
            gpus |= (uint64_t)1 << gpu;
    return gpus;
}

/* The kind that all of those GPUs have to the NIC, or LINK_UNKNOWN. */
static enum link_kind common_kind(const struct node_topology *node, unsigned nic, uint64_t gpus)
{
    enum link_kind common = LINK_UNKNOWN;
    for (unsigned gpu = 0; gpu < node->gpu_count; gpu++) {
        if (!(gpus >> gpu & 1))
            continue;
        enum link_kind kind = kind_between(node, gpu, nic);
        if (common != LINK_UNKNOWN && kind != common)
            return LINK_UNKNOWN;
        common = kind;
    }
    return common;
}

static struct layout_group find_home(const struct node_topology *node, unsigned nic)
{
    enum link_kind kind = nearest_kind(node, nic);
    if (kind != LINK_UNKNOWN && kind <= LINK_PHB)
        return (struct layout_group){.gpus = gpus_at(node, nic, kind), .wired = true, .kind = kind};
    uint64_t gpus = gpus_that_prefer(node, nic), near = gpus_of_numa(node, node->nics[nic].numa);
    if (near)
        gpus &= near;
    if (gpus)
        return (struct layout_group){
            .gpus = gpus, .wired = true, .kind = common_kind(node, nic, gpus)};
    return (struct layout_group){.gpus = near};
}

/* The row of all the GPUs; LAYOUT_STRIP: of several rows, or none. */
static unsigned row_of(const struct node_topology *node, const struct node_layout *layout,
                       uint64_t gpus)
{
    unsigned row = LAYOUT_STRIP;
    for (unsigned gpu = 0; gpu < node->gpu_count; gpu++) {
        if (!(gpus >> gpu & 1))
            continue;
        if (row != LAYOUT_STRIP && layout->gpus[gpu].row != row)
            return LAYOUT_STRIP;
        row = layout->gpus[gpu].row;
    }
    return row;
}

static void gather_groups(const struct node_topology *node, struct node_layout *layout)
{
    for (unsigned nic = 0; nic < node->nic_count; nic++) {
        struct layout_group home = find_home(node, nic);
        unsigned at = 0;
        while (at < layout->group_count &&
               (layout->groups[at].gpus != home.gpus || layout->groups[at].kind != home.kind ||
                layout->groups[at].wired != home.wired))
            at++;
        if (at == layout->group_count) {
            home.row = row_of(node, layout, home.gpus);
            layout->groups[layout->group_count++] = home;
        }
        layout->groups[at].nic_count++;
        layout->nics[nic].group = at;
    }
}

/* Left and right edge of the group's GPUs, as slots. */
static void span_of(const struct node_topology *node, const struct node_layout *layout,
                    const struct layout_group *group, double *ret_left, double *ret_right)
{
    double left = 0.0, right = 0.0;
    bool first = true;
    for (unsigned gpu = 0; gpu < node->gpu_count; gpu++) {
        if (!(group->gpus >> gpu & 1))
            continue;
        double x = layout->gpus[gpu].x;
        left = first || x < left ? x : left;
        right = first || x > right ? x : right;
        first = false;
    }
    *ret_left = left - LAYOUT_SLOT / 2.0;
    *ret_right = right + LAYOUT_SLOT / 2.0;
}

/* Spreads the NICs of a group evenly below its GPUs, in as many lanes as they need. */
static void spread_nics(const struct node_topology *node, unsigned index,
                        struct node_layout *layout, struct lane_set *lanes)
{
    struct layout_group *group = &layout->groups[index];
    double left, right;
    span_of(node, layout, group, &left, &right);
    unsigned width = (unsigned)((right - left) / LAYOUT_SLOT + 0.01), placed = 0;
    group->left = left + LAYOUT_SLOT / 2.0;
    group->right = right - LAYOUT_SLOT / 2.0;
    for (unsigned nic = 0; nic < node->nic_count; nic++) {
        if (layout->nics[nic].group != index)
            continue;
        unsigned in_lane = placed / width * width;
        unsigned of_lane = group->nic_count - in_lane < width ? group->nic_count - in_lane : width;
        double x = left + (right - left) * (placed - in_lane + 0.5) / of_lane;
        layout->nics[nic].x = x;
        layout->nics[nic].lane = lane_set_take(lanes, x - LAYOUT_BOX / 2.0, x + LAYOUT_BOX / 2.0);
        if (layout->nics[nic].lane == 0) {
            group->left = fmin(group->left, x);
            group->right = fmax(group->right, x);
        }
        placed++;
    }
}

/* Wired groups stand nearest to the GPUs, narrow ones before wide ones. */
static bool goes_before(const struct layout_group *left, const struct layout_group *right)
{
    if (left->wired != right->wired)
        return left->wired;
    int left_bits = __builtin_popcountll(left->gpus),
        right_bits = __builtin_popcountll(right->gpus);
    return left_bits < right_bits;
}

static void order_groups(const struct node_layout *layout, unsigned *order)
{
    for (unsigned i = 0; i < layout->group_count; i++) {
        unsigned at = i;
        for (; at > 0 && goes_before(&layout->groups[i], &layout->groups[order[at - 1]]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

static void place_row_nics(const struct node_topology *node, unsigned row, const unsigned *order,
                           struct node_layout *layout)
{
    struct lane_set nics = {.count = 0}, paths = {.count = 0};
    for (unsigned i = 0; i < layout->group_count; i++) {
        struct layout_group *group = &layout->groups[order[i]];
        if (group->row != row)
            continue;
        spread_nics(node, order[i], layout, &nics);
        if (group->wired)
            group->lane = lane_set_take(&paths, group->left - 4.0, group->right + 4.0);
    }
    layout->rows[row].nic_lanes = nics.lanes;
    layout->rows[row].path_lanes = paths.lanes;
}

void node_layout_make(const struct node_topology *node, double narrowest, struct node_layout *ret)
{
    unsigned order[NODE_MAXIMUM_NICS];
    *ret = (struct node_layout){.frame_count = 0};
    place_gpus(node, ret);
    centre(node, narrowest, ret);
    gather_groups(node, ret);
    order_groups(ret, order);
    for (unsigned row = 0; row < ret->row_count; row++)
        place_row_nics(node, row, order, ret);
}
