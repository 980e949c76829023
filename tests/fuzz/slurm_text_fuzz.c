/* SPDX-License-Identifier: MIT */
/* Slurm's texts and lines of plugstack.conf: no crash, values that fit their room and hold no line
 * end, a line understood or one line of why not. */
#include "cli/doctor/plugstack.h"
#include "cli/doctor/slurm_text.h"
#include "tests/fuzz/fuzz_target.h"

#define VALUE_BYTES 32u

static void require_value(bool found, const char *value)
{
    fuzz_require(memchr(value, '\0', VALUE_BYTES) != NULL, "the value has no end", "");
    fuzz_require(found == (value[0] != '\0'), "a value that is not there", value);
    fuzz_require(!strchr(value, '\n'), "a value of two lines", value);
}

static void try_line(const char *line, size_t bytes)
{
    char path[PLUGSTACK_WORD_BYTES], arguments[PLUGSTACK_WORD_BYTES], value[VALUE_BYTES];
    enum plugstack_word word;
    struct error_info err = {.kind = ERROR_NONE};
    if (plugstack_line_parse(line, bytes, &word, path, arguments, &err) < 0) {
        fuzz_require_error(&err);
        return;
    }
    fuzz_require(word == PLUGSTACK_NOTHING || path[0], "a line without a file", line);
    const struct plugstack_entry entry = {.path = path, .arguments = arguments};
    require_value(plugstack_argument(&entry, "config", value, sizeof(value)), value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char value[VALUE_BYTES], version[SLURM_VERSION_BYTES], type[GPU_TYPE_BYTES];
    CLEANUP_MEMORY char *text = fuzz_text(data, size);
    require_value(slurm_setting_find(text, "PluginDir", value, sizeof(value)), value);
    const char *node = slurm_node_find(text, "n1");
    if (node)
        require_value(slurm_node_value(node, "Gres", value, sizeof(value)), value);
    if (node)
        slurm_node_gpus(node, type);
    slurm_version_write(slurm_version_parse(text), true, version);
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t bytes = end ? (size_t)(end - text) - at : size - at;
        try_line(text + at, bytes);
        at += bytes + 1;
    }
    return 0;
}
