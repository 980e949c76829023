/* SPDX-License-Identifier: MIT */
#include "mapping/rank_environment.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PORT_FIRST 10000u
#define PORT_COUNT 20000u
#define PORT_STEPS 61u /* prime to PORT_COUNT */
#define PORT_MAXIMUM 65535u

/* Everything that a variable can be. */
enum source {
    RANK_NUMBER,
    WORLD_SIZE,
    LOCAL_RANK,
    LOCAL_SIZE,
    BLOCK,
    NODE_COUNT,
    PORT,
    TP_RANK,
    CP_RANK,
    EP_RANK,
    ETP_RANK,
    PP_RANK,
    DP_RANK,
    TP_SIZE,
    CP_SIZE,
    EP_SIZE,
    ETP_SIZE,
    PP_SIZE,
    VPP_SIZE,
    DP_SIZE,
    NUMBER_COUNT,
    MASTER = NUMBER_COUNT,
    ORDER_NAME,
    PLAN_ID,
    DEVICE_ORDER,
    RENDEZVOUS,
    SOURCE_COUNT
};

#define PER_GPU 1u  /* one task per GPU */
#define PER_NODE 2u /* one task per node */
#define DEGREES 4u  /* only where there are degrees */

static const struct variable {
    const char *name;
    enum source source;
    unsigned when;
} variables[] = {
    {"RANK", RANK_NUMBER, PER_GPU},
    {"WORLD_SIZE", WORLD_SIZE, PER_GPU},
    {"LOCAL_RANK", LOCAL_RANK, PER_GPU},
    {"LOCAL_WORLD_SIZE", LOCAL_SIZE, PER_GPU},
    {"NODE_RANK", BLOCK, PER_GPU},
    {"GROUP_RANK", BLOCK, PER_GPU},
    {"PET_NNODES", NODE_COUNT, PER_NODE},
    {"PET_NODE_RANK", BLOCK, PER_NODE},
    {"PET_NPROC_PER_NODE", LOCAL_SIZE, PER_NODE},
    {"PET_MASTER_ADDR", MASTER, PER_NODE},
    {"PET_MASTER_PORT", PORT, PER_NODE},
    {"PET_RDZV_BACKEND", RENDEZVOUS, PER_NODE},
    {"MASTER_ADDR", MASTER, PER_GPU | PER_NODE},
    {"MASTER_PORT", PORT, PER_GPU | PER_NODE},
    {"CUDA_DEVICE_ORDER", DEVICE_ORDER, PER_GPU},
    {"PARPLAN_TP_RANK", TP_RANK, PER_GPU | DEGREES},
    {"PARPLAN_CP_RANK", CP_RANK, PER_GPU | DEGREES},
    {"PARPLAN_EP_RANK", EP_RANK, PER_GPU | DEGREES},
    {"PARPLAN_ETP_RANK", ETP_RANK, PER_GPU | DEGREES},
    {"PARPLAN_PP_RANK", PP_RANK, PER_GPU | DEGREES},
    {"PARPLAN_DP_RANK", DP_RANK, PER_GPU | DEGREES},
    {"PARPLAN_TP_SIZE", TP_SIZE, PER_GPU | PER_NODE | DEGREES},
    {"PARPLAN_CP_SIZE", CP_SIZE, PER_GPU | PER_NODE | DEGREES},
    {"PARPLAN_EP_SIZE", EP_SIZE, PER_GPU | PER_NODE | DEGREES},
    {"PARPLAN_ETP_SIZE", ETP_SIZE, PER_GPU | PER_NODE | DEGREES},
    {"PARPLAN_PP_SIZE", PP_SIZE, PER_GPU | PER_NODE | DEGREES},
    {"PARPLAN_VPP_SIZE", VPP_SIZE, PER_GPU | PER_NODE | DEGREES},
    {"PARPLAN_DP_SIZE", DP_SIZE, PER_GPU | PER_NODE | DEGREES},
    {"PARPLAN_ORDER", ORDER_NAME, PER_GPU | PER_NODE | DEGREES},
    {"PARPLAN_PLAN_ID", PLAN_ID, PER_GPU | PER_NODE},
};

_Static_assert(COUNT_OF(variables) <= RANK_ENVIRONMENT_MAXIMUM, "raise RANK_ENVIRONMENT_MAXIMUM");
_Static_assert(WIRE_PLAN_MASTER_BYTES <= RANK_ENVIRONMENT_VALUE_BYTES, "a master must fit");

static int check_devices(const struct wire_plan *wire, const struct rank_task *task,
                         struct error_info *err)
{
    unsigned visible = task->visible_gpus, needed = wire->gpus_per_node;
    if (visible == 0 || visible >= needed)
        return 0;
    if (visible > 1 || wire->tasks_per_node == 1)
        return error_set(err,
                         "the task sees %u GPU(s) and the plan has %u ranks on each node; use "
                         "--gres=gpu:%u, or a plan for %u per node",
                         visible, needed, needed, visible);
    if (task->hidden_gpus_allowed)
        return 0;
    return error_set(err,
                     "the task sees 1 GPU and not its %u neighbours, which hides NVLink from NCCL; "
                     "use --gres=gpu:%u or --gpu-bind=none (not --gpus-per-task), or have the "
                     "admins set hidden_gpus: allow",
                     needed - 1, needed);
}

