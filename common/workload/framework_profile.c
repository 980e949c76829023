/* SPDX-License-Identifier: MIT */
#include "workload/framework_profile.h"

#include "base/data_file.h"
#include "base/tables/yaml_rows.h"
#include <stdio.h>
#include <string.h>

#define CATALOGUE_FILE "frameworks.yaml"
#define CATALOGUE_MAXIMUM_BYTES ((size_t)4 << 20)
#define CATALOGUE_MAXIMUM_PROFILES 64u
#define MAXIMUM_BYTES_PER_PARAMETER 64.0
#define MAXIMUM_CONSTANT_BYTES 1e12
#define MAXIMUM_CONNECTIONS 32u /* hardware queues of a GPU: CUDA programming guide */

static const char default_profile[] = "megatron-core";

static const char *const verdict_words[] = {"recommended", "allowed", "refused", NULL};

/* An entry as it stands in the file: the profile and what is walked by hand. */
struct entry_fields {
    struct framework_profile profile;
    const struct yaml_node *pipeline;
};

struct pipeline_fields {
    const struct yaml_node *verdicts[SHARDING_COUNT];
};

struct verdict_fields {
    unsigned verdict;
    const char *reason;
};

#define PROFILE(member) offsetof(struct entry_fields, profile.member)
#define TEXT(word, member)                                                                         \
    {                                                                                              \
        .key = (word), .type = YAML_TEXT, .offset = PROFILE(member), .required = true              \
    }
#define REAL(word, member, most)                                                                   \
    {                                                                                              \
        .key = (word), .type = YAML_REAL, .offset = PROFILE(member), .required = true,             \
        .maximum = (most)                                                                          \
    }
#define BOOLEAN(word, member)                                                                      \
    {                                                                                              \
        .key = (word), .type = YAML_BOOLEAN, .offset = PROFILE(member), .required = true           \
    }
#define CONNECTIONS(word, member)                                                                  \
    {                                                                                              \
        .key = (word), .type = YAML_UNSIGNED, .offset = PROFILE(member),                           \
        .maximum = MAXIMUM_CONNECTIONS                                                             \
    }

static const struct yaml_field entry_table[] = {
    TEXT("name", name),
    TEXT("title", title),
    TEXT("source", source),
    REAL("parameter_bytes", parameter_bytes, MAXIMUM_BYTES_PER_PARAMETER),
    REAL("gradient_bytes", gradient_bytes, MAXIMUM_BYTES_PER_PARAMETER),
    REAL("optimizer_bytes", optimizer_bytes, MAXIMUM_BYTES_PER_PARAMETER),
    REAL("logits_bytes", logits_bytes, MAXIMUM_BYTES_PER_PARAMETER),
    {.key = "constant_bytes",
     .type = YAML_BYTES,
     .offset = PROFILE(constant_bytes),
     .required = true,
     .maximum = MAXIMUM_CONSTANT_BYTES},
    REAL("fragmentation", fragmentation, 1),
    BOOLEAN("sequence_parallel", sequence_parallel),
    {.key = "pipeline_before_data", .type = YAML_BOOLEAN, .offset = PROFILE(pipeline_before_data)},
    CONNECTIONS("device_connections", device_connections),
    CONNECTIONS("blackwell_connections", blackwell_connections),
    REAL("overlap_dp", overlap_dp, 1),
    REAL("overlap_gather", overlap_gather, 1),
    REAL("overlap_tp", overlap_tp, 1),
    REAL("overlap_pp", overlap_pp, 1),
    REAL("overlap_cp", overlap_cp, 1),
    REAL("overlap_ep", overlap_ep, 1),
    {.key = "pipeline",
     .type = YAML_NODE,
     .offset = offsetof(struct entry_fields, pipeline),
     .required = true},
};

static const struct yaml_field verdict_table[] = {
    {.key = "verdict",
     .type = YAML_CHOICE,
     .offset = offsetof(struct verdict_fields, verdict),
     .required = true,
     .choices = verdict_words},
    {.key = "reason",
     .type = YAML_TEXT,
     .offset = offsetof(struct verdict_fields, reason),
     .required = true},
};

