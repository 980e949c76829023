/* SPDX-License-Identifier: MIT */
#include "mapping/rails/gpu_nics.h"
#include "tests/support/unit_test.h"

#include <string.h>

#define MAXIMUM 8u

/* A node of nothing but GPUs and NICs. links: a letter for each NIC of each GPU: x PIX, n NODE,
 * s SYS, . unknown; nearest: the NICs of each GPU as the merge puts them. */
struct sample {
    const char *name;
    unsigned gpus, nics;
    const char *links;
    unsigned nearest[MAXIMUM][MAXIMUM];
    const char *expected; /* "01 23": the NICs of GPU 0, of GPU 1 */
};

static const struct sample samples[] = {
    {"one each", 2, 2, "xs sx", {{0, 1}, {1, 0}}, "0 1"},
    {"four of its own", 2, 4, "xxss ssxx", {{0, 1, 2, 3}, {2, 3, 0, 1}}, "01 23"},
    {"two at one switch", 2, 2, "xx xx", {{0, 1}, {1, 0}}, "0 1"},
    {"four for two", 2, 4, "nnnn nnnn", {{0, 1, 2, 3}, {1, 2, 3, 0}}, "02 13"},
    {"three for two", 2, 3, "nnn nnn", {{0, 1, 2}, {1, 2, 0}}, "0 1"},
    {"one for two", 2, 1, "x x", {{0}, {0}}, "0 0"},
    {"nearness unknown", 2, 2, ".. ..", {{0, 1}, {1, 0}}, "0 1"},
    {"equal classes, other NICs", 2, 2, "xs xs", {{0, 1}, {0, 1}}, "0 0"},
};

static enum link_kind link_of(char letter)
{
    return letter == 'x'   ? LINK_PIX
           : letter == 'n' ? LINK_NODE
           : letter == 's' ? LINK_SYS
                           : LINK_UNKNOWN;
}

static void expect_nics(const struct sample *sample, bool know_links, const char *expected)
{
    struct node_gpu gpus[MAXIMUM];
    struct node_nic nics[MAXIMUM];
    enum link_kind links[MAXIMUM * MAXIMUM];
    char found[64] = "";
    size_t length = 0;
    for (unsigned i = 0; i < sample->nics; i++)
        nics[i] = (struct node_nic){.role = NIC_RAIL, .rail = (int)i, .numa = NUMA_UNKNOWN};
    for (unsigned i = 0; i < sample->gpus; i++) {
        gpus[i] = (struct node_gpu){
            .numa = NUMA_UNKNOWN, .nics = sample->nearest[i], .nic_count = sample->nics};
        for (unsigned j = 0; j < sample->nics; j++)
            links[i * sample->nics + j] = link_of(sample->links[i * (sample->nics + 1) + j]);
    }
    const struct node_topology node = {.gpus = gpus,
                                       .gpu_count = sample->gpus,
                                       .nics = nics,
                                       .nic_count = sample->nics,
                                       .nic_links = know_links ? links : NULL};
    for (unsigned i = 0; i < sample->gpus; i++) {
        unsigned of_gpu[NODE_MAXIMUM_NICS];
        unsigned count = gpu_nics_find(&node, i, of_gpu);
        if (i > 0)
            found[length++] = ' ';
        for (unsigned j = 0; j < count; j++)
            found[length++] = (char)('0' + of_gpu[j]);
    }
    found[length] = '\0';
    if (strcmp(found, expected) != 0)
        fail_msg("%s: %s, not %s", sample->name, found, expected);
}

static void shares_the_nearest(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(samples); i++)
        expect_nics(&samples[i], true, samples[i].expected);
    expect_nics(&samples[3], false, "02 13");
}

static void the_same_numa_node_is_nearer(void **state)
{
    (void)state;
    static const unsigned nearest[] = {1, 0};
    unsigned found[NODE_MAXIMUM_NICS];
    struct node_gpu gpu = {.numa = 1, .nics = nearest, .nic_count = 2};
    const struct node_nic nics[] = {{.numa = 0}, {.numa = 1}};
    const struct node_topology node = {.gpus = &gpu, .gpu_count = 1, .nics = nics, .nic_count = 2};
    assert_int_equal(gpu_nics_find(&node, 0, found), 1);
    assert_int_equal(found[0], 1);
    gpu.numa = NUMA_UNKNOWN;
    assert_int_equal(gpu_nics_find(&node, 0, found), 2);
    gpu.nic_count = 0;
    assert_int_equal(gpu_nics_find(&node, 0, found), 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(shares_the_nearest),
    cmocka_unit_test(the_same_numa_node_is_nearer),
};

int main(void) { return unit_test_main("mapping/rails/gpu_nics", tests, COUNT_OF(tests)); }
