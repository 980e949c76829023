/* SPDX-License-Identifier: MIT */
#include "topology/node_readers/node_file.h"
#include "base/yaml_fields.h"
#include "topology/cluster_readers/rate.h"
#include "topology/merge/remarks.h"
#include "topology/node_readers/evidence_draft.h"
#include "topology/node_readers/text/node_file_links.h"
#include <string.h>

#define MAXIMUM_CPUS 65536u
#define MAXIMUM_NUMA 65535u
#define BUS_ID_BYTES 16u
#define REASON_UNSAID "the file says so"

struct file_entry {
    const char *name, *driver;
    uint64_t cpus, host_memory_bytes, host_nvme_bytes;
    const struct yaml_node *pcie, *gpus, *nics, *nvlink, *gpu_links, *nic_links, *facts;
};

#define FILE_FIELD(key_, type_, member, ...)                                                       \
    {                                                                                              \
        .key = key_, .type = type_, .offset = offsetof(struct file_entry, member), __VA_ARGS__     \
    }

static const struct yaml_field file_fields[] = {
    FILE_FIELD("name", YAML_TEXT, name),
    FILE_FIELD("driver", YAML_TEXT, driver),
    FILE_FIELD("cpus", YAML_UNSIGNED, cpus, .maximum = MAXIMUM_CPUS),
    FILE_FIELD("host_memory", YAML_BYTES, host_memory_bytes),
    FILE_FIELD("host_nvme", YAML_BYTES, host_nvme_bytes),
    FILE_FIELD("pcie", YAML_NODE, pcie),
    FILE_FIELD("gpus", YAML_NODE, gpus, .required = true),
    FILE_FIELD("nics", YAML_NODE, nics),
    FILE_FIELD("nvlink", YAML_NODE, nvlink),
    FILE_FIELD("gpu_links", YAML_NODE, gpu_links),
    FILE_FIELD("nic_links", YAML_NODE, nic_links),
    FILE_FIELD("facts", YAML_NODE, facts),
};

struct gpu_entry {
    const char *model, *bus_id, *uuid, *cpus, *problem;
    uint64_t memory_bytes, numa;
    bool mig, nvlink_lost;
};

#define GPU_FIELD(key_, type_, member, ...)                                                        \
    {                                                                                              \
        .key = key_, .type = type_, .offset = offsetof(struct gpu_entry, member), __VA_ARGS__      \
    }

static const struct yaml_field gpu_fields[] = {
    GPU_FIELD("model", YAML_TEXT, model),
    GPU_FIELD("bus_id", YAML_TEXT, bus_id),
    GPU_FIELD("uuid", YAML_TEXT, uuid),
    GPU_FIELD("memory", YAML_BYTES, memory_bytes),
    GPU_FIELD("numa", YAML_UNSIGNED, numa, .maximum = MAXIMUM_NUMA),
    GPU_FIELD("cpus", YAML_TEXT, cpus),
    GPU_FIELD("mig", YAML_BOOLEAN, mig),
    GPU_FIELD("problem", YAML_TEXT, problem),
    GPU_FIELD("nvlink_lost", YAML_BOOLEAN, nvlink_lost),
};

struct nic_entry {
    const char *name, *bus_id, *reason, *problem;
    const struct yaml_node *rate;
    uint64_t rail, numa;
    unsigned role, state;
    bool ethernet;
};

#define NIC_FIELD(key_, type_, member, ...)                                                        \
    {                                                                                              \
        .key = key_, .type = type_, .offset = offsetof(struct nic_entry, member), __VA_ARGS__      \
    }

/* In the order of enum nic_role and enum nic_state. */
static const char *const role_words[] = {"rail",     "storage", "management",
                                         "nvswitch", "other",   NULL};
static const char *const state_words[] = {"unknown", "active", "down", NULL};

