/* SPDX-License-Identifier: MIT */
/*
 * The workers: each takes the machine's next task, carries it out without the lock, and reports
 * what came of it.
 */
#include "k8s_extender/api/gang_service.h"
#include "k8s_extender/api/gang_size.h"
#include "k8s_extender/api/pod_event.h"
#include "k8s_extender/api/pod_patch.h"
#include "k8s_extender/api/time_now.h"
#include "k8s_extender/extender/extender.h"
#include <string.h>
#include <time.h>

#define TASK_ARENA_MAXIMUM ((size_t)4 << 20)
#define ANSWER_WORDS_BYTES 512u
#define REFUSALS_MILLISECONDS 60000u /* in that time … */
#define REFUSALS_LOGGED 10u          /* … so many are logged */
#define STARVED_MILLISECONDS 60000u

struct worker {
    struct extender *extender;
    struct api_client *client;
};

/* An event that cannot be written is lost: the log has it. */
/* Of the task's pod. */
static struct pod_event event_of(const struct gang_task *task, bool warning, const char *reason,
                                 const char *message)
{
    return (struct pod_event){.namespace = task->namespace,
                              .name = task->pod,
                              .uid = task->uid,
                              .warning = warning,
                              .reason = reason,
                              .message = message};
}

static void put_event(struct worker *worker, const struct pod_event *event)
{
    struct extender *extender = worker->extender;
    uint32_t count;
    struct error_info err = {.kind = ERROR_NONE};
    pthread_mutex_lock(&extender->events_lock);
    enum event_move move =
        event_memory_note(&extender->events, event, time_now_milliseconds(), &count);
    pthread_mutex_unlock(&extender->events_lock);
    bool written = pod_event_write(worker->client, event, move, count,
                                   time_now_of_day_microseconds(), &err) == 0;
    if (!written)
        log_message(&extender->log, LOG_LEVEL_WARNING, "event of %s %s/%s: %s",
                    event->kind ? event->kind : "Pod", event->namespace, event->name, err.text);
    if (move == EVENT_HOLD)
        return;
    pthread_mutex_lock(&extender->events_lock);
    event_memory_written(&extender->events, event, written);
    pthread_mutex_unlock(&extender->events_lock);
}

/* On the pod, and on what people look at first. */
static void put_events(struct worker *worker, const struct gang_task *task, struct pod_event event)
{
    put_event(worker, &event);
    if (!task->owner_kind)
        return;
    event.kind = task->owner_kind;
    event.name = task->owner_name;
    event.uid = task->owner_uid;
    put_event(worker, &event);
}

/* Of a gang of a thousand pods a few lines say it. */
static void log_refused(struct extender *extender, const struct gang_task *task, const char *words)
{
    uint64_t now = time_now_milliseconds();
    pthread_mutex_lock(&extender->events_lock);
    if (now - extender->refusals_since >= REFUSALS_MILLISECONDS) {
        extender->refusals_since = now;
        extender->refusals = 0;
    }
    unsigned count = ++extender->refusals;
    pthread_mutex_unlock(&extender->events_lock);
    if (count <= REFUSALS_LOGGED)
        log_message(&extender->log, LOG_LEVEL_WARNING, "pod %s/%s: %s%s", task->namespace,
                    task->pod, words, count == REFUSALS_LOGGED ? "; others are not logged" : "");
}

/* The same would be refused again: the user hears of it, who may be able to do something. */
static enum gang_task_result refused(struct worker *worker, const struct gang_task *task,
                                     const char *words)
{
    char message[POD_EVENT_MESSAGE_BYTES];
    if (task->kind == TASK_DELETE_POD)
        snprintf(message, sizeof(message),
                 "gang %s: the API server does not let parplan delete pod %s: %s; tried again in "
                 "some minutes",
                 task->gang, task->pod, words);
    else
        snprintf(message, sizeof(message),
                 "gang %s: the API server refuses what parplan writes to pod %s: %s; tried again "
                 "when the pod changes, or in some minutes",
                 task->gang, task->pod, words);
    const struct pod_event event = event_of(task, true, "GangPodRefused", message);
    log_refused(worker->extender, task, words);
    put_event(worker, &event);
    return TASK_REFUSED;
}

