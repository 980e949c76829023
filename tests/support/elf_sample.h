/* SPDX-License-Identifier: MIT */
/*
 * elf_sample: the smallest shared object that has one number as a symbol: what the doctor reads of
 * a plugin, in a few hundred bytes and with every offset known.
 */
#ifndef TESTS_SUPPORT_ELF_SAMPLE_H
#define TESTS_SUPPORT_ELF_SAMPLE_H

#include <elf.h>
#include <stdint.h>

enum { ELF_SAMPLE_NONE, ELF_SAMPLE_NAMES, ELF_SAMPLE_SYMBOLS, ELF_SAMPLE_DATA, ELF_SAMPLE_COUNT };

#define ELF_SAMPLE_NAMES_BYTES 32u
#define ELF_SAMPLE_ADDRESS 0x1000u /* of its data in memory */

struct elf_sample {
    Elf64_Ehdr head;
    Elf64_Shdr sections[ELF_SAMPLE_COUNT];
    char names[ELF_SAMPLE_NAMES_BYTES];
    Elf64_Sym symbols[2]; /* the first is none, as in every object */
    uint32_t data[2];     /* the second is the number */
};

/* name: at most 30 characters. */
void elf_sample_fill(struct elf_sample *sample, const char *name, uint32_t number);

#endif
