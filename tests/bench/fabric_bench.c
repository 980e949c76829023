/* SPDX-License-Identifier: MIT */
/*
 * fabric_bench: time to read the fabric of 10,000 nodes and of 100,000 from each format, beside
 * a plain scan of the same text in the same run. Prints the median over the rounds in
 * milliseconds of processor time, nanoseconds per node, and how many scans the reading takes.
 * Fails where 10,000 nodes take longer than the limit of their format, or ten times the nodes
 * more than forty times as long (caches and fresh pages cost; squares would cost 100).
 */
#include "base/text_buffer.h"
#include "tests/support/time_order.h"
#include "topology/fabric_readers/fabric_readers.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 11u
#define LEAF_NODES 20u
#define LIMIT_NODES 10000u
#define SLURM_MILLISECONDS 50.0
#define JSON_MILLISECONDS 500.0 /* most of it is json-c's */

struct bench {
    const char *name;
    struct fabric *(*parse)(const char *text, size_t bytes, const char *source,
                            struct error_info *err);
    void (*write)(struct text_buffer *text, unsigned nodes);
    double limit_milliseconds; /* for LIMIT_NODES */
};

static void write_names(struct text_buffer *text, unsigned first, unsigned count)
{
    for (unsigned i = first; i < first + count; i++)
        text_buffer_add(text, "%sgpu-node-%06u", i > first ? "," : "", i);
}

static void write_spine(struct text_buffer *text, unsigned leaves)
{
    text_buffer_add(text, "SwitchName=spine Switches=leaf[0-%u]\n", leaves - 1);
}

static void write_ranges(struct text_buffer *text, unsigned nodes)
{
    for (unsigned leaf = 0; leaf < nodes / LEAF_NODES; leaf++)
        text_buffer_add(text, "SwitchName=leaf%u Nodes=gpu-node-[%06u-%06u]\n", leaf,
                        leaf * LEAF_NODES, leaf * LEAF_NODES + LEAF_NODES - 1);
    write_spine(text, nodes / LEAF_NODES);
}

static void write_one_by_one(struct text_buffer *text, unsigned nodes)
{
    for (unsigned leaf = 0; leaf < nodes / LEAF_NODES; leaf++) {
        text_buffer_add(text, "SwitchName=leaf%u Nodes=", leaf);
        write_names(text, leaf * LEAF_NODES, LEAF_NODES);
        text_buffer_add_text(text, "\n");
    }
    write_spine(text, nodes / LEAF_NODES);
}

/* As the controller prints them: upper switches list all nodes below, too. */
static void write_scontrol(struct text_buffer *text, unsigned nodes)
{
    write_one_by_one(text, nodes);
    text->length--; /* the last end of line */
    text_buffer_add_text(text, " Nodes=");
    write_names(text, 0, nodes);
}

static void write_blocks(struct text_buffer *text, unsigned nodes)
{
    for (unsigned block = 0; block < nodes / LEAF_NODES; block++) {
        text_buffer_add(text,
                        "# ClusterUUID and CliqueID: %08x-0000 32766\nBlockName=b%u Nodes=", block,
                        block);
        write_names(text, block * LEAF_NODES, LEAF_NODES);
        text_buffer_add_text(text, "\n");
    }
    text_buffer_add_text(text, "BlockSizes=20,40,160\n");
}

static void write_yaml(struct text_buffer *text, unsigned nodes)
{
    text_buffer_add_text(text, "- topology: t\n  tree:\n    switches:\n");
    for (unsigned leaf = 0; leaf < nodes / LEAF_NODES; leaf++)
        text_buffer_add(text, "    - {switch: leaf%u, nodes: 'gpu-node-[%06u-%06u]'}\n", leaf,
                        leaf * LEAF_NODES, leaf * LEAF_NODES + LEAF_NODES - 1);
    text_buffer_add(text, "    - {switch: spine, children: 'leaf[0-%u]'}\n",
                    nodes / LEAF_NODES - 1);
}

static void write_graph(struct text_buffer *text, unsigned nodes)
{
    text_buffer_add_text(text, "{\"instances\": [");
    for (unsigned i = 0; i < nodes; i++)
        text_buffer_add(text,
                        "%s{\"id\": \"gpu-node-%06u\", \"network_layers\": [\"leaf%u\", "
                        "\"spine\"], \"accelerator\": \"nvl%u\"}",
                        i > 0 ? "," : "", i, i / LEAF_NODES, i / LEAF_NODES);
    text_buffer_add_text(text, "]}");
}

