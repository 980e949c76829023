/* SPDX-License-Identifier: MIT */
#include "tests/unit/topology/evidence_fixture.h"

#include "topology/node_readers/topo_matrix.h"

static struct node_evidence *parse(const char *text, struct error_info *err)
{
    return topo_matrix_parse(text, strlen(text), "t.txt", err);
}

static struct node_evidence *read_text(const char *text)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct node_evidence *evidence = parse(text, &err);
    expect_made(evidence, &err);
    return evidence;
}

#define PAIR_HEADER "\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
#define PAIR_ROWS                                                                                  \
    "GPU0\t X \tNV4\tPIX\tSYS\t0-7,16-23\t0\t\tN/A\n"                                              \
    "GPU1\tNV4\t X \tSYS\tPXB\t8-15,24-31\t1\t\tN/A\n"
#define PAIR_NIC_ROWS "NIC0\tPIX\tSYS\t X \tSYS\nNIC1\tSYS\tPXB\tSYS\t X \n"
#define PAIR_LEGEND "\nNIC Legend:\n\n  NIC0: mlx5_3\n  NIC1: mlx5_bond_0\n"

static void expect_pair(const struct node_evidence *evidence)
{
    assert_int_equal(evidence->source, EVIDENCE_TOPO_M);
    assert_string_equal(evidence->source_text, "topo -m t.txt");
    assert_int_equal(evidence->gpu_count, 2);
    assert_int_equal(evidence->nvlink, NVLINK_KNOWN);
    assert_false(evidence->nvlink_switched);
    expect_link_counts(evidence, "0 4,4 0");
    assert_null(evidence->gpus[0].bus_id);
    assert_int_equal(evidence->gpus[0].numa, 0);
    assert_int_equal(evidence->gpus[1].numa, 1);
    assert_string_equal(evidence->gpus[1].cpus, "8-15,24-31");
    assert_null(evidence->gpus[0].problem);
    expect_nic_links(evidence, "pix sys,sys pxb");
    assert_string_equal(evidence->nics[0].name, "mlx5_3");
    assert_string_equal(evidence->nics[1].name, "mlx5_bond_0");
    assert_int_equal(evidence->nics[0].state, NIC_STATE_UNKNOWN);
    expect_no_notes(evidence);
}

static void reads_every_spelling(void **state)
{
    (void)state;
    static const char *const texts[] = {
        PAIR_HEADER PAIR_ROWS PAIR_NIC_ROWS PAIR_LEGEND,
        /* text around it, a legend that looks like rows, CR, no NIC rows */
        "$ nvidia-smi topo -m\r\n" PAIR_HEADER PAIR_ROWS "\r\nLegend:\r\n\r\n  X    = Self\r\n"
        "  NODE = Connection traversing PCIe\r\n  NV#  = Connection\r\n" PAIR_LEGEND "$ ",
        /* colours, as on a terminal */
        "\033[4m\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\033[0m\n"
        "\033[1mGPU0\033(B\033[m\t X \tNV4\tPIX\tSYS\t0-7,16-23\t0\t\tN/A\n"
        "GPU1\tNV4\t X \tSYS\tPXB\t8-15,24-31\t1\t\tN/A\n" PAIR_LEGEND,
        /* blanks, and NO-BREAK SPACE of web pages */
        "        GPU0    GPU1    NIC0    NIC1    CPU Affinity    NUMA Affinity   GPU NUMA ID\n"
        "GPU0     X      NV4     PIX     SYS     0-7,16-23       0               N/A\n"
        "GPU1\xc2\xa0    NV4 X SYS PXB 8-15,24-31 1 N/A" PAIR_LEGEND,
        /* names in the header, no column for the GPU's own memory */
        "\tGPU0\tGPU1\tmlx5_3\tmlx5_bond_0\tCPU Affinity\tNUMA Affinity\n"
        "GPU0\t X \tNV4\tPIX\tSYS\t0-7,16-23\t0\nGPU1\tNV4\t X \tSYS\tPXB\t8-15,24-31\t1\n"
        "mlx5_3\tPIX\tSYS\t X \tSYS\nmlx5_bond_0\tSYS\tPXB\tSYS\t X\n",
        /* the NICs' rows first, and one of the GPUs' cells only there */
        PAIR_HEADER PAIR_NIC_ROWS "GPU0\t X \tNV4\tPIX\tSYS\t0-7,16-23\t0\t\tN/A\n"
                                  "GPU1\tNV4\t X \tSYS\tPXB\t8-15,24-31\t1\t\tN/A\n" PAIR_LEGEND,
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        CLEANUP(node_evidence) struct node_evidence *evidence = read_text(texts[i]);
        expect_pair(evidence);
    }
}

