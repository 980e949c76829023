/* SPDX-License-Identifier: MIT */
/*
 * node_cache_bench: what slurmstepd pays for its node: opening the cache with all its checks,
 * decoding, merging; for a box of 8 GPUs and 12 NICs, and for the largest node, beside a plain
 * read of the same file in the same run. Prints the median of processor time in microseconds
 * and how many reads it takes. Fails where the box takes longer than the millisecond promised.
 */
#include "base/text_file.h"
#include "tests/support/time_order.h"
#include "topology/node_cache.h"
#include "topology/node_evidence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 101u
#define LIMIT_MICROSECONDS 1000.0
#define LARGEST_GPUS 64u
#define LARGEST_NICS 128u

static char folder[] = "/tmp/node_cache_bench.XXXXXX";
static char path[64];
static struct node_cache_key key;

static double now_microseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

/* All linked, all named. */
static struct node_topology *make_node(unsigned gpu_count, unsigned nic_count,
                                       struct error_info *err)
{
    static char bus_ids[LARGEST_GPUS][16], names[LARGEST_NICS][16];
    static struct evidence_gpu gpus[LARGEST_GPUS];
    static struct evidence_nic nics[LARGEST_NICS];
    static double rates[LARGEST_GPUS * LARGEST_GPUS];
    static enum link_kind links[LARGEST_GPUS * LARGEST_NICS];
    for (unsigned i = 0; i < gpu_count; i++) {
        snprintf(bus_ids[i], sizeof(bus_ids[i]), "0000:%02x:00.0", i);
        gpus[i] = (struct evidence_gpu){.bus_id = bus_ids[i], .model_text = "h100-sxm"};
        for (unsigned j = 0; j < gpu_count; j++)
            rates[i * gpu_count + j] = i == j ? 0 : 450e9;
        for (unsigned j = 0; j < nic_count; j++)
            links[i * nic_count + j] = i == j ? LINK_PIX : LINK_SYS;
    }
    for (unsigned i = 0; i < nic_count; i++) {
        snprintf(names[i], sizeof(names[i]), "mlx5_%u", i);
        nics[i] = (struct evidence_nic){.name = names[i], .state = NIC_ACTIVE, .rail = -1};
    }
    const struct node_evidence evidence = {.source = EVIDENCE_NVML,
                                           .source_text = "nvml",
                                           .gpus = gpus,
                                           .gpu_count = gpu_count,
                                           .nics = nics,
                                           .nic_count = nic_count,
                                           .nvlink = NVLINK_KNOWN,
                                           .nvlink_switched = true,
                                           .nvlink_bytes_per_second = rates,
                                           .nic_links = links};
    const struct node_evidence *const all[] = {&evidence};
    return node_topology_merge("node", all, 1, NULL, err);
}

static int write_cache(unsigned gpus, unsigned nics, struct error_info *err)
{
    CLEANUP(node_topology) struct node_topology *node = make_node(gpus, nics, err);
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, NODE_CACHE_MAXIMUM_BYTES);
    if (!node || node_cache_encode(node, &key, &text, err) < 0)
        return -1;
    const char *written = text_buffer_text(&text);
    return text_file_write(path, written, strlen(written), 0600, err);
}

static double time_load(struct error_info *err)
{
    double start = now_microseconds();
    struct node_topology *node = NULL;
    enum node_cache_state state = node_cache_load(path, geteuid(), &key, &node, err);
    node_topology_free(node);
    return state == NODE_CACHE_USED ? now_microseconds() - start : -1;
}

static double time_read(size_t *ret_bytes, struct error_info *err)
{
    double start = now_microseconds();
    CLEANUP_MEMORY char *text = text_file_read(path, NODE_CACHE_MAXIMUM_BYTES, ret_bytes, err);
    return text ? now_microseconds() - start : -1;
}

/* The median in microseconds, or -1. */
static double run(unsigned gpus, unsigned nics)
{
    struct error_info err = {.kind = ERROR_NONE};
    double loads[ROUNDS], reads[ROUNDS];
    size_t bytes = 0;
    if (write_cache(gpus, nics, &err) < 0) {
        printf("%s\n", err.text);
        return -1;
    }
    for (unsigned i = 0; i < ROUNDS; i++) {
        reads[i] = time_read(&bytes, &err);
        loads[i] = time_load(&err);
    }
    time_order_sort(loads, ROUNDS);
    time_order_sort(reads, ROUNDS);
    double median = loads[0] < 0 ? -1 : loads[ROUNDS / 2];
    printf("%3u GPUs %4u NICs %7zu bytes %8.0f us %6.1f reads of the file\n", gpus, nics, bytes,
           median, median / reads[ROUNDS / 2]);
    return median;
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof(path), "%s/node.cache", folder);
    node_cache_key_read(&key);
    double box = run(8, 12), largest = run(LARGEST_GPUS, LARGEST_NICS);
    unlink(path);
    rmdir(folder);
    return box < 0 || largest < 0 || box > LIMIT_MICROSECONDS;
}
