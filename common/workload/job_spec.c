/* SPDX-License-Identifier: MIT */
#include "workload/job_spec.h"

#include "base/parse_number.h"
#include "base/yaml_fields.h"
#include "workload/job/job_bounds.h"
#include <stdio.h>
#include <string.h>

/* What one specification may hold: keys, values and places, each once. */
#define JOB_SPEC_MAXIMUM_BYTES ((size_t)1 << 20)

static const char *const sharding_choices[] = {"none", "zero1", "zero2", "zero3", "hsdp", NULL};
static const char *const schedule_choices[] = {"none",        "naive",       "gpipe", "1f1b",
                                               "zero-bubble", "interleaved", NULL};
static const char *const recompute_choices[] = {"none", "selective", "full", NULL};
static const char *const precision_choices[] = {"fp32", "fp16", "bf16", "fp8", NULL};
static const char *const offload_choices[] = {"none", "cpu", "nvme", "auto", NULL};
static const char *const optimizer_choices[] = {"adam", "adam_8bit", "adam_bf16",
                                                "muon", "sgd",       NULL};
static const char *const order_choices[] = {"tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp", "auto", NULL};
static const char *const objective_choices[] = {"golden", "cost", "auto", NULL};
static const char *const place_choices[] = {"env", "slurm", NULL};

#define TEXT_KEY(word)                                                                             \
    {                                                                                              \
        .name = (word), .type = JOB_TYPE_TEXT                                                      \
    }
#define CHOICE_KEY(word, list)                                                                     \
    {                                                                                              \
        .name = (word), .type = JOB_TYPE_CHOICE, .choices = (list)                                 \
    }
#define NUMBER_KEY(word, low, high)                                                                \
    {                                                                                              \
        .name = (word), .type = JOB_TYPE_UNSIGNED, .minimum = (low), .maximum = (high)             \
    }
#define BOUNDED_KEY(word, high)                                                                    \
    {                                                                                              \
        .name = (word), .type = JOB_TYPE_UNSIGNED, .minimum = 1, .maximum = (high), .bounds = true \
    }
#define FACTOR_KEY(word)                                                                           \
    {                                                                                              \
        .name = (word), .type = JOB_TYPE_FACTOR, .minimum = 1, .maximum = JOB_FACTOR_MAXIMUM       \
    }
#define DEGREE_KEY(word) BOUNDED_KEY(word, DEGREE_MAXIMUM)

static const struct job_key_info keys[JOB_KEY_COUNT] = {
    [JOB_MODEL] = TEXT_KEY("model"),
    [JOB_GLOBAL_BATCH] = NUMBER_KEY("global_batch", 1, JOB_SEQUENCES_MAXIMUM),
    [JOB_MAX_GLOBAL_BATCH] = NUMBER_KEY("max_global_batch", 1, JOB_SEQUENCES_MAXIMUM),
    [JOB_SEQUENCE_LENGTH] = NUMBER_KEY("sequence_length", 1, JOB_SEQUENCE_LENGTH_MAXIMUM),
    [JOB_TP] = DEGREE_KEY("tp"),
    [JOB_CP] = DEGREE_KEY("cp"),
    [JOB_EP] = DEGREE_KEY("ep"),
    [JOB_ETP] = DEGREE_KEY("etp"),
    [JOB_PP] = DEGREE_KEY("pp"),
    [JOB_VPP] = DEGREE_KEY("vpp"),
    [JOB_DP] = DEGREE_KEY("dp"),
    [JOB_SHARDING] = CHOICE_KEY("sharding", sharding_choices),
    [JOB_SHARD] = DEGREE_KEY("shard"),
    [JOB_MICRO_BATCH] = BOUNDED_KEY("micro_batch", JOB_SEQUENCES_MAXIMUM),
    [JOB_SCHEDULE] = CHOICE_KEY("schedule", schedule_choices),
    [JOB_RECOMPUTE] = CHOICE_KEY("recompute", recompute_choices),
    [JOB_PRECISION] = CHOICE_KEY("precision", precision_choices),
    [JOB_OFFLOAD] = CHOICE_KEY("offload", offload_choices),
    [JOB_HOST_MEMORY_GIB] = NUMBER_KEY("host_memory_gib", 1, JOB_HOST_MAXIMUM_GIB),
    [JOB_HOST_NVME_GIB] = NUMBER_KEY("host_nvme_gib", 1, JOB_HOST_MAXIMUM_GIB),
    [JOB_OPTIMIZER] = CHOICE_KEY("optimizer", optimizer_choices),
    [JOB_CAPACITY_FACTOR] = FACTOR_KEY("capacity_factor"),
    [JOB_IMBALANCE] = FACTOR_KEY("imbalance"),
    [JOB_TRAINABLE] = {.name = "trainable", .type = JOB_TYPE_TRAINABLE},
    [JOB_MTP] = NUMBER_KEY("mtp", 0, JOB_MTP_MAXIMUM),
    [JOB_ORDER] = CHOICE_KEY("order", order_choices),
    [JOB_FRAMEWORK] = TEXT_KEY("framework"),
    [JOB_OBJECTIVE] = CHOICE_KEY("objective", objective_choices),
    [JOB_PLACE] = CHOICE_KEY("place", place_choices),
    [JOB_SPARE] = NUMBER_KEY("spare", 0, DEGREE_MAXIMUM),
};

