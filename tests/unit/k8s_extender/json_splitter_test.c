/* SPDX-License-Identifier: MIT */
#include "base/text_buffer.h"
#include "k8s_extender/api/json_splitter.h"
#include "tests/support/unit_test.h"

#include <string.h>

#define RECORD_MAXIMUM_BYTES ((size_t)1 << 20)
#define OBJECT_BYTES 96u

/* What the receiver is given, as text: "ADDED 7 {…}|". */
struct record {
    struct text_buffer text;
    unsigned objects, end_after; /* 0: never */
};

static int receive(void *context, const struct json_split *split)
{
    struct record *record = context;
    text_buffer_add(&record->text, "%s %s ", split->type, split->resource_version);
    if (split->text)
        text_buffer_add_bytes(&record->text, split->text, split->bytes);
    else
        text_buffer_add(&record->text, "%s/%s of %zu", split->namespace, split->name, split->bytes);
    text_buffer_add_text(&record->text, "|");
    return ++record->objects == record->end_after ? -1 : 0;
}

/* Fed in pieces of so many bytes; what came of it is appended to the record. */
static int split(enum json_split_kind kind, const char *text, size_t piece, struct record *record,
                 struct error_info *err)
{
    CLEANUP(json_splitter)
    struct json_splitter *splitter = json_splitter_create(kind, OBJECT_BYTES, receive, record, err);
    if (!splitter)
        return -1;
    size_t bytes = strlen(text);
    for (size_t at = 0; at < bytes; at += piece)
        if (json_splitter_feed(splitter, text + at, bytes - at < piece ? bytes - at : piece, err) <
            0)
            return -1;
    if (json_splitter_finish(splitter, err) < 0)
        return -1;
    text_buffer_add(&record->text, "version '%s' continue '%s'",
                    json_splitter_resource_version(splitter), json_splitter_continue(splitter));
    return 0;
}

#define FORTY "0123456789012345678901234567890123456789"
#define OPEN_10 "[[[[[[[[[["
#define OPEN_30 OPEN_10 OPEN_10 OPEN_10
#define OPEN_40 OPEN_10 OPEN_30
#define CLOSE_10 "]]]]]]]]]]"
#define CLOSE_30 CLOSE_10 CLOSE_10 CLOSE_10
#define CLOSE_40 CLOSE_10 CLOSE_30

struct good_row {
    enum json_split_kind kind;
    const char *text, *expected;
};

