/* SPDX-License-Identifier: MIT */
#include "k8s_extender/server/http_server.h"
#include "k8s_extender/server/http_exchange.h"
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define CONNECTIONS_DEFAULT 256u
#define IDLE_SECONDS_DEFAULT 30u
#define REQUEST_SECONDS_DEFAULT 10u
#define RELOAD_SECONDS_DEFAULT 60u
#define MILLISECONDS 1000u
#define LISTEN_BACKLOG 128
#define STACK_BYTES ((size_t)4 << 20)
/* A peer from elsewhere leaves room for others; on loopback all have one address. */
#define ADDRESS_SHARE 4u
/* How long connections of the certificates before may still be used. */
#define RETIRE_MILLISECONDS 10000u
#define OPTIONS_MAXIMUM 16

struct http_server {
    struct http_server_settings settings;
    const char *paths[TLS_FILE_COUNT];
    bool tls;
    struct http_tls_stamp stamp; /* of the files as last tried */
    bool failed;                 /* they could not be used */
    uint64_t tried_milliseconds;
    char said[ERROR_TEXT_BYTES]; /* of files of that stamp; "": nothing */
    int fd;
    uint16_t port;
    bool loopback;
    unsigned next_number;
    struct http_service service;
    struct http_listener *current;
    struct http_listener *retired; /* NULL: none */
};

/* --- the socket ------------------------------------------------------------------- */

static int open_socket(const struct addrinfo *address)
{
    static const int on = 1;
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, LISTEN_BACKLOG) == 0)
        return fd;
    int failure = errno;
    close(fd);
    errno = failure;
    return -1;
}

static void note_address(struct http_server *server)
{
    union {
        struct sockaddr any;
        struct sockaddr_in four;
        struct sockaddr_in6 six;
    } own = {.six = {.sin6_family = AF_UNSPEC}};
    socklen_t bytes = sizeof(own);
    if (getsockname(server->fd, &own.any, &bytes) < 0)
        return;
    if (own.any.sa_family == AF_INET6) {
        server->port = ntohs(own.six.sin6_port);
        server->loopback = IN6_IS_ADDR_LOOPBACK(&own.six.sin6_addr);
    } else {
        server->port = ntohs(own.four.sin_port);
        server->loopback = ntohl(own.four.sin_addr.s_addr) >> 24 == 127;
    }
}

static const char *listen_remedy(int failure)
{
    static const struct {
        int failure;
        const char *words;
    } remedies[] = {
        {EADDRINUSE, "; end the program that listens there, or choose another port"},
        {EADDRNOTAVAIL, "; no network interface of this machine has that address"},
        {EACCES, "; ports below 1024 need CAP_NET_BIND_SERVICE: choose one from 1024 on"},
        {EAFNOSUPPORT, "; this machine has no IPv6: choose an IPv4 address"},
    };
    for (size_t i = 0; i < COUNT_OF(remedies); i++)
        if (remedies[i].failure == failure)
            return remedies[i].words;
    return "";
}

static int listen_on(struct http_server *server, struct error_info *err)
{
    const struct http_server_settings *settings = &server->settings;
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
                                   .ai_socktype = SOCK_STREAM};
    struct addrinfo *address;
    char port[8];
    snprintf(port, sizeof(port), "%u", settings->port);
    if (getaddrinfo(settings->address, port, &hints, &address) != 0)
        return error_set(err, "%s is no IP address to listen on; as 127.0.0.1 or ::1",
                         settings->address);
    server->fd = open_socket(address);
    int failure = errno;
    freeaddrinfo(address);
    if (server->fd < 0)
        return error_set(err, "%s port %u cannot be listened on: %s%s", settings->address,
                         settings->port, error_errno_text(failure), listen_remedy(failure));
    note_address(server);
    return 0;
}

/* --- listeners -------------------------------------------------------------------- */

static void free_listener(struct http_listener *listener)
{
    if (!listener)
        return;
    http_tls_free(listener->tls);
    memory_free(listener);
}

static unsigned address_limit(const struct http_server *server)
{
    unsigned maximum = server->settings.connections_maximum;
    if (server->loopback)
        return maximum;
    return maximum > ADDRESS_SHARE ? maximum / ADDRESS_SHARE : 1;
}

static void fill_tls_options(const struct http_tls *tls, struct MHD_OptionItem *options)
{
    options[0] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, tls->texts[TLS_CERTIFICATE]};
    options[1] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, tls->texts[TLS_KEY]};
    options[2] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_TRUST, 0, tls->texts[TLS_CLIENT_CA]};
    options[3] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0,
                                         (void *)(uintptr_t)HTTP_TLS_PRIORITIES};
}

/* A thread for each connection: a dry run or a slow reader cannot hold up a filter call. Signals
 * are the program's own threads' to take. */
