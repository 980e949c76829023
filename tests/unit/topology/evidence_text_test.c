/* SPDX-License-Identifier: MIT */
#include "tests/unit/topology/topology_fixture.h"

#include "topology/node_readers/evidence_text.h"

static struct node_evidence *decode(const char *text, struct error_info *err)
{
    return evidence_text_decode(text, strlen(text), "child", err);
}

#define HEAD "parplan.evidence/2\n"
#define NODE_OF(state, pairs)                                                                      \
    HEAD "node hwloc " state " 1 1 18 900 63 1099511627776 5 224 580.65.06 " pairs                 \
         " 25 hwloc%20xml\n"
#define NODE NODE_OF("known", "rates")
#define COUNTED NODE_OF("known", "counts") GPUS
#define GPUS                                                                                       \
    "gpu 0000:06:00.0 NVIDIA%20H200 GPU-1 5 1 0-3,8 1-2.7 1 0 PCIe%20x8%20of%20x16\n"              \
    "gpu - - - 0 -1 - - 0 0 -\n"
#define TWO_GPUS NODE GPUS
#define NIC                                                                                        \
    "nic mlx5_4 0000:93:00.0 openfabrics active 0 1 1 b8e9240300baa4c0 6 50000000000 "             \
    "port%20is%20slow rail 3 alone\n"
#define NUMBERS " hwloc known 1 0 18 0 0 0 0 0"
#define BARE_NIC "nic - - - unknown 1 0 0 0 -1 0 - - -1 -\n"

static const char whole[] = TWO_GPUS NIC BARE_NIC "nvlink 0 1 150000000000\n"
                                                  "gpulink 0 1 node\n"
                                                  "niclink 0 0 pix\n"
                                                  "niclink 1 1 sys\n"
                                                  "note a%20screen%25\n"
                                                  "note %2D\n"
                                                  "fact nvlink known hwloc%20xml\n"
                                                  "end\n";

static void expect_text(const struct node_evidence *evidence, const char *text)
{
    CLEANUP_DONE(text_buffer) struct text_buffer again;
    text_buffer_init(&again, EVIDENCE_TEXT_MAXIMUM_BYTES);
    evidence_text_encode(evidence, &again);
    assert_string_equal(text_buffer_text(&again), text);
}

static void expect_node(const struct node_evidence *evidence)
{
    assert_int_equal(evidence->source, EVIDENCE_HWLOC);
    assert_string_equal(evidence->source_text, "hwloc xml");
    assert_int_equal(evidence->nvlink, NVLINK_KNOWN);
    assert_true(evidence->nvlink_switched);
    assert_true(evidence->nvlink_leaves_node);
    assert_int_equal(evidence->nvlink_domain_nodes, 18);
    assert_true(evidence->gpu_nvlink_bytes_per_second == 900);
    assert_true(evidence->pcie_bytes_per_second == 63);
    assert_int_equal(evidence->host_memory_bytes, (uint64_t)1 << 40);
    assert_int_equal(evidence->host_nvme_bytes, 5);
    assert_int_equal(evidence->cpu_count, 224);
    assert_string_equal(evidence->driver_version, "580.65.06");
    assert_true(evidence->nvlink_link_bytes_per_second == 25);
}

static void expect_gpus(const struct node_evidence *evidence)
{
    assert_int_equal(evidence->gpu_count, 2);
    const struct evidence_gpu *gpu = &evidence->gpus[0];
    assert_string_equal(gpu->bus_id, "0000:06:00.0");
    assert_string_equal(gpu->model_text, "NVIDIA H200");
    assert_string_equal(gpu->uuid, "GPU-1");
    assert_string_equal(gpu->cpus, "0-3,8");
    assert_string_equal(gpu->nvlink_clique, "1-2.7");
    assert_string_equal(gpu->problem, "PCIe x8 of x16");
    assert_int_equal(gpu->memory_bytes, 5);
    assert_int_equal(gpu->numa, 1);
    assert_true(gpu->mig);
    gpu = &evidence->gpus[1];
    assert_null(gpu->bus_id);
    assert_null(gpu->model_text);
    assert_null(gpu->uuid);
    assert_null(gpu->cpus);
    assert_null(gpu->nvlink_clique);
    assert_null(gpu->problem);
    assert_int_equal(gpu->numa, NUMA_UNKNOWN);
    assert_false(gpu->mig);
}

