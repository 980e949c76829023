/* SPDX-License-Identifier: MIT */
#include "k8s_extender/api/list_watch.h"
#include "k8s_extender/api/backoff.h"
#include "k8s_extender/api/json_splitter.h"
#include "k8s_extender/api/resource_version.h"
#include "k8s_extender/api/time_now.h"

#include <string.h>
#include <time.h>

#define URL_MAXIMUM_BYTES ((size_t)32 << 10)
#define REFUSAL_BYTES 2048u    /* kept of an answer that is no list or watch */
#define SHORT_WATCH_SECONDS 5u /* a watch that ends sooner and said nothing is a failure */
#define SLEEP_STEP_MILLISECONDS 100u
#define WATCH_SPARE_SECONDS 30u /* the server ends a watch by itself; if not, we do */

enum outcome {
    OUTCOME_DONE,    /* list: whole; watch: ended in good order */
    OUTCOME_RETRY,   /* failed, the trouble is told: wait, then the same again */
    OUTCOME_RESTART, /* the same will not do: wait, then from the start */
    OUTCOME_STOPPED,
    OUTCOME_ENDED /* by a handler, or memory is short: err says so */
};

/* One run of list_watch_run. */
struct run {
    struct api_client *client;
    const struct list_watch_request *request;
    struct error_info *err;
    struct backoff backoff;
    bool troubled;
    unsigned restarts; /* of the list in a row, by the server's answers between chunks */
    char version[SPLITTER_TEXT_BYTES]; /* from where the next watch goes on */
};

/* One answer of the server. */
struct answer {
    struct run *run;
    struct json_splitter *splitter;
    long status;
    bool handler_ended, expired, any_event, quiet;
    uint64_t heard_milliseconds; /* when something last came */
    uint64_t quiet_milliseconds; /* after so long a watch is asked anew; 0: a list */
    struct error_info split_error;
    char event_error[ERROR_TEXT_BYTES]; /* of an ERROR event; "" */
    char refusal[REFUSAL_BYTES + 1];    /* the body of another status than 200 */
    size_t refusal_bytes;
};

static bool is_stopped(const struct run *run)
{
    return run->request->stop && __atomic_load_n(run->request->stop, __ATOMIC_RELAXED);
}

static bool is_interrupted(const struct run *run)
{
    const bool *again = run->request->list_again;
    return is_stopped(run) || (again && __atomic_load_n(again, __ATOMIC_ACQUIRE));
}

static bool must_end(void *context) { return is_interrupted(((struct answer *)context)->run); }

static void trouble(struct run *run, const char *reason)
{
    run->troubled = true;
    run->request->handlers.trouble(run->request->context, reason);
}

/* Waits become short again only when a watch has proved itself: a list that succeeds before watches
 * that do not must not make a busy loop. */
static void all_well(struct run *run)
{
    if (run->troubled)
        run->request->handlers.trouble(run->request->context, NULL);
    run->troubled = false;
}

static void sleep_milliseconds(const struct run *run, unsigned milliseconds)
{
    while (milliseconds > 0 && !is_interrupted(run)) {
        unsigned step =
            milliseconds < SLEEP_STEP_MILLISECONDS ? milliseconds : SLEEP_STEP_MILLISECONDS;
        struct timespec wait = {.tv_nsec = (long)step * 1000000};
        nanosleep(&wait, NULL);
        milliseconds -= step;
    }
}

static void wait_before_retry(struct run *run)
{
    sleep_milliseconds(run, backoff_next(&run->backoff, api_client_retry_after(run->client)));
}

/* --- what arrives ------------------------------------------------------------------------ */

static int deliver(struct answer *answer, enum watch_change change, const struct json_split *split)
{
    const struct list_watch_request *request = answer->run->request;
    const struct watch_object object = {.text = split->text,
                                        .bytes = split->bytes,
                                        .namespace = split->namespace,
                                        .name = split->name};
    int result = request->handlers.object(request->context, change, &object);
    answer->handler_ended = result < 0;
    return result < 0 ? -1 : 0;
}

static int on_list_item(void *context, const struct json_split *split)
{
    return deliver(context, WATCH_SET, split);
}

