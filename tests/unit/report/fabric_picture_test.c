/* SPDX-License-Identifier: MIT */
#include "report/pictures/fabric_picture.h"
#include "tests/support/svg_check.h"
#include "tests/support/unit_test.h"
#include "topology/preset_catalogue.h"

#include <stdio.h>
#include <string.h>

#define SIZE_MAXIMUM ((size_t)300 << 10)

static struct gpu_catalogue *gpus;
static struct preset_catalogue *presets;

static int open_catalogues(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    gpus = gpu_catalogue_builtin(&err);
    presets = preset_catalogue_builtin(&err);
    return gpus && presets ? 0 : -1;
}

static int close_catalogues(void **state)
{
    (void)state;
    preset_catalogue_free(presets);
    gpu_catalogue_free(gpus);
    return 0;
}

static void expect(const struct text_buffer *out, const char *what, const char *const *words)
{
    if (text_buffer_failed(out))
        return;
    const char *text = text_buffer_text(out), *wrong = svg_check_form(text);
    if (!wrong)
        wrong = svg_check_texts(text);
    if (wrong)
        fail_msg("%s: %s", what, wrong);
    if (out->length > SIZE_MAXIMUM)
        fail_msg("%s: %zu bytes", what, out->length);
    for (; words && *words; words++)
        if (!strstr(text, *words))
            fail_msg("'%s' is not in the picture of %s:\n%s", *words, what, text);
}

static void expect_cluster(struct cluster_topology *cluster, const char *const *words)
{
    CLEANUP(cluster_topology) struct cluster_topology *owned = cluster;
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 16 << 20);
    if (!owned)
        return;
    cluster_picture(owned, &out);
    expect(&out, owned->name, words);
}

static void expect_preset(const char *name, const char *const *words)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct cluster_topology *cluster = cluster_topology_from_preset(name, presets, gpus, &err);
    if (!cluster && err.kind != ERROR_MEMORY)
        fail_msg("%s", err.text);
    expect_cluster(cluster, words);
}

static void expect_file(const char *text, const char *const *words)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct cluster_topology *cluster =
        cluster_topology_parse(text, strlen(text), "cluster.yaml", presets, gpus, &err);
    if (!cluster && err.kind != ERROR_MEMORY)
        fail_msg("%s", err.text);
    expect_cluster(cluster, words);
}

static void expect_fabric(const char *text, const char *const *words)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(fabric)
    struct fabric *fabric = fabric_parse_slurm(text, strlen(text), "topology.conf", &err);
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 16 << 20);
    if (!fabric && err.kind != ERROR_MEMORY)
        fail_msg("%s", err.text);
    if (!fabric)
        return;
    fabric_picture(fabric, &out);
    expect(&out, text, words);
}

static void draws_presets(void **state)
{
    (void)state;
    static const char *const one[] = {"dgx-h100: 16 nodes, 8 × h100-sxm", ">leaf1<", "n[001-016]",
                                      NULL};
    static const char *const two[] = {
        ">spine<", ">leaf2<", ">102 Tb/s<", "64 nodes · 512 GPUs", "<title>n064</title>", NULL};
    static const char *const racks[] = {">72 GPUs<", "NVLink domain", "hue1", NULL};
    expect_preset("dgx-h100:16", one);
    expect_preset("dgx-h100:64", two);
    expect_preset("gb200-nvl72:36", racks);
}

static void stays_small(void **state)
{
    (void)state;
    static const char *const trees[] = {">leaf10<", ">leaf313<", ">× 302<", ">9,664 nodes<", NULL};
    static const char *const racks[] = {">leaf556<", ">545 domains<", "40,000 GPUs", NULL};
    UNIT_TEST_SKIP_TORTURE();
    expect_preset("dgx-h100:10000", trees);
    expect_preset("gb200-nvl72:10000", racks);
}

