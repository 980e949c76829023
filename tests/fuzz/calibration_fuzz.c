/* SPDX-License-Identifier: MIT */
/* A calibration file. */
#include "tests/fuzz/fuzz_target.h"
#include "validation/calibration/calibration.h"

static void require_links(const struct calibration *calibration)
{
    for (size_t i = 0; i < calibration->link_count; i++) {
        const struct link_figures *link = &calibration->links[i];
        fuzz_require(link->kind < CALIBRATED_LINK_COUNT, "a kind that is none", "");
        fuzz_require(link->share >= CALIBRATION_MINIMUM_SHARE &&
                         link->share <= CALIBRATION_MAXIMUM_SHARE,
                     "a share out of its limits", link->name);
        fuzz_require(link->hop_seconds > 0, "a hop without time", link->name);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct calibration *calibration =
        calibration_parse((const char *)data, size, "site.yaml", &err);
    if (!calibration) {
        fuzz_require_error(&err);
        return 0;
    }
    fuzz_require(calibration->link_count + calibration->gpu_count > 0, "an empty file", "");
    require_links(calibration);
    for (size_t i = 0; i < calibration->gpu_count; i++)
        fuzz_require(calibration->gpus[i].gemm_factor > 0 && calibration->gpus[i].n > 0,
                     "a factor that is none", calibration->gpus[i].name);
    calibration_free(calibration);
    return 0;
}
