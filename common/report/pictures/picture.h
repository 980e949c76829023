/* SPDX-License-Identifier: MIT */
/*
 * picture: what every picture has in common: palette and fonts, head line, legend, notes. The
 * body is drawn first, into its own buffer and below the head; picture_finish then knows how
 * high it became and writes the whole.
 *
 * One palette of PICTURE_HUES hues; `hue0`… set the colour that the other classes tint. Pictures
 * bring their own background, so that they read the same on light and dark pages.
 */
#ifndef REPORT_PICTURES_PICTURE_H
#define REPORT_PICTURES_PICTURE_H

#include "report/pictures/svg_canvas.h"

#define PICTURE_MAXIMUM_BYTES ((size_t)4 << 20)
#define PICTURE_MARGIN 32.0
#define PICTURE_HEAD 84.0 /* the body begins below */
#define PICTURE_HUES 8u
#define PICTURE_LEGEND_ENTRIES 24u
#define PICTURE_NOTES 12u
#define PICTURE_CLASS_BYTES 32u

extern const struct svg_font font_title, font_subtitle, font_strong, font_plain, font_small,
    font_faint, font_problem, font_chip, font_hue, font_switch, font_uplink, font_cell;

/* A sample and a word. */
enum legend_sample {
    LEGEND_BOX,  /* class_name on a small box */
    LEGEND_LINE, /* class_name on a line */
    LEGEND_SAMPLE_COUNT
};

struct legend_entry {
    enum legend_sample sample;
    char class_name[PICTURE_CLASS_BYTES];
    double stroke_width; /* of a line; 0: the class's own */
    const char *text;    /* must outlive picture_finish */
};

struct picture {
    struct text_buffer body;
    double width;
    double bottom; /* of the body */
    struct legend_entry legend[PICTURE_LEGEND_ENTRIES];
    size_t legend_count;
    const char *notes[PICTURE_NOTES]; /* warnings; must outlive picture_finish */
    size_t note_count, note_more;
    const char *title, *subtitle, *sources;
    const char *description; /* for readers who do not see it, or NULL */
    const char *style;       /* more classes, or NULL */
};

void picture_init(struct picture *picture, double width);
void picture_done(struct picture *picture);

/* Entries beyond the maximum are dropped; notes beyond theirs are counted. */
void picture_add_legend(struct picture *picture, enum legend_sample sample, const char *class_name,
                        double stroke_width, const char *text);
void picture_add_note(struct picture *picture, const char *text);

/* "<prefix> hue3": the hue wraps around. class_name: PICTURE_CLASS_BYTES. */
void picture_hue_class(char *class_name, const char *prefix, unsigned hue);

/* The text of a buffer for the body; where it failed, the body fails too. */
const char *picture_text(struct picture *picture, const struct text_buffer *text);

/* Head, body, legend, notes and sources into out. */
void picture_finish(struct picture *picture, struct text_buffer *out);

DEFINE_CLEANUP_DONE(picture);

#endif
