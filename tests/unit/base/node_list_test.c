/* SPDX-License-Identifier: MIT */
#include "base/node_list.h"
#include "tests/support/unit_test.h"

#include <stdlib.h>
#include <string.h>

static void adds_names_in_order(void **state)
{
    (void)state;
    CLEANUP(node_list) struct node_list *list = node_list_create(NULL);
    assert_non_null(list);
    assert_int_equal(node_list_count(list), 0);
    static const char *const names[] = {"n2", "n1", "n2", "gpu-a.example.org", "10.0.0.1"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        assert_int_equal(node_list_add(list, names[i], NULL), 0);
    assert_int_equal(node_list_count(list), COUNT_OF(names));
    for (size_t i = 0; i < COUNT_OF(names); i++)
        assert_string_equal(node_list_name(list, i), names[i]);
    node_list_free(NULL);
}

static void refuses_what_is_no_name(void **state)
{
    (void)state;
    char long_name[301];
    memset(long_name, 'x', 300);
    long_name[300] = '\0';
    char long_error[400];
    snprintf(long_error, sizeof(long_error),
             "the node name '%.60s…' has 300 characters; at most 255 are possible", long_name);
    const struct {
        const char *name, *error;
    } rows[] = {
        {"", "a node name is empty"},
        {"a b", "'a b' has a character that no node name has"},
        {"a,b", "'a,b' has a character that no node name has"},
        {"n[1]", "'n[1]' has a character that no node name has"},
        {"a\n", "'a?' has a character that no node name has"},
        {"\xc3\xa9", "'\xc3\xa9' has a character that no node name has"},
        {long_name, long_error},
    };
    CLEANUP(node_list) struct node_list *list = node_list_create(NULL);
    assert_non_null(list);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {0};
        assert_int_equal(node_list_add(list, rows[i].name, &err), -1);
        assert_string_equal(err.text, rows[i].error);
    }
    long_name[255] = '\0';
    assert_int_equal(node_list_add(list, long_name, NULL), 0);
    assert_int_equal(node_list_count(list), 1);
}

/* What a list decodes to, joined with blanks, and how that is encoded. */
struct list_row {
    const char *text;
    const char *names;
    const char *encoded;
};

static const struct list_row lists[] = {
    {"", "", ""},
    {"n1", "n1", "n1"},
    {"login,n1", "login n1", "login,n1"},
    {"n1,n2,n3", "n1 n2 n3", "n[1-3]"},
    {"n[001-003,020],gpu-a", "n001 n002 n003 n020 gpu-a", "n[001-003,020],gpu-a"},
    {"n[9-11]", "n9 n10 n11", "n[9-11]"},
    {"n[09-11]", "n09 n10 n11", "n[09-11]"},
    {"n[1,01,001]", "n1 n01 n001", "n[1,01,001]"},
    {"n[098-101]", "n098 n099 n100 n101", "n[098-101]"},
    {"n3,n1,n2", "n3 n1 n2", "n[3,1-2]"},
    {"n2,n2,n2", "n2 n2 n2", "n[2,2,2]"},
    {"a,a", "a a", "a,a"},
    {"[1-3]", "1 2 3", "[1-3]"},
    {"rack[1-2]n[0-2]", "rack1n0 rack1n1 rack1n2 rack2n0 rack2n1 rack2n2",
     "rack1n[0-2],rack2n[0-2]"},
    {"r[1-2]-ib", "r1-ib r2-ib", "r[1-2]-ib"},
    {"r[1-2]a,r[1-2]b", "r1a r2a r1b r2b", "r[1-2]a,r[1-2]b"},
    {"x[1][2]y[3]", "x12y3", "x12y3"},
    {"n1a,n2b", "n1a n2b", "n1a,n2b"},
    {"n1,n10", "n1 n10", "n[1,10]"},
    {"n10,n1", "n10 n1", "n[10,1]"},
    {"n,n1", "n n1", "n,n1"},
    {"n1,n", "n1 n", "n1,n"},
    {"n123456789012345678901,n123456789012345678902",
     "n123456789012345678901 n123456789012345678902",
     "n123456789012345678901,n123456789012345678902"},
    {"n[999999999999999998-999999999999999999]", "n999999999999999998 n999999999999999999",
     "n[999999999999999998-999999999999999999]"},
};

static void decodes_and_encodes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        struct error_info err = {0};
        CLEANUP(node_list) struct node_list *list = node_list_decode(lists[i].text, &err);
        if (!list)
            fail_msg("%s: %s", lists[i].text, err.text);
        CLEANUP_DONE(text_buffer) struct text_buffer text;
        text_buffer_init(&text, 1000);
        for (size_t n = 0; n < node_list_count(list); n++)
            text_buffer_add(&text, "%s%s", n > 0 ? " " : "", node_list_name(list, n));
        assert_string_equal(text_buffer_text(&text), lists[i].names);
        CLEANUP_DONE(text_buffer) struct text_buffer encoded;
        text_buffer_init(&encoded, 1000);
        node_list_encode(list, &encoded);
        assert_string_equal(text_buffer_text(&encoded), lists[i].encoded);
    }
}