static void old_tables_have_fewer_columns(void **state)
{
    (void)state;
    CLEANUP(node_evidence)
    struct node_evidence *evidence = read_text("     GPU0 GPU1 mlx5_0 CPU Affinity\n"
                                               "GPU0  X   SOC  NODE   0-11,24-35\n"
                                               "GPU1 SOC   X   SYS    12-23,36-47\n");
    assert_int_equal(evidence->nvlink, NVLINK_NONE);
    expect_gpu_links(evidence, "unknown sys,sys unknown");
    expect_nic_links(evidence, "node,sys");
    expect_link_counts(evidence, "-");
    assert_string_equal(evidence->gpus[0].cpus, "0-11,24-35");
    assert_int_equal(evidence->gpus[0].numa, NUMA_UNKNOWN);
    CLEANUP(node_evidence)
    struct node_evidence *bare = read_text("\tGPU0\tGPU1\nGPU0\tX\tPIX\nGPU1\tPIX\tX\n");
    assert_int_equal(bare->nvlink, NVLINK_NONE);
    assert_null(bare->gpus[0].cpus);
    expect_no_notes(bare);
}

static void names_of_nics_may_be_unknown(void **state)
{
    (void)state;
    CLEANUP(node_evidence) struct node_evidence *evidence = read_text(PAIR_HEADER PAIR_ROWS);
    assert_int_equal(evidence->nic_count, 2);
    assert_null(evidence->nics[0].name);
    expect_note(evidence, "t.txt: the legend of NICs does not name 2 of them");
}

/* Behind switches each pair has all links of a GPU. */
static void tells_switches_and_trays(void **state)
{
    (void)state;
    CLEANUP(node_evidence)
    struct node_evidence *tray = read_text(
        "     GPU0 GPU1 GPU2 NIC0 NIC1 NIC2 CPU Affinity NUMA Affinity GPU NUMA ID\n"
        "GPU0  X   NV18 NV18 SYS  SYS  SYS  0-71          0,3-9,11-17    2\n"
        "GPU1 NV18  X   NV18 SYS  SYS  SYS  0-71          0,3-9,11-17    10\n"
        "GPU2 NV18 NV18  X   SYS  SYS  SYS  72-143        1,19-25,27-33  18\n"
        "NIC0 SYS SYS SYS X SYS SYS\nNIC1 SYS SYS SYS SYS X PIX\nNIC2 SYS SYS SYS SYS PIX X\n");
    assert_true(tray->nvlink_switched);
    assert_true(tray->nvlink_leaves_node);
    assert_int_equal(tray->gpus[1].numa, 0);
    assert_int_equal(tray->gpus[2].numa, 1);
    assert_false(tray->nics[0].shares_card);
    assert_true(tray->nics[1].shares_card);
    assert_true(tray->nics[2].shares_card);
    CLEANUP(node_evidence)
    struct node_evidence *direct =
        read_text("     GPU0 GPU1 GPU2 CPU Affinity NUMA Affinity GPU NUMA ID\n"
                  "GPU0  X   NV9  NV9 0-71   0 4\nGPU1 NV9  X   NV9 72-143 1 12\n"
                  "GPU2 NV9 NV9  X 144-215 2 20\n");
    assert_false(direct->nvlink_switched);
    assert_false(direct->nvlink_leaves_node);
    assert_int_equal(direct->gpus[2].numa, 2);
}

