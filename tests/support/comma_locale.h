/* SPDX-License-Identifier: MIT */
/*
 * comma_locale: a locale whose decimal point is a comma, on machines where none is
 * installed: it is written to a temporary folder in glibc's format and loaded from there.
 */
#ifndef TESTS_SUPPORT_COMMA_LOCALE_H
#define TESTS_SUPPORT_COMMA_LOCALE_H

#include <locale.h>

/* For uselocale, then freelocale; (locale_t)0 where the C library does not load it. */
locale_t comma_locale_create(void);

#endif
