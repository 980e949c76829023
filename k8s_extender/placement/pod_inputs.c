/* SPDX-License-Identifier: MIT */
#include "k8s_extender/placement/pod_inputs.h"
#include "base/yaml_fields.h"
#include "k8s_extender/gang/annotations.h"
#include "k8s_extender/objects/node_record.h"
#include "workload/job/option_kind.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define OPTION_NAME "parplan"
#define KEY_BYTES 64u
#define WHERE_BYTES 128u

/* Annotations of ours that are no inputs of a plan. */
static const char *const other_names[] = {
    LABEL_GANG,
    ANNOTATION_SIZE,
    ANNOTATION_INDEX,
    ANNOTATION_ON_NO_SPARE,
    ANNOTATION_ON_PARTIAL,
    ANNOTATION_PLAN_ID,
    ANNOTATION_NODE,
    ANNOTATION_NODE_RANK,
    ANNOTATION_MASTER_ADDR,
    ANNOTATION_TP_RANK,
    ANNOTATION_PP_RANK,
    ANNOTATION_DP_RANK,
    ANNOTATION_CP_RANK,
    ANNOTATION_EP_RANK,
    ANNOTATION_PLAN_SHAPE,
    ANNOTATION_PLAN,
    NODE_TOPOLOGY_ANNOTATION,
};

/* People write dashes in annotations, the table of keys has none. */
static void key_of(const char *name, char ret[KEY_BYTES])
{
    snprintf(ret, KEY_BYTES, "%s", name);
    for (char *at = ret; *at; at++)
        if (*at == '-')
            *at = '_';
}

static bool is_key(const char *name)
{
    char key[KEY_BYTES];
    key_of(name, key);
    for (unsigned i = 0; i < JOB_KEY_COUNT && strlen(name) < KEY_BYTES; i++)
        if (strcmp(job_key_info((enum job_key)i)->name, key) == 0)
            return true;
    return false;
}

static bool is_other(const char *annotation)
{
    for (size_t i = 0; i < COUNT_OF(other_names); i++)
        if (strcmp(other_names[i], annotation) == 0)
            return true;
    return false;
}

/* The part behind the prefix, or NULL. */
static const char *own_name(const char *annotation)
{
    size_t prefix = sizeof(ANNOTATION_PREFIX) - 1;
    return strncmp(annotation, ANNOTATION_PREFIX, prefix) == 0 ? annotation + prefix : NULL;
}

bool pod_inputs_is_input(const char *annotation)
{
    const char *name = own_name(annotation);
    return name && (is_key(name) || strcmp(name, OPTION_NAME) == 0);
}

static int refuse_name(const char *annotation, const char *name, struct error_info *err)
{
    const char *known[JOB_KEY_COUNT + COUNT_OF(other_names) + 1];
    size_t count = 0;
    char key[KEY_BYTES];
    for (unsigned i = 0; i < JOB_KEY_COUNT; i++)
        known[count++] = job_key_info((enum job_key)i)->name;
    for (size_t i = 0; i < COUNT_OF(other_names); i++)
        known[count++] = own_name(other_names[i]);
    known[count++] = OPTION_NAME;
    key_of(name, key);
    const char *nearest = name_nearest(name, known, count);
    if (!nearest)
        nearest = name_nearest(key, known, count);
    if (nearest)
        return error_set(err, "annotation %.80s is not known; did you mean %s%s?", annotation,
                         ANNOTATION_PREFIX, nearest);
    return error_set(err,
                     "annotation %.80s is not known; inputs are %smodel, %stp, %spp and the other "
                     "keys of a plan",
                     annotation, ANNOTATION_PREFIX, ANNOTATION_PREFIX, ANNOTATION_PREFIX);
}

static int read_option(struct job_spec *job, const char *option, const char *where,
                       struct error_info *err)
{
    if (strcmp(option, "off") == 0)
        return error_set(err, "%s: a gang is planned or is none; take its label %sgang away", where,
                         ANNOTATION_PREFIX);
    if (option_names_file(option))
        return error_set(err, "%s: '%.80s' is a file, and none is read here; give keys (tp=8,pp=4)",
                         where, option);
    return job_spec_parse_option(job, option, where, err);
}

/* Annotations that are one of a few words; the first is what is done without. */
static const struct word_choice {
    const char *annotation;
    const char *words[4];
} word_choices[] = {
    {ANNOTATION_ON_NO_SPARE, {"wait", "move", "relax"}},
    {ANNOTATION_ON_PARTIAL, {"keep", "delete"}},
};

static int check_word(const struct word_choice *choice, const char *value, struct error_info *err)
{
    char known[64] = "";
    size_t length = 0;
    for (size_t i = 0; i < COUNT_OF(choice->words) && choice->words[i]; i++) {
        if (strcmp(choice->words[i], value) == 0)
            return 0;
        length += (size_t)snprintf(known + length, sizeof(known) - length, "%s%s",
                                   i > 0 ? ", " : "", choice->words[i]);
    }
    return error_set(err, "annotation %s: '%.60s' is not one of: %s", choice->annotation, value,
                     known);
}

static int check_words(const struct label *label, struct error_info *err)
{
    for (size_t i = 0; i < COUNT_OF(word_choices); i++)
        if (strcmp(word_choices[i].annotation, label->key) == 0)
            return check_word(&word_choices[i], label->value, err);
    return 0;
}

static int read_annotation(struct job_spec *job, const struct label *label, const char *name,
                           struct error_info *err)
{
    char key[KEY_BYTES], where[WHERE_BYTES];
    snprintf(where, sizeof(where), "annotation %s", label->key);
    if (strcmp(name, OPTION_NAME) == 0)
        return read_option(job, label->value, where, err);
    if (!is_key(name))
        return is_other(label->key) ? check_words(label, err) : refuse_name(label->key, name, err);
    key_of(name, key);
    return job_spec_set(job, key, label->value, where, err);
}

