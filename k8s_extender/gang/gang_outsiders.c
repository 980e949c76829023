/* SPDX-License-Identifier: MIT */
#include "k8s_extender/gang/gang_outsiders.h"
#include "k8s_extender/gang/annotations.h"
#include "k8s_extender/gang/gang_members.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SHOWN_CHARACTERS 100

bool gang_pod_is_live(const struct pod_record *pod)
{
    return !pod_record_is_over(pod) && !pod->terminating;
}

bool gang_pod_is_placed(const struct pod_record *pod) { return pod->node || gang_promise_of(pod); }

static unsigned claim_of(const struct pod_record *pod)
{
    if (gang_promise_of(pod))
        return 2;
    return pod->node ? 1 : 0;
}

static int compare_texts(const char *left, const char *right)
{
    return strcmp(left ? left : "", right ? right : "");
}

static bool claims_name_before(const struct pod_record *pod, const struct pod_record *other)
{
    if (claim_of(pod) != claim_of(other))
        return claim_of(pod) > claim_of(other);
    if (pod->created != other->created)
        return pod->created < other->created;
    int owners = compare_texts(pod->owner_uid, other->owner_uid);
    return owners ? owners < 0 : compare_texts(pod->uid, other->uid) < 0;
}

/* What has been told its node may be bound there any time: its place cannot be another's. */
bool gang_claims_before(const struct gang *gang, const struct pod_record *pod,
                        const struct pod_record *other)
{
    bool released = gang_promise_of(pod), other_released = gang_promise_of(other);
    if (released != other_released)
        return released;
    if (pod->gang.unit != other->gang.unit && gang->holder)
        return pod->gang.unit == gang->holder;
    return claims_name_before(pod, other);
}

void gang_find_holder(struct gang *gang)
{
    const struct pod_record *owned = NULL, *bare = NULL;
    for (size_t i = 0; i < gang->member_count; i++) {
        const struct pod_record *pod = gang->members[i];
        const struct pod_record **best = pod->gang.unit ? &owned : &bare;
        if (gang_pod_is_live(pod) && (!*best || claims_name_before(pod, *best)))
            *best = pod;
    }
    gang->unowned = owned && bare && claim_of(bare) > claim_of(owned);
    gang->holder = owned && !gang->unowned ? owned->gang.unit : 0;
}

bool gang_is_of_holder(const struct gang *gang, const struct pod_record *pod)
{
    bool open = !gang->holder && !gang->unowned;
    return !pod->gang.unit || open || pod->gang.unit == gang->holder;
}

bool gang_speaks(const struct gang *gang, const struct pod_record *pod)
{
    return pod->gang.unit == gang->holder;
}

const struct pod_record *gang_first_member(const struct gang *gang)
{
    for (size_t i = 0; i < gang->member_count; i++)
        if (gang_pod_is_live(gang->members[i]) && gang_speaks(gang, gang->members[i]))
            return gang->members[i];
    return NULL;
}

static bool asks_otherwise(const struct gang *gang, const struct pod_record *pod)
{
    return gang->placed_gpus && resource_list_gpus(&pod->requests, NULL) != gang->placed_gpus;
}

/* What is released already was let in before. */
static bool comes_late(const struct gang *gang, const struct pod_record *pod, uint32_t index)
{
    return gang->placed_size && gang->slots[index].ended && !gang_speaks(gang, pod) &&
           !gang_promise_of(pod);
}

bool gang_is_misfit(const struct gang *gang, const struct pod_record *pod, uint32_t index)
{
    return asks_otherwise(gang, pod) || comes_late(gang, pod, index);
}

/* --- why --------------------------------------------------------------------------------- */

static const char *kind_of(const struct pod_record *pod)
{
    return pod && pod->owner_kind ? pod->owner_kind : "owner";
}

static const char *owner_of(const struct pod_record *pod)
{
    return pod && pod->owner_name ? pod->owner_name : "?";
}

/* Of the pods that speak the one with the best claim. */
static const struct pod_record *holding_pod(const struct gang *gang)
{
    const struct pod_record *best = NULL;
    for (size_t i = 0; i < gang->member_count; i++) {
        const struct pod_record *pod = gang->members[i];
        if (gang_pod_is_live(pod) && gang_speaks(gang, pod) &&
            (!best || claims_name_before(pod, best)))
            best = pod;
    }
    return best;
}

