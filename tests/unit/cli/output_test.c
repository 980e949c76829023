/* SPDX-License-Identifier: MIT */
#include "cli/output.h"
#include "tests/support/unit_test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void writes_documents(void **state)
{
    (void)state;
    static const struct {
        enum output_format format;
        const char *want;
    } rows[] = {{FORMAT_JSON, "{\n  \"a\": 1\n}\n"}, {FORMAT_YAML, "a: 1\n"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        struct command_io io = {.style = {.width = 80}};
        text_buffer_init(&io.out, 1000);
        struct json_value *document = json_value_create_object();
        json_add_unsigned(document, "a", 1);
        if (output_document(document, rows[i].format, &io, &err) == 0)
            assert_string_equal(text_buffer_text(&io.out), rows[i].want);
        else
            assert_int_equal(err.kind, ERROR_MEMORY);
        text_buffer_done(&io.out);
    }
}

static void turns_json_text_into_yaml(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    struct command_io io = {.style = {.width = 80}};
    CLEANUP_DONE(text_buffer) struct text_buffer json;
    text_buffer_init(&json, 1000);
    text_buffer_init(&io.out, 1000);
    text_buffer_add_text(&json, "{\"ranks\": [{\"rank\": 0}]}");
    if (output_json_text(&json, FORMAT_YAML, &io, &err) == 0)
        assert_string_equal(text_buffer_text(&io.out), "ranks:\n- rank: 0\n");
    text_buffer_done(&io.out);
    text_buffer_init(&io.out, 1000);
    if (output_json_text(&json, FORMAT_JSON, &io, &err) == 0)
        assert_string_equal(text_buffer_text(&io.out), text_buffer_text(&json));
    text_buffer_done(&io.out);
    json.failed = true;
    err.kind = ERROR_NONE;
    assert_int_equal(output_json_text(&json, FORMAT_JSON, &io, &err), -1);
    assert_int_equal(err.kind, ERROR_MEMORY);
}

static void a_document_that_failed_is_an_error(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    struct command_io io = {.style = {.width = 80}};
    assert_int_equal(output_document(NULL, FORMAT_JSON, &io, &err), -1);
    assert_int_equal(err.kind, ERROR_MEMORY);
    error_set(&err, "what the report said");
    assert_int_equal(output_document(NULL, FORMAT_JSON, &io, &err), -1);
    assert_string_equal(err.text, "what the report said");
}

static void reports_a_full_disk_and_not_a_closed_pipe(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE, .text = ""};
    CLEANUP_FD int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    assert_true(full >= 0);
    assert_int_equal(output_write(full, "x", 1, &err), -1);
    assert_int_equal(err.kind, ERROR_SYSTEM);
    assert_string_equal(err.text, "standard output: No space left on device");

    int ends[2];
    err = (struct error_info){.kind = ERROR_NONE};
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    close(ends[0]);
    assert_int_equal(output_write(ends[1], "x", 1, &err), -1);
    assert_int_equal(err.kind, ERROR_NONE);
    close(ends[1]);
}

static void a_file_gets_no_colour(void **state)
{
    (void)state;
    CLEANUP_FD int file = open("/dev/null", O_WRONLY | O_CLOEXEC);
    struct text_style style = {.colour = true};
    output_style_of(file, &style);
    assert_false(style.colour);
    assert_int_equal(style.width, TEXT_STYLE_DEFAULT_WIDTH);
}

static void a_terminal_gets_colour_unless_told(void **state)
{
    (void)state;
    CLEANUP_FD int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal < 0 || !isatty(terminal))
        skip();
    struct text_style style;
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    output_style_of(terminal, &style);
    assert_true(style.colour);
    setenv("NO_COLOR", "1", 1);
    output_style_of(terminal, &style);
    assert_false(style.colour);
    unsetenv("NO_COLOR");
    setenv("TERM", "dumb", 1);
    output_style_of(terminal, &style);
    assert_false(style.colour);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(writes_documents),
    cmocka_unit_test(turns_json_text_into_yaml),
    cmocka_unit_test(a_document_that_failed_is_an_error),
    cmocka_unit_test(reports_a_full_disk_and_not_a_closed_pipe),
    cmocka_unit_test(a_file_gets_no_colour),
    cmocka_unit_test(a_terminal_gets_colour_unless_told),
};

int main(void) { return unit_test_main("cli/output", tests, COUNT_OF(tests)); }