static int on_error_event(struct answer *answer, const struct json_split *split)
{
    size_t bytes = split->text ? split->bytes : 0;
    long code = api_status_code(split->text, bytes);
    answer->expired = code == 410;
    struct api_answer words = {
        .status = code > 0 ? code : 500, .body = (char *)split->text, .body_bytes = bytes};
    api_answer_words(&words, answer->event_error, sizeof(answer->event_error));
    return -1;
}

static int on_event(void *context, const struct json_split *split)
{
    struct answer *answer = context;
    if (strcmp(split->type, "ERROR") == 0)
        return on_error_event(answer, split);
    answer->expired = resource_version_is_older(split->resource_version, answer->run->version);
    if (answer->expired)
        return -1;
    if (strcmp(split->type, "BOOKMARK") != 0) {
        bool gone = strcmp(split->type, "DELETED") == 0;
        if (deliver(answer, gone ? WATCH_GONE : WATCH_SET, split) < 0)
            return -1;
    }
    answer->any_event = true;
    backoff_reset(&answer->run->backoff);
    if (split->resource_version[0])
        snprintf(answer->run->version, sizeof(answer->run->version), "%s", split->resource_version);
    return 0;
}

static int on_refusal(struct answer *answer, const char *bytes, size_t count)
{
    size_t room = REFUSAL_BYTES - answer->refusal_bytes;
    if (count > room)
        count = room;
    memcpy(answer->refusal + answer->refusal_bytes, bytes, count);
    answer->refusal_bytes += count;
    return count > 0 && answer->refusal_bytes == REFUSAL_BYTES ? -1 : 0;
}

static int on_bytes(struct answer *answer, long status, const char *bytes, size_t count)
{
    const struct list_watch_request *request = answer->run->request;
    answer->status = status;
    answer->heard_milliseconds = time_now_milliseconds();
    if (status != 200)
        return on_refusal(answer, bytes, count);
    if (request->handlers.heard)
        request->handlers.heard(request->context);
    return json_splitter_feed(answer->splitter, bytes, count, &answer->split_error);
}

static int on_list_bytes(void *context, long status, const char *bytes, size_t count)
{
    return on_bytes(context, status, bytes, count);
}

static int on_watch_bytes(void *context, long status, const char *bytes, size_t count)
{
    struct answer *answer = context;
    if (status == 200 && count == 0) /* an idle watch says nothing more for a minute */
        all_well(answer->run);
    return on_bytes(answer, status, bytes, count);
}

/* --- one request --------------------------------------------------------------------------- */

static enum outcome fail(struct run *run, const char *reason)
{
    trouble(run, reason);
    return OUTCOME_RETRY;
}

static enum outcome judge_refusal(struct answer *answer)
{
    struct run *run = answer->run;
    char words[ERROR_TEXT_BYTES], reason[ERROR_TEXT_BYTES + 512];
    struct api_answer refused = {
        .status = answer->status, .body = answer->refusal, .body_bytes = answer->refusal_bytes};
    if (answer->status == 410)
        return OUTCOME_RESTART;
    api_answer_words(&refused, words, sizeof(words));
    snprintf(reason, sizeof(reason), "GET %.200s: %s", run->request->path, words);
    return fail(run, reason);
}

static enum outcome end_for_memory(struct run *run)
{
    error_set_memory(run->err);
    return OUTCOME_ENDED;
}

/* A bookmark comes each minute only where etcd tells the API server how far it is; where it does
 * not, and nothing changes, a watch that is well says nothing. It is asked anew: if the server is
 * gone, that says so. */
static bool is_quiet(const struct answer *answer)
{
    return answer->quiet_milliseconds > 0 && answer->status == 200 &&
           time_now_milliseconds() - answer->heard_milliseconds >= answer->quiet_milliseconds;
}

/* What decides whatever was answered; OUTCOME_DONE: nothing does. */
static enum outcome judge_orders(const struct answer *answer, bool no_memory)
{
    if (answer->handler_ended)
        return OUTCOME_ENDED;
    if (is_stopped(answer->run))
        return OUTCOME_STOPPED;
    if (is_interrupted(answer->run))
        return OUTCOME_RESTART;
    if (no_memory || answer->split_error.kind == ERROR_MEMORY)
        return end_for_memory(answer->run);
    return answer->expired ? OUTCOME_RESTART : OUTCOME_DONE;
}

/* transport: of api_client_stream, with its error. whole: the text must have ended in good order.
 */
