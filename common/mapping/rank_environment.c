/* SPDX-License-Identifier: MIT */
#include "mapping/rank_environment.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PORT_FIRST 10000u
#define PORT_COUNT 20000u
#define PORT_STEPS 61u /* prime to PORT_COUNT */
#define PORT_MAXIMUM 65535u
#define JAX_BYTES RANK_ENVIRONMENT_VALUE_BYTES

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
    THREADS,
    CONNECTIONS,
    NUMBER_COUNT,
    MASTER = NUMBER_COUNT,
    ORDER_NAME,
    PLAN_ID,
    DEVICE_ORDER,
    RENDEZVOUS,
    NICS,
    CPUS,
    JAX_COORDINATOR,
    LOCAL_DEVICES,
    SOURCE_COUNT
};

#define PER_GPU 1u  /* one task per GPU */
#define PER_NODE 2u /* one task per node */
#define DEGREES 4u  /* only where there are degrees */
#define KNOWN 8u    /* only where there is a value: not 0, not empty */
#define USERS 16u   /* the user's own value stays */
#define BOTH (PER_GPU | PER_NODE)

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
    {"MASTER_ADDR", MASTER, BOTH},
    {"MASTER_PORT", PORT, BOTH},
    {"CUDA_DEVICE_ORDER", DEVICE_ORDER, PER_GPU},
    {"CUDA_DEVICE_MAX_CONNECTIONS", CONNECTIONS, BOTH | KNOWN | USERS},
    {"OMP_NUM_THREADS", THREADS, PER_GPU | KNOWN | USERS},
    {"NCCL_IB_HCA", NICS, BOTH | KNOWN | USERS},
    {"JAX_COORDINATOR_ADDRESS", JAX_COORDINATOR, BOTH | KNOWN | USERS},
    {"JAX_COORDINATOR_PORT", PORT, BOTH | USERS},
    {"JAX_LOCAL_DEVICE_IDS", LOCAL_DEVICES, BOTH | USERS},
    {"PARPLAN_CPUS", CPUS, PER_GPU | KNOWN},
    {"PARPLAN_TP_RANK", TP_RANK, PER_GPU | DEGREES},
    {"PARPLAN_CP_RANK", CP_RANK, PER_GPU | DEGREES},
    {"PARPLAN_EP_RANK", EP_RANK, PER_GPU | DEGREES},
    {"PARPLAN_ETP_RANK", ETP_RANK, PER_GPU | DEGREES},
    {"PARPLAN_PP_RANK", PP_RANK, PER_GPU | DEGREES},
    {"PARPLAN_DP_RANK", DP_RANK, PER_GPU | DEGREES},
    {"PARPLAN_TP_SIZE", TP_SIZE, BOTH | DEGREES},
    {"PARPLAN_CP_SIZE", CP_SIZE, BOTH | DEGREES},
    {"PARPLAN_EP_SIZE", EP_SIZE, BOTH | DEGREES},
    {"PARPLAN_ETP_SIZE", ETP_SIZE, BOTH | DEGREES},
    {"PARPLAN_PP_SIZE", PP_SIZE, BOTH | DEGREES},
    {"PARPLAN_VPP_SIZE", VPP_SIZE, BOTH | DEGREES},
    {"PARPLAN_DP_SIZE", DP_SIZE, BOTH | DEGREES},
    {"PARPLAN_ORDER", ORDER_NAME, BOTH | DEGREES},
    {"PARPLAN_PLAN_ID", PLAN_ID, BOTH},
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
    numbers[THREADS] = task->threads;
    numbers[CONNECTIONS] = wire->facts.device_connections;
}

static bool is_per_node(const struct wire_plan *wire)
{
    return wire->tasks_per_node == 1 && wire->gpus_per_node > 1;
}

static bool applies(const struct wire_plan *wire, const struct variable *variable)
{
    unsigned mode = is_per_node(wire) ? 0 : PER_GPU;
    if (wire->tasks_per_node == 1)
        mode |= PER_NODE;
    if ((variable->when & DEGREES) && wire->locality_only)
        return false;
    return (variable->when & mode) != 0;
}

