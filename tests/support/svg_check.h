/* SPDX-License-Identifier: MIT */
/*
 * svg_check: whether a picture of ours can be read: well-formed XML, text that stays inside the
 * page and lies on no other text.
 * Each returns NULL, or what is wrong, in static memory.
 */
#ifndef TESTS_SUPPORT_SVG_CHECK_H
#define TESTS_SUPPORT_SVG_CHECK_H

/* Elements close in order, attributes are quoted, no bare '<' or '&', no forbidden bytes. */
const char *svg_check_form(const char *text);
/* Texts as wide as svg_text_width says. */
const char *svg_check_texts(const char *text);

#endif
