/* SPDX-License-Identifier: MIT */
/* nvml_node: asking. */
#include "base/id_set.h"
#include "topology/node_readers/nvml/nvml_node.h"
#include <ctype.h>
#include <string.h>

#define MAXIMUM_CPUS 8192u
#define MAXIMUM_NUMA_NODES 1024u
#define BITS_PER_WORD (8u * (unsigned)sizeof(unsigned long))
#define FULL_WIDTH 16.0
#define PCI_DEVICES 32u

typedef int (*text_fn)(struct nvml_handle *handle, char *text, unsigned bytes);

static const char *read_text(struct evidence_draft *draft, text_fn read, struct nvml_handle *handle)
{
    char text[NVML_TEXT_BYTES] = "";
    if (NVML_CALL(read, handle, text, sizeof(text) - 1) != NVML_OK || !text[0])
        return NULL;
    text[sizeof(text) - 1] = '\0';
    error_clean_text(text);
    return evidence_draft_copy(draft, text);
}

static int read_pci(const struct nvml_symbols *symbols, const char *library, struct nvml_gpu *gpu,
                    struct error_info *err)
{
    struct nvml_pci pci = {.domain = 0};
    int result = symbols->pci(gpu->handle, &pci);
    if (result != NVML_OK)
        return nvml_error(err, library, "nvmlDeviceGetPciInfo", result);
    if (pci.bus > UINT8_MAX || pci.device >= PCI_DEVICES)
        return error_set_system(err,
                                "%s: a GPU has the impossible PCI address %x:%x:%x; update "
                                "the driver",
                                library, pci.domain, pci.bus, pci.device);
    gpu->domain = pci.domain;
    gpu->bus = pci.bus;
    gpu->device = pci.device;
    return 0;
}

static bool has_bit(const unsigned long *words, unsigned bit)
{
    return (words[bit / BITS_PER_WORD] >> (bit % BITS_PER_WORD) & 1) != 0;
}

/* "0-23,96-119", or NULL. */
static const char *read_cpus(const struct nvml_symbols *symbols, struct nvml_handle *handle,
                             struct evidence_draft *draft)
{
    unsigned long words[MAXIMUM_CPUS / BITS_PER_WORD] = {0};
    if (NVML_CALL(symbols->cpu_affinity, handle, COUNT_OF(words), words) != NVML_OK)
        return NULL;
    CLEANUP(id_set) struct id_set *set = id_set_create();
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, (size_t)MAXIMUM_CPUS * 5);
    bool failed = !set;
    for (unsigned cpu = 0; cpu < MAXIMUM_CPUS && !failed; cpu++)
        failed = has_bit(words, cpu) && id_set_add(set, cpu, NULL) < 0;
    if (!failed)
        id_set_encode(set, &text);
    draft->failed = draft->failed || failed || text_buffer_failed(&text);
    return text.length > 0 ? evidence_draft_copy(draft, text_buffer_text(&text)) : NULL;
}

/* nvmlDeviceGetNumaNodeId is another thing: the node that the GPU's own memory is (Grace). Where
 * those are among the near ones too, no single node is the processors'. */
static int read_numa(const struct nvml_symbols *symbols, struct nvml_handle *handle)
{
    unsigned long words[MAXIMUM_NUMA_NODES / BITS_PER_WORD] = {0};
    if (NVML_CALL(symbols->memory_affinity, handle, COUNT_OF(words), words, NVML_AFFINITY_NODE) !=
        NVML_OK)
        return NUMA_UNKNOWN;
    int numa = NUMA_UNKNOWN;
    for (unsigned node = 0; node < MAXIMUM_NUMA_NODES; node++) {
        if (!has_bit(words, node))
            continue;
        if (numa != NUMA_UNKNOWN)
            return NUMA_UNKNOWN;
        numa = (int)node;
    }
    return numa;
}

/* GPU to host, one direction; the node's figure is the smallest. Where the processor is joined by
 * C2C, PCIe is not the way. */
