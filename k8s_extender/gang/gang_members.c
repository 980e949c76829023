/* SPDX-License-Identifier: MIT */
#include "k8s_extender/gang/gang_members.h"
#include "base/memory.h"
#include "base/name_index.h"
#include "k8s_extender/gang/annotations.h"
#include "k8s_extender/gang/gang_outsiders.h"
#include "k8s_extender/gang/gang_recovery.h"
#include "k8s_extender/gang/gang_table.h"
#include "k8s_extender/gang/store/request_match.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SLOTS_AT_FIRST 16u
#define SLOTS_FOR_A_POD 4u /* that is there */
#define OWNER_NONE 2u      /* the pods have none; units and digests of owners are odd */
/* RESOURCE_LIST_MAXIMUM_OTHERS names at their longest are a third of it. */
#define REQUESTS_MAXIMUM_BYTES ((size_t)1 << 16)

/* What is wrong first stays. */
__attribute__((format(printf, 3, 4))) static void
refuse(struct gang *gang, const struct pod_record *pod, const char *format, ...)
{
    if (gang->problem[0])
        return;
    va_list arguments;
    va_start(arguments, format);
    text_format(gang->problem, sizeof(gang->problem), format, arguments);
    va_end(arguments);
    gang->problem_pod = pod;
}

/* --- size -------------------------------------------------------------------------- */

/* What has been placed stays as it is: only of a gang that has not do the pods have to agree. */
static uint32_t given_size(struct gang *gang)
{
    const struct pod_record *first = NULL;
    for (size_t i = 0; i < gang->member_count; i++) {
        const struct pod_record *pod = gang->members[i];
        if (!gang_pod_is_live(pod) || !gang_is_of_holder(gang, pod) || pod->gang.size == 0)
            continue;
        if (!first)
            first = pod;
        if (pod->gang.size != first->gang.size && !gang->placed_size)
            refuse(gang, pod, "gang %s: pod %s says %u pods and pod %s says %u; use one size",
                   gang->key, first->name, first->gang.size, pod->name, pod->gang.size);
    }
    return first ? first->gang.size : 0;
}

/* A Job that is made again takes the name of the last one: what was asked of that one, and made to
 * go with it, is asked for again. */
static void note_owner(struct gang *gang)
{
    const struct pod_record *pod = gang_first_member(gang);
    uint32_t owner = gang->holder;
    if (!pod)
        return;
    if (!owner && pod->owner_uid)
        owner =
            (uint32_t)name_hash_add(NAME_HASH_START, pod->owner_uid, strlen(pod->owner_uid)) | 1;
    if (!owner)
        owner = OWNER_NONE;
    if (gang->owner && gang->owner != owner) {
        gang->ask_at = gang->service_at = gang->service_pause = 0;
        gang->has_service = false;
        gang->asked_size = 0;
    }
    gang->owner = owner;
}

/* For all only when its pods can be there: one pod that says 16,384 is not worth 3 MB. Indices
 * beyond are not seen before; a gang that lacks most of its pods does nothing but wait. */
static uint32_t slots_wanted(const struct gang *gang)
{
    uint32_t wanted = SLOTS_AT_FIRST, live = 0;
    if (gang->placed_size || gang->plan)
        return gang->size;
    for (size_t i = 0; i < gang->member_count; i++)
        live += gang_pod_is_live(gang->members[i]);
    while (wanted < gang->size && wanted / SLOTS_FOR_A_POD < live)
        wanted *= 2;
    return wanted < gang->size ? wanted : gang->size;
}

static int find_size(struct gang_machine *machine, struct gang *gang)
{
    struct gang_shape shape;
    bool placed = gang_shape_find(gang, &shape);
    gang->placed_size = placed ? shape.pods : 0;
    gang->placed_gpus = placed ? shape.gpus_per_pod : 0;
    gang->said_size = given_size(gang);
    if (!gang->said_size)
        gang->said_size = gang->asked_size;
    uint32_t size = gang->placed_size ? gang->placed_size : gang->said_size;
    if (size > GANG_MAXIMUM_PODS) {
        refuse(gang, gang->members[0], "gang %s: %u pods, at most %u", gang->key, size,
               GANG_MAXIMUM_PODS);
        size = 0;
    }
    gang->size = size;
    return gang_resize(machine, gang, slots_wanted(gang));
}

