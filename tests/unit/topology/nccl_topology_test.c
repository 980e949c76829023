/* SPDX-License-Identifier: MIT */
#include "tests/unit/topology/evidence_fixture.h"

#include "topology/node_readers/nccl_topology.h"
#include "topology/node_readers/text/nccl_values.h"
#include "topology/node_readers/text/nccl_xml.h"

static struct node_evidence *parse(const char *text, struct error_info *err)
{
    return nccl_topology_parse(text, strlen(text), "t.xml", err);
}

static struct node_evidence *read_text(const char *text)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct node_evidence *evidence = parse(text, &err);
    expect_made(evidence, &err);
    return evidence;
}

#define GPU(bus, inside)                                                                           \
    "<pci busid='" bus "' class='0x030200' vendor='0x10de' device='0x2330' link_speed='32.0 GT/s " \
    "PCIe' link_width='16'><gpu dev='0' sm='90' rank='0' gdr='1'>" inside "</gpu></pci>\n"
#define LINK(target, count, class)                                                                 \
    "<nvlink target='" target "' count='" count "' tclass='" class "'/>"
#define XGMI(target, count) "<xgmi target='" target "' count='" count "' tclass='0x038000'/>"
#define NET(name, rest) "<nic><net name='" name "' " rest "/></nic>"
#define CPU(id, inside) "<cpu numaid='" id "' affinity='0000000f,ff000000'>\n" inside "</cpu>\n"
#define SYSTEM(inside) "<system version='1'>\n" inside "</system>\n"

#define BRIDGE(inside) "<pci busid='0000:08:00.0' class='0x060400'>\n" inside "</pci>\n"
#define IN_PCI(bus, class, inside) "<pci busid='" bus "' class='" class "'>" inside "</pci>"

static const char whole[] = "<!-- a node -->\n" SYSTEM(
    CPU("0",
        BRIDGE(GPU("00000000:0F:00.0", LINK("0000:2d:00.0", "4", "0x030200"))
                   IN_PCI("0000:0c:00.0", "0x020700",
                          NET("mlx5_0", "speed='400000' guid='0x9a70500003ae6d94' keep='1'")))
            IN_PCI("0000:30:00.0", "0x020000", NET("mlx5_1", "speed='100000' guid='0x2' gdr='1'")))
        CPU("1", GPU("0000:2d:00.0", LINK("0000:0f:00.0", "4", "0x030200"))));

static void reads_a_node(void **state)
{
    (void)state;
    CLEANUP(node_evidence) struct node_evidence *evidence = read_text(whole);
    assert_int_equal(evidence->source, EVIDENCE_NCCL_XML);
    assert_string_equal(evidence->source_text, "nccl xml t.xml");
    assert_int_equal(evidence->gpu_count, 2);
    assert_string_equal(evidence->gpus[0].bus_id, "0000:0f:00.0");
    assert_string_equal(evidence->gpus[0].model_text, "10de:2330");
    assert_string_equal(evidence->gpus[0].cpus, "24-35");
    assert_int_equal(evidence->gpus[0].numa, 0);
    assert_int_equal(evidence->gpus[1].numa, 1);
    assert_int_equal(evidence->nvlink, NVLINK_KNOWN);
    assert_false(evidence->nvlink_switched);
    expect_link_counts(evidence, "0 4,4 0");
    assert_true(evidence->nvlink_link_bytes_per_second == 25e9);
    assert_true(evidence->pcie_bytes_per_second == 63e9);
    expect_gpu_links(evidence, "unknown sys,sys unknown");
    expect_nic_links(evidence, "pix node,sys sys");
    assert_string_equal(evidence->nics[0].name, "mlx5_0");
    assert_string_equal(evidence->nics[0].bus_id, "0000:0c:00.0");
    assert_true(evidence->nics[0].bytes_per_second == 50e9);
    assert_int_equal(evidence->nics[0].guid, 0);
    assert_null(evidence->nics[0].driver_class);
    assert_false(evidence->nics[0].is_ethernet);
    assert_true(evidence->nics[1].is_ethernet);
    assert_false(evidence->nics[1].shares_card);
    expect_no_notes(evidence);
}

