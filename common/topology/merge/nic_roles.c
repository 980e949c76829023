/* SPDX-License-Identifier: MIT */
#include "topology/merge/nic_roles.h"
#include "topology/merge/remarks.h"
#include <string.h>

/* An unknown class is farther than every known one. */
#define DISTANCE_UNKNOWN ((unsigned)LINK_KIND_COUNT)

static unsigned nearest_distance(const struct nic_candidate *nic, unsigned gpu_count)
{
    unsigned nearest = DISTANCE_UNKNOWN;
    for (unsigned i = 0; i < gpu_count; i++)
        if (link_distance(nic->links[i]) < nearest)
            nearest = link_distance(nic->links[i]);
    return nearest;
}

static bool is_rdma(const struct nic_candidate *nic)
{
    static const char *const classes[] = {"openfabrics", "hsi", "cxi"};
    if (!nic->said.driver_class)
        return true; /* the source lists fabric NICs only */
    for (size_t i = 0; i < COUNT_OF(classes); i++)
        if (strcmp(nic->said.driver_class, classes[i]) == 0)
            return true;
    return false;
}

static bool is_usable(const struct nic_candidate *nic)
{
    return is_rdma(nic) && nic->said.state != NIC_DOWN;
}

static bool is_nvswitch(const struct nic_roles *roles, const struct nic_candidate *nic)
{
    (void)roles;
    return nic->said.driver_class && strcmp(nic->said.driver_class, "nvswitch") == 0;
}

static bool is_plain(const struct nic_roles *roles, const struct nic_candidate *nic)
{
    (void)roles;
    return !is_rdma(nic);
}

static bool is_down(const struct nic_roles *roles, const struct nic_candidate *nic)
{
    (void)roles;
    return nic->said.state == NIC_DOWN;
}

static bool knows_every_gpu(const struct nic_candidate *nic, unsigned gpu_count)
{
    for (unsigned i = 0; i < gpu_count; i++)
        if (nic->links[i] == LINK_UNKNOWN)
            return false;
    return true;
}

/* In the classes of nvidia-smi: NODE or SYS to every GPU, while another is PIX or PXB. SYS to
 * some says nothing of the others (cut tables); NODE tells where the NIC is at home. */
static bool is_far(const struct nic_roles *roles, const struct nic_candidate *nic)
{
    unsigned own = nearest_distance(nic, roles->gpu_count);
    if (own < (unsigned)LINK_NODE || own == DISTANCE_UNKNOWN ||
        (own == (unsigned)LINK_SYS && !knows_every_gpu(nic, roles->gpu_count)))
        return false;
    for (unsigned i = 0; i < roles->count; i++)
        if (is_usable(&roles->nics[i]) &&
            nearest_distance(&roles->nics[i], roles->gpu_count) <= (unsigned)LINK_PXB)
            return true;
    return false;
}

static bool is_bond(const struct nic_candidate *nic)
{
    return nic->said.name && strstr(nic->said.name, "bond");
}

/* Far ones carry storage, whatever they are, and push nothing aside. */
static bool is_bond_beside_others(const struct nic_roles *roles, const struct nic_candidate *nic)
{
    for (unsigned i = 0; is_bond(nic) && i < roles->count; i++)
        if (is_usable(&roles->nics[i]) && !is_bond(&roles->nics[i]) &&
            !is_far(roles, &roles->nics[i]))
            return true;
    return false;
}

static bool is_ethernet_beside_infiniband(const struct nic_roles *roles,
                                          const struct nic_candidate *nic)
{
    for (unsigned i = 0; nic->said.is_ethernet && i < roles->count; i++)
        if (is_usable(&roles->nics[i]) && !roles->nics[i].said.is_ethernet &&
            !is_far(roles, &roles->nics[i]))
            return true;
    return false;
}

static bool is_near_some_gpu(const struct nic_roles *roles, const struct nic_candidate *nic)
{
    return nearest_distance(nic, roles->gpu_count) < (unsigned)LINK_NODE;
}

