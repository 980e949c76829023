/* SPDX-License-Identifier: MIT */
#include "k8s_extender/api/api_client.h"
#include "base/name_index.h"
#include "base/text_file.h"
#include "k8s_extender/api/time_now.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#define POLL_MILLISECONDS 200 /* how often must_end and the client's flag are asked */
#define RECEIVE_BUFFER_BYTES 65536L
#define CONFIG_MAXIMUM_BYTES ((size_t)1 << 20)
#define TARGET_BYTES 256 /* of a URL in a message */

struct api_client {
    struct api_config config; /* its texts in the arena */
    struct arena *arena;
    char *token; /* of token_file; NULL: not read yet */
    uint64_t token_milliseconds;
    uint64_t files_digest; /* of the TLS files when the handles were made */
    uint64_t kubeconfig_digest;
    struct api_config *renewed; /* owns the credentials of `config`; NULL: the arena does */
    bool is_loopback, is_plain;
    CURLM *multi;
    CURL *easy;
    unsigned retry_after_seconds;
    const bool *stop; /* or NULL; set by another thread */
};

struct transfer {
    struct api_client *client;
    const struct api_request *request;
    unsigned idle_seconds;
    api_end_fn must_end; /* or NULL */
    api_receive_fn receive;
    void *context;
    struct curl_slist *headers;
    bool may_repeat; /* a 401 is held back: the credentials are read again */
    long status;
    uint64_t heard_milliseconds;
    bool ended; /* by the receiver, or by must_end */
    bool idle;
    uint64_t stop_milliseconds; /* when the flag was first seen; 0: not yet */
    bool stopped;
    char reason[CURL_ERROR_SIZE];
};

static void start_curl(void) { curl_global_init(CURL_GLOBAL_DEFAULT); }

/* --- what the server is --------------------------------------------------------------- */

/* A name that begins like an address may be anybody's. */
static bool host_is_loopback(const char *host)
{
    struct in_addr address;
    return strcmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0 ||
           (inet_pton(AF_INET, host, &address) == 1 && ntohl(address.s_addr) >> 24 == 127);
}

static int inspect_server(struct api_client *client, struct error_info *err)
{
    CURLU *url = curl_url();
    char *scheme = NULL, *host = NULL;
    if (!url)
        return error_set_memory(err);
    CURLUcode bad = curl_url_set(url, CURLUPART_URL, client->config.server, 0);
    if (!bad && !(bad = curl_url_get(url, CURLUPART_SCHEME, &scheme, 0)))
        bad = curl_url_get(url, CURLUPART_HOST, &host, 0);
    bool is_http = !bad && (strcmp(scheme, "https") == 0 || strcmp(scheme, "http") == 0);
    if (is_http) {
        client->is_plain = strcmp(scheme, "http") == 0;
        client->is_loopback = host_is_loopback(host);
    }
    curl_free(scheme);
    curl_free(host);
    curl_url_cleanup(url);
    if (!is_http)
        return error_set(err, "server '%s': it is no URL that begins with https://",
                         client->config.server);
    if (client->is_plain && !client->is_loopback &&
        (client->config.token || client->config.token_file))
        return error_set(err, "server '%s': a token would be readable on the way; use https",
                         client->config.server);
    return 0;
}

/* --- files that change ---------------------------------------------------------------- */

static uint64_t file_digest(uint64_t hash, const char *path)
{
    struct stat status;
    if (!path || stat(path, &status) < 0)
        return name_hash_add(hash, "-", 1);
    hash = name_hash_add(hash, &status.st_mtim, sizeof(status.st_mtim));
    hash = name_hash_add(hash, &status.st_ino, sizeof(status.st_ino));
    return name_hash_add(hash, &status.st_size, sizeof(status.st_size));
}

static uint64_t files_digest(const struct api_client *client)
{
    uint64_t hash = file_digest(NAME_HASH_START, client->config.ca_file);
    hash = file_digest(hash, client->config.certificate_file);
    return file_digest(hash, client->config.key_file);
}

