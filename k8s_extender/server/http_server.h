/* SPDX-License-Identifier: MIT */
/*
 * http_server: a small HTTP/1.1 server on libmicrohttpd, for a table of routes. http_server.c and
 * http_exchange are the only files that include microhttpd.h, http_tls.c the only one with
 * gnutls.h.
 *
 * Every connection has a thread of its own: a slow handler or a slow peer holds up nobody else.
 * The threads take no signals, and no write raises SIGPIPE.
 *
 * Limits: the body of each route, by Content-Length before memory is taken (413; a client that
 * waits for "100 Continue" gets it at once, for others up to 32 MiB are read and dropped first),
 * the bodies of all requests together, those of open routes apart (503), connections (at most half
 * of the descriptors that the process may open; of one address a quarter, on loopback all), silence
 * between two bytes, the time of a request (408) and of taking an answer. One request of a
 * connection at a time: what is pipelined waits unread. 404, 405, 400 and 403 are one line of text;
 * what is no HTTP at all is answered by libmicrohttpd's own page and closed.
 *
 * TLS (1.2 and later): certificate, key and client CA from files that are read again when they
 * change, all three together; connections under the old ones end with their next answer, or after
 * ten seconds. Routes that need a client certificate answer 403 without a good one
 * (gnutls_certificate_verify_peers, expiry included, again every minute), the others to everybody.
 */
#ifndef K8S_EXTENDER_SERVER_HTTP_SERVER_H
#define K8S_EXTENDER_SERVER_HTTP_SERVER_H

#include "base/error.h"
#include "base/text_buffer.h"
#include <stdbool.h>
#include <stdint.h>

struct http_request {
    const char *method, *path;
    const char *body; /* NUL-terminated, "" where none came; NULL: the route takes none */
    size_t body_bytes;
    const char *peer; /* the client certificate's common name; NULL: none or not asked */
};

struct http_answer {
    unsigned status;
    const char *content_type; /* static text; NULL: "text/plain; charset=utf-8" */
    bool close;               /* Connection: close */
    struct text_buffer body;
};

/* Runs on a thread of the connection, several at once. Whatever it does not set is 200 and an
 * empty body; a body that could not be written (memory) becomes 500. It has to return by itself:
 * http_server_stop waits for it. */
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
    unsigned request_seconds; /* to send a request whole, or take an answer: 10 */
    unsigned reload_seconds;  /* before files that could not be used are tried again: 60 */
    /* Seen once for each answer, on its thread, for metrics; route NULL: none was found, or the
     * request was too late (408, 0 seconds). seconds: from the header until the answer. NULL: none
     * is told. */
    void (*observe)(void *context, const struct http_route *route, unsigned status, double seconds);
};

struct http_server;

/* A number of 0 in the settings stands for the one that is written beside it. The texts, routes and
 * context stay the caller's and must outlive the server. */
struct http_server *http_server_start(const struct http_server_settings *settings,
                                      const struct http_route *routes, size_t route_count,
                                      void *context, struct error_info *err);
uint16_t http_server_port(const struct http_server *server);
/* Whether the files changed, and if so uses them; called every few seconds, by one thread. -1: the
 * new ones cannot be used, the old ones stay; that is said once for each state of the files and
 * each reason. They are tried again, also where they stay the same: a certificate that is not valid
 * yet becomes so. */
int http_server_reload(struct http_server *server, bool *ret_changed, struct error_info *err);
/* No new requests (503 on connections that are open); those under way are answered (at most that
 * long), then all connections end; frees. NULL is fine. */
void http_server_stop(struct http_server *server, unsigned drain_milliseconds);

#endif
