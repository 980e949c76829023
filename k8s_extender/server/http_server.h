/* SPDX-License-Identifier: MIT */
/*
 * http_server: a small HTTP/1.1 server on libmicrohttpd, for a table of routes. http_server.c and
 * its TLS part are the only files that include microhttpd.h and gnutls.h.
 *
 * Limits: body (413 in time, the rest drained within bounds), connections, time of a connection,
 * depth of pipelining. TLS: certificate, key and client CA from files that are read again when they
 * change (a new client CA restarts the listener); routes that need a client certificate answer 403
 * without a good one (gnutls_certificate_verify_peers2, expiry included), the others to everybody.
 */
#ifndef K8S_EXTENDER_SERVER_HTTP_SERVER_H
#define K8S_EXTENDER_SERVER_HTTP_SERVER_H

#include "base/error.h"
#include "base/text_buffer.h"
#include <stdbool.h>
#include <stdint.h>

struct http_request {
    const char *method, *path;
    const char *body; /* NUL-terminated; NULL: none */
    size_t body_bytes;
    const char *peer; /* the client certificate's common name; NULL: none or not asked */
};

struct http_answer {
    unsigned status;
    const char *content_type; /* static text; NULL: "text/plain; charset=utf-8" */
    bool close;               /* Connection: close */
    struct text_buffer body;
};

/* Runs on a thread of the server. Whatever it does not set is 200 and an empty body. */
typedef void (*http_handler_fn)(void *context, const struct http_request *request,
                                struct http_answer *answer);

struct http_route {
    const char *method, *path; /* whole path */
    http_handler_fn handler;
    bool open;                 /* answers without a client certificate */
    size_t body_maximum_bytes; /* 0: none is taken */
};

struct http_server_settings {
    const char *address;                                      /* "127.0.0.1" */
    uint16_t port;                                            /* 0: any; http_server_port tells */
    const char *certificate_file, *key_file, *client_ca_file; /* all or none: TLS */
    unsigned connections_maximum;                             /* 256 */
    unsigned idle_seconds;                                    /* 30 */
    /* Seen once for each request, for metrics; or NULL. */
    void (*observe)(void *context, const struct http_route *route, unsigned status, double seconds);
};

struct http_server;

struct http_server *http_server_start(const struct http_server_settings *settings,
                                      const struct http_route *routes, size_t route_count,
                                      void *context, struct error_info *err);
uint16_t http_server_port(const struct http_server *server);
/* Whether the files changed, and if so uses them; called every few seconds. -1: the new ones cannot
 * be used, the old ones stay. */
int http_server_reload(struct http_server *server, bool *ret_changed, struct error_info *err);
/* No new requests; those under way are answered (at most that long); frees. */
void http_server_stop(struct http_server *server, unsigned drain_milliseconds);

#endif
