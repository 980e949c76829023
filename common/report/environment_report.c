/* SPDX-License-Identifier: MIT */
#include "report/environment_report.h"
#include <string.h>

/* Characters that no shell reads as anything but themselves. */
static bool is_plain(const char *value)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                "0123456789_-./:,=@%+";
    return value[0] != '\0' && value[strspn(value, plain)] == '\0';
}

static void add_shell_value(const char *value, struct text_buffer *out)
{
    if (is_plain(value)) {
        text_buffer_add_text(out, value);
        return;
    }
    text_buffer_add_text(out, "'");
    for (; *value; value++) {
        if (*value == '\'')
            text_buffer_add_text(out, "'\\''");
        else
            text_buffer_add_bytes(out, value, 1);
    }
    text_buffer_add_text(out, "'");
}

void environment_report_text(const struct environment_report_row *row, struct text_buffer *out)
{
    text_buffer_add(out, "# task %llu on %s\n", (unsigned long long)row->task, row->node);
    for (unsigned i = 0; i < row->environment->count; i++) {
        const struct environment_entry *entry = &row->environment->entries[i];
        text_buffer_add(out, "export %s=", entry->name);
        add_shell_value(entry->value, out);
        text_buffer_add_text(out, "\n");
    }
}

struct json_value *environment_report_json(struct json_value **ret_tasks)
{
    struct json_value *document = json_value_create_object();
    json_add_text(document, "schema", "parplan.env/1");
    *ret_tasks = json_add_array(document, "tasks");
    return document;
}

void environment_report_json_add(struct json_value *tasks, const struct environment_report_row *row)
{
    struct json_value *object = json_add_object(tasks, NULL);
    json_add_unsigned(object, "task", row->task);
    json_add_text(object, "node", row->node);
    struct json_value *variables = json_add_object(object, "environment");
    for (unsigned i = 0; i < row->environment->count; i++)
        json_add_text(variables, row->environment->entries[i].name,
                      row->environment->entries[i].value);
}
