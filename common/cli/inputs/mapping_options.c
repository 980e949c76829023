/* SPDX-License-Identifier: MIT */
#include "cli/inputs/mapping_options.h"
#include "base/name_index.h"
#include "base/node_list.h"
#include "base/parse_number.h"
#include "mapping/solver/site_map.h"

#include <string.h>

struct pinning {
    const struct cluster_topology *cluster;
    struct name_index *names;
    uint64_t blocks;
    struct mapping_wishes *wishes;
    struct node_pin *pins; /* room for every node of the cluster */
};

static int add_pin(struct pinning *pinning, const char *name, unsigned block,
                   struct error_info *err)
{
    size_t node = name_index_find(pinning->names, name);
    if (node == NAME_INDEX_NONE)
        return error_set(err,
                         "--pin: no node %s is left of %s to choose; pin one that is not excluded",
                         name, pinning->cluster->name);
    for (size_t i = 0; i < pinning->wishes->pin_count; i++) {
        const struct node_pin *other = &pinning->pins[i];
        if (other->node == node)
            return error_set(err, "--pin: %s is pinned twice; keep one", name);
        if (block != SITE_NONE && other->block == block)
            return error_set(err, "--pin: block %u is pinned to %s and to %s; keep one", block,
                             pinning->cluster->nodes[other->node].name, name);
    }
    if (pinning->wishes->pin_count >= pinning->blocks)
        return error_set(err,
                         "--pin: more nodes are pinned than the job uses, %llu; pin fewer or use "
                         "less spare",
                         (unsigned long long)pinning->blocks);
    pinning->pins[pinning->wishes->pin_count++] = (struct node_pin){(unsigned)node, block};
    return 0;
}

/* NODE=K */
static int pin_block(struct pinning *pinning, const char *text, const char *equals,
                     struct error_info *err)
{
    char name[NODE_LIST_NAME_BYTES];
    uint64_t block;
    size_t bytes = (size_t)(equals - text);
    if (bytes == 0 || bytes >= sizeof(name))
        return error_set(err, "--pin: \"%.64s\" names no node; give NODE=K, as n003=0", text);
    if (memchr(text, '[', bytes) || memchr(text, ',', bytes))
        return error_set(err, "--pin: %.64s: a block of ranks takes one node; give each its own",
                         text);
    memcpy(name, text, bytes);
    name[bytes] = '\0';
    if (parse_unsigned(equals + 1, 0, pinning->blocks - 1, &block, err) < 0)
        return error_prefix(err, "--pin: %s: the block of ranks (NODE_RANK)", name);
    return add_pin(pinning, name, (unsigned)block, err);
}

static int pin_list(struct pinning *pinning, const char *text, struct error_info *err)
{
    CLEANUP(node_list) struct node_list *list = node_list_decode(text, err);
    if (!list)
        return error_prefix(err, "--pin");
    for (size_t i = 0; i < node_list_count(list); i++)
        if (add_pin(pinning, node_list_name(list, i), SITE_NONE, err) < 0)
            return -1;
    return 0;
}

static int pin_all(const struct command_options *options, struct pinning *pinning,
                   struct error_info *err)
{
    for (size_t i = 0; i < options->pin_count; i++) {
        const char *equals = strchr(options->pin[i], '=');
        int pinned = equals ? pin_block(pinning, options->pin[i], equals, err)
                            : pin_list(pinning, options->pin[i], err);
        if (pinned < 0)
            return -1;
    }
    return 0;
}

static int read_pins(const struct command_options *options, const struct cluster_topology *cluster,
                     uint64_t blocks, struct mapping_options *ret, struct error_info *err)
{
    ret->pins = memory_allocate_array(cluster->node_count, sizeof(*ret->pins));
    CLEANUP(name_index) struct name_index *names = name_index_create();
    if (!ret->pins || !names)
        return error_set_memory(err);
    for (size_t i = 0; i < cluster->node_count; i++)
        if (name_index_add(names, cluster->nodes[i].name, i) < 0)
            return error_set_memory(err);
    struct pinning pinning = {cluster, names, blocks, &ret->wishes, ret->pins};
    ret->wishes.pins = ret->pins;
    return pin_all(options, &pinning, err);
}

int mapping_options_read(const struct command_options *options,
                         const struct cluster_topology *cluster, uint64_t blocks,
                         struct mapping_options *ret, struct error_info *err)
{
    *ret = (struct mapping_options){.wishes = {.exact = options->exact, .budget = options->budget}};
    return options->pin_count > 0 ? read_pins(options, cluster, blocks, ret, err) : 0;
}

void mapping_options_done(struct mapping_options *options)
{
    memory_free(options->pins);
    options->pins = NULL;
}
