/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"

#include "base/memory.h"
#include "validation/calibration/nccl_table.h"
#include <string.h>

#define NAMES                                                                                      \
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     "    \
    "time   algbw   busbw #wrong\n"
#define UNITS "#        (B)    (elements)      (us)  (GB/s)  (GB/s)   (us)  (GB/s)  (GB/s)\n"
#define RANKS                                                                                      \
    "#  Rank  0 Group  0 Pid   41 on node1 device  0 [0x1b] NVIDIA H100 80GB HBM3\n"               \
    "#  Rank  1 Group  0 Pid   42 on node1 device  1 [0x2c] NVIDIA H100 80GB HBM3\n"               \
    "#  Rank  2 Group  0 Pid   43 on node2 device  0 [0x1b] NVIDIA H100 80GB HBM3\n"               \
    "#  Rank  3 Group  0 Pid   44 on node2 device  1 [0x2c] NVIDIA H100 80GB HBM3\n"
#define ROW "  1048576  262144  float  sum  -1  25.50  41.12  61.68  0  26.50  39.6  59.4  N/A\n"
#define TEST "# Collective test starting: all_reduce_perf\n"

static const char whole[] =
    "$ mpirun -np 4 ./build/all_gather_perf -b 8\n" TEST RANKS "#\n" NAMES UNITS
    "        0  0  float  sum  -1  9.50  0.0  0.0  0  9.0  0.0  0.0  0\n"
    "node1:41:41 [0] NCCL INFO a line of the library\n" ROW "# Avg bus bandwidth : 61.68\n"
    "# Using devices\n"
    "#  Rank  0 Pid   41 on node1 device  0 [0x1b] NVIDIA H100 80GB HBM3\n"
    "#  Rank  1 Pid   42 on node1 device  1 [0x2c] NVIDIA H100 80GB HBM3\n"
    "# ./sendrecv_perf\n"
    "# size count type time algbw busbw error\n"
    "  64 16 float 1.5e+01 0.1 0.1 0e+00\n";

static struct nccl_table *parse(const char *text, const char *test, struct error_info *err)
{
    return nccl_table_parse(text, strlen(text), "out.txt", test, err);
}

static void rows_are_read(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(nccl_table) struct nccl_table *table = parse(whole, NULL, &err);
    if (!table) {
        assert_int_equal(err.kind, ERROR_MEMORY);
        return;
    }
    const struct nccl_row *rows = table->rows;
    assert_int_equal(table->count, 2);
    assert_string_equal(table->gpu, "NVIDIA H100 80GB HBM3");
    assert_int_equal(rows[0].collective, COLLECTIVE_ALL_REDUCE);
    assert_string_equal(rows[0].test, "all_reduce");
    assert_int_equal(rows[0].ranks, 4);
    assert_int_equal(rows[0].nodes, 2);
    assert_int_equal(rows[0].line, 12);
    assert_true(rows[0].bytes > 1048575 && rows[0].bytes < 1048577);
    assert_true(rows[0].seconds > 25.49e-6 && rows[0].seconds < 25.51e-6);
    assert_int_equal(rows[1].collective, COLLECTIVE_SEND);
    assert_int_equal(rows[1].ranks, 2);
    assert_int_equal(rows[1].nodes, 1);
    assert_true(rows[1].seconds > 14.9e-6 && rows[1].seconds < 15.1e-6);
}

static void the_caller_may_name_the_test(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum collective collective;
    } names[] = {
        {"all_gather", COLLECTIVE_ALL_GATHER},
        {"reduce_scatter", COLLECTIVE_ALL_GATHER},
        {"alltoall", COLLECTIVE_ALL_TO_ALL},
    };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(nccl_table)
        struct nccl_table *table = parse(NAMES ROW, names[i].name, &err);
        if (!table) {
            assert_int_equal(err.kind, ERROR_MEMORY);
            return;
        }
        assert_int_equal(table->rows[0].collective, names[i].collective);
        assert_int_equal(table->rows[0].ranks, 0);
        assert_null(table->gpu);
    }
}

