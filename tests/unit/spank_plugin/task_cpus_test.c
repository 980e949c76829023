/* SPDX-License-Identifier: MIT */
#include "spank_plugin/node/task_cpus.h"
#include "tests/support/fake_spank.h"
#include "tests/support/unit_test.h"
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

static cpu_set_t whole;

static void begin(void)
{
    static const struct fake_step step = {.nodes = 1, .tasks_on_node = 1, .tasks = 1};
    fake_spank_begin(&step);
    assert_int_equal(sched_setaffinity(0, sizeof(whole), &whole), 0);
    task_cpus_prepare();
}

static void expect_mask(const cpu_set_t *expected)
{
    cpu_set_t mask;
    assert_int_equal(sched_getaffinity(0, sizeof(mask), &mask), 0);
    assert_true(CPU_EQUAL(&mask, expected));
}

static unsigned last_cpu(void)
{
    unsigned cpu = CPU_SETSIZE - 1;
    while (!CPU_ISSET(cpu, &whole))
        cpu--;
    return cpu;
}

static void binds_a_task_that_is_free(void **state)
{
    (void)state;
    char list[64];
    cpu_set_t one;
    unsigned last = last_cpu();
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    for (unsigned i = 0; i < 4; i++) {
        begin();
        snprintf(list, sizeof(list), "%s%u%s", i & 1 ? "1020-1023," : "", last, i & 2 ? "," : "");
        assert_int_equal(task_cpus_take(NULL, list, 1, true), 1);
        expect_mask(&one);
    }
    begin();
    assert_int_equal(task_cpus_take(NULL, "0-1023", 1, true), CPU_COUNT(&whole));
    expect_mask(&whole);
}

static void counts_the_cpus_of_a_task(void **state)
{
    (void)state;
    unsigned all = (unsigned)CPU_COUNT(&whole);
    begin();
    assert_int_equal(task_cpus_take(NULL, "0-1023", all, true), 1);
    assert_int_equal(task_cpus_take(NULL, "0-1023", all * 2, true), 1);
    assert_int_equal(task_cpus_take(NULL, "0-1023", 1, false), 0);
    assert_int_equal(task_cpus_take(NULL, NULL, 1, true), 0);
    static const struct {
        const char *asked;
        unsigned expected;
    } rows[] = {{"3", 3}, {"65535", 65535}, {"0", 0}, {"-1", 0}, {"65536", 0}, {"3x", 0}, {"", 0}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        fake_spank_set("SLURM_CPUS_PER_TASK", rows[i].asked);
        assert_int_equal(task_cpus_take(NULL, NULL, 1, true), rows[i].expected);
    }
}

static void leaves_lists_alone_that_it_cannot_use(void **state)
{
    (void)state;
    static const char *const lists[] = {"",
                                        "-",
                                        "0-",
                                        "-0",
                                        "a",
                                        "1-0",
                                        "1024",
                                        "0-1024",
                                        "0-9x",
                                        "0,,0",
                                        "0;1",
                                        " 0",
                                        "99999999999999999999999999",
                                        "1000-1023"};
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        begin();
        if (task_cpus_take(NULL, lists[i], 1, true) != 0)
            fail_msg("'%s' is taken", lists[i]);
        expect_mask(&whole);
    }
}

static void leaves_what_slurm_or_the_user_narrowed(void **state)
{
    (void)state;
    cpu_set_t one;
    char list[32];
    snprintf(list, sizeof(list), "%u", last_cpu());
    begin();
    fake_spank_set("SLURM_CPU_BIND", "quiet,none");
    assert_int_equal(task_cpus_take(NULL, list, 1, true), 0);
    expect_mask(&whole);
    if (CPU_COUNT(&whole) < 2)
        skip();
    begin();
    CPU_ZERO(&one);
    for (unsigned cpu = 0; CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &whole))
            CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    assert_int_equal(task_cpus_take(NULL, list, 1, true), 0);
    expect_mask(&one);
    assert_int_equal(sched_setaffinity(0, sizeof(whole), &whole), 0);
}

/* A test machine may itself hold us to a part of it: then nothing is ever bound. */
static int set_up(void **state)
{
    (void)state;
    return sched_getaffinity(0, sizeof(whole), &whole);
}

static bool is_whole_machine(void)
{
    cpu_set_t mask;
    return sched_getaffinity(0, sizeof(mask), &mask) == 0 &&
           CPU_COUNT(&mask) == sysconf(_SC_NPROCESSORS_ONLN);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(leaves_lists_alone_that_it_cannot_use, set_up),
        cmocka_unit_test_setup(leaves_what_slurm_or_the_user_narrowed, set_up),
        cmocka_unit_test_setup(counts_the_cpus_of_a_task, set_up),
        cmocka_unit_test_setup(binds_a_task_that_is_free, set_up),
    };
    size_t count = COUNT_OF(tests) - (is_whole_machine() ? 0 : 2);
    return unit_test_main("spank_plugin/node/task_cpus", tests, count);
}
