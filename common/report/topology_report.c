/* SPDX-License-Identifier: MIT */
#include "report/topology_report.h"
#include "report/number_text.h"
#include "report/text_table.h"

#define SWITCHES_SHOWN 64u
#define DOMAINS_SHOWN 64u

/* Names as "n[001-008]". */
static void add_names(struct text_table *table, const struct node_list *names)
{
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, TEXT_BUFFER_REPORT_MAXIMUM);
    node_list_encode(names, &text);
    text_table_add(table, text_buffer_text(&text));
}

/* On any rail. */
static bool is_in_leaf(const struct fabric *fabric, const struct fabric_node *node, unsigned leaf)
{
    for (unsigned rail = 0; node->rail_leaves && rail < fabric->rail_count; rail++)
        if (node->rail_leaves[rail] == leaf)
            return true;
    return node->leaf == leaf;
}

static void add_switch_members(const struct fabric *fabric, unsigned index,
                               struct text_table *table)
{
    CLEANUP(node_list) struct node_list *names = node_list_create(NULL);
    bool failed = !names;
    for (size_t i = 0; !failed && i < fabric->node_count; i++) {
        if (is_in_leaf(fabric, &fabric->nodes[i], index))
            failed = node_list_add(names, fabric->nodes[i].name, NULL) < 0;
    }
    for (size_t i = 0; !failed && i < fabric->switch_count; i++) {
        if (fabric->switches[i].parent == index)
            failed = node_list_add(names, fabric->switches[i].name, NULL) < 0;
    }
    if (failed)
        text_table_add(table, "?");
    else
        add_names(table, names);
}

/* "2:1": what comes in from below over what goes up. */
static void add_oversubscription(struct text_table *table, const struct fabric_switch *one)
{
    if (one->uplink_bytes_per_second <= 0 || one->downlink_bytes_per_second <= 0)
        text_table_add(table, "");
    else
        text_table_add_format(table, "%.3g:1",
                              one->downlink_bytes_per_second / one->uplink_bytes_per_second);
}

static void add_switches(const struct fabric *fabric, const struct text_style *style,
                         struct text_buffer *out)
{
    static const struct text_column columns[] = {{.title = "switch"},
                                                 {.title = "tier"},
                                                 {.title = "uplink", .align = ALIGN_RIGHT},
                                                 {.title = "down/up", .align = ALIGN_RIGHT},
                                                 {.title = "above"},
                                                 {.title = "below", .wrap = true}};
    size_t shown = fabric->switch_count < SWITCHES_SHOWN ? fabric->switch_count : SWITCHES_SHOWN;
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    for (unsigned i = 0; i < shown; i++) {
        const struct fabric_switch *one = &fabric->switches[i];
        text_table_add(table, one->name);
        text_table_add(table, fabric->tier_names[one->tier]);
        text_table_add(table, one->uplink_bytes_per_second > 0.0
                                  ? number_network(one->uplink_bytes_per_second).text
                                  : "");
        add_oversubscription(table, one);
        text_table_add(table, one->parent == FABRIC_NONE ? "" : fabric->switches[one->parent].name);
        add_switch_members(fabric, i, table);
    }
    text_table_write(table, style, out);
    if (shown < fabric->switch_count)
        text_buffer_add(out, "  … %zu switches more (--format json has them all)\n",
                        fabric->switch_count - shown);
}

/* GPUs of the nodes that the domain joins; cluster may be NULL: 0. */
static unsigned count_domain_gpus(const struct cluster_topology *cluster, unsigned domain)
{
    unsigned gpus = 0;
    for (size_t i = 0; cluster && i < cluster->node_count; i++)
        if (cluster->nodes[i].nvlink_block == domain)
            gpus += cluster->kinds[cluster->nodes[i].kind]->gpu_count;
    return gpus;
}

static void add_domain(const struct fabric *fabric, unsigned domain, unsigned gpus,
                       struct text_table *table)
{
    const struct fabric_domain *of = &fabric->domains[domain];
    CLEANUP(node_list) struct node_list *names = node_list_create(NULL);
    bool failed = !names;
    for (size_t i = 0; !failed && i < fabric->node_count; i++)
        if (fabric->nodes[i].nvlink_block == domain)
            failed = node_list_add(names, fabric->nodes[i].name, NULL) < 0;
    text_table_add(table, of->name ? of->name : number_index((int)domain).text);
    text_table_add_unsigned(table, of->node_count);
    text_table_add(table, gpus > 0 ? number_grouped(gpus).text : "?");
    text_table_add(table, of->id ? of->id : "");
    if (failed)
        text_table_add(table, "?");
    else
        add_names(table, names);
}

/* Blocks are domains where the nodes' NVLink leaves them: without nodes that is open, and with
 * others they are none. */
