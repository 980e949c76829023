/* SPDX-License-Identifier: MIT */
#include "tests/unit/topology/topology_fixture.h"

#include "topology/node_readers/evidence_text.h"

static struct node_evidence *decode(const char *text, struct error_info *err)
{
    return evidence_text_decode(text, strlen(text), "child", err);
}

#define HEAD "parplan.evidence/1\n"
#define NODE HEAD "node hwloc known 1 18 900 63 1099511627776 0 224 hwloc%20xml\n"
#define TWO_GPUS NODE "gpu 0000:06:00.0 NVIDIA%20H200 - 5 1\ngpu - - - 0 -1\n"
#define NIC "nic mlx5_4 0000:93:00.0 openfabrics active 0 1 b8e9240300baa4c0 6 50000000000\n"

static const char whole[] = TWO_GPUS NIC "nvlink 0 1 150000000000\n"
                                         "gpulink 0 1 node\n"
                                         "niclink 0 0 pix\n"
                                         "niclink 1 0 sys\n"
                                         "note a%20screen%25\n"
                                         "note %2D\n"
                                         "end\n";

static void round_trip(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(node_evidence) struct node_evidence *evidence = decode(whole, &err);
    expect_made(evidence, &err);
    assert_int_equal(evidence->source, EVIDENCE_HWLOC);
    assert_string_equal(evidence->source_text, "hwloc xml");
    assert_int_equal(evidence->nvlink, NVLINK_KNOWN);
    assert_true(evidence->nvlink_switched);
    assert_int_equal(evidence->nvlink_domain_nodes, 18);
    assert_true(evidence->gpu_nvlink_bytes_per_second == 900);
    assert_true(evidence->pcie_bytes_per_second == 63);
    assert_int_equal(evidence->host_memory_bytes, (uint64_t)1 << 40);
    assert_int_equal(evidence->cpu_count, 224);
    assert_string_equal(evidence->gpus[0].model_text, "NVIDIA H200");
    assert_null(evidence->gpus[1].bus_id);
    assert_int_equal(evidence->gpus[1].numa, NUMA_UNKNOWN);
    assert_int_equal(evidence->nics[0].guid, UINT64_C(0xb8e9240300baa4c0));
    assert_true(evidence->nics[0].is_virtual);
    assert_false(evidence->nics[0].is_ethernet);
    assert_true(evidence->nvlink_bytes_per_second[1] == 150e9);
    assert_true(evidence->nvlink_bytes_per_second[2] == 150e9);
    assert_int_equal(evidence->gpu_links[2], LINK_NODE);
    assert_int_equal(evidence->nic_links[1], LINK_SYS);
    assert_string_equal(evidence->notes[0], "a screen%");
    assert_string_equal(evidence->notes[1], "-");
    CLEANUP_DONE(text_buffer) struct text_buffer again;
    text_buffer_init(&again, EVIDENCE_TEXT_MAXIMUM_BYTES);
    evidence_text_encode(evidence, &again);
    assert_string_equal(text_buffer_text(&again), whole);
}

