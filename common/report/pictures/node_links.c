/* SPDX-License-Identifier: MIT */
/* node_picture: NVLink domains, their links, and what joins the domains. */
#include "report/number_text.h"
#include "report/pictures/node_scene.h"
#include <math.h>
#include <stdio.h>

#define BETWEEN_HEIGHT 48.0
#define BAR_HEIGHT 22.0
#define BAR_LANE 30.0
#define BAR_DROP 30.0 /* from the lowest bar to the GPUs */
#define HEADLINE 22.0 /* what the links of a domain are, above its curves */
#define BAND_PADDING 4.0
#define FEW_LINKS 20u

/* Row of one domain: its GPUs there from left to right. */
struct domain_part {
    unsigned gpus[LAYOUT_ROW_GPUS];
    unsigned count;
};

static double rate_of(const struct node_topology *node, unsigned i, unsigned j)
{
    return node->nvlink_bytes_per_second
               ? node->nvlink_bytes_per_second[(size_t)i * node->gpu_count + j]
               : 0.0;
}

static bool has_links(const struct node_topology *node, const struct node_domain *domain)
{
    return domain->gpu_count > 1 || (node->nvlink == NVLINK_KNOWN && node->nvlink_leaves_node);
}

static void part_of(const struct node_scene *scene, const struct node_domain *domain, unsigned row,
                    struct domain_part *ret)
{
    ret->count = 0;
    for (unsigned i = 0; i < domain->gpu_count && ret->count < LAYOUT_ROW_GPUS; i++) {
        unsigned gpu = domain->gpus[i];
        if (scene->layout.gpus[gpu].row != row)
            continue;
        unsigned at = ret->count++;
        for (; at > 0 && scene->layout.gpus[ret->gpus[at - 1]].x > scene->layout.gpus[gpu].x; at--)
            ret->gpus[at] = ret->gpus[at - 1];
        ret->gpus[at] = gpu;
    }
}

static bool spans_rows(const struct node_scene *scene, const struct node_domain *domain)
{
    for (unsigned i = 1; i < domain->gpu_count; i++)
        if (scene->layout.gpus[domain->gpus[i]].row != scene->layout.gpus[domain->gpus[0]].row)
            return true;
    return false;
}

struct pair_rates {
    double smallest, largest;
    unsigned linked, pairs;
};

static struct pair_rates pairs_of(const struct node_topology *node,
                                  const struct node_domain *domain)
{
    struct pair_rates rates = {.smallest = 0.0};
    for (unsigned i = 0; i < domain->gpu_count; i++) {
        for (unsigned j = 0; j < i; j++) {
            double rate = rate_of(node, domain->gpus[i], domain->gpus[j]);
            rates.pairs++;
            if (rate <= 0.0)
                continue;
            rates.smallest = rates.linked++ ? fmin(rates.smallest, rate) : rate;
            rates.largest = fmax(rates.largest, rate);
        }
    }
    return rates;
}

/* Drawn as one bar with a line to each GPU: behind switches, or a mesh too wide for curves. */
static bool is_barred(const struct node_scene *scene, const struct node_domain *domain)
{
    if (scene->node->nvlink_switched)
        return true;
    struct pair_rates rates = pairs_of(scene->node, domain);
    return rates.linked == rates.pairs && spans_rows(scene, domain);
}

const char *scene_link_word(const struct node_topology *node)
{
    for (size_t i = 0; node->links && i < (size_t)node->gpu_count * node->gpu_count; i++)
        if (node->links[i] == LINK_XGMI)
            return "XGMI";
    return "NVLink";
}

/* Lanes of bars in a row, by domain; returns how many there are. */
static unsigned bar_lanes(const struct node_scene *scene, unsigned row, unsigned *ret_lanes)
{
    struct lane_set lanes = {.count = 0};
    for (unsigned d = 0; d < scene->node->domain_count; d++) {
        const struct node_domain *domain = &scene->node->domains[d];
        struct domain_part part;
        part_of(scene, domain, row, &part);
        if (part.count == 0 || !has_links(scene->node, domain) || !is_barred(scene, domain))
            continue;
        unsigned lane = lane_set_take(&lanes, scene->layout.gpus[part.gpus[0]].x,
                                      scene->layout.gpus[part.gpus[part.count - 1]].x + 1.0);
        if (ret_lanes)
            ret_lanes[d] = lane;
    }
    return lanes.lanes;
}

