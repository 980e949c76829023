/* SPDX-License-Identifier: MIT */
#include "report/launchers/launch_config.h"
#include "report/launchers/launcher.h"
#include "tests/support/launch_fixture.h"
#include "tests/support/unit_test.h"

#include <string.h>

static void finds_launchers_by_name(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    size_t count = 0;
    for (const struct launcher *launcher; (launcher = launcher_at(count)); count++) {
        assert_ptr_equal(launcher_find(launcher->name, &err), launcher);
        for (size_t i = 0; i < count; i++)
            assert_string_not_equal(launcher_at(i)->name, launcher->name);
    }
    assert_int_equal(count, 8);
    assert_null(launcher_find("torchtitn", &err));
    assert_string_equal(err.text, "--launcher: torchtitn is not known; did you mean torchtitan?");
    assert_null(launcher_find("x", &err));
    assert_non_null(strstr(err.text, "there are megatron-lm, megatron-bridge, deepspeed"));
}

static void every_framework_has_a_launcher(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"megatron-core", "megatron-lm"},       {"nemo", "megatron-bridge"},
        {"megatron-deepspeed", "deepspeed"},    {"deepspeed", "deepspeed"},
        {"torchtitan", "torchtitan"},           {"fsdp2", "torchrun-fsdp"},
        {"of a site's own data", "megatron-lm"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_string_equal(launcher_of_framework(rows[i][0])->name, rows[i][1]);
}

static size_t count_marks(const char *text)
{
    size_t marks = 0;
    for (; *text; text++)
        marks += *text == '%';
    return marks;
}

static size_t count_values(const struct launcher_note *note)
{
    size_t count = 0;
    while (count < COUNT_OF(note->values) && note->values[count] != VALUE_NONE)
        count++;
    return count;
}

/* Settings of one section stand together, or the section would be opened twice. */
static void check_sections(const struct launcher *launcher)
{
    for (size_t i = 0; i < launcher->config_count; i++) {
        const char *path = launcher->config[i].path;
        size_t bytes = strcspn(path, ".");
        bool left = false;
        for (size_t j = i + 1; path[bytes] == '.' && j < launcher->config_count; j++) {
            bool same = strncmp(launcher->config[j].path, path, bytes + 1) == 0;
            if (same && left)
                fail_msg("%s: %s stands apart", launcher->name, launcher->config[j].path);
            left = left || !same;
        }
    }
}

static void tables_are_whole(void **state)
{
    (void)state;
    const struct launcher *launcher;
    for (size_t i = 0; (launcher = launcher_at(i)); i++) {
        assert_true(launcher->title && launcher->checked && launcher->framework);
        assert_true(launcher->numbering && launcher->usage);
        assert_true(launcher->argument_count > 0);
        assert_true(launcher->argument_count <= LAUNCH_SETTINGS_MAXIMUM);
        assert_true(launcher->config_count <= LAUNCH_SETTINGS_MAXIMUM);
        assert_true(launcher->note_count <= LAUNCH_NOTES_MAXIMUM);
        assert_int_equal(launcher->config_style == CONFIG_NONE, launcher->config_count == 0);
        assert_int_equal(launcher->config_style == CONFIG_NONE, launcher->config_file == NULL);
        check_sections(launcher);
        for (size_t n = 0; n < launcher->note_count; n++)
            assert_int_equal(count_marks(launcher->notes[n].text),
                             count_values(&launcher->notes[n]));
    }
}

struct refusal_case {
    const char *launcher;
    const char *keys;
    const char *message; /* without "--launcher NAME: "; NULL: not refused */
};

