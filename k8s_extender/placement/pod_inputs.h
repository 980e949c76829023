/* SPDX-License-Identifier: MIT */
/*
 * pod_inputs: what a gang's pods ask for: the table of keys (job_spec.h) from annotations, and what
 * the container's command says of its parallelism (launch_flags.h).
 *
 *     parplan.io/tp: "8"                 one key; parplan.io/global-batch is global_batch
 *     parplan.io/parplan: "auto,tp=8"    as --parplan's value, but no file
 *
 * No file is opened on behalf of a user: a model is a preset, and files that the command names are
 * noticed and not read. Where neither annotation is there, defaults.parplan of the admins' file is
 * taken as parplan.io/parplan.
 * Refused: an unknown annotation of parplan's (with the nearest name), a key given twice with
 * different values, what has no meaning here (parplan: off, place=slurm, order=auto, a path).
 */
#ifndef K8S_EXTENDER_PLACEMENT_POD_INPUTS_H
#define K8S_EXTENDER_PLACEMENT_POD_INPUTS_H

#include "k8s_extender/objects/label_set.h"
#include "workload/admin_config.h"
#include "workload/launch_flags.h"
#include "workload/model_spec.h"

#define INPUT_NOTICES_MAXIMUM ((size_t)1 << 20)

struct pod_inputs_request {
    struct label_set annotations; /* others than parplan's are skipped */
    const char *const *arguments; /* the container's command */
    size_t argument_count;
    const struct admin_config *config;
    const struct model_catalogue *models;
};

struct pod_inputs {
    struct job_spec *job;
    const struct model_spec *model; /* the catalogue's; NULL: none is named */
    struct launch_counts counts;    /* for pod_inputs_check_counts */
    struct text_buffer notices;     /* what the command says: "tp=8 (--tp)", or "" */
};

/* On failure nothing is left to free. */
int pod_inputs_read(const struct pod_inputs_request *request, struct pod_inputs *ret,
                    struct error_info *err);
void pod_inputs_done(struct pod_inputs *inputs);

/* Refuses what the command says of nodes and processes where the gang has others, and launchers
 * that would number the ranks themselves (c10d) where the plan has degrees. --node-rank and
 * --master-addr are right here: a pod's index is its node rank. */
int pod_inputs_check_counts(const struct pod_inputs *inputs, uint32_t pods, uint32_t gpus_per_pod,
                            bool has_degrees, struct error_info *err);

/* "parplan.io/tp", "parplan.io/parplan": an annotation that this reads. */
bool pod_inputs_is_input(const char *annotation);

DEFINE_CLEANUP_DONE(pod_inputs);

#endif
