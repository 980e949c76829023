/* SPDX-License-Identifier: MIT */
/* api_client against peers of ours, good and bad. Threads: not in torture. */
#include "base/text_file.h"
#include "k8s_extender/api/api_client.h"
#include "k8s_extender/api/gang_size.h"
#include "k8s_extender/api/lease.h"
#include "k8s_extender/api/pod_event.h"
#include "k8s_extender/api/time_now.h"
#include "k8s_extender/server/http_server.h"
#include "tests/support/fake_api.h"
#include "tests/support/file_tree.h"
#include "tests/support/tls_peer.h"
#include "tests/support/unit_test.h"

#include <stdlib.h>
#include <string.h>

#define PATH_BYTES (FILE_TREE_ROOT_BYTES + 64)
#define LOG_BYTES 4096u
#define NOON UINT64_C(1764504000000000)

/* What the peer was asked, one line each, and how it answers. */
struct peer {
    struct fake_api *api;
    char url[FAKE_API_URL_BYTES];
    void (*answer)(struct peer *peer, struct fake_exchange *exchange);
    unsigned connections;
    char log[LOG_BYTES];
    char token_path[PATH_BYTES];
};

static void on_request(void *context, struct fake_exchange *exchange)
{
    struct peer *peer = context;
    size_t length = strlen(peer->log);
    snprintf(peer->log + length, sizeof(peer->log) - length, "%.*s|%.400s\n",
             (int)strcspn(exchange->request, "\r"), exchange->request, exchange->body);
    peer->connections = exchange->connection + 1;
    peer->answer(peer, exchange);
}

static void peer_start(struct peer *peer)
{
    peer->api = fake_api_start(on_request, peer);
    assert_non_null(peer->api);
    fake_api_url(peer->api, peer->url);
}

static struct api_client *connect_to(const char *url, struct error_info *err)
{
    const struct api_config config = {.server = url, .user_agent = "test/1", .namespace = "a"};
    return api_client_create(&config, err);
}

/* --- good answers ----------------------------------------------------------------------------- */

static void answer_echo(struct peer *peer, struct fake_exchange *exchange)
{
    (void)peer;
    fake_api_answer(exchange, 200, "", exchange->body[0] ? exchange->body : "nothing");
}

static void one_connection_serves_many(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    struct peer peer = {.answer = answer_echo};
    struct error_info err = {.kind = ERROR_NONE};
    peer_start(&peer);
    setenv("http_proxy", "http://127.0.0.1:1", 1); /* not for this machine */
    CLEANUP(api_client) struct api_client *client = connect_to(peer.url, &err);
    assert_non_null(client);
    const struct api_request requests[] = {
        {.method = "GET", .path = "/a?b=c"},
        {.method = "PATCH",
         .path = "/p",
         .content_type = "application/merge-patch+json",
         .body = "{\"x\":1}",
         .body_bytes = 7},
        {.method = "DELETE", .path = "/p"},
        {.method = "POST", .path = "/p", .body = "", .body_bytes = 0},
    };
    static const char *const bodies[] = {"nothing", "{\"x\":1}", "nothing", "nothing"};
    for (size_t i = 0; i < COUNT_OF(requests); i++) {
        CLEANUP_DONE(api_answer) struct api_answer answer = {.status = 0};
        if (api_client_send(client, &requests[i], &answer, &err) < 0)
            fail_msg("%zu: %s", i, err.text);
        assert_int_equal(answer.status, 200);
        assert_string_equal(answer.body, bodies[i]);
    }
    unsetenv("http_proxy");
    fake_api_stop(peer.api);
    assert_int_equal(peer.connections, 1);
    assert_string_equal(peer.log, "GET /a?b=c HTTP/1.1|\nPATCH /p HTTP/1.1|{\"x\":1}\n"
                                  "DELETE /p HTTP/1.1|\nPOST /p HTTP/1.1|\n");
}