static const struct refusal_case refusals[] = {
    {"megatron-lm", "pp=4", NULL},
    {"deepspeed", "pp=4",
     "pp=4: its JSON holds no pipeline (stages are the program's PipelineModule); use pp=1, or "
     "--launcher megatron-lm, megatron-bridge, torchtitan, torchtitan-toml"},
    {"accelerate", "ep=8",
     "ep=8: it has no expert parallelism; use ep=1, or --launcher megatron-lm, megatron-bridge, "
     "deepspeed, torchtitan, torchtitan-toml"},
    {"accelerate", "pp=2", "pp=2: it has no pipeline; use pp=1, or --launcher"},
    {"torchrun-fsdp", "ep=8", "ep=8: it has no expert parallelism; use ep=1, or"},
    {"torchrun-ddp", "tp=2,sharding=zero1",
     "tp=2: DistributedDataParallel replicates the whole model; use tp=1, or --launcher "
     "megatron-lm, megatron-bridge, deepspeed"},
    {"torchrun-ddp", "sharding=zero3", "sharding=zero3: "},
    {"torchrun-ddp", "sharding=zero1", NULL},
    {"torchtitan", "sharding=zero1", "sharding=zero1: FSDP2 shares the gradients too"},
    {"torchtitan", "order=tp-cp-ep-pp-dp", "order=tp-cp-ep-pp-dp: its mesh numbers"},
    {"torchtitan", "precision=fp8", "precision=fp8: "},
    {"torchtitan-toml", "precision=fp8", NULL},
    {"torchtitan", "ep=4,etp=2,tp=2", "etp=2: "},
    {"megatron-lm", "ep=4,etp=2,tp=2", NULL},
    {"megatron-lm", "offload=nvme", "offload=nvme: it offloads to the host only"},
    {"deepspeed", "offload=nvme", NULL},
    {"deepspeed", "offload=nvme,sharding=zero2", "offload=nvme: NVMe needs"},
    {"deepspeed", "precision=fp8", "precision=fp8: "},
    {"deepspeed", "tp=2,cp=2", "cp=2: Ulysses does not go with"},
    {"megatron-lm", "pp=2,schedule=gpipe",
     "schedule=gpipe: its pipeline runs 1F1B and interleaved 1F1B only; use schedule=1f1b"},
    {"megatron-lm", "pp=2,schedule=zero-bubble", "schedule=zero-bubble: its pipeline runs 1F1B"},
    {"megatron-bridge", "pp=2,schedule=naive", "schedule=naive: its pipeline runs 1F1B"},
    {"torchtitan", "pp=2,schedule=zero-bubble", "schedule=zero-bubble: of the schedules"},
    {"torchtitan", "pp=2,schedule=gpipe", NULL},
    {"megatron-bridge", "precision=fp32", "precision=fp32: "},
    {"megatron-lm", "optimizer=sgd,sharding=zero1", "optimizer=sgd: its distributed optimizer"},
    {"megatron-bridge", "optimizer=sgd,sharding=zero3", "optimizer=sgd: its distributed optimizer"},
    {"megatron-lm", "optimizer=sgd,sharding=none", NULL},
    {"megatron-lm", "optimizer=muon,sharding=zero3", "optimizer=muon: Megatron-FSDP does not"},
    {"megatron-lm", "optimizer=muon,sharding=zero1", NULL},
    {"megatron-lm", "optimizer=muon,sharding=zero1,offload=cpu", "optimizer=muon: it offloads"},
    {"torchrun-ddp", "optimizer=sgd,sharding=zero1", NULL},
};

static void refuses_what_cannot_be_said(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refusals); i++) {
        const struct refusal_case *row = &refusals[i];
        struct error_info err = {.kind = ERROR_NONE};
        struct launch_fixture fixture;
        char start[64];
        launch_fixture_init(&fixture, row->keys);
        int result = launcher_check(launcher_find(row->launcher, NULL), &fixture.launch, &err);
        assert_int_equal(result, row->message ? -1 : 0);
        snprintf(start, sizeof(start), "--launcher %s: ", row->launcher);
        if (!row->message)
            continue;
        assert_int_equal(err.kind, ERROR_INPUT);
        assert_null(strchr(err.text, '\n'));
        if (strncmp(err.text, start, strlen(start)) != 0 ||
            strncmp(err.text + strlen(start), row->message, strlen(row->message)) != 0)
            fail_msg("%zu: \"%s\" is not \"%s%s\"", i, err.text, start, row->message);
    }
}

