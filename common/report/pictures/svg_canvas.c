/* SPDX-License-Identifier: MIT */
#include "report/pictures/svg_canvas.h"
#include <math.h>
#include <string.h>

#define LARGEST_COORDINATE 1e6
#define ELLIPSIS "…"
#define BOLD_WIDTH 1.12 /* of the regular face */

/* Advances of ' ' to '~' in thousandths of an em. */
static const unsigned short advances[] = {
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361,  318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635,  611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352,  635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592,  525, 636, 337, 636, 838,
};

static const char *const anchor_words[SVG_ANCHOR_COUNT] = {
    [SVG_START] = "", [SVG_MIDDLE] = " text-anchor=\"middle\"", [SVG_END] = " text-anchor=\"end\""};

static void add_number(struct text_buffer *out, double number)
{
    if (!(fabs(number) <= LARGEST_COORDINATE)) /* also not a number */
        number = 0.0;
    double tenths = floor(number * 10.0 + 0.5);
    double whole = trunc(tenths / 10.0);
    if (whole * 10.0 >= tenths && whole * 10.0 <= tenths)
        text_buffer_add(out, "%.0f", whole + 0.0);
    else
        text_buffer_add(out, "%.1f", tenths / 10.0);
}

static void add_attribute(struct text_buffer *out, const char *name, double number)
{
    text_buffer_add(out, " %s=\"", name);
    add_number(out, number);
    text_buffer_add_text(out, "\"");
}

static void add_point(struct text_buffer *out, const char *verb, double x, double y)
{
    text_buffer_add_text(out, verb);
    add_number(out, x);
    text_buffer_add_text(out, " ");
    add_number(out, y);
}

static void add_class(struct text_buffer *out, const char *class_name)
{
    if (class_name)
        text_buffer_add(out, " class=\"%s\"", class_name);
}

static bool is_unfit(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } unfit[] = {{0, 0x1f},        {0x7f, 0x9f},     {0x61c, 0x61c},  {0x200e, 0x200f},
                 {0x2028, 0x202e}, {0x2066, 0x2069}, {0xfffe, 0xffff}};
    for (size_t i = 0; i < COUNT_OF(unfit); i++)
        if (code >= unfit[i].first && code <= unfit[i].last)
            return true;
    return false;
}

static const char *entity_of(uint32_t code)
{
    switch (code) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/* The bytes of the character at text, at least one, and its code: '?' for what is no text. */
static size_t next_character(const char *text, uint32_t *ret_code)
{
    size_t bytes = text_character(text, ret_code);
    if (bytes > 0 && !is_unfit(*ret_code))
        return bytes;
    *ret_code = '?';
    return bytes > 0 ? bytes : 1;
}

static void add_escaped(struct text_buffer *out, const char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        uint32_t code;
        size_t bytes = next_character(text + at, &code);
        const char *entity = entity_of(code);
        if (entity)
            text_buffer_add_text(out, entity);
        else if (code == '?')
            text_buffer_add_text(out, "?");
        else
            text_buffer_add_bytes(out, text + at, bytes);
        at += bytes;
    }
}

static void add_title(struct text_buffer *out, const char *text)
{
    text_buffer_add_text(out, "<title>");
    add_escaped(out, text, strlen(text));
    text_buffer_add_text(out, "</title>");
}

