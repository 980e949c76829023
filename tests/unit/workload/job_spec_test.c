/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"
#include "workload/job_spec.h"

#include <string.h>

static struct job_spec *new_spec(void)
{
    struct job_spec *spec = job_spec_create(NULL);
    assert_non_null(spec);
    return spec;
}

/* What a specification says, as one line: the given keys in the table's order. */
static void say(const struct job_spec *spec, char *out, size_t bytes)
{
    size_t used = (size_t)snprintf(out, bytes, "%s", spec->automatic ? "auto" : "");
    for (unsigned i = 0; i < JOB_KEY_COUNT; i++) {
        const struct job_value *value = &spec->values[i];
        if (!value->given)
            continue;
        used += (size_t)snprintf(out + used, bytes - used, "%s%s=%s", used > 0 ? "," : "",
                                 job_key_info((enum job_key)i)->name, value->text);
    }
}

static const struct {
    const char *option, *said;
} valid_options[] = {
    {"auto", "auto"},
    {"auto,auto", "auto"},
    {"tp=8,pp=4", "tp=8,pp=4"},
    {"pp=4,tp=8", "tp=8,pp=4"},
    {"tp=8,auto,tp=8", "auto,tp=8"},
    {"auto,model=llama3-8b,tp=8", "auto,model=llama3-8b,tp=8"},
    {"model=./a=b/config.json", "model=./a=b/config.json"},
    {"sharding=zero3/fsdp", "sharding=zero3"},
    {"sharding=fsdp,sharding=zero3", "sharding=zero3"},
    {"tp=1048576", "tp=1048576"},
    {"trainable=0.01", "trainable=0.01"},
    {"trainable=1", "trainable=1"},
    {"trainable=frozen,trainable=frozen", "trainable=frozen"},
    {"trainable=lora,trainable=lora:16", "trainable=lora"},
    {"trainable=lora:4096,mtp=0", "trainable=lora:4096,mtp=0"},
    {"spare=0", "spare=0"},
    {"order=tp-cp-ep-pp-dp,objective=cost,place=slurm",
     "order=tp-cp-ep-pp-dp,objective=cost,place=slurm"},
    {"offload=auto,precision=bf16,recompute=full,schedule=1f1b",
     "schedule=1f1b,recompute=full,precision=bf16,offload=auto"},
    {"global_batch=1536,max_global_batch=2048,sequence_length=2048,micro_batch=2",
     "global_batch=1536,max_global_batch=2048,sequence_length=2048,micro_batch=2"},
    {"framework=torchtitan,shard=8,vpp=2,cp=2,ep=4,etp=1,dp=3",
     "cp=2,ep=4,etp=1,vpp=2,dp=3,shard=8,framework=torchtitan"},
};

static void options_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(valid_options); i++) {
        CLEANUP(job_spec) struct job_spec *spec = new_spec();
        struct error_info err = {0};
        char said[512];
        if (job_spec_parse_option(spec, valid_options[i].option, "--parplan", &err) < 0)
            fail_msg("%s: %s", valid_options[i].option, err.text);
        say(spec, said, sizeof(said));
        assert_string_equal(said, valid_options[i].said);
        assert_int_equal(err.kind, ERROR_NONE);
    }
}

#define NO_SHARE "a share above 0 and at most 1, such as 0.01, nor frozen, lora or lora:RANK"
#define KEYS                                                                                       \
    "(keys: model, global_batch, max_global_batch, sequence_length, tp, cp, ep, etp, pp, vpp, "    \
    "dp, sharding, shard, micro_batch, schedule, recompute, precision, offload, "                  \
    "host_memory_gib, host_nvme_gib, optimizer, capacity_factor, imbalance, trainable, mtp, "      \
    "order, framework, objective, place, spare)"

