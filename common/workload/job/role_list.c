/* SPDX-License-Identifier: MIT */
#include "workload/job/role_list.h"

#include "base/tables/yaml_rows.h"
#include "base/text_file.h"
#include <stddef.h>
#include <string.h>

#define ROLE_SCHEMA "parplan.roles/1"

static const struct yaml_field role_fields[] = {
    {.key = "name", .type = YAML_TEXT, .offset = offsetof(struct role, name), .required = true},
    {.key = "model", .type = YAML_TEXT, .offset = offsetof(struct role, model), .required = true},
    {.key = "keys", .type = YAML_TEXT, .offset = offsetof(struct role, keys)},
    {.key = "with", .type = YAML_TEXT, .offset = offsetof(struct role, with)},
    {.key = "nodes",
     .type = YAML_UNSIGNED,
     .offset = offsetof(struct role, nodes),
     .minimum = 1,
     .maximum = ROLE_NODES_MAXIMUM},
};

static const struct yaml_row_table role_table = {role_fields, COUNT_OF(role_fields),
                                                 sizeof(struct role)};

static size_t find(const struct role *roles, size_t count, const char *name)
{
    size_t i = 0;
    while (i < count && strcmp(roles[i].name, name) != 0)
        i++;
    return i;
}

/* Why the role cannot be placed; NULL: it can, and its home is set. */
static const char *place(struct role *roles, size_t count, size_t role, bool shared)
{
    struct role *self = &roles[role];
    self->home = shared ? 0 : role;
    if (find(roles, count, self->name) != role)
        return "is there twice; give every role its own name";
    if (self->nodes > 0 && self->with)
        return "has nodes and with; keep one";
    if (!shared && self->nodes == 0 && !self->with)
        return "has neither nodes nor with, which others have; give one";
    if (!self->with)
        return NULL;
    self->home = find(roles, count, self->with);
    if (self->home == count)
        return "is with a role that is not there";
    if (self->home == role || roles[self->home].with)
        return "is with a role that has no nodes of its own";
    return NULL;
}

static int place_all(struct role *roles, size_t count, const struct yaml_node *node,
                     struct error_info *err)
{
    bool shared = true;
    for (size_t i = 0; i < count; i++)
        shared = shared && roles[i].nodes == 0 && !roles[i].with;
    for (size_t i = 0; i < count; i++) {
        const char *problem = place(roles, count, i, shared);
        if (problem)
            return yaml_node_error(node, err, "role %.64s %s", roles[i].name, problem);
    }
    return 0;
}

static int load(struct role_list *list, const struct yaml_node *node, struct error_info *err)
{
    struct role *roles =
        yaml_rows_load(list->arena, node, &role_table, ROLE_MAXIMUM, &list->count, err);
    list->roles = roles;
    return roles ? place_all(roles, list->count, node, err) : -1;
}

struct role_list *role_list_parse(const char *text, size_t bytes, const char *source,
                                  struct error_info *err)
{
    static const struct yaml_field root_fields[] = {
        {.key = "roles", .type = YAML_NODE, .offset = 0, .required = true}};
    const struct yaml_node *node = NULL;
    CLEANUP(yaml_document)
    struct yaml_document *document = yaml_document_open(text, bytes, source, ROLE_SCHEMA, err);
    if (!document || yaml_fields_load(yaml_document_root(document), root_fields,
                                      COUNT_OF(root_fields), &node, err) < 0)
        return NULL;
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    struct role_list *list = arena ? arena_allocate(arena, sizeof(*list)) : NULL;
    if (!list)
        return error_null(error_set_memory(err));
    list->arena = arena;
    if (load(list, node, err) < 0)
        return NULL;
    list->arena = move_pointer(arena);
    return list;
}

struct role_list *role_list_load(const char *path, struct error_info *err)
{
    size_t bytes = 0;
    CLEANUP_MEMORY char *text = text_file_read(path, ROLE_FILE_MAXIMUM_BYTES, &bytes, err);
    return text ? role_list_parse(text, bytes, path, err) : NULL;
}

void role_list_free(struct role_list *list)
{
    if (list)
        arena_free(list->arena);
}
