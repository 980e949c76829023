/* SPDX-License-Identifier: MIT */
#include "k8s_extender/gang/gang_answer.h"
#include "k8s_extender/gang/annotations.h"
#include "k8s_extender/gang/gang_members.h"
#include "k8s_extender/gang/gang_outsiders.h"
#include "k8s_extender/gang/gang_table.h"
#include "k8s_extender/objects/node_selector.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char unsynced[] = "parplan is still reading the cluster; it answers in a moment";

/* The gang, with all that was heard taken in. */
static struct gang *current_gang(struct gang_machine *machine, const struct pod_record *pod)
{
    struct gang *gang = pod->gang.key ? gang_table_find(machine, pod->gang.key) : NULL;
    return gang && gang_refresh(machine, gang) == 0 ? gang : NULL;
}

/* The node where that pod of a gang may go, or NULL. The scheduler may have heard of the release
 * before us, and asks with the pod as it is then. */
static const char *node_of(const struct gang *gang, const struct pod_record *asked)
{
    uint32_t index = gang_index_of(gang, asked);
    const struct gang_slot *slot = index < gang->slot_count ? &gang->slots[index] : NULL;
    if (!slot || !slot->pod || strcmp(slot->pod->uid, asked->uid) != 0 || gang->problem[0])
        return NULL;
    if (slot->state == SLOT_BOUND)
        return slot->node;
    if (gang_pin_of(slot->pod) && gang_promise_of(slot->pod))
        return gang_promise_of(slot->pod);
    const char *promise = gang_promise_of(asked);
    if (promise && gang_pin_of(asked))
        return promise;
    /* What is not pinned may have been taken back: it must stand on the pod as the scheduler knows
     * it, and follow the plan as we know it. */
    const char *planned = gang->plan ? gang->plan->nodes[index] : NULL;
    return promise && planned && strcmp(promise, planned) == 0 ? planned : NULL;
}

__attribute__((format(printf, 2, 3))) static void refuse(struct gang_answer *ret,
                                                         const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_format(ret->text, sizeof(ret->text), format, arguments);
    va_end(arguments);
    ret->kind = ANSWER_REFUSED;
}

static void tell_why(const struct gang *gang, const struct pod_record *pod, struct gang_answer *ret)
{
    if (!gang)
        refuse(ret, "gang %s: parplan has not heard of pod %s yet", pod->gang.key, pod->name);
    else if (gang_outsider_reason(gang, pod, ret->text))
        ret->kind = ANSWER_REFUSED;
    else if (gang->problem[0])
        refuse(ret, "%s", gang->problem);
    else if (gang->plan)
        refuse(ret, "gang %s is planned, and its pods are being released", gang->key);
    else if (gang->reason[0])
        refuse(ret, "%s", gang->reason);
    else if (gang->size)
        refuse(ret, "gang %s waits to be planned: %u of %u pods are there", gang->key,
               gang->present, gang->size);
    else
        refuse(ret, "gang %s waits to be planned", gang->key);
}

/* A scheduler that has not heard of it yet would bind the pod to a node that is gone. */
static bool is_lost(const struct gang_machine *machine, const struct pod_record *pod,
                    const char *node)
{
    const struct pod_record *known = cluster_state_pod(machine->state, pod->uid);
    const struct node_record *record = cluster_state_node(machine->state, node);
    return known && !known->node && (!record || node_unfit_for(record, known) != NODE_FITS);
}

/* The node where that pod of a gang may go; NULL: *ret says why there is none. */
static const char *find_node(struct gang_machine *machine, const struct pod_record *pod,
                             struct gang_answer *ret)
{
    const struct gang *gang = current_gang(machine, pod);
    const char *node = gang ? node_of(gang, pod) : NULL;
    if (!node)
        tell_why(gang, pod, ret);
    else if (is_lost(machine, pod, node))
        refuse(ret, "gang %s: pod %s is meant for node %s, which will not do any more", gang->key,
               pod->name, node);
    else
        return node;
    return NULL;
}

static size_t position_of(const char *node, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], node) == 0)
            return i;
    return ANSWER_NODE_NONE;
}

static void answer_member(struct gang_machine *machine, const struct pod_record *pod,
                          const char *const *names, size_t count, struct gang_answer *ret)
{
    const char *node = find_node(machine, pod, ret);
    ret->whole_pod = !pod->gang.native;
    if (!node)
        return;
    ret->kind = ANSWER_ONE;
    ret->node = position_of(node, names, count);
    snprintf(ret->text, sizeof(ret->text), "gang %s: pod %s is meant for node %s%s", pod->gang.key,
             pod->name, node,
             ret->node == ANSWER_NODE_NONE
                 ? ", which the scheduler has ruled out or not offered (percentageOfNodesToScore "
                   "must be 100)"
                 : "");
}