static const struct {
    const char *option, *text;
} invalid_options[] = {
    {"", "--parplan: empty; write auto, or key=value,key=value"},
    {",", "--parplan: item 1 is empty; write key=value,key=value"},
    {"tp=8,,pp=2", "--parplan: item 2 is empty; write key=value,key=value"},
    {"tp=8,", "--parplan: item 2 is empty; write key=value,key=value"},
    {"tp", "--parplan: tp: a value is missing; write tp=VALUE"},
    {"tp=", "--parplan: tp: a value is missing; write key=value"},
    {"=8", "--parplan: \"=8\" has no key before the '='"},
    {"tp=0", "--parplan: tp: 0 is not a whole number from 1 to 1048576"},
    {"tp=-1", "--parplan: tp: -1 is not a whole number from 1 to 1048576"},
    {"tp=1048577", "--parplan: tp: 1048577 is not a whole number from 1 to 1048576"},
    {"tp=99999999999999999999",
     "--parplan: tp: 99999999999999999999 is not a whole number from 1 to 1048576"},
    {"tp=8x", "--parplan: tp: 8x is not a whole number from 1 to 1048576"},
    {"tp=8.0", "--parplan: tp: 8.0 is not a whole number from 1 to 1048576"},
    {"tp= 8", "--parplan: tp:  8 is not a whole number from 1 to 1048576"},
    {"tp=8\n", "--parplan: tp: \"8?\" has control characters or is not UTF-8"},
    {"model=a\x1b[31mb", "--parplan: model: \"a?[31mb\" has control characters or is not UTF-8"},
    {"model=\xff", "--parplan: model: \"?\" has control characters or is not UTF-8"},
    {"tp=8,tp=4", "--parplan: tp: 4, but --parplan says 8; keep one of them"},
    {"sharding=zero1,sharding=fsdp",
     "--parplan: sharding: zero3, but --parplan says zero1; keep one of them"},
    {"model=a,model=b", "--parplan: model: b, but --parplan says a; keep one of them"},
    {"trainable=0.1,trainable=0.2",
     "--parplan: trainable: 0.2, but --parplan says 0.1; keep one of them"},
    {"sharding=zero9",
     "--parplan: sharding: \"zero9\" is not one of none, zero1, zero2, zero3, hsdp"},
    {"order=pp", "--parplan: order: \"pp\" is not one of tp-cp-ep-dp-pp, tp-cp-ep-pp-dp, auto"},
    {"trainable=lora:8,trainable=frozen",
     "--parplan: trainable: frozen, but --parplan says lora:8; keep one of them"},
    {"trainable=lora:r=16",
     "--parplan: trainable: \"lora:r=16\": the rank is not a whole number from 1 to 4096"},
    {"trainable=lora:", "--parplan: trainable: \"lora:\": the rank is not a whole number from 1 to "
                        "4096"},
    {"trainable=lora:0", "--parplan: trainable: \"lora:0\": the rank is not a whole number from 1 "
                         "to 4096"},
    {"trainable=lora:4097", "--parplan: trainable: \"lora:4097\": the rank is not a whole number "
                            "from 1 to 4096"},
    {"trainable=loras", "--parplan: trainable: \"loras\" is not " NO_SHARE},
    {"trainable=frozen:1", "--parplan: trainable: \"frozen:1\" is not " NO_SHARE},
    {"mtp=17", "--parplan: mtp: 17 is not a whole number from 0 to 16"},
    {"trainable=0", "--parplan: trainable: \"0\" is not " NO_SHARE},
    {"trainable=1.5", "--parplan: trainable: \"1.5\" is not " NO_SHARE},
    {"trainable=nan", "--parplan: trainable: \"nan\" is not " NO_SHARE},
    {"imbalance=0.5", "--parplan: imbalance: 0.5 is not a factor from 1 to 1000, such as 1.25"},
    {"capacity_factor=nan",
     "--parplan: capacity_factor: nan is not a factor from 1 to 1000, such as 1.25"},
    {"tpp=8", "--parplan: unknown key \"tpp\"; did you mean tp? " KEYS},
    {"zzzzzz=8", "--parplan: unknown key \"zzzzzz\" " KEYS},
    {"autoo", "--parplan: unknown key \"autoo\"; did you mean auto? " KEYS},
    {"Auto", "--parplan: unknown key \"Auto\"; did you mean auto? " KEYS},
    {"TP=8", "--parplan: unknown key \"TP\"; did you mean tp? " KEYS},
    {"tp:8", "--parplan: unknown key \"tp:8\"; did you mean tp? " KEYS},
    {"tp=8, pp=4", "--parplan: unknown key \" pp\"; did you mean pp? " KEYS},
    {"none", "--parplan: unknown key \"none\" " KEYS},
    {"off,tp=8", "--parplan: off stands alone, or is left out"},
    {"tp=8,off", "--parplan: off stands alone, or is left out"},
};

