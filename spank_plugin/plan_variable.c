/* SPDX-License-Identifier: MIT */
#include "spank_plugin/plan_variable.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REFUSED "refused"
#define STEP_BYTES 32
#define SHOWN_BYTES 32u

int plan_variable_set(uint32_t job, uint32_t step, const struct wire_plan *wire,
                      struct error_info *err)
{
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, PLAN_VARIABLE_MAXIMUM_BYTES);
    text_buffer_add(&text, "%" PRIu32 ".%" PRIu32 " ", job, step);
    if (!wire)
        text_buffer_add_text(&text, REFUSED);
    else if (wire_plan_encode(wire, &text, err) < 0)
        return -1;
    if (text_buffer_failed(&text) || setenv(WIRE_PLAN_VARIABLE, text_buffer_text(&text), 1) != 0)
        return error_set_memory(err);
    return 0;
}

int plan_variable_open(const char *text, uint32_t job, uint32_t step, const char **ret_plan,
                       struct error_info *err)
{
    char expected[STEP_BYTES];
    int length = snprintf(expected, sizeof(expected), "%" PRIu32 ".%" PRIu32 " ", job, step);
    size_t shown = strcspn(text, " ");
    if (strncmp(text, expected, (size_t)length) != 0)
        return error_set(err,
                         "%.*s is not the plan of step %" PRIu32 ".%" PRIu32
                         "; start the step with "
                         "srun --parplan, and do not set " WIRE_PLAN_VARIABLE,
                         (int)(shown < SHOWN_BYTES ? shown : SHOWN_BYTES), text, job, step);
    const char *plan = text + length;
    *ret_plan = strcmp(plan, REFUSED) == 0 ? NULL : plan;
    return 0;
}
