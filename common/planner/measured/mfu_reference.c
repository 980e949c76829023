/* SPDX-License-Identifier: MIT */
#include "planner/measured/mfu_reference.h"

#include "base/data_file.h"
#include "base/yaml_fields.h"
#include <string.h>

#define REFERENCE_SCHEMA "parplan.mfu_references/1"
#define REFERENCE_FILE "mfu_references.yaml"
#define BILLION 1e9

static const char *const precision_words[] = {"fp32", "fp16", "bf16", "fp8", NULL};
static const char *const architecture_words[] = {"dense", "moe", NULL};

#define FIELD(key_, field_, type_, minimum_, maximum_)                                             \
    {                                                                                              \
        .key = key_, .type = type_, .offset = offsetof(struct mfu_reference, field_),              \
        .required = true, .minimum = minimum_, .maximum = maximum_                                 \
    }
#define CHOICE(key_, field_, words_)                                                               \
    {                                                                                              \
        .key = key_, .type = YAML_CHOICE, .offset = offsetof(struct mfu_reference, field_),        \
        .required = true, .choices = words_                                                        \
    }

static const struct yaml_field row_fields[] = {
    FIELD("gpu", gpu, YAML_TEXT, 0, 0),
    CHOICE("precision", precision, precision_words),
    CHOICE("architecture", moe, architecture_words),
    FIELD("low", low, YAML_REAL, 1e-6f, 1),
    FIELD("typical", typical, YAML_REAL, 1e-6f, 1),
    FIELD("high", high, YAML_REAL, 1e-6f, 1),
    FIELD("runs", runs, YAML_UNSIGNED, 1, 1e6),
    FIELD("parameters_from", parameters_from, YAML_REAL, 1e-6f, 1e6),
    FIELD("parameters_to", parameters_to, YAML_REAL, 1e-6f, 1e6),
    FIELD("sequence_from", sequence_from, YAML_UNSIGNED, 1, 1e9),
    FIELD("sequence_to", sequence_to, YAML_UNSIGNED, 1, 1e9),
    FIELD("gpus_from", gpus_from, YAML_UNSIGNED, 1, 1e9),
    FIELD("gpus_to", gpus_to, YAML_UNSIGNED, 1, 1e9),
    FIELD("recipe", recipe, YAML_TEXT, 0, 0),
    FIELD("source", source, YAML_TEXT, 0, 0),
};

struct root {
    const struct yaml_node *references;
};

static const struct yaml_field root_fields[] = {{.key = "references",
                                                 .type = YAML_NODE,
                                                 .offset = offsetof(struct root, references),
                                                 .required = true}};

/* The document goes, the row stays. */
static int keep_texts(struct arena *arena, struct mfu_reference *row, struct error_info *err)
{
    const char **texts[] = {&row->gpu, &row->recipe, &row->source};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        *texts[i] = arena_copy_text(arena, *texts[i]);
        if (!*texts[i])
            return error_set_memory(err);
    }
    return 0;
}

static int check_row(const struct yaml_node *node, const struct mfu_reference *row,
                     struct error_info *err)
{
    if (row->low > row->typical || row->typical > row->high)
        return yaml_node_error(node, err, "low, typical and high must rise");
    if (row->parameters_from > row->parameters_to || row->sequence_from > row->sequence_to ||
        row->gpus_from > row->gpus_to)
        return yaml_node_error(node, err, "a _from is larger than its _to; exchange them");
    return 0;
}

static int load_rows(struct mfu_reference_catalogue *catalogue, const struct yaml_node *list,
                     struct error_info *err)
{
    if (list->kind != YAML_SEQUENCE || list->child_count > MFU_REFERENCE_MAXIMUM_ROWS)
        return yaml_node_error(list, err, "must be a list of at most %u mappings",
                               MFU_REFERENCE_MAXIMUM_ROWS);
    struct mfu_reference *rows =
        arena_allocate_array(catalogue->arena, list->child_count, sizeof(*rows));
    if (!rows)
        return error_set_memory(err);
    for (size_t i = 0; i < list->child_count; i++) {
        const struct yaml_node *node = list->children[i];
        if (yaml_fields_load(node, row_fields, COUNT_OF(row_fields), &rows[i], err) < 0 ||
            check_row(node, &rows[i], err) < 0 || keep_texts(catalogue->arena, &rows[i], err) < 0)
            return -1;
    }
    catalogue->rows = rows;
    catalogue->count = list->child_count;
    return 0;
}

static struct mfu_reference_catalogue *load_document(const struct yaml_document *document,
                                                     struct error_info *err)
{
    struct root root = {NULL};
    if (!document || yaml_document_check_schema(document, REFERENCE_SCHEMA, err) < 0 ||
        yaml_fields_load(yaml_document_root(document), root_fields, COUNT_OF(root_fields), &root,
                         err) < 0)
        return NULL;
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    struct mfu_reference_catalogue *catalogue =
        arena ? arena_allocate(arena, sizeof(*catalogue)) : NULL;
    if (!catalogue)
        return error_null(error_set_memory(err));
    catalogue->arena = arena;
    if (load_rows(catalogue, root.references, err) < 0)
        return NULL;
    arena = NULL;
    return catalogue;
}

