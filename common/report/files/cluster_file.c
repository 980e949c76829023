/* SPDX-License-Identifier: MIT */
#include "report/files/cluster_file.h"
#include "report/files/file_text.h"
#include "report/files/node_file.h"
#include "topology/fabric_readers/fabric_redraft.h"
#include <string.h>

#define FABRIC_SCHEMA_LINE "schema: parplan.fabric/1\n"
#define CLUSTER_SCHEMA_LINE "schema: parplan.cluster/1\n"
#define NODE_TEXT_MAXIMUM_BYTES ((size_t)16 << 20)

/* ", key: "n[001-016]"": nothing for a list that is not there or empty. */
static void flow_names(struct flow_mapping *flow, const char *key, const struct node_list *names)
{
    if (!names || node_list_count(names) == 0)
        return;
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, TEXT_BUFFER_REPORT_MAXIMUM);
    node_list_encode(names, &text);
    flow_text(flow, key, text_buffer_text(&text));
    flow->out->failed = flow->out->failed || text_buffer_failed(&text);
}

static void begin_item(struct text_buffer *out, unsigned indent, struct flow_mapping *ret)
{
    text_buffer_add_repeated(out, ' ', indent);
    text_buffer_add_text(out, "- ");
    *ret = flow_begin(out);
}

static void end_item(struct flow_mapping *flow)
{
    flow_end(flow);
    text_buffer_add_text(flow->out, "\n");
}

static void begin_list(struct text_buffer *out, unsigned indent, const char *key)
{
    text_buffer_add_repeated(out, ' ', indent);
    text_buffer_add(out, "%s:\n", key);
}

static void write_tiers(const struct fabric *fabric, unsigned indent, struct text_buffer *out)
{
    if (fabric->tier_count == 0)
        return;
    text_buffer_add_repeated(out, ' ', indent);
    text_buffer_add_text(out, "tiers: [");
    for (unsigned i = 0; i < fabric->tier_count; i++) {
        text_buffer_add_text(out, i > 0 ? ", " : "");
        file_add_text(out, fabric->tier_names[i]);
    }
    text_buffer_add_text(out, "]\n");
}

static void write_switch(const struct fabric_switch_input *from, unsigned indent,
                         struct text_buffer *out)
{
    struct flow_mapping flow;
    begin_item(out, indent, &flow);
    flow_text(&flow, "name", from->name);
    flow_text(&flow, "tier", from->tier_name);
    flow_index(&flow, "rail", from->has_rail ? (int)from->rail : -1);
    flow_names(&flow, "nodes", from->nodes);
    flow_names(&flow, "children", from->children);
    flow_rate(&flow, "uplink", from->uplink_bytes_per_second, RATE_IN_BITS);
    flow_rate(&flow, "downlink", from->downlink_bytes_per_second, RATE_IN_BITS);
    end_item(&flow);
}

static void write_domains(const struct fabric_draft *draft, unsigned indent,
                          struct text_buffer *out)
{
    bool begun = false;
    for (size_t i = 0; i < fabric_draft_domain_count(draft); i++) {
        const struct fabric_domain_input *from = fabric_draft_domain(draft, i);
        struct flow_mapping flow;
        if (node_list_count(from->nodes) == 0) /* cut away by a selection */
            continue;
        if (!begun)
            begin_list(out, indent, "nvlink_domains");
        begun = true;
        begin_item(out, indent + FILE_INDENT, &flow);
        flow_text(&flow, "name", from->name);
        flow_text(&flow, "id", from->id);
        flow_names(&flow, "nodes", from->nodes);
        flow_true(&flow, "candidate", from->candidate);
        end_item(&flow);
    }
}

static int write_fabric(const struct fabric *fabric, unsigned indent, struct text_buffer *out,
                        struct error_info *err)
{
    CLEANUP(fabric_draft) struct fabric_draft *draft = fabric_redraft(fabric, true, err);
    if (!draft)
        return -1;
    write_tiers(fabric, indent, out);
    if (fabric_draft_switch_count(draft) > 0)
        begin_list(out, indent, "switches");
    for (size_t i = 0; i < fabric_draft_switch_count(draft); i++)
        write_switch(fabric_draft_switch(draft, i), indent + FILE_INDENT, out);
    write_domains(draft, indent, out);
    return text_buffer_failed(out) ? error_set_memory(err) : 0;
}