/* A launcher that a refusal names can say that very plan. */
static void named_launchers_can(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refusals); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        struct launch_fixture fixture;
        launch_fixture_init(&fixture, refusals[i].keys);
        const struct launcher *launcher = launcher_find(refusals[i].launcher, NULL);
        if (launcher_check(launcher, &fixture.launch, &err) == 0)
            continue;
        const char *list = strstr(err.text, ", or --launcher ");
        for (size_t j = 0; (launcher = launcher_at(j)); j++) {
            bool can = launcher_check(launcher, &fixture.launch, NULL) == 0;
            const char *named = list ? strstr(list, launcher->name) : NULL;
            if (can && !named)
                fail_msg("\"%s\" leaves out %s", err.text, launcher->name);
        }
    }
}

/* Tiles are the program's with DeepSpeed, and not to be had elsewhere. */
static void tiles_are_said_or_refused(void **state)
{
    (void)state;
    static const struct {
        const char *launcher, *words;
        bool refused;
    } rows[] = {
        {"deepspeed", "layers in 4 tiles each", false},
        {"torchrun-fsdp", "layers in 4 tiles each", false},
        {"torchtitan", "it does not cut layers into tiles", true},
        {"accelerate", "FSDP2 does not cut layers into tiles", true},
    };
    struct launch_fixture fixture;
    launch_fixture_init(&fixture, "sharding=zero3,offload=cpu");
    fixture.plan.memory.tiles = 4;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(launch_settings)
        struct launch_settings *settings =
            launch_settings_create(launcher_find(rows[i].launcher, NULL), &fixture.launch, &err);
        assert_int_equal(settings == NULL, rows[i].refused);
        bool said = settings == NULL && strstr(err.text, rows[i].words);
        for (size_t n = 0; settings && n < settings->note_count; n++)
            said = said || strstr(settings->notes[n], rows[i].words);
        assert_true(said);
    }
}

struct setting_case {
    const char *launcher;
    const char *keys;
    const char *path;
    const char *value; /* as text; NULL: the setting is not there */
};