static void answer_elsewhere(struct peer *peer, struct fake_exchange *exchange)
{
    (void)peer;
    fake_api_answer(exchange, 302, "Location: /elsewhere\r\nRetry-After: 7\r\n", "go there");
}

static void no_redirect_is_followed(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    struct peer peer = {.answer = answer_elsewhere};
    struct error_info err = {.kind = ERROR_NONE};
    peer_start(&peer);
    CLEANUP(api_client) struct api_client *client = connect_to(peer.url, &err);
    assert_non_null(client);
    CLEANUP_DONE(api_answer) struct api_answer answer = {.status = 0};
    int result = api_client_send(client, &(struct api_request){.method = "GET", .path = "/x"},
                                 &answer, &err);
    fake_api_stop(peer.api);
    assert_int_equal(result, 0);
    assert_int_equal(answer.status, 302);
    assert_int_equal(answer.retry_after_seconds, 7);
    assert_string_equal(peer.log, "GET /x HTTP/1.1|\n");
}

/* --- the token -----------------------------------------------------------------------------------
 */

/* "new" is good; where "old" comes the kubelet has just replaced it. */
static void answer_token(struct peer *peer, struct fake_exchange *exchange)
{
    bool good = strstr(exchange->request, "Authorization: Bearer new\r\n") != NULL;
    if (!good && strstr(exchange->request, "GET /replaced"))
        file_tree_replace(peer->token_path, "new\n");
    fake_api_answer(exchange, good ? 200 : 401, "", good ? "welcome" : "who?");
}

static int keep_body(void *context, long status, const char *bytes, size_t count)
{
    char *body = context;
    (void)status;
    size_t length = strlen(body);
    snprintf(body + length, 64 - length, "%.*s", (int)count, bytes);
    return 0;
}

static void write_kubeconfig(const struct peer *peer, const char *url, const char *context,
                             const char *token)
{
    char text[1024];
    snprintf(text, sizeof(text),
             "kind: Config\ncurrent-context: %s\n"
             "contexts: [{name: c, context: {cluster: k, user: u}},"
             " {name: other, context: {cluster: far, user: far}}]\n"
             "clusters: [{name: k, cluster: {server: '%s'}},"
             " {name: far, cluster: {server: 'http://127.0.0.1:1'}}]\n"
             "users: [{name: u, user: {token: %s}}, {name: far, user: {token: far}}]\n",
             context, url, token);
    file_tree_replace(peer->token_path, text);
}

/* "new" is good; where "old" comes to /replaced the file has just been written again. */
static void answer_renewed(struct peer *peer, struct fake_exchange *exchange)
{
    bool good = strstr(exchange->request, "Authorization: Bearer new\r\n") != NULL;
    if (!good && strstr(exchange->request, "GET /replaced"))
        write_kubeconfig(peer, peer->url, "other", "new");
    fake_api_answer(exchange, good ? 200 : 401, "", good ? "welcome" : "who?");
}