static enum gang_task_result judge(struct worker *worker, const struct gang_task *task,
                                   const struct api_answer *answer)
{
    static const struct {
        long status;
        enum gang_task_result result;
        const char *word; /* of the metric */
    } rows[] = {
        {400, TASK_REFUSED, "refused"},   {403, TASK_REFUSED, "refused"},
        {404, TASK_CONFLICT, "conflict"}, {409, TASK_CONFLICT, "conflict"},
        {413, TASK_REFUSED, "refused"},   {422, TASK_REFUSED, "refused"},
    };
    char words[ANSWER_WORDS_BYTES];
    if (answer->status >= 200 && answer->status < 300)
        return TASK_SUCCEEDED;
    size_t row = 0;
    while (row < COUNT_OF(rows) && rows[row].status != answer->status)
        row++;
    bool known = row < COUNT_OF(rows);
    metrics_add(worker->extender->metrics, METRIC_API_ERRORS, known ? rows[row].word : "failed",
                NULL, 1);
    if (known && rows[row].result == TASK_CONFLICT)
        return TASK_CONFLICT; /* the watch tells what has changed */
    api_answer_words(answer, words, sizeof(words));
    if (known && strstr(words, "metadata.uid")) /* another pod of that name, by Kubernetes 1.36 */
        return TASK_CONFLICT;
    if (known)
        return refused(worker, task, words);
    log_message(&worker->extender->log, LOG_LEVEL_WARNING, "pod %s/%s: %s", task->namespace,
                task->pod, words);
    return TASK_FAILED;
}

static enum gang_task_result send(struct worker *worker, const struct gang_task *task,
                                  const struct api_request *request)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(api_answer) struct api_answer answer = {.status = 0};
    if (api_client_send(worker->client, request, &answer, &err) == 0)
        return judge(worker, task, &answer);
    metrics_add(worker->extender->metrics, METRIC_API_ERRORS, "no answer", NULL, 1);
    log_message(&worker->extender->log, LOG_LEVEL_WARNING, "pod %s/%s: %s", task->namespace,
                task->pod, err.text);
    return TASK_FAILED;
}

static enum gang_task_result write_pod(struct worker *worker, const struct gang_task *task,
                                       struct api_request *request)
{
    request->timeout_seconds = extender_write_seconds(worker->extender);
    return send(worker, task, request);
}

static enum gang_task_result patch_pod(struct worker *worker, const struct gang_task *task,
                                       struct arena *arena)
{
    const struct pod_change change = {
        .namespace = task->namespace,
        .pod = task->pod,
        .uid = task->uid,
        .resource_version = task->resource_version,
        .annotations = task->annotations,
        .remove_gate = task->release ? GANG_GATE : NULL,
        .node = task->release ? task->node : NULL,
        .affinity = task->affinity,
    };
    struct api_request request;
    struct error_info err = {.kind = ERROR_NONE};
    return pod_patch_request(&change, arena, &request, &err) < 0
               ? TASK_FAILED
               : write_pod(worker, task, &request);
}

static void log_service(struct worker *worker, const struct gang_task *task,
                        const struct api_answer *answer)
{
    char words[256];
    api_answer_words(answer, words, sizeof(words));
    log_message(&worker->extender->log, LOG_LEVEL_WARNING, "service %s/%s: %s", task->namespace,
                task->service, words);
}

/* Two gangs' names made one subdomain, and this one's pods have no names: training would hang
 * without a word. */
static enum gang_task_result tell_other_service(struct worker *worker, const struct gang_task *task,
                                                const char *others)
{
    char message[POD_EVENT_MESSAGE_BYTES];
    snprintf(
        message, sizeof(message),
        "gang %s: MASTER_ADDR will not resolve: Service %s, which should name its pods, is that "
        "of %s, whose name makes the same one; give this gang another name in label "
        "parplan.io/gang",
        task->gang, task->service, others);
    const struct pod_event event = event_of(task, true, "GangWithoutMasterName", message);
    log_message(&worker->extender->log, LOG_LEVEL_WARNING, "%s", message);
    put_events(worker, task, event);
    return TASK_REFUSED;
}

