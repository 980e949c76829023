/* SPDX-License-Identifier: MIT */
#include "k8s_extender/placement/planning/gang_plan_text.h"
#include "base/node_list.h"
#include "base/parse_number.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PLAN_ARENA_MAXIMUM_BYTES ((size_t)32 << 20)
#define NUMBER_BYTES 16u

/* The degrees that are written; replicate follows. */
static const struct {
    const char *name;
    size_t offset;
} degree_fields[] = {
    {"tp", offsetof(struct degrees, tp)}, {"cp", offsetof(struct degrees, cp)},
    {"ep", offsetof(struct degrees, ep)}, {"etp", offsetof(struct degrees, etp)},
    {"pp", offsetof(struct degrees, pp)}, {"vpp", offsetof(struct degrees, vpp)},
    {"dp", offsetof(struct degrees, dp)}, {"shard", offsetof(struct degrees, shard)},
};

static unsigned *degree_at(struct degrees *degrees, size_t field)
{
    return (unsigned *)((char *)degrees + degree_fields[field].offset);
}

/* Byte order and width are fixed, so that all machines agree. */
static uint64_t hash_number(uint64_t hash, uint64_t number)
{
    unsigned char bytes[8];
    for (unsigned i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)(number >> 8 * i);
    return name_hash_add(hash, bytes, sizeof(bytes));
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return name_hash_add(hash, text, strlen(text) + 1);
}

void gang_plan_make_id(const struct gang_plan *plan, const char *key, char ret[GANG_PLAN_ID_BYTES])
{
    struct degrees degrees = plan->degrees;
    uint64_t hash = hash_text(NAME_HASH_START, key);
    hash = hash_number(hash, plan->pods);
    hash = hash_number(hash, plan->gpus_per_pod);
    hash = hash_number(hash, plan->has_degrees);
    if (plan->has_degrees) {
        hash = hash_number(hash, plan->order);
        for (size_t i = 0; i < COUNT_OF(degree_fields); i++)
            hash = hash_number(hash, *degree_at(&degrees, i));
    }
    for (uint32_t pod = 0; pod < plan->pods; pod++)
        hash = hash_text(hash, plan->nodes[pod]);
    snprintf(ret, GANG_PLAN_ID_BYTES, "%016" PRIx64, hash);
}

/* --- encode ------------------------------------------------------------------------- */

int gang_plan_encode(const struct gang_plan *plan, struct text_buffer *out)
{
    struct degrees degrees = plan->degrees;
    CLEANUP(node_list) struct node_list *nodes = node_list_create(NULL);
    for (uint32_t pod = 0; nodes && pod < plan->pods; pod++)
        if (node_list_add(nodes, plan->nodes[pod], NULL) < 0)
            return -1;
    if (!nodes)
        return -1;
    text_buffer_add(out, GANG_PLAN_VERSION " id=%s pods=%u gpus=%u", plan->id, plan->pods,
                    plan->gpus_per_pod);
    if (plan->has_degrees) {
        text_buffer_add(out, " order=%s", rank_order_name(plan->order));
        for (size_t i = 0; i < COUNT_OF(degree_fields); i++)
            text_buffer_add(out, " %s=%u", degree_fields[i].name, *degree_at(&degrees, i));
    }
    text_buffer_add_text(out, " nodes=");
    node_list_encode(nodes, out);
    return text_buffer_failed(out) ? -1 : 0;
}

/* --- decode ------------------------------------------------------------------------- */

struct reader {
    char *at; /* the rest; blanks become ends of words */
    struct gang_plan *plan;
    struct error_info *err;
};

/* The value of "<name>=<value>", which has to come next, or NULL. */
static const char *next_value(struct reader *reader, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(reader->at, name, length) != 0 || reader->at[length] != '=')
        return error_null(
            error_set(reader->err, "gang plan: '%.40s' where %s= is due", reader->at, name));
    char *value = reader->at + length + 1;
    char *end = value + strcspn(value, " ");
    reader->at = *end ? end + 1 : end;
    *end = '\0';
    return value;
}