static int check_task(const struct wire_plan *wire, const struct rank_task *task,
                      struct error_info *err)
{
    if (task->node >= wire->node_count)
        return error_set(err, "node %u of a plan for %u nodes", task->node, wire->node_count);
    if (task->local_task >= wire->tasks_per_node)
        return error_set(err, "local task %u of a plan with %u tasks per node", task->local_task,
                         wire->tasks_per_node);
    if (task->master_port == 0 || task->master_port > PORT_MAXIMUM)
        return error_set(err, "MASTER_PORT %u is not from 1 to %u", task->master_port,
                         PORT_MAXIMUM);
    unsigned planned = wire->node_blocks[task->node] * wire->tasks_per_node + task->local_task;
    if (wire->by_slurm && task->process != planned)
        return error_set(err,
                         "SLURM_PROCID is %u where the plan has %u; with place=slurm leave -w, -m "
                         "and SLURM_HOSTFILE alone",
                         task->process, planned);
    return check_devices(wire, task, err);
}

static void fill_numbers(const struct wire_plan *wire, const struct rank_task *task,
                         uint64_t numbers[static NUMBER_COUNT])
{
    const struct degrees *degrees = &wire->degrees;
    bool hidden = task->visible_gpus == 1 && wire->tasks_per_node > 1;
    uint64_t block = wire->node_blocks[task->node];
    uint64_t rank = block * wire->gpus_per_node + task->local_task;
    struct rank_coordinates at;
    rank_coordinates_of(wire->order, degrees, rank, &at);
    numbers[RANK_NUMBER] = rank;
    numbers[WORLD_SIZE] = wire->world;
    numbers[LOCAL_RANK] = hidden ? 0 : task->local_task;
    numbers[LOCAL_SIZE] = wire->gpus_per_node;
    numbers[BLOCK] = block;
    numbers[NODE_COUNT] = wire->node_count;
    numbers[PORT] = task->master_port;
    numbers[TP_RANK] = at.tp;
    numbers[CP_RANK] = at.cp;
    numbers[EP_RANK] = at.ep;
    numbers[ETP_RANK] = at.etp;
    numbers[PP_RANK] = at.pp;
    numbers[DP_RANK] = at.dp;
    numbers[TP_SIZE] = degrees->tp;
    numbers[CP_SIZE] = degrees->cp;
    numbers[EP_SIZE] = degrees->ep;
    numbers[ETP_SIZE] = degrees->etp;
    numbers[PP_SIZE] = degrees->pp;
    numbers[VPP_SIZE] = degrees->vpp;
    numbers[DP_SIZE] = degrees->dp;
}

static bool applies(const struct wire_plan *wire, const struct variable *variable)
{
    bool per_node = wire->tasks_per_node == 1 && wire->gpus_per_node > 1;
    if ((variable->when & DEGREES) && wire->locality_only)
        return false;
    return (variable->when & (per_node ? PER_NODE : PER_GPU)) != 0;
}

int rank_environment_compute(const struct wire_plan *wire, const struct rank_task *task,
                             struct rank_environment *ret, struct error_info *err)
{
    if (check_task(wire, task, err) < 0)
        return -1;
    uint64_t numbers[NUMBER_COUNT];
    fill_numbers(wire, task, numbers);
    const char *texts[SOURCE_COUNT] = {
        [MASTER] = wire->master, [ORDER_NAME] = rank_order_name(wire->order),
        [PLAN_ID] = wire->id,    [DEVICE_ORDER] = "PCI_BUS_ID",
        [RENDEZVOUS] = "static",
    };
    ret->count = 0;
    for (size_t i = 0; i < COUNT_OF(variables); i++) {
        if (!applies(wire, &variables[i]))
            continue;
        struct environment_entry *entry = &ret->entries[ret->count++];
        enum source source = variables[i].source;
        entry->name = variables[i].name;
        if (source < NUMBER_COUNT)
            snprintf(entry->value, sizeof(entry->value), "%" PRIu64, numbers[source]);
        else
            snprintf(entry->value, sizeof(entry->value), "%s", texts[source]);
    }
    return 0;
}

const char *rank_environment_name(size_t index)
{
    for (size_t i = 0; i < COUNT_OF(variables); i++) {
        if (variables[i].source == DEVICE_ORDER)
            continue; /* CUDA's own, and the user's */
        if (index-- == 0)
            return variables[i].name;
    }
    return NULL;
}

unsigned rank_environment_port(uint64_t job, uint64_t step)
{
    return PORT_FIRST + (unsigned)((job % PORT_COUNT * PORT_STEPS + step) % PORT_COUNT);
}
