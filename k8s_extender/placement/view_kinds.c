/* SPDX-License-Identifier: MIT */
#include "k8s_extender/placement/view_kinds.h"
#include "base/name_index.h"
#include "k8s_extender/placement/gpu_labels.h"
#include "topology/collect/node_kind.h"
#include "topology/node_evidence.h"
#include <string.h>

#define KINDS_ARENA_BYTES ((size_t)64 << 20)
#define KEY_BYTES 512u
#define KIND_NAME_BYTES 256u
/* Annotations, products, and products past their maximum: GPUs of which the number is known. */
#define MAXIMUM_KINDS (VIEW_MAXIMUM_TEXTS + VIEW_MAXIMUM_PRODUCTS + NODE_MAXIMUM_GPUS + 1u)

struct view_kind {
    struct node_topology *node;
    unsigned number; /* of those that were chosen */
    bool chosen;
};

/* A text that was read: the kind, or why there is none. */
struct view_text {
    uint32_t kind;
    const char *problem;
};

struct view_kinds {
    const struct preset_catalogue *presets;
    const struct gpu_catalogue *gpus;
    struct view_notes *notes;
    struct arena *arena;
    struct name_index *texts, *products;
    struct view_text read[VIEW_MAXIMUM_TEXTS];
    unsigned text_count, product_count, kind_count, chosen_count;
    struct view_kind kinds[MAXIMUM_KINDS];
    const char *last_text; /* of the node before: mostly the same */
    size_t last_bytes;
    unsigned last_read;
};

struct view_kinds *view_kinds_create(const struct preset_catalogue *presets,
                                     const struct gpu_catalogue *gpus, struct view_notes *notes)
{
    CLEANUP(view_kinds) struct view_kinds *kinds = memory_allocate(sizeof(*kinds));
    if (!kinds)
        return NULL;
    kinds->presets = presets;
    kinds->gpus = gpus;
    kinds->notes = notes;
    kinds->arena = arena_create(KINDS_ARENA_BYTES);
    kinds->texts = name_index_create();
    kinds->products = name_index_create();
    return kinds->arena && kinds->texts && kinds->products ? move_pointer(kinds) : NULL;
}

void view_kinds_free(struct view_kinds *kinds)
{
    if (!kinds)
        return;
    for (unsigned i = 0; i < kinds->kind_count; i++)
        node_topology_free(kinds->kinds[i].node);
    name_index_free(kinds->texts);
    name_index_free(kinds->products);
    arena_free(kinds->arena);
    memory_free(kinds);
}

/* Takes the node. There is room: texts and products are counted. */
static uint32_t add_kind(struct view_kinds *kinds, struct node_topology *node)
{
    for (unsigned i = 0; i < kinds->kind_count; i++) {
        if (!node_kind_is_same(kinds->kinds[i].node, node))
            continue;
        node_topology_free(node);
        return i;
    }
    kinds->kinds[kinds->kind_count].node = node;
    return kinds->kind_count++;
}

/* --- annotations ------------------------------------------------------------------ */

static int read_text(struct view_kinds *kinds, const struct node_annotation *annotation,
                     const char *source, struct view_text *ret, struct error_info *err)
{
    struct error_info why = {.kind = ERROR_NONE};
    struct node_topology *node =
        node_annotation_kind(annotation->kind, annotation->kind_bytes, source, kinds->gpus, &why);
    if (!node && why.kind == ERROR_MEMORY)
        return error_set_memory(err);
    *ret = (struct view_text){.kind = VIEW_KIND_NONE};
    if (node)
        ret->kind = add_kind(kinds, node);
    else if (!(ret->problem = arena_copy_text(kinds->arena, why.text)))
        return error_set_memory(err);
    return 0;
}

