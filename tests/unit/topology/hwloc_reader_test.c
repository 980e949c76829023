/* SPDX-License-Identifier: MIT */
#include "tests/unit/topology/topology_fixture.h"

#include "base/text_file.h"
#include "topology/node_readers/hwloc/hwloc_import.h"
#include "topology/node_readers/hwloc/hwloc_reader.h"
#include "topology/node_readers/reader_child.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FOLDER "tests/unit/topology/data/"

static char *read_data(const char *name, size_t *ret_bytes)
{
    char path[256];
    struct error_info err = {.kind = ERROR_NONE};
    snprintf(path, sizeof(path), FOLDER "%s", name);
    char *text = text_file_read(path, HWLOC_XML_MAXIMUM_BYTES, ret_bytes, &err);
    expect_made(text, &err);
    return text;
}

typedef struct node_evidence *(*read_fn)(const char *text, size_t bytes, const char *source,
                                         struct error_info *err);

static struct node_topology *read_node(read_fn read, const char *name)
{
    size_t bytes;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_MEMORY char *text = read_data(name, &bytes);
    CLEANUP(node_evidence) struct node_evidence *evidence = read(text, bytes, name, &err);
    expect_made(evidence, &err);
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = open_gpus();
    const struct node_evidence *const all[] = {evidence};
    struct node_topology *node = node_topology_merge(name, all, 1, gpus, &err);
    expect_made(node, &err);
    return node;
}

static const struct node_nic *find_nic(const struct node_topology *node, const char *name)
{
    for (unsigned i = 0; i < node->nic_count; i++)
        if (strcmp(node->nics[i].name, name) == 0)
            return &node->nics[i];
    fail_msg("no NIC %s", name);
    return NULL;
}

/* The same answers in this process (which the coverage sees) and through the child. */
static const read_fn readers[] = {hwloc_import_xml, hwloc_read_xml};

static void gpus_behind_switches(void **state)
{
    (void)state;
    for (size_t r = 0; r < COUNT_OF(readers); r++) {
        CLEANUP(node_topology) struct node_topology *node = read_node(readers[r], "switched.xml");
        assert_int_equal(node->gpu_count, 4);
        assert_int_equal(node->nvlink, NVLINK_KNOWN);
        assert_int_equal(node->domain_count, 1);
        assert_true(node_topology_is_uniform(node));
        assert_true(node->gpu_nvlink_bytes_per_second == 300e9);
        assert_string_equal(node->gpus[0].model, "a100-sxm-80");
        assert_string_equal(node->gpus[0].bus_id, "0000:02:00.0");
        assert_string_equal(node->gpus[3].uuid, "GPU-00000003");
        assert_int_equal(node->gpus[0].memory_bytes >> 10, 82944000);
        assert_int_equal(node->gpus[1].numa, 0);
        assert_int_equal(node->gpus[2].numa, 1);
        assert_int_equal(node->cpu_count, 2);
        assert_int_equal(node->host_memory_bytes, (uint64_t)2 << 30);
        assert_int_equal(node->host_nvme_bytes, UINT64_C(1953125000) << 10);
    }
}

static void nics_and_decoys(void **state)
{
    (void)state;
    for (size_t r = 0; r < COUNT_OF(readers); r++) {
        CLEANUP(node_topology) struct node_topology *node = read_node(readers[r], "switched.xml");
        assert_int_equal(node->nic_count, 4); /* ib0 and eth0 are ports of the HCAs */
        assert_int_equal(find_nic(node, "mlx5_0")->role, NIC_RAIL);
        assert_int_equal(find_nic(node, "mlx5_0")->numa, 0);
        assert_int_equal(find_nic(node, "mlx5_1")->state, NIC_DOWN);
        assert_int_equal(find_nic(node, "mlx5_1")->role, NIC_OTHER);
        assert_int_equal(find_nic(node, "mlx5_2")->role, NIC_OTHER);
        assert_int_equal(find_nic(node, "mlx5_2")->state, NIC_ACTIVE);
        assert_int_equal(find_nic(node, "eth1")->role, NIC_MANAGEMENT);
        for (unsigned i = 0; i < 4; i++)
            assert_int_equal(node->gpus[i].nic_count, 1);
        bool noted = false;
        for (size_t i = 0; i < node->fact_count; i++)
            noted = noted || strstr(node->facts[i].value, "0000:10:00.0 is no GPU");
        assert_true(noted);
    }
}

