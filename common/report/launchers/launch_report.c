/* SPDX-License-Identifier: MIT */
#include "report/launchers/launch_report.h"
#include "report/launchers/launch_config.h"
#include <string.h>

#define TITLE_MAXIMUM_BYTES ((size_t)2048)
#define END_OF_FILE_WORD "END_OF_PARPLAN"

/* One line of comment, whatever a file's name or a model's holds. */
static int add_comment(const char *text, struct text_buffer *out)
{
    CLEANUP_MEMORY char *line = memory_copy_text(text);
    if (!line)
        return -1;
    error_clean_text(line);
    text_buffer_add(out, "# %s\n", line);
    return 0;
}

static void write_title(const struct launch_report *report, struct text_buffer *out)
{
    const struct launch_plan *launch = report->launch;
    char degrees[DEGREES_TEXT_BYTES];
    degrees_text(&launch->plan->degrees, degrees);
    text_buffer_add(out, "%s on %s: %s, ", launch->model->name, report->cluster, degrees);
    launch_plan_write(launch, VALUE_SHARDING, true, out);
    if (launch->plan->degrees.replicate > 1 && launch->plan->sharding != SHARDING_NONE) {
        text_buffer_add_text(out, ", ");
        launch_plan_write(launch, VALUE_SHARD, true, out);
    }
    text_buffer_add_text(out, ", ");
    launch_plan_write(launch, VALUE_MICRO_BATCH, true, out);
    text_buffer_add_text(out, ", ");
    launch_plan_write(launch, VALUE_GLOBAL_BATCH, true, out);
}

static int add_title(const struct launch_report *report, struct text_buffer *out)
{
    const struct launcher *launcher = report->settings->launcher;
    CLEANUP_DONE(text_buffer) struct text_buffer title;
    text_buffer_init(&title, TITLE_MAXIMUM_BYTES);
    write_title(report, &title);
    text_buffer_add(out, "# parplan flags --launcher %s: %s, names of %s\n", launcher->name,
                    launcher->title, launcher->checked);
    if (text_buffer_failed(&title) || add_comment(text_buffer_text(&title), out) < 0)
        return -1;
    text_buffer_add(out, "# RANK: %s (%s)\n", rank_order_name(report->launch->plan->order),
                    launcher->numbering);
    return 0;
}

static void add_variables(const struct launch_settings *settings, struct text_buffer *out)
{
    for (size_t i = 0; i < settings->variable_count; i++) {
        const struct launch_variable *variable = &settings->variables[i];
        if (variable->value)
            text_buffer_add(out, "export %s=%s", variable->name, variable->value);
        else
            text_buffer_add(out, "unset %s", variable->name);
        text_buffer_add(out, " # %s (%s)\n", variable->reason, variable->source);
    }
}

static int add_config(const struct launch_settings *settings, struct text_buffer *out,
                      struct error_info *err)
{
    if (settings->launcher->config_style == CONFIG_NONE)
        return 0;
    text_buffer_add(out, "cat > %s << '" END_OF_FILE_WORD "'\n", settings->launcher->config_file);
    if (launch_config_write(settings, out, err) < 0)
        return -1;
    text_buffer_add_text(out, END_OF_FILE_WORD "\n");
    return 0;
}

static void add_arguments(const struct launch_settings *settings, struct text_buffer *out)
{
    text_buffer_add_text(out, "parplan_arguments=(\n");
    for (size_t i = 0; i < settings->arguments.count; i++) {
        const struct launch_setting *argument = &settings->arguments.items[i];
        bool override = settings->launcher->argument_style == ARGUMENTS_OVERRIDES;
        text_buffer_add(out, "    %s", argument->path);
        if (argument->kind != SETTING_SWITCH) {
            text_buffer_add_text(out, override ? "=" : " ");
            launch_setting_write(argument, out);
        }
        text_buffer_add_text(out, "\n");
    }
    text_buffer_add(out, ")\n# %s\n", settings->launcher->usage);
}

