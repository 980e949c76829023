/* SPDX-License-Identifier: MIT */
/*
 * pci_device: which PCI functions are GPUs for computing. Pure, for every reader that sees
 * PCI classes. Screens of management controllers (ASPEED, Matrox), display adapters that no
 * compute library claims, and NVSwitches are none.
 */
#ifndef TOPOLOGY_PCI_DEVICE_H
#define TOPOLOGY_PCI_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

struct pci_device {
    uint16_t vendor;   /* 0x10de */
    uint16_t device;   /* 0x2330 */
    uint16_t class_id; /* 0x0302 */
    bool has_compute;  /* NVML, CUDA, RSMI, LevelZero or OpenCL found it */
    bool has_render;   /* the kernel gives it a renderD node */
    bool
        says_nvswitch; /* a library calls it one: one DGX-2 function has neither class nor vendor */
};

enum pci_role { PCI_OTHER, PCI_GPU, PCI_NVSWITCH, PCI_DECOY };

/* PCI_DECOY: looks like a GPU and is none; *ret_reason says why. Else *ret_reason is NULL. */
enum pci_role pci_device_role(const struct pci_device *device, const char **ret_reason);

#endif