/* Functions of one PCI device: equal bus ids but for the last digit. */
static bool are_one_card(const struct nic_candidate *left, const struct nic_candidate *right)
{
    const char *first = left->said.bus_id, *second = right->said.bus_id;
    size_t length = first ? strlen(first) : 0;
    return second && length > 1 && strlen(second) == length &&
           strncmp(first, second, length - 1) == 0;
}

static bool shares_card(const struct nic_roles *roles, const struct nic_candidate *nic)
{
    bool shares = nic->said.shares_card;
    for (unsigned i = 0; i < roles->count; i++)
        shares = shares || (&roles->nics[i] != nic && are_one_card(&roles->nics[i], nic));
    return shares;
}

/* Where PCIe tells nothing of nearness (GPUs on NVLink-C2C), compute NICs are cards of one port
 * and the BlueField cards for storage have two (GB200 trays). */
static bool is_port_of_many(const struct nic_roles *roles, const struct nic_candidate *nic)
{
    bool others_alone = false;
    for (unsigned i = 0; i < roles->count; i++) {
        if (!is_usable(&roles->nics[i]))
            continue;
        if (is_near_some_gpu(roles, &roles->nics[i]))
            return false;
        others_alone = others_alone || !shares_card(roles, &roles->nics[i]);
    }
    return roles->gpu_count > 0 && others_alone && shares_card(roles, nic);
}

static bool is_virtual_beside_whole(const struct nic_roles *roles, const struct nic_candidate *nic)
{
    for (unsigned i = 0; nic->said.is_virtual && i < roles->count; i++)
        if (is_usable(&roles->nics[i]) && !roles->nics[i].said.is_virtual)
            return true;
    return false;
}

static bool is_unknown(const struct nic_roles *roles, const struct nic_candidate *nic)
{
    (void)roles;
    return nic->said.state == NIC_STATE_UNKNOWN;
}

static bool is_any(const struct nic_roles *roles, const struct nic_candidate *nic)
{
    (void)roles;
    (void)nic;
    return true;
}

static const struct {
    bool (*holds)(const struct nic_roles *roles, const struct nic_candidate *nic);
    enum nic_role role;
    const char *reason;
} rules[] = {
    {is_nvswitch, NIC_NVSWITCH, REMARK("management function of an NVSwitch")},
    {is_plain, NIC_MANAGEMENT, REMARK("network device without RDMA")},
    {is_bond_beside_others, NIC_STORAGE, REMARK("bonded port, and the node has others")},
    {is_ethernet_beside_infiniband, NIC_OTHER, REMARK("Ethernet, and the node has InfiniBand")},
    {is_down, NIC_OTHER, REMARK("port is down")},
    {is_far, NIC_STORAGE, REMARK("far from every GPU, and other NICs sit beside GPUs")},
    {is_virtual_beside_whole, NIC_OTHER,
     REMARK("virtual function, and the node has whole devices")},
    {is_port_of_many, NIC_STORAGE,
     REMARK("one port of a card with several, and others have a card each")},
    {is_unknown, NIC_RAIL, REMARK("fabric device; the state of its port is not known")},
    {is_any, NIC_RAIL, REMARK("fabric device with an active port")},
};

/* The first of the GPUs that the NIC is nearest to. */
static unsigned first_near_gpu(const struct nic_candidate *nic, unsigned gpu_count)
{
    unsigned nearest = nearest_distance(nic, gpu_count);
    for (unsigned i = 0; i < gpu_count; i++)
        if (link_distance(nic->links[i]) == nearest)
            return i;
    return gpu_count;
}

/* Order in which rails are numbered; the candidates are sorted by name already. */
static bool comes_before(const struct nic_roles *roles, unsigned left, unsigned right)
{
    unsigned left_gpu = first_near_gpu(&roles->nics[left], roles->gpu_count);
    unsigned right_gpu = first_near_gpu(&roles->nics[right], roles->gpu_count);
    return left_gpu != right_gpu ? left_gpu < right_gpu : left < right;
}

