/* SPDX-License-Identifier: MIT */
#include "topology/fabric_readers/infiniband/ib_network.h"

#define NETWORK_MAXIMUM_BYTES ((size_t)1 << 30)
#define FIRST_ROOM 64u

struct ib_network *ib_network_create(const char *source, struct error_info *err)
{
    CLEANUP(ib_network) struct ib_network *network = memory_allocate(sizeof(*network));
    if (!network)
        return error_null(error_set_memory(err));
    network->source = source;
    network->arena = arena_create(NETWORK_MAXIMUM_BYTES);
    network->switch_ids = name_index_create();
    network->host_names = name_index_create();
    network->adapter_ids = name_index_create();
    if (!network->arena || !network->switch_ids || !network->host_names || !network->adapter_ids)
        return error_null(error_set_memory(err));
    return move_pointer(network);
}

void ib_network_free(struct ib_network *network)
{
    if (!network)
        return;
    name_index_free(network->switch_ids);
    name_index_free(network->host_names);
    name_index_free(network->adapter_ids);
    memory_free(network->switches);
    memory_free(network->hosts);
    memory_free(network->adapters);
    memory_free(network->ports);
    memory_free(network->links);
    memory_free(network->groups);
    arena_free(network->arena);
    memory_free(network);
}

/* Room for one more in *array, a pointer to a pointer. */
static int reserve(void *array, size_t count, size_t *room, size_t element_bytes, size_t maximum,
                   const struct ib_network *network, const char *what, struct error_info *err)
{
    void **memory = array;
    if (count == maximum)
        return error_set(err, "%s: more than %zu %s", network->source, maximum, what);
    if (count < *room)
        return 0;
    size_t wanted = *room ? *room * 2 : FIRST_ROOM;
    void *grown = memory_grow_array(*memory, *room, wanted, element_bytes);
    if (!grown)
        return error_set_memory(err);
    *memory = grown;
    *room = wanted;
    return 0;
}

/* 1: known already, *ret is its number; 0: new, *ret is count. */
static int intern(struct name_index *index, const char *name, size_t count, unsigned *ret,
                  struct error_info *err)
{
    int added = name_index_add(index, name, count);
    if (added < 0)
        return error_set_memory(err);
    *ret = added > 0 ? (unsigned)name_index_find(index, name) : (unsigned)count;
    return added;
}

int ib_network_add_switch(struct ib_network *network, const char *id, const char *name,
                          unsigned *ret_switch, struct error_info *err)
{
    size_t count = network->switch_count;
    int known = intern(network->switch_ids, id, count, ret_switch, err);
    if (known != 0)
        return known < 0 ? -1 : 0;
    if (reserve(&network->switches, count, &network->switch_room, sizeof(*network->switches),
                FABRIC_MAXIMUM_SWITCHES, network, "switches", err) < 0)
        return -1;
    network->switches[count] = (struct ib_switch){
        .name = arena_copy_text(network->arena, name),
        .id = arena_copy_text(network->arena, id),
        .level = IB_NONE,
        .group = IB_NONE,
        .rail = IB_NONE,
    };
    if (!network->switches[count].name || !network->switches[count].id)
        return error_set_memory(err);
    network->switch_count++;
    return 0;
}

static int add_host(struct ib_network *network, const char *name, unsigned *ret_host,
                    struct error_info *err)
{
    size_t count = network->host_count;
    int known = intern(network->host_names, name, count, ret_host, err);
    if (known != 0)
        return known < 0 ? -1 : 0;
    if (reserve(&network->hosts, count, &network->host_room, sizeof(*network->hosts),
                FABRIC_MAXIMUM_NODES, network, "hosts", err) < 0)
        return -1;
    network->hosts[count] = arena_copy_text(network->arena, name);
    if (!network->hosts[count])
        return error_set_memory(err);
    network->host_count++;
    return 0;
}

int ib_network_add_adapter(struct ib_network *network, const char *id, const char *host,
                           const struct ib_adapter *adapter, unsigned *ret_adapter,
                           struct error_info *err)
{
    size_t count = network->adapter_count;
    int known = intern(network->adapter_ids, id, count, ret_adapter, err);
    if (known != 0)
        return known < 0 ? -1 : 0;
    if (reserve(&network->adapters, count, &network->adapter_room, sizeof(*network->adapters),
                IB_MAXIMUM_ADAPTERS, network, "adapters", err) < 0)
        return -1;
    struct ib_adapter *added = &network->adapters[count];
    *added = *adapter;
    added->label = arena_copy_text(network->arena, adapter->label);
    if (!added->label)
        return error_set_memory(err);
    if (add_host(network, host, &added->host, err) < 0)
        return -1;
    network->adapter_count++;
    return 0;
}

int ib_network_add_port(struct ib_network *network, const struct ib_port *port,
                        struct error_info *err)
{
    if (reserve(&network->ports, network->port_count, &network->port_room, sizeof(*network->ports),
                IB_MAXIMUM_LINKS, network, "links to hosts", err) < 0)
        return -1;
    network->ports[network->port_count++] = *port;
    return 0;
}

/* Each end of a link names it: both ways of writing become one. */
int ib_network_add_link(struct ib_network *network, const struct ib_link *link,
                        struct error_info *err)
{
    if (link->left == link->right)
        return 0; /* a loopback cable joins nothing */
    if (reserve(&network->links, network->link_count, &network->link_room, sizeof(*network->links),
                IB_MAXIMUM_LINKS, network, "links of switches", err) < 0)
        return -1;
    bool swap = link->left > link->right;
    network->links[network->link_count++] = (struct ib_link){
        .left = swap ? link->right : link->left,
        .right = swap ? link->left : link->right,
        .left_port = swap ? link->right_port : link->left_port,
        .right_port = swap ? link->left_port : link->right_port,
        .rate = link->rate,
    };
    return 0;
}
