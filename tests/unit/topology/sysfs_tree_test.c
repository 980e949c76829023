/* SPDX-License-Identifier: MIT */
#include "tests/support/file_tree.h"
#include "tests/support/unit_test.h"
#include "topology/node_readers/sysfs/sysfs_tree.h"

#include <stdio.h>
#include <string.h>

static struct sysfs_tree *open_tree(const char *root)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct sysfs_tree *tree = sysfs_tree_open(root, &err);
    if (!tree)
        fail_msg("%s", err.text);
    return tree;
}

/* The message behind the root's name, which differs in each run. */
static const char *behind(const char *root, const struct error_info *err)
{
    size_t length = strlen(root);
    if (strncmp(err->text, root, length) != 0)
        fail_msg("'%s' does not begin with the root", err->text);
    return err->text + length;
}

static void make_links(const char *root)
{
    file_tree_write(root, "inside\n", "a/b/value");
    file_tree_write(root, "top\n", "value");
    file_tree_link(root, "a/b", "near");
    file_tree_link(root, "/a/b", "absolute");
    file_tree_link(root, "../../../../../value", "a/b/up");
    file_tree_link(root, "../b/./value", "a/b/same");
    file_tree_link(root, "/etc/passwd", "outside");
    file_tree_link(root, "../../../../../../../../../../etc/passwd", "climb");
    file_tree_link(root, "loop2", "loop1");
    file_tree_link(root, "loop1", "loop2");
    file_tree_link(root, "self/self", "self");
    file_tree_link(root, "nowhere", "dangling");
    for (unsigned i = 0; i < SYSFS_MAXIMUM_LINKS + 1; i++) {
        char target[32];
        snprintf(target, sizeof(target), i > 0 ? "chain%u" : "value", i - 1);
        file_tree_link(root, target, "chain%u", i);
    }
}

static void links_stay_inside_the_root(void **state)
{
    (void)state;
    static const struct {
        const char *folder, *name;
        const char *text; /* or the error */
        bool fails;
    } rows[] = {
        {"a/b", "value", "inside", false},
        {"near", "value", "inside", false},
        {"absolute", "value", "inside", false},
        {"/absolute//", "./value", "inside", false},
        {"near", "../../value", "top", false},
        {"", "near/../b/../../value", "top", false},
        {"", "../../../value", "top", false},
        {"a/b", "up", "top", false},
        {"a/b", "same", "inside", false},
        {"", "chain39", "top", false},
        {"", "chain40", "/chain40: Too many levels of symbolic links", true},
        {"", "outside", "/outside: No such file or directory", true},
        {"", "climb", "/climb: No such file or directory", true},
        {"", "loop1", "/loop1: Too many levels of symbolic links", true},
        {"", "self", "/self: Too many levels of symbolic links", true},
        {"", "dangling", "/dangling: No such file or directory", true},
        {"a", "b", "/a/b: not a regular file", true},
        {"a/b/value", "below", "/a/b/value/below: Not a directory", true},
        {"a", "missing", "/a/missing: No such file or directory", true},
    };
    char root[FILE_TREE_ROOT_BYTES];
    file_tree_create(root);
    make_links(root);
    CLEANUP(sysfs_tree) struct sysfs_tree *tree = open_tree(root);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[64] = "untouched";
        struct error_info err = {.kind = ERROR_NONE};
        int result = sysfs_tree_read(tree, rows[i].folder, rows[i].name, text, sizeof(text), &err);
        if ((result < 0) != rows[i].fails)
            fail_msg("%s/%s: %s", rows[i].folder, rows[i].name, result < 0 ? err.text : text);
        assert_string_equal(rows[i].fails ? behind(root, &err) : text, rows[i].text);
        assert_int_equal(err.kind, rows[i].fails ? ERROR_INPUT : ERROR_NONE);
    }
}

