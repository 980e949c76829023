/* SPDX-License-Identifier: MIT */
/*
 * scan_script: a scan as a batch script of Slurm: the user's command once for each row, some
 * steps long, with the row's ranks through srun's --parplan.
 *
 * The command's words are quoted (shell_word.h): nothing in them is read by the shell, but
 * placeholders that its rows fill: {row} {steps} {tp} {cp} {ep} {etp} {pp} {vpp} {dp} {sharding}
 * {shard} {micro_batch} {recompute} {global_batch} {sequence_length}. The same values stand in
 * PARPLAN_SWEEP_ROW, PARPLAN_SWEEP_TP, … of the command's environment.
 * The script writes one log for each row and a line of results.csv (scan_result.h's columns).
 * The step time is what the command wrote to the file $PARPLAN_SWEEP_RESULT, else the median of
 * Megatron-LM's "elapsed time per iteration (ms)" lines but the first, else left empty for people
 * to fill. A row that fails or exceeds its minutes is recorded, and the next one starts.
 */
#ifndef REPORT_SCAN_SCAN_SCRIPT_H
#define REPORT_SCAN_SCAN_SCRIPT_H

#include "base/error.h"
#include "planner/scan/scan_grid.h"
#include "report/plan_report.h"

#define SCAN_COMMAND_MAXIMUM_BYTES ((size_t)65536)

struct scan_script {
    const struct plan_report *plan;
    const struct scan_grid *grid; /* with rows */
    unsigned tasks_per_node;      /* 1, or as many as GPUs of a node */
    unsigned steps;
    char *const *words; /* the command */
    size_t word_count;
};

/* Refused: no command, a longer one than SCAN_COMMAND_MAXIMUM_BYTES, what srun would take as its
 * own (a first word that begins with '-', a word ":" alone). */
int scan_script_write(const struct scan_script *script, struct text_buffer *out,
                      struct error_info *err);

#endif