/* A real node has some 85 labels; a tenth of them here, so that 100,000 nodes fit the limit. */
static void write_labels(struct text_buffer *text, unsigned nodes)
{
    text_buffer_add_text(text, "{\"items\": [");
    for (unsigned i = 0; i < nodes; i++) {
        text_buffer_add(text, "%s{\"metadata\": {\"name\": \"gpu-node-%06u\", \"labels\": {",
                        i > 0 ? "," : "", i);
        for (unsigned label = 0; label < 6; label++)
            text_buffer_add(text, "\"feature.node.kubernetes.io/cpu-%u\": \"true\", ", label);
        text_buffer_add(text,
                        "\"fabric.topograph.run/tier-0\": \"leaf%u\", "
                        "\"fabric.topograph.run/tier-1\": \"spine\", "
                        "\"nvidia.com/gpu.clique\": \"u.%u\"}}}",
                        i / LEAF_NODES, i / LEAF_NODES);
    }
    text_buffer_add_text(text, "]}");
}

static struct fabric *parse_labels(const char *text, size_t bytes, const char *source,
                                   struct error_info *err)
{
    return fabric_parse_kubernetes(text, bytes, source, NULL, err);
}

static const struct bench benches[] = {
    {"ranges", fabric_parse_slurm, write_ranges, SLURM_MILLISECONDS},
    {"one by one", fabric_parse_slurm, write_one_by_one, SLURM_MILLISECONDS},
    {"as scontrol", fabric_parse_slurm, write_scontrol, SLURM_MILLISECONDS},
    {"blocks", fabric_parse_slurm, write_blocks, SLURM_MILLISECONDS},
    {"yaml", fabric_parse_slurm_yaml, write_yaml, SLURM_MILLISECONDS},
    {"graph", fabric_parse_topograph_graph, write_graph, JSON_MILLISECONDS},
    {"labels", parse_labels, write_labels, JSON_MILLISECONDS},
};

static double spent_milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static volatile unsigned scanned; /* so that the scan is not left out */

static double scan(const struct text_buffer *text)
{
    double before = spent_milliseconds();
    unsigned sum = 0;
    for (size_t i = 0; i < text->length; i++)
        sum = sum * 31 + (unsigned char)text->text[i];
    scanned = sum;
    return spent_milliseconds() - before;
}

static double read_fabric(const struct bench *bench, const struct text_buffer *text, unsigned nodes)
{
    struct error_info err = {.kind = ERROR_NONE};
    double before = spent_milliseconds();
    struct fabric *fabric = bench->parse(text->text, text->length, "bench", &err);
    if (!fabric || fabric->node_count != nodes) {
        fprintf(stderr, "fabric_bench: %s\n", fabric ? "nodes are lost" : err.text);
        exit(1);
    }
    fabric_free(fabric);
    return spent_milliseconds() - before;
}

/* Median milliseconds. */
static double run(const struct bench *bench, unsigned nodes)
{
    double scans[ROUNDS], reads[ROUNDS];
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, (size_t)64 << 20);
    bench->write(&text, nodes);
    for (unsigned i = 0; i < ROUNDS; i++) {
        scans[i] = scan(&text);
        reads[i] = read_fabric(bench, &text, nodes);
    }
    time_order_sort(scans, ROUNDS);
    time_order_sort(reads, ROUNDS);
    double milliseconds = reads[ROUNDS / 2];
    printf("%7u nodes %-12s %8zu bytes %8.2f ms %6.0f ns a node %6.1f scans\n", nodes, bench->name,
           text.length, milliseconds, milliseconds * 1e6 / nodes, milliseconds / scans[ROUNDS / 2]);
    return milliseconds;
}

int main(void)
{
    int status = 0;
    for (size_t i = 0; i < COUNT_OF(benches); i++) {
        double small = run(&benches[i], LIMIT_NODES);
        double large = run(&benches[i], 10 * LIMIT_NODES);
        bool is_slow = small > benches[i].limit_milliseconds || large > 40 * small;
        if (is_slow)
            printf("%s: slower than %.0f ms, or not in proportion\n", benches[i].name,
                   benches[i].limit_milliseconds);
        status = is_slow ? 1 : status;
    }
    return status;
}