/* One of that name is there. What cannot be read is asked for again. */
static enum gang_task_result look_at_service(struct worker *worker, const struct gang_task *task,
                                             const struct gang_service *service,
                                             struct arena *arena)
{
    struct api_request request;
    struct error_info err = {.kind = ERROR_NONE};
    char others[GANG_SERVICE_WORDS_BYTES];
    CLEANUP_DONE(api_answer) struct api_answer answer = {.status = 0};
    if (gang_service_read_request(service, arena, &request, &err) < 0 ||
        api_client_send(worker->client, &request, &answer, &err) < 0)
        return TASK_FAILED;
    if (answer.status == 403)
        log_service(worker, task, &answer);
    if (answer.status != 200)
        return TASK_CONFLICT;
    switch (gang_service_compare(service, answer.body, answer.body_bytes, others)) {
    case SERVICE_SERVES:
        return TASK_SUCCEEDED;
    case SERVICE_OF_OTHERS:
        return tell_other_service(worker, task, others);
    case SERVICE_GOES:
        break;
    }
    return TASK_CONFLICT;
}

/* Without the right to make one MASTER_ADDR has no name, and the gang starts all the same: the log
 * says why. */
static enum gang_task_result make_service(struct worker *worker, const struct gang_task *task,
                                          struct arena *arena)
{
    const struct gang_service service = {.namespace = task->namespace,
                                         .name = task->service,
                                         .gang_label = task->gang_label,
                                         .owner_kind = task->owner_kind,
                                         .owner_name = task->owner_name,
                                         .owner_uid = task->owner_uid};
    struct api_request request;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(api_answer) struct api_answer answer = {.status = 0};
    if (gang_service_request(&service, arena, &request, &err) < 0 ||
        api_client_send(worker->client, &request, &answer, &err) < 0)
        return TASK_FAILED;
    if (answer.status < 300)
        return TASK_SUCCEEDED;
    if (answer.status == 409)
        return look_at_service(worker, task, &service, arena);
    log_service(worker, task, &answer);
    return answer.status >= 500 || answer.status == 429 ? TASK_FAILED : TASK_SUCCEEDED;
}

static enum gang_task_result delete_pod(struct worker *worker, const struct gang_task *task,
                                        struct arena *arena)
{
    struct api_request request;
    struct error_info err = {.kind = ERROR_NONE};
    return pod_delete_request(task->namespace, task->pod, task->uid, task->resource_version, arena,
                              &request, &err) < 0
               ? TASK_FAILED
               : write_pod(worker, task, &request);
}

static enum gang_task_result write_event(struct worker *worker, const struct gang_task *task)
{
    const struct pod_event event = event_of(task, task->warning, task->reason, task->message);
    log_message(&worker->extender->log, task->warning ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO,
                "%s: %s", task->reason, task->message);
    put_events(worker, task, event);
    return TASK_SUCCEEDED;
}

static enum gang_task_result ask_size(struct worker *worker, const struct gang_task *task)
{
    struct extender *extender = worker->extender;
    struct gang_size size;
    struct error_info err = {.kind = ERROR_NONE};
    if (gang_size_ask(worker->client, task->size_from, task->namespace, task->size_owner, &size,
                      &err) < 0) {
        log_message(&extender->log, LOG_LEVEL_WARNING, "gang %s: %s", task->gang, err.text);
        return TASK_FAILED;
    }
    pthread_mutex_lock(&extender->lock);
    int status = gang_machine_size(extender->machine, task->gang, size.pods,
                                   size.pods ? NULL : size.problem);
    pthread_mutex_unlock(&extender->lock);
    return status < 0 ? TASK_FAILED : TASK_SUCCEEDED;
}

static const char *const outcome_words[] = {[GANG_PLANNED] = "planned",
                                            [GANG_NO_FIT] = "no fit",
                                            [GANG_DENIED] = "denied",
                                            [GANG_BAD_INPUT] = "bad input"};

