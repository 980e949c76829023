/* SPDX-License-Identifier: MIT */
/*
 * publisher: brings a node's annotation to what the machine is, turn by turn. The node is read
 * (GET) before the first writing and before each later one, and written (PATCH) only where it says
 * something else. A text that was published is looked at again about once in an hour: the
 * annotation may have been taken away, the Node made anew, or a backup of etcd restored. What fails
 * is tried again, each time after about twice the time, with jitter: thousands of agents must not
 * come back together. No clock, no sleep: its owner has them.
 */
#ifndef K8S_EXTENDER_AGENT_PUBLISHER_H
#define K8S_EXTENDER_AGENT_PUBLISHER_H

#include "base/log_sink.h"
#include "k8s_extender/api/api_client.h"

#define PUBLISHER_FIRST_RETRY_SECONDS 1u
#define PUBLISHER_LAST_RETRY_SECONDS 128u
#define PUBLISHER_CHECK_SECONDS 3600u /* give or take a tenth */

/* api_client_send, or a test's server. */
typedef int (*publisher_send_fn)(void *context, const struct api_request *request,
                                 struct api_answer *ret, struct error_info *err);

struct publisher_settings {
    const char *node;
    publisher_send_fn send;
    void *context;
    struct log_sink log; /* a line for each change, and for each failure that is another one */
    uint64_t seed;
};

enum publisher_result {
    PUBLISHER_UNCHANGED, /* nobody was asked, or the node says so already */
    PUBLISHER_WRITTEN,
    PUBLISHER_FAILED
};

struct publisher;

struct publisher *publisher_create(const struct publisher_settings *settings,
                                   struct error_info *err);
void publisher_free(struct publisher *publisher);
/* One turn. words: what the text says, for the log ("8x-h100-sxm"). */
enum publisher_result publisher_turn(struct publisher *publisher, const char *text,
                                     const char *words);
/* The machine could not be read, or its text is too long: said once. */
void publisher_no_text(struct publisher *publisher, const char *reason);
/* Milliseconds until the next turn, which is taken to be waited for: after success the interval,
 * give or take a tenth. */
uint64_t publisher_wait(struct publisher *publisher, unsigned interval_seconds);

DEFINE_CLEANUP(publisher);

#endif
