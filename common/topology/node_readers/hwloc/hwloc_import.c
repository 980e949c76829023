/* SPDX-License-Identifier: MIT */
#include "topology/node_readers/hwloc/hwloc_import.h"
#include "base/parse_number.h"
#include "topology/node_readers/hwloc/nvlink_closure.h"
#include "topology/node_readers/hwloc/pci_device.h"
#include "topology/text_list.h"
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVIDENCE_MAXIMUM_BYTES ((size_t)16 << 20)
#define MAXIMUM_PORTS 8u
#define MAXIMUM_MATRIX 1024u /* objects in a distances matrix */
#define BUS_ID_BYTES 24u
#define CPU_LIST_BYTES 4096
#define SOURCE_TEXT_BYTES 512
#define MEGA 1e6
#define KIBI 1024u

/* hwloc 3.0 made the device type a set. */
#if HWLOC_API_VERSION >= 0x00030000
#define osdev_is(object, kind) (((object)->attr->osdev.types & HWLOC_OBJ_OSDEV_##kind) != 0)
#define SHOW_ERRORS_VARIABLE "HWLOC_SHOW_ERRORS"
#define SHOW_ERRORS_VALUE "none"
#else
#define osdev_is(object, kind) ((object)->attr->osdev.type == HWLOC_OBJ_OSDEV_##kind)
#define SHOW_ERRORS_VARIABLE "HWLOC_HIDE_ERRORS"
#define SHOW_ERRORS_VALUE "2"
#endif

struct walk {
    hwloc_topology_t topology;
    struct node_evidence *evidence;
    struct evidence_gpu gpus[NODE_MAXIMUM_GPUS];
    hwloc_obj_t gpu_objects[NODE_MAXIMUM_GPUS];
    struct evidence_nic nics[NODE_MAXIMUM_NICS];
    hwloc_obj_t nic_objects[NODE_MAXIMUM_NICS];
    const char *notes[HWLOC_IMPORT_MAXIMUM_NOTES];
    bool failed; /* out of memory */
};

static void topology_destroy(hwloc_topology_t *topology)
{
    if (*topology)
        hwloc_topology_destroy(*topology);
}

const char *hwloc_import_version(void) { return HWLOC_VERSION; }

static void add_note(struct walk *walk, const char *text)
{
    if (walk->evidence->note_count < HWLOC_IMPORT_MAXIMUM_NOTES && text)
        walk->notes[walk->evidence->note_count++] = text;
    walk->failed = walk->failed || !text;
}

static const char *copy(struct walk *walk, const char *text)
{
    return text_list_copy(walk->evidence->arena, text, &walk->failed);
}

static bool starts_with(const char *text, const char *start)
{
    return text && strncmp(text, start, strlen(start)) == 0;
}

static void format_bus_id(hwloc_obj_t pci, char out[BUS_ID_BYTES])
{
    const struct hwloc_pcidev_attr_s *at = &pci->attr->pcidev;
    snprintf(out, BUS_ID_BYTES, "%04x:%02x:%02x.%01x", at->domain, at->bus, at->dev, at->func);
}

/* The PCI function that an OS device belongs to, or NULL. */
static hwloc_obj_t pci_parent(hwloc_obj_t object)
{
    while (object && object->type != HWLOC_OBJ_PCI_DEVICE)
        object = object->parent;
    return object;
}

/* Unknown unless exactly one NUMA node is near. */
static int near_numa(struct walk *walk, hwloc_obj_t object)
{
    hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(walk->topology, object);
    if (!near || !near->nodeset || hwloc_bitmap_weight(near->nodeset) != 1)
        return NUMA_UNKNOWN;
    return hwloc_bitmap_first(near->nodeset);
}

/* CPUs of that one NUMA node as "0-23,96-119"; NULL: unknown. */
static const char *near_cpus(struct walk *walk, hwloc_obj_t object)
{
    char list[CPU_LIST_BYTES];
    hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(walk->topology, object);
    if (near_numa(walk, object) == NUMA_UNKNOWN || !near->cpuset)
        return NULL;
    int length = hwloc_bitmap_list_snprintf(list, sizeof(list), near->cpuset);
    return length > 0 && length < (int)sizeof(list) ? copy(walk, list) : NULL;
}

/* --- GPUs --- */

static bool is_compute_device(hwloc_obj_t device)
{
    static const char *const names[] = {"nvml", "cuda", "rsmi", "amdsmi", "ze", "opencl"};
    if (!osdev_is(device, GPU) && !osdev_is(device, COPROC))
        return false;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (starts_with(device->name, names[i]))
            return true;
    return false;
}

