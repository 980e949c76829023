/* SPDX-License-Identifier: MIT */
/* The admins' file: may users read it, and can it work on this cluster. */
#include "cli/doctor/cluster_checks.h"
#include "cli/doctor/config_checks.h"
#include "cli/doctor/path_access.h"
#include "cli/doctor/policy_checks.h"
#include "tests/support/file_tree.h"
#include "tests/support/unit_test.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCHEMA "schema: parplan.config/1\n"

static char root[FILE_TREE_ROOT_BYTES];

static void lay(void)
{
    file_tree_create(root);
    file_tree_open(root);
}

static void set_mode(const char *name, mode_t mode)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s", root, name);
    assert_int_equal(chmod(path, mode), 0);
}

static void finds_what_shuts_users_out(void **state)
{
    (void)state;
    static const struct {
        mode_t outer, inner, file;
        enum path_reader reader;
        enum path_access want;
        const char *text;
    } rows[] = {
        {0755, 0755, 0644, PATH_FROM_FOLDER, PATH_FREE, ""},
        {0711, 0755, 0604, PATH_FROM_FOLDER, PATH_FREE, ""},
        {0755, 0711, 0644, PATH_OPENED, PATH_FREE, ""},
        {0755, 0711, 0644, PATH_FROM_FOLDER, PATH_CLOSED, "inner (mode 0711) shuts out all users"},
        {0755, 0755, 0600, PATH_OPENED, PATH_CLOSED, "inner/file (mode 0600) shuts out all users"},
        {0700, 0755, 0644, PATH_OPENED, PATH_CLOSED, "outer (mode 0700) shuts out all users; run"},
        {0700, 0700, 0600, PATH_OPENED, PATH_CLOSED, "outer (mode 0700)"}, /* the first */
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char path[PATH_MAX];
        struct error_info err = {.kind = ERROR_NONE};
        lay();
        file_tree_write(root, "", "outer/inner/file");
        file_tree_link(root, "outer/inner/file", "link");
        set_mode("outer/inner/file", rows[i].file);
        set_mode("outer/inner", rows[i].inner);
        set_mode("outer", rows[i].outer);
        snprintf(path, sizeof(path), "%s/outer/inner/file", root);
        assert_int_equal(path_access_find(path, rows[i].reader, 0, &err), rows[i].want);
        assert_non_null(strstr(err.text, rows[i].text));
        /* whoever runs the cluster alone reads by his own bits */
        if (geteuid() != 0)
            assert_int_equal(path_access_find(path, rows[i].reader, geteuid(), &err), PATH_FREE);
        snprintf(path, sizeof(path), "%s/link", root);
        if (rows[i].reader == PATH_OPENED)
            assert_int_equal(path_access_find(path, rows[i].reader, 0, &err), rows[i].want);
        set_mode("outer", 0755); /* to be removed */
        set_mode("outer/inner", 0755);
    }
}

static void tells_a_group_from_nobody(void **state)
{
    (void)state;
    char path[PATH_MAX];
    struct error_info err = {.kind = ERROR_NONE};
    lay();
    file_tree_write(root, "", "file");
    set_mode("file", 0640);
    snprintf(path, sizeof(path), "%s/file", root);
    if (geteuid() == 0)
        assert_int_equal(path_access_find(path, PATH_OPENED, 0, &err), PATH_CLOSED);
    if (geteuid() == 0 && chown(path, 0, 12345) < 0)
        skip();
    if (geteuid() == 0)
        assert_int_equal(path_access_find(path, PATH_OPENED, 0, &err), PATH_GROUP_ONLY);
    snprintf(path, sizeof(path), "%s/nothing", root);
    assert_int_equal(path_access_find(path, PATH_OPENED, 0, &err), PATH_FREE);
}

static void expect(const struct findings *findings, const char *point, enum finding_state state,
                   const char *text)
{
    assert_int_equal(findings->count, 1);
    assert_string_equal(findings->list[0].point, point);
    if (findings->list[0].state != state || !strstr(findings->list[0].text, text))
        fail_msg("%s '%s' has no '%s'", finding_state_name(findings->list[0].state),
                 findings->list[0].text, text);
    assert_int_equal(findings->list[0].remedy[0] != '\0', state != FINDING_OK);
}