static void numa_only_where_one_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *numa, *gpu_numa;
        int expected;
    } cases[] = {
        {"3", "N/A", 3},
        {"0-1", "N/A", NUMA_UNKNOWN},
        {"N/A", "N/A", NUMA_UNKNOWN},
        {"0,2", "N/A", NUMA_UNKNOWN},
        {"0,2-9", "2", 0},
        {"0-1,3", "2", NUMA_UNKNOWN},
        {"70000", "N/A", NUMA_UNKNOWN},
        {"123456789", "1", NUMA_UNKNOWN},
        {",1", "1", NUMA_UNKNOWN},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP_DONE(text_buffer) struct text_buffer text;
        text_buffer_init(&text, 1024);
        text_buffer_add(&text,
                        "\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\tX\tN/A\t%s\t%s\n",
                        cases[i].numa, cases[i].gpu_numa);
        CLEANUP(node_evidence)
        struct node_evidence *evidence = read_text(text_buffer_text(&text));
        assert_int_equal(evidence->gpus[0].numa, cases[i].expected);
        assert_null(evidence->gpus[0].cpus);
        assert_int_equal(evidence->nvlink, NVLINK_UNKNOWN); /* there is no pair to look at */
    }
}

static void a_gpu_without_links_has_a_problem(void **state)
{
    (void)state;
    CLEANUP(node_evidence)
    struct node_evidence *evidence = read_text("\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\n"
                                               "GPU0\tX\tNODE\tNV18\tNV18\t0-7\n"
                                               "GPU1\tNODE\tX\tSYS\tSYS\t0-7\n"
                                               "GPU2\tNV18\tSYS\tX\tNV18\t8-15\n"
                                               "GPU3\tNV18\tSYS\tNV18\tX\t8-15\n");
    expect_link_counts(evidence, "0 0 18 18,0 0 0 0,18 0 0 18,18 0 18 0");
    assert_true(evidence->nvlink_switched);
    assert_true(evidence->gpus[1].nvlink_lost);
    assert_string_equal(evidence->gpus[1].problem, "no NVLink to any GPU, while others have it");
    assert_null(evidence->gpus[0].problem);
    /* A board without a bridge beside bridged ones is no fault. */
    CLEANUP(node_evidence)
    struct node_evidence *bridged = read_text("\tGPU0\tGPU1\tGPU2\tCPU Affinity\n"
                                              "GPU0\tX\tNV4\tNODE\t0-7\n"
                                              "GPU1\tNV4\tX\tNODE\t0-7\n"
                                              "GPU2\tNODE\tNODE\tX\t0-7\n");
    assert_null(bridged->gpus[2].problem);
    assert_false(bridged->gpus[2].nvlink_lost);
    /* In doubt, nothing is said against it. */
    CLEANUP(node_evidence)
    struct node_evidence *doubt = read_text("\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\n"
                                            "GPU0\tX\tNV4\tSYS\tSYS\t0-7\n"
                                            "GPU1\tNV4\tX\tSYS\tSYS\t0-7\n");
    expect_link_counts(doubt, "0 4 0 0,4 0 0 0,0 0 0 ?,0 0 ? 0");
    assert_null(doubt->gpus[2].problem);
    expect_note(doubt, "t.txt: GPU2 has no row");
    assert_int_equal(doubt->nvlink, NVLINK_KNOWN);
}

static void rows_may_be_missing(void **state)
{
    (void)state;
    CLEANUP(node_evidence)
    struct node_evidence *evidence =
        read_text(PAIR_HEADER "GPU1\tSYS\t X \tSYS\tPXB\t8-15\t1\t\tN/A\n"
                              "NIC0\tPIX\tSYS\t X \tSYS\n");
    assert_int_equal(evidence->gpu_count, 2);
    assert_int_equal(evidence->nvlink, NVLINK_NONE);
    expect_nic_links(evidence, "pix unknown,sys pxb");
    CLEANUP(node_evidence)
    struct node_evidence *unknown = read_text("\tGPU0\tGPU1\tGPU2\nGPU0\tX\tSYS\tSYS\n");
    assert_int_equal(unknown->nvlink, NVLINK_UNKNOWN);
    expect_link_counts(unknown, "-");
}