static struct MHD_Daemon *start_daemon(const struct http_server *server,
                                       struct http_listener *listener)
{
    struct MHD_OptionItem tls_options[] = {[4] = {MHD_OPTION_END, 0, NULL}};
    unsigned flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD |
                     MHD_USE_POLL | MHD_USE_ITC;
    if (listener->tls) {
        flags |= MHD_USE_TLS;
        fill_tls_options(listener->tls, tls_options);
    } else {
        tls_options[0] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
    }
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    struct MHD_Daemon *daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, http_exchange_handle, listener, MHD_OPTION_LISTEN_SOCKET,
        listener->fd, MHD_OPTION_CONNECTION_LIMIT, server->settings.connections_maximum,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, address_limit(server), MHD_OPTION_CONNECTION_TIMEOUT,
        server->settings.idle_seconds, MHD_OPTION_THREAD_STACK_SIZE, STACK_BYTES,
        MHD_OPTION_NOTIFY_COMPLETED, http_exchange_completed, listener,
        MHD_OPTION_NOTIFY_CONNECTION, http_exchange_connection, listener,
        MHD_OPTION_URI_LOG_CALLBACK, http_exchange_begin, listener, MHD_OPTION_ARRAY, tls_options,
        MHD_OPTION_END);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return daemon;
}

static bool is_same_socket(int left, int right)
{
    struct stat first, second;
    return fstat(left, &first) == 0 && fstat(right, &second) == 0 && first.st_ino == second.st_ino;
}

/* libmicrohttpd closes the socket that it was given where it cannot start, but not for each reason
 * (0.9.75: not where it can have no descriptor): it gets one of its own, and what it has left open
 * is closed here. */
static int start_on_own_socket(const struct http_server *server, struct http_listener *listener)
{
    listener->fd = fcntl(server->fd, F_DUPFD_CLOEXEC, 0);
    if (listener->fd < 0)
        return -1;
    listener->daemon = start_daemon(server, listener);
    if (listener->daemon)
        return 0;
    if (is_same_socket(listener->fd, server->fd))
        close(listener->fd);
    return -1;
}

/* Takes tls, also on failure. */
static struct http_listener *start_listener(struct http_server *server, struct http_tls *tls,
                                            struct error_info *err)
{
    struct http_listener *listener = memory_allocate(sizeof(*listener));
    if (!listener) {
        http_tls_free(tls);
        return error_null(error_set_memory(err));
    }
    listener->service = &server->service;
    listener->tls = tls;
    listener->number = server->next_number++;
    if (start_on_own_socket(server, listener) == 0)
        return listener;
    free_listener(listener);
    return error_null(
        error_set_system(err, "the http server cannot be started on port %u", server->port));
}

/* One that was quiesced: its socket stays ours to close. Waits for handlers that run. */
static void stop_listener(struct http_listener *listener)
{
    if (!listener)
        return;
    http_connections_shut(listener->service->connections, listener->number);
    MHD_stop_daemon(listener->daemon);
    close(listener->fd); /* not before: its thread may have been using it */
    free_listener(listener);
}

/* Half of the descriptors that this process may have are for others: without one for a new
 * connection libmicrohttpd would ask for it again and again. */
static unsigned connections_possible(unsigned wished)
{
    struct rlimit limit;
    unsigned maximum = wished ? wished : CONNECTIONS_DEFAULT;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur / 2 >= maximum)
        return maximum;
    return limit.rlim_cur > 4 ? (unsigned)limit.rlim_cur / 2 : 2;
}

/* --- start and stop --------------------------------------------------------------- */

static int set_up(struct http_server *server, struct error_info *err)
{
    struct http_server_settings *settings = &server->settings;
    settings->connections_maximum = connections_possible(settings->connections_maximum);
    settings->idle_seconds = settings->idle_seconds ? settings->idle_seconds : IDLE_SECONDS_DEFAULT;
    settings->request_seconds =
        settings->request_seconds ? settings->request_seconds : REQUEST_SECONDS_DEFAULT;
    settings->reload_seconds =
        settings->reload_seconds ? settings->reload_seconds : RELOAD_SECONDS_DEFAULT;
    server->paths[TLS_CERTIFICATE] = settings->certificate_file;
    server->paths[TLS_KEY] = settings->key_file;
    server->paths[TLS_CLIENT_CA] = settings->client_ca_file;
    unsigned given = 0;
    for (unsigned i = 0; i < TLS_FILE_COUNT; i++)
        given += server->paths[i] != NULL;
    if (given != 0 && given != TLS_FILE_COUNT)
        return error_set(err, "TLS needs a certificate, its key and a client CA, all three");
    server->tls = given != 0;
    return 0;
}

static void observe_late(void *context)
{
    const struct http_service *service = context;
    if (service->observe)
        service->observe(service->context, NULL, MHD_HTTP_REQUEST_TIMEOUT, 0);
}

