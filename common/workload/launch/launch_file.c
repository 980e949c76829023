/* SPDX-License-Identifier: MIT */
#include "workload/launch/launch_file.h"
#include "base/tables/toml_scan.h"
#include <stdio.h>
#include <string.h>

#define YAML_PATH_BYTES 256u /* keys that we know are shorter */
#define PLACE_BYTES 4096u    /* longer ones are cut */

/* One file on its way. */
struct file_reading {
    struct launch_reading *reading;
    const struct launch_file *file;
};

static bool is_toml(const char *path)
{
    const char *ending = strrchr(path, '.');
    return ending && !strcmp(ending, ".toml");
}

static int read_value(void *context, const struct toml_value *value, struct error_info *err)
{
    struct file_reading *own = context;
    const struct yaml_node *keys = yaml_node_get(own->file->section, "keys");
    const struct yaml_node *rule = keys ? yaml_node_get(keys, value->path) : NULL;
    char place[PLACE_BYTES];
    if (!rule)
        return 0;
    if (rule->kind == YAML_SCALAR && rule->text[0] == '@') {
        own->reading->next = arena_copy_text(own->reading->spec->arena, value->text);
        return own->reading->next ? 0 : error_set_memory(err);
    }
    snprintf(place, sizeof(place), "%s:%u", own->file->path, value->line);
    own->reading->refused = launch_rule_apply(own->reading, rule, value->text, place, err) < 0;
    return own->reading->refused ? -1 : 0;
}

/* path has room for YAML_PATH_BYTES and holds `length` of them: this node's keys. A path that is
 * longer is none that we know. */
static int walk(struct file_reading *own, const struct yaml_node *node, char *path, size_t length,
                struct error_info *err)
{
    if (node->kind == YAML_SCALAR && length > 0)
        return read_value(own, &(struct toml_value){path, node->text, node->line}, err);
    for (size_t i = 0; node->kind == YAML_MAPPING && i < node->child_count; i++) {
        const struct yaml_node *child = node->children[i];
        size_t bytes = strlen(child->key);
        if (length + bytes + 2 > YAML_PATH_BYTES)
            continue;
        size_t dot = length > 0;
        path[length] = '.';
        memcpy(path + length + dot, child->key, bytes + 1);
        if (walk(own, child, path, length + dot + bytes, err) < 0)
            return -1;
    }
    return 0;
}

int launch_file_read(struct launch_reading *reading, const struct launch_file *file,
                     const char *text, size_t bytes, struct error_info *err)
{
    struct file_reading own = {.reading = reading, .file = file};
    char path[YAML_PATH_BYTES];
    if (is_toml(file->path))
        return toml_scan(text, bytes, file->path, read_value, &own, err);
    CLEANUP(yaml_document)
    struct yaml_document *document = yaml_document_parse(text, bytes, file->path, err);
    return document ? walk(&own, yaml_document_root(document), path, 0, err) : -1;
}
