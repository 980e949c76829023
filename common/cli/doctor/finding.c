/* SPDX-License-Identifier: MIT */
#include "cli/doctor/finding.h"
#include "base/text_buffer.h"
#include <string.h>

static const char *const state_names[FINDING_STATE_COUNT] = {
    [FINDING_OK] = "ok", [FINDING_WARNING] = "warning", [FINDING_FAULT] = "fault"};

const char *finding_state_name(enum finding_state state) { return state_names[state]; }

static void split_remedy(struct finding *finding)
{
    static const char between[] = "; ";
    char *last = NULL;
    for (char *at = finding->text; (at = strstr(at, between)); at++)
        last = at;
    if (!last || finding->state == FINDING_OK)
        return;
    *last = '\0';
    snprintf(finding->remedy, sizeof(finding->remedy), "%s", last + strlen(between));
}

void findings_add(struct findings *findings, const char *point, enum finding_state state,
                  const char *format, ...)
{
    if (findings->count == FINDINGS_MAXIMUM)
        return;
    struct finding *finding = &findings->list[findings->count++];
    *finding = (struct finding){.point = point, .state = state};
    va_list arguments;
    va_start(arguments, format);
    text_format(finding->text, sizeof(finding->text), format, arguments);
    va_end(arguments);
    error_clean_text(finding->text);
    split_remedy(finding);
}

const char *remedy_unless_in(const char *text, const char *remedy)
{
    return strstr(text, "; ") ? "" : remedy;
}

size_t findings_count(const struct findings *findings, enum finding_state state)
{
    size_t count = 0;
    for (size_t i = 0; i < findings->count; i++)
        count += findings->list[i].state == state;
    return count;
}

void name_sample_add(struct name_sample *sample, const char *name)
{
    char *end = sample->names + sample->used;
    size_t room = sizeof(sample->names) - sample->used;
    if (sample->count++ < NAME_SAMPLE_SHOWN)
        sample->used += (size_t)snprintf(end, room, "%s%.*s", sample->used ? ", " : "",
                                         (int)NODE_LIST_NAME_BYTES - 1, name);
    else if (sample->count == NAME_SAMPLE_SHOWN + 1)
        snprintf(end, room, ", …");
}