/* --- slots ------------------------------------------------------------------------- */

/* 1 or 0: by how much the rank of a Worker that is placed is more than its own index; -1: unknown.
 */
static int shift_of(const struct pod_record *pod)
{
    const char *rank = pod_record_annotation(pod, ANNOTATION_NODE_RANK);
    for (unsigned shift = 0; rank && gang_pod_is_placed(pod) && shift < 2; shift++) {
        char text[16];
        snprintf(text, sizeof(text), "%u", pod->gang.index + shift);
        if (strcmp(rank, text) == 0)
            return (int)shift;
    }
    return -1;
}

/* A Worker of a PyTorchJob counts from the Master on, where there is one. When that is lost, the
 * ranks that its Workers were given still tell. */
static void find_master(struct gang *gang)
{
    bool worker = false, other = false;
    int shift = -1;
    for (size_t i = 0; i < gang->member_count; i++) {
        const struct pod_record *pod = gang->members[i];
        if (!gang_speaks(gang, pod))
            continue;
        int here = pod->gang.worker ? shift_of(pod) : -1;
        worker |= pod->gang.worker;
        other |= !pod->gang.worker;
        shift = here > shift ? here : shift;
    }
    gang->has_master = shift >= 0 ? shift > 0 : worker && other;
}

uint32_t gang_index_of(const struct gang *gang, const struct pod_record *pod)
{
    uint32_t index = gang_identity_index(&pod->gang, gang->size);
    bool shifted = pod->gang.worker && gang->has_master && index != GANG_INDEX_NONE;
    return shifted ? index + 1 : index;
}

const char *gang_pin_of(const struct pod_record *pod)
{
    const char *pin = NULL;
    for (size_t i = 0; i < pod->affinity.term_count; i++) {
        const struct selector_term *term = &pod->affinity.terms[i];
        const char *here = NULL;
        for (size_t j = 0; j < term->requirement_count; j++) {
            const struct selector_requirement *requirement = &term->requirements[j];
            if (requirement->of_field && requirement->operator== SELECTOR_IN &&
                                         requirement->value_count == 1)
                here = requirement->values[0];
        }
        if (!here || (pin && strcmp(pin, here) != 0))
            return NULL;
        pin = here;
    }
    return pin;
}

const char *gang_promise_of(const struct pod_record *pod)
{
    const char *node = pod->gated ? NULL : pod_record_annotation(pod, ANNOTATION_NODE);
    if (!node || !*node)
        return NULL;
    const char *pin = gang_pin_of(pod);
    return pin ? pin : node;
}

/* A pod that can wait alone must not stop those that have been placed. */
static bool may_be_outsider(const struct gang *gang, const struct pod_record *pod)
{
    return gang->placed_size && !gang_pod_is_placed(pod);
}

static bool check_pod(struct gang *gang, const struct pod_record *pod, uint32_t index)
{
    if (pod->gang.problem) {
        refuse(gang, pod, "gang %s: pod %s: %s", gang->key, pod->name, pod->gang.problem);
    } else if (index == GANG_INDEX_NONE) {
        refuse(gang, pod, "gang %s: pod %s has no index; set annotation " ANNOTATION_INDEX,
               gang->key, pod->name);
    } else if (index >= gang->size) {
        refuse(gang, pod,
               "gang %s: pod %s has index %u, but the gang has %u pods (0 to %u); "
               "correct " ANNOTATION_SIZE " or its index",
               gang->key, pod->name, index, gang->size, gang->size - 1);
        return false;
    }
    return index < gang->size;
}

/* Of two pods of one index the one with the better claim counts. Where neither is placed nobody can
 * know which one is meant, and the gang is refused. */