static int read_pipeline(const struct yaml_node *node, struct framework_profile *ret,
                         struct error_info *err)
{
    struct pipeline_fields fields = {0};
    struct yaml_field table[SHARDING_COUNT];
    for (unsigned i = 0; i < SHARDING_COUNT; i++)
        table[i] = (struct yaml_field){.key = sharding_name((enum sharding)i),
                                       .type = YAML_NODE,
                                       .offset = (uint16_t)(i * sizeof(fields.verdicts[0])),
                                       .required = true};
    if (yaml_fields_load(node, table, SHARDING_COUNT, &fields, err) < 0)
        return -1;
    for (unsigned i = 0; i < SHARDING_COUNT; i++) {
        struct verdict_fields verdict = {0};
        if (yaml_fields_load(fields.verdicts[i], verdict_table, COUNT_OF(verdict_table), &verdict,
                             err) < 0)
            return -1;
        ret->pipeline[i] = (enum profile_verdict)verdict.verdict;
        ret->pipeline_reason[i] = verdict.reason;
    }
    return 0;
}

/* The texts point into the document until now: into the arena with them. */
static int copy_texts(struct arena *arena, struct framework_profile *profile,
                      struct error_info *err)
{
    const char **texts[SHARDING_COUNT + 3] = {&profile->name, &profile->title, &profile->source};
    for (unsigned i = 0; i < SHARDING_COUNT; i++)
        texts[3 + i] = &profile->pipeline_reason[i];
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        *texts[i] = arena_copy_text(arena, *texts[i]);
        if (!*texts[i])
            return error_set_memory(err);
    }
    return 0;
}

static int read_profiles(struct framework_catalogue *catalogue, const struct yaml_node *list,
                         struct framework_profile *profiles, struct error_info *err)
{
    for (size_t i = 0; i < list->child_count; i++) {
        struct entry_fields entry = {0};
        const struct yaml_node *node = list->children[i];
        if (yaml_fields_load(node, entry_table, COUNT_OF(entry_table), &entry, err) < 0 ||
            read_pipeline(entry.pipeline, &entry.profile, err) < 0 ||
            copy_texts(catalogue->arena, &entry.profile, err) < 0)
            return -1;
        profiles[catalogue->count++] = entry.profile;
    }
    return 0;
}

static struct framework_catalogue *create_catalogue(size_t count, struct framework_profile **ret,
                                                    struct error_info *err)
{
    struct arena *arena = arena_create(CATALOGUE_MAXIMUM_BYTES);
    struct framework_catalogue *catalogue =
        arena ? arena_allocate(arena, sizeof(*catalogue)) : NULL;
    *ret = catalogue ? arena_allocate_array(arena, count, sizeof(**ret)) : NULL;
    if (!*ret) {
        arena_free(arena);
        return error_null(error_set_memory(err));
    }
    *catalogue = (struct framework_catalogue){.profiles = *ret, .arena = arena};
    return catalogue;
}

static struct framework_catalogue *load(const struct yaml_document *document,
                                        struct error_info *err)
{
    static const struct yaml_list_file file = {"parplan.frameworks/1", "frameworks",
                                               CATALOGUE_MAXIMUM_PROFILES};
    const struct yaml_node *list = document ? yaml_list_find(document, &file, err) : NULL;
    struct framework_profile *profiles = NULL;
    CLEANUP(framework_catalogue)
    struct framework_catalogue *catalogue =
        list ? create_catalogue(list->child_count, &profiles, err) : NULL;
    if (!catalogue || read_profiles(catalogue, list, profiles, err) < 0)
        return NULL;
    return move_pointer(catalogue);
}

struct framework_catalogue *framework_catalogue_parse(const char *text, size_t bytes,
                                                      const char *source, struct error_info *err)
{
    CLEANUP(yaml_document)
    struct yaml_document *document = yaml_document_parse(text, bytes, source, err);
    return load(document, err);
}

struct framework_catalogue *framework_catalogue_builtin(struct error_info *err)
{
    CLEANUP(yaml_document) struct yaml_document *document = data_file_open(CATALOGUE_FILE, err);
    return load(document, err);
}

void framework_catalogue_free(struct framework_catalogue *catalogue)
{
    if (catalogue)
        arena_free(catalogue->arena);
}

const struct framework_profile *
framework_catalogue_find(const struct framework_catalogue *catalogue, const char *name,
                         struct error_info *err)
{
    const char *wanted = name ? name : default_profile;
    char list[ERROR_TEXT_BYTES / 2] = "";
    size_t used = 0;
    for (size_t i = 0; i < catalogue->count; i++)
        if (strcmp(catalogue->profiles[i].name, wanted) == 0)
            return &catalogue->profiles[i];
    for (size_t i = 0; i < catalogue->count && used < sizeof(list); i++)
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i > 0 ? ", " : "",
                                 catalogue->profiles[i].name);
    return error_null(error_set(err, "framework: \"%.64s\" is not one of %s", wanted, list));
}
