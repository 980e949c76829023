/* SPDX-License-Identifier: MIT */
#include "tests/unit/topology/topology_fixture.h"

#include "base/text_file.h"
#include "topology/node_readers/nvml/nvml_symbols.h"
#include "topology/node_readers/nvml_reader.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PROFILES "tests/support/mock_nvml/profiles/"
#define PROFILE_BYTES 8192u
#define TEST_SECONDS 10u

/* The mock stands in the same build folder as this program. */
static const char *mock_library(void)
{
    static char path[PATH_MAX + 64];
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
    assert_true(length > 0 && length < PATH_MAX);
    path[length] = '\0';
    for (int up = 0; up < 3; up++)
        *strrchr(path, '/') = '\0';
    size_t used = strlen(path);
    snprintf(path + used, sizeof(path) - used, "/mock_nvml/libnvidia-ml.so.1");
    return path;
}

/* The mock plays the profile with more lines at its end ("" for none), which win. */
static void play(const char *profile, const char *more)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), PROFILES "%s", profile);
    if (more[0]) {
        struct error_info err = {.kind = ERROR_NONE};
        size_t bytes = 0;
        CLEANUP_MEMORY char *text = text_file_read(path, PROFILE_BYTES, &bytes, &err);
        expect_made(text, &err);
        snprintf(path, sizeof(path), "/tmp/parplan_nvml_test.%d", (int)getpid());
        CLEANUP_FILE FILE *file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file, "%s%s\n", text, more);
    }
    setenv("PARPLAN_MOCK_NVML", path, 1);
}

static void stop_playing(void)
{
    const char *path = getenv("PARPLAN_MOCK_NVML");
    if (path && strncmp(path, "/tmp/parplan_nvml_test.", 23) == 0)
        unlink(path);
}

/* In this process, which the coverage sees; the child's answer is tried in through_the_child. */
static struct node_evidence *read_here(const char *profile, const char *more,
                                       struct error_info *err)
{
    play(profile, more);
    struct node_evidence *evidence = nvml_read_here(mock_library(), 0, "", err);
    stop_playing();
    return evidence;
}

static struct node_evidence *open_here(const char *profile, const char *more)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct node_evidence *evidence = read_here(profile, more, &err);
    expect_made(evidence, &err);
    return evidence;
}

static unsigned count_of(const struct node_evidence *evidence, unsigned i, unsigned j)
{
    assert_non_null(evidence->nvlink_link_counts);
    unsigned count = evidence->nvlink_link_counts[i * evidence->gpu_count + j];
    assert_int_equal(count, evidence->nvlink_link_counts[j * evidence->gpu_count + i]);
    return count;
}

static void expect_all_to_all(const struct node_evidence *evidence, unsigned links)
{
    assert_int_equal(evidence->nvlink, NVLINK_KNOWN);
    assert_true(evidence->nvlink_switched);
    for (unsigned i = 0; i < evidence->gpu_count; i++)
        for (unsigned j = 0; j < i; j++)
            assert_int_equal(count_of(evidence, i, j), links);
}

static void expect_no_problem(const struct node_evidence *evidence)
{
    for (unsigned i = 0; i < evidence->gpu_count; i++)
        if (evidence->gpus[i].problem)
            fail_msg("GPU %u: %s", i, evidence->gpus[i].problem);
}