static void refuses_malformed_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"n[", "node list 'n[': a '[' has no ']'"},
        {"n[1", "node list 'n[1': a '[' has no ']'"},
        {"n[1,", "node list 'n[1,': a '[' has no ']'"},
        {"n]", "node list 'n]': a ']' has no '['"},
        {"n[1-2]]", "node list 'n[1-2]]': a ']' has no '['"},
        {"n[1[2]]", "node list 'n[1[2]]': '[2]]' where ',' or ']' was expected"},
        {"n[]", "node list 'n[]': ']' does not start with a number of at most 18 digits"},
        {"n[a]", "node list 'n[a]': 'a]' does not start with a number of at most 18 digits"},
        {"n[1-]", "node list 'n[1-]': ']' does not start with a number of at most 18 digits"},
        {"n[1,]", "node list 'n[1,]': ']' does not start with a number of at most 18 digits"},
        {"n[3-1]", "node list 'n[3-1]': the range 3-1 runs backwards"},
        {"n[9-010]", "node list 'n[9-010]': the numbers of the range 9-010 differ in width"},
        {"n[010-11]", "node list 'n[010-11]': the numbers of the range 010-11 differ in width"},
        {"n[1 2]", "node list 'n[1 2]': ' 2]' where ',' or ']' was expected"},
        {",,", "node list ',,': a node name is empty"},
        {"a,", "node list 'a,': a node name is empty"},
        {",a", "node list ',a': a node name is empty"},
        {"a, b", "node list 'a, b': ' b' has a character that no node name has"},
        {"n[0-99999999999]", "node list 'n[0-99999999999]': the brackets hold more than the "
                             "1048576 nodes that are possible"},
        {"n[0-999999999999999999999]",
         "node list 'n[0-999999999999999999999]': '999999999999999999999]' does not start with a "
         "number of at most 18 digits"},
        {"n[0-1023][0-1024]", "node list 'n[0-1023][0-1024]': the brackets make more than the "
                              "1048576 nodes that are possible"},
        {"[1][1][1][1][1][1][1][1][1]",
         "node list '[1][1][1][1][1][1][1][1][1]': more than 8 brackets in one name"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {0};
        CLEANUP(node_list) struct node_list *list = node_list_decode(rows[i].text, &err);
        if (list)
            fail_msg("%s", rows[i].text);
        assert_int_equal(err.kind, ERROR_INPUT);
        assert_string_equal(err.text, rows[i].error);
        assert_null(node_list_decode(rows[i].text, NULL));
    }
}

/* Ten megabytes of one piece, over and over: refused in one line and in no time. */
static void refuses_very_long_texts(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static const struct {
        const char *piece, *error;
    } rows[] = {
        {"a,", ": more than 1048576 nodes"},
        {"x", ": a node name has more than 255 characters"},
        {"[1]", ": more than 8 brackets in one name"},
        {"[", "where ',' or ']' was expected"}, /* of a '1' put before them */
        {"n[0-9],", ": more than 1048576 nodes"},
        {"1", " 18 digits"},
        {"[0-9][0-9],", ": more than 1048576 nodes"},
    };
    const size_t bytes = (size_t)10 << 20;
    char *text = malloc(bytes + 1);
    assert_non_null(text);
    for (size_t row = 0; row < COUNT_OF(rows); row++) {
        size_t length = strlen(rows[row].piece);
        for (size_t i = 0; i < bytes; i++)
            text[i] = rows[row].piece[i % length];
        text[bytes] = '\0';
        if (row == 3 || row == 5)
            memcpy(text, "n[1", 3);
        struct error_info err = {0};
        assert_null(node_list_decode(text, &err));
        if (!strstr(err.text, rows[row].error))
            fail_msg("%s: %s", rows[row].piece, err.text);
        assert_null(strchr(err.text, '\n'));
    }
    free(text);
}

static void holds_a_million_names(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    CLEANUP(node_list) struct node_list *list = node_list_decode("n[0000000-1048575]", NULL);
    assert_non_null(list);
    assert_int_equal(node_list_count(list), NODE_LIST_MAXIMUM_NODES);
    assert_string_equal(node_list_name(list, 77), "n0000077");
    struct error_info err = {0};
    assert_int_equal(node_list_add(list, "x", &err), -1);
    assert_string_equal(err.text, "more than 1048576 nodes");
    assert_null(node_list_decode("n[0-1048575],x", &err));
    assert_string_equal(err.text, "node list 'n[0-1048575],x': more than 1048576 nodes");
    CLEANUP_DONE(text_buffer) struct text_buffer encoded;
    text_buffer_init(&encoded, 1000);
    node_list_encode(list, &encoded);
    assert_string_equal(text_buffer_text(&encoded), "n[0000000-1048575]");
}

static void orders_names_naturally(void **state)
{
    (void)state;
    static const char *const ascending[] = {"",
                                            "1",
                                            "2",
                                            "10",
                                            "a",
                                            "n",
                                            "n0",
                                            "n1",
                                            "n02",
                                            "n2",
                                            "n2a",
                                            "n2b",
                                            "n10",
                                            "n10a1",
                                            "n10a2",
                                            "n10a10",
                                            "nn",
                                            "z",
                                            "z99999999999999999999",
                                            "z100000000000000000000"};
    for (size_t i = 0; i < COUNT_OF(ascending); i++) {
        for (size_t j = 0; j < COUNT_OF(ascending); j++) {
            int order = node_name_compare(ascending[i], ascending[j]);
            assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
        }
    }
}

static int decode_and_encode(void *context, struct error_info *err)
{
    CLEANUP(node_list) struct node_list *list = node_list_decode(context, err);
    if (!list)
        return -1;
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, 1000);
    node_list_encode(list, &text);
    return text_buffer_failed(&text) ? error_set_memory(err) : 0;
}

static void fails_cleanly(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(decode_and_encode, (void *)"n[1-300],rack[1-2]n[1-4],x");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(adds_names_in_order),     cmocka_unit_test(refuses_what_is_no_name),
    cmocka_unit_test(decodes_and_encodes),     cmocka_unit_test(refuses_malformed_texts),
    cmocka_unit_test(refuses_very_long_texts), cmocka_unit_test(holds_a_million_names),
    cmocka_unit_test(orders_names_naturally),  cmocka_unit_test(fails_cleanly),
};

int main(void) { return unit_test_main("base/node_list", tests, COUNT_OF(tests)); }
