/* SPDX-License-Identifier: MIT */
#include "mapping/solver/group_pairs.h"

struct visitor {
    uint64_t block;
    pair_run_fn visit;
    void *context;
};

static struct group_line line_of(uint64_t stride, unsigned size)
{
    return (struct group_line){.stride = stride, .size = size, .outer_size = 1};
}

/* CP inside DP (or a shard of it): one line where nothing lies between. */
static struct group_line states_line(const struct degrees *degrees, uint64_t replica, unsigned size)
{
    uint64_t cell = (uint64_t)degrees->tp * degrees->cp;
    if (replica == cell)
        return line_of(degrees->tp, degrees->cp * size);
    if (degrees->cp == 1)
        return line_of(replica, size);
    return (struct group_line){degrees->tp, replica, degrees->cp, size};
}

struct group_line group_line_of(const struct degrees *degrees, enum rank_order order,
                                enum group_dimension dimension)
{
    uint64_t replica = group_stride(degrees, order, GROUP_DP);
    if (dimension == GROUP_STATES)
        return states_line(degrees, replica, degrees->dp);
    if (dimension == GROUP_STATE_SHARD)
        return states_line(degrees, replica, degrees->shard);
    uint64_t stride = group_stride(degrees, order, dimension);
    return line_of(stride > 0 ? stride : 1, group_size(degrees, dimension));
}

/* `count` ranks from `from` on send to as many from `to` on: a call for each stretch that stays
 * inside one block on both sides. */
static void add_run(const struct visitor *visitor, uint64_t from, uint64_t to, uint64_t count)
{
    uint64_t block = visitor->block, from_offset = from % block, to_offset = to % block;
    unsigned from_block = (unsigned)(from / block), to_block = (unsigned)(to / block);
    while (count > 0) {
        uint64_t length = block - (from_offset > to_offset ? from_offset : to_offset);
        if (length > count)
            length = count;
        visitor->visit(visitor->context, from_block, to_block, (unsigned)length);
        count -= length;
        from_offset += length;
        to_offset += length;
        if (from_offset == block) {
            from_offset = 0;
            from_block++;
        }
        if (to_offset == block) {
            to_offset = 0;
            to_block++;
        }
    }
}

/* Groups side by side in `span` consecutive ranks from base on. */
static void add_simple(const struct visitor *visitor, const struct group_line *line,
                       enum pair_pattern pattern, uint64_t base)
{
    uint64_t stride = line->stride, span = stride * line->size;
    unsigned shifts = pattern == PAIRS_ALL ? line->size : 2;
    for (unsigned shift = 1; shift < shifts; shift++)
        add_run(visitor, base, base + shift * stride, span - shift * stride);
    if (pattern == PAIRS_RING)
        add_run(visitor, base + span - stride, base, stride);
}

/* The same with an outer stride: j's ring part, then on to j + 1. */
static void add_nested(const struct visitor *visitor, const struct group_line *line,
                       enum pair_pattern pattern, uint64_t base)
{
    uint64_t last = line->stride * (line->size - 1);
    for (unsigned j = 0; j < line->outer_size; j++) {
        uint64_t from = base + j * line->outer_stride;
        add_run(visitor, from, from + line->stride, last);
        bool closes = j + 1 == line->outer_size;
        if (!closes || pattern == PAIRS_RING)
            add_run(visitor, from + last, closes ? base : from + line->outer_stride, line->stride);
    }
}

/* A stretch of whole groups inside one block: counted, not walked. */
static void add_inside(const struct visitor *visitor, uint64_t world, uint64_t pairs)
{
    unsigned blocks = (unsigned)(world / visitor->block);
    for (unsigned block = 0; block < blocks && pairs > 0; block++)
        visitor->visit(visitor->context, block, block, (unsigned)pairs);
}

static uint64_t pairs_of_group(const struct group_line *line, enum pair_pattern pattern)
{
    if (pattern == PAIRS_RING)
        return line->size;
    return pattern == PAIRS_CHAIN ? line->size - 1 : (uint64_t)line->size * (line->size - 1) / 2;
}

void group_pairs_visit(const struct group_line *line, enum pair_pattern pattern, uint64_t world,
                       unsigned block, pair_run_fn visit, void *context)
{
    const struct visitor visitor = {block, visit, context};
    uint64_t inner = line->stride * line->size;
    if ((uint64_t)line->size * line->outer_size < 2)
        return;
    if (line->outer_size == 1 && block % inner == 0) {
        add_inside(&visitor, world, block / line->size * pairs_of_group(line, pattern));
        return;
    }
    uint64_t span = line->outer_size > 1 ? line->outer_stride * line->outer_size : inner;
    for (uint64_t base = 0; base < world; base += span) {
        if (line->outer_size == 1)
            add_simple(&visitor, line, pattern, base);
        for (uint64_t at = 0; line->outer_size > 1 && at < line->outer_stride; at += inner)
            add_nested(&visitor, line, pattern, base + at);
    }
}
