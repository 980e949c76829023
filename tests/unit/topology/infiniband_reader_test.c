/* SPDX-License-Identifier: MIT */
#include "tests/support/file_tree.h"
#include "tests/support/unit_test.h"
#include "topology/node_readers/sysfs/infiniband_reader.h"

#include <stdio.h>
#include <string.h>

#define CLASS "sys/class/infiniband"
#define BUS "sys/devices/pci0000:15/0000:15:01.0"

struct device {
    const char *name, *bus_id; /* bus_id NULL: of software */
    const char *layer, *state, *rate;
    const char *board; /* or NULL */
};

static char root[FILE_TREE_ROOT_BYTES];

static void write_port(const char *device, unsigned port, const char *layer, const char *state,
                       const char *rate)
{
    file_tree_write(root, layer, CLASS "/%s/ports/%u/link_layer", device, port);
    file_tree_write(root, state, CLASS "/%s/ports/%u/state", device, port);
    file_tree_write(root, rate, CLASS "/%s/ports/%u/rate", device, port);
}

static void write_pci(const char *bus_id, const char *numa)
{
    file_tree_write(root, numa, BUS "/%s/numa_node", bus_id);
    file_tree_write(root, "0x15b3\n", BUS "/%s/vendor", bus_id);
    file_tree_write(root, "16\n", BUS "/%s/max_link_width", bus_id);
    file_tree_write(root, "16\n", BUS "/%s/current_link_width", bus_id);
}

/* As the kernel has it: the class folder holds a link to the device's own folder. */
static void write_device(const struct device *device)
{
    char target[256];
    if (device->bus_id) {
        write_pci(device->bus_id, "1\n");
        snprintf(target, sizeof(target), "../../devices/pci0000:15/0000:15:01.0/%s/infiniband/%s",
                 device->bus_id, device->name);
        file_tree_folder(root, BUS "/%s/infiniband/%s", device->bus_id, device->name);
        file_tree_link(root, "../..", BUS "/%s/infiniband/%s/device", device->bus_id, device->name);
    } else {
        snprintf(target, sizeof(target), "../../devices/virtual/infiniband/%s", device->name);
        file_tree_folder(root, "sys/devices/virtual/infiniband/%s", device->name);
    }
    file_tree_link(root, target, CLASS "/%s", device->name);
    file_tree_write(root, "a088:c203:0012:3456\n", CLASS "/%s/node_guid", device->name);
    if (device->board)
        file_tree_write(root, device->board, CLASS "/%s/board_id", device->name);
    write_port(device->name, 1, device->layer, device->state, device->rate);
}

static struct node_evidence *read_node(void)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct node_evidence *evidence = NULL;
    if (infiniband_read(root, &evidence, &err) < 0)
        fail_msg("%s", err.text);
    assert_non_null(evidence);
    assert_int_equal(evidence->source, EVIDENCE_INFINIBAND);
    assert_int_equal(evidence->gpu_count, 0);
    assert_null(evidence->nic_links);
    return evidence;
}

static void expect_note(const struct node_evidence *evidence, const char *words)
{
    for (size_t i = 0; i < evidence->note_count; i++)
        if (strstr(evidence->notes[i], words))
            return;
    for (size_t i = 0; i < evidence->note_count; i++)
        print_message("note: %s\n", evidence->notes[i]);
    fail_msg("no note says '%s'", words);
}

static void expect_problem(const struct evidence_nic *nic, const char *want)
{
    if (want && !nic->problem)
        fail_msg("%s: no problem instead of '%s'", nic->name, want);
    if (want)
        assert_string_equal(nic->problem, want);
    else if (nic->problem)
        fail_msg("%s: %s", nic->name, nic->problem);
}