static void a_kubeconfig_is_read_again(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static const struct {
        const char *path, *context, *token; /* context NULL: the file stays */
        bool elsewhere, broken;
        long status;
    } rows[] = {
        {"/1", NULL, NULL, false, false, 401},
        {"/replaced", NULL, NULL, false, false, 200}, /* told by the 401 */
        {"/3", "c", "old", false, false, 401},        /* seen before the request */
        {"/4", "other", "new", false, false, 200},    /* its context stays */
        {"/5", "c", "old", true, false, 200}, /* another server's credentials are not taken */
        {"/6", NULL, NULL, false, true, 200}, /* half a file */
        {"/7", "c", "old", false, false, 401},
    };
    struct peer peer = {.answer = answer_renewed};
    struct error_info err = {.kind = ERROR_NONE};
    char root[FILE_TREE_ROOT_BYTES];
    file_tree_create(root);
    snprintf(peer.token_path, sizeof(peer.token_path), "%s/kubeconfig", root);
    peer_start(&peer);
    write_kubeconfig(&peer, peer.url, "c", "old");
    CLEANUP(api_config)
    struct api_config *config = api_config_kubeconfig(peer.token_path, NULL, &err);
    CLEANUP(api_client) struct api_client *client = config ? api_client_create(config, &err) : NULL;
    if (!client)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP_DONE(api_answer) struct api_answer answer = {.status = 0};
        const struct api_request request = {.method = "GET", .path = rows[i].path};
        if (rows[i].context)
            write_kubeconfig(&peer, rows[i].elsewhere ? "http://127.0.0.1:2" : peer.url,
                             rows[i].context, rows[i].token);
        if (rows[i].broken)
            file_tree_replace(peer.token_path, "kind: Config\nusers: [{na");
        if (api_client_send(client, &request, &answer, &err) < 0)
            fail_msg("%s: %s", rows[i].path, err.text);
        if (answer.status != rows[i].status)
            fail_msg("%s: %ld", rows[i].path, answer.status);
    }
    fake_api_stop(peer.api);
}

static void a_token_is_read_again_after_401(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    struct peer peer = {.answer = answer_token};
    struct error_info err = {.kind = ERROR_NONE};
    char root[FILE_TREE_ROOT_BYTES], body[64] = "";
    file_tree_create(root);
    snprintf(peer.token_path, sizeof(peer.token_path), "%s/token", root);
    peer_start(&peer);
    const struct api_config config = {
        .server = peer.url, .user_agent = "t", .token_file = peer.token_path};
    CLEANUP(api_client) struct api_client *client = api_client_create(&config, &err);
    assert_non_null(client);
    struct api_request request = {.method = "GET", .path = "/same"};
    struct api_answer answer = {.status = 0};
    assert_int_equal(api_client_send(client, &request, &answer, &err), -1); /* no file yet */
    assert_non_null(strstr(err.text, "/token"));
    file_tree_replace(peer.token_path, "old");
    assert_int_equal(api_client_send(client, &request, &answer, &err), 0);
    assert_int_equal(answer.status, 401); /* still the old one: told as it is */
    assert_string_equal(answer.body, "who?");
    api_answer_done(&answer);
    request.path = "/replaced";
    long status = 0;
    assert_int_equal(api_client_stream(client, &request, 0, NULL, keep_body, body, &status, &err),
                     0);
    assert_int_equal(status, 200);
    assert_string_equal(body, "welcome"); /* and nothing of the 401 */
    fake_api_stop(peer.api);
}

/* --- bad days ------------------------------------------------------------------------------------
 */

static void answer_nothing(struct peer *peer, struct fake_exchange *exchange)
{
    (void)peer;
    fake_api_wait(exchange, 120000);
}

static void answer_too_much(struct peer *peer, struct fake_exchange *exchange)
{
    static char piece[65536];
    (void)peer;
    memset(piece, 'x', sizeof(piece));
    fake_api_text(exchange, "HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n");
    while (fake_api_bytes(exchange, piece, sizeof(piece)))
        continue;
}

