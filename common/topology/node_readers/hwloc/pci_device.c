/* SPDX-License-Identifier: MIT */
#include "topology/node_readers/hwloc/pci_device.h"
#include "base/cleanup.h"

#define VENDOR_NVIDIA 0x10de
#define VENDOR_AMD 0x1002
#define VENDOR_ASPEED 0x1a03
#define VENDOR_MATROX 0x102b

#define CLASS_BRIDGE_OTHER 0x0680 /* NVSwitch */
#define CLASS_DISPLAY 0x03        /* high byte */
#define CLASS_VGA 0x0300
#define CLASS_3D 0x0302            /* NVIDIA's datacenter boards */
#define CLASS_DISPLAY_OTHER 0x0380 /* AMD Instinct */
#define CLASS_ACCELERATOR 0x1200   /* AMD Instinct MI300 */

static bool is_display(const struct pci_device *device)
{
    return device->class_id >> 8 == CLASS_DISPLAY;
}

static bool is_nvswitch(const struct pci_device *device)
{
    return device->says_nvswitch ||
           (device->vendor == VENDOR_NVIDIA && device->class_id == CLASS_BRIDGE_OTHER);
}

static bool is_management_screen(const struct pci_device *device)
{
    return is_display(device) &&
           (device->vendor == VENDOR_ASPEED || device->vendor == VENDOR_MATROX);
}

static bool is_compute(const struct pci_device *device) { return device->has_compute; }

static bool is_nvidia_board(const struct pci_device *device)
{
    return device->vendor == VENDOR_NVIDIA && device->class_id == CLASS_3D;
}

static bool is_amd_board(const struct pci_device *device)
{
    return device->vendor == VENDOR_AMD &&
           (device->class_id == CLASS_DISPLAY_OTHER || device->class_id == CLASS_ACCELERATOR);
}

static bool is_rendering_card(const struct pci_device *device)
{
    return device->class_id == CLASS_VGA && device->has_render &&
           (device->vendor == VENDOR_NVIDIA || device->vendor == VENDOR_AMD);
}

enum pci_role pci_device_role(const struct pci_device *device, const char **ret_reason)
{
    static const struct {
        bool (*holds)(const struct pci_device *device);
        enum pci_role role;
        const char *reason;
    } rules[] = {
        {is_nvswitch, PCI_NVSWITCH, NULL},
        {is_management_screen, PCI_DECOY, "screen of the management controller"},
        {is_compute, PCI_GPU, NULL},
        {is_nvidia_board, PCI_GPU, NULL},
        {is_amd_board, PCI_GPU, NULL},
        {is_rendering_card, PCI_GPU, NULL},
        {is_display, PCI_DECOY, "display adapter that no compute library or render node claims"},
    };
    *ret_reason = NULL;
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        if (!rules[i].holds(device))
            continue;
        *ret_reason = rules[i].reason;
        return rules[i].role;
    }
    return PCI_OTHER;
}
