/* SPDX-License-Identifier: MIT */
#include "k8s_extender/gang/cluster_state.h"
#include "base/memory.h"
#include "base/parse_number.h"
#include "k8s_extender/gang/store/record_table.h"
#include "k8s_extender/gang/store/request_match.h"
#include <stdlib.h>
#include <string.h>

#define REQUESTS_MAXIMUM_BYTES ((size_t)1 << 16)

struct reservation {
    char *owner;
    struct resource_list requests;
    struct arena *arena; /* of the requests */
    uint32_t count;
};

/* A node that is known, or that pods or reservations name. */
struct node_entry {
    char *name;
    struct node_record *record; /* NULL: not known (any more) */
    const struct pod_record **pods;
    size_t pod_count, pod_capacity;
    struct reservation *reservations;
    size_t reservation_count, reservation_capacity;
    uint64_t heard;
};

struct pod_entry {
    struct pod_record *record;
    uint64_t heard;
};

struct cluster_state {
    struct record_table *nodes;    /* name -> node_entry */
    struct record_table *pods;     /* uid -> pod_entry */
    struct record_table *named;    /* namespace, name -> pod_entry */
    struct record_table *promised; /* name -> node_entry with reservations */
    size_t node_count;
    const struct node_record **sorted; /* NULL: to be made */
    uint64_t generation, frees, node_list, pod_list;
};

struct cluster_state *cluster_state_create(void)
{
    struct cluster_state *state = memory_allocate(sizeof(*state));
    if (!state)
        return NULL;
    state->nodes = record_table_create();
    state->pods = record_table_create();
    state->named = record_table_create();
    state->promised = record_table_create();
    if (state->nodes && state->pods && state->named && state->promised)
        return state;
    cluster_state_free(state);
    return NULL;
}

static void reservation_done(struct reservation *reservation)
{
    memory_free(reservation->owner);
    arena_free(reservation->arena);
}

static void node_entry_free(struct node_entry *entry)
{
    if (!entry)
        return;
    for (size_t i = 0; i < entry->reservation_count; i++)
        reservation_done(&entry->reservations[i]);
    memory_free(entry->reservations);
    memory_free(entry->pods);
    node_record_free(entry->record);
    memory_free(entry->name);
    memory_free(entry);
}

void cluster_state_free(struct cluster_state *state)
{
    if (!state)
        return;
    for (size_t i = 0; state->nodes && i < record_table_places(state->nodes); i++)
        node_entry_free(record_table_at(state->nodes, i));
    for (size_t i = 0; state->pods && i < record_table_places(state->pods); i++) {
        struct pod_entry *entry = record_table_at(state->pods, i);
        if (entry)
            pod_record_free(entry->record);
        memory_free(entry);
    }
    record_table_free(state->nodes);
    record_table_free(state->pods);
    record_table_free(state->named);
    record_table_free(state->promised);
    memory_free(state->sorted);
    memory_free(state);
}

/* --- nodes ------------------------------------------------------------------------- */

static struct node_entry *find_node(const struct cluster_state *state, const char *name)
{
    return record_table_find(state->nodes, name, "");
}

static struct node_entry *open_node(struct cluster_state *state, const char *name)
{
    struct node_entry *entry = find_node(state, name);
    if (entry)
        return entry;
    entry = memory_allocate(sizeof(*entry));
    if (!entry)
        return NULL;
    entry->name = memory_copy_text(name);
    if (!entry->name || record_table_set(state->nodes, entry->name, "", entry) < 0) {
        node_entry_free(entry);
        return NULL;
    }
    return entry;
}

/* Forgets an entry that nothing speaks of any more. */
static void close_node(struct cluster_state *state, struct node_entry *entry)
{
    if (entry->record || entry->pod_count || entry->reservation_count)
        return;
    record_table_remove(state->nodes, entry->name, "");
    node_entry_free(entry);
}

static void nodes_differ(struct cluster_state *state)
{
    memory_free(state->sorted);
    state->sorted = NULL;
}

