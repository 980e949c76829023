/* SPDX-License-Identifier: MIT */
#include "topology/gpu_catalogue.h"
#include "base/data_file.h"
#include "base/tables/yaml_rows.h"
#include "topology/text_list.h"
#include <string.h>

#define CATALOGUE_SCHEMA "parplan.gpus/1"
#define CATALOGUE_FILE "gpus.yaml"
#define CATALOGUE_MAXIMUM_MODELS 512u
#define CATALOGUE_MAXIMUM_BYTES ((size_t)16 << 20)
#define GIGA 1e9
#define TERA 1e12

/* One entry as the file has it, in the file's units. */
struct gpu_entry {
    const char *name, *title, *vendor, *architecture, *source;
    uint64_t memory_bytes, nvlink_links;
    double memory_gb, nvlink_gb, nvlink_ring_gb, pcie_gb;
    const struct yaml_node *dense, *measured, *aliases;
};

#define GPU_FIELD(key_, type_, member, ...)                                                        \
    {                                                                                              \
        .key = key_, .type = type_, .offset = offsetof(struct gpu_entry, member), __VA_ARGS__      \
    }

static const struct yaml_field entry_fields[] = {
    GPU_FIELD("name", YAML_TEXT, name, .required = true),
    GPU_FIELD("title", YAML_TEXT, title, .required = true),
    GPU_FIELD("vendor", YAML_TEXT, vendor, .required = true),
    GPU_FIELD("architecture", YAML_TEXT, architecture, .required = true),
    GPU_FIELD("memory", YAML_BYTES, memory_bytes, .required = true, .minimum = 1 << 20),
    GPU_FIELD("memory_gb_per_second", YAML_REAL, memory_gb, .required = true, .minimum = 1),
    GPU_FIELD("dense_tflops", YAML_NODE, dense, .required = true),
    GPU_FIELD("measured_gemm_tflops", YAML_NODE, measured),
    GPU_FIELD("nvlink_gb_per_second", YAML_REAL, nvlink_gb, .minimum = 1),
    GPU_FIELD("nvlink_links", YAML_UNSIGNED, nvlink_links, .minimum = 1, .maximum = 64),
    GPU_FIELD("nvlink_ring_gb_per_second", YAML_REAL, nvlink_ring_gb, .minimum = 1),
    GPU_FIELD("pcie_gb_per_second", YAML_REAL, pcie_gb, .required = true, .minimum = 1),
    GPU_FIELD("aliases", YAML_NODE, aliases),
    GPU_FIELD("source", YAML_TEXT, source, .required = true),
};

#define FLOPS_FIELD(key_, precision)                                                               \
    {                                                                                              \
        .key = key_, .type = YAML_REAL, .offset = (precision) * sizeof(double), .minimum = 0.1f    \
    }

/* Into an array of GPU_PRECISION_COUNT doubles. */
static const struct yaml_field flops_fields[] = {
    FLOPS_FIELD("fp32", GPU_FP32), FLOPS_FIELD("tf32", GPU_TF32), FLOPS_FIELD("fp16", GPU_FP16),
    FLOPS_FIELD("bf16", GPU_BF16), FLOPS_FIELD("fp8", GPU_FP8),
};

static int load_flops(const struct gpu_entry *entry, struct gpu_model *model,
                      struct error_info *err)
{
    double dense[GPU_PRECISION_COUNT] = {0}, measured[GPU_PRECISION_COUNT] = {0};
    if (yaml_fields_load(entry->dense, flops_fields, COUNT_OF(flops_fields), dense, err) < 0)
        return -1;
    if (entry->measured &&
        yaml_fields_load(entry->measured, flops_fields, COUNT_OF(flops_fields), measured, err) < 0)
        return -1;
    for (unsigned i = 0; i < GPU_PRECISION_COUNT; i++) {
        if (measured[i] > dense[i])
            return yaml_node_error(entry->measured, err,
                                   "%g TFLOP/s were measured above the dense peak of %g",
                                   measured[i], dense[i]);
        model->flops_per_second[i] = dense[i] * TERA;
        model->gemm_share[i] = dense[i] > 0 ? measured[i] / dense[i] : 0;
    }
    return 0;
}