static void handles_close(struct api_client *client)
{
    curl_easy_cleanup(client->easy);
    curl_multi_cleanup(client->multi);
    client->easy = NULL;
    client->multi = NULL;
}

/* Connections that were made with an older CA or certificate go with their handles. */
static int handles_open(struct api_client *client, struct error_info *err)
{
    uint64_t digest = files_digest(client);
    if (client->easy && client->multi && digest == client->files_digest)
        return 0;
    handles_close(client);
    client->easy = curl_easy_init();
    client->multi = curl_multi_init();
    client->files_digest = digest;
    return client->easy && client->multi ? 0 : error_set_memory(err);
}

/* A token file that cannot be read leaves the token that there was: it may be good for long. */
static int token_read(struct api_client *client, bool now, struct error_info *err)
{
    uint64_t clock = time_now_milliseconds();
    if (!client->config.token_file)
        return 0;
    if (client->token && !now &&
        clock - client->token_milliseconds < API_TOKEN_SECONDS * UINT64_C(1000))
        return 0;
    struct error_info why = {.kind = ERROR_NONE};
    CLEANUP_MEMORY char *text = api_token_read(client->config.token_file, &why);
    if (text) {
        memory_free(client->token);
        client->token = move_pointer(text);
        client->token_milliseconds = clock;
    }
    if (client->token)
        return 0;
    if (err)
        *err = why;
    return -1;
}

/* The same server by the same context, with the credentials of now. What cannot be read (it is
 * just being written) or leads elsewhere leaves those that there were. */
static void kubeconfig_read(struct api_client *client)
{
    struct api_config *config = &client->config;
    uint64_t digest = file_digest(NAME_HASH_START, config->kubeconfig);
    if (!config->kubeconfig || digest == client->kubeconfig_digest)
        return;
    client->kubeconfig_digest = digest;
    struct api_config *next =
        api_config_kubeconfig_context(config->kubeconfig, config->context, NULL, NULL);
    bool is_open =
        client->is_plain && !client->is_loopback && next && (next->token || next->token_file);
    if (!next || is_open || strcmp(next->server, config->server) != 0) {
        api_config_free(next);
        return;
    }
    config->ca_file = next->ca_file;
    config->token_file = next->token_file;
    config->token = next->token;
    config->certificate_file = next->certificate_file;
    config->key_file = next->key_file;
    handles_close(client); /* they speak for the old ones */
    memory_free(client->token);
    client->token = NULL;
    api_config_free(client->renewed);
    client->renewed = next;
}

static int credentials_read(struct api_client *client, bool now, struct error_info *err)
{
    kubeconfig_read(client);
    return handles_open(client, err) < 0 || token_read(client, now, err) < 0 ? -1 : 0;
}

/* --- one request ------------------------------------------------------------------------ */

static int add_header(struct transfer *transfer, const char *name, const char *value,
                      struct error_info *err)
{
    CLEANUP_DONE(text_buffer) struct text_buffer line;
    text_buffer_init(&line, API_TOKEN_MAXIMUM_BYTES * 2);
    text_buffer_add(&line, "%s: %s", name, value);
    struct curl_slist *longer = text_buffer_failed(&line)
                                    ? NULL
                                    : curl_slist_append(transfer->headers, text_buffer_text(&line));
    if (!longer)
        return error_set_memory(err);
    transfer->headers = longer;
    return 0;
}

static int make_headers(struct transfer *transfer, struct error_info *err)
{
    const struct api_client *client = transfer->client;
    const char *token = client->token ? client->token : client->config.token;
    CLEANUP_DONE(text_buffer) struct text_buffer bearer;
    text_buffer_init(&bearer, API_TOKEN_MAXIMUM_BYTES * 2);
    if (token)
        text_buffer_add(&bearer, "Bearer %s", token);
    curl_slist_free_all(transfer->headers);
    transfer->headers = NULL;
    if (text_buffer_failed(&bearer))
        return error_set_memory(err);
    if (add_header(transfer, "Accept", "application/json", err) < 0 ||
        add_header(transfer, "Expect", "", err) < 0 ||
        (token && add_header(transfer, "Authorization", text_buffer_text(&bearer), err) < 0))
        return -1;
    const char *type = transfer->request->content_type;
    return type ? add_header(transfer, "Content-Type", type, err) : 0;
}

