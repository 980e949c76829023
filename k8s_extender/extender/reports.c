/* SPDX-License-Identifier: MIT */
#include "base/json_document.h"
#include "k8s_extender/api/time_now.h"
#include "k8s_extender/extender/extender.h"
#include "k8s_extender/extender/verbs.h"
#include "k8s_extender/placement/plan_answer.h"
#include "k8s_extender/server/pod_admission.h"
#include <stdio.h>

#define JSON_TYPE "application/json"
#define WHY_BYTES 512u

void report_health(void *context, const struct http_request *request, struct http_answer *answer)
{
    (void)context;
    (void)request;
    text_buffer_add_text(&answer->body, "ok\n");
}

void report_readiness(void *context, const struct http_request *request, struct http_answer *answer)
{
    char why[WHY_BYTES];
    (void)request;
    if (extender_ready(context, why, sizeof(why))) {
        text_buffer_add_text(&answer->body, "ok\n");
        return;
    }
    answer->status = 503;
    text_buffer_add(&answer->body, "%s\n", why);
}

static void set_gauges(struct extender *extender)
{
    struct gang_counts counts;
    struct hearing heard[HEARD_COUNT];
    pthread_mutex_lock(&extender->lock);
    gang_machine_count(extender->machine, &counts);
    for (unsigned i = 0; i < HEARD_COUNT; i++)
        heard[i] = extender->heard[i];
    pthread_mutex_unlock(&extender->lock);
    uint64_t now = time_now_milliseconds();
    for (unsigned i = 0; i < GANG_PHASE_COUNT; i++)
        metrics_set(extender->metrics, METRIC_GANGS, gang_phase_words[i], (double)counts.gangs[i]);
    metrics_set(extender->metrics, METRIC_NODES, NULL, (double)counts.nodes);
    metrics_set(extender->metrics, METRIC_PODS, NULL, (double)counts.pods);
    metrics_set(extender->metrics, METRIC_PROMISED_NODES, NULL, (double)counts.promised_nodes);
    static const char *const words[HEARD_COUNT] = {
        [LIST_NODES] = "nodes", [LIST_PODS] = "pods", [HEARD_LEASE] = "lease"};
    for (unsigned i = 0; i < HEARD_COUNT; i++)
        metrics_set(extender->metrics, METRIC_CACHE_AGE_SECONDS, words[i],
                    (double)(now - heard[i].since_milliseconds) / 1000.0);
}

void report_metrics(void *context, const struct http_request *request, struct http_answer *answer)
{
    struct extender *extender = context;
    (void)request;
    set_gauges(extender);
    answer->content_type = "text/plain; version=0.0.4; charset=utf-8";
    metrics_write(extender->metrics, &answer->body);
}

void report_gangs(void *context, const struct http_request *request, struct http_answer *answer)
{
    struct extender *extender = context;
    struct error_info err = {.kind = ERROR_NONE};
    (void)request;
    CLEANUP(json_value) struct json_value *root = json_value_create_object();
    json_add_text(root, "schema", "parplan.gangs/1");
    pthread_mutex_lock(&extender->lock);
    json_add_boolean(root, "leader", extender->leads);
    json_add_boolean(root, "synced", gang_machine_synced(extender->machine));
    gang_machine_describe(extender->machine, json_add_object(root, "gangs"));
    pthread_mutex_unlock(&extender->lock);
    answer->content_type = JSON_TYPE;
    if (json_value_write(root, JSON_STYLE_PRETTY, &answer->body, &err) == 0)
        return;
    answer->status = 500;
    answer->content_type = NULL;
    text_buffer_add_text(&answer->body, "out of memory\n");
}

static struct gang_problem *pose(struct extender *extender, const struct plan_question *question,
                                 struct http_answer *answer, struct error_info *err)
{
    char why[WHY_BYTES];
    struct gang_problem *problem = NULL;
    pthread_mutex_lock(&extender->lock);
    bool ready = extender_ready_locked(extender, why, sizeof(why));
    if (ready)
        problem = gang_machine_problem(extender->machine, question->pod, question->size, err);
    pthread_mutex_unlock(&extender->lock);
    answer->status = ready ? 400 : 503;
    if (!ready)
        error_set(err, "%s", why);
    return problem;
}

void report_plan(void *context, const struct http_request *request, struct http_answer *answer)
{
    struct extender *extender = context;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(plan_question) struct plan_question question = {.pod = NULL};
    CLEANUP(gang_problem) struct gang_problem *problem = NULL;
    CLEANUP(gang_plan) struct gang_plan *plan = NULL;
    answer->status = 400;
    if (plan_question_parse(request->body, request->body_bytes, &question, &err) == 0)
        problem = pose(extender, &question, answer, &err);
    if (problem) {
        answer->status = 500;
        plan = extender_plan(extender, problem, &err);
    }
    if (plan && plan_answer_write(plan, &answer->body, &err) == 0) {
        answer->status = 200;
        answer->content_type = JSON_TYPE;
        return;
    }
    text_buffer_add(&answer->body, "%s\n", err.text);
}

/* What the policies of manifests/kubernetes/admission exempt, too. */
#define OWN_USER "system:serviceaccount:%s:parplan-extender"

/* With the lock of reviews. */
static void answer_review(struct extender *extender, const struct http_request *request,
                          struct http_answer *answer)
{
    struct error_info err = {.kind = ERROR_NONE};
    char own[320];
    CLEANUP(admission_question)
    struct admission_question *question =
        admission_question_parse(request->body, request->body_bytes, &err);
    if (!question) {
        answer->status = 400;
        text_buffer_add(&answer->body, "%s\n", err.text);
        return;
    }
    snprintf(own, sizeof(own), OWN_USER, extender->api->namespace);
    answer->content_type = JSON_TYPE;
    pod_admission_answer(question, own, &answer->body);
}

/* Anybody may post one: one tree at a time, whoever comes. */
void admit_pod(void *context, const struct http_request *request, struct http_answer *answer)
{
    static pthread_mutex_t reviews = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&reviews);
    answer_review(context, request, answer);
    pthread_mutex_unlock(&reviews);
}
