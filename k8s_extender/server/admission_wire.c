/* SPDX-License-Identifier: MIT */
#include "k8s_extender/server/admission_wire.h"
#include "k8s_extender/server/wire_json.h"
#include <string.h>

#define API_VERSION "admission.k8s.io/v1"
#define UID_MAXIMUM_BYTES 253u
#define PATCH_MAXIMUM_BYTES ((size_t)4 << 20)

/* --- the question ----------------------------------------------------------------- */

static int object_member(const struct json_value *parent, const char *key,
                         const struct json_value **ret, struct error_info *err)
{
    if (wire_json_member(parent, key, ret, err) < 0)
        return -1;
    if (*ret && json_value_kind(*ret) != JSON_OBJECT)
        return error_set(err, "%s is no object", key);
    return 0;
}

static int read_texts(const struct json_value *request, const struct json_value *kind,
                      const struct json_value *user, struct admission_question *question,
                      struct error_info *err)
{
    const struct {
        const struct json_value *of;
        const char *key;
        const char **ret;
    } texts[] = {{request, "uid", &question->uid},
                 {request, "namespace", &question->namespace},
                 {request, "operation", &question->operation},
                 {kind, "kind", &question->kind},
                 {user, "username", &question->user}};
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        if (wire_json_text(texts[i].of, texts[i].key, texts[i].ret, err) < 0)
            return -1;
    size_t bytes = strlen(question->uid);
    if (bytes == 0 || bytes > UID_MAXIMUM_BYTES)
        return error_set(err, "uid has %zu bytes; 1 to %u are possible", bytes, UID_MAXIMUM_BYTES);
    return 0;
}

static int read_request(const struct json_value *request, struct admission_question *question,
                        struct error_info *err)
{
    const struct json_value *kind, *user;
    if (object_member(request, "kind", &kind, err) < 0 ||
        object_member(request, "userInfo", &user, err) < 0 ||
        object_member(request, "object", &question->object, err) < 0 ||
        object_member(request, "oldObject", &question->old_object, err) < 0)
        return -1;
    return read_texts(request, kind, user, question, err);
}

static int read_review(const struct json_value *review, struct admission_question *question,
                       struct error_info *err)
{
    const struct json_value *request;
    const char *version;
    if (json_value_kind(review) != JSON_OBJECT)
        return error_set(err, "the body is no JSON object");
    if (wire_json_text(review, "apiVersion", &version, err) < 0 ||
        object_member(review, "request", &request, err) < 0)
        return -1;
    if (strcmp(version, API_VERSION) != 0)
        return error_set(err, "apiVersion is '%.60s'; only " API_VERSION " is spoken", version);
    if (!request)
        return error_set(err, "there is no request");
    return read_request(request, question, err) < 0 ? error_prefix(err, "request") : 0;
}

struct admission_question *admission_question_parse(const char *text, size_t bytes,
                                                    struct error_info *err)
{
    static const char what[] = "AdmissionReview";
    if (bytes > ADMISSION_BODY_MAXIMUM_BYTES)
        return error_null(error_set(err, "%s: %zu bytes are too many; at most %zu are taken", what,
                                    bytes, ADMISSION_BODY_MAXIMUM_BYTES));
    CLEANUP(json_value)
    struct json_value *document =
        json_value_parse_within(bytes ? text : "", bytes, ADMISSION_MAXIMUM_VALUES, what, err);
    if (!document)
        return NULL;
    CLEANUP(admission_question)
    struct admission_question *question = memory_allocate(sizeof(*question));
    if (!question)
        return error_null(error_set_memory(err));
    if (read_review(document, question, err) < 0)
        return error_null(error_prefix(err, "%s", what));
    question->document = move_pointer(document);
    return move_pointer(question);
}

void admission_question_free(struct admission_question *question)
{
    if (!question)
        return;
    json_value_free(question->document);
    memory_free(question);
}

/* --- the answer ------------------------------------------------------------------- */

static void add_base64(struct text_buffer *out, const char *text, size_t bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < bytes; i += 3) {
        size_t part = bytes - i < 3 ? bytes - i : 3;
        uint32_t bits = 0;
        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 | (k < part ? (unsigned char)text[i + k] : 0);
        char group[4];
        for (size_t k = 0; k < 4; k++)
            group[k] = k <= part ? digits[bits >> (18 - 6 * k) & 0x3f] : '=';
        text_buffer_add_bytes(out, group, sizeof(group));
    }
}

static void begin_answer(const struct admission_question *question, const char *allowed,
                         struct text_buffer *out)
{
    text_buffer_add_text(out, "{\"apiVersion\":\"" API_VERSION "\",\"kind\":\"AdmissionReview\","
                              "\"response\":{\"uid\":");
    wire_json_add_text(out, question->uid);
    text_buffer_add_text(out, ",\"allowed\":");
    text_buffer_add_text(out, allowed);
}

void admission_write_allowed(const struct admission_question *question,
                             const struct json_value *patch, struct text_buffer *out)
{
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, PATCH_MAXIMUM_BYTES);
    /* A patch that lost operations to a lack of memory must not pass for an empty one. */
    if (patch && json_value_write(patch, JSON_STYLE_COMPACT, &text, NULL) < 0)
        out->failed = true;
    begin_answer(question, "true", out);
    if (json_value_count(patch) > 0) {
        text_buffer_add_text(out, ",\"patchType\":\"JSONPatch\",\"patch\":\"");
        add_base64(out, text_buffer_text(&text), text.length);
        text_buffer_add_text(out, "\"");
    }
    text_buffer_add_text(out, "}}");
}

void admission_write_denied(const struct admission_question *question, unsigned code,
                            const char *message, struct text_buffer *out)
{
    begin_answer(question, "false", out);
    text_buffer_add(out, ",\"status\":{\"code\":%u,\"message\":", code);
    wire_json_add_text(out, message);
    text_buffer_add_text(out, "}}}");
}
