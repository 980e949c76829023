/* SPDX-License-Identifier: MIT */
/*
 * lease_decision: what to do about a coordination.k8s.io/v1 Lease, from what was read of it and
 * when it last changed by our own clock. Times written by others are never compared with ours.
 * Pure.
 */
#ifndef K8S_EXTENDER_API_LEASE_DECISION_H
#define K8S_EXTENDER_API_LEASE_DECISION_H

#include "base/error.h"
#include "base/json_document.h"
#include <stdbool.h>
#include <stdint.h>

#define LEASE_TEXT_BYTES 256u /* of a name, a time, a version; with its NUL */
#define LEASE_MAXIMUM_SECONDS 3600u

struct lease_record { /* of the object */
    bool exists;
    char resource_version[LEASE_TEXT_BYTES];
    char holder[LEASE_TEXT_BYTES];                                     /* "": nobody */
    char acquire_time[LEASE_TEXT_BYTES], renew_time[LEASE_TEXT_BYTES]; /* RFC 3339; "": none */
    unsigned duration_seconds;                                         /* 0: not said */
    uint64_t transitions;
};

/* A text or number that cannot be one counts as none, so that a broken Lease can be taken over once
 * it stands still. Fails for an object without resourceVersion, or a text that is too long. */
int lease_record_read(const struct json_value *object, struct lease_record *ret,
                      struct error_info *err);

struct lease_observer { /* zeroed: nothing was seen */
    struct lease_record seen;
    uint64_t changed_milliseconds; /* of our clock, when it last became another */
};

enum lease_move { LEASE_WAIT, LEASE_CREATE, LEASE_TAKE, LEASE_RENEW };

/* Notes what was read, and says what to do: create where there is none; renew where we hold it;
 * take where nobody does, or where the holder has not renewed it for its duration since we first
 * saw it so. *ret_left_milliseconds: LEASE_WAIT: until it may be taken; else 0. */
enum lease_move lease_decide(struct lease_observer *observer, const struct lease_record *record,
                             const char *identity, unsigned default_seconds,
                             uint64_t now_milliseconds, uint64_t *ret_left_milliseconds);

#endif
