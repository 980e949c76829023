/* SPDX-License-Identifier: MIT */
#include "topology/node_readers/sysfs/kfd_reader.h"
#include "topology/link_generation.h"
#include "topology/node_readers/sysfs/kfd_nodes.h"
#include "topology/node_readers/sysfs/pci_health.h"
#include "topology/node_readers/sysfs/sysfs_text.h"
#include <math.h>
#include <string.h>

#define MEGABYTE 1e6
#define GFX_BYTES 48u
#define PROBLEM_BYTES 256u
#define FIRST_PARTITIONED_GFX 90400u /* MI300; older GPUs cannot be cut */
#define NO_WEIGHT UINT64_MAX

/* One physical device. */
struct kfd_gpu {
    const struct kfd_node *first; /* of its partitions */
    unsigned partitions;
    uint64_t memory_bytes;
    bool memory_unknown; /* of some partition */
    bool has_bus_id, shares_bus_id;
    unsigned function; /* the lowest */
    uint64_t cpu_weight;
    unsigned cpu_node;
    bool links_whole; /* of every partition */
    bool has_xgmi;    /* to another GPU, direct or not */
    bool has_direct;
};

struct kfd_reader {
    struct kfd_nodes nodes;
    struct kfd_gpu gpus[NODE_MAXIMUM_GPUS];
    unsigned count;
    /* Row: from. */
    double rates[NODE_MAXIMUM_GPUS][NODE_MAXIMUM_GPUS];
    unsigned link_counts[NODE_MAXIMUM_GPUS][NODE_MAXIMUM_GPUS]; /* of direct XGMI links */
    bool pcie[NODE_MAXIMUM_GPUS][NODE_MAXIMUM_GPUS];
    struct evidence_draft *draft;
};

/* --- which nodes are one GPU ------------------------------------------------------ */

static unsigned bus_of(const struct kfd_node *node) { return node->location_id >> 8 & 0xff; }
static unsigned slot_of(const struct kfd_node *node) { return node->location_id >> 3 & 0x1f; }
static unsigned function_of(const struct kfd_node *node) { return node->location_id & 7; }

static bool has_place(const struct kfd_node *node)
{
    return (node->location_id & 0xffff) != 0 && node->domain <= UINT32_MAX;
}

static bool same_slot(const struct kfd_node *left, const struct kfd_node *right)
{
    return has_place(left) && has_place(right) && left->domain == right->domain &&
           bus_of(left) == bus_of(right) && slot_of(left) == slot_of(right);
}

static bool are_partitions(const struct kfd_node *left, const struct kfd_node *right)
{
    return same_slot(left, right) && left->gfx_target_version >= FIRST_PARTITIONED_GFX &&
           left->gfx_target_version == right->gfx_target_version;
}

static struct kfd_gpu *find_gpu(struct kfd_reader *reader, const struct kfd_node *node)
{
    for (unsigned i = 0; i < reader->count; i++)
        if (are_partitions(reader->gpus[i].first, node))
            return &reader->gpus[i];
    return NULL;
}

/* Two boards cannot sit in one place: such bus ids name nothing. */
static void mark_shared_bus_ids(struct kfd_reader *reader, struct kfd_gpu *gpu)
{
    for (unsigned i = 0; i < reader->count; i++) {
        struct kfd_gpu *other = &reader->gpus[i];
        if (other != gpu && same_slot(other->first, gpu->first) && other->function == gpu->function)
            other->shares_bus_id = gpu->shares_bus_id = true;
    }
}

static int add_node(struct kfd_reader *reader, struct kfd_node *node, struct error_info *err)
{
    struct kfd_gpu *gpu = find_gpu(reader, node);
    if (!gpu) {
        if (!evidence_draft_add_gpu(reader->draft, err))
            return -1;
        gpu = &reader->gpus[reader->count++];
        *gpu = (struct kfd_gpu){
            .first = node,
            .has_bus_id = has_place(node),
            .function = function_of(node),
            .cpu_weight = NO_WEIGHT,
            .links_whole = true,
        };
        mark_shared_bus_ids(reader, gpu);
    }
    node->gpu = (unsigned)(gpu - reader->gpus);
    gpu->partitions++;
    gpu->memory_bytes += node->memory_bytes;
    gpu->memory_unknown = gpu->memory_unknown || node->memory_bytes == 0;
    if (function_of(node) < gpu->function)
        gpu->function = function_of(node);
    return 0;
}