static const struct {
    struct device device;
    enum nic_state state;
    double gigabytes;
    bool is_ethernet, is_virtual;
    const char *problem;
} device_rows[] = {
    {{"mlx5_0", "0000:18:00.0", "InfiniBand\n", "4: ACTIVE\n", "400 Gb/sec (4X NDR)\n", NULL},
     NIC_ACTIVE,
     50,
     false,
     false,
     NULL},
    {{"mlx5_1", "0000:19:00.0", "Ethernet\n", "4: ACTIVE\n", "100 Gb/sec (4X EDR)\n", NULL},
     NIC_ACTIVE,
     12.5,
     true,
     false,
     NULL},
    {{"mlx5_2", "0000:1a:00.0", "InfiniBand\n", "1: DOWN\n", "10 Gb/sec (4X SDR)\n", NULL},
     NIC_DOWN,
     0,
     false,
     false,
     "port is down"},
    {{"mlx5_3", "0000:1b:00.0", "InfiniBand\n", "2: INIT\n", "400 Gb/sec (4X NDR)\n", NULL},
     NIC_DOWN,
     0,
     false,
     false,
     "port waits for a subnet manager"},
    {{"mlx5_4", "0000:1c:00.0", "InfiniBand\n", "5: ACTIVE_DEFER\n", "200 Gb/sec (4X HDR)\n", NULL},
     NIC_ACTIVE,
     25,
     false,
     false,
     NULL},
    {{"mlx5_10", "0000:1d:00.0", "InfiniBand\n", "9: ODD\n", "200 Gb/sec (4X HDR)\n", NULL},
     NIC_STATE_UNKNOWN,
     0,
     false,
     false,
     NULL},
    {{"rdmap16s27", "0000:10:1b.0", "Unspecified\n", "4: ACTIVE\n", "200 Gb/sec (4X HDR)\n", NULL},
     NIC_ACTIVE,
     25,
     false,
     false,
     NULL},
    {{"rxe0", NULL, "Ethernet\n", "4: ACTIVE\n", "2.5 Gb/sec (1X SDR)\n", NULL},
     NIC_ACTIVE,
     0.25,
     true,
     true,
     NULL},
};

static void reads_devices(void **state)
{
    (void)state;
    file_tree_create(root);
    for (size_t i = COUNT_OF(device_rows); i-- > 0;)
        write_device(&device_rows[i].device);
    CLEANUP(node_evidence) struct node_evidence *evidence = read_node();
    assert_int_equal(evidence->nic_count, COUNT_OF(device_rows));
    for (size_t i = 0; i < COUNT_OF(device_rows); i++) {
        const struct evidence_nic *nic = &evidence->nics[i];
        assert_string_equal(nic->name, device_rows[i].device.name);
        assert_int_equal(nic->bus_id == NULL, device_rows[i].device.bus_id == NULL);
        if (nic->bus_id)
            assert_string_equal(nic->bus_id, device_rows[i].device.bus_id);
        assert_int_equal(nic->numa, nic->bus_id ? 1 : NUMA_UNKNOWN);
        assert_string_equal(nic->driver_class, "openfabrics");
        assert_int_equal(nic->state, device_rows[i].state);
        assert_true(nic->bytes_per_second == device_rows[i].gigabytes * 1e9);
        assert_int_equal(nic->is_ethernet, device_rows[i].is_ethernet);
        assert_int_equal(nic->is_virtual, device_rows[i].is_virtual);
        assert_true(nic->guid == UINT64_C(0xa088c20300123456));
        expect_problem(nic, device_rows[i].problem);
    }
    expect_note(evidence, "mlx5_10: port 1: state '9: ODD' is not known");
}

static const struct device plain = {"mlx5_0",      "0000:18:00.0",          "InfiniBand\n",
                                    "4: ACTIVE\n", "400 Gb/sec (4X NDR)\n", NULL};

static void takes_the_best_port(void **state)
{
    (void)state;
    file_tree_create(root);
    struct device device = plain;
    device.state = "1: DOWN\n";
    write_device(&device);
    write_port("mlx5_0", 2, "Ethernet\n", "4: ACTIVE\n", "100 Gb/sec (4X EDR)\n");
    write_port("mlx5_0", 3, "InfiniBand\n", "4: ACTIVE\n", "200 Gb/sec (4X HDR)\n");
    write_port("mlx5_0", 17, "InfiniBand\n", "4: ACTIVE\n", "800 Gb/sec (4X XDR)\n");
    CLEANUP(node_evidence) struct node_evidence *evidence = read_node();
    assert_true(evidence->nics[0].bytes_per_second == 25e9);
    assert_int_equal(evidence->nics[0].state, NIC_ACTIVE);
    assert_false(evidence->nics[0].is_ethernet);
    expect_problem(&evidence->nics[0], NULL);
    expect_note(evidence, "mlx5_0: port 1 is not used: InfiniBand, 1: DOWN");
    expect_note(evidence, "mlx5_0: port 2 is not used: Ethernet, 4: ACTIVE");
}

