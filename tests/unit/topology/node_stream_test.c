/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"
#include "topology/collect/node_stream.h"

#include <string.h>

static struct node_stream *split(const char *text, struct error_info *err)
{
    return node_stream_split(text, strlen(text), "nodes.txt", err);
}

#define A "schema: x\nname: a\n"
#define B "schema: x\nname: b\n"

static void finds_the_documents(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *documents[3]; /* to the first NULL */
    } cases[] = {
        {"", {NULL}},
        {"\n \n---\n\n", {NULL}},
        {A, {A}},
        {"schema: x", {"schema: x"}},
        {A B, {A, B}},
        {A "---\n" B, {A, B}},
        {"---\n" A "--- \r\n---\n" B "---\n", {A, B}},
        {"# a comment\n" A "# of a\n" B, {"# a comment\n" A "# of a\n", B}},
        {A "list:\n  schema: y\n", {A "list:\n  schema: y\n"}},
        {A "---x\n", {A "---x\n"}},
        {"garbage", {"garbage"}},
        /* srun --label */
        {"0: schema: x\n0: name: a\n", {A}},
        {"0: schema: x\n1: schema: x\n1: name: b\n0: name: a\n", {A, B}},
        {" 3: schema: x\n12: schema: x\n\n12: name: b\n 3: name: a", {A, B}},
        {"0: schema: x\n0:\n0:  y: 1\n0:z\n", {"schema: x\n\n y: 1\nz\n"}},
        {"1: schema: x\n1: name: a\n1: ---\n1: schema: x\n1: name: b\n", {A, B}},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(node_stream) struct node_stream *stream = split(cases[i].text, &err);
        if (!stream)
            fail_msg("%s: %s", cases[i].text, err.text);
        size_t count = 0;
        while (count < COUNT_OF(cases[i].documents) && cases[i].documents[count])
            count++;
        assert_int_equal(node_stream_count(stream), count);
        for (size_t d = 0; d < count; d++) {
            size_t bytes = 0;
            const char *text = node_stream_document(stream, d, &bytes);
            assert_int_equal(bytes, strlen(cases[i].documents[d]));
            assert_memory_equal(text, cases[i].documents[d], bytes);
        }
    }
}

static void refuses_a_line_without_its_task(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    assert_null(split("0: schema: x\n\nslurmstepd: error\n", &err));
    assert_non_null(strstr(err.text, "nodes.txt:3: the lines before begin with their task's"));
}

static int split_both(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(node_stream) struct node_stream *plain = split(A B, err);
    if (!plain)
        return -1;
    CLEANUP(node_stream) struct node_stream *labelled = split("0: a\n1: b\n0: c\n", err);
    return labelled ? 0 : -1;
}

static void fails_cleanly(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(split_both, NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(finds_the_documents),
    cmocka_unit_test(refuses_a_line_without_its_task),
    cmocka_unit_test(fails_cleanly),
};

int main(void) { return unit_test_main("topology/node_stream", tests, COUNT_OF(tests)); }