/* The file as doctor reads it; NULL: out of memory, or it cannot be used. */
static struct admin_config *read_config(const char *text, mode_t mode, struct doctor_facts *facts,
                                        struct findings *findings)
{
    struct admin_config *config = NULL;
    lay();
    file_tree_write(root, text, "parplan.yaml");
    set_mode("parplan.yaml", mode);
    facts->owner = (unsigned)geteuid();
    snprintf(facts->config_path, sizeof(facts->config_path), "%s/parplan.yaml", root);
    check_config(facts, &config, findings, NULL);
    return config;
}

static void reads_the_admins_file_as_the_plugin_does(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        mode_t mode;
        enum finding_state want;
        const char *part;
        bool requires_plan;
    } rows[] = {
        {SCHEMA, 0644, FINDING_OK, "/parplan.yaml", false},
        {SCHEMA "enabled: false\npolicy: {require_plan: deny}\n", 0644, FINDING_WARNING,
         "switched off", false},
        {SCHEMA "policy: {require_plan: warn}\n", 0644, FINDING_OK, "", true},
        {SCHEMA "policy: {partitions: {a: {require_plan: deny}}}\n", 0644, FINDING_OK, "", true},
        {SCHEMA "policy: {partitions: {a: {max_tp: 4}}}\n", 0644, FINDING_OK, "", false},
        {SCHEMA "policies: {}\n", 0644, FINDING_FAULT, "policies", false},
        {SCHEMA, 0666, FINDING_FAULT, "writable by others", false},
        {"", 0644, FINDING_FAULT, "the file is empty", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct findings findings = {.count = 0};
        struct doctor_facts facts = {.host = "n1"};
        CLEANUP(admin_config)
        struct admin_config *config = read_config(rows[i].text, rows[i].mode, &facts, &findings);
        expect(&findings, "config", rows[i].want, rows[i].part);
        assert_int_equal(config && config_requires_plan(config), rows[i].requires_plan);
    }
}

static void says_that_users_cannot_read_it(void **state)
{
    (void)state;
    struct findings findings = {.count = 0};
    struct doctor_facts facts = {.host = "n1"};
    if (geteuid() != 0)
        skip(); /* what is one's own, one reads */
    CLEANUP(admin_config)
    struct admin_config *config = read_config(SCHEMA, 0600, &facts, &findings);
    expect(&findings, "config", FINDING_FAULT, "parplan.yaml (mode 0600) shuts out all users");
    assert_non_null(config); /* what it says is judged all the same */
}

static const char nodes[] = "NodeName=n1 Gres=gpu:h100:8(S:0-1)\nNodeName=n2 Gres=gpu:h100:8\n"
                            "NodeName=login1 Gres=(null)\n";

