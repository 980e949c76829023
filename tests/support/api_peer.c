/* SPDX-License-Identifier: MIT */
#include "tests/support/api_peer.h"
#include "tests/support/unit_test.h"

#include <stdio.h>
#include <string.h>

static void on_request(void *context, struct fake_exchange *exchange)
{
    struct api_peer *peer = context;
    size_t length = strlen(peer->log);
    snprintf(peer->log + length, sizeof(peer->log) - length, "%.*s|%.400s\n",
             (int)strcspn(exchange->request, "\r"), exchange->request, exchange->body);
    peer->connections = exchange->connection + 1;
    peer->answer(peer, exchange);
}

void api_peer_start(struct api_peer *peer)
{
    peer->api = fake_api_start(on_request, peer);
    assert_non_null(peer->api);
    fake_api_url(peer->api, peer->url);
}

void api_peer_stop(struct api_peer *peer)
{
    fake_api_stop(peer->api);
    peer->api = NULL;
}

struct api_client *api_peer_connect(const struct api_peer *peer, struct error_info *err)
{
    const struct api_config config = {
        .server = peer->url, .user_agent = "test/1", .namespace = "a"};
    return api_client_create(&config, err);
}
