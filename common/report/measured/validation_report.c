/* SPDX-License-Identifier: MIT */
#include "report/measured/validation_report.h"

#include "report/number_text.h"
#include "report/text_table.h"
#include <math.h>
#include <stdio.h>

#define DIGITS 6u
#define PERCENT 100.0

/* --- text ---------------------------------------------------------------------------- */

static void add_percent(struct text_table *table, double share, bool with_sign)
{
    if (isnan(share))
        text_table_add(table, "");
    else
        text_table_add_format(table, with_sign ? "%+.1f %%" : "%.1f %%", share * PERCENT);
}

static void add_set(struct text_table *table, const struct accuracy *accuracy)
{
    text_table_add(table, accuracy->set ? accuracy->set : "all");
    text_table_add_unsigned(table, accuracy->n);
    add_percent(table, accuracy->mape, false);
    add_percent(table, accuracy->median, false);
    add_percent(table, accuracy->max, false);
    add_percent(table, accuracy->bias, true);
    add_percent(table, accuracy->leave_one_out, false);
}

static void write_sets(const struct accuracy_list *list, const char *title,
                       const struct text_style *style, struct text_buffer *out)
{
    static const struct text_column columns[] = {
        {.title = "set"},
        {.title = "n", .align = ALIGN_RIGHT},
        {.title = "MAPE", .align = ALIGN_RIGHT},
        {.title = "median", .align = ALIGN_RIGHT},
        {.title = "largest", .align = ALIGN_RIGHT},
        {.title = "bias", .align = ALIGN_RIGHT},
        {.title = "left out", .align = ALIGN_RIGHT},
    };
    if (list->count == 0)
        return;
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    for (size_t i = 0; i < list->count; i++)
        add_set(table, &list->sets[i]);
    add_set(table, &list->overall);
    text_buffer_add(out, "%s\n", title);
    text_table_write(table, style, out);
}

static void write_time_rows(const struct validation *validation, const struct text_style *style,
                            struct text_buffer *out)
{
    static const struct text_column columns[] = {
        {.title = "row"},
        {.title = "set"},
        {.title = "model"},
        {.title = "GPUs", .align = ALIGN_RIGHT},
        {.title = "plan"},
        {.title = "measured", .align = ALIGN_RIGHT},
        {.title = "predicted", .align = ALIGN_RIGHT},
        {.title = "error", .align = ALIGN_RIGHT},
    };
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    for (size_t i = 0; i < validation->time_count; i++) {
        const struct accuracy_row *row = &validation->time[i];
        char degrees[DEGREES_TEXT_BYTES];
        degrees_text(&row->run->plan.degrees, degrees);
        text_table_add(table, row->run->id);
        text_table_add(table, row->run->set);
        text_table_add(table, row->run->model_name);
        text_table_add_unsigned(table, row->run->gpus);
        text_table_add(table, degrees);
        text_table_add(table, number_seconds(row->measured).text);
        text_table_add(table, number_seconds(row->predicted).text);
        add_percent(table, row->predicted / row->measured - 1, true);
    }
    text_table_write(table, style, out);
}

static const char *const fact_words[] = {[MEMORY_NO_FACT] = "",
                                         [MEMORY_PEAK] = "peak",
                                         [MEMORY_FITTED] = "ran",
                                         [MEMORY_RAN_OUT] = "ran out"};

static void write_memory_rows(const struct validation *validation, const struct text_style *style,
                              struct text_buffer *out)
{
    static const struct text_column columns[] = {
        {.title = "row"},
        {.title = "set"},
        {.title = "model"},
        {.title = "plan"},
        {.title = "published"},
        {.title = "measured", .align = ALIGN_RIGHT},
        {.title = "predicted", .align = ALIGN_RIGHT},
        {.title = "verdict"},
    };
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    for (size_t i = 0; i < validation->memory_count; i++) {
        const struct validation_memory *row = &validation->memory[i];
        char degrees[DEGREES_TEXT_BYTES];
        degrees_text(&row->run->plan.degrees, degrees);
        text_table_add(table, row->run->id);
        text_table_add(table, row->run->set);
        text_table_add(table, row->run->model_name);
        text_table_add(table, degrees);
        text_table_add(table, fact_words[row->run->memory_fact]);
        text_table_add(table, row->run->memory_bytes > 0
                                  ? number_bytes_real(row->run->memory_bytes).text
                                  : "");
        text_table_add(table, number_bytes_real(row->predicted_bytes).text);
        text_table_add(table, fit_verdict_name(row->verdict));
    }
    text_table_write(table, style, out);
}