static void bad_options_are_one_clear_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(invalid_options); i++) {
        CLEANUP(job_spec) struct job_spec *spec = new_spec();
        struct error_info err = {0};
        assert_int_equal(job_spec_parse_option(spec, invalid_options[i].option, "--parplan", &err),
                         -1);
        assert_string_equal(err.text, invalid_options[i].text);
        assert_int_equal(err.kind, ERROR_INPUT);
    }
}

static void long_texts_are_refused(void **state)
{
    (void)state;
    static char option[10241];
    CLEANUP(job_spec) struct job_spec *spec = new_spec();
    struct error_info err = {0};
    memset(option, 'a', sizeof(option) - 1);
    assert_int_equal(job_spec_parse_option(spec, option, "--parplan", &err), -1);
    assert_string_equal(err.text,
                        "--parplan: longer than 4096 bytes; write the keys into a job file");
    option[2000] = '\0';
    assert_int_equal(job_spec_set(spec, "model", option, "--set", &err), -1);
    assert_string_equal(err.text, "--set: model: the value is longer than 1024 bytes");
    assert_int_equal(job_spec_parse_option(spec, option, "--parplan", &err), -1);
    assert_true(strlen(err.text) < 500);
}

static const char job_yaml[] = "schema: parplan.job/1\n"
                               "model: llama3-70b\n"
                               "global_batch: 1024\n"
                               "sequence_length: 8192\n"
                               "framework: \"megatron-core\"\n"
                               "tp: 8\n"
                               "parplan: auto\n";

static void job_files_are_read(void **state)
{
    (void)state;
    CLEANUP(job_spec) struct job_spec *spec = new_spec();
    struct error_info err = {0};
    char said[512];
    assert_int_equal(job_spec_parse_yaml(spec, job_yaml, sizeof(job_yaml) - 1, "job.yaml", &err),
                     0);
    say(spec, said, sizeof(said));
    assert_string_equal(said, "auto,model=llama3-70b,global_batch=1024,sequence_length=8192,tp=8,"
                              "framework=megatron-core");
    assert_string_equal(spec->values[JOB_TP].where, "job.yaml:6");
    assert_int_equal(job_spec_number(spec, JOB_TP, 1), 8);
    assert_int_equal(job_spec_number(spec, JOB_PP, 1), 1);
    assert_string_equal(job_spec_text(spec, JOB_MODEL), "llama3-70b");
    assert_null(job_spec_text(spec, JOB_SHARDING));
}

static const struct {
    const char *yaml, *part; /* of the message */
} invalid_files[] = {
    {"", "job.yaml"},
    {"schema: parplan.job/2\n", "parplan.job/1"},
    {"tp: 8\n", "parplan.job/1"},
    {"schema: parplan.job/1\ntp: 0\n", "job.yaml:2: tp: 0 is not a whole number from 1 to 1048576"},
    {"schema: parplan.job/1\ntp:\n", "job.yaml:2: tp: a value is missing"},
    {"schema: parplan.job/1\n\ntpp: 8\n", "job.yaml:3: unknown key \"tpp\"; did you mean tp?"},
    {"schema: parplan.job/1\ntp: [8]\n",
     "job.yaml:2: tp: a list or mapping, where one value is expected"},
    {"schema: parplan.job/1\nparplan: off\n", "job.yaml:2: parplan: \"off\" is not auto"},
    {"schema: parplan.job/1\nparplan: {a: b}\n", "job.yaml:2: parplan: a list or mapping"},
    {"schema: parplan.job/1\ntp: 8\ntp: 8\n", "job.yaml:3"},
    {"schema: parplan.job/1\nmodel: \"a\\tb\"\n", "job.yaml:2: model: \"a?b\" has control"},
};

static void bad_job_files_name_the_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(invalid_files); i++) {
        CLEANUP(job_spec) struct job_spec *spec = new_spec();
        struct error_info err = {0};
        const char *yaml = invalid_files[i].yaml;
        assert_int_equal(job_spec_parse_yaml(spec, yaml, strlen(yaml), "job.yaml", &err), -1);
        if (!strstr(err.text, invalid_files[i].part))
            fail_msg("\"%s\" lacks \"%s\"", err.text, invalid_files[i].part);
    }
}