static void expect_nics(const struct node_evidence *evidence)
{
    assert_int_equal(evidence->nic_count, 2);
    const struct evidence_nic *nic = &evidence->nics[0];
    assert_string_equal(nic->name, "mlx5_4");
    assert_string_equal(nic->bus_id, "0000:93:00.0");
    assert_string_equal(nic->driver_class, "openfabrics");
    assert_string_equal(nic->problem, "port is slow");
    assert_int_equal(nic->state, NIC_ACTIVE);
    assert_false(nic->is_ethernet);
    assert_true(nic->is_virtual);
    assert_true(nic->shares_card);
    assert_int_equal(nic->guid, UINT64_C(0xb8e9240300baa4c0));
    assert_int_equal(nic->numa, 6);
    assert_true(nic->bytes_per_second == 50e9);
    assert_true(nic->has_role);
    assert_int_equal(nic->role, NIC_RAIL);
    assert_int_equal(nic->rail, 3);
    assert_string_equal(nic->reason, "alone");
    nic = &evidence->nics[1];
    assert_null(nic->name);
    assert_null(nic->driver_class);
    assert_null(nic->problem);
    assert_null(nic->reason);
    assert_true(nic->is_ethernet);
    assert_false(nic->is_virtual);
    assert_false(nic->shares_card);
    assert_false(nic->has_role);
    assert_int_equal(nic->rail, -1);
}

static void round_trip(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(node_evidence) struct node_evidence *evidence = decode(whole, &err);
    expect_made(evidence, &err);
    expect_node(evidence);
    expect_gpus(evidence);
    expect_nics(evidence);
    assert_true(evidence->nvlink_bytes_per_second[1] == 150e9);
    assert_true(evidence->nvlink_bytes_per_second[2] == 150e9);
    assert_null(evidence->nvlink_link_counts);
    assert_int_equal(evidence->gpu_links[2], LINK_NODE);
    assert_int_equal(evidence->nic_links[0], LINK_PIX);
    assert_int_equal(evidence->nic_links[1], LINK_UNKNOWN);
    assert_int_equal(evidence->nic_links[3], LINK_SYS);
    assert_int_equal(evidence->note_count, 2);
    assert_string_equal(evidence->notes[0], "a screen%");
    assert_string_equal(evidence->notes[1], "-");
    assert_int_equal(evidence->fact_count, 1);
    assert_string_equal(evidence->facts[0].fact, "nvlink");
    assert_string_equal(evidence->facts[0].value, "known");
    assert_string_equal(evidence->facts[0].source, "hwloc xml");
    expect_text(evidence, whole);
}

