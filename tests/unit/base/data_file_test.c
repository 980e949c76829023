/* SPDX-License-Identifier: MIT */
#include "base/data_file.h"
#include "tests/support/unit_test.h"

#include <string.h>

static void finds_what_was_compiled_in(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    size_t bytes = 0;
    CLEANUP_MEMORY char *text = data_file_read("gpus.yaml", &bytes, &err);
    assert_true(text && err.kind == ERROR_NONE);
    assert_true(bytes > 0);
    assert_int_equal(strlen(text), bytes); /* the NUL behind it */
    assert_int_equal(text[bytes - 1], '\n');
    assert_non_null(strstr(text, "schema: parplan.gpus/1\n"));
}

static void knows_nothing_else(void **state)
{
    (void)state;
    static const char *const names[] = {"absent.yaml", ""};
    size_t bytes = 7;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        assert_null(data_file_read(names[i], &bytes, &err));
        assert_non_null(strstr(err.text, "was not compiled in"));
    }
    assert_int_equal(bytes, 7);
}

/* "one text", as gzip -9n packs it, and two bytes behind it */
static const unsigned char packed[] = {
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xcb, 0xcf, 0x4b, 0x55, 0x28,
    0x49, 0xad, 0x28, 0x01, 0x00, 0xf0, 0x93, 0x57, 0x34, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00,
};

static void unpacks_what_fits_exactly(void **state)
{
    (void)state;
    char text[9] = "-";
    assert_int_equal(data_file_unpack(packed, sizeof(packed), text, 8), 0);
    assert_memory_equal(text, "one text", 8);
    assert_int_equal(data_file_unpack(packed, sizeof(packed), text, 7), -1);
    assert_int_equal(data_file_unpack(packed, sizeof(packed), text, 9), -1);
}

static void refuses_what_is_no_gzip(void **state)
{
    (void)state;
    unsigned char damaged[sizeof(packed)];
    char text[8];
    for (size_t bytes = 0; bytes + 2 < sizeof(packed); bytes++)
        assert_int_equal(data_file_unpack(packed, bytes, text, sizeof(text)), -1);
    memcpy(damaged, packed, sizeof(packed));
    damaged[sizeof(packed) - 10] ^= 1; /* the check sum */
    assert_int_equal(data_file_unpack(damaged, sizeof(damaged), text, sizeof(text)), -1);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(finds_what_was_compiled_in),
    cmocka_unit_test(knows_nothing_else),
    cmocka_unit_test(unpacks_what_fits_exactly),
    cmocka_unit_test(refuses_what_is_no_gzip),
};

int main(void) { return unit_test_main("base/data_file", tests, COUNT_OF(tests)); }
