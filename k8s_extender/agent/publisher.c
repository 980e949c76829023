/* SPDX-License-Identifier: MIT */
#include "k8s_extender/agent/publisher.h"
#include "k8s_extender/agent/node_document.h"
#include <string.h>

#define PATH_ARENA_BYTES ((size_t)1 << 16)
#define PATCH_MAXIMUM_BYTES ((size_t)1 << 20)
#define WORDS_BYTES 512u
#define HTTP_OK 200
#define HTTP_NOT_FOUND 404
#define HTTP_FORBIDDEN 403
#define MANAGER "fieldManager=parplan-node-agent"

struct publisher {
    struct publisher_settings settings;
    struct arena *arena;
    const char *read_path, *write_path;
    char *published; /* what the node said when it was last asked or written; or NULL */
    char trouble[ERROR_TEXT_BYTES]; /* said last; "": all is well */
    unsigned failures;              /* in a row */
    unsigned retry_after_seconds;   /* as the server wants it */
    uint64_t waited_milliseconds;   /* since the node was last asked or written … */
    uint64_t check_milliseconds;    /* … and after how long it is asked again */
    uint64_t random_state;
};

struct publisher *publisher_create(const struct publisher_settings *settings,
                                   struct error_info *err)
{
    CLEANUP(publisher) struct publisher *publisher = memory_allocate(sizeof(*publisher));
    if (!publisher)
        return error_null(error_set_memory(err));
    publisher->settings = *settings;
    publisher->random_state = settings->seed;
    publisher->arena = arena_create(PATH_ARENA_BYTES);
    const char *name = publisher->arena ? api_escape(publisher->arena, settings->node) : NULL;
    if (name) {
        publisher->read_path = arena_format(publisher->arena, "/api/v1/nodes/%s", name);
        publisher->write_path =
            arena_format(publisher->arena, "/api/v1/nodes/%s?%s", name, MANAGER);
    }
    if (!publisher->read_path || !publisher->write_path)
        return error_null(error_set_memory(err));
    return move_pointer(publisher);
}

void publisher_free(struct publisher *publisher)
{
    if (!publisher)
        return;
    arena_free(publisher->arena);
    memory_free(publisher->published);
    memory_free(publisher);
}

/* Knuth's MMIX generator. */
static uint64_t draw(struct publisher *publisher, uint64_t below)
{
    publisher->random_state =
        publisher->random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (publisher->random_state >> 33) % below;
}

/* Give or take a tenth. */
static uint64_t about(struct publisher *publisher, uint64_t seconds)
{
    uint64_t milliseconds = seconds * 1000;
    return milliseconds - milliseconds / 10 + draw(publisher, milliseconds / 5 + 1);
}

/* --- one turn --------------------------------------------------------------------- */

static int send(struct publisher *publisher, const struct api_request *request,
                struct api_answer *answer, struct error_info *err)
{
    const char *node = publisher->settings.node;
    if (publisher->settings.send(publisher->settings.context, request, answer, err) < 0)
        return -1;
    publisher->retry_after_seconds = answer->retry_after_seconds;
    if (answer->status == HTTP_OK)
        return 0;
    if (answer->status == HTTP_NOT_FOUND)
        return error_set(err,
                         "the cluster has no node %s; NODE_NAME or --node must be this machine's "
                         "name there",
                         node);
    char words[WORDS_BYTES];
    api_answer_words(answer, words, sizeof(words));
    return error_set(
        err, "%s node %s: %s%s", request->body ? "writing" : "reading", node, words,
        answer->status == HTTP_FORBIDDEN ? "; the agent's role needs get and patch of nodes" : "");
}

static char *read_node(struct publisher *publisher, struct error_info *err)
{
    CLEANUP_DONE(api_answer) struct api_answer answer = {.status = 0};
    const struct api_request request = {.method = "GET", .path = publisher->read_path};
    if (send(publisher, &request, &answer, err) < 0)
        return NULL;
    char *annotation = node_document_annotation(answer.body ? answer.body : "",
                                                answer.body ? answer.body_bytes : 0, err);
    if (!annotation)
        error_prefix(err, "node %s", publisher->settings.node);
    return annotation;
}

