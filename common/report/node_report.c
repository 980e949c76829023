/* SPDX-License-Identifier: MIT */
#include "base/id_set.h"
#include "report/number_text.h"
#include "report/text_table.h"
#include "report/topology_report.h"
#include "topology/groups/nvlink_domain.h"

#define MATRIX_MAXIMUM_GPUS 16u
#define NICS_SHOWN 4u /* of a GPU */

static void add_indices(const unsigned *indices, unsigned count, struct text_buffer *out)
{
    CLEANUP(id_set) struct id_set *set = id_set_create();
    for (unsigned i = 0; i < count; i++) {
        if (!set || id_set_add(set, indices[i], NULL) < 0) {
            out->failed = true;
            return;
        }
    }
    text_buffer_add_text(out, "{");
    id_set_encode(set, out);
    text_buffer_add_text(out, "}");
}

static void add_domains(const struct node_topology *node, struct text_buffer *out)
{
    text_buffer_add(out, "  NVLink %s", nvlink_state_name(node->nvlink));
    if (node->nvlink == NVLINK_KNOWN) {
        text_buffer_add(out, ": %u domain%s", node->domain_count,
                        node->domain_count == 1 ? "" : "s");
        for (unsigned i = 0; i < node->domain_count; i++) {
            text_buffer_add_text(out, " ");
            add_indices(node->domains[i].gpus, node->domains[i].gpu_count, out);
        }
        text_buffer_add(out, ", %s per GPU",
                        number_bandwidth(node->gpu_nvlink_bytes_per_second).text);
    }
    if (node->nvlink_domain_nodes > 1)
        text_buffer_add(out, ", one domain spans %u nodes", node->nvlink_domain_nodes);
    else if (node->nvlink_leaves_node)
        text_buffer_add_text(out, ", the domain is wider than the node");
    if (node->nvlink_clique)
        text_buffer_add(out, " (clique %s)", node->nvlink_clique);
    text_buffer_add_text(out, "\n");
}

static void add_summary(const struct node_topology *node, struct text_buffer *out)
{
    text_buffer_add(out, "  %u GPU%s, %u NIC%s", node->gpu_count, node->gpu_count == 1 ? "" : "s",
                    node->nic_count, node->nic_count == 1 ? "" : "s");
    text_buffer_add(out, "; CPUs %s", node->cpu_count ? number_grouped(node->cpu_count).text : "?");
    text_buffer_add(out, ", host memory %s",
                    node->host_memory_bytes ? number_bytes(node->host_memory_bytes).text : "?");
    text_buffer_add(out, ", PCIe %s, NICs %s per GPU\n",
                    number_bandwidth(node->pcie_bytes_per_second).text,
                    number_network(node->gpu_nic_bytes_per_second).text);
    if (node->gpu_count > 0)
        add_domains(node, out);
}

/* Presets know how many NICs there are, not their names: "#3". */
static void add_nic_name(const struct node_topology *node, unsigned index, const char *separator,
                         struct text_buffer *out)
{
    if (node->nics[index].name)
        text_buffer_add(out, "%s%s", separator, node->nics[index].name);
    else
        text_buffer_add(out, "%s#%u", separator, index);
}

static void add_near_nics(struct text_table *table, const struct node_topology *node,
                          const struct node_gpu *gpu)
{
    CLEANUP_DONE(text_buffer) struct text_buffer nics;
    text_buffer_init(&nics, TEXT_BUFFER_REPORT_MAXIMUM);
    for (unsigned i = 0; i < gpu->nic_count && i < NICS_SHOWN; i++)
        add_nic_name(node, gpu->nics[i], i > 0 ? " " : "", &nics);
    text_buffer_add_text(&nics, gpu->nic_count > NICS_SHOWN ? " …" : "");
    text_table_add(table, text_buffer_text(&nics));
}

static struct number_text domain_text(const struct node_topology *node, const struct node_gpu *gpu)
{
    if (node->nvlink == NVLINK_UNKNOWN)
        return (struct number_text){"?"};
    return number_index(node->nvlink == NVLINK_NONE ? -1 : (int)gpu->nvlink_domain);
}

static void add_gpus(const struct node_topology *node, const struct text_style *style,
                     struct text_buffer *out)
{
    static const struct text_column columns[] = {{.title = "gpu", .align = ALIGN_RIGHT},
                                                 {.title = "model"},
                                                 {.title = "bus id"},
                                                 {.title = "memory", .align = ALIGN_RIGHT},
                                                 {.title = "numa", .align = ALIGN_RIGHT},
                                                 {.title = "domain", .align = ALIGN_RIGHT},
                                                 {.title = "NICs, nearest first", .wrap = true}};
    if (node->gpu_count == 0)
        return;
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    for (unsigned i = 0; i < node->gpu_count; i++) {
        const struct node_gpu *gpu = &node->gpus[i];
        text_table_add_unsigned(table, i);
        text_table_add(table, gpu->model ? gpu->model : "?");
        text_table_add(table, gpu->bus_id);
        text_table_add(table, gpu->memory_bytes ? number_bytes(gpu->memory_bytes).text : "?");
        text_table_add(table, gpu->numa == NUMA_UNKNOWN ? "?" : number_index(gpu->numa).text);
        text_table_add(table, domain_text(node, gpu).text);
        add_near_nics(table, node, gpu);
    }
    text_heading(style, out, "GPUs");
    text_table_write(table, style, out);
}

