/* SPDX-License-Identifier: MIT */
#include "report/files/lock_file.h"

#include "report/files/file_text.h"

/* What decides which states a checkpoint holds, and what trains at all: as given. */
static const enum job_key kept_as_given[] = {JOB_TRAINABLE, JOB_OPTIMIZER, JOB_MTP};

void lock_file_write(const struct plan_report *report, struct text_buffer *out)
{
    const struct plan *plan = report->list->plans;
    const struct degrees *degrees = &plan->degrees;
    bool experts = report->request->model->experts > 0;
    bool shards = plan->sharding == SHARDING_ZERO3 || plan->sharding == SHARDING_HSDP;
    char text[DEGREES_TEXT_BYTES];
    degrees_text(degrees, text);
    text_buffer_add(out,
                    "# What a checkpoint of this job needs; the rest follows the nodes. Made for "
                    "%llu GPUs: %s.\n# Remove this file to plan anew.\n",
                    (unsigned long long)report->world, text);
    file_line_text(out, 0, "schema", "parplan.job/1");
    file_line_text(out, 0, "model", job_spec_text(report->request->job, JOB_MODEL));
    file_line_text(out, 0, "framework", report->framework);
    file_line_unsigned(out, 0, "sequence_length", report->training->sequence_length);
    file_line_unsigned(out, 0, "global_batch", report->training->global_batch);
    for (size_t i = 0; i < COUNT_OF(kept_as_given); i++)
        file_line_text(out, 0, job_key_info(kept_as_given[i])->name,
                       job_spec_text(report->request->job, kept_as_given[i]));
    file_line_unsigned(out, 0, "tp", degrees->tp);
    file_line_unsigned(out, 0, "pp", degrees->pp);
    file_line_unsigned(out, 0, "vpp", degrees->vpp);
    if (experts) {
        file_line_unsigned(out, 0, "ep", degrees->ep);
        file_line_unsigned(out, 0, "etp", degrees->etp);
    }
    if (shards)
        file_line_text(out, 0, "sharding", sharding_name(plan->sharding));
}
