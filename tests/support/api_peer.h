/* SPDX-License-Identifier: MIT */
/*
 * api_peer: an API server of a few lines (fake_api.h) that remembers what it was asked, and clients
 * of it. Threads: not in torture.
 */
#ifndef TESTS_SUPPORT_API_PEER_H
#define TESTS_SUPPORT_API_PEER_H

#include "k8s_extender/api/api_client.h"
#include "tests/support/fake_api.h"
#include "tests/support/file_tree.h"

#define API_PEER_LOG_BYTES 4096u
#define API_PEER_PATH_BYTES (FILE_TREE_ROOT_BYTES + 64)

struct api_peer {
    /* Set by the test. */
    void (*answer)(struct api_peer *peer, struct fake_exchange *exchange);
    char path[API_PEER_PATH_BYTES]; /* of a file that the answers write, if they do */

    struct fake_api *api;
    char url[FAKE_API_URL_BYTES];
    unsigned connections;
    char log[API_PEER_LOG_BYTES]; /* a line for each request: "GET /a HTTP/1.1|body" */
};

/* A failure fails the test. */
void api_peer_start(struct api_peer *peer);
void api_peer_stop(struct api_peer *peer);
/* Without credentials, of namespace "a". */
struct api_client *api_peer_connect(const struct api_peer *peer, struct error_info *err);

#endif