static int find_gpus(struct kfd_reader *reader, struct error_info *err)
{
    for (unsigned i = 0; i < KFD_MAXIMUM_NODES; i++) {
        struct kfd_node *node = &reader->nodes.nodes[i];
        if (node->readable && node->simd_count > 0 && add_node(reader, node, err) < 0)
            return -1;
    }
    return 0;
}

/* --- links ------------------------------------------------------------------------ */

/* "gfx90a" of 90010; "" where the kernel does not say. */
static void write_gfx(uint64_t version, char text[GFX_BYTES])
{
    text[0] = '\0';
    if (version > 0 && version < 10000000)
        snprintf(text, GFX_BYTES, "gfx%u%x%x", (unsigned)(version / 10000),
                 (unsigned)(version / 100 % 100), (unsigned)(version % 100));
}

static double link_rate(const struct kfd_link *link, const struct kfd_node *from)
{
    char gfx[GFX_BYTES];
    if (link->maximum_megabytes_per_second > 0)
        return (double)link->maximum_megabytes_per_second * MEGABYTE;
    write_gfx(from->gfx_target_version, gfx);
    return xgmi_rate_of_gfx(gfx);
}

static unsigned link_count(const struct kfd_link *link)
{
    uint64_t one = link->minimum_megabytes_per_second, all = link->maximum_megabytes_per_second;
    uint64_t count = one > 0 && all > one ? all / one : 1;
    return count <= NVLINK_MAXIMUM_LINKS ? (unsigned)count : 1;
}

static void take_cpu_link(struct kfd_gpu *gpu, const struct kfd_link *link)
{
    if (link->weight >= gpu->cpu_weight)
        return;
    gpu->cpu_weight = link->weight;
    gpu->cpu_node = link->to;
}

/* Partitions of two GPUs all list the same physical links: the best one counts, once. */
static void take_gpu_link(struct kfd_reader *reader, const struct kfd_link *link, unsigned from,
                          unsigned to)
{
    reader->pcie[from][to] = reader->pcie[from][to] || link->type == KFD_LINK_PCIE;
    if (link->type != KFD_LINK_XGMI)
        return;
    reader->gpus[from].has_xgmi = true;
    if (link->weight > KFD_WEIGHT_ONE_HOP)
        return;
    double rate = link_rate(link, reader->gpus[from].first);
    unsigned count = link_count(link);
    reader->rates[from][to] = fmax(reader->rates[from][to], rate);
    if (count > reader->link_counts[from][to])
        reader->link_counts[from][to] = count;
}

static void take_link(void *context, const struct kfd_link *link)
{
    struct kfd_reader *reader = context;
    const struct kfd_node *to = &reader->nodes.nodes[link->to];
    unsigned from = reader->nodes.nodes[link->from].gpu;
    if (to->gpu == KFD_NO_GPU && to->cpu_cores_count > 0)
        take_cpu_link(&reader->gpus[from], link);
    else if (to->gpu != KFD_NO_GPU && to->gpu != from)
        take_gpu_link(reader, link, from, to->gpu);
}

static int read_links(struct kfd_reader *reader, struct error_info *err)
{
    for (unsigned i = 0; i < KFD_MAXIMUM_NODES; i++) {
        enum kfd_links io = KFD_LINKS_ABSENT, peers = KFD_LINKS_ABSENT;
        unsigned gpu = reader->nodes.nodes[i].gpu;
        if (gpu == KFD_NO_GPU)
            continue;
        if (kfd_links_read(&reader->nodes, i, "io_links", take_link, reader, &io, err) < 0 ||
            kfd_links_read(&reader->nodes, i, "p2p_links", take_link, reader, &peers, err) < 0)
            return -1;
        /* Older kernels have no p2p_links. */
        if (io != KFD_LINKS_WHOLE || peers == KFD_LINKS_PARTIAL)
            reader->gpus[gpu].links_whole = false;
    }
    return 0;
}

