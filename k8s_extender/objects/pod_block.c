/* SPDX-License-Identifier: MIT */
#include "k8s_extender/objects/pod_block.h"
#include "base/memory.h"
#include "k8s_extender/objects/reading/record_block.h"
#include "k8s_extender/objects/reading/shared_text.h"
#include <string.h>

static const char *const *pack_words(struct record_block *block, const char *const *from,
                                     size_t count)
{
    const char **words = record_block_array(block, count, sizeof(*words));
    for (size_t i = 0; i < count; i++) {
        const char *word = record_block_text(block, from[i]);
        if (words)
            words[i] = word;
    }
    return words;
}

static const struct selector_requirement *pack_requirements(struct record_block *block,
                                                            const struct selector_term *from)
{
    struct selector_requirement *requirements =
        record_block_array(block, from->requirement_count, sizeof(*requirements));
    for (size_t i = 0; i < from->requirement_count; i++) {
        struct selector_requirement one = from->requirements[i];
        one.values = pack_words(block, one.values, one.value_count);
        one.key = record_block_text(block, one.key);
        if (requirements)
            requirements[i] = one;
    }
    return requirements;
}

static void pack_selector(struct record_block *block, struct node_selector *selector)
{
    const struct selector_term *from = selector->terms;
    struct selector_term *terms = record_block_array(block, selector->term_count, sizeof(*terms));
    for (size_t i = 0; i < selector->term_count; i++) {
        struct selector_term term = {.requirements = pack_requirements(block, &from[i]),
                                     .requirement_count = from[i].requirement_count};
        if (terms)
            terms[i] = term;
    }
    selector->terms = terms;
}

static void pack_tolerations(struct record_block *block, struct pod_record *to)
{
    const struct pod_toleration *from = to->tolerations;
    struct pod_toleration *tolerations =
        record_block_array(block, to->toleration_count, sizeof(*tolerations));
    for (size_t i = 0; tolerations && i < to->toleration_count; i++) {
        tolerations[i] = from[i];
        tolerations[i].key = record_block_shared(block, from[i].key);
        tolerations[i].value = record_block_shared(block, from[i].value);
    }
    to->tolerations = tolerations;
}

/* Annotations differ from pod to pod, so these are no shared texts. */
static void pack_annotations(struct record_block *block, struct label_set *set)
{
    const struct label *from = set->labels;
    struct label *labels = record_block_array(block, set->count, sizeof(*labels));
    for (size_t i = 0; i < set->count; i++) {
        struct label label = {.key = record_block_text(block, from[i].key),
                              .value = record_block_text(block, from[i].value)};
        if (labels)
            labels[i] = label;
    }
    set->labels = labels;
}

static void pack_gang(struct record_block *block, struct gang_identity *gang)
{
    size_t prefix = gang->key ? (size_t)(gang->group - gang->key) : 0;
    gang->key = record_block_text(block, gang->key);
    gang->group = gang->key ? gang->key + prefix : NULL;
    gang->size_owner = record_block_text(block, gang->size_owner);
    gang->problem = record_block_text(block, gang->problem);
}

static void pack_texts(struct record_block *block, const struct pod_record *from,
                       struct pod_record *to)
{
    to->namespace = record_block_shared(block, from->namespace);
    to->node = record_block_shared(block, from->node);
    to->scheduler_name = record_block_shared(block, from->scheduler_name);
    to->owner_kind = record_block_shared(block, from->owner_kind);
    to->name = record_block_text(block, from->name);
    to->uid = record_block_text(block, from->uid);
    to->resource_version = record_block_text(block, from->resource_version);
    to->owner_name = record_block_text(block, from->owner_name);
    to->owner_uid = record_block_text(block, from->owner_uid);
    to->hostname = record_block_text(block, from->hostname);
    to->subdomain = record_block_text(block, from->subdomain);
    to->gang_label = record_block_text(block, from->gang_label);
}

/* NULL while counting. */
static struct pod_record *pack_pod(struct record_block *block, const struct pod_record *from)
{
    struct pod_record counted = {.name = NULL};
    struct pod_record *record = record_block_array(block, 1, sizeof(*record));
    struct pod_record *to = record ? record : &counted;
    *to = *from;
    record_block_resources(block, &from->requests, &to->requests);
    record_block_labels(block, &from->node_labels, &to->node_labels);
    pack_selector(block, &to->affinity);
    pack_tolerations(block, to);
    to->arguments = pack_words(block, from->arguments, from->argument_count);
    pack_annotations(block, &to->annotations);
    pack_gang(block, &to->gang);
    pack_texts(block, from, to);
    return record;
}

struct pod_record *pod_block_create(const struct pod_record *draft, struct error_info *err)
{
    struct record_block block = {.memory = NULL};
    pack_pod(&block, draft);
    if (record_block_allocate(&block) < 0)
        return error_null(error_set_memory(err));
    struct pod_record *record = pack_pod(&block, draft);
    if (block.failed) {
        pod_block_free(record);
        return error_null(error_set_memory(err));
    }
    return record;
}

void pod_block_free(struct pod_record *record)
{
    if (!record)
        return;
    record_block_release_resources(&record->requests);
    record_block_release_labels(&record->node_labels);
    for (size_t i = 0; i < record->toleration_count; i++) {
        shared_text_release(record->tolerations[i].key);
        shared_text_release(record->tolerations[i].value);
    }
    shared_text_release(record->namespace);
    shared_text_release(record->node);
    shared_text_release(record->scheduler_name);
    shared_text_release(record->owner_kind);
    memory_free(record);
}
