/* SPDX-License-Identifier: MIT */
#include "k8s_extender/gang/cluster_state.h"
#include "k8s_extender/gang/store/record_table.h"
#include "tests/support/unit_test.h"

#include <stdio.h>
#include <string.h>

static struct node_record *node_of(const char *name, unsigned gpus)
{
    char text[300];
    int bytes =
        snprintf(text, sizeof(text),
                 "{\"metadata\":{\"name\":\"%s\",\"uid\":\"%s\"},\"status\":{"
                 "\"allocatable\":{\"cpu\":\"64\",\"pods\":\"10\",\"nvidia.com/gpu\":\"%u\"},"
                 "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}",
                 name, name, gpus);
    struct node_record *node = node_record_parse(text, (size_t)bytes, NULL);
    assert_non_null(node);
    return node;
}

/* more: further members of metadata, as ",\"deletionTimestamp\":\"x\""; node "": not bound. */
static struct pod_record *pod_of(const char *name, const char *uid, const char *version,
                                 const char *node, const char *more)
{
    char text[600];
    int bytes = snprintf(
        text, sizeof(text),
        "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"d\",\"uid\":\"%s\","
        "\"resourceVersion\":\"%s\"%s},\"spec\":{%s%s%s\"containers\":[{\"name\":\"c\","
        "\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"4\"}}}]}}",
        name, uid, version, more, *node ? "\"nodeName\":\"" : "", node, *node ? "\"," : "");
    struct pod_record *pod = pod_record_parse(text, (size_t)bytes, NULL);
    assert_non_null(pod);
    return pod;
}

static const struct resource_amount four = {.name = "nvidia.com/gpu", .amount = 4};
static const struct resource_list ask = {
    .amounts = {[RESOURCE_PODS] = 1}, .others = &four, .other_count = 1};

static uint32_t room(const struct cluster_state *state, const char *owner)
{
    return cluster_state_room(state, "n1", &ask, owner, 9);
}

static void counts_pods_and_promises(void **unused)
{
    (void)unused;
    CLEANUP(cluster_state) struct cluster_state *state = cluster_state_create();
    assert_non_null(state);
    assert_int_equal(room(state, NULL), 0); /* nobody knows it */
    assert_int_equal(cluster_state_set_node(state, node_of("n1", 8), NULL), 0);
    assert_int_equal(room(state, NULL), 2);
    assert_int_equal(cluster_state_set_pod(state, pod_of("p", "u1", "1", "n1", ""), NULL), 0);
    assert_int_equal(room(state, NULL), 1);
    /* A terminating pod still holds its GPUs. */
    assert_int_equal(
        cluster_state_set_pod(
            state, pod_of("p", "u1", "2", "n1", ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\""),
            NULL),
        0);
    assert_int_equal(room(state, NULL), 1);
    assert_int_equal(cluster_state_reserve(state, "n1", "a", &ask), 0);
    assert_int_equal(room(state, NULL), 0);
    assert_int_equal(room(state, "b"), 0);
    assert_int_equal(room(state, "a"), 1);
    assert_int_equal(cluster_state_capacity(state, "n1", &ask, 9), 2);
    assert_int_equal(cluster_state_room_unpromised(state, "n1", &ask, 9), 1);
    assert_true(cluster_state_promised(state, "n1"));
    uint64_t frees = cluster_state_frees(state);
    cluster_state_remove_pod(state, "u1");
    assert_true(cluster_state_frees(state) > frees);
    assert_int_equal(room(state, "b"), 1);
    cluster_state_release(state, "n1", "a", &ask);
    cluster_state_release(state, "n1", "a", &ask); /* nothing is left to give back */
    assert_int_equal(room(state, "b"), 2);
    assert_int_equal(cluster_state_promised_count(state), 0);
}

/* What is kept of a promised node to answer sooner, against what its pods and promises add up to:
 * an owner without promises asks the long way. */
