/* SPDX-License-Identifier: MIT */
#include "spank_plugin/step_facts.h"
#include "base/name_index.h"
#include "spank_plugin/slurm_versions.h"
#include <errno.h>
#include <slurm/slurm_errno.h>
#include <stdlib.h>
#include <string.h>

#define TOPOLOGY_TEXT_MAXIMUM ((size_t)16 << 20)

void step_facts_done(struct step_facts *facts)
{
    node_list_free(facts->nodes);
    memory_free(facts->block_nodes);
    memory_free(facts->topology_text);
    *facts = (struct step_facts){0};
}

/* After a call that failed: a controller that has gone silent (-1) would hold each further one for
 * MessageTimeout. Any other failure, as of a private job, leaves a fact unknown. */
static int failure(void)
{
    return errno == SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT ||
                   (errno >= SLURM_COMMUNICATIONS_CONNECTION_ERROR &&
                    errno <= SLURM_COMMUNICATIONS_SHUTDOWN_ERROR) ||
                   (errno >= SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR &&
                    errno <= SLURMCTLD_COMMUNICATIONS_SHUTDOWN_ERROR)
               ? -1
               : 0;
}

static void note_uneven(struct step_facts *facts, unsigned first, unsigned other, size_t node)
{
    snprintf(facts->uneven, sizeof(facts->uneven), "%s has %u task%s, %s has %u",
             node_list_name(facts->nodes, 0), first, first == 1 ? "" : "s",
             node_list_name(facts->nodes, node), other);
}

/* As many tasks on every node: each node's must be one whole block. */
static void read_blocks(struct step_facts *facts, const slurm_step_layout_t *layout)
{
    unsigned per_node = facts->tasks_per_node;
    CLEANUP_MEMORY unsigned *nodes = memory_allocate_array(layout->node_cnt, sizeof(*nodes));
    for (uint32_t node = 0; nodes && node < layout->node_cnt; node++) {
        uint32_t first = layout->tids[node][0], block = first / per_node;
        for (unsigned i = 0; i < per_node; i++)
            if (layout->tids[node][i] != block * per_node + i || block >= layout->node_cnt)
                return;
        nodes[block] = node;
    }
    facts->block_nodes = move_pointer(nodes);
}

static int read_layout(struct step_facts *facts, struct error_info *err)
{
    slurm_step_id_t id = step_id_of(facts->job, facts->step);
    slurm_step_layout_t *layout = slurm_job_step_layout_get(&id);
    if (!layout)
        return error_set_system(err, "the controller gives no layout of step %u.%u: %s; try again",
                                facts->job, facts->step, slurm_strerror(errno));
    facts->nodes = node_list_decode(layout->node_list ? layout->node_list : "", err);
    bool complete =
        facts->nodes && node_list_count(facts->nodes) == layout->node_cnt && layout->node_cnt > 0;
    if (complete) {
        facts->tasks = layout->task_cnt;
        facts->tasks_per_node = layout->tasks[0];
        for (uint32_t i = 1; i < layout->node_cnt && facts->tasks_per_node; i++)
            if (layout->tasks[i] != layout->tasks[0]) {
                note_uneven(facts, layout->tasks[0], layout->tasks[i], i);
                facts->tasks_per_node = 0;
            }
    }
    if (complete && facts->tasks_per_node)
        read_blocks(facts, layout);
    slurm_job_step_layout_free(layout);
    if (facts->nodes && !complete)
        return error_set_system(err, "the controller's layout of step %u.%u is not whole",
                                facts->job, facts->step);
    return complete ? 0 : -1;
}

static int read_node_gpus(struct step_facts *facts)
{
    node_info_msg_t *answer = NULL;
    CLEANUP_MEMORY char *name = memory_copy_text(node_list_name(facts->nodes, 0));
    if (!name)
        return 0;
    if (slurm_load_node_single(&answer, name, SHOW_DETAIL) != SLURM_SUCCESS)
        return failure();
    if (answer->record_count == 1) {
        const node_info_t *node = &answer->node_array[0];
        gres_text_parse(node->gres, &facts->node_gpus, facts->gpu_type);
        snprintf(facts->first_address, sizeof(facts->first_address), "%s",
                 node->node_addr ? node->node_addr : "");
    }
    slurm_free_node_info_msg(answer);
    return 0;
}

/* What the step asked for; a step that asked for nothing has what its job has. */
static unsigned requested_gpus(const job_step_info_t *step, unsigned nodes, unsigned tasks_per_node)
{
    unsigned count = 0;
    char type[GPU_TYPE_BYTES];
    if (gres_text_parse(step->tres_per_node, &count, type))
        return count;
    if (gres_text_parse(step->tres_per_task, &count, type))
        return count * tasks_per_node;
    /* "--gpus=8" on several nodes does not say how they are spread. */
    if (nodes == 1 && gres_text_parse(step->tres_per_step, &count, type))
        return count;
    return 0;
}

static int read_step_gpus(struct step_facts *facts)
{
    job_step_info_response_msg_t *answer = NULL;
    unsigned nodes = (unsigned)node_list_count(facts->nodes);
    if (load_step(&answer, facts->job, facts->step) != SLURM_SUCCESS)
        return failure();
    if (answer->job_step_count == 1)
        facts->gpus_per_node = requested_gpus(&answer->job_steps[0], nodes, facts->tasks_per_node);
    slurm_free_job_step_info_response_msg(answer);
    return 0;
}