static void answer_reset(struct peer *peer, struct fake_exchange *exchange)
{
    (void)peer;
    fake_api_text(exchange, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
    fake_api_reset(exchange);
}

static void answer_garbage(struct peer *peer, struct fake_exchange *exchange)
{
    (void)peer;
    fake_api_text(exchange, "SSH-2.0-OpenSSH_9.2\r\n");
    exchange->close = true;
}

static void no_answer_is_an_error(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static const struct {
        void (*answer)(struct peer *peer, struct fake_exchange *exchange);
        const char *reason;
        unsigned timeout_seconds;
    } rows[] = {
        {answer_nothing, "timed out", 1},
        {answer_too_much, "the answer is larger than 4194304 bytes", 60},
        {answer_reset, "GET http://127.0.0.1:", 60},
        {answer_garbage, "GET http://127.0.0.1:", 60},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct peer peer = {.answer = rows[i].answer};
        struct error_info err = {.kind = ERROR_NONE};
        struct api_answer answer = {.status = 77};
        peer_start(&peer);
        CLEANUP(api_client) struct api_client *client = connect_to(peer.url, &err);
        assert_non_null(client);
        const struct api_request request = {.method = "GET",
                                            .path = "/x?continue=secret",
                                            .timeout_seconds = rows[i].timeout_seconds};
        uint64_t start = time_now_milliseconds();
        int result = api_client_send(client, &request, &answer, &err);
        uint64_t took = time_now_milliseconds() - start;
        fake_api_stop(peer.api);
        bool late = strstr(err.text, "timed out") != NULL;
        if (result != -1 || !strstr(err.text, rows[i].reason) || answer.status != 77 ||
            late != (rows[i].answer == answer_nothing) || took >= API_REQUEST_SECONDS * 1000)
            fail_msg("row %zu: %d '%s'", i, result, err.text);
    }
}

static void a_refused_connection_is_an_error(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    struct peer peer = {.answer = answer_echo};
    struct error_info err = {.kind = ERROR_NONE};
    struct api_answer answer = {.status = 0};
    peer_start(&peer);
    fake_api_stop(peer.api); /* its port is free again */
    CLEANUP(api_client) struct api_client *client = connect_to(peer.url, &err);
    assert_non_null(client);
    const struct api_request request = {.method = "GET", .path = "/x?continue=secret"};
    assert_int_equal(api_client_send(client, &request, &answer, &err), -1);
    assert_int_equal(err.kind, ERROR_SYSTEM);
    assert_non_null(strstr(err.text, "/x: "));
    assert_null(strstr(err.text, "secret"));
}

/* --- TLS
 * ------------------------------------------------------------------------------------------ */

static void say_peer(void *context, const struct http_request *request, struct http_answer *answer)
{
    (void)context;
    text_buffer_add_text(&answer->body, request->peer ? request->peer : "nobody");
}

static const struct http_route tls_routes[] = {
    {.method = "GET", .path = "/open", .handler = say_peer, .open = true},
    {.method = "GET", .path = "/mine", .handler = say_peer},
};

struct tls_files {
    char ca[PATH_BYTES], used_ca[PATH_BYTES]; /* used_ca: another's, at first */
    char server[PATH_BYTES], server_key[PATH_BYTES], client[PATH_BYTES], client_key[PATH_BYTES];
};

static void make_tls_files(struct tls_files *files)
{
    char root[FILE_TREE_ROOT_BYTES];
    file_tree_create(root);
    static const struct tls_certificate server = {.name = "server"}, client = {.name = "client"};
    const struct {
        char *path;
        const char *name;
    } paths[] = {{files->ca, "ca.crt"},         {files->used_ca, "used.crt"},
                 {files->server, "server.crt"}, {files->server_key, "server.key"},
                 {files->client, "client.crt"}, {files->client_key, "client.key"}};
    for (size_t i = 0; i < COUNT_OF(paths); i++)
        snprintf(paths[i].path, PATH_BYTES, "%s/%s", root, paths[i].name);
    struct tls_authority *authority = tls_authority_create("ca");
    struct tls_authority *other = tls_authority_create("other ca");
    bool made = authority && other && tls_authority_write(authority, files->ca) == 0 &&
                tls_authority_write(other, files->used_ca) == 0 &&
                tls_authority_issue(authority, root, &server) == 0 &&
                tls_authority_issue(authority, root, &client) == 0;
    tls_authority_free(authority);
    tls_authority_free(other);
    assert_true(made);
}

static void expect_answer(struct api_client *client, const char *path, long status,
                          const char *body)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(api_answer) struct api_answer answer = {.status = 0};
    const struct api_request request = {.method = "GET", .path = path};
    if (api_client_send(client, &request, &answer, &err) < 0)
        fail_msg("%s: %s", path, err.text);
    assert_int_equal(answer.status, status);
    if (body)
        assert_string_equal(answer.body, body);
}

