/* SPDX-License-Identifier: MIT */
#include "tests/support/test_cluster.h"

#include "base/memory.h"
#include <stdio.h>

#define LINK_RATE 450e9
#define SWITCHES_MAXIMUM 32768u
#define NAME_BYTES 32u

static const char *const nic_names[] = {"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3",
                                        "mlx5_4", "mlx5_5", "mlx5_6", "mlx5_7"};

static void fill_links(struct node_topology *node, const unsigned *domain_of, double *rates,
                       enum link_kind *links)
{
    for (size_t i = 0; i < node->gpu_count; i++) {
        for (size_t j = 0; j < node->gpu_count; j++) {
            bool linked = i != j && (!domain_of || domain_of[i] == domain_of[j]);
            rates[i * node->gpu_count + j] = linked && node->nvlink == NVLINK_KNOWN ? LINK_RATE : 0;
            links[i * node->gpu_count + j] = i == j   ? LINK_UNKNOWN
                                             : linked ? LINK_NVLINK
                                                      : LINK_SYS;
        }
    }
    node->nvlink_bytes_per_second = rates;
    node->links = links;
}

static int fill_domains(struct node_topology *node, const unsigned *domain_of,
                        struct node_gpu *gpus, struct node_domain *domains)
{
    for (unsigned i = 0; i < node->gpu_count; i++) {
        unsigned domain = domain_of ? domain_of[i] : 0;
        gpus[i].nvlink_domain = domain;
        unsigned *members = (unsigned *)domains[domain].gpus;
        if (!members)
            domains[domain].gpus = members =
                arena_allocate_array(node->arena, node->gpu_count, sizeof(*members));
        if (!members)
            return -1;
        members[domains[domain].gpu_count++] = i;
        if (domain >= node->domain_count)
            node->domain_count = domain + 1;
    }
    node->domains = domains;
    return 0;
}

static void fill_nics(struct node_topology *node, struct node_gpu *gpus, struct node_nic *nics,
                      unsigned *nearest)
{
    for (unsigned i = 0; i < node->gpu_count; i++) {
        nics[i] = (struct node_nic){.name = nic_names[i % COUNT_OF(nic_names)],
                                    .role = NIC_RAIL,
                                    .state = NIC_ACTIVE,
                                    .rail = (int)i,
                                    .numa = NUMA_UNKNOWN,
                                    .bytes_per_second = 50e9};
        nearest[i] = i;
        gpus[i] = (struct node_gpu){.model = "h100-sxm",
                                    .memory_bytes = UINT64_C(80) << 30,
                                    .numa = NUMA_UNKNOWN,
                                    .nics = &nearest[i],
                                    .nic_count = 1};
    }
    node->gpus = gpus;
    node->nics = nics;
    node->nic_count = node->gpu_count;
}

struct node_topology *test_node_create(unsigned gpus, const unsigned *domain_of,
                                       enum nvlink_state nvlink)
{
    struct arena *arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    struct node_topology *node = arena ? arena_allocate(arena, sizeof(*node)) : NULL;
    if (!node) {
        arena_free(arena);
        return NULL;
    }
    size_t pairs = (size_t)gpus * gpus;
    *node = (struct node_topology){.name = "test-node",
                                   .gpu_count = gpus,
                                   .nvlink = nvlink,
                                   .nvlink_domain_nodes = 1,
                                   .arena = arena};
    double *rates = arena_allocate_array(arena, pairs, sizeof(*rates));
    enum link_kind *links = arena_allocate_array(arena, pairs, sizeof(*links));
    struct node_gpu *devices = arena_allocate_array(arena, gpus, sizeof(*devices));
    struct node_nic *nics = arena_allocate_array(arena, gpus, sizeof(*nics));
    unsigned *nearest = arena_allocate_array(arena, gpus, sizeof(*nearest));
    struct node_domain *domains = arena_allocate_array(arena, gpus, sizeof(*domains));
    bool made = rates && links && devices && nics && nearest && domains;
    if (made) {
        fill_nics(node, devices, nics, nearest);
        fill_links(node, domain_of, rates, links);
        made = fill_domains(node, domain_of, devices, domains) == 0;
    }
    if (!made)
        arena_free(arena);
    return made ? node : NULL;
}