static bool labels_equal(const struct label_set *left, const struct label_set *right)
{
    if (left->count != right->count)
        return false;
    for (size_t i = 0; i < left->count; i++)
        if (strcmp(left->labels[i].key, right->labels[i].key) != 0 ||
            strcmp(left->labels[i].value, right->labels[i].value) != 0)
            return false;
    return true;
}

/* Whether two records of a node give the same part of a cluster_view. */
static bool views_equal(const struct node_record *left, const struct node_record *right)
{
    const char *left_topology = left->topology ? left->topology : "";
    const char *right_topology = right->topology ? right->topology : "";
    return labels_equal(&left->labels, &right->labels) &&
           strcmp(left_topology, right_topology) == 0 &&
           resource_list_gpus(&left->allocatable, NULL) ==
               resource_list_gpus(&right->allocatable, NULL);
}

int cluster_state_set_node(struct cluster_state *state, struct node_record *node, bool *ret_changed)
{
    struct node_entry *entry = open_node(state, node->name);
    if (!entry) {
        node_record_free(node);
        return -1;
    }
    const struct node_record *old = entry->record;
    bool changed = !old || old->digest != node->digest;
    if (!old || !views_equal(old, node))
        state->generation++;
    state->node_count += !old;
    node_record_free(entry->record);
    entry->record = node;
    entry->heard = state->node_list;
    nodes_differ(state);
    state->frees += changed;
    if (ret_changed)
        *ret_changed = changed;
    return 0;
}

void cluster_state_remove_node(struct cluster_state *state, const char *name)
{
    struct node_entry *entry = find_node(state, name);
    if (!entry || !entry->record)
        return;
    struct node_record *old = entry->record; /* name may be its own */
    entry->record = NULL;
    state->generation++;
    state->frees++;
    state->node_count--;
    nodes_differ(state);
    close_node(state, entry);
    node_record_free(old);
}

const struct node_record *cluster_state_node(const struct cluster_state *state, const char *name)
{
    const struct node_entry *entry = find_node(state, name);
    return entry ? entry->record : NULL;
}

size_t cluster_state_node_count(const struct cluster_state *state) { return state->node_count; }

static int compare_nodes(const void *left, const void *right)
{
    const struct node_record *const *first = left, *const *second = right;
    return strcmp((*first)->name, (*second)->name);
}

const struct node_record *const *cluster_state_nodes(struct cluster_state *state)
{
    if (state->sorted || state->node_count == 0)
        return state->sorted;
    state->sorted = memory_allocate_array(state->node_count, sizeof(const struct node_record *));
    size_t count = 0;
    for (size_t i = 0; state->sorted && i < record_table_places(state->nodes); i++) {
        const struct node_entry *entry = record_table_at(state->nodes, i);
        if (entry && entry->record)
            state->sorted[count++] = entry->record;
    }
    if (state->sorted)
        qsort(state->sorted, count, sizeof(const struct node_record *), compare_nodes);
    return state->sorted;
}

uint64_t cluster_state_generation(const struct cluster_state *state) { return state->generation; }

uint64_t cluster_state_frees(const struct cluster_state *state) { return state->frees; }

/* --- pods -------------------------------------------------------------------------- */

static struct pod_entry *find_pod(const struct cluster_state *state, const char *uid)
{
    return record_table_find(state->pods, uid, "");
}

/* Room for one more pod on its node, so that putting it there cannot fail. */
static struct node_entry *prepare_node(struct cluster_state *state, const struct pod_record *pod)
{
    struct node_entry *entry = open_node(state, pod->node);
    if (!entry || entry->pod_count < entry->pod_capacity)
        return entry;
    size_t capacity = entry->pod_capacity ? entry->pod_capacity * 2 : 4;
    const struct pod_record **grown =
        memory_grow_array(entry->pods, entry->pod_capacity, capacity, sizeof(*grown));
    if (!grown) {
        close_node(state, entry);
        return NULL;
    }
    entry->pods = grown;
    entry->pod_capacity = capacity;
    return entry;
}

