/* SPDX-License-Identifier: MIT */
#include "cli/inputs/child_output.h"
#include "base/cleanup.h"
#include "base/text_buffer.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COMPLAINT_BYTES 4096u
#define READ_BYTES 16384u
#define REAP_PAUSE_NANOSECONDS 1000000

enum { TO_TEXT, TO_COMPLAINT, STREAM_COUNT };

struct child {
    const char *program;
    pid_t pid;
    int fds[STREAM_COUNT]; /* read ends; -1: at their end */
    struct text_buffer texts[STREAM_COUNT];
    struct timespec deadline;
    unsigned timeout_seconds;
};

static int spawn(struct child *child, const char *const *arguments, int text_fd, int complaint_fd)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, defaults;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return ENOMEM;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return ENOMEM;
    }
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
    int failed = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(&actions, text_fd, 1);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(&actions, complaint_fd, 2);
    if (!failed)
        failed = posix_spawnp(&child->pid, arguments[0], &actions, &attributes,
                              (char *const *)arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

static int start(struct child *child, const char *const *arguments, struct error_info *err)
{
    CLEANUP_FD int text_read = -1;
    CLEANUP_FD int text_write = -1;
    CLEANUP_FD int complaint_read = -1;
    CLEANUP_FD int complaint_write = -1;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return error_set_system(err, "pipe: %s", error_errno_text(errno));
    text_read = ends[0];
    text_write = ends[1];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return error_set_system(err, "pipe: %s", error_errno_text(errno));
    complaint_read = ends[0];
    complaint_write = ends[1];
    int failed = spawn(child, arguments, text_write, complaint_write);
    if (failed)
        return error_set_system(err, "cannot run %s: %s", arguments[0], error_errno_text(failed));
    child->fds[TO_TEXT] = text_read;
    child->fds[TO_COMPLAINT] = complaint_read;
    text_read = complaint_read = -1;
    return 0;
}

static int milliseconds_left(const struct child *child)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t left = (int64_t)(child->deadline.tv_sec - now.tv_sec) * 1000 +
                   (child->deadline.tv_nsec - now.tv_nsec) / 1000000;
    return left > 0 ? (int)left : 0;
}

/* Takes what one stream has; what is too much of a complaint is dropped. */
static int drain(struct child *child, unsigned stream, struct error_info *err)
{
    char bytes[READ_BYTES];
    ssize_t count = read(child->fds[stream], bytes, sizeof(bytes));
    if (count < 0)
        return errno == EINTR
                   ? 0
                   : error_set_system(err, "%s: %s", child->program, error_errno_text(errno));
    if (count == 0) {
        close(child->fds[stream]);
        child->fds[stream] = -1;
        return 0;
    }
    struct text_buffer *text = &child->texts[stream];
    bool fits = (size_t)count <= text->maximum_bytes - text->length;
    text_buffer_add_bytes(text, bytes, (size_t)count);
    if (stream != TO_TEXT || !text_buffer_failed(text))
        return 0;
    return fits ? error_set_memory(err)
                : error_set_system(err, "%s: more than %zu bytes of output", child->program,
                                   text->maximum_bytes);
}

static int drain_ready(struct child *child, const struct pollfd *polls, struct error_info *err)
{
    for (unsigned i = 0; i < STREAM_COUNT; i++) {
        if (polls[i].revents != 0 && drain(child, i, err) < 0)
            return -1;
    }
    return 0;
}

static int read_streams(struct child *child, struct error_info *err)
{
    while (child->fds[TO_TEXT] >= 0 || child->fds[TO_COMPLAINT] >= 0) {
        struct pollfd polls[STREAM_COUNT];
        for (unsigned i = 0; i < STREAM_COUNT; i++)
            polls[i] = (struct pollfd){.fd = child->fds[i], .events = POLLIN};
        int ready = poll(polls, STREAM_COUNT, milliseconds_left(child));
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready < 0)
            return error_set_system(err, "poll: %s", error_errno_text(errno));
        if (ready == 0)
            return error_set_system(err, "%s: no answer within %u s", child->program,
                                    child->timeout_seconds);
        if (drain_ready(child, polls, err) < 0)
            return -1;
    }
    return 0;
}

static int explain_status(const struct child *child, int status, struct error_info *err)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    const char *complaint = text_buffer_text(&child->texts[TO_COMPLAINT]);
    int length = (int)strcspn(complaint, "\n");
    if (WIFSIGNALED(status))
        return error_set_system(err, "%s: killed by signal %d", child->program, WTERMSIG(status));
    return error_set_system(err, "%s: exit status %d%s%.*s", child->program, WEXITSTATUS(status),
                            length > 0 ? ": " : "", length, complaint);
}

/* A program that closes its outputs and stays has until the deadline, too. */
static int reap(struct child *child, bool failed)
{
    const struct timespec pause = {.tv_nsec = REAP_PAUSE_NANOSECONDS};
    int status = 0;
    while (!failed && milliseconds_left(child) > 0) {
        pid_t reaped = waitpid(child->pid, &status, WNOHANG);
        if (reaped == child->pid)
            return status;
        nanosleep(&pause, NULL);
    }
    kill(-child->pid, SIGKILL);
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

static void child_done(struct child *child)
{
    for (unsigned i = 0; i < STREAM_COUNT; i++) {
        if (child->fds[i] >= 0)
            close(child->fds[i]);
        text_buffer_done(&child->texts[i]);
    }
}

char *child_output_read(const char *const *arguments, size_t maximum_bytes,
                        unsigned timeout_seconds, size_t *ret_bytes, struct error_info *err)
{
    struct child child = {
        .program = arguments[0], .fds = {-1, -1}, .timeout_seconds = timeout_seconds};
    text_buffer_init(&child.texts[TO_TEXT], maximum_bytes);
    text_buffer_init(&child.texts[TO_COMPLAINT], COMPLAINT_BYTES);
    clock_gettime(CLOCK_MONOTONIC, &child.deadline);
    child.deadline.tv_sec += (time_t)timeout_seconds;
    char *text = NULL;
    if (start(&child, arguments, err) == 0) {
        bool failed = read_streams(&child, err) < 0;
        int status = reap(&child, failed);
        if (!failed && explain_status(&child, status, err) == 0) {
            *ret_bytes = child.texts[TO_TEXT].length;
            text = child.texts[TO_TEXT].length > 0 ? text_buffer_take(&child.texts[TO_TEXT])
                                                   : memory_copy_text("");
            if (!text)
                error_set_memory(err);
        }
    }
    child_done(&child);
    return text;
}