static void the_header_may_be_missing(void **state)
{
    (void)state;
    CLEANUP(node_evidence)
    struct node_evidence *evidence = read_text("GPU0  X   NODE NV18 NV18 PXB SYS 0-55 0 N/A\n"
                                               "GPU1 NODE X   NODE NODE SYS PXB 0-55 0 N/A\n"
                                               "GPU2 NV18 NODE X   NV18 SYS SYS 56-111 1 N/A\n");
    assert_int_equal(evidence->gpu_count, 4);
    assert_int_equal(evidence->nic_count, 0);
    expect_link_counts(evidence, "0 0 18 18,0 0 0 0,18 0 0 18,18 0 18 0");
    assert_int_equal(evidence->gpus[2].numa, 1);
    assert_string_equal(evidence->gpus[2].cpus, "56-111");
    assert_non_null(evidence->gpus[1].problem);
    expect_note(evidence, "the header is missing: 4 GPUs");
    expect_note(evidence, "2 columns that no header and no row names are left out");
    expect_note(evidence, "GPU3 has no row");
    /* NICs that have rows have a place too. */
    CLEANUP(node_evidence)
    struct node_evidence *nics = read_text("GPU0 X PIX SYS PXB 0-7\nGPU1 PIX X SYS SYS 8-15\n"
                                           "mlx5_1 PXB SYS SYS X\nnone of these X\n");
    assert_int_equal(nics->gpu_count, 2);
    assert_int_equal(nics->nic_count, 1);
    assert_string_equal(nics->nics[0].name, "mlx5_1");
    expect_nic_links(nics, "pxb,sys");
    expect_note(nics, "1 columns");
}