static void compares_the_cluster_with_slurms_nodes(void **state)
{
    (void)state;
    static const char file[] = "schema: parplan.cluster/1\nkinds: {h: {preset: dgx-h100}}\nnodes: "
                               "[{names: \"n[1-2]\", kind: h}]\n";
    static const char small[] = "schema: parplan.cluster/1\nkinds: {h: {preset: dgx-h100}}\nnodes:"
                                " [{names: n1, kind: h}]\n";
    static const struct {
        const char *cluster, *file;
        enum finding_state want;
        const char *text;
    } rows[] = {
        {"dgx-h100", NULL, FINDING_OK, "as Slurm's nodes"},
        {"dgx-h100:2", NULL, FINDING_OK, "as Slurm's nodes"},
        {"dgx-h100:3", NULL, FINDING_WARNING, "Slurm has 2 nodes"},
        {"dgx-a100:2", NULL, FINDING_WARNING, "not what Slurm has on n1, n2 (gpu:h100:8)"},
        {"gb200-nvl72", NULL, FINDING_WARNING, "not what Slurm has"},
        {"dgx-h100:0", NULL, FINDING_FAULT, "whole number from 1"},
        {"dgx-h1000:2", NULL, FINDING_FAULT, "no preset"},
        {"./x.yaml", NULL, FINDING_FAULT, "the folder in which srun starts"},
        {"%s/none.yaml", NULL, FINDING_FAULT, "none.yaml: No such file"},
        {"%s/x.yaml", file, FINDING_OK, "as Slurm's nodes"},
        {"%s/x.yaml", small, FINDING_WARNING, "(1 missing: n2)"},
    };
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = gpu_catalogue_builtin(NULL);
    CLEANUP(preset_catalogue) struct preset_catalogue *presets = preset_catalogue_builtin(NULL);
    for (size_t i = 0; gpus && presets && i < COUNT_OF(rows); i++) {
        char cluster[PATH_MAX];
        struct findings findings = {.count = 0};
        struct doctor_facts facts = {.nodes = (char *)nodes, .owner = (unsigned)geteuid()};
        struct admin_config config = {.source = "a.yaml", .cluster = cluster};
        lay();
        if (rows[i].file)
            file_tree_write(root, rows[i].file, "x.yaml");
        if (rows[i].file)
            set_mode("x.yaml", 0644);
        bool below = rows[i].cluster[0] == '%';
        snprintf(cluster, sizeof(cluster), "%s%s", below ? root : "",
                 rows[i].cluster + (below ? 2 : 0));
        if (check_cluster(&facts, &config, presets, gpus, &findings, NULL) == 0)
            expect(&findings, "cluster", rows[i].want, rows[i].text);
    }
}

static void judges_defaults_as_srun_does(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum finding_state want;
        const char *part;
    } rows[] = {
        {"defaults: {parplan: auto}\n", FINDING_OK, "parplan: auto"},
        {"defaults: {parplan: \"auto,model=llama3-8b\"}\n", FINDING_OK, "llama3-8b"},
        {"defaults: {parplan: \"auto,model=llama9\"}\n", FINDING_FAULT, "yaml:2: defaults.parplan"},
        {"\ndefaults: {parplan: tp=16}\n", FINDING_FAULT, "yaml:3: defaults.parplan: policy tp-wi"},
        {"policy: {tp_within: off}\ndefaults: {parplan: tp=16}\n", FINDING_OK, "tp=16"},
        {"policy: {partitions: {a: {tp_within: off}}}\ndefaults: {parplan: tp=16}\n",
         FINDING_WARNING, "tp=16 needs 16 GPUs"},
        {"defaults: {parplan: \"tp=8,pp=4\"}\n", FINDING_WARNING,
         "take 32 GPUs, the cluster has 16"},
        {"defaults: {parplan: \"tp=8,order=auto\"}\n", FINDING_FAULT, "order=auto"},
        {"defaults: {parplan: \"tp=8,spare=1\"}\n", FINDING_FAULT, "spare"},
        {"defaults: {parplan: \"vpp=2,schedule=1f1b\"}\n", FINDING_FAULT, "yaml:2: defaults"},
        {"defaults: {parplan: /none/job.yaml}\n", FINDING_FAULT, "/none/job.yaml: No such file"},
        {"defaults: {parplan: job.yml}\n", FINDING_FAULT, "the folder in which srun starts"},
        {"policy: {require_plan: deny}\ndefaults: {parplan: auto}\n", FINDING_WARNING,
         "refuses every srun without --parplan (`srun -N1 -n1 true` too)"},
        {"policy: {require_plan: deny}\ndefaults: {parplan: tp=8}\n", FINDING_WARNING,
         "refuses those of one rank"},
        {"policy: {require_plan: warn}\ndefaults: {parplan: auto}\n", FINDING_OK, "auto"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[512];
        struct findings findings = {.count = 0};
        struct doctor_facts facts = {.nodes = (char *)nodes};
        snprintf(text, sizeof(text), SCHEMA "%s", rows[i].text);
        CLEANUP(admin_config)
        struct admin_config *config = read_config(text, 0644, &facts, &findings);
        findings.count = 0;
        if (config && check_defaults(&facts, config, &findings, NULL) == 0)
            expect(&findings, "defaults", rows[i].want, rows[i].part);
    }
}

