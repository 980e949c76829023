/* SPDX-License-Identifier: MIT */
/*
 * svg_canvas: a small writer of SVG 1.1 into a text_buffer. No scripts, no external files or
 * fonts. Lengths are pixels from the top left; numbers are rounded to one decimal and written
 * in the C locale, so a picture is the same bytes on every machine.
 *
 * Text is escaped: what XML forbids (control characters, bytes that are no UTF-8) and what
 * changes the writing direction becomes '?'. class_name and style come from our own tables
 * and are written as they are. Failure is the text_buffer's, asked once at the end.
 */
#ifndef REPORT_PICTURES_SVG_CANVAS_H
#define REPORT_PICTURES_SVG_CANVAS_H

#include "base/text_buffer.h"

struct svg_box {
    double x, y, width, height;
};

enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END, SVG_ANCHOR_COUNT };

/* The sizes are for measuring too: the class must give the text the same. */
struct svg_font {
    const char *class_name;
    double size;
    bool bold;
};

/* The head with a fixed viewBox, its <title> and its style sheet; svg_end closes it. */
void svg_begin(struct text_buffer *out, double width, double height, const char *title,
               const char *style);
void svg_end(struct text_buffer *out);
/* Behind the head: what the picture says in words, and further classes. Both may be NULL. */
void svg_describe(struct text_buffer *out, const char *description, const char *style);

/* class_name and tooltip may be NULL. */
void svg_group_begin(struct text_buffer *out, const char *class_name, const char *tooltip);
void svg_group_end(struct text_buffer *out);

void svg_rectangle(struct text_buffer *out, const struct svg_box *box, double radius,
                   const char *class_name);
void svg_circle(struct text_buffer *out, double x, double y, double radius, const char *class_name);
void svg_line(struct text_buffer *out, double x1, double y1, double x2, double y2,
              const char *class_name);

/* A path: begin, steps, end. stroke_width 0: the class's own. */
void svg_path_begin(struct text_buffer *out, const char *class_name, double stroke_width);
void svg_path_move(struct text_buffer *out, double x, double y);
void svg_path_line(struct text_buffer *out, double x, double y);
/* A cubic curve: two control points, then where it ends. */
void svg_path_curve(struct text_buffer *out, const double points[6]);
void svg_path_square(struct text_buffer *out, double x, double y, double side);
void svg_path_end(struct text_buffer *out);

/* y is the base line. */
void svg_text(struct text_buffer *out, double x, double y, const struct svg_font *font,
              enum svg_anchor anchor, const char *text);
/* The same, cut with "…" where it would be wider than width; what was cut stays readable as a
 * tooltip. */
void svg_text_fit(struct text_buffer *out, const struct svg_box *place, const struct svg_font *font,
                  enum svg_anchor anchor, const char *text);

/* An upper estimate: advances of DejaVu Sans (Bitstream Vera's metrics), the widest of the
 * usual sans-serif faces. Other characters than ASCII count as one em. */
double svg_text_width(const struct svg_font *font, const char *text);

#endif
