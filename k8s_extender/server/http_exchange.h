/* SPDX-License-Identifier: MIT */
/*
 * http_exchange: one request and its answer, as libmicrohttpd calls for them; a part of
 * http_server. What a request's header shows to be refused is refused before any memory is taken
 * for its body. A client that waits for "100 Continue" hears at once; for one that does not, the
 * body is read and dropped within bounds, since it would not see an answer while it still sends.
 */
#ifndef K8S_EXTENDER_SERVER_HTTP_EXCHANGE_H
#define K8S_EXTENDER_SERVER_HTTP_EXCHANGE_H

#include "k8s_extender/server/http_connections.h"
#include "k8s_extender/server/http_server.h"
#include "k8s_extender/server/http_tls.h"
#include <microhttpd.h>
#include <stdatomic.h>

#define HTTP_DRAIN_MAXIMUM_BYTES ((uint64_t)32 << 20)
/* Of all requests under way; those to open routes have a share of their own, so that whoever may
 * reach the port takes no memory from the scheduler. */
#define HTTP_BODIES_MAXIMUM_BYTES ((size_t)48 << 20)
#define HTTP_OPEN_BODIES_MAXIMUM_BYTES ((size_t)8 << 20)
#define HTTP_ANSWER_MAXIMUM_BYTES ((size_t)64 << 20)
/* A connection may outlive its client's certificate by so long. */
#define HTTP_TRUST_MILLISECONDS 60000u

/* What all listeners of a server share. */
struct http_service {
    const struct http_route *routes;
    size_t route_count;
    void *context;
    void (*observe)(void *context, const struct http_route *route, unsigned status, double seconds);
    struct http_connections *connections;
    atomic_size_t body_bytes, open_body_bytes;
    atomic_bool stopping;
};

/* One start of libmicrohttpd, with its certificates. */
struct http_listener {
    struct http_service *service;
    struct MHD_Daemon *daemon;
    int fd;               /* the server's socket by a number of its own */
    struct http_tls *tls; /* NULL: plain */
    unsigned number;
    atomic_bool retired; /* another one has taken its place: connections end after their answer */
    uint64_t retired_milliseconds;
};

/* Callbacks; the closure is the listener. */
enum MHD_Result http_exchange_handle(void *listener, struct MHD_Connection *connection,
                                     const char *path, const char *method, const char *version,
                                     const char *data, size_t *bytes, void **exchange);
void http_exchange_completed(void *listener, struct MHD_Connection *connection, void **exchange,
                             enum MHD_RequestTerminationCode code);
void http_exchange_connection(void *listener, struct MHD_Connection *connection, void **context,
                              enum MHD_ConnectionNotificationCode code);
void *http_exchange_begin(void *listener, const char *target, struct MHD_Connection *connection);

#endif
