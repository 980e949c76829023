/* SPDX-License-Identifier: MIT */
/*
 * finding: what `parplan doctor` says of one point of an installation: fine, a warning or a fault,
 * in one line, with its remedy. The list holds its texts itself and cannot fail.
 */
#ifndef CLI_DOCTOR_FINDING_H
#define CLI_DOCTOR_FINDING_H

#include "base/error.h"
#include "base/node_list.h"
#include <stddef.h>

#define FINDINGS_MAXIMUM 32u
#define FINDING_TEXT_BYTES ERROR_TEXT_BYTES

enum finding_state { FINDING_OK, FINDING_WARNING, FINDING_FAULT, FINDING_STATE_COUNT };

struct finding {
    const char *point; /* stable, a literal: "plugin-file" */
    enum finding_state state;
    char text[FINDING_TEXT_BYTES];
    char remedy[FINDING_TEXT_BYTES]; /* "": there is nothing to do */
};

struct findings {
    struct finding list[FINDINGS_MAXIMUM];
    size_t count;
};

const char *finding_state_name(enum finding_state state); /* "ok", "warning", "fault" */

/* The line that the format makes, cleaned as errors are. Of warnings and faults what stands behind
 * its last "; " is the remedy, as in every error of ours. What is over the maximum is dropped. */
void findings_add(struct findings *findings, const char *point, enum finding_state state,
                  const char *format, ...) __attribute__((format(printf, 4, 5)));
size_t findings_count(const struct findings *findings, enum finding_state state);

/* Of many names the first few, as "n1, n2, n3, n4, …". */
#define NAME_SAMPLE_SHOWN 4u
struct name_sample {
    size_t count; /* of all */
    char names[NODE_LIST_NAME_BYTES * NAME_SAMPLE_SHOWN + 16];
    size_t used;
};
void name_sample_add(struct name_sample *sample, const char *name);

/* The remedy ("; …") for a text that may have one already: then "". */
const char *remedy_unless_in(const char *text, const char *remedy);

#endif
