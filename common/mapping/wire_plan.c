/* SPDX-License-Identifier: MIT */
#include "mapping/wire_plan.h"
#include "base/name_index.h"
#include "base/parse_number.h"
#include "mapping/node_permutation.h"
#include "mapping/rank_map.h"
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#define VERSION_TEXT "1"
#define PLACE_KEY "place"
#define PLACE_TEXT "slurm"
/* Each ends with the one before, toml_scan.c's with it: the linker keeps one text for all. */
#define NAME_CHARACTERS ".ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
#define MASTER_CHARACTERS ":[]%" NAME_CHARACTERS
#define CONNECTIONS_MAXIMUM 32u        /* hardware queues of a GPU: CUDA programming guide */
#define ARENA_BYTES ((size_t)16 << 20) /* the text twice, and two numbers for each node */

enum wire_key {
    KEY_VERSION,
    KEY_ID,
    KEY_WORLD,
    KEY_NODES,
    KEY_PER_NODE,
    KEY_TASKS_PER_NODE,
    KEY_TP,
    KEY_CP,
    KEY_EP,
    KEY_ETP,
    KEY_PP,
    KEY_VPP,
    KEY_DP,
    KEY_SHARD,
    KEY_ORDER,
    KEY_PLACE,
    KEY_MASTER,
    KEY_CLUSTER,
    KEY_RAILS,
    KEY_CONNECTIONS,
    KEY_SLURM_RANKS,
    KEY_GPU,
    KEY_MAP,
    KEY_COUNT
};

enum key_type { KEY_TEXT, KEY_UNSIGNED };

/* Packed: the plugin counts its bytes. */
struct key_info {
    const char *name;
    uint32_t maximum;    /* KEY_UNSIGNED; the minimum is 1 */
    uint16_t offset;     /* KEY_UNSIGNED: of an unsigned in struct wire_plan */
    uint8_t type;        /* enum key_type */
    bool of_degrees : 1; /* absent in a plan without degrees */
    bool optional : 1;   /* absent where the number is 0 or the text empty */
};

#define TEXT_KEY(text)                                                                             \
    {                                                                                              \
        .name = (text), .type = KEY_TEXT                                                           \
    }
#define NUMBER_KEY(text, field, most)                                                              \
    {                                                                                              \
        .name = (text), .type = KEY_UNSIGNED, .offset = offsetof(struct wire_plan, field),         \
        .maximum = (most)                                                                          \
    }
#define DEGREE_KEY(field)                                                                          \
    {                                                                                              \
        .name = #field, .type = KEY_UNSIGNED, .offset = offsetof(struct wire_plan, degrees.field), \
        .maximum = DEGREE_MAXIMUM, .of_degrees = true                                              \
    }
#define OPTIONAL_KEY(text, field, most)                                                            \
    {                                                                                              \
        .name = (text), .type = KEY_UNSIGNED, .offset = offsetof(struct wire_plan, field),         \
        .maximum = (most), .optional = true                                                        \
    }

static const struct key_info keys[KEY_COUNT] = {
    [KEY_VERSION] = TEXT_KEY("v"),
    [KEY_ID] = TEXT_KEY("id"),
    [KEY_WORLD] = TEXT_KEY("n"),
    [KEY_NODES] = NUMBER_KEY("nodes", node_count, CLUSTER_MAXIMUM_NODES),
    [KEY_PER_NODE] = NUMBER_KEY("per_node", gpus_per_node, NODE_MAXIMUM_GPUS),
    [KEY_TASKS_PER_NODE] = NUMBER_KEY("tasks_per_node", tasks_per_node, NODE_MAXIMUM_GPUS),
    [KEY_TP] = DEGREE_KEY(tp),
    [KEY_CP] = DEGREE_KEY(cp),
    [KEY_EP] = DEGREE_KEY(ep),
    [KEY_ETP] = DEGREE_KEY(etp),
    [KEY_PP] = DEGREE_KEY(pp),
    [KEY_VPP] = DEGREE_KEY(vpp),
    [KEY_DP] = DEGREE_KEY(dp),
    [KEY_SHARD] = DEGREE_KEY(shard),
    [KEY_ORDER] = {.name = "order", .type = KEY_TEXT, .of_degrees = true},
    [KEY_PLACE] = {.name = PLACE_KEY, .type = KEY_TEXT, .optional = true},
    [KEY_MASTER] = TEXT_KEY("master"),
    [KEY_CLUSTER] = TEXT_KEY("cluster"),
    [KEY_RAILS] = OPTIONAL_KEY("rails", facts.rails, NODE_MAXIMUM_NICS),
    [KEY_CONNECTIONS] = OPTIONAL_KEY("connections", facts.device_connections, CONNECTIONS_MAXIMUM),
    [KEY_SLURM_RANKS] = OPTIONAL_KEY("slurm_ranks", facts.slurm_ranks, 1),
    [KEY_GPU] = {.name = "gpu", .type = KEY_TEXT, .optional = true},
    [KEY_MAP] = TEXT_KEY("map"),
};

