/* SPDX-License-Identifier: MIT */
/*
 * unit_test: the main function of every cmocka program, and its torture mode.
 *
 *     static const struct CMUnitTest tests[] = {cmocka_unit_test(completes_degrees), …};
 *     int main(void)
 *     {
 *         return unit_test_main("workload/parallelism", tests, COUNT_OF(tests));
 *     }
 *
 * With PARPLAN_TORTURE=1 (builds with MEMORY_TORTURE) each test runs again in children, in
 * each of which another one of our allocations fails (memory.h). A test that then fails is
 * fine: the failure came to light. A crash, a sanitizer's report or a hang is not. Tests of
 * more than UNIT_TEST_TORTURE_POINTS allocations are tried at points spread over them.
 */
#ifndef TESTS_SUPPORT_UNIT_TEST_H
#define TESTS_SUPPORT_UNIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/error.h"

#ifdef __SANITIZE_ADDRESS__ /* ten times slower; the plain build has them all */
#define UNIT_TEST_TORTURE_POINTS 60u
#else
#define UNIT_TEST_TORTURE_POINTS 400u
#endif
#define UNIT_TEST_TORTURE_SECONDS 20u /* a child that runs longer hangs */

/* The exit status for main. */
int unit_test_main(const char *name, const struct CMUnitTest *tests, size_t count);

/* True inside the torture mode. */
bool unit_test_is_tortured(void);

/* For tests so slow that hundreds of runs would take too long, and for those of threads: ours count
 * the allocations of one. */
#define UNIT_TEST_SKIP_TORTURE()                                                                   \
    do {                                                                                           \
        if (unit_test_is_tortured())                                                               \
            skip();                                                                                \
    } while (0)

/* How many random cases a law is tried on: PARPLAN_CASES, else `otherwise`. */
unsigned unit_test_cases(unsigned otherwise);

/* Something that allocates, gives everything back, and returns 0, or -1 with err set. */
typedef int (*unit_test_scenario_fn)(void *context, struct error_info *err);

/* Runs it with its first allocation failing, then its second, until none is left: each time
 * it must return -1 with an error, and hold no memory of ours afterwards; the last run must
 * return 0. Without MEMORY_TORTURE, and inside the torture mode, only that last run. */
void unit_test_expect_clean_failures(unit_test_scenario_fn scenario, void *context);

#endif