static int copy_entry(const struct gpu_entry *entry, struct arena *arena, struct gpu_model *model,
                      struct error_info *err)
{
    bool failed = false;
    *model = (struct gpu_model){
        .name = text_list_copy(arena, entry->name, &failed),
        .title = text_list_copy(arena, entry->title, &failed),
        .vendor = text_list_copy(arena, entry->vendor, &failed),
        .architecture = text_list_copy(arena, entry->architecture, &failed),
        .source = text_list_copy(arena, entry->source, &failed),
        .memory_bytes = entry->memory_bytes,
        .memory_bytes_per_second = entry->memory_gb * GIGA,
        .nvlink_bytes_per_second = entry->nvlink_gb * GIGA,
        .nvlink_links = (unsigned)entry->nvlink_links,
        .nvlink_efficiency = entry->nvlink_gb > 0 ? entry->nvlink_ring_gb / entry->nvlink_gb : 0,
        .pcie_bytes_per_second = entry->pcie_gb * GIGA,
    };
    if (failed)
        return error_set_memory(err);
    if (load_flops(entry, model, err) < 0)
        return -1;
    return text_list_load(entry->aliases, arena, &model->aliases, &model->alias_count, err);
}

static int load_model(const struct yaml_node *node, struct arena *arena, struct gpu_model *model,
                      struct error_info *err)
{
    struct gpu_entry entry = {0};
    if (yaml_fields_load(node, entry_fields, COUNT_OF(entry_fields), &entry, err) < 0)
        return -1;
    if (!entry.name[0])
        return yaml_node_error(node, err, "name: must not be empty");
    if (entry.nvlink_ring_gb > entry.nvlink_gb)
        return yaml_node_error(node, err, "nvlink_ring_gb_per_second %g is more than the links' %g",
                               entry.nvlink_ring_gb, entry.nvlink_gb);
    return copy_entry(&entry, arena, model, err);
}

static int check_unique(const struct gpu_model *models, size_t index, const struct yaml_node *node,
                        struct error_info *err)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(models[i].name, models[index].name) == 0)
            return yaml_node_error(node, err, "the name %s stands twice", models[i].name);
    return 0;
}

static int load_models(const struct yaml_node *list, struct gpu_catalogue *catalogue,
                       struct error_info *err)
{
    struct gpu_model *models =
        arena_allocate_array(catalogue->arena, list->child_count, sizeof(*models));
    if (!models)
        return error_set_memory(err);
    for (size_t i = 0; i < list->child_count; i++)
        if (load_model(list->children[i], catalogue->arena, &models[i], err) < 0 ||
            check_unique(models, i, list->children[i], err) < 0)
            return -1;
    catalogue->models = models;
    catalogue->count = list->child_count;
    return 0;
}

static struct gpu_catalogue *create(struct error_info *err)
{
    CLEANUP(arena) struct arena *arena = arena_create(CATALOGUE_MAXIMUM_BYTES);
    struct gpu_catalogue *catalogue = arena ? arena_allocate(arena, sizeof(*catalogue)) : NULL;
    if (!catalogue)
        return error_null(error_set_memory(err));
    catalogue->arena = move_pointer(arena);
    return catalogue;
}

static struct gpu_catalogue *load(const struct yaml_document *document, struct error_info *err)
{
    static const struct yaml_list_file file = {CATALOGUE_SCHEMA, "gpus", CATALOGUE_MAXIMUM_MODELS};
    const struct yaml_node *list = document ? yaml_list_find(document, &file, err) : NULL;
    CLEANUP(gpu_catalogue) struct gpu_catalogue *catalogue = list ? create(err) : NULL;
    if (!catalogue || load_models(list, catalogue, err) < 0)
        return NULL;
    return move_pointer(catalogue);
}