static enum outcome judge(struct answer *answer, int transport, const struct error_info *error,
                          bool whole)
{
    struct run *run = answer->run;
    struct error_info unfinished = {.kind = ERROR_NONE};
    char reason[ERROR_TEXT_BYTES + 512];
    enum outcome order = judge_orders(answer, transport < 0 && error->kind == ERROR_MEMORY);
    if (order != OUTCOME_DONE)
        return order;
    answer->quiet = transport < 0 && is_quiet(answer);
    if (transport < 0)
        return answer->quiet ? OUTCOME_DONE : fail(run, error->text);
    if (answer->status != 200)
        return judge_refusal(answer);
    const char *bad = answer->event_error[0] ? answer->event_error : answer->split_error.text;
    if (!bad[0] && whole && json_splitter_finish(answer->splitter, &unfinished) < 0)
        bad = unfinished.text;
    if (!bad[0])
        return OUTCOME_DONE;
    snprintf(reason, sizeof(reason), "GET %.200s: %s", run->request->path, bad);
    fail(run, reason);
    /* From a version what is malformed once comes malformed again. */
    return whole ? OUTCOME_RETRY : OUTCOME_RESTART;
}

static enum outcome ask(struct answer *answer, enum json_split_kind kind,
                        const struct text_buffer *url, unsigned total_seconds,
                        unsigned idle_seconds)
{
    struct run *run = answer->run;
    bool list = kind == SPLIT_LIST;
    answer->splitter = json_splitter_create(kind, WATCH_OBJECT_MAXIMUM_BYTES,
                                            list ? on_list_item : on_event, answer, run->err);
    if (!answer->splitter)
        return OUTCOME_ENDED;
    if (text_buffer_failed(url))
        return end_for_memory(run);
    struct api_request request = {
        .method = "GET", .path = text_buffer_text(url), .timeout_seconds = total_seconds};
    struct error_info error = {.kind = ERROR_NONE};
    long status;
    int transport =
        api_client_stream(run->client, &request, idle_seconds, must_end,
                          list ? on_list_bytes : on_watch_bytes, answer, &status, &error);
    return judge(answer, transport, &error, list);
}

static void url_begin(struct text_buffer *url, const struct run *run)
{
    text_buffer_init(url, URL_MAXIMUM_BYTES);
    text_buffer_add_text(url, run->request->path);
    text_buffer_add_text(url, "?");
    if (run->request->query && run->request->query[0])
        text_buffer_add(url, "%s&", run->request->query);
}

/* --- list ------------------------------------------------------------------------------------ */

/* One chunk; token: where it begins, "" the first; becomes that of the next one, "" the last. All
 * chunks speak of one version; where they do not the list is no snapshot and begins again. */
static enum outcome list_chunk(struct run *run, char token[SPLITTER_TEXT_BYTES],
                               char version[SPLITTER_TEXT_BYTES])
{
    CLEANUP_DONE(text_buffer) struct text_buffer url;
    CLEANUP(arena) struct arena *arena = arena_create(URL_MAXIMUM_BYTES);
    const char *escaped = arena ? api_escape(arena, token) : NULL;
    url_begin(&url, run);
    text_buffer_add(&url, "limit=%u", LIST_CHUNK_OBJECTS);
    if (!escaped)
        return end_for_memory(run);
    if (token[0])
        text_buffer_add(&url, "&continue=%s", escaped);
    struct answer answer = {.run = run};
    enum outcome outcome = ask(&answer, SPLIT_LIST, &url, LIST_CHUNK_SECONDS, LIST_IDLE_SECONDS);
    if (outcome == OUTCOME_DONE) {
        const char *got = json_splitter_resource_version(answer.splitter);
        if (token[0] && strcmp(version, got) != 0)
            outcome = OUTCOME_RESTART;
        snprintf(version, SPLITTER_TEXT_BYTES, "%s", got);
        snprintf(token, SPLITTER_TEXT_BYTES, "%s", json_splitter_continue(answer.splitter));
    }
    json_splitter_free(answer.splitter);
    return outcome;
}

/* All chunks after the first are of one version, so one that failed is asked for again; the first
 * may come with a newer one, without objects that were handed over already. */