static void read_pcie(const struct nvml_symbols *symbols, struct nvml_handle *handle,
                      struct evidence_gpu *said, struct evidence_draft *draft)
{
    static const double x16_bytes_per_second[] = {0, 3.94e9, 7.88e9, 15.75e9, 31.5e9, 63e9, 121e9};
    unsigned width = 0, maximum = 0, generation = 0, c2c = 0;
    if (NVML_CALL(symbols->pcie_maximum_width, handle, &maximum) != NVML_OK)
        return;
    if (NVML_CALL(symbols->pcie_width, handle, &width) == NVML_OK && width > 0 && width < maximum)
        said->problem = evidence_draft_format(draft, "PCIe x%u of x%u", width, maximum);
    if (NVML_CALL(symbols->c2c, handle, &c2c) == NVML_OK && c2c != 0)
        return;
    if (NVML_CALL(symbols->pcie_maximum_generation, handle, &generation) != NVML_OK ||
        generation >= COUNT_OF(x16_bytes_per_second) || maximum > FULL_WIDTH)
        return;
    double rate = x16_bytes_per_second[generation] * maximum / FULL_WIDTH;
    double *least = &draft->evidence.pcie_bytes_per_second;
    if (rate > 0 && (*least <= 0 || rate < *least))
        *least = rate;
}

static void read_fabric(const struct nvml_symbols *symbols, struct nvml_gpu *gpu)
{
    static const unsigned versions[] = {NVML_FABRIC_V3, NVML_FABRIC_V2};
    for (size_t i = 0; i < COUNT_OF(versions); i++) {
        struct nvml_fabric fabric = {.version = versions[i]};
        if (NVML_CALL(symbols->fabric, gpu->handle, &fabric) != NVML_OK)
            continue;
        gpu->fabric_state = fabric.state;
        gpu->fabric_status = fabric.status;
        gpu->fabric_clique = fabric.clique;
        gpu->fabric_health = versions[i] == NVML_FABRIC_V3 ? fabric.health_summary : 0;
        memcpy(gpu->cluster_uuid, fabric.cluster_uuid, sizeof(gpu->cluster_uuid));
        return;
    }
    struct nvml_fabric_v1 old = {.state = NVML_FABRIC_NOT_SUPPORTED};
    if (NVML_CALL(symbols->fabric_v1, gpu->handle, &old) != NVML_OK)
        return;
    gpu->fabric_state = old.state;
    gpu->fabric_status = old.status;
    gpu->fabric_clique = old.clique;
    memcpy(gpu->cluster_uuid, old.cluster_uuid, sizeof(gpu->cluster_uuid));
}

static void read_gpu(const struct nvml_symbols *symbols, struct nvml_gpu *gpu,
                     struct evidence_gpu *said, struct evidence_draft *draft)
{
    struct nvml_memory memory = {.total_bytes = 0};
    unsigned mig = 0, pending = 0;
    int major = 0, minor = 0;
    said->bus_id =
        evidence_draft_format(draft, "%04x:%02x:%02x.0", gpu->domain, gpu->bus, gpu->device);
    said->model_text = read_text(draft, symbols->name, gpu->handle);
    said->uuid = read_text(draft, symbols->uuid, gpu->handle);
    if (NVML_CALL(symbols->memory, gpu->handle, &memory) == NVML_OK)
        said->memory_bytes = memory.total_bytes;
    if (NVML_CALL(symbols->mig, gpu->handle, &mig, &pending) == NVML_OK)
        said->mig = mig == 1;
    if (NVML_CALL(symbols->compute, gpu->handle, &major, &minor) == NVML_OK && major > 0 &&
        major < 100 && minor >= 0 && minor < 10)
        gpu->compute = (unsigned)(major * 10 + minor);
    said->cpus = read_cpus(symbols, gpu->handle, draft);
    said->numa = read_numa(symbols, gpu->handle);
    read_pcie(symbols, gpu->handle, said, draft);
    read_fabric(symbols, gpu);
}