static void seat(struct gang *gang, const struct pod_record *pod, uint32_t index)
{
    struct gang_slot *slot = &gang->slots[index];
    if (slot->pod && !gang->placed_size && !gang_pod_is_placed(pod) &&
        !gang_pod_is_placed(slot->pod))
        refuse(gang, pod,
               "gang %s: pods %s and %s both have index %u; each index from 0 to %u must be there "
               "once: give each job a label " LABEL_GANG " of its own",
               gang->key, slot->pod->name, pod->name, index, gang->size - 1);
    gang->outsiders += slot->pod != NULL;
    if (!slot->pod || gang_claims_before(gang, pod, slot->pod))
        slot->pod = pod;
}

static int remember_pod(struct gang_slot *slot)
{
    if (slot->uid && (!slot->pod || strcmp(slot->uid, slot->pod->uid) != 0))
        gang_slot_forget(slot);
    if (!slot->pod || slot->uid)
        return 0;
    slot->uid = memory_copy_text(slot->pod->uid);
    return slot->uid ? 0 : -1;
}

/* Any other version tells whether what was asked for stands: it was asked for on top of that one.
 */
static void settle_asked(struct gang_slot *slot)
{
    if (slot->asked_version && strcmp(slot->asked_version, slot->pod->resource_version) != 0) {
        slot->quiet_until = 0;
        slot->has_plan = false;
        gang_slot_unsend(slot);
    }
}

static void set_state(struct gang_slot *slot)
{
    const struct pod_record *pod = slot->pod;
    slot->state = SLOT_EMPTY;
    slot->node = NULL;
    slot->pinned = slot->stray = false;
    if (!pod)
        return;
    settle_asked(slot);
    if (pod->node) {
        slot->state = SLOT_BOUND;
        slot->stray = !gang_promise_of(pod);
        slot->node = pod->node;
        slot->condemned = slot->condemned && !slot->unless_bound;
    } else if (slot->sent_node) {
        slot->state = SLOT_PROMISED;
        slot->node = slot->sent_node;
        slot->pinned = true;
    } else if (gang_promise_of(pod)) {
        slot->state = SLOT_PROMISED;
        slot->node = gang_promise_of(pod);
        slot->pinned = gang_pin_of(pod) != NULL;
    } else {
        slot->state = SLOT_WAITING;
    }
}

static bool is_doomed(const struct gang_machine *machine, const struct gang_slot *slot)
{
    return slot->state == SLOT_BOUND && gang_machine_synced(machine) &&
           !cluster_state_node(machine->state, slot->node);
}

static void note_gone(struct gang *gang, const struct pod_record *pod)
{
    uint32_t index = gang_index_of(gang, pod);
    if (index >= gang->slot_count)
        return;
    if (pod->terminating && pod->node && !pod_record_is_over(pod))
        gang->slots[index].leaving = pod;
    if (pod->phase == POD_SUCCEEDED && gang_is_of_holder(gang, pod))
        gang->slots[index].ended = pod;
}

static void admit(struct gang *gang, const struct pod_record *pod)
{
    uint32_t index = gang_index_of(gang, pod);
    if (!gang_pod_is_live(pod))
        return;
    bool sound = !pod->gang.problem && index < gang->size;
    bool outside = sound ? gang_is_misfit(gang, pod, index) : may_be_outsider(gang, pod);
    if (outside || !gang_is_of_holder(gang, pod))
        gang->outsiders++;
    else if (check_pod(gang, pod, index) && index < gang->slot_count)
        seat(gang, pod, index);
}

static int fill_slots(const struct gang_machine *machine, struct gang *gang)
{
    for (uint32_t i = 0; i < gang->slot_count; i++)
        gang->slots[i].pod = gang->slots[i].leaving = gang->slots[i].ended = NULL;
    find_master(gang);
    gang->outsiders = 0;
    for (size_t i = 0; i < gang->member_count; i++)
        note_gone(gang, gang->members[i]);
    for (size_t i = 0; gang->size && i < gang->member_count; i++)
        admit(gang, gang->members[i]);
    gang->present = gang->bound = gang->promised = gang->strays = 0;
    gang->pods_digest = 0;
    for (uint32_t i = 0; i < gang->slot_count; i++) {
        struct gang_slot *slot = &gang->slots[i];
        if (remember_pod(slot) < 0)
            return -1;
        set_state(slot);
        slot->doomed = is_doomed(machine, slot);
        if (slot->pod && !slot->doomed)
            slot->missing_since = 0;
        else if (!slot->missing_since)
            slot->missing_since = machine->now + 1;
        gang->present += slot->pod != NULL;
        gang->bound += slot->state == SLOT_BOUND;
        gang->strays += slot->stray;
        gang->promised += slot->state == SLOT_PROMISED;
        if (slot->pod)
            gang->pods_digest += name_hash_add(NAME_HASH_START, slot->uid, strlen(slot->uid));
    }
    gang->done = 0;
    for (uint32_t i = 0; i < gang->slot_count; i++)
        gang->done += gang_slot_is_done(gang, &gang->slots[i]);
    return 0;
}

