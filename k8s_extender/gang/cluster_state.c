/* SPDX-License-Identifier: MIT */
#include "k8s_extender/gang/cluster_state.h"
#include "base/memory.h"
#include "base/parse_number.h"
#include "k8s_extender/gang/store/node_entry.h"
#include "k8s_extender/gang/store/record_table.h"
#include <stdlib.h>
#include <string.h>

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

void cluster_state_free(struct cluster_state *state)
{
    if (!state)
        return;
    for (size_t i = 0; state->nodes && i < record_table_count(state->nodes); i++)
        node_entry_free(record_table_at(state->nodes, i));
    for (size_t i = 0; state->pods && i < record_table_count(state->pods); i++) {
        struct pod_entry *entry = record_table_at(state->pods, i);
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
    entry = node_entry_create(name);
    if (entry && record_table_set(state->nodes, entry->name, "", entry) == 0)
        return entry;
    node_entry_free(entry);
    return NULL;
}

/* Forgets an entry that nothing speaks of any more. */
static void close_node(struct cluster_state *state, struct node_entry *entry)
{
    if (!node_entry_is_idle(entry))
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
    struct node_record *old = node_entry_swap(entry, node);
    bool changed = !old || old->digest != node->digest;
    if (!old || !views_equal(old, node))
        state->generation++;
    state->node_count += !old;
    node_record_free(old);
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
    struct node_record *old = node_entry_swap(entry, NULL); /* name may be its own */
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
    for (size_t i = 0; state->sorted && i < record_table_count(state->nodes); i++) {
        const struct node_entry *entry = record_table_at(state->nodes, i);
        if (entry->record)
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
    if (!entry || node_entry_prepare_pod(entry) == 0)
        return entry;
    close_node(state, entry);
    return NULL;
}

static void take_off_node(struct cluster_state *state, const struct pod_record *pod)
{
    struct node_entry *entry = pod->node ? find_node(state, pod->node) : NULL;
    if (!entry || !node_entry_remove_pod(entry, pod))
        return;
    state->frees++;
    close_node(state, entry);
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
    const struct pod_entry *entry = record_table_find(state->named, pod->namespace, pod->name);
    const struct pod_record *known = entry ? entry->record : NULL;
    uint64_t newer, older;
    if (!known || entry->heard != state->pod_list)
        return false; /* a list is being read, and what it names is what there is */
    return strcmp(known->uid, pod->uid) != 0 && known->resource_version && pod->resource_version &&
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
        node_entry_add_pod(node, pod);
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
    for (; *cursor < record_table_count(state->nodes); ++*cursor) {
        const struct node_entry *entry = record_table_at(state->nodes, *cursor);
        if (entry->record && entry->heard != state->node_list)
            return entry->record;
    }
    return NULL;
}

const struct pod_record *cluster_state_unheard_pod(const struct cluster_state *state,
                                                   size_t *cursor)
{
    for (; *cursor < record_table_count(state->pods); ++*cursor) {
        const struct pod_entry *entry = record_table_at(state->pods, *cursor);
        if (entry->heard != state->pod_list)
            return entry->record;
    }
    return NULL;
}

/* --- reservations ------------------------------------------------------------------ */

int cluster_state_reserve(struct cluster_state *state, const char *node, const char *owner,
                          const struct resource_list *requests)
{
    struct node_entry *entry = open_node(state, node);
    bool promised = entry && entry->reservation_count > 0;
    if (!entry || node_entry_reserve(entry, owner, requests) < 0) {
        if (entry)
            close_node(state, entry);
        return -1;
    }
    if (promised || record_table_set(state->promised, entry->name, "", entry) == 0)
        return 0;
    node_entry_release(entry, owner, requests);
    close_node(state, entry);
    return -1;
}

void cluster_state_release(struct cluster_state *state, const char *node, const char *owner,
                           const struct resource_list *requests)
{
    struct node_entry *entry = find_node(state, node);
    if (!entry || !node_entry_release(entry, owner, requests))
        return;
    state->frees++;
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

uint32_t cluster_state_room(const struct cluster_state *state, const char *node,
                            const struct resource_list *requests, const char *owner,
                            uint32_t maximum)
{
    const struct node_load load = {.pods = true, .reservations = true, .owner = owner};
    return node_entry_room(find_node(state, node), &load, requests, maximum);
}

uint32_t cluster_state_capacity(const struct cluster_state *state, const char *node,
                                const struct resource_list *requests, uint32_t maximum)
{
    const struct node_load none = {.pods = false};
    return node_entry_room(find_node(state, node), &none, requests, maximum);
}

uint32_t cluster_state_room_unpromised(const struct cluster_state *state, const char *node,
                                       const struct resource_list *requests, uint32_t maximum)
{
    const struct node_load pods = {.pods = true};
    return node_entry_room(find_node(state, node), &pods, requests, maximum);
}

struct resource_lack cluster_state_lack(const struct cluster_state *state, const char *node,
                                        const struct resource_list *requests, bool empty)
{
    const struct node_load load = {.pods = !empty};
    return node_entry_lack(find_node(state, node), &load, requests);
}

bool cluster_state_spares(const struct cluster_state *state, const char *node,
                          const struct resource_list *requests)
{
    static const struct node_load all = {.pods = true, .reservations = true};
    const struct node_entry *entry = record_table_find(state->promised, node, "");
    return !entry || node_entry_room(entry, &all, requests, 1) > 0;
}
