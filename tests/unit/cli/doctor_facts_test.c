/* SPDX-License-Identifier: MIT */
/* Facts from a scontrol of the test's own, which answers with files beside it. */
#include "cli/doctor/doctor_facts.h"
#include "tests/support/file_tree.h"
#include "tests/support/unit_test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char scontrol[] = "#!/bin/sh\n"
                               "dir=${0%/*}\n"
                               "[ \"$1\" != -V ] || set -- -V version\n"
                               "[ -e \"$dir/$2\" ] || { echo \"no $2\" >&2; exit 1; }\n"
                               "while read -r line; do echo \"$line\"; done <\"$dir/$2\"\n";

static char root[FILE_TREE_ROOT_BYTES];

static void lay(void)
{
    char path[PATH_MAX], text[1024];
    file_tree_create(root);
    file_tree_write(root, scontrol, "scontrol");
    snprintf(path, sizeof(path), "%s/scontrol", root);
    assert_int_equal(chmod(path, 0755), 0);
    file_tree_write(root, "slurm-wlm 22.05.8\n", "version");
    file_tree_write(root, "SwitchName=s1 Nodes=n1\n", "topology");
    file_tree_write(root, "NodeName=n1\n", "node");
    file_tree_write(root, "PartitionName=gpu\n", "partition");
    file_tree_write(root, "Account=a\n", "assoc_mgr");
    snprintf(text, sizeof(text),
             "PlugStackConfig = %s/stack.conf\nPluginDir = /nowhere:%s\n"
             "AccountingStorageType = accounting_storage/slurmdbd\n",
             root, root);
    file_tree_write(root, text, "config");
    file_tree_write(root, "required spank_parplan.so cache=/c config=/p owner=7\n", "stack.conf");
    file_tree_write(root, "", "spank_parplan.so");
    snprintf(text, sizeof(text), "%s:/bin:/usr/bin", root);
    assert_int_equal(setenv("PATH", text, 1), 0);
    assert_int_equal(setenv("SLURMD_NODENAME", "n1", 1), 0);
    unsetenv("SLURM_CONF");
}

static void reads_all(void **state)
{
    (void)state;
    char path[PATH_MAX], want[PATH_MAX];
    struct doctor_facts facts;
    const struct doctor_request request = {.slurm_conf = "/etc/private.conf"};
    lay();
    if (doctor_facts_read(&request, &facts, NULL) < 0)
        return;
    assert_string_equal(facts.host, "n1");
    assert_string_equal(facts.client_version, "slurm-wlm 22.05.8\n");
    assert_string_equal(facts.topology, "SwitchName=s1 Nodes=n1\n");
    assert_string_equal(facts.nodes, "NodeName=n1\n");
    assert_string_equal(facts.partitions, "PartitionName=gpu\n");
    assert_string_equal(facts.associations, "Account=a\n");
    assert_int_equal(facts.controller_pid, 0);
    assert_non_null(facts.entry);
    assert_string_equal(facts.config_path, "/p");
    assert_string_equal(facts.cache_path, "/c");
    assert_int_equal(facts.owner, 7);
    assert_string_equal(getenv("SLURM_CONF"), "/etc/private.conf");
    snprintf(want, sizeof(want), "%s/spank_parplan.so", root);
    assert_true(doctor_find_plugin(&facts, "spank_parplan.so", path));
    assert_string_equal(path, want);
    assert_true(doctor_find_plugin(&facts, want, path));
    assert_false(doctor_find_plugin(&facts, "job_submit_parplan.so", path));
    doctor_facts_done(&facts);
}

/* As srun does: what slurmctld's file says may be another's. */
static void goes_by_its_own_slurm_conf(void **state)
{
    (void)state;
    char conf[PATH_MAX], text[PATH_MAX];
    struct doctor_facts facts;
    lay();
    snprintf(conf, sizeof(conf), "%s/slurm.conf", root);
    snprintf(text, sizeof(text), "PlugStackConfig=%s/own.conf\n", root);
    file_tree_write(root, text, "slurm.conf");
    file_tree_write(root, "required spank_parplan.so config=/own\n", "own.conf");
    const struct doctor_request request = {.slurm_conf = conf};
    if (doctor_facts_read(&request, &facts, NULL) < 0)
        return;
    assert_string_equal(facts.config_path, "/own");
    doctor_facts_done(&facts);
}

static void asks_a_silent_controller_once(void **state)
{
    (void)state;
    char conf[PATH_MAX], text[PATH_MAX];
    struct doctor_facts facts;
    lay();
    snprintf(conf, sizeof(conf), "%s/slurm.conf", root);
    snprintf(text, sizeof(text), "plugstackconfig=%s/stack.conf\n", root);
    file_tree_write(root, text, "slurm.conf");
    file_tree_remove(root, "config");
    const struct doctor_request request = {.slurm_conf = conf, .config = "/mine.yaml"};
    if (doctor_facts_read(&request, &facts, NULL) < 0)
        return;
    assert_string_equal(facts.controller_error.text, "scontrol: exit status 1: no config");
    assert_string_equal(facts.settings, text);
    assert_null(facts.topology);
    assert_null(facts.nodes);
    assert_non_null(facts.entry);
    assert_string_equal(facts.config_path, "/mine.yaml");
    doctor_facts_done(&facts);
}

static int read_facts(void *context, struct error_info *err)
{
    struct doctor_facts facts;
    if (doctor_facts_read(context, &facts, err) < 0)
        return -1;
    doctor_facts_done(&facts);
    return 0;
}

static void fails_clean(void **state)
{
    (void)state;
    struct doctor_request request = {.slurm_conf = "/etc/private.conf"};
    lay();
    unit_test_expect_clean_failures(read_facts, &request);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_all),
        cmocka_unit_test(goes_by_its_own_slurm_conf),
        cmocka_unit_test(asks_a_silent_controller_once),
        cmocka_unit_test(fails_clean),
    };
    if (!file_tree_begin())
        return 1;
    int status = unit_test_main("cli/doctor_facts", tests, COUNT_OF(tests));
    file_tree_end();
    return status;
}
