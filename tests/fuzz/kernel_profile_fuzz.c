/* SPDX-License-Identifier: MIT */
/* A profiler's summary of kernels as CSV. */
#include "planner/measured/kernel_profile.h"
#include "tests/fuzz/fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct kernel_profile profile;
    if (kernel_profile_parse((const char *)data, size, "profile.csv", &profile, &err) < 0) {
        fuzz_require_error(&err);
        return 0;
    }
    double sum = 0;
    for (unsigned i = 0; i < KERNEL_CLASS_COUNT; i++) {
        fuzz_require(profile.seconds[i] >= 0, "a class took negative time", "");
        sum += profile.seconds[i];
    }
    double share = kernel_profile_nccl_share(&profile);
    fuzz_require(profile.total_seconds > 0 && profile.kernels > 0, "an empty profile", "");
    fuzz_require(sum >= profile.total_seconds * 0.999 && sum <= profile.total_seconds * 1.001,
                 "the classes are not the whole", "");
    fuzz_require(share >= 0 && share <= 1.001, "a share that is none", "");
    return 0;
}
