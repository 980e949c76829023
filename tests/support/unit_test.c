/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"

#include "base/memory.h"
#include "base/parse_number.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CASES_MAXIMUM 100000000u

#ifdef MEMORY_TORTURE

/* What a child's exit status says; a sanitizer ends it with another one. */
enum { CHILD_INJECTED = 40, CHILD_RAN_OUT = 41 };

/* cmocka turns these signals into a failed assertion, which would hide the crash. */
static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS};
static struct sigaction handlers_before_cmocka[COUNT_OF(crash_signals)];

static struct {
    CMUnitTestFunction test;
    unsigned long nth;
} tortured;

struct torture_result {
    unsigned long injected;
    unsigned long crashed;
};

static void run_tortured(void **state)
{
    for (size_t i = 0; i < COUNT_OF(crash_signals); i++)
        sigaction(crash_signals[i], &handlers_before_cmocka[i], NULL);
    alarm(UNIT_TEST_TORTURE_SECONDS);
    memory_torture_fail_at(tortured.nth);
    tortured.test(state);
}

static _Noreturn void run_child(const struct CMUnitTest *test, unsigned long nth, int output_fd,
                                unsigned long *ret_count)
{
    dup2(output_fd, STDOUT_FILENO);
    dup2(output_fd, STDERR_FILENO);
    tortured.test = test->test_func;
    tortured.nth = nth;
    struct CMUnitTest one = *test;
    one.test_func = run_tortured;
    _cmocka_run_group_tests("torture", &one, 1, NULL, NULL);
    fflush(NULL);
    *ret_count = memory_torture_count();
    _exit(nth > 0 && *ret_count >= nth ? CHILD_INJECTED : CHILD_RAN_OUT);
}

static void print_output(int output_fd)
{
    char piece[4096];
    ssize_t got;
    lseek(output_fd, 0, SEEK_SET);
    fflush(stdout);
    while ((got = read(output_fd, piece, sizeof(piece))) > 0)
        if (write(STDERR_FILENO, piece, (size_t)got) < 0)
            return;
}

/* One run in a child, the nth allocation failing (0: none); its exit status, or -1 after a
 * crash, which is printed. */
static int run_point(const struct CMUnitTest *test, unsigned long nth, unsigned long *ret_count)
{
    CLEANUP_FD int output_fd = memfd_create("torture", MFD_CLOEXEC);
    fflush(NULL);
    pid_t child = fork();
    if (output_fd < 0 || child < 0) {
        perror("torture");
        exit(1);
    }
    if (child == 0)
        run_child(test, nth, output_fd, ret_count);
    int status;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (WIFEXITED(status) &&
        (WEXITSTATUS(status) == CHILD_INJECTED || WEXITSTATUS(status) == CHILD_RAN_OUT))
        return WEXITSTATUS(status);
    printf("# %s: with allocation %lu failing: %s\n", test->name, nth,
           WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "a sanitizer ended it");
    print_output(output_fd);
    return -1;
}

/* Every point up to half of the maximum, where the setting up is, then spread points. */
static unsigned long next_point(unsigned long nth, unsigned long total)
{
    unsigned long each = UNIT_TEST_TORTURE_POINTS / 2;
    if (total <= UNIT_TEST_TORTURE_POINTS || nth < each)
        return nth + 1;
    return nth + 1 + (total - UNIT_TEST_TORTURE_POINTS) / each;
}

static struct torture_result torture_test(const struct CMUnitTest *test)
{
    struct torture_result result = {0};
    unsigned long *count =
        mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (count == MAP_FAILED) {
        perror("torture");
        exit(1);
    }
    if (run_point(test, 0, count) < 0)
        result.crashed++;
    unsigned long total = *count;
    for (unsigned long nth = 1; nth <= total; nth = next_point(nth, total)) {
        int status = run_point(test, nth, count);
        result.injected += status != CHILD_RAN_OUT;
        result.crashed += status < 0;
    }
    munmap(count, sizeof(*count));
    return result;
}

static int torture_main(const char *name, const struct CMUnitTest *tests, size_t count)
{
    struct torture_result sum = {0};
    for (size_t i = 0; i < COUNT_OF(crash_signals); i++)
        sigaction(crash_signals[i], NULL, &handlers_before_cmocka[i]);
    printf("1..%zu\n", count);
    for (size_t i = 0; i < count; i++) {
        struct torture_result result = torture_test(&tests[i]);
        printf("%s %zu - %s: %s, %lu failures injected\n", result.crashed ? "not ok" : "ok", i + 1,
               name, tests[i].name, result.injected);
        sum.injected += result.injected;
        sum.crashed += result.crashed;
    }
    printf("torture: %lu injected, %lu crashed\n", sum.injected, sum.crashed);
    return sum.crashed > 0;
}

#else

static int torture_main(const char *name, const struct CMUnitTest *tests, size_t count)
{
    (void)tests;
    (void)count;
    printf("1..1\nok 1 - %s # SKIP built without MEMORY_TORTURE\n", name);
    return 0;
}

#endif

bool unit_test_is_tortured(void)
{
    const char *value = getenv("PARPLAN_TORTURE");
    return value && strcmp(value, "1") == 0;
}

unsigned unit_test_cases(unsigned otherwise)
{
    uint64_t count = otherwise;
    const char *text = getenv("PARPLAN_CASES");
    struct error_info err = {.kind = ERROR_NONE};
    if (text && parse_unsigned(text, 1, CASES_MAXIMUM, &count, &err) < 0)
        fail_msg("PARPLAN_CASES: %s", err.text);
    return (unsigned)count;
}

int unit_test_main(const char *name, const struct CMUnitTest *tests, size_t count)
{
    if (unit_test_is_tortured())
        return torture_main(name, tests, count);
    return _cmocka_run_group_tests(name, tests, count, NULL, NULL) != 0;
}

#ifdef MEMORY_TORTURE

/* True: the nth allocation was reached, and its failure was handled. */
static bool fails_cleanly(unit_test_scenario_fn scenario, void *context, unsigned long nth)
{
    unsigned long live = memory_torture_live();
    struct error_info err = {.kind = ERROR_NONE};
    memory_torture_fail_at(nth);
    int result = scenario(context, &err);
    bool reached = memory_torture_count() >= nth;
    memory_torture_fail_at(0);
    if (memory_torture_live() != live)
        fail_msg("with allocation %lu failing, %ld blocks were left over", nth,
                 (long)(memory_torture_live() - live));
    if (reached && (result == 0 || err.kind == ERROR_NONE))
        fail_msg("with allocation %lu failing, the scenario returned %d, error '%s'", nth, result,
                 err.text);
    if (!reached && result != 0)
        fail_msg("the scenario fails by itself: %s", err.text);
    return reached;
}

#endif

void unit_test_expect_clean_failures(unit_test_scenario_fn scenario, void *context)
{
#ifdef MEMORY_TORTURE
    if (!unit_test_is_tortured()) {
        for (unsigned long nth = 1; fails_cleanly(scenario, context, nth); nth++)
            continue;
        return;
    }
#endif
    struct error_info err = {.kind = ERROR_NONE};
    if (scenario(context, &err) != 0)
        fail_msg("the scenario fails by itself: %s", err.text);
}
