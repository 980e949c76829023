/* SPDX-License-Identifier: MIT */
#include "base/tables/csv_table.h"
#include "tests/support/file_tree.h"
#include "tests/support/unit_test.h"

#include "base/text_buffer.h"
#include <string.h>

static struct csv_table *parse(const char *text, struct error_info *err)
{
    return csv_table_parse(text, strlen(text), "t.csv", err);
}

static void reads_fields_of_every_kind(void **state)
{
    (void)state;
    static const char text[] = "# runs of ours\n"
                               "\n"
                               "id,\"the note\",x\r\n"
                               "a,plain,1\n"
                               "\n"
                               "b,\"commas, \"\"quotes\"\" and\na line\",\r\n"
                               "# between\n"
                               "\"#c\",,\"\"\n"
                               "d,a \"quote\" inside,2";
    static const struct {
        const char *id, *note, *x;
        unsigned line;
    } want[] = {{"a", "plain", "1", 4},
                {"b", "commas, \"quotes\" and\na line", "", 6},
                {"#c", "", "", 9},
                {"d", "a \"quote\" inside", "2", 10}};
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(csv_table) struct csv_table *table = parse(text, &err);
    if (!table)
        fail_msg("%s", err.text);
    assert_int_equal(table->columns, 3);
    assert_int_equal(table->rows, COUNT_OF(want));
    assert_string_equal(table->source, "t.csv");
    assert_string_equal(table->names[1], "the note");
    for (size_t i = 0; i < COUNT_OF(want); i++) {
        assert_string_equal(csv_cell(table, i, "id"), want[i].id);
        assert_string_equal(csv_cell(table, i, "the note"), want[i].note);
        assert_string_equal(csv_cell(table, i, "x"), want[i].x);
        assert_int_equal(table->lines[i], want[i].line);
    }
    csv_table_free(NULL);
}

static void a_header_alone_is_a_table(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    static const char *const texts[] = {"a,b", "a,b\n", "a,b\r\n\r\n", "#\na,b\n# end"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        CLEANUP(csv_table) struct csv_table *table = parse(texts[i], &err);
        if (!table)
            fail_msg("%s", err.text);
        assert_int_equal(table->columns, 2);
        assert_int_equal(table->rows, 0);
    }
}

static void refuses_with_the_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"", "t.csv:1: nothing in it; the first line must name the columns"},
        {"# a\n\n# b\n", "t.csv:4: nothing in it; the first line must name the columns"},
        {"a,b,a\n", "t.csv:1: two columns are called a"},
        {"a,b\n1,2\n1\n", "t.csv:3: fewer fields than the header's 2; put a field that has commas "
                          "in quotes"},
        {"a,b\n\n1,2,3\n", "t.csv:3: more fields than the header's 2; put a field that has commas "
                           "in quotes"},
        {"a,b\n1,2,\n", "t.csv:2: more fields than the header's 2; put a field that has commas in "
                        "quotes"},
        {"a,b\n1,\"2\n3\n4", "t.csv:2: a quoted field does not end; close it with \""},
        {"a\n\"1\n2\" 3\n",
         "t.csv:3: text behind a closing quote; double the quotes inside a field"},
        {"\"a", "t.csv:1: a quoted field does not end; close it with \""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        assert_null(parse(rows[i].text, &err));
        assert_string_equal(err.text, rows[i].error);
        assert_int_equal(err.kind, ERROR_INPUT);
    }
}

static void columns_without_a_name_may_repeat(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(csv_table) struct csv_table *table = parse("a,,\n1,2,3\n", &err);
    if (!table)
        fail_msg("%s", err.text);
    assert_int_equal(table->columns, 3);
    assert_string_equal(table->cells[2], "3");
}

static void refuses_what_is_no_text(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    assert_null(csv_table_parse("a,b\n1,\0", 7, "t.csv", &err));
    assert_string_equal(err.text, "t.csv: holds a NUL byte: no CSV");
    assert_null(csv_table_parse("a", CSV_MAXIMUM_BYTES + 1, "t.csv", &err));
    assert_string_equal(err.text, "t.csv: larger than 32 MiB");
}

/* `count` columns c1… and one row. */
static void write_columns(struct text_buffer *text, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        text_buffer_add(text, "%sc%u", i > 0 ? "," : "", i);
    text_buffer_add_text(text, "\n");
    text_buffer_add_repeated(text, ',', count - 1);
    text_buffer_add_text(text, "\n");
}