/* What the nvlink lines say is what comes back: rates, counts, none, and "not known". */
static void pairs_of_every_form(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool rates, counts, assumed;
        double value; /* of the pair */
    } cases[] = {
        {NODE_OF("known", "rates") GPUS "nvlink 0 1 7\nend\n", true, false, false, 7},
        {NODE_OF("known", "rates") GPUS "nvlink 0 1 unknown\nend\n", true, false, false, -1},
        {NODE_OF("known", "rates") GPUS "end\n", true, false, false, 0},
        {NODE_OF("none", "rates") GPUS "end\n", true, false, false, 0},
        {NODE_OF("unknown", "rates") GPUS "nvlink 0 1 unknown\nend\n", true, false, false, -1},
        {NODE_OF("known", "counts") GPUS "nvlink 0 1 18\nend\n", false, true, false, 18},
        {NODE_OF("known", "counts") GPUS "nvlink 0 1 unknown\nend\n", false, true, false,
         NVLINK_COUNT_UNKNOWN},
        {NODE_OF("none", "counts") GPUS "end\n", false, true, false, 0},
        {NODE_OF("known", "none") GPUS "end\n", false, false, false, 0},
        {NODE_OF("known", "assumed") GPUS "nvlink 0 1 40000000000\nend\n", true, false, true, 4e10},
        {NODE_OF("known", "assumed") GPUS "end\n", true, false, true, 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(node_evidence) struct node_evidence *evidence = decode(cases[i].text, &err);
        expect_made(evidence, &err);
        assert_int_equal(evidence->nvlink_bytes_per_second != NULL, cases[i].rates);
        assert_int_equal(evidence->nvlink_link_counts != NULL, cases[i].counts);
        assert_int_equal(evidence->nvlink_assumed, cases[i].assumed);
        for (size_t at = 1; at <= 2 && cases[i].rates; at++)
            assert_true(evidence->nvlink_bytes_per_second[at] == cases[i].value);
        for (size_t at = 1; at <= 2 && cases[i].counts; at++)
            assert_true(evidence->nvlink_link_counts[at] == (unsigned)cases[i].value);
        expect_text(evidence, cases[i].text);
    }
}

/* Of two directions that differ the smaller counts, and what is impossible is not written. */
static void writes_what_can_be(void **state)
{
    (void)state;
    static const struct evidence_gpu gpus[2] = {{.numa = 0}, {.numa = 0}};
    static const double different[] = {0, 9, 4, 0}, half[] = {0, 9, -1, 0},
                        huge[] = {0, 1e16, 1e16, 0};
    static const unsigned counts[] = {0, 3, 2, 0}, doubt[] = {0, 3, NVLINK_COUNT_UNKNOWN, 0};
    static const struct {
        enum nvlink_state nvlink;
        const double *rates;
        const unsigned *counts;
        const char *line; /* or NULL */
    } cases[] = {
        {NVLINK_KNOWN, different, NULL, "nvlink 0 1 4\n"},
        {NVLINK_KNOWN, half, NULL, "nvlink 0 1 unknown\n"},
        {NVLINK_KNOWN, huge, NULL, NULL},
        {NVLINK_NONE, different, NULL, NULL},
        {NVLINK_KNOWN, NULL, counts, "nvlink 0 1 2\n"},
        {NVLINK_KNOWN, NULL, doubt, "nvlink 0 1 unknown\n"},
        {NVLINK_UNKNOWN, NULL, counts, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct node_evidence evidence = {
            .source_text = "x",
            .gpus = gpus,
            .gpu_count = 2,
            .nvlink = cases[i].nvlink,
            .nvlink_bytes_per_second = cases[i].rates,
            .nvlink_link_counts = cases[i].counts,
        };
        CLEANUP_DONE(text_buffer) struct text_buffer text;
        text_buffer_init(&text, EVIDENCE_TEXT_MAXIMUM_BYTES);
        evidence_text_encode(&evidence, &text);
        const char *line = strstr(text_buffer_text(&text), "nvlink 0 1");
        assert_int_equal(line != NULL, cases[i].line != NULL);
        if (line)
            assert_memory_equal(line, cases[i].line, strlen(cases[i].line));
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(node_evidence) struct node_evidence *back = decode(text_buffer_text(&text), &err);
        expect_made(back, &err);
    }
}

static void small_nodes(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(node_evidence)
    struct node_evidence *evidence =
        decode(HEAD "node pci unknown 0 0 0 0 0 0 0 0 - none 0 x\nnote -\nfact a - c\nend\n", &err);
    expect_made(evidence, &err);
    assert_int_equal(evidence->gpu_count, 0);
    assert_null(evidence->nvlink_bytes_per_second);
    assert_null(evidence->gpu_links);
    assert_null(evidence->driver_version);
    assert_string_equal(evidence->notes[0], "");
    assert_string_equal(evidence->facts[0].value, "");
}

/* Bytes that are no plain characters come through. */
static void escapes_everything(void **state)
{
    (void)state;
    static const char odd[] = "\x01 \xc3\xa4%-\n\x7f";
    const struct node_evidence evidence = {.source = EVIDENCE_ADMIN, .source_text = odd};
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, EVIDENCE_TEXT_MAXIMUM_BYTES);
    evidence_text_encode(&evidence, &text);
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(node_evidence) struct node_evidence *back = decode(text_buffer_text(&text), &err);
    expect_made(back, &err);
    assert_string_equal(back->source_text, odd);
}

