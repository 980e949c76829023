/* SPDX-License-Identifier: MIT */
#include "report/measured/calibration_report.h"

#include "report/number_text.h"
#include "report/text_table.h"

#define DIGITS 4u

/* --- text ---------------------------------------------------------------------------- */

static void add_residuals(struct text_table *table, double before, double after)
{
    text_table_add(table, before > 0 ? number_percent(before).text : "");
    text_table_add(table, number_percent(after).text);
}

static void add_link(struct text_table *table, const struct link_figures *link)
{
    text_table_add_format(table, "%s%s%s", calibrated_link_name((enum calibrated_link)link->kind),
                          *link->name ? " " : "", link->name);
    text_table_add_format(table, "%s of the rate, %s a hop", number_percent(link->share).text,
                          number_seconds(link->hop_seconds).text);
    text_table_add_unsigned(table, link->n);
    add_residuals(table, link->residual_before, link->residual);
    text_table_add(table, link->source);
}

static void add_gpu(struct text_table *table, const struct gpu_figures *gpu)
{
    text_table_add_format(table, "gemm %s", gpu->name);
    text_table_add_format(table, "x %.3f", gpu->gemm_factor);
    text_table_add_unsigned(table, gpu->n);
    add_residuals(table, gpu->residual_before, gpu->residual);
    text_table_add(table, gpu->source);
}

void calibration_report_text(const struct calibration_report *report,
                             const struct text_style *style, struct text_buffer *out)
{
    static const struct text_column columns[] = {
        {.title = "of"},
        {.title = "found"},
        {.title = "n", .align = ALIGN_RIGHT},
        {.title = "off before", .align = ALIGN_RIGHT},
        {.title = "off now", .align = ALIGN_RIGHT},
        {.title = "from", .wrap = true},
    };
    const struct calibration *calibration = report->calibration;
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    text_heading(style, out, "Calibration");
    for (size_t i = 0; i < calibration->link_count; i++)
        add_link(table, &calibration->links[i]);
    for (size_t i = 0; i < calibration->gpu_count; i++)
        add_gpu(table, &calibration->gpus[i]);
    text_table_write(table, style, out);
    if (report->skipped > 0)
        text_buffer_add(out, "  %zu row%s skipped; the first is %s\n", report->skipped,
                        report->skipped == 1 ? " was" : "s were", report->reason);
}

/* --- the file ------------------------------------------------------------------------ */

static void add_fit(struct json_value *object, uint64_t n, double residual, double before,
                    const char *source)
{
    json_add_unsigned(object, "n", n);
    json_add_real(object, "residual", residual, DIGITS);
    json_add_real(object, "residual_before", before, DIGITS);
    json_add_text(object, "source", source);
}

static void add_link_row(struct json_value *rows, const struct link_figures *link)
{
    struct json_value *object = json_add_object(rows, NULL);
    json_add_text(object, "kind", calibrated_link_name((enum calibrated_link)link->kind));
    json_add_text(object, "name", link->name);
    json_add_real(object, "share", link->share, DIGITS);
    json_add_real(object, "hop_seconds", link->hop_seconds, DIGITS);
    add_fit(object, link->n, link->residual, link->residual_before, link->source);
}

static void add_gpu_row(struct json_value *rows, const struct gpu_figures *gpu)
{
    struct json_value *object = json_add_object(rows, NULL);
    json_add_text(object, "name", gpu->name);
    json_add_real(object, "gemm_factor", gpu->gemm_factor, DIGITS);
    add_fit(object, gpu->n, gpu->residual, gpu->residual_before, gpu->source);
}

struct json_value *calibration_report_json(const struct calibration_report *report)
{
    const struct calibration *calibration = report->calibration;
    struct json_value *document = json_value_create_object();
    json_add_text(document, "schema", CALIBRATION_SCHEMA);
    struct json_value *links = json_add_array(document, "links");
    for (size_t i = 0; i < calibration->link_count; i++)
        add_link_row(links, &calibration->links[i]);
    struct json_value *gpus = json_add_array(document, "gpus");
    for (size_t i = 0; i < calibration->gpu_count; i++)
        add_gpu_row(gpus, &calibration->gpus[i]);
    return document;
}
