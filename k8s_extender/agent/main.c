/* SPDX-License-Identifier: MIT */
/* parplan-node-agent: looks at the machine, publishes, sleeps. */
#include "base/name_index.h"
#include "base/text_file.h"
#include "k8s_extender/agent/agent_options.h"
#include "k8s_extender/agent/machine.h"
#include "k8s_extender/agent/publisher.h"
#include "k8s_extender/api/time_now.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PROGRAM "parplan-node-agent"
#define SERVICE_ACCOUNT_FOLDER "/var/run/secrets/kubernetes.io/serviceaccount"
#define CATALOGUE_FILE "gpus.yaml"
#define CATALOGUE_MAXIMUM_BYTES ((size_t)4 << 20)
#define PATH_BYTES 4096
#define BAD_USAGE 2

/* Nothing is half done that would have to be cleaned up, and a driver may hang: at once. */
static void end_at_once(int signal_number)
{
    (void)signal_number;
    _exit(EXIT_SUCCESS);
}

static void handle_signals(void)
{
    const struct sigaction end = {.sa_handler = end_at_once};
    sigaction(SIGTERM, &end, NULL);
    sigaction(SIGINT, &end, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static void write_line(void *context, enum log_level level, const char *line)
{
    (void)context;
    (void)level;
    fprintf(stderr, PROGRAM ": %s\n", line);
}

static const char *environment(const char *name) { return getenv(name); }

static struct gpu_catalogue *open_gpus(const char *folder, struct error_info *err)
{
    char path[PATH_BYTES];
    size_t bytes = 0;
    if (!folder)
        return gpu_catalogue_builtin(err);
    if (snprintf(path, sizeof(path), "%s/" CATALOGUE_FILE, folder) >= PATH_BYTES)
        return error_null(error_set(err, "--data: the path is too long"));
    CLEANUP_MEMORY char *text = text_file_read(path, CATALOGUE_MAXIMUM_BYTES, &bytes, err);
    return text ? gpu_catalogue_parse(text, bytes, path, err) : NULL;
}

static int print(const struct agent_options *options, const struct gpu_catalogue *gpus,
                 struct error_info *err)
{
    CLEANUP_DONE(text_buffer) struct text_buffer words;
    text_buffer_init(&words, MACHINE_WORDS_BYTES);
    CLEANUP_MEMORY char *text = machine_look(options->nvml, options->sysfs, gpus, &words, err);
    if (!text)
        return -1;
    return fputs(text, stdout) < 0 || fflush(stdout) != 0
               ? error_set_system(err, "standard output: %s", error_errno_text(errno))
               : 0;
}

/* --- publishing ------------------------------------------------------------------- */

static int send_request(void *client, const struct api_request *request, struct api_answer *ret,
                        struct error_info *err)
{
    return api_client_send(client, request, ret, err);
}

static void sleep_milliseconds(uint64_t milliseconds)
{
    struct timespec left = {.tv_sec = (time_t)(milliseconds / 1000),
                            .tv_nsec = (long)(milliseconds % 1000) * 1000000};
    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        continue;
}

/* The same on no two nodes, nor twice on one. */
static uint64_t seed_of(const char *node)
{
    uint64_t now = time_now_of_day_microseconds();
    uint64_t hash = name_hash_add(NAME_HASH_START, node, strlen(node));
    return name_hash_add(hash, &now, sizeof(now));
}

struct agent {
    const struct agent_options *options;
    const struct gpu_catalogue *gpus;
    struct publisher *publisher;
    char *text; /* of the last look; NULL: it failed */
    struct text_buffer words;
    uint64_t next_look;
};

/* A writing that failed is tried again without another look: GPUs may have to be woken for it. */
static bool turn(struct agent *agent)
{
    uint64_t now = time_now_milliseconds();
    if (!agent->text || now >= agent->next_look) {
        struct error_info err = {.kind = ERROR_NONE};
        memory_free(agent->text);
        text_buffer_done(&agent->words);
        text_buffer_init(&agent->words, MACHINE_WORDS_BYTES);
        agent->text = machine_look(agent->options->nvml, agent->options->sysfs, agent->gpus,
                                   &agent->words, &err);
        agent->next_look = now + (uint64_t)agent->options->interval_seconds * 900;
        if (!agent->text) {
            publisher_no_text(agent->publisher, err.text);
            return false;
        }
    }
    return publisher_turn(agent->publisher, agent->text, text_buffer_text(&agent->words)) !=
           PUBLISHER_FAILED;
}

static struct api_config *open_config(const struct agent_options *options, struct error_info *err)
{
    struct api_config *config =
        options->kubeconfig ? api_config_kubeconfig(options->kubeconfig, NULL, err)
                            : api_config_in_cluster(SERVICE_ACCOUNT_FOLDER, environment, err);
    if (!config || api_config_check(config, err) < 0) {
        api_config_free(config);
        return error_null(options->kubeconfig ? error_prefix(err, "--kubeconfig") : -1);
    }
    config->user_agent = PROGRAM "/" PARPLAN_VERSION;
    return config;
}

/* Returns whether the last turn was well: with --once; else never. */
static int publish(const struct agent_options *options, const struct gpu_catalogue *gpus,
                   bool *ret_well, struct error_info *err)
{
    CLEANUP(api_config) struct api_config *config = open_config(options, err);
    CLEANUP(api_client)
    struct api_client *client = config ? api_client_create(config, err) : NULL;
    if (!client)
        return -1;
    const struct publisher_settings settings = {
        .node = options->node,
        .send = send_request,
        .context = client,
        .log = {.write = write_line},
        .seed = seed_of(options->node),
    };
    CLEANUP(publisher) struct publisher *publisher = publisher_create(&settings, err);
    if (!publisher)
        return -1;
    struct agent agent = {.options = options, .gpus = gpus, .publisher = publisher};
    while (!(*ret_well = turn(&agent)) || !options->once) {
        if (options->once)
            break;
        sleep_milliseconds(publisher_wait(publisher, options->interval_seconds));
    }
    memory_free(agent.text);
    text_buffer_done(&agent.words);
    return 0;
}

int main(int argc, char **argv)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct agent_options options;
    bool done = false, well = true;
    if (agent_options_parse(argc, argv, getenv(AGENT_NODE_VARIABLE), &options, &done, &err) < 0) {
        fprintf(stderr, PROGRAM ": %s\n", err.text);
        return err.kind == ERROR_INPUT ? BAD_USAGE : EXIT_FAILURE;
    }
    if (done)
        return EXIT_SUCCESS;
    handle_signals();
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = open_gpus(options.data, &err);
    int status = !gpus           ? -1
                 : options.print ? print(&options, gpus, &err)
                                 : publish(&options, gpus, &well, &err);
    if (status < 0)
        fprintf(stderr, PROGRAM ": %s\n", err.text);
    return status < 0 && err.kind == ERROR_INPUT ? BAD_USAGE
           : status < 0 || !well                 ? EXIT_FAILURE
                                                 : EXIT_SUCCESS;
}
