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
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
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

static double now_microseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static int connect_client(uint16_t port)
{
    static const int on = 1;
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)); /* as Go does */
    return connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 ? fd : -1;
}

static bool send_all(int fd, const char *text, size_t bytes)
{
    while (bytes > 0) {
        ssize_t sent = send(fd, text, bytes, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        text += sent;
        bytes -= (size_t)sent;
    }
    return true;
}

static size_t length_of(const char *head)
{
    const char *length = strstr(head, "Content-Length: ");
    size_t bytes = 0;
    for (const char *read = length ? length + 16 : ""; *read >= '0' && *read <= '9'; read++)
        bytes = bytes * 10 + (size_t)(*read - '0');
    return bytes;
}

/* Bytes of head and body, 0: no answer of 200. */
static size_t read_answer(int fd, char *answer)
{
    size_t used = 0, needed = 0;
    while (needed == 0 || used < needed) {
        ssize_t got = recv(fd, answer + used, ANSWER_BYTES - 1 - used, 0);
        if (got <= 0)
            return 0;
        used += (size_t)got;
        answer[used] = '\0';
        const char *end = needed == 0 ? strstr(answer, "\r\n\r\n") : NULL;
        if (end)
            needed = (size_t)(end + 4 - answer) + length_of(answer);
    }
    return strncmp(answer, "HTTP/1.1 200", 12) == 0 ? needed : 0;
}

static bool load_body(struct body *body, const char *path, const char *file, unsigned calls)
{
    struct error_info err = {.kind = ERROR_NONE};
    char head[512];
    CLEANUP_MEMORY char *text = text_file_read(file, BODY_MAXIMUM_BYTES, &body->body_bytes, &err);
    if (!text) {
        fprintf(stderr, "request_times: %s\n", err.text);
        return false;
    }
    int head_bytes = snprintf(head, sizeof(head),
                              "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: "
                              "application/json\r\nContent-Length: %zu\r\n\r\n",
                              path, body->body_bytes);
    if (head_bytes < 0 || (size_t)head_bytes >= sizeof(head))
        return false;
    body->request_bytes = (size_t)head_bytes + body->body_bytes;
    body->request = memory_allocate(body->request_bytes + 1);
    body->times = memory_allocate_array(calls, sizeof(*body->times));
    if (!body->request || !body->times)
        return false;
    memcpy(body->request, head, (size_t)head_bytes);
    memcpy(body->request + head_bytes, text, body->body_bytes);
    return true;
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
    double begin = now_microseconds();
    for (unsigned call = 0; call < client->calls; call++)
        for (size_t i = 0; i < client->count; i++) {
            struct body *body = &client->bodies[i];
            double turn = (double)call * (double)client->count + (double)i;
            if (client->rate > 0)
                wait_until(begin + turn * 1e6 / client->rate);
            double asked = now_microseconds();
            if (!send_all(client->fd, body->request, body->request_bytes))
                return false;
            body->answer_bytes = read_answer(client->fd, client->answer);
            body->times[call] = now_microseconds() - asked;
            if (body->answer_bytes == 0) {
                fprintf(stderr, "request_times: the answer is: %.300s\n", client->answer);
                return false;
            }
        }
    return true;
}

static int compare_times(const void *left_pointer, const void *right_pointer)
{
    const double *left = left_pointer, *right = right_pointer;
    return (*left > *right) - (*left < *right);
}

static void print_times(const struct body *body, unsigned calls)
{
    qsort(body->times, calls, sizeof(*body->times), compare_times);
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
    client.fd = connect_client((uint16_t)port);
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