static void write_skipped(const struct validation *validation, bool every_row,
                          struct text_buffer *out)
{
    if (validation->skipped_count == 0)
        return;
    text_buffer_add(out, "%zu row%s not compared%s\n", validation->skipped_count,
                    validation->skipped_count == 1 ? " is" : "s are",
                    every_row ? ":" : "; --explain says why");
    for (size_t i = 0; every_row && i < validation->skipped_count; i++)
        text_buffer_add(out, "  %s: %s\n", validation->skipped[i].id,
                        validation->skipped[i].reason);
}

#define SENTENCE_BYTES 512
#define SENTENCE_INDENT 2u

static const char *plural(size_t count) { return count == 1 ? "" : "s"; }

static void write_choice(const struct choice_accuracy *choice, const struct text_style *style,
                         struct text_buffer *out)
{
    char sentence[SENTENCE_BYTES];
    if (choice->groups == 0)
        return;
    snprintf(sentence, sizeof(sentence),
             "choice: %zu group%s of %u runs or more; the predicted best is %.1f %% slower than "
             "the measured best (most %.1f %%), which is among our first %u in %.0f %%",
             choice->groups, plural(choice->groups), CHOICE_GROUP_MINIMUM,
             choice->top1_regret_mean * PERCENT, choice->top1_regret_max * PERCENT, CHOICE_TOP,
             choice->best_in_top5 * PERCENT);
    text_wrap(sentence, SENTENCE_INDENT, text_style_width(style) - SENTENCE_INDENT, out);
    text_buffer_add_text(out, "\n");
}

static void write_verdicts(const struct validation *validation, struct text_buffer *out)
{
    if (validation->memory_count == 0)
        return;
    text_buffer_add(out,
                    "of %zu run%s out of memory %zu %s called \"fits\"; of %zu that ran %zu %s "
                    "called \"oom\"\n",
                    validation->ran_out, plural(validation->ran_out), validation->false_fits,
                    validation->false_fits == 1 ? "is" : "are", validation->ran,
                    validation->false_ooms, validation->false_ooms == 1 ? "is" : "are");
}

void validation_report_text(const struct validation *validation, bool every_row,
                            const struct text_style *style, struct text_buffer *out)
{
    write_sets(&validation->time_accuracy, "step time, predicted / measured - 1", style, out);
    if (every_row && validation->time_count > 0)
        write_time_rows(validation, style, out);
    write_choice(&validation->choice, style, out);
    write_sets(&validation->memory_accuracy, "peak memory, predicted / measured - 1", style, out);
    if (every_row && validation->memory_count > 0)
        write_memory_rows(validation, style, out);
    write_verdicts(validation, out);
    write_skipped(validation, every_row, out);
}

/* --- document ------------------------------------------------------------------------ */

static void add_accuracy(struct json_value *object, const struct accuracy *accuracy)
{
    if (accuracy->set)
        json_add_text(object, "set", accuracy->set);
    json_add_unsigned(object, "n", accuracy->n);
    json_add_real(object, "mape", accuracy->mape, DIGITS);
    json_add_real(object, "median", accuracy->median, DIGITS);
    json_add_real(object, "max", accuracy->max, DIGITS);
    json_add_real(object, "bias", accuracy->bias, DIGITS);
    json_add_real(object, "leave_one_out", accuracy->leave_one_out, DIGITS);
}

static struct json_value *add_list(struct json_value *document, const char *key,
                                   const struct accuracy_list *list)
{
    struct json_value *object = json_add_object(document, key);
    struct json_value *sets = json_add_array(object, "sets");
    for (size_t i = 0; i < list->count; i++)
        add_accuracy(json_add_object(sets, NULL), &list->sets[i]);
    add_accuracy(json_add_object(object, "overall"), &list->overall);
    return object;
}

