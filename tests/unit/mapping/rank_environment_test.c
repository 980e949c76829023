/* SPDX-License-Identifier: MIT */
#include "mapping/rank_environment.h"
#include "tests/support/unit_test.h"

#include "base/text_buffer.h"
#include <stdio.h>
#include <string.h>

/* tp=2, pp=2, dp=2 on two nodes of four; block 0 is on node 1. */
static const unsigned block_nodes[] = {1, 0}, node_blocks[] = {1, 0};
static const struct wire_plan per_gpu = {.degrees = {2, 1, 2, 1, 2, 2, 2, 1, 2},
                                         .order = ORDER_TP_CP_EP_DP_PP,
                                         .world = 8,
                                         .node_count = 2,
                                         .gpus_per_node = 4,
                                         .tasks_per_node = 4,
                                         .block_nodes = block_nodes,
                                         .node_blocks = node_blocks,
                                         .master = "n2",
                                         .id = "0123456789abcdef"};

static struct wire_plan variant(unsigned tasks_per_node, bool locality_only)
{
    struct wire_plan wire = per_gpu;
    wire.tasks_per_node = tasks_per_node;
    wire.locality_only = locality_only;
    if (locality_only)
        wire.degrees = DEGREES_ONE;
    return wire;
}

static void expect(const struct wire_plan *wire, struct rank_task task, const char *expected)
{
    struct rank_environment environment;
    struct error_info err = {.kind = ERROR_NONE};
    if (rank_environment_compute(wire, &task, &environment, &err) < 0)
        fail_msg("%s", err.text);
    CLEANUP_DONE(text_buffer) struct text_buffer got;
    text_buffer_init(&got, 8192);
    for (unsigned i = 0; i < environment.count; i++)
        text_buffer_add(&got, "%s%s=%s", i ? " " : "", environment.entries[i].name,
                        environment.entries[i].value);
    assert_string_equal(text_buffer_text(&got), expected);
}

static void one_task_per_gpu(void **state)
{
    (void)state;
    expect(&per_gpu, (struct rank_task){.node = 0, .local_task = 3, .master_port = 12345},
           "RANK=7 WORLD_SIZE=8 LOCAL_RANK=3 LOCAL_WORLD_SIZE=4 NODE_RANK=1 GROUP_RANK=1 "
           "MASTER_ADDR=n2 MASTER_PORT=12345 CUDA_DEVICE_ORDER=PCI_BUS_ID "
           "JAX_COORDINATOR_PORT=12345 JAX_LOCAL_DEVICE_IDS=3 PARPLAN_TP_RANK=1 "
           "PARPLAN_CP_RANK=0 PARPLAN_EP_RANK=1 PARPLAN_ETP_RANK=0 PARPLAN_PP_RANK=1 "
           "PARPLAN_DP_RANK=1 PARPLAN_TP_SIZE=2 PARPLAN_CP_SIZE=1 PARPLAN_EP_SIZE=2 "
           "PARPLAN_ETP_SIZE=1 PARPLAN_PP_SIZE=2 PARPLAN_VPP_SIZE=2 PARPLAN_DP_SIZE=2 "
           "PARPLAN_ORDER=tp-cp-ep-dp-pp PARPLAN_PLAN_ID=0123456789abcdef");
}

static void one_task_per_node(void **state)
{
    (void)state;
    const struct wire_plan wire = variant(1, false);
    expect(&wire, (struct rank_task){.node = 1, .visible_gpus = 4, .master_port = 25002},
           "PET_NNODES=2 PET_NODE_RANK=0 PET_NPROC_PER_NODE=4 PET_MASTER_ADDR=n2 "
           "PET_MASTER_PORT=25002 PET_RDZV_BACKEND=static MASTER_ADDR=n2 MASTER_PORT=25002 "
           "JAX_COORDINATOR_PORT=25002 JAX_LOCAL_DEVICE_IDS=0,1,2,3 "
           "PARPLAN_TP_SIZE=2 PARPLAN_CP_SIZE=1 PARPLAN_EP_SIZE=2 PARPLAN_ETP_SIZE=1 "
           "PARPLAN_PP_SIZE=2 PARPLAN_VPP_SIZE=2 PARPLAN_DP_SIZE=2 PARPLAN_ORDER=tp-cp-ep-dp-pp "
           "PARPLAN_PLAN_ID=0123456789abcdef");
}