static void add_nics(const struct node_topology *node,
                     const struct topology_report_options *options, const struct text_style *style,
                     struct text_buffer *out)
{
    static const struct text_column columns[] = {{.title = "name"},
                                                 {.title = "role"},
                                                 {.title = "rail", .align = ALIGN_RIGHT},
                                                 {.title = "state"},
                                                 {.title = "speed", .align = ALIGN_RIGHT},
                                                 {.title = "numa", .align = ALIGN_RIGHT},
                                                 {.title = "bus id"},
                                                 {.title = "why this role", .wrap = true}};
    if (node->nic_count == 0)
        return;
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    for (unsigned i = 0; i < node->nic_count; i++) {
        const struct node_nic *nic = &node->nics[i];
        text_table_tone(table, nic->role == NIC_RAIL ? TONE_PLAIN : TONE_FAINT);
        if (nic->name)
            text_table_add(table, nic->name);
        else
            text_table_add_format(table, "#%u", i);
        text_table_add(table, nic_role_name(nic->role));
        text_table_add(table, number_index(nic->rail).text);
        text_table_add(table, nic->state == NIC_STATE_UNKNOWN ? "?" : nic_state_name(nic->state));
        text_table_add(table, number_network(nic->bytes_per_second).text);
        text_table_add(table, nic->numa == NUMA_UNKNOWN ? "?" : number_index(nic->numa).text);
        text_table_add(table, nic->bus_id);
        text_table_add(table, options->explain ? nic->reason : "");
    }
    text_heading(style, out, "NICs");
    text_table_write(table, style, out);
}

static void add_groups(const struct node_topology *node, const struct text_style *style,
                       struct text_buffer *out)
{
    static const struct text_column columns[] = {{.title = NULL, .align = ALIGN_RIGHT},
                                                 {.title = NULL, .wrap = true}};
    static const unsigned sizes[] = {2, 4, 8};
    if (node->gpu_count < sizes[0])
        return;
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    for (size_t i = 0; i < COUNT_OF(sizes) && sizes[i] <= node->gpu_count; i++) {
        unsigned groups[NODE_MAXIMUM_GPUS];
        unsigned count = 0;
        if (gpu_groups_usable(node, sizes[i], groups, &count, NULL) < 0 || count == 0)
            continue;
        CLEANUP_DONE(text_buffer) struct text_buffer text;
        text_buffer_init(&text, TEXT_BUFFER_REPORT_MAXIMUM);
        for (unsigned j = 0; j < count; j++) {
            text_buffer_add_text(&text, j > 0 ? " " : "");
            for (unsigned k = 0; k < sizes[i]; k++)
                text_buffer_add(&text, "%s%u", k > 0 ? "-" : "", groups[j * sizes[i] + k]);
        }
        text_table_add_format(table, "of %u", sizes[i]);
        text_table_add(table, text_buffer_text(&text));
    }
    text_heading(style, out, "Best GPU groups");
    text_table_write(table, style, out);
}

static const char *link_text(const struct node_topology *node, unsigned row, unsigned column)
{
    if (row == column)
        return "-";
    enum link_kind kind = node->links ? node->links[row * node->gpu_count + column] : LINK_UNKNOWN;
    return kind == LINK_UNKNOWN ? "?" : link_kind_name(kind);
}

static void add_matrix(const struct node_topology *node, const struct text_style *style,
                       struct text_buffer *out)
{
    struct text_column columns[1 + MATRIX_MAXIMUM_GPUS] = {{.title = "gpu", .align = ALIGN_RIGHT}};
    struct number_text titles[MATRIX_MAXIMUM_GPUS];
    if (node->gpu_count < 2 || node->gpu_count > MATRIX_MAXIMUM_GPUS)
        return;
    for (unsigned i = 0; i < node->gpu_count; i++) {
        titles[i] = number_index((int)i);
        columns[1 + i] = (struct text_column){.title = titles[i].text, .align = ALIGN_RIGHT};
    }
    CLEANUP(text_table)
    struct text_table *table = text_table_create(columns, 1 + node->gpu_count);
    for (unsigned i = 0; i < node->gpu_count; i++) {
        text_table_add_unsigned(table, i);
        for (unsigned j = 0; j < node->gpu_count; j++)
            text_table_add(table, link_text(node, i, j));
    }
    text_heading(style, out, "Links between GPUs");
    text_table_write(table, style, out);
}

static void add_facts(const struct node_topology *node, const struct text_style *style,
                      struct text_buffer *out)
{
    static const struct text_column columns[] = {
        {.title = "fact"}, {.title = "source"}, {.title = "value", .wrap = true}};
    if (node->fact_count == 0)
        return;
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    for (size_t i = 0; i < node->fact_count; i++) {
        text_table_add(table, node->facts[i].fact);
        text_table_add(table, node->facts[i].source);
        text_table_add(table, node->facts[i].value);
    }
    text_heading(style, out, "Facts");
    text_table_write(table, style, out);
}

void node_report_text(const struct node_topology *node,
                      const struct topology_report_options *options, const struct text_style *style,
                      struct text_buffer *out)
{
    text_heading(style, out, "%s", node->name ? node->name : "node");
    add_summary(node, out);
    for (size_t i = 0; i < node->warning_count; i++)
        text_buffer_add(out, "  %swarning: %s%s\n", text_tone_begin(style, TONE_WARNING),
                        node->warnings[i], text_tone_end(style, TONE_WARNING));
    add_gpus(node, style, out);
    add_nics(node, options, style, out);
    add_groups(node, style, out);
    if (options->explain) {
        add_matrix(node, style, out);
        add_facts(node, style, out);
    }
}
