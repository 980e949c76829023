/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"

#include "topology/node_readers/hwloc/pci_device.h"

static void knows_gpus_from_decoys(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        struct pci_device device;
        enum pci_role role;
    } cases[] = {
        {"H100 without any library", {.vendor = 0x10de, .class_id = 0x0302}, PCI_GPU},
        {"MI210", {.vendor = 0x1002, .class_id = 0x0380}, PCI_GPU},
        {"MI300X", {.vendor = 0x1002, .class_id = 0x1200}, PCI_GPU},
        {"RTX 4090", {.vendor = 0x10de, .class_id = 0x0300, .has_render = true}, PCI_GPU},
        {"Radeon with OpenCL",
         {.vendor = 0x1002, .class_id = 0x0300, .has_compute = true},
         PCI_GPU},
        {"Ponte Vecchio", {.vendor = 0x8086, .class_id = 0x0380, .has_compute = true}, PCI_GPU},
        {"ATI console", {.vendor = 0x1002, .class_id = 0x0300}, PCI_DECOY},
        {"ASPEED", {.vendor = 0x1a03, .class_id = 0x0300}, PCI_DECOY},
        {"ASPEED with renderD",
         {.vendor = 0x1a03, .class_id = 0x0300, .has_render = true},
         PCI_DECOY},
        {"Matrox", {.vendor = 0x102b, .class_id = 0x0300}, PCI_DECOY},
        {"Intel graphics", {.vendor = 0x8086, .class_id = 0x0300, .has_render = true}, PCI_DECOY},
        {"NVSwitch", {.vendor = 0x10de, .class_id = 0x0680}, PCI_NVSWITCH},
        {"NVSwitch without class", {.says_nvswitch = true}, PCI_NVSWITCH},
        {"AMD audio", {.vendor = 0x1002, .class_id = 0x0403}, PCI_OTHER},
        {"HCA", {.vendor = 0x15b3, .class_id = 0x0207}, PCI_OTHER},
        {"other accelerator", {.vendor = 0x8086, .class_id = 0x1200}, PCI_OTHER},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *reason = "unset";
        enum pci_role role = pci_device_role(&cases[i].device, &reason);
        if (role != cases[i].role)
            fail_msg("%s: role %d", cases[i].what, role);
        assert_int_equal(reason != NULL, role == PCI_DECOY);
    }
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(knows_gpus_from_decoys)};

int main(void) { return unit_test_main("topology/pci_device", tests, COUNT_OF(tests)); }
