/* SPDX-License-Identifier: MIT */
/*
 * fake_api: an HTTP/1.1 peer on loopback that answers as badly as a test wants: it resets, stops in
 * the middle, dawdles or says nothing. One connection at a time, on a thread of its own, which
 * allocates nothing of ours (torture counts allocations of one thread).
 */
#ifndef TESTS_SUPPORT_FAKE_API_H
#define TESTS_SUPPORT_FAKE_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_API_REQUEST_BYTES 16384u
#define FAKE_API_URL_BYTES 64u

struct fake_exchange {
    int fd;
    unsigned connection, number;          /* both from 0; number counts all requests */
    char request[FAKE_API_REQUEST_BYTES]; /* its first line and headers */
    char body[FAKE_API_REQUEST_BYTES];
    bool close; /* set it to end the connection after this exchange */
    const bool *stopping;
};

typedef void (*fake_api_fn)(void *context, struct fake_exchange *exchange);

struct fake_api;

/* NULL: no socket or thread. */
struct fake_api *fake_api_start(fake_api_fn answer, void *context);
void fake_api_stop(struct fake_api *api);
/* "http://127.0.0.1:41234" */
void fake_api_url(const struct fake_api *api, char ret[FAKE_API_URL_BYTES]);

/* Raw bytes; false: the other side has gone. */
bool fake_api_bytes(struct fake_exchange *exchange, const char *bytes, size_t count);
bool fake_api_text(struct fake_exchange *exchange, const char *text);
/* A whole answer. headers: lines that end in "\r\n", or "". */
void fake_api_answer(struct fake_exchange *exchange, unsigned status, const char *headers,
                     const char *body);
/* An answer in chunks: its head, a chunk, the end. */
void fake_api_begin(struct fake_exchange *exchange);
void fake_api_chunk(struct fake_exchange *exchange, const char *text);
void fake_api_end(struct fake_exchange *exchange);
/* RST instead of an orderly end. */
void fake_api_reset(struct fake_exchange *exchange);
/* Until the other side leaves, the test ends, or that long. */
void fake_api_wait(struct fake_exchange *exchange, unsigned milliseconds);

#endif
