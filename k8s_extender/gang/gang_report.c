/* SPDX-License-Identifier: MIT */
#include "k8s_extender/gang/gang_report.h"
#include "k8s_extender/gang/gang_members.h"

const char *const gang_phase_words[GANG_PHASE_COUNT] = {
    [GANG_COLLECT] = "collect",   [GANG_PLANNING] = "planning", [GANG_PLAN_MADE] = "planned",
    [GANG_RELEASED] = "released", [GANG_RUNNING] = "running",   [GANG_DEGRADED] = "degraded",
};

const char *const gang_mode_words[] = {
    [GANG_MODE_GATE] = "gate", [GANG_MODE_FILTER] = "filter", [GANG_MODE_NATIVE] = "native"};

static const char *const state_words[] = {
    [SLOT_EMPTY] = "missing",
    [SLOT_WAITING] = "waiting",
    [SLOT_PROMISED] = "released",
    [SLOT_BOUND] = "bound",
};

static void describe_slots(const struct gang *gang, struct json_value *parent)
{
    struct json_value *pods = json_add_array(parent, "pods");
    for (uint32_t i = 0; i < gang->slot_count; i++) {
        const struct gang_slot *slot = &gang->slots[i];
        const char *planned = gang->plan ? gang->plan->nodes[i] : NULL;
        struct json_value *pod = json_add_object(pods, NULL);
        json_add_unsigned(pod, "index", i);
        json_add_text(pod, "pod", slot->pod ? slot->pod->name : NULL);
        json_add_text(pod, "state",
                      gang_slot_is_done(gang, slot) ? "succeeded" : state_words[slot->state]);
        json_add_text(pod, "node", slot->node ? slot->node : planned);
    }
}

void gang_machine_describe(const struct gang_machine *machine, struct json_value *parent)
{
    for (size_t i = 0; i < machine->gang_count; i++) {
        const struct gang *gang = machine->gangs[i];
        struct json_value *member = json_add_object(parent, gang->key);
        json_add_text(member, "phase", gang_phase_words[gang->phase]);
        json_add_text(member, "mode", gang_mode_words[gang->mode]);
        if (gang->size)
            json_add_unsigned(member, "size", gang->size);
        else
            json_add_null(member, "size");
        json_add_unsigned(member, "present", gang->present);
        json_add_unsigned(member, "bound", gang->bound);
        json_add_unsigned(member, "outsiders", gang->outsiders);
        json_add_signed(member, "priority", gang->priority);
        json_add_text(member, "plan_id", gang->plan ? gang->plan->id : NULL);
        json_add_text(member, "reason", gang->reason[0] ? gang->reason : NULL);
        describe_slots(gang, member);
    }
}

void gang_machine_count(const struct gang_machine *machine, struct gang_counts *ret)
{
    *ret = (struct gang_counts){
        .nodes = cluster_state_node_count(machine->state),
        .pods = cluster_state_pod_count(machine->state),
        .promised_nodes = cluster_state_promised_count(machine->state),
    };
    for (size_t i = 0; i < machine->gang_count; i++)
        ret->gangs[machine->gangs[i]->phase]++;
}