static int hand_over(struct transfer *transfer, const char *bytes, size_t count)
{
    transfer->heard_milliseconds = time_now_milliseconds();
    if (transfer->status == 0)
        curl_easy_getinfo(transfer->client->easy, CURLINFO_RESPONSE_CODE, &transfer->status);
    if (transfer->status == 401 && transfer->may_repeat)
        return 0;
    if (transfer->receive(transfer->context, transfer->status, bytes, count) == 0)
        return 0;
    transfer->ended = true;
    return -1;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *context)
{
    return hand_over(context, bytes, size * count) < 0 ? 0 : size * count;
}

/* The empty line ends the headers, but for those of an interim answer (100). */
static size_t on_header(char *bytes, size_t size, size_t count, void *context)
{
    struct transfer *transfer = context;
    long status = 0;
    if (size * count != 2 || bytes[0] != '\r')
        return size * count;
    curl_easy_getinfo(transfer->client->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status < 200)
        return size * count;
    return hand_over(transfer, "", 0) < 0 ? 0 : size * count;
}

static void set_tls(const struct api_client *client)
{
    const struct api_config *config = &client->config;
    if (config->ca_file) {
        curl_easy_setopt(client->easy, CURLOPT_CAINFO, config->ca_file);
        curl_easy_setopt(client->easy, CURLOPT_CAPATH, NULL); /* only that one */
    }
    if (config->certificate_file) {
        curl_easy_setopt(client->easy, CURLOPT_SSLCERT, config->certificate_file);
        curl_easy_setopt(client->easy, CURLOPT_SSLKEY, config->key_file);
    }
    curl_easy_setopt(client->easy, CURLOPT_SSL_VERIFYPEER, config->insecure ? 0L : 1L);
    curl_easy_setopt(client->easy, CURLOPT_SSL_VERIFYHOST, config->insecure ? 0L : 2L);
    curl_easy_setopt(client->easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
}

static void set_connection(const struct api_client *client)
{
    CURL *easy = client->easy;
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, (long)API_CONNECT_SECONDS);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, 30L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, 10L);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, RECEIVE_BUFFER_BYTES);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, client->config.user_agent);
    if (client->is_loopback)
        curl_easy_setopt(easy, CURLOPT_PROXY, "");
}

static void set_request(struct transfer *transfer, const char *url)
{
    const struct api_request *request = transfer->request;
    CURL *easy = transfer->client->easy;
    curl_easy_setopt(easy, CURLOPT_URL, url);
    if (request->body) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_bytes);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request->body);
    }
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT, (long)request->timeout_seconds);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->reason);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
}

static bool must_stop(const struct api_client *client)
{
    return client->stop && __atomic_load_n(client->stop, __ATOMIC_ACQUIRE);
}

/* Most answers come within that time, and what came of a writing is worth to know. */
static bool is_stopped(struct transfer *transfer)
{
    if (!must_stop(transfer->client))
        return false;
    uint64_t now = time_now_milliseconds();
    if (transfer->stop_milliseconds == 0)
        transfer->stop_milliseconds = now;
    transfer->stopped = now - transfer->stop_milliseconds >= API_STOP_MILLISECONDS;
    return transfer->stopped;
}

static bool has_to_end(struct transfer *transfer)
{
    if (is_stopped(transfer))
        return true;
    if (transfer->must_end && transfer->must_end(transfer->context)) {
        transfer->ended = true;
        return true;
    }
    uint64_t limit = transfer->idle_seconds * UINT64_C(1000);
    transfer->idle = limit > 0 && time_now_milliseconds() - transfer->heard_milliseconds > limit;
    return transfer->idle;
}