/* --- what the pods have in common ---------------------------------------------------- */

static void read_pod(struct gang *gang, const struct pod_record *pod, const struct gang_slot *first)
{
    uint64_t gpus = resource_list_gpus(&pod->requests, NULL);
    uint32_t whole = gpus > UINT32_MAX ? UINT32_MAX : (uint32_t)gpus;
    if (pod == first->pod)
        gang->gpus_per_pod = whole;
    if (whole == 0)
        refuse(gang, pod, "gang %s: pod %s asks for no GPU; give it GPUs or no gang", gang->key,
               pod->name);
    else if (whole != gang->gpus_per_pod)
        refuse(gang, pod, "gang %s: pod %s asks for %u GPUs and pod %s for %u; ask for equal ones",
               gang->key, first->pod->name, gang->gpus_per_pod, pod->name, whole);
    gang->foreign_gates += pod->node ? 0 : pod->foreign_gates;
    gang->foreign_uses |= pod->gated ? pod->foreign : 0;
    gang->priority =
        pod == first->pod || pod->priority > gang->priority ? pod->priority : gang->priority;
    if (pod->gang.native)
        gang->mode = GANG_MODE_NATIVE;
    else if (pod->gated || gang_pin_of(pod))
        gang->mode = GANG_MODE_GATE;
}

static const struct gang_slot *first_slot(const struct gang *gang)
{
    for (uint32_t i = 0; i < gang->slot_count; i++)
        if (gang->slots[i].pod)
            return &gang->slots[i];
    return NULL;
}

static bool all_ask_alike(const struct gang *gang)
{
    for (uint32_t i = 0; i < gang->slot_count; i++)
        if (gang->slots[i].pod && !requests_equal(&gang->slots[i].pod->requests, &gang->requests))
            return false;
    return true;
}

/* The largest of each, of all pods; of a gang with too many kinds of resources the first ones. */
static void add_requests(struct gang *gang, struct resource_list *most,
                         struct resource_amount others[RESOURCE_LIST_MAXIMUM_OTHERS])
{
    for (uint32_t i = 0; i < gang->slot_count; i++) {
        const struct pod_record *pod = gang->slots[i].pod;
        unsigned left_out = pod && !requests_equal(&pod->requests, most)
                                ? requests_raise(most, others, &pod->requests)
                                : 0;
        if (left_out)
            refuse(gang, pod,
                   "gang %s: pod %s asks for %u kinds of resources beyond the %u that the pods of "
                   "a gang may ask for together; let all of them ask for the same ones",
                   gang->key, pod->name, left_out, RESOURCE_LIST_MAXIMUM_OTHERS);
    }
}

/* Reservations are released by what they were made for: they go before that changes. */
static int find_requests(struct gang_machine *machine, struct gang *gang)
{
    struct resource_amount others[RESOURCE_LIST_MAXIMUM_OTHERS];
    struct resource_list found = {.others = others}, most;
    if (!first_slot(gang) || (gang->requests_arena && all_ask_alike(gang)))
        return 0;
    add_requests(gang, &found, others);
    if (gang->requests_arena && requests_equal(&found, &gang->requests))
        return 0;
    CLEANUP(arena) struct arena *arena = arena_create(REQUESTS_MAXIMUM_BYTES);
    if (!arena || resource_list_copy(&found, arena, &most) < 0)
        return -1;
    for (uint32_t i = 0; i < gang->slot_count; i++)
        (void)gang_slot_reserve(machine, gang, &gang->slots[i], NULL);
    arena_free(gang->requests_arena);
    gang->requests = most;
    gang->requests_arena = move_pointer(arena);
    return 0;
}

