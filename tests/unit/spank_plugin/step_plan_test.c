/* SPDX-License-Identifier: MIT */
#include "mapping/rank_environment.h"
#include "spank_plugin/step_plan.h"
#include "tests/support/unit_test.h"
#include <stdio.h>
#include <string.h>

/* srun's own calls to the controller are not part of this: the node's address is its name. */
void node_address_read(const struct step_facts *facts, const char *node, char *ret, size_t bytes)
{
    (void)facts;
    snprintf(ret, bytes, "%s", node);
}

void step_facts_done(struct step_facts *facts)
{
    node_list_free(facts->nodes);
    memory_free(facts->block_nodes);
    memory_free(facts->topology_text);
}

static const char two_leaves[] = "SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=n[01,03,05,07]\n"
                                 "SwitchName=leaf2 Level=0 LinkSpeed=1 Nodes=n[02,04,06,08]\n"
                                 "SwitchName=spine Level=1 LinkSpeed=1 Nodes=n[01-08] "
                                 "Switches=leaf[1-2]\n";

struct step_case {
    const char *nodes;
    unsigned tasks_per_node;
    const char *gpu_type;
    const char *option;
    const char *command[4];
    const char *numbering;
    const unsigned *blocks; /* facts.block_nodes */
    unsigned lay_out;       /* on so many nodes; 0: a whole plan */
};

static unsigned *copy_blocks(const unsigned *blocks, size_t count, struct error_info *err)
{
    unsigned *copy = memory_allocate_array(count, sizeof(*copy));
    if (copy)
        memcpy(copy, blocks, count * sizeof(*copy));
    else
        error_set_memory(err);
    return copy;
}

static int try_step_on(const char *topology, const struct step_case *step, struct step_plan *ret,
                       enum step_refusal *ret_refusal, struct error_info *err)
{
    struct step_facts facts = {
        .job = 1,
        .nodes = node_list_decode(step->nodes, err),
        .tasks_per_node = step->tasks_per_node,
        .node_gpus = 8,
        .topology_text = memory_copy_text(topology),
        .uneven = "n01 has 3 tasks, n02 has 1",
    };
    snprintf(facts.gpu_type, sizeof(facts.gpu_type), "%s", step->gpu_type);
    if (step->tasks_per_node == 1)
        facts.gpus_per_node = 8;
    CLEANUP(admin_config) struct admin_config *config = admin_config_default(err);
    size_t count = 0;
    while (count < COUNT_OF(step->command) && step->command[count])
        count++;
    if (!facts.topology_text)
        error_set_memory(err);
    int result = -1;
    if (step->blocks && facts.nodes)
        facts.block_nodes = copy_blocks(step->blocks, node_list_count(facts.nodes), err);
    bool whole = !step->blocks || facts.block_nodes;
    if (facts.nodes && facts.topology_text && config && whole) {
        const struct step_plan_request request = {
            .facts = &facts,
            .config = config,
            .policy = &config->policy,
            .option = step->option,
            .command = step->command,
            .command_count = count,
            .numbering = step->numbering,
        };
        result = step->lay_out ? step_plan_lay_out(&request, step->lay_out, ret, ret_refusal, err)
                               : step_plan_create(&request, ret, ret_refusal, err);
    }
    step_facts_done(&facts);
    return result;
}

static int try_step(const struct step_case *step, struct step_plan *ret,
                    enum step_refusal *ret_refusal, struct error_info *err)
{
    return try_step_on(two_leaves, step, ret, ret_refusal, err);
}

static void plans_what_is_given(void **state)
{
    (void)state;
    static const struct step_case step = {"n[01-08]", 8,    "h100", "tp=8,pp=4,dp=2",
                                          {"x"},      NULL, NULL,   0};
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(step_plan) struct step_plan plan = {.job = NULL};
    enum step_refusal refusal;
    assert_int_equal(try_step(&step, &plan, &refusal, &err), 0);
    assert_int_equal(plan.wire->degrees.tp, 8);
    /* Each replica's pipeline under one leaf: nodes of one parity. */
    for (unsigned block = 0; block < 8; block++)
        assert_int_equal(plan.wire->block_nodes[block] % 2, block % 2);
    assert_string_equal(plan.wire->master, "n01");
}