int launch_report_text(const struct launch_report *report, struct text_buffer *out,
                       struct error_info *err)
{
    const struct launch_settings *settings = report->settings;
    if (add_title(report, out) < 0)
        return error_set_memory(err);
    add_variables(settings, out);
    if (add_config(settings, out, err) < 0)
        return -1;
    add_arguments(settings, out);
    for (size_t i = 0; i < report->note_count; i++)
        if (add_comment(report->notes[i], out) < 0)
            return error_set_memory(err);
    for (size_t i = 0; i < settings->note_count; i++)
        if (add_comment(settings->notes[i], out) < 0)
            return error_set_memory(err);
    return 0;
}

static int add_argument_words(const struct launch_settings *settings, struct json_value *parent)
{
    struct json_value *array = json_add_array(parent, "arguments");
    for (size_t i = 0; i < settings->arguments.count; i++) {
        const struct launch_setting *argument = &settings->arguments.items[i];
        CLEANUP_DONE(text_buffer) struct text_buffer word;
        text_buffer_init(&word, TITLE_MAXIMUM_BYTES);
        if (argument->kind == SETTING_SWITCH) {
            json_add_text(array, NULL, argument->path);
            continue;
        }
        if (settings->launcher->argument_style == ARGUMENTS_OVERRIDES)
            text_buffer_add(&word, "%s=", argument->path);
        else
            json_add_text(array, NULL, argument->path);
        launch_setting_write(argument, &word);
        if (text_buffer_failed(&word))
            return -1;
        json_add_text(array, NULL, text_buffer_text(&word));
    }
    return 0;
}

static void add_environment(const struct launch_settings *settings, struct json_value *parent)
{
    struct json_value *array = json_add_array(parent, "environment");
    for (size_t i = 0; i < settings->variable_count; i++) {
        const struct launch_variable *variable = &settings->variables[i];
        struct json_value *object = json_add_object(array, NULL);
        json_add_text(object, "name", variable->name);
        json_add_text(object, "value", variable->value);
        json_add_text(object, "reason", variable->reason);
        json_add_text(object, "source", variable->source);
    }
}

static void add_degrees(const struct launch_plan *launch, struct json_value *parent)
{
    static const struct {
        const char *name;
        enum plan_value value;
    } rows[] = {{"tp", VALUE_TP},   {"cp", VALUE_CP},       {"ep", VALUE_EP},
                {"etp", VALUE_ETP}, {"pp", VALUE_PP},       {"vpp", VALUE_VPP},
                {"dp", VALUE_DP},   {"shard", VALUE_SHARD}, {"replicate", VALUE_REPLICATE}};
    struct json_value *object = json_add_object(parent, "degrees");
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        json_add_unsigned(object, rows[i].name, launch_plan_number(launch, rows[i].value));
}

static void add_texts(struct json_value *array, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        json_add_text(array, NULL, texts[i]);
}

struct json_value *launch_report_json(const struct launch_report *report)
{
    const struct launch_settings *settings = report->settings;
    const struct launcher *launcher = settings->launcher;
    CLEANUP_DONE(text_buffer) struct text_buffer title;
    text_buffer_init(&title, TITLE_MAXIMUM_BYTES);
    write_title(report, &title);
    CLEANUP(json_value) struct json_value *document = json_value_create_object();
    if (text_buffer_failed(&title))
        return NULL;
    json_add_text(document, "schema", "parplan.flags/1");
    json_add_text(document, "launcher", launcher->name);
    json_add_text(document, "checked", launcher->checked);
    json_add_text(document, "plan", text_buffer_text(&title));
    json_add_unsigned(document, "gpus", report->launch->world);
    add_degrees(report->launch, document);
    json_add_text(document, "order", rank_order_name(report->launch->plan->order));
    json_add_text(document, "numbering", launcher->numbering);
    if (add_argument_words(settings, document) < 0)
        return NULL;
    if (launcher->config_style != CONFIG_NONE) {
        json_add_text(document, "config_file", launcher->config_file);
        launch_config_json(settings, json_add_object(document, "config"));
    }
    add_environment(settings, document);
    struct json_value *notes = json_add_array(document, "notes");
    add_texts(notes, report->notes, report->note_count);
    add_texts(notes, settings->notes, settings->note_count);
    return move_pointer(document);
}
