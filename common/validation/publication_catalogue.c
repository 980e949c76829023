/* SPDX-License-Identifier: MIT */
#include "validation/publication_catalogue.h"

#include "base/data_file.h"
#include "base/tables/yaml_rows.h"
#include <ctype.h>
#include <math.h>
#include <string.h>

#define PUBLICATION_FILE "publications.yaml"
#define PUBLICATION_SCHEMA "parplan.publications/1"

static const struct yaml_field publication_fields[] = {
    {.key = "set",
     .type = YAML_TEXT,
     .offset = offsetof(struct publication, set),
     .required = true},
    {.key = "sharding", .type = YAML_TEXT, .offset = offsetof(struct publication, sharding)},
    {.key = "vpp",
     .type = YAML_UNSIGNED,
     .offset = offsetof(struct publication, vpp),
     .minimum = 1,
     .maximum = 1024},
    {.key = "framework",
     .type = YAML_TEXT,
     .offset = offsetof(struct publication, framework),
     .required = true},
    {.key = "network_gbit_per_gpu",
     .type = YAML_REAL,
     .offset = offsetof(struct publication, network_gbit_per_gpu),
     .required = true,
     .minimum = 1,
     .maximum = 1e5},
    {.key = "source",
     .type = YAML_TEXT,
     .offset = offsetof(struct publication, source),
     .required = true},
};

static const struct yaml_field gpu_fields[] = {
    {.key = "gpu",
     .type = YAML_TEXT,
     .offset = offsetof(struct publication_gpu, gpu),
     .required = true},
    {.key = "memory_gb",
     .type = YAML_REAL,
     .offset = offsetof(struct publication_gpu, memory_gb),
     .required = true,
     .minimum = 1,
     .maximum = 1e5},
    {.key = "preset",
     .type = YAML_TEXT,
     .offset = offsetof(struct publication_gpu, preset),
     .required = true},
    {.key = "nvlink_gb_per_second",
     .type = YAML_REAL,
     .offset = offsetof(struct publication_gpu, nvlink_gb_per_second),
     .minimum = 1,
     .maximum = 1e5},
};

static const struct yaml_row_table publication_table = {
    publication_fields, COUNT_OF(publication_fields), sizeof(struct publication)};
static const struct yaml_row_table gpu_table = {gpu_fields, COUNT_OF(gpu_fields),
                                                sizeof(struct publication_gpu)};

struct root {
    const struct yaml_node *publications, *gpus;
};

static const struct yaml_field root_fields[] = {
    {.key = "publications",
     .type = YAML_NODE,
     .offset = offsetof(struct root, publications),
     .required = true},
    {.key = "gpus", .type = YAML_NODE, .offset = offsetof(struct root, gpus), .required = true},
};

static int load(struct publication_catalogue *catalogue, const struct root *root,
                struct error_info *err)
{
    catalogue->publications =
        yaml_rows_load(catalogue->arena, root->publications, &publication_table,
                       PUBLICATION_MAXIMUM_ROWS, &catalogue->publication_count, err);
    if (!catalogue->publications)
        return -1;
    if (*catalogue->publications[catalogue->publication_count - 1].set != '\0')
        return yaml_node_error(root->publications, err, "the last row's set must be \"\"");
    catalogue->gpus = yaml_rows_load(catalogue->arena, root->gpus, &gpu_table,
                                     PUBLICATION_MAXIMUM_ROWS, &catalogue->gpu_count, err);
    return catalogue->gpus ? 0 : -1;
}

static struct publication_catalogue *load_document(const struct yaml_document *document,
                                                   struct error_info *err)
{
    struct root root = {NULL, NULL};
    if (!document || yaml_document_check_schema(document, PUBLICATION_SCHEMA, err) < 0 ||
        yaml_fields_load(yaml_document_root(document), root_fields, COUNT_OF(root_fields), &root,
                         err) < 0)
        return NULL;
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    struct publication_catalogue *catalogue =
        arena ? arena_allocate(arena, sizeof(*catalogue)) : NULL;
    if (!catalogue)
        return error_null(error_set_memory(err));
    catalogue->arena = arena;
    if (load(catalogue, &root, err) < 0)
        return NULL;
    catalogue->arena = move_pointer(arena);
    return catalogue;
}

struct publication_catalogue *publication_catalogue_parse(const char *text, size_t bytes,
                                                          const char *source,
                                                          struct error_info *err)
{
    CLEANUP(yaml_document)
    struct yaml_document *document = yaml_document_parse(text, bytes, source, err);
    return load_document(document, err);
}

struct publication_catalogue *publication_catalogue_builtin(struct error_info *err)
{
    CLEANUP(yaml_document) struct yaml_document *document = data_file_open(PUBLICATION_FILE, err);
    return load_document(document, err);
}

void publication_catalogue_free(struct publication_catalogue *catalogue)
{
    if (catalogue)
        arena_free(catalogue->arena);
}

static bool is_of(const struct publication *publication, const char *set, const char *sharding)
{
    return strncmp(set, publication->set, strlen(publication->set)) == 0 &&
           (!publication->sharding || strstr(sharding, publication->sharding));
}

const struct publication *publication_of_set(const struct publication_catalogue *catalogue,
                                             const char *set, const char *sharding)
{
    size_t i = 0;
    while (i + 1 < catalogue->publication_count &&
           !is_of(&catalogue->publications[i], set, sharding))
        i++;
    return &catalogue->publications[i];
}

/* Longer names first, then the nearer memory. */
static bool is_nearer(const struct publication_gpu *row, const struct publication_gpu *best,
                      double memory_gb)
{
    size_t length = strlen(row->gpu), best_length = best ? strlen(best->gpu) : 0;
    if (!best || length != best_length)
        return length > best_length;
    return memory_gb > 0 && fabs(row->memory_gb - memory_gb) < fabs(best->memory_gb - memory_gb);
}

/* Not within a longer name: an H200 is no GH200. */
static bool stands_in(const char *gpu, const char *text)
{
    const char *at = strstr(text, gpu);
    while (at && at > text && isalnum((unsigned char)at[-1]))
        at = strstr(at + 1, gpu);
    return at != NULL;
}

const struct publication_gpu *publication_gpu_of(const struct publication_catalogue *catalogue,
                                                 const char *text, double memory_gb)
{
    const struct publication_gpu *best = NULL;
    for (size_t i = 0; i < catalogue->gpu_count; i++)
        if (stands_in(catalogue->gpus[i].gpu, text) &&
            is_nearer(&catalogue->gpus[i], best, memory_gb))
            best = &catalogue->gpus[i];
    return best;
}