static enum outcome list_chunk_surely(struct run *run, char token[SPLITTER_TEXT_BYTES],
                                      char version[SPLITTER_TEXT_BYTES])
{
    for (bool again = false;; again = true) {
        bool first = !token[0];
        enum outcome outcome = list_chunk(run, token, version);
        if (outcome == OUTCOME_DONE && again)
            all_well(run);
        if (outcome != OUTCOME_RETRY || first)
            return outcome;
        wait_before_retry(run);
        if (is_interrupted(run))
            return is_stopped(run) ? OUTCOME_STOPPED : OUTCOME_RESTART;
    }
}

/* Once is usual: etcd keeps a version for five minutes. */
static void note_restart(struct run *run)
{
    char reason[ERROR_TEXT_BYTES];
    if (++run->restarts < 2)
        return;
    snprintf(reason, sizeof(reason),
             "GET %.200s: the list began again %u times in a row, since its version was gone "
             "between two chunks; the API server is too slow for %u objects a chunk, or etcd is "
             "compacted too often",
             run->request->path, run->restarts, LIST_CHUNK_OBJECTS);
    trouble(run, reason);
}

static enum outcome list_once(struct run *run)
{
    const struct list_watch_request *request = run->request;
    char token[SPLITTER_TEXT_BYTES] = "", version[SPLITTER_TEXT_BYTES] = "";
    if (request->list_again)
        __atomic_store_n(request->list_again, false, __ATOMIC_RELEASE);
    request->handlers.begin_list(request->context);
    enum outcome outcome;
    do {
        outcome = list_chunk_surely(run, token, version);
    } while (outcome == OUTCOME_DONE && token[0]);
    if (outcome == OUTCOME_RESTART && !is_interrupted(run))
        note_restart(run);
    if (outcome != OUTCOME_DONE)
        return outcome;
    run->restarts = 0;
    request->handlers.end_list(request->context);
    memcpy(run->version, version, sizeof(version));
    all_well(run);
    return OUTCOME_DONE;
}

/* --- watch ----------------------------------------------------------------------------------- */

static enum outcome watch_once(struct run *run)
{
    CLEANUP_DONE(text_buffer) struct text_buffer url;
    unsigned seconds = backoff_random(&run->backoff, WATCH_MINIMUM_SECONDS, WATCH_MAXIMUM_SECONDS);
    unsigned idle = run->request->watch_idle_seconds > 0 ? run->request->watch_idle_seconds
                                                         : WATCH_IDLE_SECONDS;
    url_begin(&url, run);
    text_buffer_add(&url, "watch=true&allowWatchBookmarks=true&timeoutSeconds=%u", seconds);
    text_buffer_add(&url, "&resourceVersion=%s", run->version);
    uint64_t start = time_now_milliseconds();
    struct answer answer = {.run = run, .quiet_milliseconds = idle * UINT64_C(1000)};
    /* Half an event at the end is no loss: the next watch begins before it. */
    enum outcome outcome = ask(&answer, SPLIT_WATCH, &url, seconds + WATCH_SPARE_SECONDS, idle);
    json_splitter_free(answer.splitter);
    bool is_short = time_now_milliseconds() - start <= SHORT_WATCH_SECONDS * UINT64_C(1000);
    if (!is_short && answer.status == 200)
        backoff_reset(&run->backoff);
    if (outcome == OUTCOME_DONE && is_short && !answer.any_event && !answer.quiet)
        return fail(run, "a watch ended at once, without an event");
    return outcome;
}

/* From the last version again and again; returns when the list must begin again, or for good. */
static enum outcome watch_on(struct run *run)
{
    for (;;) {
        enum outcome outcome = watch_once(run);
        if (outcome == OUTCOME_RETRY)
            wait_before_retry(run);
        else if (outcome != OUTCOME_DONE)
            return outcome;
        if (is_interrupted(run))
            return is_stopped(run) ? OUTCOME_STOPPED : OUTCOME_RESTART;
    }
}

int list_watch_run(struct api_client *client, const struct list_watch_request *request,
                   struct error_info *err)
{
    struct run run = {.client = client, .request = request, .err = err};
    enum outcome outcome = OUTCOME_RETRY;
    backoff_init(&run.backoff, request->seed);
    while (!is_stopped(&run) && outcome != OUTCOME_STOPPED) {
        outcome = list_once(&run);
        if (outcome == OUTCOME_DONE)
            outcome = watch_on(&run);
        if (outcome == OUTCOME_RETRY || outcome == OUTCOME_RESTART)
            wait_before_retry(&run);
        if (outcome == OUTCOME_ENDED)
            return -1;
    }
    return 0;
}