static void counts_links(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *counts, *note;
        bool switched;
    } cases[] = {
        {SYSTEM(GPU("0000:01:00.0",
                    LINK("0000:f1:00.0", "5", "0x068000") LINK("0000:f2:00.0", "4", "0x068000"))
                    GPU("0000:02:00.0", LINK("ffffffff:ffff:ff", "7", "0x030200")
                                            LINK("0000:03:00.0", "2", "0x030200"))
                        GPU("0000:03:00.0", LINK("", "1", "0x0") LINK("0000:02:00.0", "1", "")
                                                LINK("0000:02:00.0", "1", ""))),
         "0 7 1,7 0 3,1 3 0", NULL, true},
        /* a POWER CPU is no switch, a GPU that the file hides is none either */
        {SYSTEM(GPU("0000:01:00.0",
                    LINK("0000:02:00.0", "2", "0x030200") LINK("0004:04:00.0", "2", "0x068001")
                        LINK("0000:09:00.0", "2", "0x030200"))
                    GPU("0000:02:00.0",
                        LINK("0000:01:00.0", "2", "0x030200") LINK("0004:04:00.0", "2", "0x068001")
                            LINK("0000:09:00.0", "2", "0x030200"))),
         "0 2,2 0", "t.xml:2: a link to '0000:09:00.0' leads to no GPU of this file", false},
        /* the lower of two counts */
        {SYSTEM(GPU("0000:01:00.0", LINK("0000:02:00.0", "4", ""))
                    GPU("0000:02:00.0", LINK("0000:01:00.0", "2", ""))),
         "0 2,2 0", "the GPUs at the lines 3 and 2 count 2 and 4 links to each other", false},
        /* links to itself, no count, no <gpu>: such pairs are unknown */
        {SYSTEM(GPU("0000:01:00.0", LINK("0000:02:00.0", "4", ""))
                    GPU("0000:02:00.0", LINK("0000:01:00.0", "4", ""))
                        GPU("0000:03:00.0", LINK("0000:03:00.0", "12", "0x030200"))),
         "0 4 ?,4 0 ?,? ? 0", "t.xml:4: a link to '0000:03:00.0' leads to the GPU itself", false},
        {SYSTEM(GPU("0000:01:00.0", LINK("0000:02:00.0", "4", ""))
                    GPU("0000:02:00.0", LINK("0000:01:00.0", "4", ""))
                        GPU("0000:03:00.0", LINK("0000:01:00.0", "0", ""))),
         "0 4 ?,4 0 ?,? ? 0", "t.xml:4: a link to '0000:01:00.0' has no count=", false},
        {SYSTEM(GPU("0000:01:00.0", LINK("0000:02:00.0", "4", ""))
                    GPU("0000:02:00.0", LINK("0000:01:00.0", "4", ""))
                        GPU("0000:04:00.0", "") "<pci busid='0000:03:00.0' class='0x030200'/>"),
         "0 4 0 ?,4 0 0 ?,0 0 0 ?,? ? ? 0", NULL, false},
        /* nothing in the file says nothing */
        {SYSTEM(GPU("0000:01:00.0", "") GPU("0000:02:00.0", "")), "-",
         "has no NVLink or XGMI between two GPUs, which says nothing", false},
        {SYSTEM(GPU("0000:01:00.0", LINK("0000:01:00.0", "12", ""))
                    GPU("0000:02:00.0", LINK("0000:02:00.0", "12", ""))),
         "-", "which says nothing", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP(node_evidence) struct node_evidence *evidence = read_text(cases[i].text);
        expect_link_counts(evidence, cases[i].counts);
        assert_int_equal(evidence->nvlink,
                         cases[i].counts[0] == '-' ? NVLINK_UNKNOWN : NVLINK_KNOWN);
        assert_int_equal(evidence->nvlink_switched, cases[i].switched);
        assert_false(evidence->nvlink_leaves_node);
        if (cases[i].note)
            expect_note(evidence, cases[i].note);
    }
}

