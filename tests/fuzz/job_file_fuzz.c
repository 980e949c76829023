/* SPDX-License-Identifier: MIT */
/* job.yaml: no crash; what is refused is one line that names the file. */
#include "workload/training_spec.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(job_spec) struct job_spec *spec = job_spec_create(NULL);
    struct error_info err = {0};
    struct training_spec training;
    if (job_spec_parse_yaml(spec, (const char *)data, size, "job.yaml", &err) < 0) {
        if (strncmp(err.text, "job.yaml", 8) != 0 || strchr(err.text, '\n'))
            abort();
        return 0;
    }
    if (training_spec_from_job(spec, 64, &training, &err) == 0 &&
        (training.global_batch == 0 || training.global_batch > training.max_global_batch))
        abort();
    return 0;
}
