/* SPDX-License-Identifier: MIT */
#include "k8s_extender/server/http_connections.h"
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define WATCH_MILLISECONDS 100u /* how late a deadline may be kept */

struct http_connections {
    struct http_connections_settings settings;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* the watcher has something else to do */
    pthread_cond_t rested;  /* none is busy any more */
    pthread_t watcher;
    bool stopping;
    size_t open, busy;
    struct http_connection slots[];
};

static const char late_answer[] = "HTTP/1.1 408 Request Timeout\r\n"
                                  "Connection: close\r\n"
                                  "Content-Type: text/plain; charset=utf-8\r\n"
                                  "Content-Length: 45\r\n"
                                  "\r\n"
                                  "the request did not arrive whole in its time\n";

static struct timespec now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time;
}

uint64_t http_now_milliseconds(void)
{
    struct timespec time = now();
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static struct timespec time_in(unsigned milliseconds)
{
    struct timespec time = now();
    time.tv_sec += milliseconds / 1000;
    time.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    if (time.tv_nsec >= 1000000000) {
        time.tv_nsec -= 1000000000;
        time.tv_sec++;
    }
    return time;
}

/* What the peer has not read yet is still sent; the connection's thread finds its end and closes
 * it. */
static void end_connection(struct http_connection *connection)
{
    connection->deadline_milliseconds = 0;
    shutdown(connection->fd, SHUT_RDWR);
}

/* Whether a request was given up. */
static bool check_deadline(struct http_connection *connection, uint64_t now_milliseconds)
{
    if (!connection->open || connection->deadline_milliseconds == 0 ||
        now_milliseconds < connection->deadline_milliseconds)
        return false;
    bool late = connection->state == CONNECTION_READING;
    if (late && !connection->tls)
        (void)send(connection->fd, late_answer, sizeof(late_answer) - 1,
                   MSG_DONTWAIT | MSG_NOSIGNAL);
    end_connection(connection);
    return late;
}

static void *watch(void *argument)
{
    struct http_connections *connections = argument;
    pthread_mutex_lock(&connections->lock);
    while (!connections->stopping) {
        if (connections->open == 0) {
            pthread_cond_wait(&connections->changed, &connections->lock);
            continue;
        }
        const struct timespec next = time_in(WATCH_MILLISECONDS);
        pthread_cond_timedwait(&connections->changed, &connections->lock, &next);
        uint64_t time = http_now_milliseconds();
        for (size_t i = 0; i < connections->settings.maximum; i++)
            if (check_deadline(&connections->slots[i], time) && connections->settings.late)
                connections->settings.late(connections->settings.context);
    }
    pthread_mutex_unlock(&connections->lock);
    return NULL;
}

static int start(struct http_connections *connections)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&connections->changed, &attributes);
    pthread_cond_init(&connections->rested, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&connections->lock, NULL);
    return pthread_create(&connections->watcher, NULL, watch, connections);
}

static void destroy(struct http_connections *connections)
{
    pthread_cond_destroy(&connections->changed);
    pthread_cond_destroy(&connections->rested);
    pthread_mutex_destroy(&connections->lock);
    memory_free(connections);
}

struct http_connections *http_connections_create(const struct http_connections_settings *settings,
                                                 struct error_info *err)
{
    struct http_connections *connections =
        memory_allocate(sizeof(*connections) + settings->maximum * sizeof(connections->slots[0]));
    if (!connections)
        return error_null(error_set_memory(err));
    connections->settings = *settings;
    int failure = start(connections);
    if (failure == 0)
        return connections;
    destroy(connections);
    return error_null(error_set_system(err, "http server: no thread can be started: %s",
                                       error_errno_text(failure)));
}

void http_connections_free(struct http_connections *connections)
{
    if (!connections)
        return;
    pthread_mutex_lock(&connections->lock);
    connections->stopping = true;
    pthread_cond_broadcast(&connections->changed);
    pthread_mutex_unlock(&connections->lock);
    pthread_join(connections->watcher, NULL);
    destroy(connections);
}

static bool is_busy(const struct http_connection *connection)
{
    return connection->open && connection->state != CONNECTION_IDLE;
}

static void set_state(struct http_connections *connections, struct http_connection *connection,
                      enum connection_state state)
{
    const struct http_connections_settings *settings = &connections->settings;
    /* Who is idle may still need the time of a request for its first line. */
    const unsigned allowed[] = {[CONNECTION_IDLE] =
                                    settings->idle_milliseconds + settings->request_milliseconds,
                                [CONNECTION_READING] = settings->request_milliseconds,
                                [CONNECTION_WORKING] = 0,
                                [CONNECTION_ANSWERING] = settings->request_milliseconds};
    connections->busy -= is_busy(connection);
    connection->state = state;
    connection->deadline_milliseconds =
        allowed[state] ? http_now_milliseconds() + allowed[state] : 0;
    connections->busy += is_busy(connection);
    if (connections->busy == 0)
        pthread_cond_broadcast(&connections->rested);
}

struct http_connection *http_connections_open(struct http_connections *connections, int fd,
                                              bool tls, unsigned listener)
{
    struct http_connection *found = NULL;
    pthread_mutex_lock(&connections->lock);
    for (size_t i = 0; i < connections->settings.maximum && !found; i++)
        if (!connections->slots[i].open)
            found = &connections->slots[i];
    if (found) {
        *found = (struct http_connection){.fd = fd, .open = true, .tls = tls, .listener = listener};
        set_state(connections, found, CONNECTION_IDLE);
        if (connections->open++ == 0)
            pthread_cond_broadcast(&connections->changed);
    }
    pthread_mutex_unlock(&connections->lock);
    return found;
}

void http_connections_close(struct http_connections *connections,
                            struct http_connection *connection)
{
    pthread_mutex_lock(&connections->lock);
    set_state(connections, connection, CONNECTION_IDLE);
    connection->open = false;
    connections->open--;
    pthread_mutex_unlock(&connections->lock);
}

void http_connections_enter(struct http_connections *connections,
                            struct http_connection *connection, enum connection_state state)
{
    pthread_mutex_lock(&connections->lock);
    set_state(connections, connection, state);
    pthread_mutex_unlock(&connections->lock);
}

size_t http_connections_count(struct http_connections *connections, unsigned listener)
{
    size_t count = 0;
    pthread_mutex_lock(&connections->lock);
    for (size_t i = 0; i < connections->settings.maximum; i++)
        count += connections->slots[i].open && connections->slots[i].listener == listener;
    pthread_mutex_unlock(&connections->lock);
    return count;
}

void http_connections_drain(struct http_connections *connections, unsigned milliseconds)
{
    const struct timespec end = time_in(milliseconds);
    pthread_mutex_lock(&connections->lock);
    while (connections->busy > 0 &&
           pthread_cond_timedwait(&connections->rested, &connections->lock, &end) == 0)
        continue;
    pthread_mutex_unlock(&connections->lock);
}

void http_connections_shut(struct http_connections *connections, unsigned listener)
{
    pthread_mutex_lock(&connections->lock);
    for (size_t i = 0; i < connections->settings.maximum; i++)
        if (connections->slots[i].open && connections->slots[i].listener <= listener)
            end_connection(&connections->slots[i]);
    pthread_mutex_unlock(&connections->lock);
}
