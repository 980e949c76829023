/* SPDX-License-Identifier: MIT */
#include "mapping/solver/node_packing.h"
#include <stdlib.h>
#include <string.h>

#define NONE (~0u)
#define WORD_BITS 64u
#define FIRST_STRETCHES 64u

/* Positions start … start + length - 1; next: in the list of the same vertex. */
struct stretch {
    unsigned start, length, next;
};

struct stretch_list {
    unsigned first, last;
};

struct child_key {
    unsigned nodes;
    uint64_t shape;
    unsigned child;
};

/* The children of the vertex at hand by the room they have left. */
struct rooms {
    unsigned *left;  /* vertex -> free nodes */
    unsigned *next;  /* vertex -> next one with the same room */
    unsigned *first; /* room -> vertex, valid where its bit is set */
    uint64_t *bits;  /* rooms that some child has */
    unsigned most;   /* no child has more */
    struct child_key *keys;
};

struct packing {
    const struct fabric_tree *tree;
    const struct block_order *order;
    unsigned *nodes;            /* the result */
    struct stretch_list *lists; /* by vertex */
    struct stretch *stretches;
    unsigned stretch_count, stretch_capacity;
    struct stretch *pending, *kept;   /* of the vertex at hand: now, and for finer units */
    size_t pending_count, kept_count; /* at most one for each block */
    struct rooms rooms;
    bool failed; /* out of memory: asked once, at the end */
};

/* --- stretches ---------------------------------------------------------------------- */

static void give(struct packing *packing, unsigned vertex, unsigned start, unsigned length)
{
    if (length == 0)
        return;
    struct stretch_list *list = &packing->lists[vertex];
    if (list->last != NONE) {
        struct stretch *last = &packing->stretches[list->last];
        if (last->start + last->length == start) {
            last->length += length;
            return;
        }
    }
    if (packing->stretch_count == packing->stretch_capacity) {
        unsigned capacity = 2 * packing->stretch_capacity;
        struct stretch *grown = memory_grow_array(packing->stretches, packing->stretch_capacity,
                                                  capacity, sizeof(*grown));
        packing->failed |= !grown;
        if (!grown)
            return;
        packing->stretches = grown;
        packing->stretch_capacity = capacity;
    }
    unsigned added = packing->stretch_count++;
    packing->stretches[added] = (struct stretch){start, length, NONE};
    if (list->last == NONE)
        list->first = added;
    else
        packing->stretches[list->last].next = added;
    list->last = added;
}

static void keep(struct packing *packing, unsigned start, unsigned end)
{
    if (start < end)
        packing->kept[packing->kept_count++] = (struct stretch){start, end - start, NONE};
}

/* Each unit on its own, so that finer units are gathered for one of them at a time. */
static void keep_units(struct packing *packing, unsigned start, unsigned end, unsigned unit)
{
    for (; start < end; start += unit)
        keep(packing, start, start + unit);
}

/* --- rooms -------------------------------------------------------------------------- */

static void put(struct rooms *rooms, unsigned vertex, unsigned room)
{
    uint64_t bit = UINT64_C(1) << room % WORD_BITS, *word = &rooms->bits[room / WORD_BITS];
    rooms->left[vertex] = room;
    if (room == 0)
        return;
    rooms->next[vertex] = *word & bit ? rooms->first[room] : NONE;
    rooms->first[room] = vertex;
    *word |= bit;
}

static unsigned take(struct rooms *rooms, unsigned room)
{
    unsigned vertex = rooms->first[room];
    rooms->first[room] = rooms->next[vertex];
    if (rooms->next[vertex] == NONE)
        rooms->bits[room / WORD_BITS] &= ~(UINT64_C(1) << room % WORD_BITS);
    return vertex;
}

/* The smallest room of at least `least`, or NONE. */
static unsigned smallest_room(const struct rooms *rooms, unsigned least)
{
    if (least > rooms->most)
        return NONE;
    unsigned word = least / WORD_BITS, last = rooms->most / WORD_BITS;
    uint64_t bits = rooms->bits[word] & ~UINT64_C(0) << least % WORD_BITS;
    while (bits == 0 && word < last)
        bits = rooms->bits[++word];
    return bits ? word * WORD_BITS + (unsigned)__builtin_ctzll(bits) : NONE;
}

/* Lowers `most` to the largest room there is. */
static unsigned largest_room(struct rooms *rooms)
{
    unsigned word = rooms->most / WORD_BITS;
    while (word > 0 && rooms->bits[word] == 0)
        word--;
    uint64_t bits = rooms->bits[word];
    rooms->most = bits ? word * WORD_BITS + WORD_BITS - 1 - (unsigned)__builtin_clzll(bits) : 0;
    return rooms->most;
}

