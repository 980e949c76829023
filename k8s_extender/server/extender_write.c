/* SPDX-License-Identifier: MIT */
#include "k8s_extender/server/extender_wire.h"
#include "k8s_extender/server/wire_json.h"
#include "k8s_extender/server/wire_scan.h"
#include <string.h>

#define AROUND_BYTES 16u /* of what stands beside a name */

/* Which names of a filter's question pass. */
static bool passes(const struct gang_answer *answer, size_t index)
{
    switch (answer->kind) {
    case ANSWER_ALL:
        return true;
    case ANSWER_ONE:
        return index == answer->node;
    case ANSWER_SOME:
        return answer->passes[index];
    default:
        return false;
    }
}

static size_t count_passing(const struct extender_question *question,
                            const struct gang_answer *answer)
{
    size_t count = 0;
    for (size_t i = 0; i < question->name_count; i++)
        count += passes(answer, i);
    return count;
}

static char *put(char *end, const char *text, size_t maximum)
{
    size_t bytes = strnlen(text, maximum);
    memcpy(end, text, bytes);
    return end + bytes;
}

/* What stands before it, "name", and what stands behind it, as one piece: there are thousands.
 * Names are plain (wire_scan.h): nothing in them needs an escape. */
static void add_name(struct text_buffer *out, const char *before, const char *name,
                     const char *behind)
{
    char piece[WIRE_NAME_MAXIMUM_BYTES + 2 * AROUND_BYTES + 2];
    char *end = put(piece, before, AROUND_BYTES);
    *end++ = '"';
    end = put(end, name, WIRE_NAME_MAXIMUM_BYTES);
    *end++ = '"';
    end = put(end, behind, AROUND_BYTES);
    text_buffer_add_bytes(out, piece, (size_t)(end - piece));
}

static void add_passing(const struct extender_question *question, const struct gang_answer *answer,
                        struct text_buffer *out)
{
    bool first = true;
    for (size_t i = 0; i < question->name_count; i++) {
        if (!passes(answer, i))
            continue;
        add_name(out, first ? "" : ",", question->names[i], "");
        first = false;
    }
}

static void add_refused(const struct extender_question *question, const struct gang_answer *answer,
                        size_t text_bytes, struct text_buffer *out)
{
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, ANSWER_TEXT_BYTES * 8);
    wire_json_add_cut(&text, answer->text, text_bytes);
    bool first = true;
    for (size_t i = 0; i < question->name_count; i++) {
        if (passes(answer, i))
            continue;
        add_name(out, first ? "" : ",", question->names[i], ":");
        text_buffer_add_bytes(out, text_buffer_text(&text), text.length);
        first = false;
    }
    out->failed |= text_buffer_failed(&text);
}

/* Older schedulers know FailedNodes alone; newer ones do not try to evict for what stands in the
 * other too. */
static void write_result(const struct extender_question *question, const struct gang_answer *answer,
                         size_t text_bytes, struct text_buffer *out)
{
    text_buffer_add_text(out, "{\"Nodes\":null,\"NodeNames\":[");
    add_passing(question, answer, out);
    text_buffer_add_text(out, "],\"FailedNodes\":{");
    if (text_bytes > 0)
        add_refused(question, answer, text_bytes, out);
    text_buffer_add_text(out, "},\"FailedAndUnresolvableNodes\":{");
    if (text_bytes > 0)
        add_refused(question, answer, text_bytes, out);
    text_buffer_add_text(out, "},\"Error\":\"\"}");
}

void extender_write_filter(const struct extender_question *question,
                           const struct gang_answer *answer, struct text_buffer *out)
{
    size_t passing = count_passing(question, answer);
    size_t refused = question->name_count - passing;
    bool native = question->native;
    bool many = refused > WIRE_SHORT_LIST;
    if (!native && passing == 0 && (answer->whole_pod || many))
        extender_write_error(answer->text, out);
    else if (!many)
        write_result(question, answer, ANSWER_TEXT_BYTES, out);
    else /* where some pass, nobody reads why the others do not */
        write_result(question, answer, passing > 0 ? 0 : WIRE_SHORT_TEXT_BYTES, out);
}

void extender_write_error(const char *text, struct text_buffer *out)
{
    text_buffer_add_text(out, "{\"Nodes\":null,\"NodeNames\":[],\"FailedNodes\":{},"
                              "\"FailedAndUnresolvableNodes\":{},\"Error\":");
    wire_json_add_text(out, text && text[0] ? text : "parplan: refused without a reason");
    text_buffer_add_text(out, "}");
}

void extender_write_scores(const struct extender_question *question, const uint8_t *scores,
                           struct text_buffer *out)
{
    static const char *const numbers[] = {",\"Score\":0}", ",\"Score\":1}", ",\"Score\":2}",
                                          ",\"Score\":3}", ",\"Score\":4}", ",\"Score\":5}",
                                          ",\"Score\":6}", ",\"Score\":7}", ",\"Score\":8}",
                                          ",\"Score\":9}", ",\"Score\":10}"};
    text_buffer_add_text(out, "[");
    for (size_t i = 0; i < question->name_count; i++) {
        size_t score = scores[i] < COUNT_OF(numbers) ? scores[i] : COUNT_OF(numbers) - 1;
        add_name(out, i ? ",{\"Host\":" : "{\"Host\":", question->names[i], numbers[score]);
    }
    text_buffer_add_text(out, "]");
}

static void add_victims(const char *before, const struct preemption_victims *victims,
                        struct text_buffer *out)
{
    add_name(out, before, victims->node, ":{\"Pods\":[");
    for (size_t i = 0; i < victims->uid_count; i++) {
        text_buffer_add_text(out, i ? ",{\"UID\":" : "{\"UID\":");
        wire_json_add_text(out, victims->uids[i]);
        text_buffer_add_bytes(out, "}", 1);
    }
    text_buffer_add(out, "],\"NumPDBViolations\":%lld}", (long long)victims->violations);
}

void extender_write_victims(const struct preemption_question *question, const bool *allowed,
                            struct text_buffer *out)
{
    bool first = true;
    text_buffer_add_text(out, "{\"NodeNameToMetaVictims\":{");
    for (size_t i = 0; i < question->node_count; i++) {
        if (!allowed[i])
            continue;
        add_victims(first ? "" : ",", &question->nodes[i], out);
        first = false;
    }
    text_buffer_add_text(out, "}}");
}

void extender_write_binding(const char *error, struct text_buffer *out)
{
    text_buffer_add_text(out, "{\"Error\":");
    wire_json_add_text(out, error);
    text_buffer_add_text(out, "}");
}
