/* SPDX-License-Identifier: MIT */
#include "tests/unit/topology/evidence_fixture.h"

#include "topology/node_readers/slurm_gres.h"

static struct node_evidence *parse(const char *text, struct error_info *err)
{
    return slurm_gres_parse(text, strlen(text), "gres.conf", err);
}

static struct node_evidence *read_text(const char *text)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct node_evidence *evidence = parse(text, &err);
    expect_made(evidence, &err);
    return evidence;
}

#define OUTPUT(index, cores, links)                                                                \
    "slurmd: Gres Name=gpu Type=rtx_a6000 Count=1 Index=" index                                    \
    " ID=7696487 File=/dev/nvidia" index " Cores=" cores " CoreCnt=64 Links=" links                \
    " Flags=HAS_FILE,HAS_TYPE,ENV_NVML\n"

static void reads_every_spelling(void **state)
{
    (void)state;
    static const char *const texts[] = {
        /* slurmd -G, among its other messages */
        "slurmd: gpu/nvml: _get_system_gpu_list_nvml: 4 GPU system device(s) detected\n" OUTPUT(
            "0", "0-31", "-1,4,0,0") OUTPUT("1", "0-31", "4,-1,0,0")
            OUTPUT("2", "32-63", "0,0,-1,4") OUTPUT("3", "32-63", "0,0,4,-1"),
        /* the same in a log, in another order, with keys of a later Slurm */
        "[2026-01-01T00:00:00.000] Gres Name=gpu Type=rtx_a6000 Count=1 File=/dev/nvidia3 "
        "Cores=32-63 New=1 Links=0,0,4,-1\r\n"
        "[2026-01-01T00:00:00.000] Gres Name=gpu Type=rtx_a6000 Count=1 File=/dev/nvidia2 "
        "Cores=32-63 Links=0,0,-1,4\r\n" OUTPUT("1", "0-31", "4,-1,0,0")
            OUTPUT("0", "0-31", "-1,4,0,0") "slurmd: Gres Name=shard Count=8\n",
        /* gres.conf */
        "# GPUs\nAutoDetect=off\n\n"
        "NodeName=n[1-4] Name=gpu Type=rtx_a6000 File=/dev/nvidia0 Cores=0-31 Links=-1,4,0,0\n"
        "nodename=n[1-4] NAME=GPU TYPE=rtx_a6000 file=\"/dev/nvidia1\" cores=0-31 links=4,-1,0,0 # "
        "2\n"
        "NodeName=n[1-4] Name=gpu Type=rtx_a6000 File=/dev/nvidia2 CPUs=32-63 Links=0,0,0,4\n"
        "Name=gpu Type=rtx_a6000 \\\n File=/dev/nvidia3 Cores=32-63 Links=0,0,4,0 Flags=x\n"
        "Name=mps Count=200\nName=nic File=/dev/nic[0-99]",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        CLEANUP(node_evidence) struct node_evidence *evidence = read_text(texts[i]);
        assert_int_equal(evidence->source, EVIDENCE_SLURM_GRES);
        assert_string_equal(evidence->source_text, "slurm gres gres.conf");
        assert_int_equal(evidence->gpu_count, 4);
        assert_int_equal(evidence->nic_count, 0);
        assert_int_equal(evidence->nvlink, NVLINK_KNOWN);
        assert_false(evidence->nvlink_switched);
        expect_link_counts(evidence, "0 4 0 0,4 0 0 0,0 0 0 4,0 0 4 0");
        assert_string_equal(evidence->gpus[0].model_text, "rtx_a6000");
        assert_string_equal(evidence->gpus[0].cpus, "0-31");
        assert_string_equal(evidence->gpus[3].cpus, "32-63");
        assert_null(evidence->gpus[0].bus_id);
        assert_int_equal(evidence->gpus[0].numa, NUMA_UNKNOWN);
        assert_false(evidence->gpus[0].mig);
        expect_no_notes(evidence);
    }
}

static void counts_devices(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned count;
        const char *type;
    } cases[] = {
        {"Name=gpu Type=a100 File=/dev/nvidia[0-7]\n", 8, "a100"},
        {"Name=gpu File=/dev/nvidia0,/dev/nvidia[2-3] Count=3\n", 3, NULL},
        {"Name=gpu Type=(null) Count=4\n", 4, NULL},
        {"Name=gpu Type=mi300x\n", 1, "mi300x"},
        {"Name=gpu Count=0\nName=gpu Type=b\n", 1, "b"},
        {"Name=gpu Type=1g.10gb MultipleFiles=/dev/nvidia0,/dev/nvidia-caps/nvidia-cap21\n", 1,
         "1g.10gb"},
        {"AutoDetect=nvml\nName=gpu AutoDetect=nvml\nName=gpu Type=t4 File=/dev/nvidia0\n", 1,
         "t4"},
        {"slurmd: Gres Name=gpu Type=0x1002 Count=1 Index=128 File=/dev/dri/renderD128 Links=-1\n",
         1, "0x1002"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP(node_evidence) struct node_evidence *evidence = read_text(cases[i].text);
        assert_int_equal(evidence->gpu_count, cases[i].count);
        assert_int_equal(evidence->nvlink, NVLINK_UNKNOWN);
        expect_link_counts(evidence, "-");
        if (cases[i].type)
            assert_string_equal(evidence->gpus[0].model_text, cases[i].type);
        else
            assert_null(evidence->gpus[0].model_text);
    }
}