struct gpu_catalogue *gpu_catalogue_parse(const char *text, size_t bytes, const char *source,
                                          struct error_info *err)
{
    CLEANUP(yaml_document)
    struct yaml_document *document = yaml_document_parse(text, bytes, source, err);
    return load(document, err);
}

struct gpu_catalogue *gpu_catalogue_builtin(struct error_info *err)
{
    CLEANUP(yaml_document) struct yaml_document *document = data_file_open(CATALOGUE_FILE, err);
    return load(document, err);
}

void gpu_catalogue_free(struct gpu_catalogue *catalogue)
{
    if (catalogue)
        arena_free(catalogue->arena); /* the catalogue itself lies in it */
}

static bool is_separator(char character)
{
    return character == '-' || character == '_' || character == ' ';
}

static char lower(char character)
{
    return character >= 'A' && character <= 'Z' ? (char)(character - 'A' + 'a') : character;
}

static bool is_word_character(char character)
{
    char small = lower(character);
    return (small >= 'a' && small <= 'z') || (small >= '0' && small <= '9');
}

static bool starts_with_words(const char *text, const char *words)
{
    for (; *words; text++, words++) {
        bool same = lower(*text) == lower(*words);
        if (!same && !(is_separator(*text) && is_separator(*words)))
            return false;
    }
    return !is_word_character(*text);
}

/* words stand in text, not as a part of a longer word: "b200" is not in "GB200". */
static bool contains_words(const char *text, const char *words)
{
    for (const char *start = text; *start; start++)
        if (starts_with_words(start, words) && (start == text || !is_word_character(start[-1])))
            return true;
    return false;
}

/* Length of the longest of the model's words that is in the text; 0: none. */
static size_t match_length(const struct gpu_model *model, const char *text)
{
    size_t longest = contains_words(text, model->name) ? strlen(model->name) : 0;
    for (size_t i = 0; i < model->alias_count; i++) {
        size_t length = strlen(model->aliases[i]);
        if (length > longest && contains_words(text, model->aliases[i]))
            longest = length;
    }
    return longest;
}

static uint64_t difference(uint64_t left, uint64_t right)
{
    return left > right ? left - right : right - left;
}

const struct gpu_model *gpu_catalogue_find(const struct gpu_catalogue *catalogue, const char *name,
                                           uint64_t memory_bytes)
{
    /* A MIG slice is no GPU that a plan could count on. */
    if (!name || contains_words(name, "mig"))
        return NULL;
    const struct gpu_model *best = NULL;
    size_t best_length = 0;
    for (size_t i = 0; i < catalogue->count; i++) {
        const struct gpu_model *model = &catalogue->models[i];
        size_t length = match_length(model, name);
        if (length == 0 || length < best_length)
            continue;
        bool nearer = memory_bytes > 0 && best &&
                      difference(memory_bytes, model->memory_bytes) <
                          difference(memory_bytes, best->memory_bytes);
        if (length > best_length || nearer) {
            best = model;
            best_length = length;
        }
    }
    return best;
}

/* The whole name stands in one of the model's own. */
static bool is_part_of(const char *name, const struct gpu_model *model)
{
    if (contains_words(model->name, name))
        return true;
    for (size_t i = 0; i < model->alias_count; i++)
        if (contains_words(model->aliases[i], name))
            return true;
    return false;
}

size_t gpu_catalogue_find_all(const struct gpu_catalogue *catalogue, const char *name,
                              const struct gpu_model **ret, size_t room)
{
    const struct gpu_model *first = gpu_catalogue_find(catalogue, name, 0);
    size_t count = 0, length = first ? match_length(first, name) : 0;
    if (first && room > 0)
        ret[0] = first;
    count += first != NULL;
    for (size_t i = 0; first && i < catalogue->count; i++) {
        const struct gpu_model *model = &catalogue->models[i];
        if (model == first || (match_length(model, name) < length && !is_part_of(name, model)))
            continue;
        if (count < room)
            ret[count] = model;
        count++;
    }
    return count;
}
