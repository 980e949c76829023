/* SPDX-License-Identifier: MIT */
#include "mapping/visible_gpus.h"
#include "base/parse_number.h"
#include "mapping/gpu_mapping.h"
#include "topology/node_readers/node_restate.h"
#include <string.h>

#define NUMBER_BYTES 16u

struct token {
    const char *text;
    size_t length;
};

/* The number of tokens, or NODE_MAXIMUM_GPUS + 1 when there are more. */
static unsigned split(const char *list, struct token tokens[NODE_MAXIMUM_GPUS])
{
    unsigned count = 0;
    while (*list) {
        size_t length = strcspn(list, ",");
        if (count == NODE_MAXIMUM_GPUS)
            return NODE_MAXIMUM_GPUS + 1;
        tokens[count++] = (struct token){.text = list, .length = length};
        list += length + (list[length] == ',');
    }
    return count;
}

static bool read_number(const struct token *token, uint64_t *ret)
{
    char text[NUMBER_BYTES];
    if (token->length >= sizeof(text))
        return false;
    memcpy(text, token->text, token->length);
    text[token->length] = '\0';
    return parse_unsigned(text, 0, UINT32_MAX, ret, NULL) == 0;
}

/* Which of the two names a device: a number that a cgroup may have given says nothing. */
static const struct token *choose_name(const struct node_topology *node, const struct token *token,
                                       const struct token *device)
{
    uint64_t number;
    bool by_uuid = node->gpu_count > 0 && node->gpus[0].uuid && !read_number(token, &number);
    return device && !by_uuid ? device : token;
}

static unsigned find_gpu(const struct node_topology *node, const struct token *token)
{
    uint64_t number = 0;
    if (read_number(token, &number))
        return number < node->gpu_count ? (unsigned)number : node->gpu_count;
    for (unsigned i = 0; i < node->gpu_count; i++)
        if (node->gpus[i].uuid && strlen(node->gpus[i].uuid) == token->length &&
            memcmp(node->gpus[i].uuid, token->text, token->length) == 0)
            return i;
    return node->gpu_count;
}

int visible_gpus_match(const struct node_topology *node, unsigned ranks, const char *visible,
                       const char *devices, struct visible_gpus *ret, struct error_info *err)
{
    struct token tokens[NODE_MAXIMUM_GPUS], numbers[NODE_MAXIMUM_GPUS];
    unsigned position_of[NODE_MAXIMUM_GPUS] = {0};
    unsigned count = split(visible, tokens);
    if (count < ranks || count > NODE_MAXIMUM_GPUS || (devices && split(devices, numbers) != count))
        return error_set(err, "%u devices are visible to %u ranks", count, ranks);
    for (unsigned i = 0; i < ranks; i++) {
        const struct token *name = choose_name(node, &tokens[i], devices ? &numbers[i] : NULL);
        unsigned gpu = find_gpu(node, name);
        if (gpu == node->gpu_count || position_of[gpu] > 0)
            return error_set(err, "device %.*s is none of the %u GPUs of the node, or stands twice",
                             (int)(name->length < 48 ? name->length : 48), name->text,
                             node->gpu_count);
        position_of[gpu] = i + 1;
    }
    ret->count = 0;
    for (unsigned gpu = 0; gpu < node->gpu_count; gpu++) {
        if (position_of[gpu] == 0)
            continue;
        ret->gpus[ret->count] = gpu;
        ret->positions[ret->count++] = position_of[gpu] - 1;
    }
    return 0;
}

/* order[i]: the token for local rank i. -1: out of memory, or tp does not divide. */
static int solve(const struct node_topology *node, const struct degrees *degrees,
                 enum rank_order rank_order, const struct visible_gpus *matched,
                 unsigned order[NODE_MAXIMUM_GPUS], unsigned *ret_gpus, struct error_info *err)
{
    CLEANUP(node_topology)
    struct node_topology *part = node_topology_subset(node, matched->gpus, matched->count, err);
    unsigned gpus[NODE_MAXIMUM_GPUS];
    if (!part || gpu_mapping_solve(part, degrees, rank_order, matched->count, gpus, err) < 0)
        return -1;
    for (unsigned i = 0; i < matched->count; i++) {
        order[i] = matched->positions[gpus[i]];
        ret_gpus[i] = matched->gpus[gpus[i]];
    }
    return 0;
}

/* False: the order that is there. */
static bool write_order(const struct token *tokens, const unsigned *order, unsigned count,
                        struct text_buffer *ret)
{
    bool same = true;
    for (unsigned i = 0; i < count; i++)
        same = same && order[i] == i;
    for (unsigned i = 0; !same && i < count; i++)
        text_buffer_add(ret, "%s%.*s", i > 0 ? "," : "", (int)tokens[order[i]].length,
                        tokens[order[i]].text);
    return !same;
}

enum visible_order visible_gpus_order(const struct node_topology *node,
                                      const struct degrees *degrees, enum rank_order rank_order,
                                      unsigned ranks, const char *visible, const char *devices,
                                      struct text_buffer *ret,
                                      unsigned ret_gpus[static NODE_MAXIMUM_GPUS],
                                      struct error_info *err)
{
    struct token tokens[NODE_MAXIMUM_GPUS];
    struct error_info why = {.kind = ERROR_NONE};
    struct visible_gpus matched = {.count = 0};
    unsigned order[NODE_MAXIMUM_GPUS] = {0};
    unsigned count = split(visible, tokens);
    if (count != ranks) {
        error_set(err, "%u devices are visible to %u ranks", count, ranks);
        return VISIBLE_UNKNOWN;
    }
    if (visible_gpus_match(node, ranks, visible, devices, &matched, err) < 0)
        return VISIBLE_UNKNOWN;
    if (solve(node, degrees, rank_order, &matched, order, ret_gpus, &why) < 0) {
        if (err)
            *err = why;
        return why.kind == ERROR_MEMORY ? VISIBLE_FAILED : VISIBLE_UNKNOWN;
    }
    return write_order(tokens, order, count, ret) ? VISIBLE_CHANGED : VISIBLE_SAME;
}