static void pairs_beside_processors(void **state)
{
    (void)state;
    for (size_t r = 0; r < COUNT_OF(readers); r++) {
        CLEANUP(node_topology) struct node_topology *node = read_node(readers[r], "pairs.xml");
        assert_int_equal(node->gpu_count, 4);
        assert_int_equal(node->domain_count, 2);
        assert_true(node->nvlink_bytes_per_second[1] == 40e9);
        assert_true(node->nvlink_bytes_per_second[2] == 0);
        assert_int_equal(node->links[1], LINK_NVLINK);
        assert_int_equal(node->links[2], LINK_SYS);
    }
}

static void no_matrix_is_unknown(void **state)
{
    (void)state;
    for (size_t r = 0; r < COUNT_OF(readers); r++) {
        CLEANUP(node_topology)
        struct node_topology *node = read_node(readers[r], "no-backends.xml");
        assert_int_equal(node->gpu_count, 2); /* by PCI class; the console card is none */
        assert_string_equal(node->gpus[0].model, "h100-sxm");
        assert_int_equal(node->nvlink, NVLINK_UNKNOWN);
        assert_int_equal(node->links[1], LINK_PHB);
        assert_int_equal(find_nic(node, "rdmap129s0")->state, NIC_ACTIVE);
        assert_int_equal(find_nic(node, "rdmap129s0")->role, NIC_RAIL);
        assert_int_equal(find_nic(node, "hsi0")->role, NIC_RAIL);
        assert_int_equal(find_nic(node, "mlx5_9")->state, NIC_STATE_UNKNOWN);
    }
}

static void xgmi(void **state)
{
    (void)state;
    for (size_t r = 0; r < COUNT_OF(readers); r++) {
        CLEANUP(node_topology) struct node_topology *node = read_node(readers[r], "xgmi.xml");
        assert_int_equal(node->gpu_count, 4);
        assert_int_equal(node->domain_count, 1);
        assert_int_equal(node->links[1], LINK_XGMI);
        assert_string_equal(node->gpus[1].model, "mi300x");
        assert_string_equal(node->gpus[1].uuid, "1111");
    }
}

static void this_machine(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    static const char *const before[] = {NULL, "1"};
    for (size_t i = 0; i < COUNT_OF(before); i++) {
        if (before[i])
            setenv("HWLOC_HIDE_ERRORS", before[i], 1);
        else
            unsetenv("HWLOC_HIDE_ERRORS");
        CLEANUP(node_evidence) struct node_evidence *evidence = hwloc_read_live(&err);
        expect_made(evidence, &err);
        assert_true(evidence->cpu_count > 0);
        assert_int_equal(evidence->source, EVIDENCE_HWLOC);
        const char *after = getenv("HWLOC_HIDE_ERRORS");
        assert_int_equal(after != NULL, before[i] != NULL);
        if (after)
            assert_string_equal(after, before[i]);
    }
}

static struct node_evidence *read_text(const char *text, struct error_info *err)
{
    return hwloc_read_xml(text, strlen(text), "file.xml", err);
}

static void refuses_what_is_not_hwloc(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"", "file.xml: not an XML file of hwloc (no <topology>)"},
        {"hello", "not an XML file of hwloc"},
        {"<topology", "not an XML file of hwloc"},
        {"<topology version=\"2.0\">", "file.xml: hwloc "},
        {"<topology>", "file.xml: hwloc "},
        {"<topology version=\"4.0\">", "file.xml: version 4 of hwloc's XML is not known"},
        {"<topology version=\"x\">", "version x of hwloc's XML is not known"},
        {"<topology version=\"a-very-long-version-text\">", "file.xml: hwloc "},
        {"<?xml version=\"1.0\"?><topology version=\"2.0\"><object type=\"Machine\"/></topology>",
         "file.xml: hwloc "},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        assert_null(read_text(cases[i].text, &err));
        expect_message(&err, cases[i].message);
        assert_int_equal(err.kind, ERROR_INPUT);
    }
    struct error_info err = {.kind = ERROR_NONE};
    assert_null(hwloc_read_xml("<topology>\0", 11, "file.xml", &err));
    expect_message(&err, "NUL byte");
    assert_null(hwloc_read_xml("x", HWLOC_XML_MAXIMUM_BYTES + 1, "file.xml", &err));
    expect_message(&err, "larger than 32 MiB");
    assert_null(read_text("", NULL));
    assert_null(read_text("<topology version=\"2.0\">", NULL));
}