static struct pci_device identify(hwloc_obj_t pci)
{
    struct pci_device device = {
        .vendor = pci->attr->pcidev.vendor_id,
        .device = pci->attr->pcidev.device_id,
        .class_id = pci->attr->pcidev.class_id,
        .says_nvswitch = pci->subtype && strcmp(pci->subtype, "NVSwitch") == 0,
    };
    for (hwloc_obj_t child = pci->io_first_child; child; child = child->next_sibling) {
        if (child->type != HWLOC_OBJ_OS_DEVICE)
            continue;
        device.has_compute = device.has_compute || is_compute_device(child);
        device.has_render = device.has_render || starts_with(child->name, "renderD");
    }
    return device;
}

/* The value of the first device under the function that has this key, or NULL. */
static const char *device_info(hwloc_obj_t pci, const char *key)
{
    for (hwloc_obj_t child = pci->io_first_child; child; child = child->next_sibling) {
        const char *value = hwloc_obj_get_info_by_name(child, key);
        if (value)
            return value;
    }
    return NULL;
}

static uint64_t gpu_memory(hwloc_obj_t pci)
{
    static const char *const keys[] = {"CUDAGlobalMemorySize", "RSMIVRAMSize", "LevelZeroHBMSize",
                                       "OpenCLGlobalMemorySize"};
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        const char *value = device_info(pci, keys[i]);
        uint64_t kibibytes;
        if (value && parse_unsigned(value, 1, UINT64_MAX / KIBI, &kibibytes, NULL) == 0)
            return kibibytes * KIBI;
    }
    return 0;
}

/* What a library calls the board, else the PCI name and numbers, by which the catalogue knows
 * the common boards. */
static const char *gpu_model(struct walk *walk, hwloc_obj_t pci)
{
    const char *model = device_info(pci, "GPUModel");
    if (model)
        return copy(walk, model);
    const char *name = hwloc_obj_get_info_by_name(pci, "PCIDevice");
    const char *text =
        arena_format(walk->evidence->arena, "%s%s%04x:%04x", name ? name : "", name ? " " : "",
                     pci->attr->pcidev.vendor_id, pci->attr->pcidev.device_id);
    walk->failed = walk->failed || !text;
    return text;
}

static int add_gpu(struct walk *walk, hwloc_obj_t pci, const char *bus_id, struct error_info *err)
{
    struct node_evidence *evidence = walk->evidence;
    if (evidence->gpu_count == NODE_MAXIMUM_GPUS)
        return error_set(err, "%s: more than %u GPUs in one node", evidence->source_text,
                         NODE_MAXIMUM_GPUS);
    const char *uuid = device_info(pci, "NVIDIAUUID");
    walk->gpu_objects[evidence->gpu_count] = pci;
    walk->gpus[evidence->gpu_count++] = (struct evidence_gpu){
        .bus_id = copy(walk, bus_id),
        .model_text = gpu_model(walk, pci),
        .uuid = copy(walk, uuid ? uuid : device_info(pci, "AMDUUID")),
        .memory_bytes = gpu_memory(pci),
        .numa = near_numa(walk, pci),
        .cpus = near_cpus(walk, pci),
    };
    return 0;
}

static int find_gpus(struct walk *walk, struct error_info *err)
{
    hwloc_obj_t pci = NULL;
    while ((pci = hwloc_get_next_pcidev(walk->topology, pci))) {
        const struct pci_device device = identify(pci);
        const char *reason;
        char bus_id[BUS_ID_BYTES];
        format_bus_id(pci, bus_id);
        enum pci_role role = pci_device_role(&device, &reason);
        if (role == PCI_GPU && add_gpu(walk, pci, bus_id, err) < 0)
            return -1;
        if (role == PCI_DECOY)
            add_note(walk, arena_format(walk->evidence->arena, "%s is no GPU: %s", bus_id, reason));
    }
    return 0;
}

/* --- NICs --- */

static const char *port_info(hwloc_obj_t device, unsigned port, const char *what)
{
    char key[32];
    snprintf(key, sizeof(key), "Port%u%s", port, what);
    return hwloc_obj_get_info_by_name(device, key);
}

/* One active port is enough. */
static enum nic_state port_state(hwloc_obj_t device)
{
    enum nic_state state = NIC_STATE_UNKNOWN;
    for (unsigned port = 1; port <= MAXIMUM_PORTS; port++) {
        const char *value = port_info(device, port, "State");
        if (value && strcmp(value, "4") == 0)
            return NIC_ACTIVE;
        if (value)
            state = NIC_DOWN;
    }
    return state;
}

