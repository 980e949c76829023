/* SPDX-License-Identifier: MIT */
#include "base/tables/toml_scan.h"
#include "base/text_buffer.h"
#include "tests/support/unit_test.h"
#include <string.h>

/* "path=text@line " of each value. */
static int note(void *context, const struct toml_value *value, struct error_info *err)
{
    text_buffer_add(context, "%s=%s@%u ", value->path, value->text, value->line);
    return strcmp(value->text, "stop") ? 0 : error_set(err, "stopped");
}

static int scan(const char *text, struct text_buffer *seen, struct error_info *err)
{
    text_buffer_init(seen, 65536);
    return toml_scan(text, strlen(text), "t.toml", note, seen, err);
}

static const struct {
    const char *text, *seen;
} valid[] = {
    {"", ""},
    {"# only a comment", ""},
    {"a = 1", "a=1@1 "},
    {"a=1 # one\r\nb = -1\n\n\tc\t=\ttrue\t\n", "a=1@1 b=-1@2 c=true@4 "},
    {"[parallelism]\ntensor_parallel_degree = 4\n[training]\nseq_len = 8_192",
     "parallelism.tensor_parallel_degree=4@2 training.seq_len=8_192@4 "},
    {"[ a . \"b c\" . 'd' ] # head\ne.f = \"x\"", "a.b c.d.e.f=x@2 "},
    {"a = \"x # no comment\" # one\nb = 'c:\\d'\nc = \"say \\\"hi\\\" \\\\\"\nd = ''",
     "a=x # no comment@1 b=c:\\d@2 c=say \\\"hi\\\" \\\\@3 d=@4 "},
    {"d = 1979-05-27T07:32:00-08:00\nf = 6.26e-34\ni = +inf",
     "d=1979-05-27T07:32:00-08:00@1 f=6.26e-34@2 i=+inf@3 "},
    {"a = 1979-05-27 07:32:00\nb = 1", "a=1979-05-27@1 b=1@2 "},
    {"a = \"\"\"\n[b]\nc = 1 \\\"\"\" \"\"\"\"\"\nd = 2", "d=2@4 "},
    {"a = '''x\n'' = 3\n'''\nb = 2", "b=2@4 "},
    {"a = \"\"\"\"\"\"\nb = 2", "b=2@2 "},
    {"a = [1, [2, \"]\"], # ]\n '''\n]''', {b = 1}\n]\nc = 3", "c=3@5 "},
    {"a = {b = 1, c = {d = \"}\"}}\ne = [\n]\nf = 1", "f=1@4 "},
    {"[[a.b]]\nc = 1\n[[a.b]] # two\nc = 2\n", "a.b.c=1@2 a.b.c=2@4 "},
    {"\"a.b\" = 1\n\"\" = 2", "a.b=1@1 =2@2 "},
    {"a = 1\na = 2", "a=1@1 a=2@2 "},
};

static void finds_scalars_with_their_places(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(valid); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_DONE(text_buffer) struct text_buffer seen;
        if (scan(valid[i].text, &seen, &err) < 0)
            fail_msg("case %zu: %s", i, err.text);
        assert_string_equal(text_buffer_text(&seen), valid[i].seen);
    }
}

static const struct {
    const char *text, *message;
} invalid[] = {
    {"a", "t.toml:1: neither a key with its value nor a table"},
    {"\n[a", "t.toml:2: neither"},
    {"[a]\nb c = 1", "t.toml:2: neither"},
    {"[a.b = 1", "neither"},
    {"= 1\n\x01", "t.toml:2: neither"},
    {"\"\"\"a\"\"\" = 1", "neither"},
    {"a = \"x\nb = 1", "t.toml:1: a string does not end"},
    {"a = \"x\\", "a string does not end"},
    {"a = '''x\n\n", "t.toml:3: a string does not end"},
    {"a = [1,\n[2]\n", "t.toml:3: a bracket does not end"},
    {"a = [\"", "a string does not end"},
};

static void refuses_with_the_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(invalid); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_DONE(text_buffer) struct text_buffer seen;
        if (scan(invalid[i].text, &seen, &err) == 0)
            fail_msg("case %zu passes: %s", i, text_buffer_text(&seen));
        if (!strstr(err.text, invalid[i].message))
            fail_msg("\"%s\" does not say \"%s\"", err.text, invalid[i].message);
    }
}

static void stops_where_the_visitor_does(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(text_buffer) struct text_buffer seen;
    assert_int_equal(scan("a = 1\nb = \"stop\"\nc = [\n", &seen, &err), -1);
    assert_string_equal(err.text, "stopped");
    assert_string_equal(text_buffer_text(&seen), "a=1@1 b=stop@2 ");
}

static void has_limits(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    CLEANUP_DONE(text_buffer) struct text_buffer seen = {.text = NULL};
    text_buffer_init(&text, TOML_MAXIMUM_BYTES + 4096);
    text_buffer_add_text(&text, "a = '");
    text_buffer_add_repeated(&text, 'x', TOML_PAIR_BYTES - 2);
    text_buffer_add_text(&text, "'");
    assert_false(text_buffer_failed(&text));
    assert_int_equal(scan(text_buffer_text(&text), &seen, &err), -1);
    assert_string_equal(err.text, "t.toml:1: a key or value is too long");
    text.text[text.length - 2] = '\'';
    text.text[text.length - 1] = '\0';
    assert_int_equal(scan(text.text, &seen, &err), 0);
    text_buffer_done(&seen);
    text_buffer_init(&seen, 16);
    assert_int_equal(toml_scan("a\0b", 3, "t.toml", note, &seen, &err), -1);
    text_buffer_done(&text);
    text_buffer_init(&text, TOML_MAXIMUM_BYTES + 4096);
    text_buffer_add_repeated(&text, '\n', TOML_MAXIMUM_BYTES);
    assert_int_equal(toml_scan(text_buffer_text(&text), text.length, "t.toml", note, &seen, &err),
                     0);
    text_buffer_add_text(&text, "\n");
    assert_int_equal(toml_scan(text_buffer_text(&text), text.length, "t.toml", note, &seen, &err),
                     -1);
    assert_non_null(strstr(err.text, "too long for TOML"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_scalars_with_their_places),
        cmocka_unit_test(refuses_with_the_line),
        cmocka_unit_test(stops_where_the_visitor_does),
        cmocka_unit_test(has_limits),
    };
    return unit_test_main("base/toml_scan", tests, COUNT_OF(tests));
}
