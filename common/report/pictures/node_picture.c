/* SPDX-License-Identifier: MIT */
#include "report/pictures/node_picture.h"
#include "report/number_text.h"
#include "report/pictures/node_scene.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NARROWEST 760.0
#define FRAME_LABEL 28.0
#define FRAME_BOTTOM 12.0
#define ROW_GAP 20.0
#define PATH_LANE 12.0
#define GPU_HEIGHT 62.0
#define GPU_DETAIL_HEIGHT 78.0 /* with the bus id or what is wrong */
#define SOURCES_SHOWN 6u

static double gpu_height(const struct node_topology *node)
{
    for (unsigned i = 0; i < node->gpu_count; i++)
        if (node->gpus[i].bus_id || node->gpus[i].problem)
            return GPU_DETAIL_HEIGHT;
    return GPU_HEIGHT;
}

static void measure_rows(struct node_scene *scene)
{
    double y = PICTURE_HEAD;
    for (unsigned i = 0; i < scene->layout.row_count; i++) {
        const struct layout_row *from = &scene->layout.rows[i];
        struct scene_row *row = &scene->rows[i];
        double between, domains;
        scene_measure_links(scene, i, &between, &domains);
        row->top = y;
        row->between = y + FRAME_LABEL;
        row->domains = row->between + between;
        row->gpus = row->domains + domains;
        row->paths = row->gpus + scene->gpu_height;
        row->nics = row->paths + 24.0 + PATH_LANE * from->path_lanes;
        row->bottom = (from->nic_lanes > 0 ? row->nics + SCENE_NIC_LANE * from->nic_lanes - 8.0
                                           : row->paths) +
                      FRAME_BOTTOM;
        y = row->bottom + ROW_GAP;
    }
    scene->picture.bottom = y - ROW_GAP;
}

static void draw_frames(struct node_scene *scene)
{
    struct text_buffer *out = &scene->picture.body;
    for (unsigned i = 0; i < scene->layout.frame_count; i++) {
        const struct layout_frame *frame = &scene->layout.frames[i];
        const struct scene_row *row = &scene->rows[frame->row];
        bool known = frame->numa != NUMA_UNKNOWN;
        const struct svg_box box = {frame->left, row->top, frame->right - frame->left,
                                    row->bottom - row->top};
        char text[256];
        if (!known)
            snprintf(text, sizeof(text), "NUMA node ?");
        else if (frame->cpus)
            snprintf(text, sizeof(text), "NUMA node %d · CPUs %.200s", frame->numa, frame->cpus);
        else
            snprintf(text, sizeof(text), "NUMA node %d", frame->numa);
        svg_rectangle(out, &box, 8.0, known ? "frame" : "vague");
        const struct svg_box place = {frame->left + 14.0, row->top + 18.0, box.width - 28.0, 0.0};
        svg_text_fit(out, &place, &font_faint, SVG_START, text);
    }
}

static void gpu_tooltip(const struct node_gpu *gpu, unsigned index, struct text_buffer *text)
{
    text_buffer_add(text, "GPU %u: %s", index, gpu->model ? gpu->model : "model ?");
    text_buffer_add(text, ", bus id %s", gpu->bus_id ? gpu->bus_id : "?");
    if (gpu->uuid)
        text_buffer_add(text, ", %s", gpu->uuid);
    if (gpu->mig)
        text_buffer_add_text(text, ", cut into MIG instances");
    if (gpu->problem)
        text_buffer_add(text, "; %s", gpu->problem);
}

static void draw_mig(double left, double top, struct text_buffer *out)
{
    const struct svg_box badge = {left + LAYOUT_BOX - 38.0, top + 6.0, 32.0, 15.0};
    svg_rectangle(out, &badge, 4.0, "grey");
    svg_text(out, badge.x + 16.0, badge.y + 11.5, &font_chip, SVG_MIDDLE, "MIG");
}

static void draw_gpu(struct node_scene *scene, unsigned index)
{
    const struct node_gpu *gpu = &scene->node->gpus[index];
    double left = scene->layout.gpus[index].x - LAYOUT_BOX / 2.0;
    double top = scene->rows[scene->layout.gpus[index].row].gpus;
    struct text_buffer *out = &scene->picture.body;
    CLEANUP_DONE(text_buffer) struct text_buffer tooltip;
    text_buffer_init(&tooltip, PICTURE_MAXIMUM_BYTES);
    gpu_tooltip(gpu, index, &tooltip);
    const struct svg_box box = {left, top, LAYOUT_BOX, scene->gpu_height};
    svg_group_begin(out, NULL, picture_text(&scene->picture, &tooltip));
    svg_rectangle(out, &box, 6.0, gpu->problem ? "bad" : "box");
    char name[32];
    snprintf(name, sizeof(name), "GPU %u", index);
    svg_text(out, left + 9.0, top + 20.0, &font_strong, SVG_START, name);
    struct svg_box place = {left + 9.0, top + 37.0, LAYOUT_BOX - 16.0, 0.0};
    svg_text_fit(out, &place, &font_small, SVG_START, gpu->model ? gpu->model : "model ?");
    place.y = top + 52.0;
    svg_text_fit(out, &place, &font_small, SVG_START,
                 gpu->memory_bytes ? number_bytes(gpu->memory_bytes).text : "memory ?");
    place.y = top + 68.0;
    if (gpu->problem)
        svg_text_fit(out, &place, &font_problem, SVG_START, gpu->problem);
    else if (gpu->bus_id)
        svg_text_fit(out, &place, &font_faint, SVG_START,
                     strncmp(gpu->bus_id, "0000:", 5) == 0 ? gpu->bus_id + 5 : gpu->bus_id);
    if (gpu->mig)
        draw_mig(left, top, out);
    svg_group_end(out);
}