/* Other words for a choice. */
static const struct {
    enum job_key key;
    const char *word, *choice;
} aliases[] = {
    {JOB_SHARDING, "fsdp", "zero3"},
    {JOB_SHARDING, "zero3/fsdp", "zero3"},
};

const struct job_key_info *job_key_info(enum job_key key)
{
    return (unsigned)key < JOB_KEY_COUNT ? &keys[key] : NULL;
}

const char *job_key_help(enum job_key key)
{
    static const char *const lines[JOB_KEY_COUNT] = {
        [JOB_MODEL] = "a preset, a Hugging Face config.json, or a model file",
        [JOB_GLOBAL_BATCH] = "sequences per optimizer step",
        [JOB_MAX_GLOBAL_BATCH] = "the largest global batch that may be chosen",
        [JOB_SEQUENCE_LENGTH] = "tokens per sequence (4096 when not given)",
        [JOB_TP] = "tensor parallel degree",
        [JOB_CP] = "context parallel degree",
        [JOB_EP] = "expert parallel degree; regrids the same ranks",
        [JOB_ETP] = "tensor parallel degree of experts",
        [JOB_PP] = "pipeline stages",
        [JOB_VPP] = "virtual stages per pipeline stage",
        [JOB_DP] = "data parallel degree",
        [JOB_SHARDING] = "what data parallel ranks share out; fsdp is zero3",
        [JOB_SHARD] = "ranks over which states are sharded",
        [JOB_MICRO_BATCH] = "sequences per forward pass of one replica",
        [JOB_SCHEDULE] = "pipeline schedule",
        [JOB_RECOMPUTE] = "activations recomputed",
        [JOB_PRECISION] = "of matrix products",
        [JOB_OFFLOAD] = "where optimizer states may go",
        [JOB_HOST_MEMORY_GIB] = "a node's memory that offload may use",
        [JOB_HOST_NVME_GIB] = "a node's NVMe that offload may use",
        [JOB_OPTIMIZER] = "what keeps the moments",
        [JOB_CAPACITY_FACTOR] = "tokens that an expert takes at most, of an even load",
        [JOB_IMBALANCE] = "load of the experts of the fullest rank, of an even one",
        [JOB_TRAINABLE] =
            ("share of the parameters that is trained, above 0 and at most 1; or frozen, lora, "
             "lora:RANK"),
        [JOB_MTP] = "multi-token prediction layers trained",
        [JOB_ORDER] = "which degree varies fastest in RANK",
        [JOB_FRAMEWORK] = "framework profile (megatron-core when not given)",
        [JOB_OBJECTIVE] = "what the mapping minimises",
        [JOB_PLACE] = "how ranks reach their tasks",
        [JOB_SPARE] = "nodes kept free of ranks",
    };
    return (unsigned)key < JOB_KEY_COUNT ? lines[key] : NULL;
}

