/* SPDX-License-Identifier: MIT */
/* Machines that the mock NVML plays, from their drivers to the cluster that the extender sees. */
#include "k8s_extender/agent/machine.h"
#include "tests/unit/k8s_extender/view_fixture.h"
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#define PROFILES "tests/support/mock_nvml/profiles/"
#define NO_SYSFS "tests/support/mock_nvml" /* a folder without sys/ */

/* The mock stands in the same build folder as this program. */
static const char *mock_library(void)
{
    static char path[PATH_MAX + 64];
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
    assert_true(length > 0 && length < PATH_MAX);
    path[length] = '\0';
    for (int up = 0; up < 3; up++)
        *strrchr(path, '/') = '\0';
    size_t used = strlen(path);
    snprintf(path + used, sizeof(path) - used, "/mock_nvml/libnvidia-ml.so.1");
    return path;
}

static char *look_at(const char *profile, struct text_buffer *words)
{
    char path[PATH_MAX];
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = open_gpus();
    snprintf(path, sizeof(path), PROFILES "%s", profile);
    setenv("PARPLAN_MOCK_NVML", path, 1);
    text_buffer_init(words, MACHINE_WORDS_BYTES);
    char *text = machine_look(mock_library(), NO_SYSFS, gpus, words, &err);
    expect_made(text, &err);
    return text;
}

static void the_view_has_the_machine(void **state)
{
    (void)state;
    static const struct {
        const char *profile, *words, *kind;
        unsigned gpus, domains;
    } cases[] = {
        {"h100", "8x-h100-sxm", "8x-h100-sxm", 8, 1},
        {"a100", "8x-a100-sxm-80", "8x-a100-sxm-80", 8, 1},
        {"a6000-pairs", "8x-a6000", "8x-a6000", 8, 5},
        {"b200-lost-link", "8x-b200-degraded", "8x-b200-degraded", 8, 2},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP_DONE(text_buffer) struct text_buffer words;
        CLEANUP_MEMORY char *text = look_at(cases[i].profile, &words);
        assert_string_equal(text_buffer_text(&words), cases[i].words);
        struct node_record *node = make_node("n1", cases[i].gpus, NULL, text);
        CLEANUP(cluster_view) struct cluster_view *view = make_view(&node, 1);
        node_record_free(node);
        assert_int_equal(view->warning_count, 0);
        const struct node_topology *kind = view->cluster->kinds[0];
        assert_string_equal(view->cluster->kind_names[0], cases[i].kind);
        assert_int_equal(kind->gpu_count, cases[i].gpus);
        assert_int_equal(kind->domain_count, cases[i].domains);
        assert_int_equal(kind->nvlink, NVLINK_KNOWN);
    }
}

/* Trays of one rack, which has no label, are one NVLink domain. */
static void trays_of_a_rack_share_nvlink(void **state)
{
    (void)state;
    CLEANUP_DONE(text_buffer) struct text_buffer words;
    CLEANUP_MEMORY char *text = look_at("gb200", &words);
    assert_string_equal(text_buffer_text(&words),
                        "4x-gb200 in NVLink clique 1b7c2f3e-8d4a-4f0c-9e61-55aa01020304.32766");
    CLEANUP_MEMORY char *other = memory_copy_text(text);
    assert_non_null(other);
    char *clique = strstr(other, "1b7c2f3e");
    assert_non_null(clique);
    clique[0] = '2'; /* another rack */
    struct node_record *nodes[] = {make_node("n1", 4, NULL, text), make_node("n2", 4, NULL, text),
                                   make_node("n3", 4, NULL, other)};
    CLEANUP(cluster_view) struct cluster_view *view = make_view(nodes, 3);
    free_nodes(nodes, 3);
    assert_int_equal(view->cluster->kind_count, 1);
    assert_int_equal(cluster_distance(view->cluster, 0, 1), DISTANCE_SAME_NVLINK_DOMAIN);
    assert_int_not_equal(cluster_distance(view->cluster, 1, 2), DISTANCE_SAME_NVLINK_DOMAIN);
}

/* The same machine twice is the same text: else every look would be a change. */
static void the_text_stays(void **state)
{
    (void)state;
    CLEANUP_DONE(text_buffer) struct text_buffer first_words;
    CLEANUP_DONE(text_buffer) struct text_buffer second_words;
    CLEANUP_MEMORY char *first = look_at("h100", &first_words);
    CLEANUP_MEMORY char *second = look_at("h100", &second_words);
    assert_string_equal(first, second);
    assert_null(strstr(first, "GPU-"));
    assert_null(strstr(first, "0000:"));
}

static void a_machine_without_a_library_is_refused(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = open_gpus();
    CLEANUP_DONE(text_buffer) struct text_buffer words;
    text_buffer_init(&words, MACHINE_WORDS_BYTES);
    assert_null(machine_look("/nowhere/libnvidia-ml.so.1", NO_SYSFS, gpus, &words, &err));
    expect_message(&err, "--nvml: ");
    assert_null(machine_look(NULL, NO_SYSFS "/none", gpus, &words, &err));
    expect_message(&err, "--sysfs: tests/support/mock_nvml/none is no directory");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_view_has_the_machine),
    cmocka_unit_test(trays_of_a_rack_share_nvlink),
    cmocka_unit_test(the_text_stays),
    cmocka_unit_test(a_machine_without_a_library_is_refused),
};

int main(void) { return unit_test_main("k8s_extender/machine", tests, COUNT_OF(tests)); }
