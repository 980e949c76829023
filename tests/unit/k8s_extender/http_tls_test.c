/* SPDX-License-Identifier: MIT */
/* Certificates of both sides, over real sockets: not under the torture of memory.h. */
#include "base/text_file.h"
#include "k8s_extender/server/http_server.h"
#include "k8s_extender/server/http_tls.h"
#include "tests/support/file_tree.h"
#include "tests/support/loopback_peer.h"
#include "tests/support/tls_peer.h"
#include "tests/support/unit_test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define PATH_BYTES (FILE_TREE_ROOT_BYTES + 64)
#define ANSWER_BYTES 4096u
#define FOR_CLIENTS "1.3.6.1.5.5.7.3.2"
#define FOR_SERVERS "1.3.6.1.5.5.7.3.1"

static char folder[FILE_TREE_ROOT_BYTES];
static struct tls_authority *ours, *others;
static struct http_server *server;

static const char *path_of(const char *name)
{
    static char paths[16][PATH_BYTES];
    static unsigned next;
    char *path = paths[next++ % COUNT_OF(paths)];
    snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
    return path;
}

/* As a kubelet does: a new file takes the old one's place. */
static void put(const char *from, const char *to)
{
    size_t bytes;
    CLEANUP_MEMORY char *text = text_file_read(path_of(from), 1 << 20, &bytes, NULL);
    assert_non_null(text);
    file_tree_replace(path_of(to), text);
}

static int set_up(void **state)
{
    (void)state;
    static const struct tls_certificate wishes[] = {
        {"server-one", 0, 0, FOR_SERVERS},         {"server-two", 0, 0, FOR_SERVERS},
        {"old-server", -7200, -3600, FOR_SERVERS}, {"early-server", 3600, 7200, FOR_SERVERS},
        {"scheduler", 0, 0, FOR_CLIENTS},          {"any-purpose", 0, 0, NULL},
        {"expired", -7200, -3600, FOR_CLIENTS},    {"early", 3600, 7200, FOR_CLIENTS},
    };
    static const struct tls_certificate stranger = {"stranger", 0, 0, FOR_CLIENTS};
    if (unit_test_is_tortured())
        return 0;
    file_tree_create(folder);
    ours = tls_authority_create("ours");
    others = tls_authority_create("others");
    assert_true(ours && others);
    assert_int_equal(tls_authority_write(ours, path_of("ca.crt")), 0);
    for (size_t i = 0; i < COUNT_OF(wishes); i++)
        assert_int_equal(tls_authority_issue(ours, folder, &wishes[i]), 0);
    assert_int_equal(tls_authority_issue(others, folder, &stranger), 0);
    put("server-one.crt", "tls.crt");
    put("server-one.key", "tls.key");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tls_authority_free(ours);
    tls_authority_free(others);
    ours = others = NULL;
    return 0;
}

/* --- files ------------------------------------------------------------------------ */

