/* SPDX-License-Identifier: MIT */
/*
 * request_times PORT PATH CALLS CALLS_PER_SECOND BODY...: what a caller on this machine waits for.
 * POSTs the files BODY in turn to a server on loopback, over one connection, CALLS times each; as
 * fast as it answers, or so many a second (0: as fast). Prints for each BODY its bytes, the
 * answer's bytes, and the median, 99th percentile and largest time in microseconds, with spaces
 * between. Exit 1 where an answer is not 200.
 */
#include "base/memory.h"
#include "base/parse_number.h"
#include "base/text_buffer.h"
#include "base/text_file.h"
#include "tests/support/loopback_peer.h"
#include "tests/support/time_order.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CALLS_MAXIMUM 10000000u
#define RATE_MAXIMUM 1000000u
#define BODY_MAXIMUM_BYTES ((size_t)1 << 24)
#define ANSWER_BYTES ((size_t)1 << 25)
#define BODIES_MAXIMUM 16u

struct body {
    char *request; /* head and body */
    size_t request_bytes, body_bytes, answer_bytes;
    double *times;
};

struct client {
    int fd;
    unsigned calls;
    double rate;
    char *answer;
    struct body bodies[BODIES_MAXIMUM];
    size_t count;
};

static bool load_body(struct body *body, const char *path, const char *file, unsigned calls)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_MEMORY char *text = text_file_read(file, BODY_MAXIMUM_BYTES, &body->body_bytes, &err);
    if (!text) {
        fprintf(stderr, "request_times: %s\n", err.text);
        return false;
    }
    body->request = loopback_post(path, text, body->body_bytes, &body->request_bytes);
    body->times = memory_allocate_array(calls, sizeof(*body->times));
    return body->request && body->times;
}

static void wait_until(double microseconds)
{
    const struct timespec until = {
        .tv_sec = (time_t)(microseconds / 1e6),
        .tv_nsec = (long)((microseconds - 1e6 * (double)(time_t)(microseconds / 1e6)) * 1e3)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0)
        continue;
}

static bool ask(struct client *client)
{
    double begin = loopback_now_microseconds();
    for (unsigned call = 0; call < client->calls; call++)
        for (size_t i = 0; i < client->count; i++) {
            struct body *body = &client->bodies[i];
            double turn = (double)call * (double)client->count + (double)i;
            if (client->rate > 0)
                wait_until(begin + turn * 1e6 / client->rate);
            double asked = loopback_now_microseconds();
            if (!loopback_send(client->fd, body->request, body->request_bytes))
                return false;
            body->answer_bytes = loopback_receive(client->fd, client->answer, ANSWER_BYTES, false);
            body->times[call] = loopback_now_microseconds() - asked;
            if (loopback_status(client->answer) != 200) {
                fprintf(stderr, "request_times: the answer is: %.300s\n", client->answer);
                return false;
            }
        }
    return true;
}

static void print_times(const struct body *body, unsigned calls)
{
    time_order_sort(body->times, calls);
    printf("%zu %zu %.1f %.1f %.1f\n", body->body_bytes, body->answer_bytes, body->times[calls / 2],
           body->times[(size_t)calls * 99 / 100], body->times[calls - 1]);
}

static int usage(void)
{
    fprintf(stderr, "usage: request_times PORT PATH CALLS CALLS_PER_SECOND BODY...\n");
    return 2;
}

int main(int argc, char **argv)
{
    struct error_info err = {.kind = ERROR_NONE};
    uint64_t port, calls, rate;
    if (argc < 6 || argc > 5 + (int)BODIES_MAXIMUM ||
        parse_unsigned(argv[1], 1, UINT16_MAX, &port, &err) < 0 ||
        parse_unsigned(argv[3], 1, CALLS_MAXIMUM, &calls, &err) < 0 ||
        parse_unsigned(argv[4], 0, RATE_MAXIMUM, &rate, &err) < 0)
        return usage();
    struct client client = {.calls = (unsigned)calls, .rate = (double)rate};
    client.fd = loopback_connect((uint16_t)port);
    client.answer = memory_allocate(ANSWER_BYTES);
    bool done = client.fd >= 0 && client.answer;
    if (!done)
        fprintf(stderr, "request_times: nobody answers on port %s\n", argv[1]);
    for (; done && client.count < (size_t)argc - 5; client.count++)
        done =
            load_body(&client.bodies[client.count], argv[2], argv[client.count + 5], client.calls);
    done = done && ask(&client);
    for (size_t i = 0; i < client.count; i++) {
        if (done)
            print_times(&client.bodies[i], client.calls);
        memory_free(client.bodies[i].request);
        memory_free(client.bodies[i].times);
    }
    memory_free(client.answer);
    return done ? 0 : 1;
}