/* --- links --- */

static bool is_printable(const char *text, size_t bytes)
{
    size_t length = strnlen(text, bytes);
    for (size_t i = 0; i < length; i++)
        if (!isprint((unsigned char)text[i]))
            return false;
    return length > 0 && length < bytes;
}

/* The visible GPU at the other end, or gpu_count. An id that is no text is no GPU's. */
static unsigned find_remote(const struct nvml_node *node, unsigned gpu_count,
                            const struct nvml_pci *remote)
{
    bool readable = is_printable(remote->bus_id, sizeof(remote->bus_id)) ||
                    is_printable(remote->legacy_bus_id, sizeof(remote->legacy_bus_id));
    for (unsigned i = 0; readable && i < gpu_count; i++)
        if (node->gpus[i].domain == remote->domain && node->gpus[i].bus == remote->bus &&
            node->gpus[i].device == remote->device)
            return i;
    return gpu_count;
}

/* What the link of an index leads to. Switches that the driver does not show (virtual machines,
 * NVLink 5) have an empty or senseless id, or none at all. */
static void count_link(const struct nvml_symbols *symbols, const struct nvml_node *node,
                       unsigned gpu_count, struct nvml_gpu *gpu, unsigned link)
{
    struct nvml_pci remote = {.domain = 0};
    unsigned type = NVML_REMOTE_UNKNOWN, capable = 1;
    if (NVML_CALL(symbols->link_capability, gpu->handle, link, NVML_LINK_CAPABILITY_P2P,
                  &capable) == NVML_OK &&
        capable == 0)
        return;
    if (NVML_CALL(symbols->link_remote_type, gpu->handle, link, &type) != NVML_OK)
        type = NVML_REMOTE_UNKNOWN;
    unsigned peer = gpu_count;
    if (NVML_CALL(symbols->link_remote, gpu->handle, link, &remote) == NVML_OK)
        peer = find_remote(node, gpu_count, &remote);
    if (peer < gpu_count)
        gpu->direct[peer]++;
    else if (type == NVML_REMOTE_GPU)
        gpu->hidden++;
    else if (type != NVML_REMOTE_NPU)
        gpu->to_switches++;
    gpu->says_switch = gpu->says_switch || type == NVML_REMOTE_SWITCH;
}

/* From Hopper on the field is the answer that NCCL relies on. */
static int read_link_state(const struct nvml_symbols *symbols, const struct nvml_gpu *gpu,
                           unsigned link, unsigned *ret_up)
{
    struct nvml_field field = {.field = NVML_FIELD_LINK_STATE, .scope = link};
    if (gpu->compute >= 90 && NVML_CALL(symbols->fields, gpu->handle, 1, &field) == NVML_OK &&
        field.result == NVML_OK) {
        *ret_up = field.value.number;
        return NVML_OK;
    }
    return NVML_CALL(symbols->link_state, gpu->handle, link, ret_up);
}

static void read_links(const struct nvml_symbols *symbols, struct nvml_node *node,
                       unsigned gpu_count, struct nvml_gpu *gpu)
{
    for (unsigned link = 0; link < NVML_MAXIMUM_LINKS; link++) {
        unsigned up = 0;
        int result = read_link_state(symbols, gpu, link, &up);
        if (result == NVML_INVALID_ARGUMENT || result == NVML_NOT_SUPPORTED)
            continue; /* no such link: others may follow */
        if (result != NVML_OK)
            return;
        if (up != 1)
            continue;
        if (gpu->link_version == 0)
            (void)NVML_CALL(symbols->link_version, gpu->handle, link, &gpu->link_version);
        gpu->links_up++;
        count_link(symbols, node, gpu_count, gpu, link);
    }
    gpu->knows_links = true;
}

/* --- pairs --- */