static void tls_judges_the_server_and_shows_the_client(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    struct tls_files files;
    struct error_info err = {.kind = ERROR_NONE};
    make_tls_files(&files);
    const struct http_server_settings settings = {.address = "127.0.0.1",
                                                  .certificate_file = files.server,
                                                  .key_file = files.server_key,
                                                  .client_ca_file = files.ca};
    struct http_server *server =
        http_server_start(&settings, tls_routes, COUNT_OF(tls_routes), NULL, &err);
    if (!server)
        fail_msg("%s", err.text);
    char url[FAKE_API_URL_BYTES];
    snprintf(url, sizeof(url), "https://127.0.0.1:%u", http_server_port(server));
    struct api_config config = {.server = url, .user_agent = "t", .ca_file = files.used_ca};
    struct api_client *client = api_client_create(&config, &err);
    assert_non_null(client);

    /* The wrong CA, then the right one in the same file: no new client is needed. */
    struct api_answer answer;
    const struct api_request request = {.method = "GET", .path = "/open"};
    assert_int_equal(api_client_send(client, &request, &answer, &err), -1);
    assert_non_null(strstr(err.text, "certificate"));
    size_t bytes;
    char *ca = text_file_read(files.ca, 1 << 20, &bytes, &err);
    assert_non_null(ca);
    file_tree_replace(files.used_ca, ca);
    memory_free(ca);
    expect_answer(client, "/open", 200, "nobody");
    expect_answer(client, "/mine", 403, NULL);
    api_client_free(client);

    config.certificate_file = files.client;
    config.key_file = files.client_key;
    client = api_client_create(&config, &err);
    assert_non_null(client);
    expect_answer(client, "/mine", 200, "client");
    api_client_free(client);

    config = (struct api_config){.server = url, .user_agent = "t", .insecure = true};
    client = api_client_create(&config, &err);
    assert_non_null(client);
    expect_answer(client, "/open", 200, "nobody");
    api_client_free(client);
    http_server_stop(server, 1000);
}

/* --- what is built on it
 * ---------------------------------------------------------------------------- */

static void answer_sizes(struct peer *peer, struct fake_exchange *exchange)
{
    (void)peer;
    if (strstr(exchange->request, "/jobs/good "))
        fake_api_answer(exchange, 200, "", "{\"spec\":{\"parallelism\":4}}");
    else if (strstr(exchange->request, "/jobs/gone "))
        fake_api_answer(exchange, 404, "",
                        "{\"kind\":\"Status\",\"code\":404,\"details\":{\"name\":\"gone\"}}");
    else if (strstr(exchange->request, "/jobs/closed "))
        fake_api_answer(exchange, 403, "", "{\"kind\":\"Status\",\"message\":\"not yours\"}");
    else if (strstr(exchange->request, "/jobs/busy "))
        fake_api_answer(exchange, 503, "", "");
    else if (strstr(exchange->request, "/jobsets/set "))
        fake_api_answer(exchange, 200, "",
                        "{\"spec\":{\"replicatedJobs\":[{\"name\":\"w\",\"replicas\":3}]}}");
    else if (strstr(exchange->request, "v1alpha3/namespaces/a/podgroups/p "))
        fake_api_answer(exchange, 200, "",
                        "{\"spec\":{\"schedulingPolicy\":{\"gang\":{\"minCount\":6}}}}");
    else
        fake_api_answer(exchange, 404, "", "404 page not found\n");
}