static int next_number(struct reader *reader, const char *name, uint32_t maximum, uint32_t *ret)
{
    uint64_t number = 0;
    char again[NUMBER_BYTES];
    const char *value = next_value(reader, name);
    if (!value)
        return -1;
    if (parse_unsigned(value, 1, maximum, &number, reader->err) < 0)
        return error_prefix(reader->err, "gang plan: %s", name);
    snprintf(again, sizeof(again), "%" PRIu64, number);
    if (strcmp(again, value) != 0)
        return error_set(reader->err, "gang plan: %s: '%.20s' is not written as %s", name, value,
                         again);
    *ret = (uint32_t)number;
    return 0;
}

static int read_id(struct reader *reader)
{
    const char *id = next_value(reader, "id");
    if (!id)
        return -1;
    if (strlen(id) != GANG_PLAN_ID_BYTES - 1 ||
        strspn(id, "0123456789abcdef") != GANG_PLAN_ID_BYTES - 1)
        return error_set(reader->err, "gang plan: '%.20s' is no id of 16 hexadecimal digits", id);
    memcpy(reader->plan->id, id, GANG_PLAN_ID_BYTES);
    return 0;
}

/* Whether they make the ranks, in every way that the rest of the program relies on. */
static int check_degrees(const struct gang_plan *plan, struct error_info *err)
{
    uint64_t world = (uint64_t)plan->pods * plan->gpus_per_pod;
    struct degrees degrees = plan->degrees;
    unsigned shard = degrees.shard, tp = degrees.tp;
    degrees.replicate = 0;
    if (degrees_world(&degrees) != world)
        return error_set(err, "gang plan: its degrees make %" PRIu64 " ranks, its pods %" PRIu64,
                         degrees_world(&degrees), world);
    if (degrees_complete(&degrees, world, err) < 0 ||
        rank_order_check(plan->order, &degrees, err) < 0)
        return error_prefix(err, "gang plan");
    if (degrees.dp % shard != 0)
        return error_set(err, "gang plan: shard=%u does not divide dp=%u", shard, degrees.dp);
    if (plan->gpus_per_pod % tp != 0 && tp % plan->gpus_per_pod != 0)
        return error_set(err, "gang plan: tp=%u does not fit pods of %u GPUs", tp,
                         plan->gpus_per_pod);
    return 0;
}

static int read_degrees(struct reader *reader)
{
    struct gang_plan *plan = reader->plan;
    const char *order = next_value(reader, "order");
    if (!order)
        return -1;
    if (rank_order_parse(order, &plan->order, reader->err) < 0)
        return error_prefix(reader->err, "gang plan");
    for (size_t i = 0; i < COUNT_OF(degree_fields); i++)
        if (next_number(reader, degree_fields[i].name, DEGREE_MAXIMUM,
                        degree_at(&plan->degrees, i)) < 0)
            return -1;
    if (check_degrees(plan, reader->err) < 0)
        return -1;
    plan->degrees.replicate = plan->degrees.dp / plan->degrees.shard;
    plan->has_degrees = true;
    return 0;
}

/* Names that a bracket's text "001-016,020" stands for, or more than `most`; *ret_end is its ']' or
 * the end. What is malformed counts as nothing: node_list_decode says what is wrong with it. */
static uint64_t count_bracket(const char *text, uint64_t most, const char **ret_end)
{
    uint64_t sum = 0;
    const char *at = text;
    for (; *at && *at != ']' && sum <= most; at += *at == ',') {
        char part[2 * NUMBER_BYTES];
        uint64_t first = 0, last = 0;
        size_t bytes = strcspn(at, ",]"), width = strcspn(at, "-,]");
        snprintf(part, sizeof(part), "%.*s", (int)width, at);
        bool read = parse_unsigned(part, 0, UINT64_MAX, &first, NULL) == 0;
        last = first;
        if (width < bytes) {
            snprintf(part, sizeof(part), "%.*s", (int)(bytes - width - 1), at + width + 1);
            read = parse_unsigned(part, 0, UINT64_MAX, &last, NULL) == 0 && read;
        }
        sum += read && last >= first && last - first < most ? last - first + 1 : most + 1;
        at += bytes;
    }
    *ret_end = at;
    return sum;
}