/* What Slurm runs with and we do not read: a plan in Slurm's order, not a refusal. */
static void plans_on_a_fabric_that_it_cannot_read(void **state)
{
    (void)state;
    static const char *const topologies[] = {
        "RingName=ring1 Nodes=n[01-08]\n",
        "SwitchName=leaf Nodes=n[01-08]\nSwitchName=a Switches=leaf\nSwitchName=b Switches=leaf\n",
        "",
    };
    static const struct step_case step = {"n[01-08]",       8,     "h100",
                                          "tp=8,pp=4,dp=2", {"x"}, .blocks = NULL};
    for (size_t i = 0; i < COUNT_OF(topologies); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_DONE(step_plan) struct step_plan plan = {.job = NULL};
        enum step_refusal refusal;
        assert_int_equal(try_step_on(topologies[i], &step, &plan, &refusal, &err), 0);
        assert_null(plan.cluster->fabric);
        assert_int_equal(plan.wire->block_nodes[1], 4);
    }
}

static void plans_a_model(void **state)
{
    (void)state;
    static const struct step_case step = {
        "n[01-08]", 8, "h100", "auto,model=llama3-8b,global_batch=512", {"x"}, NULL, NULL, 0};
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(step_plan) struct step_plan plan = {.job = NULL};
    enum step_refusal refusal;
    assert_int_equal(try_step(&step, &plan, &refusal, &err), 0);
    assert_non_null(plan.placement.list);
    assert_int_equal(degrees_world(&plan.wire->degrees), 64);
}

static void counts_gpus_of_one_task_per_node(void **state)
{
    (void)state;
    static const struct step_case step = {"n[01-04]",   1,    "",   "tp=8,pp=4",
                                          {"torchrun"}, NULL, NULL, 0};
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(step_plan) struct step_plan plan = {.job = NULL};
    enum step_refusal refusal;
    assert_int_equal(try_step(&step, &plan, &refusal, &err), 0);
    assert_int_equal(plan.wire->world, 32);
    assert_int_equal(plan.wire->tasks_per_node, 1);
}

/* Whatever order is best, ranks stay where the step has them. */
static void keeps_the_order_that_ranks_have(void **state)
{
    (void)state;
    static const unsigned blocks[] = {3, 0, 2, 1};
    static const struct step_case cases[] = {
        {"n[01-04]", 8, "h100", "tp=8,pp=4,place=slurm", {"x"}, .blocks = blocks},
        {"n[01-04]", 8, "h100", "tp=8,pp=4", {"x"}, .numbering = "--mpi", .blocks = blocks},
        {"n[01-04]", 1, "h100", "tp=8,pp=4,place=slurm", {"x"}, .blocks = blocks},
        {"n[01-04]", 8, "h100", "auto,place=slurm", {"x"}, .blocks = blocks},
        {"n[01-04]", 8, "h100", "model=llama3-8b,place=slurm", {"x"}, .blocks = blocks},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_DONE(step_plan) struct step_plan plan = {.job = NULL};
        enum step_refusal refusal;
        assert_int_equal(try_step(&cases[i], &plan, &refusal, &err), 0);
        assert_true(plan.wire->by_slurm);
        assert_memory_equal(plan.wire->block_nodes, blocks, sizeof(blocks));
        assert_string_equal(plan.wire->master, "n04");
    }
}

static void lays_out_the_nodes_that_suit_best(void **state)
{
    (void)state;
    static const struct step_case step = {
        "n[01-08]", 8, "h100", "tp=8,pp=4,place=slurm,spare=4", {"x"}, .lay_out = 4};
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(step_plan) struct step_plan plan = {.job = NULL};
    enum step_refusal refusal;
    assert_int_equal(try_step(&step, &plan, &refusal, &err), 0);
    assert_null(plan.wire);
    assert_int_equal(plan.placement.map->block_count, 4);
    for (unsigned block = 1; block < 4; block++) /* one leaf: nodes of one parity */
        assert_int_equal(plan.placement.map->block_nodes[block] % 2,
                         plan.placement.map->block_nodes[0] % 2);
}

static void needs_nodes_that_are_known(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    assert_int_equal(step_option_check("tp=8,place=slurm", true, &err), 0);
    assert_int_equal(step_option_check("tp=8", false, &err), 0);
    assert_int_equal(step_option_check("tp=8,place=slurm", false, &err), -1);
    assert_non_null(strstr(err.text, "inside salloc or sbatch, or use place=env"));
}

static const unsigned in_order[] = {0, 1, 2, 3};

