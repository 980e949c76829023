/* SPDX-License-Identifier: MIT */
/* What api_client shows and believes: tokens, kubeconfigs, certificates, all of which are read
 * again when they change. Threads: not in torture. */
#include "base/text_file.h"
#include "k8s_extender/api/api_client.h"
#include "k8s_extender/server/http_server.h"
#include "tests/support/api_peer.h"
#include "tests/support/tls_peer.h"
#include "tests/support/unit_test.h"

#include <stdio.h>
#include <string.h>

/* --- the token -------------------------------------------------------------------------------- */

/* "new" is good; where "old" comes the kubelet has just replaced it. */
static void answer_token(struct api_peer *peer, struct fake_exchange *exchange)
{
    bool good = strstr(exchange->request, "Authorization: Bearer new\r\n") != NULL;
    if (!good && strstr(exchange->request, "GET /replaced"))
        file_tree_replace(peer->path, "new\n");
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

static void write_kubeconfig(const struct api_peer *peer, const char *url, const char *context,
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
    file_tree_replace(peer->path, text);
}

/* "new" is good; where "old" comes to /replaced the file has just been written again. */
static void answer_renewed(struct api_peer *peer, struct fake_exchange *exchange)
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
    struct api_peer peer = {.answer = answer_renewed};
    struct error_info err = {.kind = ERROR_NONE};
    char root[FILE_TREE_ROOT_BYTES];
    file_tree_create(root);
    snprintf(peer.path, sizeof(peer.path), "%s/kubeconfig", root);
    api_peer_start(&peer);
    write_kubeconfig(&peer, peer.url, "c", "old");
    CLEANUP(api_config)
    struct api_config *config = api_config_kubeconfig(peer.path, NULL, &err);
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
            file_tree_replace(peer.path, "kind: Config\nusers: [{na");
        if (api_client_send(client, &request, &answer, &err) < 0)
            fail_msg("%s: %s", rows[i].path, err.text);
        if (answer.status != rows[i].status)
            fail_msg("%s: %ld", rows[i].path, answer.status);
    }
    api_peer_stop(&peer);
}

static void a_token_is_read_again_after_401(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    struct api_peer peer = {.answer = answer_token};
    struct error_info err = {.kind = ERROR_NONE};
    char root[FILE_TREE_ROOT_BYTES], body[64] = "";
    file_tree_create(root);
    snprintf(peer.path, sizeof(peer.path), "%s/token", root);
    api_peer_start(&peer);
    const struct api_config config = {
        .server = peer.url, .user_agent = "t", .token_file = peer.path};
    CLEANUP(api_client) struct api_client *client = api_client_create(&config, &err);
    assert_non_null(client);
    struct api_request request = {.method = "GET", .path = "/same"};
    struct api_answer answer = {.status = 0};
    assert_int_equal(api_client_send(client, &request, &answer, &err), -1); /* no file yet */
    assert_non_null(strstr(err.text, "/token"));
    file_tree_replace(peer.path, "old");
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
    api_peer_stop(&peer);
}

/* --- TLS -------------------------------------------------------------------------------------- */

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
    char ca[API_PEER_PATH_BYTES], used_ca[API_PEER_PATH_BYTES]; /* used_ca: another's, at first */
    char server[API_PEER_PATH_BYTES], server_key[API_PEER_PATH_BYTES], client[API_PEER_PATH_BYTES],
        client_key[API_PEER_PATH_BYTES];
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
        snprintf(paths[i].path, API_PEER_PATH_BYTES, "%s/%s", root, paths[i].name);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kubeconfig_is_read_again),
        cmocka_unit_test(a_token_is_read_again_after_401),
        cmocka_unit_test(tls_judges_the_server_and_shows_the_client),
    };
    if (!file_tree_begin())
        return 1;
    int failed = unit_test_main("k8s_extender/api_credentials", tests, COUNT_OF(tests));
    file_tree_end();
    return failed;
}