static void judges_files_together(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static const struct {
        const char *files[TLS_FILE_COUNT];
        const char *error; /* its begin, behind the folder and a slash; NULL: taken */
    } cases[] = {
        {{"server-one.crt", "server-one.key", "ca.crt"}, NULL},
        {{"server-one.crt", "server-two.key", "ca.crt"},
         "server-two.key: the key belongs to another certificate than "},
        {{"old-server.crt", "old-server.key", "ca.crt"},
         "old-server.crt: the certificate expired at 20"},
        {{"early-server.crt", "early-server.key", "ca.crt"},
         "early-server.crt: the certificate is not valid before 20"},
        {{"server-one.key", "server-one.key", "ca.crt"},
         "server-one.key: no certificate in PEM form can be read: "},
        {{"server-one.crt", "server-one.crt", "ca.crt"},
         "server-one.crt: the key cannot be used: "},
        {{"server-one.crt", "server-one.key", "tls.key"},
         "tls.key: no certificate in PEM form can be read: "},
        {{"server-one.crt", "server-one.key", "old-server.crt"},
         "old-server.crt: the certificate expired at 20"},
        {{"server-one.crt", "server-one.key", "missing"}, "missing: No such file"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        const char *paths[TLS_FILE_COUNT];
        for (unsigned k = 0; k < TLS_FILE_COUNT; k++)
            paths[k] = path_of(cases[i].files[k]);
        CLEANUP(http_tls) struct http_tls *tls = http_tls_load(paths, &err);
        assert_int_equal(tls == NULL, cases[i].error != NULL);
        if (cases[i].error &&
            strncmp(err.text, path_of(cases[i].error), strlen(path_of(cases[i].error))) != 0)
            fail_msg("'%s' where '%s' was expected", err.text, cases[i].error);
    }
}

/* --- the server ------------------------------------------------------------------- */

static void hello(void *context, const struct http_request *request, struct http_answer *answer)
{
    (void)context;
    text_buffer_add(&answer->body, "hello %s", request->peer ? request->peer : "nobody");
}

static const struct http_route routes[] = {{"GET", "/closed", hello, false, 0},
                                           {"GET", "/healthz", hello, true, 0}};

static void start(void)
{
    static const char *const names[TLS_FILE_COUNT] = {"tls.crt", "tls.key", "ca.crt"};
    static char files[TLS_FILE_COUNT][PATH_BYTES]; /* the server goes on reading them */
    struct error_info err = {.kind = ERROR_NONE};
    for (unsigned i = 0; i < TLS_FILE_COUNT; i++)
        snprintf(files[i], sizeof(files[i]), "%s", path_of(names[i]));
    const struct http_server_settings settings = {.address = "127.0.0.1",
                                                  .certificate_file = files[TLS_CERTIFICATE],
                                                  .key_file = files[TLS_KEY],
                                                  .client_ca_file = files[TLS_CLIENT_CA],
                                                  .request_seconds = 2,
                                                  .reload_seconds = 1};
    server = http_server_start(&settings, routes, COUNT_OF(routes), NULL, &err);
    if (!server)
        fail_msg("%s", err.text);
}

/* As that client (NULL: without a certificate); the answer's status and body, and who answered. */
static void expect(const char *client, const char *path, unsigned status, const char *body,
                   const char *who)
{
    char request[256], answer[ANSWER_BYTES], name[128] = "", certificate[64], key[64];
    snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
             path);
    snprintf(certificate, sizeof(certificate), "%s.crt", client ? client : "");
    snprintf(key, sizeof(key), "%s.key", client ? client : "");
    if (tls_request(http_server_port(server), client ? path_of(certificate) : NULL, path_of(key),
                    request, answer, sizeof(answer), name, sizeof(name)) < 0)
        fail_msg("no answer to %s", client ? client : "nobody");
    assert_int_equal(loopback_status(answer), status);
    assert_string_equal(loopback_body(answer), body);
    assert_string_equal(name, who);
}

static void wants_a_good_client_certificate(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static const struct {
        const char *client;
        unsigned status;
        const char *body;
    } cases[] = {
        {"scheduler", 200, "hello scheduler"},
        {"any-purpose", 200, "hello any-purpose"},
        {NULL, 403, "a client certificate is needed, and none was shown\n"},
        {"stranger", 403, "the client certificate is refused: the client CA did not sign it\n"},
        {"expired", 403, "the client certificate is refused: it has expired\n"},
        {"early", 403, "the client certificate is refused: it is not valid yet\n"},
        {"server-two", 403, "the client certificate is refused: it is not for TLS clients\n"},
    };
    start();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        expect(cases[i].client, "/closed", cases[i].status, cases[i].body, "server-one");
        expect(cases[i].client, "/healthz", 200, "hello nobody", "server-one");
    }
    http_server_stop(server, 500);
}

static void expect_reload(int result, bool changed, const char *error)
{
    struct error_info err = {.kind = ERROR_NONE};
    bool is_changed = !changed;
    if (http_server_reload(server, &is_changed, &err) != result)
        fail_msg("%s", err.text);
    assert_int_equal(is_changed, changed);
    if (!strstr(err.text, error))
        fail_msg("'%s' where '%s' was expected", err.text, error);
}