static void precedence_fills_gaps_and_refuses_conflicts(void **state)
{
    (void)state;
    CLEANUP(job_spec) struct job_spec *option = new_spec();
    CLEANUP(job_spec) struct job_spec *file = new_spec();
    struct error_info err = {0};
    char said[512];
    assert_int_equal(job_spec_parse_option(option, "tp=8,pp=4", "--parplan", &err), 0);
    assert_int_equal(job_spec_parse_yaml(file, job_yaml, sizeof(job_yaml) - 1, "job.yaml", &err),
                     0);
    assert_int_equal(job_spec_merge_below(option, file, &err), 0);
    job_spec_free(move_pointer(file)); /* nothing of it is kept */
    say(option, said, sizeof(said));
    assert_string_equal(said, "auto,model=llama3-70b,global_batch=1024,sequence_length=8192,tp=8,"
                              "pp=4,framework=megatron-core");
    assert_string_equal(option->values[JOB_TP].where, "--parplan");
    assert_string_equal(option->values[JOB_MODEL].where, "job.yaml:2");

    CLEANUP(job_spec) struct job_spec *command = new_spec();
    assert_int_equal(job_spec_set(command, "tp", "4", "--tensor-model-parallel-size", &err), 0);
    assert_int_equal(job_spec_merge_below(option, command, &err), -1);
    assert_string_equal(err.text, "--tensor-model-parallel-size: tp: 4, but --parplan says 8; keep "
                                  "one of them");
}

static void degrees_are_the_given_ones(void **state)
{
    (void)state;
    CLEANUP(job_spec) struct job_spec *spec = new_spec();
    struct degrees degrees;
    assert_false(job_spec_has_degrees(spec));
    assert_int_equal(job_spec_parse_option(spec, "model=x,shard=4", "--plan", NULL), 0);
    assert_false(job_spec_has_degrees(spec));
    assert_int_equal(job_spec_parse_option(spec, "tp=8,ep=2", "--plan", NULL), 0);
    assert_true(job_spec_has_degrees(spec));
    job_spec_degrees(spec, &degrees);
    struct degrees want = {.tp = 8, .ep = 2, .shard = 4};
    assert_memory_equal(&degrees, &want, sizeof(want));
}

/* order=auto leaves the choice open; until it is made the launchers' own holds. */
static void orders_may_be_left_open(void **state)
{
    (void)state;
    static const struct {
        const char *option;
        enum rank_order order;
        bool open;
    } orders[] = {
        {"tp=8", ORDER_TP_CP_EP_DP_PP, false},
        {"order=auto", ORDER_TP_CP_EP_DP_PP, true},
        {"order=tp-cp-ep-dp-pp", ORDER_TP_CP_EP_DP_PP, false},
        {"order=tp-cp-ep-pp-dp", ORDER_TP_CP_EP_PP_DP, false},
    };
    for (size_t i = 0; i < COUNT_OF(orders); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(job_spec) struct job_spec *spec = job_spec_create(&err);
        assert_non_null(spec);
        assert_int_equal(job_spec_parse_option(spec, orders[i].option, "--plan", &err), 0);
        assert_int_equal(job_spec_order(spec), orders[i].order);
        assert_int_equal(job_spec_order_is_open(spec), orders[i].open);
    }
}

