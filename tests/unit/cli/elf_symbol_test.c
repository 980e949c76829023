/* SPDX-License-Identifier: MIT */
#include "cli/doctor/elf_symbol.h"
#include "tests/support/elf_sample.h"
#include "tests/support/unit_test.h"

#include <string.h>

#define NUMBER 0x160508u

static int read_sample(const struct elf_sample *sample, size_t bytes, uint32_t *ret,
                       struct error_info *err)
{
    return elf_symbol_read((const char *)sample, bytes, "x.so", "plugin_version", ret, err);
}

static void reads_the_number(void **state)
{
    (void)state;
    struct elf_sample sample;
    uint32_t number = 0;
    elf_sample_fill(&sample, "plugin_version", NUMBER);
    assert_int_equal(read_sample(&sample, sizeof(sample), &number, NULL), 0);
    assert_int_equal(number, NUMBER);
}

static void knows_whole_names_alone(void **state)
{
    (void)state;
    static const char *const names[] = {"plugin_versio", "plugin_version2", "spank_plugin_version",
                                        ""};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct elf_sample sample;
        struct error_info err = {.kind = ERROR_NONE};
        uint32_t number = 7;
        elf_sample_fill(&sample, names[i], NUMBER);
        assert_int_equal(read_sample(&sample, sizeof(sample), &number, &err), -1);
        assert_string_equal(err.text, "x.so has no plugin_version, or is cut; install it again");
        assert_int_equal(number, 7);
    }
}

/* Every cut, and every byte of the tables turned: an answer or an error, and no byte read that is
 * not there (the sanitizers look). */
static void believes_nothing(void **state)
{
    (void)state;
    struct elf_sample sample;
    uint32_t number;
    elf_sample_fill(&sample, "plugin_version", NUMBER);
    for (size_t bytes = 0; bytes < sizeof(sample); bytes++) {
        CLEANUP_MEMORY char *cut = memory_copy_bytes((const char *)&sample, bytes);
        struct error_info err = {.kind = ERROR_NONE};
        if (!cut)
            continue;
        assert_int_equal(elf_symbol_read(cut, bytes, "x.so", "plugin_version", &number, &err), -1);
        assert_int_equal(err.kind, ERROR_INPUT);
    }
    for (size_t at = 0; at < sizeof(sample); at++) {
        static const unsigned char turns[] = {0xff, 0x80, 0x01};
        for (size_t i = 0; i < COUNT_OF(turns); i++) {
            elf_sample_fill(&sample, "plugin_version", NUMBER);
            ((unsigned char *)&sample)[at] ^= turns[i];
            read_sample(&sample, sizeof(sample), &number, NULL);
        }
    }
}

static void refuses_what_is_no_object_of_ours(void **state)
{
    (void)state;
    struct elf_sample sample;
    struct error_info err = {.kind = ERROR_NONE};
    uint32_t number;
    elf_sample_fill(&sample, "plugin_version", NUMBER);
    sample.head.e_ident[EI_CLASS] = ELFCLASS32;
    assert_int_equal(read_sample(&sample, sizeof(sample), &number, &err), -1);
    assert_string_equal(err.text, "x.so is not a shared object of this machine; install it again");
    elf_sample_fill(&sample, "plugin_version", NUMBER);
    sample.sections[ELF_SAMPLE_DATA].sh_type = SHT_NOBITS;
    assert_int_equal(read_sample(&sample, sizeof(sample), &number, &err), -1);
    elf_sample_fill(&sample, "plugin_version", NUMBER);
    sample.symbols[1].st_size = 2;
    assert_int_equal(read_sample(&sample, sizeof(sample), &number, &err), -1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_number),
        cmocka_unit_test(knows_whole_names_alone),
        cmocka_unit_test(believes_nothing),
        cmocka_unit_test(refuses_what_is_no_object_of_ours),
    };
    return unit_test_main("cli/elf_symbol", tests, COUNT_OF(tests));
}
