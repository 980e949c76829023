/* SPDX-License-Identifier: MIT */
#include "topology/cluster_readers/slurm_nodes.h"
#include "topology/cluster_readers/gres_text.h"
#include "topology/collect/node_kind.h"
#include "topology/text_list.h"
#include <stdio.h>
#include <string.h>

#define NODE_WORD "NodeName="
#define GRES_WORD "Gres="
#define GRES_BYTES 1024u
#define SHOWN_BYTES 40u
#define MAXIMUM_KINDS 256u
#define KIND_NAME_BYTES 128u
#define NAMES_ARENA_BYTES ((size_t)1 << 20)

struct slurm_kind {
    char type[GPU_TYPE_BYTES]; /* "": Slurm names none */
    unsigned gpu_count;
    size_t nodes;
};

struct slurm_list {
    struct slurm_kind kinds[MAXIMUM_KINDS];
    unsigned kind_count;
    struct node_list *names;
    unsigned *node_kinds;
    size_t capacity;
    size_t without_gpus;
};

/* The value of " Key=value" in a line; false where it is not there or longer than the room. */
static bool find_value(const char *line, size_t bytes, const char *word, char *out, size_t room)
{
    size_t length = strlen(word);
    for (const char *at = line; at < line + bytes;) {
        const char *end = memchr(at, ' ', (size_t)(line + bytes - at));
        end = end ? end : line + bytes;
        size_t size = (size_t)(end - at);
        if (size >= length && memcmp(at, word, length) == 0) {
            if (size - length >= room)
                return false;
            memcpy(out, at + length, size - length);
            out[size - length] = '\0';
            return true;
        }
        at = end < line + bytes ? end + 1 : end;
    }
    return false;
}

static int find_kind(struct slurm_list *list, const char *type, unsigned count, const char *source,
                     unsigned *ret_kind, struct error_info *err)
{
    for (unsigned i = 0; i < list->kind_count; i++) {
        if (list->kinds[i].gpu_count != count || strcmp(list->kinds[i].type, type) != 0)
            continue;
        *ret_kind = i;
        return 0;
    }
    if (list->kind_count == MAXIMUM_KINDS)
        return error_set(err, "%s: more than %u kinds of GRES", source, MAXIMUM_KINDS);
    struct slurm_kind *kind = &list->kinds[list->kind_count];
    kind->gpu_count = count;
    memcpy(kind->type, type, strlen(type) + 1);
    *ret_kind = list->kind_count++;
    return 0;
}

static int add_node(struct slurm_list *list, const char *name, const char *type, unsigned count,
                    const char *source, struct error_info *err)
{
    size_t at = node_list_count(list->names);
    unsigned kind = 0;
    if (count > NODE_MAXIMUM_GPUS)
        return error_set(err, "%s: node %s has %u GPUs; %u are possible", source, name, count,
                         NODE_MAXIMUM_GPUS);
    if (at == list->capacity) {
        size_t wanted = at ? at * 2 : 64;
        unsigned *grown = memory_grow_array(list->node_kinds, at, wanted, sizeof(*grown));
        if (!grown)
            return error_set_memory(err);
        list->node_kinds = grown;
        list->capacity = wanted;
    }
    if (find_kind(list, type, count, source, &kind, err) < 0)
        return -1;
    if (node_list_add(list->names, name, err) < 0)
        return error_prefix(err, "%s", source);
    list->node_kinds[at] = kind;
    list->kinds[kind].nodes++;
    return 0;
}

static int read_line(struct slurm_list *list, const char *line, size_t bytes, const char *source,
                     struct error_info *err)
{
    char name[NODE_LIST_NAME_BYTES], gres[GRES_BYTES], type[GPU_TYPE_BYTES] = "";
    unsigned count = 0;
    if (bytes == 0)
        return 0;
    if (!find_value(line, bytes, NODE_WORD, name, sizeof(name)))
        return error_set(err,
                         "%s: '%.*s…' has no NodeName=; `scontrol show node --oneliner` gives "
                         "a line for each node",
                         source, (int)(bytes < SHOWN_BYTES ? bytes : SHOWN_BYTES), line);
    bool has_gpus = find_value(line, bytes, GRES_WORD, gres, sizeof(gres)) &&
                    gres_text_parse(gres, &count, type) && count > 0;
    if (has_gpus)
        return add_node(list, name, type, count, source, err);
    list->without_gpus++;
    return 0;
}

static int read_lines(struct slurm_list *list, const char *text, size_t bytes, const char *source,
                      struct error_info *err)
{
    for (const char *at = text; at < text + bytes;) {
        const char *end = memchr(at, '\n', (size_t)(text + bytes - at));
        end = end ? end : text + bytes;
        if (read_line(list, at, (size_t)(end - at), source, err) < 0)
            return -1;
        at = end < text + bytes ? end + 1 : end;
    }
    if (list->kind_count == 0)
        return error_set(err, "%s: no node has GPUs (Gres=gpu:…)", source);
    return 0;
}

static const char *plural(size_t count) { return count == 1 ? "" : "s"; }

