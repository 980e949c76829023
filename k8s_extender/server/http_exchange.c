/* SPDX-License-Identifier: MIT */
#include "k8s_extender/server/http_exchange.h"
#include "base/parse_number.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define TEXT_BYTES 512u
#define FIRST_BODY_BYTES ((size_t)16 << 10)
#define LARGEST_LENGTH (UINT64_MAX >> 1)
#define PLAIN_TEXT "text/plain; charset=utf-8"

struct http_exchange {
    struct http_listener *listener;
    struct http_connection *connection;
    const struct http_route *route; /* NULL: no such path, or not with that method */
    struct timespec begin;
    unsigned status; /* of a refusal; 0: none so far */
    char text[TEXT_BYTES];
    char *body;
    size_t bytes, capacity;
    uint64_t length; /* as announced; 0: none, or unknown */
    uint64_t dropped;
};

static struct http_connection *connection_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/* --- refusals --------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static void refuse(struct http_exchange *exchange,
                                                         unsigned status, const char *format, ...)
{
    va_list arguments;
    if (exchange->status != 0)
        return;
    exchange->status = status;
    va_start(arguments, format);
    text_format(exchange->text, sizeof(exchange->text) - 1, format, arguments);
    va_end(arguments);
    error_clean_text(exchange->text);
}

static bool method_matches(const struct http_route *route, const char *method)
{
    return strcmp(route->method, method) == 0 ||
           (strcmp(route->method, "GET") == 0 && strcmp(method, "HEAD") == 0);
}

static void find_route(struct http_exchange *exchange, const char *path, const char *method)
{
    const struct http_service *service = exchange->listener->service;
    bool path_known = false;
    for (size_t i = 0; i < service->route_count; i++) {
        const struct http_route *route = &service->routes[i];
        if (strcmp(route->path, path) != 0)
            continue;
        path_known = true;
        if (method_matches(route, method)) {
            exchange->route = route;
            return;
        }
    }
    if (path_known)
        refuse(exchange, MHD_HTTP_METHOD_NOT_ALLOWED, "%.16s is not possible here", method);
    else
        refuse(exchange, MHD_HTTP_NOT_FOUND, "there is no %.200s here", path);
}

/* --- the header ------------------------------------------------------------------- */

struct body_header {
    unsigned lengths, encodings;
    bool chunked;
    const char *length;
};

static enum MHD_Result note_header(void *context, enum MHD_ValueKind kind, const char *name,
                                   const char *value)
{
    struct body_header *header = context;
    (void)kind;
    if (strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0) {
        header->lengths++;
        header->length = value;
    } else if (strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0) {
        header->encodings++;
        header->chunked = value && strcasecmp(value, "chunked") == 0;
    }
    return MHD_YES;
}

/* Two statements of the length are how requests are smuggled past proxies. */
static void judge_length(struct http_exchange *exchange, struct MHD_Connection *connection)
{
    struct body_header header = {.lengths = 0};
    MHD_get_connection_values(connection, MHD_HEADER_KIND, note_header, &header);
    if (header.lengths + header.encodings > 1)
        refuse(exchange, MHD_HTTP_BAD_REQUEST, "the length of the body is stated twice");
    else if (header.encodings == 1 && !header.chunked)
        refuse(exchange, MHD_HTTP_BAD_REQUEST,
               "the only Transfer-Encoding that is taken is chunked");
    else if (header.lengths == 1 &&
             parse_unsigned(header.length, 0, LARGEST_LENGTH, &exchange->length, NULL) < 0)
        refuse(exchange, MHD_HTTP_BAD_REQUEST, "Content-Length is no number of bytes");
}

static void refuse_size(struct http_exchange *exchange)
{
    refuse(exchange, MHD_HTTP_CONTENT_TOO_LARGE,
           "the body is too large: at most %zu bytes are taken",
           exchange->route ? exchange->route->body_maximum_bytes : 0);
}

static void judge_peer(struct http_exchange *exchange, struct MHD_Connection *connection)
{
    struct http_connection *state = exchange->connection;
    if (!exchange->listener->tls || !exchange->route || exchange->route->open)
        return;
    uint64_t now = http_now_milliseconds();
    if (!state->checked || now - state->checked_milliseconds > HTTP_TRUST_MILLISECONDS) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
        state->trusted =
            info && http_tls_check_peer(info->tls_session, state->peer, sizeof(state->peer),
                                        state->why, sizeof(state->why));
        state->checked = true;
        state->checked_milliseconds = now;
    }
    if (!state->trusted)
        refuse(exchange, MHD_HTTP_FORBIDDEN, "%s", state->why);
}

static void judge_header(struct http_exchange *exchange, struct MHD_Connection *connection,
                         const char *path, const char *method)
{
    if (atomic_load(&exchange->listener->service->stopping))
        refuse(exchange, MHD_HTTP_SERVICE_UNAVAILABLE, "parplan is stopping");
    judge_length(exchange, connection);
    find_route(exchange, path, method);
    judge_peer(exchange, connection);
    if (exchange->route && exchange->length > exchange->route->body_maximum_bytes)
        refuse_size(exchange);
}

