/* SPDX-License-Identifier: MIT */
#include "k8s_extender/extender/verbs.h"
#include "base/memory.h"
#include "k8s_extender/api/pod_patch.h"
#include "k8s_extender/extender/extender.h"
#include "k8s_extender/server/extender_wire.h"
#include <stdio.h>
#include <string.h>

#define JSON_TYPE "application/json"

/* kube-scheduler reads no body of another status: what is wrong goes into Error. */
static void answer_error(struct http_answer *answer, const char *text)
{
    answer->content_type = JSON_TYPE;
    extender_write_error(text, &answer->body);
}

/* Whether the question cannot be answered now: what is written says why. A pod that neither belongs
 * to a gang nor asks for GPUs passes also while we know nothing. */
static bool must_wait(struct extender *extender, const struct pod_record *pod,
                      struct gang_answer *ret)
{
    char why[ANSWER_TEXT_BYTES];
    if (pod->plain || extender_ready_locked(extender, why, sizeof(why)))
        return false;
    *ret = (struct gang_answer){.kind = ANSWER_REFUSED, .whole_pod = true};
    snprintf(ret->text, sizeof(ret->text), "%s", why);
    return true;
}

/* With the lock. The pod that is asked about: as we know it, where that is the same version, which
 * saves reading it (most of what a call with one name takes); else as it is read from the question,
 * without the lock meanwhile. NULL: it cannot be read. */
static const struct pod_record *
asked_pod(struct extender *extender, struct extender_question *question, struct error_info *err)
{
    const struct pod_record *known =
        question->pod
            ? NULL
            : cluster_state_pod(gang_machine_state(extender->machine), question->identity.uid);
    if (known && strcmp(known->resource_version, question->identity.version) == 0) {
        question->native = known->gang.native;
        return known;
    }
    pthread_mutex_unlock(&extender->lock);
    int status = extender_question_read_pod(question, err);
    pthread_mutex_lock(&extender->lock);
    return status == 0 ? question->pod : NULL;
}

static void read_policy(struct extender *extender, const struct pod_record *pod, struct policy *ret)
{
    const struct admin_config *config = live_config_take(extender->config);
    const struct policy_subject subject = {.names = {[SCOPE_PARTITION] = pod->namespace}};
    admin_config_policy(config, &subject, ret);
    if (!config->enabled)
        ret->require_plan = REQUIRE_OFF;
    live_config_give(extender->config, config);
}

void verb_filter(void *context, const struct http_request *request, struct http_answer *answer)
{
    struct extender *extender = context;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(extender_question)
    struct extender_question *question =
        extender_question_open(request->body, request->body_bytes, &err);
    CLEANUP_MEMORY bool *passes =
        question ? memory_allocate_array(question->name_count + 1, sizeof(bool)) : NULL;
    if (!passes) {
        answer_error(answer, question ? "out of memory" : err.text);
        return;
    }
    struct policy policy;
    struct gang_answer verdict;
    pthread_mutex_lock(&extender->lock);
    const struct pod_record *pod = asked_pod(extender, question, &err);
    if (pod && !must_wait(extender, pod, &verdict)) {
        read_policy(extender, pod, &policy);
        gang_answer_filter(extender->machine, &policy, pod, question->names, question->name_count,
                           passes, &verdict);
    }
    pthread_mutex_unlock(&extender->lock);
    answer->content_type = JSON_TYPE;
    if (pod)
        extender_write_filter(question, &verdict, &answer->body);
    else
        answer_error(answer, err.text);
}

