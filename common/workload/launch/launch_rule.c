/* SPDX-License-Identifier: MIT */
#include "workload/launch/launch_rule.h"
#include "base/parse_number.h"
#include <inttypes.h>
#include <string.h>

static const char count_names[LAUNCH_COUNT_COUNT][19] = {
    [LAUNCH_REPLICATE] = "replicate",
    [LAUNCH_NODES] = "nodes",
    [LAUNCH_PROCESSES_PER_TASK] = "processes_per_task",
    [LAUNCH_RANKS_PER_NODE] = "ranks_per_node",
    [LAUNCH_ONE_TASK] = "one_task",
    [LAUNCH_ONE_NODE] = "one_node",
    [LAUNCH_NODE_ORDER] = "node_order",
};

static const char *word_for(const struct yaml_node *rule, const char *value)
{
    const struct yaml_node *word = yaml_node_get(rule, value);
    return word ? word->text : NULL;
}

static const char *word_of(const struct yaml_node *rule, const char *value)
{
    const char *word = word_for(rule, value ? value : "switch");
    return word ? word : word_for(rule, "else");
}

bool launch_rule_is_switch(const struct yaml_node *rule) { return word_for(rule, "switch"); }

void launch_notice_begin(struct text_buffer *notices)
{
    if (notices->length)
        text_buffer_add_text(notices, ", ");
}

/* Keys of a job and counts behind them, numbered through; `name` is one of them. */
static unsigned find_key(const char *name)
{
    unsigned key = 0;
    while (key < JOB_KEY_COUNT && strcmp(job_key_info((enum job_key)key)->name, name) != 0)
        key++;
    while (key >= JOB_KEY_COUNT && key < JOB_KEY_COUNT + LAUNCH_NODE_ORDER &&
           strcmp(count_names[key - JOB_KEY_COUNT], name) != 0)
        key++;
    return key;
}

static bool is_over_one(const struct launch_reading *reading, const char *name)
{
    unsigned key = find_key(name);
    if (key >= JOB_KEY_COUNT)
        return reading->counts->of[key - JOB_KEY_COUNT].number > 1;
    return job_spec_number(reading->spec, (enum job_key)key, 0) > 1;
}

/* In this pass, and under its condition. */
static bool counts_now(const struct launch_reading *reading, const struct yaml_node *rule)
{
    const char *unless = word_for(rule, "unless"), *only = word_for(rule, "only");
    const char *other = only ? only : unless;
    return reading->second_pass == (other != NULL) &&
           (!other || is_over_one(reading, other) == (only != NULL));
}

static int store_count(struct launch_reading *reading, unsigned count, const char *value,
                       const char *where, struct error_info *err)
{
    uint64_t number = LAUNCH_TOLD;
    bool told = count >= LAUNCH_ONE_TASK;
    const char *most = strrchr(value, ':'); /* torchrun waits for the most nodes of "1:4" */
    if (!told && parse_unsigned(most ? most + 1 : value, 1, UINT32_MAX, &number, NULL) < 0)
        return 0; /* "gpu" */
    reading->counts->of[count].number = number;
    reading->counts->of[count].where =
        arena_format(reading->spec->arena, "%s: %s", where, told ? value : count_names[count]);
    return reading->counts->of[count].where ? 0 : error_set_memory(err);
}

int launch_key_set(struct launch_reading *reading, enum job_key key, const char *value,
                   const char *where, struct error_info *err)
{
    const char *name = job_key_info(key)->name;
    launch_notice_begin(reading->notices);
    text_buffer_add(reading->notices, "%s=%s (%s)", name, value, where);
    return job_spec_set(reading->spec, name, value, where, err);
}

/* Words of a file that no rule knows: "auto", null, an interpolation. */
static bool is_word(const char *value) { return value[strspn(value, "-0123456789")] != '\0'; }

int launch_rule_apply(struct launch_reading *reading, const struct yaml_node *rule,
                      const char *value, const char *where, struct error_info *err)
{
    const char *name = word_for(rule, "set"), *word = word_of(rule, value);
    unsigned key = find_key(name ? name : rule->text);
    uint64_t bit = (uint64_t)1 << key;
    if (!counts_now(reading, rule) || (reading->in_file && reading->from_flags & bit))
        return 0;
    if (!reading->in_file)
        reading->from_flags |= bit;
    if (!value && !word)
        return error_set(err, "%s in the command has no value; give it as %s N", where, where);
    if (!word && reading->in_file && is_word(value))
        return 0;
    if (word)
        value = word;
    if (!value[0])
        return 0;
    return key < JOB_KEY_COUNT ? launch_key_set(reading, (enum job_key)key, value, where, err)
                               : store_count(reading, key - JOB_KEY_COUNT, value, where, err);
}

int launch_counts_check(const struct launch_counts *counts, const struct launch_step *step,
                        struct error_info *err)
{
    const uint64_t have[LAUNCH_NODE_ORDER] = {
        [LAUNCH_NODES] = step->nodes,
        [LAUNCH_PROCESSES_PER_TASK] = step->ranks_per_node / step->tasks_per_node,
        [LAUNCH_RANKS_PER_NODE] = step->ranks_per_node,
        [LAUNCH_ONE_TASK] = LAUNCH_TOLD / step->tasks_per_node,
        [LAUNCH_ONE_NODE] = LAUNCH_TOLD / (step->nodes * step->tasks_per_node),
    };
    for (unsigned i = LAUNCH_NODES; i < LAUNCH_NODE_ORDER; i++) {
        if (!counts->of[i].where || counts->of[i].number == have[i])
            continue;
        if (i >= LAUNCH_ONE_TASK)
            return error_set(err, "%s", counts->of[i].where);
        return error_set(err,
                         "%s: %" PRIu64 ", but the step has %" PRIu64 "; give both the same number",
                         counts->of[i].where, counts->of[i].number, have[i]);
    }
    return 0;
}