/* Takes the fabric, also on failure. */
static struct cluster_topology *create_cluster(const struct node_list *names, unsigned gpus,
                                               struct fabric *fabric, struct error_info *err)
{
    static const char *const kind_names[] = {"test-node"};
    CLEANUP_MEMORY unsigned *kinds = memory_allocate_array(node_list_count(names), sizeof(*kinds));
    struct node_topology *node = test_node_create(gpus, NULL, NVLINK_KNOWN);
    if (!kinds || !node) {
        node_topology_free(node);
        fabric_free(fabric);
        return error_null(error_set_memory(err));
    }
    return cluster_topology_create("test", &node, kind_names, 1, names, kinds, fabric, err);
}

/* An optional list; -1 when it is given and cannot be read. */
static int decode_list(const char *text, struct node_list **ret, struct error_info *err)
{
    *ret = text ? node_list_decode(text, err) : NULL;
    return text && !*ret ? -1 : 0;
}

struct fabric_lists {
    struct fabric_switch_input *switches;
    struct fabric_domain_input *domains;
    size_t switch_count, domain_count;
};

static void free_lists(struct fabric_lists *lists)
{
    for (size_t i = 0; lists->switches && i < lists->switch_count; i++) {
        node_list_free((struct node_list *)lists->switches[i].nodes);
        node_list_free((struct node_list *)lists->switches[i].children);
    }
    for (size_t i = 0; lists->domains && i < lists->domain_count; i++)
        node_list_free((struct node_list *)lists->domains[i].nodes);
    memory_free(lists->switches);
    memory_free(lists->domains);
}

static int read_lists(const struct test_cluster *test, struct fabric_lists *lists,
                      struct error_info *err)
{
    lists->switches = memory_allocate_array(test->switch_count + 1, sizeof(*lists->switches));
    lists->domains = memory_allocate_array(test->domain_count + 1, sizeof(*lists->domains));
    if (!lists->switches || !lists->domains)
        return error_set_memory(err);
    for (size_t i = 0; i < test->switch_count; i++) {
        const struct test_switch *from = &test->switches[i];
        struct node_list *nodes, *children;
        int read = decode_list(from->nodes, &nodes, err);
        lists->switch_count++;
        lists->switches[i] =
            (struct fabric_switch_input){.name = from->name, .nodes = nodes, .where = "test"};
        if (read < 0 || decode_list(from->children, &children, err) < 0)
            return -1;
        lists->switches[i].children = children;
    }
    for (size_t i = 0; i < test->domain_count; i++) {
        struct node_list *nodes;
        if (decode_list(test->domains[i], &nodes, err) < 0)
            return -1;
        lists->domains[i] = (struct fabric_domain_input){.nodes = nodes, .where = "test"};
        lists->domain_count++;
    }
    return 0;
}

static struct fabric *build_fabric(const struct fabric_lists *lists, struct error_info *err)
{
    const struct fabric_input input = {.source = "test",
                                       .switches = lists->switches,
                                       .switch_count = lists->switch_count,
                                       .nvlink_domains = lists->domains,
                                       .nvlink_domain_count = lists->domain_count};
    return fabric_build(&input, err);
}

struct cluster_topology *test_cluster_create(const struct test_cluster *test,
                                             struct error_info *err)
{
    CLEANUP(node_list) struct node_list *names = node_list_decode(test->nodes, err);
    struct fabric_lists lists = {.switches = NULL};
    CLEANUP(fabric) struct fabric *fabric = NULL;
    bool failed = !names || read_lists(test, &lists, err) < 0;
    if (!failed && (test->switch_count > 0 || test->domain_count > 0)) {
        fabric = build_fabric(&lists, err);
        failed = !fabric;
    }
    free_lists(&lists);
    return failed ? NULL : create_cluster(names, test->gpus, move_pointer(fabric), err);
}