static const struct {
    struct step_case step;
    unsigned rails, connections, slurm_ranks;
    const char *gpu;
} wire_facts_rows[] = {
    {{"n[01-04]", 8, "h100", "tp=8,pp=4", {"x"}, .blocks = in_order}, 8, 0, 0, "h100-sxm"},
    {{"n[01,03]", 8, "h100", "tp=8,pp=2", {"x"}, .blocks = in_order}, 8, 0, 1, "h100-sxm"},
    {{"n[01,03]", 8, "", "tp=8,pp=2", {"x"}, .blocks = in_order}, 0, 0, 1, ""},
    {{"n[01,03]", 1, "h100", "tp=8,pp=2", {"x"}, .blocks = in_order}, 8, 0, 1, "h100-sxm"},
    {{"n[01,03]", 8, "h100", "tp=8,pp=2,framework=megatron-core", {"x"}, .blocks = in_order},
     8,
     1,
     1,
     "h100-sxm"},
    {{"n[01,03]", 8, "h100", "cp=2,pp=8,framework=nemo", {"x"}, .blocks = in_order},
     8,
     1,
     1,
     "h100-sxm"},
    {{"n[01,03]", 8, "h100", "pp=2,dp=8,framework=nemo", {"x"}, .blocks = in_order},
     8,
     0,
     1,
     "h100-sxm"},
    {{"n[01,03]", 8, "h100", "tp=8,dp=2,framework=deepspeed", {"x"}, .blocks = in_order},
     8,
     0,
     1,
     "h100-sxm"},
    {{"n[01,03]", 8, "", "tp=8,dp=2,framework=nemo", {"x"}, .blocks = in_order}, 0, 0, 1, ""},
    {{"n[01,03]", 8, "b200", "tp=8,pp=2,framework=nemo", {"x"}, .blocks = in_order},
     8,
     32,
     1,
     "b200"},
    {{"n[01,03]", 8, "b200", "tp=8,pp=2,framework=megatron-core", {"x"}, .blocks = in_order},
     8,
     0,
     1,
     "b200"},
    {{"n[01,03]",
      8,
      "h100",
      "tp=8,dp=2,sharding=zero3,framework=megatron-core",
      {"x"},
      .blocks = in_order},
     8,
     0,
     1,
     "h100-sxm"},
};

/* What the nodes are told beside the map: in srun, of what it knows. */
static void tells_the_nodes_what_they_are_taken_for(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(wire_facts_rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_DONE(step_plan) struct step_plan plan = {.job = NULL};
        enum step_refusal refusal;
        if (try_step(&wire_facts_rows[i].step, &plan, &refusal, &err) < 0)
            fail_msg("row %zu: %s", i, err.text);
        const struct wire_facts *got = &plan.wire->facts;
        if (got->rails != wire_facts_rows[i].rails ||
            got->device_connections != wire_facts_rows[i].connections ||
            got->slurm_ranks != wire_facts_rows[i].slurm_ranks ||
            strcmp(got->gpu, wire_facts_rows[i].gpu) != 0)
            fail_msg("row %zu: %u rails, %u connections, slurm %u, '%s'", i, got->rails,
                     got->device_connections, got->slurm_ranks, got->gpu);
    }
}

static const unsigned by_name[] = {0, 1, 2, 3};

/* torchrun's own rendezvous: nodes by name, which is as good where the plan has them so. */
static void leaves_a_rendezvous_that_agrees(void **state)
{
    (void)state;
    static const struct step_case cases[] = {
        {"n[01-02]", 1, "h100", "tp=8", {"torchrun", "--rdzv_backend=c10d"}, .blocks = by_name},
        {"n01", 1, "h100", "tp=8", {"torchrun", "--standalone"}, .blocks = by_name},
        {"n[01-04]", 1, "h100", "auto", {"torchrun", "--rdzv_backend=c10d"}, .blocks = NULL},
        {"n[01-08]", 1, "h100", "tp=8,pp=4", {"torchrun", "--rdzv_backend=static"}, .blocks = NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_DONE(step_plan) struct step_plan plan = {.job = NULL};
        enum step_refusal refusal;
        if (try_step(&cases[i], &plan, &refusal, &err) < 0)
            fail_msg("case %zu: %s", i, err.text);
    }
}

struct refused_case {
    struct step_case step;
    enum step_refusal refusal;
    const char *words;
};

static void expect_refused(const struct refused_case *one)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct step_plan plan = {.job = NULL};
    enum step_refusal refusal = REFUSED_INPUT;
    assert_int_equal(try_step(&one->step, &plan, &refusal, &err), -1);
    if (!strstr(err.text, one->words))
        fail_msg("\"%s\" does not say \"%s\"", err.text, one->words);
    assert_int_equal(refusal, one->refusal);
}

