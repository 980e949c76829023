/* SPDX-License-Identifier: MIT */
/*
 * A library that answers as NVIDIA's libnvidia-ml.so.1 would on a machine described by the file
 * that the environment's PARPLAN_MOCK_NVML names (mock_profile.h). For tests: it shares the
 * layouts of nvml_symbols.h, which are checked there, and nothing else with the reader.
 */
#include "tests/support/mock_nvml/mock_profile.h"
#include "topology/node_readers/nvml/nvml_symbols.h"
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* No header of ours declares NVIDIA's functions. */
#define MOCK(name, ...)                                                                            \
    int name(__VA_ARGS__);                                                                         \
    int name(__VA_ARGS__)

#define GPU(handle) const struct mock_gpu *gpu = (const struct mock_gpu *)(const void *)(handle)
#define ENTER(gpu_index)                                                                           \
    do {                                                                                           \
        int result_ = obey(__func__, gpu_index);                                                   \
        if (result_ != NVML_OK)                                                                    \
            return result_;                                                                        \
    } while (0)

#define SWITCH_BUS 0xe1u
#define HIDDEN_BUS 0xf1u
#define P2P_REFUSED 5u

static struct mock_profile machine;
static bool broken;

/* What the profile says about a call. */
static int obey(const char *symbol, unsigned gpu)
{
    if (broken)
        return 999;
    for (unsigned i = 0; i < machine.rule_count; i++) {
        const struct mock_rule *rule = &machine.rules[i];
        if (strcmp(rule->symbol, symbol) != 0 || (rule->gpu != MOCK_GPUS && rule->gpu != gpu))
            continue;
        if (rule->action == MOCK_SLEEP)
            sleep(rule->value);
        else if (rule->action == MOCK_CRASH)
            raise(SIGSEGV);
        else if (rule->action == MOCK_RETURN)
            return (int)rule->value;
    }
    return NVML_OK;
}

MOCK(nvmlInit_v2, void)
{
    ENTER(MOCK_GPUS);
    return NVML_OK;
}

MOCK(nvmlShutdown, void)
{
    ENTER(MOCK_GPUS);
    return NVML_OK;
}

MOCK(nvmlSystemGetDriverVersion, char *text, unsigned bytes)
{
    ENTER(MOCK_GPUS);
    snprintf(text, bytes, "%s", machine.driver);
    return NVML_OK;
}

MOCK(nvmlDeviceGetCount_v2, unsigned *count)
{
    ENTER(MOCK_GPUS);
    *count = machine.gpu_count;
    return NVML_OK;
}

MOCK(nvmlDeviceGetHandleByIndex_v2, unsigned index, struct nvml_handle **handle)
{
    ENTER(index);
    if (index >= machine.gpu_count)
        return NVML_INVALID_ARGUMENT;
    *handle = (struct nvml_handle *)(void *)&machine.gpus[index];
    return NVML_OK;
}

static void fill_pci(struct nvml_pci *pci, unsigned domain, unsigned bus, bool new_layout)
{
    pci->domain = domain;
    pci->bus = bus;
    pci->device = 0;
    snprintf(pci->legacy_bus_id, sizeof(pci->legacy_bus_id), "%04X:%02X:00.0", domain & 0xffffu,
             bus & 0xffu);
    if (new_layout)
        snprintf(pci->bus_id, sizeof(pci->bus_id), "%08X:%02X:00.0", domain, bus);
}

MOCK(nvmlDeviceGetPciInfo_v3, struct nvml_handle *handle, struct nvml_pci *pci)
{
    GPU(handle);
    ENTER(gpu->index);
    fill_pci(pci, gpu->domain, gpu->bus, true);
    return NVML_OK;
}

MOCK(nvmlDeviceGetPciInfo_v2, struct nvml_handle *handle, struct nvml_pci *pci)
{
    GPU(handle);
    ENTER(gpu->index);
    fill_pci(pci, gpu->domain, gpu->bus, false);
    return NVML_OK;
}

MOCK(nvmlDeviceGetName, struct nvml_handle *handle, char *text, unsigned bytes)
{
    GPU(handle);
    ENTER(gpu->index);
    snprintf(text, bytes, "%s", machine.name);
    return NVML_OK;
}

MOCK(nvmlDeviceGetUUID, struct nvml_handle *handle, char *text, unsigned bytes)
{
    GPU(handle);
    ENTER(gpu->index);
    snprintf(text, bytes, "GPU-00000000-0000-0000-0000-%012x", gpu->index);
    return NVML_OK;
}

MOCK(nvmlDeviceGetMemoryInfo, struct nvml_handle *handle, struct nvml_memory *memory)
{
    GPU(handle);
    ENTER(gpu->index);
    *memory = (struct nvml_memory){.total_bytes = machine.memory_bytes,
                                   .free_bytes = machine.memory_bytes};
    return NVML_OK;
}

