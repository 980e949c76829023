/* SPDX-License-Identifier: MIT */
/*
 * launcher_rules: short forms for the rows of the launchers' tables. The last three words of
 * each row are `all`, `any` and `none` (launcher.h).
 */
#ifndef REPORT_LAUNCHERS_LAUNCHER_RULES_H
#define REPORT_LAUNCHERS_LAUNCHER_RULES_H

#include "report/launchers/launcher.h"

#define NUMBER_RULE(path, value, all, any, none)                                                   \
    {                                                                                              \
        (path), SETTING_NUMBER, VALUE_##value, 0, NULL, (all), (any), (none)                       \
    }
#define LITERAL_RULE(path, literal, all, any, none)                                                \
    {                                                                                              \
        (path), SETTING_NUMBER, VALUE_NONE, (literal), NULL, (all), (any), (none)                  \
    }
#define WORD_RULE(path, word, all, any, none)                                                      \
    {                                                                                              \
        (path), SETTING_WORD, VALUE_NONE, 0, (word), (all), (any), (none)                          \
    }
#define RULE(path, kind, all, any, none)                                                           \
    {                                                                                              \
        (path), SETTING_##kind, VALUE_NONE, 0, NULL, (all), (any), (none)                          \
    }
#define LIST_RULE(path, word, all, any, none)                                                      \
    {                                                                                              \
        (path), SETTING_LIST, VALUE_NONE, 0, (word), (all), (any), (none)                          \
    }
#define LIMIT(key, why, remedy, all, any, none)                                                    \
    {                                                                                              \
        VALUE_##key, (why), (remedy), (all), (any), (none)                                         \
    }
#define NOTE(text, all, any, none)                                                                 \
    {                                                                                              \
        (text), {VALUE_NONE}, (all), (any), (none)                                                 \
    }
#define TABLE(noun, rows) .noun##s = (rows), .noun##_count = COUNT_OF(rows)

#endif
