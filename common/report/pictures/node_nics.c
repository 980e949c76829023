/* SPDX-License-Identifier: MIT */
/* node_picture: the NICs. */
#include "report/number_text.h"
#include "report/pictures/node_scene.h"
#include <stdio.h>

#define CHIP_WIDTH 20.0
#define PATH_STEP 12.0
#define STRIP_LABEL 22.0

static const char *const kind_words[LINK_KIND_COUNT] = {
    [LINK_UNKNOWN] = "?", [LINK_NVLINK] = "NVLink", [LINK_XGMI] = "XGMI", [LINK_PIX] = "PIX",
    [LINK_PXB] = "PXB",   [LINK_PHB] = "PHB",       [LINK_NODE] = "NODE", [LINK_SYS] = "SYS",
};

static const char *const kind_classes[LINK_KIND_COUNT] = {
    [LINK_UNKNOWN] = "guess", [LINK_NVLINK] = "wire", [LINK_XGMI] = "wire", [LINK_PIX] = "wire",
    [LINK_PXB] = "wire",      [LINK_PHB] = "wire",    [LINK_NODE] = "far",  [LINK_SYS] = "far",
};

static const char *const role_letters[NIC_ROLE_COUNT] = {
    [NIC_RAIL] = "R",     [NIC_STORAGE] = "S", [NIC_MANAGEMENT] = "M",
    [NIC_NVSWITCH] = "N", [NIC_OTHER] = "–",
};

static void nic_tooltip(const struct node_nic *nic, unsigned index, struct text_buffer *text)
{
    if (nic->name)
        text_buffer_add_text(text, nic->name);
    else
        text_buffer_add(text, "NIC %u", index);
    text_buffer_add(text, ": %s", nic_role_name(nic->role));
    if (nic->rail >= 0)
        text_buffer_add(text, " %d", nic->rail);
    text_buffer_add(text, ", state %s, %s",
                    nic->state == NIC_STATE_UNKNOWN ? "?" : nic_state_name(nic->state),
                    number_network(nic->bytes_per_second).text);
    text_buffer_add_text(text, nic->is_ethernet ? ", Ethernet" : "");
    text_buffer_add(text, ", NUMA node %s, bus id %s",
                    nic->numa == NUMA_UNKNOWN ? "?" : number_index(nic->numa).text,
                    nic->bus_id ? nic->bus_id : "?");
    if (nic->reason)
        text_buffer_add(text, "; %s", nic->reason);
    if (nic->problem)
        text_buffer_add(text, "; %s", nic->problem);
}

static void draw_chip(const struct node_nic *nic, const struct svg_box *box,
                      struct text_buffer *out)
{
    const struct svg_box chip = {box->x + 4.0, box->y + 7.0, CHIP_WIDTH, box->height - 14.0};
    char class_name[PICTURE_CLASS_BYTES], text[16];
    bool numbered = nic->role == NIC_RAIL && nic->rail >= 0;
    if (numbered && nic->state != NIC_DOWN)
        picture_hue_class(class_name, "bar", (unsigned)nic->rail);
    else
        snprintf(class_name, sizeof(class_name), "grey");
    if (numbered)
        snprintf(text, sizeof(text), "%d", nic->rail);
    else
        snprintf(text, sizeof(text), "%s", role_letters[nic->role]);
    svg_rectangle(out, &chip, 4.0, class_name);
    svg_text(out, chip.x + CHIP_WIDTH / 2.0, chip.y + 14.0, &font_chip, SVG_MIDDLE, text);
}

static const char *box_class(const struct node_nic *nic)
{
    if (nic->problem && nic->state != NIC_DOWN)
        return "bad";
    return nic->role == NIC_RAIL && nic->state != NIC_DOWN ? "box" : "dim";
}

/* The line below the name. */
static struct number_text second_line(const struct node_nic *nic)
{
    struct number_text text;
    if (nic->state == NIC_DOWN)
        snprintf(text.text, sizeof(text.text), "down");
    else if (nic->role != NIC_RAIL)
        snprintf(text.text, sizeof(text.text), "%s", nic_role_name(nic->role));
    else if (nic->bytes_per_second > 0.0)
        text = number_network(nic->bytes_per_second);
    else
        snprintf(text.text, sizeof(text.text), "rate ?");
    return text;
}

static void draw_nic(struct node_scene *scene, unsigned index, double x, double y)
{
    const struct node_nic *nic = &scene->node->nics[index];
    const struct svg_box box = {x - LAYOUT_BOX / 2.0, y, LAYOUT_BOX, SCENE_NIC_HEIGHT};
    struct text_buffer *out = &scene->picture.body;
    CLEANUP_DONE(text_buffer) struct text_buffer tooltip;
    text_buffer_init(&tooltip, PICTURE_MAXIMUM_BYTES);
    nic_tooltip(nic, index, &tooltip);
    bool bad = nic->problem || nic->state == NIC_DOWN;
    char name[32];
    snprintf(name, sizeof(name), "NIC %u", index);
    svg_group_begin(out, NULL, picture_text(&scene->picture, &tooltip));
    svg_rectangle(out, &box, 5.0, box_class(nic));
    draw_chip(nic, &box, out);
    struct svg_box place = {box.x + CHIP_WIDTH + 9.0, y + 14.5, LAYOUT_BOX - CHIP_WIDTH - 12.0,
                            0.0};
    svg_text_fit(out, &place, &font_small, SVG_START, nic->name ? nic->name : name);
    place.y = y + 27.5;
    svg_text_fit(out, &place, bad ? &font_problem : &font_faint, SVG_START,
                 bad && nic->state != NIC_DOWN ? nic->problem : second_line(nic).text);
    if (nic->state == NIC_DOWN)
        svg_line(out, place.x - 2.0, y + 11.0, place.x + place.width - 2.0, y + 11.0, "strike");
    svg_group_end(out);
}

