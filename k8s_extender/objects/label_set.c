/* SPDX-License-Identifier: MIT */
#include "k8s_extender/objects/label_set.h"
#include <stdlib.h>
#include <string.h>

#define SHOWN_CHARACTERS 60

static int compare_keys(const void *left, const void *right)
{
    return strcmp(((const struct label *)left)->key, ((const struct label *)right)->key);
}

static int read_label(const struct json_value *member, struct arena *arena, struct label *ret,
                      struct error_info *err)
{
    const char *value = json_value_text(member);
    if (!value && json_value_kind(member) != JSON_NULL)
        return error_set(err, "'%.*s' is no text", SHOWN_CHARACTERS, json_value_key(member));
    struct label label = {
        .key = arena_copy_text(arena, json_value_key(member)),
        .value = arena_copy_text(arena, value ? value : ""),
    };
    if (!label.key || !label.value)
        return error_set_memory(err);
    *ret = label;
    return 0;
}

static size_t count_kept(const struct json_value *object, label_filter_fn keep)
{
    size_t count = 0;
    for (size_t i = 0; i < json_value_count(object); i++)
        count += !keep || keep(json_value_key(json_value_at(object, i)));
    return count;
}

static int read_labels(const struct json_value *object, label_filter_fn keep, struct arena *arena,
                       struct label *labels, struct error_info *err)
{
    size_t count = 0;
    for (size_t i = 0; i < json_value_count(object); i++) {
        const struct json_value *member = json_value_at(object, i);
        if (keep && !keep(json_value_key(member)))
            continue;
        if (read_label(member, arena, &labels[count++], err) < 0)
            return -1;
    }
    return 0;
}

int label_set_read(const struct json_value *object, label_filter_fn keep, struct arena *arena,
                   struct label_set *ret, struct error_info *err)
{
    enum json_kind kind = json_value_kind(object);
    if (kind != JSON_OBJECT && kind != JSON_NULL)
        return error_set(err, "an object of texts is needed");
    struct label_set set = {.count = count_kept(object, keep)};
    if (set.count > LABEL_SET_MAXIMUM)
        return error_set(err, "%zu entries are too many; at most %u are possible", set.count,
                         LABEL_SET_MAXIMUM);
    if (set.count > 0) {
        struct label *labels = arena_allocate_array(arena, set.count, sizeof(*labels));
        if (!labels)
            return error_set_memory(err);
        if (read_labels(object, keep, arena, labels, err) < 0)
            return -1;
        qsort(labels, set.count, sizeof(*labels), compare_keys);
        set.labels = labels;
    }
    *ret = set;
    return 0;
}

const char *label_set_find(const struct label_set *set, const char *key)
{
    size_t low = 0, high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(set->labels[middle].key, key);
        if (order == 0)
            return set->labels[middle].value;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