static unsigned *number_at(struct wire_plan *wire, enum wire_key key)
{
    return (unsigned *)((char *)wire + keys[key].offset);
}

static unsigned number_of(const struct wire_plan *wire, enum wire_key key)
{
    return *(const unsigned *)((const char *)wire + keys[key].offset);
}

/* --- what holds for every plan, made here or received ------------------------------- */

static int check_degrees(const struct wire_plan *wire, struct error_info *err)
{
    const struct degrees *degrees = &wire->degrees;
    uint64_t world = degrees_world(degrees);
    if (world != wire->world)
        return error_set(err, "tp=%u,cp=%u,pp=%u,dp=%u do not make n=%" PRIu64, degrees->tp,
                         degrees->cp, degrees->pp, degrees->dp, wire->world);
    uint64_t stage = world / degrees->pp, experts = (uint64_t)degrees->etp * degrees->ep;
    if (experts == 0 || stage % experts != 0)
        return error_set(err, "ep=%u,etp=%u do not divide the %" PRIu64 " ranks of a stage",
                         degrees->ep, degrees->etp, stage);
    if (degrees->shard == 0 || degrees->dp % degrees->shard != 0)
        return error_set(err, "shard=%u does not divide dp=%u", degrees->shard, degrees->dp);
    unsigned tp = degrees->tp, per_node = wire->gpus_per_node;
    if (per_node % tp != 0 && tp % per_node != 0)
        return error_set(err, "tp=%u would be cut by nodes of %u ranks", tp, per_node);
    return rank_order_check(wire->order, degrees, err);
}

static int check_plan(const struct wire_plan *wire, struct error_info *err)
{
    uint64_t ranks = (uint64_t)wire->node_count * wire->gpus_per_node;
    if (ranks != wire->world || ranks > WORLD_MAXIMUM)
        return error_set(err, "nodes=%u of per_node=%u do not make n=%" PRIu64, wire->node_count,
                         wire->gpus_per_node, wire->world);
    if (wire->tasks_per_node != 1 && wire->tasks_per_node != wire->gpus_per_node)
        return error_set(err, "tasks_per_node=%u is neither 1 nor per_node=%u",
                         wire->tasks_per_node, wire->gpus_per_node);
    return wire->locality_only ? 0 : check_degrees(wire, err);
}

/* --- text out ----------------------------------------------------------------------- */

/* Every number but that of an absent key is at least 1. */
static bool is_written(const struct wire_plan *wire, enum wire_key key)
{
    return keys[key].type == KEY_UNSIGNED && !(keys[key].of_degrees && wire->locality_only) &&
           !(keys[key].optional && number_of(wire, key) == 0);
}

/* Everything but version, id and map, in the table's order. */
static void write_fields(const struct wire_plan *wire, struct text_buffer *out)
{
    text_buffer_add(out, "n=%" PRIu64 ";", wire->world);
    for (unsigned key = 0; key < KEY_COUNT; key++)
        if (is_written(wire, key))
            text_buffer_add(out, "%s=%u;", keys[key].name, number_of(wire, key));
    if (wire->facts.gpu[0])
        text_buffer_add(out, "gpu=%s;", wire->facts.gpu);
    if (!wire->locality_only)
        text_buffer_add(out, "order=%s;", rank_order_name(wire->order));
    if (wire->by_slurm)
        text_buffer_add_text(out, PLACE_KEY "=" PLACE_TEXT ";");
    /* In parentheses, the function itself: each task would unpack all messages for this one. */
    (text_buffer_add)(out, "master=%s;cluster=%016" PRIx64 ";", wire->master, wire->cluster_digest);
}

