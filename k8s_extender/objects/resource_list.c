/* SPDX-License-Identifier: MIT */
#include "k8s_extender/objects/resource_list.h"
#include "base/cleanup.h"
#include "k8s_extender/objects/reading/quantity.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REAL_DIGITS 12u /* of an amount that is written as a number: cpu: 0.5 */
#define GPU_SUFFIX "/gpu"
#define ROOM (2 * RESOURCE_LIST_MAXIMUM_OTHERS) /* of two full lists */

const char *const resource_kind_names[RESOURCE_KIND_COUNT] = {
    [RESOURCE_CPU] = "cpu",
    [RESOURCE_MEMORY] = "memory",
    [RESOURCE_STORAGE] = "ephemeral-storage",
    [RESOURCE_PODS] = "pods",
};

/* RESOURCE_KIND_COUNT: it has no place of its own. */
static enum resource_kind kind_of(const char *name)
{
    enum resource_kind kind = RESOURCE_CPU;
    while (kind < RESOURCE_KIND_COUNT && strcmp(name, resource_kind_names[kind]) != 0)
        kind++;
    return kind;
}

/* Up to four digits of the largest unit that has as many. */
static void bytes_text(uint64_t amount, bool up, char ret[RESOURCE_AMOUNT_TEXT_BYTES])
{
    static const char *const units[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
    unsigned unit = 0;
    while (amount >= 10000 && unit + 1 < COUNT_OF(units)) {
        amount = amount / 1024 + (up && amount % 1024 > 0);
        unit++;
    }
    snprintf(ret, RESOURCE_AMOUNT_TEXT_BYTES, "%" PRIu64 "%s", amount, units[unit]);
}

void resource_amount_text(const char *name, uint64_t amount, bool up,
                          char ret[RESOURCE_AMOUNT_TEXT_BYTES])
{
    enum resource_kind kind = kind_of(name);
    if (kind == RESOURCE_MEMORY || kind == RESOURCE_STORAGE)
        bytes_text(amount, up, ret);
    else if (kind == RESOURCE_CPU && amount % 1000 > 0)
        snprintf(ret, RESOURCE_AMOUNT_TEXT_BYTES, "%" PRIu64 "m", amount);
    else
        snprintf(ret, RESOURCE_AMOUNT_TEXT_BYTES, "%" PRIu64,
                 kind == RESOURCE_CPU ? amount / 1000 : amount);
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(((const struct resource_amount *)left)->name,
                  ((const struct resource_amount *)right)->name);
}

/* --- what there is room for -------------------------------------------------------- */

/* Any name is accepted by the API, so that a pod's user can invent more kinds than there is room
 * for; the kinds of usual device plugins cannot be pushed out, the kubelet's own (they have no
 * domain: hugepages-2Mi) by no other. */
enum weight { WEIGHT_USUAL_GPU, WEIGHT_GPU, WEIGHT_STANDARD, WEIGHT_OTHER, WEIGHT_COUNT };

static enum weight weight_of(const char *name)
{
    static const char *const usual[] = {"nvidia.com/gpu", "amd.com/gpu"};
    for (size_t i = 0; i < COUNT_OF(usual); i++)
        if (strcmp(name, usual[i]) == 0)
            return WEIGHT_USUAL_GPU;
    if (resource_is_gpu(name))
        return WEIGHT_GPU;
    return strchr(name, '/') ? WEIGHT_OTHER : WEIGHT_STANDARD;
}

/* What stays keeps its order. */
static void drop_excess(struct resource_amount *others, unsigned *count, bool *left_out)
{
    for (unsigned weight = WEIGHT_COUNT; weight-- > 0 && *count > RESOURCE_LIST_MAXIMUM_OTHERS;) {
        unsigned excess = *count - RESOURCE_LIST_MAXIMUM_OTHERS, kept = 0;
        for (unsigned i = 0; i < *count; i++)
            if (excess > 0 && weight_of(others[i].name) == weight)
                excess--;
            else
                others[kept++] = others[i];
        *count = kept;
        *left_out = true;
    }
}

/* --- reading ---------------------------------------------------------------------- */

/* People write cpu: 2 and cpu: 0.5 too; the API itself always sends texts. */
static int read_number(const struct json_value *value, enum quantity_unit unit, uint64_t *ret,
                       struct error_info *err)
{
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, QUANTITY_MAXIMUM_BYTES);
    double real = 0;
    json_value_real(value, &real);
    text_buffer_add_real(&text, real, REAL_DIGITS);
    if (text_buffer_failed(&text))
        return error_set_memory(err);
    return quantity_parse(text_buffer_text(&text), unit, ret, err);
}

