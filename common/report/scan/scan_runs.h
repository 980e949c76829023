/* SPDX-License-Identifier: MIT */
/*
 * scan_runs: the measured rows of a scan as a table of training runs (published_run.h's
 * columns), for `parplan validate --runs`.
 *
 * A node that is no preset is named by its GPU alone. Of a model that is no preset the columns
 * have the shape, as far as they can: latent attention is left out.
 */
#ifndef REPORT_SCAN_SCAN_RUNS_H
#define REPORT_SCAN_SCAN_RUNS_H

#include "base/error.h"
#include "report/scan/scan_report.h"

/* preset: the node preset of the cluster's nodes, or NULL. Refused, since there are no columns
 * for it: offload, the schedules naive and zero-bubble, etp with ep, a trainable share below 1
 * (also frozen and LoRA), mtp, an optimizer that is not adam, experts loaded unevenly or padded. */
int scan_runs_write(const struct scan_report *report, const char *preset, struct text_buffer *out,
                    struct error_info *err);

#endif
