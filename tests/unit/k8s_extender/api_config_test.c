/* SPDX-License-Identifier: MIT */
/* What api_client.h has without a server: its configuration, and the words of answers. */
#include "base/text_file.h"
#include "k8s_extender/api/api_client.h"
#include "k8s_extender/api/config/base64.h"
#include "tests/support/file_tree.h"
#include "tests/support/unit_test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_BYTES (FILE_TREE_ROOT_BYTES + 64)

/* --- in a pod ------------------------------------------------------------------------------ */

static const char *host_value, *port_value;

static const char *get(const char *name)
{
    return strcmp(name, "KUBERNETES_SERVICE_HOST") == 0 ? host_value : port_value;
}

static void a_pod_knows_its_server(void **state)
{
    (void)state;
    static const struct {
        const char *host, *port, *server, *error;
    } rows[] = {
        {"10.0.0.1", "443", "https://10.0.0.1:443", NULL},
        {"10.0.0.1", NULL, "https://10.0.0.1:443", NULL},
        {"fd00::1", "6443", "https://[fd00::1]:6443", NULL},
        {"kubernetes.default.svc", "6443", "https://kubernetes.default.svc:6443", NULL},
        {NULL, "443", NULL, "KUBERNETES_SERVICE_HOST is not set"},
        {"", "443", NULL, "KUBERNETES_SERVICE_HOST is not set"},
        {"a/b", "443", NULL, "'a/b' is no host"},
        {"10.0.0.1", "0", NULL, "KUBERNETES_SERVICE_PORT"},
        {"10.0.0.1", "65536", NULL, "KUBERNETES_SERVICE_PORT"},
        {"10.0.0.1", "443x", NULL, "KUBERNETES_SERVICE_PORT"},
    };
    char root[FILE_TREE_ROOT_BYTES];
    file_tree_create(root);
    file_tree_write(root, "training\n", "namespace");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        host_value = rows[i].host;
        port_value = rows[i].port;
        CLEANUP(api_config) struct api_config *config = api_config_in_cluster(root, get, &err);
        if (!config != !rows[i].server || (!config && !strstr(err.text, rows[i].error)))
            fail_msg("row %zu: '%s'", i, err.text);
        if (!config)
            continue;
        assert_string_equal(config->server, rows[i].server);
        assert_string_equal(config->namespace, "training");
        assert_non_null(strstr(config->token_file, "/token"));
        assert_non_null(strstr(config->ca_file, "/ca.crt"));
    }
}

/* --- a kubeconfig --------------------------------------------------------------------------- */

#define CONTEXT "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
#define CLUSTER "clusters: [{name: k, cluster: {server: 'https://h:6443'}}]\n"
#define USER "users: [{name: u, user: {token: t}}]\n"

static struct api_config *read_kubeconfig(const char *text, const char *folder,
                                          struct error_info *err)
{
    char root[FILE_TREE_ROOT_BYTES], path[PATH_BYTES];
    file_tree_create(root);
    file_tree_write(root, text, "config");
    snprintf(path, sizeof(path), "%s/config", root);
    return api_config_kubeconfig(path, folder, err);
}

static void reads_the_current_context(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(api_config)
    struct api_config *config = read_kubeconfig(
        "apiVersion: v1\nkind: Config\npreferences: {}\ncurrent-context: two\n"
        "contexts:\n- {name: one, context: {cluster: far, user: nobody}}\n"
        "- name: two\n  context: {cluster: near, user: me, namespace: team}\n"
        "clusters:\n- {name: far, cluster: {server: 'https://far'}}\n"
        "- name: near\n  cluster:\n    server: https://127.0.0.1:6443\n"
        "    insecure-skip-tls-verify: true\n    certificate-authority: pki/ca.crt\n"
        "users:\n- name: me\n  user:\n    token: secret\n    tokenFile: /run/token\n"
        "    client-certificate: me.crt\n    client-key: /keys/me.key\n",
        NULL, &err);
    if (!config)
        fail_msg("%s", err.text);
    assert_string_equal(config->server, "https://127.0.0.1:6443");
    assert_true(config->insecure);
    assert_string_equal(config->namespace, "team");
    assert_string_equal(config->token, "secret");
    assert_string_equal(config->token_file, "/run/token");
    assert_non_null(strstr(config->ca_file, "/pki/ca.crt")); /* beside the kubeconfig */
    assert_true(config->ca_file[0] == '/');
    assert_non_null(strstr(config->certificate_file, "/me.crt"));
    assert_string_equal(config->key_file, "/keys/me.key");
}

