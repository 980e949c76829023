/* SPDX-License-Identifier: MIT */
/* node_topology_merge: the NICs. */
#include "base/node_list.h"
#include "topology/merge/merge_state.h"
#include "topology/merge/nic_roles.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_NIC (~0u)

static bool is_same_text(const char *left, const char *right)
{
    return left && right && strcmp(left, right) == 0;
}

static bool is_nameless(const struct evidence_nic *nic) { return !nic->name && !nic->bus_id; }

/* name NULL: any. */
static bool lists_nic(const struct node_evidence *evidence, const char *name, const char *bus_id)
{
    for (unsigned i = 0; i < evidence->nic_count; i++)
        if (is_same_text(evidence->nics[i].bus_id, bus_id) &&
            (!name || is_same_text(evidence->nics[i].name, name)))
            return true;
    return false;
}

/* A name tells which of several ports of one function is meant. Without it the function itself
 * decides, for names are given by rules that differ (mlx5_4, ibp147s0). 0: two NICs. */
static unsigned likeness(const struct node_evidence *evidence, const struct evidence_nic *known,
                         const struct evidence_nic *said)
{
    bool same_name = is_same_text(known->name, said->name);
    if (is_same_text(known->bus_id, said->bus_id)) {
        if (same_name || !known->name || !said->name)
            return 3;
        return lists_nic(evidence, known->name, known->bus_id) ? 0 : 2;
    }
    return same_name && !lists_nic(evidence, NULL, known->bus_id) ? 1 : 0;
}

static unsigned source_bit(size_t e) { return 1u << e; }

/* Among those that this source has not spoken of: it lists no NIC twice. */
static unsigned find_nic(const struct nic_roles *roles, const struct merge_state *state, size_t e,
                         const struct evidence_nic *nic)
{
    unsigned found = NO_NIC, best = 0;
    for (unsigned i = 0; i < roles->count; i++) {
        const struct nic_candidate *known = &roles->nics[i];
        unsigned like = likeness(state->evidence[e], &known->said, nic);
        if (!(known->spoken & source_bit(e)) && like > best) {
            found = i;
            best = like;
        }
    }
    return found;
}

/* Where none has a name, the k-th of a source is the k-th of the others. */
static unsigned find_nameless(const struct nic_roles *roles, size_t e)
{
    for (unsigned i = 0; i < roles->count; i++)
        if (is_nameless(&roles->nics[i].said) && !(roles->nics[i].spoken & source_bit(e)))
            return i;
    return NO_NIC;
}

static void complete_nic(struct evidence_nic *known, const struct evidence_nic *said)
{
    known->name = known->name ? known->name : said->name;
    known->bus_id = known->bus_id ? known->bus_id : said->bus_id;
    known->driver_class = known->driver_class ? known->driver_class : said->driver_class;
    known->state = known->state != NIC_STATE_UNKNOWN ? known->state : said->state;
    known->is_ethernet = known->is_ethernet || said->is_ethernet;
    known->is_virtual = known->is_virtual || said->is_virtual;
    known->shares_card = known->shares_card || said->shares_card;
    known->problem = known->problem ? known->problem : said->problem;
    known->guid = known->guid ? known->guid : said->guid;
    known->numa = known->numa != NUMA_UNKNOWN ? known->numa : said->numa;
    if (known->bytes_per_second <= 0)
        known->bytes_per_second = said->bytes_per_second;
}

static void take_nic_links(const struct merge_state *state, size_t e, struct nic_candidate *nic,
                           unsigned position)
{
    const struct node_evidence *evidence = state->evidence[e];
    for (unsigned i = 0; evidence->nic_links && i < evidence->gpu_count; i++) {
        unsigned gpu = state->gpu_of[e][i];
        if (gpu == MERGE_NO_GPU || nic->links[gpu] != LINK_UNKNOWN)
            continue;
        nic->links[gpu] = evidence->nic_links[(size_t)i * evidence->nic_count + position];
    }
}

static void take_role(struct evidence_nic *known, const struct evidence_nic *said)
{
    if (known->has_role || !said->has_role)
        return;
    known->has_role = true;
    known->role = said->role;
    known->rail = said->rail;
    known->reason = said->reason;
}

/* What the higher of the two sources says stands. */
static void take_nic(const struct merge_state *state, size_t e, unsigned position,
                     struct nic_candidate *nic)
{
    struct evidence_nic said = state->evidence[e]->nics[position];
    if (e < nic->rank) {
        struct evidence_nic lower = nic->said;
        nic->said = said;
        nic->rank = e;
        nic->source = state->evidence[e]->source_text;
        said = lower;
    }
    complete_nic(&nic->said, &said);
    take_role(&nic->said, &said);
    nic->spoken |= source_bit(e);
    take_nic_links(state, e, nic, position);
}

