/* SPDX-License-Identifier: MIT */
/*
 * launch_file: a training program's configuration file, whose keys data/launch_keys.yaml knows.
 * A name ending in .toml is TOML (tables/toml_scan.h); others are read as YAML, of which JSON is a
 * part, so that every value has its line.
 */
#ifndef WORKLOAD_LAUNCH_LAUNCH_FILE_H
#define WORKLOAD_LAUNCH_LAUNCH_FILE_H

#include "base/yaml_document.h"
#include "workload/launch/launch_rule.h"

#define LAUNCH_FILE_MAXIMUM_BYTES ((size_t)1 << 20)

/* Its `keys:` apply. */
struct launch_file {
    const struct yaml_node *section;
    const char *path;
};

/* A key whose rule is "@file" (accelerate's deepspeed_config_file) goes to reading->next as it
 * stands there. Errors: "<path>:<line>: …". What contradicts the spec sets reading->refused;
 * without it the text is no TOML or YAML, or memory is short. text[bytes] is NUL. */
int launch_file_read(struct launch_reading *reading, const struct launch_file *file,
                     const char *text, size_t bytes, struct error_info *err);

#endif
