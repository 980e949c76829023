/* SPDX-License-Identifier: MIT */
/* A mapping made elsewhere: what is read keeps to the nodes and their GPUs and comes back the
 * same from a rankfile; what is refused is one line. */
#include "base/text_buffer.h"
#include "mapping/evaluation/mapping_file.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/test_cluster.h"

#define WORLD 4u
#define NODES 3u
#define GPUS 2u

static const struct test_cluster three_nodes = {.nodes = "n[1-3]", .gpus = GPUS};

static const struct cluster_topology *cluster_get(void)
{
    static struct cluster_topology *cluster;
    if (!cluster)
        cluster = test_cluster_create(&three_nodes, NULL);
    if (!cluster)
        abort();
    return cluster;
}

static void check_places(const struct rank_places *places, const char *text)
{
    unsigned used[NODES * GPUS] = {0};
    fuzz_require(places->world == WORLD, "the number of ranks", text);
    for (unsigned rank = 0; rank < WORLD; rank++) {
        fuzz_require(places->nodes[rank] < NODES, "a node that is not there", text);
        fuzz_require(places->gpus[rank] < GPUS, "a GPU that is not there", text);
        fuzz_require(used[places->nodes[rank] * GPUS + places->gpus[rank]]++ == 0, "a GPU twice",
                     text);
    }
}

static void check_round_trip(const struct rank_places *places, const char *text)
{
    CLEANUP_DONE(text_buffer) struct text_buffer written;
    text_buffer_init(&written, 4096);
    for (unsigned rank = 0; rank < WORLD; rank++)
        text_buffer_add(&written, "rank %u=n%u slot=%u\n", rank, places->nodes[rank] + 1, rank);
    CLEANUP(rank_places)
    struct rank_places *again = mapping_file_parse(text_buffer_text(&written), written.length,
                                                   "again", cluster_get(), WORLD, NULL);
    fuzz_require(again != NULL, "a rankfile of it is refused", text);
    fuzz_require(memcmp(again->nodes, places->nodes, WORLD * sizeof(*places->nodes)) == 0,
                 "a rankfile of it differs", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_MEMORY char *text = fuzz_text(data, size);
    CLEANUP(rank_places)
    struct rank_places *places =
        mapping_file_parse((const char *)data, size, "there", cluster_get(), WORLD, &err);
    if (!places) {
        fuzz_require_error(&err);
        return 0;
    }
    check_places(places, text);
    check_round_trip(places, text);
    return 0;
}
