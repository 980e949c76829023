/* SPDX-License-Identifier: MIT */
/*
 * time_now: the clocks of the programs of this folder. What is pure is told the time instead.
 * Thread safe.
 */
#ifndef K8S_EXTENDER_API_TIME_NOW_H
#define K8S_EXTENDER_API_TIME_NOW_H

#include <stdint.h>

/* A clock that only goes forward, for waits and ages: since some moment of the machine. */
uint64_t time_now_milliseconds(void);
/* The time of day, for what others read: microseconds since 1970. */
uint64_t time_now_of_day_microseconds(void);

#endif