static void take_off_node(struct cluster_state *state, const struct pod_record *pod)
{
    struct node_entry *entry = pod->node ? find_node(state, pod->node) : NULL;
    for (size_t i = 0; entry && i < entry->pod_count; i++)
        if (entry->pods[i] == pod) {
            entry->pods[i] = entry->pods[--entry->pod_count];
            state->frees++;
            close_node(state, entry);
            return;
        }
}

static bool pods_equal(const struct pod_record *left, const struct pod_record *right)
{
    const char *left_node = left->node ? left->node : "";
    const char *right_node = right->node ? right->node : "";
    const char *left_version = left->resource_version ? left->resource_version : "";
    const char *right_version = right->resource_version ? right->resource_version : "";
    return strcmp(left_version, right_version) == 0 && strcmp(left_node, right_node) == 0 &&
           left->phase == right->phase && left->terminating == right->terminating;
}

static struct pod_entry *open_pod(struct cluster_state *state, struct pod_record *pod)
{
    struct pod_entry *entry = find_pod(state, pod->uid);
    if (entry)
        return entry;
    entry = memory_allocate(sizeof(*entry));
    if (!entry || record_table_set(state->pods, pod->uid, "", entry) < 0) {
        memory_free(entry);
        return NULL;
    }
    return entry;
}

/* Whether that pod was replaced by another of its name, and this is late news of it. */
static bool is_outdated(const struct cluster_state *state, const struct pod_record *pod)
{
    const struct pod_record *known = cluster_state_pod_named(state, pod->namespace, pod->name);
    uint64_t newer, older;
    return known && strcmp(known->uid, pod->uid) != 0 && known->resource_version &&
           pod->resource_version &&
           parse_unsigned(known->resource_version, 0, UINT64_MAX, &newer, NULL) == 0 &&
           parse_unsigned(pod->resource_version, 0, UINT64_MAX, &older, NULL) == 0 && older < newer;
}

/* What was known of the name under another uid goes. */
static void replace_named(struct cluster_state *state, const struct pod_record *pod)
{
    const struct pod_record *old = cluster_state_pod_named(state, pod->namespace, pod->name);
    if (old && strcmp(old->uid, pod->uid) != 0)
        cluster_state_remove_pod(state, old->uid);
}

/* The entry under both of its names, and room on the node; NULL: out of memory, nothing changed. */
static struct pod_entry *prepare_pod(struct cluster_state *state, struct pod_record *pod,
                                     struct node_entry **ret_node)
{
    bool holds = pod_record_holds(pod);
    struct node_entry *node = holds ? prepare_node(state, pod) : NULL;
    struct pod_entry *entry = holds && !node ? NULL : open_pod(state, pod);
    *ret_node = node;
    if (entry) {
        replace_named(state, pod);
        if (record_table_set(state->named, pod->namespace, pod->name, entry) == 0)
            return entry;
        if (!entry->record) {
            record_table_remove(state->pods, pod->uid, "");
            memory_free(entry);
        }
    }
    if (node)
        close_node(state, node);
    return NULL;
}

/* The new record takes the old one's place, also on its node. */
static void swap_record(struct cluster_state *state, struct pod_entry *entry,
                        struct pod_record *pod, struct node_entry *node)
{
    struct pod_record *old = entry->record;
    record_table_set(state->pods, pod->uid, "", entry); /* the name is the new record's */
    entry->record = pod;
    entry->heard = state->pod_list;
    if (node) /* first, so that an entry that both are on is not closed between */
        node->pods[node->pod_count++] = pod;
    if (!old)
        return;
    take_off_node(state, old);
    if (node && pod_record_holds(old) && strcmp(old->node, pod->node) == 0)
        state->frees--; /* it is where it was */
    pod_record_free(old);
}

int cluster_state_set_pod(struct cluster_state *state, struct pod_record *pod, bool *ret_changed)
{
    struct node_entry *node = NULL;
    bool outdated = is_outdated(state, pod);
    struct pod_entry *entry = outdated ? NULL : prepare_pod(state, pod, &node);
    if (!entry) {
        pod_record_free(pod);
        if (outdated && ret_changed)
            *ret_changed = false;
        return outdated ? 0 : -1;
    }
    if (ret_changed)
        *ret_changed = !entry->record || !pods_equal(entry->record, pod);
    swap_record(state, entry, pod, node);
    return 0;
}

