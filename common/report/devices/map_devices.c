/* SPDX-License-Identifier: MIT */
#include "report/devices/map_devices.h"
#include "mapping/gpu_mapping.h"
#include "mapping/rails/gpu_nics.h"
#include "mapping/rails/rail_agreement.h"

static void add_nics(struct text_table *table, const struct node_topology *kind, unsigned gpu)
{
    unsigned nics[NODE_MAXIMUM_NICS];
    unsigned count = gpu_nics_find(kind, gpu, nics);
    CLEANUP_DONE(text_buffer) struct text_buffer list;
    text_buffer_init(&list, TEXT_BUFFER_REPORT_MAXIMUM);
    for (unsigned i = 0; i < count; i++) {
        const char *comma = i > 0 ? "," : "", *name = kind->nics[nics[i]].name;
        if (name)
            text_buffer_add(&list, "%s%s", comma, name);
        else
            text_buffer_add(&list, "%s#%u", comma, nics[i]);
    }
    if (text_buffer_failed(&list))
        text_table_fail(table);
    text_table_add(table, count > 0 ? text_buffer_text(&list) : "-");
}

static void add_index(struct text_table *table, int index)
{
    if (index < 0)
        text_table_add(table, "");
    else
        text_table_add_unsigned(table, (unsigned)index);
}

void map_devices_add(struct text_table *table, const struct node_topology *kind,
                     const struct rank_place *place)
{
    add_nics(table, kind, place->gpu);
    add_index(table, gpu_rail(kind, place->gpu));
    add_index(table, kind->gpus[place->gpu].numa);
    text_table_add(table, kind->gpus[place->gpu].cpus);
}

static void add_rail_use(const struct rail_use *use, struct text_buffer *out)
{
    text_buffer_add(out, "rail %u on kind %s%s", use->rail, use->kind,
                    use->is_permuted ? " (the order of its GPU groups)" : "");
}

void map_rail_note(const struct rank_map *map, struct text_buffer *out)
{
    struct rail_difference difference;
    if (!rail_agreement_differs(map, &difference))
        return;
    text_buffer_add(out, "rails: local rank %u uses ", difference.local_rank);
    add_rail_use(&difference.first, out);
    text_buffer_add_text(out, ", ");
    add_rail_use(&difference.other, out);
    if (difference.count > 1)
        text_buffer_add(out, "; %u local ranks differ", difference.count);
}