static int compare_shapes(const void *left, const void *right)
{
    const struct child_key *l = left, *r = right;
    if (l->nodes != r->nodes)
        return l->nodes > r->nodes ? -1 : 1;
    if (l->shape != r->shape)
        return l->shape < r->shape ? -1 : 1;
    return (l->child > r->child) - (l->child < r->child);
}

/* By shape, then in natural order, so that names decide only between what is alike. */
static void sort_children(struct packing *packing, const struct fabric_vertex *vertex)
{
    const struct fabric_vertex *vertices = packing->tree->vertices;
    struct child_key *keys = packing->rooms.keys;
    bool alike = true;
    for (unsigned i = 0; i < vertex->child_count; i++) {
        unsigned child = vertex->first_child + i;
        keys[i] = (struct child_key){vertices[child].node_count, vertices[child].shape, child};
        alike = alike && keys[i].shape == keys[0].shape;
    }
    if (!alike)
        qsort(keys, vertex->child_count, sizeof(*keys), compare_shapes);
}

/* Those with equal room are taken by shape, then in natural order: put in reverse. */
static void open_rooms(struct packing *packing, const struct fabric_vertex *vertex)
{
    const struct fabric_vertex *vertices = packing->tree->vertices;
    struct rooms *rooms = &packing->rooms;
    for (unsigned i = 0; i < vertex->child_count; i++) {
        unsigned nodes = vertices[vertex->first_child + i].node_count;
        rooms->most = nodes > rooms->most ? nodes : rooms->most;
    }
    sort_children(packing, vertex);
    for (unsigned i = vertex->child_count; i-- > 0;) {
        unsigned child = rooms->keys[i].child;
        if (!vertices[child].loose)
            put(rooms, child, vertices[child].node_count);
    }
}

static void close_rooms(struct packing *packing, const struct fabric_vertex *vertex)
{
    struct rooms *rooms = &packing->rooms;
    for (unsigned i = 0; i < vertex->child_count; i++)
        rooms->bits[rooms->left[vertex->first_child + i] / WORD_BITS] = 0;
    rooms->most = 0;
}

/* --- one vertex --------------------------------------------------------------------- */

/* Lays [start, end), whole units, over children with room; returns where that stopped. */
static unsigned gather(struct packing *packing, unsigned start, unsigned end, unsigned unit)
{
    struct rooms *rooms = &packing->rooms;
    while (start < end) {
        unsigned room = smallest_room(rooms, end - start);
        if (room == NONE)
            room = largest_room(rooms);
        if (room < unit)
            break;
        unsigned length = room - room % unit;
        if (length > end - start)
            length = end - start;
        unsigned child = take(rooms, room);
        give(packing, child, start, length);
        put(rooms, child, room - length);
        start += length;
    }
    return start;
}

static void place_unit(struct packing *packing, unsigned unit)
{
    packing->kept_count = 0;
    for (size_t i = 0; i < packing->pending_count; i++) {
        unsigned start = packing->pending[i].start, end = start + packing->pending[i].length;
        unsigned first = start + (unit - start % unit) % unit, last = end - end % unit;
        if (first >= last) {
            keep(packing, start, end);
            continue;
        }
        keep(packing, start, first);
        keep_units(packing, gather(packing, first, last, unit), last, unit);
        keep(packing, last, end);
    }
    struct stretch *swap = packing->pending;
    packing->pending = packing->kept;
    packing->pending_count = packing->kept_count;
    packing->kept = swap;
}

/* Children of one shape whose ends cut no unit without need. */
static bool children_are_alike(const struct packing *packing, const struct fabric_vertex *vertex,
                               unsigned start)
{
    const struct fabric_vertex *children = &packing->tree->vertices[vertex->first_child];
    const struct block_order *order = packing->order;
    unsigned size = children->node_count;
    if (size == 0)
        return false;
    for (unsigned i = 1; i < vertex->child_count; i++)
        if (children[i].shape != children[0].shape)
            return false;
    for (unsigned i = 1; i < order->unit_count; i++) {
        unsigned unit = order->units[i], smaller = unit < size ? unit : size;
        if ((unit % size != 0 && size % unit != 0) || start % smaller != 0)
            return false;
    }
    return true;
}

/* Every child holds whole stretches that are like each other. */
static bool children_hold_whole(const struct packing *packing, const struct fabric_vertex *vertex,
                                unsigned start)
{
    const struct fabric_vertex *children = &packing->tree->vertices[vertex->first_child];
    unsigned alike = packing->order->alike;
    for (unsigned i = 0; i < vertex->child_count; i++)
        if (children[i].node_count % alike != 0)
            return false;
    return start % alike == 0;
}

