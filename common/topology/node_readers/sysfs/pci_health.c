/* SPDX-License-Identifier: MIT */
#include "topology/node_readers/sysfs/pci_health.h"
#include "topology/node_readers/evidence_draft.h"
#include "topology/node_readers/sysfs/sysfs_text.h"
#include <string.h>

#define DEVICES "sys/bus/pci/devices"
#define MAXIMUM_NUMA 65535
#define MAXIMUM_LANES 32u /* the kernel writes 0, 63 or 255 where it does not know */
#define VENDOR_AMD 0x1002u

/* What cannot be read is unknown, unless nothing can be read any more. */
static int pass_over(const struct error_info *why, struct error_info *err)
{
    if (why->kind == ERROR_INPUT)
        return 0;
    if (err)
        *err = *why;
    return -1;
}

static int read_numa(struct sysfs_tree *tree, const char *folder, struct pci_health *health,
                     struct error_info *err)
{
    struct error_info why = {.kind = ERROR_NONE};
    int64_t numa = 0;
    if (sysfs_tree_read_signed(tree, folder, "numa_node", NUMA_UNKNOWN, MAXIMUM_NUMA, &numa, &why) <
        0)
        return pass_over(&why, err);
    health->says_numa = true;
    health->numa = (int)numa;
    return 0;
}

static int read_cpus(struct sysfs_tree *tree, const char *folder, struct pci_health *health,
                     struct error_info *err)
{
    struct error_info why = {.kind = ERROR_NONE};
    char text[PCI_CPU_LIST_BYTES];
    /* Without a NUMA node the kernel calls all CPUs near. */
    if (health->numa == NUMA_UNKNOWN)
        return 0;
    if (sysfs_tree_read(tree, folder, "local_cpulist", text, sizeof(text), &why) < 0)
        return pass_over(&why, err);
    if (strspn(text, "0123456789,-") == strlen(text))
        memcpy(health->cpus, text, strlen(text) + 1);
    return 0;
}

static int read_lanes(struct sysfs_tree *tree, const char *folder, struct pci_health *health,
                      struct error_info *err)
{
    struct error_info why = {.kind = ERROR_NONE};
    uint64_t now = 0, most = 0;
    if (sysfs_tree_read_unsigned(tree, folder, "current_link_width", MAXIMUM_LANES, &now, &why) <
            0 ||
        sysfs_tree_read_unsigned(tree, folder, "max_link_width", MAXIMUM_LANES, &most, &why) < 0)
        return pass_over(&why, err);
    if (now > 0 && now < most)
        snprintf(health->problem, sizeof(health->problem), "PCIe x%u of x%u", (unsigned)now,
                 (unsigned)most);
    return 0;
}

/* Up the path, as long as the bridges are the board's own. */
static int read_board_lanes(struct sysfs_tree *tree, const char *folder, struct pci_health *health,
                            struct error_info *err)
{
    char path[SYSFS_PATH_BYTES];
    struct error_info why = {.kind = ERROR_NONE};
    if (sysfs_tree_real_path(tree, folder, "", path, &why) < 0)
        return pass_over(&why, err);
    while (!health->problem[0]) {
        uint64_t vendor = 0;
        char *slash = strrchr(path, '/');
        if (sysfs_tree_read_hexadecimal(tree, path, "vendor", UINT16_MAX, &vendor, &why) < 0)
            return pass_over(&why, err);
        if (vendor != VENDOR_AMD || !slash)
            return 0;
        if (read_lanes(tree, path, health, err) < 0)
            return -1;
        *slash = '\0';
    }
    return 0;
}

int pci_health_of(struct sysfs_tree *tree, const char *folder, struct pci_health *ret,
                  struct error_info *err)
{
    struct pci_health health = {.numa = NUMA_UNKNOWN};
    if (read_numa(tree, folder, &health, err) < 0 || read_cpus(tree, folder, &health, err) < 0 ||
        read_lanes(tree, folder, &health, err) < 0 ||
        read_board_lanes(tree, folder, &health, err) < 0)
        return -1;
    *ret = health;
    return 0;
}

int pci_health_of_bus_id(struct sysfs_tree *tree, const char *bus_id, bool *ret_found,
                         struct pci_health *ret, struct error_info *err)
{
    char folder[sizeof(DEVICES) + PCI_BUS_ID_BYTES + 1];
    bool found = strlen(bus_id) < PCI_BUS_ID_BYTES && sysfs_tree_has_folder(tree, DEVICES, bus_id);
    struct pci_health health = {.numa = NUMA_UNKNOWN};
    if (found) {
        snprintf(folder, sizeof(folder), "%s/%s", DEVICES, bus_id);
        if (pci_health_of(tree, folder, &health, err) < 0)
            return -1;
    }
    *ret_found = found;
    *ret = health;
    return 0;
}

static int add_gpu(struct sysfs_tree *tree, struct evidence_draft *draft, const char *bus_id,
                   struct error_info *err)
{
    struct pci_health health;
    bool found = false;
    if (pci_health_of_bus_id(tree, bus_id, &found, &health, err) < 0)
        return -1;
    if (!found)
        return 0;
    struct evidence_gpu *gpu = evidence_draft_add_gpu(draft, err);
    if (!gpu)
        return -1;
    gpu->bus_id = evidence_draft_copy(draft, bus_id);
    gpu->numa = health.numa;
    gpu->cpus = health.cpus[0] ? evidence_draft_copy(draft, health.cpus) : NULL;
    gpu->problem = health.problem[0] ? evidence_draft_copy(draft, health.problem) : NULL;
    return 0;
}

int pci_health_read(const char *root, const struct node_evidence *of, struct node_evidence **ret,
                    struct error_info *err)
{
    CLEANUP(sysfs_tree) struct sysfs_tree *tree = sysfs_tree_open(root, err);
    if (!tree)
        return -1;
    CLEANUP(evidence_draft)
    struct evidence_draft *draft = evidence_draft_create(EVIDENCE_PCI, "pci", err);
    if (!draft)
        return -1;
    for (unsigned i = 0; i < of->gpu_count; i++)
        if (of->gpus[i].bus_id && add_gpu(tree, draft, of->gpus[i].bus_id, err) < 0)
            return -1;
    struct node_evidence *evidence = NULL;
    if (draft->evidence.gpu_count > 0) {
        evidence = evidence_draft_finish(draft, err);
        if (!evidence)
            return -1;
    }
    *ret = evidence;
    return 0;
}