MOCK(nvmlDeviceGetCudaComputeCapability, struct nvml_handle *handle, int *major, int *minor)
{
    GPU(handle);
    ENTER(gpu->index);
    *major = (int)machine.major;
    *minor = (int)machine.minor;
    return NVML_OK;
}

MOCK(nvmlDeviceGetMigMode, struct nvml_handle *handle, unsigned *now, unsigned *pending)
{
    GPU(handle);
    ENTER(gpu->index);
    if (machine.major < 8)
        return NVML_NOT_SUPPORTED;
    *now = *pending = gpu->mig;
    return NVML_OK;
}

MOCK(nvmlDeviceGetC2cModeInfoV, struct nvml_handle *handle, unsigned *enabled)
{
    GPU(handle);
    ENTER(gpu->index);
    *enabled = machine.c2c;
    return NVML_OK;
}

MOCK(nvmlDeviceGetCurrPcieLinkWidth, struct nvml_handle *handle, unsigned *width)
{
    GPU(handle);
    ENTER(gpu->index);
    *width = gpu->width;
    return NVML_OK;
}

MOCK(nvmlDeviceGetMaxPcieLinkWidth, struct nvml_handle *handle, unsigned *width)
{
    GPU(handle);
    ENTER(gpu->index);
    *width = gpu->maximum_width;
    return NVML_OK;
}

MOCK(nvmlDeviceGetMaxPcieLinkGeneration, struct nvml_handle *handle, unsigned *generation)
{
    GPU(handle);
    ENTER(gpu->index);
    *generation = machine.pcie_generation;
    return NVML_OK;
}

static void set_bit(unsigned long *words, unsigned count, unsigned bit)
{
    unsigned per_word = 8u * (unsigned)sizeof(*words);
    if (bit / per_word < count)
        words[bit / per_word] |= 1ul << (bit % per_word);
}

MOCK(nvmlDeviceGetCpuAffinity, struct nvml_handle *handle, unsigned count, unsigned long *words)
{
    GPU(handle);
    ENTER(gpu->index);
    if (!gpu->has_cpus)
        return NVML_NOT_SUPPORTED;
    for (unsigned cpu = gpu->first_cpu; cpu <= gpu->last_cpu; cpu++)
        set_bit(words, count, cpu);
    return NVML_OK;
}

MOCK(nvmlDeviceGetMemoryAffinity, struct nvml_handle *handle, unsigned count, unsigned long *words,
     unsigned scope)
{
    GPU(handle);
    ENTER(gpu->index);
    if (scope != NVML_AFFINITY_NODE || gpu->numa < 0)
        return NVML_NOT_SUPPORTED;
    set_bit(words, count, (unsigned)gpu->numa);
    if (gpu->numa_more >= 0)
        set_bit(words, count, (unsigned)gpu->numa_more);
    return NVML_OK;
}

MOCK(nvmlDeviceGetTopologyCommonAncestor, struct nvml_handle *handle, struct nvml_handle *other,
     unsigned *level)
{
    GPU(handle);
    const struct mock_gpu *peer = (const struct mock_gpu *)(const void *)other;
    ENTER(gpu->index);
    int said = machine.ancestor[gpu->index][peer->index];
    *level = said >= 0 ? (unsigned)said : gpu->numa == peer->numa ? 40 : 50;
    return NVML_OK;
}

static bool has_links(const struct mock_gpu *gpu, const struct mock_gpu *peer)
{
    bool direct = false, first = false, second = false;
    for (unsigned i = 0; i < gpu->links_up; i++) {
        direct = direct || (gpu->links[i].end == MOCK_END_GPU && gpu->links[i].peer == peer->index);
        first = first || gpu->links[i].end == MOCK_END_SWITCH;
    }
    for (unsigned i = 0; i < peer->links_up; i++)
        second = second || peer->links[i].end == MOCK_END_SWITCH;
    return direct || (first && second);
}

MOCK(nvmlDeviceGetP2PStatus, struct nvml_handle *handle, struct nvml_handle *other, int index,
     unsigned *status)
{
    GPU(handle);
    const struct mock_gpu *peer = (const struct mock_gpu *)(const void *)other;
    ENTER(gpu->index);
    if (index != NVML_P2P_INDEX_NVLINK)
        return NVML_NOT_SUPPORTED;
    int said = machine.p2p[gpu->index][peer->index];
    bool joined = has_links(gpu, peer) && !gpu->apart && !peer->apart && !gpu->mig && !peer->mig;
    *status = said >= 0 ? (unsigned)said : joined ? NVML_P2P_OK : P2P_REFUSED;
    return NVML_OK;
}