static const struct yaml_field nic_fields[] = {
    NIC_FIELD("name", YAML_TEXT, name),
    NIC_FIELD("bus_id", YAML_TEXT, bus_id),
    NIC_FIELD("role", YAML_CHOICE, role, .choices = role_words),
    NIC_FIELD("rail", YAML_UNSIGNED, rail, .maximum = NODE_MAXIMUM_NICS - 1),
    NIC_FIELD("state", YAML_CHOICE, state, .choices = state_words),
    NIC_FIELD("numa", YAML_UNSIGNED, numa, .maximum = MAXIMUM_NUMA),
    NIC_FIELD("rate", YAML_NODE, rate),
    NIC_FIELD("ethernet", YAML_BOOLEAN, ethernet),
    NIC_FIELD("reason", YAML_TEXT, reason),
    NIC_FIELD("problem", YAML_TEXT, problem),
};

static const struct yaml_field fact_fields[] = {
    {.key = "fact",
     .type = YAML_TEXT,
     .offset = offsetof(struct topology_fact, fact),
     .required = true},
    {.key = "value",
     .type = YAML_TEXT,
     .offset = offsetof(struct topology_fact, value),
     .required = true},
    {.key = "source",
     .type = YAML_TEXT,
     .offset = offsetof(struct topology_fact, source),
     .required = true},
};

/* What stands here ends in reports, one line each. NULL and the empty text are unknown. */
static const char *copy_clean(struct evidence_draft *draft, const char *text)
{
    if (!text || !text[0])
        return NULL;
    const char *copy = evidence_draft_copy(draft, text);
    if (copy)
        error_clean_text((char *)copy);
    return copy;
}

static int check_list(const struct yaml_node *list, size_t maximum, struct error_info *err)
{
    if (list->kind != YAML_SEQUENCE)
        return yaml_node_error(list, err, "a list is expected");
    if (list->child_count > maximum)
        return yaml_node_error(list, err, "%zu entries are more than the %zu that are possible",
                               list->child_count, maximum);
    return 0;
}

/* "06:00.0", "0000:06:00.0" and NVML's "00000000:06:00.0" are one. */
static bool normalise_bus_id(const char *text, char out[BUS_ID_BYTES])
{
    static const char shape[] = "xxxx:xx:xx.x";
    size_t length = strlen(text);
    if (length == sizeof("xx:xx.x") - 1)
        snprintf(out, BUS_ID_BYTES, "0000:%s", text);
    else if (length == sizeof("0000xxxx:xx:xx.x") - 1 && strncmp(text, "0000", 4) == 0)
        snprintf(out, BUS_ID_BYTES, "%s", text + 4);
    else if (length == sizeof(shape) - 1)
        snprintf(out, BUS_ID_BYTES, "%s", text);
    else
        return false;
    for (size_t i = 0; shape[i]; i++) {
        if (out[i] >= 'A' && out[i] <= 'F')
            out[i] = (char)(out[i] | 0x20);
        bool fits =
            shape[i] == 'x' ? strchr("0123456789abcdef", out[i]) && out[i] : out[i] == shape[i];
        if (!fits)
            return false;
    }
    return true;
}

static int read_bus_id(struct evidence_draft *draft, const struct yaml_node *entry,
                       const char *text, const char **ret, struct error_info *err)
{
    char bus_id[BUS_ID_BYTES];
    if (!text)
        return 0;
    if (!normalise_bus_id(text, bus_id))
        return yaml_node_error(yaml_node_get(entry, "bus_id"), err,
                               "'%.40s' is no PCI bus id; write as 0000:06:00.0", text);
    *ret = evidence_draft_copy(draft, bus_id);
    return 0;
}

static int read_numa(const struct yaml_node *entry, uint64_t numa)
{
    return yaml_node_get(entry, "numa") ? (int)numa : NUMA_UNKNOWN;
}

static int load_gpu(struct evidence_draft *draft, const struct yaml_node *node,
                    struct error_info *err)
{
    struct gpu_entry entry = {0};
    if (yaml_fields_load(node, gpu_fields, COUNT_OF(gpu_fields), &entry, err) < 0)
        return -1;
    struct evidence_gpu *gpu = evidence_draft_add_gpu(draft, err);
    if (!gpu || read_bus_id(draft, node, entry.bus_id, &gpu->bus_id, err) < 0)
        return -1;
    gpu->model_text = copy_clean(draft, entry.model);
    gpu->uuid = copy_clean(draft, entry.uuid);
    gpu->cpus = copy_clean(draft, entry.cpus);
    gpu->problem = copy_clean(draft, entry.problem);
    gpu->nvlink_lost = entry.nvlink_lost;
    gpu->memory_bytes = entry.memory_bytes;
    gpu->numa = read_numa(node, entry.numa);
    gpu->mig = entry.mig;
    return 0;
}