static enum gang_task_result make_plan(struct worker *worker, const struct gang_task *task)
{
    struct extender *extender = worker->extender;
    struct error_info err = {.kind = ERROR_NONE};
    uint64_t start = time_now_milliseconds();
    struct gang_plan *plan = extender_plan(extender, task->problem, &err);
    metrics_observe(extender->metrics, METRIC_PLAN_SECONDS, NULL,
                    (double)(time_now_milliseconds() - start) / 1000.0);
    metrics_add(extender->metrics, METRIC_PLANS, plan ? outcome_words[plan->outcome] : "failed",
                NULL, 1);
    pthread_mutex_lock(&extender->lock);
    int status = gang_machine_planned(extender->machine, task->problem, plan);
    pthread_mutex_unlock(&extender->lock);
    return plan && status == 0 ? TASK_SUCCEEDED : TASK_FAILED;
}

static enum gang_task_result carry_out(struct worker *worker, const struct gang_task *task)
{
    CLEANUP(arena) struct arena *arena = arena_create(TASK_ARENA_MAXIMUM);
    if (!arena)
        return TASK_FAILED;
    switch (task->kind) {
    case TASK_ASK_SIZE:
        return ask_size(worker, task);
    case TASK_PLAN:
        return make_plan(worker, task);
    case TASK_PATCH_POD:
        return patch_pod(worker, task, arena);
    case TASK_SERVICE:
        return make_service(worker, task, arena);
    case TASK_EVENT:
        return write_event(worker, task);
    case TASK_DELETE_POD:
        return delete_pod(worker, task, arena);
    case TASK_NONE:
        break;
    }
    return TASK_SUCCEEDED;
}

static void wait_for_work(struct extender *extender)
{
    uint64_t milliseconds = gang_machine_wait(extender->machine);
    uint64_t end = time_now_milliseconds() + milliseconds;
    const struct timespec until = {.tv_sec = (time_t)(end / 1000u),
                                   .tv_nsec = (long)(end % 1000u) * 1000000};
    pthread_cond_timedwait(&extender->work, &extender->lock, &until);
}

/* With the lock. Of what lasts a line a minute says it. */
static void log_starved(struct extender *extender)
{
    uint64_t now = time_now_milliseconds();
    if (extender->starved_milliseconds &&
        now - extender->starved_milliseconds < STARVED_MILLISECONDS)
        return;
    extender->starved_milliseconds = now;
    log_message(&extender->log, LOG_LEVEL_ERROR,
                "out of memory; the gangs that it ran out for wait, and are tried again");
}

/* With the lock. False: nothing is to be done now. */
static bool next_task(struct extender *extender, struct gang_task *ret)
{
    *ret = (struct gang_task){.kind = TASK_NONE};
    extender_end_lapsed_lead(extender);
    if (gang_machine_tick(extender->machine, time_now_milliseconds()) < 0 ||
        gang_machine_next(extender->machine, ret) < 0) {
        log_starved(extender);
        return false;
    }
    return ret->kind != TASK_NONE;
}

static void finish(struct extender *extender, struct gang_task *task, enum gang_task_result result)
{
    pthread_mutex_lock(&extender->lock);
    if (gang_machine_finished(extender->machine, task, result) < 0)
        log_starved(extender);
    pthread_mutex_unlock(&extender->lock);
}

void *extender_work(void *context)
{
    struct extender *extender = context;
    struct error_info err = {.kind = ERROR_NONE};
    struct gang_task task;
    CLEANUP(api_client) struct api_client *client = api_client_create(extender->api, &err);
    struct worker worker = {.extender = extender, .client = client};
    if (!client) {
        log_message(&extender->log, LOG_LEVEL_ERROR, "%s", err.text);
        extender_stop(extender, true);
        return NULL;
    }
    api_client_stop_with(client, &extender->stop);
    while (!extender_stopping(extender)) {
        pthread_mutex_lock(&extender->lock);
        bool found = next_task(extender, &task);
        if (found)
            extender_wake(extender); /* there may be more for another one */
        else
            wait_for_work(extender);
        pthread_mutex_unlock(&extender->lock);
        if (found)
            finish(extender, &task, carry_out(&worker, &task));
    }
    return NULL;
}