static void draw_no_gpu(struct node_scene *scene)
{
    struct text_buffer *out = &scene->picture.body;
    const struct svg_box box = {PICTURE_MARGIN, PICTURE_HEAD,
                                scene->picture.width - 2.0 * PICTURE_MARGIN, 64.0};
    svg_rectangle(out, &box, 8.0, "vague");
    svg_text(out, box.x + box.width / 2.0, box.y + 37.0, &font_subtitle, SVG_MIDDLE, "no GPU");
    scene->picture.bottom = box.y + box.height;
}

static void add_gpu_legend(struct node_scene *scene)
{
    bool bad = false, vague = false;
    for (unsigned i = 0; i < scene->node->gpu_count; i++)
        bad = bad || scene->node->gpus[i].problem;
    for (unsigned i = 0; i < scene->layout.frame_count; i++)
        vague = vague || scene->layout.frames[i].numa == NUMA_UNKNOWN;
    if (bad)
        picture_add_legend(&scene->picture, LEGEND_BOX, "bad", 0.0, "degraded GPU or NIC");
    if (vague)
        picture_add_legend(&scene->picture, LEGEND_BOX, "vague", 0.0, "NUMA node not known");
}

/* "8 × h100-sxm", or how many of which. */
static void add_models(const struct node_topology *node, struct text_buffer *out)
{
    uint64_t counted = 0;
    for (unsigned i = 0; i < node->gpu_count; i++) {
        unsigned same = 0;
        const char *model = node->gpus[i].model ? node->gpus[i].model : "GPU of unknown model";
        if (counted >> i & 1)
            continue;
        for (unsigned j = i; j < node->gpu_count; j++) {
            const char *other = node->gpus[j].model ? node->gpus[j].model : "GPU of unknown model";
            if (strcmp(model, other) != 0)
                continue;
            counted |= (uint64_t)1 << j;
            same++;
        }
        text_buffer_add(out, "%s%u × %s", i > 0 ? ", " : "", same, model);
    }
}

static void add_nvlink(const struct node_topology *node, struct text_buffer *out)
{
    if (node->nvlink != NVLINK_KNOWN)
        text_buffer_add(out, " · NVLink %s", node->nvlink == NVLINK_NONE ? "none" : "?");
    else if (node->gpu_nvlink_bytes_per_second > 0.0)
        text_buffer_add(out, " · %s %s per GPU", scene_link_word(node),
                        number_bandwidth(node->gpu_nvlink_bytes_per_second).text);
    else
        text_buffer_add(out, " · %s", scene_link_word(node));
}

static void write_subtitle(const struct node_topology *node, struct text_buffer *out)
{
    if (node->gpu_count > 0)
        add_models(node, out);
    else
        text_buffer_add_text(out, "no GPU");
    if (node->gpu_count > 0)
        add_nvlink(node, out);
    text_buffer_add(out, " · %u NIC%s", node->nic_count, node->nic_count == 1 ? "" : "s");
    if (node->gpu_nic_bytes_per_second > 0.0)
        text_buffer_add(out, ", %s per GPU", number_network(node->gpu_nic_bytes_per_second).text);
    text_buffer_add(out, " · %s CPUs",
                    node->cpu_count ? number_grouped(node->cpu_count).text : "?");
    text_buffer_add(out, " · host memory %s",
                    node->host_memory_bytes ? number_bytes(node->host_memory_bytes).text : "?");
}

static bool add_source(const char **shown, size_t *count, const char *source)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp(shown[i], source) == 0)
            return false;
    if (*count == SOURCES_SHOWN)
        return false;
    shown[(*count)++] = source;
    return true;
}

static void write_sources(const struct node_topology *node, struct text_buffer *out)
{
    const char *shown[SOURCES_SHOWN];
    size_t count = 0;
    for (size_t i = 0; i < node->fact_count; i++)
        if (node->facts[i].source && add_source(shown, &count, node->facts[i].source))
            text_buffer_add(out, "%s%s", count == 1 ? "Sources: " : ", ", node->facts[i].source);
}

static void draw_scene(struct node_scene *scene)
{
    measure_rows(scene);
    draw_frames(scene);
    scene_draw_links(scene);
    for (unsigned i = 0; i < scene->node->gpu_count; i++)
        draw_gpu(scene, i);
    if (scene->node->gpu_count == 0)
        draw_no_gpu(scene);
    scene_draw_nics(scene);
    add_gpu_legend(scene);
    for (size_t i = 0; i < scene->node->warning_count; i++)
        picture_add_note(&scene->picture, scene->node->warnings[i]);
}

void node_picture(const struct node_topology *node, struct text_buffer *out)
{
    struct node_scene scene = {.node = node, .gpu_height = gpu_height(node)};
    CLEANUP_DONE(text_buffer) struct text_buffer subtitle, sources;
    text_buffer_init(&subtitle, PICTURE_MAXIMUM_BYTES);
    text_buffer_init(&sources, PICTURE_MAXIMUM_BYTES);
    write_subtitle(node, &subtitle);
    write_sources(node, &sources);
    node_layout_make(node, NARROWEST, &scene.layout);
    picture_init(&scene.picture, fmax(scene.layout.right + PICTURE_MARGIN, NARROWEST));
    scene.picture.title = node->name ? node->name : "node";
    scene.picture.subtitle = picture_text(&scene.picture, &subtitle);
    const char *sources_text = picture_text(&scene.picture, &sources);
    scene.picture.sources = sources_text[0] ? sources_text : NULL;
    draw_scene(&scene);
    picture_finish(&scene.picture, out);
    picture_done(&scene.picture);
}