static int compute_id(const struct wire_plan *wire, char ret[static WIRE_PLAN_ID_BYTES],
                      struct error_info *err)
{
    CLEANUP_DONE(text_buffer) struct text_buffer fields;
    text_buffer_init(&fields, WIRE_PLAN_MAXIMUM_BYTES);
    text_buffer_add(&fields, "v=" VERSION_TEXT ";");
    write_fields(wire, &fields);
    if (text_buffer_failed(&fields))
        return error_set_memory(err);
    uint64_t hash = name_hash_add(NAME_HASH_START, fields.text, fields.length);
    for (unsigned i = 0; i < wire->node_count; i++) {
        unsigned node = wire->block_nodes[i];
        unsigned char bytes[] = {node & 0xff, node >> 8 & 0xff, node >> 16 & 0xff};
        hash = name_hash_add(hash, bytes, sizeof(bytes));
    }
    for (unsigned i = 0; i < WIRE_PLAN_ID_BYTES - 1; i++)
        ret[i] = "0123456789abcdef"[hash >> (60 - 4 * i) & 15];
    ret[WIRE_PLAN_ID_BYTES - 1] = '\0';
    return 0;
}

int wire_plan_encode(const struct wire_plan *wire, struct text_buffer *out, struct error_info *err)
{
    CLEANUP_DONE(text_buffer) struct text_buffer map;
    text_buffer_init(&map, (size_t)wire->node_count * 8 + 64);
    node_permutation_encode(wire->block_nodes, wire->node_count, &map);
    CLEANUP_DONE(text_buffer) struct text_buffer line;
    text_buffer_init(&line, (size_t)WIRE_PLAN_MAXIMUM_BYTES + map.length);
    text_buffer_add(&line, "v=" VERSION_TEXT ";id=%s;", wire->id);
    write_fields(wire, &line);
    text_buffer_add_text(&line, "map=");
    text_buffer_add_text(&line, text_buffer_text(&map));
    if (text_buffer_failed(&map) || text_buffer_failed(&line))
        return error_set_memory(err);
    if (line.length >= WIRE_PLAN_MAXIMUM_BYTES)
        return error_set(err,
                         "the plan needs %zu bytes for the order of %u nodes, and srun passes %u; "
                         "use fewer nodes, or an allocation of whole switches",
                         line.length, wire->node_count, WIRE_PLAN_MAXIMUM_BYTES - 1);
    text_buffer_add_bytes(out, line.text, line.length);
    return text_buffer_failed(out) ? error_set_memory(err) : 0;
}

/* --- from a map --------------------------------------------------------------------- */

static struct wire_plan *plan_allocate(struct error_info *err)
{
    struct arena *arena = arena_create(ARENA_BYTES);
    struct wire_plan *wire = arena ? arena_allocate(arena, sizeof(*wire)) : NULL;
    if (!wire) {
        arena_free(arena);
        return error_null(error_set_memory(err));
    }
    wire->arena = arena;
    return wire;
}

/* Room for both directions; the caller fills block_nodes, then invert_map the inverse. */
static unsigned *allocate_map(struct wire_plan *wire, struct error_info *err)
{
    unsigned *nodes = arena_allocate_array(wire->arena, wire->node_count, sizeof(*nodes));
    wire->block_nodes = nodes;
    return nodes ? nodes : error_null(error_set_memory(err));
}

static int invert_map(struct wire_plan *wire, struct error_info *err)
{
    unsigned *blocks = arena_allocate_array(wire->arena, wire->node_count, sizeof(*blocks));
    if (!blocks)
        return error_set_memory(err);
    wire->node_blocks = blocks;
    return node_permutation_invert(wire->block_nodes, wire->node_count, blocks, err);
}

static int copy_map(struct wire_plan *wire, const struct rank_map *map, struct error_info *err)
{
    size_t nodes = map->cluster->node_count;
    if (map->block_count != nodes)
        return error_set(err, "the plan uses %zu of the step's %zu nodes; start the step on %zu",
                         map->block_count, nodes, map->block_count);
    wire->node_count = (unsigned)nodes;
    unsigned *copy = allocate_map(wire, err);
    if (!copy)
        return -1;
    memcpy(copy, map->block_nodes, nodes * sizeof(*copy));
    return invert_map(wire, err);
}