/* --- the answer ------------------------------------------------------------------- */

static double seconds_since(const struct timespec *begin)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begin->tv_sec) + (double)(now.tv_nsec - begin->tv_nsec) * 1e-9;
}

static void add_allowed(struct MHD_Response *response, const struct http_service *service,
                        const char *path)
{
    char allowed[TEXT_BYTES] = "";
    for (size_t i = 0; i < service->route_count; i++) {
        size_t used = strlen(allowed);
        if (strcmp(service->routes[i].path, path) == 0)
            snprintf(allowed + used, sizeof(allowed) - used, "%s%s", used ? ", " : "",
                     service->routes[i].method);
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, allowed);
}

/* Takes the text. */
static struct MHD_Response *make_response(struct text_buffer *text)
{
    size_t bytes = text->length;
    char *taken = bytes > 0 ? text_buffer_take(text) : NULL;
    if (!taken)
        return MHD_create_response_from_buffer(0, (void *)(uintptr_t) "", MHD_RESPMEM_PERSISTENT);
    struct MHD_Response *response =
        MHD_create_response_from_buffer_with_free_callback(bytes, taken, memory_free);
    if (!response)
        memory_free(taken);
    return response;
}

static enum MHD_Result send_answer(struct http_exchange *exchange,
                                   struct MHD_Connection *connection, struct http_answer *answer,
                                   const char *path)
{
    struct http_listener *listener = exchange->listener;
    struct http_service *service = listener->service;
    if (text_buffer_failed(&answer->body)) {
        text_buffer_done(&answer->body);
        *answer = (struct http_answer){.status = MHD_HTTP_INTERNAL_SERVER_ERROR, .close = true};
    }
    CLEANUP_DONE(text_buffer) struct text_buffer text = answer->body;
    struct MHD_Response *response = make_response(&text);
    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                            answer->content_type ? answer->content_type : PLAIN_TEXT);
    if (answer->close || atomic_load(&listener->retired) || atomic_load(&service->stopping))
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    if (answer->status == MHD_HTTP_METHOD_NOT_ALLOWED)
        add_allowed(response, service, path);
    unsigned status = answer->status ? answer->status : MHD_HTTP_OK;
    http_connections_enter(service->connections, exchange->connection, CONNECTION_ANSWERING);
    if (service->observe)
        service->observe(service->context, exchange->route, status,
                         seconds_since(&exchange->begin));
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result answer_refusal(struct http_exchange *exchange,
                                      struct MHD_Connection *connection, const char *path)
{
    /* After a bad length nobody knows where the next request begins. */
    struct http_answer answer = {.status = exchange->status,
                                 .close = exchange->status == MHD_HTTP_BAD_REQUEST};
    text_buffer_init(&answer.body, HTTP_ANSWER_MAXIMUM_BYTES);
    text_buffer_add_text(&answer.body, exchange->text);
    text_buffer_add_text(&answer.body, "\n");
    return send_answer(exchange, connection, &answer, path);
}

static enum MHD_Result answer_request(struct http_exchange *exchange,
                                      struct MHD_Connection *connection, const char *path,
                                      const char *method)
{
    struct http_service *service = exchange->listener->service;
    if (exchange->status != 0)
        return answer_refusal(exchange, connection, path);
    const struct http_request request = {
        .method = method,
        .path = path,
        .body = exchange->body                        ? exchange->body
                : exchange->route->body_maximum_bytes ? ""
                                                      : NULL,
        .body_bytes = exchange->bytes,
        .peer = exchange->connection->trusted ? exchange->connection->peer : NULL};
    struct http_answer answer = {.status = MHD_HTTP_OK};
    text_buffer_init(&answer.body, HTTP_ANSWER_MAXIMUM_BYTES);
    http_connections_enter(service->connections, exchange->connection, CONNECTION_WORKING);
    exchange->route->handler(service->context, &request, &answer);
    return send_answer(exchange, connection, &answer, path);
}

/* --- the body --------------------------------------------------------------------- */

static bool reserve_body(struct http_exchange *exchange, size_t bytes)
{
    struct http_service *service = exchange->listener->service;
    bool open = exchange->route->open;
    atomic_size_t *taken = open ? &service->open_body_bytes : &service->body_bytes;
    size_t maximum = open ? HTTP_OPEN_BODIES_MAXIMUM_BYTES : HTTP_BODIES_MAXIMUM_BYTES;
    if (atomic_fetch_add(taken, bytes) + bytes <= maximum)
        return true;
    atomic_fetch_sub(taken, bytes);
    return false;
}

