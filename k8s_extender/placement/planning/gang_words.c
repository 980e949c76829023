/* SPDX-License-Identifier: MIT */
#include "k8s_extender/placement/planning/gang_words.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define WHY_BYTES 400
#define NOTICES_BYTES 200
#define NAMED_PODS 4u

struct sentence {
    char *text;
    size_t length;
};

static void add(struct sentence *sentence, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What is longer than a reason is cut. */
static void add(struct sentence *sentence, const char *format, ...)
{
    size_t room = GANG_REASON_BYTES - sentence->length;
    va_list arguments;
    va_start(arguments, format);
    int length = text_format(sentence->text + sentence->length, room, format, arguments);
    va_end(arguments);
    sentence->length += length < 0 ? 0 : (size_t)length < room ? (size_t)length : room - 1;
}

static const char *const away_words[AWAY_COUNT] = {
    [AWAY_NOT_READY] = "not ready",
    [AWAY_CORDONED] = "cordoned",
    [AWAY_NOT_SELECTED] = "not selected by its pods",
    [AWAY_TAINTED] = "tainted",
    [AWAY_FEW_GPUS] = "too small in such GPUs even when empty",
    [AWAY_SMALL] = "too small in CPU, memory or another resource even when empty",
    [AWAY_FULL] = "full",
    [AWAY_PROMISED] = "promised to other gangs",
    [AWAY_SHORT] = "short of CPU, memory or another resource",
};

static const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }
static const char *is_or_are(uint64_t count) { return count == 1 ? "is" : "are"; }

static void add_lack(struct sentence *sentence, const struct resource_lack *lack, bool empty)
{
    char asked[RESOURCE_AMOUNT_TEXT_BYTES], left[RESOURCE_AMOUNT_TEXT_BYTES];
    resource_amount_text(lack->resource, lack->asked, true, asked);
    resource_amount_text(lack->resource, lack->left, false, left);
    add(sentence, "%s %s%s (a pod asks for %s, the most there is: %s)",
        empty ? "too small in" : "short of", lack->resource, empty ? " even when empty" : "", asked,
        left);
}

static void add_turned_away(struct sentence *sentence, const struct gang_problem *problem)
{
    const char *separator = ": ";
    for (unsigned i = 0; i < AWAY_COUNT; i++) {
        uint32_t count = problem->turned_away[i];
        if (count == 0)
            continue;
        add(sentence, "%s%" PRIu32 " %s ", separator, count, is_or_are(count));
        if (problem->lacks[i].resource)
            add_lack(sentence, &problem->lacks[i], i == AWAY_SMALL);
        else
            add(sentence, "%s", away_words[i]);
        separator = ", ";
    }
}

void gang_words_no_room(const struct gang_problem *problem, const struct gang_room *room,
                        uint64_t pods, uint64_t spare, char ret[GANG_REASON_BYTES])
{
    struct sentence sentence = {.text = ret};
    uint32_t gpus = problem->gpus_per_pod;
    add(&sentence, "gang %.300s needs ", problem->key);
    if (!problem->view->cluster) {
        add(&sentence, "%" PRIu64 " node%s of %" PRIu32 " GPU%s, and no node has a GPU", pods,
            plural(pods), gpus, plural(gpus));
        return;
    }
    if (room->shared)
        add(&sentence, "room for %" PRIu64 " pod%s of %" PRIu32 " GPU%s", pods, plural(pods), gpus,
            plural(gpus));
    else
        add(&sentence, "%" PRIu64 " node%s of %" PRIu32 " GPU%s", pods, plural(pods), gpus,
            plural(gpus));
    if (spare > 0)
        add(&sentence, " and %" PRIu64 " to spare", spare);
    if (room->shared)
        add(&sentence, ", there is room for %" PRIu64, room->places);
    else
        add(&sentence, ", %" PRIu64 " %s free", room->places, is_or_are(room->places));
    add_turned_away(&sentence, problem);
    if (problem->could_hold > 0 && problem->could_hold < pods)
        add(&sentence, "; even when empty the cluster could hold %" PRIu64, problem->could_hold);
    error_clean_text(ret);
}

/* --- a plan ------------------------------------------------------------------------- */

static int compare_numbers(const void *left, const void *right)
{
    const uint32_t *l = left, *r = right;
    return *l < *r ? -1 : *l > *r;
}

/* How many different ones; sorts them. */
static size_t count_different(uint32_t *numbers, size_t count)
{
    size_t different = 0;
    qsort(numbers, count, sizeof(*numbers), compare_numbers);
    for (size_t i = 0; i < count; i++)
        different += i == 0 || numbers[i] != numbers[i - 1];
    return different;
}

