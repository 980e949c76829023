/* SPDX-License-Identifier: MIT */
#include "k8s_extender/gang/gang_outputs.h"
#include "k8s_extender/gang/annotations.h"
#include "k8s_extender/gang/gang_outsiders.h"
#include "k8s_extender/gang/gang_recovery.h"
#include <string.h>

/* Adding in the order of the keys, as a label_set is. */
struct draft {
    struct arena *arena;
    struct label *labels;
    size_t count;
    bool failed;
};

static void draft_init(struct draft *draft, struct arena *arena, size_t maximum)
{
    *draft = (struct draft){
        .arena = arena, .labels = arena_allocate_array(arena, maximum + 1, sizeof(struct label))};
    draft->failed = !draft->labels;
}

static void draft_text(struct draft *draft, const char *key, const char *value)
{
    if (!draft->failed && value)
        draft->labels[draft->count++] = (struct label){.key = key, .value = value};
    draft->failed |= !value;
}

static void draft_number(struct draft *draft, const char *key, unsigned number)
{
    draft_text(draft, key, arena_format(draft->arena, "%u", number));
}

static int draft_finish(const struct draft *draft, struct label_set *ret)
{
    if (draft->failed)
        return -1;
    *ret = (struct label_set){.labels = draft->labels, .count = draft->count};
    return 0;
}

bool gang_has_master_name(const struct gang *gang)
{
    const struct pod_record *pod = gang->slots[0].pod;
    bool served = pod && pod->owner_kind && strcmp(pod->owner_kind, "PyTorchJob") == 0;
    return served || (pod && pod->hostname && pod->subdomain);
}

/* Rank 0's pod under the headless service of the gang, or by its name alone. */
static const char *master_address(const struct gang *gang, struct arena *arena)
{
    const struct pod_record *pod = gang->slots[0].pod;
    if (!pod)
        return "";
    /* Without a host name a pod has no name of its own under the Service. */
    return pod->hostname && pod->subdomain
               ? arena_format(arena, "%s.%s.%s.svc", pod->hostname, pod->subdomain, pod->namespace)
               : arena_copy_text(arena, pod->name);
}

int gang_pod_outputs(const struct gang *gang, uint32_t index, const char *node, struct arena *arena,
                     struct label_set *ret)
{
    const struct gang_plan *plan = gang->plan;
    struct rank_coordinates at = {.tp = 0};
    struct draft draft;
    draft_init(&draft, arena, GANG_OUTPUT_COUNT);
    if (plan->has_degrees) {
        gang_plan_coordinates(plan, index, &at);
        draft_number(&draft, ANNOTATION_CP_RANK, at.cp);
        draft_number(&draft, ANNOTATION_DP_RANK, at.dp);
        draft_number(&draft, ANNOTATION_EP_RANK, at.ep);
    }
    draft_text(&draft, ANNOTATION_MASTER_ADDR, master_address(gang, arena));
    draft_text(&draft, ANNOTATION_NODE, arena_copy_text(arena, node));
    draft_number(&draft, ANNOTATION_NODE_RANK, index);
    draft_text(&draft, ANNOTATION_PLAN_ID, arena_copy_text(arena, plan->id));
    draft_text(&draft, ANNOTATION_PLAN_SHAPE, gang_shape_encode(plan, arena));
    if (plan->has_degrees) {
        draft_number(&draft, ANNOTATION_PP_RANK, at.pp);
        draft_number(&draft, ANNOTATION_TP_RANK, at.tp);
    }
    return draft_finish(&draft, ret);
}

int gang_no_outputs(struct arena *arena, struct label_set *ret)
{
    struct draft draft;
    draft_init(&draft, arena, GANG_OUTPUT_COUNT);
    for (size_t i = 0; i < GANG_OUTPUT_COUNT; i++)
        draft_text(&draft, gang_output_keys[i], "");
    return draft_finish(&draft, ret);
}

int gang_plan_output(const struct gang_plan *plan, struct arena *arena, struct label_set *ret)
{
    struct draft draft;
    draft_init(&draft, arena, 1);
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, GANG_PLAN_TEXT_MAXIMUM);
    if (plan && (gang_plan_encode(plan, &text) < 0 || text_buffer_failed(&text)))
        return -1;
    draft_text(&draft, ANNOTATION_PLAN, arena_copy_text(arena, text_buffer_text(&text)));
    return draft_finish(&draft, ret);
}