/* A newer hwloc reads 3.0; an older one is named in the message. */
static void explains_newer_versions(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    assert_null(
        read_text("<?xml version=\"1.0\"?>\n<topology version=\"3.0\">\n</topology>", &err));
    expect_message(&err, "XML of hwloc 3.x, which this hwloc");
    expect_message(&err, "--export-xml-flags v2");
}

/* hwloc 2.9 dies on it; a newer one may read or refuse it. */
static void survives_a_crash_of_hwloc(void **state)
{
    (void)state;
    size_t bytes;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_MEMORY char *text = read_data("crash.xml", &bytes);
    CLEANUP(node_evidence)
    struct node_evidence *evidence = hwloc_read_xml(text, bytes, "crash.xml", &err);
    if (strncmp(hwloc_import_version(), "2.9.", 4) == 0) {
        assert_null(evidence);
        expect_message(&err, "crash.xml: hwloc crashed while reading it (signal 11); export it");
    }
}

static struct node_evidence *die(const char *text, size_t bytes, const char *source,
                                 struct error_info *err)
{
    (void)bytes;
    (void)source;
    (void)err;
    raise(text[0] == 'k' ? SIGKILL : SIGABRT);
    return NULL;
}

static struct node_evidence *leave(const char *text, size_t bytes, const char *source,
                                   struct error_info *err)
{
    (void)bytes;
    (void)source;
    (void)err;
    printf("must not be seen\n");
    fflush(stdout);
    _exit(text[0] == '0' ? 0 : 3);
}

static struct node_evidence *say_why(const char *text, size_t bytes, const char *source,
                                     struct error_info *err)
{
    (void)text;
    (void)bytes;
    return error_null(error_set(err, "%s: because", source));
}

static struct node_evidence *sleep_long(const char *text, size_t bytes, const char *source,
                                        struct error_info *err)
{
    (void)bytes;
    (void)source;
    (void)err;
    signal(SIGALRM, text[0] == 'd' ? SIG_IGN : SIG_DFL);
    sleep(60);
    return NULL;
}

struct child_case {
    reader_fn read;
    const char *text;
    const char *message;
    unsigned seconds;
};

static void expect_answer(const struct child_case *child)
{
    struct error_info err = {.kind = ERROR_NONE};
    const struct reader_job job = {child->read, child->text,   1, "file", "thing",
                                   "do this",   child->seconds};
    assert_null(reader_child_run(&job, &err));
    expect_message(&err, child->message);
}

static void judges_children(void **state)
{
    (void)state;
    static const struct child_case cases[] = {
        {die, "a", "file: thing crashed while reading it (signal 6); do this", 0},
        {die, "k", "file: thing needs more than 20 seconds for it; do this", 0},
        {leave, "0", "the end is missing", 0},
        {leave, "3", "file: thing gave no answer; do this", 0},
        {say_why, "", "file: because", 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        expect_answer(&cases[i]);
}

static void ends_children_that_hang(void **state)
{
    (void)state;
    static const struct child_case cases[] = {
        {sleep_long, "a", "file: thing needs more than 1 seconds for it; do this", 1},
        {sleep_long, "deaf", "file: thing needs more than 1 seconds for it; do this", 1},
    };
    UNIT_TEST_SKIP_TORTURE();
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        expect_answer(&cases[i]);
}

static int import_here(void *context, struct error_info *err)
{
    (void)context;
    size_t bytes;
    CLEANUP_MEMORY char *text =
        text_file_read(FOLDER "pairs.xml", HWLOC_XML_MAXIMUM_BYTES, &bytes, err);
    if (!text)
        return -1;
    CLEANUP(node_evidence) struct node_evidence *evidence = hwloc_import_xml(text, bytes, "x", err);
    return evidence ? 0 : -1;
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(import_here, NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(gpus_behind_switches),
    cmocka_unit_test(nics_and_decoys),
    cmocka_unit_test(pairs_beside_processors),
    cmocka_unit_test(no_matrix_is_unknown),
    cmocka_unit_test(xgmi),
    cmocka_unit_test(this_machine),
    cmocka_unit_test(refuses_what_is_not_hwloc),
    cmocka_unit_test(explains_newer_versions),
    cmocka_unit_test(survives_a_crash_of_hwloc),
    cmocka_unit_test(judges_children),
    cmocka_unit_test(ends_children_that_hang),
    cmocka_unit_test(survives_lack_of_memory),
};

int main(void) { return unit_test_main("topology/hwloc_reader", tests, COUNT_OF(tests)); }
