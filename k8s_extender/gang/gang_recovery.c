/* SPDX-License-Identifier: MIT */
#include "k8s_extender/gang/gang_recovery.h"
#include "base/name_index.h"
#include "base/parse_number.h"
#include "k8s_extender/gang/annotations.h"
#include "k8s_extender/gang/gang_members.h"
#include "k8s_extender/gang/gang_outsiders.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* --- shape ------------------------------------------------------------------------- */

static const struct {
    const char *key;
    size_t offset;
    bool degree; /* only with an order */
} shape_fields[] = {
    {"pods", offsetof(struct gang_shape, pods), false},
    {"gpus", offsetof(struct gang_shape, gpus_per_pod), false},
    {"tp", offsetof(struct gang_shape, degrees.tp), true},
    {"cp", offsetof(struct gang_shape, degrees.cp), true},
    {"ep", offsetof(struct gang_shape, degrees.ep), true},
    {"etp", offsetof(struct gang_shape, degrees.etp), true},
    {"pp", offsetof(struct gang_shape, degrees.pp), true},
    {"vpp", offsetof(struct gang_shape, degrees.vpp), true},
    {"dp", offsetof(struct gang_shape, degrees.dp), true},
    {"shard", offsetof(struct gang_shape, degrees.shard), true},
    {"replicate", offsetof(struct gang_shape, degrees.replicate), true},
};

const char *gang_shape_encode(const struct gang_plan *plan, struct arena *arena)
{
    const struct gang_shape shape = {
        .pods = plan->pods, .gpus_per_pod = plan->gpus_per_pod, .degrees = plan->degrees};
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, GANG_SHAPE_MAXIMUM_BYTES);
    for (size_t i = 0; i < COUNT_OF(shape_fields); i++)
        if (plan->has_degrees || !shape_fields[i].degree)
            text_buffer_add(&out, "%s%s=%u", i ? " " : "", shape_fields[i].key,
                            *(const unsigned *)((const char *)&shape + shape_fields[i].offset));
    if (plan->has_degrees)
        text_buffer_add(&out, " order=%s", rank_order_name(plan->order));
    return text_buffer_failed(&out) ? NULL : arena_copy_text(arena, text_buffer_text(&out));
}

static int read_word(char *word, struct gang_shape *ret, unsigned *seen, struct error_info *err)
{
    char *equals = strchr(word, '=');
    if (!equals)
        return error_set(err, "plan shape: %s is no key=value", word);
    *equals = '\0';
    if (strcmp(word, "order") == 0) {
        ret->has_degrees = true;
        return rank_order_parse(equals + 1, &ret->order, err);
    }
    for (size_t i = 0; i < COUNT_OF(shape_fields); i++) {
        uint64_t number;
        if (strcmp(word, shape_fields[i].key) != 0)
            continue;
        if (parse_unsigned(equals + 1, 1, WORLD_MAXIMUM, &number, err) < 0)
            return -1;
        *(unsigned *)((char *)ret + shape_fields[i].offset) = (unsigned)number;
        *seen |= 1u << i;
        return 0;
    }
    return error_set(err, "plan shape: unknown key %s", word);
}

static int check_shape(struct gang_shape *shape, unsigned seen, struct error_info *err)
{
    unsigned all = (1u << COUNT_OF(shape_fields)) - 1;
    if (seen != (shape->has_degrees ? all : 3u))
        return error_set(err, "plan shape: keys are missing, or degrees without their order");
    if (shape->pods > GANG_MAXIMUM_PODS)
        return error_set(err, "plan shape: %u pods, at most %u", shape->pods, GANG_MAXIMUM_PODS);
    if (!shape->has_degrees)
        return 0;
    uint64_t world = (uint64_t)shape->pods * shape->gpus_per_pod;
    if (world > WORLD_MAXIMUM || shape->degrees.shard > shape->degrees.dp ||
        (uint64_t)shape->degrees.shard * shape->degrees.replicate != shape->degrees.dp)
        return error_set(err, "plan shape: its numbers do not agree");
    if (degrees_complete(&shape->degrees, world, err) < 0)
        return -1;
    return rank_order_check(shape->order, &shape->degrees, err);
}

int gang_shape_decode(const char *text, struct gang_shape *ret, struct error_info *err)
{
    char copy[GANG_SHAPE_MAXIMUM_BYTES];
    size_t bytes = strnlen(text, sizeof(copy));
    if (bytes >= sizeof(copy))
        return error_set(err, "plan shape: longer than %u bytes", GANG_SHAPE_MAXIMUM_BYTES - 1);
    memcpy(copy, text, bytes + 1);
    struct gang_shape shape = {.pods = 0};
    unsigned seen = 0;
    for (char *word = copy; word;) {
        char *blank = strchr(word, ' ');
        if (blank)
            *blank++ = '\0';
        if (read_word(word, &shape, &seen, err) < 0)
            return -1;
        word = blank;
    }
    if (check_shape(&shape, seen, err) < 0)
        return -1;
    *ret = shape;
    return 0;
}

bool gang_shape_find(const struct gang *gang, struct gang_shape *ret)
{
    for (size_t i = 0; i < gang->member_count; i++) {
        const struct pod_record *pod = gang->members[i];
        const char *text = pod_record_annotation(pod, ANNOTATION_PLAN_SHAPE);
        if (text && *text && !pod->gated && gang_pod_is_live(pod) && gang_speaks(gang, pod) &&
            gang_shape_decode(text, ret, NULL) == 0)
            return true;
    }
    return false;
}

/* --- plan -------------------------------------------------------------------------- */