static void locality_only(void **state)
{
    (void)state;
    const struct wire_plan wire = variant(4, true), torchrun = variant(1, true);
    expect(&wire, (struct rank_task){.node = 1, .local_task = 1, .master_port = 1},
           "RANK=1 WORLD_SIZE=8 LOCAL_RANK=1 LOCAL_WORLD_SIZE=4 NODE_RANK=0 GROUP_RANK=0 "
           "MASTER_ADDR=n2 MASTER_PORT=1 CUDA_DEVICE_ORDER=PCI_BUS_ID "
           "JAX_COORDINATOR_PORT=1 JAX_LOCAL_DEVICE_IDS=1 PARPLAN_PLAN_ID=0123456789abcdef");
    expect(
        &torchrun, (struct rank_task){.node = 0, .master_port = 65535},
        "PET_NNODES=2 PET_NODE_RANK=1 PET_NPROC_PER_NODE=4 PET_MASTER_ADDR=n2 "
        "PET_MASTER_PORT=65535 PET_RDZV_BACKEND=static MASTER_ADDR=n2 MASTER_PORT=65535 "
        "JAX_COORDINATOR_PORT=65535 JAX_LOCAL_DEVICE_IDS=0,1,2,3 PARPLAN_PLAN_ID=0123456789abcdef");
}

static void single_gpu_nodes_are_one_task_per_gpu(void **state)
{
    (void)state;
    struct wire_plan wire = variant(1, true);
    wire.gpus_per_node = 1;
    wire.world = 2;
    expect(&wire, (struct rank_task){.node = 0, .visible_gpus = 1, .master_port = 1},
           "RANK=1 WORLD_SIZE=2 LOCAL_RANK=0 LOCAL_WORLD_SIZE=1 NODE_RANK=1 GROUP_RANK=1 "
           "PET_NNODES=2 PET_NODE_RANK=1 PET_NPROC_PER_NODE=1 PET_MASTER_ADDR=n2 "
           "PET_MASTER_PORT=1 PET_RDZV_BACKEND=static "
           "MASTER_ADDR=n2 MASTER_PORT=1 CUDA_DEVICE_ORDER=PCI_BUS_ID "
           "JAX_COORDINATOR_PORT=1 JAX_LOCAL_DEVICE_IDS=0 PARPLAN_PLAN_ID=0123456789abcdef");
}

static const char *value_of(const struct rank_environment *environment, const char *name)
{
    for (unsigned i = 0; i < environment->count; i++)
        if (!strcmp(environment->entries[i].name, name))
            return environment->entries[i].value;
    return "-";
}

