/* SPDX-License-Identifier: MIT */
/*
 * lease: leadership through a coordination.k8s.io/v1 Lease, as client-go's leader election does it:
 * taken when it is free or its renewTime has not changed for its duration by our own clock
 * (lease_decision.h), renewed every retry period, lost when it could not be renewed within the
 * renew deadline (which is shorter than the duration: nobody else holds it before we know), given
 * back on stop. Optimistic: PUT with the resourceVersion that was read. A renewal is one PUT,
 * without a GET. Needs get, create and update of leases.
 *
 * Not thread safe, but for lease_holds and lease_rest: another thread may ask it while lease_turn
 * runs.
 */
#ifndef K8S_EXTENDER_API_LEASE_H
#define K8S_EXTENDER_API_LEASE_H

#include "k8s_extender/api/api_client.h"

#define LEASE_GIVE_UP_SECONDS 1u /* a program that ends does not wait longer */

struct lease_settings {
    const char *namespace, *name;    /* "parplan-extender" */
    const char *identity;            /* host name and pid, or the pod's uid */
    unsigned duration_seconds;       /* 10 */
    unsigned renew_deadline_seconds; /* 7; less than the duration */
    unsigned retry_seconds;          /* 2; less than the deadline; also a request's time limit */
};

struct lease;

/* The texts are copied. */
struct lease *lease_create(const struct lease_settings *settings, struct error_info *err);
void lease_free(struct lease *lease);
/* One turn that begins at that time (a clock that only goes forward, milliseconds; and the time of
 * day for the object). Returns whether we lead at its end. *ret_wait_milliseconds: when to call
 * again. *ret_trouble:
 * "", or why it could not be read or written. Takes up to three requests. */
bool lease_turn(struct lease *lease, struct api_client *client, uint64_t now_milliseconds,
                uint64_t time_of_day_microseconds, unsigned *ret_wait_milliseconds,
                char *ret_trouble, size_t trouble_bytes);
/* Whether we still lead at that moment, without asking anybody: renewed within the deadline,
 * counted from before the renewal was sent. */
bool lease_holds(const struct lease *lease, uint64_t now_milliseconds);
/* For how many milliseconds more; 0: it does not. */
uint64_t lease_rest(const struct lease *lease, uint64_t now_milliseconds);
/* Whether the Lease's resourceVersion went back since this was last asked: etcd was restored from a
 * backup, and what was heard of other objects is not what the cluster has. Not for another thread.
 */
bool lease_went_back(struct lease *lease);
/* So that the next one need not wait; nothing where we do not lead. Takes one request. */
void lease_give_up(struct lease *lease, struct api_client *client);

DEFINE_CLEANUP(lease);

#endif