static int add_nic(const struct merge_state *state, size_t e, unsigned position,
                   struct nic_roles *roles, struct error_info *err)
{
    const struct node_evidence *evidence = state->evidence[e];
    if (roles->count == NODE_MAXIMUM_NICS)
        return error_set(err, "%s: more than %u NICs in one node", evidence->source_text,
                         NODE_MAXIMUM_NICS);
    struct nic_candidate *nic = &roles->nics[roles->count];
    *nic = (struct nic_candidate){
        .said = evidence->nics[position],
        .source = evidence->source_text,
        .rank = e,
        .position = roles->count++,
        .spoken = source_bit(e),
    };
    take_nic_links(state, e, nic, position);
    return 0;
}

static int take_named(const struct merge_state *state, size_t e, struct nic_roles *roles,
                      struct error_info *err)
{
    const struct node_evidence *evidence = state->evidence[e];
    for (unsigned i = 0; i < evidence->nic_count; i++) {
        if (is_nameless(&evidence->nics[i]))
            continue;
        unsigned at =
            merge_is_of_one(state) ? NO_NIC : find_nic(roles, state, e, &evidence->nics[i]);
        if (at != NO_NIC)
            take_nic(state, e, i, &roles->nics[at]);
        else if (add_nic(state, e, i, roles, err) < 0)
            return -1;
    }
    return 0;
}

static int compare_nics(const void *left_pointer, const void *right_pointer)
{
    const struct nic_candidate *left = left_pointer, *right = right_pointer;
    int order = (left->said.name != NULL) - (right->said.name != NULL);
    if (left->said.name && right->said.name)
        order = node_name_compare(left->said.name, right->said.name);
    return order ? order : (left->position > right->position) - (left->position < right->position);
}

static int take_by_position(const struct merge_state *state, size_t e, struct nic_roles *roles,
                            struct error_info *err)
{
    const struct node_evidence *evidence = state->evidence[e];
    for (unsigned i = 0; i < evidence->nic_count; i++) {
        if (!is_nameless(&evidence->nics[i]))
            continue;
        unsigned at = merge_is_of_one(state) ? NO_NIC : find_nameless(roles, e);
        if (at != NO_NIC)
            take_nic(state, e, i, &roles->nics[at]);
        else if (add_nic(state, e, i, roles, err) < 0)
            return -1;
    }
    return 0;
}

/* The rails by name that only others speak of. */
static unsigned list_rails(struct nic_roles *roles, size_t e, unsigned rails[NODE_MAXIMUM_NICS])
{
    unsigned count = 0;
    qsort(roles->nics, roles->count, sizeof(roles->nics[0]), compare_nics);
    nic_roles_decide(roles);
    for (unsigned i = 0; i < roles->count; i++)
        if (roles->nics[i].role == NIC_RAIL && !(roles->nics[i].spoken & source_bit(e)))
            rails[count++] = i;
    return count;
}

/* Nameless NICs beside named ones are the rails, in the order of their names, where there are as
 * many; else nobody knows which is which. */
static void take_as_rails(struct merge_state *state, size_t e, unsigned nameless,
                          struct nic_roles *roles)
{
    const struct node_evidence *evidence = state->evidence[e];
    unsigned rails[NODE_MAXIMUM_NICS] = {0}, count = list_rails(roles, e, rails);
    bool fits = count == nameless;
    for (unsigned i = 0; i < evidence->nic_count; i++)
        if (is_nameless(&evidence->nics[i]) && evidence->nics[i].has_role)
            fits = fits && evidence->nics[i].role == NIC_RAIL;
    for (unsigned i = 0, rail = 0; fits && i < evidence->nic_count; i++)
        if (is_nameless(&evidence->nics[i]))
            take_nic(state, e, i, &roles->nics[rails[rail++]]);
    if (fits)
        return;
    merge_add_fact(state, "nics", evidence->source_text,
                   "ignored: %u NICs without names, the node has %u rails", nameless, count);
    merge_warn(state, "%s: its %u NICs without names are ignored, the node has %u rails",
               evidence->source_text, nameless, count);
}

static int take_nameless(struct merge_state *state, size_t e, struct nic_roles *roles,
                         struct error_info *err)
{
    if (merge_is_of_one(state))
        return take_by_position(state, e, roles, err);
    const struct node_evidence *evidence = state->evidence[e];
    unsigned nameless = 0;
    bool named_by_others = false;
    for (unsigned i = 0; i < evidence->nic_count; i++)
        nameless += is_nameless(&evidence->nics[i]);
    for (unsigned i = 0; i < roles->count; i++)
        named_by_others = named_by_others || (!is_nameless(&roles->nics[i].said) &&
                                              (roles->nics[i].spoken & ~source_bit(e)));
    if (nameless == 0)
        return 0;
    if (!named_by_others)
        return take_by_position(state, e, roles, err);
    take_as_rails(state, e, nameless, roles);
    return 0;
}