static const struct good_row good[] = {
    {SPLIT_LIST, "{\"items\":[]}", "version '' continue ''"},
    {SPLIT_LIST, "{\"items\":null,\"metadata\":null}", "version '' continue ''"},
    {SPLIT_LIST, " {\n}\n ", "version '' continue ''"},
    {SPLIT_LIST,
     "{\"kind\":\"NodeList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"12\","
     "\"continue\":\"abc=\",\"remainingItemCount\":3},\"items\":[{\"a\":1},{\"b\":[2,{}]}]}\n",
     "  {\"a\":1}|  {\"b\":[2,{}]}|version '12' continue 'abc='"},
    {SPLIT_LIST, "{\"items\" : [ { \"a\" :\t1 } , {} ] , \"metadata\" : {\"continue\":\"\"}}",
     "  { \"a\" :\t1 }|  {}|version '' continue ''"},
    {SPLIT_LIST,
     "{\"x\":{\"items\":[{\"no\":1}],\"metadata\":{\"continue\":\"no\"}},\"items\":[{}]}",
     "  {}|version '' continue ''"},
    {SPLIT_LIST, "{\"items\":[{\"s\":\"}],\\\"\\\\\",\"items\":[{}]},{\"n\":-1.5e+3,\"t\":true}]}",
     "  {\"s\":\"}],\\\"\\\\\",\"items\":[{}]}|  {\"n\":-1.5e+3,\"t\":true}|version '' continue "
     "''"},
    {SPLIT_LIST, "{\"\\u0069tems\":[{}],\"a\":[[],[1],\"x\",null]}", "version '' continue ''"},
    {SPLIT_WATCH, "", "version '' continue ''"},
    {SPLIT_WATCH, "\n \n", "version '' continue ''"},
    {SPLIT_WATCH,
     "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"resourceVersion\":\"7\"}}}\n"
     "{\"object\":{\"kind\":\"X\"},\"type\":\"DELETED\"}\n",
     "ADDED 7 {\"metadata\":{\"resourceVersion\":\"7\"}}|DELETED  {\"kind\":\"X\"}|"
     "version '' continue ''"},
    {SPLIT_WATCH,
     "{\"type\":\"A\",\"object\":{\"spec\":{\"metadata\":{\"resourceVersion\":\"1\"}}}}"
     "{\"more\":[],\"type\":\"B\",\"object\":{}}",
     "A  {\"spec\":{\"metadata\":{\"resourceVersion\":\"1\"}}}|B  {}|version '' continue ''"},
    {SPLIT_LIST,
     "{\"items\":[{\"metadata\":{\"managedFields\":[{\"f\":{\"]}\\\"\":[]}}],\"name\":\"x\"}},{"
     "\"spec\":{\"managedFields\":[1]}}]}",
     "  {\"metadata\":{\"managedFields\":null,\"name\":\"x\"}}|  "
     "{\"spec\":{\"managedFields\":[1]}}|"
     "version '' continue ''"},
    {SPLIT_WATCH,
     "{\"type\":\"A\",\"object\":{\"metadata\":{\"managedFields\":[\"" FORTY FORTY FORTY
     "\"],\"name\":\"b\"}}}",
     "A  {\"metadata\":{\"managedFields\":null,\"name\":\"b\"}}|version '' continue ''"},
    {SPLIT_LIST,
     "{\"items\":[{\"metadata\":{\"namespace\":\"a\",\"name\":\"b\"},\"c\":\"" FORTY FORTY FORTY
     "\"},{}]}",
     "  a/b of 168|  {}|version '' continue ''"},
    {SPLIT_WATCH,
     "{\"type\":\"A\",\"object\":{\"c\":\"" FORTY FORTY FORTY
     "\",\"metadata\":{\"name\":\"\\u0062\",\"namespace\":[7],\"resourceVersion\":\"9\"}}}",
     "A 9 / of 195|version '' continue ''"},
    {SPLIT_LIST, "{\"a\":" OPEN_40 CLOSE_40 ",\"items\":[{\"d\":" OPEN_40 CLOSE_40 "},{}]}",
     "  {\"d\":" OPEN_30 "null" CLOSE_30 "}|  {}|version '' continue ''"},
    {SPLIT_WATCH, "{\"type\":\"A\",\"object\":{\"d\":" OPEN_40 CLOSE_40 "}}",
     "A  {\"d\":" OPEN_30 "[null]" CLOSE_30 "}|version '' continue ''"},
};

static void same_in_any_pieces(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++)
        for (size_t piece = 1; piece < 12; piece++) {
            struct error_info err = {.kind = ERROR_NONE};
            struct record record = {.objects = 0};
            text_buffer_init(&record.text, RECORD_MAXIMUM_BYTES);
            int result = split(good[i].kind, good[i].text, piece, &record, &err);
            if (result < 0 || strcmp(text_buffer_text(&record.text), good[i].expected) != 0)
                print_message("row %zu in pieces of %zu: %s: %s\n", i, piece, err.text,
                              text_buffer_text(&record.text));
            bool same = strcmp(text_buffer_text(&record.text), good[i].expected) == 0;
            text_buffer_done(&record.text);
            assert_int_equal(result, 0);
            assert_true(same);
        }
}

struct bad_row {
    enum json_split_kind kind;
    const char *text, *expected;
};

static const struct bad_row bad[] = {
    {SPLIT_LIST, "", "the answer ends too early, after 0 bytes"},
    {SPLIT_LIST, "{\"items\":[{}", "the answer ends too early, after 12 bytes"},
    {SPLIT_LIST, "[]", "byte 0: the whole is of another kind than expected"},
    {SPLIT_LIST, "404 page not found", "byte 0: the whole is of another kind than expected"},
    {SPLIT_LIST, "<html>", "byte 0: unexpected character"},
    {SPLIT_LIST, "{\"items\":{}}", "byte 9: items is of another kind than expected"},
    {SPLIT_LIST, "{\"items\":[1]}",
     "byte 10: an element of items is of another kind than expected"},
    {SPLIT_LIST, "{\"items\":[],\"items\":[]}", "byte 20: items stands twice"},
    {SPLIT_LIST, "{\"metadata\":{\"continue\":7}}",
     "byte 24: continue is of another kind than expected"},
    {SPLIT_LIST, "{\"metadata\":{\"continue\":\"\\n\"}}",
     "byte 27: a type, version or token that cannot be one"},
    {SPLIT_LIST, "{\"items\":[]}{}", "byte 12: something follows the list"},
    {SPLIT_LIST, "{\"items\":[{}}]", "byte 12: a comma or a closing bracket is expected"},
    {SPLIT_LIST, "{\"items\":[{},]}", "byte 13: unexpected character"},
    {SPLIT_LIST, "{\"a\":1,}", "byte 7: a key is expected"},
    {SPLIT_LIST, "{\"a\" 1}", "byte 5: a colon is expected"},
    {SPLIT_LIST, "{\"a\":}", "byte 5: unexpected character"},
    {SPLIT_LIST, "{\"a\":\"\\x\"}", "byte 7: an escape that does not exist"},
    {SPLIT_LIST, "{\"a\":\"\n\"}", "byte 6: a control character stands in a string"},
    {SPLIT_LIST,
     "{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
     "the answer ends too early, after 83 bytes"},
    {SPLIT_WATCH, "{\"type\":\"ADDED\",\"obj", "the answer ends too early, after 20 bytes"},
    {SPLIT_WATCH, "{\"type\":\"ADDED\"}", "byte 16: an event without type or object"},
    {SPLIT_WATCH, "{\"object\":{}}", "byte 13: an event without type or object"},
    {SPLIT_WATCH, "{\"type\":1}", "byte 8: type is of another kind than expected"},
    {SPLIT_WATCH, "{\"type\":\"A\",\"object\":{}},", "byte 24: unexpected character"},
};