static double arc_height(double distance) { return 26.0 + 0.13 * distance; }

/* The highest point of the curves of a row; 0: it has none. */
static double highest_arc(const struct node_scene *scene, unsigned row)
{
    double highest = 0.0;
    for (unsigned d = 0; d < scene->node->domain_count; d++) {
        const struct node_domain *domain = &scene->node->domains[d];
        struct domain_part part;
        part_of(scene, domain, row, &part);
        if (part.count == 0 || domain->gpu_count < 2 || is_barred(scene, domain))
            continue;
        highest = fmax(highest, arc_height(0.0));
        for (unsigned i = 0; i < part.count; i++)
            for (unsigned j = 0; j < i; j++)
                if (rate_of(scene->node, part.gpus[i], part.gpus[j]) > 0.0)
                    highest = fmax(highest, arc_height(scene->layout.gpus[part.gpus[i]].x -
                                                       scene->layout.gpus[part.gpus[j]].x));
    }
    return highest * 0.75;
}

static bool needs_between(const struct node_topology *node)
{
    return node->gpu_count > 1 && (node->nvlink != NVLINK_KNOWN || node->domain_count > 1);
}

void scene_measure_links(const struct node_scene *scene, unsigned row, double *ret_between,
                         double *ret_domains)
{
    unsigned lanes = bar_lanes(scene, row, NULL);
    double bars = lanes > 0 ? BAR_LANE * lanes + BAR_DROP : 0.0;
    double arcs = highest_arc(scene, row);
    *ret_between = needs_between(scene->node) ? BETWEEN_HEIGHT : 0.0;
    *ret_domains = fmax(bars, arcs > 0.0 ? arcs + HEADLINE + 8.0 : 0.0) + BAND_PADDING;
}

static bool are_neighbours(const struct node_scene *scene, unsigned left, unsigned right)
{
    double from = scene->layout.gpus[left].x, to = scene->layout.gpus[right].x;
    for (unsigned i = 0; i < scene->node->gpu_count; i++) {
        const struct layout_gpu *gpu = &scene->layout.gpus[i];
        if (gpu->row == scene->layout.gpus[left].row && gpu->x > from && gpu->x < to)
            return false;
    }
    return true;
}

static struct svg_box band_box(const struct node_scene *scene, unsigned row, unsigned first,
                               unsigned last)
{
    const struct scene_row *heights = &scene->rows[row];
    double left = scene->layout.gpus[first].x - LAYOUT_BOX / 2.0 - BAND_PADDING;
    double right = scene->layout.gpus[last].x + LAYOUT_BOX / 2.0 + BAND_PADDING;
    return (struct svg_box){left, heights->domains, right - left,
                            heights->paths + BAND_PADDING - heights->domains};
}

static void draw_bands(struct node_scene *scene, unsigned row, const struct domain_part *part)
{
    for (unsigned first = 0; first < part->count;) {
        unsigned last = first;
        while (last + 1 < part->count &&
               are_neighbours(scene, part->gpus[last], part->gpus[last + 1]))
            last++;
        const struct svg_box box = band_box(scene, row, part->gpus[first], part->gpus[last]);
        svg_rectangle(&scene->picture.body, &box, 8.0, "band");
        first = last + 1;
    }
}

static double best_rate(const struct node_topology *node, unsigned gpu)
{
    double best = 0.0;
    for (unsigned other = 0; other < node->gpu_count; other++)
        best = fmax(best, other != gpu ? rate_of(node, gpu, other) : 0.0);
    return best > 0.0 ? best : node->gpu_nvlink_bytes_per_second;
}

static void bar_words(const struct node_scene *scene, const struct node_domain *domain,
                      struct text_buffer *text)
{
    const struct node_topology *node = scene->node;
    if (node->nvlink_switched)
        text_buffer_add_text(text, "NVSwitch");
    else
        text_buffer_add(text, "%s full mesh, %u GPUs", scene_link_word(node), domain->gpu_count);
    if (node->nvlink_domain_nodes > 1)
        text_buffer_add(text, " · one domain of %u GPUs in %u nodes",
                        node->nvlink_domain_nodes * domain->gpu_count, node->nvlink_domain_nodes);
    else if (node->nvlink_leaves_node)
        text_buffer_add_text(text, " · the domain leaves the node; how far: ?");
}