static void sizes_are_asked_for(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static const struct {
        enum gang_size_from from;
        const char *name;
        int result;
        unsigned pods;
        const char *words;
    } rows[] = {
        {GANG_SIZE_OF_JOB, "good", 0, 4, ""},
        {GANG_SIZE_OF_JOB, "gone", 0, 0, "Job a/gone is not there"},
        {GANG_SIZE_OF_JOB, "closed", 0, 0, "403: not yours"},
        {GANG_SIZE_OF_JOB, "busy", -1, 0, "Job a/busy: 503"},
        {GANG_SIZE_OF_POD_GROUP, "p", 0, 6, ""},
        {GANG_SIZE_OF_POD_GROUP, "q", 0, 0, "PodGroup a/q: the cluster has no such kind"},
        {GANG_SIZE_OF_JOBSET, "s", 0, 0,
         "JobSet a/s: the cluster has no such kind (/apis/jobset.x-k8s.io/v1alpha2)"},
        {GANG_SIZE_OF_JOBSET, "set/w", 0, 3, ""},
        {GANG_SIZE_OF_JOBSET, "set/v", 0, 0, "JobSet set has no replicatedJob v"},
        {GANG_SIZE_GIVEN, "g", 0, 0, "nobody knows"},
    };
    struct peer peer = {.answer = answer_sizes};
    struct error_info none = {.kind = ERROR_NONE};
    peer_start(&peer);
    CLEANUP(api_client) struct api_client *client = connect_to(peer.url, &none);
    assert_non_null(client);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        struct gang_size size = {.pods = 0};
        int result = gang_size_ask(client, rows[i].from, "a", rows[i].name, &size, &err);
        const char *words = result < 0 ? err.text : size.problem;
        if (result != rows[i].result || size.pods != rows[i].pods || !strstr(words, rows[i].words))
            fail_msg("row %zu: %d %u '%s'", i, result, size.pods, words);
    }
    fake_api_stop(peer.api);
}

/* The first event is there already (another replica made it), then it is counted. */
static void answer_events(struct peer *peer, struct fake_exchange *exchange)
{
    (void)peer;
    bool post = strncmp(exchange->request, "POST ", 5) == 0;
    fake_api_answer(exchange, post ? 409 : 200, "", "{}");
}

static void events_are_counted_up(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static struct event_memory memory;
    const struct pod_event event = {
        .namespace = "a", .name = "p", .uid = "u", .reason = "GangWaits", .message = "m"};
    struct peer peer = {.answer = answer_events};
    struct error_info err = {.kind = ERROR_NONE};
    memset(&memory, 0, sizeof(memory));
    peer_start(&peer);
    CLEANUP(api_client) struct api_client *client = connect_to(peer.url, &err);
    assert_non_null(client);
    static const uint64_t at[] = {1000, 2000, 3000, 62000, 63000};
    for (size_t i = 0; i < COUNT_OF(at); i++)
        if (pod_event_send(client, &memory, &event, at[i], NOON, &err) < 0)
            fail_msg("%zu: %s", i, err.text);
    fake_api_stop(peer.api);
    const char *first = strstr(peer.log, "PATCH ");
    assert_true(strncmp(peer.log, "POST /api/v1/namespaces/a/events ", 33) == 0);
    assert_non_null(first);
    assert_non_null(strstr(first, "{\"count\":2,"));
    assert_non_null(strstr(first + 1, "PATCH "));
    assert_non_null(strstr(first, "{\"count\":4,"));
    assert_null(strstr(first, "{\"count\":5,"));
}

/* --- a Lease of one object
 * --------------------------------------------------------------------------- */

static char lease_object[2048]; /* "" : there is none */
static unsigned lease_version;
static bool lease_broken;