static int check_bus_ids(const struct evidence_draft *draft, const struct yaml_node *list,
                         struct error_info *err)
{
    for (unsigned i = 0; i < draft->evidence.gpu_count; i++) {
        const char *bus_id = draft->gpus[i].bus_id;
        if (!bus_id != !draft->gpus[0].bus_id)
            return yaml_node_error(list->children[i], err,
                                   "either all GPUs have a bus_id, or none");
        for (unsigned j = 0; bus_id && j < i; j++)
            if (strcmp(bus_id, draft->gpus[j].bus_id) == 0)
                return yaml_node_error(list->children[i], err, "GPU %s stands twice", bus_id);
    }
    return 0;
}

static int load_gpus(struct evidence_draft *draft, const struct yaml_node *list,
                     struct error_info *err)
{
    if (check_list(list, NODE_MAXIMUM_GPUS, err) < 0)
        return -1;
    for (size_t i = 0; i < list->child_count; i++)
        if (load_gpu(draft, list->children[i], err) < 0)
            return -1;
    if (draft->failed)
        return error_set_memory(err);
    return check_bus_ids(draft, list, err);
}

static int next_rail(const struct evidence_draft *draft)
{
    int next = 0;
    for (unsigned i = 0; i + 1 < draft->evidence.nic_count; i++)
        if (draft->nics[i].rail >= next)
            next = draft->nics[i].rail + 1;
    return next;
}

static int load_role(struct evidence_draft *draft, const struct yaml_node *node,
                     const struct nic_entry *entry, struct evidence_nic *nic,
                     struct error_info *err)
{
    const struct yaml_node *rail = yaml_node_get(node, "rail");
    nic->has_role = yaml_node_get(node, "role") != NULL || rail;
    nic->role = (enum nic_role)entry->role;
    if (rail && nic->role != NIC_RAIL)
        return yaml_node_error(rail, err, "only a NIC with role: rail has a number");
    if (!nic->has_role)
        return 0;
    if (nic->role == NIC_RAIL)
        nic->rail = rail ? (int)entry->rail : next_rail(draft);
    const char *reason = copy_clean(draft, entry->reason);
    nic->reason = reason ? reason : evidence_draft_copy(draft, REASON_UNSAID);
    return 0;
}

static int load_nic(struct evidence_draft *draft, const struct yaml_node *node,
                    struct error_info *err)
{
    struct nic_entry entry = {.role = NIC_RAIL, .state = NIC_STATE_UNKNOWN};
    if (yaml_fields_load(node, nic_fields, COUNT_OF(nic_fields), &entry, err) < 0)
        return -1;
    struct evidence_nic *nic = evidence_draft_add_nic(draft, err);
    if (!nic || read_bus_id(draft, node, entry.bus_id, &nic->bus_id, err) < 0 ||
        node_file_read_rate(entry.rate, &nic->bytes_per_second, err) < 0)
        return -1;
    nic->name = copy_clean(draft, entry.name);
    nic->problem = copy_clean(draft, entry.problem);
    nic->state = (enum nic_state)entry.state;
    nic->numa = read_numa(node, entry.numa);
    nic->is_ethernet = entry.ethernet;
    return load_role(draft, node, &entry, nic, err);
}

/* As the merge sees it, which would make one of the two. */
static bool is_same_nic(const struct evidence_nic *left, const struct evidence_nic *right)
{
    if (left->name && right->name)
        return strcmp(left->name, right->name) == 0;
    return left->bus_id && right->bus_id && strcmp(left->bus_id, right->bus_id) == 0;
}

