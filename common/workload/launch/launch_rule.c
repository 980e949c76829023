/* SPDX-License-Identifier: MIT */
#include "workload/launch/launch_rule.h"
#include "base/parse_number.h"
#include <inttypes.h>
#include <string.h>
#include <strings.h>

static const char count_names[LAUNCH_COUNT_COUNT][20] = {
    [LAUNCH_NODES] = "nodes",
    [LAUNCH_PROCESSES] = "processes",
    [LAUNCH_PROCESSES_PER_TASK] = "processes_per_task",
    [LAUNCH_RANKS_PER_NODE] = "ranks_per_node",
    [LAUNCH_REPLICATE] = "replicate",
};

/* The next word of a rule, cut at LAUNCH_WORD_BYTES; false at the end. */
static bool next_word(const char **rule, char word[static LAUNCH_WORD_BYTES])
{
    *rule += strspn(*rule, " ");
    size_t length = strcspn(*rule, " ");
    size_t kept = length < LAUNCH_WORD_BYTES ? length : LAUNCH_WORD_BYTES - 1;
    memcpy(word, *rule, kept);
    word[kept] = '\0';
    *rule += length;
    return length > 0;
}

bool launch_rule_is_switch(const char *rule) { return strstr(rule, " *=") != NULL; }

void launch_notice_begin(struct text_buffer *notices)
{
    if (notices->length)
        text_buffer_add_text(notices, ", ");
}

/* Keys of a job and counts behind them, numbered through; `name` is one of them. */
static unsigned find_key(const char *name)
{
    unsigned key = 0;
    while (key < JOB_KEY_COUNT && strcmp(job_key_info((enum job_key)key)->name, name))
        key++;
    while (key >= JOB_KEY_COUNT && key < JOB_KEY_COUNT + LAUNCH_REPLICATE &&
           strcmp(count_names[key - JOB_KEY_COUNT], name))
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

/* What the rule's words make of a value. */
struct outcome {
    const char *value; /* points at `word`, or is what was given */
    bool known;        /* by a word of the rule */
    bool counts;       /* in this pass, under its condition */
    char word[LAUNCH_WORD_BYTES];
};

static void apply_words(const struct launch_reading *reading, const char *words,
                        struct outcome *outcome)
{
    char word[LAUNCH_WORD_BYTES];
    bool second = false, holds = true;
    while (next_word(&words, word)) {
        char *to = strchr(word, '=');
        if (!to)
            continue;
        *to++ = '\0';
        if (!strcmp(word, "unless") || !strcmp(word, "only")) {
            second = true;
            holds = is_over_one(reading, to) == (word[0] == 'o');
        } else if (!outcome->known &&
                   (word[0] == '*' || (outcome->value && !strcasecmp(word, outcome->value)))) {
            outcome->known = true;
            memcpy(outcome->word, to, strlen(to) + 1);
        }
    }
    if (outcome->known)
        outcome->value = outcome->word;
    outcome->counts = second == reading->second_pass && holds;
}

static int store_count(struct launch_reading *reading, unsigned count, const char *value,
                       const char *where, struct error_info *err)
{
    uint64_t number;
    if (parse_unsigned(value, 1, UINT32_MAX, &number, NULL) < 0)
        return 0; /* "gpu", "1:4" */
    reading->counts->of[count].number = number;
    reading->counts->of[count].where = arena_copy_text(reading->spec->arena, where);
    return reading->counts->of[count].where ? 0 : error_set_memory(err);
}

static int store_key(struct launch_reading *reading, unsigned key, const char *value,
                     const char *where, struct error_info *err)
{
    const char *name = job_key_info((enum job_key)key)->name;
    launch_notice_begin(reading->notices);
    text_buffer_add(reading->notices, "%s=%s (%s)", name, value, where);
    return job_spec_set(reading->spec, name, value, where, err);
}

/* Words of a file that no rule knows: "auto", null, an interpolation. */
static bool is_word(const char *value) { return value[strspn(value, "-0123456789")] != '\0'; }

int launch_rule_apply(struct launch_reading *reading, const char *rule, const char *value,
                      const char *where, struct error_info *err)
{
    char name[LAUNCH_WORD_BYTES];
    struct outcome outcome = {.value = value};
    next_word(&rule, name);
    apply_words(reading, rule, &outcome);
    unsigned key = find_key(name);
    uint64_t bit = (uint64_t)1 << key;
    if (!outcome.counts || (reading->in_file && reading->from_flags & bit))
        return 0;
    if (!reading->in_file)
        reading->from_flags |= bit;
    if (!outcome.value)
        return error_set(err, "%s in the command has no value; give it as %s N", where, where);
    if (!outcome.value[0] || (!outcome.known && reading->in_file && is_word(outcome.value)))
        return 0;
    return key < JOB_KEY_COUNT
               ? store_key(reading, key, outcome.value, where, err)
               : store_count(reading, key - JOB_KEY_COUNT, outcome.value, where, err);
}

int launch_counts_check(const struct launch_counts *counts, const struct launch_step *step,
                        struct error_info *err)
{
    const uint64_t have[LAUNCH_REPLICATE] = {
        [LAUNCH_NODES] = step->nodes,
        [LAUNCH_PROCESSES] = step->nodes * step->ranks_per_node,
        [LAUNCH_PROCESSES_PER_TASK] = step->ranks_per_node / step->tasks_per_node,
        [LAUNCH_RANKS_PER_NODE] = step->ranks_per_node,
    };
    for (unsigned i = 0; i < LAUNCH_REPLICATE; i++)
        if (counts->of[i].where && counts->of[i].number != have[i])
            return error_set(
                err, "%s: %s: %" PRIu64 ", but the step has %" PRIu64 "; give both the same number",
                counts->of[i].where, count_names[i], counts->of[i].number, have[i]);
    return 0;
}