static void draw_exit(struct node_scene *scene, double x, double y)
{
    struct text_buffer *out = &scene->picture.body;
    double end = scene->layout.right + 14.0;
    svg_path_begin(out, "edge", 3.0);
    svg_path_move(out, x, y);
    svg_path_line(out, end, y);
    svg_path_move(out, end - 6.0, y - 6.0);
    svg_path_line(out, end, y);
    svg_path_line(out, end - 6.0, y + 6.0);
    svg_path_end(out);
}

static void draw_bar(struct node_scene *scene, const struct node_domain *domain, unsigned row,
                     const struct domain_part *part, unsigned lane)
{
    struct text_buffer *out = &scene->picture.body;
    double gpus = scene->rows[row].gpus, y = gpus - BAR_DROP - BAR_LANE * (lane + 1.0) + 8.0;
    double left = scene->layout.gpus[part->gpus[0]].x - LAYOUT_BOX / 2.0;
    double right = scene->layout.gpus[part->gpus[part->count - 1]].x + LAYOUT_BOX / 2.0;
    const struct svg_box bar = {left, y, right - left, BAR_HEIGHT};
    for (unsigned i = 0; i < part->count; i++) {
        double x = scene->layout.gpus[part->gpus[i]].x;
        svg_path_begin(out, "edge", 3.0);
        svg_path_move(out, x, y + BAR_HEIGHT);
        svg_path_line(out, x, gpus);
        svg_path_end(out);
        const struct svg_box place = {x + 5.0, gpus - 9.0, LAYOUT_SLOT - 14.0, 0.0};
        svg_text_fit(out, &place, &font_faint, SVG_START,
                     number_bandwidth(best_rate(scene->node, part->gpus[i])).text);
    }
    if (scene->node->nvlink_leaves_node || scene->node->nvlink_domain_nodes > 1)
        draw_exit(scene, right, y + BAR_HEIGHT / 2.0);
    CLEANUP_DONE(text_buffer) struct text_buffer words;
    text_buffer_init(&words, PICTURE_MAXIMUM_BYTES);
    bar_words(scene, domain, &words);
    svg_rectangle(out, &bar, 5.0, "bar");
    const struct svg_box place = {left + bar.width / 2.0, y + 15.0, bar.width - 12.0, 0.0};
    svg_text_fit(out, &place, &font_chip, SVG_MIDDLE, picture_text(&scene->picture, &words));
}

/* A curve over the GPUs between two of one row; near pairs leave at the outer edges. */
static void draw_arc(struct node_scene *scene, unsigned left, unsigned right, double width)
{
    struct text_buffer *out = &scene->picture.body;
    double from = scene->layout.gpus[left].x, to = scene->layout.gpus[right].x;
    double steps = floor((to - from) / LAYOUT_SLOT + 0.5);
    double offset = fmax(LAYOUT_BOX / 2.0 - 10.0 - (steps - 1.0) * 6.0, 2.0);
    double y = scene->rows[scene->layout.gpus[left].row].gpus, height = arc_height(to - from);
    from += offset;
    to -= offset;
    svg_path_begin(out, "edge", width);
    svg_path_move(out, from, y);
    svg_path_curve(out, (const double[]){from, y - height, to, y - height, to, y});
    svg_path_end(out);
}

/* Between rows: from the foot of the upper GPU to the head of the lower one. */
static void draw_crossing(struct node_scene *scene, unsigned upper, unsigned lower, double width)
{
    struct text_buffer *out = &scene->picture.body;
    const struct layout_gpu *from = &scene->layout.gpus[upper], *to = &scene->layout.gpus[lower];
    double y1 = scene->rows[from->row].paths, y2 = scene->rows[to->row].gpus;
    svg_path_begin(out, "edge", width);
    svg_path_move(out, from->x, y1);
    svg_path_curve(out, (const double[]){from->x, y1 + 60.0, to->x, y2 - 60.0, to->x, y2});
    svg_path_end(out);
}