static void embedded_data_go_into_files(void **state)
{
    (void)state;
    static const char text[] =
        CONTEXT "clusters: [{name: k, cluster: {server: 'https://h', certificate-authority: no, "
                "certificate-authority-data: 'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCmNh'}}]\n"
                "users: [{name: u, user: {client-certificate-data: "
                "'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCm1l', client-key-data: "
                "'LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtFWS0tLS0tCms='}}]\n";
    char folder[FILE_TREE_ROOT_BYTES];
    file_tree_create(folder);
    for (int in_memory = 0; in_memory < 2; in_memory++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(api_config)
        struct api_config *config = read_kubeconfig(text, in_memory ? NULL : folder, &err);
        if (!config)
            fail_msg("%s", err.text);
        const char *const paths[] = {config->ca_file, config->certificate_file, config->key_file};
        static const char *const contents[] = {"-----BEGIN CERTIFICATE-----\nca",
                                               "-----BEGIN CERTIFICATE-----\nme",
                                               "-----BEGIN EC PRIVATE KEY-----\nk"};
        for (size_t i = 0; i < COUNT_OF(paths); i++) {
            size_t bytes;
            struct stat status;
            CLEANUP_MEMORY char *content = text_file_read(paths[i], 100, &bytes, &err);
            if (!content)
                fail_msg("%s", err.text);
            assert_string_equal(content, contents[i]);
            assert_int_equal(stat(paths[i], &status), 0);
            assert_true(in_memory || (status.st_mode & 0777) == 0600);
        }
    }
}

static const struct {
    const char *text, *error;
} bad_kubeconfigs[] = {
    {"", "config"},
    {"[]", "no kubeconfig file"},
    {"apiVersion: v1\nkind: Pod\nmetadata: {name: x}\n",
     "Pod: it is no kubeconfig file, which is of kind Config"},
    {"kind: [Config]\n", "kind: a text is expected"},
    {CLUSTER USER, "it has no current-context"},
    {"current-context: [a]\n", "current-context: a text is expected"},
    {"current-context: c\n", "contexts: nothing is called 'c'"},
    {"current-context: c\ncontexts: null\n", "contexts: nothing is called 'c'"},
    {"current-context: c\ncontexts: [1, {name: c}]\n", "it has no context"},
    {"current-context: c\ncontexts: [{name: c, context: {}}]\n", "it has no cluster"},
    {CONTEXT USER, "clusters: nothing is called 'k'"},
    {CONTEXT CLUSTER, "users: nothing is called 'u'"},
    {CONTEXT USER "clusters: [{name: k, cluster: {}}]\n", "it has no server"},
    {CONTEXT USER "clusters: [{name: k, cluster: {server: x, proxy-url: 'http://p'}}]\n",
     "proxies are not supported"},
    {CONTEXT USER "clusters: [{name: k, cluster: {server: x, tls-server-name: y}}]\n",
     "tls-server-name: not supported"},
    {CONTEXT USER "clusters: [{name: k, cluster: {server: x, insecure-skip-tls-verify: 7}}]\n",
     "insecure-skip-tls-verify"},
    {CONTEXT USER "clusters: [{name: k, cluster: {server: x, certificate-authority-data: '%%'}}]\n",
     "certificate-authority-data: it is no base64 text"},
    {CONTEXT USER
     "clusters: [{name: k, cluster: {server: x, certificate-authority-data: aGVsbG8=}}]\n",
     "certificate-authority-data: it holds no certificate in PEM form"},
    {CONTEXT CLUSTER "users: [{name: u, user: {client-certificate-data: aGVsbG8=, "
                     "client-key-data: aGVsbG8=}}]\n",
     "client-certificate-data: it holds no certificate in PEM form"},
    {"current-context: c\ncontexts: [{name: c, context: {cluster: k, namespace: "
     "A/b}}]\n" CLUSTER,
     "namespace: 'A/b' is no name of a namespace"},
    {CONTEXT CLUSTER "users: [{name: u, user: {token: \"a\\r\\nX-Remote-User: b\"}}]\n",
     "token: a token has no blanks"},
    {CONTEXT CLUSTER "users: [{name: u, user: {token: 'a b'}}]\n", "token has no blanks"},
    {CONTEXT CLUSTER "users: [{name: u, user: {exec: {command: aws}}}]\n",
     "exec: programs that make credentials are not run; use a token or a certificate"},
    {CONTEXT CLUSTER "users: [{name: u, user: {auth-provider: {name: gcp}}}]\n",
     "plugins are not run"},
    {CONTEXT CLUSTER "users: [{name: u, user: {username: a, password: b}}]\n", "no passwords"},
    {CONTEXT CLUSTER "users: [{name: u, user: {token: t, as: root}}]\n",
     "impersonation is not supported"},
    {CONTEXT CLUSTER "users: [{name: u, user: {client-certificate: a}}]\n",
     "client-certificate and client-key belong together"},
};