#define AMD(bus, gcn, inside)                                                                      \
    "<pci busid='" bus "' class='0x038000'><gpu sm='104' gcn='" gcn "'>" inside "</gpu></pci>"

static void rates_links_by_their_generation(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second;
        double rate;
    } cases[] = {
        {"910", "910", 50e9},    {"gfx942", "gfx942", 64e9}, {"906", "906", 0},
        {"942", "gfx942", 64e9}, {"910", "942", 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP_DONE(text_buffer) struct text_buffer text;
        text_buffer_init(&text, 4096);
        text_buffer_add(&text,
                        SYSTEM(AMD("0000:01:00.0", "%s", XGMI("0000:02:00.0", "1"))
                                   AMD("0000:02:00.0", "%s", XGMI("0000:01:00.0", "1"))),
                        cases[i].first, cases[i].second);
        CLEANUP(node_evidence)
        struct node_evidence *evidence = read_text(text_buffer_text(&text));
        expect_link_counts(evidence, "0 1,1 0");
        assert_true(evidence->nvlink_link_bytes_per_second == cases[i].rate);
        assert_null(evidence->gpus[0].model_text);
        assert_true(evidence->pcie_bytes_per_second == 0);
    }
    CLEANUP(node_evidence)
    struct node_evidence *bare = read_text(SYSTEM("<pci busid='0000:01:00.0'><gpu>" LINK(
        "0000:02:00.0", "1",
        "") "</gpu></pci>"
            "<pci busid='0000:02:00.0'><gpu sm='x'>" XGMI("0000:01:00.0", "1") "</gpu></pci>"));
    assert_true(bare->nvlink_link_bytes_per_second == 0);
    expect_link_counts(bare, "0 1,1 0");
}

/* What clouds write by hand: no <gpu>, no <net>, bridges that do not exist. */
static void devices_go_by_their_class(void **state)
{
    (void)state;
    CLEANUP(node_evidence)
    struct node_evidence *evidence = read_text(SYSTEM(
        CPU("2", "<pci busid='ffff:ff:01.0' class='0x060400' vendor='0xffff' device='0xffff'>"
                 "<pci busid='0103:00:00.0' class='0x020700' link_speed='' link_width='0'/>"
                 "<pci busid='0001:00:00.0' class='0x030200' vendor='0x10de'/>"
                 "<pci busid='0001:00:00.1' class='0x120000' vendor='0x1002'/>"
                 "<pci busid='0001:00:00.2' class='0x038000'/>"
                 "<pci busid='0002:00:00.0' class='0x030000' vendor='0x1a03'/>"
                 "<pci busid='0002:00:00.1' class='0x030200' vendor='0x1a03'/>"
                 "<pci busid='0003:00:00.0'/><pci busid='0004:00:00.0'><pci busid='0005:00:00.0'/>"
                 "</pci></pci>")));
    assert_int_equal(evidence->gpu_count, 3);
    assert_int_equal(evidence->nic_count, 1);
    assert_null(evidence->nics[0].name);
    assert_string_equal(evidence->nics[0].bus_id, "0103:00:00.0");
    assert_int_equal(evidence->nics[0].numa, 2);
    expect_nic_links(evidence, "pix,pix,pix");
    expect_note(evidence, "t.xml: 2 PCI devices without class=");
}