static void number_rails(struct nic_roles *roles)
{
    for (unsigned i = 0; i < roles->count; i++) {
        roles->nics[i].rail = -1;
        if (roles->nics[i].role != NIC_RAIL)
            continue;
        if (roles->nics[i].said.has_role && roles->nics[i].said.rail >= 0) {
            roles->nics[i].rail = roles->nics[i].said.rail;
            continue;
        }
        int rail = 0;
        for (unsigned j = 0; j < roles->count; j++)
            if (j != i && roles->nics[j].role == NIC_RAIL && comes_before(roles, j, i))
                rail++;
        roles->nics[i].rail = rail;
    }
}

void nic_roles_decide(struct nic_roles *roles)
{
    for (unsigned i = 0; i < roles->count; i++) {
        struct nic_candidate *nic = &roles->nics[i];
        size_t rule = 0;
        if (nic->said.has_role) {
            nic->role = nic->said.role;
            nic->reason = nic->said.reason;
            continue;
        }
        while (!rules[rule].holds(roles, nic))
            rule++;
        nic->role = rules[rule].role;
        nic->reason = rules[rule].reason;
    }
    number_rails(roles);
}

bool nic_roles_is_usable_rail(const struct nic_candidate *nic)
{
    return nic->role == NIC_RAIL && nic->said.state != NIC_DOWN;
}

/* Class and NUMA node in one number: smaller is nearer. */
static unsigned affinity(const struct nic_candidate *nic, const struct node_gpu *gpus, unsigned gpu)
{
    bool same_numa = nic->said.numa != NUMA_UNKNOWN && nic->said.numa == gpus[gpu].numa;
    return link_distance(nic->links[gpu]) * 2 + (same_numa ? 0 : 1);
}

/* Sorted rails and the length of the first, equally near run. */
static unsigned sort_rails(const struct nic_roles *roles, const struct node_gpu *gpus, unsigned gpu,
                           unsigned *order, unsigned *ret_run)
{
    unsigned count = 0;
    for (unsigned i = 0; i < roles->count; i++) {
        const struct nic_candidate *nic = &roles->nics[i];
        if (!nic_roles_is_usable_rail(nic))
            continue;
        unsigned at = count++;
        for (; at > 0; at--) {
            const struct nic_candidate *before = &roles->nics[order[at - 1]];
            unsigned there = affinity(before, gpus, gpu), here = affinity(nic, gpus, gpu);
            if (there < here || (there == here && before->rail < nic->rail))
                break;
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
    unsigned run = count > 0;
    while (run < count && affinity(&roles->nics[order[run]], gpus, gpu) ==
                              affinity(&roles->nics[order[0]], gpus, gpu))
        run++;
    *ret_run = run;
    return count;
}

static unsigned gpus_before_with_same_run(const struct nic_roles *roles,
                                          const struct node_gpu *gpus, unsigned gpu,
                                          const unsigned *order, unsigned run)
{
    unsigned before = 0;
    for (unsigned other = 0; other < gpu; other++) {
        unsigned other_order[NODE_MAXIMUM_NICS], other_run;
        sort_rails(roles, gpus, other, other_order, &other_run);
        if (other_run == run && memcmp(other_order, order, run * sizeof(*order)) == 0)
            before++;
    }
    return before;
}

unsigned nic_roles_order(const struct nic_roles *roles, const struct node_gpu *gpus, unsigned gpu,
                         unsigned ret_nics[NODE_MAXIMUM_NICS])
{
    unsigned order[NODE_MAXIMUM_NICS], run;
    unsigned count = sort_rails(roles, gpus, gpu, order, &run);
    unsigned start = run > 1 ? gpus_before_with_same_run(roles, gpus, gpu, order, run) % run : 0;
    for (unsigned i = 0; i < count; i++)
        ret_nics[i] = i < run ? order[(i + start) % run] : order[i];
    return count;
}
