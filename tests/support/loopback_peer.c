/* SPDX-License-Identifier: MIT */
#include "tests/support/loopback_peer.h"
#include "base/memory.h"
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define HEAD_BYTES 512u

int loopback_connect(uint16_t port)
{
    static const int on = 1;
    const struct timeval limit = {.tv_sec = LOOPBACK_SECONDS};
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
        return fd;
    close(fd);
    return -1;
}

bool loopback_send(int fd, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t sent = send(fd, bytes, count, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        bytes += sent;
        count -= (size_t)sent;
    }
    return true;
}

static size_t number_at(const char *text)
{
    size_t number = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        number = number * 10 + (size_t)(*text - '0');
    return number;
}

/* Of a whole answer whose head is there; 0: not yet, or its length is not said. */
static size_t bytes_of(const char *answer)
{
    static const char name[] = "Content-Length: ";
    const char *end = strstr(answer, "\r\n\r\n"), *length = end ? strstr(answer, name) : NULL;
    return length ? (size_t)(end + 4 - answer) + number_at(length + strlen(name)) : 0;
}

size_t loopback_receive(int fd, char *answer, size_t answer_bytes, bool stream)
{
    size_t used = 0, room = answer_bytes - 1, needed = 0;
    answer[0] = '\0';
    while (used < (needed ? needed : room)) {
        size_t step = needed ? needed - used : stream ? 1 : room - used;
        ssize_t got = recv(fd, answer + used, step, 0);
        if (got <= 0)
            break;
        used += (size_t)got;
        answer[used] = '\0';
        if (needed == 0)
            needed = bytes_of(answer);
        if (needed > room)
            needed = room;
    }
    return used;
}

unsigned loopback_status(const char *answer)
{
    return strncmp(answer, "HTTP/1.1 ", 9) == 0 ? (unsigned)number_at(answer + 9) : 0;
}

const char *loopback_body(const char *answer)
{
    const char *end = strstr(answer, "\r\n\r\n");
    return end ? end + 4 : "";
}

char *loopback_post(const char *path, const char *body, size_t body_bytes, size_t *ret_bytes)
{
    char head[HEAD_BYTES];
    int head_bytes = snprintf(head, sizeof(head),
                              "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: "
                              "application/json\r\nContent-Length: %zu\r\n\r\n",
                              path, body_bytes);
    char *request = head_bytes > 0 && (size_t)head_bytes < sizeof(head)
                        ? memory_allocate((size_t)head_bytes + body_bytes + 1)
                        : NULL;
    if (!request)
        return NULL;
    memcpy(request, head, (size_t)head_bytes);
    memcpy(request + head_bytes, body, body_bytes);
    *ret_bytes = (size_t)head_bytes + body_bytes;
    return request;
}

double loopback_now_microseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}
