/* SPDX-License-Identifier: MIT */
/* Whatever wire_plan_decode accepts is a bijection, comes back from its own text, and gives
 * every task its variables or one line of refusal. */
#include "mapping/rank_environment.h"

#include <stdlib.h>
#include <string.h>

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_bijection(const struct wire_plan *wire)
{
    for (unsigned block = 0; block < wire->node_count; block++) {
        require(wire->block_nodes[block] < wire->node_count);
        require(wire->node_blocks[wire->block_nodes[block]] == block);
    }
}

static void check_round_trip(const struct wire_plan *wire)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, WIRE_PLAN_MAXIMUM_BYTES);
    require(wire_plan_encode(wire, &text, &err) == 0);
    CLEANUP(wire_plan) struct wire_plan *back = wire_plan_decode(text_buffer_text(&text), &err);
    require(back != NULL);
    require(memcmp(&back->degrees, &wire->degrees, sizeof(back->degrees)) == 0);
    require(memcmp(back->block_nodes, wire->block_nodes,
                   wire->node_count * sizeof(*wire->block_nodes)) == 0);
    require(back->by_slurm == wire->by_slurm);
    require(strcmp(back->id, wire->id) == 0 && strcmp(back->master, wire->master) == 0);
}

static void check_tasks(const struct wire_plan *wire)
{
    struct rank_environment environment;
    struct error_info err = {.kind = ERROR_NONE};
    struct rank_task last = {
        .node = wire->node_count - 1, .local_task = wire->tasks_per_node - 1, .master_port = 1};
    last.process = wire->node_blocks[last.node] * wire->tasks_per_node + last.local_task;
    require(rank_environment_compute(wire, &last, &environment, &err) == 0);
    last.process++;
    require(rank_environment_compute(wire, &last, &environment, &err) == (wire->by_slurm ? -1 : 0));
    const struct rank_task beyond = {.node = wire->node_count, .master_port = 1};
    require(rank_environment_compute(wire, &beyond, &environment, &err) == -1);
}

static void check_all(const struct wire_plan *wire)
{
    check_bijection(wire);
    check_round_trip(wire);
    check_tasks(wire);
}

/* The id stands in the way of everything behind it: an input that only lacks the right one
 * gets it, and must then be accepted. */
static void check_with_right_id(const char *text, const char *refusal)
{
    const char *item = strstr(text, ";id=");
    if (strncmp(refusal, "id: ", 4) != 0 || !item)
        return;
    const char *right = refusal + strlen(refusal) - (WIRE_PLAN_ID_BYTES - 1);
    const char *rest = item + strlen(";id=") + strcspn(item + strlen(";id="), ";");
    CLEANUP_DONE(text_buffer) struct text_buffer fixed;
    text_buffer_init(&fixed, WIRE_PLAN_MAXIMUM_BYTES);
    text_buffer_add_bytes(&fixed, text, (size_t)(item - text));
    text_buffer_add(&fixed, ";id=%s%s", right, rest);
    if (text_buffer_failed(&fixed) || fixed.length >= WIRE_PLAN_MAXIMUM_BYTES)
        return;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(wire_plan) struct wire_plan *wire = wire_plan_decode(fixed.text, &err);
    require(wire != NULL);
    check_all(wire);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = memory_copy_bytes((const char *)data, size);
    struct error_info err = {.kind = ERROR_NONE};
    struct wire_plan *wire = text ? wire_plan_decode(text, &err) : NULL;
    if (wire) {
        check_all(wire);
    } else if (text) {
        require(err.kind != ERROR_NONE && !strchr(err.text, '\n'));
        check_with_right_id(text, err.text);
    }
    wire_plan_free(wire);
    memory_free(text);
    return 0;
}
