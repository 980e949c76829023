/* SPDX-License-Identifier: MIT */
#include "topology/node_readers/live_node.h"
#include "topology/node_readers/evidence_draft.h"
#include "topology/node_readers/hwloc/hwloc_reader.h"
#include "topology/node_readers/nvml_reader.h"
#include "topology/node_readers/sysfs/infiniband_reader.h"
#include "topology/node_readers/sysfs/kfd_reader.h"
#include "topology/node_readers/sysfs/pci_health.h"
#include <sys/stat.h>

/* A source that failed, as evidence of nothing but that. */
static struct node_evidence *failure_note(enum evidence_source source, const char *name,
                                          const struct error_info *why, struct error_info *err)
{
    CLEANUP(evidence_draft)
    struct evidence_draft *draft = evidence_draft_create(source, name, err);
    if (!draft)
        return NULL;
    evidence_draft_warn(draft, "not read: %s", why->text);
    return evidence_draft_finish(draft, err);
}

/* A source beside hwloc: what it gave, else a note of why it gave nothing. */
static int take(struct live_node *node, enum evidence_source source, const char *name,
                struct node_evidence *evidence, const struct error_info *why,
                struct error_info *err)
{
    if (why->kind == ERROR_MEMORY)
        return error_set_memory(err);
    if (why->kind != ERROR_NONE)
        evidence = failure_note(source, name, why, err);
    if (evidence)
        node->evidence[node->evidence_count++] = evidence;
    return why->kind != ERROR_NONE && !evidence ? -1 : 0;
}

static int add_nvml(struct live_node *node, const char *library, struct error_info *err)
{
    struct error_info why = {.kind = ERROR_NONE};
    struct node_evidence *evidence = NULL;
    if (nvml_read(library, &evidence, &why) == 0 && library && !evidence)
        return error_set(err, "--nvml: %s: no NVIDIA management library, or no GPU that it sees",
                         library);
    return take(node, EVIDENCE_NVML, "nvml", evidence, &why, err);
}

static int add_sysfs(struct live_node *node, const char *root, struct error_info *err)
{
    static const struct {
        enum evidence_source source;
        const char *name;
        int (*read)(const char *root, struct node_evidence **ret, struct error_info *err);
    } readers[] = {
        {EVIDENCE_KFD, "kfd", kfd_read},
        {EVIDENCE_INFINIBAND, "sysfs infiniband", infiniband_read},
    };
    for (size_t i = 0; i < COUNT_OF(readers); i++) {
        struct error_info why = {.kind = ERROR_NONE};
        struct node_evidence *evidence = NULL;
        readers[i].read(root, &evidence, &why);
        if (take(node, readers[i].source, readers[i].name, evidence, &why, err) < 0)
            return -1;
    }
    return 0;
}

/* NUMA nodes, CPUs and lost PCIe lanes of the GPUs that hwloc lists. */
static int add_pci(struct live_node *node, const struct node_evidence *hwloc, const char *root,
                   struct error_info *err)
{
    struct error_info why = {.kind = ERROR_NONE};
    struct node_evidence *evidence = NULL;
    if (hwloc->gpu_count == 0)
        return 0;
    pci_health_read(root, hwloc, &evidence, &why);
    return take(node, EVIDENCE_PCI, "sysfs pci", evidence, &why, err);
}

void live_node_done(struct live_node *node)
{
    for (unsigned i = 0; i < node->evidence_count; i++)
        node_evidence_free(node->evidence[i]);
    node->evidence_count = 0;
}

int live_node_open(struct live_node *node, const char *nvml_library, const char *sysfs_root,
                   struct error_info *err)
{
    CLEANUP_DONE(live_node) struct live_node own = {.evidence_count = 0};
    const char *root = sysfs_root ? sysfs_root : "/";
    struct stat status;
    if (stat(root, &status) < 0 || !S_ISDIR(status.st_mode))
        return error_set(err,
                         "--sysfs: %s is no directory; give the one that has this machine's "
                         "sys/",
                         root);
    struct node_evidence *hwloc = hwloc_read_live(err);
    if (!hwloc)
        return -1;
    own.evidence[own.evidence_count++] = hwloc;
    if (add_nvml(&own, nvml_library, err) < 0 || add_sysfs(&own, root, err) < 0 ||
        add_pci(&own, hwloc, root, err) < 0)
        return -1;
    *node = own;
    own.evidence_count = 0;
    return 0;
}