static int judge_link(unsigned link)
{
    if (machine.slots == 0)
        return NVML_NOT_SUPPORTED;
    return link < machine.slots ? NVML_OK : NVML_INVALID_ARGUMENT;
}

MOCK(nvmlDeviceGetNvLinkState, struct nvml_handle *handle, unsigned link, unsigned *up)
{
    GPU(handle);
    ENTER(gpu->index);
    int result = judge_link(link);
    if (result == NVML_OK)
        *up = link < gpu->links_up;
    return result;
}

MOCK(nvmlDeviceGetFieldValues, struct nvml_handle *handle, int count, struct nvml_field *fields)
{
    GPU(handle);
    ENTER(gpu->index);
    for (int i = 0; i < count; i++) {
        fields[i].result = fields[i].field == NVML_FIELD_LINK_STATE ? judge_link(fields[i].scope)
                                                                    : NVML_NOT_SUPPORTED;
        fields[i].value_type = 1;
        fields[i].value.number = fields[i].scope < gpu->links_up;
    }
    return NVML_OK;
}

MOCK(nvmlDeviceGetNvLinkVersion, struct nvml_handle *handle, unsigned link, unsigned *version)
{
    GPU(handle);
    ENTER(gpu->index);
    *version = machine.version;
    return judge_link(link);
}

MOCK(nvmlDeviceGetNvLinkCapability, struct nvml_handle *handle, unsigned link, unsigned capability,
     unsigned *answer)
{
    GPU(handle);
    ENTER(gpu->index);
    *answer = capability == NVML_LINK_CAPABILITY_P2P && !gpu->mig &&
              gpu->links[link % MOCK_LINKS].end != MOCK_END_NPU;
    return judge_link(link);
}

static int fill_switch(struct nvml_pci *pci, bool new_layout)
{
    memset(pci, 0, sizeof(*pci));
    switch (machine.switch_id) {
    case MOCK_SHOWN:
        fill_pci(pci, 0, SWITCH_BUS, new_layout);
        break;
    case MOCK_EMPTY:
        break;
    case MOCK_ONES:
        fill_pci(pci, UINT32_MAX, 0xff, new_layout);
        break;
    case MOCK_BINARY:
        memset(pci->legacy_bus_id, 0x80, sizeof(pci->legacy_bus_id));
        memset(pci->bus_id, 0x80, sizeof(pci->bus_id));
        pci->bus = machine.gpus[0].bus;
        pci->domain = machine.gpus[0].domain;
        break;
    case MOCK_REFUSED:
        return NVML_NOT_SUPPORTED;
    }
    return NVML_OK;
}

static int fill_remote(const struct mock_gpu *gpu, unsigned link, struct nvml_pci *pci,
                       bool new_layout)
{
    int result = judge_link(link);
    if (result != NVML_OK || link >= gpu->link_count)
        return result != NVML_OK ? result : NVML_NOT_SUPPORTED;
    const struct mock_link *there = &gpu->links[link];
    if (there->end == MOCK_END_SWITCH)
        return fill_switch(pci, new_layout);
    if (there->end == MOCK_END_GPU)
        fill_pci(pci, machine.gpus[there->peer].domain, machine.gpus[there->peer].bus, new_layout);
    else
        fill_pci(pci, 0, HIDDEN_BUS, new_layout);
    return NVML_OK;
}

MOCK(nvmlDeviceGetNvLinkRemotePciInfo_v2, struct nvml_handle *handle, unsigned link,
     struct nvml_pci *pci)
{
    GPU(handle);
    ENTER(gpu->index);
    return fill_remote(gpu, link, pci, true);
}

MOCK(nvmlDeviceGetNvLinkRemotePciInfo, struct nvml_handle *handle, unsigned link,
     struct nvml_pci *pci)
{
    GPU(handle);
    ENTER(gpu->index);
    return fill_remote(gpu, link, pci, false);
}

MOCK(nvmlDeviceGetNvLinkRemoteDeviceType, struct nvml_handle *handle, unsigned link, unsigned *type)
{
    static const unsigned types[] = {
        [MOCK_END_NONE] = NVML_REMOTE_UNKNOWN,  [MOCK_END_GPU] = NVML_REMOTE_GPU,
        [MOCK_END_SWITCH] = NVML_REMOTE_SWITCH, [MOCK_END_HIDDEN] = NVML_REMOTE_GPU,
        [MOCK_END_NPU] = NVML_REMOTE_NPU,
    };
    GPU(handle);
    ENTER(gpu->index);
    *type = types[gpu->links[link % MOCK_LINKS].end];
    return judge_link(link);
}

