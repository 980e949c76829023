/* SPDX-License-Identifier: MIT */
#include "mapping/node_permutation.h"
#include "tests/support/unit_test.h"

#include <string.h>

#define LARGE 16384u

static void encode(const unsigned *numbers, unsigned count, struct text_buffer *out)
{
    text_buffer_init(out, (size_t)1 << 20);
    node_permutation_encode(numbers, count, out);
    assert_false(text_buffer_failed(out));
}

static void writes_the_shorter_form(void **state)
{
    (void)state;
    static const struct {
        unsigned count;
        unsigned numbers[16];
        const char *text;
    } rows[] = {
        {1, {0}, "0"},
        {2, {0, 1}, "0,1"},
        {2, {1, 0}, "1,0"},
        {8, {0, 1, 2, 3, 4, 5, 6, 7}, "0-7"},
        {8, {4, 5, 6, 7, 0, 1, 2, 3}, "4-7,0-3"},
        {8, {0, 2, 4, 6, 1, 3, 5, 7}, "0-6/2,1-7/2"},
        {8, {0, 4, 1, 5, 2, 6, 3, 7}, "0,4,1,5,2,6,3,7"},
        {9, {8, 7, 6, 5, 4, 3, 2, 1, 0}, "8,7,6,5,4,3,2,1,0"},
        {12, {9, 10, 11, 0, 3, 6, 1, 2, 4, 5, 8, 7}, "9-11,0-6/3,1,2,4,5,8,7"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP_DONE(text_buffer) struct text_buffer text;
        encode(rows[i].numbers, rows[i].count, &text);
        unsigned back[16];
        struct error_info err = {.kind = ERROR_NONE};
        if (node_permutation_decode(text_buffer_text(&text), rows[i].count, back, &err) < 0)
            fail_msg("%s: %s", text_buffer_text(&text), err.text);
        assert_memory_equal(back, rows[i].numbers, rows[i].count * sizeof(*back));
        assert_string_equal(text_buffer_text(&text), rows[i].text);
        text_buffer_done(&text);
    }
}

/* Any arrangement comes back, and what is regular stays short. */
static void round_trips(const unsigned *numbers, size_t longest)
{
    static unsigned back[LARGE];
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    encode(numbers, LARGE, &text);
    assert_true(text.length <= longest);
    assert_int_equal(node_permutation_decode(text_buffer_text(&text), LARGE, back, &err), 0);
    assert_memory_equal(back, numbers, sizeof(back));
    text_buffer_done(&text);
}

static void keeps_large_permutations_short(void **state)
{
    (void)state;
    static unsigned numbers[LARGE];
    for (unsigned i = 0; i < LARGE; i++)
        numbers[i] = i;
    round_trips(numbers, 7);
    for (unsigned i = 0; i < LARGE; i++) /* 16 stages of 1024 replicas */
        numbers[i] = i % 1024 * 16 + i / 1024;
    round_trips(numbers, 16 * 15);
    uint64_t random = 12345;
    for (unsigned i = LARGE - 1; i > 0; i--) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        unsigned other = (unsigned)(random >> 33) % (i + 1), swap = numbers[i];
        numbers[i] = numbers[other];
        numbers[other] = swap;
    }
    round_trips(numbers, 14 * LARGE / 6 + 2);
}

static void reads_packed_numbers(void **state)
{
    (void)state;
    static const unsigned numbers[] = {8, 7, 6, 5, 4, 3, 2, 1, 0};
    unsigned back[9];
    struct error_info err = {.kind = ERROR_NONE};
    assert_int_equal(node_permutation_decode("~h2VDIQ", 9, back, &err), 0);
    assert_memory_equal(back, numbers, sizeof(back));
    assert_int_equal(node_permutation_decode("~Q", 2, back, &err), 0);
    assert_int_equal(back[0], 0);
    assert_int_equal(back[1], 1);
}

static void refuses_other_texts(void **state)
{
    (void)state;
    static const struct {
        unsigned count;
        const char *text, *message;
    } rows[] = {
        {8, "", "map: names 0 of 8 nodes"},
        {8, "0-6", "map: names 7 of 8 nodes"},
        {8, "0-7,0", "map: names more than 8 nodes"},
        {8, "0-8", "map: '8' does not start with a number below 8"},
        {8, "0-7,", "map: ',' is not ',' and the next node"},
        {8, ",0-7", "map: ',0-7' does not start with a number below 8"},
        {8, "7-0", "map: '7-0' does not start with an ascending run"},
        {8, "3-3", "map: '3-3' does not start with an ascending run"},
        {8, "0-6/0", "map: '0-6/0' does not start with an ascending run"},
        {8, "0-7/2", "map: '0-7/2' does not start with an ascending run"},
        {8, "0-6/", "map: '' does not start with a number below 8"},
        {8, "0 -7", "map: ' -7' is not ',' and the next node"},
        {8, "-1", "map: '-1' does not start with a number below 8"},
        {8, "18446744073709551617",
         "map: '18446744073709551617' does not start with a number "
         "below 8"},
        {8, "~", "map: 0 packed characters, but 8 nodes have 4"},
        {8, "~AAAAA", "map: 5 packed characters, but 8 nodes have 4"},
        {8, "~AA=A", "map: '=' is no base64 digit"},
        {9, "~/AAAAA", "map: node 15 of 9"},
        {5, "~AAB", "map: bits after the last node are set"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        unsigned numbers[16];
        struct error_info err = {.kind = ERROR_NONE};
        assert_int_equal(node_permutation_decode(rows[i].text, rows[i].count, numbers, &err), -1);
        assert_string_equal(err.text, rows[i].message);
    }
}

static void inverts_permutations_only(void **state)
{
    (void)state;
    static const unsigned good[] = {2, 0, 1}, twice[] = {2, 0, 2}, beyond[] = {0, 1, 3};
    unsigned inverse[3];
    struct error_info err = {.kind = ERROR_NONE};
    assert_int_equal(node_permutation_invert(good, 3, inverse, &err), 0);
    assert_int_equal(inverse[0], 1);
    assert_int_equal(inverse[1], 2);
    assert_int_equal(inverse[2], 0);
    assert_int_equal(node_permutation_invert(twice, 3, inverse, &err), -1);
    assert_string_equal(err.text, "map: node 2 stands for two blocks, 0 and 2");
    assert_int_equal(node_permutation_invert(beyond, 3, inverse, &err), -1);
    assert_string_equal(err.text, "map: node 3 of 3");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(writes_the_shorter_form),   cmocka_unit_test(keeps_large_permutations_short),
    cmocka_unit_test(reads_packed_numbers),      cmocka_unit_test(refuses_other_texts),
    cmocka_unit_test(inverts_permutations_only),
};

int main(void) { return unit_test_main("mapping/node_permutation", tests, COUNT_OF(tests)); }
