/* SPDX-License-Identifier: MIT */
/*
 * http_connections: the open connections of an http_server and when each is ended: a peer that
 * sends one byte a second never is idle, so that what a request may take in all is watched here,
 * by a thread. Thread safe.
 */
#ifndef K8S_EXTENDER_SERVER_HTTP_CONNECTIONS_H
#define K8S_EXTENDER_SERVER_HTTP_CONNECTIONS_H

#include "base/cleanup.h"
#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum connection_state {
    CONNECTION_IDLE,     /* between two requests */
    CONNECTION_READING,  /* a request has begun */
    CONNECTION_WORKING,  /* its handler runs: no deadline */
    CONNECTION_ANSWERING /* the answer is being sent */
};

#define CONNECTION_PEER_BYTES 256u
#define CONNECTION_WHY_BYTES 256u

struct http_connection {
    int fd;
    bool open;
    bool tls;
    unsigned listener; /* whose it is: http_server starts another one for new certificates */
    enum connection_state state;
    uint64_t deadline_milliseconds; /* 0: none */
    /* Of the client certificate; used by the connection's own thread alone. */
    bool checked, trusted;
    uint64_t checked_milliseconds;
    char peer[CONNECTION_PEER_BYTES];
    char why[CONNECTION_WHY_BYTES];
};

struct http_connections_settings {
    size_t maximum;
    unsigned idle_milliseconds;
    unsigned request_milliseconds; /* to send a request whole; and to take its answer */
    /* A request was given up, answered 408. */
    void (*late)(void *context);
    void *context;
};

struct http_connections;

struct http_connections *http_connections_create(const struct http_connections_settings *settings,
                                                 struct error_info *err);
void http_connections_free(struct http_connections *connections); /* all are closed by then */

/* NULL: there are `maximum` already. */
struct http_connection *http_connections_open(struct http_connections *connections, int fd,
                                              bool tls, unsigned listener);
/* Before its file descriptor is closed. */
void http_connections_close(struct http_connections *connections,
                            struct http_connection *connection);
void http_connections_enter(struct http_connections *connections,
                            struct http_connection *connection, enum connection_state state);

size_t http_connections_count(struct http_connections *connections, unsigned listener);
/* Waits until none is between the begin of a request and the end of its answer, at most that
 * long. */
void http_connections_drain(struct http_connections *connections, unsigned milliseconds);
/* Ends those of listeners up to that one, so that their threads return. */
void http_connections_shut(struct http_connections *connections, unsigned listener);

uint64_t http_now_milliseconds(void); /* of a clock that only goes forward */

DEFINE_CLEANUP(http_connections);

#endif