static void refuses_launchers_that_number_otherwise(void **state)
{
    (void)state;
    static const struct refused_case cases[] = {
        {{"n[01-08]", 1, "h100", "tp=8,pp=4", {"torchrun", "--rdzv_backend=c10d"}, NULL, NULL, 0},
         REFUSED_LAYOUT,
         "--rdzv-backend: would beat what parplan sets on each node; leave it out"},
        {{"n[01-04]",
          1,
          "h100",
          "tp=8,place=slurm",
          {"torchrun", "--rdzv_backend=c10d"},
          .blocks = by_name},
         REFUSED_LAYOUT,
         "--rdzv-backend: "},
        {{"n[01-02]", 1, "h100", "tp=8", {"torchrun", "--standalone"}, NULL, NULL, 0},
         REFUSED_LAYOUT,
         "--standalone: "},
        {{"n[01-02]", 8, "h100", "tp=8", {"torchrun"}, NULL, NULL, 0},
         REFUSED_LAYOUT,
         "torchrun: starts all ranks of a node"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        expect_refused(&cases[i]);
}

static void refuses_with_its_reason(void **state)
{
    (void)state;
    static const struct refused_case cases[] = {
        {{"n[01-02]", 0, "h100", "tp=8", {"x"}, NULL, NULL, 0},
         REFUSED_LAYOUT,
         "tasks are uneven: n01 has 3"},
        {{"n[01-02]", 8, "h100", "tp=8,pp=4,dp=2", {"x"}, NULL, NULL, 0}, REFUSED_LAYOUT, "64"},
        {{"n[01-02]", 8, "h100", "tp=16", {"x"}, NULL, NULL, 0},
         REFUSED_POLICY,
         "policy tp-within-node: tp=16"},
        {{"n[01-02]", 8, "h100", "auto,model=llama3-405b", {"x"}, NULL, NULL, 0},
         REFUSED_LAYOUT,
         "nothing fits"},
        {{"n[01-02]", 8, "", "auto,model=llama3-8b", {"x"}, NULL, NULL, 0},
         REFUSED_INPUT,
         "the GPU kind"},
        {{"n[01-02]", 8, "h100", "tpp=8", {"x"}, NULL, NULL, 0}, REFUSED_INPUT, "tpp"},
        {{"n[01-02]", 8, "h100", "tp=8,place=slurm", {"x"}, NULL, NULL, 0},
         REFUSED_LAYOUT,
         "place=slurm: ranks are numbered by SLURM_PROCID"},
        {{"n[01-02]", 8, "h100", "tp=8", {"x"}, .numbering = "--mpi"},
         REFUSED_LAYOUT,
         "--mpi: ranks are numbered by SLURM_PROCID"},
        {{"n[01-02]", 8, "h100", "tp=8,spare=1", {"x"}, NULL, NULL, 0},
         REFUSED_INPUT,
         "place=slurm with spare"},
        {{"n[01-02]", 8, "h100", "tp=8,place=slurm,spare=1", {"x"}, .lay_out = 3},
         REFUSED_LAYOUT,
         "24 ranks need 3 nodes"},
        {{"n[01-02]", 8, "h100", "/no/such.yaml", {"x"}, NULL, NULL, 0},
         REFUSED_INPUT,
         "/no/such.yaml"},
        {{"n[01-02]", 8, "h100", "tp=8", {"x", "--tensor-model-parallel-size", "4"}, NULL, NULL, 0},
         REFUSED_INPUT,
         "--tensor-model-parallel-size"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        expect_refused(&cases[i]);
}

static int plan_once(void *context, struct error_info *err)
{
    struct step_plan plan = {.job = NULL};
    enum step_refusal refusal;
    if (try_step(context, &plan, &refusal, err) < 0)
        return -1;
    step_plan_done(&plan);
    return 0;
}

static void fails_cleanly_without_memory(void **state)
{
    (void)state;
    static struct step_case step = {"n[01-02]", 8, "h100", "tp=8,pp=2", {"x"}, NULL, NULL, 0};
    unit_test_expect_clean_failures(plan_once, &step);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_what_is_given),
        cmocka_unit_test(plans_on_a_fabric_that_it_cannot_read),
        cmocka_unit_test(plans_a_model),
        cmocka_unit_test(counts_gpus_of_one_task_per_node),
        cmocka_unit_test(keeps_the_order_that_ranks_have),
        cmocka_unit_test(lays_out_the_nodes_that_suit_best),
        cmocka_unit_test(needs_nodes_that_are_known),
        cmocka_unit_test(tells_the_nodes_what_they_are_taken_for),
        cmocka_unit_test(leaves_a_rendezvous_that_agrees),
        cmocka_unit_test(refuses_launchers_that_number_otherwise),
        cmocka_unit_test(refuses_with_its_reason),
        cmocka_unit_test(fails_cleanly_without_memory),
    };
    return unit_test_main("spank_plugin/step_plan", tests, COUNT_OF(tests));
}
