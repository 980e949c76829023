/* SPDX-License-Identifier: MIT */
/*
 * elf_symbol: a number out of a shared object without loading it. Slurm's plugins cannot be loaded
 * by another program (their symbols come from srun), but which Slurm they were built for stands in
 * them as data: `const unsigned int plugin_version` (slurm/spank.h).
 * Reads 64-bit objects of this machine's byte order, by their sections (System V ABI, "Object
 * files"). Pure; nothing in the bytes is believed. Limits: ELF_MAXIMUM_*.
 */
#ifndef CLI_DOCTOR_ELF_SYMBOL_H
#define CLI_DOCTOR_ELF_SYMBOL_H

#include "base/error.h"
#include <stddef.h>
#include <stdint.h>

#define ELF_MAXIMUM_BYTES ((size_t)64 << 20)
#define ELF_MAXIMUM_SECTIONS 4096u
#define ELF_MAXIMUM_SYMBOLS 65536u

/* The first four bytes of the data object `symbol`. source: for messages. */
int elf_symbol_read(const char *bytes, size_t count, const char *source, const char *symbol,
                    uint32_t *ret, struct error_info *err);

#endif
