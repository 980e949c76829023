/* SPDX-License-Identifier: MIT */
/*
 * run_options: --nodes-range, --scaling, --prefer, --tokens, --within and --price-per-gpu-hour:
 * what `parplan plan` is asked beyond one plan.
 */
#ifndef CLI_INPUTS_RUN_OPTIONS_H
#define CLI_INPUTS_RUN_OPTIONS_H

#include "cli/inputs/scenario.h"
#include "planner/scaling/node_scaling.h"

#define RUN_TOKENS_MAXIMUM 1e18
#define RUN_DAYS_MAXIMUM 1e6
#define RUN_PRICE_MAXIMUM 1e9

struct run_options {
    struct scaling_request scaling; /* run alone where counts are not asked for */
    bool counts;                    /* several node counts are asked for */
};

/* Before the scenario: `--nodes 12-16` (Slurm's spelling of a range) and 12..16 are --nodes-range.
 * No list of names looks like that: theirs have brackets. A range that is none is --nodes' fault
 * then. */
void run_options_take_nodes(struct command_options *options);

/* "12-16" or "12..16": a range of whole numbers. */
int run_options_read_range(const char *text, unsigned maximum, unsigned *ret_first,
                           unsigned *ret_last, struct error_info *err);
/* "15T", "1.5e12", "300B": K, M, B and T are 10^3, 10^6, 10^9 and 10^12. */
int run_options_read_tokens(const char *text, double *ret, struct error_info *err);

/* ret borrows from the scenario. Refuses what lacks another option, and counts that the
 * cluster has not. */
int run_options_read(const struct command_options *options, const struct scenario *scenario,
                     struct run_options *ret, struct error_info *err);

#endif
