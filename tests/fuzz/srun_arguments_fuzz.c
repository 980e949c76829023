/* SPDX-License-Identifier: MIT */
/* srun's command line, a word a line: what is found stands in it, before the program. */
#include "base/cleanup.h"
#include "spank_plugin/place/srun_arguments.h"
#include "tests/fuzz/fuzz_target.h"

#define WORDS 64

static size_t split(char *text, const char *words[WORDS])
{
    size_t count = 0;
    for (char *at = text; at && count < WORDS;) {
        char *end = strchr(at, '\n');
        if (end)
            *end++ = '\0';
        words[count++] = at;
        at = end;
    }
    return count;
}

/* "auto" aside, every value is the end of a word of srun's own. */
static void check_value(const char *value, const char *const *words, size_t count)
{
    size_t at = 0;
    while (at < count && !(value >= words[at] && value <= words[at] + strlen(words[at])))
        at++;
    fuzz_require(at < count || strcmp(value, "auto") == 0, "a value from nowhere", value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *words[WORDS] = {NULL};
    struct srun_arguments found;
    CLEANUP_MEMORY char *text = memory_copy_bytes((const char *)data, size);
    size_t count = text ? split(text, words) : 0;
    srun_arguments_parse(words, count, &found);
    fuzz_require(found.command <= count, "the program is behind the end", "");
    for (size_t i = 0; i < SRUN_ARGUMENT_COUNT; i++)
        if (found.values[i])
            check_value(found.values[i], words, found.command);
    return 0;
}
