/* SPDX-License-Identifier: MIT */
/* A plugin's file: no crash, no byte outside of it, a number or one line of why not. */
#include "base/cleanup.h"
#include "cli/doctor/elf_symbol.h"
#include "tests/fuzz/fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error_info err = {.kind = ERROR_NONE};
    uint32_t number = 0;
    CLEANUP_MEMORY char *bytes = fuzz_text(data, size);
    if (elf_symbol_read(bytes, size, "x.so", "plugin_version", &number, &err) < 0)
        fuzz_require_error(&err);
    return 0;
}
