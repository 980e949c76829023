/* SPDX-License-Identifier: MIT */
#include "workload/admin_config.h"

#include "base/text_file.h"
#include "base/yaml_fields.h"
#include "workload/job/option_kind.h"
#include "workload/job_spec.h"
#include <string.h>

static const char *const master_addr_words[] = {"name", "address", NULL};
static const char *const hidden_gpus_words[] = {"refuse", "allow", NULL};
static const char *const bind_cpus_words[] = {"free", "off", NULL};

#define MASTER_ADDR_NOT_GIVEN (COUNT_OF(master_addr_words) - 1)

/* The file's fields as the table of fields wants them. */
struct config_fields {
    bool enabled;
    const struct yaml_node *cluster, *policy, *defaults, *slurm;
};

struct slurm_fields {
    unsigned master_addr, hidden_gpus, bind_cpus;
};

#define CHOICE(word, structure, member, words)                                                     \
    {                                                                                              \
        .key = (word), .type = YAML_CHOICE, .offset = offsetof(structure, member),                 \
        .choices = (words)                                                                         \
    }
#define NODE(word, structure, member)                                                              \
    {                                                                                              \
        .key = (word), .type = YAML_NODE, .offset = offsetof(structure, member)                    \
    }

static const struct yaml_field config_table[] = {
    {.key = "enabled", .type = YAML_BOOLEAN, .offset = offsetof(struct config_fields, enabled)},
    NODE("cluster", struct config_fields, cluster),
    NODE("policy", struct config_fields, policy),
    NODE("defaults", struct config_fields, defaults),
    NODE("slurm", struct config_fields, slurm),
};

static const struct yaml_field defaults_table[] = {
    {.key = "parplan", .type = YAML_NODE, .offset = 0},
};

static const struct yaml_field slurm_table[] = {
    CHOICE("master_addr", struct slurm_fields, master_addr, master_addr_words),
    CHOICE("hidden_gpus", struct slurm_fields, hidden_gpus, hidden_gpus_words),
    CHOICE("bind_cpus", struct slurm_fields, bind_cpus, bind_cpus_words),
};

struct admin_config *admin_config_default(struct error_info *err)
{
    struct arena *arena = arena_create(ADMIN_CONFIG_MAXIMUM_BYTES * 4);
    struct admin_config *config = arena ? arena_allocate(arena, sizeof(*config)) : NULL;
    if (!config) {
        arena_free(arena);
        return error_null(error_set_memory(err));
    }
    *config = (struct admin_config){
        .source = "built-in defaults",
        .enabled = true,
        .policy = policy_default,
        .arena = arena,
    };
    return config;
}

void admin_config_free(struct admin_config *config)
{
    if (config)
        arena_free(config->arena);
}

void admin_config_policy(const struct admin_config *config, const struct policy_subject *subject,
                         struct policy *ret)
{
    *ret = config->policy;
    policy_scopes_apply(&config->scopes, subject, ret);
}

/* The text of a value: one line, not empty. */
static int read_text(struct arena *arena, const struct yaml_node *node, const char **ret,
                     struct error_info *err)
{
    if (!node)
        return 0;
    if (node->kind != YAML_SCALAR || node->text[0] == '\0')
        return yaml_node_error(node, err, "needs one value");
    char *copy = arena_copy_text(arena, node->text);
    if (!copy)
        return error_set_memory(err);
    error_clean_text(copy);
    if (strcmp(copy, node->text) != 0)
        return yaml_node_error(node, err, "\"%.64s\" has control characters", copy);
    *ret = copy;
    return 0;
}

/* defaults.parplan is what an option may say: a bad one is found here, not in every job. */
static int read_default(struct admin_config *config, const struct yaml_node *node,
                        struct error_info *err)
{
    struct error_info why;
    const char *option = NULL;
    if (read_text(config->arena, node, &option, err) < 0)
        return -1;
    if (option && strcmp(option, "off") != 0 && !option_names_file(option)) {
        CLEANUP(job_spec) struct job_spec *spec = job_spec_create(err);
        if (!spec)
            return -1;
        if (job_spec_parse_option(spec, option, "as an option", &why) < 0)
            return yaml_node_error(node, err, "%s", why.text);
    }
    config->default_parplan = option;
    return 0;
}

static int read_slurm(struct admin_config *config, const struct yaml_node *node,
                      struct error_info *err)
{
    struct slurm_fields fields = {.master_addr = MASTER_ADDR_NOT_GIVEN};
    if (yaml_fields_load(node, slurm_table, COUNT_OF(slurm_table), &fields, err) < 0)
        return -1;
    config->master_addr = master_addr_words[fields.master_addr];
    config->hidden_gpus_allowed = fields.hidden_gpus == 1;
    config->cpus_unbound = fields.bind_cpus == 1;
    return 0;
}

static int read_defaults(struct admin_config *config, const struct yaml_node *node,
                         struct error_info *err)
{
    const struct yaml_node *parplan = NULL;
    if (!node)
        return 0;
    if (yaml_fields_load(node, defaults_table, COUNT_OF(defaults_table), &parplan, err) < 0)
        return -1;
    return read_default(config, parplan, err);
}

static int read_config(struct admin_config *config, const struct yaml_node *root,
                       struct error_info *err)
{
    struct config_fields fields = {.enabled = true};
    if (yaml_fields_load(root, config_table, COUNT_OF(config_table), &fields, err) < 0)
        return -1;
    config->enabled = fields.enabled;
    if (read_text(config->arena, fields.cluster, &config->cluster, err) < 0 ||
        (fields.policy && policy_scopes_read(fields.policy, config->arena, &config->policy,
                                             &config->scopes, err) < 0) ||
        read_defaults(config, fields.defaults, err) < 0)
        return -1;
    return fields.slurm ? read_slurm(config, fields.slurm, err) : 0;
}

struct admin_config *admin_config_parse(const char *text, size_t bytes, const char *source,
                                        struct error_info *err)
{
    CLEANUP(yaml_document)
    struct yaml_document *document =
        yaml_document_open(text, bytes, source, "parplan.config/1", err);
    if (!document)
        return NULL;
    CLEANUP(admin_config) struct admin_config *config = admin_config_default(err);
    if (!config || read_config(config, yaml_document_root(document), err) < 0)
        return NULL;
    config->source = arena_copy_text(config->arena, source);
    if (!config->source)
        return error_null(error_set_memory(err));
    return move_pointer(config);
}

struct admin_config *admin_config_load(const char *path, unsigned owner_uid, struct error_info *err)
{
    const char *file = path ? path : ADMIN_CONFIG_DEFAULT_PATH;
    struct error_info why = {0};
    CLEANUP_MEMORY char *text = NULL;
    size_t bytes = 0;
    enum text_file_trust trust =
        text_file_read_trusted(file, owner_uid, ADMIN_CONFIG_MAXIMUM_BYTES, &text, &bytes, &why);
    if (trust == TEXT_FILE_MISSING && !path)
        return admin_config_default(err);
    if (trust != TEXT_FILE_OK) {
        if (err)
            *err = why;
        return NULL;
    }
    return admin_config_parse(text, bytes, file, err);
}
