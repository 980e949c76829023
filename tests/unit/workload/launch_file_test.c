/* SPDX-License-Identifier: MIT */
/* Commands that name configuration files, from a table of texts in place of a file system. */
#include "base/data_file.h"
#include "tests/support/unit_test.h"
#include "workload/launch/launch_file.h"
#include "workload/launch_flags.h"
#include <string.h>

#define ARGUMENTS 10

static const struct {
    const char *path, *text;
} texts[] = {
    {"titan.toml", "[job]\n"
                   "description = \"tensor_parallel_degree = 16\"\n"
                   "[training]\n"
                   "local_batch_size = 8\n"
                   "global_batch_size = -1\n"
                   "seq_len = 8192\n"
                   "[parallelism]\n"
                   "tensor_parallel_degree = 4\n"
                   "pipeline_parallel_degree = 2\n"
                   "pipeline_parallel_microbatch_size = 2\n"
                   "data_parallel_shard_degree = 8\n"
                   "data_parallel_replicate_degree = 2\n"},
    {"plain.toml", "training.local_batch_size = 8\n"
                   "training.global_batch_size = 64\n"
                   "parallelism.pipeline_parallel_degree = 1\n"
                   "parallelism.data_parallel_shard_degree = -1\n"},
    {"zero.toml", "[parallelism]\ntensor_parallel_degree = 0\n"},
    {"broken.toml", "[parallelism]\ntensor_parallel_degree = 4\nx = \"\n"},
    {"ds.json", "{\n\t\"train_batch_size\": 256,\n"
                "\t\"train_micro_batch_size_per_gpu\": \"auto\",\n"
                "\t\"zero_optimization\": {\"stage\": 2,\n"
                "\t\t\"offload_optimizer\":{\"device\":\"cpu\"}},\n"
                "\t\"tensor_parallel\": {\"autotp_size\": 0}\n}\n"},
    {"tp.json", "{\"tensor_parallel\": {\"autotp_size\": 4}, \"train_batch_size\": 256}"},
    {"gpt/conf/gpt.yaml", "trainer:\n  devices: 8\n  num_nodes: 2\n"
                          "model:\n  tensor_model_parallel_size: 8\n"
                          "  pipeline_model_parallel_size: ${oc.env:PP}\n"
                          "  virtual_pipeline_model_parallel_size: null\n"
                          "  encoder_seq_length: 4096\n"},
    {"/conf/bridge.yaml", "model:\n  tensor_model_parallel_size: 2\n"
                          "dist: {use_tp_pp_dp_mapping: false}\n\n"
                          "train: {global_batch_size: 128, micro_batch_size: 1}\n"},
    {"acc.yaml", "distributed_type: DEEPSPEED\n"
                 "deepspeed_config:\n  deepspeed_config_file: ds.json\n"
                 "num_machines: 1\nnum_processes: 8\n"},
    {"fsdp.yaml", "fsdp_config:\n  fsdp_reshard_after_forward: true\n  fsdp_offload_params: false\n"
                  "parallelism_config:\n  parallelism_config_tp_size: 2\n"},
    {"hsdp.yaml", "fsdp_config: {fsdp_reshard_after_forward: true}\n"
                  "parallelism_config:\n  parallelism_config_dp_replicate_size: 2\n"
                  "  parallelism_config_dp_shard_size: 4\n"},
    {"mega.yaml", "megatron_lm_config:\n  megatron_lm_tp_degree: 4\n  megatron_lm_pp_degree: 2\n"
                  "  megatron_lm_use_distributed_optimizer: true\n"},
    {"rank.yaml", "num_machines: 2\nmachine_rank: 0\nrdzv_backend: c10d\n"},
    {"alias.yaml", "model: &x {tensor_model_parallel_size: 2}\n"},
};