static void read_pods(struct gang *gang)
{
    const struct gang_slot *first = first_slot(gang);
    gang->foreign_gates = gang->foreign_uses = 0;
    gang->mode = GANG_MODE_FILTER;
    for (uint32_t i = 0; first && i < gang->slot_count; i++)
        if (gang->slots[i].pod)
            read_pod(gang, gang->slots[i].pod, first);
}

/* Before it has begun what has succeeded may be an earlier gang's. */
bool gang_slot_is_done(const struct gang *gang, const struct gang_slot *slot)
{
    return !slot->pod && slot->ended && gang_has_begun(gang);
}

bool gang_is_whole(const struct gang *gang)
{
    return gang->size && gang->bound + gang->done == gang->size;
}

bool gang_has_begun(const struct gang *gang) { return gang->bound + gang->promised > gang->strays; }

bool gang_has_started(const struct gang *gang) { return gang->bound > gang->strays; }

/* --- reservations, phase ------------------------------------------------------------- */

const struct pod_record *gang_spokesman(const struct gang *gang)
{
    for (uint32_t i = 0; i < gang->slot_count; i++)
        if (gang->slots[i].pod)
            return gang->slots[i].pod;
    const struct pod_record *first = gang_first_member(gang);
    return first || !gang->member_count ? first : gang->members[0];
}

const char *gang_meant_node(const struct gang *gang, uint32_t index)
{
    const struct gang_slot *slot = &gang->slots[index];
    if ((slot->state == SLOT_BOUND && !slot->doomed) || slot->state == SLOT_PROMISED)
        return slot->node;
    return gang->plan ? gang->plan->nodes[index] : NULL;
}

/* The place of a lost pod is kept for its successor, for a while: else whoever waits for room would
 * have it before the owner has made another. So is the new place of one that is doomed. */
static uint64_t kept_until(const struct gang_machine *machine, const struct gang *gang,
                           uint32_t index)
{
    const struct gang_slot *slot = &gang->slots[index];
    const char *node = gang_meant_node(gang, index);
    bool lost =
        slot->state == SLOT_EMPTY && gang_has_started(gang) && !gang_slot_is_done(gang, slot);
    bool moves = slot->doomed && node && strcmp(node, slot->node) != 0;
    uint64_t until = slot->missing_since + machine->settings.release_milliseconds;
    return (lost || moves) && machine->now < until ? until : 0;
}

static const char *wanted_node(const struct gang_machine *machine, const struct gang *gang,
                               uint32_t index)
{
    const struct gang_slot *slot = &gang->slots[index];
    if (kept_until(machine, gang, index))
        return slot->fate == FATE_LOST ? NULL : gang_meant_node(gang, index);
    bool refused = gang->problem[0] && !gang_has_begun(gang);
    bool asks = slot->state == SLOT_WAITING || slot->state == SLOT_PROMISED;
    return asks && !refused && slot->fate != FATE_LOST ? gang_meant_node(gang, index) : NULL;
}

/* What is given back first makes room for what is taken: no node counts twice in between. */
int gang_reserve(struct gang_machine *machine, struct gang *gang)
{
    gang->kept_until = UINT64_MAX;
    for (uint32_t i = 0; i < gang->slot_count; i++) {
        struct gang_slot *slot = &gang->slots[i];
        const char *node = wanted_node(machine, gang, i);
        uint64_t until = kept_until(machine, gang, i);
        if (until && until < gang->kept_until)
            gang->kept_until = until;
        if (slot->reserved && (!node || strcmp(node, slot->reserved) != 0))
            (void)gang_slot_reserve(machine, gang, slot, NULL);
    }
    for (uint32_t i = 0; i < gang->slot_count; i++)
        if (gang_slot_reserve(machine, gang, &gang->slots[i], wanted_node(machine, gang, i)) < 0)
            return -1;
    return 0;
}

