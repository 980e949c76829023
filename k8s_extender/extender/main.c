/* SPDX-License-Identifier: MIT */
/* parplan-extender: starts the threads, waits for a signal, stops in order. */
#include "k8s_extender/extender/extender.h"
#include "k8s_extender/extender/probe.h"
#include "k8s_extender/extender/verbs.h"
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WORKERS_MAXIMUM 64u
#define REFRESH_SECONDS 5
#define DRAIN_MILLISECONDS 1500u
#define BAD_USAGE 2
#define ARENAS 2

struct threads {
    pthread_t ids[WORKERS_MAXIMUM + 3]; /* the leader's first */
    size_t count;
};

static int start(struct threads *threads, void *(*run)(void *), struct extender *extender,
                 struct error_info *err)
{
    int failure = pthread_create(&threads->ids[threads->count], NULL, run, extender);
    if (failure != 0)
        return error_set_system(err, "no thread can be started: %s", error_errno_text(failure));
    threads->count++;
    return 0;
}

static int start_all(struct threads *threads, struct extender *extender, struct error_info *err)
{
    if (start(threads, extender_lead, extender, err) < 0 ||
        start(threads, extender_watch_nodes, extender, err) < 0 ||
        start(threads, extender_watch_pods, extender, err) < 0)
        return -1;
    for (unsigned i = 0; i < extender->options.workers; i++)
        if (start(threads, extender_work, extender, err) < 0)
            return -1;
    return 0;
}

/* The leader's thread is the last: it gives the Lease back, and who takes it may write at once. */
static void join_all(struct threads *threads, struct extender *extender)
{
    while (threads->count > 1)
        pthread_join(threads->ids[--threads->count], NULL);
    extender_set_quiet(extender);
    if (threads->count == 1)
        pthread_join(threads->ids[0], NULL);
    threads->count = 0;
}

static void observe(void *context, const struct http_route *route, unsigned status, double seconds)
{
    struct extender *extender = context;
    char code[16];
    snprintf(code, sizeof(code), "%u", status);
    const char *path = route ? route->path : "other";
    metrics_add(extender->metrics, METRIC_REQUESTS, path, code, 1);
    if (route)
        metrics_observe(extender->metrics, METRIC_REQUEST_SECONDS, path, seconds);
}

static void refresh(struct extender *extender, struct http_server *server)
{
    struct error_info err = {.kind = ERROR_NONE};
    bool changed;
    if (live_config_refresh(extender->config, &changed, &err) < 0)
        log_message(&extender->log, LOG_LEVEL_ERROR, "%s; the policy stays as it was", err.text);
    else if (changed)
        log_message(&extender->log, LOG_LEVEL_INFO, "the policy was read again");
    if (http_server_reload(server, &changed, &err) < 0)
        log_message(&extender->log, LOG_LEVEL_ERROR, "%s; the certificates stay as they were",
                    err.text);
    else if (changed)
        log_message(&extender->log, LOG_LEVEL_INFO, "the certificates were read again");
}

/* SIGTERM and SIGINT are blocked in all threads and waited for here. */
static void wait_for_end(struct extender *extender, struct http_server *server,
                         const sigset_t *signals)
{
    const struct timespec period = {.tv_sec = 1};
    for (unsigned turn = 1; !extender_stopping(extender); turn++) {
        if (sigtimedwait(signals, NULL, &period) > 0)
            return;
        if (turn % REFRESH_SECONDS == 0)
            refresh(extender, server);
    }
}

static int serve(struct extender *extender, const sigset_t *signals, struct error_info *err)
{
    const struct extender_options *options = &extender->options;
    const struct http_server_settings settings = {
        .address = options->address,
        .port = options->port,
        .certificate_file = options->certificate,
        .key_file = options->key,
        .client_ca_file = options->client_ca,
        .connections_maximum = 256,
        .idle_seconds = 30,
        .observe = observe,
    };
    struct threads threads = {.count = 0};
    struct http_server *server =
        http_server_start(&settings, extender_routes, extender_route_count, extender, err);
    int status = server ? start_all(&threads, extender, err) : -1;
    if (status == 0) {
        log_message(&extender->log, LOG_LEVEL_INFO, "listens on %s:%u", options->address,
                    http_server_port(server));
        wait_for_end(extender, server, signals);
    }
    extender_stop(extender, status < 0);
    if (server)
        http_server_stop(server, DRAIN_MILLISECONDS);
    join_all(&threads, extender);
    return status;
}

static int tell(const struct error_info *err)
{
    fprintf(stderr, "parplan-extender: %s\n", err->text);
    return err->kind == ERROR_INPUT ? BAD_USAGE : EXIT_FAILURE;
}

/* The exit status. */
static int run(const struct extender_options *options)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct extender extender;
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    mallopt(M_ARENA_MAX, ARENAS); /* a heap for each connection's thread would stay for good */
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    if (extender_open(&extender, options, &err) < 0)
        return tell(&err);
    int status = serve(&extender, &signals, &err);
    bool failed = extender.failed;
    extender_close(&extender);
    if (status < 0)
        return tell(&err);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct extender_options options;
    bool done;
    if (extender_options_parse(argc, argv, &options, &done, &err) < 0)
        return tell(&err);
    if (done)
        return EXIT_SUCCESS;
    signal(SIGPIPE, SIG_IGN);
    if (options.probe)
        return probe_ask(options.probe, &err) < 0 ? tell(&err) : EXIT_SUCCESS;
    return run(&options);
}