/* Keeps what was written last; a write with another resourceVersion is refused. */
static void answer_lease(struct peer *peer, struct fake_exchange *exchange)
{
    (void)peer;
    char version[64], answer[2304];
    bool get = strncmp(exchange->request, "GET ", 4) == 0;
    snprintf(version, sizeof(version), "\"resourceVersion\":\"%u\"", lease_version);
    if (lease_broken) {
        fake_api_answer(exchange, 500, "", "");
        return;
    }
    if (get && !lease_object[0]) {
        fake_api_answer(exchange, 404, "", "{}");
        return;
    }
    if (!get && lease_object[0] && !strstr(exchange->body, version)) {
        fake_api_answer(exchange, 409, "", "{}");
        return;
    }
    if (!get) {
        const char *spec = strstr(exchange->body, "\"spec\":");
        snprintf(lease_object, sizeof(lease_object), "%s", spec ? spec : "\"spec\":{}}");
        lease_version++;
    }
    snprintf(answer, sizeof(answer), "{\"metadata\":{\"resourceVersion\":\"%u\"},%s", lease_version,
             lease_object);
    fake_api_answer(exchange, 200, "", answer);
}

struct lease_step {
    char who;
    uint64_t at_milliseconds;
    bool broken, leads, troubled;
};

static void one_leads_at_a_time(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static const struct lease_step steps[] = {
        {'a', 0, false, true, false},      {'b', 500, false, false, false},
        {'a', 2000, false, true, false},   {'b', 2500, false, false, false},
        {'a', 4000, true, true, true}, /* no renewal, but still within the deadline */
        {'a', 8000, true, true, true},     {'a', 9000, true, false, true},
        {'b', 11999, false, false, false}, /* seen renewed at 2500: 10 s are not over */
        {'b', 12500, false, true, false},  {'a', 13000, false, false, false},
        {'b', 14000, false, true, false},  {'B', 15000, false, false, false}, /* gives it up */
        {'a', 15500, false, true, false},
    };
    struct lease_settings settings = {"a", "parplan", "a", 10, 7, 2};
    struct peer peer = {.answer = answer_lease};
    struct error_info err = {.kind = ERROR_NONE};
    lease_object[0] = '\0';
    lease_version = 1;
    peer_start(&peer);
    CLEANUP(api_client) struct api_client *client = connect_to(peer.url, &err);
    CLEANUP(lease) struct lease *a = lease_create(&settings, &err);
    settings.identity = "b";
    CLEANUP(lease) struct lease *b = lease_create(&settings, &err);
    assert_true(client && a && b);
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        const struct lease_step *step = &steps[i];
        struct lease *lease = step->who == 'a' ? a : b;
        char trouble[200] = "";
        unsigned wait = 0;
        __atomic_store_n(&lease_broken, step->broken, __ATOMIC_SEQ_CST);
        if (step->who == 'B') {
            lease_give_up(b, client);
            continue;
        }
        bool leads = lease_turn(lease, client, step->at_milliseconds, NOON + step->at_milliseconds,
                                &wait, trouble, sizeof(trouble));
        if (leads != step->leads || (trouble[0] != '\0') != step->troubled || wait == 0 ||
            (lease_holds(a, step->at_milliseconds) && lease_holds(b, step->at_milliseconds)))
            fail_msg("step %zu: leads %d, '%s'", i, leads, trouble);
    }
    fake_api_stop(peer.api);
    assert_non_null(strstr(lease_object, "\"holderIdentity\":\"a\""));
    assert_non_null(strstr(lease_object, "\"leaseTransitions\":2"));
}

/* A namespace that is not there: neither a read nor a write finds it, and nobody would ever lead.
 */
static void answer_nothing_there(struct peer *peer, struct fake_exchange *exchange)
{
    (void)peer;
    bool get = strncmp(exchange->request, "GET ", 4) == 0;
    fake_api_answer(exchange, 404, "",
                    get ? "{}"
                        : "{\"kind\":\"Status\",\"reason\":\"NotFound\","
                          "\"message\":\"namespaces \\\"a\\\" not found\"}");
}

