/* SPDX-License-Identifier: MIT */
#include "topology/node_readers/reader_child.h"
#include "topology/node_readers/evidence_text.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#define CHUNK_BYTES 65536u
#define ERROR_WORD "error "
#define MILLISECONDS 1000
#define GRACE_SECONDS 2 /* for a child to end by itself, and for its end to be seen */
#define GLANCE_NANOSECONDS 1000000

/* Sanitizers reserve more address space than any limit of ours. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIMIT_MEMORY 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define LIMIT_MEMORY 0
#endif
#endif
#ifndef LIMIT_MEMORY
#define LIMIT_MEMORY 1
#endif

static void set_limit(int resource, rlim_t value)
{
    const struct rlimit limit = {.rlim_cur = value, .rlim_max = value};
    setrlimit((__rlimit_resource_t)resource, &limit);
}

static void send_all(int fd, const char *text, size_t bytes)
{
    while (bytes > 0) {
        ssize_t sent = write(fd, text, bytes);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return; /* the parent sees a text that is cut off */
        text += sent;
        bytes -= (size_t)sent;
    }
}

static unsigned seconds_of(const struct reader_job *job)
{
    return job->seconds > 0 ? job->seconds : READER_CHILD_SECONDS;
}

/* Never returns, and never runs the parent's exit handlers or flushes its streams. */
static void run_child(int out, const struct reader_job *job)
{
    int nothing = open("/dev/null", O_RDWR);
    for (int fd = STDIN_FILENO; nothing >= 0 && fd <= STDERR_FILENO; fd++)
        if (fd != out)
            dup2(nothing, fd);
    set_limit(RLIMIT_CORE, 0);
    set_limit(RLIMIT_CPU, seconds_of(job));
    if (LIMIT_MEMORY)
        set_limit(RLIMIT_AS, READER_CHILD_MEMORY_BYTES);
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGXCPU};
    for (size_t i = 0; i < COUNT_OF(deadly); i++)
        signal(deadly[i], SIG_DFL);
    alarm(seconds_of(job));
    struct error_info why = {.kind = ERROR_NONE};
    struct node_evidence *evidence = job->read(job->text, job->bytes, job->source, &why);
    struct text_buffer answer;
    text_buffer_init(&answer, EVIDENCE_TEXT_MAXIMUM_BYTES);
    if (evidence)
        evidence_text_encode(evidence, &answer);
    else
        text_buffer_add(&answer, ERROR_WORD "%s", why.text);
    if (!text_buffer_failed(&answer))
        send_all(out, text_buffer_text(&answer), answer.length);
    _exit(0);
}

static int64_t now_milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * MILLISECONDS + now.tv_nsec / 1000000;
}

struct run {
    const struct reader_job *job;
    int status;
    bool complete; /* the child ended its answer by itself */
    bool slow;
};

/* What the child sends, up to its end; else run says why it must go. */
static void receive(int in, struct text_buffer *answer, struct run *run)
{
    int64_t deadline =
        now_milliseconds() + ((int64_t)seconds_of(run->job) + GRACE_SECONDS) * MILLISECONDS;
    CLEANUP_MEMORY char *chunk = memory_allocate(CHUNK_BYTES);
    while (chunk && !text_buffer_failed(answer)) {
        struct pollfd wait = {.fd = in, .events = POLLIN};
        int64_t left = deadline - now_milliseconds();
        int ready = left > 0 ? poll(&wait, 1, (int)left) : 0;
        if (ready < 0 && errno == EINTR)
            continue;
        ssize_t got = ready > 0 ? read(in, chunk, CHUNK_BYTES) : -1;
        if (got < 0 && ready > 0 && errno == EINTR)
            continue;
        run->slow = ready == 0;
        run->complete = got == 0;
        if (got <= 0)
            return;
        text_buffer_add_bytes(answer, chunk, (size_t)got);
    }
}

/* -1: it does not end. */
static int wait_for(pid_t child)
{
    int64_t deadline = now_milliseconds() + (int64_t)GRACE_SECONDS * MILLISECONDS;
    int status = 0;
    for (;;) {
        pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child)
            return status;
        if ((ended < 0 && errno != EINTR) || now_milliseconds() > deadline)
            return -1;
        const struct timespec glance = {.tv_nsec = GLANCE_NANOSECONDS};
        nanosleep(&glance, NULL);
    }
}

static bool was_slow(const struct run *run)
{
    if (!run->complete || !WIFSIGNALED(run->status))
        return run->slow;
    int signal_number = WTERMSIG(run->status);
    return signal_number == SIGXCPU || signal_number == SIGALRM || signal_number == SIGKILL;
}

static struct node_evidence *judge(const struct run *run, const struct text_buffer *answer,
                                   struct error_info *err)
{
    const struct reader_job *job = run->job;
    const char *text = text_buffer_text(answer);
    if (was_slow(run))
        return error_null(error_set(err, "%s: %s needs more than %u seconds for it; %s",
                                    job->source, job->what, seconds_of(job), job->remedy));
    if (run->complete && WIFSIGNALED(run->status))
        return error_null(error_set(err, "%s: %s crashed while reading it (signal %d); %s",
                                    job->source, job->what, WTERMSIG(run->status), job->remedy));
    if (!run->complete || run->status != 0)
        return error_null(
            error_set(err, "%s: %s gave no answer; %s", job->source, job->what, job->remedy));
    if (strncmp(text, ERROR_WORD, strlen(ERROR_WORD)) == 0)
        return error_null(error_set(err, "%s", text + strlen(ERROR_WORD)));
    return evidence_text_decode(text, answer->length, job->source, err);
}

struct node_evidence *reader_child_run(const struct reader_job *job, struct error_info *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return error_null(error_set_system(err, "pipe: %s", error_errno_text(errno)));
    pid_t child = fork();
    if (child == 0)
        run_child(ends[1], job);
    close(ends[1]);
    CLEANUP_FD int in = ends[0];
    if (child < 0)
        return error_null(error_set_system(err, "fork: %s", error_errno_text(errno)));
    CLEANUP_DONE(text_buffer) struct text_buffer answer;
    text_buffer_init(&answer, EVIDENCE_TEXT_MAXIMUM_BYTES);
    struct run run = {.job = job};
    receive(in, &answer, &run);
    if (!run.complete)
        kill(child, SIGKILL);
    run.status = wait_for(child);
    return judge(&run, &answer, err);
}