static void tells_where_links_end(void **state)
{
    (void)state;
    char root[FILE_TREE_ROOT_BYTES], path[SYSFS_PATH_BYTES];
    file_tree_create(root);
    make_links(root);
    CLEANUP(sysfs_tree) struct sysfs_tree *tree = open_tree(root);
    assert_int_equal(sysfs_tree_real_path(tree, "absolute", "up", path, NULL), 0);
    assert_string_equal(path, "value");
    assert_int_equal(sysfs_tree_real_path(tree, "near", "", path, NULL), 0);
    assert_string_equal(path, "a/b");
    assert_int_equal(sysfs_tree_real_path(tree, "", "", path, NULL), 0);
    assert_string_equal(path, "");
    assert_int_equal(sysfs_tree_real_path(tree, "", "loop1", path, NULL), -1);
    assert_true(sysfs_tree_has(tree, "", "dangling"));
    assert_true(sysfs_tree_has(tree, "near", "value"));
    assert_true(sysfs_tree_has(tree, "near", ".."));
    assert_false(sysfs_tree_has(tree, "", "absent"));
    assert_false(sysfs_tree_has(tree, "loop1", "x"));
    assert_true(sysfs_tree_has_folder(tree, "", "near"));
    assert_false(sysfs_tree_has_folder(tree, "", "value"));
    assert_false(sysfs_tree_has_folder(tree, "", "dangling"));
    assert_false(sysfs_tree_is_live(tree));
}

/* Neither a FIFO nor a device nor a huge file holds anybody up. */
static void refuses_what_is_no_small_text(void **state)
{
    (void)state;
    static const struct {
        const char *name, *error;
    } rows[] = {
        {"fifo", "/fifo: not a regular file"},
        {"pipe", "/pipe: not a regular file"},
        {"huge", "/huge: larger than the 15 bytes that are read"},
        {"exact", "/exact: larger than the 15 bytes that are read"},
        {"binary", "/binary: has a NUL byte; text is expected"},
    };
    char root[FILE_TREE_ROOT_BYTES], text[16];
    static char huge[1 << 20];
    size_t count = 0;
    memset(huge, 'x', sizeof(huge));
    file_tree_create(root);
    file_tree_fifo(root, "fifo");
    file_tree_link(root, "fifo", "pipe");
    file_tree_write_bytes(root, huge, sizeof(huge), "huge");
    file_tree_write_bytes(root, huge, 16, "exact");
    file_tree_write_bytes(root, huge, 15, "fits");
    file_tree_write_bytes(root, "a\0b", 3, "binary");
    file_tree_write(root, " \t\n\n", "blank");
    CLEANUP(sysfs_tree) struct sysfs_tree *tree = open_tree(root);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        assert_int_equal(sysfs_tree_read(tree, "", rows[i].name, text, sizeof(text), &err), -1);
        assert_string_equal(behind(root, &err), rows[i].error);
    }
    assert_int_equal(sysfs_tree_read(tree, "", "fits", text, sizeof(text), NULL), 0);
    assert_int_equal(strlen(text), 15);
    assert_int_equal(sysfs_tree_read(tree, "", "blank", text, sizeof(text), NULL), 0);
    assert_string_equal(text, "");
    assert_int_equal(sysfs_tree_read_bytes(tree, "", "huge", text, 16, &count, NULL), 0);
    assert_int_equal(count, 16);
    assert_int_equal(sysfs_tree_read_bytes(tree, "", "binary", text, 16, &count, NULL), 0);
    assert_int_equal(count, 3);
}

static void reads_numbers(void **state)
{
    (void)state;
    char root[FILE_TREE_ROOT_BYTES];
    uint64_t number = 77;
    int64_t integer = 77;
    file_tree_create(root);
    file_tree_write(root, "16\n", "width");
    file_tree_write(root, "-1\n", "numa_node");
    file_tree_write(root, "0x15b3\n", "vendor");
    file_tree_write(root, "16 lanes\n", "words");
    CLEANUP(sysfs_tree) struct sysfs_tree *tree = open_tree(root);
    assert_int_equal(sysfs_tree_read_unsigned(tree, "", "width", 32, &number, NULL), 0);
    assert_int_equal(number, 16);
    assert_int_equal(sysfs_tree_read_signed(tree, "", "numa_node", -1, 9, &integer, NULL), 0);
    assert_int_equal(integer, -1);
    assert_int_equal(sysfs_tree_read_hexadecimal(tree, "", "vendor", UINT16_MAX, &number, NULL), 0);
    assert_int_equal(number, 0x15b3);
    static const char *const names[] = {"words", "absent"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        assert_int_equal(sysfs_tree_read_unsigned(tree, "", names[i], 32, &number, &err), -1);
        assert_non_null(strstr(err.text, names[i]));
        assert_int_equal(sysfs_tree_read_signed(tree, "", names[i], -1, 32, &integer, &err), -1);
        assert_int_equal(sysfs_tree_read_hexadecimal(tree, "", names[i], 32, &number, &err), -1);
    }
    struct error_info err = {.kind = ERROR_NONE};
    assert_int_equal(sysfs_tree_read_unsigned(tree, "", "width", 8, &number, &err), -1);
    assert_string_equal(behind(root, &err), "/width: '16' is not a whole number from 0 to 8");
    assert_int_equal(number, 0x15b3);
}

