/* SPDX-License-Identifier: MIT */
#include "topology/fabric_readers/slurm_blocks.h"
#include "base/parse_number.h"

#define TIER_NAME_BYTES 32

int slurm_block_sizes_add(struct slurm_block_sizes *sizes, const char *text, struct error_info *err)
{
    uint64_t size;
    if (parse_unsigned(text, 1, FABRIC_MAXIMUM_NODES, &size, err) < 0)
        return -1;
    unsigned count = sizes->count, last = count > 0 ? sizes->nodes[count - 1] : 0;
    if (size == last)
        return 0;
    uint64_t times = count > 0 ? size / sizes->nodes[0] : 1;
    if (size < last || (times & (times - 1)) ||
        times * (count > 0 ? sizes->nodes[0] : size) != size)
        return error_set(err, "%s is not %u times 2, 4, 8, … and above the size before it", text,
                         sizes->nodes[0]);
    if (count == FABRIC_MAXIMUM_TIERS)
        return error_set(err, "more than %u sizes", FABRIC_MAXIMUM_TIERS);
    sizes->nodes[sizes->count++] = (unsigned)size;
    return 0;
}

static int place_block(struct fabric_draft *draft, size_t block, struct error_info *err)
{
    const struct fabric_domain_input *domain = fabric_draft_domain(draft, block);
    struct fabric_switch_input *entry = fabric_draft_add_switch(draft, domain->name, 0, err);
    if (!entry)
        return -1;
    entry->where = domain->where;
    for (size_t i = 0; i < node_list_count(domain->nodes); i++)
        if (fabric_draft_add_node(draft, block, node_list_name(domain->nodes, i), err) < 0)
            return -1;
    return 0;
}

/* Aggregates of `width` switches each, over those from `first` on. */
static int join(struct fabric_draft *draft, size_t first, unsigned width, const char *tier,
                struct error_info *err)
{
    size_t end = fabric_draft_switch_count(draft);
    for (size_t i = 0; i < end - first; i++) {
        size_t number = i / width;
        char name[TIER_NAME_BYTES + 24];
        snprintf(name, sizeof(name), "%s.%zu", tier, number + 1);
        if (i % width == 0 && !fabric_draft_add_switch(draft, name, 0, err))
            return -1;
        if (fabric_draft_add_child(draft, end + number, fabric_draft_switch(draft, first + i)->name,
                                   err) < 0)
            return -1;
    }
    return 0;
}

int slurm_blocks_place(struct fabric_draft *draft, const struct slurm_block_sizes *sizes,
                       struct error_info *err)
{
    for (size_t i = 0; i < fabric_draft_domain_count(draft); i++)
        if (place_block(draft, i, err) < 0)
            return -1;
    size_t first = 0;
    const char *tiers[FABRIC_MAXIMUM_TIERS] = {"block"};
    for (unsigned i = 1; i < sizes->count; i++) {
        char tier[TIER_NAME_BYTES];
        snprintf(tier, sizeof(tier), "aggregate-%u", sizes->nodes[i]);
        size_t end = fabric_draft_switch_count(draft);
        if (join(draft, first, sizes->nodes[i] / sizes->nodes[i - 1], tier, err) < 0)
            return -1;
        first = end;
        tiers[i] = fabric_draft_copy(draft, tier);
    }
    fabric_draft_name_tiers(draft, tiers, sizes->count > 0 ? sizes->count : 1);
    return 0;
}
