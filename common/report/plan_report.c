/* SPDX-License-Identifier: MIT */
#include "report/plan_report.h"
#include "base/numbers/real.h"
#include "report/number_text.h"
#include "report/text_table.h"
#include <string.h>

static const char *const tp_within_names[TP_WITHIN_COUNT] = {
    [TP_WITHIN_NODE] = "node",
    [TP_WITHIN_NVLINK_DOMAIN] = "nvlink_domain",
    [TP_WITHIN_OFF] = "off",
};

static const enum text_tone fit_tones[FIT_COUNT] = {
    [FIT_UNKNOWN] = TONE_PLAIN,
    [FIT_FITS] = TONE_GOOD,
    [FIT_TIGHT] = TONE_WARNING,
    [FIT_OOM] = TONE_BAD,
};

static const char *default_mark(bool is_default) { return is_default ? " (default)" : ""; }

void plan_report_request(const struct plan_report *report, const struct text_style *style,
                         struct text_buffer *out)
{
    const struct plan_request *request = report->request;
    const struct training_spec *training = report->training;
    struct model_parameters parameters;
    size_t nodes = report->gpus_per_node > 0 ? report->world / report->gpus_per_node
                                             : request->cluster->node_count;
    bool counted = model_parameters_count(request->model, &parameters, NULL) == 0;
    text_heading(style, out, "%s on %s", request->model->name, request->cluster->name);
    text_buffer_add(out, "  %s parameters, %u layers; %zu node%s of %u GPUs = %llu GPUs\n",
                    counted ? number_parameters(real_of(parameters.total)).text : "?",
                    request->model->layers, nodes, nodes == 1 ? "" : "s", report->gpus_per_node,
                    (unsigned long long)report->world);
    text_buffer_add(out, "  sequence %u%s, global batch %u%s\n  framework %s, policy tp_within=%s",
                    training->sequence_length, default_mark(training->sequence_length_is_default),
                    training->global_batch, default_mark(training->global_batch_is_default),
                    report->framework, tp_within_names[request->policy->tp_within]);
    for (unsigned key = JOB_TRAINABLE; key <= JOB_MTP; key++)
        if (request->job && request->job->values[key].given)
            text_buffer_add(out, ", %s %s", job_key_info((enum job_key)key)->name,
                            request->job->values[key].text);
    text_buffer_add_text(out, "\n");
}

static void add_plan_row(struct text_table *table, const struct plan *plan, size_t index)
{
    char degrees[DEGREES_TEXT_BYTES];
    degrees_text(&plan->degrees, degrees);
    const struct memory_estimate *memory = &plan->memory;
    const struct time_estimate *time = &plan->time;
    bool timed = time->step_seconds > 0.0;
    text_table_tone(table, index == 0 ? TONE_CHOSEN : TONE_PLAIN);
    text_table_add_unsigned(table, index + 1);
    text_table_add(table, degrees);
    text_table_add(table, sharding_name(plan->sharding));
    text_table_add(table, plan->offload == OFFLOAD_NONE ? "" : offload_name(plan->offload));
    text_table_add_format(table, "%u x %u", plan->micro_batch, plan->micro_batches);
    text_table_add(table, recompute_name(plan->recompute));
    text_table_add(table, number_gib(memory->total_bytes).text);
    text_table_add(table, fit_verdict_name(memory->verdict));
    text_table_add(table, timed ? number_seconds(time->step_seconds).text : "?");
    text_table_add(table, timed ? number_percent(time->mfu).text : "?");
    text_table_add(table, timed ? number_si(time->tokens_per_second).text : "?");
}

void plan_report_plans(const struct plan_report *report, const struct text_style *style,
                       struct text_buffer *out)
{
    static const struct text_column columns[] = {
        {.title = "#", .align = ALIGN_RIGHT},
        {.title = "degrees"},
        {.title = "sharding"},
        {.title = "offload"},
        {.title = "batch x M", .align = ALIGN_RIGHT},
        {.title = "recompute"},
        {.title = "GiB", .align = ALIGN_RIGHT},
        {.title = "fit"},
        {.title = "step", .align = ALIGN_RIGHT},
        {.title = "MFU", .align = ALIGN_RIGHT},
        {.title = "tokens/s", .align = ALIGN_RIGHT},
    };
    uint64_t capacity = report->list->plans[0].memory.capacity_bytes;
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    text_heading(style, out, "Plans, best first (memory per GPU: %s)",
                 capacity ? number_bytes(capacity).text : "unknown");
    for (size_t i = 0; i < report->list->plan_count; i++)
        add_plan_row(table, &report->list->plans[i], i);
    text_table_write(table, style, out);
}

