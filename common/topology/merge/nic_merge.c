/* SPDX-License-Identifier: MIT */
/* node_topology_merge: the NICs. */
#include "base/node_list.h"
#include "topology/merge/merge_state.h"
#include "topology/merge/nic_roles.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_NIC (~0u)

static bool is_same_nic(const struct evidence_nic *left, const struct evidence_nic *right)
{
    if (left->name && right->name)
        return strcmp(left->name, right->name) == 0;
    return left->bus_id && right->bus_id && strcmp(left->bus_id, right->bus_id) == 0;
}

/* Nameless ones (presets) are told apart by their position only. */
static unsigned find_nic(const struct nic_roles *roles, const struct evidence_nic *nic,
                         unsigned position)
{
    bool nameless = !nic->name && !nic->bus_id;
    for (unsigned i = 0; i < roles->count; i++)
        if (nameless ? i == position : is_same_nic(&roles->nics[i].said, nic))
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

static int take_nics(const struct merge_state *state, size_t e, struct nic_roles *roles,
                     struct error_info *err)
{
    const struct node_evidence *evidence = state->evidence[e];
    for (unsigned i = 0; i < evidence->nic_count; i++) {
        unsigned at = find_nic(roles, &evidence->nics[i], i);
        if (at == NO_NIC) {
            if (roles->count == NODE_MAXIMUM_NICS)
                return error_set(err, "%s: more than %u NICs in one node", evidence->source_text,
                                 NODE_MAXIMUM_NICS);
            at = roles->count++;
            roles->nics[at].said = evidence->nics[i];
            roles->nics[at].source = evidence->source_text;
            roles->nics[at].position = at;
        } else {
            complete_nic(&roles->nics[at].said, &evidence->nics[i]);
            take_role(&roles->nics[at].said, &evidence->nics[i]);
        }
        take_nic_links(state, e, &roles->nics[at], i);
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
        char fact[160];
        snprintf(fact, sizeof(fact), "nic %s", nic->said.name ? nic->said.name : "");
        if (nic->said.name)
            merge_add_fact(state, fact, nic->source, "%s: %s", nic_role_name(nic->role),
                           nic->reason);
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
    for (unsigned i = 0; i < roles->count; i++) {
        if (roles->nics[i].role != NIC_RAIL)
            continue;
        if (roles->nics[i].said.bytes_per_second <= 0)
            return;
        sum += roles->nics[i].said.bytes_per_second;
        rails++;
    }
    merge_add_fact(state, "rails", state->evidence[0]->source_text, "%u", rails);
    if (state->node->gpu_count > 0)
        state->node->gpu_nic_bytes_per_second = sum / state->node->gpu_count;
}

int merge_nics(struct merge_state *state, struct error_info *err)
{
    CLEANUP_MEMORY struct nic_roles *roles = memory_allocate(sizeof(*roles));
    if (!roles)
        return error_set_memory(err);
    roles->gpu_count = state->node->gpu_count;
    for (size_t e = 0; e < state->count; e++)
        if (take_nics(state, e, roles, err) < 0)
            return -1;
    qsort(roles->nics, roles->count, sizeof(roles->nics[0]), compare_nics);
    nic_roles_decide(roles);
    if (store_nics(state, roles, err) < 0 || store_links(state, roles, err) < 0 ||
        store_affinity(state, roles, err) < 0)
        return -1;
    sum_rates(state, roles);
    return 0;
}