/* "b8e9:2403:00ba:a4c8" */
static uint64_t node_guid(hwloc_obj_t device)
{
    const char *text = hwloc_obj_get_info_by_name(device, "NodeGUID");
    char digits[17];
    size_t count = 0;
    uint64_t guid = 0;
    for (; text && *text && count + 1 < sizeof(digits); text++)
        if (*text != ':')
            digits[count++] = *text;
    digits[count] = '\0';
    if (count == 0 || parse_hexadecimal(digits, UINT64_MAX, &guid, NULL) < 0)
        return 0;
    return guid;
}

#define PCI_CLASS_ETHERNET 0x0200

/* hwloc does not say the link layer. An Ethernet function whose port has no LID is RoCE; EFA
 * looks like it but has no GUID. */
static bool is_ethernet(hwloc_obj_t device, uint64_t guid)
{
    hwloc_obj_t pci = pci_parent(device);
    const char *lid = port_info(device, 1, "LID");
    return pci && pci->attr->pcidev.class_id == PCI_CLASS_ETHERNET && guid != 0 && lid &&
           strcmp(lid, "0x0") == 0;
}

static bool has_openfabrics(hwloc_obj_t pci)
{
    for (hwloc_obj_t child = pci ? pci->io_first_child : NULL; child; child = child->next_sibling)
        if (child->type == HWLOC_OBJ_OS_DEVICE && osdev_is(child, OPENFABRICS))
            return true;
    return false;
}

/* NULL: not a NIC of its own. Network devices of an HCA (ib0, hsi0 on LLNL's nodes) are not;
 * hsiN and cxiN without one are Slingshot. */
static const char *nic_class(hwloc_obj_t device)
{
    if (osdev_is(device, OPENFABRICS))
        return "openfabrics";
    if (!osdev_is(device, NETWORK) || !pci_parent(device) || has_openfabrics(pci_parent(device)))
        return NULL;
    bool slingshot = starts_with(device->name, "hsi") || starts_with(device->name, "cxi");
    return slingshot ? "hsi" : "ethernet";
}

static int add_nic(struct walk *walk, hwloc_obj_t device, const char *driver_class,
                   struct error_info *err)
{
    struct node_evidence *evidence = walk->evidence;
    if (evidence->nic_count == NODE_MAXIMUM_NICS)
        return error_set(err, "%s: more than %u NICs in one node", evidence->source_text,
                         NODE_MAXIMUM_NICS);
    hwloc_obj_t pci = pci_parent(device);
    char bus_id[BUS_ID_BYTES];
    if (pci)
        format_bus_id(pci, bus_id);
    uint64_t guid = node_guid(device);
    walk->nic_objects[evidence->nic_count] = pci ? pci : device;
    walk->nics[evidence->nic_count++] = (struct evidence_nic){
        .name = copy(walk, device->name),
        .bus_id = copy(walk, pci ? bus_id : NULL),
        .driver_class = driver_class,
        .state = port_state(device),
        .is_ethernet = is_ethernet(device, guid),
        .guid = guid,
        .numa = near_numa(walk, device),
    };
    return 0;
}

static int find_nics(struct walk *walk, struct error_info *err)
{
    hwloc_obj_t device = NULL;
    while ((device = hwloc_get_next_osdev(walk->topology, device))) {
        const char *driver_class = device->name ? nic_class(device) : NULL;
        if (driver_class && add_nic(walk, device, driver_class, err) < 0)
            return -1;
    }
    return 0;
}

/* --- how near --- */

static bool is_above(hwloc_obj_t upper, hwloc_obj_t lower)
{
    while (lower && lower != upper)
        lower = lower->parent;
    return lower != NULL;
}

/* Bridges strictly between the device and the ancestor. */
static unsigned bridges_below(hwloc_obj_t ancestor, hwloc_obj_t device)
{
    unsigned count = 0;
    for (hwloc_obj_t at = device->parent; at && at != ancestor; at = at->parent)
        count += at->type == HWLOC_OBJ_BRIDGE;
    return count;
}

/* In the words of nvidia-smi, from the lowest object above both. hwloc's own search for it
 * goes by depths, which I/O objects do not have. */
static enum link_kind link_between(hwloc_obj_t left, hwloc_obj_t right)
{
    hwloc_obj_t common = left;
    while (common && !is_above(common, right))
        common = common->parent;
    if (!common)
        return LINK_UNKNOWN;
    if (common->type == HWLOC_OBJ_BRIDGE &&
        common->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_HOST)
        return LINK_PHB;
    if (common->type == HWLOC_OBJ_BRIDGE || common->type == HWLOC_OBJ_PCI_DEVICE)
        return bridges_below(common, left) <= 1 && bridges_below(common, right) <= 1 ? LINK_PIX
                                                                                     : LINK_PXB;
    bool one_node = common->nodeset && hwloc_bitmap_weight(common->nodeset) <= 1;
    return one_node ? LINK_NODE : LINK_SYS;
}