static char *read_text(const char *path, size_t maximum, size_t *ret_bytes, struct error_info *err)
{
    assert_int_equal(maximum, LAUNCH_FILE_MAXIMUM_BYTES);
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        if (strcmp(texts[i].path, path) != 0)
            continue;
        char *copy = memory_copy_text(texts[i].text);
        *ret_bytes = strlen(texts[i].text);
        return copy ? copy : error_null(error_set_memory(err));
    }
    return error_null(error_set(err, "%s: No such file or directory", path));
}

/* One reading, kept for looking at it. */
struct reading {
    struct job_spec *spec;
    struct launch_counts counts;
    struct text_buffer notices;
    struct error_info err;
};

static void reading_done(struct reading *reading)
{
    job_spec_free(reading->spec);
    text_buffer_done(&reading->notices);
}

DEFINE_CLEANUP_DONE(reading);

static int read_command(struct reading *reading, const char *option, const char *const *arguments)
{
    struct launch_command command = {.arguments = arguments, .read = read_text};
    while (command.count < ARGUMENTS && arguments[command.count])
        command.count++;
    *reading = (struct reading){.spec = job_spec_create(NULL)};
    text_buffer_init(&reading->notices, 4096);
    assert_non_null(reading->spec);
    assert_int_equal(job_spec_parse_option(reading->spec, option, "--parplan", NULL), 0);
    return launch_command_read(&command, reading->spec, &reading->counts, &reading->notices,
                               &reading->err);
}

static const struct {
    const char *arguments[ARGUMENTS];
    const char *notices; /* all of them */
} found[] = {
    {{"torchrun", "train.py", "--job.config-file", "titan.toml"},
     "sequence_length=8192 (titan.toml:6), tp=4 (titan.toml:8), pp=2 (titan.toml:9), "
     "shard=8 (titan.toml:11), micro_batch=2 (titan.toml:10), dp=16 (titan.toml:12: replicate)"},
    {{"torchrun", "-m", "torchtitan.train", "--job.config_file=titan.toml",
      "--parallelism.tensor_parallel_degree", "8", "--parallelism.data_parallel_shard_degree=-1"},
     "tp=8 (--parallelism.tensor_parallel_degree), sequence_length=8192 (titan.toml:6), "
     "pp=2 (titan.toml:9), micro_batch=2 (titan.toml:10)"},
    {{"torchrun", "train.py", "--job.config_file", "plain.toml"},
     "global_batch=64 (plain.toml:2), pp=1 (plain.toml:3), micro_batch=8 (plain.toml:1)"},
    {{"python", "train.py", "--deepspeed", "ds.json"},
     "sharding=zero2 (ds.json:4), offload=cpu (ds.json:5), global_batch=256 (ds.json:2)"},
    {{"python", "train.py", "--deepspeed", "--deepspeed_config=tp.json"}, "tp=4 (tp.json:1)"},
    {{"python", "gpt/train.py", "--config-name", "gpt", "++model.context_parallel_size=2"},
     "cp=2 (model.context_parallel_size), tp=8 (gpt/conf/gpt.yaml:5), "
     "sequence_length=4096 (gpt/conf/gpt.yaml:8)"},
    {{"python", "gpt/train.py", "--config-name=bridge.yaml", "--config-path=/conf"},
     "tp=2 (/conf/bridge.yaml:2), "
     "global_batch=128 (/conf/bridge.yaml:5), micro_batch=1 (/conf/bridge.yaml:5)"},
    {{"python", "train.py", "--config-file", "/conf/bridge.yaml",
      "model.tensor_model_parallel_size=4", "train.micro_batch_size=1"},
     "tp=4 (model.tensor_model_parallel_size), micro_batch=1 (train.micro_batch_size), "
     "global_batch=128 (/conf/bridge.yaml:5)"},
    {{"accelerate", "launch", "--config_file", "acc.yaml", "train.py"},
     "sharding=zero2 (ds.json:4), offload=cpu (ds.json:5), global_batch=256 (ds.json:2)"},
    {{"accelerate", "launch", "--config_file", "fsdp.yaml", "train.py"},
     "offload=none (fsdp.yaml:3), tp=2 (fsdp.yaml:5), sharding=zero3 (fsdp.yaml:2)"},
    {{"accelerate", "launch", "--config_file", "hsdp.yaml", "train.py"},
     "shard=4 (hsdp.yaml:4), dp=8 (hsdp.yaml:3: replicate)"},
    {{"python", "-m", "accelerate.commands.launch", "--config_file", "mega.yaml",
      "--megatron_lm_pp_degree", "4", "train.py"},
     "pp=4 (--megatron_lm_pp_degree), tp=4 (mega.yaml:2), sharding=zero1 (mega.yaml:4)"},
    {{"accelerate", "launch", "train.py", "--zero_stage", "2"}, ""},
    {{"python", "-m", "train", "x/accelerate.yaml", "--zero_stage", "2"}, ""},
    {{"python", "train.py", "--deepspeed=", "--config-name", "--config-path"},
     "not read: conf/--config-path.yaml: No such file or directory"},
    {{"python", "train.py", "--deepspeed", "none.json", "--config-file", "x.py"},
     "not read: x.py: No such file or directory, not read: none.json: No such file or directory"},
    {{"python", "train.py", "--config-file", "alias.yaml"}, "not read: alias.yaml:1: "},
    {{"torchrun", "train.py", "--job.config_file", "broken.toml"},
     "tp=4 (broken.toml:2), not read: broken.toml:3: a string does not end"},
};