/* --gpus=8 -N2 gives 7 and 1: each node of the step is looked at. */
static void read_fewest_gpus(struct step_facts *facts, const slurm_job_info_t *job)
{
    CLEANUP(node_list) struct node_list *nodes = node_list_decode(job->nodes, NULL);
    CLEANUP(name_index) struct name_index *step = name_index_create();
    if (!nodes || !step)
        return;
    for (size_t i = 0; i < node_list_count(facts->nodes); i++)
        if (name_index_add(step, node_list_name(facts->nodes, i), i) < 0)
            return;
    bool first = true;
    for (size_t i = 0; i < node_list_count(nodes) && i < job->gres_detail_cnt; i++) {
        char type[GPU_TYPE_BYTES];
        unsigned count = 0;
        size_t node = name_index_find(step, node_list_name(nodes, i));
        if (node == NAME_INDEX_NONE || !gres_text_parse(job->gres_detail_str[i], &count, type) ||
            (!first && count >= facts->gpus_per_node))
            continue;
        first = false;
        facts->gpus_per_node = count;
        facts->fewest_gpus = node;
    }
}

static bool is_in(const struct node_list *list, const char *name)
{
    for (size_t i = 0; i < node_list_count(list); i++)
        if (!strcmp(node_list_name(list, i), name))
            return true;
    return false;
}

static int read_job_nodes(struct step_facts *facts, const char *list, const char *excluded,
                          struct error_info *err)
{
    CLEANUP(node_list) struct node_list *nodes = node_list_decode(list, err);
    CLEANUP(node_list)
    struct node_list *left_out = node_list_decode(excluded ? excluded : "", err);
    facts->nodes = node_list_create(err);
    if (!nodes || !left_out || !facts->nodes)
        return -1;
    for (size_t i = 0; i < node_list_count(nodes); i++)
        if (!is_in(left_out, node_list_name(nodes, i)) &&
            node_list_add(facts->nodes, node_list_name(nodes, i), err) < 0)
            return -1;
    return 0;
}

/* The GPUs of the step's nodes; where these are not known, all that the job has but `excluded`. */
static int read_job(struct step_facts *facts, const char *excluded, struct error_info *err)
{
    job_info_msg_t *answer = NULL;
    if (load_job(&answer, facts->job) != SLURM_SUCCESS)
        return error_set_system(err, "the controller does not tell of job %u", facts->job);
    const slurm_job_info_t *job = answer->record_count == 1 ? answer->job_array : NULL;
    const char *nodes = job && job->nodes ? job->nodes : "";
    int result = facts->nodes ? 0 : read_job_nodes(facts, nodes, excluded, err);
    if (result == 0 && job && job->nodes)
        read_fewest_gpus(facts, job);
    slurm_free_job_info_msg(answer);
    return result;
}

/* The text of `scontrol show topology`: the one form that all versions give (the records
 * of the interface are opaque from 23.11 on). */
static int read_topology(struct step_facts *facts)
{
    if (node_list_count(facts->nodes) == 1)
        return 0;
    topo_info_response_msg_t *answer = NULL;
    if (load_topology(&answer) != SLURM_SUCCESS)
        return failure();
    if (!has_topology(answer)) {
        slurm_free_topo_info_msg(answer);
        return 0;
    }
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (out) {
        print_topology(out, answer);
        fclose(out);
    }
    if (text && bytes > 0 && bytes <= TOPOLOGY_TEXT_MAXIMUM && strstr(text, "Name="))
        facts->topology_text = memory_copy_bytes(text, bytes);
    free(text); /* open_memstream's own */
    slurm_free_topo_info_msg(answer);
    return 0;
}

static int read_gpus(struct step_facts *facts)
{
    if (read_node_gpus(facts) < 0)
        return -1;
    if (!facts->node_gpus)
        return 0;
    if (read_step_gpus(facts) < 0)
        return -1;
    return facts->gpus_per_node || read_job(facts, NULL, NULL) == 0 ? 0 : failure();
}

static int gone_silent(uint32_t job, struct error_info *err)
{
    return error_set_system(err, "the controller has stopped answering about job %u: %s; try again",
                            job, slurm_strerror(errno));
}

int step_facts_read(uint32_t job, uint32_t step, bool topology, struct step_facts *ret,
                    struct error_info *err)
{
    struct step_facts facts = {.job = job, .step = step};
    if (read_layout(&facts, err) < 0) {
        step_facts_done(&facts);
        return -1;
    }
    if (facts.tasks_per_node &&
        (read_gpus(&facts) < 0 || (topology && read_topology(&facts) < 0))) {
        step_facts_done(&facts);
        return gone_silent(job, err);
    }
    *ret = facts;
    return 0;
}

int step_facts_read_job(uint32_t job, const char *excluded, unsigned tasks_per_node,
                        struct step_facts *ret, struct error_info *err)
{
    struct step_facts facts = {.job = job, .tasks_per_node = tasks_per_node};
    if (read_job(&facts, excluded, err) < 0) {
        step_facts_done(&facts);
        return -1;
    }
    if (read_node_gpus(&facts) < 0 || read_topology(&facts) < 0) {
        step_facts_done(&facts);
        return gone_silent(job, err);
    }
    *ret = facts;
    return 0;
}

void node_address_read(const struct step_facts *facts, const char *node, char *ret, size_t bytes)
{
    node_info_msg_t *answer = NULL;
    bool known = facts->first_address[0] && !strcmp(node, node_list_name(facts->nodes, 0));
    snprintf(ret, bytes, "%s", known ? facts->first_address : node);
    CLEANUP_MEMORY char *name = known ? NULL : memory_copy_text(node);
    if (name && slurm_load_node_single(&answer, name, SHOW_ALL) == SLURM_SUCCESS) {
        if (answer->record_count == 1 && answer->node_array[0].node_addr)
            snprintf(ret, bytes, "%s", answer->node_array[0].node_addr);
        slurm_free_node_info_msg(answer);
    }
}