/* *ret stays NULL where too many different texts were read before. */
static int find_text(struct view_kinds *kinds, const struct node_annotation *annotation,
                     const char *source, const struct view_text **ret, struct error_info *err)
{
    if (kinds->last_text && kinds->last_bytes == annotation->kind_bytes &&
        memcmp(kinds->last_text, annotation->kind, kinds->last_bytes) == 0) {
        *ret = &kinds->read[kinds->last_read];
        return 0;
    }
    size_t found = name_index_find(kinds->texts, annotation->kind);
    if (found == NAME_INDEX_NONE) {
        if (kinds->text_count == VIEW_MAXIMUM_TEXTS)
            return 0;
        found = kinds->text_count;
        if (read_text(kinds, annotation, source, &kinds->read[found], err) < 0)
            return -1;
        if (name_index_add(kinds->texts, annotation->kind, found) < 0)
            return error_set_memory(err);
        kinds->text_count++;
    }
    kinds->last_text = annotation->kind;
    kinds->last_bytes = annotation->kind_bytes;
    kinds->last_read = (unsigned)found;
    *ret = &kinds->read[found];
    return 0;
}

/* 1: the annotation counts; 0: it does not, with a warning. */
static int try_annotation(struct view_kinds *kinds, const struct node_record *node,
                          uint64_t allocatable, struct view_choice *ret, struct error_info *err)
{
    struct node_annotation annotation;
    struct error_info why = {.kind = ERROR_NONE};
    const struct view_text *text = NULL;
    if (node_annotation_split(node->topology, strlen(node->topology), NODE_TOPOLOGY_ANNOTATION,
                              &annotation, &why) < 0) {
        view_notes_add(kinds->notes, "node %s: %s", node->name, why.text);
        return 0;
    }
    if (find_text(kinds, &annotation, NODE_TOPOLOGY_ANNOTATION, &text, err) < 0)
        return -1;
    if (!text || text->problem) {
        view_notes_add(kinds->notes, "node %s: %s", node->name,
                       text ? text->problem
                            : NODE_TOPOLOGY_ANNOTATION ": not read, since too many nodes have "
                                                       "one of their own");
        return 0;
    }
    unsigned count = kinds->kinds[text->kind].node->gpu_count;
    if (count < allocatable || count == 0) {
        if (allocatable > 0)
            view_notes_add(
                kinds->notes, "node %s: %s tells of %u GPUs, allocatable are %llu; labels count",
                node->name, NODE_TOPOLOGY_ANNOTATION, count, (unsigned long long)allocatable);
        return 0;
    }
    ret->kind = text->kind;
    memcpy(ret->clique, annotation.clique, sizeof(ret->clique));
    return 1;
}

/* --- labels ----------------------------------------------------------------------- */

/* So many GPUs of that name, of whose links nothing is known but what the catalogue rules out. */
static struct node_topology *unwired_node(const char *name, uint64_t memory_bytes, unsigned count,
                                          const struct gpu_catalogue *gpus, struct error_info *err)
{
    struct evidence_gpu alike[NODE_MAXIMUM_GPUS];
    for (unsigned i = 0; i < count; i++)
        alike[i] = (struct evidence_gpu){
            .model_text = name, .memory_bytes = memory_bytes, .numa = NUMA_UNKNOWN};
    const struct node_evidence evidence = {
        .source = EVIDENCE_PCI,
        .source_text = "node labels",
        .gpus = alike,
        .gpu_count = count,
        .nvlink = NVLINK_UNKNOWN,
    };
    return node_topology_of("node", &evidence, gpus, err);
}

static struct node_topology *make_product(const struct view_kinds *kinds,
                                          const struct gpu_labels *labels, unsigned count,
                                          struct error_info *err)
{
    const struct gpu_model *model =
        gpu_catalogue_find(kinds->gpus, labels->name, labels->memory_bytes);
    const struct node_preset *preset =
        model ? preset_catalogue_match(kinds->presets, kinds->gpus, model->name, count) : NULL;
    if (preset)
        return node_topology_from_preset(preset, kinds->gpus, err);
    return unwired_node(model ? model->name : labels->name, model ? 0 : labels->memory_bytes, count,
                        kinds->gpus, err);
}

static int choose_product(struct view_kinds *kinds, const struct gpu_labels *labels, unsigned count,
                          struct view_choice *ret, struct error_info *err)
{
    static const struct gpu_labels nameless = {.count = 0};
    char key[KEY_BYTES];
    if (kinds->product_count >= VIEW_MAXIMUM_PRODUCTS)
        labels = &nameless;
    snprintf(key, sizeof(key), "%u %llu %s", count, (unsigned long long)labels->memory_bytes,
             labels->name ? labels->name : "");
    size_t found = name_index_find(kinds->products, key);
    if (found == NAME_INDEX_NONE) {
        struct node_topology *node = make_product(kinds, labels, count, err);
        if (!node)
            return -1;
        found = add_kind(kinds, node);
        if (name_index_add(kinds->products, key, found) < 0)
            return error_set_memory(err);
        kinds->product_count++;
    }
    ret->kind = (uint32_t)found;
    return 0;
}

