/* SPDX-License-Identifier: MIT */
#include "report/scan/shell_word.h"
#include "tests/support/unit_test.h"

#include <string.h>

static const struct shell_placeholder placeholders[] = {{"tp", "TP"}, {"steps", "STEPS"}};

static void quotes_words(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"", "''"},
        {"train.py", "'train.py'"},
        {"a b", "'a b'"},
        {"it's", "'it'\\''s'"},
        {"'", "''\\'''"},
        {"$(reboot)`id`\\", "'$(reboot)`id`\\'"},
        {"a\nb", "$'a\\012b'"},
        {"\r\t\x7f", "$'\\015\\011\\177'"},
        {"'\n\\", "$'\\047\\012\\134'"},
        {"\xc3\xa9", "$'\\303\\251'"},
        {"\xff", "$'\\377'"},
        {"{tp}", "\"$TP\""},
        {"--tp={tp}x", "'--tp='\"$TP\"'x'"},
        {"{tp}{steps}", "\"$TP\"\"$STEPS\""},
        {"{tp", "'{tp'"},
        {"{t}{}{pp}", "'{t}{}{pp}'"},
        {"{{tp}}", "'{'\"$TP\"'}'"},
        {"'{tp}\n", "''\\'''\"$TP\"$'\\012'"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP_DONE(text_buffer) struct text_buffer out;
        text_buffer_init(&out, 4096);
        shell_word_add(rows[i].text, placeholders, COUNT_OF(placeholders), &out);
        if (!text_buffer_failed(&out))
            assert_string_equal(text_buffer_text(&out), rows[i].want);
    }
}

/* Nothing but printable ASCII leaves, whatever comes. */
static void every_byte_is_quoted(void **state)
{
    (void)state;
    for (unsigned byte = 1; byte < 256; byte++) {
        const char text[] = {'a', (char)byte, 'b', '\0'};
        CLEANUP_DONE(text_buffer) struct text_buffer out;
        text_buffer_init(&out, 4096);
        shell_word_add(text, NULL, 0, &out);
        for (const char *at = text_buffer_text(&out); *at != '\0'; at++)
            assert_true(*at >= ' ' && *at <= '~');
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(quotes_words),
    cmocka_unit_test(every_byte_is_quoted),
};

int main(void) { return unit_test_main("report/shell_word", tests, COUNT_OF(tests)); }