static const struct setting_case settings_cases[] = {
    {"megatron-lm", "tp=4", "--tensor-model-parallel-size", "4"},
    {"megatron-lm", "tp=4", "--sequence-parallel", "true"},
    {"megatron-lm", "tp=1", "--sequence-parallel", NULL},
    {"megatron-lm", "pp=4,vpp=2", "--num-layers-per-virtual-pipeline-stage", "10"},
    {"megatron-lm", "pp=4", "--num-layers-per-virtual-pipeline-stage", NULL},
    {"megatron-lm", "sharding=zero1", "--use-distributed-optimizer", "true"},
    {"megatron-lm", "sharding=none", "--use-distributed-optimizer", NULL},
    {"megatron-lm", "sharding=zero3", "--use-distributed-optimizer", NULL},
    {"megatron-lm", "sharding=zero3", "--use-megatron-fsdp", "true"},
    {"megatron-lm", "sharding=zero2", "--data-parallel-sharding-strategy", "optim_grads"},
    {"megatron-lm", "precision=fp8", "--fp8-format", "hybrid"},
    {"megatron-lm", "precision=fp8", "--bf16", "true"},
    {"megatron-lm", "recompute=full", "--recompute-granularity", "full"},
    {"megatron-lm", "order=tp-cp-ep-pp-dp,sharding=zero1", "--use-tp-pp-dp-mapping", "true"},
    {"megatron-lm", "mtp=2", "--mtp-num-layers", "2"},
    {"megatron-lm", "mtp=0", "--mtp-num-layers", NULL},
    {"megatron-lm", "capacity_factor=1.25", "--moe-expert-capacity-factor", "1.25"},
    {"megatron-lm", "capacity_factor=1.25", "--moe-pad-expert-input-to-capacity", "true"},
    {"megatron-lm", "capacity_factor=1.25", "--moe-token-dispatcher-type", "alltoall"},
    {"megatron-lm", "capacity_factor=2,imbalance=1.5", "--moe-pad-expert-input-to-capacity", NULL},
    {"megatron-lm", "imbalance=1.5", "--moe-expert-capacity-factor", NULL},
    {"megatron-lm", "optimizer=sgd,sharding=none", "--optimizer", "sgd"},
    {"megatron-lm", "optimizer=muon,sharding=zero1", "--optimizer", "muon"},
    {"megatron-lm", "optimizer=adam", "--optimizer", NULL},
    {"megatron-lm", "optimizer=adam_bf16,sharding=zero1", "--exp-avg-dtype", "bf16"},
    {"megatron-lm", "optimizer=adam_bf16,sharding=zero3", "--exp-avg-dtype", NULL},
    {"megatron-bridge", "optimizer=sgd,sharding=none", "optimizer.optimizer", "sgd"},
    {"megatron-bridge", "mtp=1", "model.mtp_num_layers", "1"},
    {"megatron-bridge", "capacity_factor=2", "model.moe_expert_capacity_factor", "2"},
    {"megatron-bridge", "pp=4", "model.virtual_pipeline_model_parallel_size", "null"},
    {"megatron-bridge", "ep=8", "model.expert_model_parallel_size", "8"},
    {"torchtitan", "pp=4", "--parallelism.pipeline_parallel_schedule", "1F1B"},
    {"torchtitan", "pp=4,vpp=2", "--parallelism.pipeline_parallel_schedule", "Interleaved1F1B"},
    {"torchtitan", "sharding=zero2", "--parallelism.fsdp_reshard_after_forward", "never"},
    {"torchtitan", "recompute=full", "activation-checkpoint:full", "true"},
    {"torchtitan-toml", "cp=2", "parallelism.context_parallel_degree", "2"},
    {"deepspeed", "sharding=zero3", "zero_optimization.stage", "3"},
    {"deepspeed", "sharding=none", "zero_optimization.stage", "0"},
    {"deepspeed", "tp=2", "tensor_parallel.autotp_size", "2"},
    {"deepspeed", "tp=2", "train_batch_size", NULL},
    {"deepspeed", "tp=1", "train_batch_size", "512"},
    {"deepspeed", "cp=2", "sequence_parallel_size", "2"},
    {"deepspeed", "ep=8", "expert_parallel.autoep_size", "8"},
    {"torchrun-fsdp", "cp=2", "device_mesh.cp", "2"},
    {"torchrun-fsdp", "tp=1", "--nproc-per-node", "8"},
    {"torchrun-ddp", "sharding=zero1", "zero_redundancy_optimizer", "true"},
    {"torchrun-ddp", "sharding=none", "zero_redundancy_optimizer", NULL},
    {"accelerate", "tp=2", "parallelism_config.parallelism_config_tp_size", "2"},
    {"accelerate", "sharding=zero2", "fsdp_config.fsdp_reshard_after_forward", "false"},
};

static void check_setting(const struct setting_case *row, const struct launch_settings *settings)
{
    const struct launch_setting *found = setting_list_find(&settings->arguments, row->path);
    if (!found)
        found = setting_list_find(&settings->config, row->path);
    if (!found != !row->value)
        fail_msg("%s: %s is %s", row->launcher, row->path, found ? "there" : "missing");
    if (!found)
        return;
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, 1000);
    launch_setting_write(found, &text);
    assert_string_equal(text_buffer_text(&text), row->value);
}

static void says_what_the_plan_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(settings_cases); i++) {
        const struct setting_case *row = &settings_cases[i];
        struct error_info err = {.kind = ERROR_NONE};
        struct launch_fixture fixture;
        launch_fixture_init(&fixture, row->keys);
        CLEANUP(launch_settings)
        struct launch_settings *settings =
            launch_settings_create(launcher_find(row->launcher, NULL), &fixture.launch, &err);
        if (!settings)
            fail_msg("%s %s: %s", row->launcher, row->path, err.text);
        check_setting(row, settings);
    }
}

struct variable_case {
    const char *launcher;
    const char *keys;
    const char *architecture;
    const char *name;
    const char *value; /* "unset", or NULL: not mentioned */
};