/* Before anything is expanded: a short text can stand for a million names. What is written here
 * has one bracket in an item. */
static int check_ranges(const char *text, uint32_t pods, struct error_info *err)
{
    uint64_t sum = 0;
    unsigned brackets = 0;
    for (const char *at = text; *at && sum <= pods; at += *at != '\0') {
        if (*at == ',')
            brackets = 0;
        if (*at != '[')
            continue;
        if (++brackets > 1)
            return error_set(err, "gang plan: '%.40s' has two brackets", at);
        sum += count_bracket(at + 1, pods, &at);
    }
    return sum <= pods ? 0 : error_set(err, "gang plan: more nodes than its %u pods", pods);
}

static int read_nodes(struct reader *reader)
{
    struct gang_plan *plan = reader->plan;
    const char *value = next_value(reader, "nodes");
    if (!value)
        return -1;
    if (*reader->at)
        return error_set(reader->err, "gang plan: '%.40s' stands behind its nodes", reader->at);
    if (check_ranges(value, plan->pods, reader->err) < 0)
        return -1;
    CLEANUP(node_list) struct node_list *list = node_list_decode(value, reader->err);
    if (!list)
        return error_prefix(reader->err, "gang plan");
    if (node_list_count(list) != plan->pods)
        return error_set(reader->err, "gang plan: %zu nodes for %u pods", node_list_count(list),
                         plan->pods);
    const char **nodes = arena_allocate_array(plan->arena, plan->pods, sizeof(*nodes));
    for (uint32_t pod = 0; nodes && pod < plan->pods; pod++)
        if (!(nodes[pod] = arena_copy_text(plan->arena, node_list_name(list, pod))))
            return error_set_memory(reader->err);
    plan->nodes = nodes;
    return nodes ? 0 : error_set_memory(reader->err);
}

static int read_plan(struct reader *reader, const char *key)
{
    struct gang_plan *plan = reader->plan;
    size_t version = strlen(GANG_PLAN_VERSION);
    char id[GANG_PLAN_ID_BYTES];
    if (strncmp(reader->at, GANG_PLAN_VERSION " ", version + 1) != 0)
        return error_set(reader->err, "gang plan: it begins with '%.10s', not with %s", reader->at,
                         GANG_PLAN_VERSION);
    reader->at += version + 1;
    if (read_id(reader) < 0 || next_number(reader, "pods", GANG_MAXIMUM_PODS, &plan->pods) < 0 ||
        next_number(reader, "gpus", NODE_MAXIMUM_GPUS, &plan->gpus_per_pod) < 0 ||
        (strncmp(reader->at, "order=", 6) == 0 && read_degrees(reader) < 0) ||
        read_nodes(reader) < 0)
        return -1;
    gang_plan_make_id(plan, key, id);
    if (strcmp(id, plan->id) != 0)
        return error_set(reader->err, "gang plan: id %s is not that of its content for %.200s, %s",
                         plan->id, key, id);
    return 0;
}

struct gang_plan *gang_plan_decode(const char *text, size_t bytes, const char *key,
                                   struct error_info *err)
{
    if (bytes > GANG_PLAN_TEXT_MAXIMUM)
        return error_null(error_set(err, "gang plan: %zu bytes; at most %zu are possible", bytes,
                                    GANG_PLAN_TEXT_MAXIMUM));
    if (memchr(text, '\0', bytes))
        return error_null(error_set(err, "gang plan: it holds a NUL"));
    CLEANUP_MEMORY char *copy = memory_copy_bytes(text, bytes);
    CLEANUP(arena) struct arena *arena = arena_create(PLAN_ARENA_MAXIMUM_BYTES);
    struct gang_plan *plan = arena ? arena_allocate(arena, sizeof(*plan)) : NULL;
    if (!copy || !plan)
        return error_null(error_set_memory(err));
    plan->arena = arena;
    plan->outcome = GANG_PLANNED;
    plan->degrees = DEGREES_ONE;
    struct reader reader = {.at = copy, .plan = plan, .err = err};
    if (read_plan(&reader, key) < 0)
        return NULL;
    arena = NULL;
    return plan;
}
