/* SPDX-License-Identifier: MIT */
#include "report/files/node_file.h"
#include "report/files/file_text.h"
#include <math.h>
#include <string.h>

#define SCHEMA_LINE "schema: parplan.node/1\n"

/* "- {" of one item of a list. */
static struct flow_mapping begin_item(struct text_buffer *out, unsigned indent)
{
    text_buffer_add_repeated(out, ' ', indent);
    text_buffer_add_text(out, "- ");
    return flow_begin(out);
}

static void end_item(struct flow_mapping *flow)
{
    flow_end(flow);
    text_buffer_add_text(flow->out, "\n");
}

/* "key:\n" above a list, or "key: []". */
static void begin_list(struct text_buffer *out, unsigned indent, const char *key, size_t count)
{
    text_buffer_add_repeated(out, ' ', indent);
    text_buffer_add(out, "%s:%s\n", key, count > 0 ? "" : " []");
}

static void write_gpus(const struct node_topology *node, unsigned indent, struct text_buffer *out)
{
    begin_list(out, indent, "gpus", node->gpu_count);
    for (unsigned i = 0; i < node->gpu_count; i++) {
        const struct node_gpu *gpu = &node->gpus[i];
        struct flow_mapping flow = begin_item(out, indent + FILE_INDENT);
        flow_text(&flow, "model", gpu->model);
        flow_text(&flow, "bus_id", gpu->bus_id);
        flow_text(&flow, "uuid", gpu->uuid);
        flow_bytes(&flow, "memory", gpu->memory_bytes);
        flow_index(&flow, "numa", gpu->numa);
        flow_text(&flow, "cpus", gpu->cpus);
        flow_true(&flow, "mig", gpu->mig);
        flow_text(&flow, "problem", gpu->problem);
        flow_true(&flow, "nvlink_lost", gpu->nvlink_lost);
        end_item(&flow);
    }
}

static void write_nics(const struct node_topology *node, unsigned indent, struct text_buffer *out)
{
    if (node->nic_count > 0)
        begin_list(out, indent, "nics", node->nic_count);
    for (unsigned i = 0; i < node->nic_count; i++) {
        const struct node_nic *nic = &node->nics[i];
        struct flow_mapping flow = begin_item(out, indent + FILE_INDENT);
        flow_text(&flow, "name", nic->name);
        flow_text(&flow, "bus_id", nic->bus_id);
        flow_text(&flow, "role", nic_role_name(nic->role));
        flow_index(&flow, "rail", nic->role == NIC_RAIL ? nic->rail : -1);
        flow_text(&flow, "state", nic_state_name(nic->state));
        flow_index(&flow, "numa", nic->numa);
        flow_rate(&flow, "rate", nic->bytes_per_second, RATE_IN_BITS);
        flow_true(&flow, "ethernet", nic->is_ethernet);
        flow_text(&flow, "reason", nic->reason);
        flow_text(&flow, "problem", nic->problem);
        end_item(&flow);
    }
}

static double pair_rate(const struct node_topology *node, size_t i, size_t j)
{
    return node->nvlink_bytes_per_second ? node->nvlink_bytes_per_second[i * node->gpu_count + j]
                                         : 0;
}

static bool is_same_rate(double left, double right) { return !(left < right) && !(left > right); }

static bool is_known(const struct node_topology *node)
{
    return node->nvlink == NVLINK_KNOWN && node->gpu_count > 1;
}

/* Where rates are assumed the file says how many links there are, so that no assumption looks
 * like a fact. */
static void add_strength(const struct node_topology *node, double rate, struct text_buffer *out)
{
    long links = lround(rate / NVLINK_RATE_ASSUMED);
    if (node->nvlink_assumed)
        text_buffer_add(out, "%ld links", links > 1 ? links : 1);
    else
        file_add_rate(out, rate, RATE_IN_BYTES);
}

/* The first pair that has this rate: where its line is written. */
static bool is_first_of_rate(const struct node_topology *node, size_t first, size_t second)
{
    double rate = pair_rate(node, first, second);
    for (size_t i = 0; i <= first; i++)
        for (size_t j = i + 1; j < node->gpu_count; j++) {
            if (i == first && j == second)
                return true;
            if (is_same_rate(pair_rate(node, i, j), rate))
                return false;
        }
    return true;
}

static void write_pairs_of_rate(const struct node_topology *node, double rate, unsigned indent,
                                struct text_buffer *out)
{
    const char *separator = "";
    text_buffer_add_repeated(out, ' ', indent);
    add_strength(node, rate, out);
    text_buffer_add_text(out, ": [");
    for (size_t i = 0; i < node->gpu_count; i++)
        for (size_t j = i + 1; j < node->gpu_count; j++) {
            if (!is_same_rate(pair_rate(node, i, j), rate))
                continue;
            text_buffer_add(out, "%s%zu-%zu", separator, i, j);
            separator = ", ";
        }
    text_buffer_add_text(out, "]\n");
}

/* Rates appear in the order of their first pair; there are as many as wirings differ, few. */
static void write_pairs(const struct node_topology *node, unsigned indent, struct text_buffer *out)
{
    begin_list(out, indent, "pairs", 1);
    for (size_t i = 0; i < node->gpu_count; i++)
        for (size_t j = i + 1; j < node->gpu_count; j++)
            if (pair_rate(node, i, j) > 0 && is_first_of_rate(node, i, j))
                write_pairs_of_rate(node, pair_rate(node, i, j), indent + FILE_INDENT, out);
}