static void draw_curves(struct node_scene *scene, const struct node_domain *domain)
{
    struct pair_rates rates = pairs_of(scene->node, domain);
    double thickest = rates.linked <= FEW_LINKS ? 4.0 : 2.0;
    for (unsigned i = 0; i < domain->gpu_count; i++) {
        for (unsigned j = 0; j < i; j++) {
            unsigned left = domain->gpus[j], right = domain->gpus[i];
            double rate = rate_of(scene->node, left, right);
            if (rate <= 0.0)
                continue;
            double width = fmax(thickest * rate / rates.largest, 0.8);
            const struct layout_gpu *one = &scene->layout.gpus[left];
            const struct layout_gpu *other = &scene->layout.gpus[right];
            if (one->row < other->row)
                draw_crossing(scene, left, right, width);
            else if (one->row > other->row)
                draw_crossing(scene, right, left, width);
            else
                draw_arc(scene, one->x < other->x ? left : right, one->x < other->x ? right : left,
                         width);
        }
    }
}

static void draw_headline(struct node_scene *scene, const struct node_domain *domain, unsigned row,
                          const struct domain_part *part)
{
    struct pair_rates rates = pairs_of(scene->node, domain);
    const char *word = scene_link_word(scene->node);
    char text[128];
    if (rates.linked == 0)
        snprintf(text, sizeof(text), "%s, rate ?", word);
    else if (rates.largest > rates.smallest)
        snprintf(text, sizeof(text), "%s · %u links, %s to %s", word, rates.linked,
                 number_bandwidth(rates.smallest).text, number_bandwidth(rates.largest).text);
    else if (rates.linked == rates.pairs && rates.pairs > 1)
        snprintf(text, sizeof(text), "%s full mesh · %s per pair", word,
                 number_bandwidth(rates.largest).text);
    else
        snprintf(text, sizeof(text), "%s · %s per pair", word,
                 number_bandwidth(rates.largest).text);
    const struct svg_box band = band_box(scene, row, part->gpus[0], part->gpus[part->count - 1]);
    const struct svg_box place = {band.x + 12.0, band.y + 17.0, band.width - 24.0, 0.0};
    svg_text_fit(&scene->picture.body, &place, &font_hue, SVG_START, text);
}

static void draw_domain(struct node_scene *scene, const struct node_domain *domain, unsigned index,
                        unsigned hue, unsigned lanes[][NODE_MAXIMUM_GPUS])
{
    char class_name[PICTURE_CLASS_BYTES], tooltip[64];
    snprintf(tooltip, sizeof(tooltip), "NVLink domain %u: %u GPUs", index, domain->gpu_count);
    snprintf(class_name, sizeof(class_name), "hue%u", hue % PICTURE_HUES);
    bool barred = is_barred(scene, domain);
    svg_group_begin(&scene->picture.body, class_name, tooltip);
    for (unsigned row = 0; row < scene->layout.row_count; row++) {
        struct domain_part part;
        part_of(scene, domain, row, &part);
        if (part.count == 0)
            continue;
        draw_bands(scene, row, &part);
        if (barred)
            draw_bar(scene, domain, row, &part, lanes[row][index]);
        else
            draw_headline(scene, domain, row, &part);
    }
    if (!barred)
        draw_curves(scene, domain);
    svg_group_end(&scene->picture.body);
}

/* Bars of one domain in several rows are one switch: a trunk along the left edge joins them. */
static void draw_trunk(struct node_scene *scene, const char *class_name, double x, double offset,
                       bool to_domains)
{
    unsigned last = scene->layout.row_count - 1;
    struct text_buffer *out = &scene->picture.body;
    if (last == 0)
        return;
    svg_path_begin(out, class_name, 3.0);
    for (unsigned row = 0; row <= last; row++) {
        double y =
            (to_domains ? scene->rows[row].gpus - BAR_DROP : scene->rows[row].between) + offset;
        svg_path_move(out, scene->layout.left + 24.0, y);
        svg_path_line(out, scene->layout.left - x, y);
        if (row == 0)
            continue;
        double above =
            (to_domains ? scene->rows[row - 1].gpus - BAR_DROP : scene->rows[row - 1].between) +
            offset;
        svg_path_line(out, scene->layout.left - x, above);
    }
    svg_path_end(out);
}

