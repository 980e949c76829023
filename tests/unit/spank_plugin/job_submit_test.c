/* SPDX-License-Identifier: MIT */
/* slurmctld's plugin, called as slurmctld does, with the admins' file in a folder of ours. */
#include "spank_plugin/job_submit/submit_verdict.h"
#include "tests/support/fake_spank.h"
#include "tests/support/unit_test.h"

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCHEMA "schema: parplan.config/1\n"

int init(void);
int fini(void);
int job_submit(job_desc_msg_t *job, uint32_t submit_uid, char **err_msg);

static char folder[64], path[128];

static void write_config(const char *text, mode_t mode)
{
    unlink(path);
    CLEANUP_FILE FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fchmod(fileno(file), mode);
}

static int set_up(void **state)
{
    (void)state;
    char owner[32];
    snprintf(folder, sizeof(folder), "/tmp/parplan_submit_XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof(path), "%s/parplan.yaml", folder);
    snprintf(owner, sizeof(owner), "%u", (unsigned)getuid());
    setenv("PARPLAN_CONFIG", path, 1);
    setenv("PARPLAN_CONFIG_OWNER", owner, 1);
    return init();
}

static int tear_down(void **state)
{
    (void)state;
    fini();
    unlink(path);
    return rmdir(folder);
}

/* A request of 8 tasks and 8 GPUs per node, as slurmctld hands it over. */
struct submit_case {
    const char *config, *option, *partition;
    const char *account, *gres;
    uint16_t tasks;
    int result;
    const char *message; /* part of err_msg; NULL: none */
    const char *comment; /* NULL: none */
};

static void compare(const struct submit_case *one, int result, const char *message,
                    const char *comment)
{
    if (result != one->result || !message != !one->message ||
        (message && !strstr(message, one->message)))
        fail_msg("%s on %s: %d \"%s\"", one->option ? one->option : "none", one->gres, result,
                 message ? message : "");
    if (!comment != !one->comment || (comment && strcmp(comment, one->comment) != 0))
        fail_msg("comment \"%s\", not \"%s\"", comment ? comment : "",
                 one->comment ? one->comment : "");
}

static void submit(const struct submit_case *one, const char *old_comment)
{
    char option[512], *entries[] = {NULL, (char *)"OTHER=1", option}, *message = NULL;
    job_desc_msg_t job;
    memset(&job, 0, sizeof(job));
    snprintf(option, sizeof(option), "_SLURM_SPANK_OPTION_parplan_parplan=%s",
             one->option ? one->option : "");
    job.spank_job_env = entries;
    job.spank_job_env_size = one->option ? 3 : 2;
    job.partition = (char *)one->partition;
    job.account = (char *)one->account;
    job.tres_per_node = (char *)one->gres;
    job.ntasks_per_node = one->tasks;
    job.user_id = 4242;
    if (one->message)
        job.script = (char *)"#!/bin/bash\n"; /* only sbatch tells of warnings */
    job.admin_comment = old_comment ? strdup(old_comment) : NULL;
    int result = job_submit(&job, 4242, &message);
    compare(one, result, message, job.admin_comment);
    free(message);
    free(job.admin_comment);
}

#define DENIED ESLURM_ACCESS_DENIED
#define SPANS_NODE "policy: {spans: {cp: node, pp: node}}\n"
#define REQUIRE SCHEMA "policy: {require_plan: deny}\n"
static const struct submit_case cases[] = {
    /* not ours */
    {SCHEMA, NULL, NULL, NULL, "gres:gpu:8", 8, 0, NULL, NULL},
    {SCHEMA, "off", NULL, NULL, "gres:gpu:8", 8, 0, NULL, "parplan: off policy=ok"},
    /* the node's GPUs, from whatever says them */
    {SCHEMA, "tp=8,pp=2", NULL, NULL, "gres:gpu:8", 8, 0, NULL, "parplan: tp=8,pp=2 policy=ok"},
    {SCHEMA, "tp=16", "gpu", NULL, "gres:gpu:8", 8, DENIED,
     "parplan: policy tp-within-node: tp=16 needs 16 GPUs in one node, partition gpu has 8", NULL},
    {SCHEMA, "tp=16", NULL, NULL, "gres/gpu:h100:8", NO_VAL16, DENIED, "policy tp-within-node",
     NULL},
    {SCHEMA, "tp=16", NULL, NULL, "gres:gpu:a:8,gres:gpu:b:8", 0, 0, NULL,
     "parplan: tp=16 policy=ok"},
    {SCHEMA, "tp=16", NULL, NULL, NULL, 8, DENIED, "policy tp-within-node", NULL},
    {SCHEMA, "tp=16", NULL, NULL, NULL, 1, 0, NULL, "parplan: tp=16 policy=pending"},
    {SCHEMA, "tp=16", NULL, NULL, NULL, NO_VAL16, 0, NULL, "parplan: tp=16 policy=pending"},
    {SCHEMA "policy: {on_unknown_topology: deny}\n", "tp=16", NULL, NULL, NULL, 0, 0, NULL,
     "parplan: tp=16 policy=pending"},
    /* a group over two nodes counts only where every step must have it */
    {SCHEMA, "tp=3", NULL, NULL, "gres:gpu:8", 8, DENIED, "policy tp-splits-node", NULL},
    {SCHEMA, "tp=6", NULL, NULL, "gres:gpu:8", 6, 0, NULL, "parplan: tp=6 policy=ok"},
    /* what cannot be judged here */
    {SCHEMA, "auto", NULL, NULL, "gres:gpu:8", 8, 0, NULL, "parplan: auto policy=pending"},
    {SCHEMA, "(null)", NULL, NULL, "gres:gpu:8", 8, 0, NULL, "parplan: auto policy=pending"},
    {SCHEMA, "/etc/shadow", NULL, NULL, "gres:gpu:8", 8, 0, NULL,
     "parplan: /etc/shadow policy=pending"},
    {SCHEMA, "new_key=1", NULL, NULL, "gres:gpu:8", 8, 0, NULL,
     "parplan: new_key=1 policy=pending"},
    {SCHEMA, "tp=8\n\033x", NULL, NULL, "gres:gpu:8", 8, 0, NULL,
     "parplan: tp=8??x policy=pending"},
    /* words of the file */
    {SCHEMA "policy: {on_violation: warn}\n", "tp=16", NULL, NULL, "gres:gpu:8", 8, 0,
     "parplan: warning: policy tp-within-node", "parplan: tp=16 policy=tp-within-node"},
    {SCHEMA "policy: {max_tp: 4}\n", "tp=8", NULL, NULL, NULL, 0, DENIED, "policy max-tp", NULL},
    {SCHEMA "policy: {orders: [tp-cp-ep-dp-pp]}\n", "tp=8,order=tp-cp-ep-pp-dp", NULL, NULL,
     "gres:gpu:8", 8, DENIED, "policy order: order=tp-cp-ep-pp-dp", NULL},
    {SCHEMA SPANS_NODE, "tp=4,cp=4", "gpu", NULL, "gres:gpu:8", 8, DENIED,
     "policy spans: cp=4 reaches over 16 GPUs in a row, its groups are to lie in one node, and "
     "partition gpu has 8",
     NULL},
    {SCHEMA SPANS_NODE, "cp=16", NULL, NULL, "gres:gpu:8", 8, DENIED, "policy spans: cp=16", NULL},
    {SCHEMA SPANS_NODE, "tp=4,cp=2", NULL, NULL, "gres:gpu:8", 8, 0, NULL,
     "parplan: tp=4,cp=2 policy=ok"},
    {SCHEMA SPANS_NODE, "tp=2,cp=3", NULL, NULL, "gres:gpu:8", 8, DENIED,
     "policy span-splits-node: cp=3", NULL},
    {SCHEMA SPANS_NODE, "tp=2,cp=3", NULL, NULL, "gres:gpu:8", 6, 0, NULL,
     "parplan: tp=2,cp=3 policy=ok"},
    {SCHEMA SPANS_NODE, "tp=4,pp=4,dp=2", NULL, NULL, "gres:gpu:8", 8, DENIED, "policy spans: pp=4",
     NULL},
    {SCHEMA SPANS_NODE, "tp=4,pp=2,order=auto", NULL, NULL, "gres:gpu:8", 8, 0, NULL,
     "parplan: tp=4,pp=2,order=auto policy=ok"},
    {SCHEMA SPANS_NODE, "tp=4,cp=4", NULL, NULL, NULL, 0, 0, NULL,
     "parplan: tp=4,cp=4 policy=pending"},
    /* the command's flags may name the order */
    {SCHEMA "policy: {orders: [tp-cp-ep-pp-dp]}\n", "tp=4,pp=2", NULL, NULL, "gres:gpu:8", 8, 0,
     NULL, "parplan: tp=4,pp=2 policy=pending"},
    /* the experts' TP is one too */
    {SCHEMA, "tp=1,etp=16", NULL, NULL, "gres:gpu:8", 8, DENIED, "policy tp-within-node: tp=16",
     NULL},
    {SCHEMA "policy: {max_tp: 4}\n", "etp=8", NULL, NULL, "gres:gpu:8", 8, DENIED,
     "policy max-tp: tp=8", NULL},
    {SCHEMA "enabled: false\npolicy: {require_plan: deny}\n", "tp=16", NULL, NULL, "gres:gpu:8", 8,
     0, NULL, NULL},
    /* require_plan */
    {REQUIRE, NULL, "gpu", NULL, NULL, 0, DENIED, "policy require-plan: partition gpu needs a plan",
     NULL},
    {REQUIRE, "off", NULL, NULL, NULL, 0, DENIED, "policy require-plan", NULL},
    {REQUIRE, "tp=8", NULL, NULL, "gres:gpu:8", 8, 0, NULL, "parplan: tp=8 policy=ok"},
    {REQUIRE, "job.yaml", NULL, NULL, NULL, 0, 0, NULL, "parplan: job.yaml policy=pending"},
    {REQUIRE "defaults: {parplan: auto}\n", NULL, NULL, NULL, NULL, 0, 0, NULL, NULL},
    {SCHEMA "policy: {require_plan: warn}\n", NULL, NULL, NULL, NULL, 0, 0,
     "parplan: warning: policy require-plan", "parplan: none policy=require-plan"},
    /* scopes; of several partitions the worst */
    {SCHEMA "policy: {partitions: {debug: {tp_within: \"off\"}}}\n", "tp=16", "debug", NULL,
     "gres:gpu:8", 8, 0, NULL, "parplan: tp=16 policy=ok"},
    {SCHEMA "policy: {partitions: {debug: {tp_within: \"off\"}}}\n", "tp=16", "debug,gpu", NULL,
     "gres:gpu:8", 8, DENIED, "partition gpu has 8", NULL},
    {SCHEMA "policy: {partitions: {debug: {tp_within: \"off\"}}}\n", "tp=16", ",", NULL,
     "gres:gpu:8", 8, DENIED, "policy tp-within-node", NULL},
    {SCHEMA "policy: {accounts: {students: {max_tp: 2}}}\n", "tp=4", NULL, "students", "gres:gpu:8",
     8, DENIED, "policy max-tp", NULL},
    {SCHEMA "policy: {users: {\"4242\": {max_tp: 2}}}\n", "tp=4", NULL, NULL, "gres:gpu:8", 8,
     DENIED, "policy max-tp", NULL},
    {SCHEMA "policy: {users: {\"4243\": {max_tp: 2}}}\n", "tp=4", NULL, NULL, "gres:gpu:8", 8, 0,
     NULL, "parplan: tp=4 policy=ok"},
};

static void judges_requests(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        write_config(cases[i].config, 0644);
        submit(&cases[i], NULL);
    }
}

