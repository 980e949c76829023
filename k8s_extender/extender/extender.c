/* SPDX-License-Identifier: MIT */
#include "k8s_extender/extender/extender.h"
#include "base/text_file.h"
#include "k8s_extender/api/time_now.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define RELEASE_MILLISECONDS 60000u
#define RETRY_MILLISECONDS 30000u
#define SERVICE_ACCOUNT_FOLDER "/var/run/secrets/kubernetes.io/serviceaccount"

static const char *environment(const char *name) { return getenv(name); }

bool extender_stopping(const struct extender *extender)
{
    return __atomic_load_n(&extender->stop, __ATOMIC_ACQUIRE);
}

void extender_stop(struct extender *extender, bool failed)
{
    if (failed)
        __atomic_store_n(&extender->failed, true, __ATOMIC_RELEASE);
    __atomic_store_n(&extender->stop, true, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&extender->work);
}

void extender_set_quiet(struct extender *extender)
{
    __atomic_store_n(&extender->quiet, true, __ATOMIC_RELEASE);
}

void extender_list_again(struct extender *extender)
{
    pthread_mutex_lock(&extender->lock);
    for (unsigned i = 0; i < LIST_COUNT; i++) {
        extender->rereads[i] = true;
        gang_machine_begin_list(extender->machine, i);
        __atomic_store_n(&extender->list_again[i], true, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&extender->lock);
    log_message(
        &extender->log, LOG_LEVEL_WARNING,
        "the API server's data went back (a backup of etcd was restored): all nodes and pods "
        "are read again");
}

void extender_wake(struct extender *extender) { pthread_cond_signal(&extender->work); }

static void write_line(void *context, enum log_level level, const char *line)
{
    static const char *const words[LOG_LEVEL_COUNT] = {"error: ", "warning: ", ""};
    (void)context;
    fprintf(stderr, "parplan-extender: %s%s\n", words[level], line);
}

static int open_catalogues(struct extender *extender, struct error_info *err)
{
    return (extender->presets = preset_catalogue_builtin(err)) &&
                   (extender->gpus = gpu_catalogue_builtin(err)) &&
                   (extender->frameworks = framework_catalogue_builtin(err)) &&
                   (extender->models = model_catalogue_builtin(err)) &&
                   (extender->efficiencies = efficiency_catalogue_builtin(err))
               ? 0
               : -1;
}

static int open_label_keys(struct extender *extender, struct error_info *err)
{
    const char *path = extender->options.label_keys;
    size_t bytes;
    if (!path)
        return 0;
    CLEANUP_MEMORY char *text = text_file_read(path, LABEL_KEYS_MAXIMUM_BYTES, &bytes, err);
    extender->label_keys = text ? fabric_label_keys_parse(text, bytes, path, err) : NULL;
    return extender->label_keys ? 0 : error_prefix(err, "--label-keys");
}

static int open_api(struct extender *extender, struct error_info *err)
{
    const char *kubeconfig = extender->options.kubeconfig;
    extender->api = kubeconfig ? api_config_kubeconfig(kubeconfig, NULL, err)
                               : api_config_in_cluster(SERVICE_ACCOUNT_FOLDER, environment, err);
    if (!extender->api || api_config_check(extender->api, err) < 0)
        return kubeconfig ? error_prefix(err, "--kubeconfig") : -1;
    if (!extender->options.bind)
        return 0;
    extender->binder = api_client_create(extender->api, err);
    if (!extender->binder)
        return -1;
    api_client_stop_with(extender->binder, &extender->stop);
    return 0;
}

static int open_machine(struct extender *extender, struct error_info *err)
{
    const struct gang_machine_settings settings = {
        .release_milliseconds = RELEASE_MILLISECONDS,
        .retry_milliseconds = RETRY_MILLISECONDS,
        .view = {.presets = extender->presets,
                 .gpus = extender->gpus,
                 .keys = extender->label_keys ? extender->label_keys : fabric_label_keys_default()},
    };
    extender->machine = gang_machine_create(&settings, err);
    extender->metrics = extender->machine ? metrics_create() : NULL;
    if (extender->machine && !extender->metrics)
        return error_set_memory(err);
    return extender->metrics ? 0 : -1;
}

static void init_locks(struct extender *extender)
{
    pthread_condattr_t attributes;
    pthread_mutex_init(&extender->lock, NULL);
    pthread_mutex_init(&extender->binder_lock, NULL);
    pthread_mutex_init(&extender->events_lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&extender->work, &attributes);
    pthread_condattr_destroy(&attributes);
}

int extender_open(struct extender *extender, const struct extender_options *options,
                  struct error_info *err)
{
    *extender = (struct extender){.options = *options, .log = {.write = write_line}};
    init_locks(extender);
    uint64_t now = time_now_milliseconds();
    for (unsigned i = 0; i < HEARD_COUNT; i++)
        extender->heard[i].since_milliseconds = now;
    extender->config = live_config_create(options->config, err);
    if (!extender->config && options->config)
        error_prefix(err, "--config");
    if (extender->config && open_catalogues(extender, err) == 0 &&
        open_label_keys(extender, err) == 0 && open_api(extender, err) == 0 &&
        open_machine(extender, err) == 0)
        return 0;
    extender_close(extender);
    return -1;
}

void extender_close(struct extender *extender)
{
    metrics_free(extender->metrics);
    gang_machine_free(extender->machine);
    api_client_free(extender->binder);
    api_config_free(extender->api);
    fabric_label_keys_free(extender->label_keys);
    efficiency_catalogue_free(extender->efficiencies);
    model_catalogue_free(extender->models);
    framework_catalogue_free(extender->frameworks);
    gpu_catalogue_free(extender->gpus);
    preset_catalogue_free(extender->presets);
    live_config_free(extender->config);
    pthread_cond_destroy(&extender->work);
    pthread_mutex_destroy(&extender->events_lock);
    pthread_mutex_destroy(&extender->binder_lock);
    pthread_mutex_destroy(&extender->lock);
    *extender = (struct extender){.stop = true};
}

static const char *const heard_words[HEARD_COUNT] = {
    [LIST_NODES] = "nodes", [LIST_PODS] = "pods", [HEARD_LEASE] = "Lease"};

/* The first thing that was not heard of for too long, of so many; or `count`. */
static unsigned unheard(const struct extender *extender, unsigned count, uint64_t *ret_seconds)
{
    uint64_t now = time_now_milliseconds();
    for (unsigned i = 0; i < count; i++) {
        const struct hearing *heard = &extender->heard[i];
        *ret_seconds = (now - heard->since_milliseconds) / 1000u;
        if (heard->troubled && *ret_seconds >= extender->options.stale_seconds)
            return i;
    }
    return count;
}

bool extender_ready_locked(struct extender *extender, char *ret_why, size_t bytes)
{
    uint64_t seconds;
    unsigned what = unheard(extender, HEARD_COUNT, &seconds);
    if (what < HEARD_COUNT)
        snprintf(ret_why, bytes, "parplan has not heard of the cluster's %s for %" PRIu64 " s: %s",
                 heard_words[what], seconds, extender->heard[what].reason);
    else if (!gang_machine_synced(extender->machine) || extender->rereads[LIST_NODES] ||
             extender->rereads[LIST_PODS])
        snprintf(ret_why, bytes, "parplan is still reading the cluster's nodes and pods");
    else
        return true;
    return false;
}

bool extender_has_lists(struct extender *extender)
{
    uint64_t seconds;
    pthread_mutex_lock(&extender->lock);
    bool has = gang_machine_synced(extender->machine) &&
               unheard(extender, LIST_COUNT, &seconds) == LIST_COUNT;
    pthread_mutex_unlock(&extender->lock);
    return has;
}

bool extender_note_heard(struct extender *extender, unsigned what, const char *trouble)
{
    pthread_mutex_lock(&extender->lock);
    struct hearing *heard = &extender->heard[what];
    bool changes = heard->troubled != (trouble != NULL);
    heard->troubled = trouble != NULL;
    if (changes || !trouble)
        heard->since_milliseconds = time_now_milliseconds();
    snprintf(heard->reason, sizeof(heard->reason), "%s", trouble ? trouble : "");
    error_clean_text(heard->reason); /* what was cut in the middle of a character, too */
    pthread_mutex_unlock(&extender->lock);
    return changes;
}

bool extender_ready(struct extender *extender, char *ret_why, size_t bytes)
{
    pthread_mutex_lock(&extender->lock);
    bool ready = extender_ready_locked(extender, ret_why, bytes);
    pthread_mutex_unlock(&extender->lock);
    return ready;
}

struct gang_plan *extender_plan(struct extender *extender, const struct gang_problem *problem,
                                struct error_info *err)
{
    const struct admin_config *config = live_config_take(extender->config);
    const struct gang_plan_sources sources = {.config = config,
                                              .gpus = extender->gpus,
                                              .frameworks = extender->frameworks,
                                              .models = extender->models,
                                              .efficiencies = extender->efficiencies};
    struct gang_plan *plan = gang_plan_create(problem, &sources, err);
    live_config_give(extender->config, config);
    return plan;
}