struct mfu_reference_catalogue *mfu_reference_catalogue_parse(const char *text, size_t bytes,
                                                              const char *source,
                                                              struct error_info *err)
{
    CLEANUP(yaml_document)
    struct yaml_document *document = yaml_document_parse(text, bytes, source, err);
    return load_document(document, err);
}

struct mfu_reference_catalogue *mfu_reference_catalogue_builtin(struct error_info *err)
{
    CLEANUP(yaml_document) struct yaml_document *document = data_file_open(REFERENCE_FILE, err);
    return load_document(document, err);
}

void mfu_reference_catalogue_free(struct mfu_reference_catalogue *catalogue)
{
    if (catalogue)
        arena_free(catalogue->arena);
}

static double peak_of(const struct gpu_model *gpu, enum precision precision)
{
    static const enum gpu_precision columns[PRECISION_COUNT] = {
        [PRECISION_FP32] = GPU_FP32,
        [PRECISION_FP16] = GPU_FP16,
        [PRECISION_BF16] = GPU_BF16,
        [PRECISION_FP8] = GPU_FP8,
    };
    return gpu->flops_per_second[columns[precision]];
}

/* The run's GPU, or another of its architecture that is as fast: H200, GH200 and H800 compute
 * as H100 does. */
static bool is_of_gpu(const struct mfu_reference *row, const struct mfu_query *query)
{
    if (strcmp(row->gpu, query->gpu->name) == 0)
        return true;
    const struct gpu_model *other = gpu_catalogue_find(query->gpus, row->gpu, 0);
    return other && strcmp(other->architecture, query->gpu->architecture) == 0 &&
           peak_of(other, query->precision) >= peak_of(query->gpu, query->precision) &&
           peak_of(other, query->precision) <= peak_of(query->gpu, query->precision);
}

static bool is_within(double value, double from, double to)
{
    return value >= from / MFU_REFERENCE_NEAR && value <= to * MFU_REFERENCE_NEAR;
}

static bool is_near(const struct mfu_reference *row, const struct mfu_query *query)
{
    return is_within(query->parameters / BILLION, row->parameters_from, row->parameters_to) &&
           is_within(query->sequence_length, (double)row->sequence_from, (double)row->sequence_to);
}

static size_t find_rows(const struct mfu_reference_catalogue *catalogue,
                        const struct mfu_query *query, bool near, const struct mfu_reference **rows)
{
    size_t count = 0;
    for (size_t i = 0; query->gpu && i < catalogue->count; i++) {
        const struct mfu_reference *row = &catalogue->rows[i];
        if (row->precision == (unsigned)query->precision && (row->moe > 0) == query->moe &&
            is_of_gpu(row, query) && (!near || is_near(row, query)))
            rows[count++] = row;
    }
    return count;
}

static void fill_range(struct mfu_range *range)
{
    double sum = 0, runs = 0;
    for (size_t i = 0; i < range->count; i++) {
        const struct mfu_reference *row = range->rows[i];
        if (i == 0 || row->low < range->low)
            range->low = row->low;
        if (i == 0 || row->high > range->high)
            range->high = row->high;
        sum += row->typical * (double)row->runs;
        runs += (double)row->runs;
    }
    range->typical = runs > 0 ? sum / runs : 0;
}

int mfu_reference_range(const struct mfu_reference_catalogue *catalogue,
                        const struct mfu_query *query, struct arena *arena, struct mfu_range *ret,
                        struct error_info *err)
{
    const struct mfu_reference **rows =
        arena_allocate_array(arena, catalogue->count + 1, sizeof(*rows));
    if (!rows)
        return error_set_memory(err);
    struct mfu_range range = {.rows = rows, .near = true};
    if (!query->any_size)
        range.count = find_rows(catalogue, query, true, rows);
    if (range.count == 0) {
        range.near = false;
        range.count = find_rows(catalogue, query, false, rows);
    }
    fill_range(&range);
    *ret = range;
    return 0;
}

enum mfu_verdict mfu_verdict_of(const struct mfu_range *range, double mfu)
{
    if (mfu > 1)
        return MFU_IMPOSSIBLE;
    if (range->count == 0 || mfu <= 0)
        return MFU_UNKNOWN;
    if (mfu < range->low)
        return MFU_BELOW;
    return mfu > range->high ? MFU_ABOVE : MFU_WITHIN;
}

const char *mfu_verdict_name(enum mfu_verdict verdict)
{
    static const char *const names[MFU_VERDICT_COUNT] = {
        [MFU_UNKNOWN] = "unknown", [MFU_BELOW] = "below",           [MFU_WITHIN] = "within",
        [MFU_ABOVE] = "above",     [MFU_IMPOSSIBLE] = "impossible",
    };
    return names[verdict];
}
