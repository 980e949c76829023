/* SPDX-License-Identifier: MIT */
/*
 * backoff: how long to wait before something is tried again: half a second, doubled with each
 * failure up to BACKOFF_MAXIMUM_MILLISECONDS, of which a random half is taken off, so that many
 * clients do not come back at once. Pure: the same seed gives the same waits.
 */
#ifndef K8S_EXTENDER_API_BACKOFF_H
#define K8S_EXTENDER_API_BACKOFF_H

#include <stdint.h>

#define BACKOFF_FIRST_MILLISECONDS 500u
#define BACKOFF_MAXIMUM_MILLISECONDS 30000u

struct backoff {
    uint64_t random;
    unsigned failures;
};

void backoff_init(struct backoff *backoff, uint64_t seed);
/* After one more failure: milliseconds to wait. asked_seconds: the server's Retry-After, 0 where
 * there is none; at least so long, but never more than the maximum. */
unsigned backoff_next(struct backoff *backoff, unsigned asked_seconds);
/* All went well: the next wait is a short one again. */
void backoff_reset(struct backoff *backoff);
/* A number from minimum to maximum, both included. */
unsigned backoff_random(struct backoff *backoff, unsigned minimum, unsigned maximum);

#endif