static void instances_are_marked(void **state)
{
    (void)state;
    CLEANUP(node_evidence)
    struct node_evidence *evidence =
        read_text("Gres Name=gpu Type=h100_4g.40gb Count=1 File=/dev/nvidia-caps/nvidia-cap291 "
                  "Links=(null)\nGres Name=gpu Type=h100 Count=1 File=/dev/nvidia0 Links=(null)\n");
    assert_true(evidence->gpus[0].mig);
    assert_false(evidence->gpus[1].mig);
}

/* Behind switches Slurm counts nothing. */
static void zeros_say_nothing(void **state)
{
    (void)state;
    CLEANUP(node_evidence)
    struct node_evidence *evidence =
        read_text(OUTPUT("0", "0-31", "-1,0") OUTPUT("1", "0-31", "0,-1"));
    assert_int_equal(evidence->nvlink, NVLINK_UNKNOWN);
    expect_link_counts(evidence, "-");
    expect_note(evidence, "gres.conf: Links= are all 0, which says nothing");
}

static void links_in_doubt(void **state)
{
    (void)state;
    static const struct {
        const char *links[3];
        const char *counts, *note;
    } cases[] = {
        {{"-1,2,1", "2,-1,0", "1,0,-1"}, "0 2 1,2 0 0,1 0 0", NULL},
        {{"-1,2,1", "4,-1,0", "1,0,-1"},
         "0 2 1,2 0 0,1 0 0",
         "gres.conf: GPUs 1 and 0 count 4 and 2 links to each other"},
        /* not in its own place, too short, too long, no numbers: the other row may know */
        {{"2,-1,1", "2,-1,0", "1,0,-1"},
         "0 2 1,2 0 0,1 0 0",
         "gres.conf:1: Links=2,-1,1 is no list for GPU 0 of 3"},
        {{"-1,2", "2,-1,0", "1,0,-1"}, "0 2 1,2 0 0,1 0 0", "Links=-1,2 is no list"},
        {{"-1,2,1,0", "2,-1,0", "1,0,-1"}, "0 2 1,2 0 0,1 0 0", "Links=-1,2,1,0 is no list"},
        {{"-1,2,x", "2,-1,0", "1,0,-1"}, "0 2 1,2 0 0,1 0 0", "Links=-1,2,x is no list"},
        {{"-1,2,256", "2,-1,0", "1,0,-1"}, "0 2 1,2 0 0,1 0 0", "Links=-1,2,256 is no list"},
        {{"-1,,1", "2,-1,0", "1,0,-1"}, "0 2 1,2 0 0,1 0 0", "Links=-1,,1 is no list"},
        {{"-1,2,00000001", "2,-1,0", "1,0,-1"}, "0 2 1,2 0 0,1 0 0", "is no list"},
        {{"-1,2,-1", "2,-1,0", "1,0,-1"}, "0 2 1,2 0 0,1 0 0", "Links=-1,2,-1 is no list"},
        {{"3,2,1", "2,-1,0", "1,0,-1"}, "0 2 1,2 0 0,1 0 0", "Links=3,2,1 is no list"},
        {{"x", "2,-1,0", "x"}, "0 2 ?,2 0 0,? 0 0", "is no list for GPU 2"},
        {{"x", "x", "x"}, "-", "is no list"},
        {{"(null)", "2,-1,0", "(null)"}, "0 2 ?,2 0 0,? 0 0", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP_DONE(text_buffer) struct text_buffer text;
        text_buffer_init(&text, 4096);
        for (unsigned k = 0; k < 3; k++)
            text_buffer_add(&text, "Name=gpu File=/dev/nvidia%u Links=%s\n", k, cases[i].links[k]);
        CLEANUP(node_evidence)
        struct node_evidence *evidence = read_text(text_buffer_text(&text));
        expect_link_counts(evidence, cases[i].counts);
        if (cases[i].note)
            expect_note(evidence, cases[i].note);
        else
            expect_no_notes(evidence);
    }
}

static void cores_must_be_a_list(void **state)
{
    (void)state;
    CLEANUP(node_evidence)
    struct node_evidence *evidence = read_text("Name=gpu File=/dev/nvidia0 Cores=7-0\n");
    assert_null(evidence->gpus[0].cpus);
    expect_note(evidence, "gres.conf:1: Cores=7-0 is no list of cores");
}

static void reads_the_first_node(void **state)
{
    (void)state;
    CLEANUP(node_evidence)
    struct node_evidence *evidence =
        read_text("NodeName=login AutoDetect=off\n"
                  "NodeName=a[1-2] Name=gpu Type=a100 File=/dev/nvidia[0-1]\n"
                  "NodeName=h[1-9] Name=gpu Type=h100 File=/dev/nvidia[0-7]\n"
                  "NodeName=a1,x Name=gpu Type=a100 File=/dev/nvidia2\n");
    assert_int_equal(evidence->gpu_count, 3);
    assert_string_equal(evidence->gpus[0].model_text, "a100");
    expect_note(evidence, "gres.conf:3: GPUs of other nodes are described, too; those of a1");
}

static void refuses_with_place(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"", "gres.conf: no line with Name=gpu names a GPU of a node"},
        {"Name=mps Count=100\n", "no line with Name=gpu"},
        {"NodeName=n1 Name=gpu Count=0\n", "no line with Name=gpu names a GPU of n1"},
        {"\n AutoDetect=nvml\n", "gres.conf:2: AutoDetect= leaves the GPUs to slurmd"},
        {"Name=gpu AutoDetect=rsmi\n", "gres.conf:1: AutoDetect= leaves the GPUs to slurmd"},
        {"Name=gpu\ninclude more.conf\n", "gres.conf:2: Include is not followed"},
        {"Name=gpu\nInclude\tmore.conf\n", "gres.conf:2: Include is not followed"},
        {"Name=gpu Files=/dev/nvidia0\n", "gres.conf:1: unknown key Files; did you mean File"},
        {"Name=gpu Frobnicate=1\n", "gres.conf:1: unknown key Frobnicate"},
        {"Name=gpu Name=gpu\n", "gres.conf:1: Name= stands twice"},
        {"Name=gpu Cores=1 CPUs=1\n", "gres.conf:1: CPUs= stands twice"},
        {"Name=gpu /dev/nvidia0\n", "gres.conf:1: KEY=VALUE is expected at '/dev/nvidia0'"},
        {"Name=gpu =x\n", "KEY=VALUE is expected"},
        {"Name=gpu Type=\"a100\n", "gres.conf:1: Type: the closing '\"' is missing"},
        {"Type=a100 File=/dev/nvidia0\n", "gres.conf:1: Name= is missing"},
        {"Name=gpu File=/dev/nvidia[0-\n", "gres.conf:1: File: "},
        {"Name=gpu File=/dev/nvidia[0-3] Count=2\n", "Count=2, and File= names 4 devices"},
        {"Name=gpu Count=x\n", "gres.conf:1: Count: "},
        {"Name=gpu Count=65\n", "gres.conf:1: Count: "},
        {"Name=gpu File=/dev/nvidia[0-64]\n", "gres.conf:1: more than 64 GPUs in one node"},
        {"Name=gpu File=/dev/nvidia0\nName=gpu File=/dev/nvidia0\n",
         "gres.conf:2: /dev/nvidia0 stands at line 1 already"},
        {"NodeName=n[1- Name=gpu\n", "gres.conf:1: NodeName: "},
        {"NodeName=n[1-999999] Name=gpu Type=a\nNodeName=m[1-999999] Name=gpu Type=a\n",
         "gres.conf:2: more than 1048576 names of nodes"},
        {"slurmd: Gres Name=gpu Count=1 broken\n", "gres.conf:1: KEY=VALUE is expected"},
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
    assert_null(slurm_gres_parse("Name=gpu\0", 9, "gres.conf", &err));
    expect_message(&err, "NUL byte");
    assert_null(slurm_gres_parse("", SLURM_GRES_MAXIMUM_BYTES + 1, "gres.conf", &err));
    expect_message(&err, "larger than 1 MiB");
}

static int parse_pair(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(node_evidence)
    struct node_evidence *evidence =
        parse("NodeName=n[1-2] Name=gpu Type=a100 File=/dev/nvidia0 Cores=0-3 Links=-1,4\n"
              "NodeName=n1 Name=gpu Type=a100 File=/dev/nvidia1 Cores=4-7 Links=4,-1\n",
              err);
    return evidence ? 0 : -1;
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(parse_pair, NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reads_every_spelling),    cmocka_unit_test(counts_devices),
    cmocka_unit_test(instances_are_marked),    cmocka_unit_test(zeros_say_nothing),
    cmocka_unit_test(links_in_doubt),          cmocka_unit_test(cores_must_be_a_list),
    cmocka_unit_test(reads_the_first_node),    cmocka_unit_test(refuses_with_place),
    cmocka_unit_test(survives_lack_of_memory),
};

int main(void) { return unit_test_main("topology/slurm_gres", tests, COUNT_OF(tests)); }
