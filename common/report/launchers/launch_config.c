/* SPDX-License-Identifier: MIT */
#include "report/launchers/launch_config.h"
#include "base/yaml_writer.h"
#include <string.h>

#define SECTION_MAXIMUM_BYTES 128u

void launch_setting_write(const struct launch_setting *setting, struct text_buffer *out)
{
    switch (setting->kind) {
    case SETTING_NUMBER:
        text_buffer_add(out, "%llu", (unsigned long long)setting->number);
        break;
    case SETTING_WORD:
    case SETTING_LIST:
        text_buffer_add_text(out, setting->word);
        break;
    case SETTING_TRUE:
    case SETTING_SWITCH:
        text_buffer_add_text(out, "true");
        break;
    case SETTING_FALSE:
        text_buffer_add_text(out, "false");
        break;
    case SETTING_NULL:
        text_buffer_add_text(out, "null");
        break;
    }
}

static void add_leaf(struct json_value *object, const char *key,
                     const struct launch_setting *setting)
{
    switch (setting->kind) {
    case SETTING_NUMBER:
        json_add_unsigned(object, key, setting->number);
        break;
    case SETTING_WORD:
        json_add_text(object, key, setting->word);
        break;
    case SETTING_LIST:
        json_add_text(json_add_array(object, key), NULL, setting->word);
        break;
    case SETTING_NULL:
        json_add_null(object, key);
        break;
    default:
        json_add_boolean(object, key, setting->kind != SETTING_FALSE);
    }
}

/* Bytes of the path's word at `offset`, and whether more follows. */
static size_t word_bytes(const char *path, size_t offset, bool *ret_more)
{
    size_t bytes = strcspn(path + offset, ".");
    *ret_more = path[offset + bytes] == '.';
    return bytes;
}

static bool same_beginning(const struct launch_setting *left, const struct launch_setting *right,
                           size_t bytes)
{
    return strncmp(left->path, right->path, bytes) == 0 && right->path[bytes] == '.';
}

/* items share the first `offset` bytes of their paths. */
static void add_items(const struct launch_setting *items, size_t count, size_t offset,
                      struct json_value *object)
{
    for (size_t i = 0; i < count;) {
        bool more;
        size_t bytes = word_bytes(items[i].path, offset, &more);
        if (!more) {
            add_leaf(object, items[i].path + offset, &items[i]);
            i++;
            continue;
        }
        size_t end = i + 1;
        while (end < count && same_beginning(&items[i], &items[end], offset + bytes))
            end++;
        char key[SECTION_MAXIMUM_BYTES];
        snprintf(key, sizeof(key), "%.*s", (int)bytes, items[i].path + offset);
        add_items(items + i, end - i, offset + bytes + 1, json_add_object(object, key));
        i = end;
    }
}

void launch_config_json(const struct launch_settings *settings, struct json_value *object)
{
    add_items(settings->config.items, settings->config.count, 0, object);
}

static void write_toml_value(const struct launch_setting *setting, struct text_buffer *out)
{
    if (setting->kind == SETTING_WORD)
        text_buffer_add(out, "\"%s\"", setting->word);
    else if (setting->kind == SETTING_LIST)
        text_buffer_add(out, "[\"%s\"]", setting->word);
    else
        launch_setting_write(setting, out);
}

static void write_toml(const struct setting_list *list, struct text_buffer *out)
{
    const char *section = "";
    size_t section_bytes = 0;
    for (size_t i = 0; i < list->count; i++) {
        bool more;
        const char *path = list->items[i].path;
        size_t bytes = word_bytes(path, 0, &more);
        if (bytes != section_bytes || strncmp(path, section, bytes) != 0) {
            text_buffer_add(out, "%s[%.*s]\n", i > 0 ? "\n" : "", (int)bytes, path);
            section = path;
            section_bytes = bytes;
        }
        text_buffer_add(out, "%s = ", path + bytes + 1);
        write_toml_value(&list->items[i], out);
        text_buffer_add_text(out, "\n");
    }
}

int launch_config_write(const struct launch_settings *settings, struct text_buffer *out,
                        struct error_info *err)
{
    if (settings->launcher->config_style == CONFIG_TOML) {
        write_toml(&settings->config, out);
        return 0;
    }
    CLEANUP(json_value) struct json_value *object = json_value_create_object();
    if (!object)
        return error_set_memory(err);
    launch_config_json(settings, object);
    if (settings->launcher->config_style == CONFIG_YAML)
        return yaml_value_write(object, out, err);
    if (json_value_write(object, JSON_STYLE_PRETTY, out, err) < 0)
        return -1;
    if (out->length > 0 && out->text[out->length - 1] != '\n')
        text_buffer_add_text(out, "\n");
    return 0;
}