static void keeps_count_of_promised_nodes(void **unused)
{
    (void)unused;
    CLEANUP(cluster_state) struct cluster_state *state = cluster_state_create();
    assert_non_null(state);
    uint32_t random = 1;
    unsigned withheld = 0;
    for (unsigned step = 0; step < 2000; step++) {
        random = random * 1664525u + 1013904223u;
        unsigned choice = random >> 29, number = (random >> 20) % 3;
        char uid[8];
        snprintf(uid, sizeof(uid), "u%u", number);
        if (choice == 0)
            assert_int_equal(cluster_state_set_node(state, node_of("n1", 4 + 4 * number), NULL), 0);
        else if (choice == 1 && number == 0)
            cluster_state_remove_node(state, "n1");
        else if (choice == 2)
            assert_int_equal(cluster_state_set_pod(state, pod_of(uid, uid, "", "n1", ""), NULL), 0);
        else if (choice == 3)
            cluster_state_remove_pod(state, uid);
        else if (choice == 4)
            assert_int_equal(cluster_state_reserve(state, "n1", number ? "a" : "b", &ask), 0);
        else
            cluster_state_release(state, "n1", number ? "a" : "b", &ask);
        uint32_t left = room(state, "nobody");
        bool promised = cluster_state_promised(state, "n1");
        assert_int_equal(room(state, NULL), left);
        assert_int_equal(cluster_state_spares(state, "n1", &ask), !promised || left > 0);
        withheld += promised && left == 0;
    }
    assert_in_range(withheld, 200, 1800);
}

static void knows_pods_by_uid(void **unused)
{
    (void)unused;
    CLEANUP(cluster_state) struct cluster_state *state = cluster_state_create();
    assert_non_null(state);
    bool changed = false;
    assert_int_equal(cluster_state_set_node(state, node_of("n1", 8), NULL), 0);
    assert_int_equal(cluster_state_set_pod(state, pod_of("p", "u1", "5", "n1", ""), &changed), 0);
    assert_true(changed);
    assert_int_equal(cluster_state_set_pod(state, pod_of("p", "u1", "5", "n1", ""), &changed), 0);
    assert_false(changed);
    assert_int_equal(cluster_state_set_pod(state, pod_of("p", "u2", "7", "", ""), &changed), 0);
    assert_null(cluster_state_pod(state, "u1"));
    assert_int_equal(room(state, NULL), 2);
    /* Late news of the one that was replaced. */
    assert_int_equal(cluster_state_set_pod(state, pod_of("p", "u1", "6", "n1", ""), &changed), 0);
    assert_false(changed);
    assert_string_equal(cluster_state_pod_named(state, "d", "p")->uid, "u2");
    assert_int_equal(cluster_state_pod_count(state), 1);
}

static void a_list_names_what_is_there(void **unused)
{
    (void)unused;
    size_t cursor = 0;
    CLEANUP(cluster_state) struct cluster_state *state = cluster_state_create();
    assert_non_null(state);
    for (unsigned i = 0; i < 100; i++) {
        char name[16];
        snprintf(name, sizeof(name), "p%u", i);
        assert_int_equal(cluster_state_set_pod(state, pod_of(name, name, "1", "n1", ""), NULL), 0);
    }
    cluster_state_begin_pods(state);
    assert_int_equal(cluster_state_set_pod(state, pod_of("p7", "p7", "1", "n1", ""), NULL), 0);
    for (const struct pod_record *pod; (pod = cluster_state_unheard_pod(state, &cursor));)
        cluster_state_remove_pod(state, pod->uid);
    assert_int_equal(cluster_state_pod_count(state), 1);
    assert_non_null(cluster_state_pod(state, "p7"));
}

/* etcd was restored from a backup: an older pod of that name is what there is. */
static void a_list_is_right_also_where_it_is_older(void **unused)
{
    (void)unused;
    size_t cursor = 0;
    CLEANUP(cluster_state) struct cluster_state *state = cluster_state_create();
    assert_non_null(state);
    assert_int_equal(cluster_state_set_pod(state, pod_of("a", "u2", "900", "n1", ""), NULL), 0);
    assert_int_equal(cluster_state_set_pod(state, pod_of("a", "u1", "100", "n2", ""), NULL), 0);
    assert_null(cluster_state_pod(state, "u1")); /* heard late, it is no news */
    cluster_state_begin_pods(state);
    assert_int_equal(cluster_state_set_pod(state, pod_of("a", "u1", "100", "n2", ""), NULL), 0);
    for (const struct pod_record *pod; (pod = cluster_state_unheard_pod(state, &cursor));)
        cluster_state_remove_pod(state, pod->uid);
    assert_int_equal(cluster_state_pod_count(state), 1);
    assert_non_null(cluster_state_pod(state, "u1"));
    assert_ptr_equal(cluster_state_pod_named(state, "d", "a"), cluster_state_pod(state, "u1"));
}