static bool has_one_rate(const struct node_topology *node)
{
    for (size_t i = 0; i < node->gpu_count; i++)
        for (size_t j = i + 1; j < node->gpu_count; j++)
            if (!is_same_rate(pair_rate(node, i, j), pair_rate(node, 0, 1)))
                return false;
    return true;
}

static void write_rates(const struct node_topology *node, unsigned indent, struct text_buffer *out)
{
    if (!has_one_rate(node)) {
        write_pairs(node, indent, out);
        return;
    }
    text_buffer_add_repeated(out, ' ', indent);
    text_buffer_add_text(out, "rate: ");
    add_strength(node, pair_rate(node, 0, 1), out);
    text_buffer_add_text(out, "\n");
}

static void write_nvlink(const struct node_topology *node, unsigned indent, struct text_buffer *out)
{
    bool plain = node->nvlink != NVLINK_KNOWN && !node->nvlink_switched &&
                 !node->nvlink_leaves_node && !node->nvlink_clique &&
                 node->nvlink_domain_nodes <= 1;
    if (plain) {
        file_line_text(out, indent, "nvlink", nvlink_state_name(node->nvlink));
        return;
    }
    begin_list(out, indent, "nvlink", 1);
    indent += FILE_INDENT;
    file_line_text(out, indent, "state", nvlink_state_name(node->nvlink));
    file_line_true(out, indent, "switched", node->nvlink_switched);
    if (is_known(node))
        write_rates(node, indent, out);
    if (node->nvlink == NVLINK_KNOWN)
        file_line_rate(out, indent, "gpu_rate", node->gpu_nvlink_bytes_per_second);
    file_line_unsigned(out, indent, "domain_nodes",
                       node->nvlink_domain_nodes > 1 ? node->nvlink_domain_nodes : 0);
    file_line_true(out, indent, "leaves_node", node->nvlink_leaves_node);
    file_line_text(out, indent, "clique", node->nvlink_clique);
}

/* "." is unknown. Columns are as wide as their longest word. */
static void write_rows(const enum link_kind *links, unsigned rows, unsigned columns,
                       unsigned indent, struct text_buffer *out)
{
    size_t width = 0;
    for (size_t i = 0; i < (size_t)rows * columns; i++) {
        size_t length = links[i] == LINK_UNKNOWN ? 1 : strlen(link_kind_name(links[i]));
        width = length > width ? length : width;
    }
    for (unsigned i = 0; i < rows; i++) {
        text_buffer_add_repeated(out, ' ', indent);
        text_buffer_add_text(out, "- \"");
        for (unsigned j = 0; j < columns; j++) {
            enum link_kind link = links[(size_t)i * columns + j];
            text_buffer_add(out, "%-*s%s", j + 1 < columns ? (int)width : 0,
                            link == LINK_UNKNOWN ? "." : link_kind_name(link),
                            j + 1 < columns ? " " : "");
        }
        text_buffer_add_text(out, "\"\n");
    }
}

/* NVLink where the rates say so anyway is not worth rows. */
static bool has_own_links(const struct node_topology *node)
{
    size_t n = node->gpu_count;
    for (size_t i = 0; node->links && i < n * n; i++)
        if (node->links[i] != LINK_UNKNOWN && !(pair_rate(node, i / n, i % n) > 0))
            return true;
    return false;
}

static bool has_nic_links(const struct node_topology *node)
{
    for (size_t i = 0; node->nic_links && i < (size_t)node->gpu_count * node->nic_count; i++)
        if (node->nic_links[i] != LINK_UNKNOWN)
            return true;
    return false;
}

static void write_links(const struct node_topology *node, unsigned indent, struct text_buffer *out)
{
    if (has_own_links(node)) {
        begin_list(out, indent, "gpu_links", 1);
        write_rows(node->links, node->gpu_count, node->gpu_count, indent + FILE_INDENT, out);
    }
    if (has_nic_links(node)) {
        begin_list(out, indent, "nic_links", 1);
        write_rows(node->nic_links, node->gpu_count, node->nic_count, indent + FILE_INDENT, out);
    }
}

static void write_facts(const struct node_topology *node, unsigned indent, struct text_buffer *out)
{
    if (node->fact_count > 0)
        begin_list(out, indent, "facts", node->fact_count);
    for (size_t i = 0; i < node->fact_count; i++) {
        struct flow_mapping flow = begin_item(out, indent + FILE_INDENT);
        flow_text(&flow, "fact", node->facts[i].fact);
        flow_text(&flow, "value", node->facts[i].value);
        flow_text(&flow, "source", node->facts[i].source);
        end_item(&flow);
    }
}

void node_file_write_keys(const struct node_topology *node, unsigned indent,
                          struct text_buffer *out)
{
    file_line_text(out, indent, "driver", node->driver_version);
    file_line_unsigned(out, indent, "cpus", node->cpu_count);
    file_line_bytes(out, indent, "host_memory", node->host_memory_bytes);
    file_line_bytes(out, indent, "host_nvme", node->host_nvme_bytes);
    file_line_rate(out, indent, "pcie", node->pcie_bytes_per_second);
    write_gpus(node, indent, out);
    write_nics(node, indent, out);
    write_nvlink(node, indent, out);
    write_links(node, indent, out);
    write_facts(node, indent, out);
}

void node_file_write(const struct node_topology *node, const char *name, struct text_buffer *out)
{
    text_buffer_add_text(out, SCHEMA_LINE);
    file_line_text(out, 0, "name", name);
    node_file_write_keys(node, 0, out);
}