int fabric_file_write(const struct fabric *fabric, struct text_buffer *out, struct error_info *err)
{
    text_buffer_add_text(out, FABRIC_SCHEMA_LINE);
    return write_fabric(fabric, 0, out, err);
}

/* Compared as the files that they would be: all that counts is in there. */
static int is_preset(const struct node_topology *kind, const struct node_preset *preset,
                     const struct gpu_catalogue *gpus, bool *ret, struct error_info *err)
{
    CLEANUP_DONE(text_buffer) struct text_buffer own, theirs;
    text_buffer_init(&own, NODE_TEXT_MAXIMUM_BYTES);
    text_buffer_init(&theirs, NODE_TEXT_MAXIMUM_BYTES);
    CLEANUP(node_topology)
    struct node_topology *node = node_topology_from_preset(preset, gpus, err);
    if (!node)
        return -1;
    node_file_write_keys(kind, 0, &own);
    node_file_write_keys(node, 0, &theirs);
    if (text_buffer_failed(&own) || text_buffer_failed(&theirs))
        return error_set_memory(err);
    *ret = strcmp(text_buffer_text(&own), text_buffer_text(&theirs)) == 0;
    return 0;
}

static int write_kind(const struct cluster_topology *cluster, size_t index,
                      const struct preset_catalogue *presets, const struct gpu_catalogue *gpus,
                      struct text_buffer *out, struct error_info *err)
{
    const struct node_topology *kind = cluster->kinds[index];
    const struct node_preset *preset = preset_catalogue_find(presets, kind->name);
    bool same = false;
    if (preset && is_preset(kind, preset, gpus, &same, err) < 0)
        return -1;
    text_buffer_add_repeated(out, ' ', FILE_INDENT);
    file_add_text(out, cluster->kind_names[index]);
    text_buffer_add_text(out, ":\n");
    if (same) {
        file_line_text(out, 2 * FILE_INDENT, "preset", preset->name);
        return 0;
    }
    begin_list(out, 2 * FILE_INDENT, "node");
    node_file_write_keys(kind, 3 * FILE_INDENT, out);
    return 0;
}

/* Neighbours of one kind share an entry. */
static int write_nodes(const struct cluster_topology *cluster, struct text_buffer *out,
                       struct error_info *err)
{
    begin_list(out, 0, "nodes");
    for (size_t first = 0, last; first < cluster->node_count; first = last) {
        unsigned kind = cluster->nodes[first].kind;
        struct flow_mapping flow;
        CLEANUP(node_list) struct node_list *names = node_list_create(err);
        if (!names)
            return -1;
        for (last = first; last < cluster->node_count && cluster->nodes[last].kind == kind; last++)
            if (node_list_add(names, cluster->nodes[last].name, err) < 0)
                return -1;
        begin_item(out, FILE_INDENT, &flow);
        flow_names(&flow, "names", names);
        flow_text(&flow, "kind", cluster->kind_names[kind]);
        end_item(&flow);
    }
    return 0;
}

int cluster_file_write(const struct cluster_topology *cluster,
                       const struct preset_catalogue *presets, const struct gpu_catalogue *gpus,
                       struct text_buffer *out, struct error_info *err)
{
    text_buffer_add_text(out, CLUSTER_SCHEMA_LINE);
    begin_list(out, 0, "kinds");
    for (size_t i = 0; i < cluster->kind_count; i++)
        if (write_kind(cluster, i, presets, gpus, out, err) < 0)
            return -1;
    if (write_nodes(cluster, out, err) < 0)
        return -1;
    if (cluster->fabric) {
        bool empty = cluster->fabric->switch_count == 0 && cluster->fabric->domain_count == 0 &&
                     cluster->fabric->tier_count == 0;
        text_buffer_add_text(out, empty ? "fabric: {}\n" : "fabric:\n");
        if (write_fabric(cluster->fabric, FILE_INDENT, out, err) < 0)
            return -1;
    }
    return text_buffer_failed(out) ? error_set_memory(err) : 0;
}
