/* SPDX-License-Identifier: MIT */
#include "k8s_extender/api/request_text.h"

#include <string.h>
#include <time.h>

int request_set_path(struct api_request *request, struct arena *arena, const char *prefix,
                     const char *namespace, const char *kind, const char *name,
                     struct error_info *err)
{
    const char *where = api_escape(arena, namespace);
    const char *what = name ? api_escape(arena, name) : "";
    const char *path = where && what ? arena_format(arena, "%s/namespaces/%s/%s%s%s", prefix, where,
                                                    kind, name ? "/" : "", what)
                                     : NULL;
    if (!path)
        return error_set_memory(err);
    request->path = path;
    return 0;
}

const char *request_api_version(const char *kind)
{
    static const struct {
        const char *kind, *api_version;
    } kinds[] = {
        {"Job", "batch/v1"},
        {"JobSet", "jobset.x-k8s.io/v1alpha2"},
        {"PyTorchJob", "kubeflow.org/v1"},
        {"StatefulSet", "apps/v1"},
    };
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (strcmp(kinds[i].kind, kind) == 0)
            return kinds[i].api_version;
    return NULL;
}

int request_set_body(struct api_request *request, struct arena *arena,
                     const struct json_value *tree, struct error_info *err)
{
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, REQUEST_MAXIMUM_BYTES);
    if (json_value_write(tree, JSON_STYLE_COMPACT, &text, err) < 0)
        return -1;
    const char *body = arena_copy_text(arena, text_buffer_text(&text));
    if (!body)
        return error_set_memory(err);
    request->body = body;
    request->body_bytes = text.length;
    return 0;
}

void request_time(uint64_t microseconds, char ret[REQUEST_TIME_BYTES])
{
    time_t seconds = (time_t)(microseconds / 1000000 % UINT64_C(253402300800)); /* year 9999 */
    struct tm parts;
    gmtime_r(&seconds, &parts);
    size_t length = strftime(ret, REQUEST_TIME_BYTES, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(ret + length, REQUEST_TIME_BYTES - length, ".%06uZ",
             (unsigned)(microseconds % 1000000));
}