void plan_report_rejections(const struct plan_list *list, const char *lead, struct text_buffer *out)
{
    const char *separator = lead;
    for (unsigned i = 0; i < REJECTION_COUNT; i++) {
        if (list->rejected[i] == 0)
            continue;
        text_buffer_add(out, "%s%s %s", separator, rejection_name((enum rejection)i),
                        number_grouped(list->rejected[i]).text);
        separator = ", ";
    }
}

void plan_report_remedies(const struct plan_list *list, const struct text_style *style,
                          struct text_buffer *out)
{
    static const struct text_column columns[] = {{.title = NULL}, {.title = NULL, .wrap = true}};
    if (list->remedy_count == 0)
        return;
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    text_heading(style, out, "What would help, nearest first");
    for (size_t i = 0; i < list->remedy_count; i++) {
        text_table_add(table, list->remedies[i].kind);
        text_table_add(table, list->remedies[i].text);
    }
    text_table_write(table, style, out);
}

/* but: a note that stands elsewhere already, or NULL. */
static void add_notes(const struct plan_list *list, const char *but, const struct text_style *style,
                      struct text_buffer *out)
{
    static const struct text_column columns[] = {{.title = NULL}, {.title = NULL, .wrap = true}};
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    for (size_t i = 0; i < list->note_count; i++) {
        bool warns = strcmp(list->notes[i], list->policy.text) == 0;
        if (but && strcmp(list->notes[i], but) == 0)
            continue;
        text_table_tone(table, warns ? TONE_WARNING : TONE_PLAIN);
        text_table_add(table, warns ? "!" : "-");
        text_table_add(table, list->notes[i]);
    }
    if (table && text_table_rows(table) == 0)
        return;
    text_heading(style, out, "Notes");
    text_table_write(table, style, out);
}

void plan_report_notes(const struct plan_list *list, const struct text_style *style,
                       struct text_buffer *out)
{
    add_notes(list, NULL, style, out);
}

static void write_misfit(const struct plan_report *report, struct text_buffer *out)
{
    const struct plan *nearest = report->list->nearest;
    text_buffer_add(out, "nothing fits: %s on %s", report->request->model->name,
                    report->request->cluster->name);
    if (!nearest) {
        size_t before = out->length;
        plan_report_rejections(report->list, "; left out: ", out);
        if (out->length == before)
            text_buffer_add(out, ": no configuration is within the bounds");
        return;
    }
    char degrees[DEGREES_TEXT_BYTES];
    degrees_text(&nearest->degrees, degrees);
    text_buffer_add(out, ": the nearest plan (%s, %s, recompute %s) needs %s per GPU, it has %s",
                    degrees, sharding_name(nearest->sharding), recompute_name(nearest->recompute),
                    number_bytes(nearest->memory.total_bytes).text,
                    number_bytes(nearest->memory.capacity_bytes).text);
    if (memory_lacks_host(&nearest->memory))
        text_buffer_add(out, ", and %s of a node for offload=%s, it has %s",
                        number_bytes(nearest->memory.host_bytes).text,
                        offload_name(nearest->offload),
                        number_bytes(nearest->memory.host_capacity_bytes).text);
}

void plan_report_misfit(const struct plan_report *report, const struct text_style *style,
                        struct text_buffer *out)
{
    CLEANUP_DONE(text_buffer) struct text_buffer line;
    text_buffer_init(&line, TEXT_BUFFER_REPORT_MAXIMUM);
    write_misfit(report, &line);
    text_buffer_add(out, "\n%s", text_tone_begin(style, TONE_BAD));
    text_wrap(text_buffer_text(&line), 0, text_style_width(style), out);
    text_buffer_add(out, "%s\n", text_tone_end(style, TONE_BAD));
}

