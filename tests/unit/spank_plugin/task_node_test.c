/* SPDX-License-Identifier: MIT */
#include "spank_plugin/task_node.h"
#include "tests/support/fake_spank.h"
#include "tests/support/unit_test.h"
#include "topology/node_cache.h"
#include "topology/node_evidence.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GB 1e9
#define PLAIN "0,1,2,3,4,5,6,7"

static const struct fake_step one_node = {
    .job = 17, .nodes = 1, .tasks_on_node = 8, .tasks = 8, .local_task = 0};

static char folder[64], cache[128];

struct machine {
    const char *model;
    bool switched, leaves_node;
    unsigned lost;  /* GPU without NVLink; 8: none */
    bool with_host; /* NICs, CPUs of two sockets, UUIDs */
};

/* Behind switches, or hives {0,2,3,5} and {1,4,6,7}. */
static struct node_topology *make_node(const struct machine *machine)
{
    static const unsigned hive_of[8] = {0, 1, 0, 0, 1, 0, 1, 1};
    static const char *const uuids[8] = {"GPU-a", "GPU-b", "GPU-c", "GPU-d",
                                         "GPU-e", "GPU-f", "GPU-g", "GPU-h"};
    static const struct evidence_nic nics[] = {
        {.name = "mlx5_1", .state = NIC_ACTIVE, .has_role = true, .role = NIC_RAIL, .rail = 1},
        {.name = "mlx5_2", .state = NIC_DOWN, .has_role = true, .role = NIC_OTHER, .rail = -1},
        {.name = "mlx5_9", .state = NIC_ACTIVE, .has_role = true, .role = NIC_RAIL, .rail = 0},
    };
    double rates[64];
    struct evidence_gpu gpus[8];
    for (unsigned i = 0; i < 8; i++) {
        gpus[i] = (struct evidence_gpu){.model_text = machine->model, .numa = NUMA_UNKNOWN};
        if (machine->with_host) {
            gpus[i].numa = (int)i / 4;
            gpus[i].cpus = i < 4 ? "0-15" : "16-31";
            gpus[i].uuid = uuids[i];
        }
        if (i == machine->lost) {
            gpus[i].nvlink_lost = true;
            gpus[i].problem = "lost NVLink: 0 of 18 links are up";
        }
        for (unsigned j = 0; j < 8; j++)
            rates[i * 8 + j] = i != j && i != machine->lost && j != machine->lost &&
                                       (machine->switched || hive_of[i] == hive_of[j])
                                   ? 50 * GB
                                   : 0;
    }
    const struct node_evidence evidence = {.source = EVIDENCE_KFD,
                                           .source_text = "test",
                                           .gpus = gpus,
                                           .gpu_count = 8,
                                           .nics = nics,
                                           .nic_count = machine->with_host ? COUNT_OF(nics) : 0,
                                           .nvlink = NVLINK_KNOWN,
                                           .nvlink_switched = machine->switched,
                                           .nvlink_leaves_node = machine->leaves_node,
                                           .nvlink_bytes_per_second = rates};
    const struct node_evidence *const all[] = {&evidence};
    return node_topology_merge("n1", all, 1, NULL, NULL);
}

static void use_cache(const struct machine *machine)
{
    struct node_cache_key key;
    CLEANUP(node_topology) struct node_topology *node = make_node(machine);
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, NODE_CACHE_MAXIMUM_BYTES);
    assert_non_null(node);
    node_cache_key_read(&key);
    assert_int_equal(node_cache_encode(node, &key, &text, NULL), 0);
    assert_false(text_buffer_failed(&text));
    int file = open(cache, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_true(file >= 0);
    const char *written = text_buffer_text(&text);
    assert_int_equal(write(file, written, strlen(written)), (ssize_t)strlen(written));
    close(file);
    fake_spank_begin(&one_node);
    task_node_prepare(cache, getuid());
    assert_int_equal(fake_spank_notices(), 0);
}

static const struct machine hives_of_amd = {.model = "mi210", .lost = 8};
static const struct machine hives_of_nvidia = {.model = "a6000", .lost = 8};

static const struct wire_plan pairs_of_hives = {
    .degrees = {.tp = 4}, .node_count = 1, .gpus_per_node = 8, .tasks_per_node = 8};

