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
#define VALUE_RULE(path, value, all, any, none)                                                    \
    {                                                                                              \
        (path), SETTING_WORD, VALUE_##value, 0, NULL, (all), (any), (none)                         \
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
/* What a plan counted and the launcher has no setting for: the program must do it. */
#define LORA_NOTE(how)                                                                             \
    {                                                                                              \
        "The plan counted LoRA adapters of rank % alone as trained, the model frozen in 16 "       \
        "bits: " how ". Without it more memory is needed.",                                        \
            {VALUE_LORA_RANK}, TRAIT(LORA), 0, 0                                                   \
    }
#define OPTIMIZER_NOTE(all, any, none)                                                             \
    {                                                                                              \
        "The plan counted the moments of optimizer=%: the program must use that optimizer. "       \
        "Adam's in fp32 need more memory.",                                                        \
            {VALUE_OPTIMIZER}, (all), (any), (none)                                                \
    }
#define MTP_NOTE                                                                                   \
    {                                                                                              \
        "The plan counted multi-token prediction layers (mtp=%): the model must have them.",       \
            {VALUE_MTP}, TRAIT(MTP), 0, 0                                                          \
    }
#define CAPACITY_NOTES                                                                             \
    {"The plan counted capacity_factor=%: the program must drop the tokens over that share of "    \
     "an even load of an expert.",                                                                 \
     {VALUE_CAPACITY},                                                                             \
     TRAIT(CAPACITY),                                                                              \
     0,                                                                                            \
     TRAIT(PADDED)},                                                                               \
    {                                                                                              \
        "The plan counted capacity_factor=%: the program must drop the tokens over that share "    \
        "of an even load of an expert, and pad to it.",                                            \
            {VALUE_CAPACITY}, TRAIT(PADDED), 0, 0                                                  \
    }
#define PROGRAM_NOTES(lora)                                                                        \
    LORA_NOTE(lora), OPTIMIZER_NOTE(0, TRAITS_OPTIMIZERS, 0), MTP_NOTE, CAPACITY_NOTES
#define TABLE(noun, rows) .noun##s = (rows), .noun##_count = COUNT_OF(rows)

#endif