static void tells_nvswitches_and_functions(void **state)
{
    (void)state;
    static const char vpd[] = "\x82\x0c\0Example HCA\x90\x10\0V3\x06SW_MNG\0\x78";
    struct device device = plain;
    file_tree_create(root);
    write_device(&device);
    device.name = "mlx5_8";
    device.bus_id = "0000:28:00.0";
    write_device(&device);
    device.name = "mlx5_9";
    device.bus_id = "0000:28:00.2";
    write_device(&device);
    file_tree_write_bytes(root, vpd, 20, BUS "/0000:18:00.0/vpd");
    file_tree_write_bytes(root, vpd, sizeof(vpd), BUS "/0000:28:00.0/vpd");
    file_tree_link(root, "../0000:28:00.0", BUS "/0000:28:00.2/physfn");
    file_tree_fifo(root, BUS "/0000:28:00.2/vpd");
    CLEANUP(node_evidence) struct node_evidence *evidence = read_node();
    assert_string_equal(evidence->nics[0].driver_class, "openfabrics");
    assert_string_equal(evidence->nics[1].driver_class, "nvswitch");
    assert_false(evidence->nics[1].is_virtual);
    assert_true(evidence->nics[2].is_virtual);
    expect_note(evidence, "vpd: not a regular file; management functions of NVSwitches");
}

static void leaves_out_virtual_functions_first(void **state)
{
    (void)state;
    struct device device = plain;
    char name[32], bus_id[32];
    UNIT_TEST_SKIP_TORTURE();
    file_tree_create(root);
    for (unsigned i = 0; i < NODE_MAXIMUM_NICS + 10; i++) {
        snprintf(name, sizeof(name), "mlx5_%u", i);
        snprintf(bus_id, sizeof(bus_id), "0000:%02x:00.0", i);
        device.name = name;
        device.bus_id = bus_id;
        write_device(&device);
        if (i < NODE_MAXIMUM_NICS)
            file_tree_link(root, "../0000:00:00.0", BUS "/%s/physfn", bus_id);
    }
    struct node_evidence *evidence = read_node();
    assert_int_equal(evidence->nic_count, NODE_MAXIMUM_NICS);
    assert_string_equal(evidence->nics[0].name, "mlx5_128");
    expect_note(evidence, "10 devices are left out: a node has at most 128 NICs");
    node_evidence_free(evidence);
    for (unsigned i = 0; i < NODE_MAXIMUM_NICS; i++) {
        char path[128];
        snprintf(path, sizeof(path), BUS "/0000:%02x:00.0/physfn", i);
        file_tree_remove(root, path);
    }
    struct error_info err = {.kind = ERROR_NONE};
    assert_int_equal(infiniband_read(root, &evidence, &err), -1);
    assert_non_null(strstr(err.text, "more than 128 NICs in one node"));
}

static void tells_a_slow_port_among_equals(void **state)
{
    (void)state;
    static const struct {
        const char *board, *layer, *rate;
        const char *problem;
    } rows[] = {
        {"NVD01\n", "InfiniBand\n", "400 Gb/sec (4X NDR)\n", NULL},
        {"NVD01\n", "InfiniBand\n", "400 Gb/sec (4X NDR)\n", NULL},
        {"NVD01\n", "InfiniBand\n", "100 Gb/sec (1X NDR)\n", "rate 100 of 400 Gb/s"},
        {"NVD01\n", "Ethernet\n", "100 Gb/sec (4X EDR)\n", NULL},   /* another network */
        {"MT_02\n", "InfiniBand\n", "200 Gb/sec (4X HDR)\n", NULL}, /* another board */
        {"MT_03\n", "InfiniBand\n", "200 Gb/sec (4X HDR)\n", NULL}, /* half of them */
        {"MT_03\n", "InfiniBand\n", "400 Gb/sec (4X NDR)\n", NULL},
        {NULL, "InfiniBand\n", "10 Gb/sec (1X FDR10)\n", NULL},
        {NULL, "InfiniBand\n", "40 Gb/sec (4X FDR10)\n", NULL},
        {NULL, "InfiniBand\n", "40 Gb/sec (4X FDR10)\n", NULL},
    };
    file_tree_create(root);
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        char name[32], bus_id[32];
        snprintf(name, sizeof(name), "mlx5_%u", i);
        snprintf(bus_id, sizeof(bus_id), "0000:%02x:00.0", i);
        struct device device = {name,          bus_id,       rows[i].layer,
                                "4: ACTIVE\n", rows[i].rate, rows[i].board};
        write_device(&device);
    }
    file_tree_write(root, "8\n", BUS "/0000:02:00.0/current_link_width");
    CLEANUP(node_evidence) struct node_evidence *evidence = read_node();
    for (unsigned i = 0; i < COUNT_OF(rows); i++)
        if (i != 2)
            expect_problem(&evidence->nics[i], rows[i].problem);
    expect_problem(&evidence->nics[2], "rate 100 of 400 Gb/s; PCIe x8 of x16");
}