struct job_spec *job_spec_create(struct error_info *err)
{
    struct arena *arena = arena_create(JOB_SPEC_MAXIMUM_BYTES);
    struct job_spec *spec = arena ? arena_allocate(arena, sizeof(*spec)) : NULL;
    if (!spec) {
        arena_free(arena);
        return error_null(error_set_memory(err));
    }
    spec->arena = arena;
    return spec;
}

void job_spec_free(struct job_spec *spec)
{
    if (spec)
        arena_free(spec->arena);
}

/* "none, zero1, zero2" */
static void join(const char *const *words, size_t count, char out[static ERROR_TEXT_BYTES])
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < count && used < ERROR_TEXT_BYTES; i++)
        used += (size_t)snprintf(out + used, ERROR_TEXT_BYTES - used, "%s%s", i > 0 ? ", " : "",
                                 words[i]);
}

static int unknown_key(const char *name, const char *where, struct error_info *err)
{
    const char *names[JOB_KEY_COUNT + 1];
    char list[ERROR_TEXT_BYTES];
    for (unsigned i = 0; i < JOB_KEY_COUNT; i++)
        names[i] = keys[i].name;
    names[JOB_KEY_COUNT] = "auto";
    join(names, JOB_KEY_COUNT, list);
    const char *nearest = name_nearest(name, names, JOB_KEY_COUNT + 1);
    return error_set(err, "%s: unknown key \"%.64s\"%s%s%s (keys: %s)", where, name,
                     nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "",
                     list);
}

static int find_key(const char *name, const char *where, enum job_key *ret, struct error_info *err)
{
    for (unsigned i = 0; i < JOB_KEY_COUNT; i++) {
        if (strcmp(name, keys[i].name) == 0) {
            *ret = (enum job_key)i;
            return 0;
        }
    }
    return unknown_key(name, where, err);
}

static int check_text(const char *value, struct error_info *err)
{
    char clean[JOB_TEXT_MAXIMUM_BYTES + 1];
    size_t bytes = strlen(value);
    if (bytes == 0)
        return error_set(err, "a value is missing; write key=value");
    if (bytes >= sizeof(clean))
        return error_set(err, "the value is longer than %u bytes", JOB_TEXT_MAXIMUM_BYTES);
    memcpy(clean, value, bytes + 1);
    error_clean_text(clean);
    if (strcmp(clean, value) != 0)
        return error_set(err, "\"%.64s\" has control characters or is not UTF-8", clean);
    return 0;
}

static int read_choice(enum job_key key, const char *value, struct job_value *ret,
                       struct error_info *err)
{
    const char *const *choices = keys[key].choices, *word = value;
    for (size_t i = 0; i < COUNT_OF(aliases); i++)
        if (aliases[i].key == key && strcmp(value, aliases[i].word) == 0)
            word = aliases[i].choice;
    size_t count = 0;
    for (; choices[count]; count++) {
        if (strcmp(word, choices[count]) != 0)
            continue;
        ret->number = count;
        ret->text = choices[count];
        return 0;
    }
    char list[ERROR_TEXT_BYTES];
    join(choices, count, list);
    return error_set(err, "\"%.64s\" is not one of %s", value, list);
}

static int read_trainable(const char *value, struct job_value *ret, struct error_info *err)
{
    static const char lora[] = "lora";
    const char *end = value + sizeof(lora) - 1;
    ret->number = 0;
    if (strcmp(value, "frozen") == 0)
        return 0;
    if (strncmp(value, lora, sizeof(lora) - 1) == 0 && (*end == '\0' || *end == ':')) {
        ret->number = LORA_RANK_DEFAULT;
        if (*end == '\0' || parse_unsigned(end + 1, 1, LORA_RANK_MAXIMUM, &ret->number, NULL) == 0)
            return 0;
        return error_set(err, "\"%.64s\": the rank is not a whole number from 1 to %u", value,
                         LORA_RANK_MAXIMUM);
    }
    if (parse_real(value, 0, 1, &ret->real, NULL) < 0 || ret->real <= 0)
        return error_set(err,
                         "\"%.64s\" is not a share above 0 and at most 1, such as 0.01, nor "
                         "frozen, lora or lora:RANK",
                         value);
    return 0;
}