static int set_master(struct wire_plan *wire, const char *master, struct error_info *err)
{
    size_t length = strlen(master);
    if (length == 0 || length >= WIRE_PLAN_MASTER_BYTES)
        return error_set(err, "master: has %zu characters; from 1 to %u are possible", length,
                         WIRE_PLAN_MASTER_BYTES - 1);
    if (strspn(master, MASTER_CHARACTERS) != length)
        return error_set(err, "master: '%.60s' is no host name or address", master);
    memcpy(wire->master, master, length + 1);
    return 0;
}

/* What the wire cannot carry is unknown to the nodes: a model of another source's wording. */
static void set_gpu(struct wire_plan *wire, const char *gpu)
{
    size_t length = strlen(gpu);
    if (length < sizeof(wire->facts.gpu) && strspn(gpu, NAME_CHARACTERS) == length)
        memcpy(wire->facts.gpu, gpu, length + 1);
    else
        wire->facts.gpu[0] = '\0';
}

int wire_plan_set_facts(struct wire_plan *wire, const struct wire_facts *facts,
                        struct error_info *err)
{
    const struct wire_facts before = wire->facts;
    wire->facts = *facts;
    set_gpu(wire, facts->gpu);
    if (compute_id(wire, wire->id, err) == 0)
        return 0;
    wire->facts = before;
    return -1;
}

struct wire_plan *wire_plan_create(const struct rank_map *map, unsigned tasks_per_node,
                                   const char *master, bool by_slurm, struct error_info *err)
{
    CLEANUP(wire_plan) struct wire_plan *wire = plan_allocate(err);
    if (!wire)
        return NULL;
    wire->degrees = map->locality_only ? DEGREES_ONE : map->degrees;
    wire->order = map->locality_only ? ORDER_TP_CP_EP_DP_PP : map->order;
    wire->locality_only = map->locality_only;
    wire->by_slurm = by_slurm;
    wire->world = map->world;
    wire->gpus_per_node = map->gpus_per_node;
    wire->tasks_per_node = tasks_per_node;
    wire->cluster_digest = cluster_digest(map->cluster);
    if (copy_map(wire, map, err) < 0 ||
        set_master(wire, master ? master : rank_map_master(map), err) < 0 ||
        check_plan(wire, err) < 0 || compute_id(wire, wire->id, err) < 0)
        return NULL;
    return move_pointer(wire);
}

/* --- text in ------------------------------------------------------------------------ */

static int find_key(const char *name, struct error_info *err)
{
    for (unsigned key = 0; key < KEY_COUNT; key++)
        if (strcmp(name, keys[key].name) == 0)
            return (int)key;
    return error_set(err, "unknown key '%.32s'", name);
}

/* Cuts "key=value" in two and stores the value. */
static int split_item(char *item, const char *values[static KEY_COUNT], struct error_info *err)
{
    char *equals = strchr(item, '=');
    if (!equals)
        return error_set(err, "'%.32s' is not key=value", item);
    *equals = '\0';
    int key = find_key(item, err);
    if (key < 0)
        return -1;
    if (values[key])
        return error_set(err, "%s stands twice", keys[key].name);
    values[key] = equals + 1;
    if (key != KEY_VERSION && !values[KEY_VERSION])
        return error_set(err, "does not start with v=" VERSION_TEXT);
    if (key == KEY_VERSION && strcmp(equals + 1, VERSION_TEXT) != 0)
        return error_set(err,
                         "has version '%.16s', and this node's plugin reads " VERSION_TEXT
                         "; install one version of parplan on submit and compute nodes",
                         equals + 1);
    return 0;
}

static int split_line(char *line, const char *values[static KEY_COUNT], struct error_info *err)
{
    for (char *item = line; item;) {
        char *next = strchr(item, ';');
        if (next)
            *next++ = '\0';
        if (split_item(item, values, err) < 0)
            return -1;
        item = next;
    }
    return 0;
}

static int check_missing(const char *const values[static KEY_COUNT], bool *ret_locality_only,
                         struct error_info *err)
{
    bool locality_only = true;
    for (unsigned key = 0; key < KEY_COUNT; key++)
        if (keys[key].of_degrees && values[key])
            locality_only = false;
    for (unsigned key = 0; key < KEY_COUNT; key++)
        if (!values[key] && !keys[key].optional && !(keys[key].of_degrees && locality_only))
            return error_set(err, "%s is missing", keys[key].name);
    *ret_locality_only = locality_only;
    return 0;
}

