/* SPDX-License-Identifier: MIT */
#include "topology/node_readers/nvml/nvml_symbols.h"
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

_Static_assert(sizeof(struct nvml_pci) == 68, "nvmlPciInfo_t");
_Static_assert(offsetof(struct nvml_pci, bus_id) == 36, "nvmlPciInfo_t");
_Static_assert(sizeof(struct nvml_memory) == 24, "nvmlMemory_t");
_Static_assert(sizeof(struct nvml_field) == 40, "nvmlFieldValue_t");
_Static_assert(offsetof(struct nvml_field, value) == 32, "nvmlFieldValue_t");
_Static_assert(sizeof(struct nvml_fabric_v1) == 28, "nvmlGpuFabricInfo_t");
_Static_assert(sizeof(struct nvml_fabric) == 40, "nvmlGpuFabricInfo_v3_t");
_Static_assert(offsetof(struct nvml_fabric, health_summary) == 36, "nvmlGpuFabricInfo_v2_t");

#define MEMBER(member) offsetof(struct nvml_symbols, member)

static const struct {
    size_t offset;
    const char *name;
    const char *older; /* the same for our use, or NULL */
    bool required;
} symbols_table[] = {
    {MEMBER(start), "nvmlInit_v2", NULL, true},
    {MEMBER(stop), "nvmlShutdown", NULL, false},
    {MEMBER(driver_version), "nvmlSystemGetDriverVersion", NULL, false},
    {MEMBER(device_count), "nvmlDeviceGetCount_v2", NULL, true},
    {MEMBER(device), "nvmlDeviceGetHandleByIndex_v2", NULL, true},
    {MEMBER(pci), "nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", true},
    {MEMBER(name), "nvmlDeviceGetName", NULL, false},
    {MEMBER(uuid), "nvmlDeviceGetUUID", NULL, false},
    {MEMBER(memory), "nvmlDeviceGetMemoryInfo", NULL, false},
    {MEMBER(compute), "nvmlDeviceGetCudaComputeCapability", NULL, false},
    {MEMBER(mig), "nvmlDeviceGetMigMode", NULL, false},
    {MEMBER(c2c), "nvmlDeviceGetC2cModeInfoV", NULL, false},
    {MEMBER(pcie_width), "nvmlDeviceGetCurrPcieLinkWidth", NULL, false},
    {MEMBER(pcie_maximum_width), "nvmlDeviceGetMaxPcieLinkWidth", NULL, false},
    {MEMBER(pcie_maximum_generation), "nvmlDeviceGetMaxPcieLinkGeneration", NULL, false},
    {MEMBER(cpu_affinity), "nvmlDeviceGetCpuAffinity", NULL, false},
    {MEMBER(memory_affinity), "nvmlDeviceGetMemoryAffinity", NULL, false},
    {MEMBER(common_ancestor), "nvmlDeviceGetTopologyCommonAncestor", NULL, false},
    {MEMBER(p2p), "nvmlDeviceGetP2PStatus", NULL, false},
    {MEMBER(link_state), "nvmlDeviceGetNvLinkState", NULL, false},
    {MEMBER(link_version), "nvmlDeviceGetNvLinkVersion", NULL, false},
    {MEMBER(link_capability), "nvmlDeviceGetNvLinkCapability", NULL, false},
    {MEMBER(link_remote), "nvmlDeviceGetNvLinkRemotePciInfo_v2", "nvmlDeviceGetNvLinkRemotePciInfo",
     false},
    {MEMBER(link_remote_type), "nvmlDeviceGetNvLinkRemoteDeviceType", NULL, false},
    {MEMBER(fields), "nvmlDeviceGetFieldValues", NULL, false},
    {MEMBER(fabric), "nvmlDeviceGetGpuFabricInfoV", NULL, false},
    {MEMBER(fabric_v1), "nvmlDeviceGetGpuFabricInfo", NULL, false},
};

/* The loader has no code for "no such file"; its text begins with the missing file's name. */
static bool is_missing(const char *library, const char *why)
{
    return strncmp(why, library, strlen(library)) == 0 && strstr(why, "No such file");
}

static int find_symbols(const char *library, struct nvml_symbols *symbols, struct error_info *err)
{
    for (size_t i = 0; i < COUNT_OF(symbols_table); i++) {
        void *function = dlsym(symbols->library, symbols_table[i].name);
        if (!function && symbols_table[i].older)
            function = dlsym(symbols->library, symbols_table[i].older);
        if (!function && symbols_table[i].required)
            return error_set_system(err,
                                    "%s: has no %s; it is no NVML of driver R418 or newer, so "
                                    "update the driver",
                                    library, symbols_table[i].name);
        memcpy((char *)symbols + symbols_table[i].offset, &function, sizeof(function));
    }
    return 0;
}

int nvml_symbols_open(const char *library, struct nvml_symbols *ret, struct error_info *err)
{
    CLEANUP_DONE(nvml_symbols) struct nvml_symbols symbols = {.library = NULL};
    *ret = symbols;
    symbols.library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!symbols.library) {
        const char *why = dlerror();
        if (why && is_missing(library, why))
            return 0;
        return error_set_system(err, "%s: cannot be loaded: %s; install the driver's libraries",
                                library, why ? why : "no reason given");
    }
    if (find_symbols(library, &symbols, err) < 0) {
        symbols.stop = NULL;
        return -1;
    }
    *ret = symbols;
    symbols = (struct nvml_symbols){.library = NULL};
    return 0;
}

void nvml_symbols_done(struct nvml_symbols *symbols)
{
    if (symbols->stop)
        symbols->stop();
    if (symbols->library)
        dlclose(symbols->library);
}

int nvml_error(struct error_info *err, const char *library, const char *function, int result)
{
    static const struct {
        int result;
        const char *what, *remedy;
    } table[] = {
        {NVML_NO_PERMISSION, "no permission to use the GPUs",
         "see the modes of /dev/nvidia* and the job's device cgroup"},
        {NVML_IRQ_ISSUE, "the kernel has trouble with a GPU's interrupts", "see dmesg"},
        {NVML_GPU_IS_LOST, "a GPU is lost, it has fallen off the bus",
         "see dmesg for Xid 79, then reset the GPU or reboot the node"},
        {NVML_RESET_REQUIRED, "a GPU must be reset", "nvidia-smi --gpu-reset, or reboot the node"},
        {NVML_OPERATING_SYSTEM, "the system or a cgroup blocks the GPUs' control device",
         "see the modes of /dev/nvidiactl and the job's device cgroup"},
        {NVML_VERSION_MISMATCH, "the loaded driver and this library have different versions",
         "load the driver's modules again, or reboot the node"},
    };
    for (size_t i = 0; i < COUNT_OF(table); i++)
        if (table[i].result == result)
            return error_set_system(err, "%s: %s: %s (code %d); %s", library, function,
                                    table[i].what, result, table[i].remedy);
    return error_set_system(err, "%s: %s failed (code %d); see dmesg and what nvidia-smi says",
                            library, function, result);
}