static void add_domains(const struct fabric *fabric, const struct cluster_topology *cluster,
                        const struct text_style *style, struct text_buffer *out)
{
    bool open = !cluster && fabric->domain_count > 0 && fabric->domains[0].candidate;
    const struct text_column columns[] = {
        {.title = open ? "block (NVLink domain of trays)" : "NVLink domain"},
        {.title = "nodes", .align = ALIGN_RIGHT},
        {.title = "GPUs", .align = ALIGN_RIGHT},
        {.title = "id"},
        {.title = "names", .wrap = true}};
    size_t shown = 0;
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    for (unsigned i = 0; i < fabric->domain_count && shown < DOMAINS_SHOWN; i++) {
        unsigned gpus = count_domain_gpus(cluster, i);
        if (cluster && gpus == 0)
            continue;
        add_domain(fabric, i, gpus, table);
        shown++;
    }
    if (shown == 0)
        return;
    text_buffer_add_text(out, "\n");
    text_table_write(table, style, out);
    if (shown == DOMAINS_SHOWN && shown < fabric->domain_count)
        text_buffer_add(out, "  … %zu domains more (--format json has them all)\n",
                        fabric->domain_count - shown);
}

static void report_fabric(const struct fabric *fabric, const struct cluster_topology *cluster,
                          const struct text_style *style, struct text_buffer *out)
{
    text_heading(style, out, "Fabric from %s", fabric->source ? fabric->source : "?");
    text_buffer_add(out, "  %zu node%s, %zu switch%s, tiers near to far:", fabric->node_count,
                    fabric->node_count == 1 ? "" : "s", fabric->switch_count,
                    fabric->switch_count == 1 ? "" : "es");
    for (unsigned i = 0; i < fabric->tier_count; i++)
        text_buffer_add(out, " %s", fabric->tier_names[i]);
    text_buffer_add_text(out, "\n");
    if (fabric->switch_count > 0)
        add_switches(fabric, style, out);
    add_domains(fabric, cluster, style, out);
    for (size_t i = 0; i < fabric->warning_count; i++)
        text_buffer_add(out, "  %swarning: %s%s\n", text_tone_begin(style, TONE_WARNING),
                        fabric->warnings[i], text_tone_end(style, TONE_WARNING));
}

void fabric_report_text(const struct fabric *fabric, const struct text_style *style,
                        struct text_buffer *out)
{
    report_fabric(fabric, NULL, style, out);
}

static void add_kind_nodes(const struct cluster_topology *cluster, unsigned kind,
                           struct text_table *table)
{
    CLEANUP(node_list) struct node_list *names = node_list_create(NULL);
    bool failed = !names;
    size_t count = 0;
    for (size_t i = 0; !failed && i < cluster->node_count; i++) {
        if (cluster->nodes[i].kind != kind)
            continue;
        count++;
        failed = node_list_add(names, cluster->nodes[i].name, NULL) < 0;
    }
    text_table_add_unsigned(table, count);
    text_table_add_unsigned(table, cluster->kinds[kind]->gpu_count);
    if (failed)
        text_table_add(table, "?");
    else
        add_names(table, names);
}

void cluster_report_text(const struct cluster_topology *cluster,
                         const struct topology_report_options *options,
                         const struct text_style *style, struct text_buffer *out)
{
    static const struct text_column columns[] = {{.title = "kind"},
                                                 {.title = "nodes", .align = ALIGN_RIGHT},
                                                 {.title = "GPUs each", .align = ALIGN_RIGHT},
                                                 {.title = "names", .wrap = true}};
    bool known = false;
    unsigned domain = cluster_nvlink_domain_gpus(cluster, &known);
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    text_heading(style, out, "%s", cluster->name);
    unsigned long long gpus = cluster_gpu_count(cluster);
    text_buffer_add(out, "  %zu node%s, %llu GPU%s; NVLink domain %s%s\n", cluster->node_count,
                    cluster->node_count == 1 ? "" : "s", gpus, gpus == 1 ? "" : "s",
                    known ? number_grouped(domain).text : "unknown",
                    !known        ? ""
                    : domain == 1 ? " GPU"
                                  : " GPUs");
    for (unsigned i = 0; i < cluster->kind_count; i++) {
        text_table_add(table, cluster->kind_names[i]);
        add_kind_nodes(cluster, i, table);
    }
    text_table_write(table, style, out);
    if (cluster->fabric)
        report_fabric(cluster->fabric, cluster, style, out);
    else
        text_buffer_add_text(out, "\n  fabric: unknown (no switches given)\n");
    for (size_t i = 0; i < cluster->kind_count; i++)
        node_report_text(cluster->kinds[i], options, style, out);
}