static void finds_settings_in_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(found); i++) {
        CLEANUP_DONE(reading) struct reading reading;
        if (read_command(&reading, "auto", found[i].arguments) < 0)
            fail_msg("case %zu: %s", i, reading.err.text);
        const char *notices = text_buffer_text(&reading.notices);
        size_t length = strlen(found[i].notices);
        if (strncmp(notices, found[i].notices, length) != 0 ||
            (notices[length] && found[i].notices[length - 1] != ' '))
            fail_msg("case %zu: \"%s\", not \"%s\"", i, notices, found[i].notices);
    }
}

static const struct {
    const char *option;
    const char *arguments[ARGUMENTS];
    const char *message;
} refused[] = {
    {"tp=8",
     {"torchrun", "train.py", "--job.config_file", "titan.toml"},
     "titan.toml:8: tp: 4, but --parplan says 8; keep one of them"},
    {"sharding=zero3", {"python", "train.py", "--deepspeed", "ds.json"}, "ds.json:4: sharding: "},
    {"dp=4",
     {"torchrun", "train.py", "--job.config_file", "titan.toml"},
     "titan.toml:12: replicate: dp: 16"},
    {"auto", {"torchrun", "train.py", "--job.config_file", "zero.toml"}, "zero.toml:2: tp: 0 is"},
    {"model=x,tp>=2",
     {"python", "train.py", "--deepspeed", "ds.json"},
     "ds.json names no other: tp=1, but --parplan says tp>=2"},
    {"tp=2",
     {"python", "gpt/train.py", "--config-name=gpt"},
     "gpt/conf/gpt.yaml:5: tp: 8, but --parplan says 2"},
};

static void refuses_what_contradicts(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        CLEANUP_DONE(reading) struct reading reading;
        assert_int_equal(read_command(&reading, refused[i].option, refused[i].arguments), -1);
        if (!strstr(reading.err.text, refused[i].message))
            fail_msg("\"%s\" does not say \"%s\"", reading.err.text, refused[i].message);
    }
}

