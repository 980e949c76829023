/* SPDX-License-Identifier: MIT */
/* The leader's thread: takes and keeps the Lease while this process has synced. */
#include "k8s_extender/api/time_now.h"
#include "k8s_extender/extender/extender.h"
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LEASE_DURATION_SECONDS 10u
#define LEASE_DEADLINE_SECONDS 7u
#define LEASE_RETRY_SECONDS 2u
#define NAP_MILLISECONDS 100u
#define QUIET_MILLISECONDS 10u
#define TROUBLE_BYTES 512u

static void nap(const struct extender *extender, unsigned milliseconds)
{
    const struct timespec step = {.tv_nsec = NAP_MILLISECONDS * 1000000};
    for (unsigned slept = 0; slept < milliseconds && !extender_stopping(extender);
         slept += NAP_MILLISECONDS)
        nanosleep(&step, NULL);
}

/* Until no writing of this process is under way that could reach the API server after another one
 * has begun to lead. */
static void wait_quiet(const struct extender *extender)
{
    const struct timespec step = {.tv_nsec = QUIET_MILLISECONDS * 1000000};
    while (!__atomic_load_n(&extender->quiet, __ATOMIC_ACQUIRE))
        nanosleep(&step, NULL);
}

/* With the lock; whether that is a change. */
static bool note_leads(struct extender *extender, const struct lease *lease)
{
    bool leads = lease != NULL, changes = extender->leads != leads;
    extender->leads = leads;
    extender->lease = lease;
    gang_machine_lead(extender->machine, leads);
    pthread_cond_broadcast(&extender->work);
    metrics_set(extender->metrics, METRIC_LEADER, NULL, leads);
    return changes;
}

static void tell_leads(struct extender *extender, bool leads)
{
    log_message(&extender->log, LOG_LEVEL_INFO,
                leads ? "leads: plans and writes from here" : "does not lead any more");
}

/* lease NULL: it does not lead. */
static void set_leads(struct extender *extender, const struct lease *lease)
{
    pthread_mutex_lock(&extender->lock);
    bool changes = note_leads(extender, lease);
    pthread_mutex_unlock(&extender->lock);
    if (changes)
        tell_leads(extender, lease != NULL);
}

void extender_end_lapsed_lead(struct extender *extender)
{
    if (extender->leads && !lease_holds(extender->lease, time_now_milliseconds()) &&
        note_leads(extender, NULL))
        tell_leads(extender, false);
}

/* The next one sees that the Lease is not renewed, and then settles. */
unsigned extender_write_seconds(struct extender *extender)
{
    pthread_mutex_lock(&extender->lock);
    uint64_t rest =
        extender->lease ? lease_rest(extender->lease, time_now_milliseconds()) / 1000 : 0;
    pthread_mutex_unlock(&extender->lock);
    uint64_t seconds =
        rest + (LEASE_DURATION_SECONDS - LEASE_DEADLINE_SECONDS) + GANG_SETTLE_SECONDS;
    return seconds < API_REQUEST_SECONDS ? (unsigned)seconds : API_REQUEST_SECONDS;
}

/* The first of a row of equal troubles. */
static void note_trouble(struct extender *extender, const char *trouble, char last[TROUBLE_BYTES])
{
    if (strcmp(trouble, last) == 0)
        return;
    if (*trouble)
        log_message(&extender->log, LOG_LEVEL_WARNING, "%s", trouble);
    snprintf(last, TROUBLE_BYTES, "%s", trouble);
}

static void keep(struct extender *extender, struct lease *lease, struct api_client *client)
{
    char trouble[TROUBLE_BYTES] = "", last[TROUBLE_BYTES] = "";
    while (!extender_stopping(extender)) {
        unsigned wait = LEASE_RETRY_SECONDS * 1000u;
        bool leads = false;
        /* Who cannot answer must not hold the Lease. */
        if (extender_has_lists(extender)) {
            trouble[0] = '\0';
            leads = lease_turn(lease, client, time_now_milliseconds(),
                               time_now_of_day_microseconds(), &wait, trouble, sizeof(trouble));
            note_trouble(extender, trouble, last);
            if (lease_went_back(lease))
                extender_list_again(extender);
            extender_note_heard(extender, HEARD_LEASE, trouble[0] ? trouble : NULL);
        } else {
            set_leads(extender, NULL); /* before another one can lead */
            lease_give_up(lease, client);
        }
        set_leads(extender, leads ? lease : NULL);
        nap(extender, wait);
    }
    set_leads(extender, NULL);
    wait_quiet(extender);
    api_client_stop_with(client, NULL);
    lease_give_up(lease, client);
}

void *extender_lead(void *context)
{
    struct extender *extender = context;
    struct error_info err = {.kind = ERROR_NONE};
    char host[128] = "", name[192];
    gethostname(host, sizeof(host) - 1);
    snprintf(name, sizeof(name), "%s_%ld", host, (long)getpid());
    const struct extender_options *options = &extender->options;
    const struct lease_settings settings = {
        .namespace = options->lease_namespace ? options->lease_namespace : extender->api->namespace,
        .name = options->lease_name,
        .identity = options->identity ? options->identity : name,
        .duration_seconds = LEASE_DURATION_SECONDS,
        .renew_deadline_seconds = LEASE_DEADLINE_SECONDS,
        .retry_seconds = LEASE_RETRY_SECONDS,
    };
    CLEANUP(api_client) struct api_client *client = api_client_create(extender->api, &err);
    CLEANUP(lease) struct lease *lease = client ? lease_create(&settings, &err) : NULL;
    if (lease) {
        api_client_stop_with(client, &extender->stop);
        keep(extender, lease, client);
        return NULL;
    }
    log_message(&extender->log, LOG_LEVEL_ERROR, "Lease: %s", err.text);
    extender_stop(extender, true);
    return NULL;
}
