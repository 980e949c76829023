/* SPDX-License-Identifier: MIT */
/*
 * tls_peer: certificates for tests, made on the spot, and a client that shows one of them.
 */
#ifndef TESTS_SUPPORT_TLS_PEER_H
#define TESTS_SUPPORT_TLS_PEER_H

#include <stddef.h>
#include <stdint.h>

struct tls_authority;

struct tls_authority *tls_authority_create(const char *name); /* NULL: failed */
void tls_authority_free(struct tls_authority *authority);
int tls_authority_write(const struct tls_authority *authority, const char *path);

struct tls_certificate {
    const char *name;                /* common name; also valid for 127.0.0.1 */
    long begin_seconds, end_seconds; /* from now; both 0: from an hour ago for a day */
    const char *purpose;             /* an OID; NULL: none is named */
};
/* Signed by the authority; folder/name.crt and folder/name.key are written. 0, or -1. */
int tls_authority_issue(const struct tls_authority *authority, const char *folder,
                        const struct tls_certificate *certificate);

/* Sends the request over TLS to 127.0.0.1 and reads until the end, without judging the server;
 * certificate_path NULL: shows none, else it shows that one, whatever the server would like.
 * server: the server's common name. -1: no connection, or the handshake failed. */
int tls_request(uint16_t port, const char *certificate_path, const char *key_path,
                const char *request, char *answer, size_t answer_bytes, char *server,
                size_t server_bytes);

#endif