void verb_prioritize(void *context, const struct http_request *request, struct http_answer *answer)
{
    struct extender *extender = context;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(extender_question)
    struct extender_question *question =
        extender_question_open(request->body, request->body_bytes, &err);
    CLEANUP_MEMORY uint8_t *scores =
        question ? memory_allocate_array(question->name_count + 1, sizeof(uint8_t)) : NULL;
    const struct pod_record *pod = NULL;
    answer->content_type = JSON_TYPE;
    if (scores) {
        pthread_mutex_lock(&extender->lock);
        pod = asked_pod(extender, question, &err);
        if (pod)
            gang_answer_prioritize(extender->machine, pod, question->names, question->name_count,
                                   scores);
        pthread_mutex_unlock(&extender->lock);
    }
    if (pod)
        extender_write_scores(question, scores, &answer->body);
    else
        text_buffer_add_text(&answer->body, "[]"); /* its errors are not read */
}

static const char **victim_nodes(const struct preemption_question *question)
{
    const char **names = memory_allocate_array(question->node_count + 1, sizeof(*names));
    for (size_t i = 0; names && i < question->node_count; i++)
        names[i] = question->nodes[i].node;
    return names;
}

void verb_preempt(void *context, const struct http_request *request, struct http_answer *answer)
{
    struct extender *extender = context;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(preemption_question)
    struct preemption_question *question =
        preemption_question_parse(request->body, request->body_bytes, &err);
    if (!question) {
        answer->status = 400;
        text_buffer_add(&answer->body, "%s\n", err.text);
        return;
    }
    CLEANUP_MEMORY const char **names = victim_nodes(question);
    CLEANUP_MEMORY bool *allowed = memory_allocate_array(question->node_count + 1, sizeof(bool));
    if (!names || !allowed) {
        answer->status = 500;
        text_buffer_add_text(&answer->body, "out of memory\n");
        return;
    }
    struct gang_answer ignored;
    pthread_mutex_lock(&extender->lock);
    if (!must_wait(extender, question->pod, &ignored)) /* else none may be evicted */
        gang_answer_preempt(extender->machine, question->pod, names, question->node_count, allowed);
    pthread_mutex_unlock(&extender->lock);
    answer->content_type = JSON_TYPE;
    extender_write_victims(question, allowed, &answer->body);
}

/* Its lock guards the one client alone, for as long as a binding takes. */
static int write_binding(struct extender *extender, const struct binding_question *question,
                         struct error_info *err)
{
    struct api_request request;
    CLEANUP_DONE(api_answer) struct api_answer answer = {.status = 0};
    if (pod_bind_request(question->namespace, question->pod, question->uid, question->node,
                         question->arena, &request, err) < 0)
        return -1;
    pthread_mutex_lock(&extender->binder_lock);
    int status = api_client_send(extender->binder, &request, &answer, err);
    pthread_mutex_unlock(&extender->binder_lock);
    if (status < 0 || (answer.status >= 200 && answer.status < 300))
        return status;
    char words[256];
    api_answer_words(&answer, words, sizeof(words));
    return error_set(err, "the API server refuses the binding: %s", words);
}

void verb_bind(void *context, const struct http_request *request, struct http_answer *answer)
{
    struct extender *extender = context;
    struct error_info err = {.kind = ERROR_NONE};
    char text[ANSWER_TEXT_BYTES] = "";
    answer->content_type = JSON_TYPE;
    CLEANUP(binding_question)
    struct binding_question *question =
        binding_question_parse(request->body, request->body_bytes, &err);
    if (!question || !extender->binder) {
        extender_write_binding(question ? "parplan binds only with --bind; leave bindVerb away"
                                        : err.text,
                               &answer->body);
        return;
    }
    pthread_mutex_lock(&extender->lock);
    bool allowed = extender_ready_locked(extender, text, sizeof(text)) &&
                   gang_answer_bind(extender->machine, question->namespace, question->pod,
                                    question->uid, question->node, text);
    pthread_mutex_unlock(&extender->lock);
    if (allowed && write_binding(extender, question, &err) < 0)
        snprintf(text, sizeof(text), "%s", err.text);
    extender_write_binding(allowed && err.kind == ERROR_NONE ? "" : text, &answer->body);
}