/* The nearest switches of the pods' nodes; 0: that of a node is not known. */
static size_t count_leaves(const struct cluster_topology *cluster, const uint32_t *nodes,
                           size_t count, uint32_t *scratch)
{
    for (size_t i = 0; i < count; i++) {
        unsigned at = cluster->nodes[nodes[i]].fabric_node;
        scratch[i] = cluster->fabric && at != FABRIC_NONE ? fabric_switch_at(cluster->fabric, at, 0)
                                                          : FABRIC_NONE;
        if (scratch[i] == FABRIC_NONE)
            return 0;
    }
    return count_different(scratch, count);
}

/* Labels that number their tiers ("tier-0", "network-node-layer-3") name nothing to a reader. */
static const char *leaf_word(const struct cluster_topology *cluster)
{
    const char *name = cluster_tier_name(cluster, 0);
    return strpbrk(name, "0123456789") ? "leaf" : name;
}

static void add_where(struct sentence *sentence, const struct gang_words_success *success,
                      uint32_t *scratch)
{
    const struct gang_problem *problem = success->problem;
    const struct cluster_topology *cluster = problem->view->cluster;
    size_t leaves = count_leaves(cluster, success->view_nodes, problem->pods, scratch);
    memcpy(scratch, success->view_nodes, problem->pods * sizeof(*scratch));
    size_t nodes = count_different(scratch, problem->pods);
    add(sentence, " on %zu node%s", nodes, plural(nodes));
    if (leaves > 0)
        add(sentence, " under %zu %s switch%s", leaves, leaf_word(cluster),
            leaves == 1 ? "" : "es");
}

/* Links between pods: those of whole pods where they come as such. */
static void add_pipelines(struct sentence *sentence, const struct gang_words_success *success)
{
    const struct mapping_cost *cost = &success->placement->outlook.cost;
    const char *leaf = leaf_word(success->problem->view->cluster);
    uint64_t all = 0, out = 0, gpus = success->problem->gpus_per_pod;
    for (unsigned slot = 0; slot < cost->slot_count; slot++) {
        all += cost->pairs[TRAFFIC_PP][slot];
        out += slot > COST_SLOT_TIERS ? cost->pairs[TRAFFIC_PP][slot] : 0;
    }
    if (all == 0 || cluster_tier_count(success->problem->view->cluster) == 0)
        return;
    if (all % gpus == 0 && out % gpus == 0) {
        all /= gpus;
        out /= gpus;
    }
    add(sentence, "; pipelines %s under one %s: %" PRIu64 " of %" PRIu64 " links cross",
        out == 0 ? "stay" : "do not all stay", leaf, out, all);
}

int gang_words_planned(const struct gang_words_success *success, char ret[GANG_REASON_BYTES],
                       struct error_info *err)
{
    const struct placement *placement = success->placement;
    struct sentence sentence = {.text = ret};
    char degrees[DEGREES_TEXT_BYTES];
    bool plain = placement->map->locality_only;
    CLEANUP_MEMORY uint32_t *scratch =
        memory_allocate_array(success->problem->pods, sizeof(*scratch));
    if (!scratch)
        return error_set_memory(err);
    if (!plain)
        degrees_text(&placement->plan.degrees, degrees);
    add(&sentence, "%s", plain ? "nodes in fabric order" : degrees);
    add_where(&sentence, success, scratch);
    if (plain)
        add(&sentence, "; neither a model nor degrees are given: annotate parplan.io/model, or "
                       "parplan.io/tp and parplan.io/pp");
    else
        add_pipelines(&sentence, success);
    if (!plain && placement->plan.reason_count > 0)
        add(&sentence, "; because %.*s", WHY_BYTES, placement->plan.reasons[0]);
    if (success->notices[0])
        add(&sentence, "; the command says %.*s", NOTICES_BYTES, success->notices);
    if (success->warning[0])
        add(&sentence, "; %s", success->warning);
    error_clean_text(ret);
    return 0;
}

void gang_words_replanned(const struct gang_problem *problem, const uint32_t *nodes,
                          char ret[GANG_REASON_BYTES])
{
    struct sentence sentence = {.text = ret};
    uint32_t moved = 0;
    for (uint32_t pod = 0; pod < problem->pods; pod++)
        moved += problem->fixed[pod] == VIEW_NODE_NONE;
    add(&sentence, "%" PRIu32 " of %" PRIu32 " pods stay", problem->pods - moved, problem->pods);
    for (uint32_t pod = 0, named = 0; pod < problem->pods && named <= NAMED_PODS; pod++) {
        if (problem->fixed[pod] != VIEW_NODE_NONE)
            continue;
        if (named++ < NAMED_PODS)
            add(&sentence, ", pod %" PRIu32 " goes to %s", pod,
                problem->view->cluster->nodes[nodes[pod]].name);
        else
            add(&sentence, ", and %" PRIu32 " more", moved - NAMED_PODS);
    }
    error_clean_text(ret);
}