static const struct {
    const char *text;
    const char *message;
} refusals[] = {
    {"", "the end is missing"},
    {"parplan.evidence/1\nend\n", "not parplan.evidence/2"},
    {"parplan.evidence/2", "line 0 of the evidence: the text is cut off"},
    {HEAD, "the end is missing"},
    {HEAD "end\n", "the node must come first"},
    {HEAD "gpu - - - 0 0 - - 0 0 -\n", "line 2 of the evidence: the node must come first"},
    {NODE, "the end is missing"},
    {NODE "end\nend\n", "not the end"},
    {NODE "end \n", "a wrong number of words"},
    {NODE "end", "the text is cut off"},
    {NODE "node" NUMBERS " - none 0 x\n", "a second node"},
    {NODE "frob 1\n", "an unknown word"},
    {NODE "\n", "an unknown word"},
    {NODE "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n", "too many words"},
    {HEAD "node hwlock known 1 0 18 0 0 0 0 0 - none 0 x\n", "a name is not known"},
    {HEAD "node hwloc maybe 1 0 18 0 0 0 0 0 - none 0 x\n", "a name is not known"},
    {HEAD "node" NUMBERS " - some 0 x\n", "a name is not known"},
    {HEAD "node hwloc known 2 0 18 0 0 0 0 0 - none 0 x\n", "out of range"},
    {HEAD "node hwloc known 1 2 18 0 0 0 0 0 - none 0 x\n", "out of range"},
    {HEAD "node" NUMBERS " - none 0 -\n", "the source has no name"},
    {HEAD "node" NUMBERS " - none 0 %\n", "an escape is broken"},
    {HEAD "node" NUMBERS " - none 0 %4\n", "an escape is broken"},
    {HEAD "node" NUMBERS " - none 0 %00\n", "an escape is broken"},
    {HEAD "node" NUMBERS " %zz none 0 x\n", "an escape is broken"},
    {HEAD "node" NUMBERS " - none -1 x\n", "out of range"},
    {HEAD "node" NUMBERS " - none 10000000000001 x\n", "out of range"},
    {HEAD "node hwloc known 1 0 99999999 0 0 0 0 0 - none 0 x\n", "out of range"},
    {HEAD "node hwloc known 1 0 1 1000000000000001 0 0 0 0 - none 0 x\n", "out of range"},
    {TWO_GPUS "gpu 1\n", "a wrong number of words"},
    {TWO_GPUS "gpu - - - 0 -2 - - 0 0 -\n", "a NUMA node or rail is out of range"},
    {TWO_GPUS "gpu - - - 0 65536 - - 0 0 -\n", "a NUMA node or rail is out of range"},
    {TWO_GPUS "gpu - - - 0 0 - - 2 0 -\n", "out of range"},
    {TWO_GPUS "gpulink 0 1 pix\ngpu - - - 0 0 - - 0 0 -\n", "a GPU too many, or too late"},
    {TWO_GPUS "gpulink 0 1 pix\n" NIC, "a NIC too many, or too late"},
    {TWO_GPUS "gpulink 0 0 pix\n", "a link of a GPU to itself"},
    {TWO_GPUS "gpulink 0 2 pix\n", "out of range"},
    {TWO_GPUS "gpulink 0 1 pox\n", "a name is not known"},
    {TWO_GPUS "nvlink 0 1 x\n", "out of range"},
    {TWO_GPUS "nvlink 1 1 5\n", "an NVLink that cannot be"},
    {TWO_GPUS "nvlink 1 1 unknown\n", "an NVLink that cannot be"},
    {COUNTED "nvlink 0 1 1000\n", "out of range"},
    {NODE_OF("known", "none") GPUS "nvlink 0 1 5\n", "an NVLink that cannot be"},
    {TWO_GPUS "niclink 0 0 pix\n", "a pair without devices"},
    {TWO_GPUS NIC "niclink 0 1 pix\n", "out of range"},
    {TWO_GPUS "nic a - - active 0 0 0 xyz 0 0 - - -1 -\n", "a GUID is broken"},
    {TWO_GPUS "nic a - - running 0 0 0 1 0 0 - - -1 -\n", "a name is not known"},
    {TWO_GPUS "nic a - - active 0 0 0 1 0 0 - king -1 -\n", "a name is not known"},
    {TWO_GPUS "nic a - - active 0 0 0 1 0 0 - - -2 -\n", "rail is out of range"},
    {NODE_OF("unknown", "rates") GPUS "nvlink 0 1 5\n", "an NVLink that cannot be"},
};