static void an_admins_comment_stays(void **state)
{
    (void)state;
    static const struct submit_case one = {
        SCHEMA, "tp=8", NULL, NULL, "gres:gpu:8", 8, 0, NULL, "drain n07; parplan: tp=8 policy=ok"};
    write_config(one.config, 0644);
    submit(&one, "drain n07");
}

static void srun_tells_of_warnings_itself(void **state)
{
    (void)state;
    static const struct submit_case one = {
        SCHEMA "policy: {on_violation: warn}\n", "tp=16", NULL, NULL, "gres:gpu:8", 8, 0, NULL,
        "parplan: tp=16 policy=tp-within-node"};
    write_config(one.config, 0644);
    submit(&one, NULL);
}

static void the_last_good_file_stays(void **state)
{
    (void)state;
    static const struct submit_case strict = {
        REQUIRE, NULL, NULL, NULL, NULL, 0, DENIED, "policy require-plan", NULL};
    static const struct submit_case free_again = {SCHEMA, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL};
    static const struct fake_step none = {.job = 0};
    write_config(REQUIRE, 0644);
    submit(&strict, NULL);
    fake_spank_begin(&none);
    write_config("policy: [\n", 0644);
    submit(&strict, NULL);
    submit(&strict, NULL);
    assert_int_equal(fake_spank_errors(), 1); /* said once */
    write_config(SCHEMA, 0666);
    submit(&strict, NULL);
    assert_int_equal(fake_spank_errors(), 2);
    unlink(path);
    submit(&strict, NULL);
    assert_int_equal(fake_spank_errors(), 3);
    write_config(SCHEMA, 0644);
    submit(&free_again, NULL);
    assert_int_equal(fake_spank_errors(), 3);
    chmod(folder, 0777); /* a folder that others can write: the file's own state is as before */
    write_config(REQUIRE, 0644);
    submit(&free_again, NULL);
    chmod(folder, 0700);
    submit(&strict, NULL);
}