/* What each profile is, in a row. */
static void machines(void **state)
{
    (void)state;
    static const struct {
        const char *profile, *more;
        unsigned gpus, links; /* links: between GPUs 0 and 1 */
        enum nvlink_state nvlink;
        bool switched;
        double link_rate;
    } cases[] = {
        {"a100", "", 8, 12, NVLINK_KNOWN, true, 25e9},
        {"h100", "", 8, 18, NVLINK_KNOWN, true, 25e9},
        {"h100-vm", "", 8, 18, NVLINK_KNOWN, true, 25e9},
        {"h100-vm", "switch_id ones", 8, 18, NVLINK_KNOWN, true, 25e9},
        {"h100-vm", "switch_id binary", 8, 18, NVLINK_KNOWN, true, 25e9},
        {"h100-vm", "switch_id refused", 8, 18, NVLINK_KNOWN, true, 25e9},
        {"h100-vm", "without nvmlDeviceGetNvLinkRemoteDeviceType", 8, 18, NVLINK_KNOWN, true, 25e9},
        {"b200", "", 8, 18, NVLINK_KNOWN, true, 50e9},
        {"gb200", "", 4, 18, NVLINK_KNOWN, true, 50e9},
        {"t4", "", 2, 0, NVLINK_NONE, false, 0},
        {"a6000-pairs", "", 8, 4, NVLINK_KNOWN, false, 14e9},
        {"v100", "", 8, 1, NVLINK_KNOWN, false, 25e9},
        {"old-driver", "", 8, 12, NVLINK_KNOWN, true, 25e9},
        {"b200-no-fabric-manager", "", 8, 0, NVLINK_NONE, false, 50e9},
        /* A version of NVLink that is not in our table goes by the GPU; one of neither is open. */
        {"b200", "version 8", 8, 18, NVLINK_KNOWN, true, 50e9},
        {"b200", "version 8\ncompute 12 0", 8, 18, NVLINK_KNOWN, true, 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP(node_evidence)
        struct node_evidence *evidence = open_here(cases[i].profile, cases[i].more);
        print_message("# case %zu: %s\n", i, cases[i].profile);
        assert_int_equal(evidence->source, EVIDENCE_NVML);
        assert_int_equal(evidence->gpu_count, cases[i].gpus);
        assert_int_equal(evidence->nvlink, cases[i].nvlink);
        assert_int_equal(evidence->nvlink_switched, cases[i].switched);
        assert_int_equal(count_of(evidence, 0, 1), cases[i].links);
        assert_true(evidence->nvlink_link_bytes_per_second == cases[i].link_rate);
        if (cases[i].switched)
            expect_all_to_all(evidence, cases[i].links);
        if (cases[i].switched)
            expect_no_problem(evidence);
    }
}

static void what_a_gpu_is(void **state)
{
    (void)state;
    CLEANUP(node_evidence) struct node_evidence *evidence = open_here("a100", "width 2 8 16");
    const struct evidence_gpu *gpu = &evidence->gpus[0];
    assert_string_equal(evidence->source_text, "nvml");
    assert_string_equal(evidence->driver_version, "550.54.15");
    assert_string_equal(gpu->bus_id, "0000:07:00.0");
    assert_string_equal(gpu->model_text, "NVIDIA A100-SXM4-80GB");
    assert_string_equal(gpu->uuid, "GPU-00000000-0000-0000-0000-000000000000");
    assert_string_equal(gpu->cpus, "48-63");
    assert_int_equal(gpu->memory_bytes, UINT64_C(85899345920));
    assert_int_equal(gpu->numa, 3);
    assert_false(gpu->mig);
    assert_null(gpu->nvlink_clique);
    assert_null(gpu->problem);
    assert_null(evidence->gpus[1].cpus);
    assert_string_equal(evidence->gpus[2].problem, "PCIe x8 of x16");
    assert_true(evidence->pcie_bytes_per_second == 31.5e9);
    assert_false(evidence->nvlink_leaves_node);
    assert_int_equal(evidence->gpu_links[0 * 8 + 1], LINK_PXB);
    assert_int_equal(evidence->gpu_links[1 * 8 + 0], LINK_PXB);
    assert_int_equal(evidence->gpu_links[0 * 8 + 2], LINK_SYS);
}

static void processors_and_pcie(void **state)
{
    (void)state;
    CLEANUP(node_evidence) struct node_evidence *mesh = open_here("v100", "");
    assert_int_equal(mesh->gpu_links[1], LINK_PIX);
    assert_int_equal(mesh->gpu_links[2], LINK_PHB);
    assert_int_equal(mesh->gpu_links[3], LINK_NODE);
    assert_int_equal(mesh->gpus[0].numa, NUMA_UNKNOWN);
    CLEANUP(node_evidence) struct node_evidence *odd = open_here("v100", "ancestor 0 1 55\npcie 9");
    assert_int_equal(odd->gpu_links[1], LINK_UNKNOWN);
    assert_true(odd->pcie_bytes_per_second == 0);
    CLEANUP(node_evidence) struct node_evidence *tray = open_here("gb200", "");
    assert_string_equal(tray->gpus[3].bus_id, "0019:01:00.0");
    assert_string_equal(tray->gpus[3].cpus, "72-143");
    assert_int_equal(tray->gpus[0].numa, NUMA_UNKNOWN); /* the GPU's own memory is a node too */
    assert_true(tray->pcie_bytes_per_second == 0);      /* C2C */
}

static void a_rack_wide_domain(void **state)
{
    (void)state;
    static const char *const versions[] = {"fabric_version 3", "fabric_version 2",
                                           "without nvmlDeviceGetGpuFabricInfoV"};
    for (size_t v = 0; v < COUNT_OF(versions); v++) {
        CLEANUP(node_evidence) struct node_evidence *evidence = open_here("gb200", versions[v]);
        for (unsigned i = 0; i < evidence->gpu_count; i++)
            assert_string_equal(evidence->gpus[i].nvlink_clique,
                                "1b7c2f3e-8d4a-4f0c-9e61-55aa01020304.32766");
        assert_true(evidence->nvlink_leaves_node);
        assert_true(evidence->gpu_nvlink_bytes_per_second == 900e9);
    }
}

/* Complete, without an error and with a UUID: else there is no clique. */
static void fabrics_that_are_none(void **state)
{
    (void)state;
#define UUID "1b7c2f3e8d4a4f0c9e6155aa01020304"
    static const struct {
        const char *more, *problem; /* or NULL */
        unsigned links;
    } cases[] = {
        {"fabric 0 0 0 " UUID, NULL, 18},
        {"fabric 3 0 5 00000000000000000000000000000000", NULL, 18},
        {"fabric 1 0 0 " UUID, "the fabric manager has not finished (state not started)", 0},
        {"fabric 2 0 0 " UUID, "the fabric manager has not finished (state in progress)", 0},
        {"fabric 3 999 0 " UUID, "the fabric manager failed (status 999)", 18},
        {"without nvmlDeviceGetGpuFabricInfoV\nwithout nvmlDeviceGetGpuFabricInfo", NULL, 18},
        {"return nvmlDeviceGetGpuFabricInfoV 3\nreturn nvmlDeviceGetGpuFabricInfo 3", NULL, 18},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP(node_evidence) struct node_evidence *evidence = open_here("gb200", cases[i].more);
        assert_false(evidence->nvlink_leaves_node);
        assert_int_equal(count_of(evidence, 0, 1), cases[i].links);
        for (unsigned g = 0; g < evidence->gpu_count; g++) {
            const struct evidence_gpu *gpu = &evidence->gpus[g];
            assert_null(gpu->nvlink_clique);
            assert_int_equal(gpu->problem != NULL, cases[i].problem != NULL);
            if (gpu->problem)
                assert_string_equal(gpu->problem, cases[i].problem);
        }
    }
}

static void faults(void **state)
{
    (void)state;
    static const struct {
        const char *profile, *more, *problem; /* of GPU 2, or NULL */
        unsigned links, others;               /* between 1 and 2, between 0 and 1 */
    } cases[] = {
        {"b200-lost-link", "", "lost NVLink: 0 of 18 links are up", 0, 18},
        {"b200", "up 2 16", "lost NVLink: 16 of 18 links are up", 16, 18},
        {"b200", "apart 2", "lost NVLink: 18 of 18 links are up, but no peer is reached", 0, 18},
        {"b200", "fabric_of 2 2 0", "the fabric manager has not finished (state in progress)", 0,
         18},
        {"b200", "health 2 2", "the fabric manager calls its NVLink unhealthy", 18, 18},
        {"b200", "health 2 3", "the fabric manager says that its NVLink has limited capacity", 18,
         18},
        {"b200", "health 2 3\nfabric_version 2", NULL, 18, 18},
        {"b200", "width 2 4 16\nup 2 0", "PCIe x4 of x16; lost NVLink: 0 of 18 links are up", 0,
         18},
        {"b200", "width 2 0 16", NULL, 18, 18}, /* a width of 0 is no answer */
        {"v100", "up 2 5", "lost NVLink: 5 of 6 links are up", 2, 1},
        /* A hung peer: the status is asked, not the lanes. */
        {"b200", "p2p 1 2 5", NULL, 0, 18},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP(node_evidence)
        struct node_evidence *evidence = open_here(cases[i].profile, cases[i].more);
        print_message("# case %zu: %s\n", i, cases[i].profile);
        assert_int_equal(evidence->gpus[2].problem != NULL, cases[i].problem != NULL);
        if (cases[i].problem)
            assert_string_equal(evidence->gpus[2].problem, cases[i].problem);
        assert_null(evidence->gpus[1].problem);
        assert_int_equal(count_of(evidence, 1, 2), cases[i].links);
        assert_int_equal(count_of(evidence, 0, 1), cases[i].others);
    }
}

/* All links are up and no pair works: the fabric manager of A100s does not run. Not so where
 * the others are cut into instances, or belong to another job. */
static void nobody_is_reached(void **state)
{
    (void)state;
    static const char problem[] =
        "NVLinks to switches are up, but no peer is reached: is the fabric manager running?";
    static const struct {
        const char *profile, *more;
        bool expected; /* of GPU 0 */
    } cases[] = {
        {"a100", "gpus 3\nreturn nvmlDeviceGetNvLinkVersion 3\napart 0\napart 1\napart 2", true},
        {"a100", "gpus 2\np2p 0 1 5", true},
        {"a100", "gpus 2\nmig 1", false},
        {"a100", "gpus 1", false},
        {"a100", "gpus 2\np2p 0 1 6", false},
        {"a100", "gpus 2\np2p 0 1 5\nwithout nvmlDeviceGetNvLinkRemoteDeviceType", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP(node_evidence)
        struct node_evidence *evidence = open_here(cases[i].profile, cases[i].more);
        print_message("# case %zu: %s\n", i, cases[i].profile);
        assert_int_equal(evidence->gpus[0].problem != NULL, cases[i].expected);
        if (cases[i].expected)
            assert_string_equal(evidence->gpus[0].problem, problem);
    }
}

static void bridges(void **state)
{
    (void)state;
    CLEANUP(node_evidence) struct node_evidence *evidence = open_here("a6000-pairs", "");
    assert_int_equal(count_of(evidence, 2, 3), 4);
    assert_int_equal(count_of(evidence, 1, 2), 0);
    assert_int_equal(count_of(evidence, 6, 7), 0);
    expect_no_problem(evidence);
    assert_int_equal(evidence->note_count, 2);
    assert_string_equal(evidence->notes[0],
                        "0000:07:00.0: no NVLink is up, others of its model have 4: no bridge, or "
                        "a broken one");
}

static void cube_mesh(void **state)
{
    (void)state;
    static const unsigned links[8][8] = {
        {0, 1, 1, 2, 2, 0, 0, 0}, {1, 0, 2, 1, 0, 2, 0, 0}, {1, 2, 0, 2, 0, 0, 1, 0},
        {2, 1, 2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 1, 1, 2}, {0, 2, 0, 0, 1, 0, 2, 1},
        {0, 0, 1, 0, 1, 2, 0, 2}, {0, 0, 0, 1, 2, 1, 2, 0},
    };
    CLEANUP(node_evidence) struct node_evidence *evidence = open_here("v100", "");
    for (unsigned i = 0; i < 8; i++)
        for (unsigned j = 0; j < 8; j++)
            if (i != j)
                assert_int_equal(count_of(evidence, i, j), links[i][j]);
    expect_no_problem(evidence);
}

static void instances(void **state)
{
    (void)state;
    CLEANUP(node_evidence) struct node_evidence *evidence = open_here("mig", "");
    assert_true(evidence->gpus[3].mig);
    assert_false(evidence->gpus[2].mig);
    assert_int_equal(count_of(evidence, 2, 3), 0);
    assert_int_equal(count_of(evidence, 2, 4), 12);
    expect_no_problem(evidence);
    CLEANUP(node_evidence) struct node_evidence *alone = open_here("mig", "gpus 1\nmig 0");
    assert_int_equal(alone->nvlink, NVLINK_NONE);
}

/* A GPU whose peers belong to another job. */
static void alone(void **state)
{
    (void)state;
    static const struct {
        const char *profile, *more;
        enum nvlink_state nvlink;
        double rate;
    } cases[] = {
        {"h100", "gpus 1", NVLINK_KNOWN, 450e9},
        {"gb200", "gpus 1\nfabric 2 0 0 00000000000000000000000000000000", NVLINK_NONE, 0},
        {"t4", "gpus 1", NVLINK_NONE, 0},
        {"t4", "gpus 1\nslots 4\nversion 5\nhidden 0 4", NVLINK_UNKNOWN, 0},
        {"t4", "gpus 1\nreturn nvmlDeviceGetNvLinkState 999", NVLINK_UNKNOWN, 0},
        {"t4", "gpus 1\nslots 6\nversion 2\nnpu 0 3", NVLINK_NONE, 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP(node_evidence)
        struct node_evidence *evidence = open_here(cases[i].profile, cases[i].more);
        print_message("# case %zu: %s\n", i, cases[i].profile);
        assert_int_equal(evidence->gpu_count, 1);
        assert_int_equal(evidence->nvlink, cases[i].nvlink);
        assert_null(evidence->nvlink_link_counts);
        assert_true(evidence->gpu_nvlink_bytes_per_second == cases[i].rate);
    }
}

/* Where the driver does not answer, nothing is claimed. */
static void unknown_stays_unknown(void **state)
{
    (void)state;
    static const struct {
        const char *profile, *more;
        enum nvlink_state nvlink;
        unsigned links; /* between 0 and 1, where counts are given */
    } cases[] = {
        {"a100", "without nvmlDeviceGetP2PStatus", NVLINK_UNKNOWN, 0},
        {"a100", "return nvmlDeviceGetP2PStatus 3", NVLINK_UNKNOWN, 0},
        {"a100", "p2p 0 1 6", NVLINK_KNOWN, NVLINK_COUNT_UNKNOWN},
        {"a100", "without nvmlDeviceGetNvLinkState", NVLINK_UNKNOWN, 0},
        {"a100", "return nvmlDeviceGetNvLinkState 999 0", NVLINK_KNOWN, NVLINK_COUNT_UNKNOWN},
        {"v100", "without nvmlDeviceGetP2PStatus", NVLINK_KNOWN, 1},
        {"t4", "without nvmlDeviceGetP2PStatus", NVLINK_NONE, 0},
        {"t4", "return nvmlDeviceGetNvLinkState 999", NVLINK_NONE, 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP(node_evidence)
        struct node_evidence *evidence = open_here(cases[i].profile, cases[i].more);
        print_message("# case %zu: %s\n", i, cases[i].profile);
        assert_int_equal(evidence->nvlink, cases[i].nvlink);
        assert_int_equal(evidence->nvlink_link_counts != NULL, cases[i].nvlink != NVLINK_UNKNOWN);
        if (evidence->nvlink_link_counts)
            assert_int_equal(count_of(evidence, 0, 1), cases[i].links);
    }
}

/* Any function may be missing, and any may fail: an error or evidence, never a crash. */
static void every_function_missing_or_failing(void **state)
{
    (void)state;
    static const struct {
        const char *symbol;
        bool required; /* in this very version */
    } cases[] = {
        {"nvmlInit_v2", true},
        {"nvmlShutdown", false},
        {"nvmlSystemGetDriverVersion", false},
        {"nvmlDeviceGetCount_v2", true},
        {"nvmlDeviceGetHandleByIndex_v2", true},
        {"nvmlDeviceGetPciInfo_v3", false},
        {"nvmlDeviceGetName", false},
        {"nvmlDeviceGetUUID", false},
        {"nvmlDeviceGetMemoryInfo", false},
        {"nvmlDeviceGetCudaComputeCapability", false},
        {"nvmlDeviceGetMigMode", false},
        {"nvmlDeviceGetC2cModeInfoV", false},
        {"nvmlDeviceGetCurrPcieLinkWidth", false},
        {"nvmlDeviceGetMaxPcieLinkWidth", false},
        {"nvmlDeviceGetMaxPcieLinkGeneration", false},
        {"nvmlDeviceGetCpuAffinity", false},
        {"nvmlDeviceGetMemoryAffinity", false},
        {"nvmlDeviceGetTopologyCommonAncestor", false},
        {"nvmlDeviceGetP2PStatus", false},
        {"nvmlDeviceGetNvLinkState", false},
        {"nvmlDeviceGetNvLinkVersion", false},
        {"nvmlDeviceGetNvLinkCapability", false},
        {"nvmlDeviceGetNvLinkRemotePciInfo_v2", false},
        {"nvmlDeviceGetNvLinkRemoteDeviceType", false},
        {"nvmlDeviceGetFieldValues", false},
        {"nvmlDeviceGetGpuFabricInfoV", false},
        {"nvmlDeviceGetGpuFabricInfo", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char more[128];
        struct error_info err = {.kind = ERROR_NONE};
        snprintf(more, sizeof(more), "without %s", cases[i].symbol);
        CLEANUP(node_evidence) struct node_evidence *missing = read_here("h100", more, &err);
        assert_int_equal(missing == NULL, cases[i].required);
        if (!missing)
            expect_message(&err, cases[i].symbol);
        snprintf(more, sizeof(more), "return %s 999", cases[i].symbol);
        CLEANUP(node_evidence) struct node_evidence *failing = read_here("h100", more, &err);
        if (!failing)
            expect_message(&err, "failed (code 999); see dmesg");
    }
}

static void forbidden_gpus(void **state)
{
    (void)state;
    CLEANUP(node_evidence)
    struct node_evidence *evidence = open_here("a100", "return nvmlDeviceGetHandleByIndex_v2 4 1\n"
                                                       "return nvmlDeviceGetHandleByIndex_v2 4 2");
    assert_int_equal(evidence->gpu_count, 6);
    assert_string_equal(evidence->gpus[1].bus_id, "0000:4e:00.0");
    assert_string_equal(evidence->notes[0],
                        "warning: 2 of 8 GPUs are not permitted here and left out");
    expect_all_to_all(evidence, 12);
}

static void refusals(void **state)
{
    (void)state;
    static const struct {
        const char *profile, *more, *message;
    } cases[] = {
        {"driver-mismatch", "",
         "nvmlInit_v2: the loaded driver and this library have different versions (code 18); load "
         "the driver's modules again, or reboot the node"},
        {"no-permission", "", "nvmlInit_v2: no permission to use the GPUs (code 4)"},
        {"gpu-lost", "",
         "nvmlDeviceGetHandleByIndex_v2: a GPU is lost, it has fallen off the bus (code 15); see "
         "dmesg for Xid 79"},
        {"a100", "return nvmlDeviceGetHandleByIndex_v2 4", "no permission to use the GPUs"},
        {"a100", "return nvmlDeviceGetPciInfo_v3 15", "nvmlDeviceGetPciInfo: a GPU is lost"},
        {"a100", "bus 3 0 fffff", "a GPU has the impossible PCI address 0:fffff:0"},
        {"a100", "return nvmlDeviceGetCount_v2 17", "blocks the GPUs' control device"},
        {"a100", "without nvmlDeviceGetPciInfo_v3\nwithout nvmlDeviceGetPciInfo_v2",
         "has no nvmlDeviceGetPciInfo_v3; it is no NVML of driver R418 or newer"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        assert_null(read_here(cases[i].profile, cases[i].more, &err));
        expect_message(&err, cases[i].message);
        assert_int_equal(err.kind, ERROR_SYSTEM);
    }
    struct error_info err = {.kind = ERROR_NONE};
    assert_null(nvml_read_here("/proc/self/cmdline", 0, "", &err));
    expect_message(&err, "/proc/self/cmdline: cannot be loaded: ");
}

/* No library, no driver, no device: nothing is known, and that is no error. */
static void machines_without(void **state)
{
    (void)state;
    static const char *const profiles[][2] = {
        {"no-driver", ""}, {"a100", "return nvmlInit_v2 12"}, {"a100", "gpus 0"}};
    struct error_info err = {.kind = ERROR_NONE};
    struct node_evidence *evidence = NULL;
    for (size_t i = 0; i < COUNT_OF(profiles); i++) {
        play(profiles[i][0], profiles[i][1]);
        int result = nvml_read(mock_library(), &evidence, &err);
        stop_playing();
        if (result < 0)
            fail_msg("%s", err.text);
        assert_null(evidence);
    }
    if (nvml_read("/nowhere/libnvidia-ml.so.1", &evidence, &err) < 0)
        fail_msg("%s", err.text);
    assert_null(evidence);
}

static void through_the_child(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(node_evidence) struct node_evidence *evidence = NULL;
    play("b200-lost-link", "");
    if (nvml_read_within(mock_library(), TEST_SECONDS, &evidence, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(evidence->gpu_count, 8);
    assert_int_equal(count_of(evidence, 0, 7), 18);
    assert_string_equal(evidence->gpus[2].problem, "lost NVLink: 0 of 18 links are up");
    play("driver-mismatch", "");
    struct node_evidence *none = NULL;
    assert_int_equal(nvml_read_within(mock_library(), TEST_SECONDS, &none, &err), -1);
    expect_message(&err, "different versions (code 18)");
    assert_int_equal(err.kind, ERROR_SYSTEM);
    play("crash", "");
    assert_int_equal(nvml_read_within(mock_library(), TEST_SECONDS, &none, &err), -1);
    expect_message(&err, "NVIDIA's driver: NVML crashed while reading it (signal 11); see dmesg");
    assert_int_equal(nvml_read_within(mock_library(), TEST_SECONDS, &none, NULL), -1);
}

static void hangs(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    struct error_info err = {.kind = ERROR_NONE};
    struct node_evidence *none = NULL;
    play("hang", "");
    assert_int_equal(nvml_read_within(mock_library(), 1, &none, &err), -1);
    expect_message(&err, "NVIDIA's driver: NVML needs more than 1 seconds for it; see dmesg");
}

static struct node_topology *merge(const char *profile, const char *more)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(node_evidence) struct node_evidence *evidence = open_here(profile, more);
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = open_gpus();
    const struct node_evidence *const all[] = {evidence};
    struct node_topology *node = node_topology_merge(profile, all, 1, gpus, &err);
    expect_made(node, &err);
    return node;
}

/* The domain that each machine comes to. */
static void domains(void **state)
{
    (void)state;
    static const struct {
        const char *profile;
        unsigned largest, domains;
        double pair; /* bytes per second between GPUs 0 and 1 */
        int sound;   /* GPUs that a TP group may use; -1: nothing is known against any */
    } cases[] = {
        {"a100", 8, 1, 300e9, -1},    {"h100", 8, 1, 450e9, -1},
        {"h100-vm", 8, 1, 450e9, -1}, {"b200", 8, 1, 900e9, -1},
        {"gb200", 4, 1, 900e9, -1},   {"b200-no-fabric-manager", 1, 8, 0, 0},
        {"t4", 1, 2, 0, -1},          {"b200-lost-link", 7, 2, 900e9, 7},
        {"v100", 8, 1, 25e9, -1},     {"a6000-pairs", 2, 5, 56e9, -1},
        {"mig", 7, 2, 300e9, 7},      {"old-driver", 8, 1, 300e9, -1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP(node_topology) struct node_topology *node = merge(cases[i].profile, "");
        print_message("# %s\n", cases[i].profile);
        assert_int_equal(node_topology_largest_domain(node), cases[i].largest);
        assert_int_equal(node->domain_count, cases[i].domains);
        double rate = node->nvlink_bytes_per_second[1] - cases[i].pair;
        assert_true(rate > -1e9 && rate < 1e9);
        struct node_fault fault;
        assert_int_equal(node_topology_find_fault(node, &fault), cases[i].sound >= 0);
        if (cases[i].sound >= 0)
            assert_int_equal(fault.sound_gpus, cases[i].sound);
    }
}

static int read_mock(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(node_evidence)
    struct node_evidence *evidence = nvml_read_here(mock_library(), 0, "", err);
    return evidence ? 0 : -1;
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    play("gb200", "");
    unit_test_expect_clean_failures(read_mock, NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(machines),
    cmocka_unit_test(what_a_gpu_is),
    cmocka_unit_test(processors_and_pcie),
    cmocka_unit_test(a_rack_wide_domain),
    cmocka_unit_test(fabrics_that_are_none),
    cmocka_unit_test(faults),
    cmocka_unit_test(nobody_is_reached),
    cmocka_unit_test(bridges),
    cmocka_unit_test(cube_mesh),
    cmocka_unit_test(instances),
    cmocka_unit_test(alone),
    cmocka_unit_test(unknown_stays_unknown),
    cmocka_unit_test(every_function_missing_or_failing),
    cmocka_unit_test(forbidden_gpus),
    cmocka_unit_test(refusals),
    cmocka_unit_test(machines_without),
    cmocka_unit_test(through_the_child),
    cmocka_unit_test(hangs),
    cmocka_unit_test(domains),
    cmocka_unit_test(survives_lack_of_memory),
};

int main(void) { return unit_test_main("topology/nvml_reader", tests, COUNT_OF(tests)); }
