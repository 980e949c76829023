/* SPDX-License-Identifier: MIT */
#include "mapping/rails/node_rails.h"
#include <string.h>

static bool is_usable(const struct node_nic *nic)
{
    return nic->role == NIC_RAIL && nic->state != NIC_DOWN;
}

unsigned node_rails_count(const struct node_topology *node)
{
    unsigned count = 0;
    for (unsigned i = 0; i < node->nic_count; i++)
        count += is_usable(&node->nics[i]);
    return count;
}

/* Network interfaces are called otherwise: en… and eth… (systemd.net-naming-scheme(7)), ib0, and
 * Slingshot's hsi… and cxi…. */
static bool is_verbs_name(const char *name)
{
    return name && name[0] != 'e' && strncmp(name, "hsi", 3) != 0 && strncmp(name, "cxi", 3) != 0 &&
           !(name[0] == 'i' && name[1] == 'b' && name[2] >= '0' && name[2] <= '9');
}

/* Those without a number come last. */
static unsigned rail_of(const struct node_topology *node, const struct node_nic *nic)
{
    return (unsigned)nic->rail < node->nic_count ? (unsigned)nic->rail : node->nic_count;
}

void node_rails_write(const struct node_topology *node, struct text_buffer *out)
{
    const char *mark = "=";
    for (unsigned i = 0; i < node->nic_count; i++)
        if (is_usable(&node->nics[i]) && !is_verbs_name(node->nics[i].name))
            return;
    for (unsigned rail = 0; rail <= node->nic_count; rail++)
        for (unsigned i = 0; i < node->nic_count; i++) {
            const struct node_nic *nic = &node->nics[i];
            if (!is_usable(nic) || rail_of(node, nic) != rail)
                continue;
            text_buffer_add(out, "%s%s", mark, nic->name);
            mark = ",";
        }
}

/* A name that the wire can carry: what a source says in other words is not compared. */
static bool is_other_model(const char *model, const char *planned)
{
    return model && planned[0] && !strchr(model, ' ') && strcmp(model, planned) != 0;
}

static void compare_rails(const struct node_topology *node, unsigned planned,
                          struct text_buffer *out)
{
    unsigned count = node_rails_count(node);
    if (node->nic_count == 0 || count >= planned)
        return;
    text_buffer_add(out, "%u rails are planned and %u here are up", planned, count);
    for (unsigned i = 0; i < node->nic_count; i++)
        if (node->nics[i].state == NIC_DOWN && node->nics[i].name) {
            text_buffer_add(out, " (%s is down)", node->nics[i].name);
            return;
        }
}

void node_rails_compare(const struct node_topology *node, const struct wire_plan *wire,
                        struct text_buffer *out)
{
    if (node->gpu_count < wire->gpus_per_node) {
        text_buffer_add(out, "%u GPUs are planned and %u are here", wire->gpus_per_node,
                        node->gpu_count);
        return;
    }
    for (unsigned i = 0; i < node->gpu_count; i++)
        if (is_other_model(node->gpus[i].model, wire->facts.gpu)) {
            text_buffer_add(out, "%s is planned and GPU %u here is %s", wire->facts.gpu, i,
                            node->gpus[i].model);
            return;
        }
    compare_rails(node, wire->facts.rails, out);
}