static void small_nodes(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(node_evidence)
    struct node_evidence *evidence =
        decode(HEAD "node pci unknown 0 0 0 0 0 0 0 x\nnote -\nend\n", &err);
    expect_made(evidence, &err);
    assert_int_equal(evidence->gpu_count, 0);
    assert_null(evidence->nvlink_bytes_per_second);
    assert_null(evidence->gpu_links);
    assert_string_equal(evidence->notes[0], "");
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

static void refuses_anything_else(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"", "the end is missing"},
        {"parplan.evidence/2\nend\n", "not parplan.evidence/1"},
        {"parplan.evidence/1", "line 0 of the evidence: the text is cut off"},
        {HEAD, "the end is missing"},
        {HEAD "end\n", "the node must come first"},
        {HEAD "gpu - - - 0 0\n", "line 2 of the evidence: the node must come first"},
        {NODE, "the end is missing"},
        {NODE "end\nend\n", "not the end"},
        {NODE "end \n", "a wrong number of words"},
        {NODE "end", "the text is cut off"},
        {NODE "node hwloc known 1 18 0 0 0 0 0 x\n", "a second node"},
        {NODE "frob 1\n", "an unknown word"},
        {NODE "\n", "an unknown word"},
        {NODE "1 2 3 4 5 6 7 8 9 10 11 12 13\n", "too many words"},
        {HEAD "node hwlock known 1 18 0 0 0 0 0 x\n", "a name is not known"},
        {HEAD "node hwloc maybe 1 18 0 0 0 0 0 x\n", "a name is not known"},
        {HEAD "node hwloc known 2 18 0 0 0 0 0 x\n", "out of range"},
        {HEAD "node hwloc known 1 18 0 0 0 0 0 -\n", "the source has no name"},
        {HEAD "node hwloc known 1 18 0 0 0 0 0 %\n", "an escape is broken"},
        {HEAD "node hwloc known 1 18 0 0 0 0 0 %4\n", "an escape is broken"},
        {HEAD "node hwloc known 1 18 0 0 0 0 0 %00\n", "an escape is broken"},
        {HEAD "node hwloc known 1 18 0 0 0 0 0 %zz\n", "an escape is broken"},
        {HEAD "node hwloc known 1 99999999 0 0 0 0 0 x\n", "out of range"},
        {HEAD "node hwloc known 1 1 1000000000000001 0 0 0 0 x\n", "out of range"},
        {TWO_GPUS "gpu 1\n", "a wrong number of words"},
        {TWO_GPUS "gpu - - - 0 -2\n", "a NUMA node is out of range"},
        {TWO_GPUS "gpu - - - 0 65536\n", "a NUMA node is out of range"},
        {TWO_GPUS "gpulink 0 1 pix\ngpu - - - 0 0\n", "a GPU too many, or too late"},
        {TWO_GPUS "gpulink 0 1 pix\n" NIC, "a NIC too many, or too late"},
        {TWO_GPUS "gpulink 0 0 pix\n", "a link of a GPU to itself"},
        {TWO_GPUS "gpulink 0 2 pix\n", "out of range"},
        {TWO_GPUS "gpulink 0 1 pox\n", "a name is not known"},
        {TWO_GPUS "nvlink 0 1 x\n", "out of range"},
        {TWO_GPUS "nvlink 1 1 5\n", "an NVLink that cannot be"},
        {TWO_GPUS "niclink 0 0 pix\n", "a pair without devices"},
        {TWO_GPUS NIC "niclink 0 1 pix\n", "out of range"},
        {TWO_GPUS "nic a - - active 0 0 xyz 0 0\n", "a GUID is broken"},
        {TWO_GPUS "nic a - - running 0 0 1 0 0\n", "a name is not known"},
        {HEAD "node hwloc unknown 1 18 0 0 0 0 0 x\ngpu - - - 0 0\ngpu - - - 0 0\nnvlink 0 1 5\n",
         "an NVLink that cannot be"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(node_evidence) struct node_evidence *evidence = decode(cases[i].text, &err);
        if (evidence)
            fail_msg("accepted: %s", cases[i].text);
        expect_message(&err, cases[i].message);
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
        {"gpu - - - 0 0\n", NODE_MAXIMUM_GPUS + 1, "a GPU too many"},
        {NIC, NODE_MAXIMUM_NICS + 1, "a NIC too many"},
        {"note x\n", EVIDENCE_TEXT_MAXIMUM_NOTES + 1, "a note too many"},
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
    cmocka_unit_test(small_nodes),
    cmocka_unit_test(escapes_everything),
    cmocka_unit_test(refuses_anything_else),
    cmocka_unit_test(refuses_every_prefix),
    cmocka_unit_test(limits_counts),
    cmocka_unit_test(survives_lack_of_memory),
};

int main(void) { return unit_test_main("topology/evidence_text", tests, COUNT_OF(tests)); }