static void refuses_with_the_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad_kubeconfigs); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(api_config)
        struct api_config *config = read_kubeconfig(bad_kubeconfigs[i].text, NULL, &err);
        if (config || !strstr(err.text, bad_kubeconfigs[i].error) || !strstr(err.text, "config"))
            fail_msg("row %zu: '%s'", i, err.text);
    }
    struct error_info err = {.kind = ERROR_NONE};
    assert_null(api_config_kubeconfig("/nowhere/config", NULL, &err));
    assert_non_null(strstr(err.text, "/nowhere/config"));
}

/* What a program looks at before it begins. */
static void what_cannot_be_used_is_said_first(void **state)
{
    (void)state;
    static const char pem[] = "text before\n-----BEGIN CERTIFICATE-----\nMII\n";
    static const char key[] = "-----BEGIN PRIVATE KEY-----\nMII\n";
    char root[FILE_TREE_ROOT_BYTES], ca[PATH_BYTES], private[PATH_BYTES], token[PATH_BYTES];
    char empty[PATH_BYTES], foreign[PATH_BYTES];
    file_tree_create(root);
    file_tree_write(root, pem, "ca");
    file_tree_write(root, key, "key");
    file_tree_write(root, "t0k3n\n", "token");
    file_tree_write(root, "\n", "empty");
    file_tree_write(root, "\x01\x02", "foreign");
    snprintf(ca, sizeof(ca), "%s/ca", root);
    snprintf(private, sizeof(private), "%s/key", root);
    snprintf(token, sizeof(token), "%s/token", root);
    snprintf(empty, sizeof(empty), "%s/empty", root);
    snprintf(foreign, sizeof(foreign), "%s/foreign", root);
    const struct {
        struct api_config config;
        const char *error; /* NULL: all is well */
    } rows[] = {
        {{.ca_file = ca, .certificate_file = ca, .key_file = private, .token_file = token}, NULL},
        {{.token = "t"}, NULL},
        {{.server = "ftp://h"}, "no URL that begins with https://"},
        {{.server = "https://h:99999"}, "no URL"},
        {{.ca_file = "/nowhere/ca"}, "/nowhere/ca: No such file or directory"},
        {{.ca_file = root}, "not a regular file"},
        {{.ca_file = private}, "/key: it holds no certificate in PEM form"},
        {{.certificate_file = private, .key_file = private}, "no certificate in PEM form"},
        {{.certificate_file = ca, .key_file = ca}, "/ca: it holds no private key in PEM form"},
        {{.certificate_file = ca, .key_file = "/nowhere/key"}, "/nowhere/key: No such file"},
        {{.token_file = "/nowhere/token"}, "/nowhere/token: No such file"},
        {{.token_file = empty}, "/empty: it holds no token"},
        {{.token_file = foreign}, "/foreign: it holds no token"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct api_config config = rows[i].config;
        struct error_info err = {.kind = ERROR_NONE};
        if (!config.server)
            config.server = "https://h";
        int result = api_config_check(&config, &err);
        if ((result < 0) != (rows[i].error != NULL) ||
            (rows[i].error && (!strstr(err.text, rows[i].error) || err.kind != ERROR_INPUT)))
            fail_msg("row %zu: '%s'", i, err.text);
    }
}

static void decodes_base64(void **state)
{
    (void)state;
    static const struct {
        const char *text, *bytes; /* NULL: refused */
    } rows[] = {
        {"", ""},
        {"YQ==", "a"},
        {"YWI=", "ab"},
        {"YWJj", "abc"},
        {"YWJjZA==", "abcd"},
        {"YW\nJj\r\n ", "abc"},
        {"+/+/", "\xfb\xff\xbf"},
        {"Y", NULL},
        {"YQ", NULL},
        {"YQ=", NULL},
        {"YQ==x", NULL},
        {"Y===", NULL},
        {"YW-j", NULL},
        {"=", NULL},
        {"YWJj====", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t bytes = 77;
        CLEANUP_MEMORY char *decoded = base64_decode(rows[i].text, &bytes);
        if (!decoded != !rows[i].bytes)
            fail_msg("row %zu: %s", i, decoded ? "taken" : "refused");
        if (decoded) {
            assert_int_equal(bytes, strlen(rows[i].bytes));
            assert_string_equal(decoded, rows[i].bytes);
        }
    }
}

/* --- a client without a server ---------------------------------------------------------------- */

static void a_client_wants_a_good_server(void **state)
{
    (void)state;
    static const struct {
        struct api_config config;
        const char *error; /* NULL: taken */
    } rows[] = {
        {{.server = "https://10.0.0.1:6443", .token = "t"}, NULL},
        {{.server = "https://[fd00::1]:6443/base/"}, NULL},
        {{.server = "http://127.0.0.1:8001", .token = "t"}, NULL},
        {{.server = "http://[::1]:8001", .token_file = "/t"}, NULL},
        {{.server = "http://10.0.0.1:8001"}, NULL},
        {{.server = "http://10.0.0.1:8001", .token = "t"}, "a token would be readable on the way"},
        {{.server = "http://localhost:8001", .token = "t"}, NULL},
        {{.server = "http://127.1.2.3:8001", .token = "t"}, NULL},
        {{.server = "http://127.evil.example", .token = "t"},
         "a token would be readable on the way"},
        {{.server = "http://127.0.0.1.evil.example", .token_file = "/t"},
         "a token would be readable on the way"},
        {{.server = "ftp://10.0.0.1"}, "no URL that begins with https://"},
        {{.server = "file:///etc/passwd"}, "no URL that begins with https://"},
        {{.server = "10.0.0.1:6443"}, "no URL that begins with https://"},
        {{.server = ""}, "no URL that begins with https://"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(api_client) struct api_client *client = api_client_create(&rows[i].config, &err);
        if (!client != (rows[i].error != NULL) ||
            (rows[i].error && !strstr(err.text, rows[i].error)))
            fail_msg("row %zu: '%s'", i, err.text);
    }
}

static void answers_become_words(void **state)
{
    (void)state;
    static const struct {
        long status;
        const char *body, *words;
    } rows[] = {
        {409, "{\"kind\":\"Status\",\"reason\":\"Conflict\",\"message\":\"pods \\\"x\\\" …\"}",
         "409 Conflict: pods \"x\" …"},
        {500, "{\"kind\":\"Status\",\"message\":\"two\\nlines\"}", "500: two?lines"},
        {404, "404 page not found\n", "404: 404 page not found"},
        {502, "", "502"},
        {200, "{\"kind\":\"Pod\"}", "200: {\"kind\":\"Pod\"}"},
        {0, "", "no answer"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char words[200];
        const struct api_answer answer = {.status = rows[i].status,
                                          .body = (char *)rows[i].body,
                                          .body_bytes = strlen(rows[i].body)};
        api_answer_words(&answer, words, sizeof(words));
        assert_string_equal(words, rows[i].words);
        char few[8];
        api_answer_words(&answer, few, sizeof(few));
        assert_true(strlen(few) < sizeof(few));
    }
    static const char expired[] = "{\"kind\":\"Status\",\"code\":410}";
    assert_int_equal(api_status_code(expired, strlen(expired)), 410);
    assert_int_equal(api_status_code("{\"code\":410}", 12), 0);
    assert_int_equal(api_status_code("x", 1), 0);
}

static void names_are_escaped(void **state)
{
    (void)state;
    CLEANUP(arena) struct arena *arena = arena_create(4096);
    assert_non_null(arena);
    const char *escaped = api_escape(arena, "a-b.c_d~/?&=%\n\xc3\xa9+ ");
    assert_non_null(escaped);
    assert_string_equal(escaped, "a-b.c_d~%2F%3F%26%3D%25%0A%C3%A9%2B%20");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_knows_its_server),
        cmocka_unit_test(reads_the_current_context),
        cmocka_unit_test(embedded_data_go_into_files),
        cmocka_unit_test(refuses_with_the_place),
        cmocka_unit_test(what_cannot_be_used_is_said_first),
        cmocka_unit_test(decodes_base64),
        cmocka_unit_test(a_client_wants_a_good_server),
        cmocka_unit_test(answers_become_words),
        cmocka_unit_test(names_are_escaped),
    };
    if (!file_tree_begin())
        return 1;
    int failed = unit_test_main("k8s_extender/api_config", tests, COUNT_OF(tests));
    file_tree_end();
    return failed;
}
