/* SPDX-License-Identifier: MIT */
/*
 * pci_health: what the kernel says of one PCI device, whatever its driver: NUMA node, near CPUs,
 * and a link with fewer lanes than the device has ("PCIe x8 of x16"). Link speed is left out:
 * idle GPUs lower it by themselves. AMD's accelerators sit behind bridges of their own board
 * (vendor 1002), whose links count too: inside the board it is always x16.
 */
#ifndef TOPOLOGY_PCI_HEALTH_H
#define TOPOLOGY_PCI_HEALTH_H

#include "topology/node_evidence.h"
#include "topology/node_readers/sysfs/sysfs_tree.h"

#define PCI_CPU_LIST_BYTES 4096u
#define PCI_PROBLEM_BYTES 64u

struct pci_health {
    bool says_numa;                  /* the kernel gives a NUMA node, or -1 for "none known" */
    int numa;                        /* or NUMA_UNKNOWN */
    char cpus[PCI_CPU_LIST_BYTES];   /* "0-23,96-119"; "": unknown */
    char problem[PCI_PROBLEM_BYTES]; /* "": nothing is known against it */
};

/* folder: of the device, or a link to it ("sys/class/infiniband/mlx5_0/device"). What is missing
 * or malformed stays unknown; -1 only where the tree gives up. */
int pci_health_of(struct sysfs_tree *tree, const char *folder, struct pci_health *ret,
                  struct error_info *err);
/* The same for a bus id; *ret_found false and *ret all unknown: no such device below the root. */
int pci_health_of_bus_id(struct sysfs_tree *tree, const char *bus_id, bool *ret_found,
                         struct pci_health *ret, struct error_info *err);

/* Evidence of source EVIDENCE_PCI for those GPUs of another evidence that have a bus id and are
 * below root ("" is the live machine): NUMA node, CPUs and problem. *ret is NULL where there is
 * none of them. */
int pci_health_read(const char *root, const struct node_evidence *of, struct node_evidence **ret,
                    struct error_info *err);

#endif