static void takes_new_certificates_from_disk(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    start();
    uint16_t port = http_server_port(server);
    expect_reload(0, false, "");
    put("server-two.crt", "tls.crt"); /* the key is not there yet */
    expect_reload(-1, false, "tls.key: the key belongs to another certificate than ");
    expect_reload(0, false, "");
    expect("scheduler", "/closed", 200, "hello scheduler", "server-one");
    put("server-two.key", "tls.key");
    expect_reload(0, true, "");
    expect("scheduler", "/closed", 200, "hello scheduler", "server-two");
    put("server-two.key", "tls.key"); /* another file, the same words */
    expect_reload(0, false, "");

    assert_int_equal(tls_authority_write(others, path_of("ca.crt")), 0);
    expect_reload(0, true, "");
    expect("stranger", "/closed", 200, "hello stranger", "server-two");
    expect("scheduler", "/closed", 403,
           "the client certificate is refused: the client CA did not sign it\n", "server-two");
    assert_int_equal(http_server_port(server), port);

    unlink(path_of("ca.crt"));
    expect_reload(-1, false, "ca.crt: No such file");
    expect_reload(0, false, "");
    expect("stranger", "/closed", 200, "hello stranger", "server-two");
    assert_int_equal(tls_authority_write(ours, path_of("ca.crt")), 0);
    expect_reload(0, true, "");
    expect("scheduler", "/closed", 200, "hello scheduler", "server-two");
    http_server_stop(server, 500);
    put("server-one.crt", "tls.crt");
    put("server-one.key", "tls.key");
}

/* Its authority's clock may be ahead of ours. */
static void takes_a_certificate_once_it_is_valid(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static const struct timespec step = {.tv_nsec = 50000000};
    struct error_info err = {.kind = ERROR_NONE};
    bool changed = false;
    start();
    static const struct tls_certificate coming = {"server-two", 4, 3600, FOR_SERVERS};
    assert_int_equal(tls_authority_issue(ours, folder, &coming), 0);
    put("server-two.crt", "tls.crt");
    put("server-two.key", "tls.key");
    expect_reload(-1, false, "tls.crt: the certificate is not valid before 20");
    for (unsigned i = 0; i < 400 && !changed; i++) {
        nanosleep(&step, NULL);
        if (http_server_reload(server, &changed, &err) < 0)
            fail_msg("said again: %s", err.text);
    }
    assert_true(changed);
    expect("scheduler", "/closed", 200, "hello scheduler", "server-two");
    http_server_stop(server, 500);
}

/* Not under sanitizers, which need address space for themselves. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define LIMITS_ADDRESS_SPACE
#define ROOM_BYTES ((rlim_t)2 << 20) /* less than a thread's stack */

static struct rlimit leave_no_room_for_a_thread(void)
{
    struct rlimit before, limit;
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_true(file && fscanf(file, "%lu", &pages) == 1);
    fclose(file);
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    limit = before;
    limit.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + ROOM_BYTES;
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
    return before;
}

/* The first test: threads that have ended would leave their stacks to new ones. */
static void listens_on_where_new_certificates_cannot_be_served(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    struct error_info err = {.kind = ERROR_NONE};
    bool changed = true;
    start();
    put("server-two.crt", "tls.crt");
    put("server-two.key", "tls.key");
    struct rlimit before = leave_no_room_for_a_thread();
    int result = http_server_reload(server, &changed, &err);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(result, -1);
    assert_non_null(strstr(err.text, "the http server cannot be started on port "));
    assert_false(changed);
    expect("scheduler", "/closed", 200, "hello scheduler", "server-one");
    sleep(1); /* reload_seconds */
    expect_reload(0, true, "");
    expect("scheduler", "/closed", 200, "hello scheduler", "server-two");
    http_server_stop(server, 500);
}

#endif

static const struct CMUnitTest tests[] = {
#ifdef LIMITS_ADDRESS_SPACE
    cmocka_unit_test_setup_teardown(listens_on_where_new_certificates_cannot_be_served, set_up,
                                    tear_down),
#endif
    cmocka_unit_test_setup_teardown(judges_files_together, set_up, tear_down),
    cmocka_unit_test_setup_teardown(wants_a_good_client_certificate, set_up, tear_down),
    cmocka_unit_test_setup_teardown(takes_new_certificates_from_disk, set_up, tear_down),
    cmocka_unit_test_setup_teardown(takes_a_certificate_once_it_is_valid, set_up, tear_down),
};

int main(void)
{
    if (!file_tree_begin())
        return 1;
    int failed = unit_test_main("k8s_extender/http_tls", tests, COUNT_OF(tests));
    file_tree_end();
    return failed;
}
