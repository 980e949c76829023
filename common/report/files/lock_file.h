/* SPDX-License-Identifier: MIT */
/*
 * lock_file: what must stay as it is for a job's checkpoints to be of use after a restart on
 * other nodes, as a job file (schema: parplan.job/1): the model and framework, tp, pp and vpp
 * (and ep and etp of a model with experts), which say how the weights are cut and which layers a
 * stage holds; zero3 and hsdp, whose checkpoints hold shards; trainable, optimizer and mtp where
 * the job gives them, which say what states there are; and the batch and sequence of the run,
 * which a default would let follow the number of GPUs. Data parallelism, context
 * parallelism, micro batch, recompute and the width of shards follow the nodes.
 * A failure is the buffer's (text_buffer_failed).
 */
#ifndef REPORT_FILES_LOCK_FILE_H
#define REPORT_FILES_LOCK_FILE_H

#include "report/plan_report.h"

/* Of the report's first plan; its list has one. */
void lock_file_write(const struct plan_report *report, struct text_buffer *out);

#endif
