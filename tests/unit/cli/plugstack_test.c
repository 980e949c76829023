/* SPDX-License-Identifier: MIT */
#include "base/text_buffer.h"
#include "cli/doctor/plugstack.h"
#include "tests/support/file_tree.h"
#include "tests/support/unit_test.h"

#include <limits.h>
#include <string.h>

static struct plugstack *load(const char *root, const char *name, struct error_info *err)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s", root, name);
    return plugstack_load(path, err);
}

static void reads_in_slurms_order(void **state)
{
    (void)state;
    char root[FILE_TREE_ROOT_BYTES], value[64], where[PATH_MAX];
    struct error_info err = {.kind = ERROR_NONE};
    file_tree_create(root);
    file_tree_write(
        root,
        "# first\n\n  optional a.so x=1\ninclude plugstack.conf.d/*.conf\n"
        "include missing/*.conf\nrequired /lib/spank_parplan.so config=/c  owner=5 # ours\n",
        "plugstack.conf");
    file_tree_write(root, "required z.so\n", "plugstack.conf.d/20.conf");
    file_tree_write(root, "required\ty.so", "plugstack.conf.d/10.conf");
    file_tree_write(root, "required no.so\n", "plugstack.conf.d/10.conf.off");
    CLEANUP(plugstack) struct plugstack *stack = load(root, "plugstack.conf", &err);
    if (!stack) {
        assert_int_equal(err.kind, ERROR_MEMORY);
        return;
    }
    static const char *const paths[] = {"a.so", "y.so", "z.so", "/lib/spank_parplan.so"};
    assert_int_equal(stack->count, COUNT_OF(paths));
    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        assert_string_equal(stack->entries[i].path, paths[i]);
        assert_int_equal(stack->entries[i].required, i > 0);
    }
    const struct plugstack_entry *ours = &stack->entries[3];
    snprintf(where, sizeof(where), "%s/plugstack.conf:6", root);
    assert_string_equal(ours->where, where);
    assert_string_equal(ours->arguments, "config=/c  owner=5");
    assert_int_equal(plugstack_find(stack, "spank_parplan.so", 0), 3);
    assert_int_equal(plugstack_find(stack, "spank_parplan.so", 4), 4);
    assert_int_equal(plugstack_find(stack, "parplan.so", 0), 4);
    assert_true(plugstack_argument(ours, "owner", value, sizeof(value)));
    assert_string_equal(value, "5");
    assert_true(plugstack_argument(ours, "config", value, sizeof(value)));
    assert_string_equal(value, "/c");
    assert_false(plugstack_argument(ours, "cache", value, sizeof(value)));
    assert_false(plugstack_argument(ours, "conf", value, sizeof(value)));
    assert_false(plugstack_argument(ours, "config", value, 2));
    assert_string_equal(value, "");
}

static void says_what_slurm_would_not_take(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want; /* behind the path */
    } rows[] = {
        {"need x.so\n", ":1: 'need' is neither required, optional nor include; mend the "
                        "line"},
        {"\nrequired\n", ":2: nothing stands behind 'required'; name a file"},
        {"\nrequired a.so x=1\r\n", ":2: Slurm takes the carriage return of a Windows line as part "
                                    "of the last word; run sed -i 's/\\r$//' on the file"},
        {"\xef\xbb\xbfrequired a.so\n",
         ":1: a byte order mark stands before the first word, and Slurm takes it as part of that; "
         "save the file without it"},
        {"include plugstack.conf\n",
         ": includes more than 8 deep or 256 files; does it include itself?"},
    };
    char root[FILE_TREE_ROOT_BYTES], want[PATH_MAX];
    file_tree_create(root);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        file_tree_write(root, rows[i].text, "plugstack.conf");
        CLEANUP(plugstack) struct plugstack *stack = load(root, "plugstack.conf", &err);
        assert_null(stack);
        snprintf(want, sizeof(want), "%s/plugstack.conf%s", root, rows[i].want);
        if (err.kind != ERROR_MEMORY)
            assert_string_equal(err.text, want);
    }
    struct error_info err = {.kind = ERROR_NONE};
    assert_null(load(root, "other.conf", &err));
    assert_int_equal(err.kind, ERROR_INPUT);
}

static void has_limits(void **state)
{
    (void)state;
    char root[FILE_TREE_ROOT_BYTES];
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, PLUGSTACK_MAXIMUM_BYTES);
    for (unsigned i = 0; i <= PLUGSTACK_MAXIMUM_ENTRIES; i++)
        text_buffer_add_text(&text, "required x.so\n");
    file_tree_create(root);
    file_tree_write(root, text_buffer_text(&text), "plugstack.conf");
    CLEANUP(plugstack) struct plugstack *stack = load(root, "plugstack.conf", &err);
    if (text_buffer_failed(&text))
        return;
    assert_null(stack);
    if (err.kind != ERROR_MEMORY)
        assert_non_null(strstr(err.text, "plugstack.conf:257: more than 256 plugins; remove some"));
    char word[PLUGSTACK_WORD_BYTES + 16], path[PLUGSTACK_WORD_BYTES], rest[PLUGSTACK_WORD_BYTES];
    enum plugstack_word kind;
    memset(word, 'x', sizeof(word));
    assert_int_equal(plugstack_line_parse(word, sizeof(word), &kind, path, rest, &err), -1);
    memcpy(word, "required ", strlen("required "));
    assert_int_equal(plugstack_line_parse(word, sizeof(word), &kind, path, rest, &err), -1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_in_slurms_order),
        cmocka_unit_test(says_what_slurm_would_not_take),
        cmocka_unit_test(has_limits),
    };
    if (!file_tree_begin())
        return 1;
    int status = unit_test_main("cli/plugstack", tests, COUNT_OF(tests));
    file_tree_end();
    return status;
}