static int read_amount(const struct json_value *value, enum quantity_unit unit, uint64_t *ret,
                       struct error_info *err)
{
    switch (json_value_kind(value)) {
    case JSON_TEXT:
        return quantity_parse(json_value_text(value), unit, ret, err);
    case JSON_NUMBER:
        return read_number(value, unit, ret, err);
    default:
        return error_set(err, "a quantity is needed");
    }
}

static int check_name(const char *name, struct error_info *err)
{
    size_t length = strnlen(name, RESOURCE_NAME_MAXIMUM_BYTES + 1);
    if (length == 0)
        return error_set(err, "a resource has no name");
    if (length > RESOURCE_NAME_MAXIMUM_BYTES)
        return error_set(err, "the resource '%.40s…' has a name of more than %u bytes", name,
                         RESOURCE_NAME_MAXIMUM_BYTES);
    return 0;
}

static int read_member(const struct json_value *member, struct resource_list *list,
                       struct resource_amount *others, struct error_info *err)
{
    const char *name = json_value_key(member);
    uint64_t amount = 0;
    if (check_name(name, err) < 0)
        return -1;
    enum resource_kind kind = kind_of(name);
    if (read_amount(member, kind == RESOURCE_CPU ? QUANTITY_MILLI : QUANTITY_WHOLE, &amount, err) <
        0)
        return error_prefix(err, "%s", name);
    if (kind < RESOURCE_KIND_COUNT) {
        list->amounts[kind] = amount;
    } else if (amount > 0) {
        others[list->other_count++] = (struct resource_amount){.name = name, .amount = amount};
        if (list->other_count == ROOM)
            drop_excess(others, &list->other_count, &list->left_out);
    }
    return 0;
}

int resource_list_read(const struct json_value *object, struct arena *arena,
                       struct resource_list *ret, struct error_info *err)
{
    struct resource_amount others[ROOM];
    struct resource_list list = {.others = others};
    enum json_kind kind = json_value_kind(object);
    if (kind != JSON_OBJECT && kind != JSON_NULL)
        return error_set(err, "the resources are no object");
    for (size_t i = 0; i < json_value_count(object); i++)
        if (read_member(json_value_at(object, i), &list, others, err) < 0)
            return -1;
    drop_excess(others, &list.other_count, &list.left_out);
    if (list.other_count > 1)
        qsort(others, list.other_count, sizeof(*others), compare_names);
    return resource_list_copy(&list, arena, ret) < 0 ? error_set_memory(err) : 0;
}

/* --- asking ----------------------------------------------------------------------- */

static const struct resource_amount *find_other(const struct resource_list *list, const char *name)
{
    for (unsigned i = 0; i < list->other_count; i++) {
        int order = strcmp(list->others[i].name, name);
        if (order >= 0)
            return order == 0 ? &list->others[i] : NULL;
    }
    return NULL;
}

uint64_t resource_list_amount(const struct resource_list *list, const char *name)
{
    enum resource_kind kind = kind_of(name);
    if (kind < RESOURCE_KIND_COUNT)
        return list->amounts[kind];
    const struct resource_amount *other = find_other(list, name);
    return other ? other->amount : 0;
}