void svg_begin(struct text_buffer *out, double width, double height, const char *title,
               const char *style)
{
    text_buffer_add_text(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ");
    add_number(out, width);
    text_buffer_add_text(out, " ");
    add_number(out, height);
    text_buffer_add_text(out, "\"");
    add_attribute(out, "width", width);
    add_attribute(out, "height", height);
    text_buffer_add_text(out, " role=\"img\">\n");
    add_title(out, title);
    text_buffer_add(out, "\n<style>\n%s</style>\n", style);
}

void svg_describe(struct text_buffer *out, const char *description, const char *style)
{
    if (description) {
        text_buffer_add_text(out, "<desc>");
        add_escaped(out, description, strlen(description));
        text_buffer_add_text(out, "</desc>\n");
    }
    if (style)
        text_buffer_add(out, "<style>\n%s</style>\n", style);
}

void svg_end(struct text_buffer *out) { text_buffer_add_text(out, "</svg>\n"); }

void svg_group_begin(struct text_buffer *out, const char *class_name, const char *tooltip)
{
    text_buffer_add_text(out, "<g");
    add_class(out, class_name);
    text_buffer_add_text(out, ">");
    if (tooltip)
        add_title(out, tooltip);
    text_buffer_add_text(out, "\n");
}

void svg_group_end(struct text_buffer *out) { text_buffer_add_text(out, "</g>\n"); }

void svg_rectangle(struct text_buffer *out, const struct svg_box *box, double radius,
                   const char *class_name)
{
    text_buffer_add_text(out, "<rect");
    add_class(out, class_name);
    add_attribute(out, "x", box->x);
    add_attribute(out, "y", box->y);
    add_attribute(out, "width", fmax(box->width, 0.0));
    add_attribute(out, "height", fmax(box->height, 0.0));
    if (radius > 0.0)
        add_attribute(out, "rx", radius);
    text_buffer_add_text(out, "/>\n");
}

void svg_circle(struct text_buffer *out, double x, double y, double radius, const char *class_name)
{
    text_buffer_add_text(out, "<circle");
    add_class(out, class_name);
    add_attribute(out, "cx", x);
    add_attribute(out, "cy", y);
    add_attribute(out, "r", radius);
    text_buffer_add_text(out, "/>\n");
}

void svg_line(struct text_buffer *out, double x1, double y1, double x2, double y2,
              const char *class_name)
{
    svg_path_begin(out, class_name, 0.0);
    svg_path_move(out, x1, y1);
    svg_path_line(out, x2, y2);
    svg_path_end(out);
}

void svg_path_begin(struct text_buffer *out, const char *class_name, double stroke_width)
{
    text_buffer_add_text(out, "<path");
    add_class(out, class_name);
    if (stroke_width > 0.0)
        add_attribute(out, "stroke-width", stroke_width);
    text_buffer_add_text(out, " d=\"");
}

void svg_path_move(struct text_buffer *out, double x, double y) { add_point(out, "M", x, y); }

void svg_path_line(struct text_buffer *out, double x, double y) { add_point(out, "L", x, y); }

void svg_path_curve(struct text_buffer *out, const double points[6])
{
    add_point(out, "C", points[0], points[1]);
    add_point(out, " ", points[2], points[3]);
    add_point(out, " ", points[4], points[5]);
}

void svg_path_square(struct text_buffer *out, double x, double y, double side)
{
    add_point(out, "M", x, y);
    text_buffer_add_text(out, "h");
    add_number(out, side);
    text_buffer_add_text(out, "v");
    add_number(out, side);
    text_buffer_add_text(out, "h");
    add_number(out, -side);
    text_buffer_add_text(out, "z");
}

void svg_path_end(struct text_buffer *out) { text_buffer_add_text(out, "\"/>\n"); }

static double character_width(const struct svg_font *font, uint32_t code)
{
    double thousandths = 1000.0;
    if (code >= ' ' && code - ' ' < COUNT_OF(advances))
        thousandths = advances[code - ' '];
    return thousandths * font->size * (font->bold ? BOLD_WIDTH : 1.0) / 1000.0;
}

double svg_text_width(const struct svg_font *font, const char *text)
{
    double width = 0.0;
    for (size_t at = 0; text[at];) {
        uint32_t code;
        at += next_character(text + at, &code);
        width += character_width(font, code);
    }
    return width;
}

/* Bytes of text that leave room for the ellipsis; all of them where the whole text fits. */
static size_t fitting_bytes(const struct svg_font *font, const char *text, double room)
{
    double width = 0.0, ellipsis = character_width(font, 0x2026);
    size_t at = 0, fits = 0;
    while (text[at]) {
        uint32_t code;
        at += next_character(text + at, &code);
        width += character_width(font, code);
        if (width + ellipsis <= room)
            fits = at;
        if (width > room)
            return fits;
    }
    return at;
}

static void begin_text(struct text_buffer *out, double x, double y, const struct svg_font *font,
                       enum svg_anchor anchor)
{
    text_buffer_add_text(out, "<text");
    add_class(out, font->class_name);
    add_attribute(out, "x", x);
    add_attribute(out, "y", y);
    text_buffer_add(out, "%s>", anchor_words[anchor]);
}

void svg_text(struct text_buffer *out, double x, double y, const struct svg_font *font,
              enum svg_anchor anchor, const char *text)
{
    begin_text(out, x, y, font, anchor);
    add_escaped(out, text, strlen(text));
    text_buffer_add_text(out, "</text>\n");
}

void svg_text_fit(struct text_buffer *out, const struct svg_box *place, const struct svg_font *font,
                  enum svg_anchor anchor, const char *text)
{
    size_t fits = fitting_bytes(font, text, place->width);
    bool cut = text[fits] != '\0';
    begin_text(out, place->x, place->y, font, anchor);
    if (cut)
        add_title(out, text);
    add_escaped(out, text, fits);
    text_buffer_add_text(out, cut ? ELLIPSIS "</text>\n" : "</text>\n");
}