static int read_annotations(const struct pod_inputs_request *request, struct job_spec *job,
                            struct error_info *err)
{
    const char *standard = request->config->default_parplan;
    bool any = false;
    for (size_t i = 0; i < request->annotations.count; i++) {
        const struct label *label = &request->annotations.labels[i];
        const char *name = own_name(label->key);
        if (!name)
            continue;
        any = any || pod_inputs_is_input(label->key);
        if (read_annotation(job, label, name, err) < 0)
            return -1;
    }
    if (any || !standard || strcmp(standard, "off") == 0)
        return 0;
    return read_option(job, standard, "defaults.parplan", err);
}

static int read_command(const struct pod_inputs_request *request, struct pod_inputs *inputs,
                        struct error_info *err)
{
    const struct launch_command command = {
        .arguments = request->arguments, .count = request->argument_count, .read = NULL};
    if (request->argument_count == 0)
        return 0;
    if (launch_command_read(&command, inputs->job, &inputs->counts, &inputs->notices, err) < 0)
        return -1;
    if (!text_buffer_failed(&inputs->notices))
        return 0;
    return inputs->notices.length > INPUT_NOTICES_MAXIMUM / 2
               ? error_set(err, "the command says too much of its parallelism")
               : error_set_memory(err);
}

/* What srun's option can say, and a gang cannot. */
static int check_meaning(const struct job_spec *job, struct error_info *err)
{
    if (job_spec_number(job, JOB_PLACE, PLACE_ENV) == PLACE_SLURM)
        return error_set(err, "%s: place=slurm orders the nodes of a Slurm job; leave it out",
                         job->values[JOB_PLACE].where);
    if (job_spec_order_is_open(job))
        return error_set(err,
                         "%s: order=auto leaves open how the program numbers its ranks; use the "
                         "order that `parplan flags` told it",
                         job->values[JOB_ORDER].where);
    return job_spec_check_available(job, err);
}

static int refuse_model(const struct job_value *name, const struct model_catalogue *models,
                        struct error_info *err)
{
    size_t count = model_catalogue_count(models);
    CLEANUP_MEMORY const char **names = memory_allocate_array(count, sizeof(*names));
    if (!names)
        return error_set_memory(err);
    for (size_t i = 0; i < count; i++)
        names[i] = model_catalogue_at(models, i)->name;
    const char *nearest = name_nearest(name->text, names, count);
    return error_set(err,
                     "%s: no preset is called '%.80s'%s%s%s; name one that `parplan models` lists "
                     "(files are not read here), or give degrees without a model",
                     name->where, name->text, nearest ? "; did you mean " : "",
                     nearest ? nearest : "", nearest ? "?" : "");
}

static int find_model(const struct pod_inputs_request *request, struct pod_inputs *inputs,
                      struct error_info *err)
{
    const struct job_value *name = &inputs->job->values[JOB_MODEL];
    if (!name->given)
        return 0;
    inputs->model = model_catalogue_find(request->models, name->text, NULL);
    return inputs->model ? 0 : refuse_model(name, request->models, err);
}

/* What no pod may say, whatever else is right. */
static const char *const lone_launchers[] = {"--standalone", "deepspeed"};

static bool is_lone(const char *where)
{
    for (size_t i = 0; i < COUNT_OF(lone_launchers); i++)
        if (strncmp(where, lone_launchers[i], strlen(lone_launchers[i])) == 0)
            return true;
    return false;
}

int pod_inputs_check_counts(const struct pod_inputs *inputs, uint32_t pods, uint32_t gpus_per_pod,
                            bool has_degrees, struct error_info *err)
{
    const struct {
        enum launch_count count;
        uint64_t have;
        const char *what;
    } rules[] = {
        {LAUNCH_NODES, pods, "pods in the gang"},
        {LAUNCH_PROCESSES_PER_TASK, gpus_per_pod, "GPUs in a pod"},
        {LAUNCH_RANKS_PER_NODE, gpus_per_pod, "GPUs in a pod"},
    };
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        const char *where = inputs->counts.of[rules[i].count].where;
        uint64_t said = inputs->counts.of[rules[i].count].number;
        if (where && said != rules[i].have)
            return error_set(err,
                             "%.*s is %" PRIu64 " in the command, and there are %" PRIu64
                             " %s; give both the same number",
                             (int)strcspn(where, ":"), where, said, rules[i].have, rules[i].what);
    }
    const char *lone = inputs->counts.of[LAUNCH_ONE_NODE].where;
    if (lone && pods > 1 && is_lone(lone))
        return error_set(err, "%s", lone);
    const char *own_order = inputs->counts.of[LAUNCH_NODE_ORDER].where;
    if (own_order && pods > 1 && has_degrees)
        return error_set(err, "%s", own_order);
    return 0;
}

int pod_inputs_read(const struct pod_inputs_request *request, struct pod_inputs *ret,
                    struct error_info *err)
{
    struct pod_inputs inputs = {.job = job_spec_create(err)};
    text_buffer_init(&inputs.notices, INPUT_NOTICES_MAXIMUM);
    if (!inputs.job || read_annotations(request, inputs.job, err) < 0 ||
        read_command(request, &inputs, err) < 0 || check_meaning(inputs.job, err) < 0 ||
        find_model(request, &inputs, err) < 0) {
        pod_inputs_done(&inputs);
        return -1;
    }
    *ret = inputs;
    return 0;
}

void pod_inputs_done(struct pod_inputs *inputs)
{
    job_spec_free(inputs->job);
    text_buffer_done(&inputs->notices);
    inputs->job = NULL;
}