bool resource_is_gpu(const char *name)
{
    /* 100 for each GPU: Koordinator's gpudeviceresource plugin, which adds up the cores that its
     * Device objects have. The policies' CEL leaves it out too. */
    static const char *const of_percent = "koordinator.sh/gpu";
    size_t length = strlen(name);
    size_t suffix = strlen(GPU_SUFFIX);
    return length > suffix && strcmp(name + length - suffix, GPU_SUFFIX) == 0 &&
           strcmp(name, of_percent) != 0;
}

static uint64_t add_capped(uint64_t left, uint64_t right)
{
    uint64_t sum;
    return __builtin_add_overflow(left, right, &sum) ? UINT64_MAX : sum;
}

uint64_t resource_list_gpus(const struct resource_list *list, const char **ret_name)
{
    uint64_t gpus = 0;
    const char *name = NULL;
    for (unsigned i = 0; i < list->other_count; i++) {
        if (!resource_is_gpu(list->others[i].name))
            continue;
        gpus = add_capped(gpus, list->others[i].amount);
        name = name ? name : list->others[i].name;
    }
    if (ret_name)
        *ret_name = name;
    return gpus;
}

/* --- combining -------------------------------------------------------------------- */

static uint64_t larger(uint64_t left, uint64_t right) { return left > right ? left : right; }

/* Both are sorted, so is the result. */
static unsigned merge_others(const struct resource_list *left, const struct resource_list *right,
                             uint64_t (*combine)(uint64_t, uint64_t),
                             struct resource_amount *merged)
{
    unsigned i = 0, j = 0, count = 0;
    while (i < left->other_count || j < right->other_count) {
        int order = i == left->other_count    ? 1
                    : j == right->other_count ? -1
                                              : strcmp(left->others[i].name, right->others[j].name);
        merged[count].name = order <= 0 ? left->others[i].name : right->others[j].name;
        merged[count].amount = combine(order <= 0 ? left->others[i].amount : 0,
                                       order >= 0 ? right->others[j].amount : 0);
        count++;
        i += order <= 0;
        j += order >= 0;
    }
    return count;
}

static int combine_lists(const struct resource_list *left, const struct resource_list *right,
                         uint64_t (*combine)(uint64_t, uint64_t), struct arena *arena,
                         struct resource_list *ret)
{
    struct resource_list list = {.left_out = left->left_out || right->left_out};
    for (unsigned i = 0; i < RESOURCE_KIND_COUNT; i++)
        list.amounts[i] = combine(left->amounts[i], right->amounts[i]);
    size_t room = (size_t)left->other_count + right->other_count;
    if (room > 0) {
        struct resource_amount *merged = arena_allocate_array(arena, room, sizeof(*merged));
        if (!merged)
            return -1;
        list.other_count = merge_others(left, right, combine, merged);
        drop_excess(merged, &list.other_count, &list.left_out);
        list.others = merged;
    }
    *ret = list;
    return 0;
}

int resource_list_add(const struct resource_list *left, const struct resource_list *right,
                      struct arena *arena, struct resource_list *ret)
{
    return combine_lists(left, right, add_capped, arena, ret);
}

int resource_list_maximum(const struct resource_list *left, const struct resource_list *right,
                          struct arena *arena, struct resource_list *ret)
{
    return combine_lists(left, right, larger, arena, ret);
}

int resource_list_copy(const struct resource_list *list, struct arena *arena,
                       struct resource_list *ret)
{
    struct resource_list copy = *list;
    copy.others = NULL;
    if (list->other_count > 0) {
        struct resource_amount *others =
            arena_allocate_array(arena, list->other_count, sizeof(*others));
        if (!others)
            return -1;
        for (unsigned i = 0; i < list->other_count; i++) {
            others[i].amount = list->others[i].amount;
            others[i].name = arena_copy_text(arena, list->others[i].name);
            if (!others[i].name)
                return -1;
        }
        copy.others = others;
    }
    *ret = copy;
    return 0;
}
