/* SPDX-License-Identifier: MIT */
#include "mapping/rank_map.h"
#include "mapping/wire_plan.h"
#include "spank_plugin/plugin_options.h"
#include "spank_plugin/task_context.h"
#include "tests/support/fake_spank.h"
#include "tests/support/unit_test.h"
#include "topology/preset_catalogue.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Two nodes of four tasks, tp=4 pp=2, the second block on the first node. */
static const struct fake_step two_nodes = {
    .job = 17, .step = 0, .node = 0, .nodes = 2, .tasks_on_node = 4, .tasks = 8, .local_task = 0};

static char plan_text[4096];
static char folder[64];
static char config_argument[128];

static void make_plan(bool by_slurm)
{
    static const unsigned nodes[] = {1, 0};
    CLEANUP(preset_catalogue) struct preset_catalogue *presets = preset_catalogue_builtin(NULL);
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = gpu_catalogue_builtin(NULL);
    assert_non_null(presets);
    assert_non_null(gpus);
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster =
        cluster_topology_from_preset("dgx-h100:2", presets, gpus, NULL);
    assert_non_null(cluster);
    struct rank_map map = {
        .cluster = cluster,
        .degrees = DEGREES_ONE,
        .order = ORDER_TP_CP_EP_DP_PP,
        .world = 8,
        .gpus_per_node = 4,
        .block_count = 2,
        .block_nodes = nodes,
    };
    map.degrees.tp = map.degrees.etp = 4;
    map.degrees.pp = 2;
    CLEANUP(wire_plan) struct wire_plan *wire = wire_plan_create(&map, 4, "n02", by_slurm, NULL);
    assert_non_null(wire);
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, sizeof(plan_text));
    assert_int_equal(wire_plan_encode(wire, &text, NULL), 0);
    snprintf(plan_text, sizeof(plan_text), "17.0 %s", text_buffer_text(&text));
}