static void a_lease_that_cannot_be_made_is_told(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    struct lease_settings settings = {"a", "parplan", "a", 10, 7, 2};
    struct peer peer = {.answer = answer_nothing_there};
    struct error_info err = {.kind = ERROR_NONE};
    char trouble[200] = "";
    unsigned wait = 0;
    peer_start(&peer);
    CLEANUP(api_client) struct api_client *client = connect_to(peer.url, &err);
    CLEANUP(lease) struct lease *lease = lease_create(&settings, &err);
    assert_true(client && lease);
    assert_false(lease_turn(lease, client, 0, NOON, &wait, trouble, sizeof(trouble)));
    assert_string_equal(trouble, "Lease a/parplan: 404 NotFound: namespaces \"a\" not found");
    fake_api_stop(peer.api);
}

/* etcd was restored from a backup: the object is an older one, and so is its version. */
static void a_lease_that_went_back_is_noticed_once(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static const struct {
        unsigned version; /* 0: as it is */
        char who;
        bool leads, went_back;
    } steps[] = {
        {95, 'a', true, false}, {0, 'b', false, false}, {0, 'a', true, false},
        {9, 'b', false, true},                        /* it only reads */
        {0, 'b', false, false}, {0, 'a', true, true}, /* its write is refused, then it reads */
        {0, 'a', true, false},  {0, 'b', false, false}, {1000, 'a', true, false},
    };
    struct lease_settings settings = {"a", "parplan", "a", 10, 7, 2};
    struct peer peer = {.answer = answer_lease};
    struct error_info err = {.kind = ERROR_NONE};
    lease_object[0] = '\0';
    peer_start(&peer);
    CLEANUP(api_client) struct api_client *client = connect_to(peer.url, &err);
    CLEANUP(lease) struct lease *a = lease_create(&settings, &err);
    settings.identity = "b";
    CLEANUP(lease) struct lease *b = lease_create(&settings, &err);
    assert_true(client && a && b);
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        struct lease *lease = steps[i].who == 'a' ? a : b;
        char trouble[200] = "";
        unsigned wait;
        if (steps[i].version > 0)
            lease_version = steps[i].version;
        bool leads = lease_turn(lease, client, i * 1000, NOON + i, &wait, trouble, sizeof(trouble));
        bool went_back = lease_went_back(lease);
        if (leads != steps[i].leads || went_back != steps[i].went_back || trouble[0])
            fail_msg("step %zu: leads %d, went back %d, '%s'", i, leads, went_back, trouble);
        assert_false(lease_went_back(lease));
    }
    fake_api_stop(peer.api);
}

static void a_lease_wants_sensible_times(void **state)
{
    (void)state;
    static const struct lease_settings rows[] = {
        {"a", "l", "me", 10, 10, 2},
        {"a", "l", "me", 10, 7, 7},
        {"a", "l", "me", 10, 7, 0},
        {"a", "l", "", 10, 7, 2},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        assert_null(lease_create(&rows[i], &err));
        assert_non_null(strstr(err.text, "Lease"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_connection_serves_many),
        cmocka_unit_test(no_redirect_is_followed),
        cmocka_unit_test(a_token_is_read_again_after_401),
        cmocka_unit_test(a_kubeconfig_is_read_again),
        cmocka_unit_test(no_answer_is_an_error),
        cmocka_unit_test(a_refused_connection_is_an_error),
        cmocka_unit_test(tls_judges_the_server_and_shows_the_client),
        cmocka_unit_test(sizes_are_asked_for),
        cmocka_unit_test(events_are_counted_up),
        cmocka_unit_test(one_leads_at_a_time),
        cmocka_unit_test(a_lease_that_cannot_be_made_is_told),
        cmocka_unit_test(a_lease_that_went_back_is_noticed_once),
        cmocka_unit_test(a_lease_wants_sensible_times),
    };
    if (!file_tree_begin())
        return 1;
    int failed = unit_test_main("k8s_extender/api_client", tests, COUNT_OF(tests));
    file_tree_end();
    return failed;
}
