/* SPDX-License-Identifier: MIT */
/*
 * argument_list: "a b c" as the arguments of a program, for tests of command lines.
 */
#ifndef TESTS_SUPPORT_ARGUMENT_LIST_H
#define TESTS_SUPPORT_ARGUMENT_LIST_H

#define ARGUMENT_LIST_WORDS 16u
#define ARGUMENT_LIST_BYTES 512u

struct argument_list {
    char text[ARGUMENT_LIST_BYTES];      /* that argv points into */
    char *argv[ARGUMENT_LIST_WORDS + 1]; /* ends with NULL */
    int argc;
};

/* Split at blanks, behind the program's name. Fails the test where there are too many. */
void argument_list_init(struct argument_list *list, const char *program, const char *line);

#endif