static void tell_holder(const struct gang *gang, const struct pod_record *pod,
                        char text[GANG_REASON_BYTES])
{
    const struct pod_record *holder = holding_pod(gang);
    bool again = strcmp(owner_of(pod), owner_of(holder)) == 0;
    if (holder && !holder->owner_name)
        snprintf(text, GANG_REASON_BYTES,
                 "gang %s: the name is in use by pod %s, which has no owner; pod %s of %s %.*s "
                 "waits until that and all like it are gone: give each its own name in "
                 "label " LABEL_GANG,
                 gang->key, holder->name, pod->name, kind_of(pod), SHOWN_CHARACTERS, owner_of(pod));
    else if (again)
        snprintf(text, GANG_REASON_BYTES,
                 "gang %s: pods of an earlier %s %.*s are still there; pod %s of the new one waits "
                 "until they have gone",
                 gang->key, kind_of(holder), SHOWN_CHARACTERS, owner_of(holder), pod->name);
    else
        snprintf(text, GANG_REASON_BYTES,
                 "gang %s: the name is in use by %s %.*s; pod %s of %s %.*s waits until that is "
                 "gone: give each its own name in label " LABEL_GANG,
                 gang->key, kind_of(holder), SHOWN_CHARACTERS, owner_of(holder), pod->name,
                 kind_of(pod), SHOWN_CHARACTERS, owner_of(pod));
}

static void tell_size(const struct gang *gang, const struct pod_record *pod, uint32_t index,
                      char text[GANG_REASON_BYTES])
{
    snprintf(text, GANG_REASON_BYTES,
             "gang %s runs with %" PRIu32 " pods%s%s; pod %s has index %" PRIu32
             " and is none of them: delete the %s and make it anew with more pods to grow",
             gang->key, gang->size, gang->plan ? " under plan " : "",
             gang->plan ? gang->plan->id : "", pod->name, index, kind_of(pod));
}

/* Of a pod that has an index of the gang's. */
static bool tell_index(const struct gang *gang, const struct pod_record *pod, uint32_t index,
                       char text[GANG_REASON_BYTES])
{
    const struct gang_slot *slot = &gang->slots[index];
    if (asks_otherwise(gang, pod))
        snprintf(text, GANG_REASON_BYTES,
                 "gang %s runs with pods of %" PRIu32 " GPUs; pod %s asks for %" PRIu64
                 " and is none of them: make it anew with %" PRIu32
                 ", or without label " LABEL_GANG,
                 gang->key, gang->placed_gpus, pod->name, resource_list_gpus(&pod->requests, NULL),
                 gang->placed_gpus);
    else if (slot->pod)
        snprintf(text, GANG_REASON_BYTES,
                 "gang %s: pod %s has index %" PRIu32 ", which is pod %s's; each index must be "
                 "there once: give each job a label " LABEL_GANG " of its own",
                 gang->key, pod->name, index, slot->pod->name);
    else if (comes_late(gang, pod, index))
        snprintf(text, GANG_REASON_BYTES,
                 "gang %s: pod %s has index %" PRIu32 ", whose pod %s has succeeded; only its "
                 "owner can begin that anew: make pod %s anew without label " LABEL_GANG,
                 gang->key, pod->name, index, slot->ended->name, pod->name);
    else
        return false;
    return true;
}

bool gang_outsider_reason(const struct gang *gang, const struct pod_record *pod,
                          char text[GANG_REASON_BYTES])
{
    uint32_t index = gang_index_of(gang, pod);
    const struct gang_slot *slot = index < gang->slot_count ? &gang->slots[index] : NULL;
    if (!gang_pod_is_live(pod) || (slot && slot->pod && strcmp(slot->pod->uid, pod->uid) == 0))
        return false;
    if (!gang_is_of_holder(gang, pod)) {
        tell_holder(gang, pod, text);
    } else if (!gang->placed_size) {
        return false; /* then it stops the gang: gang->problem */
    } else if (!slot && index != GANG_INDEX_NONE) {
        tell_size(gang, pod, index, text);
    } else if (pod->gang.problem) {
        snprintf(text, GANG_REASON_BYTES, "gang %s: pod %s: %s", gang->key, pod->name,
                 pod->gang.problem);
    } else if (!slot) {
        snprintf(text, GANG_REASON_BYTES,
                 "gang %s: pod %s has no index; set annotation " ANNOTATION_INDEX, gang->key,
                 pod->name);
    } else {
        return tell_index(gang, pod, index, text);
    }
    return true;
}
