/* SPDX-License-Identifier: MIT */
/*
 * loopback_peer: a plain HTTP/1.1 client of a server on this machine, one request after the other
 * on a connection, for tests and benches. Nothing blocks for longer than LOOPBACK_SECONDS.
 */
#ifndef TESTS_SUPPORT_LOOPBACK_PEER_H
#define TESTS_SUPPORT_LOOPBACK_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOOPBACK_SECONDS 10

/* A socket, without Nagle's delay as Go's are; -1: nobody listens there. */
int loopback_connect(uint16_t port);
/* Whether all was taken. No SIGPIPE. */
bool loopback_send(int fd, const char *bytes, size_t count);
/* One answer of as many bytes as its Content-Length says, else until the end, into at most
 * answer_bytes with the NUL. Returns its bytes with the head; 0: nothing came. stream: what is
 * behind it is another answer, which stays unread; else the head is read in large steps. */
size_t loopback_receive(int fd, char *answer, size_t answer_bytes, bool stream);
/* Of an answer; 0: it is none. */
unsigned loopback_status(const char *answer);
const char *loopback_body(const char *answer);
/* "POST path …" with the JSON body, one text (memory_free); NULL: out of memory. */
char *loopback_post(const char *path, const char *body, size_t body_bytes, size_t *ret_bytes);

double loopback_now_microseconds(void); /* of a clock that only goes forward */

#endif
