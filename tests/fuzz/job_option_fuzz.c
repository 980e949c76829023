/* SPDX-License-Identifier: MIT */
/* --parplan=…: what is read is in its range and merges with itself; what is refused is one
 * line; degrees that are completed make N. */
#include "workload/job/job_bounds.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool truth)
{
    if (!truth)
        abort();
}

static void check_error(const struct error_info *err)
{
    check(err->kind != ERROR_NONE && err->text[0] != '\0' && !strpbrk(err->text, "\n\r\x1b"));
}

static void check_degrees(const struct job_spec *spec, uint64_t world)
{
    struct degrees degrees;
    struct error_info err = {0};
    job_spec_degrees(spec, &degrees);
    if (degrees_complete(&degrees, world, &err) < 0) {
        check_error(&err);
        return;
    }
    check(degrees_world(&degrees) == world);
    check((uint64_t)degrees.etp * degrees.ep * degrees_edp(&degrees) * degrees.pp == world);
    check((uint64_t)degrees.shard * degrees.replicate == degrees.dp);
}

static void check_bounds(const struct job_spec *spec)
{
    for (unsigned i = 0; i < JOB_KEY_COUNT; i++) {
        enum job_key key = (enum job_key)i;
        const struct job_bound *least = &spec->bounds[i][JOB_LEAST];
        const struct job_bound *most = &spec->bounds[i][JOB_MOST];
        const struct job_value *value = &spec->values[i];
        check(!job_bounds_given(spec, key) || job_key_info(key)->bounds);
        check(!least->given || job_bounds_hold(spec, key, least->number));
        check(!most->given || job_bounds_hold(spec, key, most->number));
        check(!value->given || job_bounds_hold(spec, key, value->number));
    }
}

static void check_values(const struct job_spec *spec)
{
    for (unsigned i = 0; i < JOB_KEY_COUNT; i++) {
        const struct job_value *value = &spec->values[i];
        const struct job_key_info *info = job_key_info((enum job_key)i);
        if (!value->given)
            continue;
        check(value->text && value->text[0] != '\0' && !strcmp(value->where, "--parplan"));
        if (info->type == JOB_TYPE_UNSIGNED)
            check(value->number >= info->minimum && value->number <= info->maximum);
        if (info->type == JOB_TYPE_FACTOR)
            check(value->real >= info->minimum && value->real <= info->maximum);
        if (info->type == JOB_TYPE_TRAINABLE)
            check(value->real > 0 ? value->real <= 1 && value->number == 0
                                  : value->real == 0 && value->number <= LORA_RANK_MAXIMUM);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP_MEMORY char *text = memory_copy_bytes((const char *)data, size);
    CLEANUP(job_spec) struct job_spec *spec = job_spec_create(NULL);
    CLEANUP(job_spec) struct job_spec *copy = job_spec_create(NULL);
    struct error_info err = {0};
    if (job_spec_parse_option(spec, text, "--parplan", &err) < 0) {
        check_error(&err);
        return 0;
    }
    check_values(spec);
    check_bounds(spec);
    check(job_spec_merge_below(copy, spec, &err) == 0);
    check(job_spec_merge_below(copy, spec, &err) == 0);
    check_degrees(spec, 1);
    check_degrees(spec, 1024);
    check_degrees(spec, WORLD_MAXIMUM);
    return 0;
}