/* --- conclusions ------------------------------------------------------------------ */

static const char *gpu_word(const struct kfd_reader *reader, unsigned gpu)
{
    const char *bus_id = reader->draft->gpus[gpu].bus_id;
    return bus_id ? bus_id : "without bus id";
}

enum pair { PAIR_NONE, PAIR_DIRECT, PAIR_UNKNOWN };

static enum pair pair_of(const struct kfd_reader *reader, unsigned i, unsigned j)
{
    bool there = reader->link_counts[i][j] > 0, back = reader->link_counts[j][i] > 0;
    if (there && back)
        return PAIR_DIRECT;
    if (there || back || !reader->gpus[i].links_whole || !reader->gpus[j].links_whole)
        return PAIR_UNKNOWN;
    return PAIR_NONE;
}

static double pair_rate(const struct kfd_reader *reader, unsigned i, unsigned j)
{
    return fmin(reader->rates[i][j], reader->rates[j][i]);
}

/* Some links have no rate: then their number is told, and the merge rates all by the model. */
static bool lacks_rates(const struct kfd_reader *reader)
{
    for (unsigned i = 0; i < reader->count; i++)
        for (unsigned j = 0; j < i; j++)
            if (pair_of(reader, i, j) == PAIR_DIRECT && pair_rate(reader, i, j) <= 0)
                return true;
    return false;
}

static void set_pair(struct kfd_reader *reader, unsigned i, unsigned j, bool by_count)
{
    enum pair pair = pair_of(reader, i, j);
    unsigned there = reader->link_counts[i][j], back = reader->link_counts[j][i];
    unsigned count = there < back ? there : back;
    double rate = pair == PAIR_DIRECT ? pair_rate(reader, i, j) : 0;
    if (pair == PAIR_UNKNOWN) {
        count = NVLINK_COUNT_UNKNOWN;
        rate = NVLINK_RATE_UNKNOWN;
    }
    if (by_count)
        evidence_draft_set_link_count(reader->draft, i, j, count);
    else
        evidence_draft_set_rate(reader->draft, i, j, rate);
    if (pair == PAIR_DIRECT)
        reader->gpus[i].has_direct = reader->gpus[j].has_direct = true;
    if ((there > 0) != (back > 0))
        evidence_draft_note(reader->draft,
                            "gpu %s and gpu %s: only one of them lists the XGMI link; unknown",
                            gpu_word(reader, i), gpu_word(reader, j));
}

static bool has_any_direct(const struct kfd_reader *reader)
{
    for (unsigned i = 0; i < reader->count; i++)
        for (unsigned j = 0; j < i; j++)
            if (pair_of(reader, i, j) == PAIR_DIRECT)
                return true;
    return false;
}

static bool has_any_xgmi(const struct kfd_reader *reader)
{
    for (unsigned i = 0; i < reader->count; i++)
        if (reader->gpus[i].has_xgmi)
            return true;
    return false;
}

static bool all_pairs_are_pcie(const struct kfd_reader *reader)
{
    for (unsigned i = 0; i < reader->count; i++)
        for (unsigned j = 0; j < i; j++)
            if (!reader->pcie[i][j] && !reader->pcie[j][i])
                return false;
    return reader->count > 1;
}

static bool all_lists_are_whole(const struct kfd_reader *reader)
{
    for (unsigned i = 0; i < reader->count; i++)
        if (!reader->gpus[i].links_whole || reader->gpus[i].first->hive_id != 0)
            return false;
    return true;
}

static void conclude_links(struct kfd_reader *reader)
{
    struct node_evidence *evidence = &reader->draft->evidence;
    if (has_any_direct(reader)) {
        bool by_count = lacks_rates(reader);
        evidence->nvlink = NVLINK_KNOWN;
        for (unsigned i = 0; i < reader->count; i++)
            for (unsigned j = 0; j < i; j++)
                set_pair(reader, i, j, by_count);
        return;
    }
    bool none = all_pairs_are_pcie(reader) || all_lists_are_whole(reader);
    evidence->nvlink = none && !has_any_xgmi(reader) ? NVLINK_NONE : NVLINK_UNKNOWN;
}