/* Adds to the list that stands in *slot, made at the first name. */
static int add_name(const struct node_list **slot, const char *name, struct error_info *err)
{
    if (!*slot && !(*slot = node_list_create(err)))
        return -1;
    return node_list_add((struct node_list *)*slot, name, err);
}

static int add_nodes(const struct test_grid *grid, struct fabric_lists *lists,
                     struct error_info *err)
{
    for (size_t i = 0; i < lists->domain_count; i++)
        lists->domains[i].where = "test";
    for (size_t i = 0; i < node_list_count(grid->names); i++) {
        const char *name = node_list_name(grid->names, i);
        unsigned leaf = grid->leaves[i], domain = grid->domains ? grid->domains[i] : FABRIC_NONE;
        if (leaf != FABRIC_NONE && add_name(&lists->switches[leaf].nodes, name, err) < 0)
            return -1;
        if (domain != FABRIC_NONE && add_name(&lists->domains[domain].nodes, name, err) < 0)
            return -1;
    }
    return 0;
}

/* Switches 0 … leaf_count - 1 are leaves, then the spines, then the core above several. */
static int read_grid(const struct test_grid *grid, struct fabric_lists *lists,
                     char (*names)[NAME_BYTES], unsigned spine_count, struct error_info *err)
{
    unsigned leaves = grid->leaf_count, core = leaves + spine_count;
    unsigned per_pod = grid->leaves_per_pod ? grid->leaves_per_pod : leaves;
    for (unsigned i = 0; i < lists->switch_count; i++) {
        snprintf(names[i], NAME_BYTES, i < leaves ? "leaf%u" : "spine%u",
                 i < leaves ? i : i - leaves);
        lists->switches[i].name = names[i];
        lists->switches[i].where = "test";
    }
    if (add_nodes(grid, lists, err) < 0)
        return -1;
    unsigned below = spine_count > 1 ? core : leaves;
    for (unsigned i = 0; i < below; i++) {
        const struct fabric_switch_input *child = &lists->switches[i];
        unsigned parent = i < leaves ? leaves + i / per_pod : core;
        if ((child->nodes || child->children) &&
            add_name(&lists->switches[parent].children, names[i], err) < 0)
            return -1;
    }
    return 0;
}

/* Switches and domains without nodes below them are none. */
static void drop_empty(struct fabric_lists *lists)
{
    size_t switches = 0, domains = 0;
    for (size_t i = 0; i < lists->switch_count; i++)
        if (lists->switches[i].nodes || lists->switches[i].children)
            lists->switches[switches++] = lists->switches[i];
    for (size_t i = 0; i < lists->domain_count; i++)
        if (lists->domains[i].nodes)
            lists->domains[domains++] = lists->domains[i];
    lists->switch_count = switches;
    lists->domain_count = domains;
}

struct cluster_topology *test_grid_create(const struct test_grid *grid, struct error_info *err)
{
    unsigned per_pod = grid->leaves_per_pod ? grid->leaves_per_pod : grid->leaf_count;
    unsigned spines = per_pod ? (grid->leaf_count + per_pod - 1) / per_pod : 0;
    size_t count = grid->leaf_count + spines + (spines > 1 ? 1 : 0);
    CLEANUP_MEMORY char(*names)[NAME_BYTES] = memory_allocate_array(count + 1, NAME_BYTES);
    struct fabric_lists lists = {
        .switches = memory_allocate_array(count + 1, sizeof(*lists.switches)),
        .domains = memory_allocate_array(grid->domain_count + 1, sizeof(*lists.domains)),
        .switch_count = count,
        .domain_count = grid->domain_count};
    CLEANUP(fabric) struct fabric *fabric = NULL;
    bool failed = !names || !lists.switches || !lists.domains || count > SWITCHES_MAXIMUM ||
                  read_grid(grid, &lists, names, spines, err) < 0;
    if (!failed) {
        drop_empty(&lists);
        bool known = lists.switch_count > 0 || lists.domain_count > 0;
        if (known)
            fabric = build_fabric(&lists, err);
        failed = known && !fabric;
    }
    free_lists(&lists);
    return failed ? NULL : create_cluster(grid->names, grid->gpus, move_pointer(fabric), err);
}
