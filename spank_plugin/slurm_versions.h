/* SPDX-License-Identifier: MIT */
/*
 * slurm_versions: what Slurm's interface calls differently in one release than in another,
 * under one name. Everything else that the plugin calls is the same from 22.05 to 26.05.
 *
 *     release  change
 *     23.11    slurm_print_topo_info_msg() takes a node list; the records are opaque
 *     25.05    slurm_load_topo() takes the topology's name (NULL: the default one), which a
 *              partition may have
 *     25.11    slurm_get_job_steps() takes a step's id
 *     26.05    slurm_load_job() takes a step's id; slurm_print_topo_info_msg() a unit
 *
 * 22.05, 24.11 and 26.05: from their slurm.h; see docs/slurm.md for the others. A release where
 * this is wrong does not compile: the plugin is built against the headers of the Slurm it is for.
 */
#ifndef SPANK_PLUGIN_SLURM_VERSIONS_H
#define SPANK_PLUGIN_SLURM_VERSIONS_H

#include <slurm/slurm.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLURM_SINCE(year, month) (SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(year, month, 0))

static inline slurm_step_id_t step_id_of(uint32_t job, uint32_t step)
{
    return (slurm_step_id_t){.job_id = job, .step_id = step, .step_het_comp = NO_VAL};
}

/* SHOW_LOCAL in the next two: else each first asks whether there is a federation. The job is the
 * cluster's that srun talks to, as for every other call. */
static inline int load_step(job_step_info_response_msg_t **ret, uint32_t job, uint32_t step)
{
#if SLURM_SINCE(25, 11)
    slurm_step_id_t id = step_id_of(job, step);
    return slurm_get_job_steps(&id, ret, SHOW_ALL | SHOW_LOCAL);
#else
    return slurm_get_job_steps(0, job, step, ret, SHOW_ALL | SHOW_LOCAL);
#endif
}

static inline int load_job(job_info_msg_t **ret, uint32_t job)
{
#if SLURM_SINCE(26, 5)
    return slurm_load_job(ret, step_id_of(job, NO_VAL), SHOW_DETAIL | SHOW_LOCAL);
#else
    return slurm_load_job(ret, job, SHOW_DETAIL | SHOW_LOCAL);
#endif
}

/* In srun: the topology of the job's partition, whose name is in the environment then. */
static inline int load_topology(topo_info_response_msg_t **ret)
{
#if SLURM_SINCE(25, 5)
    const char *partition = getenv("SLURM_JOB_PARTITION");
    partition_info_msg_t *answer = NULL;
    char *topology = NULL;
    if (!partition)
        return slurm_load_topo(ret, NULL);
    if (slurm_load_partitions(0, &answer, SHOW_ALL) != SLURM_SUCCESS)
        return SLURM_ERROR;
    for (uint32_t i = 0; i < answer->record_count; i++)
        if (!strcmp(answer->partition_array[i].name, partition))
            topology = answer->partition_array[i].topology_name;
    int result = slurm_load_topo(ret, topology);
    slurm_free_partition_info_msg(answer);
    return result;
#else
    return slurm_load_topo(ret);
#endif
}

/* To print an answer without records is an error line of Slurm's, up to 23.02. */
static inline bool has_topology(const topo_info_response_msg_t *answer)
{
#if SLURM_SINCE(23, 11)
    return answer != NULL;
#else
    return answer && answer->record_count > 0;
#endif
}

/* The text of `scontrol show topology`: one form in all releases. */
static inline void print_topology(FILE *out, topo_info_response_msg_t *answer)
{
#if SLURM_SINCE(26, 5)
    slurm_print_topo_info_msg(out, answer, NULL, NULL, 1);
#elif SLURM_SINCE(23, 11)
    slurm_print_topo_info_msg(out, answer, NULL, 1);
#else
    slurm_print_topo_info_msg(out, answer, 1);
#endif
}

#endif