static int read_value(enum job_key key, const char *value, struct job_value *ret,
                      struct error_info *err)
{
    if (check_text(value, err) < 0)
        return -1;
    ret->text = value;
    switch (keys[key].type) {
    case JOB_TYPE_UNSIGNED:
        if (parse_unsigned(value, keys[key].minimum, keys[key].maximum, &ret->number, NULL) < 0)
            return error_set(err, "%.64s is not a whole number from %u to %u", value,
                             keys[key].minimum, keys[key].maximum);
        return 0;
    case JOB_TYPE_FACTOR:
        if (parse_real(value, keys[key].minimum, keys[key].maximum, &ret->real, NULL) < 0)
            return error_set(err, "%.64s is not a factor from %u to %u, such as 1.25", value,
                             keys[key].minimum, keys[key].maximum);
        return 0;
    case JOB_TYPE_TRAINABLE:
        return read_trainable(value, ret, err);
    case JOB_TYPE_CHOICE:
        return read_choice(key, value, ret, err);
    case JOB_TYPE_TEXT:
        break;
    }
    return 0;
}

static bool same_value(enum job_key key, const struct job_value *left,
                       const struct job_value *right)
{
    if (keys[key].type == JOB_TYPE_TEXT)
        return strcmp(left->text, right->text) == 0;
    return left->number == right->number && left->real == right->real;
}

/* Stores a value that is good in itself; refuses one that contradicts what stands. */
static int store(struct job_spec *spec, enum job_key key, const struct job_value *value,
                 struct error_info *err)
{
    struct job_value *slot = &spec->values[key];
    if (slot->given && same_value(key, slot, value))
        return 0;
    if (slot->given)
        return error_set(err, "%s: %s: %s, but %s says %s; keep one of them", value->where,
                         keys[key].name, value->text, slot->where, slot->text);
    if (job_bounds_check(spec, key, value->number, value->where, err) < 0)
        return -1;
    char *text = arena_copy_text(spec->arena, value->text);
    char *where = arena_copy_text(spec->arena, value->where);
    if (!text || !where)
        return error_set_memory(err);
    *slot = (struct job_value){
        .given = true, .number = value->number, .real = value->real, .text = text, .where = where};
    return 0;
}

int job_spec_set(struct job_spec *spec, const char *key, const char *value, const char *where,
                 struct error_info *err)
{
    enum job_key found = JOB_KEY_COUNT;
    struct job_value parsed = {.where = where};
    if (find_key(key, where, &found, err) < 0)
        return -1;
    if ((value[0] == '<' || value[0] == '>') && keys[found].type != JOB_TYPE_TEXT) {
        if (check_text(value, err) < 0)
            return error_prefix(err, "%s: %s", where, keys[found].name);
        return job_bounds_parse(spec, found, value, where, err);
    }
    if (read_value(found, value, &parsed, err) < 0)
        return error_prefix(err, "%s: %s", where, keys[found].name);
    return store(spec, found, &parsed, err);
}