static void write_config(const char *text)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/parplan.yaml", folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static int set_up(void **state)
{
    (void)state;
    char owner[32];
    snprintf(folder, sizeof(folder), "/tmp/parplan_task_XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(config_argument, sizeof(config_argument), "config=%s/parplan.yaml", folder);
    snprintf(owner, sizeof(owner), "owner=%u", (unsigned)getuid());
    char *arguments[] = {config_argument, owner};
    plugin_options_register(NULL, 2, arguments);
    write_config("schema: parplan.config/1\n");
    make_plan(false);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char path[128];
    snprintf(path, sizeof(path), "%s/parplan.yaml", folder);
    unlink(path);
    return rmdir(folder);
}

static void begin(const struct fake_step *step, const char *plan)
{
    fake_spank_begin(step);
    fake_spank_set("CUDA_VISIBLE_DEVICES", "0,1,2,3");
    fake_spank_set("RANK", "7"); /* the user's own: ours wins */
    if (plan)
        fake_spank_set(WIRE_PLAN_VARIABLE, plan);
}

static int run(const struct fake_step *step, const char *plan)
{
    begin(step, plan);
    task_context_prepare(NULL);
    return task_context_apply(NULL);
}

static void sets_every_variable(void **state)
{
    (void)state;
    struct fake_step step = two_nodes;
    step.local_task = 3;
    assert_int_equal(run(&step, plan_text), 0);
    assert_string_equal(fake_spank_get("RANK"), "7"); /* block 1 is on node 0 */
    assert_string_equal(fake_spank_get("LOCAL_RANK"), "3");
    assert_string_equal(fake_spank_get("WORLD_SIZE"), "8");
    assert_string_equal(fake_spank_get("MASTER_ADDR"), "n02");
    assert_string_equal(fake_spank_get("PARPLAN_PP_RANK"), "1");
    assert_null(fake_spank_get(WIRE_PLAN_VARIABLE));
    step.node = 1;
    assert_int_equal(run(&step, plan_text), 0);
    assert_string_equal(fake_spank_get("RANK"), "3");
}

static void takes_the_reserved_port(void **state)
{
    (void)state;
    begin(&two_nodes, plan_text);
    fake_spank_set("SLURM_STEP_RESV_PORTS", "25002-25010");
    task_context_prepare(NULL);
    assert_int_equal(task_context_apply(NULL), 0);
    assert_string_equal(fake_spank_get("MASTER_PORT"), "25002");
}

static void leaves_steps_without_a_plan_alone(void **state)
{
    (void)state;
    assert_int_equal(run(&two_nodes, NULL), 0);
    assert_int_equal(fake_spank_variables(), 2);
    struct fake_step batch = two_nodes;
    batch.step = 0xfffffffb; /* the batch script's */
    assert_int_equal(run(&batch, "garbage"), 0);
    assert_int_equal(fake_spank_errors(), 0);
}

static void refuse(const struct fake_step *step, const char *plan, const char *words)
{
    assert_int_equal(run(step, plan), -1);
    if (!strstr(fake_spank_error(), words))
        fail_msg("\"%s\" does not say \"%s\"", fake_spank_error(), words);
    assert_int_equal(fake_spank_errors(), 1);
    assert_null(fake_spank_get("WORLD_SIZE")); /* nothing half set */
}

static void refuses_hostile_plans(void **state)
{
    (void)state;
    static char huge[WIRE_PLAN_MAXIMUM_BYTES + 100];
    memset(huge, 'x', sizeof(huge) - 1);
    refuse(&two_nodes, "garbage", "is not the plan of step 17.0");
    refuse(&two_nodes, "17.0 garbage", WIRE_PLAN_VARIABLE ": 'garbage'");
    refuse(&two_nodes, "17.0", "is not the plan of step");
    refuse(&two_nodes, "17.01 v=1", "is not the plan of step");
    refuse(&two_nodes, "", WIRE_PLAN_VARIABLE);
    refuse(&two_nodes, huge, "longer than");
    struct fake_step other = two_nodes;
    other.nodes = 3;
    other.tasks = 12;
    refuse(&other, plan_text, "this step has 3 nodes");
    other = two_nodes;
    other.tasks_on_node = 2;
    refuse(&other, plan_text, "2 tasks here");
    other = two_nodes;
    other.refuses_setenv = true;
    refuse(&other, plan_text, "cannot set");
}

/* place=slurm: block 1 is on node 0, and its tasks must be those that Slurm calls 4 to 7. */
static void refuses_tasks_that_slurm_numbers_otherwise(void **state)
{
    (void)state;
    struct fake_step step = two_nodes;
    make_plan(true);
    step.local_task = 3;
    step.process = 7;
    assert_int_equal(run(&step, plan_text), 0);
    assert_string_equal(fake_spank_get("RANK"), "7");
    step.local_task = 0;
    step.process = 0;
    refuse(&step, plan_text, "SLURM_PROCID is 0 where the plan has 4");
    make_plan(false);
}

static void refuses_another_steps_plan(void **state)
{
    (void)state;
    struct fake_step later = two_nodes;
    later.step = 1;
    refuse(&later, plan_text, "17.0 is not the plan of step 17.1");
}

/* srun has said why; the tasks only do not start. */
static void ends_refused_steps_silently(void **state)
{
    (void)state;
    assert_int_equal(run(&two_nodes, "17.0 refused"), -1);
    assert_int_equal(fake_spank_errors(), 0);
    assert_null(fake_spank_get("WORLD_SIZE"));
}

static void clears_what_another_mode_left(void **state)
{
    (void)state;
    begin(&two_nodes, plan_text);
    fake_spank_set("PET_NNODES", "99");
    task_context_prepare(NULL);
    assert_int_equal(task_context_apply(NULL), 0);
    assert_null(fake_spank_get("PET_NNODES"));
}

static void leaves_the_users_own_values(void **state)
{
    (void)state;
    begin(&two_nodes, plan_text);
    fake_spank_set("SLURM_CPUS_PER_TASK", "6");
    task_context_prepare(NULL);
    assert_int_equal(task_context_apply(NULL), 0);
    assert_string_equal(fake_spank_get("OMP_NUM_THREADS"), "6");
    assert_string_equal(fake_spank_get("JAX_LOCAL_DEVICE_IDS"), "0");
    assert_null(fake_spank_get("NCCL_IB_HCA"));
    assert_null(fake_spank_get("JAX_COORDINATOR_ADDRESS"));
    static const char *const names[] = {"OMP_NUM_THREADS", "JAX_LOCAL_DEVICE_IDS", "NCCL_IB_HCA",
                                        "JAX_COORDINATOR_ADDRESS", "JAX_COORDINATOR_PORT"};
    begin(&two_nodes, plan_text);
    fake_spank_set("SLURM_CPUS_PER_TASK", "6");
    for (size_t i = 0; i < COUNT_OF(names); i++)
        fake_spank_set(names[i], "own");
    task_context_prepare(NULL);
    assert_int_equal(task_context_apply(NULL), 0);
    for (size_t i = 0; i < COUNT_OF(names); i++)
        assert_string_equal(fake_spank_get(names[i]), "own");
}

static void allows_hidden_gpus_where_the_admins_do(void **state)
{
    (void)state;
    write_config("schema: parplan.config/1\nslurm: {hidden_gpus: allow}\n");
    begin(&two_nodes, plan_text);
    fake_spank_set("CUDA_VISIBLE_DEVICES", "GPU-1234");
    task_context_prepare(NULL);
    assert_int_equal(task_context_apply(NULL), 0);
    assert_string_equal(fake_spank_get("LOCAL_RANK"), "0");
}

static void distrusts_ports_of_the_system(void **state)
{
    (void)state;
    begin(&two_nodes, plan_text);
    fake_spank_set("SLURM_STEP_RESV_PORTS", "22");
    task_context_prepare(NULL);
    assert_int_equal(task_context_apply(NULL), 0);
    assert_string_not_equal(fake_spank_get("MASTER_PORT"), "22");
}

static void speaks_once_per_node(void **state)
{
    (void)state;
    struct fake_step second = two_nodes;
    second.local_task = 1;
    assert_int_equal(run(&second, "garbage"), -1);
    assert_int_equal(fake_spank_errors(), 0);
}

static void checks_the_policy_again(void **state)
{
    (void)state;
    write_config("schema: parplan.config/1\npolicy: {max_tp: 2}\n");
    refuse(&two_nodes, plan_text, "policy max-tp: tp=4");
    write_config("schema: parplan.config/1\npolicy: {\n");
    refuse(&two_nodes, plan_text, "parplan.yaml:");
    write_config("schema: parplan.config/1\n");
}

static void pass(const struct fake_step *step, const char *plan, const char *notice)
{
    if (run(step, plan) < 0)
        fail_msg("refused: %s", fake_spank_error());
    assert_int_equal(fake_spank_errors(), 0);
    if (!strstr(fake_spank_notice(), notice) || !fake_spank_notice()[0] != !notice[0])
        fail_msg("\"%s\" does not say \"%s\"", fake_spank_notice(), notice);
}

static void logs_every_verdict_once_per_node(void **state)
{
    (void)state;
    struct fake_step step = two_nodes;
    pass(&step, plan_text, "step 17.0: tp=4,pp=2,dp=1: policy ok");
    write_config("schema: parplan.config/1\npolicy: {max_tp: 2, on_violation: warn}\n");
    pass(&step, plan_text, "step 17.0: tp=4,pp=2,dp=1: policy max-tp: tp=4");
    step.local_task = 1;
    pass(&step, plan_text, "");
}

static void asks_for_a_plan_where_the_admins_do(void **state)
{
    (void)state;
    struct fake_step step = two_nodes;
    step.program = "/opt/train";
    write_config("schema: parplan.config/1\npolicy: {require_plan: deny}\n");
    refuse(&step, NULL, "parplan: policy require-plan: the job needs a plan");
    pass(&step, plan_text, "policy ok");
    step.program = "/usr/bin/orted";
    pass(&step, NULL, "");
    step.program = NULL;
    step.step = 0xfffffffb; /* the batch script's */
    pass(&step, NULL, "");
    step = two_nodes;
    write_config("schema: parplan.config/1\npolicy: {require_plan: warn}\n");
    pass(&step, NULL, "step 17.0: no degrees: policy require-plan");
    write_config("schema: parplan.config/1\nenabled: false\npolicy: {require_plan: deny}\n");
    pass(&step, NULL, "");
    write_config("schema: parplan.config/1\npolicy: {require_plan: deny\n");
    pass(&step, NULL, "");
}

/* A number and a name that Slurm writes itself; what the user can write only tightens. */
static void takes_the_step_s_scopes(void **state)
{
    (void)state;
    struct fake_step step = two_nodes;
    step.uid = 1001;
    write_config("schema: parplan.config/1\n"
                 "policy:\n"
                 "  max_tp: 2\n"
                 "  accounts: {lenient: {max_tp: 64}, strict: {max_tp: 1}}\n"
                 "  users: {\"1001\": {max_tp: 4}, ada: {max_tp: 8}}\n"
                 "  partitions: {wide: {max_tp: 16, orders: [tp-cp-ep-pp-dp]}}\n");
    pass(&step, plan_text, "policy ok");
    step.uid = 1002;
    begin(&step, plan_text);
    fake_spank_set("SLURM_JOB_UID", "1001"); /* not what spank says */
    fake_spank_set("SLURM_JOB_ACCOUNT", "lenient");
    task_context_prepare(NULL);
    assert_int_equal(task_context_apply(NULL), -1);
    assert_non_null(strstr(fake_spank_error(), "policy max-tp: tp=4"));
    begin(&step, plan_text);
    fake_spank_set("SLURM_JOB_USER", "ada");
    task_context_prepare(NULL);
    assert_int_equal(task_context_apply(NULL), 0);
    begin(&step, plan_text);
    fake_spank_set("SLURM_JOB_PARTITION", "wide");
    task_context_prepare(NULL);
    assert_int_equal(task_context_apply(NULL), -1);
    assert_non_null(strstr(fake_spank_error(), "policy order: order=tp-cp-ep-dp-pp"));
}

/* tp=4, pp=2 on nodes of 4 GPUs, whatever srun said of it. */
static void refuses_groups_that_reach_too_far(void **state)
{
    (void)state;
    write_config("schema: parplan.config/1\npolicy: {spans: {cp: node, pp: leaf}}\n");
    pass(&two_nodes, plan_text, "policy ok");
    write_config("schema: parplan.config/1\npolicy: {spans: {pp: node}}\n");
    begin(&two_nodes, plan_text);
    task_context_prepare(NULL);
    assert_int_equal(task_context_apply(NULL), -1);
    assert_non_null(strstr(fake_spank_error(), "policy spans: pp=2 reaches over 8 GPUs in a row"));
}

static void refuses_hidden_gpus(void **state)
{
    (void)state;
    begin(&two_nodes, plan_text);
    fake_spank_set("CUDA_VISIBLE_DEVICES", "GPU-1234");
    task_context_prepare(NULL);
    assert_int_equal(task_context_apply(NULL), -1);
    assert_non_null(strstr(fake_spank_error(), "gpu"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_every_variable),
        cmocka_unit_test(refuses_groups_that_reach_too_far),
        cmocka_unit_test(takes_the_reserved_port),
        cmocka_unit_test(leaves_steps_without_a_plan_alone),
        cmocka_unit_test(refuses_hostile_plans),
        cmocka_unit_test(refuses_tasks_that_slurm_numbers_otherwise),
        cmocka_unit_test(refuses_another_steps_plan),
        cmocka_unit_test(ends_refused_steps_silently),
        cmocka_unit_test(clears_what_another_mode_left),
        cmocka_unit_test(leaves_the_users_own_values),
        cmocka_unit_test(allows_hidden_gpus_where_the_admins_do),
        cmocka_unit_test(distrusts_ports_of_the_system),
        cmocka_unit_test(speaks_once_per_node),
        cmocka_unit_test(checks_the_policy_again),
        cmocka_unit_test(logs_every_verdict_once_per_node),
        cmocka_unit_test(asks_for_a_plan_where_the_admins_do),
        cmocka_unit_test(takes_the_step_s_scopes),
        cmocka_unit_test(refuses_hidden_gpus),
    };
    struct CMUnitTest with_setup[COUNT_OF(tests)];
    for (size_t i = 0; i < COUNT_OF(tests); i++) {
        with_setup[i] = tests[i];
        with_setup[i].setup_func = set_up;
        with_setup[i].teardown_func = tear_down;
    }
    return unit_test_main("spank_plugin/task_context", with_setup, COUNT_OF(tests));
}