static CURLcode drive(struct transfer *transfer)
{
    CURLM *multi = transfer->client->multi;
    CURLcode result = CURLE_OUT_OF_MEMORY;
    if (curl_multi_add_handle(multi, transfer->client->easy) != CURLM_OK)
        return result;
    transfer->heard_milliseconds = time_now_milliseconds();
    int running = 1, left;
    while (curl_multi_perform(multi, &running) == CURLM_OK && running && !has_to_end(transfer))
        if (curl_multi_poll(multi, NULL, 0, POLL_MILLISECONDS, NULL) != CURLM_OK)
            break;
    CURLMsg *message = curl_multi_info_read(multi, &left);
    if (message && message->msg == CURLMSG_DONE)
        result = message->data.result;
    curl_multi_remove_handle(multi, transfer->client->easy);
    return result;
}

/* " after 3 ms" makes the same failure another text each time. */
static void forget_milliseconds(char *reason)
{
    static const char before[] = " after ", behind[] = " ms";
    char *at = strstr(reason, before);
    char *end = at ? at + strlen(before) + strspn(at + strlen(before), "0123456789") : NULL;
    if (end && strncmp(end, behind, strlen(behind)) == 0)
        memmove(at, end + strlen(behind), strlen(end + strlen(behind)) + 1);
}

/* Without the query, which may be a long token that helps nobody. */
static int error_no_answer(struct transfer *transfer, CURLcode code, struct error_info *err)
{
    const struct api_request *request = transfer->request;
    char target[TARGET_BYTES];
    snprintf(target, sizeof(target), "%s%.*s", transfer->client->config.server,
             (int)strcspn(request->path, "?"), request->path);
    if (transfer->stopped)
        return error_set_system(err, "%s %s: given up, since the program ends", request->method,
                                target);
    if (transfer->idle)
        return error_set_system(err, "%s %s: nothing was heard for %u s", request->method, target,
                                transfer->idle_seconds);
    if (code == CURLE_OUT_OF_MEMORY)
        return error_set_memory(err);
    forget_milliseconds(transfer->reason);
    return error_set_system(err, "%s %s: %s", request->method, target,
                            transfer->reason[0] ? transfer->reason : curl_easy_strerror(code));
}

static int perform_once(struct transfer *transfer, struct error_info *err)
{
    struct api_client *client = transfer->client;
    CLEANUP_DONE(text_buffer) struct text_buffer url;
    text_buffer_init(&url, CONFIG_MAXIMUM_BYTES);
    size_t base = strlen(client->config.server);
    while (base > 0 && client->config.server[base - 1] == '/')
        base--;
    text_buffer_add_bytes(&url, client->config.server, base);
    text_buffer_add_text(&url, transfer->request->path);
    if (text_buffer_failed(&url) || make_headers(transfer, err) < 0)
        return error_set_memory(err);
    transfer->status = 0;
    transfer->reason[0] = '\0';
    curl_easy_reset(client->easy);
    set_tls(client);
    set_connection(client);
    set_request(transfer, text_buffer_text(&url));
    CURLcode code = drive(transfer);
    curl_off_t retry_after = 0;
    curl_easy_getinfo(client->easy, CURLINFO_RETRY_AFTER, &retry_after);
    client->retry_after_seconds =
        retry_after > 0 && retry_after < UINT16_MAX ? (unsigned)retry_after : 0;
    curl_easy_reset(client->easy); /* nothing of it points here any more */
    if (code == CURLE_OK || transfer->ended)
        return 0;
    return error_no_answer(transfer, code, err);
}

static int perform(struct transfer *transfer, struct error_info *err)
{
    struct api_client *client = transfer->client;
    transfer->stopped = must_stop(client);
    if (transfer->stopped)
        return error_no_answer(transfer, CURLE_OK, err);
    if (credentials_read(client, false, err) < 0)
        return -1;
    transfer->may_repeat = client->config.token_file || client->config.kubeconfig;
    int result = perform_once(transfer, err);
    if (result == 0 && transfer->status == 401 && transfer->may_repeat) {
        transfer->may_repeat = false;
        result = credentials_read(client, true, err);
        if (result == 0)
            result = perform_once(transfer, err);
    }
    curl_slist_free_all(transfer->headers);
    transfer->headers = NULL;
    return result;
}

/* --- entry points ----------------------------------------------------------------------- */

