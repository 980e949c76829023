/* SPDX-License-Identifier: MIT */
#include "planner/pipeline_schedule.h"

#define SHORT_BY_EMBEDDING_AND_LOSS 2u
#define ZERO_BUBBLE_IDLE (1.0 / 3) /* ZB-H1 where F, B and W take as long */

bool pipeline_layout_of(unsigned layers, unsigned pp, unsigned vpp, struct pipeline_layout *ret)
{
    uint64_t chunks = (uint64_t)pp * vpp;
    unsigned empty = vpp > 1 ? SHORT_BY_EMBEDDING_AND_LOSS : 0;
    if (chunks == 0 || layers == 0 || chunks > (uint64_t)layers + empty)
        return false;
    struct pipeline_layout layout = {.pp = pp, .vpp = vpp};
    layout.chunk_layers = (unsigned)((layers + chunks - 1) / chunks);
    unsigned missing = (unsigned)(layout.chunk_layers * chunks - layers);
    if (missing > SHORT_BY_EMBEDDING_AND_LOSS) {
        if (vpp > 1 || missing >= layout.chunk_layers)
            return false;
        layout.last_short = missing;
    } else {
        layout.last_short = missing > 0;
        layout.first_short = missing > 1;
    }
    if (vpp == 1 &&
        (layout.last_short >= layout.chunk_layers || layout.first_short >= layout.chunk_layers))
        return false;
    *ret = layout;
    return true;
}

bool pipeline_layout_is_even(const struct pipeline_layout *layout)
{
    return layout->first_short == 0 && layout->last_short == 0;
}

unsigned pipeline_stage_layers(const struct pipeline_layout *layout, unsigned stage)
{
    unsigned layers = layout->chunk_layers * layout->vpp;
    if (stage == 0)
        layers -= layout->first_short;
    if (stage + 1 == layout->pp)
        layers -= layout->last_short;
    return layers;
}

unsigned pipeline_chunk_layers(const struct pipeline_layout *layout, unsigned stage, unsigned chunk,
                               unsigned *ret_first)
{
    uint64_t position = (uint64_t)chunk * layout->pp + stage;
    uint64_t first = position * layout->chunk_layers;
    unsigned layers = layout->chunk_layers;
    if (position == 0)
        layers -= layout->first_short;
    else
        first -= layout->first_short;
    if (position + 1 == (uint64_t)layout->pp * layout->vpp)
        layers -= layout->last_short;
    *ret_first = (unsigned)first;
    return layers;
}

double pipeline_idle(enum schedule schedule, unsigned vpp, unsigned micro_batches)
{
    switch (schedule) {
    case SCHEDULE_NAIVE:
        return micro_batches;
    case SCHEDULE_ZERO_BUBBLE:
        return ZERO_BUBBLE_IDLE;
    default:
        return 1.0 / vpp;
    }
}

double pipeline_in_flight(enum schedule schedule, unsigned pp, unsigned vpp, unsigned stage,
                          unsigned micro_batches)
{
    if (pp == 1)
        return 1;
    if (schedule == SCHEDULE_NAIVE)
        return 1;
    if (schedule == SCHEDULE_GPIPE)
        return micro_batches;
    if (schedule == SCHEDULE_INTERLEAVED) {
        double chunks = 2.0 * (pp - stage - 1) + (double)(vpp - 1) * pp + 1;
        double all = (double)micro_batches * vpp;
        return (chunks < all ? chunks : all) / vpp;
    }
    unsigned depth = pp - stage;
    return depth < micro_batches ? depth : micro_batches;
}