static int parse_item(struct job_spec *spec, char *item, unsigned position, const char *where,
                      struct error_info *err)
{
    if (item[0] == '\0')
        return error_set(err, "%s: item %u is empty; write key=value,key=value", where, position);
    if (strcmp(item, "auto") == 0) {
        spec->automatic = true;
        return 0;
    }
    if (strcmp(item, "off") == 0)
        return error_set(err, "%s: off stands alone, or is left out", where);
    size_t length = strcspn(item, "<>=");
    if (length == 0)
        return error_set(err, "%s: \"%.64s\" has no key before the '='", where, item);
    char name[JOB_TEXT_MAXIMUM_BYTES];
    const char *value = item + length + (item[length] == '=');
    snprintf(name, sizeof(name), "%.*s", (int)length, item);
    enum job_key key = JOB_KEY_COUNT;
    if (find_key(name, where, &key, err) < 0)
        return -1;
    if (item[length] == '\0')
        return error_set(err, "%s: %s: a value is missing; write %s=VALUE", where, name, name);
    return job_spec_set(spec, name, value, where, err);
}

int job_spec_parse_option(struct job_spec *spec, const char *option, const char *where,
                          struct error_info *err)
{
    char text[JOB_OPTION_MAXIMUM_BYTES + 1];
    size_t bytes = strlen(option);
    if (bytes >= sizeof(text))
        return error_set(err, "%s: longer than %u bytes; write the keys into a job file", where,
                         JOB_OPTION_MAXIMUM_BYTES);
    if (bytes == 0)
        return error_set(err, "%s: empty; write auto, or key=value,key=value", where);
    memcpy(text, option, bytes + 1);
    unsigned position = 1;
    for (char *item = text; item; position++) {
        char *comma = strchr(item, ',');
        if (comma)
            *comma = '\0';
        if (parse_item(spec, item, position, where, err) < 0)
            return -1;
        item = comma ? comma + 1 : NULL;
    }
    return 0;
}

/* One "key: value" line of a job file. */
static int parse_yaml_field(struct job_spec *spec, const struct yaml_node *node, const char *source,
                            struct error_info *err)
{
    if (strcmp(node->key, "schema") == 0)
        return 0;
    if (node->kind != YAML_SCALAR)
        return yaml_node_error(node, err, "a list or mapping, where one value is expected");
    if (strcmp(node->key, "parplan") == 0) {
        if (strcmp(node->text, "auto") != 0)
            return yaml_node_error(node, err, "\"%.64s\" is not auto, the only word here",
                                   node->text);
        spec->automatic = true;
        return 0;
    }
    const char *where = arena_format(spec->arena, "%s:%u", source, node->line);
    if (!where)
        return error_set_memory(err);
    return job_spec_set(spec, node->key, node->text, where, err);
}

int job_spec_parse_yaml(struct job_spec *spec, const char *text, size_t bytes, const char *source,
                        struct error_info *err)
{
    CLEANUP(yaml_document)
    struct yaml_document *document = yaml_document_open(text, bytes, source, "parplan.job/1", err);
    if (!document)
        return -1;
    const struct yaml_node *root = yaml_document_root(document);
    for (size_t i = 0; i < root->child_count; i++)
        if (parse_yaml_field(spec, root->children[i], source, err) < 0)
            return -1;
    return 0;
}

int job_spec_merge_below(struct job_spec *spec, const struct job_spec *lower,
                         struct error_info *err)
{
    for (unsigned i = 0; i < JOB_KEY_COUNT; i++) {
        if (lower->values[i].given && store(spec, (enum job_key)i, &lower->values[i], err) < 0)
            return -1;
        for (unsigned side = 0; side < JOB_SIDE_COUNT; side++) {
            const struct job_bound *bound = &lower->bounds[i][side];
            if (bound->given && job_bounds_store(spec, (enum job_key)i, (enum job_side)side,
                                                 bound->number, bound->where, err) < 0)
                return -1;
        }
    }
    spec->automatic |= lower->automatic;
    return 0;
}

/* Two keys of which one would be ignored: from `low` to `high` of each contradict. */
struct key_range {
    uint8_t key; /* enum job_key */
    uint32_t low, high;
};