/* Only nodes with promises can be too full: all others are the scheduler's own business. */
static bool has_room(const struct gang_machine *machine, const struct pod_record *pod,
                     const char *node)
{
    return cluster_state_spares(machine->state, node, &pod->requests);
}

static void answer_other(struct gang_machine *machine, const struct policy *policy,
                         const struct pod_record *pod, const char *const *names, size_t count,
                         struct gang_answer *ret)
{
    struct policy_verdict verdict;
    policy_check_undeclared(policy, pod->namespace, &verdict);
    if (verdict.result == POLICY_DENIED) {
        ret->whole_pod = true;
        refuse(ret, "%s", verdict.text);
        return;
    }
    if (cluster_state_promised_count(machine->state) == 0)
        return;
    size_t passing = 0;
    for (size_t i = 0; i < count; i++)
        passing += ret->passes[i] = has_room(machine, pod, names[i]);
    if (passing == count)
        return;
    ret->kind = ANSWER_SOME;
    snprintf(ret->text, sizeof(ret->text), "GPUs there are promised to a gang");
}

/* Reservations of gangs that have not been looked at since something was heard of them. */
static void refresh_all(struct gang_machine *machine)
{
    for (size_t i = 0; i < machine->gang_count; i++)
        (void)gang_refresh(machine, machine->gangs[i]);
}

void gang_answer_filter(struct gang_machine *machine, const struct policy *policy,
                        const struct pod_record *pod, const char *const *names, size_t count,
                        bool *passes, struct gang_answer *ret)
{
    *ret = (struct gang_answer){.kind = ANSWER_ALL, .node = ANSWER_NODE_NONE, .passes = passes};
    if (pod->plain)
        return;
    if (!gang_machine_synced(machine)) {
        ret->whole_pod = !pod->gang.native;
        refuse(ret, "%s", unsynced);
    } else if (pod->gang.key) {
        answer_member(machine, pod, names, count, ret);
    } else {
        refresh_all(machine);
        answer_other(machine, policy, pod, names, count, ret);
    }
}

void gang_answer_prioritize(struct gang_machine *machine, const struct pod_record *pod,
                            const char *const *names, size_t count, uint8_t *ret_scores)
{
    const struct gang *gang = gang_machine_synced(machine) ? current_gang(machine, pod) : NULL;
    const char *node = gang ? node_of(gang, pod) : NULL;
    for (size_t i = 0; i < count; i++)
        ret_scores[i] = 0;
    size_t position = node ? position_of(node, names, count) : ANSWER_NODE_NONE;
    if (position != ANSWER_NODE_NONE)
        ret_scores[position] = 10;
}

void gang_answer_preempt(struct gang_machine *machine, const struct pod_record *pod,
                         const char *const *names, size_t count, bool *ret_allowed)
{
    bool synced = gang_machine_synced(machine);
    const struct gang *gang = synced ? current_gang(machine, pod) : NULL;
    const char *node = gang ? node_of(gang, pod) : NULL;
    if (synced && !pod->gang.key)
        refresh_all(machine);
    for (size_t i = 0; i < count; i++) {
        if (pod->plain)
            ret_allowed[i] = true;
        else if (pod->gang.key)
            ret_allowed[i] = node && strcmp(node, names[i]) == 0;
        else
            ret_allowed[i] = synced && !cluster_state_promised(machine->state, names[i]);
    }
}

bool gang_answer_bind(struct gang_machine *machine, const char *namespace, const char *name,
                      const char *uid, const char *node, char text[ANSWER_TEXT_BYTES])
{
    struct gang_answer answer = {.kind = ANSWER_ALL};
    const struct pod_record *pod = cluster_state_pod(machine->state, uid);
    if (!gang_machine_synced(machine)) {
        refuse(&answer, "%s", unsynced);
    } else if (!pod || strcmp(pod->namespace, namespace) != 0 || strcmp(pod->name, name) != 0) {
        refuse(&answer, "parplan has not heard of pod %s/%s with that uid", namespace, name);
    } else if (pod->gang.key) {
        const char *meant = find_node(machine, pod, &answer);
        if (meant && strcmp(meant, node) != 0)
            refuse(&answer, "gang %s: pod %s is meant for node %s, not %s", pod->gang.key, name,
                   meant, node);
    } else if (!pod->plain) {
        refresh_all(machine);
        if (!has_room(machine, pod, node))
            refuse(&answer, "GPUs of node %s are promised to a gang", node);
    }
    memcpy(text, answer.text, ANSWER_TEXT_BYTES);
    return answer.kind == ANSWER_ALL;
}
