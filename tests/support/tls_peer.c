/* SPDX-License-Identifier: MIT */
#include "tests/support/tls_peer.h"
#include "base/memory.h"
#include "base/text_file.h"
#include "tests/support/loopback_peer.h"
#include <arpa/inet.h>
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PATH_BYTES 512u
#define HOUR 3600
#define DAY (24 * HOUR)

struct tls_authority {
    gnutls_x509_privkey_t key;
    gnutls_x509_crt_t certificate;
};

static unsigned char next_serial = 1;

static int make_key(gnutls_x509_privkey_t *ret)
{
    if (gnutls_x509_privkey_init(ret) < 0)
        return -1;
    return gnutls_x509_privkey_generate(*ret, GNUTLS_PK_ECDSA,
                                        GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0) < 0
               ? -1
               : 0;
}

static int begin_certificate(gnutls_x509_crt_t *ret, gnutls_x509_privkey_t key, const char *name,
                             time_t begin, time_t end)
{
    unsigned char serial[] = {1, next_serial++};
    if (gnutls_x509_crt_init(ret) < 0)
        return -1;
    if (gnutls_x509_crt_set_version(*ret, 3) < 0 || gnutls_x509_crt_set_key(*ret, key) < 0 ||
        gnutls_x509_crt_set_serial(*ret, serial, sizeof(serial)) < 0 ||
        gnutls_x509_crt_set_activation_time(*ret, begin) < 0 ||
        gnutls_x509_crt_set_expiration_time(*ret, end) < 0 ||
        gnutls_x509_crt_set_dn_by_oid(*ret, GNUTLS_OID_X520_COMMON_NAME, 0, name,
                                      (unsigned)strlen(name)) < 0)
        return -1;
    return 0;
}

struct tls_authority *tls_authority_create(const char *name)
{
    struct tls_authority *authority = memory_allocate(sizeof(*authority));
    time_t now = time(NULL);
    if (!authority)
        return NULL;
    if (make_key(&authority->key) == 0 &&
        begin_certificate(&authority->certificate, authority->key, name, now - HOUR, now + DAY) ==
            0 &&
        gnutls_x509_crt_set_ca_status(authority->certificate, 1) == 0 &&
        gnutls_x509_crt_set_key_usage(authority->certificate, GNUTLS_KEY_KEY_CERT_SIGN) == 0 &&
        gnutls_x509_crt_sign2(authority->certificate, authority->certificate, authority->key,
                              GNUTLS_DIG_SHA256, 0) == 0)
        return authority;
    tls_authority_free(authority);
    return NULL;
}

void tls_authority_free(struct tls_authority *authority)
{
    if (!authority)
        return;
    if (authority->certificate)
        gnutls_x509_crt_deinit(authority->certificate);
    if (authority->key)
        gnutls_x509_privkey_deinit(authority->key);
    memory_free(authority);
}

static int write_certificate(gnutls_x509_crt_t certificate, const char *path)
{
    gnutls_datum_t text;
    if (gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_PEM, &text) < 0)
        return -1;
    int result = text_file_write(path, (const char *)text.data, text.size, 0600, NULL);
    gnutls_free(text.data);
    return result;
}

static int write_key(gnutls_x509_privkey_t key, const char *path)
{
    gnutls_datum_t text;
    if (gnutls_x509_privkey_export2(key, GNUTLS_X509_FMT_PEM, &text) < 0)
        return -1;
    int result = text_file_write(path, (const char *)text.data, text.size, 0600, NULL);
    gnutls_free(text.data);
    return result;
}

int tls_authority_write(const struct tls_authority *authority, const char *path)
{
    return write_certificate(authority->certificate, path);
}

static int finish_certificate(const struct tls_authority *authority, gnutls_x509_crt_t certificate,
                              const struct tls_certificate *wish, const char *path)
{
    struct in_addr address = {.s_addr = htonl(INADDR_LOOPBACK)};
    if (gnutls_x509_crt_set_subject_alt_name(certificate, GNUTLS_SAN_IPADDRESS, &address,
                                             sizeof(address), GNUTLS_FSAN_SET) < 0)
        return -1;
    if (wish->purpose && gnutls_x509_crt_set_key_purpose_oid(certificate, wish->purpose, 0) < 0)
        return -1;
    if (gnutls_x509_crt_sign2(certificate, authority->certificate, authority->key,
                              GNUTLS_DIG_SHA256, 0) < 0)
        return -1;
    return write_certificate(certificate, path);
}