static void between_words(const struct node_topology *node, char *text, size_t bytes)
{
    struct number_text rate = number_bandwidth(node->pcie_bytes_per_second);
    if (node->nvlink == NVLINK_UNKNOWN)
        snprintf(text, bytes, "NVLink ? — no source tells");
    else if (node->nvlink == NVLINK_NONE)
        snprintf(text, bytes, "PCIe only, no NVLink · %s per GPU", rate.text);
    else
        snprintf(text, bytes, "PCIe between NVLink domains · %s per GPU", rate.text);
}

static void draw_drops(struct node_scene *scene, unsigned row, double y, const char *class_name)
{
    for (unsigned d = 0; d < scene->node->domain_count; d++) {
        const struct node_domain *domain = &scene->node->domains[d];
        struct domain_part part;
        part_of(scene, domain, row, &part);
        if (part.count == 0)
            continue;
        bool banded = has_links(scene->node, domain);
        unsigned last = 0;
        while (banded && last + 1 < part.count &&
               are_neighbours(scene, part.gpus[last], part.gpus[last + 1]))
            last++;
        double x =
            (scene->layout.gpus[part.gpus[0]].x + scene->layout.gpus[part.gpus[last]].x) / 2.0;
        svg_line(&scene->picture.body, x, y, x,
                 banded ? scene->rows[row].domains : scene->rows[row].gpus, class_name);
    }
}

static void draw_between(struct node_scene *scene)
{
    bool unknown = scene->node->nvlink == NVLINK_UNKNOWN;
    char text[128];
    between_words(scene->node, text, sizeof(text));
    draw_trunk(scene, unknown ? "guess" : "far", 14.0, 12.0, false);
    for (unsigned row = 0; row < scene->layout.row_count; row++) {
        double left = scene->layout.left + 24.0, right = scene->layout.rows[row].right - 24.0;
        const struct svg_box bar = {left, scene->rows[row].between, right - left, 24.0};
        draw_drops(scene, row, bar.y + bar.height, unknown ? "guess" : "far");
        svg_rectangle(&scene->picture.body, &bar, 5.0, unknown ? "unsure" : "pcie");
        const struct svg_box place = {left + bar.width / 2.0, bar.y + 16.0, bar.width - 12.0, 0.0};
        svg_text_fit(&scene->picture.body, &place, &font_plain, SVG_MIDDLE, text);
    }
}

static void add_legend(struct node_scene *scene, bool linked, bool barred)
{
    if (linked)
        picture_add_legend(&scene->picture, LEGEND_BOX, "band hue0", 0.0, "NVLink or XGMI domain");
    if (linked && !barred)
        picture_add_legend(&scene->picture, LEGEND_LINE, "edge hue0", 3.0,
                           "link, as wide as it is fast");
    if (needs_between(scene->node))
        picture_add_legend(&scene->picture, LEGEND_BOX,
                           scene->node->nvlink == NVLINK_UNKNOWN ? "unsure" : "pcie", 0.0,
                           scene->node->nvlink == NVLINK_UNKNOWN ? "not known" : "PCIe");
}

void scene_draw_links(struct node_scene *scene)
{
    const struct node_topology *node = scene->node;
    unsigned lanes[NODE_MAXIMUM_GPUS][NODE_MAXIMUM_GPUS] = {{0}}, hue = 0;
    bool barred = false;
    for (unsigned row = 0; row < scene->layout.row_count; row++)
        bar_lanes(scene, row, lanes[row]);
    if (needs_between(node))
        draw_between(scene);
    for (unsigned d = 0; d < node->domain_count; d++) {
        const struct node_domain *domain = &node->domains[d];
        if (!has_links(node, domain))
            continue;
        if (is_barred(scene, domain) && spans_rows(scene, domain)) {
            char class_name[PICTURE_CLASS_BYTES];
            picture_hue_class(class_name, "edge", hue);
            draw_trunk(scene, class_name, 16.0 - 4.0 * (hue % 3),
                       8.0 - BAR_LANE * (lanes[0][d] + 1.0) + BAR_HEIGHT / 2.0, true);
        }
        barred = barred || is_barred(scene, domain);
        draw_domain(scene, domain, d, hue++, lanes);
    }
    add_legend(scene, hue > 0, barred);
}