/* Of the GPU's hive: how many others have links; 0 as well where it has some itself. */
static unsigned linked_siblings(const struct kfd_reader *reader, unsigned gpu)
{
    unsigned linked = 0;
    uint64_t hive = reader->gpus[gpu].first->hive_id;
    if (hive == 0 || reader->gpus[gpu].has_xgmi)
        return 0;
    for (unsigned i = 0; i < reader->count; i++)
        if (i != gpu && reader->gpus[i].first->hive_id == hive && reader->gpus[i].has_direct)
            linked++;
    return linked;
}

static void set_problem(struct kfd_reader *reader, unsigned gpu, const char *pcie_problem)
{
    char text[PROBLEM_BYTES] = "";
    unsigned siblings = linked_siblings(reader, gpu);
    if (siblings > 0)
        snprintf(text, sizeof(text), "no XGMI link, while %u other GPUs of its hive have some%s",
                 siblings, pcie_problem[0] ? "; " : "");
    reader->draft->gpus[gpu].nvlink_lost = siblings > 0;
    size_t length = strlen(text);
    snprintf(text + length, sizeof(text) - length, "%s", pcie_problem);
    if (text[0])
        reader->draft->gpus[gpu].problem = evidence_draft_copy(reader->draft, text);
}

/* --- describing ------------------------------------------------------------------- */

static void set_bus_id(struct kfd_reader *reader, unsigned index)
{
    const struct kfd_gpu *gpu = &reader->gpus[index];
    unsigned function = gpu->function;
    if (gpu->has_bus_id && !gpu->shares_bus_id)
        reader->draft->gpus[index].bus_id =
            evidence_draft_format(reader->draft, "%04x:%02x:%02x.%x", (unsigned)gpu->first->domain,
                                  bus_of(gpu->first), slot_of(gpu->first), function);
    else
        evidence_draft_note(reader->draft, "gpu of node %u: %s; it is named by position",
                            (unsigned)(gpu->first - reader->nodes.nodes),
                            gpu->shares_bus_id ? "another GPU has the same location_id"
                                               : "no location_id");
}

/* Vendor and device stand in the catalogue; name and generation are for people. */
static void set_model(struct kfd_reader *reader, unsigned index)
{
    const struct kfd_node *node = reader->gpus[index].first;
    char gfx[GFX_BYTES];
    write_gfx(node->gfx_target_version, gfx);
    reader->draft->gpus[index].model_text = evidence_draft_format(
        reader->draft, "%s%s%s%s%04x:%04x", node->name, node->name[0] ? " " : "", gfx,
        gfx[0] ? " " : "", (unsigned)(node->vendor_id & 0xffff),
        (unsigned)(node->device_id & 0xffff));
}

static const char *partition_mode(const struct kfd_gpu *gpu)
{
    static const char *const modes[] = {[2] = " (DPX)", [3] = " (TPX)", [4] = " (QPX)"};
    if (gpu->first->num_xcc == 1)
        return " (CPX)"; /* one partition for each compute die */
    return gpu->partitions < COUNT_OF(modes) && modes[gpu->partitions] ? modes[gpu->partitions]
                                                                       : "";
}

static void describe_partitions(struct kfd_reader *reader, unsigned index)
{
    const struct kfd_gpu *gpu = &reader->gpus[index];
    if (gpu->partitions > 1)
        evidence_draft_note(reader->draft, "gpu %s is cut into %u partitions%s",
                            gpu_word(reader, index), gpu->partitions, partition_mode(gpu));
}

