/* SPDX-License-Identifier: MIT */
#include "tests/support/fake_api.h"
#include "k8s_extender/api/time_now.h"
#include "tests/support/loopback_peer.h"

#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define STEP_MILLISECONDS 20u

struct fake_api {
    int listener;
    uint16_t port;
    pthread_t thread;
    bool stopping;
    fake_api_fn answer;
    void *context;
    struct fake_exchange exchange;
};

static bool is_stopping(const bool *stopping)
{
    return __atomic_load_n(stopping, __ATOMIC_ACQUIRE);
}

/* Whether there is something to read (or an end to see) before the time is over. */
static bool wait_readable(int fd, const bool *stopping, unsigned milliseconds)
{
    uint64_t end = time_now_milliseconds() + milliseconds;
    while (time_now_milliseconds() < end && !is_stopping(stopping)) {
        struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
        if (poll(&poll_fd, 1, STEP_MILLISECONDS) > 0)
            return true;
    }
    return false;
}

bool fake_api_bytes(struct fake_exchange *exchange, const char *bytes, size_t count)
{
    bool sent = loopback_send(exchange->fd, bytes, count);
    exchange->close |= !sent;
    return sent;
}

bool fake_api_text(struct fake_exchange *exchange, const char *text)
{
    return fake_api_bytes(exchange, text, strlen(text));
}

void fake_api_answer(struct fake_exchange *exchange, unsigned status, const char *headers,
                     const char *body)
{
    char head[256];
    snprintf(head, sizeof(head),
             "HTTP/1.1 %u Word\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n",
             status, strlen(body));
    if (fake_api_text(exchange, head) && fake_api_text(exchange, headers) &&
        fake_api_text(exchange, "\r\n"))
        fake_api_text(exchange, body);
}

void fake_api_begin(struct fake_exchange *exchange)
{
    fake_api_text(exchange, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                            "Transfer-Encoding: chunked\r\n\r\n");
}

void fake_api_chunk(struct fake_exchange *exchange, const char *text)
{
    char head[32];
    snprintf(head, sizeof(head), "%zx\r\n", strlen(text));
    if (fake_api_text(exchange, head) && fake_api_text(exchange, text))
        fake_api_text(exchange, "\r\n");
}

void fake_api_end(struct fake_exchange *exchange) { fake_api_text(exchange, "0\r\n\r\n"); }

void fake_api_reset(struct fake_exchange *exchange)
{
    const struct linger hard = {.l_onoff = 1, .l_linger = 0};
    setsockopt(exchange->fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
    exchange->close = true;
}

void fake_api_wait(struct fake_exchange *exchange, unsigned milliseconds)
{
    if (wait_readable(exchange->fd, exchange->stopping, milliseconds))
        exchange->close = true;
}

/* --- the thread ------------------------------------------------------------------------------ */

static size_t content_length(const char *request)
{
    static const char name[] = "Content-Length: ";
    const char *found = strstr(request, name);
    size_t length = 0;
    for (const char *digit = found ? found + strlen(name) : ""; *digit >= '0' && *digit <= '9';
         digit++)
        length = length * 10 + (size_t)(*digit - '0');
    return length;
}

static bool read_more(struct fake_api *api, int fd, char *into, size_t *length)
{
    if (*length + 1 >= FAKE_API_REQUEST_BYTES || !wait_readable(fd, &api->stopping, 60000))
        return false;
    ssize_t got = recv(fd, into + *length, FAKE_API_REQUEST_BYTES - 1 - *length, 0);
    if (got <= 0)
        return false;
    *length += (size_t)got;
    into[*length] = '\0';
    return true;
}

static bool read_request(struct fake_api *api)
{
    struct fake_exchange *exchange = &api->exchange;
    size_t length = 0, body_length;
    char *end;
    exchange->request[0] = '\0';
    while (!(end = strstr(exchange->request, "\r\n\r\n")))
        if (!read_more(api, exchange->fd, exchange->request, &length))
            return false;
    body_length = length - (size_t)(end + 4 - exchange->request);
    memcpy(exchange->body, end + 4, body_length + 1);
    end[2] = '\0';
    while (body_length < content_length(exchange->request))
        if (!read_more(api, exchange->fd, exchange->body, &body_length))
            return false;
    return true;
}

static void *serve(void *context)
{
    struct fake_api *api = context;
    struct fake_exchange *exchange = &api->exchange;
    while (!is_stopping(&api->stopping)) {
        if (!wait_readable(api->listener, &api->stopping, 60000))
            continue;
        exchange->fd = accept(api->listener, NULL, NULL);
        if (exchange->fd < 0)
            continue;
        for (exchange->close = false; !exchange->close && read_request(api); exchange->number++)
            api->answer(api->context, exchange);
        close(exchange->fd);
        exchange->connection++;
    }
    return NULL;
}

static bool listen_somewhere(struct fake_api *api)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof(address);
    api->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (api->listener < 0 || bind(api->listener, (struct sockaddr *)&address, bytes) < 0 ||
        listen(api->listener, 16) < 0 ||
        getsockname(api->listener, (struct sockaddr *)&address, &bytes) < 0)
        return false;
    api->port = ntohs(address.sin_port);
    return true;
}

struct fake_api *fake_api_start(fake_api_fn answer, void *context)
{
    struct fake_api *api = calloc(1, sizeof(*api));
    if (!api)
        return NULL;
    api->answer = answer;
    api->context = context;
    api->exchange.stopping = &api->stopping;
    if (listen_somewhere(api) && pthread_create(&api->thread, NULL, serve, api) == 0)
        return api;
    if (api->listener >= 0)
        close(api->listener);
    free(api);
    return NULL;
}

void fake_api_stop(struct fake_api *api)
{
    if (!api)
        return;
    __atomic_store_n(&api->stopping, true, __ATOMIC_RELEASE);
    pthread_join(api->thread, NULL);
    close(api->listener);
    free(api);
}

void fake_api_url(const struct fake_api *api, char ret[FAKE_API_URL_BYTES])
{
    snprintf(ret, FAKE_API_URL_BYTES, "http://127.0.0.1:%u", api->port);
}
