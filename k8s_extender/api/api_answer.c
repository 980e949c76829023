/* SPDX-License-Identifier: MIT */
#include "base/json_document.h"
#include "k8s_extender/api/api_client.h"

#include <string.h>

#define WORDS_OF_BODY 200 /* characters of a body that is no Status */

void api_answer_done(struct api_answer *answer)
{
    memory_free(answer->body);
    answer->body = NULL;
    answer->body_bytes = 0;
}

static struct json_value *status_parse(const char *text, size_t bytes)
{
    struct json_value *value =
        text && bytes > 0 ? json_value_parse(text, bytes, "Status", NULL) : NULL;
    const char *kind = json_value_text(json_value_get(value, "kind"));
    if (kind && strcmp(kind, "Status") == 0)
        return value;
    json_value_free(value);
    return NULL;
}

void api_answer_words(const struct api_answer *answer, char *ret, size_t bytes)
{
    CLEANUP(json_value) struct json_value *status = status_parse(answer->body, answer->body_bytes);
    const char *reason = json_value_text(json_value_get(status, "reason"));
    const char *message = json_value_text(json_value_get(status, "message"));
    if (answer->status == 0)
        snprintf(ret, bytes, "no answer");
    else if (message)
        snprintf(ret, bytes, "%ld%s%s: %s", answer->status, reason ? " " : "", reason ? reason : "",
                 message);
    else if (answer->body_bytes > 0)
        snprintf(ret, bytes, "%ld: %.*s", answer->status, WORDS_OF_BODY, answer->body);
    else
        snprintf(ret, bytes, "%ld", answer->status);
    size_t length = strlen(ret);
    while (length > 0 && (ret[length - 1] == '\n' || ret[length - 1] == '\r'))
        ret[--length] = '\0';
    error_clean_text(ret);
}

long api_status_code(const char *text, size_t bytes)
{
    CLEANUP(json_value) struct json_value *status = status_parse(text, bytes);
    uint64_t code = 0;
    json_value_unsigned(json_value_get(status, "code"), 999, &code);
    return (long)code;
}

const char *api_escape(struct arena *arena, const char *text)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
    static const char digits[] = "0123456789ABCDEF";
    char *escaped = arena_allocate_array(arena, strlen(text) + 1, 3);
    if (!escaped)
        return NULL;
    char *write = escaped;
    for (const char *read = text; *read; read++) {
        unsigned char byte = (unsigned char)*read;
        if (strchr(plain, *read)) {
            *write++ = *read;
            continue;
        }
        *write++ = '%';
        *write++ = digits[byte >> 4];
        *write++ = digits[byte & 15];
    }
    return escaped;
}