static int find_links(struct walk *walk, struct error_info *err)
{
    struct node_evidence *evidence = walk->evidence;
    size_t n = evidence->gpu_count, m = evidence->nic_count;
    enum link_kind *gpu_links = arena_allocate_array(evidence->arena, n * n, sizeof(*gpu_links));
    enum link_kind *nic_links = arena_allocate_array(evidence->arena, n * m, sizeof(*nic_links));
    if (!gpu_links || !nic_links)
        return error_set_memory(err);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++)
            if (i != j)
                gpu_links[i * n + j] = link_between(walk->gpu_objects[i], walk->gpu_objects[j]);
        for (size_t j = 0; j < m; j++)
            nic_links[i * m + j] = link_between(walk->gpu_objects[i], walk->nic_objects[j]);
    }
    evidence->gpu_links = gpu_links;
    evidence->nic_links = nic_links;
    return 0;
}

/* --- NVLink --- */

static int matrix_entry(const struct walk *walk, hwloc_obj_t object)
{
    hwloc_obj_t pci = object ? pci_parent(object) : NULL;
    if (!pci)
        return NVLINK_OTHER; /* a POWER processor */
    for (unsigned i = 0; i < walk->evidence->gpu_count; i++)
        if (walk->gpu_objects[i] == pci)
            return (int)i;
    const struct pci_device device = identify(pci);
    const char *reason;
    return pci_device_role(&device, &reason) == PCI_NVSWITCH ? NVLINK_SWITCH : NVLINK_OTHER;
}

static int close_matrix(struct walk *walk, const struct hwloc_distances_s *distances,
                        struct error_info *err)
{
    struct node_evidence *evidence = walk->evidence;
    size_t n = evidence->gpu_count, count = distances->nbobjs;
    if (count > MAXIMUM_MATRIX)
        return error_set(err, "%s: an NVLink matrix of %zu objects", evidence->source_text, count);
    double *rates = arena_allocate_array(evidence->arena, n * n, sizeof(*rates));
    CLEANUP_MEMORY int *gpu_of = memory_allocate_array(count, sizeof(*gpu_of));
    CLEANUP_MEMORY uint64_t *matrix = memory_allocate_array(count * count, sizeof(*matrix));
    if (!rates || !gpu_of || !matrix)
        return error_set_memory(err);
    for (size_t i = 0; i < count; i++)
        gpu_of[i] = matrix_entry(walk, distances->objs[i]);
    for (size_t i = 0; i < count * count; i++)
        matrix[i] = distances->values[i];
    evidence->nvlink_switched = nvlink_closure(matrix, count, gpu_of, n, MEGA, rates);
    evidence->nvlink_bytes_per_second = rates;
    evidence->nvlink = NVLINK_KNOWN;
    return 0;
}

/* A matrix that is missing says nothing: hwloc before 2.12 gives none for Hopper and later. */
static int find_nvlink(struct walk *walk, struct error_info *err)
{
    static const char *const names[] = {"NVLinkBandwidth", "XGMIBandwidth"};
    for (size_t i = 0; i < COUNT_OF(names) && walk->evidence->gpu_count > 0; i++) {
        struct hwloc_distances_s *distances = NULL;
        unsigned count = 1;
        if (hwloc_distances_get_by_name(walk->topology, names[i], &count, &distances, 0) < 0 ||
            count == 0)
            continue;
        int closed = close_matrix(walk, distances, err);
        hwloc_distances_release(walk->topology, distances);
        return closed;
    }
    return 0;
}

/* --- the host --- */

static void find_host(struct walk *walk)
{
    struct node_evidence *evidence = walk->evidence;
    int cpus = hwloc_get_nbobjs_by_type(walk->topology, HWLOC_OBJ_PU);
    evidence->cpu_count = cpus > 0 ? (unsigned)cpus : 0;
    evidence->host_memory_bytes = hwloc_get_root_obj(walk->topology)->total_memory;
    hwloc_obj_t device = NULL;
    while ((device = hwloc_get_next_osdev(walk->topology, device))) {
        const char *size = hwloc_obj_get_info_by_name(device, "Size");
        uint64_t kibibytes;
        if (starts_with(device->name, "nvme") && size &&
            parse_unsigned(size, 1, UINT32_MAX * (uint64_t)KIBI, &kibibytes, NULL) == 0)
            evidence->host_nvme_bytes += kibibytes * KIBI;
    }
}

