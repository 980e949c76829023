/* SPDX-License-Identifier: MIT */
#include "k8s_extender/server/http_tls.h"
#include "base/text_file.h"
#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define TIME_TEXT_BYTES 32u

/* --- files ------------------------------------------------------------------------ */

int http_tls_stamp(const char *const paths[TLS_FILE_COUNT], struct http_tls_stamp *ret,
                   struct error_info *err)
{
    struct http_tls_stamp stamp = {0};
    for (unsigned i = 0; i < TLS_FILE_COUNT; i++) {
        struct stat status;
        if (stat(paths[i], &status) < 0)
            return error_set(err, "%s: %s", paths[i], error_errno_text(errno));
        stamp.files[i].device = status.st_dev;
        stamp.files[i].inode = status.st_ino;
        stamp.files[i].bytes = (uint64_t)status.st_size;
        stamp.files[i].seconds = status.st_mtim.tv_sec;
        stamp.files[i].nanoseconds = status.st_mtim.tv_nsec;
    }
    *ret = stamp;
    return 0;
}

static gnutls_datum_t as_datum(const char *text)
{
    return (gnutls_datum_t){.data = (unsigned char *)(uintptr_t)text,
                            .size = (unsigned)strlen(text)};
}

/* --- is a certificate valid now? -------------------------------------------------- */

static const char *time_text(time_t time, char text[TIME_TEXT_BYTES])
{
    struct tm parts;
    if (!gmtime_r(&time, &parts) ||
        strftime(text, TIME_TEXT_BYTES, "%Y-%m-%d %H:%M:%S UTC", &parts) == 0)
        snprintf(text, TIME_TEXT_BYTES, "an unknown time");
    return text;
}

static int check_times(gnutls_x509_crt_t certificate, const char *path, struct error_info *err)
{
    char text[TIME_TEXT_BYTES];
    time_t now = time(NULL);
    time_t begin = gnutls_x509_crt_get_activation_time(certificate);
    time_t end = gnutls_x509_crt_get_expiration_time(certificate);
    if (end != (time_t)-1 && now > end)
        return error_set(err, "%s: the certificate expired at %s; renew it", path,
                         time_text(end, text));
    if (begin != (time_t)-1 && now < begin)
        return error_set(err, "%s: the certificate is not valid before %s; is the clock right?",
                         path, time_text(begin, text));
    return 0;
}

static void free_certificates(gnutls_x509_crt_t *list, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        gnutls_x509_crt_deinit(list[i]);
    gnutls_free(list);
}

static int import_list(const char *text, const char *path, gnutls_x509_crt_t **ret,
                       unsigned *ret_count, struct error_info *err)
{
    const gnutls_datum_t data = as_datum(text);
    int status = gnutls_x509_crt_list_import2(ret, ret_count, &data, GNUTLS_X509_FMT_PEM, 0);
    if (status < 0)
        return error_set(err, "%s: no certificate in PEM form can be read: %s", path,
                         gnutls_strerror(status));
    return 0;
}

/* Only the first certificate is the server's; the others lead to its authority. */
static int check_certificate(const char *text, const char *path, struct error_info *err)
{
    gnutls_x509_crt_t *list;
    unsigned count;
    if (import_list(text, path, &list, &count, err) < 0)
        return -1;
    int result = count > 0 ? check_times(list[0], path, err)
                           : error_set(err, "%s: there is no certificate", path);
    free_certificates(list, count);
    return result;
}

/* One valid authority is enough: an old one may stay beside its successor. */
static int check_authorities(const char *text, const char *path, struct error_info *err)
{
    gnutls_x509_crt_t *list;
    unsigned count;
    if (import_list(text, path, &list, &count, err) < 0)
        return -1;
    int result = -1;
    if (count == 0 || count > HTTP_TLS_AUTHORITIES_MAXIMUM)
        error_set(err, "%s: %u certificates; 1 to %u are possible", path, count,
                  HTTP_TLS_AUTHORITIES_MAXIMUM);
    else
        for (unsigned i = 0; i < count && result < 0; i++)
            result = check_times(list[i], path, err);
    free_certificates(list, count);
    return result;
}

static int check_pair(const struct http_tls *tls, const char *const paths[TLS_FILE_COUNT],
                      struct error_info *err)
{
    gnutls_certificate_credentials_t credentials;
    const gnutls_datum_t certificate = as_datum(tls->texts[TLS_CERTIFICATE]);
    const gnutls_datum_t key = as_datum(tls->texts[TLS_KEY]);
    if (gnutls_certificate_allocate_credentials(&credentials) < 0)
        return error_set_memory(err);
    int status =
        gnutls_certificate_set_x509_key_mem(credentials, &certificate, &key, GNUTLS_X509_FMT_PEM);
    gnutls_certificate_free_credentials(credentials);
    if (status == GNUTLS_E_CERTIFICATE_KEY_MISMATCH)
        return error_set(err, "%s: the key belongs to another certificate than %s", paths[TLS_KEY],
                         paths[TLS_CERTIFICATE]);
    if (status < 0)
        return error_set(err, "%s: the key cannot be used: %s", paths[TLS_KEY],
                         gnutls_strerror(status));
    return 0;
}