static void nodes_stand_by_name(void **unused)
{
    (void)unused;
    CLEANUP(cluster_state) struct cluster_state *state = cluster_state_create();
    assert_non_null(state);
    assert_int_equal(cluster_state_set_node(state, node_of("n2", 8), NULL), 0);
    assert_int_equal(cluster_state_set_node(state, node_of("n1", 8), NULL), 0);
    uint64_t generation = cluster_state_generation(state);
    bool changed = true;
    assert_int_equal(cluster_state_set_node(state, node_of("n1", 8), &changed), 0);
    assert_false(changed);
    assert_int_equal(cluster_state_generation(state), generation);
    assert_int_equal(cluster_state_set_node(state, node_of("n1", 7), &changed), 0);
    assert_true(changed && cluster_state_generation(state) > generation);
    const struct node_record *const *nodes = cluster_state_nodes(state);
    assert_non_null(nodes);
    assert_string_equal(nodes[0]->name, "n1");
    cluster_state_remove_node(state, "n1");
    nodes = cluster_state_nodes(state);
    assert_non_null(nodes);
    assert_string_equal(nodes[0]->name, "n2");
}

static void a_table_finds_what_was_not_removed(void **unused)
{
    (void)unused;
    static char names[500][8];
    CLEANUP(record_table) struct record_table *table = record_table_create();
    assert_non_null(table);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        snprintf(names[i], sizeof(names[i]), "k%zu", i);
        assert_int_equal(record_table_set(table, names[i], "", names[i]), 0);
    }
    for (size_t i = 0; i < COUNT_OF(names); i += 3)
        record_table_remove(table, names[i], "");
    record_table_remove(table, "never", "");
    for (size_t i = 0; i < COUNT_OF(names); i++)
        assert_ptr_equal(record_table_find(table, names[i], ""), i % 3 ? names[i] : NULL);
    assert_null(record_table_find(table, "k1", "other"));
    /* A walk meets each once, also while it removes what it meets. */
    size_t met = 0;
    for (size_t i = 0; i < record_table_count(table); met++) {
        const char *name = record_table_at(table, i);
        if (name[1] == '4')
            record_table_remove(table, name, "");
        else
            i++;
    }
    assert_int_equal(met, 333);
    assert_int_equal(record_table_count(table), 333 - 75);
    for (size_t i = 0; i < COUNT_OF(names); i++)
        assert_int_equal(record_table_find(table, names[i], "") != NULL,
                         i % 3 && names[i][1] != '4');
}

/* What fails leaves what was known, and its counts. */
static int fill(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(cluster_state) struct cluster_state *state = cluster_state_create();
    struct node_record *node =
        state ? node_record_parse("{\"metadata\":{\"name\":\"n1\"}}", 26, err) : NULL;
    if (!node)
        return error_set_memory(err);
    if (cluster_state_set_node(state, node, NULL) < 0 ||
        cluster_state_reserve(state, "n1", "a", &ask) < 0)
        return error_set_memory(err);
    cluster_state_release(state, "n1", "a", &ask);
    return 0;
}

static void gives_everything_back(void **unused)
{
    (void)unused;
    unit_test_expect_clean_failures(fill, NULL);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_pods_and_promises),
        cmocka_unit_test(keeps_count_of_promised_nodes),
        cmocka_unit_test(knows_pods_by_uid),
        cmocka_unit_test(a_list_names_what_is_there),
        cmocka_unit_test(a_list_is_right_also_where_it_is_older),
        cmocka_unit_test(nodes_stand_by_name),
        cmocka_unit_test(a_table_finds_what_was_not_removed),
        cmocka_unit_test(gives_everything_back),
    };
    return unit_test_main("k8s_extender/cluster_state", tests, COUNT_OF(tests));
}