static void classes_follow_the_tree(void **state)
{
    (void)state;
    CLEANUP(node_evidence)
    struct node_evidence *evidence = read_text(
        SYSTEM(CPU("0", IN_PCI("0000:01:00.0", "0x060400",
                               IN_PCI("0000:02:00.0", "0x060400", GPU("0000:03:00.0", ""))
                                   IN_PCI("0000:04:00.0", "0x020700", NET("near", "speed='200000'"))
                                       IN_PCI("0000:05:00.0", "0x060400",
                                              IN_PCI("0000:06:00.0", "0x020700", NET("mid", "")))))
                   CPU("1", IN_PCI("0000:07:00.0", "0x020700", NET("far", ""))
                                NET("eth0", "speed='100000' guid='0x0' gdr='0'"))
                       IN_PCI("0000:08:00.0", "0x020700", NET("nowhere", "")) NET("lost", "")));
    expect_nic_links(evidence, "pxb pxb sys unknown unknown unknown");
    assert_string_equal(evidence->nics[3].name, "eth0");
    assert_string_equal(evidence->nics[3].driver_class, "ethernet");
    assert_true(evidence->nics[3].is_ethernet);
    assert_null(evidence->nics[3].bus_id);
    assert_int_equal(evidence->nics[3].numa, NUMA_UNKNOWN);
    assert_int_equal(evidence->nics[2].numa, 1);
    assert_int_equal(evidence->nics[4].numa, NUMA_UNKNOWN);
}

static void ports_share_a_card(void **state)
{
    (void)state;
    CLEANUP(node_evidence)
    struct node_evidence *evidence =
        read_text(SYSTEM(IN_PCI("0000:01:00.0", "0x020000",
                                "<nic><net name='a' speed='180000' port='1' guid='0x7'/>"
                                "<net name='b' speed='180000' port='2' guid='0x7'/></nic>")
                             IN_PCI("0000:02:00.0", "0x020000", NET("c", "guid='0x8'"))
                                 IN_PCI("0000:02:00.1", "0x020000", NET("d", "guid='0x8'"))
                                     IN_PCI("0000:03:00.0", "0x020000", NET("e", "guid='0x0'"))
                                         IN_PCI("0000:04:00.0", "0x020000", NET("f", "guid='0x0'"))
                                             NET("a+b", "speed='360000'")));
    assert_int_equal(evidence->nic_count, 6);
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(evidence->nics[i].shares_card, i < 4);
    assert_true(evidence->nics[0].bytes_per_second == 22.5e9);
    assert_string_equal(evidence->nics[1].bus_id, "0000:01:00.0");
    expect_note(evidence, "t.xml:2: a+b is several NICs that NCCL joined");
}

static void odd_speeds_are_unknown(void **state)
{
    (void)state;
    static const struct {
        const char *speed, *note;
        double rate;
    } cases[] = {
        {"speed='1000'", NULL, 125e6},
        {"speed='1600000'", NULL, 200e9},
        {"speed='10000'", "n: 10000 is also what NCCL writes where it does not know", 0},
        {"speed='200000000'", "n: 200000000 cannot be a speed in Mb/s", 0},
        {"speed='0'", "cannot be a speed", 0},
        {"speed='-1'", "cannot be a speed", 0},
        {"speed=''", "cannot be a speed", 0},
        {"", NULL, 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP_DONE(text_buffer) struct text_buffer text;
        text_buffer_init(&text, 4096);
        text_buffer_add(&text, SYSTEM(NET("n", "%s")), cases[i].speed);
        CLEANUP(node_evidence)
        struct node_evidence *evidence = read_text(text_buffer_text(&text));
        assert_true(evidence->nics[0].bytes_per_second == cases[i].rate);
        if (cases[i].note)
            expect_note(evidence, cases[i].note);
        else
            expect_no_notes(evidence);
    }
}

static void reads_the_first_host(void **state)
{
    (void)state;
    CLEANUP(node_evidence)
    struct node_evidence *evidence = read_text(SYSTEM(
        "<cpu host_hash='0xa' numaid='0'>" GPU("0008:01:00.0",
                                               LINK("fffffff:ffff:ff", "18", "0x068000"))
            GPU("0009:01:00.0", LINK("fffffff:ffff:ff", "18",
                                     "0x068000")) "</cpu>"
                                                  "<cpu host_hash='0xb' numaid='0'>" GPU(
                                                      "0008:01:00.0", LINK("fffffff:ffff:ff", "18",
                                                                           "0x068000")) "</cpu>"));
    assert_int_equal(evidence->gpu_count, 2);
    expect_link_counts(evidence, "0 18,18 0");
    assert_true(evidence->nvlink_leaves_node);
    expect_note(evidence, "t.xml: describes several hosts");
}

static void odd_values_are_unknown(void **state)
{
    (void)state;
    CLEANUP(node_evidence)
    struct node_evidence *evidence =
        read_text(SYSTEM("<cpu numaid='-1' affinity='xyz'><pci busid='here' class='0x030200'>"
                         "<gpu/><gpu/></pci></cpu>\n"
                         "<cpu numaid='70000' affinity='00000000'><pci class='0x030200'/></cpu>"
                         "<cpu><pci busid='0000:01:00.0' class='0x030200' vendor='0xffff'/></cpu>"
                         "<gpu/><nvlink/><other><gpu><nvlink/></gpu></other>"));
    assert_int_equal(evidence->gpu_count, 2);
    assert_null(evidence->gpus[0].bus_id);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(evidence->gpus[i].numa, NUMA_UNKNOWN);
        assert_null(evidence->gpus[i].cpus);
    }
    expect_note(evidence, "t.xml:2: the device has no bus id");
    expect_note(evidence, "t.xml:2: a second <gpu>");
}