static int write_node(struct publisher *publisher, const char *text, struct error_info *err)
{
    CLEANUP_DONE(api_answer) struct api_answer answer = {.status = 0};
    CLEANUP_DONE(text_buffer) struct text_buffer body;
    text_buffer_init(&body, PATCH_MAXIMUM_BYTES);
    if (node_document_patch(text, &body, err) < 0)
        return -1;
    const struct api_request request = {.method = "PATCH",
                                        .path = publisher->write_path,
                                        .content_type = NODE_PATCH_CONTENT_TYPE,
                                        .body = text_buffer_text(&body),
                                        .body_bytes = body.length};
    return send(publisher, &request, &answer, err);
}

static int publish(struct publisher *publisher, const char *text, bool *ret_written,
                   struct error_info *err)
{
    CLEANUP_MEMORY char *known = read_node(publisher, err);
    CLEANUP_MEMORY char *copy = memory_copy_text(text);
    if (!known || !copy)
        return known ? error_set_memory(err) : -1;
    *ret_written = strcmp(known, text) != 0;
    if (*ret_written && write_node(publisher, text, err) < 0)
        return -1;
    memory_free(publisher->published);
    publisher->published = move_pointer(copy);
    publisher->waited_milliseconds = 0;
    publisher->check_milliseconds = about(publisher, PUBLISHER_CHECK_SECONDS);
    return 0;
}

static void fail(struct publisher *publisher, const char *reason)
{
    publisher->failures++;
    if (strcmp(publisher->trouble, reason) == 0)
        return;
    snprintf(publisher->trouble, sizeof(publisher->trouble), "%s", reason);
    log_message(&publisher->settings.log, LOG_LEVEL_ERROR, "%s", reason);
}

enum publisher_result publisher_turn(struct publisher *publisher, const char *text,
                                     const char *words)
{
    const char *node = publisher->settings.node;
    struct error_info err = {.kind = ERROR_NONE};
    bool written = false;
    publisher->retry_after_seconds = 0;
    bool known = publisher->published && strcmp(publisher->published, text) == 0;
    bool due = publisher->waited_milliseconds >= publisher->check_milliseconds;
    if ((!known || due) && publish(publisher, text, &written, &err) < 0) {
        fail(publisher, err.text);
        return PUBLISHER_FAILED;
    }
    publisher->failures = 0;
    if (written)
        log_message(&publisher->settings.log, LOG_LEVEL_INFO, "node %s: topology written: %s", node,
                    words);
    else if (!known)
        log_message(&publisher->settings.log, LOG_LEVEL_INFO,
                    "node %s: its topology is as it was: %s", node, words);
    else if (publisher->trouble[0])
        log_message(&publisher->settings.log, LOG_LEVEL_INFO, "node %s: all is well again", node);
    publisher->trouble[0] = '\0';
    return written ? PUBLISHER_WRITTEN : PUBLISHER_UNCHANGED;
}

void publisher_no_text(struct publisher *publisher, const char *reason) { fail(publisher, reason); }

/* --- waiting ---------------------------------------------------------------------- */

/* What the server wishes is kept, within limits. */
static uint64_t wait_after_failure(struct publisher *publisher)
{
    uint64_t seconds = PUBLISHER_FIRST_RETRY_SECONDS;
    for (unsigned i = 1; i < publisher->failures && seconds < PUBLISHER_LAST_RETRY_SECONDS; i++)
        seconds *= 2;
    uint64_t wait = seconds * 500 + draw(publisher, seconds * 1000);
    uint64_t wished = publisher->retry_after_seconds < PUBLISHER_LAST_RETRY_SECONDS
                          ? publisher->retry_after_seconds
                          : PUBLISHER_LAST_RETRY_SECONDS;
    return wait < wished * 1000 ? wished * 1000 + draw(publisher, seconds * 1000) : wait;
}

uint64_t publisher_wait(struct publisher *publisher, unsigned interval_seconds)
{
    uint64_t wait = publisher->failures == 0 ? about(publisher, interval_seconds)
                                             : wait_after_failure(publisher);
    publisher->waited_milliseconds += wait;
    return wait;
}
