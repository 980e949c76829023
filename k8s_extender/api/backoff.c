/* SPDX-License-Identifier: MIT */
#include "k8s_extender/api/backoff.h"

/* SplitMix64: good enough to spread clients, and any seed will do. */
static uint64_t random_next(struct backoff *backoff)
{
    uint64_t mixed = backoff->random += UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

void backoff_init(struct backoff *backoff, uint64_t seed)
{
    *backoff = (struct backoff){.random = seed};
}

unsigned backoff_random(struct backoff *backoff, unsigned minimum, unsigned maximum)
{
    uint64_t range = (uint64_t)maximum - minimum + 1;
    return minimum + (unsigned)(random_next(backoff) % range);
}

unsigned backoff_next(struct backoff *backoff, unsigned asked_seconds)
{
    unsigned wait = BACKOFF_FIRST_MILLISECONDS;
    for (unsigned i = 0; i < backoff->failures && wait < BACKOFF_MAXIMUM_MILLISECONDS; i++)
        wait *= 2;
    if (wait < BACKOFF_MAXIMUM_MILLISECONDS)
        backoff->failures++;
    else
        wait = BACKOFF_MAXIMUM_MILLISECONDS;
    wait = backoff_random(backoff, wait / 2, wait);
    if (asked_seconds >= BACKOFF_MAXIMUM_MILLISECONDS / 1000)
        return BACKOFF_MAXIMUM_MILLISECONDS;
    unsigned asked = asked_seconds * 1000;
    if (asked > 0) /* not all at the second that was named */
        asked += backoff_random(backoff, 0, asked / 4);
    if (asked > BACKOFF_MAXIMUM_MILLISECONDS)
        asked = BACKOFF_MAXIMUM_MILLISECONDS;
    return wait > asked ? wait : asked;
}

void backoff_reset(struct backoff *backoff) { backoff->failures = 0; }