static const struct variable_case variables[] = {
    {"megatron-lm", "tp=2,sharding=zero1", "hopper", "CUDA_DEVICE_MAX_CONNECTIONS", "1"},
    {"megatron-lm", "tp=2,sharding=zero1", "blackwell", "CUDA_DEVICE_MAX_CONNECTIONS", NULL},
    {"megatron-lm", "tp=2,sharding=zero1", "blackwell-ultra", "CUDA_DEVICE_MAX_CONNECTIONS", NULL},
    {"megatron-bridge", "tp=2,sharding=zero1", "blackwell", "CUDA_DEVICE_MAX_CONNECTIONS", "32"},
    {"megatron-lm", "tp=1,sharding=zero1", "hopper", "CUDA_DEVICE_MAX_CONNECTIONS", NULL},
    {"megatron-lm", "tp=2,sharding=zero3", "hopper", "CUDA_DEVICE_MAX_CONNECTIONS", "unset"},
    {"torchtitan", "tp=2", "hopper", "CUDA_DEVICE_MAX_CONNECTIONS", NULL},
    {"torchtitan", "tp=2", "hopper", "PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True"},
    {"accelerate", "tp=1", "hopper", "ACCELERATE_GRADIENT_ACCUMULATION_STEPS", "8"},
};

static void names_the_environment(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(variables); i++) {
        const struct variable_case *row = &variables[i];
        struct launch_fixture fixture;
        launch_fixture_init(&fixture, row->keys);
        fixture.gpu.architecture = row->architecture;
        CLEANUP(launch_settings)
        struct launch_settings *settings =
            launch_settings_create(launcher_find(row->launcher, NULL), &fixture.launch, NULL);
        assert_non_null(settings);
        const struct launch_variable *found = NULL;
        for (size_t v = 0; v < settings->variable_count; v++) {
            assert_true(settings->variables[v].reason && settings->variables[v].source);
            if (strcmp(settings->variables[v].name, row->name) == 0)
                found = &settings->variables[v];
        }
        if (!found != !row->value)
            fail_msg("%zu: %s is %s", i, row->name, found ? "there" : "missing");
        if (found)
            assert_string_equal(found->value ? found->value : "unset", row->value);
    }
}

/* Settings and notes: 0 where the plan is refused. */
static size_t count_said(const struct launcher *launcher, const char *keys)
{
    struct launch_fixture fixture;
    launch_fixture_init(&fixture, keys);
    CLEANUP(launch_settings)
    struct launch_settings *settings = launch_settings_create(launcher, &fixture.launch, NULL);
    return settings ? settings->arguments.count + settings->config.count + settings->note_count : 0;
}

/* What the memory was counted by, every launcher sets, notes or refuses. */
static void drops_nothing_that_was_counted(void **state)
{
    (void)state;
    static const char *const keys[] = {"trainable=lora:16", "trainable=0.5",
                                       "trainable=frozen",  "optimizer=adam_8bit",
                                       "optimizer=muon",    "optimizer=adam_bf16",
                                       "optimizer=sgd",     "mtp=1",
                                       "capacity_factor=2", "capacity_factor=2,imbalance=1.5"};
    static const char *const shardings[] = {"sharding=none", "sharding=zero1", "sharding=zero3"};
    const struct launcher *launcher;
    for (size_t i = 0; (launcher = launcher_at(i)); i++)
        for (size_t s = 0; s < COUNT_OF(shardings); s++)
            for (size_t k = 0; k < COUNT_OF(keys); k++) {
                char both[100];
                snprintf(both, sizeof(both), "%s,%s", shardings[s], keys[k]);
                size_t plain = count_said(launcher, shardings[s]),
                       said = count_said(launcher, both);
                if (said > 0 && said <= plain)
                    fail_msg("%s: nothing is said of %s", launcher->name, both);
            }
}

struct note_case {
    const char *launcher, *keys, *words;
    bool there;
};

