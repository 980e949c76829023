/* SPDX-License-Identifier: MIT */
/*
 * slurm_text: what stands in Slurm's own texts: settings of slurm.conf and of `scontrol show
 * config`, versions, the nodes of `scontrol show node --oneliner`. Pure; every value has the room
 * that the caller gives it, and one that is longer is not there.
 */
#ifndef CLI_DOCTOR_SLURM_TEXT_H
#define CLI_DOCTOR_SLURM_TEXT_H

#include "topology/cluster_readers/gres_text.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLURM_VERSION_BYTES 24u

/* The value of the first line "Key = value" or "Key=value", keys without case, as Slurm reads
 * them; comments and blanks around it are left out. text NULL, no such line, nothing behind the
 * sign or scontrol's "(null)": false, and *ret is "". */
bool slurm_setting_find(const char *text, const char *key, char *ret, size_t bytes);

/* "slurm-wlm 22.05.8", "24.11.5-1": the first three numbers with points between them, as Slurm
 * numbers its releases (SLURM_VERSION_NUM of slurm/slurm_version.h); 0: there is none. */
uint32_t slurm_version_parse(const char *text);
/* "22.05.8", or "22.05" where the last part does not count. */
void slurm_version_write(uint32_t version, bool with_micro, char ret[SLURM_VERSION_BYTES]);
/* What Slurm itself compares: of SPANK plugins the release, of all others (job_submit) all of it
 * (plugin_peek in its src/common/plugin.c). */
bool slurm_version_same_release(uint32_t left, uint32_t right);

/* The value of the first " Word=value" in the line that begins at `line`; values end at a blank. */
bool slurm_node_value(const char *line, const char *word, char *ret, size_t bytes);
/* GPUs of all types in a node's line, NODE_MAXIMUM_GPUS of each at most, and the type where there
 * is one alone, else "". */
unsigned slurm_node_gpus(const char *line, char ret_type[static GPU_TYPE_BYTES]);
/* The line behind this one; "" at the end. */
const char *slurm_next_line(const char *line);
/* The line of a node: by its name, or by the host that it runs on, whole or up to its first point.
 * NULL: none is there. */
const char *slurm_node_find(const char *text, const char *host);

#endif
