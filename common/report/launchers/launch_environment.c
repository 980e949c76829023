/* SPDX-License-Identifier: MIT */
#include "report/launchers/launch_environment.h"

struct variable_rule {
    const char *name;
    const char *word;      /* NULL and no value: must not be set */
    enum plan_value value; /* instead of the word */
    uint64_t all, any, none;
    const char *reason;
    const char *source;
};

#define MEGATRON_FSDP (TRAIT(ZERO2) | TRAITS_FULLY_SHARDED)
#define ARGUMENTS_OF_MEGATRON "Megatron-LM core 0.19.2, megatron/training/arguments.py"
#define RECIPES_OF_BRIDGE                                                                          \
    "Megatron-Bridge 0.6.2, megatron/bridge/recipes/utils/environment_utils.py"
#define PLUGIN_OF_BRIDGE "Megatron-Bridge 0.3.1, megatron/bridge/recipes/run_plugins.py"

static const struct variable_rule rules[] = {
    {"CUDA_DEVICE_MAX_CONNECTIONS", "1", VALUE_NONE, TRAIT(FAMILY_MEGATRON), TRAIT(TP) | TRAIT(CP),
     TRAIT(BLACKWELL) | MEGATRON_FSDP,
     "TP and CP before Blackwell: kernels start in the order of the host", ARGUMENTS_OF_MEGATRON},
    {"CUDA_DEVICE_MAX_CONNECTIONS", "32", VALUE_NONE, TRAIT(FAMILY_BRIDGE) | TRAIT(BLACKWELL),
     TRAIT(TP) | TRAIT(CP), MEGATRON_FSDP, "TP and CP on Blackwell: streams stay apart",
     PLUGIN_OF_BRIDGE},
    {"CUDA_DEVICE_MAX_CONNECTIONS", NULL, VALUE_NONE, TRAIT(FAMILY_MEGATRON), MEGATRON_FSDP, 0,
     "Megatron-FSDP refuses 1", ARGUMENTS_OF_MEGATRON},
    {"NCCL_P2P_NET_CHUNKSIZE", "2097152", VALUE_NONE,
     TRAIT(FAMILY_MEGATRON) | TRAIT(PP) | TRAIT(NODES), 0, TRAIT(AMD),
     "larger pieces between stages of different nodes", PLUGIN_OF_BRIDGE},
    {"NCCL_NVLS_ENABLE", "0", VALUE_NONE, TRAIT(FAMILY_BRIDGE), 0, TRAIT(AMD),
     "the recipes register no user buffers", RECIPES_OF_BRIDGE},
    {"NCCL_GRAPH_REGISTER", "0", VALUE_NONE, TRAIT(FAMILY_BRIDGE), 0, TRAIT(AMD),
     "does not go with expandable segments", RECIPES_OF_BRIDGE},
    {"TORCH_NCCL_AVOID_RECORD_STREAMS", "1", VALUE_NONE, TRAIT(FAMILY_BRIDGE), 0, 0,
     "frees communicated memory early", RECIPES_OF_BRIDGE},
    {"PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True", VALUE_NONE, 0, 0, TRAIT(AMD),
     "against fragmentation", "PyTorch, CUDA semantics: memory management"},
    {"ACCELERATE_GRADIENT_ACCUMULATION_STEPS", NULL, VALUE_MICRO_BATCHES, TRAIT(FAMILY_ACCELERATE),
     0, TRAIT(ZERO_ENGINE), "its configuration has no place for it without DeepSpeed",
     "accelerate 1.15.0, accelerator.py"},
};

static bool applies(const struct variable_rule *rule, uint64_t traits)
{
    return (traits & rule->all) == rule->all && (rule->any == 0 || (traits & rule->any)) &&
           !(traits & rule->none);
}

int launch_environment_add(const struct launch_plan *launch, uint64_t traits,
                           struct launch_settings *settings, struct error_info *err)
{
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        const struct variable_rule *rule = &rules[i];
        if (!applies(rule, traits) || settings->variable_count == LAUNCH_VARIABLES_MAXIMUM)
            continue;
        const char *value = rule->word;
        if (rule->value != VALUE_NONE) {
            value = arena_format(settings->arena, "%llu",
                                 (unsigned long long)launch_plan_number(launch, rule->value));
            if (!value)
                return error_set_memory(err);
        }
        settings->variables[settings->variable_count++] = (struct launch_variable){
            .name = rule->name, .value = value, .reason = rule->reason, .source = rule->source};
    }
    return 0;
}