static int copy_config(struct api_client *client, const struct api_config *config,
                       struct error_info *err)
{
    const char *const from[] = {config->server,    config->ca_file,          config->token_file,
                                config->token,     config->certificate_file, config->key_file,
                                config->namespace, config->user_agent,       config->kubeconfig,
                                config->context};
    struct api_config *to = &client->config;
    const char **const into[] = {
        &to->server,   &to->ca_file,   &to->token_file, &to->token,      &to->certificate_file,
        &to->key_file, &to->namespace, &to->user_agent, &to->kubeconfig, &to->context};
    to->insecure = config->insecure;
    for (size_t i = 0; i < COUNT_OF(from); i++) {
        *into[i] = from[i] ? arena_copy_text(client->arena, from[i]) : NULL;
        if (from[i] && !*into[i])
            return error_set_memory(err);
    }
    return 0;
}

struct api_client *api_client_create(const struct api_config *config, struct error_info *err)
{
    static pthread_once_t started = PTHREAD_ONCE_INIT;
    pthread_once(&started, start_curl);
    CLEANUP(api_client) struct api_client *client = memory_allocate(sizeof(*client));
    if (!client || !(client->arena = arena_create(CONFIG_MAXIMUM_BYTES)))
        return error_null(error_set_memory(err));
    if (copy_config(client, config, err) < 0 || inspect_server(client, err) < 0)
        return NULL;
    client->kubeconfig_digest = file_digest(NAME_HASH_START, config->kubeconfig);
    return move_pointer(client);
}

void api_client_free(struct api_client *client)
{
    if (!client)
        return;
    handles_close(client);
    memory_free(client->token);
    api_config_free(client->renewed);
    arena_free(client->arena);
    memory_free(client);
}

void api_client_stop_with(struct api_client *client, const bool *stop) { client->stop = stop; }

struct collector {
    struct text_buffer body;
    bool too_large;
};

static int collect(void *context, long status, const char *bytes, size_t count)
{
    struct collector *collector = context;
    (void)status;
    collector->too_large = count > API_ANSWER_MAXIMUM_BYTES - collector->body.length;
    if (collector->too_large)
        return -1;
    text_buffer_add_bytes(&collector->body, bytes, count);
    return text_buffer_failed(&collector->body) ? -1 : 0;
}

int api_client_send(struct api_client *client, const struct api_request *request,
                    struct api_answer *ret, struct error_info *err)
{
    struct api_request bounded = *request;
    if (bounded.timeout_seconds == 0)
        bounded.timeout_seconds = API_REQUEST_SECONDS;
    struct collector collector = {.too_large = false};
    text_buffer_init(&collector.body, API_ANSWER_MAXIMUM_BYTES);
    struct transfer transfer = {
        .client = client, .request = &bounded, .receive = collect, .context = &collector};
    int result = perform(&transfer, err);
    size_t bytes = collector.body.length;
    char *body = result == 0 ? text_buffer_take(&collector.body) : NULL;
    text_buffer_done(&collector.body);
    if (result < 0)
        return -1;
    if (collector.too_large) {
        memory_free(body);
        return error_set_system(err, "%s %s: the answer is larger than %zu bytes", request->method,
                                request->path, API_ANSWER_MAXIMUM_BYTES);
    }
    if (!body)
        return error_set_memory(err);
    *ret = (struct api_answer){.status = transfer.status,
                               .body = body,
                               .body_bytes = bytes,
                               .retry_after_seconds = client->retry_after_seconds};
    return 0;
}

int api_client_stream(struct api_client *client, const struct api_request *request,
                      unsigned idle_seconds, api_end_fn must_end, api_receive_fn receive,
                      void *context, long *ret_status, struct error_info *err)
{
    struct transfer transfer = {.client = client,
                                .request = request,
                                .idle_seconds = idle_seconds,
                                .must_end = must_end,
                                .receive = receive,
                                .context = context};
    if (perform(&transfer, err) < 0)
        return -1;
    *ret_status = transfer.status;
    return 0;
}

unsigned api_client_retry_after(const struct api_client *client)
{
    return client->retry_after_seconds;
}
