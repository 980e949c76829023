/* SPDX-License-Identifier: MIT */
/*
 * environment_report: the variables of one rank or of all, as lines a shell can read and as
 * parplan.env/1.
 */
#ifndef REPORT_ENVIRONMENT_REPORT_H
#define REPORT_ENVIRONMENT_REPORT_H

#include "base/json_document.h"
#include "base/text_buffer.h"
#include "mapping/rank_environment.h"

/* One rank (or, with one task for each node, one node's task). */
struct environment_report_row {
    const char *node;
    uint64_t task; /* its number among the tasks, in RANK order */
    const struct rank_environment *environment;
};

/* "# rank 3 on n001" and "export NAME=value" lines; values that a shell would read
 * otherwise are quoted. */
void environment_report_text(const struct environment_report_row *row, struct text_buffer *out);

/* The document without tasks; *ret_tasks is its array, to which
 * environment_report_json_add appends. */
struct json_value *environment_report_json(struct json_value **ret_tasks);
void environment_report_json_add(struct json_value *tasks,
                                 const struct environment_report_row *row);

#endif