/* --- both ------------------------------------------------------------------------- */

static int choose(struct view_kinds *kinds, const struct node_record *node, struct view_choice *ret,
                  struct error_info *err)
{
    struct gpu_labels labels;
    uint64_t allocatable = resource_list_gpus(&node->allocatable, NULL);
    gpu_labels_read(&node->labels, &labels);
    if (labels.is_part) {
        view_notes_add(kinds->notes,
                       "node %s is left out: label %s=%s says that its GPUs are shared or cut into "
                       "instances, and ranks take whole GPUs",
                       node->name, labels.key, labels.product);
        return 0;
    }
    if (allocatable > NODE_MAXIMUM_GPUS || labels.count > NODE_MAXIMUM_GPUS) {
        view_notes_add(kinds->notes, "node %s is left out: it has more than %u GPUs", node->name,
                       NODE_MAXIMUM_GPUS);
        return 0;
    }
    int used = node->topology ? try_annotation(kinds, node, allocatable, ret, err) : 0;
    if (used != 0)
        return used < 0 ? -1 : 0;
    unsigned count = labels.count > allocatable ? labels.count : (unsigned)allocatable;
    return count > 0 ? choose_product(kinds, &labels, count, ret, err) : 0;
}

int view_kinds_choose(struct view_kinds *kinds, const struct node_record *node,
                      struct view_choice *ret, struct error_info *err)
{
    struct view_choice choice = {.kind = VIEW_KIND_NONE};
    if (choose(kinds, node, &choice, err) < 0)
        return -1;
    if (choice.kind != VIEW_KIND_NONE) {
        struct view_kind *kind = &kinds->kinds[choice.kind];
        if (!kind->chosen)
            kind->number = kinds->chosen_count++;
        kind->chosen = true;
        choice.kind = kind->number;
    }
    *ret = choice;
    return 0;
}

unsigned view_kinds_count(const struct view_kinds *kinds) { return kinds->chosen_count; }

/* The preset's name, or "8x-h100-sxm"; the second of that name gets "-2". */
static const char *name_kind(const struct view_kinds *kinds, const struct node_topology *node,
                             struct name_index *taken)
{
    CLEANUP_DONE(text_buffer) struct text_buffer base;
    text_buffer_init(&base, KIND_NAME_BYTES);
    if (preset_catalogue_find(kinds->presets, node->name))
        text_buffer_add_text(&base, node->name);
    else
        node_kind_name(node, &base);
    for (unsigned variant = 1; !text_buffer_failed(&base); variant++) {
        const char *name =
            variant == 1 ? arena_copy_text(kinds->arena, text_buffer_text(&base))
                         : arena_format(kinds->arena, "%s-%u", text_buffer_text(&base), variant);
        int added = name ? name_index_add(taken, name, variant) : -1;
        if (added <= 0)
            return added < 0 ? NULL : name;
    }
    return NULL;
}

int view_kinds_take(struct view_kinds *kinds, struct node_topology **ret_nodes,
                    const char **ret_names, struct error_info *err)
{
    CLEANUP(name_index) struct name_index *taken = name_index_create();
    if (!taken)
        return error_set_memory(err);
    for (unsigned i = 0; i < kinds->kind_count; i++) {
        const struct view_kind *kind = &kinds->kinds[i];
        const char *name = kind->chosen ? name_kind(kinds, kind->node, taken) : NULL;
        if (!kind->chosen)
            continue;
        if (!name)
            return error_set_memory(err);
        ret_names[kind->number] = name;
    }
    for (unsigned i = 0; i < kinds->kind_count; i++)
        if (kinds->kinds[i].chosen)
            ret_nodes[kinds->kinds[i].number] = move_pointer(kinds->kinds[i].node);
    return 0;
}