static void what_the_node_and_the_framework_ask_for(void **state)
{
    (void)state;
    static char endless[RANK_ENVIRONMENT_VALUE_BYTES + 1];
    memset(endless, '7', sizeof(endless) - 1);
    static const struct {
        unsigned tasks_per_node, connections, slurm_ranks;
        const char *master, *nics, *cpus;
        unsigned threads;
        const char *hca, *bound, *omp, *queues, *coordinator;
    } rows[] = {
        {4, 0, 0, "n2", NULL, NULL, 0, "-", "-", "-", "-", "-"},
        {4, 1, 1, "n2", "=mlx5_0", "0-7", 2, "=mlx5_0", "0-7", "2", "1", "n2:9"},
        {4, 0, 1, "fe80::1%eth0", "", "", 0, "-", "-", "-", "-", "-"},
        {4, 0, 1, "[::1]", endless, endless, 0, "-", "-", "-", "-", "-"},
        {4, 0, 0, "n2", NULL, "0", 0, "-", "0", "-", "-", "-"},
        {1, 32, 1, "n2", "=mlx5_0", "0-7", 2, "=mlx5_0", "-", "-", "32", "n2:9"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct wire_plan wire = variant(rows[i].tasks_per_node, false);
        struct rank_environment got;
        wire.facts.device_connections = rows[i].connections;
        wire.facts.slurm_ranks = rows[i].slurm_ranks;
        snprintf(wire.master, sizeof(wire.master), "%s", rows[i].master);
        const struct rank_task task = {.master_port = 9,
                                       .nics = rows[i].nics,
                                       .cpus = rows[i].cpus,
                                       .threads = rows[i].threads};
        assert_int_equal(rank_environment_compute(&wire, &task, &got, NULL), 0);
        assert_string_equal(value_of(&got, "NCCL_IB_HCA"), rows[i].hca);
        assert_string_equal(value_of(&got, "PARPLAN_CPUS"), rows[i].bound);
        assert_string_equal(value_of(&got, "OMP_NUM_THREADS"), rows[i].omp);
        assert_string_equal(value_of(&got, "CUDA_DEVICE_MAX_CONNECTIONS"), rows[i].queues);
        assert_string_equal(value_of(&got, "JAX_COORDINATOR_ADDRESS"), rows[i].coordinator);
    }
}

/* What is cleared where an outer plan left it, and what may be the user's own. */
static void names_of_a_plan(void **state)
{
    (void)state;
    static const char *const kept[] = {"CUDA_DEVICE_ORDER", "NCCL_IB_HCA", "OMP_NUM_THREADS",
                                       "CUDA_DEVICE_MAX_CONNECTIONS"};
    const char *name;
    bool users = false;
    unsigned of_users = 0;
    for (size_t i = 0; (name = rank_environment_name(i, &users)); i++) {
        for (size_t j = 0; j < COUNT_OF(kept); j++)
            assert_string_not_equal(name, kept[j]);
        assert_int_equal(users, strncmp(name, "JAX_", 4) == 0);
        of_users += users;
    }
    assert_int_equal(of_users, 3);
}

static void hidden_gpus_where_admins_allow(void **state)
{
    (void)state;
    struct rank_environment environment;
    struct error_info err = {.kind = ERROR_NONE};
    const struct rank_task task = {.node = 1,
                                   .local_task = 3,
                                   .visible_gpus = 1,
                                   .master_port = 1,
                                   .hidden_gpus_allowed = true};
    assert_int_equal(rank_environment_compute(&per_gpu, &task, &environment, &err), 0);
    assert_string_equal(environment.entries[0].value, "3"); /* RANK */
    assert_string_equal(environment.entries[2].value, "0"); /* LOCAL_RANK */
}

static void follows_slurms_numbers_or_refuses(void **state)
{
    (void)state;
    static const struct {
        unsigned tasks_per_node;
        struct rank_task task;
        int result;
    } rows[] = {
        {4, {.node = 0, .local_task = 3, .process = 7, .master_port = 1}, 0},
        {4, {.node = 1, .local_task = 3, .process = 3, .master_port = 1}, 0},
        {4, {.node = 1, .local_task = 3, .process = 7, .master_port = 1}, -1},
        {1, {.node = 0, .process = 1, .master_port = 1}, 0},
        {1, {.node = 0, .process = 0, .master_port = 1}, -1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct rank_environment environment;
        struct error_info err = {.kind = ERROR_NONE};
        struct wire_plan wire = variant(rows[i].tasks_per_node, false);
        assert_int_equal(rank_environment_compute(&wire, &rows[i].task, &environment, &err), 0);
        wire.by_slurm = true;
        assert_int_equal(rank_environment_compute(&wire, &rows[i].task, &environment, &err),
                         rows[i].result);
        if (rows[i].result < 0)
            assert_non_null(strstr(err.text, "SLURM_PROCID is "));
    }
}

static void refuses_with_a_remedy(void **state)
{
    (void)state;
    static const struct {
        unsigned tasks_per_node;
        struct rank_task task;
        const char *message;
    } rows[] = {
        {4, {.node = 2, .master_port = 1}, "node 2 of a plan for 2 nodes"},
        {4, {.local_task = 4, .master_port = 1}, "local task 4 of a plan with 4 tasks per node"},
        {1, {.local_task = 1, .master_port = 1}, "local task 1 of a plan with 1 tasks per node"},
        {4, {.master_port = 0}, "MASTER_PORT 0 is not from 1 to 65535"},
        {4, {.master_port = 65536}, "MASTER_PORT 65536 is not from 1 to 65535"},
        {4,
         {.visible_gpus = 1, .master_port = 1},
         "the task sees 1 GPU and not its 3 neighbours, which hides NVLink from NCCL; use "
         "--gres=gpu:4 or --gpu-bind=none (not --gpus-per-task), or have the admins set "
         "hidden_gpus: allow"},
        {4,
         {.visible_gpus = 3, .master_port = 1, .hidden_gpus_allowed = true},
         "the task sees 3 GPU(s) and the plan has 4 ranks on each node; use --gres=gpu:4, or a "
         "plan for 3 per node"},
        {1,
         {.visible_gpus = 1, .master_port = 1, .hidden_gpus_allowed = true},
         "the task sees 1 GPU(s) and the plan has 4 ranks on each node; use --gres=gpu:4, or a "
         "plan for 1 per node"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct wire_plan wire = variant(rows[i].tasks_per_node, false);
        struct rank_environment environment = {.count = 77};
        struct error_info err = {.kind = ERROR_NONE};
        assert_int_equal(rank_environment_compute(&wire, &rows[i].task, &environment, &err), -1);
        assert_int_equal(environment.count, 77);
        assert_string_equal(err.text, rows[i].message);
    }
}

static void neighbouring_jobs_have_their_own_ports(void **state)
{
    (void)state;
    static bool seen[65536];
    for (uint64_t job = 4000000; job < 4000300; job++)
        for (uint64_t step = 0; step < 61; step++) {
            unsigned port = rank_environment_port(job, step);
            assert_true(port >= 10000 && port <= 29999);
            assert_false(seen[port]);
            seen[port] = true;
        }
    unsigned extreme = rank_environment_port(UINT64_MAX, UINT64_MAX);
    assert_true(extreme >= 10000 && extreme <= 29999);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(one_task_per_gpu),
    cmocka_unit_test(one_task_per_node),
    cmocka_unit_test(locality_only),
    cmocka_unit_test(single_gpu_nodes_are_one_task_per_gpu),
    cmocka_unit_test(what_the_node_and_the_framework_ask_for),
    cmocka_unit_test(names_of_a_plan),
    cmocka_unit_test(hidden_gpus_where_admins_allow),
    cmocka_unit_test(follows_slurms_numbers_or_refuses),
    cmocka_unit_test(refuses_with_a_remedy),
    cmocka_unit_test(neighbouring_jobs_have_their_own_ports),
};

int main(void) { return unit_test_main("mapping/rank_environment", tests, COUNT_OF(tests)); }