static void draws_deep_trees(void **state)
{
    (void)state;
    static const char *const all[] = {">core<", ">s4<", ">l8<", ">8 nodes<", NULL};
    static const char *const some[] = {">core<", ">s1<", ">s3<", ">× 9<", NULL};
    static const char *const direct[] = {">top<", ">a<", "n[5-6]", NULL};
    static const char *const deep[] = {">top<", ">× 1<", ">× 9<", NULL};
    expect_fabric("SwitchName=l1 Nodes=n[1-8]\nSwitchName=l2 Nodes=n[11-18]\n"
                  "SwitchName=l3 Nodes=n[21-28]\nSwitchName=l4 Nodes=n[31-38]\n"
                  "SwitchName=l5 Nodes=n[41-48]\nSwitchName=l6 Nodes=n[51-58]\n"
                  "SwitchName=l7 Nodes=n[61-68]\nSwitchName=l8 Nodes=n[71-78]\n"
                  "SwitchName=s1 Switches=l[1-2]\nSwitchName=s2 Switches=l[3-4]\n"
                  "SwitchName=s3 Switches=l[5-6]\nSwitchName=s4 Switches=l[7-8]\n"
                  "SwitchName=core Switches=s[1-4]\n",
                  all);
    char text[8192] = "";
    size_t length = 0;
    for (unsigned i = 1; i <= 36; i++)
        length += (size_t)snprintf(text + length, sizeof(text) - length,
                                   "SwitchName=l%u Nodes=n[%u-%u]\n", i, i * 100, i * 100 + 3);
    snprintf(text + length, sizeof(text) - length,
             "SwitchName=s1 Switches=l[1-12]\nSwitchName=s2 Switches=l[13-24]\n"
             "SwitchName=s3 Switches=l[25-36]\nSwitchName=core Switches=s[1-3]\n");
    expect_fabric(text, some);
    expect_fabric("SwitchName=a Nodes=n[1-4]\nSwitchName=top Switches=a Nodes=n[5-6]\n", direct);
    length = 0;
    for (unsigned i = 1; i <= 20; i++)
        length += (size_t)snprintf(text + length, sizeof(text) - length,
                                   "SwitchName=a%u Nodes=n%u\nSwitchName=t%u Switches=a%u "
                                   "Nodes=m%u\n",
                                   i, i, i, i, i);
    snprintf(text + length, sizeof(text) - length, "SwitchName=top Switches=t[1-20]\n");
    expect_fabric(text, deep);
}

static void says_what_joins_is_unknown(void **state)
{
    (void)state;
    static const char *const forest[] = {"? what joins these, no source tells", NULL};
    static const char *const nothing[] = {"switches ?", "no switch named: place not known", NULL};
    static const char *const astray[] = {"class=\"unsure\"", ">lost[1-2]<", NULL};
    expect_fabric("SwitchName=a Nodes=n[1-4]\nSwitchName=b Nodes=n[5-8]\n", forest);
    expect_file("schema: parplan.cluster/1\nkinds: {k: {preset: dgx-h100}}\n"
                "nodes: [{names: \"n[1-4]\", kind: k}]\n",
                nothing);
    expect_file("schema: parplan.cluster/1\nkinds: {k: {preset: dgx-h100}, l: {preset: mi300x}}\n"
                "nodes: [{names: \"n[1-4]\", kind: k}, {names: \"lost[1-2]\", kind: l}]\n"
                "fabric: {switches: [{name: a, nodes: \"n[1-4]\"}]}\n",
                astray);
}

static void draws_rails(void **state)
{
    (void)state;
    static const char *const words[] = {"2 rails",  "leaf, by its rail", ">s0<",
                                        ">n[1-4]<", "↑ 3.20 Tb/s",       NULL};
    expect_file("schema: parplan.cluster/1\nkinds: {k: {preset: dgx-h100}}\n"
                "nodes: [{names: \"n[1-8]\", kind: k}]\n"
                "fabric:\n  switches:\n"
                "    - {name: a0, nodes: \"n[1-4]\", rail: 0, uplink: 3200Gb/s}\n"
                "    - {name: a1, nodes: \"n[1-4]\", rail: 1, uplink: 3200Gb/s}\n"
                "    - {name: b0, nodes: \"n[5-8]\", rail: 0, uplink: 3200Gb/s}\n"
                "    - {name: b1, nodes: \"n[5-8]\", rail: 1, uplink: 3200Gb/s}\n"
                "    - {name: s0, children: \"a0,b0\"}\n"
                "    - {name: s1, children: \"a1,b1\"}\n",
                words);
}

