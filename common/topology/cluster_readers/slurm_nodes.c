/* SPDX-License-Identifier: MIT */
#include "topology/cluster_readers/slurm_nodes.h"
#include "topology/cluster_readers/gres_text.h"
#include "topology/collect/node_kind.h"
#include "topology/text_list.h"
#include <stdio.h>
#include <string.h>

#define NODE_WORD "NodeName="
#define GRES_WORD "Gres="
#define STATE_WORD "State="
#define GRES_BYTES 1024u
#define STATE_BYTES 256u
#define SHOWN_BYTES 40u
#define MAXIMUM_KINDS 256u
#define KIND_NAME_BYTES 128u
#define SHOWN_MODELS 8u
#define NAMES_ARENA_BYTES ((size_t)1 << 20)

struct slurm_kind {
    char type[GPU_TYPE_BYTES]; /* "": Slurm names none */
    unsigned gpu_count;
    char others[GRES_BYTES]; /* "gpu:l40s:4": what else such a node has, left out */
    size_t nodes;
};

struct slurm_list {
    struct slurm_kind kinds[MAXIMUM_KINDS];
    unsigned kind_count;
    struct node_list *names;
    unsigned *node_kinds;
    size_t capacity;
    size_t without_gpus, with_instances; /* left out; the second have MIG instances alone */
    struct node_list *away;              /* down or drained */
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

static int find_kind(struct slurm_list *list, const struct slurm_kind *wanted, const char *source,
                     unsigned *ret_kind, struct error_info *err)
{
    for (unsigned i = 0; i < list->kind_count; i++) {
        const struct slurm_kind *kind = &list->kinds[i];
        if (kind->gpu_count != wanted->gpu_count || strcmp(kind->type, wanted->type) != 0 ||
            strcmp(kind->others, wanted->others) != 0)
            continue;
        *ret_kind = i;
        return 0;
    }
    if (list->kind_count == MAXIMUM_KINDS)
        return error_set(err, "%s: more than %u kinds of GRES", source, MAXIMUM_KINDS);
    list->kinds[list->kind_count] = *wanted;
    *ret_kind = list->kind_count++;
    return 0;
}

static int add_node(struct slurm_list *list, const char *name, const struct slurm_kind *gres,
                    const char *source, struct error_info *err)
{
    size_t at = node_list_count(list->names);
    unsigned kind = 0;
    if (gres->gpu_count > NODE_MAXIMUM_GPUS)
        return error_set(err, "%s: node %s has %u GPUs; %u are possible", source, name,
                         gres->gpu_count, NODE_MAXIMUM_GPUS);
    if (at == list->capacity) {
        size_t wanted = at ? at * 2 : 64;
        unsigned *grown = memory_grow_array(list->node_kinds, at, wanted, sizeof(*grown));
        if (!grown)
            return error_set_memory(err);
        list->node_kinds = grown;
        list->capacity = wanted;
    }
    if (find_kind(list, gres, source, &kind, err) < 0)
        return -1;
    if (node_list_add(list->names, name, err) < 0)
        return error_prefix(err, "%s", source);
    list->node_kinds[at] = kind;
    list->kinds[kind].nodes++;
    return 0;
}

static bool is_digit(char character) { return character >= '0' && character <= '9'; }

/* "a100_3g.20gb": three of seven slices, and their memory. */
static bool is_instance(const char *type)
{
    for (const char *at = strchr(type, 'g'); at; at = strchr(at + 1, 'g'))
        if (at > type && is_digit(at[-1]) && at[1] == '.' && is_digit(at[2]))
            return true;
    return false;
}

/* The first type of whole GPUs, and what stands beside it. Their count is 0 where there are none.
 */
static void read_gres(const char *gres, struct slurm_kind *ret, bool *ret_instances)
{
    char type[GPU_TYPE_BYTES];
    unsigned count = 0;
    size_t used = 0;
    while (gres_text_next(&gres, &count, type)) {
        bool instance = is_instance(type);
        *ret_instances = *ret_instances || instance;
        if (count == 0)
            continue;
        if (ret->gpu_count == 0 && !instance) {
            ret->gpu_count = count;
            memcpy(ret->type, type, sizeof(type));
        } else if (used < sizeof(ret->others)) {
            used += (size_t)snprintf(ret->others + used, sizeof(ret->others) - used, "%sgpu%s%s:%u",
                                     used > 0 ? ", " : "", type[0] ? ":" : "", type, count);
        }
    }
}

/* "DOWN*+DRAIN": words, and signs behind them. POWERED_DOWN is a word of its own: such a node
 * comes back when it is wanted. */
static bool is_away(const char *state)
{
    static const char *const words[] = {"DOWN", "DRAIN",   "DRAINED", "DRAINING",
                                        "FAIL", "FAILING", "ERROR",   "INVALID_REG"};
    while (*state) {
        size_t length = strspn(state, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
        for (size_t i = 0; i < COUNT_OF(words); i++)
            if (strlen(words[i]) == length && memcmp(state, words[i], length) == 0)
                return true;
        state += length;
        state += *state != '\0';
    }
    return false;
}

static int read_line(struct slurm_list *list, const char *line, size_t bytes, const char *source,
                     struct error_info *err)
{
    char name[NODE_LIST_NAME_BYTES], gres[GRES_BYTES], state[STATE_BYTES];
    struct slurm_kind kind = {.gpu_count = 0};
    bool has_instances = false;
    if (bytes == 0)
        return 0;
    if (!find_value(line, bytes, NODE_WORD, name, sizeof(name)))
        return error_set(err,
                         "%s: '%.*s…' has no NodeName=; `scontrol show node --oneliner` gives "
                         "a line for each node",
                         source, (int)(bytes < SHOWN_BYTES ? bytes : SHOWN_BYTES), line);
    if (find_value(line, bytes, GRES_WORD, gres, sizeof(gres)))
        read_gres(gres, &kind, &has_instances);
    if (kind.gpu_count == 0) {
        list->without_gpus += !has_instances;
        list->with_instances += has_instances;
        return 0;
    }
    if (find_value(line, bytes, STATE_WORD, state, sizeof(state)) && is_away(state) &&
        node_list_add(list->away, name, err) < 0)
        return error_prefix(err, "%s", source);
    return add_node(list, name, &kind, source, err);
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

/* "; a100 is taken for a100-sxm-80, may be a100-sxm-40 or a100-pcie-80": memory and links differ.
 */
static void note_models(const struct gpu_catalogue *gpus, const char *type,
                        struct text_buffer *notes)
{
    const struct gpu_model *models[SHOWN_MODELS];
    size_t count = gpu_catalogue_find_all(gpus, type, models, SHOWN_MODELS);
    if (count < 2)
        return;
    count = count < SHOWN_MODELS ? count : SHOWN_MODELS;
    text_buffer_add(notes, "; %s is taken for %s, it may be", type, models[0]->name);
    for (size_t i = 1; i < count; i++)
        text_buffer_add(notes, "%s %s", i == 1 ? "" : i + 1 < count ? "," : " or", models[i]->name);
}

static void note_kind(const struct slurm_kind *kind, const struct node_preset *preset,
                      const struct gpu_catalogue *gpus, struct text_buffer *notes)
{
    bool typed = kind->type[0] != '\0';
    text_buffer_add(notes, "GRES gpu%s%s:%u of %zu node%s: ", typed ? ":" : "", kind->type,
                    kind->gpu_count, kind->nodes, plural(kind->nodes));
    if (preset)
        text_buffer_add(notes, "assumed to be preset %s (%s)", preset->name, preset->title);
    else
        text_buffer_add(notes, "no preset fits%s; NVLink and NICs are unknown",
                        typed ? "" : ", since it names no type");
    if (typed)
        note_models(gpus, kind->type, notes);
    if (kind->others[0])
        text_buffer_add(notes, "; left out: %s of the same node%s", kind->others,
                        plural(kind->nodes));
    text_buffer_add(notes, "\n");
}

static struct node_topology *make_kind(const struct slurm_kind *kind,
                                       const struct preset_catalogue *presets,
                                       const struct gpu_catalogue *gpus, struct text_buffer *notes,
                                       struct error_info *err)
{
    const char *type = kind->type[0] ? kind->type : NULL;
    const struct node_preset *preset =
        type ? preset_catalogue_match(presets, gpus, type, kind->gpu_count) : NULL;
    note_kind(kind, preset, gpus, notes);
    if (preset)
        return node_topology_from_preset(preset, gpus, err);
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

/* Nodes that are not there now, or of which nothing could be said. */
static void note_nodes(const struct slurm_list *list, struct text_buffer *notes)
{
    size_t away = node_list_count(list->away);
    if (away > 0) {
        text_buffer_add(notes, "%zu node%s down or drained, and part of this all the same: ", away,
                        away == 1 ? " is" : "s are");
        node_list_encode(list->away, notes);
        text_buffer_add(notes, "\n");
    }
    if (list->with_instances > 0)
        text_buffer_add(notes, "%zu node%s with MIG instances alone left out\n",
                        list->with_instances, plural(list->with_instances));
    if (list->without_gpus > 0)
        text_buffer_add(notes, "%zu node%s without GPUs left out\n", list->without_gpus,
                        plural(list->without_gpus));
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
    note_nodes(list, notes);
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
    CLEANUP(node_list) struct node_list *away = names ? node_list_create(err) : NULL;
    if (!away)
        return NULL;
    if (!list)
        return error_null(error_set_memory(err));
    list->names = names;
    list->away = away;
    struct cluster_topology *cluster = NULL;
    if (read_lines(list, text, bytes, source, err) == 0)
        cluster = make_cluster(list, source, &owned, presets, gpus, notes, err);
    memory_free(list->node_kinds);
    return cluster;
}