int gang_copy_inputs(const struct label_set *annotations, struct arena *arena,
                     struct label_set *ret)
{
    struct draft draft;
    draft_init(&draft, arena, annotations->count);
    for (size_t i = 0; i < annotations->count; i++)
        if (!gang_annotation_is_output(annotations->labels[i].key))
            draft_text(&draft, arena_copy_text(arena, annotations->labels[i].key),
                       arena_copy_text(arena, annotations->labels[i].value));
    for (size_t i = 0; i < draft.count; i++)
        draft.failed |= !draft.labels[i].key;
    return draft_finish(&draft, ret);
}

const char *gang_input(const struct gang *gang, const char *name)
{
    for (uint32_t i = 0; i < gang->slot_count; i++) {
        const struct pod_record *pod = gang->slots[i].pod;
        const char *value = pod && gang_speaks(gang, pod) ? pod_record_annotation(pod, name) : NULL;
        if (value)
            return value;
    }
    return "";
}

/* --- affinity ---------------------------------------------------------------------- */

static int copy_requirement(const struct selector_requirement *from, struct arena *arena,
                            struct selector_requirement *ret)
{
    const char **values = arena_allocate_array(arena, from->value_count + 1, sizeof(*values));
    *ret = *from;
    ret->key = arena_copy_text(arena, from->key);
    ret->values = values;
    for (size_t i = 0; values && i < from->value_count; i++)
        if (!(values[i] = arena_copy_text(arena, from->values[i])))
            return -1;
    return values && ret->key ? 0 : -1;
}

static int copy_term(const struct selector_term *from, struct arena *arena,
                     struct selector_term *ret)
{
    struct selector_requirement *copies =
        arena_allocate_array(arena, from->requirement_count + 1, sizeof(*copies));
    for (size_t i = 0; copies && i < from->requirement_count; i++)
        if (copy_requirement(&from->requirements[i], arena, &copies[i]) < 0)
            return -1;
    *ret = (struct selector_term){.requirements = copies,
                                  .requirement_count = from->requirement_count};
    return copies ? 0 : -1;
}

int gang_copy_affinity(const struct node_selector *affinity, struct arena *arena,
                       struct node_selector *ret)
{
    struct selector_term *terms =
        arena_allocate_array(arena, affinity->term_count + 1, sizeof(*terms));
    for (size_t i = 0; terms && i < affinity->term_count; i++)
        if (copy_term(&affinity->terms[i], arena, &terms[i]) < 0)
            return -1;
    if (!terms)
        return -1;
    *ret = (struct node_selector){.terms = terms, .term_count = affinity->term_count};
    return 0;
}

static bool requirements_alike(const struct selector_requirement *left,
                               const struct selector_requirement *right)
{
    if (left->operator!= right->operator|| left->of_field != right->of_field ||
        left->value_count != right->value_count || strcmp(left->key, right->key) != 0)
        return false;
    for (size_t i = 0; i < left->value_count; i++)
        if (strcmp(left->values[i], right->values[i]) != 0)
            return false;
    return true;
}

static bool affinities_alike(const struct node_selector *left, const struct node_selector *right)
{
    if (left->term_count != right->term_count)
        return false;
    for (size_t i = 0; i < left->term_count; i++) {
        const struct selector_term *one = &left->terms[i], *other = &right->terms[i];
        if (one->requirement_count != other->requirement_count)
            return false;
        for (size_t j = 0; j < one->requirement_count; j++)
            if (!requirements_alike(&one->requirements[j], &other->requirements[j]))
                return false;
    }
    return true;
}

static bool tolerations_alike(const struct pod_record *left, const struct pod_record *right)
{
    if (left->toleration_count != right->toleration_count)
        return false;
    for (size_t i = 0; i < left->toleration_count; i++) {
        const struct pod_toleration *one = &left->tolerations[i], *other = &right->tolerations[i];
        if (one->exists != other->exists || one->every_effect != other->every_effect ||
            one->effect != other->effect || strcmp(one->key, other->key) != 0 ||
            (!one->exists && strcmp(one->value, other->value) != 0))
            return false;
    }
    return true;
}

bool gang_pods_alike(const struct pod_record *left, const struct pod_record *right)
{
    if (left->node_labels.count != right->node_labels.count)
        return false;
    for (size_t i = 0; i < left->node_labels.count; i++)
        if (strcmp(left->node_labels.labels[i].key, right->node_labels.labels[i].key) != 0 ||
            strcmp(left->node_labels.labels[i].value, right->node_labels.labels[i].value) != 0)
            return false;
    return tolerations_alike(left, right) && affinities_alike(&left->affinity, &right->affinity);
}
