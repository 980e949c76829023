/* SPDX-License-Identifier: MIT */
#include "k8s_extender/objects/reading/shared_text.h"
#include "tests/support/unit_test.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define THREADS 4
#define TEXTS 500
#define ROUNDS 20

static void keeps_one_copy(void **state)
{
    (void)state;
    char key[] = "kubernetes.io/hostname";
    const char *first = shared_text_take(key);
    assert_non_null(first);
    assert_ptr_not_equal(first, key);
    key[0] = 'K';
    assert_string_equal(first, "kubernetes.io/hostname");
    const char *second = shared_text_take("kubernetes.io/hostname");
    const char *other = shared_text_take(key);
    const char *empty = shared_text_take("");
    assert_ptr_equal(first, second);
    assert_non_null(other);
    assert_ptr_not_equal(first, other);
    assert_non_null(empty);
    assert_string_equal(empty, "");
    shared_text_release(first);
    assert_string_equal(second, "kubernetes.io/hostname");
    shared_text_release(second);
    shared_text_release(other);
    shared_text_release(empty);
    shared_text_release(NULL);
}

static int take_many(void *context, struct error_info *err)
{
    (void)context;
    const char *texts[200] = {NULL};
    int result = 0;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        char text[16];
        snprintf(text, sizeof(text), "label-%zu", i % 150);
        texts[i] = shared_text_take(text);
        if (!texts[i])
            result = error_set_memory(err);
        else if (strcmp(texts[i], text) != 0)
            result = error_set(err, "another text");
    }
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        shared_text_release(texts[i]);
    return result;
}

/* That the table could not grow fails nothing, so this is no scenario of clean failures. */
static void gives_all_back(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    assert_int_equal(take_many(NULL, &err), 0);
#ifdef MEMORY_TORTURE
    assert_true(memory_torture_live() == 0);
    for (unsigned long nth = 1; !unit_test_is_tortured() && nth < 160; nth++) {
        memory_torture_fail_at(nth);
        take_many(NULL, &err);
        memory_torture_fail_at(0);
        assert_true(memory_torture_live() == 0);
    }
#endif
}

static void *take_and_release(void *context)
{
    bool *good = context;
    for (unsigned round = 0; round < ROUNDS; round++)
        for (unsigned i = 0; i < TEXTS; i++) {
            char text[16];
            snprintf(text, sizeof(text), "text-%u", i);
            const char *shared = shared_text_take(text);
            *good = *good && shared && strcmp(shared, text) == 0;
            shared_text_release(shared);
        }
    return NULL;
}

static void serves_threads(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    bool good[THREADS];
    UNIT_TEST_SKIP_TORTURE();
    for (unsigned i = 0; i < THREADS; i++) {
        good[i] = true;
        assert_int_equal(pthread_create(&threads[i], NULL, take_and_release, &good[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_true(good[i]);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(keeps_one_copy),
    cmocka_unit_test(gives_all_back),
    cmocka_unit_test(serves_threads),
};

int main(void) { return unit_test_main("k8s_extender/shared_text", tests, COUNT_OF(tests)); }
