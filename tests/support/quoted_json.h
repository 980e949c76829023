/* SPDX-License-Identifier: MIT */
/*
 * quoted_json: JSON that can be read in a test's source: "{'metadata':{'name':'%s'}}" with ' for ".
 */
#ifndef TESTS_SUPPORT_QUOTED_JSON_H
#define TESTS_SUPPORT_QUOTED_JSON_H

/* Formatted, each ' become ". memory_free; NULL: out of memory. */
char *quoted_json(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