static const struct {
    const char *arguments[ARGUMENTS];
    const char *message; /* NULL: it is the step's */
} counted[] = {
    {{"torchrun", "--nnodes=2", "--nproc-per-node", "8", "train.py"}, NULL},
    {{"torchrun", "--nnodes=1:2", "--nproc_per_node", "gpu", "train.py"}, NULL},
    {{"torchrun", "--nnodes=1:4", "train.py"}, "--nnodes: nodes: 4, but the step has 2"},
    {{"python", "train.py", "--nnodes", "4"}, NULL},
    {{"torchrun", "--nproc_per_node", "4", "train.py"},
     "--nproc-per-node: processes_per_task: 4, but the step has 8; "},
    {{"python", "-m", "torch.distributed.run", "--nnodes", "4", "x.py"}, "--nnodes: nodes: 4, but"},
    {{"accelerate", "launch", "--config_file", "acc.yaml", "x.py"}, NULL},
    {{"accelerate", "launch", "--config_file", "acc.yaml", "--num_processes=16", "x.py"},
     "--num_processes: processes_per_task: 16, but the step has 8"},
    {{"accelerate", "launch", "--num_machines=2", "x.py"}, "--num_machines: would beat"},
    {{"python", "-m", "x", "--deepspeed", "none.json", "--num_gpus", "4"}, NULL},
    {{"deepspeed", "--num_gpus", "4", "x.py"}, "--num_gpus: processes_per_task: 4"},
    {{"python", "gpt/train.py", "--config-name=gpt"}, NULL},
    {{"python", "gpt/train.py", "--config-name=gpt", "trainer.devices=4"},
     "trainer.devices: ranks_per_node: 4, but the step has 8"},
    {{"torchrun", "--rdzv_backend=static", "--rdzv-backend", "c10d", "x.py"}, NULL},
    {{"torchrun", "--rdzv_backend=c10d", "--rdzv_endpoint=n01:29500", "x.py"}, NULL},
    {{"torchrun", "--rdzv_endpoint=n01:29500", "x.py"}, "--rdzv-endpoint: would beat"},
    {{"torchrun", "--standalone", "x.py"}, "--standalone: would beat what parplan sets"},
    {{"/opt/bin/torchrun", "--node_rank", "0", "x.py"}, "--node-rank: would beat"},
    {{"python", "-m", "torch.distributed.launch", "--master_addr", "n01", "x.py"},
     "--master-addr: would beat what parplan sets on each node; leave it out"},
    {{"torchrun", "x.py", "--node_rank", "0", "--standalone"}, NULL},
    {{"torchrun", "x.py", "torchrun", "deepspeed"}, NULL},
    {{"accelerate", "launch", "--machine_rank=0", "x.py"}, "--machine_rank: would beat"},
    {{"accelerate", "launch", "--config_file", "rank.yaml", "x.py"}, "rank.yaml:2: would beat"},
    {{"deepspeed", "--hostfile", "h", "--node_rank=0", "x.py"},
     "deepspeed: would beat what parplan sets on each node; use torchrun"},
};

/* What a program has not is no choice of the planner's, where there is a model to plan. */
static const struct {
    const char *option;
    const char *arguments[ARGUMENTS];
    const char *end; /* of the notices */
} gaps[] = {
    {"model=x",
     {"python", "x.py", "--deepspeed", "ds.json"},
     "global_batch=256 (ds.json:2), tp=1 (ds.json names no other), cp=1 (ds.json names no other), "
     "pp=1 (ds.json names no other)"},
    {"model=x,tp=4,cp=2,pp=2", {"python", "x.py", "--deepspeed", "ds.json"}, "cpu (ds.json:5)"},
    {"model=x",
     {"python", "x.py", "--deepspeed", "tp.json"},
     "tp=4 (tp.json:1), cp=1 (tp.json names no other), pp=1 (tp.json names no other)"},
    {"model=x", {"python", "x.py", "--deepspeed", "none.json"}, "No such file or directory"},
    {"model=x",
     {"python", "x.py", "--deepspeed", "ds.json", "--tensor-model-parallel-size", "2"},
     "(ds.json:5), cp=1 (ds.json names no other), pp=1 (ds.json names no other)"},
    {"model=x",
     {"torchrun", "x.py", "--job.config_file=titan.toml"},
     "cp=1 (titan.toml names no other), ep=1 (titan.toml names no other), dp=16 (titan.toml:12: "
     "replicate)"},
    {"model=x",
     {"accelerate", "launch", "--config_file", "fsdp.yaml", "x.py"},
     "cp=1 (fsdp.yaml names no other), ep=1 (fsdp.yaml names no other), "
     "pp=1 (fsdp.yaml names no other)"},
    {"model=x", {"torchrun", "ddp.py", "--batch", "4"}, ""},
    {"auto", {"python", "x.py", "--deepspeed", "ds.json"}, "(ds.json:2)"},
};

