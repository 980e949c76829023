/* SPDX-License-Identifier: MIT */
/*
 * api_client: requests to the Kubernetes API over libcurl, one client for each thread: keep-alive,
 * TLS with the cluster's CA, the service account's token (read again every minute and after a 401)
 * or a client certificate. api_client.c is the only file that includes curl.h.
 *
 * api_config comes from the pod's own mounts (KUBERNETES_SERVICE_HOST …), from a kubeconfig file's
 * current context, or from options.
 */
#ifndef K8S_EXTENDER_API_API_CLIENT_H
#define K8S_EXTENDER_API_API_CLIENT_H

#include "base/arena.h"
#include "base/error.h"
#include "base/text_buffer.h"
#include <stdbool.h>
#include <stdint.h>

#define API_ANSWER_MAXIMUM_BYTES ((size_t)4 << 20) /* of one answer that is kept whole */

struct api_config {
    const char *server;                      /* "https://127.0.0.1:6443" */
    const char *ca_file;                     /* or NULL: the machine's */
    const char *token_file;                  /* or NULL */
    const char *token;                       /* or NULL; fixed */
    const char *certificate_file, *key_file; /* or NULL */
    bool insecure;                           /* a kubeconfig's insecure-skip-tls-verify */
    const char *namespace;                   /* the pod's own, for the Lease; "default" outside */
    const char *user_agent;
    struct arena *arena;
};

/* folder: "/var/run/secrets/kubernetes.io/serviceaccount". Reads KUBERNETES_SERVICE_HOST and _PORT
 * through `get` (getenv). */
struct api_config *api_config_in_cluster(const char *folder, const char *(*get)(const char *name),
                                         struct error_info *err);
/* *-data members (base64) are written to files of `folder` that only the owner may read. */
struct api_config *api_config_kubeconfig(const char *path, const char *folder,
                                         struct error_info *err);
void api_config_free(struct api_config *config);

struct api_client; /* one thread's */

struct api_request {
    const char *method;       /* "GET", "PATCH" */
    const char *path;         /* "/api/v1/nodes"; with its query, escaped by the caller */
    const char *content_type; /* or NULL */
    const char *body;         /* or NULL */
    size_t body_bytes;
    unsigned timeout_seconds; /* of the whole request; 0: 10 */
};

struct api_answer {
    long status; /* HTTP; 0: there was none */
    char *body;  /* text; memory_free */
    size_t body_bytes;
    unsigned retry_after_seconds; /* of a 429 or 503; 0: not said */
};

struct api_client *api_client_create(const struct api_config *config, struct error_info *err);
void api_client_free(struct api_client *client);
/* -1: no answer (refused, timed out, TLS), with the reason; any HTTP status is an answer. */
int api_client_send(struct api_client *client, const struct api_request *request,
                    struct api_answer *ret, struct error_info *err);
void api_answer_done(struct api_answer *answer);
/* "409 Conflict: pods \"x\" …": the Status object's message in one line. */
void api_answer_words(const struct api_answer *answer, char *ret, size_t bytes);
/* The body piece by piece; a receiver that returns -1 ends the request (no error of the client).
 * Nothing received for idle_seconds, or *stop set, ends it too. */
typedef int (*api_receive_fn)(void *context, long status, const char *bytes, size_t count);
int api_client_stream(struct api_client *client, const struct api_request *request,
                      unsigned idle_seconds, const bool *stop, api_receive_fn receive,
                      void *context, long *ret_status, struct error_info *err);
/* A text as one part of a path or query; into the arena. */
const char *api_escape(struct arena *arena, const char *text);

DEFINE_CLEANUP(api_config);
DEFINE_CLEANUP(api_client);
DEFINE_CLEANUP_DONE(api_answer);

#endif