MOCK(nvmlDeviceGetGpuFabricInfoV, struct nvml_handle *handle, struct nvml_fabric *fabric)
{
    GPU(handle);
    ENTER(gpu->index);
    unsigned version = fabric->version >> 24;
    if (version > machine.fabric_version || version < 2)
        return 25; /* the structure's version is not known */
    memcpy(fabric->cluster_uuid, machine.cluster_uuid, sizeof(fabric->cluster_uuid));
    fabric->status = (int)gpu->fabric_status;
    fabric->clique = machine.fabric_clique;
    fabric->state = (unsigned char)gpu->fabric_state;
    fabric->health_mask = 0;
    if (version >= 3)
        fabric->health_summary = (unsigned char)gpu->health;
    return NVML_OK;
}

MOCK(nvmlDeviceGetGpuFabricInfo, struct nvml_handle *handle, struct nvml_fabric_v1 *fabric)
{
    GPU(handle);
    ENTER(gpu->index);
    memcpy(fabric->cluster_uuid, machine.cluster_uuid, sizeof(fabric->cluster_uuid));
    fabric->status = (int)gpu->fabric_status;
    fabric->clique = machine.fabric_clique;
    fabric->state = (unsigned char)gpu->fabric_state;
    return NVML_OK;
}

/* --- symbols that an older driver has not --- */

#define EXPORT(name)                                                                               \
    {                                                                                              \
#name, (void (*)(void))(name)                                                              \
    }

static const struct {
    const char *name;
    void (*function)(void);
} exports[] = {
    EXPORT(nvmlInit_v2),
    EXPORT(nvmlShutdown),
    EXPORT(nvmlSystemGetDriverVersion),
    EXPORT(nvmlDeviceGetCount_v2),
    EXPORT(nvmlDeviceGetHandleByIndex_v2),
    EXPORT(nvmlDeviceGetPciInfo_v3),
    EXPORT(nvmlDeviceGetPciInfo_v2),
    EXPORT(nvmlDeviceGetName),
    EXPORT(nvmlDeviceGetUUID),
    EXPORT(nvmlDeviceGetMemoryInfo),
    EXPORT(nvmlDeviceGetCudaComputeCapability),
    EXPORT(nvmlDeviceGetMigMode),
    EXPORT(nvmlDeviceGetC2cModeInfoV),
    EXPORT(nvmlDeviceGetCurrPcieLinkWidth),
    EXPORT(nvmlDeviceGetMaxPcieLinkWidth),
    EXPORT(nvmlDeviceGetMaxPcieLinkGeneration),
    EXPORT(nvmlDeviceGetCpuAffinity),
    EXPORT(nvmlDeviceGetMemoryAffinity),
    EXPORT(nvmlDeviceGetTopologyCommonAncestor),
    EXPORT(nvmlDeviceGetP2PStatus),
    EXPORT(nvmlDeviceGetNvLinkState),
    EXPORT(nvmlDeviceGetNvLinkVersion),
    EXPORT(nvmlDeviceGetNvLinkCapability),
    EXPORT(nvmlDeviceGetNvLinkRemotePciInfo_v2),
    EXPORT(nvmlDeviceGetNvLinkRemotePciInfo),
    EXPORT(nvmlDeviceGetNvLinkRemoteDeviceType),
    EXPORT(nvmlDeviceGetFieldValues),
    EXPORT(nvmlDeviceGetGpuFabricInfoV),
    EXPORT(nvmlDeviceGetGpuFabricInfo),
};

/* The name in this library's own table of symbols is spoilt, so dlsym does not find it. */
static bool hide(const char *symbol)
{
    for (size_t i = 0; i < COUNT_OF(exports); i++) {
        Dl_info info;
        void *address = NULL;
        if (strcmp(exports[i].name, symbol) != 0)
            continue;
        memcpy(&address, &exports[i].function, sizeof(address));
        if (!dladdr(address, &info) || !info.dli_sname || strcmp(info.dli_sname, symbol) != 0)
            return false;
        uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
        uintptr_t first = (uintptr_t)info.dli_sname & ~(page - 1);
        if (mprotect((void *)first, page, PROT_READ | PROT_WRITE) < 0)
            return false;
        *(char *)(uintptr_t)info.dli_sname = 'x';
        return true;
    }
    return false;
}

__attribute__((constructor)) static void set_up(void)
{
    const char *path = getenv("PARPLAN_MOCK_NVML");
    broken = !path || mock_profile_load(&machine, path) < 0;
    for (unsigned i = 0; !broken && i < machine.rule_count; i++) {
        if (machine.rules[i].action != MOCK_WITHOUT || hide(machine.rules[i].symbol))
            continue;
        fprintf(stderr, "mock NVML: there is no %s to leave out\n", machine.rules[i].symbol);
        broken = true;
    }
}