static int load_nics(struct evidence_draft *draft, const struct yaml_node *list,
                     struct error_info *err)
{
    if (!list)
        return 0;
    if (check_list(list, NODE_MAXIMUM_NICS, err) < 0)
        return -1;
    for (size_t i = 0; i < list->child_count; i++) {
        if (load_nic(draft, list->children[i], err) < 0)
            return -1;
        for (size_t j = 0; !draft->failed && j < i; j++)
            if (is_same_nic(&draft->nics[i], &draft->nics[j]))
                return yaml_node_error(list->children[i], err, "this NIC stands in nics[%zu] too",
                                       j);
    }
    return 0;
}

static int load_facts(struct evidence_draft *draft, const struct yaml_node *list,
                      struct error_info *err)
{
    if (!list || !REMARKS_KEPT)
        return 0;
    if (check_list(list, NODE_FILE_MAXIMUM_FACTS, err) < 0)
        return -1;
    struct topology_fact *facts =
        arena_allocate_array(draft->arena, list->child_count, sizeof(*facts));
    if (!facts)
        return error_set_memory(err);
    for (size_t i = 0; i < list->child_count; i++) {
        struct topology_fact *fact = &facts[i];
        if (yaml_fields_load(list->children[i], fact_fields, COUNT_OF(fact_fields), fact, err) < 0)
            return -1;
        const char *const said[] = {fact->fact, fact->value, fact->source};
        for (size_t part = 0; part < COUNT_OF(said); part++)
            if (!said[part][0])
                return yaml_node_error(list->children[i], err,
                                       "fact, value and source must not be empty");
        fact->fact = copy_clean(draft, said[0]);
        fact->value = copy_clean(draft, said[1]);
        fact->source = copy_clean(draft, said[2]);
    }
    draft->evidence.facts = list->child_count > 0 ? facts : NULL;
    draft->evidence.fact_count = list->child_count;
    return 0;
}

static int load_parts(struct evidence_draft *draft, const struct file_entry *entry,
                      struct error_info *err)
{
    struct node_evidence *evidence = &draft->evidence;
    evidence->node_name = copy_clean(draft, entry->name);
    evidence->driver_version = copy_clean(draft, entry->driver);
    evidence->cpu_count = (unsigned)entry->cpus;
    evidence->host_memory_bytes = entry->host_memory_bytes;
    evidence->host_nvme_bytes = entry->host_nvme_bytes;
    if (node_file_read_rate(entry->pcie, &evidence->pcie_bytes_per_second, err) < 0 ||
        load_gpus(draft, entry->gpus, err) < 0 || load_nics(draft, entry->nics, err) < 0 ||
        node_file_load_nvlink(draft, entry->nvlink, err) < 0 ||
        node_file_load_gpu_links(draft, entry->gpu_links, err) < 0 ||
        node_file_load_nic_links(draft, entry->nic_links, err) < 0 ||
        load_facts(draft, entry->facts, err) < 0)
        return -1;
    return draft->failed ? error_set_memory(err) : 0;
}

struct node_evidence *node_file_load(const struct yaml_node *mapping, struct error_info *err)
{
    struct file_entry entry = {0};
    if (yaml_fields_load(mapping, file_fields, COUNT_OF(file_fields), &entry, err) < 0)
        return NULL;
    CLEANUP(evidence_draft)
    struct evidence_draft *draft =
        evidence_draft_create(EVIDENCE_ADMIN, yaml_document_source(mapping->document), err);
    if (!draft || load_parts(draft, &entry, err) < 0)
        return NULL;
    return evidence_draft_finish(draft, err);
}

struct node_evidence *node_file_parse(const char *text, size_t bytes, const char *source,
                                      struct error_info *err)
{
    if (bytes > NODE_FILE_MAXIMUM_BYTES)
        return error_null(error_set(err, "%s: %zu bytes are more than the %zu of a node file",
                                    source, bytes, NODE_FILE_MAXIMUM_BYTES));
    CLEANUP(yaml_document)
    struct yaml_document *document = yaml_document_open(text, bytes, source, NODE_FILE_SCHEMA, err);
    if (!document)
        return NULL;
    return node_file_load(yaml_document_root(document), err);
}