void gang_set_phase(struct gang *gang)
{
    bool lost = gang->present + gang->done < gang->size || !gang->plan;
    for (uint32_t i = 0; i < gang->slot_count; i++)
        lost |= gang->slots[i].fate == FATE_LOST || gang->slots[i].fate == FATE_STRANDED;
    if (gang_is_whole(gang))
        gang->phase = GANG_RUNNING;
    else if (gang_has_begun(gang))
        gang->phase = lost ? GANG_DEGRADED : GANG_RELEASED;
    else if (gang->plan)
        gang->phase = GANG_PLAN_MADE;
    else
        gang->phase = gang->plan_number ? GANG_PLANNING : GANG_COLLECT;
}

int gang_refresh(struct gang_machine *machine, struct gang *gang)
{
    if (!gang->dirty)
        return machine->now < gang->kept_until ? 0 : gang_reserve(machine, gang);
    gang->problem[0] = '\0';
    gang->problem_pod = NULL;
    gang->due = gang->smooth_until = 0;
    if (gang->member_count == 0)
        return 0;
    gang_find_holder(gang);
    note_owner(gang);
    if (find_size(machine, gang) < 0 || fill_slots(machine, gang) < 0 ||
        find_requests(machine, gang) < 0)
        return -1;
    read_pods(gang);
    if (gang_adopt_plan(gang) < 0)
        return -1;
    for (uint32_t i = 0; i < gang->slot_count; i++)
        if (gang->slots[i].state == SLOT_EMPTY ||
            (gang->slots[i].state == SLOT_BOUND && !gang->slots[i].doomed))
            gang->slots[i].fate = FATE_FINE;
    if (gang_reserve(machine, gang) < 0)
        return -1;
    gang_set_phase(gang);
    gang->followed = gang_has_begun(gang);
    gang->dirty = false;
    return 0;
}

/* --- one pod ------------------------------------------------------------------------------ */

static bool identities_alike(const struct gang_identity *left, const struct gang_identity *right)
{
    return left->index == right->index && left->unit == right->unit && left->size == right->size &&
           left->job == right->job && left->jobs == right->jobs &&
           left->completion == right->completion && left->worker == right->worker &&
           !left->problem && !right->problem && right->key && strcmp(left->key, right->key) == 0;
}

/* Not before the first release is heard: it says whose the name is. */
static bool goes_smoothly(const struct gang *gang)
{
    return !gang->dirty && gang->followed && gang->placed_size && gang->outsiders == 0 &&
           !gang->problem[0];
}

bool gang_version_is_expected(const struct gang *gang, const struct pod_record *known,
                              const struct pod_record *next)
{
    if (!goes_smoothly(gang) || !gang_pod_is_live(known) || !gang_pod_is_live(next) ||
        !identities_alike(&known->gang, &next->gang))
        return false;
    uint32_t index = gang_index_of(gang, known);
    bool seated = index < gang->slot_count && gang->slots[index].pod == known;
    /* Pod 0 carries the plan. */
    return seated && index > 0 && !known->node && gang_pod_is_placed(next) &&
           known->foreign_gates + next->foreign_gates == 0 && known->priority == next->priority &&
           requests_equal(&known->requests, &next->requests);
}

static void count_slot(struct gang *gang, const struct gang_slot *slot, uint32_t by)
{
    gang->bound += slot->state == SLOT_BOUND ? by : 0;
    gang->promised += slot->state == SLOT_PROMISED ? by : 0;
    gang->strays += slot->stray ? by : 0;
}

static void recount(struct gang *gang)
{
    gang->bound = gang->promised = gang->strays = 0;
    for (uint32_t i = 0; i < gang->slot_count; i++)
        count_slot(gang, &gang->slots[i], 1);
}

void gang_take_version(struct gang_machine *machine, struct gang *gang,
                       const struct pod_record *pod)
{
    uint32_t index = gang_index_of(gang, pod);
    struct gang_slot *slot = &gang->slots[index];
    slot->pod = pod;
    set_state(slot);
    slot->doomed = is_doomed(machine, slot);
    recount(gang);
    if (slot->state == SLOT_BOUND)
        slot->fate = FATE_FINE;
    bool reserved = gang_slot_reserve(machine, gang, slot, wanted_node(machine, gang, index)) == 0;
    gang->dirty = !reserved || slot->doomed || slot->stray || slot->state == SLOT_WAITING ||
                  gang_is_whole(gang);
}
