/* SPDX-License-Identifier: MIT */
#include "topology/merge/merge_state.h"
#include "base/text_buffer.h"
#include "topology/text_list.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#undef merge_add_fact /* the function itself: base/texts/packed_text.h */
#undef merge_warn
#undef merge_format

#define FACT_VALUE_BYTES 512

const char *merge_copy_text(struct merge_state *state, const char *text)
{
    return text_list_copy(state->arena, text, &state->failed);
}

void merge_add_fact(struct merge_state *state, const char *fact, const char *source,
                    const char *format, ...)
{
    if (!REMARKS_KEPT || state->node->fact_count == MERGE_MAXIMUM_FACTS)
        return;
    char value[FACT_VALUE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    text_format(value, sizeof(value), format, arguments);
    va_end(arguments);
    state->facts[state->node->fact_count++] = (struct topology_fact){
        .fact = merge_copy_text(state, fact),
        .value = merge_copy_text(state, value),
        .source = merge_copy_text(state, source),
    };
}

void merge_warn(struct merge_state *state, const char *format, ...)
{
    if (!REMARKS_KEPT || state->node->warning_count == MERGE_MAXIMUM_WARNINGS)
        return;
    char text[FACT_VALUE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    text_format(text, sizeof(text), format, arguments);
    va_end(arguments);
    state->warnings[state->node->warning_count++] = merge_copy_text(state, text);
}

const char *merge_format(struct merge_state *state, const char *format, ...)
{
    char text[FACT_VALUE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    text_format(text, sizeof(text), format, arguments);
    va_end(arguments);
    return merge_copy_text(state, text);
}

void merge_conflict(struct merge_state *state, const char *what, const char *winner,
                    const char *stands, const char *loser, const char *falls)
{
    merge_add_fact(state, "conflict", winner, "%s: %s; %s says %s", what, stands, loser, falls);
    merge_warn(state, "%s: %s says %s, %s says %s; %s stands", what, winner, stands, loser, falls,
               winner);
}

void merge_gpu_problem(struct merge_state *state, unsigned gpu, const char *text)
{
    if (!state->gpus[gpu].problem)
        state->gpus[gpu].problem = merge_copy_text(state, text);
}

void merge_gpu_finding(struct merge_state *state, unsigned gpu, const char *text)
{
    const char *before = state->gpus[gpu].problem;
    if (before && strstr(before, text))
        return;
    state->gpus[gpu].problem =
        before ? merge_format(state, "%s; %s", before, text) : merge_copy_text(state, text);
}

bool merge_counts(const struct merge_state *state, size_t e)
{
    return state->evidence[e]->gpu_count == 0 || state->gpus_known[e];
}
