/* SPDX-License-Identifier: MIT */
/* A node's cache, and a list of visible devices put in order by it: no crash, a node or one line
 * of why not; what a good cache says comes back when it is written again; no device is lost. The
 * input is the cache, a NUL, the list. */
#include "mapping/visible_gpus.h"
#include "tests/fuzz/fuzz_target.h"
#include "topology/node_cache.h"

#define LIST_BYTES 512u

static const struct node_cache_key key = {.boot = "1", .driver = "2"};

static void require_round_trip(const struct node_topology *node)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct node_topology *made = NULL;
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, NODE_CACHE_MAXIMUM_BYTES);
    if (node_cache_encode(node, &key, &text, &err) < 0 || text_buffer_failed(&text))
        return; /* longer than a cache may be */
    enum node_cache_state state =
        node_cache_decode(text_buffer_text(&text), text.length, "again", &key, &made, &err);
    CLEANUP(node_topology) struct node_topology *again = made;
    fuzz_require(state == NODE_CACHE_USED, "what we wrote is refused", err.text);
    fuzz_require(again->gpu_count == node->gpu_count && again->nic_count == node->nic_count &&
                     again->domain_count == node->domain_count,
                 "another node came back", node->name);
}

static unsigned count_commas(const char *list)
{
    unsigned count = 0;
    for (; *list; list++)
        count += *list == ',';
    return count;
}

static void try_order(const struct node_topology *node, const char *data, size_t size)
{
    char list[LIST_BYTES];
    struct error_info err = {.kind = ERROR_NONE};
    size_t length = size < sizeof(list) ? size : sizeof(list) - 1;
    memcpy(list, data, length);
    list[length] = '\0';
    CLEANUP_DONE(text_buffer) struct text_buffer order;
    text_buffer_init(&order, LIST_BYTES);
    unsigned count = count_commas(list) + 1;
    struct degrees degrees = DEGREES_ONE;
    degrees.tp = 2;
    degrees.ep = 4;
    unsigned gpus[NODE_MAXIMUM_GPUS];
    enum visible_order verdict = visible_gpus_order(node, &degrees, ORDER_TP_CP_EP_DP_PP, count,
                                                    list, NULL, &order, gpus, &err);
    if (verdict == VISIBLE_UNKNOWN)
        fuzz_require_error(&err);
    if (verdict == VISIBLE_CHANGED)
        fuzz_require(count_commas(text_buffer_text(&order)) + 1 == count, "a device is lost", list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct node_topology *made = NULL;
    const uint8_t *end = size > 0 ? memchr(data, 0, size) : NULL;
    size_t bytes = end ? (size_t)(end - data) : size;
    enum node_cache_state state =
        node_cache_decode((const char *)data, bytes, "cache", &key, &made, &err);
    CLEANUP(node_topology) struct node_topology *node = made;
    if (state != NODE_CACHE_USED) {
        fuzz_require(!node, "a node from a bad cache", err.text);
        fuzz_require_error(&err);
        return 0;
    }
    require_round_trip(node);
    if (end)
        try_order(node, (const char *)end + 1, size - bytes - 1);
    return 0;
}