static void a_file_that_never_was_good_stops_nobody(void **state)
{
    (void)state;
    static const struct submit_case one = {NULL, "tp=16", NULL, NULL, "gres:gpu:8",
                                           8,    0,       NULL, NULL};
    init();
    write_config("nonsense", 0644);
    submit(&one, NULL);
    setenv("PARPLAN_CONFIG", "relative.yaml", 1);
    init();
    submit(&one, NULL);
    assert_non_null(strstr(fake_spank_error(), "PARPLAN_CONFIG=relative.yaml is not an absolute"));
    setenv("PARPLAN_CONFIG", path, 1);
    setenv("PARPLAN_CONFIG_OWNER", "root", 1);
    init();
    submit(&one, NULL);
    assert_non_null(strstr(fake_spank_error(), "PARPLAN_CONFIG_OWNER"));
    char owner[32];
    snprintf(owner, sizeof(owner), "%u", (unsigned)getuid());
    setenv("PARPLAN_CONFIG_OWNER", owner, 1);
    init();
}

static void empty_requests_do_no_harm(void **state)
{
    (void)state;
    job_desc_msg_t job;
    memset(&job, 0, sizeof(job));
    write_config(REQUIRE, 0644);
    assert_int_equal(job_submit(NULL, 0, NULL), 0);
    assert_int_equal(job_submit(&job, 0, NULL), DENIED);
    job.spank_job_env_size = 7; /* and no list */
    job.ntasks_per_node = INFINITE16;
    assert_int_equal(job_submit(&job, 0, NULL), DENIED);
    char *message = strdup("another plugin's word");
    assert_int_equal(job_submit(&job, 0, &message), DENIED);
    assert_non_null(strstr(message, "require-plan"));
    free(message);
}

