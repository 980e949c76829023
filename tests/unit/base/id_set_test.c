/* SPDX-License-Identifier: MIT */
#include "base/id_set.h"
#include "tests/support/unit_test.h"

#include <stdlib.h>
#include <string.h>

static void adds_and_finds(void **state)
{
    (void)state;
    CLEANUP(id_set) struct id_set *set = id_set_create();
    assert_non_null(set);
    assert_int_equal(id_set_count(set), 0);
    assert_int_equal(id_set_next(set, 0), ID_SET_END);
    static const unsigned ids[] = {63, 0, 64, 1000, ID_SET_MAXIMUM_ID, 64};
    for (size_t i = 0; i < COUNT_OF(ids); i++)
        assert_int_equal(id_set_add(set, ids[i], NULL), 0);
    assert_int_equal(id_set_count(set), 5);
    for (size_t i = 0; i < COUNT_OF(ids); i++)
        assert_true(id_set_contains(set, ids[i]));
    assert_false(id_set_contains(set, 1));
    assert_false(id_set_contains(set, 65));
    assert_false(id_set_contains(set, ID_SET_MAXIMUM_ID + 1));
    assert_false(id_set_contains(set, ID_SET_END));
}

static void iterates_in_order(void **state)
{
    (void)state;
    CLEANUP(id_set) struct id_set *set = id_set_decode("700,3,128-130,0,63-64", NULL);
    assert_non_null(set);
    static const unsigned want[] = {0, 3, 63, 64, 128, 129, 130, 700};
    size_t count = 0;
    for (unsigned id = id_set_next(set, 0); id != ID_SET_END; id = id_set_next(set, id + 1)) {
        assert_in_range(count, 0, COUNT_OF(want) - 1);
        assert_int_equal(id, want[count++]);
    }
    assert_int_equal(count, COUNT_OF(want));
    assert_int_equal(id_set_next(set, 701), ID_SET_END);
    assert_int_equal(id_set_next(set, ID_SET_END), ID_SET_END);
}

static void refuses_numbers_too_large(void **state)
{
    (void)state;
    CLEANUP(id_set) struct id_set *set = id_set_create();
    assert_non_null(set);
    struct error_info err = {0};
    assert_int_equal(id_set_add(set, ID_SET_MAXIMUM_ID + 1, &err), -1);
    assert_string_equal(err.text, "65536 is too large; numbers go up to 65535");
    assert_int_equal(id_set_count(set), 0);
    id_set_free(NULL);
}

static void decodes_and_encodes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned count;
        const char *encoded;
    } rows[] = {
        {"", 0, ""},
        {"0", 1, "0"},
        {"0-3,8,10-11", 7, "0-3,8,10-11"},
        {"3,2,1,0", 4, "0-3"},
        {"0-5,3-9,4", 10, "0-9"},
        {"007", 1, "7"},
        {"62-65", 4, "62-65"},
        {"0-65535", 65536, "0-65535"},
        {"5-5", 1, "5"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {0};
        CLEANUP(id_set) struct id_set *set = id_set_decode(rows[i].text, &err);
        if (!set)
            fail_msg("%s: %s", rows[i].text, err.text);
        assert_int_equal(id_set_count(set), rows[i].count);
        CLEANUP_DONE(text_buffer) struct text_buffer text;
        text_buffer_init(&text, 1000);
        id_set_encode(set, &text);
        assert_string_equal(text_buffer_text(&text), rows[i].encoded);
    }
}

static void refuses_malformed_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"3-1", "'3-1': the range 3-1 runs backwards; write 1-3"},
        {"1,", "'1,': '' does not start with a number"},
        {",1", "',1': ',1' does not start with a number"},
        {"1,,2", "'1,,2': ',2' does not start with a number"},
        {"x", "'x': 'x' does not start with a number"},
        {"-1", "'-1': '-1' does not start with a number"},
        {"1-", "'1-': '' does not start with a number"},
        {"1-2-3", "'1-2-3': '-3' where a comma was expected"},
        {"1 2", "'1 2': ' 2' where a comma was expected"},
        {"0x1f", "'0x1f': 'x1f' where a comma was expected"},
        {"65536", "'65536': '65536' is too large; numbers go up to 65535"},
        {"0-99999999999", "'0-99999999999': '99999999999' is too large; numbers go up to 65535"},
        {"99999999999999999999999",
         "'99999999999999999999999': '99999999999999999999' is too large; numbers go up to 65535"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {0};
        assert_null(id_set_decode(rows[i].text, &err));
        assert_int_equal(err.kind, ERROR_INPUT);
        assert_string_equal(err.text, rows[i].error);
        assert_null(id_set_decode(rows[i].text, NULL));
    }
}

static void repeated_ranges_take_no_time(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static const char piece[] = "0-65535,";
    size_t bytes = (sizeof(piece) - 1) * (ID_SET_MAXIMUM_ID + 2);
    char *text = malloc(bytes + 1);
    assert_non_null(text);
    for (size_t i = 0; i < bytes; i++)
        text[i] = piece[i % (sizeof(piece) - 1)];
    text[bytes] = '\0';
    struct error_info err = {0};
    struct id_set *set = id_set_decode(text, &err);
    free(text);
    assert_null(set);
    assert_non_null(strstr(err.text, ": more than 65536 numbers and ranges"));
}

static int decode(void *context, struct error_info *err)
{
    CLEANUP(id_set) struct id_set *set = id_set_decode(context, err);
    return set ? 0 : -1;
}

static void fails_cleanly(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(decode, (void *)"0-3,1000,4000,65535");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(adds_and_finds),
    cmocka_unit_test(iterates_in_order),
    cmocka_unit_test(refuses_numbers_too_large),
    cmocka_unit_test(decodes_and_encodes),
    cmocka_unit_test(refuses_malformed_texts),
    cmocka_unit_test(repeated_ranges_take_no_time),
    cmocka_unit_test(fails_cleanly),
};

int main(void) { return unit_test_main("base/id_set", tests, COUNT_OF(tests)); }