static enum nvml_peer read_peer(const struct nvml_symbols *symbols, struct nvml_handle *first,
                                struct nvml_handle *second)
{
    unsigned status = NVML_P2P_UNKNOWN;
    if (NVML_CALL(symbols->p2p, first, second, NVML_P2P_INDEX_NVLINK, &status) != NVML_OK ||
        status == NVML_P2P_UNKNOWN)
        return NVML_PEER_UNKNOWN;
    return status == NVML_P2P_OK ? NVML_PEER_YES : NVML_PEER_NO;
}

static enum link_kind read_link_kind(const struct nvml_symbols *symbols, struct nvml_handle *first,
                                     struct nvml_handle *second)
{
    static const enum link_kind kinds[] = {LINK_PIX, LINK_PIX,  LINK_PXB,
                                           LINK_PHB, LINK_NODE, LINK_SYS};
    unsigned level = 0;
    if (NVML_CALL(symbols->common_ancestor, first, second, &level) != NVML_OK || level % 10 != 0 ||
        level / 10 >= COUNT_OF(kinds))
        return LINK_UNKNOWN;
    return kinds[level / 10];
}

static void read_pairs(const struct nvml_symbols *symbols, struct nvml_node *node,
                       struct evidence_draft *draft)
{
    for (unsigned i = 0; i < draft->evidence.gpu_count; i++) {
        for (unsigned j = 0; j < i; j++) {
            struct nvml_handle *first = node->gpus[j].handle, *second = node->gpus[i].handle;
            node->peers[i][j] = node->peers[j][i] = read_peer(symbols, first, second);
            enum link_kind kind = read_link_kind(symbols, first, second);
            if (kind != LINK_UNKNOWN)
                evidence_draft_set_gpu_link(draft, j, i, kind);
        }
    }
}

/* --- the node --- */

/* Inside a job the other jobs' GPUs may be listed and forbidden. */
static int open_gpus(const struct nvml_symbols *symbols, struct nvml_node *node, unsigned count,
                     struct evidence_draft *draft, struct error_info *err)
{
    unsigned forbidden = 0;
    for (unsigned i = 0; i < count; i++) {
        struct nvml_handle *handle = NULL;
        int result = symbols->device(i, &handle);
        forbidden += result == NVML_NO_PERMISSION;
        if (result == NVML_NO_PERMISSION)
            continue;
        if (result != NVML_OK)
            return nvml_error(err, node->library, "nvmlDeviceGetHandleByIndex_v2", result);
        unsigned at = draft->evidence.gpu_count;
        if (!evidence_draft_add_gpu(draft, err))
            return -1;
        node->gpus[at].handle = handle;
        if (read_pci(symbols, node->library, &node->gpus[at], err) < 0)
            return -1;
    }
    if (forbidden > 0 && forbidden == count)
        return nvml_error(err, node->library, "nvmlDeviceGetHandleByIndex_v2", NVML_NO_PERMISSION);
    if (forbidden > 0)
        evidence_draft_warn(draft, "%u of %u GPUs are not permitted here and left out", forbidden,
                            count);
    return 0;
}

int nvml_node_read(const struct nvml_symbols *symbols, struct nvml_node *node,
                   struct evidence_draft *draft, struct error_info *err)
{
    unsigned count = 0;
    char version[NVML_TEXT_BYTES] = "";
    int result = symbols->device_count(&count);
    if (result != NVML_OK)
        return nvml_error(err, node->library, "nvmlDeviceGetCount_v2", result);
    if (open_gpus(symbols, node, count, draft, err) < 0)
        return -1;
    if (NVML_CALL(symbols->driver_version, version, sizeof(version) - 1) == NVML_OK && version[0]) {
        error_clean_text(version);
        draft->evidence.driver_version = evidence_draft_copy(draft, version);
    }
    for (unsigned i = 0; i < draft->evidence.gpu_count; i++) {
        read_gpu(symbols, &node->gpus[i], &draft->gpus[i], draft);
        read_links(symbols, node, draft->evidence.gpu_count, &node->gpus[i]);
    }
    read_pairs(symbols, node, draft);
    return 0;
}