static int find_verdict(void *context, struct error_info *err)
{
    const struct submit_request request = {.option = "tp=16", .gpus_per_node = 8};
    struct submit_verdict found;
    if (submit_verdict_find(context, &request, &found, err) < 0)
        return -1;
    assert_int_equal(found.verdict.result, POLICY_DENIED);
    return 0;
}

static void fails_cleanly_without_memory(void **state)
{
    (void)state;
    CLEANUP(admin_config) struct admin_config *config = admin_config_default(NULL);
    assert_non_null(config);
    unit_test_expect_clean_failures(find_verdict, config);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(judges_requests),
        cmocka_unit_test(an_admins_comment_stays),
        cmocka_unit_test(srun_tells_of_warnings_itself),
        cmocka_unit_test(the_last_good_file_stays),
        cmocka_unit_test(a_file_that_never_was_good_stops_nobody),
        cmocka_unit_test(empty_requests_do_no_harm),
        cmocka_unit_test(fails_cleanly_without_memory),
    };
    struct CMUnitTest with_setup[COUNT_OF(tests)];
    for (size_t i = 0; i < COUNT_OF(tests); i++) {
        with_setup[i] = tests[i];
        with_setup[i].setup_func = set_up;
        with_setup[i].teardown_func = tear_down;
    }
    return unit_test_main("spank_plugin/job_submit", with_setup, COUNT_OF(tests));
}
