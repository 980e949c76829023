/* SPDX-License-Identifier: MIT */
/*
 * plugin_options: the options that the plugin adds to srun, sbatch and salloc, and the
 * arguments of its line in plugstack.conf:
 *
 *     required spank_parplan.so [config=/etc/parplan/parplan.yaml] [owner=0]
 *         [cache=/run/parplan/node.cache]
 *
 * config names the admins' file, cache the node's topology (topology/node_cache.h); owner is
 * the uid that must own them (0; another one only for
 * clusters that do not run as root).
 * One set per process, written while Slurm parses options, read afterwards.
 */
#ifndef SPANK_PLUGIN_PLUGIN_OPTIONS_H
#define SPANK_PLUGIN_PLUGIN_OPTIONS_H

#include "base/error.h"
#include <slurm/spank.h>
#include <stdbool.h>

/* How Slurm hands the option of sbatch and salloc to the srun inside. */
#define INHERITED_OPTION "SLURM_SPANK__SLURM_SPANK_OPTION_parplan_parplan"
#define PLUGIN_OPTION_BYTES 4200u /* JOB_OPTION_MAXIMUM_BYTES and room to say "too long" */

struct plugin_options {
    bool given;     /* --parplan stands somewhere */
    bool inherited; /* by sbatch or salloc, not by this command itself */
    bool oversized; /* longer than JOB_OPTION_MAXIMUM_BYTES */
    char parplan[PLUGIN_OPTION_BYTES];
    bool report_given;
    char report[PLUGIN_OPTION_BYTES]; /* "" = standard error */

    const char *config_path; /* NULL: the default path */
    const char *cache_path;  /* NULL: the default path */
    unsigned config_owner;
    struct error_info argument_error; /* kind ERROR_NONE when the arguments are fine */
};

void plugin_options_register(spank_t spank, int argument_count, char **arguments);
const struct plugin_options *plugin_options(void);

#endif