static void lists_in_natural_order(void **state)
{
    (void)state;
    static const char *const want[] = {"mlx5_1", "mlx5_2", "mlx5_10", "mlx5_bond_0"};
    char root[FILE_TREE_ROOT_BYTES];
    struct sysfs_entries entries = {0};
    file_tree_create(root);
    file_tree_write(root, "", "class/mlx5_10");
    file_tree_folder(root, "class/mlx5_2");
    file_tree_link(root, "nowhere", "class/mlx5_1");
    file_tree_write(root, "", "class/mlx5_bond_0");
    file_tree_write(root, "", "class/other");
    file_tree_write(root, "", "class/.hidden");
    file_tree_link(root, "class", "link");
    CLEANUP(sysfs_tree) struct sysfs_tree *tree = open_tree(root);
    CLEANUP(arena) struct arena *arena = arena_create(1 << 20);
    assert_non_null(arena);
    assert_int_equal(sysfs_tree_list(tree, "", "link", "mlx5", arena, &entries, NULL), 0);
    assert_int_equal(entries.count, COUNT_OF(want));
    for (size_t i = 0; i < entries.count; i++)
        assert_string_equal(entries.names[i], want[i]);
    assert_int_equal(sysfs_tree_list(tree, "link", "", "", arena, &entries, NULL), 0);
    assert_int_equal(entries.count, 6);
    assert_int_equal(sysfs_tree_list(tree, "class", "mlx5_2", "", arena, &entries, NULL), 0);
    assert_int_equal(entries.count, 0);
    struct error_info err = {.kind = ERROR_NONE};
    assert_int_equal(sysfs_tree_list(tree, "class", "other", "", arena, &entries, &err), -1);
    assert_string_equal(behind(root, &err), "/class/other: Not a directory");
    assert_int_equal(sysfs_tree_list(tree, "class", "absent", "", arena, &entries, &err), -1);
    assert_string_equal(behind(root, &err), "/class/absent: No such file or directory");
}

static void lists_large_folders(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    char root[FILE_TREE_ROOT_BYTES];
    struct sysfs_entries entries = {0};
    file_tree_create(root);
    for (unsigned i = 0; i < 10000; i++)
        file_tree_write(root, "", "class/n%u", i);
    CLEANUP(sysfs_tree) struct sysfs_tree *tree = open_tree(root);
    CLEANUP(arena) struct arena *arena = arena_create((size_t)16 << 20);
    assert_int_equal(sysfs_tree_list(tree, "", "class", "", arena, &entries, NULL), 0);
    assert_int_equal(entries.count, 10000);
    assert_string_equal(entries.names[9999], "n9999");
    /* The whole work on one tree is bounded. */
    struct error_info err = {.kind = ERROR_NONE};
    unsigned lists = 0;
    while (sysfs_tree_list(tree, "", "class", "none", arena, &entries, &err) == 0)
        assert_true(++lists < SYSFS_MAXIMUM_STEPS / 10000);
    assert_int_equal(err.kind, ERROR_SYSTEM);
    assert_non_null(strstr(err.text, "gave up"));
    assert_false(sysfs_tree_has(tree, "", "class"));
}