static void values(void **state)
{
    (void)state;
    static const struct {
        const char *text, *bus_id;
    } bus_ids[] = {
        {"0000:0f:00.0", "0000:0f:00.0"},
        {"00000000:0F:1F.7", "0000:0f:1f.7"},
        {"10000:01:00.0", "10000:01:00.0"},
        {"1:2:3.4", "0001:02:03.4"},
        {"fffffff:ffff:ff", NULL},
        {"", NULL},
        {NULL, NULL},
        {"0000:0f:00", NULL},
        {"0000:0f:20.0", NULL},
        {"0000:0f:00.8", NULL},
        {"0000:100:00.0", NULL},
        {"000000000:0f:00.0", NULL},
        {"0000:0f:00.0 ", NULL},
        {"0000:0f:00.0.1", NULL},
        {"-1:0f:00.0", NULL},
        {"0f:00.0", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(bus_ids); i++) {
        char bus_id[BUS_ID_BYTES];
        bool known = nccl_read_bus_id(bus_ids[i].text, bus_id);
        assert_int_equal(known, bus_ids[i].bus_id != NULL);
        if (known)
            assert_string_equal(bus_id, bus_ids[i].bus_id);
    }
    static const struct {
        const char *mask, *cpus;
    } masks[] = {
        {"1", "0"},
        {"0003ff,f0003fff", "0-13,28-41"},
        {"00000000,00000000", ""},
        {"", ""},
        {",", ""},
        {"1,", ""},
        {"100000000", ""},
        {"80000000,00000000", "63"},
        {NULL, ""},
    };
    for (size_t i = 0; i < COUNT_OF(masks); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_DONE(text_buffer) struct text_buffer text;
        text_buffer_init(&text, 1024);
        assert_int_equal(nccl_read_affinity(masks[i].mask, &text, &err), 0);
        assert_string_equal(text_buffer_text(&text), masks[i].cpus);
    }
    assert_true(nccl_read_pcie("8 GT/s", "16") == 15.75e9);
    assert_true(nccl_read_pcie("2.5 GT/s PCIe", "1") == 0.25e9);
    assert_true(nccl_read_pcie("7 GT/s", "16") == 0);
    assert_true(nccl_read_pcie("", "0") == 0);
    assert_true(nccl_read_pcie("x", "16") == 0);
    assert_true(nccl_read_pcie("32.0", NULL) == 0);
    assert_true(nccl_read_pcie(NULL, "16") == 0);
    assert_int_equal(nccl_read_hexadecimal("030200"), 0);
    assert_int_equal(nccl_read_hexadecimal("0xzz"), 0);
}

static void refuses_with_place(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"", "t.xml:1: no XML: no element found"},
        {"GPU0\tX", "t.xml:1: no XML: "},
        {"<system>\n<cpu>\n</system>", "t.xml:3: no XML: mismatched tag"},
        {"<system>", "no XML: no element found"},
        {"<system/><system/>", "no XML: junk after document element"},
        {"<graphs version='1'/>", "t.xml:1: the root is <graphs>; <system> is expected"},
        {"<!DOCTYPE system [<!ENTITY a 'b'>]><system/>", "t.xml:1: has a DOCTYPE"},
        {"<system>&lol;</system>", "no XML: undefined entity"},
        {SYSTEM(GPU("0000:01:00.0", "") GPU("0000:01:00.0", "")),
         "t.xml:3: the GPU 0000:01:00.0 stands at line 2 already"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(node_evidence) struct node_evidence *evidence = parse(cases[i].text, &err);
        if (evidence)
            fail_msg("accepted: %s", cases[i].text);
        expect_message(&err, cases[i].message);
        assert_int_equal(err.kind, ERROR_INPUT);
    }
}

