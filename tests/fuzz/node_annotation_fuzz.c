/* SPDX-License-Identifier: MIT */
/* A node's annotation, which whoever may write nodes can write: no crash; a node or one line of why
 * not; a good one, written again, is the same node; and with any of them the view stands, its
 * node in it and at most one warning for it. The input is the annotation. */
#include "k8s_extender/placement/cluster_view.h"
#include "tests/fuzz/fuzz_target.h"
#include "topology/collect/node_annotation.h"

static struct gpu_catalogue *gpus;
static struct preset_catalogue *presets;

static void open_catalogues(void)
{
    if (gpus)
        return;
    gpus = gpu_catalogue_builtin(NULL);
    presets = preset_catalogue_builtin(NULL);
    fuzz_require(gpus && presets, "no catalogues", "");
}

static struct node_topology *decode(const char *text, size_t bytes, struct node_annotation *parts)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct node_topology *node = NULL;
    if (node_annotation_split(text, bytes, "annotation", parts, &err) == 0)
        node = node_annotation_kind(parts->kind, parts->kind_bytes, "annotation", gpus, &err);
    if (!node)
        fuzz_require_error(&err);
    return node;
}

/* What we write ourselves is a fixed point. */
static void require_round_trip(struct node_topology *node, const struct node_annotation *parts)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct node_annotation again;
    CLEANUP_DONE(text_buffer) struct text_buffer first;
    text_buffer_init(&first, NODE_ANNOTATION_MAXIMUM_BYTES);
    node->nvlink_clique = parts->clique[0] ? parts->clique : NULL;
    int status = node_annotation_encode(node, &first, &err);
    node->nvlink_clique = NULL;
    if (status < 0) {
        fuzz_require_error(&err);
        return; /* longer than an annotation may be */
    }
    CLEANUP(node_topology)
    struct node_topology *back = decode(text_buffer_text(&first), first.length, &again);
    fuzz_require(back, "what we wrote is refused", text_buffer_text(&first));
    fuzz_require(strcmp(parts->clique, again.clique) == 0, "another clique", again.clique);
    fuzz_require(back->gpu_count == node->gpu_count && back->nic_count == node->nic_count &&
                     back->domain_count == node->domain_count,
                 "another node came back", text_buffer_text(&first));
}

static void require_view(const char *text)
{
    const struct resource_amount amounts[] = {{"nvidia.com/gpu", 8}};
    const struct node_record node = {
        .name = "n1",
        .uid = "",
        .topology = text,
        .allocatable = {.others = amounts, .other_count = 1},
    };
    const struct node_record *const nodes[] = {&node};
    const struct cluster_view_sources sources = {
        .presets = presets, .gpus = gpus, .keys = fabric_label_keys_default()};
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_view)
    struct cluster_view *view = cluster_view_create(nodes, 1, &sources, &err);
    fuzz_require(view, "no view", err.text);
    fuzz_require(view->cluster && cluster_view_find(view, "n1") == 0, "the node is lost", text);
    unsigned count = view->cluster->kinds[view->cluster->nodes[0].kind]->gpu_count;
    fuzz_require(count >= 8 && count <= NODE_MAXIMUM_GPUS, "GPUs are lost", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    open_catalogues();
    CLEANUP_MEMORY char *text = fuzz_text(data, size);
    struct node_annotation parts;
    CLEANUP(node_topology) struct node_topology *node = decode(text, size, &parts);
    if (node)
        require_round_trip(node, &parts);
    require_view(text);
    return 0;
}
