/* SPDX-License-Identifier: MIT */
/*
 * packed_text: texts of messages, packed in the Slurm plugin. Every srun and slurmstepd maps
 * the plugin, and few ever print one of its hundreds of messages. A function that formats
 * covers itself with a macro, after its declaration:
 *
 *     #ifdef TEXTS_PACKED
 *     #define error_set(err, format, ...) (error_set)(err, PACKED_TEXT(format), ##__VA_ARGS__)
 *     #endif
 *
 * and hands its format to text_format(), which unpacks it. The file that defines it drops the
 * macro with #undef. The format of every call is a literal.
 * A longer literal that is handed to %s or into a text is written as UNPACKED_TEXT("…"); one
 * that text_buffer_add_text() would take, as the format of text_buffer_add(). Without TEXTS_PACKED,
 * as in the command line and all tests, nothing is packed.
 *
 * What a launch prints that succeeds stays as it is, so that nothing is unpacked there:
 * (text_buffer_add)(…), in parentheses, is the function itself.
 *
 * How: the literal goes to a section that is not loaded, so its address is only its number:
 * its place in that section, counted from the start of the plugin's image, where no text can
 * be. spank_plugin/pack_texts.sh packs the section with gzip and drops it.
 */
#ifndef BASE_PACKED_TEXT_H
#define BASE_PACKED_TEXT_H

#ifdef TEXTS_PACKED

#define PACKED_TEXT_MINIMUM 12u /* shorter ones are often in use, and pack badly */

/* '#' comments out what the compiler adds: not loaded (""), nor writable. */
#define PACKED_TEXT_SECTION "plugin_texts,\"\",@progbits#"

#define PACKED_TEXT_NUMBER(text)                                                                   \
    __extension__({                                                                                \
        static const char packed_[] __attribute__((aligned(1), section(PACKED_TEXT_SECTION))) =    \
            text;                                                                                  \
        packed_;                                                                                   \
    })

#define PACKED_TEXT(text)                                                                          \
    __builtin_choose_expr(sizeof(text) > PACKED_TEXT_MINIMUM, PACKED_TEXT_NUMBER(text), text)

/* The text itself: of a packed one the unpacked copy, any other pointer as it is. The copies
 * are made at the first call (22 KB, 0.2 ms) and stay until the process ends. "out of memory"
 * where that fails. Not thread safe: Slurm calls a plugin from one thread. */
const char *packed_text(const char *text) __attribute__((format_arg(1)));

#else

#define PACKED_TEXT(text) text

static inline __attribute__((format_arg(1))) const char *packed_text(const char *text)
{
    return text;
}

#endif

/* Of a literal that is no format, where it is used: the unpacked text. */
#define UNPACKED_TEXT(text) packed_text(PACKED_TEXT(text))

#endif