static void limits(void **state)
{
    (void)state;
    static const struct {
        const char *before, *repeated, *after;
        unsigned count;
        const char *message;
    } cases[] = {
        {"<system>", "<a>", "", 64, "t.xml:1: more than 64 elements in each other"},
        {"<system>", "<pci/>", "</system>", NCCL_XML_MAXIMUM_ELEMENTS, "more than 16384 elements"},
        {"<system><pci busid='", "x", "'/></system>", NCCL_XML_MAXIMUM_VALUE + 1,
         "t.xml:1: busid= is longer than 4096 bytes"},
        {"<system>", "<pci><gpu/></pci>", "</system>", 65, "t.xml: more than 64 GPUs"},
        {"<system>", "<net/>", "</system>", 129, "t.xml: more than 128 NICs"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP_DONE(text_buffer) struct text_buffer text;
        text_buffer_init(&text, 1 << 20);
        text_buffer_add_text(&text, cases[i].before);
        for (unsigned k = 0; k < cases[i].count; k++)
            text_buffer_add_text(&text, cases[i].repeated);
        text_buffer_add_text(&text, cases[i].after);
        struct error_info err = {.kind = ERROR_NONE};
        assert_null(parse(text_buffer_text(&text), &err));
        expect_message(&err, cases[i].message);
    }
    struct error_info err = {.kind = ERROR_NONE};
    assert_null(nccl_topology_parse("", NCCL_XML_MAXIMUM_BYTES + 1, "t.xml", &err));
    expect_message(&err, "t.xml: larger than 4 MiB");
}

static int parse_node(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(node_evidence)
    struct node_evidence *evidence =
        parse(SYSTEM(CPU("0", GPU("0000:01:00.0", LINK("0000:02:00.0", "4", ""))
                                  GPU("0000:02:00.0", LINK("0000:01:00.0", "4", ""))
                                      NET("mlx5_0", "speed='1'"))),
              err);
    return evidence ? 0 : -1;
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(parse_node, NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reads_a_node),
    cmocka_unit_test(counts_links),
    cmocka_unit_test(rates_links_by_their_generation),
    cmocka_unit_test(devices_go_by_their_class),
    cmocka_unit_test(classes_follow_the_tree),
    cmocka_unit_test(ports_share_a_card),
    cmocka_unit_test(odd_speeds_are_unknown),
    cmocka_unit_test(reads_the_first_host),
    cmocka_unit_test(odd_values_are_unknown),
    cmocka_unit_test(values),
    cmocka_unit_test(refuses_with_place),
    cmocka_unit_test(limits),
    cmocka_unit_test(survives_lack_of_memory),
};

int main(void) { return unit_test_main("topology/nccl_topology", tests, COUNT_OF(tests)); }