static struct node_topology *make_kind(const struct slurm_kind *kind,
                                       const struct preset_catalogue *presets,
                                       const struct gpu_catalogue *gpus, struct text_buffer *notes,
                                       struct error_info *err)
{
    const char *type = kind->type[0] ? kind->type : NULL;
    const struct node_preset *preset =
        type ? preset_catalogue_match(presets, gpus, type, kind->gpu_count) : NULL;
    text_buffer_add(notes, "GRES gpu%s%s:%u of %zu node%s: ", type ? ":" : "", kind->type,
                    kind->gpu_count, kind->nodes, plural(kind->nodes));
    if (preset) {
        text_buffer_add(notes, "assumed to be preset %s (%s)\n", preset->name, preset->title);
        return node_topology_from_preset(preset, gpus, err);
    }
    text_buffer_add(notes, "no preset fits%s; NVLink and NICs are unknown\n",
                    type ? "" : ", since it names no type");
    struct node_topology *node = gres_unknown_node("node", type, kind->gpu_count, gpus, err);
    if (node)
        node->fact_count = 0; /* they would stay when people complete the draft */
    return node;
}

/* The preset's name, or "8x-h100"; of two types that fit one preset the second gets "-2". */
static const char *name_kind(const struct node_topology *node, struct name_index *taken,
                             const struct preset_catalogue *presets, struct arena *arena)
{
    CLEANUP_DONE(text_buffer) struct text_buffer base;
    text_buffer_init(&base, KIND_NAME_BYTES);
    if (preset_catalogue_find(presets, node->name))
        text_buffer_add_text(&base, node->name);
    else
        node_kind_name(node, &base);
    for (unsigned variant = 1; !text_buffer_failed(&base); variant++) {
        const char *name = variant == 1
                               ? arena_copy_text(arena, text_buffer_text(&base))
                               : arena_format(arena, "%s-%u", text_buffer_text(&base), variant);
        int added = name ? name_index_add(taken, name, variant) : -1;
        if (added <= 0)
            return added < 0 ? NULL : name;
    }
    return NULL;
}

struct kind_list {
    struct node_topology *kinds[MAXIMUM_KINDS];
    const char *names[MAXIMUM_KINDS];
    unsigned count;
    struct arena *arena;
};

static void kind_list_done(struct kind_list *kinds)
{
    for (unsigned i = 0; i < kinds->count; i++)
        node_topology_free(kinds->kinds[i]);
    kinds->count = 0;
    arena_free(kinds->arena);
}

static int make_kinds(const struct slurm_list *list, struct kind_list *kinds,
                      const struct preset_catalogue *presets, const struct gpu_catalogue *gpus,
                      struct text_buffer *notes, struct error_info *err)
{
    CLEANUP(name_index) struct name_index *taken = name_index_create();
    kinds->arena = arena_create(NAMES_ARENA_BYTES);
    if (!taken || !kinds->arena)
        return error_set_memory(err);
    for (unsigned i = 0; i < list->kind_count; i++) {
        struct node_topology *node = make_kind(&list->kinds[i], presets, gpus, notes, err);
        if (!node)
            return -1;
        kinds->kinds[kinds->count++] = node;
        kinds->names[i] = name_kind(node, taken, presets, kinds->arena);
        if (!kinds->names[i])
            return error_set_memory(err);
    }
    if (list->without_gpus > 0)
        text_buffer_add(notes, "%zu node%s without GPUs left out\n", list->without_gpus,
                        plural(list->without_gpus));
    return text_buffer_failed(notes) ? error_set_memory(err) : 0;
}

static struct cluster_topology *make_cluster(const struct slurm_list *list, const char *source,
                                             struct fabric **fabric,
                                             const struct preset_catalogue *presets,
                                             const struct gpu_catalogue *gpus,
                                             struct text_buffer *notes, struct error_info *err)
{
    CLEANUP_MEMORY struct kind_list *kinds = memory_allocate(sizeof(*kinds));
    if (!kinds)
        return error_null(error_set_memory(err));
    struct cluster_topology *cluster = NULL;
    if (make_kinds(list, kinds, presets, gpus, notes, err) == 0) {
        unsigned count = kinds->count;
        kinds->count = 0; /* the cluster's from here on, as is the fabric */
        cluster = cluster_topology_create(source, kinds->kinds, kinds->names, count, list->names,
                                          list->node_kinds, move_pointer(*fabric), err);
    }
    kind_list_done(kinds);
    return cluster;
}

struct cluster_topology *slurm_nodes_parse(const char *text, size_t bytes, const char *source,
                                           struct fabric *fabric,
                                           const struct preset_catalogue *presets,
                                           const struct gpu_catalogue *gpus,
                                           struct text_buffer *notes, struct error_info *err)
{
    CLEANUP(fabric) struct fabric *owned = fabric;
    CLEANUP_MEMORY struct slurm_list *list = memory_allocate(sizeof(*list));
    CLEANUP(node_list) struct node_list *names = node_list_create(err);
    if (!names)
        return NULL;
    if (!list)
        return error_null(error_set_memory(err));
    list->names = names;
    struct cluster_topology *cluster = NULL;
    if (read_lines(list, text, bytes, source, err) == 0)
        cluster = make_cluster(list, source, &owned, presets, gpus, notes, err);
    memory_free(list->node_kinds);
    return cluster;
}