static void draw_path(struct node_scene *scene, unsigned index)
{
    const struct layout_group *group = &scene->layout.groups[index];
    const struct scene_row *row = &scene->rows[group->row];
    struct text_buffer *out = &scene->picture.body;
    double y = row->paths + 22.0 + PATH_STEP * group->lane;
    double first = -1.0;
    svg_path_begin(out, kind_classes[group->kind], 0.0);
    for (unsigned gpu = 0; gpu < scene->node->gpu_count; gpu++) {
        if (!(group->gpus >> gpu & 1))
            continue;
        double x = scene->layout.gpus[gpu].x;
        first = first < 0.0 || x < first ? x : first;
        svg_path_move(out, x, row->paths);
        svg_path_line(out, x, y);
    }
    if (group->left < group->right) {
        svg_path_move(out, group->left, y);
        svg_path_line(out, group->right, y);
    }
    for (unsigned nic = 0; nic < scene->node->nic_count; nic++) {
        if (scene->layout.nics[nic].group != index)
            continue;
        svg_path_move(out, scene->layout.nics[nic].x, y);
        svg_path_line(out, scene->layout.nics[nic].x,
                      row->nics + SCENE_NIC_LANE * scene->layout.nics[nic].lane);
    }
    svg_path_end(out);
    svg_text(out, first + 5.0, row->paths + 17.0, &font_faint, SVG_START, kind_words[group->kind]);
}

/* NICs that no row has, side by side below all rows. */
static void draw_strip(struct node_scene *scene)
{
    double left = PICTURE_MARGIN, x = left, y = scene->picture.bottom + 18.0;
    double right = scene->picture.width - PICTURE_MARGIN;
    bool begun = false;
    for (unsigned nic = 0; nic < scene->node->nic_count; nic++) {
        if (scene->layout.groups[scene->layout.nics[nic].group].row != LAYOUT_STRIP)
            continue;
        if (!begun) {
            svg_text(&scene->picture.body, left, y + 8.0, &font_faint, SVG_START,
                     "NICs that are near no GPU, or whose place is not known");
            y += STRIP_LABEL;
        } else if (x + LAYOUT_BOX > right) {
            x = left;
            y += SCENE_NIC_LANE;
        }
        begun = true;
        draw_nic(scene, nic, x + LAYOUT_BOX / 2.0, y);
        x += LAYOUT_SLOT;
    }
    if (begun)
        scene->picture.bottom = y + SCENE_NIC_HEIGHT;
}

static unsigned count_rails(const struct node_topology *node)
{
    unsigned rails = 0;
    for (unsigned i = 0; i < node->nic_count; i++)
        rails += node->nics[i].role == NIC_RAIL;
    return rails;
}

/* Paths drawn of those kinds. */
static unsigned count_paths(const struct node_scene *scene, enum link_kind first,
                            enum link_kind last)
{
    unsigned paths = 0;
    for (unsigned i = 0; i < scene->layout.group_count; i++) {
        const struct layout_group *group = &scene->layout.groups[i];
        paths += group->wired && group->row != LAYOUT_STRIP && group->kind >= first &&
                 group->kind <= last;
    }
    return paths;
}

static void add_legend(struct node_scene *scene)
{
    struct picture *picture = &scene->picture;
    unsigned rails = count_rails(scene->node);
    if (rails > 0)
        picture_add_legend(picture, LEGEND_BOX, "bar hue0", 0.0, "rail, by its number");
    if (rails < scene->node->nic_count)
        picture_add_legend(picture, LEGEND_BOX, "dim", 0.0, "NIC without training traffic");
    if (count_paths(scene, LINK_UNKNOWN, LINK_UNKNOWN) > 0)
        picture_add_legend(picture, LEGEND_LINE, "guess", 0.0, "assigned; PCIe path not known");
    if (count_paths(scene, LINK_NODE, LINK_SYS) > 0)
        picture_add_legend(picture, LEGEND_LINE, "far", 0.0, "across the host bridges");
}

void scene_draw_nics(struct node_scene *scene)
{
    const struct node_layout *layout = &scene->layout;
    for (unsigned i = 0; i < layout->group_count; i++)
        if (layout->groups[i].wired && layout->groups[i].row != LAYOUT_STRIP)
            draw_path(scene, i);
    for (unsigned i = 0; i < scene->node->nic_count; i++) {
        unsigned row = layout->groups[layout->nics[i].group].row;
        if (row != LAYOUT_STRIP)
            draw_nic(scene, i, layout->nics[i].x,
                     scene->rows[row].nics + SCENE_NIC_LANE * layout->nics[i].lane);
    }
    draw_strip(scene);
    add_legend(scene);
}