static double share(size_t part, size_t of) { return of > 0 ? (double)part / (double)of : NAN; }

static void add_fit(struct json_value *memory, const struct validation *validation)
{
    json_add_unsigned(memory, "ran_out", validation->ran_out);
    json_add_unsigned(memory, "ran", validation->ran);
    json_add_unsigned(memory, "false_fit", validation->false_fits);
    json_add_unsigned(memory, "false_oom", validation->false_ooms);
    json_add_real(memory, "false_oom_share", share(validation->false_ooms, validation->ran),
                  DIGITS);
}

static void add_group(struct json_value *each, const struct choice_group *group)
{
    struct json_value *object = json_add_object(each, NULL);
    json_add_text(object, "set", group->best->run->set);
    json_add_text(object, "model", group->best->run->model_name);
    json_add_unsigned(object, "gpus", group->best->run->gpus);
    json_add_unsigned(object, "global_batch", group->best->run->global_batch);
    json_add_unsigned(object, "n", group->n);
    json_add_text(object, "chosen", group->chosen->run->id);
    json_add_text(object, "best", group->best->run->id);
    json_add_real(object, "regret", group->regret, DIGITS);
    json_add_unsigned(object, "best_rank", group->best_rank);
}

static void add_choice(struct json_value *document, const struct choice_accuracy *choice)
{
    struct json_value *object = json_add_object(document, "choice");
    json_add_unsigned(object, "groups", choice->groups);
    json_add_real(object, "top1_regret_mean", choice->groups > 0 ? choice->top1_regret_mean : NAN,
                  DIGITS);
    json_add_real(object, "top1_regret_max", choice->groups > 0 ? choice->top1_regret_max : NAN,
                  DIGITS);
    json_add_real(object, "best_in_top5", choice->groups > 0 ? choice->best_in_top5 : NAN, DIGITS);
    struct json_value *each = json_add_array(object, "each");
    for (size_t i = 0; i < choice->groups; i++)
        add_group(each, &choice->each[i]);
}

static void add_rows(struct json_value *document, const struct validation *validation)
{
    struct json_value *rows = json_add_array(document, "rows");
    for (size_t i = 0; i < validation->time_count; i++) {
        const struct accuracy_row *row = &validation->time[i];
        struct json_value *object = json_add_object(rows, NULL);
        json_add_text(object, "id", row->run->id);
        json_add_text(object, "what", "step_seconds");
        json_add_real(object, "measured", row->measured, DIGITS);
        json_add_real(object, "predicted", row->predicted, DIGITS);
    }
    for (size_t i = 0; i < validation->memory_count; i++) {
        const struct validation_memory *row = &validation->memory[i];
        struct json_value *object = json_add_object(rows, NULL);
        bool peak = row->run->memory_fact == MEMORY_PEAK;
        json_add_text(object, "id", row->run->id);
        json_add_text(object, "what", "memory_bytes");
        json_add_real(object, "measured", peak ? row->run->memory_bytes : NAN, DIGITS);
        json_add_real(object, "predicted", row->predicted_bytes, DIGITS);
        json_add_text(object, "verdict", fit_verdict_name(row->verdict));
    }
}

static void add_skipped(struct json_value *document, const struct validation *validation)
{
    struct json_value *skipped = json_add_array(document, "skipped");
    for (size_t i = 0; i < validation->skipped_count; i++) {
        struct json_value *object = json_add_object(skipped, NULL);
        json_add_text(object, "id", validation->skipped[i].id);
        json_add_text(object, "reason", validation->skipped[i].reason);
    }
}

struct json_value *validation_report_json(const struct validation *validation)
{
    struct json_value *document = json_value_create_object();
    if (!document)
        return NULL;
    json_add_text(document, "schema", "parplan.validate/1");
    add_list(document, "time", &validation->time_accuracy);
    add_fit(add_list(document, "memory", &validation->memory_accuracy), validation);
    add_choice(document, &validation->choice);
    add_rows(document, validation);
    add_skipped(document, validation);
    return document;
}
