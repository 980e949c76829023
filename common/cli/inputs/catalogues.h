/* SPDX-License-Identifier: MIT */
/*
 * catalogues: the data files of a run, compiled in, or from --data DIR where it has them, with
 * the figures of a calibration in them.
 */
#ifndef CLI_INPUTS_CATALOGUES_H
#define CLI_INPUTS_CATALOGUES_H

#include "planner/efficiency_catalogue.h"
#include "planner/measured/mfu_reference.h"
#include "topology/gpu_catalogue.h"
#include "topology/preset_catalogue.h"
#include "workload/framework_profile.h"
#include "workload/model_spec.h"

struct catalogues {
    struct gpu_catalogue *gpus;
    struct preset_catalogue *presets;
    struct model_catalogue *models;
    struct framework_catalogue *frameworks;
    struct efficiency_catalogue *efficiencies;
    struct mfu_reference_catalogue *mfu_references;
};

/* directory NULL: all compiled in. A directory without any of the files is refused, naming
 * them. calibration: a file of calibration.h, or NULL. On failure nothing is left to free. */
int catalogues_open(struct catalogues *catalogues, const char *directory, const char *calibration,
                    struct error_info *err);
void catalogues_done(struct catalogues *catalogues);

DEFINE_CLEANUP_DONE(catalogues);

#endif
