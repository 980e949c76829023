/* SPDX-License-Identifier: MIT */
#include "k8s_extender/gang/store/node_tally.h"
#include "base/memory.h"

int node_tallies_init(struct node_tallies *tallies, size_t maximum)
{
    *tallies = (struct node_tallies){
        .tallies = memory_allocate_array(maximum + 1, sizeof(*tallies->tallies)),
        .maximum = maximum,
        .index = record_table_create(),
    };
    if (tallies->tallies && tallies->index)
        return 0;
    node_tallies_done(tallies);
    *tallies = (struct node_tallies){.count = 0};
    return -1;
}

void node_tallies_done(struct node_tallies *tallies)
{
    memory_free(tallies->tallies);
    record_table_free(tallies->index);
}

struct node_tally *node_tallies_find(const struct node_tallies *tallies, const char *node)
{
    return tallies->index ? record_table_find(tallies->index, node, "") : NULL;
}

struct node_tally *node_tallies_open(struct node_tallies *tallies, const char *node)
{
    struct node_tally *known = node_tallies_find(tallies, node);
    if (known || tallies->count >= tallies->maximum)
        return known;
    struct node_tally *added = &tallies->tallies[tallies->count];
    *added = (struct node_tally){.node = node};
    if (record_table_set(tallies->index, node, "", added) < 0)
        return NULL;
    tallies->count++;
    return added;
}