static void drop_made(struct gang *gang)
{
    gang_plan_free(gang->made);
    gang->made = NULL;
}

static void drop_written(struct gang *gang)
{
    gang_plan_free(gang->written);
    gang->written = NULL;
    gang->written_digest = 0;
}

/* Text of pod 0; *ret_active: of the one that counts, not of its terminating predecessor, or of one
 * that has succeeded. */
static const char *plan_text(const struct gang *gang, bool *ret_active)
{
    const struct gang_slot *slot = gang->slot_count ? &gang->slots[0] : NULL;
    const char *text = slot && slot->pod ? pod_record_annotation(slot->pod, ANNOTATION_PLAN) : NULL;
    *ret_active = text != NULL;
    if (!text && slot && slot->leaving && gang_is_of_holder(gang, slot->leaving))
        text = pod_record_annotation(slot->leaving, ANNOTATION_PLAN);
    if (!text && slot && slot->ended)
        text = pod_record_annotation(slot->ended, ANNOTATION_PLAN);
    return text;
}

static bool is_of_gang(const struct gang *gang, const struct gang_plan *plan)
{
    return plan->pods == gang->size && plan->gpus_per_pod == gang->gpus_per_pod;
}

static int read_written(struct gang *gang, const char *text)
{
    struct error_info err = {.kind = ERROR_NONE};
    size_t bytes = strlen(text);
    uint64_t digest = name_hash_add(NAME_HASH_START, text, bytes);
    digest = name_hash_add(digest, &gang->size, sizeof(gang->size));
    digest = name_hash_add(digest, &gang->gpus_per_pod, sizeof(gang->gpus_per_pod)) | 1;
    if (digest == gang->written_digest)
        return 0;
    struct gang_plan *plan =
        bytes <= GANG_PLAN_TEXT_MAXIMUM ? gang_plan_decode(text, bytes, gang->key, &err) : NULL;
    if (!plan && err.kind == ERROR_MEMORY)
        return -1;
    if (plan && !is_of_gang(gang, plan)) {
        gang_plan_free(plan);
        plan = NULL;
    }
    drop_written(gang);
    gang->written = plan;
    gang->written_digest = digest; /* also of what is no plan of this gang: it is not tried again
                                    * while the gang has that size */
    return 0;
}

/* Pod 0 says nothing: pods that are placed already follow what was known. */
static void keep_in_memory(struct gang *gang, bool fixed)
{
    if (gang->written && fixed && !gang->made &&
        strcmp(gang->written->id, gang->rejected_id) != 0) {
        gang->made = move_pointer(gang->written);
        gang->base_id[0] = '\0';
        gang->made_digest = gang->pods_digest;
    }
    drop_written(gang);
}

/* Nobody is left to follow a plan: neither one that was made, nor one that was written before. */
static bool is_bound_by_hand(const struct gang *gang)
{
    return gang->size && gang->strays == gang->size;
}

/* Which of the two is the newer one. */
static void settle_made(struct gang *gang, bool fixed)
{
    if (gang->made && gang->written &&
        (strcmp(gang->written->id, gang->made->id) == 0 ||
         strcmp(gang->written->id, gang->base_id) != 0))
        drop_made(gang);
    /* Pod 0 has succeeded: what was made since stands nowhere, and when all have their place a
     * restart must know the same. */
    bool unwritten = gang_is_whole(gang) && gang_slot_is_done(gang, &gang->slots[0]);
    bool stale = !fixed && (gang->made_digest != gang->pods_digest || gang->present < gang->size);
    if (gang->made &&
        (stale || is_bound_by_hand(gang) || unwritten || gang->made->pods != gang->size))
        drop_made(gang);
}

int gang_adopt_plan(struct gang *gang)
{
    bool active, fixed = gang_has_begun(gang);
    const char *text = plan_text(gang, &active);
    if (text && *text && (active || fixed)) {
        if (read_written(gang, text) < 0)
            return -1;
    } else if (text && *text == '\0') {
        drop_written(gang);
    } else {
        keep_in_memory(gang, fixed);
    }
    if (gang->written && !is_of_gang(gang, gang->written))
        drop_written(gang); /* the gang is another size now */
    if (fixed)
        gang->rejected_id[0] = '\0'; /* what pods follow cannot be given up any more */
    settle_made(gang, fixed);
    gang->plan = gang->made;
    if (!gang->plan && gang->written && !is_bound_by_hand(gang) &&
        strcmp(gang->written->id, gang->rejected_id) != 0)
        gang->plan = gang->written;
    return 0;
}

void gang_reject_plan(struct gang *gang)
{
    drop_made(gang);
    gang->plan = NULL;
    if (gang->written)
        snprintf(gang->rejected_id, sizeof(gang->rejected_id), "%s", gang->written->id);
}

void gang_take_plan(struct gang *gang, struct gang_plan *plan)
{
    drop_made(gang);
    gang->base_id[0] = gang->rejected_id[0] = '\0';
    if (gang->written)
        snprintf(gang->base_id, sizeof(gang->base_id), "%s", gang->written->id);
    gang->made = plan;
    gang->made_digest = gang->pods_digest;
    gang->plan = plan;
}

bool gang_plan_stands(const struct gang *gang)
{
    const struct gang_slot *slot = &gang->slots[0];
    if (!gang->plan || !slot->pod)
        return false;
    if (slot->has_plan && strcmp(slot->acknowledged, gang->plan->id) == 0)
        return true;
    const char *text = pod_record_annotation(slot->pod, ANNOTATION_PLAN);
    return gang->plan == gang->written && text && *text;
}
