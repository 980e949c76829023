/* SPDX-License-Identifier: MIT */
#include "workload/model_family.h"

#include "base/data_file.h"
#include "base/tables/yaml_rows.h"
#include <stdio.h>
#include <string.h>

#define CATALOGUE_FILE "models.yaml"
#define CATALOGUE_MAXIMUM_BYTES ((size_t)16 << 20)
#define CATALOGUE_MAXIMUM_MODELS 4096u
#define CATALOGUE_MAXIMUM_NAMES 512u /* that a "did you mean" looks at */

static const char *const attention_words[] = {"grouped", "latent", NULL};
static const char *const norm_words[] = {"rms", "layer", NULL};

struct catalogue_entry {
    struct model_spec model;
    const char *const *aliases;
    size_t alias_count;
};

struct model_catalogue {
    struct catalogue_entry *entries;
    size_t count;
    struct arena *arena;
};

/* --- one model as YAML: a model file, or an entry of the presets ------------------------ */

struct model_fields {
    uint64_t numbers[MODEL_NUMBER_COUNT];
    bool flags[MODEL_FLAG_COUNT];
    unsigned attention, norm;
    const char *name, *family, *source;
    const struct yaml_node *aliases;
};

#define OTHER_FIELD_COUNT 6u

static const struct yaml_field other_fields[OTHER_FIELD_COUNT] = {
    {.key = "name", .type = YAML_TEXT, .offset = offsetof(struct model_fields, name)},
    {.key = "family", .type = YAML_TEXT, .offset = offsetof(struct model_fields, family)},
    {.key = "source", .type = YAML_TEXT, .offset = offsetof(struct model_fields, source)},
    {.key = "attention",
     .type = YAML_CHOICE,
     .offset = offsetof(struct model_fields, attention),
     .choices = attention_words},
    {.key = "norm",
     .type = YAML_CHOICE,
     .offset = offsetof(struct model_fields, norm),
     .choices = norm_words},
    {.key = "aliases", .type = YAML_NODE, .offset = offsetof(struct model_fields, aliases)},
};

#define ALL_FIELD_COUNT (MODEL_NUMBER_COUNT + MODEL_FLAG_COUNT + OTHER_FIELD_COUNT)

/* A preset has aliases, a model file has none. */
static int load_fields(const struct yaml_node *node, bool preset, struct model_fields *ret,
                       struct error_info *err)
{
    struct yaml_field table[ALL_FIELD_COUNT];
    size_t count = 0;
    for (unsigned i = 0; i < MODEL_NUMBER_COUNT; i++)
        table[count++] =
            (struct yaml_field){.key = model_numbers[i].key,
                                .type = YAML_UNSIGNED,
                                .offset = (uint16_t)(offsetof(struct model_fields, numbers[0]) +
                                                     i * sizeof(ret->numbers[0])),
                                .minimum = model_numbers[i].minimum,
                                .maximum = model_numbers[i].maximum};
    for (unsigned i = 0; i < MODEL_FLAG_COUNT; i++)
        table[count++] =
            (struct yaml_field){.key = model_flags[i].key,
                                .type = YAML_BOOLEAN,
                                .offset = (uint16_t)(offsetof(struct model_fields, flags[0]) +
                                                     i * sizeof(ret->flags[0]))};
    for (unsigned i = 0; i < OTHER_FIELD_COUNT; i++)
        table[count++] = other_fields[i];
    return yaml_fields_load(node, table, preset ? count : count - 1, ret, err);
}

static const struct model_family *find_family(const struct yaml_node *node, struct error_info *err)
{
    char list[MODEL_FAMILY_LIST_BYTES];
    const struct yaml_node *named = yaml_node_get(node, "family");
    const char *name = named && named->kind == YAML_SCALAR ? named->text : "llama";
    const struct model_family *family = model_family_find(name);
    if (family)
        return family;
    model_family_list(list);
    return error_null(yaml_node_error(named, err, "\"%.64s\" is not one of %s", name, list));
}

