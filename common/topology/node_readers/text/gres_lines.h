/* SPDX-License-Identifier: MIT */
/*
 * gres_lines: the lines of gres.conf or of `slurmd -G` as keys and values, before any
 * conclusion. Internal to slurm_gres.
 */
#ifndef TOPOLOGY_GRES_LINES_H
#define TOPOLOGY_GRES_LINES_H

#include "base/error.h"
#include <stdbool.h>

enum gres_key {
    GRES_AUTO_DETECT,
    GRES_CORES,
    GRES_COUNT,
    GRES_FILE,
    GRES_LINKS,
    GRES_MULTIPLE_FILES,
    GRES_NAME,
    GRES_NODE_NAME,
    GRES_TYPE,
    GRES_UNUSED, /* known to Slurm, of no meaning here */
    GRES_KEY_COUNT
};

struct gres_line {
    unsigned number;
    const char *values[GRES_KEY_COUNT]; /* NULL: not there, empty or "(null)" */
};

struct gres_lines {
    const char *source;
    char *next;
    unsigned number; /* of the next line */
    bool is_output;  /* of slurmd */
};

/* text: is cut up in place. */
void gres_lines_init(struct gres_lines *lines, char *text, const char *source);
/* 1: *ret is the next line that says something; 0: the end; -1: one cannot be understood. */
int gres_lines_next(struct gres_lines *lines, struct gres_line *ret, struct error_info *err);

#endif