static int open_server(struct http_server *server, struct error_info *err)
{
    struct http_tls *tls = NULL;
    if (set_up(server, err) < 0)
        return -1;
    if (server->tls && (http_tls_stamp(server->paths, &server->stamp, err) < 0 ||
                        !(tls = http_tls_load(server->paths, err))))
        return -1;
    const struct http_connections_settings limits = {
        /* two listeners at most */
        .maximum = (size_t)server->settings.connections_maximum * 2,
        .idle_milliseconds = server->settings.idle_seconds * MILLISECONDS,
        .request_milliseconds = server->settings.request_seconds * MILLISECONDS,
        .late = observe_late,
        .context = &server->service};
    if (listen_on(server, err) == 0)
        server->service.connections = http_connections_create(&limits, err);
    if (!server->service.connections) {
        http_tls_free(tls);
        return -1;
    }
    server->current = start_listener(server, tls, err);
    return server->current ? 0 : -1;
}

static void close_server(struct http_server *server)
{
    http_connections_free(server->service.connections);
    if (server->fd >= 0)
        close(server->fd);
    memory_free(server);
}

struct http_server *http_server_start(const struct http_server_settings *settings,
                                      const struct http_route *routes, size_t route_count,
                                      void *context, struct error_info *err)
{
    struct http_server *server = memory_allocate(sizeof(*server));
    if (!server)
        return error_null(error_set_memory(err));
    server->settings = *settings;
    server->fd = -1;
    server->service.routes = routes;
    server->service.route_count = route_count;
    server->service.context = context;
    server->service.observe = settings->observe;
    if (open_server(server, err) == 0)
        return server;
    close_server(server);
    return NULL;
}

uint16_t http_server_port(const struct http_server *server) { return server->port; }

void http_server_stop(struct http_server *server, unsigned drain_milliseconds)
{
    if (!server)
        return;
    atomic_store(&server->service.stopping, true);
    MHD_quiesce_daemon(server->current->daemon);
    http_connections_drain(server->service.connections, drain_milliseconds);
    stop_listener(server->retired);
    stop_listener(server->current);
    close_server(server);
}

/* --- new certificates ------------------------------------------------------------- */

static void retire(struct http_server *server, struct http_listener *next)
{
    MHD_quiesce_daemon(server->current->daemon);
    stop_listener(server->retired);
    server->retired = server->current;
    server->retired->retired_milliseconds = http_now_milliseconds();
    atomic_store(&server->retired->retired, true);
    server->current = next;
}

static void end_retired(struct http_server *server)
{
    const struct http_listener *retired = server->retired;
    if (!retired)
        return;
    if (http_connections_count(server->service.connections, retired->number) > 0 &&
        http_now_milliseconds() - retired->retired_milliseconds < RETIRE_MILLISECONDS)
        return;
    stop_listener(server->retired);
    server->retired = NULL;
}

/* 1: they are others than before, or it is time to try those again; 0: not; -1: they cannot be
 * looked at. */
static int look_at_files(struct http_server *server, struct error_info *err)
{
    uint64_t wait = server->settings.reload_seconds * UINT64_C(1000);
    struct http_tls_stamp stamp = {0};
    int result = http_tls_stamp(server->paths, &stamp, err);
    bool others = memcmp(&stamp, &server->stamp, sizeof(stamp)) != 0;
    if (others)
        server->said[0] = '\0';
    server->stamp = stamp;
    if (result < 0)
        return -1;
    return others ||
           (server->failed && http_now_milliseconds() - server->tried_milliseconds >= wait);
}

static int use_files(struct http_server *server, bool *ret_changed, struct error_info *err)
{
    server->tried_milliseconds = http_now_milliseconds();
    struct http_tls *tls = http_tls_load(server->paths, err);
    if (tls && http_tls_equal(tls, server->current->tls)) {
        http_tls_free(tls);
        return 0;
    }
    struct http_listener *next = tls ? start_listener(server, tls, err) : NULL;
    if (!next)
        return -1;
    retire(server, next);
    *ret_changed = true;
    return 0;
}

/* -1: it is to be said. */
static int note_failure(struct http_server *server, const struct error_info *why)
{
    if (strcmp(server->said, why->text) == 0)
        return 0;
    snprintf(server->said, sizeof(server->said), "%s", why->text);
    return -1;
}

int http_server_reload(struct http_server *server, bool *ret_changed, struct error_info *err)
{
    struct error_info why = {.kind = ERROR_NONE};
    *ret_changed = false;
    end_retired(server);
    int result = server->tls ? look_at_files(server, &why) : 0;
    if (result > 0) {
        result = use_files(server, ret_changed, &why);
        server->failed = result < 0;
    }
    if (result < 0 && note_failure(server, &why) == 0)
        return 0;
    if (result < 0 && err)
        *err = why;
    return result;
}