static void write_interface(const char *name, const char *bus_id, const char *operstate,
                            const char *speed)
{
    file_tree_write(root, operstate, "sys/class/net/%s/operstate", name);
    file_tree_write(root, speed, "sys/class/net/%s/speed", name);
    if (!bus_id)
        return;
    char target[128];
    write_pci(bus_id, "3\n");
    snprintf(target, sizeof(target), "../../../devices/pci0000:15/0000:15:01.0/%s", bus_id);
    file_tree_link(root, target, "sys/class/net/%s/device", name);
}

static void reads_slingshot(void **state)
{
    (void)state;
    file_tree_create(root);
    write_device(&plain);
    write_interface("hsi0", "0000:d5:00.0", "up\n", "200000\n");
    write_interface("hsi1", "0000:dd:00.0", "down\n", "-1\n");
    write_interface("hsn2", "0000:18:00.0", "up\n", "100000\n"); /* of mlx5_0 */
    write_interface("hsn3", NULL, "up\n", "100000\n");           /* of nobody */
    write_interface("hsn10", "0000:de:00.0", "dormant\n", "x\n");
    write_interface("hsn0.7", "0000:d5:00.0", "up\n", "200000\n");
    write_interface("eth0", "0000:01:00.0", "up\n", "1000\n");
    CLEANUP(node_evidence) struct node_evidence *evidence = read_node();
    assert_int_equal(evidence->nic_count, 4);
    assert_string_equal(evidence->nics[1].name, "hsi0");
    assert_string_equal(evidence->nics[1].bus_id, "0000:d5:00.0");
    assert_string_equal(evidence->nics[1].driver_class, "hsi");
    assert_int_equal(evidence->nics[1].state, NIC_ACTIVE);
    assert_int_equal(evidence->nics[1].numa, 3);
    assert_true(evidence->nics[1].bytes_per_second == 25e9);
    assert_int_equal(evidence->nics[2].state, NIC_DOWN);
    expect_problem(&evidence->nics[2], "port is down");
    assert_string_equal(evidence->nics[3].name, "hsn10");
    assert_int_equal(evidence->nics[3].state, NIC_STATE_UNKNOWN);
}

/* A copy that followed the links (cp -L) has no path to the device, only what is in it. */
static void reads_copies_without_links(void **state)
{
    (void)state;
    static const char *const uevents[] = {"DRIVER=mlx5_core\nPCI_SLOT_NAME=0000:18:00.0\n",
                                          "PCI_SLOT_NAME=garbage\n", "PCI_SLOT_NAME=\n", ""};
    for (size_t i = 0; i < COUNT_OF(uevents); i++) {
        file_tree_create(root);
        write_port("mlx5_0", 1, "InfiniBand\n", "4: ACTIVE\n", "400 Gb/sec (4X NDR)\n");
        file_tree_write(root, uevents[i], CLASS "/mlx5_0/device/uevent");
        CLEANUP(node_evidence) struct node_evidence *evidence = read_node();
        assert_false(evidence->nics[0].is_virtual);
        assert_int_equal(evidence->nics[0].bus_id == NULL, i > 0);
        if (i == 0)
            assert_string_equal(evidence->nics[0].bus_id, "0000:18:00.0");
    }
}

