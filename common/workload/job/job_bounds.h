/* SPDX-License-Identifier: MIT */
/*
 * job_bounds: keys that are bounded instead of given: what is written, what contradicts it, and
 * what is within.
 */
#ifndef WORKLOAD_JOB_JOB_BOUNDS_H
#define WORKLOAD_JOB_JOB_BOUNDS_H

#include "workload/job_spec.h"

/* "<=4", ">=2,<=4" of one key. Refuses what is no bound, a key that takes none, a number out of
 * the key's range, and what contradicts its value or another bound. */
int job_bounds_parse(struct job_spec *spec, enum job_key key, const char *value, const char *where,
                     struct error_info *err);
int job_bounds_store(struct job_spec *spec, enum job_key key, enum job_side side, uint64_t number,
                     const char *where, struct error_info *err);
/* Refuses a value that lies outside. */
int job_bounds_check(const struct job_spec *spec, enum job_key key, uint64_t number,
                     const char *where, struct error_info *err);

bool job_bounds_given(const struct job_spec *spec, enum job_key key);
/* true without bounds. */
bool job_bounds_hold(const struct job_spec *spec, enum job_key key, uint64_t value);
/* For who does not search: a bound would be swallowed. Keys with a value are fine. */
int job_bounds_refuse(const struct job_spec *spec, struct error_info *err);

/* "pp<=4", "tp>=2,tp<=4"; "" without bounds. */
#define JOB_BOUNDS_TEXT_BYTES 64
void job_bounds_text(const struct job_spec *spec, enum job_key key,
                     char ret[static JOB_BOUNDS_TEXT_BYTES]);

#endif