struct http_tls *http_tls_load(const char *const paths[TLS_FILE_COUNT], struct error_info *err)
{
    CLEANUP(http_tls) struct http_tls *tls = memory_allocate(sizeof(*tls));
    if (!tls)
        return error_null(error_set_memory(err));
    for (unsigned i = 0; i < TLS_FILE_COUNT; i++) {
        size_t bytes;
        tls->texts[i] = text_file_read(paths[i], HTTP_TLS_FILE_MAXIMUM_BYTES, &bytes, err);
        if (!tls->texts[i])
            return NULL;
    }
    if (check_certificate(tls->texts[TLS_CERTIFICATE], paths[TLS_CERTIFICATE], err) < 0 ||
        check_pair(tls, paths, err) < 0 ||
        check_authorities(tls->texts[TLS_CLIENT_CA], paths[TLS_CLIENT_CA], err) < 0)
        return NULL;
    return move_pointer(tls);
}

void http_tls_free(struct http_tls *tls)
{
    if (!tls)
        return;
    for (unsigned i = 0; i < TLS_FILE_COUNT; i++)
        memory_free(tls->texts[i]);
    memory_free(tls);
}

bool http_tls_equal(const struct http_tls *left, const struct http_tls *right)
{
    for (unsigned i = 0; i < TLS_FILE_COUNT; i++)
        if (strcmp(left->texts[i], right->texts[i]) != 0)
            return false;
    return true;
}

/* --- the client ------------------------------------------------------------------- */

static const struct {
    unsigned status;
    const char *text;
} reasons[] = {
    {GNUTLS_CERT_EXPIRED, "it has expired"},
    {GNUTLS_CERT_NOT_ACTIVATED, "it is not valid yet"},
    {GNUTLS_CERT_REVOKED, "it was revoked"},
    {GNUTLS_CERT_SIGNER_NOT_FOUND, "the client CA did not sign it"},
    {GNUTLS_CERT_SIGNER_NOT_CA, "who signed it is no CA"},
    {GNUTLS_CERT_SIGNATURE_FAILURE, "its signature is wrong"},
    {GNUTLS_CERT_INSECURE_ALGORITHM, "its algorithm is not secure"},
    {GNUTLS_CERT_PURPOSE_MISMATCH, "it is not for TLS clients"},
};

static const char *reason_of(unsigned status)
{
    for (size_t i = 0; i < COUNT_OF(reasons); i++)
        if (status & reasons[i].status)
            return reasons[i].text;
    return "it cannot be verified";
}

static int read_common_name(gnutls_session_t session, char *peer, size_t bytes)
{
    unsigned count = 0;
    const gnutls_datum_t *list = gnutls_certificate_get_peers(session, &count);
    gnutls_x509_crt_t certificate;
    if (!list || count == 0 || gnutls_x509_crt_init(&certificate) < 0)
        return -1;
    int status = gnutls_x509_crt_import(certificate, &list[0], GNUTLS_X509_FMT_DER);
    peer[0] = '\0';
    if (status == 0 && gnutls_x509_crt_get_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0, 0,
                                                     peer, &bytes) < 0)
        peer[0] = '\0'; /* none, or longer than a name may be */
    gnutls_x509_crt_deinit(certificate);
    error_clean_text(peer);
    return status;
}

bool http_tls_check_peer(void *session, char *peer, size_t peer_bytes, char *why, size_t why_bytes)
{
    char purpose[] = GNUTLS_KP_TLS_WWW_CLIENT;
    gnutls_typed_vdata_st data[] = {
        {.type = GNUTLS_DT_KEY_PURPOSE_OID, .data = (unsigned char *)purpose}};
    unsigned status = 0;
    int result = gnutls_certificate_verify_peers(session, data, COUNT_OF(data), &status);
    if (result == GNUTLS_E_NO_CERTIFICATE_FOUND)
        snprintf(why, why_bytes, "a client certificate is needed, and none was shown");
    else if (result < 0)
        snprintf(why, why_bytes, "the client certificate cannot be verified: %s",
                 gnutls_strerror(result));
    else if (status != 0)
        snprintf(why, why_bytes, "the client certificate is refused: %s", reason_of(status));
    else if (read_common_name(session, peer, peer_bytes) < 0)
        snprintf(why, why_bytes, "the client certificate cannot be read");
    else
        return true;
    return false;
}