static void add_nic_fact(struct merge_state *state, const struct nic_candidate *nic)
{
    if (!REMARKS_KEPT || !nic->said.name)
        return;
    char fact[160];
    snprintf(fact, sizeof(fact), "nic %s", nic->said.name);
    merge_add_fact(state, fact, nic->source, "%s: %s", nic_role_name(nic->role), nic->reason);
}

static int store_nics(struct merge_state *state, const struct nic_roles *roles,
                      struct error_info *err)
{
    struct node_nic *nics = arena_allocate_array(state->arena, roles->count, sizeof(*nics));
    if (!nics)
        return error_set_memory(err);
    for (unsigned i = 0; i < roles->count; i++) {
        const struct nic_candidate *nic = &roles->nics[i];
        nics[i] = (struct node_nic){
            .name = merge_copy_text(state, nic->said.name),
            .bus_id = merge_copy_text(state, nic->said.bus_id),
            .role = nic->role,
            .state = nic->said.state,
            .rail = nic->rail,
            .numa = nic->said.numa,
            .is_ethernet = nic->said.is_ethernet,
            .bytes_per_second = nic->said.bytes_per_second,
            .reason = merge_copy_text(state, nic->reason),
            .problem = merge_copy_text(state, nic->said.problem),
        };
        add_nic_fact(state, nic);
    }
    state->nics = nics;
    state->node->nics = nics;
    state->node->nic_count = roles->count;
    return 0;
}

static int store_links(struct merge_state *state, const struct nic_roles *roles,
                       struct error_info *err)
{
    size_t n = state->node->gpu_count;
    enum link_kind *links = arena_allocate_array(state->arena, n * roles->count, sizeof(*links));
    if (!links)
        return error_set_memory(err);
    for (size_t gpu = 0; gpu < n; gpu++)
        for (unsigned nic = 0; nic < roles->count; nic++)
            links[gpu * roles->count + nic] = roles->nics[nic].links[gpu];
    state->node->nic_links = links;
    return 0;
}

static int store_affinity(struct merge_state *state, const struct nic_roles *roles,
                          struct error_info *err)
{
    for (unsigned gpu = 0; gpu < state->node->gpu_count; gpu++) {
        unsigned order[NODE_MAXIMUM_NICS];
        unsigned count = nic_roles_order(roles, state->gpus, gpu, order);
        unsigned *nics = arena_allocate_array(state->arena, count, sizeof(*nics));
        if (!nics)
            return error_set_memory(err);
        memcpy(nics, order, count * sizeof(*nics));
        state->gpus[gpu].nics = nics;
        state->gpus[gpu].nic_count = count;
    }
    return 0;
}

/* One rail of unknown rate leaves the sum unknown. */
static void sum_rates(struct merge_state *state, const struct nic_roles *roles)
{
    double sum = 0;
    unsigned rails = 0;
    const char *source = roles->count > 0 ? roles->nics[0].source : NULL;
    for (unsigned i = 0; i < roles->count; i++) {
        if (!nic_roles_is_usable_rail(&roles->nics[i]))
            continue;
        if (roles->nics[i].said.bytes_per_second <= 0)
            return;
        sum += roles->nics[i].said.bytes_per_second;
        source = rails++ == 0 ? roles->nics[i].source : source;
    }
    merge_add_fact(state, "rails", source ? source : state->evidence[0]->source_text, "%u", rails);
    if (state->node->gpu_count > 0)
        state->node->gpu_nic_bytes_per_second = sum / state->node->gpu_count;
}

int merge_nics(struct merge_state *state, struct error_info *err)
{
    CLEANUP_MEMORY struct nic_roles *roles = memory_allocate(sizeof(*roles));
    if (!roles)
        return error_set_memory(err);
    roles->gpu_count = state->node->gpu_count;
    for (size_t e = 0; e < merge_count(state); e++)
        if (take_named(state, e, roles, err) < 0)
            return -1;
    for (size_t e = 0; e < merge_count(state); e++)
        if (take_nameless(state, e, roles, err) < 0)
            return -1;
    qsort(roles->nics, roles->count, sizeof(roles->nics[0]), compare_nics);
    nic_roles_decide(roles);
    if (store_nics(state, roles, err) < 0 || store_links(state, roles, err) < 0 ||
        store_affinity(state, roles, err) < 0)
        return -1;
    sum_rates(state, roles);
    return 0;
}
