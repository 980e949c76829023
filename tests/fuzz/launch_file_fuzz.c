/* SPDX-License-Identifier: MIT */
/* A configuration file that a command names, as each format under every section: it is read,
 * noticed as unreadable, or refused in one line that names the file; nothing else happens. */
#include "tests/fuzz/fuzz_target.h"
#include "workload/launch/launch_file.h"
#include "workload/launch_flags.h"

static const uint8_t *file_data;
static size_t file_size;

static char *read_data(const char *path, size_t maximum, size_t *ret_bytes, struct error_info *err)
{
    (void)path;
    if (file_size > maximum)
        return error_null(error_set(err, "%s: too large", path));
    *ret_bytes = file_size;
    return memory_copy_bytes((const char *)file_data, file_size);
}

static void read_as(const char *const *arguments, size_t count)
{
    const struct launch_command command = {
        .arguments = arguments, .count = count, .read = read_data};
    struct error_info err = {.kind = ERROR_NONE};
    struct launch_counts counts;
    CLEANUP(job_spec) struct job_spec *spec = job_spec_create(NULL);
    CLEANUP_DONE(text_buffer) struct text_buffer notices;
    text_buffer_init(&notices, 4096);
    fuzz_require(spec != NULL, "no memory", "");
    if (launch_command_read(&command, spec, &counts, &notices, &err) < 0) {
        fuzz_require_error(&err);
        fuzz_require(strstr(err.text, "fuzz.") != NULL || strstr(err.text, ".json") != NULL,
                     "the message names no file", err.text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const toml[] = {"torchrun", "x.py", "--job.config_file", "fuzz.toml"};
    static const char *const json[] = {"python", "x.py", "--deepspeed", "fuzz.json"};
    static const char *const yaml[] = {"accelerate", "launch", "--config_file", "fuzz.yaml"};
    file_data = data;
    file_size = size;
    read_as(toml, COUNT_OF(toml));
    read_as(json, COUNT_OF(json));
    read_as(yaml, COUNT_OF(yaml));
    return 0;
}