/* Where JAX's processes have RANK's numbers: process 0 serves at MASTER_ADDR. An IPv6 address is
 * left to JAX's own detection. */
static void write_coordinator(const struct wire_plan *wire, const struct rank_task *task,
                              char ret[static JAX_BYTES])
{
    ret[0] = '\0';
    if (wire->facts.slurm_ranks && !strchr(wire->master, ':'))
        snprintf(ret, JAX_BYTES, "%s:%u", wire->master, task->master_port);
}

/* Indices into the visible devices, as LOCAL_RANK. */
static void write_local_devices(const struct wire_plan *wire, uint64_t local_rank,
                                char ret[static JAX_BYTES])
{
    size_t used = (size_t)snprintf(ret, JAX_BYTES, "%" PRIu64, local_rank);
    for (unsigned i = 1; is_per_node(wire) && i < wire->gpus_per_node && used < JAX_BYTES; i++)
        used += (size_t)snprintf(ret + used, JAX_BYTES - used, ",%u", i);
}

static const char *or_empty(const char *text)
{
    return text && strlen(text) < RANK_ENVIRONMENT_VALUE_BYTES ? text : "";
}

static void add_entry(struct rank_environment *ret, const struct variable *variable,
                      const uint64_t numbers[static NUMBER_COUNT],
                      const char *const texts[static SOURCE_COUNT])
{
    struct environment_entry *entry = &ret->entries[ret->count];
    enum source source = variable->source;
    bool is_number = source < NUMBER_COUNT;
    if ((variable->when & KNOWN) && (is_number ? numbers[source] == 0 : !texts[source][0]))
        return;
    if (is_number)
        snprintf(entry->value, sizeof(entry->value), "%" PRIu64, numbers[source]);
    else
        snprintf(entry->value, sizeof(entry->value), "%s", texts[source]);
    entry->name = variable->name;
    entry->users = (variable->when & USERS) != 0;
    ret->count++;
}

int rank_environment_compute(const struct wire_plan *wire, const struct rank_task *task,
                             struct rank_environment *ret, struct error_info *err)
{
    if (check_task(wire, task, err) < 0)
        return -1;
    uint64_t numbers[NUMBER_COUNT];
    char coordinator[JAX_BYTES], devices[JAX_BYTES];
    fill_numbers(wire, task, numbers);
    write_coordinator(wire, task, coordinator);
    write_local_devices(wire, numbers[LOCAL_RANK], devices);
    const char *const texts[SOURCE_COUNT] = {
        [MASTER] = wire->master,       [ORDER_NAME] = rank_order_name(wire->order),
        [PLAN_ID] = wire->id,          [DEVICE_ORDER] = "PCI_BUS_ID",
        [RENDEZVOUS] = "static",       [NICS] = or_empty(task->nics),
        [CPUS] = or_empty(task->cpus), [JAX_COORDINATOR] = coordinator,
        [LOCAL_DEVICES] = devices,
    };
    ret->count = 0;
    for (size_t i = 0; i < COUNT_OF(variables); i++)
        if (applies(wire, &variables[i]))
            add_entry(ret, &variables[i], numbers, texts);
    return 0;
}

/* What may be the user's and holds on any node stays as it is. */
static bool is_of_plan(const struct variable *variable)
{
    return variable->source != DEVICE_ORDER &&
           (!(variable->when & USERS) || variable->source == PORT ||
            variable->source == JAX_COORDINATOR || variable->source == LOCAL_DEVICES);
}

const char *rank_environment_name(size_t index, bool *ret_users)
{
    for (size_t i = 0; i < COUNT_OF(variables); i++) {
        if (!is_of_plan(&variables[i]) || index-- > 0)
            continue;
        *ret_users = (variables[i].when & USERS) != 0;
        return variables[i].name;
    }
    return NULL;
}

unsigned rank_environment_port(uint64_t job, uint64_t step)
{
    return PORT_FIRST + (unsigned)((job % PORT_COUNT * PORT_STEPS + step) % PORT_COUNT);
}