static void refuses_with_the_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        struct record record = {.objects = 0};
        text_buffer_init(&record.text, RECORD_MAXIMUM_BYTES);
        int result = split(bad[i].kind, bad[i].text, 1, &record, &err);
        text_buffer_done(&record.text);
        if (result == 0 || !strstr(err.text, bad[i].expected))
            print_message("row %zu: '%s'\n", i, err.text);
        assert_int_equal(result, -1);
        assert_non_null(strstr(err.text, bad[i].expected));
    }
}

static void receiver_ends_it(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    struct record record = {.end_after = 2};
    text_buffer_init(&record.text, RECORD_MAXIMUM_BYTES);
    int result = split(SPLIT_LIST, "{\"items\":[{},{},{}]}", 3, &record, &err);
    text_buffer_done(&record.text);
    if (err.kind == ERROR_MEMORY)
        fail_msg("out of memory");
    assert_int_equal(result, -1);
    assert_int_equal(record.objects, 2);
    assert_int_equal(err.kind, ERROR_NONE);
}

static void nothing_is_taken_after_an_error(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    struct record record = {.objects = 0};
    text_buffer_init(&record.text, RECORD_MAXIMUM_BYTES);
    CLEANUP(json_splitter)
    struct json_splitter *splitter =
        json_splitter_create(SPLIT_WATCH, OBJECT_BYTES, receive, &record, &err);
    assert_non_null(splitter);
    assert_int_equal(json_splitter_feed(splitter, "]", 1, &err), -1);
    assert_int_equal(json_splitter_feed(splitter, "{\"type\":\"A\",\"object\":{}}", 24, &err), -1);
    assert_int_equal(json_splitter_finish(splitter, &err), -1);
    assert_int_equal(record.objects, 0);
    text_buffer_done(&record.text);
}

/* A large object once must not be held for ever, and objects after it must come out right. */
static void large_then_small(void **state)
{
    (void)state;
    enum { LARGE = 600000 };
    struct error_info err = {.kind = ERROR_NONE};
    struct record record = {.objects = 0};
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, 2 * LARGE);
    text_buffer_init(&record.text, 2 * LARGE);
    text_buffer_add_text(&text, "{\"items\":[{\"a\":\"");
    text_buffer_add_repeated(&text, 'x', LARGE);
    text_buffer_add_text(&text, "\"},{\"b\":1}]}");
    CLEANUP(json_splitter)
    struct json_splitter *splitter =
        json_splitter_create(SPLIT_LIST, 2 * (size_t)LARGE, receive, &record, &err);
    assert_non_null(splitter);
    for (size_t at = 0; at < text.length; at += 16384) {
        size_t left = text.length - at;
        assert_int_equal(
            json_splitter_feed(splitter, text.text + at, left < 16384 ? left : 16384, &err), 0);
    }
    assert_int_equal(json_splitter_finish(splitter, &err), 0);
    assert_int_equal(record.objects, 2);
    assert_non_null(strstr(text_buffer_text(&record.text), "|  {\"b\":1}|"));
    text_buffer_done(&record.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_in_any_pieces), cmocka_unit_test(refuses_with_the_reason),
        cmocka_unit_test(receiver_ends_it),   cmocka_unit_test(nothing_is_taken_after_an_error),
        cmocka_unit_test(large_then_small),
    };
    return unit_test_main("k8s_extender/json_splitter", tests, COUNT_OF(tests));
}