static const struct {
    const char *text, *test, *message;
} broken[] = {
    {"", NULL, "no row"},
    {TEST NAMES, NULL, "no row"},
    {TEST ROW, NULL, "no row"}, /* without names above it a row is none */
    {NAMES ROW, NULL, "out.txt:2: nothing above says which test"},
    {NAMES ROW, "broadcast", "a row of broadcast"},
    {NAMES ROW, "all", "no test is called all"},
    {TEST NAMES ROW, "all_gather",
     "out.txt:1: this is all_reduce, but all_gather:out.txt was given"},
    {"# broadcast_perf\n" NAMES ROW, "all_gather", "out.txt:1: this is broadcast, but"},
    {"# reduce_perf\n" NAMES ROW, NULL, "a row of reduce,"},
    {TEST NAMES "8 2 float sum -1 9 0 0\n", NULL, "out.txt:3: 8 words, but the column names are"},
    {TEST NAMES "8 2 float sum -1 x 0 0 0 9 0 0 0\n", NULL, "out.txt:3: 'x' is not"},
    {TEST NAMES "8 2 float sum -1 -4 0 0 0 9 0 0 0\n", NULL, "-4"},
    {TEST NAMES "99999999999999999999 2 float sum -1 1 0 0 0 9 0 0 0\n", NULL, "out.txt:3"},
    {TEST NAMES "# (B) (elements) (ms) (GB/s)\n" ROW, NULL, "microseconds"},
    {TEST "# Rank 0 Pid 1\n" NAMES ROW, NULL, "without the host"},
    {TEST "# Rank 0 Pid 1 on a device 0 [0] x\n# Rank 1 Pid 1 on a device 0 [0] x\n"
          "# Rank 2 Pid 1 on b device 0 [0] x\n" NAMES ROW,
     NULL, "3 ranks on 2 nodes"},
};

static void what_is_wrong_is_said(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(broken); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        assert_null(parse(broken[i].text, broken[i].test, &err));
        if (err.kind != ERROR_MEMORY && !strstr(err.text, broken[i].message))
            fail_msg("%zu: \"%s\" does not say %s", i, err.text, broken[i].message);
    }
    struct error_info err = {.kind = ERROR_NONE};
    assert_null(nccl_table_parse("a\0b", 3, "out.txt", NULL, &err));
    assert_true(err.kind == ERROR_MEMORY || strstr(err.text, "NUL"));
    assert_null(nccl_table_load("all_reduce:/nonexistent/out.txt", &err));
    assert_true(err.kind == ERROR_MEMORY || strstr(err.text, "/nonexistent/out.txt"));
    nccl_table_free(NULL);
}

static void limits_hold(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    size_t row = strlen(ROW), head = strlen(TEST NAMES);
    size_t bytes = head + (NCCL_TABLE_MAXIMUM_ROWS + 1) * row;
    CLEANUP_MEMORY char *text = memory_allocate(bytes + 1);
    if (!text)
        return;
    memcpy(text, TEST NAMES, head);
    for (size_t i = 0; i <= NCCL_TABLE_MAXIMUM_ROWS; i++)
        memcpy(text + head + i * row, ROW, row);
    CLEANUP(nccl_table)
    struct nccl_table *table = nccl_table_parse(text, bytes - row, "out.txt", NULL, &err);
    assert_true(table ? table->count == NCCL_TABLE_MAXIMUM_ROWS : err.kind == ERROR_MEMORY);
    assert_null(nccl_table_parse(text, bytes, "out.txt", NULL, &err));
    assert_true(err.kind == ERROR_MEMORY || strstr(err.text, "rows"));
}

static int scenario(void *context, struct error_info *err)
{
    CLEANUP(nccl_table) struct nccl_table *table = parse(context, NULL, err);
    return table ? 0 : -1;
}

static void failing_memory_is_clean(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(scenario, (void *)(size_t)whole);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_read),           cmocka_unit_test(the_caller_may_name_the_test),
        cmocka_unit_test(what_is_wrong_is_said),   cmocka_unit_test(limits_hold),
        cmocka_unit_test(failing_memory_is_clean),
    };
    return unit_test_main("validation/nccl_table", tests, COUNT_OF(tests));
}