static void bundles_sets_of_rails(void **state)
{
    (void)state;
    static const char *const words[] = {">3 sets of leaves more<", "12 rails", "n[61-62]", NULL};
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, 1 << 20);
    text_buffer_add_text(&text, "schema: parplan.cluster/1\nkinds: {k: {preset: dgx-h100}}\n"
                                "nodes: [{names: \"n[11-12,21-22,31-32,41-42,51-52,61-62]\", "
                                "kind: k}]\nfabric:\n  switches:\n");
    for (unsigned set = 1; set <= 6; set++)
        for (unsigned rail = 0; rail < 12; rail++)
            text_buffer_add(&text, "    - {name: u%u-%u, nodes: \"n[%u1-%u2]\", rail: %u}\n", set,
                            rail, set, set, rail);
    if (!text_buffer_failed(&text))
        expect_file(text_buffer_text(&text), words);
}

static struct node_list *names(const char *text)
{
    struct error_info err = {.kind = ERROR_NONE};
    return node_list_decode(text, &err);
}

/* Domains over two leaves, names, an oversubscribed uplink, and names that bite. */
static void draws_domains_and_ratios(void **state)
{
    (void)state;
    static const char *const words[] = {">rack &lt;1&gt; · 2 of 4 nodes<",
                                        ">400 Gb/s<",
                                        ">2:1<",
                                        "2:1 is downlinks to uplink",
                                        "a&amp;b",
                                        "careful",
                                        "source &lt;x&gt;",
                                        NULL};
    CLEANUP(node_list) struct node_list *left = names("n[1-2]"), *right = names("n[3-4]");
    CLEANUP(node_list) struct node_list *all = names("n[1-4]"), *leaves = names("a&b,c");
    if (!left || !right || !all || !leaves)
        return;
    const struct fabric_switch_input switches[] = {
        {.name = "a&b",
         .nodes = left,
         .uplink_bytes_per_second = 50e9,
         .downlink_bytes_per_second = 100e9},
        {.name = "c", .nodes = right},
        {.name = "top", .children = leaves},
    };
    const struct fabric_domain_input domains[] = {{.nodes = all, .name = "rack <1>"}};
    static const char *const warnings[] = {"careful"};
    const struct fabric_input input = {
        .source = "source <x>",
        .switches = switches,
        .switch_count = COUNT_OF(switches),
        .nvlink_domains = domains,
        .nvlink_domain_count = 1,
        .warnings = warnings,
        .warning_count = 1,
    };
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(fabric) struct fabric *fabric = fabric_build(&input, &err);
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 1 << 20);
    if (!fabric)
        return;
    fabric_picture(fabric, &out);
    expect(&out, "domains", words);
}

static void is_the_same_every_time(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster =
        cluster_topology_from_preset("gb200-nvl72:90", presets, gpus, &err);
    CLEANUP_DONE(text_buffer) struct text_buffer first, second;
    text_buffer_init(&first, 16 << 20);
    text_buffer_init(&second, 16 << 20);
    if (!cluster)
        return;
    cluster_picture(cluster, &first);
    cluster_picture(cluster, &second);
    if (!text_buffer_failed(&first) && !text_buffer_failed(&second))
        assert_string_equal(text_buffer_text(&first), text_buffer_text(&second));
}

static int draw(void *context, struct error_info *err)
{
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 16 << 20);
    cluster_picture(context, &out);
    return text_buffer_failed(&out) ? error_set_memory(err) : 0;
}

static void fails_cleanly_without_memory(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster =
        cluster_topology_from_preset("gb200-nvl72:19", presets, gpus, &err);
    if (cluster)
        unit_test_expect_clean_failures(draw, cluster);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(draws_presets, open_catalogues, close_catalogues),
    cmocka_unit_test_setup_teardown(stays_small, open_catalogues, close_catalogues),
    cmocka_unit_test(draws_deep_trees),
    cmocka_unit_test_setup_teardown(says_what_joins_is_unknown, open_catalogues, close_catalogues),
    cmocka_unit_test_setup_teardown(draws_rails, open_catalogues, close_catalogues),
    cmocka_unit_test_setup_teardown(bundles_sets_of_rails, open_catalogues, close_catalogues),
    cmocka_unit_test(draws_domains_and_ratios),
    cmocka_unit_test_setup_teardown(is_the_same_every_time, open_catalogues, close_catalogues),
    cmocka_unit_test_setup_teardown(fails_cleanly_without_memory, open_catalogues,
                                    close_catalogues),
};

int main(void) { return unit_test_main("report/fabric_picture", tests, COUNT_OF(tests)); }