static void columns_have_a_maximum(void **state)
{
    (void)state;
    for (unsigned more = 0; more < 2; more++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_DONE(text_buffer) struct text_buffer text;
        text_buffer_init(&text, (size_t)1 << 20);
        write_columns(&text, CSV_MAXIMUM_COLUMNS + more);
        assert_false(text_buffer_failed(&text));
        CLEANUP(csv_table) struct csv_table *table = parse(text_buffer_text(&text), &err);
        assert_true((table != NULL) == (more == 0));
        if (more)
            assert_string_equal(err.text, "t.csv:1: more than 128 columns");
    }
}

static void lines_have_a_maximum(void **state)
{
    (void)state;
    for (unsigned more = 0; more < 2; more++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_DONE(text_buffer) struct text_buffer text;
        text_buffer_init(&text, (size_t)1 << 20);
        text_buffer_add_text(&text, "a\n");
        for (unsigned i = 2; i < CSV_MAXIMUM_ROWS + more; i++)
            text_buffer_add_text(&text, "1\n");
        assert_false(text_buffer_failed(&text));
        CLEANUP(csv_table) struct csv_table *table = parse(text_buffer_text(&text), &err);
        assert_true((table != NULL) == (more == 0));
        if (more)
            assert_string_equal(err.text, "t.csv: more than 65536 lines");
        else
            assert_int_equal(table->rows, CSV_MAXIMUM_ROWS - 2);
    }
}

static void finds_columns_and_cells(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(csv_table) struct csv_table *table = parse("id,tp\nx,8\n", &err);
    if (!table)
        fail_msg("%s", err.text);
    assert_int_equal(csv_column(table, "tp"), 1);
    assert_int_equal(csv_column(table, "TP"), CSV_NO_COLUMN);
    assert_string_equal(csv_cell(table, 0, "pp"), "");
}

static void numbers_say_where_they_stand(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(csv_table) struct csv_table *table = parse("a,b,c,d\n1.5,,x,1e9\n", &err);
    double value = 7;
    if (!table)
        fail_msg("%s", err.text);
    assert_int_equal(csv_real(table, 0, "a", 0, 10, &value, &err), 0);
    assert_true(value == 1.5);
    assert_int_equal(csv_real(table, 0, "b", 0, 10, &value, &err), 0);
    assert_int_equal(csv_real(table, 0, "no such", 0, 10, &value, &err), 0);
    assert_true(value == 1.5);
    assert_int_equal(csv_real(table, 0, "c", 0, 10, &value, &err), -1);
    assert_string_equal(err.text, "t.csv:2: c: 'x' is not a number from 0 to 10");
    assert_int_equal(csv_real(table, 0, "d", 0, 10, &value, &err), -1);
    assert_int_equal(csv_real(table, 0, "d", 0, 10, &value, NULL), -1);
    assert_true(value == 1.5);
}

static void loads_files(void **state)
{
    (void)state;
    char root[FILE_TREE_ROOT_BYTES], path[FILE_TREE_ROOT_BYTES + 16];
    struct error_info err = {.kind = ERROR_NONE};
    file_tree_create(root);
    file_tree_write(root, "a,b\n1,2\n", "t.csv");
    snprintf(path, sizeof(path), "%s/t.csv", root);
    CLEANUP(csv_table) struct csv_table *table = csv_table_load(path, &err);
    if (!table)
        fail_msg("%s", err.text);
    assert_string_equal(csv_cell(table, 0, "b"), "2");
    assert_string_equal(table->source, path);
    snprintf(path, sizeof(path), "%s/none.csv", root);
    assert_null(csv_table_load(path, &err));
    assert_non_null(strstr(err.text, "none.csv"));
}

static int scenario(void *context, struct error_info *err)
{
    CLEANUP(csv_table) struct csv_table *table = parse(context, err);
    return table ? 0 : -1;
}

static void failing_memory_is_clean(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(scenario, (void *)"a,b\n1,\"2\"\n3,4\n");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_fields_of_every_kind),
        cmocka_unit_test(a_header_alone_is_a_table),
        cmocka_unit_test(refuses_with_the_line),
        cmocka_unit_test(columns_without_a_name_may_repeat),
        cmocka_unit_test(refuses_what_is_no_text),
        cmocka_unit_test(columns_have_a_maximum),
        cmocka_unit_test(lines_have_a_maximum),
        cmocka_unit_test(finds_columns_and_cells),
        cmocka_unit_test(numbers_say_where_they_stand),
        cmocka_unit_test(loads_files),
        cmocka_unit_test(failing_memory_is_clean),
    };
    if (!file_tree_begin())
        return 1;
    int status = unit_test_main("base/csv_table", tests, COUNT_OF(tests));
    file_tree_end();
    return status;
}