static int store(struct walk *walk, struct error_info *err)
{
    struct node_evidence *evidence = walk->evidence;
    struct evidence_gpu *gpus =
        arena_allocate_array(evidence->arena, evidence->gpu_count, sizeof(*gpus));
    struct evidence_nic *nics =
        arena_allocate_array(evidence->arena, evidence->nic_count, sizeof(*nics));
    const char **notes =
        arena_allocate_array(evidence->arena, evidence->note_count, sizeof(*notes));
    if (!gpus || !nics || !notes || walk->failed)
        return error_set_memory(err);
    memcpy(gpus, walk->gpus, evidence->gpu_count * sizeof(*gpus));
    memcpy(nics, walk->nics, evidence->nic_count * sizeof(*nics));
    memcpy(notes, walk->notes, evidence->note_count * sizeof(*notes));
    evidence->gpus = gpus;
    evidence->nics = nics;
    evidence->notes = notes;
    return 0;
}

static struct node_evidence *create_evidence(const char *source_text, struct error_info *err)
{
    CLEANUP(arena) struct arena *arena = arena_create(EVIDENCE_MAXIMUM_BYTES);
    struct node_evidence *evidence = arena ? arena_allocate(arena, sizeof(*evidence)) : NULL;
    char *text = evidence ? arena_copy_text(arena, source_text) : NULL;
    if (!text)
        return error_null(error_set_memory(err));
    evidence->source = EVIDENCE_HWLOC;
    evidence->source_text = text;
    evidence->arena = move_pointer(arena);
    return evidence;
}

static struct node_evidence *walk_topology(hwloc_topology_t topology, const char *source_text,
                                           struct error_info *err)
{
    CLEANUP_MEMORY struct walk *walk = memory_allocate(sizeof(*walk));
    if (!walk)
        return error_null(error_set_memory(err));
    CLEANUP(node_evidence) struct node_evidence *evidence = create_evidence(source_text, err);
    if (!evidence)
        return NULL;
    walk->topology = topology;
    walk->evidence = evidence;
    if (find_gpus(walk, err) < 0 || find_nics(walk, err) < 0 || find_links(walk, err) < 0 ||
        find_nvlink(walk, err) < 0)
        return NULL;
    find_host(walk);
    if (store(walk, err) < 0)
        return NULL;
    return move_pointer(evidence);
}

/* CUDA would open a context and gl can hang. A component that this hwloc does not have is
 * refused, which is fine. */
static int configure(hwloc_topology_t topology)
{
    static const char *const unwanted[] = {"cuda", "opencl", "gl"};
    for (size_t i = 0; i < COUNT_OF(unwanted); i++)
        hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST,
                                      unwanted[i]);
    return hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
}

struct node_evidence *hwloc_import_live(struct error_info *err)
{
    /* hwloc prints a banner about bad firmware on stderr unless told not to. */
    const char *set = getenv(SHOW_ERRORS_VARIABLE);
    CLEANUP_MEMORY char *before = set ? memory_copy_text(set) : NULL;
    if (set && !before)
        return error_null(error_set_memory(err));
    setenv(SHOW_ERRORS_VARIABLE, SHOW_ERRORS_VALUE, 1);
    __attribute__((cleanup(topology_destroy))) hwloc_topology_t topology = NULL;
    struct node_evidence *evidence = NULL;
    if (hwloc_topology_init(&topology) < 0 || configure(topology) < 0 ||
        hwloc_topology_load(topology) < 0)
        error_set_system(err, "hwloc could not read this machine");
    else
        evidence = walk_topology(topology, "hwloc", err);
    if (before)
        setenv(SHOW_ERRORS_VARIABLE, before, 1);
    else
        unsetenv(SHOW_ERRORS_VARIABLE);
    return evidence;
}

struct node_evidence *hwloc_import_xml(const char *text, size_t bytes, const char *source,
                                       struct error_info *err)
{
    __attribute__((cleanup(topology_destroy))) hwloc_topology_t topology = NULL;
    if (hwloc_topology_init(&topology) < 0)
        return error_null(error_set_memory(err));
    if (configure(topology) < 0 ||
        hwloc_topology_set_xmlbuffer(topology, text, (int)(bytes + 1)) < 0 ||
        hwloc_topology_load(topology) < 0)
        return error_null(error_set(err, "%s: hwloc %s cannot read this as its XML", source,
                                    hwloc_import_version()));
    char source_text[SOURCE_TEXT_BYTES];
    snprintf(source_text, sizeof(source_text), "hwloc xml %s", source);
    return walk_topology(topology, source_text, err);
}
