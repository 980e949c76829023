/* SPDX-License-Identifier: MIT */
#include "tests/support/elf_sample.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define AT(field) offsetof(struct elf_sample, field)

void elf_sample_fill(struct elf_sample *sample, const char *name, uint32_t number)
{
    memset(sample, 0, sizeof(*sample));
    memcpy(sample->head.e_ident, ELFMAG, SELFMAG);
    sample->head.e_ident[EI_CLASS] = ELFCLASS64;
    sample->head.e_ident[EI_DATA] =
        __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
    sample->head.e_type = ET_DYN;
    sample->head.e_shoff = AT(sections);
    sample->head.e_shentsize = sizeof(sample->sections[0]);
    sample->head.e_shnum = ELF_SAMPLE_COUNT;
    sample->sections[ELF_SAMPLE_NAMES] = (Elf64_Shdr){
        .sh_type = SHT_STRTAB, .sh_offset = AT(names), .sh_size = sizeof(sample->names)};
    sample->sections[ELF_SAMPLE_SYMBOLS] = (Elf64_Shdr){.sh_type = SHT_DYNSYM,
                                                        .sh_offset = AT(symbols),
                                                        .sh_size = sizeof(sample->symbols),
                                                        .sh_link = ELF_SAMPLE_NAMES};
    sample->sections[ELF_SAMPLE_DATA] = (Elf64_Shdr){.sh_type = SHT_PROGBITS,
                                                     .sh_addr = ELF_SAMPLE_ADDRESS,
                                                     .sh_offset = AT(data),
                                                     .sh_size = sizeof(sample->data)};
    snprintf(sample->names + 1, sizeof(sample->names) - 1, "%s", name);
    sample->symbols[1] = (Elf64_Sym){.st_name = 1,
                                     .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
                                     .st_shndx = ELF_SAMPLE_DATA,
                                     .st_value = ELF_SAMPLE_ADDRESS + sizeof(sample->data[0]),
                                     .st_size = sizeof(sample->data[1])};
    sample->data[0] = 1;
    sample->data[1] = number;
}
