/* SPDX-License-Identifier: MIT */
#include "report/pictures/picture.h"
#include <stdio.h>
#include <string.h>

#define LEGEND_ROW 22.0
#define SAMPLE_WIDTH 22.0
#define NOTE_ROW 17.0
#define SECTION_GAP 26.0

const struct svg_font font_title = {"ti", 20.0, true};
const struct svg_font font_subtitle = {"su", 12.5, false};
const struct svg_font font_strong = {"st", 12.5, true};
const struct svg_font font_plain = {"pl", 11.0, false};
const struct svg_font font_small = {"sm", 10.0, false};
const struct svg_font font_faint = {"fa", 10.0, false};
const struct svg_font font_problem = {"pr", 10.0, false};
const struct svg_font font_chip = {"ch", 10.5, true};
const struct svg_font font_hue = {"hu", 10.5, true};
const struct svg_font font_switch = {"sw", 11.0, true};
const struct svg_font font_uplink = {"up", 10.0, false};
const struct svg_font font_cell = {"ce", 8.5, false};

/* The sizes are those of the fonts above. A stroke-width attribute counts only where the class
 * gives none. */
static const char style[] =
    "text{font-family:Inter,'Segoe UI','Helvetica Neue',Arial,'DejaVu Sans',sans-serif;"
    "fill:#1f2933}\n"
    ".ti{font-size:20px;font-weight:bold}\n"
    ".su{font-size:12.5px;fill:#52606d}\n"
    ".st{font-size:12.5px;font-weight:bold}\n"
    ".pl{font-size:11px;fill:#3e4c59}\n"
    ".sm{font-size:10px;fill:#3e4c59}\n"
    ".fa{font-size:10px;fill:#7b8794}\n"
    ".pr{font-size:10px;fill:#c02626}\n"
    ".ch{font-size:10.5px;font-weight:bold;fill:#fff}\n"
    ".hu{font-size:10.5px;font-weight:bold;fill:currentColor}\n"
    ".sw{font-size:11px;font-weight:bold;fill:#fff}\n"
    ".up{font-size:10px;fill:#52606d}\n"
    ".ce{font-size:8.5px}\n"
    ".page{fill:#fff;stroke:#d5dbe3}\n"
    ".rule{stroke:#e4e9ef}\n"
    ".frame{fill:#f5f7fa;stroke:#cbd3dd}\n"
    ".vague{fill:#fcfcfd;stroke:#aab4c0;stroke-dasharray:5 4}\n"
    ".box{fill:#fff;stroke:#7b8794;stroke-width:1.2}\n"
    ".dim{fill:#eceff3;stroke:#b4bec9}\n"
    ".bad{fill:#fdecec;stroke:#d64545;stroke-width:1.6}\n"
    ".unsure{fill:#fff8e6;stroke:#d9a21b;stroke-dasharray:4 3}\n"
    ".band{fill:currentColor;fill-opacity:.1;stroke:currentColor;stroke-opacity:.45}\n"
    ".bar{fill:currentColor;stroke:none}\n"
    ".edge{fill:none;stroke:currentColor;stroke-opacity:.75;stroke-linecap:round}\n"
    ".wire{fill:none;stroke:#7b8794;stroke-width:1.3;stroke-linejoin:round}\n"
    ".far{fill:none;stroke:#7b8794;stroke-width:1.3;stroke-dasharray:6 4}\n"
    ".guess{fill:none;stroke:#9aa5b1;stroke-width:1.3;stroke-dasharray:1.5 4;"
    "stroke-linecap:round}\n"
    ".strike{fill:none;stroke:#d64545;stroke-width:1.6}\n"
    ".pcie{fill:#fff;stroke:#7b8794;stroke-width:1.3;stroke-dasharray:6 4}\n"
    ".grey{fill:#9aa5b1}\n"
    ".blank{fill:#fff}\n"
    ".switch{fill:#3e4c59}\n"
    ".node{fill:#52606d}\n"
    ".hue0{color:#2f8f6b}\n"
    ".hue1{color:#3f6fd1}\n"
    ".hue2{color:#c7791c}\n"
    ".hue3{color:#8a55b8}\n"
    ".hue4{color:#1e8fa6}\n"
    ".hue5{color:#c2477f}\n"
    ".hue6{color:#7a8b1f}\n"
    ".hue7{color:#b5533c}\n";

void picture_init(struct picture *picture, double width)
{
    *picture = (struct picture){.width = width, .bottom = PICTURE_HEAD};
    text_buffer_init(&picture->body, PICTURE_MAXIMUM_BYTES);
}

void picture_done(struct picture *picture) { text_buffer_done(&picture->body); }

void picture_add_legend(struct picture *picture, enum legend_sample sample, const char *class_name,
                        double stroke_width, const char *text)
{
    if (picture->legend_count == PICTURE_LEGEND_ENTRIES)
        return;
    struct legend_entry *entry = &picture->legend[picture->legend_count++];
    *entry = (struct legend_entry){.sample = sample, .stroke_width = stroke_width, .text = text};
    snprintf(entry->class_name, sizeof(entry->class_name), "%s", class_name);
}

