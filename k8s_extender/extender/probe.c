/* SPDX-License-Identifier: MIT */
#include "k8s_extender/extender/probe.h"
#include "k8s_extender/api/api_client.h"
#include <stdio.h>
#include <string.h>

#define WORDS_BYTES 256u

/* The part before the path; *ret_path: the path. NULL: it is no URL of ours. */
static const char *split(const char *url, char server[PROBE_URL_BYTES], const char **ret_path)
{
    const char *host = strstr(url, "://");
    const char *path = host ? strchr(host + 3, '/') : NULL;
    if (!path || (size_t)(path - url) >= PROBE_URL_BYTES)
        return NULL;
    snprintf(server, PROBE_URL_BYTES, "%.*s", (int)(path - url), url);
    *ret_path = path;
    return server;
}

int probe_ask(const char *url, struct error_info *err)
{
    char server[PROBE_URL_BYTES], words[WORDS_BYTES];
    struct api_request request = {.method = "GET", .timeout_seconds = PROBE_SECONDS};
    const struct api_config config = {.server = split(url, server, &request.path),
                                      .insecure = true,
                                      .namespace = "",
                                      .user_agent = "parplan-probe/" PARPLAN_VERSION};
    CLEANUP_DONE(api_answer) struct api_answer answer = {.status = 0};
    if (!config.server)
        return error_set(err, "'%.100s' is no URL, as http://127.0.0.1:8888/readyz", url);
    CLEANUP(api_client) struct api_client *client = api_client_create(&config, err);
    if (!client || api_client_send(client, &request, &answer, err) < 0)
        return -1;
    if (answer.status == 200)
        return 0;
    api_answer_words(&answer, words, sizeof(words));
    return error_set_system(err, "%.200s: %s", url, words);
}