static void opens_roots(void **state)
{
    (void)state;
    char root[FILE_TREE_ROOT_BYTES], path[FILE_TREE_ROOT_BYTES + 16], text[SYSFS_VALUE_BYTES];
    struct error_info err = {.kind = ERROR_NONE};
    file_tree_create(root);
    file_tree_write(root, "x", "file");
    snprintf(path, sizeof(path), "%s/file", root);
    assert_null(sysfs_tree_open(path, &err));
    assert_string_equal(behind(path, &err), ": Not a directory");
    snprintf(path, sizeof(path), "%s/absent", root);
    assert_null(sysfs_tree_open(path, &err));
    assert_string_equal(behind(path, &err), ": No such file or directory");
    static char longest[SYSFS_PATH_BYTES + 1];
    memset(longest, 'x', sizeof(longest) - 1);
    assert_null(sysfs_tree_open(longest, &err));
    static const char *const live[] = {"", "/", "//"};
    for (size_t i = 0; i < COUNT_OF(live); i++) {
        CLEANUP(sysfs_tree) struct sysfs_tree *tree = open_tree(live[i]);
        assert_true(sysfs_tree_is_live(tree));
        assert_int_equal(sysfs_tree_read(tree, "proc/self", "oom_adj", text, sizeof(text), &err),
                         0);
        assert_int_equal(sysfs_tree_read(tree, "dev", "zero", text, sizeof(text), &err), -1);
        assert_string_equal(err.text, "/dev/zero: not a regular file");
    }
    sysfs_tree_free(NULL);
}

static void refuses_endless_paths(void **state)
{
    (void)state;
    char root[FILE_TREE_ROOT_BYTES], text[16];
    static char path[SYSFS_PATH_BYTES + 16];
    file_tree_create(root);
    file_tree_write(root, "x", "a/value");
    /* Doubles with each link. */
    file_tree_link(root, "x/x", "x");
    file_tree_link(root, "./././././././././../a/./././././././././././././././.././y", "y");
    CLEANUP(sysfs_tree) struct sysfs_tree *tree = open_tree(root);
    struct error_info err = {.kind = ERROR_NONE};
    assert_int_equal(sysfs_tree_read(tree, "", "x", text, sizeof(text), &err), -1);
    assert_int_equal(sysfs_tree_read(tree, "", "y", text, sizeof(text), &err), -1);
    assert_string_equal(behind(root, &err), "/y: Too many levels of symbolic links");
    for (size_t i = 0; i + 3 < SYSFS_PATH_BYTES; i += 2)
        memcpy(path + i, "./", 3);
    assert_int_equal(sysfs_tree_read(tree, "", path, text, sizeof(text), &err), -1);
    memset(path, 'n', 300);
    path[300] = '\0';
    assert_int_equal(sysfs_tree_read(tree, "a", path, text, sizeof(text), &err), -1);
    assert_false(sysfs_tree_has(tree, "a", path));
    memset(path, 'n', sizeof(path) - 1);
    assert_int_equal(sysfs_tree_read(tree, "a", path, text, sizeof(text), &err), -1);
}

static int use_tree(void *context, struct error_info *err)
{
    struct sysfs_entries entries = {0};
    CLEANUP(sysfs_tree) struct sysfs_tree *tree = sysfs_tree_open(context, err);
    CLEANUP(arena) struct arena *arena = arena_create(1 << 20);
    if (!tree)
        return -1;
    if (!arena)
        return error_set_memory(err);
    return sysfs_tree_list(tree, "", "", "", arena, &entries, err);
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    char root[FILE_TREE_ROOT_BYTES];
    file_tree_create(root);
    for (unsigned i = 0; i < 70; i++)
        file_tree_write(root, "", "n%u", i);
    unit_test_expect_clean_failures(use_tree, root);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(links_stay_inside_the_root),
    cmocka_unit_test(tells_where_links_end),
    cmocka_unit_test(refuses_what_is_no_small_text),
    cmocka_unit_test(reads_numbers),
    cmocka_unit_test(lists_in_natural_order),
    cmocka_unit_test(lists_large_folders),
    cmocka_unit_test(opens_roots),
    cmocka_unit_test(refuses_endless_paths),
    cmocka_unit_test(survives_lack_of_memory),
};

int main(void)
{
    if (!file_tree_begin())
        return 1;
    int result = unit_test_main("topology/sysfs_tree", tests, COUNT_OF(tests));
    file_tree_end();
    return result;
}