void picture_add_note(struct picture *picture, const char *text)
{
    if (picture->note_count < PICTURE_NOTES)
        picture->notes[picture->note_count++] = text;
    else
        picture->note_more++;
}

void picture_hue_class(char *class_name, const char *prefix, unsigned hue)
{
    snprintf(class_name, PICTURE_CLASS_BYTES, "%s hue%u", prefix, hue % PICTURE_HUES);
}

const char *picture_text(struct picture *picture, const struct text_buffer *text)
{
    if (text_buffer_failed(text))
        picture->body.failed = true;
    return text_buffer_text(text);
}

static void draw_entry(const struct legend_entry *entry, double x, double y,
                       struct text_buffer *out)
{
    if (entry->sample == LEGEND_BOX) {
        const struct svg_box box = {x, y - 10.0, SAMPLE_WIDTH, 12.0};
        svg_rectangle(out, &box, 3.0, entry->class_name);
    } else {
        svg_path_begin(out, entry->class_name, entry->stroke_width);
        svg_path_move(out, x, y - 4.0);
        svg_path_line(out, x + SAMPLE_WIDTH, y - 4.0);
        svg_path_end(out);
    }
    svg_text(out, x + SAMPLE_WIDTH + 7.0, y, &font_plain, SVG_START, entry->text);
}

/* Entries flow from left to right; returns the y below them. */
static double draw_legend(const struct picture *picture, double y, struct text_buffer *out)
{
    double x = PICTURE_MARGIN, right = picture->width - PICTURE_MARGIN;
    for (size_t i = 0; i < picture->legend_count; i++) {
        const struct legend_entry *entry = &picture->legend[i];
        double width = SAMPLE_WIDTH + 7.0 + svg_text_width(&font_plain, entry->text);
        if (x > PICTURE_MARGIN && x + width > right) {
            x = PICTURE_MARGIN;
            y += LEGEND_ROW;
        }
        draw_entry(entry, x, y, out);
        x += width + 22.0;
    }
    return picture->legend_count > 0 ? y + LEGEND_ROW : y;
}

static double draw_line(const struct picture *picture, const struct svg_font *font,
                        const char *text, double y, struct text_buffer *out)
{
    const struct svg_box place = {PICTURE_MARGIN, y, picture->width - 2.0 * PICTURE_MARGIN, 0.0};
    svg_text_fit(out, &place, font, SVG_START, text);
    return y + NOTE_ROW;
}

static double draw_notes(const struct picture *picture, double y, struct text_buffer *out)
{
    for (size_t i = 0; i < picture->note_count; i++)
        y = draw_line(picture, &font_problem, picture->notes[i], y, out);
    if (picture->note_more > 0) {
        char more[96];
        snprintf(more, sizeof(more), "… %zu warnings more (--format text has them all)",
                 picture->note_more);
        y = draw_line(picture, &font_problem, more, y, out);
    }
    return y;
}

/* A title may be a path; the sources say it whole. */
static const char *last_component(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static void draw_head(const struct picture *picture, struct text_buffer *out)
{
    const struct svg_box title = {PICTURE_MARGIN, 40.0, picture->width - 2.0 * PICTURE_MARGIN, 0.0};
    svg_text_fit(out, &title, &font_title, SVG_START, last_component(picture->title));
    if (picture->subtitle)
        draw_line(picture, &font_subtitle, picture->subtitle, 62.0, out);
}

void picture_finish(struct picture *picture, struct text_buffer *out)
{
    CLEANUP_DONE(text_buffer) struct text_buffer foot;
    text_buffer_init(&foot, PICTURE_MAXIMUM_BYTES);
    double rule = picture->bottom + 14.0;
    svg_line(&foot, PICTURE_MARGIN, rule, picture->width - PICTURE_MARGIN, rule, "rule");
    double y = draw_legend(picture, rule + SECTION_GAP, &foot);
    y = draw_notes(picture, y, &foot);
    if (picture->sources)
        y = draw_line(picture, &font_faint, picture->sources, y, &foot);
    double height = y + 6.0;
    const struct svg_box page = {0.5, 0.5, picture->width - 1.0, height - 1.0};
    svg_begin(out, picture->width, height, last_component(picture->title), style);
    svg_describe(out, picture->description, picture->style);
    svg_rectangle(out, &page, 8.0, "page");
    draw_head(picture, out);
    text_buffer_add_bytes(out, text_buffer_text(&picture->body), picture->body.length);
    text_buffer_add_bytes(out, text_buffer_text(&foot), foot.length);
    svg_end(out);
    if (text_buffer_failed(&picture->body) || text_buffer_failed(&foot))
        out->failed = true;
}