static void survives_broken_trees(void **state)
{
    (void)state;
    static char huge[100000];
    char longest[201];
    memset(huge, '4', sizeof(huge));
    memset(longest, 'n', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    file_tree_create(root);
    write_device(&plain);
    file_tree_write(root, "fast\n", CLASS "/mlx5_0/ports/1/rate");
    file_tree_write(root, "none\n", CLASS "/mlx5_0/node_guid");
    file_tree_fifo(root, CLASS "/mlx5_1/ports/1/state");
    file_tree_write_bytes(root, huge, sizeof(huge), CLASS "/mlx5_1/ports/1/rate");
    file_tree_link(root, "mlx5_3", CLASS "/mlx5_2");
    file_tree_link(root, "mlx5_2", CLASS "/mlx5_3");
    file_tree_write(root, "", CLASS "/mlx5_4");
    file_tree_folder(root, CLASS "/bad\x1b[31mname");
    file_tree_folder(root, CLASS "/%s", longest);
    CLEANUP(node_evidence) struct node_evidence *evidence = read_node();
    assert_int_equal(evidence->nic_count, 6);
    assert_string_equal(evidence->nics[0].name, "mlx5_0");
    assert_int_equal(evidence->nics[0].state, NIC_ACTIVE);
    assert_true(evidence->nics[0].guid == 0 && evidence->nics[0].bytes_per_second == 0);
    expect_note(evidence, "mlx5_0: port 1: rate 'fast' is no rate");
    expect_note(evidence, "mlx5_0: node_guid 'none' is no GUID");
    expect_note(evidence, "mlx5_1: port 1: state '' is not known");
    expect_note(evidence, "mlx5_4: no port");
    expect_note(evidence, "no name of a device; left out");
    for (unsigned i = 0; i < evidence->nic_count; i++)
        assert_null(strchr(evidence->nics[i].name, '\x1b'));
}

static void says_when_there_is_nothing(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    struct node_evidence untouched, *evidence = &untouched;
    file_tree_create(root);
    assert_int_equal(infiniband_read(root, &evidence, &err), 0);
    assert_null(evidence);
    file_tree_folder(root, "class/infiniband");
    write_interface("eth0", NULL, "up\n", "1000\n");
    evidence = &untouched;
    assert_int_equal(infiniband_read(root, &evidence, &err), 0);
    assert_null(evidence);
    evidence = &untouched;
    assert_int_equal(infiniband_read("/nowhere", &evidence, &err), -1);
    assert_string_equal(err.text, "/nowhere: No such file or directory");
    assert_ptr_equal(evidence, &untouched);
}

static void reads_large_folders(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    file_tree_create(root);
    write_device(&plain);
    for (unsigned i = 0; i < 1000; i++)
        file_tree_folder(root, "sys/class/net/veth%u", i);
    for (unsigned i = 0; i < 10000; i++)
        file_tree_folder(root, CLASS "/soft%u", i);
    CLEANUP(node_evidence) struct node_evidence *evidence = read_node();
    assert_int_equal(evidence->nic_count, NODE_MAXIMUM_NICS);
    assert_string_equal(evidence->nics[0].name, "mlx5_0");
    expect_note(evidence, "9873 devices are left out");
}

static int read_scenario(void *context, struct error_info *err)
{
    struct node_evidence *evidence = NULL;
    int result = infiniband_read(context, &evidence, err);
    node_evidence_free(evidence);
    return result;
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    file_tree_create(root);
    write_device(&plain);
    write_interface("hsi0", "0000:d5:00.0", "up\n", "200000\n");
    unit_test_expect_clean_failures(read_scenario, root);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reads_devices),
    cmocka_unit_test(takes_the_best_port),
    cmocka_unit_test(tells_nvswitches_and_functions),
    cmocka_unit_test(leaves_out_virtual_functions_first),
    cmocka_unit_test(tells_a_slow_port_among_equals),
    cmocka_unit_test(reads_slingshot),
    cmocka_unit_test(reads_copies_without_links),
    cmocka_unit_test(survives_broken_trees),
    cmocka_unit_test(says_when_there_is_nothing),
    cmocka_unit_test(reads_large_folders),
    cmocka_unit_test(survives_lack_of_memory),
};

int main(void)
{
    if (!file_tree_begin())
        return 1;
    int result = unit_test_main("topology/infiniband_reader", tests, COUNT_OF(tests));
    file_tree_end();
    return result;
}
