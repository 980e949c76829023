/* SPDX-License-Identifier: MIT */
/*
 * request_text: paths, bodies and times of requests, in the caller's arena. Names go in escaped.
 */
#ifndef K8S_EXTENDER_API_REQUEST_TEXT_H
#define K8S_EXTENDER_API_REQUEST_TEXT_H

#include "base/json_document.h"
#include "k8s_extender/api/api_client.h"

#define REQUEST_MAXIMUM_BYTES ((size_t)1 << 20)

/* "<prefix>/namespaces/<namespace>/<kind>/<name>": prefix "/api/v1" or "/apis/<group>/<version>".
 * name NULL: the collection. */
int request_set_path(struct api_request *request, struct arena *arena, const char *prefix,
                     const char *namespace, const char *kind, const char *name,
                     struct error_info *err);
/* Of the kinds that own gangs' pods ("batch/v1"); NULL: of another kind. */
const char *request_api_version(const char *kind);
/* The tree as the body, at most REQUEST_MAXIMUM_BYTES. */
int request_set_body(struct api_request *request, struct arena *arena,
                     const struct json_value *tree, struct error_info *err);
/* "2026-11-30T14:05:06.000007Z", from microseconds since 1970. */
#define REQUEST_TIME_BYTES 40u
void request_time(uint64_t microseconds, char ret[REQUEST_TIME_BYTES]);

#endif