void cluster_state_remove_pod(struct cluster_state *state, const char *uid)
{
    struct pod_entry *entry = find_pod(state, uid);
    if (!entry)
        return;
    struct pod_record *pod = entry->record; /* uid may be its own */
    take_off_node(state, pod);
    record_table_remove(state->named, pod->namespace, pod->name);
    record_table_remove(state->pods, pod->uid, "");
    pod_record_free(pod);
    memory_free(entry);
}

const struct pod_record *cluster_state_pod(const struct cluster_state *state, const char *uid)
{
    const struct pod_entry *entry = find_pod(state, uid);
    return entry ? entry->record : NULL;
}

const struct pod_record *cluster_state_pod_named(const struct cluster_state *state,
                                                 const char *namespace, const char *name)
{
    const struct pod_entry *entry = record_table_find(state->named, namespace, name);
    return entry ? entry->record : NULL;
}

size_t cluster_state_pod_count(const struct cluster_state *state)
{
    return record_table_count(state->pods);
}

/* --- lists ------------------------------------------------------------------------- */

void cluster_state_begin_nodes(struct cluster_state *state) { state->node_list++; }

void cluster_state_begin_pods(struct cluster_state *state) { state->pod_list++; }

const struct node_record *cluster_state_unheard_node(const struct cluster_state *state,
                                                     size_t *cursor)
{
    for (; *cursor < record_table_places(state->nodes); ++*cursor) {
        const struct node_entry *entry = record_table_at(state->nodes, *cursor);
        if (entry && entry->record && entry->heard != state->node_list)
            return entry->record;
    }
    return NULL;
}

const struct pod_record *cluster_state_unheard_pod(const struct cluster_state *state,
                                                   size_t *cursor)
{
    for (; *cursor < record_table_places(state->pods); ++*cursor) {
        const struct pod_entry *entry = record_table_at(state->pods, *cursor);
        if (entry && entry->heard != state->pod_list)
            return entry->record;
    }
    return NULL;
}

/* --- reservations ------------------------------------------------------------------ */

static struct reservation *find_reservation(const struct node_entry *entry, const char *owner,
                                            const struct resource_list *requests)
{
    for (size_t i = 0; i < entry->reservation_count; i++)
        if (strcmp(entry->reservations[i].owner, owner) == 0 &&
            requests_equal(&entry->reservations[i].requests, requests))
            return &entry->reservations[i];
    return NULL;
}

static int prepare_reservation(struct node_entry *entry)
{
    if (entry->reservation_count < entry->reservation_capacity)
        return 0;
    size_t capacity = entry->reservation_capacity ? entry->reservation_capacity * 2 : 2;
    struct reservation *grown = memory_grow_array(entry->reservations, entry->reservation_capacity,
                                                  capacity, sizeof(*grown));
    if (!grown)
        return -1;
    entry->reservations = grown;
    entry->reservation_capacity = capacity;
    return 0;
}

static int add_reservation(struct cluster_state *state, struct node_entry *entry, const char *owner,
                           const struct resource_list *requests)
{
    struct reservation made = {.count = 1, .arena = arena_create(REQUESTS_MAXIMUM_BYTES)};
    made.owner = memory_copy_text(owner);
    if (!made.arena || !made.owner || prepare_reservation(entry) < 0 ||
        resource_list_copy(requests, made.arena, &made.requests) < 0 ||
        record_table_set(state->promised, entry->name, "", entry) < 0) {
        reservation_done(&made);
        return -1;
    }
    entry->reservations[entry->reservation_count++] = made;
    return 0;
}

int cluster_state_reserve(struct cluster_state *state, const char *node, const char *owner,
                          const struct resource_list *requests)
{
    struct node_entry *entry = open_node(state, node);
    if (!entry)
        return -1;
    struct reservation *known = find_reservation(entry, owner, requests);
    if (known) {
        known->count++;
        return 0;
    }
    if (add_reservation(state, entry, owner, requests) == 0)
        return 0;
    close_node(state, entry);
    return -1;
}