/* The texts point into the document. */
static int read_model(const struct yaml_node *node, bool preset, struct model_spec *ret,
                      const struct yaml_node **ret_aliases, struct error_info *err)
{
    struct error_info why = {0};
    if (node->kind != YAML_MAPPING)
        return yaml_node_error(node, err, "a model is a mapping of its fields");
    const struct model_family *family = find_family(node, err);
    if (!family)
        return -1;
    *ret = model_family_base(family);
    struct model_fields fields = {.attention = ret->attention, .norm = ret->norm};
    for (unsigned i = 0; i < MODEL_NUMBER_COUNT; i++)
        fields.numbers[i] = model_number_of(ret, model_numbers[i].offset);
    for (unsigned i = 0; i < MODEL_FLAG_COUNT; i++)
        fields.flags[i] = *model_flag_at(ret, i);
    if (load_fields(node, preset, &fields, err) < 0)
        return -1;
    for (unsigned i = 0; i < MODEL_NUMBER_COUNT; i++)
        *model_number_at(ret, model_numbers[i].offset) = (unsigned)fields.numbers[i];
    for (unsigned i = 0; i < MODEL_FLAG_COUNT; i++)
        *model_flag_at(ret, i) = fields.flags[i];
    ret->attention = (enum attention_kind)fields.attention;
    ret->norm = (enum norm_kind)fields.norm;
    ret->name = fields.name;
    ret->source = fields.source;
    *ret_aliases = fields.aliases;
    if (model_spec_complete(ret, family, &why) < 0)
        return yaml_node_error(node, err, "%s", why.text);
    return 0;
}

struct model_spec *model_spec_parse_yaml(const char *text, size_t bytes, const char *source,
                                         struct error_info *err)
{
    CLEANUP(yaml_document)
    struct yaml_document *document =
        yaml_document_open(text, bytes, source, "parplan.model/1", err);
    struct model_spec model;
    const struct yaml_node *aliases = NULL;
    if (!document || read_model(yaml_document_root(document), false, &model, &aliases, err) < 0)
        return NULL;
    if (!model.name)
        model.name = source;
    return model_spec_copy(&model, err);
}

/* --- the presets ------------------------------------------------------------------------ */

static char to_lower(char character)
{
    return character >= 'A' && character <= 'Z' ? (char)(character - 'A' + 'a') : character;
}

/* Upper and lower case of ASCII are the same, in every locale. */
static bool same_name(const char *left, const char *right)
{
    size_t i = 0;
    while (left[i] && to_lower(left[i]) == to_lower(right[i]))
        i++;
    return to_lower(left[i]) == to_lower(right[i]);
}

static const struct catalogue_entry *find_entry(const struct model_catalogue *catalogue,
                                                const char *name)
{
    for (size_t i = 0; i < catalogue->count; i++) {
        const struct catalogue_entry *entry = &catalogue->entries[i];
        if (same_name(entry->model.name, name))
            return entry;
        for (size_t j = 0; j < entry->alias_count; j++)
            if (same_name(entry->aliases[j], name))
                return entry;
    }
    return NULL;
}

static int copy_aliases(struct arena *arena, struct catalogue_entry *entry,
                        const struct yaml_node *node, struct error_info *err)
{
    if (!node)
        return 0;
    if (node->kind != YAML_SEQUENCE)
        return yaml_node_error(node, err, "needs a list of names");
    const char **aliases = arena_allocate_array(arena, node->child_count, sizeof(*aliases));
    if (!aliases && node->child_count > 0)
        return error_set_memory(err);
    for (size_t i = 0; i < node->child_count; i++) {
        if (node->children[i]->kind != YAML_SCALAR)
            return yaml_node_error(node->children[i], err, "needs a name");
        aliases[i] = arena_copy_text(arena, node->children[i]->text);
        if (!aliases[i])
            return error_set_memory(err);
    }
    entry->aliases = aliases;
    entry->alias_count = node->child_count;
    return 0;
}

