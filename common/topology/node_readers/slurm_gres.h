/* SPDX-License-Identifier: MIT */
/*
 * slurm_gres: a node's GPUs from Slurm's gres.conf or from the output of `slurmd -G`. Pure;
 * EVIDENCE_SLURM_GRES. A text with "Gres Name=" in it is output of slurmd (its other lines are
 * messages), any other a gres.conf (every line must be understood):
 *     slurmd: Gres Name=gpu Type=a6000 Count=1 Index=0 ID=7 File=/dev/nvidia0 Cores=0-63
 *         CoreCnt=128 Links=-1,4,0,0 Flags=HAS_FILE,HAS_TYPE,ENV_NVML                (one line)
 *     NodeName=n[1-4] Name=gpu Type=a100 File=/dev/nvidia[0-3] Cores=0-23
 *
 * What it gives, GPUs in the natural order of File= (of the lines, where some have none):
 *   model_text   Type=
 *   cpus         Cores=: the first thread of each core (gres.conf(5))
 *   mig          File= below /dev/nvidia-caps
 *   links        Links=: how many go to GPU 0, 1, …; -1 (or 0) at the GPU's own place. A list
 *                that contradicts this is not used, with a note; of two contradicting numbers
 *                the lower one counts
 * Links that are all 0 say nothing: Slurm's own NVML plugin counts those that lead straight to
 * another GPU, so behind switches it writes 0 everywhere. NVLink is unknown then, never none.
 *
 * Lines without NodeName= and lines of the file's first node are read; where lines of GPUs name
 * other nodes, a note says so. Other resources (Name=shard, mps, nic) are passed over.
 *
 * NULL with "file:line: …": no GPU (also where AutoDetect= leaves them to slurmd), an Include,
 * an unknown key, a key twice, a device twice, Count= that contradicts File=, a limit.
 * Sources: gres.conf(5) of Slurm 22.05 to 25.11; public output of slurmd -G.
 */
#ifndef TOPOLOGY_SLURM_GRES_H
#define TOPOLOGY_SLURM_GRES_H

#include "topology/node_evidence.h"

#define SLURM_GRES_MAXIMUM_BYTES ((size_t)1 << 20)
#define SLURM_GRES_MAXIMUM_LINKS 255u /* of a pair */

struct node_evidence *slurm_gres_parse(const char *text, size_t bytes, const char *source,
                                       struct error_info *err);

#endif