static void permutes_the_outermost_list_alone(void **state)
{
    (void)state;
    static const char mapped[] = "0,2,3,5,1,4,6,7";
    static const struct {
        const struct machine *machine;
        const char *cuda, *rocr, *hip, *expected_cuda, *expected_rocr, *expected_hip;
    } cases[] = {
        {&hives_of_amd, NULL, PLAIN, NULL, NULL, mapped, NULL},
        {&hives_of_amd, PLAIN, PLAIN, NULL, PLAIN, mapped, NULL},
        {&hives_of_amd, NULL, PLAIN, PLAIN, NULL, mapped, PLAIN},
        {&hives_of_amd, PLAIN, NULL, NULL, mapped, NULL, NULL},
        /* Numbers on the node are none in the outer list. */
        {&hives_of_amd, "7,6,5,4,3,2,1,0", "7,6,5,4,3,2,1,0", NULL, PLAIN, mapped, NULL},
        /* The user's own choice inside. */
        {&hives_of_amd, NULL, PLAIN, "1,0", NULL, mapped, "1,0"},
        {&hives_of_nvidia, PLAIN, PLAIN, NULL, mapped, PLAIN, NULL},
        {&hives_of_nvidia, NULL, PLAIN, NULL, NULL, mapped, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        use_cache(cases[i].machine);
        const struct {
            const char *name, *value, *expected;
        } lists[] = {{"CUDA_VISIBLE_DEVICES", cases[i].cuda, cases[i].expected_cuda},
                     {"ROCR_VISIBLE_DEVICES", cases[i].rocr, cases[i].expected_rocr},
                     {"HIP_VISIBLE_DEVICES", cases[i].hip, cases[i].expected_hip},
                     {"GPU_DEVICE_ORDINAL", PLAIN, PLAIN}};
        for (size_t j = 0; j < COUNT_OF(lists); j++)
            if (lists[j].value)
                fake_spank_set(lists[j].name, lists[j].value);
        assert_int_equal(task_node_order_gpus(NULL, &pairs_of_hives, 0, NULL), 0);
        for (size_t j = 0; j < COUNT_OF(lists); j++) {
            const char *value = fake_spank_get(lists[j].name);
            if (value && lists[j].expected)
                assert_string_equal(value, lists[j].expected);
            else if (value || lists[j].expected)
                fail_msg("case %zu: %s is %s", i, lists[j].name, value ? value : "not set");
        }
    }
}

/* Expert groups too lie on links; without degrees the rails' order remains, here PCI's. */
static void orders_for_what_the_plan_has(void **state)
{
    (void)state;
    static const struct {
        struct degrees degrees;
        bool locality_only;
        const char *visible, *expected;
    } cases[] = {
        {{1, 1, 4, 1, 1, 1, 8, 1, 8}, false, PLAIN, "0,2,3,5,1,4,6,7"},
        {{2, 2, 1, 2, 1, 1, 2, 1, 2}, false, PLAIN, "0,2,3,5,1,4,6,7"},
        {{1, 1, 1, 1, 1, 1, 8, 1, 8}, false, PLAIN, PLAIN},
        {{1, 1, 1, 1, 1, 1, 1, 1, 1}, true, "7,6,5,4,3,2,1,0", PLAIN},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct wire_plan wire = {.degrees = cases[i].degrees,
                                       .locality_only = cases[i].locality_only,
                                       .node_count = 1,
                                       .gpus_per_node = 8,
                                       .tasks_per_node = 8};
        use_cache(&hives_of_nvidia);
        fake_spank_set("CUDA_VISIBLE_DEVICES", cases[i].visible);
        assert_int_equal(task_node_order_gpus(NULL, &wire, 0, NULL), 0);
        assert_string_equal(fake_spank_get("CUDA_VISIBLE_DEVICES"), cases[i].expected);
    }
}

static void says_once_that_devices_are_unknown(void **state)
{
    (void)state;
    for (unsigned task = 0; task < 8; task++) {
        use_cache(&hives_of_nvidia);
        fake_spank_set("CUDA_VISIBLE_DEVICES", "MIG-0,MIG-1,MIG-2,MIG-3,MIG-4,MIG-5,MIG-6,MIG-7");
        assert_int_equal(task_node_order_gpus(NULL, &pairs_of_hives, task, NULL), 0);
        assert_int_equal(fake_spank_notices(), task == 0);
        assert_int_equal(fake_spank_errors(), 0);
    }
}

static const struct machine two_sockets = {.model = "a6000", .lost = 8, .with_host = true};

static void tells_nics_and_cpus_of_the_task(void **state)
{
    (void)state;
    static const char hca[] = "=mlx5_9,mlx5_1", low[] = "0-15", high[] = "16-31";
    static const struct {
        const struct machine *machine;
        const char *visible, *devices;
        unsigned ranks, tasks, tp, task;
        const char *nics, *cpus;
        unsigned sharers;
    } rows[] = {
        /* TP groups are the hives {0,2,3,5} and {1,4,6,7}: rank 3 is on GPU 5, rank 4 on GPU 1. */
        {&two_sockets, PLAIN, NULL, 8, 8, 4, 2, hca, low, 4},
        {&two_sockets, PLAIN, NULL, 8, 8, 4, 3, hca, high, 4},
        {&two_sockets, PLAIN, NULL, 8, 8, 4, 4, hca, low, 4},
        {&two_sockets, PLAIN, NULL, 8, 8, 1, 4, hca, high, 4},
        /* The cgroup's own numbers. */
        {&two_sockets, "0,1", "3,6", 2, 2, 1, 0, hca, low, 1},
        {&two_sockets, "0,1", "3,6", 2, 2, 1, 1, hca, high, 1},
        {&two_sockets, "GPU-g,GPU-h", "0,1", 2, 2, 1, 1, hca, high, 2},
        /* Hidden from each other: the others' GPUs are not known, all may share. */
        {&two_sockets, "0", "6", 4, 4, 1, 3, hca, high, 4},
        {&two_sockets, "GPU-a", NULL, 4, 4, 1, 3, hca, low, 4},
        {&two_sockets, "MIG-a", NULL, 4, 4, 1, 3, hca, NULL, 1},
        /* No list: the whole node, or nothing is known. */
        {&two_sockets, NULL, NULL, 8, 8, 4, 5, hca, high, 4},
        {&two_sockets, NULL, NULL, 4, 4, 4, 1, hca, NULL, 1},
        {&two_sockets, "MIG-1,MIG-2", NULL, 2, 2, 1, 1, hca, NULL, 1},
        {&two_sockets, PLAIN, NULL, 8, 1, 4, 0, hca, NULL, 1}, /* torchrun's children */
        {&hives_of_amd, PLAIN, NULL, 8, 8, 4, 0, "", NULL, 1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct wire_plan wire = {.degrees = {.tp = rows[i].tp},
                                       .node_count = 1,
                                       .gpus_per_node = rows[i].ranks,
                                       .tasks_per_node = rows[i].tasks};
        struct task_devices got;
        use_cache(rows[i].machine);
        if (rows[i].visible)
            fake_spank_set("CUDA_VISIBLE_DEVICES", rows[i].visible);
        if (rows[i].devices)
            fake_spank_set("SLURM_STEP_GPUS", rows[i].devices);
        assert_int_equal(task_node_order_gpus(NULL, &wire, rows[i].task, NULL), 0);
        task_node_devices(&wire, rows[i].task, &got);
        if (strcmp(got.nics, rows[i].nics) != 0 || got.sharers != rows[i].sharers ||
            !got.cpus != !rows[i].cpus || (got.cpus && strcmp(got.cpus, rows[i].cpus) != 0))
            fail_msg("row %zu: '%s', CPUs %s of %u", i, got.nics, got.cpus ? got.cpus : "unknown",
                     got.sharers);
    }
}

static void says_once_that_the_node_is_not_as_planned(void **state)
{
    (void)state;
    struct wire_plan wire = pairs_of_hives;
    struct policy policy = policy_default;
    struct error_info err = {.kind = ERROR_NONE};
    use_cache(&two_sockets);
    assert_int_equal(task_node_compare(&wire, &policy, 0, &err), 0);
    assert_int_equal(fake_spank_notices(), 0);
    wire.facts.rails = 3;
    assert_int_equal(task_node_compare(&wire, &policy, 1, &err), 0);
    assert_int_equal(fake_spank_notices(), 0);
    assert_int_equal(task_node_compare(&wire, &policy, 0, &err), 0);
    assert_int_equal(fake_spank_notices(), 1);
    policy.on_mismatch = MISMATCH_DENY;
    assert_int_equal(task_node_compare(&wire, &policy, 0, &err), -1);
    assert_non_null(strstr(err.text, "policy node-mismatch: this node is not as planned: 3 rails "
                                     "are planned and 2 here are up (mlx5_2 is down)"));
}

static int compare_without_memory(void *context, struct error_info *err)
{
    (void)context;
    struct wire_plan wire = pairs_of_hives;
    wire.facts.rails = 3;
    return task_node_compare(&wire, &policy_default, 1, err);
}

static void compares_without_memory(void **state)
{
    (void)state;
    use_cache(&two_sockets);
    unit_test_expect_clean_failures(compare_without_memory, NULL);
}

static int order_without_memory(void *context, struct error_info *err)
{
    (void)context;
    fake_spank_set("ROCR_VISIBLE_DEVICES", PLAIN);
    fake_spank_set("CUDA_VISIBLE_DEVICES", PLAIN);
    return task_node_order_gpus(NULL, &pairs_of_hives, 0, err);
}

/* One task with another order than its neighbours would share a GPU with one of them. */
static void refuses_a_task_without_memory(void **state)
{
    (void)state;
    use_cache(&hives_of_amd);
    unit_test_expect_clean_failures(order_without_memory, NULL);
}

static void judges_the_gpus_of_the_step(void **state)
{
    (void)state;
    static const struct machine board = {"h100-sxm", true, false, 2, false};
    static const struct machine tray = {"gb200", true, true, 2, false};
    static const struct {
        const struct machine *machine;
        unsigned ranks;
        const char *visible, *devices;
        const char *fault;
        unsigned sound, domain;
    } cases[] = {
        {&board, 8, PLAIN, NULL, "GPU 2: lost NVLink", 7, 7},
        {&board, 8, NULL, NULL, "GPU 2: lost NVLink", 7, 7},
        {&board, 4, "4,5,6,7", NULL, NULL, 0, 4},
        {&board, 4, "0,1,2,3", NULL, "GPU 2: lost NVLink", 3, 3},
        {&board, 4, "0,1,2,3", "1,2,5,6", "GPU 2: lost NVLink", 3, 3}, /* a cgroup counts */
        {&board, 4, "0,1,2,3", "4,5,6,7", NULL, 0, 4},
        {&board, 4, "0", "1,2,5,6", "GPU 2: lost NVLink", 3, 3}, /* GPUs hidden from each other */
        {&board, 2, "0,1,2,3", NULL, NULL, 0, 2},                /* no rank takes the third */
        {&board, 4, NULL, NULL, NULL, 0, 0},
        {&board, 2, "MIG-1,MIG-2", NULL, NULL, 0, 0},
        {&tray, 8, PLAIN, NULL, "GPU 2: lost NVLink", 7, 0},
        {&tray, 2, "0,1", "2,3", "GPU 2: lost NVLink", 1, 0},
        {&tray, 4, "4,5,6,7", NULL, NULL, 0, 0},
        {&hives_of_amd, 4, "0,2,3,5", NULL, NULL, 0, 4},
        {&hives_of_amd, 4, "0,1,2,4", NULL, NULL, 0, 2},
        {&hives_of_amd, 4, "0,1,2,3", NULL, NULL, 0, 3}, /* GPU 1's links are not the step's */
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct policy_place place = {.gpus_per_node = cases[i].ranks};
        use_cache(cases[i].machine);
        if (cases[i].visible)
            fake_spank_set("CUDA_VISIBLE_DEVICES", cases[i].visible);
        if (cases[i].devices)
            fake_spank_set("SLURM_STEP_GPUS", cases[i].devices);
        assert_int_equal(task_node_complete_place(NULL, &place, NULL), 0);
        if (!place.fault != !cases[i].fault ||
            (place.fault && !strstr(place.fault, cases[i].fault)) ||
            place.sound_gpus != cases[i].sound || place.nvlink_domain_gpus != cases[i].domain ||
            place.nvlink_known != (cases[i].domain > 0))
            fail_msg("case %zu: '%s', %u sound, a domain of %u", i,
                     place.fault ? place.fault : "no fault", place.sound_gpus,
                     place.nvlink_domain_gpus);
    }
}

static void without_a_cache_nothing_is_known(void **state)
{
    (void)state;
    struct policy_place place = {.gpus_per_node = 8};
    fake_spank_begin(&one_node);
    unlink(cache);
    task_node_prepare(cache, getuid());
    fake_spank_set("CUDA_VISIBLE_DEVICES", PLAIN);
    assert_int_equal(task_node_complete_place(NULL, &place, NULL), 0);
    assert_int_equal(task_node_order_gpus(NULL, &pairs_of_hives, 0, NULL), 0);
    assert_int_equal(task_node_compare(&pairs_of_hives, &policy_default, 0, NULL), 0);
    struct task_devices devices;
    task_node_devices(&pairs_of_hives, 0, &devices);
    assert_string_equal(devices.nics, "");
    assert_null(devices.cpus);
    assert_false(place.nvlink_known);
    assert_string_equal(fake_spank_get("CUDA_VISIBLE_DEVICES"), PLAIN);
    assert_int_equal(fake_spank_notices(), 0);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/parplan_node_XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(cache, sizeof(cache), "%s/node.cache", folder);
    return 0;
}

/* The plugin keeps its node to the end of slurmstepd; here the next test must not see it. */
static int tear_down(void **state)
{
    (void)state;
    unlink(cache);
    task_node_prepare(cache, getuid());
    return rmdir(folder);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(permutes_the_outermost_list_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(orders_for_what_the_plan_has, set_up, tear_down),
        cmocka_unit_test_setup_teardown(says_once_that_devices_are_unknown, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tells_nics_and_cpus_of_the_task, set_up, tear_down),
        cmocka_unit_test_setup_teardown(says_once_that_the_node_is_not_as_planned, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(compares_without_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_a_task_without_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(judges_the_gpus_of_the_step, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_a_cache_nothing_is_known, set_up, tear_down),
    };
    return unit_test_main("spank_plugin/task_node", tests, COUNT_OF(tests));
}
