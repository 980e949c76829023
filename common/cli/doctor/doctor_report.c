/* SPDX-License-Identifier: MIT */
#include "cli/doctor/doctor_report.h"
#include <string.h>

#define STATE_COLUMNS 7
#define POINT_COLUMNS 16

static const enum text_tone tones[FINDING_STATE_COUNT] = {
    [FINDING_OK] = TONE_GOOD, [FINDING_WARNING] = TONE_WARNING, [FINDING_FAULT] = TONE_BAD};

void doctor_report_text(const struct findings *findings, const struct text_style *style,
                        struct text_buffer *out)
{
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->list[i];
        enum text_tone tone = tones[finding->state];
        text_buffer_add(out, "%s%-*s%s  %-*s  %s%s%s\n", text_tone_begin(style, tone),
                        STATE_COLUMNS, finding_state_name(finding->state),
                        text_tone_end(style, tone), POINT_COLUMNS, finding->point, finding->text,
                        finding->remedy[0] ? "; " : "", finding->remedy);
    }
    size_t warnings = findings_count(findings, FINDING_WARNING);
    size_t faults = findings_count(findings, FINDING_FAULT);
    text_buffer_add(out, "%zu ok, %zu warning%s, %zu fault%s\n",
                    findings_count(findings, FINDING_OK), warnings, warnings == 1 ? "" : "s",
                    faults, faults == 1 ? "" : "s");
}

struct json_value *doctor_report_json(const struct findings *findings, const char *host)
{
    struct json_value *document = json_value_create_object();
    json_add_text(document, "schema", "parplan.doctor/1");
    json_add_text(document, "host", host);
    struct json_value *points = json_add_array(document, "points");
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->list[i];
        struct json_value *point = json_add_object(points, NULL);
        json_add_text(point, "point", finding->point);
        json_add_text(point, "state", finding_state_name(finding->state));
        json_add_text(point, "text", finding->text);
        json_add_text(point, "remedy", finding->remedy[0] ? finding->remedy : NULL);
    }
    struct json_value *counts = json_add_object(document, "counts");
    for (unsigned state = 0; state < FINDING_STATE_COUNT; state++)
        json_add_unsigned(counts, finding_state_name((enum finding_state)state),
                          findings_count(findings, (enum finding_state)state));
    return document;
}
