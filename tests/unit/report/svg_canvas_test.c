/* SPDX-License-Identifier: MIT */
#include "report/pictures/svg_canvas.h"
#include "tests/support/comma_locale.h"
#include "tests/support/svg_check.h"
#include "tests/support/unit_test.h"

#include <math.h>
#include <string.h>

static const struct svg_font font = {"pl", 10.0, false};
static const struct svg_font bold = {"st", 10.0, true};

static void expect(struct text_buffer *out, const char *want)
{
    if (!text_buffer_failed(out))
        assert_string_equal(text_buffer_text(out), want);
}

static void writes_shapes(void **state)
{
    (void)state;
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 1 << 16);
    svg_rectangle(&out, &(const struct svg_box){1.0, 2.25, 30.0, -4.0}, 0.0, "a");
    svg_circle(&out, 1.04, 1.06, 3.0, NULL);
    svg_line(&out, 0.0, -0.04, -1.25, 7.0, "b");
    svg_path_begin(&out, "c", 2.5);
    svg_path_move(&out, 1.0, 1.0);
    svg_path_curve(&out, (const double[]){1.0, 2.0, 3.0, 4.0, 5.0, 6.0});
    svg_path_square(&out, 0.0, 0.0, 9.0);
    svg_path_end(&out);
    expect(&out, "<rect class=\"a\" x=\"1\" y=\"2.3\" width=\"30\" height=\"0\"/>\n"
                 "<circle cx=\"1\" cy=\"1.1\" r=\"3\"/>\n"
                 "<path class=\"b\" d=\"M0 0L-1.2 7\"/>\n"
                 "<path class=\"c\" stroke-width=\"2.5\" d=\"M1 1C1 2 3 4 5 6M0 0h9v9h-9z\"/>\n");
}

static void numbers_are_bounded(void **state)
{
    (void)state;
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 1 << 16);
    svg_circle(&out, (double)NAN, (double)INFINITY, 1e9, NULL);
    expect(&out, "<circle cx=\"0\" cy=\"0\" r=\"0\"/>\n");
}

static void escapes_hostile_text(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"<&\"'>", "&lt;&amp;&quot;&#39;&gt;"},
        {"a\x01\n\x7f", "a???"},
        {"\xff\xc0\xaf", "???"},
        {"\xe2\x80\xae"
         "abc",
         "?abc"},                /* right to left override */
        {"\xef\xbf\xbf", "?"},   /* U+FFFF */
        {"\xed\xa0\x80", "???"}, /* a surrogate */
        {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
        {"</title><script>", "&lt;/title&gt;&lt;script&gt;"},
        {"", ""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP_DONE(text_buffer) struct text_buffer out, want;
        text_buffer_init(&out, 1 << 16);
        text_buffer_init(&want, 1 << 16);
        svg_text(&out, 1.0, 2.0, &font, SVG_MIDDLE, rows[i].text);
        svg_group_begin(&out, "g", rows[i].text);
        svg_group_end(&out);
        text_buffer_add(&want,
                        "<text class=\"pl\" x=\"1\" y=\"2\" text-anchor=\"middle\">%s</text>\n"
                        "<g class=\"g\"><title>%s</title>\n</g>\n",
                        rows[i].want, rows[i].want);
        if (!text_buffer_failed(&out) && !text_buffer_failed(&want)) {
            assert_string_equal(text_buffer_text(&out), text_buffer_text(&want));
            assert_null(svg_check_form(text_buffer_text(&out)));
        }
    }
}

static void cuts_what_does_not_fit(void **state)
{
    (void)state;
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 1 << 16);
    svg_text_fit(&out, &(const struct svg_box){0.0, 9.0, 34.0, 0.0}, &font, SVG_START, "abcdefgh");
    svg_text_fit(&out, &(const struct svg_box){0.0, 9.0, 60.0, 0.0}, &font, SVG_END, "abcdefgh");
    svg_text_fit(&out, &(const struct svg_box){0.0, 9.0, 1.0, 0.0}, &font, SVG_START, "ab");
    expect(&out, "<text class=\"pl\" x=\"0\" y=\"9\"><title>abcdefgh</title>abc…</text>\n"
                 "<text class=\"pl\" x=\"0\" y=\"9\" text-anchor=\"end\">abcdefgh</text>\n"
                 "<text class=\"pl\" x=\"0\" y=\"9\"><title>ab</title>…</text>\n");
}

static void measures_text(void **state)
{
    (void)state;
    assert_int_equal((int)(svg_text_width(&font, "abc") * 100.0 + 0.5), 1798);
    assert_true(svg_text_width(&bold, "abc") > svg_text_width(&font, "abc"));
    assert_int_equal((int)(svg_text_width(&font, "\xc3\xbc\xff") * 100.0 + 0.5), 1531);
    assert_true(svg_text_width(&font, "") <= 0.0);
}

static void heads_and_closes(void **state)
{
    (void)state;
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 1 << 16);
    svg_begin(&out, 100.5, 50.0, "a & b", ".x{fill:red}\n");
    svg_end(&out);
    expect(&out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 100.5 50\""
                 " width=\"100.5\" height=\"50\" role=\"img\">\n"
                 "<title>a &amp; b</title>\n<style>\n.x{fill:red}\n</style>\n</svg>\n");
}

static void knows_no_locale(void **state)
{
    (void)state;
    locale_t comma = comma_locale_create();
    if (!comma)
        skip();
    locale_t before = uselocale(comma);
    writes_shapes(state);
    uselocale(before);
    freelocale(comma);
}

static void the_checker_finds_faults(void **state)
{
    (void)state;
    static const char *const rows[] = {"<g>",   "</g>", "<g></h>", "<g a=\"<\"/>",  "<g a=\"x",
                                       "a & b", "\x01", "<1>",     "<g a=\"x\"></g"};
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (!svg_check_form(rows[i]))
            fail_msg("'%s' passes", rows[i]);
    assert_null(svg_check_form("<g a=\"x\"><b/>&lt;</g>\n"));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(writes_shapes),        cmocka_unit_test(numbers_are_bounded),
    cmocka_unit_test(escapes_hostile_text), cmocka_unit_test(cuts_what_does_not_fit),
    cmocka_unit_test(measures_text),        cmocka_unit_test(heads_and_closes),
    cmocka_unit_test(knows_no_locale),      cmocka_unit_test(the_checker_finds_faults),
};

int main(void) { return unit_test_main("report/svg_canvas", tests, COUNT_OF(tests)); }
