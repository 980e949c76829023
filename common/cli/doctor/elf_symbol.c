/* SPDX-License-Identifier: MIT */
#include "cli/doctor/elf_symbol.h"
#include <elf.h>
#include <stdbool.h>
#include <string.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OUR_BYTE_ORDER ELFDATA2LSB
#else
#define OUR_BYTE_ORDER ELFDATA2MSB
#endif

struct elf_view {
    const char *bytes;
    size_t count;
    Elf64_Ehdr head;
};

/* Copied, since nothing in a file need be aligned; false: not all of it is in the file. */
static bool copy_at(const struct elf_view *view, uint64_t offset, void *ret, size_t bytes)
{
    if (offset > view->count || bytes > view->count - offset)
        return false;
    memcpy(ret, view->bytes + offset, bytes);
    return true;
}

static bool read_head(struct elf_view *view)
{
    return copy_at(view, 0, &view->head, sizeof(view->head)) &&
           memcmp(view->head.e_ident, ELFMAG, SELFMAG) == 0 &&
           view->head.e_ident[EI_CLASS] == ELFCLASS64 &&
           view->head.e_ident[EI_DATA] == OUR_BYTE_ORDER && view->head.e_type == ET_DYN &&
           view->head.e_shentsize == sizeof(Elf64_Shdr) &&
           view->head.e_shnum <= ELF_MAXIMUM_SECTIONS;
}

static bool read_section(const struct elf_view *view, uint32_t index, Elf64_Shdr *ret)
{
    uint64_t offset;
    return index < view->head.e_shnum &&
           !__builtin_add_overflow(view->head.e_shoff, index * sizeof(*ret), &offset) &&
           copy_at(view, offset, ret, sizeof(*ret));
}

static bool find_section(const struct elf_view *view, uint32_t type, Elf64_Shdr *ret)
{
    for (uint32_t i = 0; i < view->head.e_shnum; i++)
        if (read_section(view, i, ret) && ret->sh_type == type)
            return true;
    return false;
}

static bool has_name(const struct elf_view *view, const Elf64_Shdr *names, const Elf64_Sym *symbol,
                     const char *wanted)
{
    size_t bytes = strlen(wanted) + 1;
    uint64_t offset;
    if (symbol->st_name > names->sh_size || bytes > names->sh_size - symbol->st_name ||
        __builtin_add_overflow(names->sh_offset, symbol->st_name, &offset) ||
        offset > view->count || bytes > view->count - offset)
        return false;
    return memcmp(view->bytes + offset, wanted, bytes) == 0;
}

static bool find_symbol(const struct elf_view *view, const char *wanted, Elf64_Sym *ret)
{
    Elf64_Shdr table, names;
    if (!find_section(view, SHT_DYNSYM, &table) || !read_section(view, table.sh_link, &names))
        return false;
    uint64_t count = table.sh_size / sizeof(*ret);
    for (uint64_t i = 0; i < count && i < ELF_MAXIMUM_SYMBOLS; i++) {
        uint64_t offset;
        if (__builtin_add_overflow(table.sh_offset, i * sizeof(*ret), &offset) ||
            !copy_at(view, offset, ret, sizeof(*ret)))
            return false;
        if (ELF64_ST_TYPE(ret->st_info) == STT_OBJECT && has_name(view, &names, ret, wanted))
            return true;
    }
    return false;
}

static bool read_value(const struct elf_view *view, const Elf64_Sym *symbol, uint32_t *ret)
{
    Elf64_Shdr section;
    uint64_t offset;
    uint32_t value;
    if (!read_section(view, symbol->st_shndx, &section) || section.sh_type == SHT_NOBITS ||
        symbol->st_value < section.sh_addr || symbol->st_size < sizeof(value))
        return false;
    uint64_t inside = symbol->st_value - section.sh_addr;
    if (inside > section.sh_size || sizeof(value) > section.sh_size - inside ||
        __builtin_add_overflow(section.sh_offset, inside, &offset) ||
        !copy_at(view, offset, &value, sizeof(value)))
        return false;
    *ret = value;
    return true;
}

int elf_symbol_read(const char *bytes, size_t count, const char *source, const char *symbol,
                    uint32_t *ret, struct error_info *err)
{
    struct elf_view view = {.bytes = bytes, .count = count};
    Elf64_Sym found;
    if (!read_head(&view))
        return error_set(err, "%s is not a shared object of this machine; install it again",
                         source);
    if (!find_symbol(&view, symbol, &found) || !read_value(&view, &found, ret))
        return error_set(err, "%s has no %s, or is cut; install it again", source, symbol);
    return 0;
}