static void finds_scopes_that_nobody_is_in(void **state)
{
    (void)state;
    static const char partitions[] = "PartitionName=gpu Nodes=n1\nPartitionName=debug Nodes=n1\n";
    static const char associations[] =
        "Association Records\n\nClusterName=c Account=students UserName= Partition= \n"
        "QOS Records\n\nQOS=normal(1)\n    UsageRaw=0\nQOS=night(2)\n";
    static const struct {
        const char *text;
        enum finding_state want;
        const char *part;
    } rows[] = {
        {"partitions: {gpu: {max_tp: 4}, debug: {}}\n", FINDING_OK, "2 scopes"},
        {"partitions: {gpuu: {max_tp: 4}}\n", FINDING_WARNING,
         "parplan.yaml:2: policy.partitions.gpuu: the cluster has no such partition"},
        {"users: {root: {}, \"4294967294\": {}}\n", FINDING_OK, "2 scopes"},
        {"users: {nobodyatall: {}}\n", FINDING_WARNING, "users.nobodyatall: this machine"},
        {"users: {\"00\": {}}\n", FINDING_FAULT, "users.00: is no uid"},
        {"users: {\"4294967296\": {}}\n", FINDING_FAULT, "users.4294967296: is no uid"},
        {"users: {\"4294967295\": {}}\n", FINDING_FAULT, "users.4294967295: is no uid"},
        {"users: {\"0\": {max_tp: 2}, root: {max_tp: 4}}\n", FINDING_WARNING, "users.0: is root"},
        {"users: {\"0\": {max_tp: 2}, root: {max_tp: 2}}\n", FINDING_OK, "2 scopes"},
        {"users: {\"0\": {max_tp: 2}, root: {on_violation: warn}}\n", FINDING_OK, "2 scopes"},
        {"qos: {night: {}}\n", FINDING_OK, "1 scope"},
        {"qos: {nigh: {}}\n", FINDING_WARNING, "qos.nigh: the cluster has no such QOS"},
        {"accounts: {students: {}}\n", FINDING_OK, "1 scope"},
        {"accounts: {Students: {}}\n", FINDING_OK, "1 scope"},
        {"accounts: {student: {}}\n", FINDING_WARNING, "accounts.student: the cluster has no such"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[512];
        struct findings findings = {.count = 0};
        struct doctor_facts facts = {.partitions = (char *)partitions,
                                     .associations = (char *)associations};
        snprintf(text, sizeof(text), SCHEMA "policy: {%.*s}\n", (int)strlen(rows[i].text) - 1,
                 rows[i].text);
        CLEANUP(admin_config)
        struct admin_config *config = read_config(text, 0644, &facts, &findings);
        findings.count = 0;
        if (config && check_scopes(&facts, config, &findings, NULL) == 0)
            expect(&findings, "policy", rows[i].want, rows[i].part);
    }
}

static void says_nothing_of_what_slurm_does_not_tell(void **state)
{
    (void)state;
    struct findings findings = {.count = 0};
    struct doctor_facts facts = {.host = "n1"};
    CLEANUP(admin_config)
    struct admin_config *config =
        read_config(SCHEMA "policy: {partitions: {a: {}}, qos: {b: {}}, accounts: {c: {}}}\n", 0644,
                    &facts, &findings);
    findings.count = 0;
    if (config && check_scopes(&facts, config, &findings, NULL) == 0)
        expect(&findings, "policy", FINDING_OK, "3 scopes");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_shuts_users_out),
        cmocka_unit_test(tells_a_group_from_nobody),
        cmocka_unit_test(reads_the_admins_file_as_the_plugin_does),
        cmocka_unit_test(says_that_users_cannot_read_it),
        cmocka_unit_test(compares_the_cluster_with_slurms_nodes),
        cmocka_unit_test(judges_defaults_as_srun_does),
        cmocka_unit_test(finds_scopes_that_nobody_is_in),
        cmocka_unit_test(says_nothing_of_what_slurm_does_not_tell),
    };
    if (!file_tree_begin())
        return 1;
    int status = unit_test_main("cli/config_checks", tests, COUNT_OF(tests));
    file_tree_end();
    return status;
}