/* The words here and the names that reports print are the same, in the same order. */
static void choices_are_the_names_of_the_enums(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SHARDING_COUNT; i++)
        assert_string_equal(job_key_info(JOB_SHARDING)->choices[i],
                            sharding_name((enum sharding)i));
    for (unsigned i = 0; i < SCHEDULE_COUNT; i++)
        assert_string_equal(job_key_info(JOB_SCHEDULE)->choices[i],
                            schedule_name((enum schedule)i));
    for (unsigned i = 0; i < RECOMPUTE_COUNT; i++)
        assert_string_equal(job_key_info(JOB_RECOMPUTE)->choices[i],
                            recompute_name((enum recompute)i));
    for (unsigned i = 0; i < PRECISION_COUNT; i++)
        assert_string_equal(job_key_info(JOB_PRECISION)->choices[i],
                            precision_name((enum precision)i));
    for (unsigned i = 0; i < OFFLOAD_COUNT; i++)
        assert_string_equal(job_key_info(JOB_OFFLOAD)->choices[i], offload_name((enum offload)i));
    for (unsigned i = 0; i < RANK_ORDER_COUNT; i++)
        assert_string_equal(job_key_info(JOB_ORDER)->choices[i],
                            rank_order_name((enum rank_order)i));
    assert_string_equal(job_key_info(JOB_ORDER)->choices[RANK_ORDER_COUNT], "auto");
    assert_string_equal(job_key_info(JOB_OFFLOAD)->choices[JOB_OFFLOAD_AUTO], "auto");
    assert_string_equal(job_key_info(JOB_OBJECTIVE)->choices[OBJECTIVE_AUTO], "auto");
    assert_string_equal(job_key_info(JOB_PLACE)->choices[PLACE_SLURM], "slurm");
    assert_null(job_key_info(JOB_KEY_COUNT));
    for (unsigned i = 0; i < JOB_KEY_COUNT; i++)
        assert_non_null(job_key_help((enum job_key)i));
}

static int read_scenario(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(job_spec) struct job_spec *spec = job_spec_create(err);
    CLEANUP(job_spec) struct job_spec *file = spec ? job_spec_create(err) : NULL;
    if (!file || job_spec_parse_option(spec, "auto,tp=8,sharding=fsdp", "--parplan", err) < 0 ||
        job_spec_parse_yaml(file, job_yaml, sizeof(job_yaml) - 1, "job.yaml", err) < 0)
        return -1;
    return job_spec_merge_below(spec, file, err);
}

static void fails_cleanly_without_memory(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(read_scenario, NULL);
}

static void contradicting_keys_are_refused(void **state)
{
    (void)state;
    static const char *const refused[][2] = {
        {"schedule=1f1b,vpp=2",
         "--plan: schedule=1f1b contradicts vpp=2; use schedule=interleaved, or vpp=1"},
        {"vpp=4,schedule=gpipe",
         "--plan: schedule=gpipe contradicts vpp=4; use schedule=interleaved, or vpp=1"},
        {"schedule=interleaved,vpp=1",
         "--plan: schedule=interleaved contradicts vpp=1; use schedule=1f1b, or vpp=2 or more"},
        {"schedule=none,pp=4",
         "--plan: schedule=none contradicts pp=4; use schedule=1f1b, or pp=1"},
        {"schedule=1f1b,pp=1",
         "--plan: schedule=1f1b contradicts pp=1; use pp=2 or more, or leave schedule out"},
        {"sharding=none,shard=4",
         "--plan: sharding=none contradicts shard=4; use sharding=hsdp, or leave shard out"},
    };
    static const char *const allowed[] = {"schedule=interleaved,vpp=2", "schedule=none,pp=1",
                                          "schedule=gpipe,vpp=1,pp=2", "sharding=none,shard=1",
                                          "schedule=none"};
    for (size_t i = 0; i < COUNT_OF(refused) + COUNT_OF(allowed); i++) {
        bool refuse = i < COUNT_OF(refused);
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(job_spec) struct job_spec *job = job_spec_create(&err);
        assert_non_null(job);
        const char *keys = refuse ? refused[i][0] : allowed[i - COUNT_OF(refused)];
        assert_int_equal(job_spec_parse_option(job, keys, "--plan", &err), 0);
        assert_int_equal(job_spec_check_available(job, &err), refuse ? -1 : 0);
        assert_string_equal(err.text, refuse ? refused[i][1] : "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_read),
        cmocka_unit_test(bad_options_are_one_clear_line),
        cmocka_unit_test(long_texts_are_refused),
        cmocka_unit_test(job_files_are_read),
        cmocka_unit_test(bad_job_files_name_the_line),
        cmocka_unit_test(precedence_fills_gaps_and_refuses_conflicts),
        cmocka_unit_test(degrees_are_the_given_ones),
        cmocka_unit_test(orders_may_be_left_open),
        cmocka_unit_test(choices_are_the_names_of_the_enums),
        cmocka_unit_test(fails_cleanly_without_memory),
        cmocka_unit_test(contradicting_keys_are_refused),
    };
    return unit_test_main("workload/job_spec", tests, COUNT_OF(tests));
}