static void takes_one_for_what_a_file_leaves_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(gaps); i++) {
        CLEANUP_DONE(reading) struct reading reading;
        if (read_command(&reading, gaps[i].option, gaps[i].arguments) < 0)
            fail_msg("case %zu: %s", i, reading.err.text);
        const char *notices = text_buffer_text(&reading.notices);
        size_t length = strlen(notices), end = strlen(gaps[i].end);
        if (length < end || strcmp(notices + length - end, gaps[i].end) != 0 || (!end && length))
            fail_msg("case %zu: \"%s\", not \"%s\"", i, notices, gaps[i].end);
    }
}

/* One task per GPU on one node, one on each of two, and a step of one rank. */
static const struct {
    struct launch_step step;
    const char *arguments[ARGUMENTS];
    const char *message; /* NULL: it is right there */
} launched[] = {
    {{1, 8, 8}, {"torchrun", "x.py"}, "torchrun: starts all ranks of a node; use"},
    {{1, 8, 8}, {"python", "-m", "torch.distributed.run", "x.py"}, "torch.distributed.run: starts"},
    {{1, 8, 8}, {"python", "x.py", "torchrun"}, NULL},
    {{1, 8, 8}, {"deepspeed", "x.py"}, "deepspeed: would beat"},
    {{1, 8, 1}, {"torchrun", "--standalone", "--node-rank=0", "x.py"}, NULL},
    {{1, 8, 1}, {"deepspeed", "x.py"}, NULL},
    {{2, 8, 1}, {"torchrun", "x.py"}, NULL},
};

static void refuses_launchers_that_number_otherwise(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(launched); i++) {
        CLEANUP_DONE(reading) struct reading reading;
        assert_int_equal(read_command(&reading, "auto", launched[i].arguments), 0);
        int status = launch_counts_check(&reading.counts, &launched[i].step, &reading.err);
        if ((status < 0) != (launched[i].message != NULL))
            fail_msg("case %zu: %s", i, reading.err.text);
        if (launched[i].message && !strstr(reading.err.text, launched[i].message))
            fail_msg("\"%s\" does not say \"%s\"", reading.err.text, launched[i].message);
    }
}

static void knows_who_numbers_the_nodes(void **state)
{
    (void)state;
    static const char *const named[] = {"torchrun", "--rdzv_backend=etcd", "x.py", NULL};
    static const char *const plain[] = {"torchrun", "--rdzv-backend", "static", "x.py", NULL};
    CLEANUP_DONE(reading) struct reading reading;
    struct reading other;
    assert_int_equal(read_command(&reading, "auto", named), 0);
    assert_non_null(reading.counts.of[LAUNCH_NODE_ORDER].where);
    assert_int_equal(read_command(&other, "auto", plain), 0);
    assert_null(other.counts.of[LAUNCH_NODE_ORDER].where);
    reading_done(&other);
}

static void compares_counts_with_the_step(void **state)
{
    (void)state;
    static const struct launch_step step = {.nodes = 2, .ranks_per_node = 8, .tasks_per_node = 1};
    for (size_t i = 0; i < COUNT_OF(counted); i++) {
        CLEANUP_DONE(reading) struct reading reading;
        assert_int_equal(read_command(&reading, "auto", counted[i].arguments), 0);
        int status = launch_counts_check(&reading.counts, &step, &reading.err);
        if ((status < 0) != (counted[i].message != NULL))
            fail_msg("case %zu: %s", i, reading.err.text);
        if (counted[i].message && !strstr(reading.err.text, counted[i].message))
            fail_msg("\"%s\" does not say \"%s\"", reading.err.text, counted[i].message);
    }
}