static int read_entry(struct model_catalogue *catalogue, const struct yaml_node *node,
                      struct error_info *err)
{
    struct catalogue_entry entry = {0};
    const struct yaml_node *aliases = NULL;
    if (read_model(node, true, &entry.model, &aliases, err) < 0)
        return -1;
    if (!entry.model.name)
        return yaml_node_error(node, err, "name is missing");
    if (find_entry(catalogue, entry.model.name))
        return yaml_node_error(node, err, "%s stands there twice", entry.model.name);
    const char *source = entry.model.source ? entry.model.source : "";
    entry.model.name = arena_copy_text(catalogue->arena, entry.model.name);
    entry.model.source = arena_copy_text(catalogue->arena, source);
    if (!entry.model.name || !entry.model.source)
        return error_set_memory(err);
    if (copy_aliases(catalogue->arena, &entry, aliases, err) < 0)
        return -1;
    catalogue->entries[catalogue->count++] = entry;
    return 0;
}

static struct model_catalogue *create_catalogue(size_t models, struct error_info *err)
{
    struct arena *arena = arena_create(CATALOGUE_MAXIMUM_BYTES);
    struct model_catalogue *catalogue = arena ? arena_allocate(arena, sizeof(*catalogue)) : NULL;
    struct catalogue_entry *entries =
        catalogue ? arena_allocate_array(arena, models, sizeof(*entries)) : NULL;
    if (!entries) {
        arena_free(arena);
        return error_null(error_set_memory(err));
    }
    catalogue->arena = arena;
    catalogue->entries = entries;
    return catalogue;
}

static struct model_catalogue *load(const struct yaml_document *document, struct error_info *err)
{
    static const struct yaml_list_file file = {"parplan.models/1", "models",
                                               CATALOGUE_MAXIMUM_MODELS};
    const struct yaml_node *models = document ? yaml_list_find(document, &file, err) : NULL;
    CLEANUP(model_catalogue)
    struct model_catalogue *catalogue = models ? create_catalogue(models->child_count, err) : NULL;
    for (size_t i = 0; catalogue && i < models->child_count; i++)
        if (read_entry(catalogue, models->children[i], err) < 0)
            return NULL;
    return move_pointer(catalogue);
}

struct model_catalogue *model_catalogue_parse(const char *text, size_t bytes, const char *source,
                                              struct error_info *err)
{
    CLEANUP(yaml_document)
    struct yaml_document *document = yaml_document_parse(text, bytes, source, err);
    return load(document, err);
}

struct model_catalogue *model_catalogue_builtin(struct error_info *err)
{
    CLEANUP(yaml_document) struct yaml_document *document = data_file_open(CATALOGUE_FILE, err);
    return load(document, err);
}

void model_catalogue_free(struct model_catalogue *catalogue)
{
    if (catalogue)
        arena_free(catalogue->arena);
}

size_t model_catalogue_count(const struct model_catalogue *catalogue) { return catalogue->count; }

const struct model_spec *model_catalogue_at(const struct model_catalogue *catalogue, size_t index)
{
    return index < catalogue->count ? &catalogue->entries[index].model : NULL;
}

static const char *nearest_name(const struct model_catalogue *catalogue, const char *name)
{
    const char *names[CATALOGUE_MAXIMUM_NAMES];
    size_t count = 0;
    for (size_t i = 0; i < catalogue->count; i++) {
        const struct catalogue_entry *entry = &catalogue->entries[i];
        for (size_t j = 0; j <= entry->alias_count && count < CATALOGUE_MAXIMUM_NAMES; j++)
            names[count++] = j == 0 ? entry->model.name : entry->aliases[j - 1];
    }
    return name_nearest(name, names, count);
}

const struct model_spec *model_catalogue_find(const struct model_catalogue *catalogue,
                                              const char *name, struct error_info *err)
{
    const struct catalogue_entry *entry = find_entry(catalogue, name);
    char list[ERROR_TEXT_BYTES / 2] = "";
    size_t used = 0;
    if (entry)
        return &entry->model;
    const char *nearest = nearest_name(catalogue, name);
    for (size_t i = 0; i < catalogue->count && used < sizeof(list); i++)
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i > 0 ? ", " : "",
                                 catalogue->entries[i].model.name);
    return error_null(error_set(
        err, "unknown model \"%.64s\"%s%s%s (presets: %s; or the path of a config.json)", name,
        nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "", list));
}