static void never_shifts(void **state)
{
    (void)state;
    static const struct {
        const char *row; /* of GPU1, between GPU0 and GPU2 that do not tell */
        const char *counts, *nics, *note;
    } cases[] = {
        {"GPU1\tNV2\tX\tNV3\tPIX\tPXB\t0-7\t1\n", "0 2 ?,2 0 3,? 3 0", "pix pxb", NULL},
        /* a cell is lost before the X, or behind it */
        {"GPU1\tX\tNV3\tPIX\tPXB\t0-7\t1\n", "0 ? ?,? 0 3,? 3 0", "pix pxb",
         "t.txt:2: GPU1: 0 cells before its X, and 1 columns"},
        {"GPU1\tNV2\tX\tNV3\tPXB\t0-7\t1\n", "0 2 ?,2 0 ?,? ? 0", "unknown unknown",
         "t.txt:2: GPU1: 2 cells behind its X, and 3 columns"},
        {"GPU1\tNV2\tX\tNV3\tPIX\tPXB\tPXB\t0-7\t1\n", "0 2 ?,2 0 ?,? ? 0", "unknown unknown",
         "4 cells behind its X"},
        /* glued, and unknown classes */
        {"GPU1\tNV2\tX\tNV3\tPIX\tPX0-7\t1\n", "0 2 ?,2 0 3,? 3 0", "pix unknown",
         "t.txt:2: GPU1: 'PX0-7' in the column of mlx5_1 is no link class"},
        {"GPU1\tNV2\tX\tNV3PIX\tPXB\t0-7\t1\n", "0 2 ?,2 0 ?,? ? 0", "unknown unknown",
         "2 cells behind its X"},
        {"GPU1\tNV2\tX\tC2C\tPIX\tPXB\t0-7\t1\n", "0 2 ?,2 0 ?,? ? 0", "pix pxb", "'C2C'"},
        {"GPU1\tNV2\tX\tNV0\tPIX\tPXB\t0-7\t1\n", "0 2 ?,2 0 ?,? ? 0", "pix pxb", "'NV0'"},
        {"GPU1\tNV2\tX\tNV256\tPIX\tPXB\t0-7\t1\n", "0 2 ?,2 0 ?,? ? 0", "pix pxb", "'NV256'"},
        /* cut off */
        {"GPU1\tNV2\tX\tNV3\tPI", "0 2 ?,2 0 3,? 3 0", "unknown unknown",
         "t.txt:2: GPU1: the row is cut off behind 4 cells"},
        {"GPU1\tNV2\tX\tNV1", "0 2 ?,2 0 ?,? ? 0", "unknown unknown", "cut off"},
        {"GPU1\tNV2\tX", "0 2 ?,2 0 ?,? ? 0", "unknown unknown", "cut off"},
        {"GPU1\tNV2", "-", "unknown unknown", "t.txt:2: GPU1 has no X, or several"},
        {"GPU1\tX\tX\tNV3\tPIX\tPXB\t0-7\t1\n", "-", "unknown unknown", "no X, or several"},
        {"GPU1\tNV2\tX\tNV3\tPIX\tPXB\t0-7\n", "0 2 ?,2 0 3,? 3 0", "pix pxb",
         "t.txt:2: GPU1: 1 words behind the cells, and 2 columns"},
        {"GPU1\tNV2\tX\tNV3\tPIX\tPXB\t0-7\t1\nGPU1\tNV1\tX\tNV3\tPIX\tPXB\t0-7\t1\n",
         "0 2 ?,2 0 3,? 3 0", "pix pxb", "t.txt:3: GPU1 stands twice"},
        {"GPU1\tNV2\tX\tNV3\tPIX\tPXB\t0-7\t1\nGPU7\tX\tNV3\n", "0 2 ?,2 0 3,? 3 0", "pix pxb",
         "t.txt:3: GPU7 has no column"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP_DONE(text_buffer) struct text_buffer text;
        text_buffer_init(&text, 1024);
        text_buffer_add(&text,
                        "\tGPU0\tGPU1\tGPU2\tmlx5_0\tmlx5_1\tCPU Affinity\tNUMA Affinity\n%s",
                        cases[i].row);
        CLEANUP(node_evidence)
        struct node_evidence *evidence = read_text(text_buffer_text(&text));
        assert_int_equal(evidence->gpu_count, 3);
        expect_link_counts(evidence, cases[i].counts);
        expect_classes(evidence->nic_links + 2, 1, 2, cases[i].nics);
        if (cases[i].note)
            expect_note(evidence, cases[i].note);
    }
}

static void the_lower_one_of_two_counts(void **state)
{
    (void)state;
    static const struct {
        const char *there, *back, *counts, *link;
    } cases[] = {
        {"NV4", "NV2", "0 2,2 0", "-"},
        {"NV2", "NV4", "0 2,2 0", "-"},
        {"NV4", "SYS", "-", "unknown sys,sys unknown"},
        {"PIX", "NODE", "-", "unknown node,node unknown"},
        {"NODE", "PIX", "-", "unknown node,node unknown"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP_DONE(text_buffer) struct text_buffer text;
        text_buffer_init(&text, 1024);
        text_buffer_add(&text, "\tGPU0\tGPU1\nGPU0\tX\t%s\nGPU1\t%s\tX\n", cases[i].there,
                        cases[i].back);
        CLEANUP(node_evidence)
        struct node_evidence *evidence = read_text(text_buffer_text(&text));
        expect_link_counts(evidence, cases[i].counts);
        expect_gpu_links(evidence, cases[i].link);
        expect_note(evidence, "t.txt: GPU1 and GPU0 disagree about their link (lines 3 and 2)");
    }
}

static void reads_the_first_table_only(void **state)
{
    (void)state;
    CLEANUP(node_evidence)
    struct node_evidence *evidence =
        read_text(PAIR_HEADER PAIR_ROWS "\tGPU0\tGPU1\nGPU0\tX\tSYS\nGPU1\tSYS\tX\n");
    expect_link_counts(evidence, "0 4,4 0");
    expect_note(evidence, "t.txt:4: another table starts here");
}

static void odd_headers(void **state)
{
    (void)state;
    CLEANUP(node_evidence)
    struct node_evidence *cut = read_text("\tGPU0\tGPU1\tCPU Aff\nGPU0\tX\tNV1\t0-7\t0\n"
                                          "GPU1\tNV1\tX\t0-7\t0\n");
    expect_link_counts(cut, "0 1,1 0");
    assert_null(cut->gpus[0].cpus);
    expect_note(cut, "t.txt:1: the header is cut off or has unknown columns");
    CLEANUP(node_evidence)
    struct node_evidence *more =
        read_text("\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\tCPU Affinity\n"
                  "GPU0\tX\t0-7\t0\tN/A\t1\n");
    assert_int_equal(more->gpus[0].numa, NUMA_UNKNOWN);
    CLEANUP(node_evidence)
    struct node_evidence *cpus = read_text("\tGPU0\tCPU Affinity\nGPU0\tX\t7-0\n");
    assert_null(cpus->gpus[0].cpus);
    expect_note(cpus, "t.txt:2: GPU0: '7-0' is no list of CPUs");
}

static void refuses_with_place(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"", "t.txt: has no table of nvidia-smi topo -m"},
        {"GPU 0: NVIDIA H100 (UUID: GPU-1)\n", "has no table"},
        {PAIR_HEADER, "has no table"},
        {"\tGPU0\tGPU1\tGPU0\nGPU0\tX\tSYS\tSYS\n", "t.txt:1: the column GPU0 stands twice"},
        {"GPU1\tX\tNV1\n", "no row of a GPU has its X in its place"},
        {"GPU0\tNV1\n", "no row of a GPU has its X in its place"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(node_evidence) struct node_evidence *evidence = parse(cases[i].text, &err);
        if (evidence)
            fail_msg("accepted: %s", cases[i].text);
        expect_message(&err, cases[i].message);
        assert_int_equal(err.kind, ERROR_INPUT);
    }
    struct error_info err = {.kind = ERROR_NONE};
    assert_null(topo_matrix_parse("GPU0\0X", 6, "t.txt", &err));
    expect_message(&err, "NUL byte");
    assert_null(topo_matrix_parse("x", TOPO_MATRIX_MAXIMUM_BYTES + 1, "t.txt", &err));
    expect_message(&err, "larger than 1 MiB");
}

/* before, count words as "eth0 eth1 …", after */
static void add_words(struct text_buffer *text, const char *before, const char *word,
                      unsigned count, const char *after)
{
    text_buffer_add_text(text, before);
    for (unsigned i = 0; i < count; i++)
        text_buffer_add(text, "%s%u ", word, i);
    text_buffer_add_text(text, after);
}

static void limits_counts(void **state)
{
    (void)state;
    static const struct {
        const char *before, *word, *after;
        unsigned count;
        const char *message;
    } cases[] = {
        {"", "GPU", "\nGPU0 X SYS\n", NODE_MAXIMUM_GPUS + 1, "t.txt: more than 64 GPUs"},
        {"GPU0 GPU1 ", "e", "\nGPU0 X SYS\n", NODE_MAXIMUM_NICS + 1, "t.txt: more than 128 NICs"},
        {"GPU0 GPU1 ", "e", "\nGPU0 X SYS\n", 191, "t.txt:1: more than 192 columns"},
        {"GPU0 X ", "SYS", "\n", 192, "t.txt:1: more than 192 columns"},
        {"", "\nGPU0 X SYS", "\n", 385, "t.txt:386: more than 384 rows"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP_DONE(text_buffer) struct text_buffer text;
        text_buffer_init(&text, 65536);
        add_words(&text, cases[i].before, cases[i].word, cases[i].count, cases[i].after);
        struct error_info err = {.kind = ERROR_NONE};
        assert_null(parse(text_buffer_text(&text), &err));
        expect_message(&err, cases[i].message);
    }
    /* Longer lines are no rows of such a table. */
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, 65536);
    add_words(&text, "GPU0 GPU1\nGPU0 X NV4\nGPU1 X ", "SYS", 1000, "\n");
    CLEANUP(node_evidence) struct node_evidence *evidence = read_text(text_buffer_text(&text));
    expect_link_counts(evidence, "0 4,4 0");
}

static void texts_are_harmless(void **state)
{
    (void)state;
    CLEANUP(node_evidence)
    struct node_evidence *evidence = read_text("\tGPU0\tGPU1\tm\x01\xffx\nGPU0\tX\tS\x02\tSYS\n");
    assert_string_equal(evidence->nics[0].name, "m??x");
    expect_note(evidence, "'S?' in the column of GPU1");
}

static int parse_pair(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(node_evidence)
    struct node_evidence *evidence = parse(PAIR_HEADER PAIR_ROWS PAIR_LEGEND, err);
    return evidence ? 0 : -1;
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(parse_pair, NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reads_every_spelling),
    cmocka_unit_test(old_tables_have_fewer_columns),
    cmocka_unit_test(names_of_nics_may_be_unknown),
    cmocka_unit_test(tells_switches_and_trays),
    cmocka_unit_test(numa_only_where_one_is_named),
    cmocka_unit_test(a_gpu_without_links_has_a_problem),
    cmocka_unit_test(rows_may_be_missing),
    cmocka_unit_test(the_header_may_be_missing),
    cmocka_unit_test(never_shifts),
    cmocka_unit_test(the_lower_one_of_two_counts),
    cmocka_unit_test(reads_the_first_table_only),
    cmocka_unit_test(odd_headers),
    cmocka_unit_test(refuses_with_place),
    cmocka_unit_test(limits_counts),
    cmocka_unit_test(texts_are_harmless),
    cmocka_unit_test(survives_lack_of_memory),
};

int main(void) { return unit_test_main("topology/topo_matrix", tests, COUNT_OF(tests)); }