int tls_authority_issue(const struct tls_authority *authority, const char *folder,
                        const struct tls_certificate *wish)
{
    char certificate_path[PATH_BYTES], key_path[PATH_BYTES];
    gnutls_x509_privkey_t key = NULL;
    gnutls_x509_crt_t certificate = NULL;
    bool usual = wish->begin_seconds == 0 && wish->end_seconds == 0;
    time_t now = time(NULL);
    int result = -1;
    snprintf(certificate_path, sizeof(certificate_path), "%s/%s.crt", folder, wish->name);
    snprintf(key_path, sizeof(key_path), "%s/%s.key", folder, wish->name);
    if (make_key(&key) == 0 &&
        begin_certificate(&certificate, key, wish->name,
                          now + (usual ? -HOUR : wish->begin_seconds),
                          now + (usual ? DAY : wish->end_seconds)) == 0 &&
        write_key(key, key_path) == 0)
        result = finish_certificate(authority, certificate, wish, certificate_path);
    if (certificate)
        gnutls_x509_crt_deinit(certificate);
    if (key)
        gnutls_x509_privkey_deinit(key);
    return result;
}

/* --- the client ------------------------------------------------------------------- */

/* GnuTLS itself shows only what the server's list of authorities asks for. */
struct shown {
    gnutls_pcert_st certificate;
    gnutls_privkey_t key;
};

static int show_certificate(gnutls_session_t session, const gnutls_datum_t *names, int name_count,
                            const gnutls_pk_algorithm_t *algorithms, int algorithm_count,
                            gnutls_pcert_st **ret, unsigned *ret_count, gnutls_privkey_t *ret_key)
{
    struct shown *shown = gnutls_session_get_ptr(session);
    (void)names;
    (void)name_count;
    (void)algorithms;
    (void)algorithm_count;
    *ret = &shown->certificate;
    *ret_count = 1;
    *ret_key = shown->key;
    return 0;
}

static int load_shown(const char *certificate_path, const char *key_path, struct shown *ret)
{
    gnutls_datum_t certificate, key;
    if (gnutls_load_file(certificate_path, &certificate) < 0)
        return -1;
    int result =
        gnutls_pcert_import_x509_raw(&ret->certificate, &certificate, GNUTLS_X509_FMT_PEM, 0);
    gnutls_free(certificate.data);
    if (result < 0 || gnutls_load_file(key_path, &key) < 0)
        return -1;
    result = gnutls_privkey_init(&ret->key);
    if (result == 0)
        result = gnutls_privkey_import_x509_raw(ret->key, &key, GNUTLS_X509_FMT_PEM, NULL, 0);
    gnutls_free(key.data);
    return result < 0 ? -1 : 0;
}

static int read_server_name(gnutls_session_t session, char *server, size_t bytes)
{
    unsigned count;
    const gnutls_datum_t *list = gnutls_certificate_get_peers(session, &count);
    gnutls_x509_crt_t certificate;
    if (!list || gnutls_x509_crt_init(&certificate) < 0)
        return -1;
    int result = gnutls_x509_crt_import(certificate, list, GNUTLS_X509_FMT_DER);
    if (result == 0)
        result = gnutls_x509_crt_get_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0, 0,
                                               server, &bytes);
    gnutls_x509_crt_deinit(certificate);
    return result < 0 ? -1 : 0;
}

static int exchange(gnutls_session_t session, const char *request, char *answer, size_t bytes)
{
    size_t used = 0;
    int status;
    do
        status = gnutls_handshake(session);
    while (status < 0 && !gnutls_error_is_fatal(status));
    if (status < 0 || gnutls_record_send(session, request, strlen(request)) < 0)
        return -1;
    while (used + 1 < bytes) {
        ssize_t got = gnutls_record_recv(session, answer + used, bytes - used - 1);
        if (got <= 0)
            break;
        used += (size_t)got;
    }
    answer[used] = '\0';
    return used > 0 ? 0 : -1;
}

int tls_request(uint16_t port, const char *certificate_path, const char *key_path,
                const char *request, char *answer, size_t answer_bytes, char *server,
                size_t server_bytes)
{
    struct shown shown = {.key = NULL};
    gnutls_certificate_credentials_t credentials;
    gnutls_session_t session;
    int result = -1, fd = loopback_connect(port);
    if (fd < 0 || gnutls_certificate_allocate_credentials(&credentials) < 0)
        return -1;
    gnutls_init(&session, GNUTLS_CLIENT | GNUTLS_NO_SIGNAL);
    gnutls_session_set_ptr(session, &shown);
    gnutls_set_default_priority(session);
    gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials);
    gnutls_transport_set_int(session, fd);
    if (certificate_path)
        gnutls_certificate_set_retrieve_function2(credentials, show_certificate);
    if (!certificate_path || load_shown(certificate_path, key_path, &shown) == 0)
        result = exchange(session, request, answer, answer_bytes);
    if (result == 0)
        result = read_server_name(session, server, server_bytes);
    gnutls_deinit(session);
    gnutls_certificate_free_credentials(credentials);
    if (shown.key) {
        gnutls_pcert_deinit(&shown.certificate);
        gnutls_privkey_deinit(shown.key);
    }
    close(fd);
    return result;
}