static int describe_gpu(struct kfd_reader *reader, unsigned index, struct error_info *err)
{
    struct kfd_gpu *gpu = &reader->gpus[index];
    struct evidence_gpu *said = &reader->draft->gpus[index];
    struct pci_health health = {.numa = NUMA_UNKNOWN};
    bool found = false;
    if (said->bus_id &&
        pci_health_of_bus_id(reader->nodes.tree, said->bus_id, &found, &health, err) < 0)
        return -1;
    set_model(reader, index);
    if (gpu->first->unique_id != 0 && gpu->partitions == 1)
        said->uuid = evidence_draft_format(reader->draft, "GPU-%016llx",
                                           (unsigned long long)gpu->first->unique_id);
    said->memory_bytes = gpu->memory_unknown ? 0 : gpu->memory_bytes;
    if (health.says_numa)
        said->numa = health.numa;
    else if (gpu->cpu_weight != NO_WEIGHT)
        said->numa = (int)gpu->cpu_node;
    if (health.cpus[0])
        said->cpus = evidence_draft_copy(reader->draft, health.cpus);
    set_problem(reader, index, health.problem);
    describe_partitions(reader, index);
    return 0;
}

static int conclude(struct kfd_reader *reader, struct node_evidence **ret, struct error_info *err)
{
    for (unsigned i = 0; i < reader->count; i++)
        set_bus_id(reader, i);
    conclude_links(reader);
    for (unsigned i = 0; i < reader->count; i++)
        if (describe_gpu(reader, i, err) < 0)
            return -1;
    char version[SYSFS_VALUE_BYTES];
    if (sysfs_tree_read(reader->nodes.tree, "sys/module/amdgpu", "version", version,
                        sizeof(version), NULL) == 0) {
        error_clean_text(version);
        reader->draft->evidence.driver_version = evidence_draft_copy(reader->draft, version);
    }
    struct node_evidence *evidence = evidence_draft_finish(reader->draft, err);
    if (!evidence)
        return -1;
    *ret = evidence;
    return 0;
}

/* --- where ------------------------------------------------------------------------ */

/* The last three are copies of less than a machine, never the live one's root folder. */
static const struct {
    const char *folder;
    bool copies_only;
} places[] = {
    {"sys/class/kfd/kfd/topology/nodes", false},
    {"sys/devices/virtual/kfd/kfd/topology/nodes", false},
    {"class/kfd/kfd/topology/nodes", true},
    {"topology/nodes", true},
    {"nodes", true},
};

static const char *find_folder(struct sysfs_tree *tree)
{
    bool live = sysfs_tree_is_live(tree);
    for (size_t i = 0; i < COUNT_OF(places); i++)
        if (!(live && places[i].copies_only) && sysfs_tree_has_folder(tree, places[i].folder, ""))
            return places[i].folder;
    return !live && sysfs_tree_has(tree, "0", "properties") ? "" : NULL;
}

static int read_tree(struct sysfs_tree *tree, const char *folder, const char *root,
                     struct node_evidence **ret, struct error_info *err)
{
    char source[SYSFS_PATH_BYTES];
    CLEANUP_MEMORY struct kfd_reader *reader = memory_allocate(sizeof(*reader));
    if (!reader)
        return error_set_memory(err);
    snprintf(source, sizeof(source), "kfd%s%s", sysfs_tree_is_live(tree) ? "" : " ",
             sysfs_tree_is_live(tree) ? "" : root);
    CLEANUP(evidence_draft)
    struct evidence_draft *draft = evidence_draft_create(EVIDENCE_KFD, source, err);
    if (!draft)
        return -1;
    reader->draft = draft;
    reader->nodes.tree = tree;
    reader->nodes.folder = folder;
    reader->nodes.draft = draft;
    if (kfd_nodes_read(&reader->nodes, err) < 0 || find_gpus(reader, err) < 0)
        return -1;
    if (reader->count == 0) {
        *ret = NULL;
        return 0;
    }
    return read_links(reader, err) < 0 ? -1 : conclude(reader, ret, err);
}

int kfd_read(const char *root, struct node_evidence **ret, struct error_info *err)
{
    CLEANUP(sysfs_tree) struct sysfs_tree *tree = sysfs_tree_open(root, err);
    if (!tree)
        return -1;
    const char *folder = find_folder(tree);
    if (folder)
        return read_tree(tree, folder, root, ret, err);
    *ret = NULL;
    return 0;
}
