/* SPDX-License-Identifier: MIT */
#include "tests/support/argument_list.h"
#include "tests/support/unit_test.h"

#include <stdio.h>
#include <string.h>

void argument_list_init(struct argument_list *list, const char *program, const char *line)
{
    int bytes = snprintf(list->text, sizeof(list->text), "%s %s", program, line);
    assert_true((size_t)bytes < sizeof(list->text));
    list->argc = 0;
    char *rest = NULL;
    for (char *word = strtok_r(list->text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        assert_true((size_t)list->argc < ARGUMENT_LIST_WORDS);
        list->argv[list->argc++] = word;
    }
    list->argv[list->argc] = NULL;
}