static void release_body(struct http_exchange *exchange, size_t bytes)
{
    struct http_service *service = exchange->listener->service;
    if (bytes > 0)
        atomic_fetch_sub(exchange->route->open ? &service->open_body_bytes : &service->body_bytes,
                         bytes);
}

static void drop_body(struct http_exchange *exchange)
{
    release_body(exchange, exchange->capacity);
    memory_free(exchange->body);
    exchange->body = NULL;
    exchange->bytes = exchange->capacity = 0;
}

/* The announced length at once where it is small, else as it comes. */
static int grow_body(struct http_exchange *exchange, size_t needed)
{
    size_t maximum = exchange->route->body_maximum_bytes + 1;
    size_t capacity = exchange->capacity ? exchange->capacity * 2 : FIRST_BODY_BYTES;
    while (capacity < needed)
        capacity *= 2;
    if (exchange->length > 0 && exchange->length < capacity)
        capacity = (size_t)exchange->length + 1;
    if (capacity > maximum)
        capacity = maximum;
    size_t more = capacity - exchange->capacity;
    if (!reserve_body(exchange, more))
        return -1;
    char *grown = memory_grow_array(exchange->body, exchange->capacity, capacity, 1);
    if (!grown) {
        release_body(exchange, more);
        return -1;
    }
    exchange->body = grown;
    exchange->capacity = capacity;
    return 0;
}

/* What is refused is dropped. MHD_NO ends the connection. */
static enum MHD_Result take_body(struct http_exchange *exchange, const char *data, size_t bytes)
{
    if (exchange->status == 0 && bytes > exchange->route->body_maximum_bytes - exchange->bytes)
        refuse_size(exchange);
    if (exchange->status == 0 && exchange->bytes + bytes + 1 > exchange->capacity &&
        grow_body(exchange, exchange->bytes + bytes + 1) < 0)
        refuse(exchange, MHD_HTTP_SERVICE_UNAVAILABLE, "there is no memory for the body");
    if (exchange->status == 0) {
        memcpy(exchange->body + exchange->bytes, data, bytes);
        exchange->bytes += bytes;
        exchange->body[exchange->bytes] = '\0';
        return MHD_YES;
    }
    drop_body(exchange);
    exchange->dropped += bytes;
    return exchange->dropped <= HTTP_DRAIN_MAXIMUM_BYTES ? MHD_YES : MHD_NO;
}

/* --- libmicrohttpd's calls -------------------------------------------------------- */

static enum MHD_Result start_exchange(struct http_listener *listener,
                                      struct MHD_Connection *connection, const char *path,
                                      const char *method, void **ret)
{
    struct http_connection *state = connection_of(connection);
    struct http_exchange *exchange = state ? memory_allocate(sizeof(*exchange)) : NULL;
    if (!exchange)
        return MHD_NO;
    *ret = exchange;
    exchange->listener = listener;
    exchange->connection = state;
    clock_gettime(CLOCK_MONOTONIC, &exchange->begin);
    judge_header(exchange, connection, path, method);
    bool waits =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_EXPECT) != NULL;
    if (exchange->status != 0 && (waits || exchange->length > HTTP_DRAIN_MAXIMUM_BYTES))
        return answer_refusal(exchange, connection, path);
    return MHD_YES;
}

enum MHD_Result http_exchange_handle(void *listener, struct MHD_Connection *connection,
                                     const char *path, const char *method, const char *version,
                                     const char *data, size_t *bytes, void **exchange)
{
    (void)version;
    if (!*exchange)
        return start_exchange(listener, connection, path, method, exchange);
    if (*bytes > 0) {
        enum MHD_Result result = take_body(*exchange, data, *bytes);
        *bytes = 0;
        return result;
    }
    return answer_request(*exchange, connection, path, method);
}

void http_exchange_completed(void *listener, struct MHD_Connection *connection, void **exchange,
                             enum MHD_RequestTerminationCode code)
{
    const struct http_listener *of = listener;
    struct http_connection *state = connection_of(connection);
    (void)code;
    if (*exchange) {
        drop_body(*exchange);
        memory_free(*exchange);
        *exchange = NULL;
    }
    if (state)
        http_connections_enter(of->service->connections, state, CONNECTION_IDLE);
}

void http_exchange_connection(void *listener, struct MHD_Connection *connection, void **context,
                              enum MHD_ConnectionNotificationCode code)
{
    const struct http_listener *of = listener;
    struct http_connections *connections = of->service->connections;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        *context =
            info ? http_connections_open(connections, info->connect_fd, of->tls != NULL, of->number)
                 : NULL;
    } else if (*context) {
        http_connections_close(connections, *context);
        *context = NULL;
    }
}

void *http_exchange_begin(void *listener, const char *target, struct MHD_Connection *connection)
{
    const struct http_listener *of = listener;
    struct http_connection *state = connection_of(connection);
    (void)target;
    if (state)
        http_connections_enter(of->service->connections, state, CONNECTION_READING);
    return NULL;
}