void cluster_state_release(struct cluster_state *state, const char *node, const char *owner,
                           const struct resource_list *requests)
{
    struct node_entry *entry = find_node(state, node);
    struct reservation *known = entry ? find_reservation(entry, owner, requests) : NULL;
    if (!known)
        return;
    state->frees++;
    if (--known->count > 0)
        return;
    reservation_done(known);
    *known = entry->reservations[--entry->reservation_count];
    if (entry->reservation_count == 0)
        record_table_remove(state->promised, entry->name, "");
    close_node(state, entry);
}

bool cluster_state_promised(const struct cluster_state *state, const char *node)
{
    return record_table_find(state->promised, node, "") != NULL;
}

size_t cluster_state_promised_count(const struct cluster_state *state)
{
    return record_table_count(state->promised);
}

/* --- room -------------------------------------------------------------------------- */

/* What counts against a node's room. */
struct room_question {
    const struct node_entry *entry;
    bool pods, reservations;
    const char *owner; /* whose reservations do not count; NULL: all count */
};

/* One resource: a kind, or by name (kind RESOURCE_KIND_COUNT). */
static uint64_t amount_of(const struct resource_list *list, unsigned kind, const char *name)
{
    return kind < RESOURCE_KIND_COUNT ? list->amounts[kind] : resource_list_amount(list, name);
}

static uint64_t without(uint64_t amount, uint64_t taken)
{
    return taken < amount ? amount - taken : 0;
}

/* Reservations first: a gang's often leave nothing of the GPUs, and pods are many. */
static uint64_t free_amount(const struct room_question *question, unsigned kind, const char *name)
{
    const struct node_entry *entry = question->entry;
    uint64_t left = amount_of(&entry->record->allocatable, kind, name);
    for (size_t i = 0; question->reservations && left && i < entry->reservation_count; i++) {
        const struct reservation *reservation = &entry->reservations[i];
        uint64_t taken;
        if (question->owner && strcmp(reservation->owner, question->owner) == 0)
            continue;
        if (__builtin_mul_overflow(amount_of(&reservation->requests, kind, name),
                                   (uint64_t)reservation->count, &taken))
            return 0;
        left = without(left, taken);
    }
    for (size_t i = 0; question->pods && left && i < entry->pod_count; i++)
        left = without(left, amount_of(&entry->pods[i]->requests, kind, name));
    return left;
}

/* GPUs, which are among the others, are what is short. */
static uint32_t room_for(const struct room_question *question, const struct resource_list *requests,
                         uint32_t maximum)
{
    uint64_t room = question->entry && question->entry->record ? maximum : 0;
    for (unsigned i = 0; room && i < requests->other_count; i++) {
        const struct resource_amount *wanted = &requests->others[i];
        uint64_t fits = wanted->amount ? free_amount(question, RESOURCE_KIND_COUNT, wanted->name) /
                                             wanted->amount
                                       : room;
        room = fits < room ? fits : room;
    }
    for (unsigned kind = 0; room && kind < RESOURCE_KIND_COUNT; kind++) {
        uint64_t fits = requests->amounts[kind]
                            ? free_amount(question, kind, NULL) / requests->amounts[kind]
                            : room;
        room = fits < room ? fits : room;
    }
    return (uint32_t)room;
}

uint32_t cluster_state_room(const struct cluster_state *state, const char *node,
                            const struct resource_list *requests, const char *owner,
                            uint32_t maximum)
{
    const struct room_question question = {
        .entry = find_node(state, node), .pods = true, .reservations = true, .owner = owner};
    return room_for(&question, requests, maximum);
}

uint32_t cluster_state_capacity(const struct cluster_state *state, const char *node,
                                const struct resource_list *requests, uint32_t maximum)
{
    const struct room_question question = {.entry = find_node(state, node)};
    return room_for(&question, requests, maximum);
}

uint32_t cluster_state_room_unpromised(const struct cluster_state *state, const char *node,
                                       const struct resource_list *requests, uint32_t maximum)
{
    const struct room_question question = {.entry = find_node(state, node), .pods = true};
    return room_for(&question, requests, maximum);
}
