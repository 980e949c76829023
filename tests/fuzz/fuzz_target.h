/* SPDX-License-Identifier: MIT */
/*
 * fuzz_target: what every libFuzzer target of ours needs: its entry point, and a check that
 * ends the program, which the fuzzer reports with the input.
 */
#ifndef TESTS_FUZZ_FUZZ_TARGET_H
#define TESTS_FUZZ_FUZZ_TARGET_H

#include "base/error.h"
#include "base/memory.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void fuzz_require(bool truth, const char *what, const char *text)
{
    if (truth)
        return;
    fprintf(stderr, "fuzz: %s: '%s'\n", what, text);
    abort();
}

/* A failure must say why, in one line of text. */
static inline void fuzz_require_error(const struct error_info *err)
{
    fuzz_require(err->kind == ERROR_INPUT, "the error is of another kind", err->text);
    fuzz_require(err->text[0] != '\0', "the error says nothing", "");
    for (const char *read = err->text; *read; read++)
        fuzz_require((unsigned char)*read >= 0x20, "the error is not one line", err->text);
}

/* The input as a text of ours. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = memory_copy_bytes((const char *)data, size);
    if (!text)
        abort();
    return text;
}

#endif