static void refuses_anything_else(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refusals); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(node_evidence) struct node_evidence *evidence = decode(refusals[i].text, &err);
        if (evidence)
            fail_msg("accepted: %s", refusals[i].text);
        expect_message(&err, refusals[i].message);
    }
    struct error_info err = {.kind = ERROR_NONE};
    assert_null(evidence_text_decode("a\0b", 3, "child", &err));
    expect_message(&err, "no text");
    assert_null(evidence_text_decode("a", EVIDENCE_TEXT_MAXIMUM_BYTES + 1, "child", &err));
}

/* Every prefix is refused, and none crashes. */
static void refuses_every_prefix(void **state)
{
    (void)state;
    for (size_t i = 0; i + 1 < sizeof(whole); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        assert_null(evidence_text_decode(whole, i, "child", &err));
    }
}

static void limits_counts(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        unsigned count;
        const char *message;
    } cases[] = {
        {"gpu - - - 0 0 - - 0 0 -\n", NODE_MAXIMUM_GPUS + 1, "a GPU too many"},
        {NIC, NODE_MAXIMUM_NICS + 1, "a NIC too many"},
        {"note x\n", EVIDENCE_TEXT_MAXIMUM_NOTES + 1, "a note too many"},
        {"fact x y z\n", EVIDENCE_TEXT_MAXIMUM_FACTS + 1, "a fact too many"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP_DONE(text_buffer) struct text_buffer text;
        text_buffer_init(&text, EVIDENCE_TEXT_MAXIMUM_BYTES);
        text_buffer_add_text(&text, NODE);
        for (unsigned line = 0; line < cases[i].count; line++)
            text_buffer_add_text(&text, cases[i].line);
        struct error_info err = {.kind = ERROR_NONE};
        assert_null(decode(text_buffer_text(&text), &err));
        expect_message(&err, cases[i].message);
    }
}

static int decode_whole(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(node_evidence) struct node_evidence *evidence = decode(whole, err);
    return evidence ? 0 : -1;
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(decode_whole, NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(round_trip),
    cmocka_unit_test(pairs_of_every_form),
    cmocka_unit_test(writes_what_can_be),
    cmocka_unit_test(small_nodes),
    cmocka_unit_test(escapes_everything),
    cmocka_unit_test(refuses_anything_else),
    cmocka_unit_test(refuses_every_prefix),
    cmocka_unit_test(limits_counts),
    cmocka_unit_test(survives_lack_of_memory),
};

int main(void) { return unit_test_main("topology/evidence_text", tests, COUNT_OF(tests)); }