static bool is_job_key(const char *name)
{
    for (unsigned i = 0; i < JOB_KEY_COUNT; i++)
        if (!strcmp(job_key_info((enum job_key)i)->name, name))
            return true;
    return false;
}

static bool is_count_or_file(const char *name)
{
    static const char *const words[] = {"nodes",          "processes",  "processes_per_task",
                                        "ranks_per_node", "replicate",  "one_task",
                                        "one_node",       "node_order", "@file",
                                        "@name",          "@in"};
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (!strcmp(words[i], name))
            return true;
    return false;
}

/* Its words are for people. */
static bool is_told(const char *name)
{
    return !strncmp(name, "one_", 4) || !strcmp(name, "node_order");
}

/* A rule's key is one that the code knows, and its words are values of it. */
static void check_rule(const struct yaml_node *rule)
{
    const struct yaml_node *set = rule->kind == YAML_MAPPING ? yaml_node_get(rule, "set") : rule;
    assert_non_null(set);
    if (!is_job_key(set->text) && !is_count_or_file(set->text))
        fail_msg("%s: %s is no key", rule->key, set->text);
    for (size_t i = 0; i < rule->child_count; i++) {
        const struct yaml_node *word = rule->children[i];
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(job_spec) struct job_spec *spec = job_spec_create(NULL);
        assert_non_null(spec);
        if (is_told(set->text) && strcmp(word->key, "unless") != 0)
            continue;
        if (!strcmp(word->key, "unless") || !strcmp(word->key, "only"))
            assert_true(is_job_key(word->text) || is_count_or_file(word->text));
        else if (word != set && word->text[0] &&
                 job_spec_set(spec, set->text, word->text, "rule", &err) < 0)
            fail_msg("%s: %s", rule->key, err.text);
    }
}

static void its_table_is_whole(void **state)
{
    (void)state;
    size_t rules = 0;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(yaml_document) struct yaml_document *keys = data_file_open("launch_keys.yaml", &err);
    if (!keys)
        fail_msg("%s", err.text);
    const struct yaml_node *sections = yaml_node_get(yaml_document_root(keys), "sections");
    for (size_t i = 0; i < sections->child_count; i++) {
        const struct yaml_node *section = sections->children[i];
        assert_non_null(yaml_node_get(section, "source"));
        assert_non_null(yaml_node_get(section, "flags"));
        for (size_t k = 0; k < section->child_count; k++)
            for (size_t r = 0; section->children[k]->kind == YAML_MAPPING &&
                               r < section->children[k]->child_count;
                 r++, rules++)
                check_rule(section->children[k]->children[r]);
    }
    assert_true(rules > 100);
}

static int scenario(void *context, struct error_info *err)
{
    static const char *const arguments[] = {"accelerate", "launch",        "--config_file",
                                            "acc.yaml",   "x.py",          "--job.config_file",
                                            "titan.toml", "--config-name", "gpt"};
    const struct launch_command command = {
        .arguments = arguments, .count = COUNT_OF(arguments), .read = read_text};
    (void)context;
    struct launch_counts counts;
    CLEANUP(job_spec) struct job_spec *spec = job_spec_create(err);
    CLEANUP_DONE(text_buffer) struct text_buffer notices;
    text_buffer_init(&notices, 4096);
    if (!spec || launch_command_read(&command, spec, &counts, &notices, err) < 0)
        return -1;
    return text_buffer_failed(&notices) ? error_set_memory(err) : 0;
}

static void fails_cleanly_without_memory(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(scenario, NULL);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_settings_in_files),
        cmocka_unit_test(refuses_what_contradicts),
        cmocka_unit_test(compares_counts_with_the_step),
        cmocka_unit_test(its_table_is_whole),
        cmocka_unit_test(refuses_launchers_that_number_otherwise),
        cmocka_unit_test(knows_who_numbers_the_nodes),
        cmocka_unit_test(takes_one_for_what_a_file_leaves_out),
        cmocka_unit_test(fails_cleanly_without_memory),
    };
    return unit_test_main("workload/launch_file", tests, COUNT_OF(tests));
}