static const struct note_case note_cases[] = {
    {"megatron-lm", "trainable=lora:16", "LoRA adapters of rank 16 alone", true},
    {"megatron-lm", "trainable=lora:16", "Part of the parameters", false},
    {"megatron-lm", "trainable=0.5", "Part of the parameters", true},
    {"megatron-lm", "trainable=1", "LoRA", false},
    {"megatron-bridge", "trainable=lora:8", "give the recipe its peft=", true},
    {"torchtitan", "trainable=lora:8", "a LoRA converter", true},
    {"deepspeed", "optimizer=adam_8bit", "moments of optimizer=adam_8bit", true},
    {"deepspeed", "optimizer=adam", "moments of", false},
    {"megatron-lm", "optimizer=adam_bf16,sharding=zero1", "moments of", false},
    {"megatron-lm", "optimizer=adam_bf16,sharding=zero3", "moments of", true},
    {"torchrun-fsdp", "mtp=2", "(mtp=2)", true},
    {"accelerate", "capacity_factor=1.25", "capacity_factor=1.25: ", true},
    {"accelerate", "capacity_factor=1.25", "and pad to it", true},
    {"accelerate", "capacity_factor=1.25,imbalance=1.1", "and pad to it", false},
    {"accelerate", "imbalance=1.1", "capacity_factor", false},
    {"megatron-lm", "dp=8,tp=8", "dp=8 is no argument: it follows", true},
};

static void notes_what_it_cannot_set(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(note_cases); i++) {
        const struct note_case *row = &note_cases[i];
        struct launch_fixture fixture;
        launch_fixture_init(&fixture, row->keys);
        CLEANUP(launch_settings)
        struct launch_settings *settings =
            launch_settings_create(launcher_find(row->launcher, NULL), &fixture.launch, NULL);
        assert_non_null(settings);
        bool found = false;
        for (size_t n = 0; n < settings->note_count; n++)
            found = found || strstr(settings->notes[n], row->words);
        if (found != row->there)
            fail_msg("%s with %s: \"%s\" is %s", row->launcher, row->keys, row->words,
                     found ? "there" : "missing");
    }
}

static void writes_who_is_able(void **state)
{
    (void)state;
    struct launch_fixture fixture;
    launch_fixture_init(&fixture, "tp=2");
    fixture.profile.name = "fsdp2";
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, 1000);
    assert_int_equal(launcher_write_able(&fixture.launch, true, &text), 2);
    assert_string_equal(text_buffer_text(&text), "torchrun-fsdp, accelerate");
    launch_fixture_init(&fixture, "pp=2");
    fixture.profile.name = "deepspeed";
    assert_int_equal(launcher_write_able(&fixture.launch, true, &text), 0);
    assert_int_equal(launcher_write_able(&fixture.launch, false, &text), 4);
}

static int create_settings(void *context, struct error_info *err)
{
    const struct launch_fixture *fixture = context;
    CLEANUP(launch_settings)
    struct launch_settings *settings =
        launch_settings_create(&accelerate_launcher, &fixture->launch, err);
    return settings ? 0 : -1;
}

static int refuse_and_find(void *context, struct error_info *err)
{
    const struct launch_fixture *fixture = context;
    struct error_info local = {.kind = ERROR_NONE};
    if (launcher_check(&torchrun_ddp_launcher, &fixture->launch, &local) < 0 &&
        local.kind == ERROR_INPUT && !launcher_find("x", &local) && local.kind == ERROR_INPUT)
        return 0;
    *err = local;
    return -1;
}

static void fails_cleanly(void **state)
{
    (void)state;
    struct launch_fixture fixture;
    launch_fixture_init(&fixture, "tp=2");
    unit_test_expect_clean_failures(create_settings, &fixture);
    unit_test_expect_clean_failures(refuse_and_find, &fixture);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_launchers_by_name),
        cmocka_unit_test(every_framework_has_a_launcher),
        cmocka_unit_test(tables_are_whole),
        cmocka_unit_test(refuses_what_cannot_be_said),
        cmocka_unit_test(named_launchers_can),
        cmocka_unit_test(tiles_are_said_or_refused),
        cmocka_unit_test(says_what_the_plan_says),
        cmocka_unit_test(names_the_environment),
        cmocka_unit_test(drops_nothing_that_was_counted),
        cmocka_unit_test(notes_what_it_cannot_set),
        cmocka_unit_test(writes_who_is_able),
        cmocka_unit_test(fails_cleanly),
    };
    return unit_test_main("report/launcher", tests, COUNT_OF(tests));
}