/* All nodes below are used by one stretch, and left to right is as good as anything. */
static bool is_aligned(const struct packing *packing, unsigned index)
{
    const struct fabric_vertex *vertex = &packing->tree->vertices[index];
    struct stretch only = packing->stretches[packing->lists[index].first];
    return only.length == vertex->node_count && (children_are_alike(packing, vertex, only.start) ||
                                                 children_hold_whole(packing, vertex, only.start));
}

static void place_aligned(struct packing *packing, unsigned index)
{
    const struct fabric_vertex *vertex = &packing->tree->vertices[index];
    unsigned start = packing->stretches[packing->lists[index].first].start;
    sort_children(packing, vertex);
    for (unsigned i = 0; i < vertex->child_count; i++) {
        unsigned child = packing->rooms.keys[i].child;
        give(packing, child, start, packing->tree->vertices[child].node_count);
        start += packing->tree->vertices[child].node_count;
    }
}

static void read_pending(struct packing *packing, unsigned vertex)
{
    packing->pending_count = 0;
    for (unsigned s = packing->lists[vertex].first; s != NONE; s = packing->stretches[s].next)
        packing->pending[packing->pending_count++] = packing->stretches[s];
}

static void place_children(struct packing *packing, unsigned index)
{
    const struct fabric_vertex *vertex = &packing->tree->vertices[index];
    if (is_aligned(packing, index)) {
        place_aligned(packing, index);
        return;
    }
    read_pending(packing, index);
    open_rooms(packing, vertex);
    for (unsigned i = 0; i < packing->order->unit_count; i++)
        place_unit(packing, packing->order->units[i]);
    close_rooms(packing, vertex);
    unsigned last = vertex->first_child + vertex->child_count - 1;
    for (size_t i = 0; i < packing->pending_count; i++)
        give(packing, last, packing->pending[i].start, packing->pending[i].length);
}

static void place_nodes(struct packing *packing, unsigned index)
{
    const unsigned *nodes = packing->tree->nodes + packing->tree->vertices[index].first_node;
    for (unsigned s = packing->lists[index].first; s != NONE; s = packing->stretches[s].next) {
        struct stretch stretch = packing->stretches[s];
        memcpy(packing->nodes + stretch.start, nodes, stretch.length * sizeof(*nodes));
        nodes += stretch.length;
    }
}

static int place_all(struct packing *packing, struct error_info *err)
{
    const struct fabric_tree *tree = packing->tree;
    for (unsigned v = 0; v < tree->vertex_count; v++)
        packing->lists[v] = (struct stretch_list){NONE, NONE};
    give(packing, 0, 0, packing->order->block_count);
    for (unsigned v = 0; v < tree->vertex_count && !packing->failed; v++) {
        if (packing->lists[v].first == NONE)
            continue;
        if (tree->vertices[v].child_count == 0)
            place_nodes(packing, v);
        else
            place_children(packing, v);
    }
    return packing->failed ? error_set_memory(err) : 0;
}

/* Everything that a solution needs but the stretches, which grow. */
static int allocate(struct packing *packing, struct arena *arena)
{
    size_t vertices = packing->tree->vertex_count, nodes = (size_t)packing->tree->node_count + 1;
    size_t blocks = packing->order->block_count;
    struct rooms *rooms = &packing->rooms;
    packing->lists = arena_allocate_array(arena, vertices, sizeof(*packing->lists));
    packing->pending = arena_allocate_array(arena, blocks, sizeof(*packing->pending));
    packing->kept = arena_allocate_array(arena, blocks, sizeof(*packing->kept));
    rooms->left = arena_allocate_array(arena, vertices, sizeof(*rooms->left));
    rooms->next = arena_allocate_array(arena, vertices, sizeof(*rooms->next));
    rooms->keys = arena_allocate_array(arena, vertices, sizeof(*rooms->keys));
    rooms->first = arena_allocate_array(arena, nodes, sizeof(*rooms->first));
    rooms->bits = arena_allocate_array(arena, nodes / WORD_BITS + 1, sizeof(*rooms->bits));
    packing->stretch_capacity = FIRST_STRETCHES;
    packing->stretches =
        memory_allocate_array(packing->stretch_capacity, sizeof(*packing->stretches));
    bool lists = packing->lists && packing->pending && packing->kept && packing->stretches;
    return lists && rooms->left && rooms->next && rooms->keys && rooms->first && rooms->bits ? 0
                                                                                             : -1;
}

int node_packing_solve(const struct fabric_tree *tree, const struct block_order *order,
                       unsigned *ret_nodes, struct error_info *err)
{
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    struct packing packing = {.tree = tree, .order = order, .nodes = ret_nodes};
    bool have = arena && allocate(&packing, arena) == 0;
    int done = have ? place_all(&packing, err) : error_set_memory(err);
    memory_free(packing.stretches);
    return done;
}
