/* SPDX-License-Identifier: MIT */
/*
 * http_tls: the files of a TLS server, read and judged together, and the check of a client's
 * certificate. http_tls.c is the only file of the product that includes gnutls.h.
 */
#ifndef K8S_EXTENDER_SERVER_HTTP_TLS_H
#define K8S_EXTENDER_SERVER_HTTP_TLS_H

#include "base/cleanup.h"
#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_TLS_FILE_MAXIMUM_BYTES ((size_t)1 << 20)
#define HTTP_TLS_AUTHORITIES_MAXIMUM 256u
#define HTTP_TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:%SERVER_PRECEDENCE"

enum http_tls_file { TLS_CERTIFICATE, TLS_KEY, TLS_CLIENT_CA, TLS_FILE_COUNT };

struct http_tls {
    char *texts[TLS_FILE_COUNT]; /* PEM */
};

/* What tells that a file is another one: of what it is, after all links. */
struct http_tls_stamp {
    struct {
        uint64_t device, inode, bytes;
        int64_t seconds, nanoseconds;
    } files[TLS_FILE_COUNT];
};
int http_tls_stamp(const char *const paths[TLS_FILE_COUNT], struct http_tls_stamp *ret,
                   struct error_info *err);

/* Errors: a file that cannot be read, is no PEM, a certificate that has expired or is not valid
 * yet, a key that belongs to another certificate, a client CA without one valid certificate. */
struct http_tls *http_tls_load(const char *const paths[TLS_FILE_COUNT], struct error_info *err);
void http_tls_free(struct http_tls *tls);
bool http_tls_equal(const struct http_tls *left, const struct http_tls *right);

/* Whether the peer of the session (gnutls_session_t) showed a certificate that the server's
 * client CA signed and that is valid now; its common name into `peer`, else the reason into
 * `why`. */
bool http_tls_check_peer(void *session, char *peer, size_t peer_bytes, char *why, size_t why_bytes);

DEFINE_CLEANUP(http_tls);

#endif
