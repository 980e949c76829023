/* SPDX-License-Identifier: MIT */
/*
 * api_client: requests to the Kubernetes API over libcurl, one client for each thread: HTTP/1.1,
 * keep-alive, TLS with the cluster's CA, the service account's token (read again every minute and
 * once after a 401) or a client certificate. Files of TLS and a kubeconfig that changed on disk are
 * used from the next request on, the latter's credentials alone: its context and server stay those
 * of the start. No redirect is followed; no proxy of the environment is asked for a server on
 * this machine; a token goes over plain http only to this machine. api_client.c is the only file
 * that includes curl.h. The program ignores SIGPIPE.
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
#define API_CONNECT_SECONDS 5u
#define API_REQUEST_SECONDS 10u
#define API_STOP_MILLISECONDS 500u /* that a request may still take once the client is stopped */
#define API_TOKEN_SECONDS 60u      /* before a token file is read again */
#define API_TOKEN_MAXIMUM_BYTES ((size_t)64 << 10)
#define API_CONFIG_FILES 3u
#define API_KUBECONFIG_MAXIMUM_BYTES ((size_t)4 << 20)

struct api_config {
    const char *server;                      /* "https://127.0.0.1:6443" */
    const char *ca_file;                     /* or NULL: the machine's */
    const char *token_file;                  /* or NULL; before token */
    const char *token;                       /* or NULL; fixed */
    const char *certificate_file, *key_file; /* or NULL */
    bool insecure;                           /* a kubeconfig's insecure-skip-tls-verify */
    const char *namespace;                   /* the pod's own, for the Lease; "default" outside */
    const char *user_agent;
    const char *kubeconfig, *context; /* where it comes from; or NULL */
    struct arena *arena;              /* all of it, the struct too; NULL: the caller's */
    int files[API_CONFIG_FILES];      /* that hold *-data in memory; closed by api_config_free */
    unsigned file_count;
};

/* folder: "/var/run/secrets/kubernetes.io/serviceaccount". Reads KUBERNETES_SERVICE_HOST and _PORT
 * through `get` (getenv). */
struct api_config *api_config_in_cluster(const char *folder, const char *(*get)(const char *name),
                                         struct error_info *err);
/* The current context. *-data members (base64) are written to files of `folder` (which exists) that
 * only the owner may read; folder NULL: they stay in memory (memfd) until api_config_free, and no
 * client may outlive the config; paths are relative to the kubeconfig's folder. Programs and
 * plugins that make credentials (exec, auth-provider), passwords, impersonation, proxies and
 * tls-server-name are refused, with what to use instead. */
struct api_config *api_config_kubeconfig(const char *path, const char *folder,
                                         struct error_info *err);
/* The same for a context by name, whatever is the current one by now. */
struct api_config *api_config_kubeconfig_context(const char *path, const char *context,
                                                 const char *folder, struct error_info *err);
void api_config_free(struct api_config *config);
/* Before threads begin: a server that is no URL, files that are not there or are not PEM, a file
 * without a token: one line. Later a file that is bad for a while is waited for. */
int api_config_check(const struct api_config *config, struct error_info *err);

enum api_pem { API_PEM_CERTIFICATE, API_PEM_KEY };
extern const char *const api_pem_words[];
bool api_text_is_pem(const char *text, enum api_pem kind); /* at least one of them */
/* What a header can carry: printable ASCII without blanks, not empty. */
bool api_token_is_clean(const char *token);
/* The file's first word (memory_free). NULL: it has no token, or cannot be read. */
char *api_token_read(const char *path, struct error_info *err);

struct api_client; /* one thread's */

struct api_request {
    const char *method;       /* "GET", "PATCH" */
    const char *path;         /* "/api/v1/nodes"; with its query, escaped by the caller */
    const char *content_type; /* or NULL */
    const char *body;         /* or NULL */
    size_t body_bytes;
    unsigned timeout_seconds; /* of the whole request; 0: API_REQUEST_SECONDS, a stream's: none */
};

struct api_answer {
    long status; /* HTTP; 0: there was none */
    char *body;  /* text; memory_free */
    size_t body_bytes;
    unsigned retry_after_seconds; /* of a 429 or 503; 0: not said */
};

/* The config is copied. Refused: a server that is no http(s) URL, a token over plain http. */
struct api_client *api_client_create(const struct api_config *config, struct error_info *err);
void api_client_free(struct api_client *client);
/* A flag that another thread may set, asked several times a second: a request under way then gets
 * API_STOP_MILLISECONDS more, one that begins later is not sent; both -1. NULL: none. */
void api_client_stop_with(struct api_client *client, const bool *stop);
/* -1: no answer (refused, timed out, TLS, too large), with the reason; any HTTP status is an
 * answer. */
int api_client_send(struct api_client *client, const struct api_request *request,
                    struct api_answer *ret, struct error_info *err);
void api_answer_done(struct api_answer *answer);
/* "409 Conflict: pods \"x\" …": the Status object's message in one line. */
void api_answer_words(const struct api_answer *answer, char *ret, size_t bytes);
/* The code of a Status object ({"kind": "Status", "code": 410}), 0 where it is none. */
long api_status_code(const char *text, size_t bytes);

/* The body piece by piece, first once with count 0 when the status is known; a receiver that
 * returns -1 ends the request (no error of the client: 0). must_end is asked several times a
 * second, and ends it too: 0. Nothing received for idle_seconds: -1. must_end may be NULL,
 * idle_seconds 0: no limit. */
typedef int (*api_receive_fn)(void *context, long status, const char *bytes, size_t count);
typedef bool (*api_end_fn)(void *context);
int api_client_stream(struct api_client *client, const struct api_request *request,
                      unsigned idle_seconds, api_end_fn must_end, api_receive_fn receive,
                      void *context, long *ret_status, struct error_info *err);
/* Retry-After of the last answer, sent or streamed; 0: not said. */
unsigned api_client_retry_after(const struct api_client *client);
/* A text as one part of a path or query; into the arena. NULL: out of memory. */
const char *api_escape(struct arena *arena, const char *text);

DEFINE_CLEANUP(api_config);
DEFINE_CLEANUP(api_client);
DEFINE_CLEANUP_DONE(api_answer);

#endif
