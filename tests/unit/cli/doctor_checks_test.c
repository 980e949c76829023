/* SPDX-License-Identifier: MIT */
/* The checks as functions of texts: facts in, one finding out. */
#include "cli/doctor/doctor_report.h"
#include "cli/doctor/node_checks.h"
#include "cli/doctor/plugin_checks.h"
#include "cli/doctor/plugstack_checks.h"
#include "cli/doctor/slurm_checks.h"
#include "tests/support/elf_sample.h"
#include "tests/support/file_tree.h"
#include "tests/support/unit_test.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SLURM_22 0x160508u

static const struct finding *only(const struct findings *findings, const char *point)
{
    assert_int_equal(findings->count, 1);
    assert_string_equal(findings->list[0].point, point);
    return &findings->list[0];
}

static void expect(const struct findings *findings, const char *point, enum finding_state state,
                   const char *text)
{
    const struct finding *finding = only(findings, point);
    assert_string_equal(finding_state_name(finding->state), finding_state_name(state));
    if (!strstr(finding->text, text))
        fail_msg("'%s' has no '%s'", finding->text, text);
    assert_int_equal(finding->remedy[0] != '\0', state != FINDING_OK);
}

static void judges_versions(void **state)
{
    (void)state;
    static char here[] = "slurm-wlm 22.05.8\n", same[] = "SLURM_VERSION = 22.05.8\n",
                other[] = "SLURM_VERSION = 23.02.1\n", nothing[] = "bash 5\n";
    static const struct {
        char *client, *settings;
        enum finding_state want;
        const char *text;
    } rows[] = {
        {here, same, FINDING_OK, "Slurm 22.05.8, as slurmctld"},
        {here, NULL, FINDING_OK, "Slurm 22.05.8"},
        {here, other, FINDING_WARNING, "Slurm here is 22.05.8, slurmctld is 23.02.1"},
        {nothing, same, FINDING_WARNING, "which has no version"},
        {NULL, NULL, FINDING_FAULT, "cannot run scontrol"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct findings findings = {.count = 0};
        struct doctor_facts facts = {.client_version = rows[i].client,
                                     .settings = rows[i].settings};
        error_set_system(&facts.client_error, "cannot run scontrol");
        check_slurm_version(&facts, &findings);
        expect(&findings, "slurm-version", rows[i].want, rows[i].text);
    }
}

static void says_that_slurmctld_is_down(void **state)
{
    (void)state;
    struct findings findings = {.count = 0};
    struct doctor_facts facts = {.slurm_conf = "/c"};
    check_controller(&facts, &findings);
    expect(&findings, "slurmctld", FINDING_OK, "it answers");
    findings.count = 0;
    error_set_system(&facts.controller_error, "scontrol: no answer within 5 s");
    check_controller(&facts, &findings);
    expect(&findings, "slurmctld", FINDING_FAULT, "no answer within 5 s");
    findings.count = 0;
    assert_int_equal(check_topology(&facts, &findings, NULL), 0);
    check_node_gpus(&facts, NULL, NULL, &findings);
    assert_int_equal(findings.count, 0); /* said once */
}

/* Entries by hand: no file is read. */
static void judges_the_plugins_line(void **state)
{
    (void)state;
    enum { OURS, OPTIONAL, RELATIVE, PYXIS, UNKNOWN, BY_NAME, TWICE, GOOD, NEAR, OTHER };
    static const struct plugstack_entry lines[] = {
        [OURS] = {true, "/lib/spank_parplan.so", "", "a:1"},
        [OPTIONAL] = {false, "spank_parplan.so", "", "b:2"},
        [RELATIVE] = {true, "spank_parplan.so", "config=/c cache=node.cache", "d:4"},
        [PYXIS] = {true, "/lib/spank_pyxis.so", "", "c:3"},
        [UNKNOWN] = {true, "spank_parplan.so", "cache=/n conf=/c", "e:5"},
        [BY_NAME] = {true, "spank_parplan.so", "owner=root", "f:6"},
        [TWICE] = {true, "spank_parplan.so", "config=/c config=/d", "g:7"},
        [GOOD] = {true, "spank_parplan.so", "config=/c  owner=0\tcache=/n", "h:8"},
        [NEAR] = {true, "/lib/parplan.so", "", "i:9"},
        [OTHER] = {true, "spank_parplan.so", "debug", "j:10"},
    };
    static const struct {
        int entries[2];
        size_t count;
        enum finding_state want;
        const char *text;
    } rows[] = {
        {{OURS}, 1, FINDING_OK, "a:1: required"},
        {{PYXIS, OURS}, 2, FINDING_OK, "a:1: required, behind pyxis"},
        {{OURS, PYXIS}, 2, FINDING_FAULT, "c:3: pyxis comes behind parplan"},
        {{OURS, OPTIONAL}, 2, FINDING_FAULT, "a:1 and b:2 both name"},
        {{OPTIONAL}, 1, FINDING_WARNING, "b:2: optional"},
        {{RELATIVE}, 1, FINDING_FAULT, "d:4: cache= is no absolute path"},
        {{UNKNOWN}, 1, FINDING_FAULT, "e:5: unknown argument conf=/c"},
        {{BY_NAME}, 1, FINDING_FAULT, "f:6: owner=root is no number"},
        {{TWICE}, 1, FINDING_FAULT, "g:7: config= stands twice"},
        {{GOOD}, 1, FINDING_OK, "h:8: required"},
        {{OTHER}, 1, FINDING_FAULT, "j:10: unknown argument debug"},
        {{PYXIS, NEAR}, 2, FINDING_FAULT, "i:9: /lib/parplan.so is not our plugin"},
        {{PYXIS}, 1, FINDING_FAULT, "/p and what it includes do not name spank_parplan.so"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(plugstack) struct plugstack *stack = memory_allocate(sizeof(*stack));
        struct findings findings = {.count = 0};
        struct doctor_facts facts = {.plugstack_path = "/p", .stack = stack};
        for (size_t k = 0; stack && k < rows[i].count; k++)
            stack->entries[stack->count++] = lines[rows[i].entries[k]];
        if (!stack)
            continue;
        size_t ours = plugstack_find(stack, DOCTOR_PLUGIN, 0);
        facts.entry = ours < stack->count ? &stack->entries[ours] : NULL;
        check_plugstack(&facts, &findings);
        expect(&findings, "plugstack", rows[i].want, rows[i].text);
    }
}

static void lay_plugin(const char *root, const char *name, uint32_t version)
{
    struct elf_sample sample;
    elf_sample_fill(&sample, "plugin_version", version);
    file_tree_write_bytes(root, &sample, sizeof(sample), name);
}

static void judges_the_plugins_file(void **state)
{
    (void)state;
    char root[FILE_TREE_ROOT_BYTES], path[256];
    file_tree_create(root);
    file_tree_open(root);
    snprintf(path, sizeof(path), "%s/spank_parplan.so", root);
    struct plugstack_entry entry = {.path = path};
    static char version[] = "slurm 22.05.8\n";
    struct doctor_facts facts = {
        .entry = &entry, .client_version = version, .owner = (unsigned)geteuid()};
    struct findings findings = {.count = 0};
    check_plugin(&facts, &findings);
    expect(&findings, "plugin-file", FINDING_FAULT, "is not there");
    static const struct {
        uint32_t version;
        enum finding_state want;
        const char *text;
    } rows[] = {
        {SLURM_22, FINDING_OK, "built for Slurm 22.05"},
        {SLURM_22 + 1, FINDING_OK, "built for Slurm 22.05"}, /* micro does not count */
        {0x170208, FINDING_FAULT, "built for Slurm 23.02, here is 22.05"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        findings.count = 0;
        lay_plugin(root, "spank_parplan.so", rows[i].version);
        assert_int_equal(chmod(path, 0644), 0);
        check_plugin(&facts, &findings);
        if (findings.count == 1)
            continue; /* out of memory: the file could not be read */
        assert_int_equal(findings.count, 2);
        assert_int_equal(findings.list[0].state, FINDING_OK);
        assert_int_equal(findings.list[1].state, rows[i].want);
        assert_non_null(strstr(findings.list[1].text, rows[i].text));
    }
    findings.count = 0;
    assert_int_equal(chmod(path, 0666), 0);
    check_plugin(&facts, &findings);
    expect(&findings, "plugin-file", FINDING_FAULT, "is writable by others");
}

static void wants_job_submit_of_the_same_version(void **state)
{
    (void)state;
    char root[FILE_TREE_ROOT_BYTES], settings[512];
    file_tree_create(root);
    static const struct {
        const char *plugins;
        bool requires_plan;
        uint32_t version; /* 0: no file */
        enum finding_state want;
        const char *text;
    } rows[] = {
        {"(null)", false, 0, FINDING_OK, "not used"},
        {"lua", true, 0, FINDING_WARNING, "require_plan"},
        {"lua,parplan", true, SLURM_22, FINDING_OK, "built for Slurm 22.05.8"},
        {"parplan", false, SLURM_22 - 1, FINDING_FAULT, "22.05.7, slurmctld is 22.05.8"},
        {"parplan", false, 0, FINDING_WARNING, "is not on this machine"},
        {"lua", false, 0, FINDING_OK, "not used"},
        {"lua,job_submit_parplan.so", false, 0, FINDING_FAULT, "names job_submit_parplan.so"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct findings findings = {.count = 0};
        struct doctor_facts facts = {.settings = settings, .owner = (unsigned)geteuid()};
        snprintf(settings, sizeof(settings),
                 "SLURM_VERSION = 22.05.8\nPluginDir = /nowhere:%s\nJobSubmitPlugins = %s\n", root,
                 rows[i].plugins);
        if (rows[i].version)
            lay_plugin(root, "job_submit_parplan.so", rows[i].version);
        check_job_submit(&facts, rows[i].requires_plan, &findings);
        if (rows[i].version)
            file_tree_remove(root, "job_submit_parplan.so");
        expect(&findings, "job-submit", rows[i].want, rows[i].text);
    }
}

static char *environment_of(const char *first, const char *second, size_t *ret_bytes)
{
    static char entries[512];
    int one = snprintf(entries, sizeof(entries), "PATH=/bin%c%s", '\0', first);
    int other = snprintf(entries + one + 1, sizeof(entries) - (size_t)one - 1, "%s", second);
    *ret_bytes = (size_t)(one + other) + 2;
    return entries;
}

static void judges_what_slurmctld_reads(void **state)
{
    (void)state;
    char root[FILE_TREE_ROOT_BYTES], owner[64], settings[256], path[PATH_MAX], named[PATH_MAX + 32];
    file_tree_create(root);
    file_tree_write(root, "schema: parplan.config/1\n", "parplan.yaml");
    file_tree_write(root, "schema: parplan.config/1\n", "other.yaml");
    snprintf(owner, sizeof(owner), "PARPLAN_CONFIG_OWNER=%u", (unsigned)geteuid());
    snprintf(settings, sizeof(settings), "JobSubmitPlugins = parplan\nPluginDir = %s\n", root);
    lay_plugin(root, "job_submit_parplan.so", SLURM_22);
    const struct {
        const char *value, *owner; /* value: below the root, or as it is */
        enum finding_state want;
        const char *text;
    } rows[] = {
        {"/parplan.yaml", owner, FINDING_OK, "parplan.yaml), as srun"},
        {"/other.yaml", owner, FINDING_FAULT, "another file than srun"},
        {"/none.yaml", owner, FINDING_FAULT, "another file than srun"},
        {"parplan.yaml", owner, FINDING_FAULT, "(parplan.yaml) is no absolute path"},
        {NULL, owner, FINDING_FAULT, "(not set) is another file"},
        {"/parplan.yaml", "PARPLAN_CONFIG_OWNER=root", FINDING_FAULT, "OWNER of slurmctld is no"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct findings findings = {.count = 0};
        struct doctor_facts facts = {
            .settings = settings, .controller_pid = 7, .owner = (unsigned)geteuid()};
        snprintf(facts.config_path, sizeof(facts.config_path), "%s/parplan.yaml", root);
        snprintf(path, sizeof(path), "%s%s", rows[i].value && rows[i].value[0] == '/' ? root : "",
                 rows[i].value ? rows[i].value : "");
        snprintf(named, sizeof(named), "%s=%s", rows[i].value ? "PARPLAN_CONFIG" : "X", path);
        facts.environment = environment_of(named, rows[i].owner, &facts.environment_bytes);
        check_job_submit(&facts, false, &findings);
        if (findings.count != 2)
            fail_msg("%zu findings", findings.count);
        assert_string_equal(findings.list[1].point, "submit-config");
        if (!strstr(findings.list[1].text, rows[i].text))
            fail_msg("'%s' has no '%s'", findings.list[1].text, rows[i].text);
        assert_int_equal(findings.list[1].state, rows[i].want);
    }
}

static void recommends_settings(void **state)
{
    (void)state;
    static char good[] = "KillOnBadExit = 1\nMpiParams = ports=12000-12999\n",
                poor[] = "KillOnBadExit = 0\nMpiParams = (null)\n";
    struct findings findings = {.count = 0};
    struct doctor_facts facts = {.settings = good};
    check_slurm_settings(&facts, &findings);
    assert_int_equal(findings_count(&findings, FINDING_OK), 2);
    facts.settings = poor;
    findings.count = 0;
    check_slurm_settings(&facts, &findings);
    assert_int_equal(findings_count(&findings, FINDING_WARNING), 2);
}

static void compares_the_topology_with_the_nodes(void **state)
{
    (void)state;
    static const char tree[] = "SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=n[1-2]\n"
                               "SwitchName=spine Level=1 LinkSpeed=1 Nodes=n[1-2] Switches=leaf1\n";
    static const struct {
        const char *topology, *nodes;
        enum finding_state want;
        const char *text;
    } rows[] = {
        {tree, "NodeName=n1 Gres=gpu:8\nNodeName=n2 Gres=gpu:8\n", FINDING_OK,
         "2 nodes, 2 switches, 2 tiers"},
        {tree, "NodeName=n1 Gres=gpu:8\nNodeName=n2\nNodeName=cpu1 Gres=(null)\n", FINDING_OK,
         "2 nodes"},
        {tree, "NodeName=n1\nNodeName=n2\nNodeName=n3 Gres=gpu:8\n", FINDING_WARNING, "(1): n3"},
        {tree, "NodeName=n1\n", FINDING_WARNING, "that the cluster has not (1): n2"},
        {tree, NULL, FINDING_OK, "2 nodes"},
        {"", "NodeName=n1\n", FINDING_WARNING, "tells none"},
        {"SwitchName=leaf1 Nodes=n[1-\n", "NodeName=n1\n", FINDING_FAULT, "show topology:1"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct findings findings = {.count = 0};
        struct error_info err = {.kind = ERROR_NONE};
        struct doctor_facts facts = {.topology = (char *)rows[i].topology,
                                     .nodes = (char *)rows[i].nodes};
        if (check_topology(&facts, &findings, &err) < 0)
            assert_int_equal(err.kind, ERROR_MEMORY);
        else
            expect(&findings, "topology", rows[i].want, rows[i].text);
    }
}

static void compares_gpus(void **state)
{
    (void)state;
    static const struct {
        const char *nodes, *preset; /* NULL: what the node has is not known */
        enum finding_state want;
        const char *text;
    } rows[] = {
        {"NodeName=n1 Gres=gpu:h100:8(S:0-1)\n", "dgx-h100", FINDING_OK, "8 of type h100"},
        {"NodeName=n1 Gres=gpu:h100:4,gpu:h100:4\n", "dgx-h100", FINDING_WARNING, "no type"},
        {"NodeName=n1 Gres=gpu:8\n", "dgx-h100", FINDING_WARNING, "no type"},
        {"NodeName=n1 Gres=gpu:big:8\n", "dgx-h100", FINDING_WARNING, "(big)"},
        {"NodeName=n1 Gres=gpu:a100:8\n", "dgx-h100", FINDING_FAULT, "they are h100-sxm"},
        {"NodeName=n1 Gres=gpu:h100:4\n", "dgx-h100", FINDING_WARNING, "4 of the 8"},
        {"NodeName=n1 Gres=gpu:h100:9\n", "dgx-h100", FINDING_FAULT, "gives out 9, this node has"},
        {"NodeName=n1 Gres=gpu:h100:8\n", NULL, FINDING_WARNING, "is not known"},
        {"NodeName=n2 Gres=gpu:h100:8\n", NULL, FINDING_OK, "n1 is no node of the cluster"},
    };
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = gpu_catalogue_builtin(NULL);
    CLEANUP(preset_catalogue) struct preset_catalogue *presets = preset_catalogue_builtin(NULL);
    for (size_t i = 0; gpus && presets && i < COUNT_OF(rows); i++) {
        struct findings findings = {.count = 0};
        struct doctor_facts facts = {.host = "n1", .nodes = (char *)rows[i].nodes};
        CLEANUP(node_topology) struct node_topology *node = NULL;
        if (rows[i].preset && !(node = node_topology_from_preset(
                                    preset_catalogue_find(presets, rows[i].preset), gpus, NULL)))
            continue;
        check_node_gpus(&facts, node, gpus, &findings);
        expect(&findings, "gpus", rows[i].want, rows[i].text);
    }
}

static void parts_remedies_and_keeps_its_maximum(void **state)
{
    (void)state;
    struct findings findings = {.count = 0};
    findings_add(&findings, "a", FINDING_FAULT, "one; two\n; three");
    assert_string_equal(findings.list[0].text, "one; two?");
    assert_string_equal(findings.list[0].remedy, "three");
    findings_add(&findings, "b", FINDING_OK, "one; two");
    assert_string_equal(findings.list[1].text, "one; two");
    assert_string_equal(findings.list[1].remedy, "");
    for (unsigned i = 0; i < 2 * FINDINGS_MAXIMUM; i++)
        findings_add(&findings, "c", FINDING_WARNING, "w");
    assert_int_equal(findings.count, FINDINGS_MAXIMUM);
    assert_int_equal(findings_count(&findings, FINDING_WARNING), FINDINGS_MAXIMUM - 2);
    CLEANUP(json_value) struct json_value *document = doctor_report_json(&findings, "host");
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 1u << 20);
    struct error_info err = {.kind = ERROR_NONE};
    if (!document || json_value_write(document, JSON_STYLE_COMPACT, &out, &err) < 0)
        return;
    static const char want[] = "{\"schema\":\"parplan.doctor/1\",\"host\":\"host\",\"points\":[{"
                               "\"point\":\"a\",\"state\":\"fault\",\"text\":\"one; two?\","
                               "\"remedy\":\"three\"},{\"point\":\"b\",\"state\":\"ok\",\"text\":"
                               "\"one; two\",\"remedy\":null},";
    assert_int_equal(strncmp(text_buffer_text(&out), want, strlen(want)), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(judges_versions),
        cmocka_unit_test(says_that_slurmctld_is_down),
        cmocka_unit_test(judges_the_plugins_line),
        cmocka_unit_test(judges_the_plugins_file),
        cmocka_unit_test(wants_job_submit_of_the_same_version),
        cmocka_unit_test(recommends_settings),
        cmocka_unit_test(compares_the_topology_with_the_nodes),
        cmocka_unit_test(compares_gpus),
        cmocka_unit_test(judges_what_slurmctld_reads),
        cmocka_unit_test(parts_remedies_and_keeps_its_maximum),
    };
    if (!file_tree_begin())
        return 1;
    int status = unit_test_main("cli/doctor_checks", tests, COUNT_OF(tests));
    file_tree_end();
    return status;
}