void plan_report_text(const struct plan_report *report, const struct text_style *style,
                      struct text_buffer *out)
{
    plan_report_request(report, style, out);
    if (report->list->plan_count > 0)
        plan_report_plans(report, style, out);
    else
        plan_report_misfit(report, style, out);
    plan_report_remedies(report->list, style, out);
    plan_report_notes(report->list, style, out);
}

/* The verdict's own words begin with "policy". */
static void add_policy(struct text_table *table, const struct policy_verdict *verdict)
{
    bool allowed = verdict->result == POLICY_ALLOWED;
    text_table_tone(table, allowed ? TONE_GOOD : TONE_WARNING);
    text_table_add(table, allowed ? "policy" : "warning");
    text_table_add(table, allowed ? "allowed" : verdict->text);
}

static void add_check_plan(struct text_table *table, const struct plan *plan)
{
    char degrees[DEGREES_TEXT_BYTES];
    degrees_text(&plan->degrees, degrees);
    text_table_add(table, "plan");
    text_table_add_format(table,
                          "%s, sharding %s, schedule %s, micro batch %u x %u, recompute %s, "
                          "offload %s, %s, order %s",
                          degrees, sharding_name(plan->sharding), schedule_name(plan->schedule),
                          plan->micro_batch, plan->micro_batches, recompute_name(plan->recompute),
                          offload_name(plan->offload), precision_name(plan->precision),
                          rank_order_name(plan->order));
    const struct memory_estimate *memory = &plan->memory;
    text_table_tone(table, fit_tones[memory->verdict]);
    text_table_add(table, "memory");
    text_table_add_format(table, "%s: %s of %s on the fullest GPU (pipeline stage %u)",
                          fit_verdict_name(memory->verdict), number_bytes(memory->total_bytes).text,
                          memory->capacity_bytes ? number_bytes(memory->capacity_bytes).text : "?",
                          memory->stage);
    if (memory->host_bytes > 0) {
        text_table_tone(table, memory_lacks_host(memory) ? TONE_BAD : TONE_PLAIN);
        text_table_add(table, "host");
        text_table_add_format(
            table, "%s of a node, it has %s", number_bytes(memory->host_bytes).text,
            memory->host_capacity_bytes ? number_bytes(memory->host_capacity_bytes).text : "?");
    }
    text_table_add(table, "step");
    if (plan->time.step_seconds > 0.0)
        text_table_add_format(
            table, "%s, %s tokens/s, MFU %s", number_seconds(plan->time.step_seconds).text,
            number_si(plan->time.tokens_per_second).text, number_percent(plan->time.mfu).text);
    else
        text_table_add(table, "unknown: the GPU is not in the catalogue");
}

void check_report_text(const struct plan_report *report, const struct text_style *style,
                       struct text_buffer *out)
{
    static const struct text_column columns[] = {{.title = NULL}, {.title = NULL, .wrap = true}};
    const struct plan_list *list = report->list;
    const struct plan *plan = list->plan_count > 0 ? &list->plans[0] : list->nearest;
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    plan_report_request(report, style, out);
    text_buffer_add_text(out, "\n");
    add_policy(table, &list->policy);
    if (plan)
        add_check_plan(table, plan);
    text_table_write(table, style, out);
    if (list->plan_count == 0)
        plan_report_misfit(report, style, out);
    plan_report_remedies(list, style, out);
    add_notes(list, list->policy.text, style, out);
}

void policy_report_text(const struct degrees *degrees, const struct policy_verdict *verdict,
                        const struct text_style *style, struct text_buffer *out)
{
    static const struct text_column columns[] = {{.title = NULL}, {.title = NULL, .wrap = true}};
    char text[DEGREES_TEXT_BYTES];
    degrees_text(degrees, text);
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    text_table_add(table, "plan");
    text_table_add(table, text);
    add_policy(table, verdict);
    text_table_add(table, "memory");
    text_table_add(table, "unknown without --model");
    text_table_write(table, style, out);
}
