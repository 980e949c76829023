/* SPDX-License-Identifier: MIT */
/*
 * A SPANK plugin that stands before the one under test in plugstack.conf, and again behind it
 * (built with -DBEHIND). The pair measures, and injects faults, around each callback of ours:
 *
 *     STAND_IN_LOG=FILE       a line "context callback nanoseconds" for each
 *     STAND_IN_BEFORE=TEXT    run by sh in srun's local_user_init before ours, STAND_IN_BEHIND
 *     STAND_IN_BEHIND=TEXT    behind ours: the step exists, and nothing of it runs yet
 *     STAND_IN_MEMORY=PLACE:BYTES   ours has that much address space more than is in use then;
 *                             PLACE is srun, node or task
 */
#include <dirent.h>
#include <slurm/spank.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef BEHIND
SPANK_PLUGIN(stand_in_behind, 1)
#else
SPANK_PLUGIN(stand_in, 1)
#endif

#define SINCE "STAND_IN_SINCE"

static long long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* A variable of srun, or on the node of the step. */
static const char *variable(spank_t spank, const char *name, char value[static 4096])
{
    if (spank_context() != S_CTX_REMOTE)
        return getenv(name);
    return spank_getenv(spank, name, value, 4096) == ESPANK_SUCCESS ? value : NULL;
}

/* A number in decimal digits; what else stands there ends it. */
static long long number_of(const char *text)
{
    long long number = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        number = number * 10 + (*text - '0');
    return number;
}

static void run_command(const char *name, const char *callback)
{
    char *words[] = {(char *)"sh", (char *)"-c", getenv(name), NULL};
    pid_t child;
    if (words[2] && !strcmp(callback, "local_user_init") &&
        posix_spawn(&child, "/bin/sh", NULL, NULL, words, environ) == 0)
        waitpid(child, NULL, 0);
}

#ifdef BEHIND

static const char *context_name(void)
{
    switch (spank_context()) {
    case S_CTX_LOCAL:
        return "srun";
    case S_CTX_REMOTE:
        return "node";
    default:
        return "other";
    }
}

static void lift_limit(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_AS, &limit);
}

static void step(spank_t spank, const char *place, const char *callback)
{
    char value[4096];
    const char *since = getenv(SINCE), *log = variable(spank, "STAND_IN_LOG", value);
    long long end = now();
    lift_limit();
    (void)place;
    FILE *file = since && log ? fopen(log, "a") : NULL;
    if (file) {
        fprintf(file, "%s %s %lld\n", context_name(), callback, end - number_of(since));
        fclose(file);
    }
    unsetenv(SINCE);
    run_command("STAND_IN_BEHIND", callback);
}

#else

/* /proc/self/statm begins with the address space in pages. */
static long long address_space_bytes(void)
{
    char text[64] = "";
    FILE *file = fopen("/proc/self/statm", "r");
    if (file) {
        if (!fgets(text, sizeof(text), file))
            text[0] = '\0';
        fclose(file);
    }
    return number_of(text) * sysconf(_SC_PAGESIZE);
}

/* The state in /proc/self/task/TASK/stat stands behind the program's name in parentheses. */
static bool runs(const char *task)
{
    char path[300], text[256] = "";
    snprintf(path, sizeof(path), "/proc/self/task/%s/stat", task);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    if (!fgets(text, sizeof(text), file))
        text[0] = '\0';
    fclose(file);
    const char *name_end = strrchr(text, ')');
    return name_end && name_end[1] == ' ' && name_end[2] != 'S';
}

static bool other_threads_run(void)
{
    DIR *folder = opendir("/proc/self/task");
    bool found = false;
    for (struct dirent *entry; folder && !found && (entry = readdir(folder));)
        found = number_of(entry->d_name) > 0 && number_of(entry->d_name) != getpid() &&
                runs(entry->d_name);
    if (folder)
        closedir(folder);
    return found;
}

/* slurmstepd's own thread, which has just been started here, ends it where it finds no memory,
 * and srun then waits for ever. A limit holds for all threads: it is set while the others wait. */
static void wait_for_other_threads(void)
{
    const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
    for (int quiet = 0, looks = 0; quiet < 3 && looks < 200; looks++) {
        quiet = other_threads_run() ? 0 : quiet + 1;
        nanosleep(&pause, NULL);
    }
}

static void limit_memory(const char *place, const char *memory)
{
    size_t length = strlen(place);
    struct rlimit limit;
    if (strncmp(memory, place, length) != 0 || memory[length] != ':')
        return;
    wait_for_other_threads();
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = (rlim_t)(address_space_bytes() + number_of(memory + length + 1));
    setrlimit(RLIMIT_AS, &limit);
}

static void step(spank_t spank, const char *place, const char *callback)
{
    char value[4096], since[32];
    run_command("STAND_IN_BEFORE", callback);
    const char *memory = variable(spank, "STAND_IN_MEMORY", value);
    if (memory)
        limit_memory(place, memory);
    snprintf(since, sizeof(since), "%lld", now());
    setenv(SINCE, since, 1);
}

#endif

__attribute__((constructor)) static void loaded(void)
{
#ifdef BEHIND
    const char *since = getenv(SINCE), *log = getenv("STAND_IN_LOG");
    FILE *file = since && log ? fopen(log, "a") : NULL;
    if (file) {
        fprintf(file, "srun load %lld\n", now() - number_of(since));
        fclose(file);
    }
    unsetenv(SINCE);
#else
    char since[32];
    snprintf(since, sizeof(since), "%lld", now());
    setenv(SINCE, since, 1);
#endif
}

#define CALLBACK(name, place)                                                                      \
    int slurm_spank_##name(spank_t spank, int count, char **arguments)                             \
    {                                                                                              \
        (void)count;                                                                               \
        (void)arguments;                                                                           \
        step(spank, place, #name);                                                                 \
        return 0;                                                                                  \
    }

#define CLIENT_OR_NODE (spank_context() == S_CTX_REMOTE ? "node" : "srun")

CALLBACK(init, CLIENT_OR_NODE)
CALLBACK(init_post_opt, CLIENT_OR_NODE)
CALLBACK(local_user_init, "srun")
CALLBACK(task_init, "task")
CALLBACK(exit, CLIENT_OR_NODE)