static const struct {
    struct key_range left, right;
    const char *remedy;
} conflicts[] = {
    {{JOB_SCHEDULE, SCHEDULE_NONE, SCHEDULE_ZERO_BUBBLE},
     {JOB_VPP, 2, DEGREE_MAXIMUM},
     "use schedule=interleaved, or vpp=1"},
    {{JOB_SCHEDULE, SCHEDULE_INTERLEAVED, SCHEDULE_INTERLEAVED},
     {JOB_VPP, 1, 1},
     "use schedule=1f1b, or vpp=2 or more"},
    {{JOB_SCHEDULE, SCHEDULE_NONE, SCHEDULE_NONE},
     {JOB_PP, 2, DEGREE_MAXIMUM},
     "use schedule=1f1b, or pp=1"},
    {{JOB_SCHEDULE, SCHEDULE_NAIVE, SCHEDULE_INTERLEAVED},
     {JOB_PP, 1, 1},
     "use pp=2 or more, or leave schedule out"},
    {{JOB_SHARDING, SHARDING_NONE, SHARDING_NONE},
     {JOB_SHARD, 2, DEGREE_MAXIMUM},
     "use sharding=hsdp, or leave shard out"},
};

static bool in_range(const struct job_spec *spec, const struct key_range *range)
{
    const struct job_value *value = &spec->values[range->key];
    return value->given && value->number >= range->low && value->number <= range->high;
}

static int check_conflicts(const struct job_spec *spec, struct error_info *err)
{
    for (size_t i = 0; i < COUNT_OF(conflicts); i++) {
        unsigned left = conflicts[i].left.key, right = conflicts[i].right.key;
        if (!in_range(spec, &conflicts[i].left) || !in_range(spec, &conflicts[i].right))
            continue;
        return error_set(err, "%s: %s=%s contradicts %s=%s; %s", spec->values[left].where,
                         keys[left].name, spec->values[left].text, keys[right].name,
                         spec->values[right].text, conflicts[i].remedy);
    }
    return 0;
}

int job_spec_check_available(const struct job_spec *spec, struct error_info *err)
{
    const struct job_value *vpp = &spec->values[JOB_VPP];
    if (vpp->given && vpp->number > JOB_VPP_MAXIMUM)
        return error_set(err, "%s: vpp=%s: no model has that many layers; use vpp=%u at most",
                         vpp->where, vpp->text, JOB_VPP_MAXIMUM);
    return check_conflicts(spec, err);
}

uint64_t job_spec_number(const struct job_spec *spec, enum job_key key, uint64_t otherwise)
{
    return spec->values[key].given ? spec->values[key].number : otherwise;
}

const char *job_spec_text(const struct job_spec *spec, enum job_key key)
{
    return spec->values[key].given ? spec->values[key].text : NULL;
}

bool job_spec_order_is_open(const struct job_spec *spec)
{
    return job_spec_number(spec, JOB_ORDER, 0) == RANK_ORDER_COUNT;
}

enum rank_order job_spec_order(const struct job_spec *spec)
{
    uint64_t order = job_spec_number(spec, JOB_ORDER, ORDER_TP_CP_EP_DP_PP);
    return order < RANK_ORDER_COUNT ? (enum rank_order)order : ORDER_TP_CP_EP_DP_PP;
}

bool job_spec_has_degrees(const struct job_spec *spec)
{
    for (unsigned i = JOB_TP; i <= JOB_DP; i++)
        if (spec->values[i].given)
            return true;
    return false;
}

void job_spec_degrees(const struct job_spec *spec, struct degrees *ret)
{
    *ret = (struct degrees){
        .tp = (unsigned)job_spec_number(spec, JOB_TP, 0),
        .cp = (unsigned)job_spec_number(spec, JOB_CP, 0),
        .ep = (unsigned)job_spec_number(spec, JOB_EP, 0),
        .etp = (unsigned)job_spec_number(spec, JOB_ETP, 0),
        .pp = (unsigned)job_spec_number(spec, JOB_PP, 0),
        .vpp = (unsigned)job_spec_number(spec, JOB_VPP, 0),
        .dp = (unsigned)job_spec_number(spec, JOB_DP, 0),
        .shard = (unsigned)job_spec_number(spec, JOB_SHARD, 0),
    };
}