static int read_numbers(struct wire_plan *wire, const char *const values[static KEY_COUNT],
                        struct error_info *err)
{
    for (unsigned key = 0; key < KEY_COUNT; key++) {
        uint64_t number;
        if (keys[key].type != KEY_UNSIGNED || !values[key])
            continue;
        if (parse_unsigned(values[key], 1, keys[key].maximum, &number, err) < 0)
            return error_prefix(err, "%s", keys[key].name);
        *number_at(wire, key) = (unsigned)number;
    }
    if (parse_unsigned(values[KEY_WORLD], 1, WORLD_MAXIMUM, &wire->world, err) < 0)
        return error_prefix(err, "%s", keys[KEY_WORLD].name);
    wire->degrees.replicate = wire->degrees.dp / wire->degrees.shard;
    return 0;
}

static int read_texts(struct wire_plan *wire, const char *const values[static KEY_COUNT],
                      struct error_info *err)
{
    if (values[KEY_ORDER] && rank_order_parse(values[KEY_ORDER], &wire->order, err) < 0)
        return error_prefix(err, "%s", keys[KEY_ORDER].name);
    wire->by_slurm = values[KEY_PLACE] != NULL;
    if (wire->by_slurm && strcmp(values[KEY_PLACE], PLACE_TEXT) != 0)
        return error_set(err, PLACE_KEY ": '%.20s' is not " PLACE_TEXT, values[KEY_PLACE]);
    if (values[KEY_GPU])
        set_gpu(wire, values[KEY_GPU]);
    if (strlen(values[KEY_CLUSTER]) != WIRE_PLAN_ID_BYTES - 1)
        return error_set(err, "cluster: '%.20s' is no digest", values[KEY_CLUSTER]);
    if (parse_hexadecimal(values[KEY_CLUSTER], UINT64_MAX, &wire->cluster_digest, err) < 0)
        return error_prefix(err, "%s", keys[KEY_CLUSTER].name);
    return set_master(wire, values[KEY_MASTER], err);
}

static int read_map(struct wire_plan *wire, const char *text, struct error_info *err)
{
    unsigned *nodes = allocate_map(wire, err);
    if (!nodes || node_permutation_decode(text, wire->node_count, nodes, err) < 0)
        return -1;
    return invert_map(wire, err);
}

/* Last of all, so that every other fault is named as what it is. */
static int read_id(struct wire_plan *wire, const char *text, struct error_info *err)
{
    if (compute_id(wire, wire->id, err) < 0)
        return -1;
    if (strcmp(wire->id, text) != 0)
        return error_set(err, "id: '%.20s' does not belong to this plan, whose id is %s", text,
                         wire->id);
    return 0;
}

static int decode_line(struct wire_plan *wire, char *line, struct error_info *err)
{
    const char *values[KEY_COUNT] = {NULL};
    wire->degrees = DEGREES_ONE;
    if (split_line(line, values, err) < 0 || check_missing(values, &wire->locality_only, err) < 0 ||
        read_numbers(wire, values, err) < 0 || read_texts(wire, values, err) < 0 ||
        check_plan(wire, err) < 0 || read_map(wire, values[KEY_MAP], err) < 0)
        return -1;
    return read_id(wire, values[KEY_ID], err);
}

struct wire_plan *wire_plan_decode(const char *text, struct error_info *err)
{
    size_t length = strlen(text);
    if (length >= WIRE_PLAN_MAXIMUM_BYTES)
        return error_null(
            error_set(err, "has more than %u characters", WIRE_PLAN_MAXIMUM_BYTES - 1));
    CLEANUP(wire_plan) struct wire_plan *wire = plan_allocate(err);
    if (!wire)
        return NULL;
    char *line = arena_copy_bytes(wire->arena, text, length);
    if (!line)
        return error_null(error_set_memory(err));
    return decode_line(wire, line, err) < 0 ? NULL : move_pointer(wire);
}

void wire_plan_free(struct wire_plan *wire)
{
    if (wire)
        arena_free(wire->arena);
}
