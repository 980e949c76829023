/* SPDX-License-Identifier: MIT */
/*
 * list_watch against a peer that misbehaves. Threads: not in torture.
 * A story is what the peer is asked and how it answers; what the handlers were told is one text.
 */
#include "k8s_extender/api/list_watch.h"
#include "k8s_extender/api/time_now.h"
#include "tests/support/fake_api.h"
#include "tests/support/unit_test.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOG_BYTES 8192u
#define STEPS_MAXIMUM 8u
#define STORY_SECONDS 20u       /* more than any story's waits */
#define IDLE_SECONDS 3u         /* of the watch that says nothing more */
#define STOP_MILLISECONDS 5000u /* a second is promised, and the machine may be busy */
#define LARGE_BYTES ((size_t)13 << 20)

enum action {
    ACT_ANSWER,  /* whole */
    ACT_STREAM,  /* in one chunk, ended in good order */
    ACT_CUT,     /* the connection ends before the announced length */
    ACT_RESET,   /* RST after the text */
    ACT_SILENCE, /* the head and the text, then nothing */
    ACT_AGAIN,   /* the same, and another thread wants the list again */
    ACT_DRIBBLE, /* byte by byte */
    ACT_LARGE    /* LIST_TWO, its first object of LARGE_BYTES */
};

struct step {
    const char *asked; /* a part of the request's first line */
    enum action action;
    unsigned status;
    const char *text;
    const char *headers;
};

struct story {
    const char *name;
    struct step steps[STEPS_MAXIMUM]; /* asked NULL: the last; the next request ends the story */
    const char *log;                  /* what the handlers were told */
    const char *reason;               /* a part of some trouble's reason, or NULL */
    unsigned least_milliseconds;
};

#define LIST_EMPTY "{\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[]}"
#define LIST_TWO "{\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[{\"n\":1},{\"n\":2}]}"
#define LIST_FIRST                                                                                 \
    "{\"metadata\":{\"resourceVersion\":\"5\",\"continue\":\"a+b=\"},\"items\":[{\"n\":1}]}"
#define EVENT(type, version)                                                                       \
    "{\"type\":\"" type "\",\"object\":{\"metadata\":{\"resourceVersion\":\"" version "\"}}}\n"
#define ERROR_EVENT(code)                                                                          \
    "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":" code                           \
    ",\"reason\":\"R\",\"message\":\"what\"}}\n"
#define OPEN_8 "[[[[[[[["
#define NESTED_32 OPEN_8 OPEN_8 OPEN_8 OPEN_8 CLOSE_8 CLOSE_8 CLOSE_8 CLOSE_8
#define CLOSE_8 "]]]]]]]]"
#define LIST "GET /api/v1/things?limit=250 "
#define WATCH(version) "&resourceVersion=" version " "

static const struct story stories[] = {
    {"a list in chunks, then changes, then on from the bookmark",
     {{LIST, ACT_ANSWER, 200, LIST_FIRST, ""},
      {"?limit=250&continue=a%2Bb%3D ", ACT_ANSWER, 200, LIST_TWO, ""},
      {WATCH("5"), ACT_STREAM, 200,
       EVENT("ADDED", "6") EVENT("MODIFIED", "7") EVENT("DELETED", "8") EVENT("BOOKMARK", "11"),
       ""},
      {WATCH("11"), ACT_STREAM, 200, EVENT("ADDED", "12"), ""}},
     "begin set set set end set set gone set ",
     NULL,
     0},
    {"a reset in the middle of a list",
     {{LIST, ACT_RESET, 200, "{\"items\":[{\"n\":1},{\"n\":", ""},
      {LIST, ACT_ANSWER, 200, LIST_TWO, ""}},
     "begin set trouble begin set set end well ",
     NULL,
     250},
    {"JSON that ends too early",
     {{LIST, ACT_ANSWER, 200, "{\"items\":[{\"n\":1}", ""}, {LIST, ACT_ANSWER, 200, LIST_TWO, ""}},
     "begin set trouble begin set set end well ",
     "ends too early",
     250},
    {"a body shorter than announced",
     {{LIST, ACT_CUT, 200, LIST_TWO, ""}, {LIST, ACT_ANSWER, 200, LIST_EMPTY, ""}},
     "begin set set trouble begin end well ",
     NULL,
     250},
    {"a page of a proxy instead of a list",
     {{LIST, ACT_ANSWER, 200, "<html>sign in</html>", ""}, {LIST, ACT_ANSWER, 200, LIST_EMPTY, ""}},
     "begin trouble begin end well ",
     "byte 0: unexpected character",
     250},
    {"410 between chunks",
     {{LIST, ACT_ANSWER, 200, LIST_FIRST, ""},
      {"continue=", ACT_ANSWER, 410, "{\"kind\":\"Status\",\"code\":410}", ""},
      {LIST, ACT_ANSWER, 200, LIST_TWO, ""}},
     "begin set begin set set end ",
     NULL,
     250},
    {"410 between chunks, time and again: it is told",
     {{LIST, ACT_ANSWER, 200, LIST_FIRST, ""},
      {"continue=", ACT_ANSWER, 410, "{\"kind\":\"Status\",\"code\":410}", ""},
      {LIST, ACT_ANSWER, 200, LIST_FIRST, ""},
      {"continue=", ACT_ANSWER, 200, "{\"metadata\":{\"resourceVersion\":\"6\"},\"items\":[]}", ""},
      {LIST, ACT_ANSWER, 200, LIST_TWO, ""}},
     "begin set begin set trouble begin set set end well ",
     "began again 2 times in a row",
     750},
    {"a later chunk that fails is asked for again",
     {{LIST, ACT_ANSWER, 200, LIST_FIRST, ""},
      {"continue=", ACT_RESET, 200, "{\"items\":[{\"n\":1},{\"n\":", ""},
      {"continue=a%2Bb%3D ", ACT_ANSWER, 429, "slow down", "Retry-After: 1\r\n"},
      {"continue=a%2Bb%3D ", ACT_ANSWER, 200, "{\"items\":[{\"n\":1}", ""},
      {"continue=a%2Bb%3D ", ACT_ANSWER, 200, LIST_TWO, ""},
      {WATCH("5"), ACT_STREAM, 200, EVENT("ADDED", "6"), ""}},
     "begin set set trouble trouble set trouble set set well end set ",
     "429: slow down",
     1000},
    {"chunks of two versions",
     {{LIST, ACT_ANSWER, 200, LIST_FIRST, ""},
      {"continue=", ACT_ANSWER, 200, "{\"metadata\":{\"resourceVersion\":\"6\"},\"items\":[]}", ""},
      {LIST, ACT_ANSWER, 200, LIST_TWO, ""}},
     "begin set begin set set end ",
     NULL,
     250},
    {"429 says when to come again",
     {{LIST, ACT_ANSWER, 429, "slow down", "Retry-After: 1\r\n"},
      {LIST, ACT_ANSWER, 200, LIST_EMPTY, ""}},
     "begin trouble begin end well ",
     "429: slow down",
     1000},
    {"503 and 500",
     {{LIST, ACT_ANSWER, 503, "", ""},
      {LIST, ACT_ANSWER, 500, "{\"kind\":\"Status\",\"message\":\"etcd is away\"}", ""},
      {LIST, ACT_ANSWER, 200, LIST_EMPTY, ""}},
     "begin trouble begin trouble begin end well ",
     "500: etcd is away",
     750},
    {"410 as an event",
     {{LIST, ACT_ANSWER, 200, LIST_EMPTY, ""},
      {WATCH("5"), ACT_STREAM, 200, ERROR_EVENT("410"), ""},
      {LIST, ACT_ANSWER, 200, LIST_TWO, ""}},
     "begin end begin set set end ",
     NULL,
     250},
    {"410 as the status of a watch",
     {{LIST, ACT_ANSWER, 200, LIST_EMPTY, ""},
      {WATCH("5"), ACT_ANSWER, 410, "{\"kind\":\"Status\",\"code\":410}", ""},
      {LIST, ACT_ANSWER, 200, LIST_TWO, ""}},
     "begin end begin set set end ",
     NULL,
     250},
    {"another error as an event: from the start, and it is told",
     {{LIST, ACT_ANSWER, 200, LIST_EMPTY, ""},
      {WATCH("5"), ACT_STREAM, 200, EVENT("ADDED", "6") ERROR_EVENT("500"), ""},
      {LIST, ACT_ANSWER, 200, LIST_EMPTY, ""}},
     "begin end set trouble begin end well ",
     "500 R: what",
     250},
    {"a malformed event: from the start",
     {{LIST, ACT_ANSWER, 200, LIST_EMPTY, ""},
      {WATCH("5"), ACT_STREAM, 200, EVENT("ADDED", "6") "]]]", ""},
      {LIST, ACT_ANSWER, 200, LIST_EMPTY, ""}},
     "begin end set trouble begin end well ",
     "unexpected character",
     250},
    {"half a line at the end of a watch: on from the last whole one",
     {{LIST, ACT_ANSWER, 200, LIST_EMPTY, ""},
      {WATCH("5"), ACT_STREAM, 200, EVENT("ADDED", "6") "{\"type\":\"ADDED\",\"object\":{\"met",
       ""},
      {WATCH("6"), ACT_STREAM, 200, EVENT("ADDED", "7"), ""}},
     "begin end set set ",
     NULL,
     0},
    {"a reset in the middle of an event",
     {{LIST, ACT_ANSWER, 200, LIST_EMPTY, ""},
      {WATCH("5"), ACT_RESET, 200, EVENT("ADDED", "6") "{\"type\":\"ADDED\",\"object\":{\"met", ""},
      {WATCH("6"), ACT_STREAM, 200, EVENT("ADDED", "7"), ""}},
     "begin end set trouble well set ",
     NULL,
     250},
    {"a watch that says nothing more: it is asked anew, and nobody is told",
     {{LIST, ACT_ANSWER, 200, LIST_EMPTY, ""},
      {WATCH("5"), ACT_SILENCE, 200, EVENT("BOOKMARK", "9"), ""},
      {WATCH("9"), ACT_STREAM, 200, EVENT("ADDED", "10"), ""}},
     "begin end set ",
     NULL,
     IDLE_SECONDS * 1000},
    {"an older version: a backup was restored",
     {{LIST, ACT_ANSWER, 200, LIST_EMPTY, ""},
      {WATCH("5"), ACT_STREAM, 200, EVENT("ADDED", "100") EVENT("ADDED", "99"), ""},
      {LIST, ACT_ANSWER, 200, LIST_TWO, ""},
      {WATCH("5"), ACT_STREAM, 200, EVENT("ADDED", "6"), ""}},
     "begin end set begin set set end set ",
     NULL,
     250},
    {"versions that are no numbers are not compared",
     {{LIST, ACT_ANSWER, 200, LIST_EMPTY, ""},
      {WATCH("5"), ACT_STREAM, 200, EVENT("ADDED", "b9") EVENT("ADDED", "a1"), ""},
      {WATCH("a1"), ACT_STREAM, 200, EVENT("ADDED", "7"), ""}},
     "begin end set set set ",
     NULL,
     0},
    {"another thread wants the list again",
     {{LIST, ACT_ANSWER, 200, LIST_EMPTY, ""},
      {WATCH("5"), ACT_AGAIN, 200, EVENT("ADDED", "9"), ""},
      {LIST, ACT_ANSWER, 200, LIST_TWO, ""},
      {WATCH("5"), ACT_STREAM, 200, EVENT("ADDED", "6"), ""}},
     "begin end set begin set set end set ",
     NULL,
     0},
    {"watches that end at once are waited for",
     {{LIST, ACT_ANSWER, 200, LIST_EMPTY, ""},
      {WATCH("5"), ACT_STREAM, 200, "", ""},
      {WATCH("5"), ACT_STREAM, 200, "", ""},
      {WATCH("5"), ACT_STREAM, 200, EVENT("ADDED", "6"), ""}},
     "begin end trouble well trouble well set ",
     "ended at once",
     750},
    {"a watch that may not be: it is told, and goes on where it was",
     {{LIST, ACT_ANSWER, 200, LIST_EMPTY, ""},
      {WATCH("5"), ACT_ANSWER, 403,
       "{\"kind\":\"Status\",\"reason\":\"Forbidden\",\"message\":\"no\"}", ""},
      {WATCH("5"), ACT_STREAM, 200, EVENT("ADDED", "6"), ""}},
     "begin end trouble well set ",
     "GET /api/v1/things: 403 Forbidden: no",
     250},
    {"an object of 13 MB ends no list",
     {{LIST, ACT_LARGE, 200, "", ""}, {WATCH("5"), ACT_STREAM, 200, EVENT("ADDED", "6"), ""}},
     "begin set large set end set ",
     NULL,
     0},
    {"an object nested without end in managedFields",
     {{LIST, ACT_ANSWER, 200,
       "{\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[{\"metadata\":{\"managedFields\":"
       "[" NESTED_32 "]}},{\"n\":2}]}",
       ""},
      {WATCH("5"), ACT_STREAM, 200, EVENT("ADDED", "6"), ""}},
     "begin set set end set ",
     NULL,
     0},
    {"a slow peer",
     {{LIST, ACT_DRIBBLE, 200, LIST_TWO, ""},
      {WATCH("5"), ACT_STREAM, 200, EVENT("ADDED", "6"), ""}},
     "begin set set end set ",
     NULL,
     60},
};

struct telling {
    char log[LOG_BYTES], reasons[LOG_BYTES];
    unsigned objects, end_after;
    unsigned heard;
};

struct play {
    const struct story *story;
    bool stop, again;
    uint64_t stopped_at_milliseconds;
    char wrong[256]; /* what was asked instead */
    struct telling telling;
};

/* --- the peer --------------------------------------------------------------------------------- */

static void announce(struct fake_exchange *exchange, size_t bytes)
{
    char head[128];
    snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", bytes);
    fake_api_text(exchange, head);
}

static void send_large(struct fake_exchange *exchange)
{
    static char piece[65536];
    static const char head[] = "{\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[{\"metadata\":"
                               "{\"name\":\"large\"},\"a\":\"";
    static const char tail[] = "\"},{\"n\":2}]}";
    announce(exchange, strlen(head) + LARGE_BYTES + strlen(tail));
    memset(piece, 'x', sizeof(piece));
    fake_api_text(exchange, head);
    for (size_t sent = 0; sent < LARGE_BYTES; sent += sizeof(piece))
        if (!fake_api_bytes(exchange, piece, sizeof(piece)))
            return;
    fake_api_text(exchange, tail);
}

static void dribble(struct fake_exchange *exchange, const char *text)
{
    announce(exchange, strlen(text));
    for (; *text && fake_api_bytes(exchange, text, 1); text++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static unsigned objects_told(const struct play *play)
{
    return __atomic_load_n(&play->telling.objects, __ATOMIC_ACQUIRE);
}

/* What was sent has been read: it says one object more. */
static void wait_for_object(const struct play *play, unsigned before)
{
    for (unsigned i = 0; i < STORY_SECONDS * 1000 && objects_told(play) == before; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void act(struct play *play, struct fake_exchange *exchange, const struct step *step)
{
    unsigned before = objects_told(play);
    switch (step->action) {
    case ACT_ANSWER:
        fake_api_answer(exchange, step->status, step->headers, step->text);
        return;
    case ACT_STREAM:
        fake_api_begin(exchange);
        if (step->text[0])
            fake_api_chunk(exchange, step->text);
        fake_api_end(exchange);
        return;
    case ACT_CUT:
    case ACT_RESET:
        announce(exchange, strlen(step->text) + 100);
        fake_api_text(exchange, step->text);
        if (step->action == ACT_RESET) { /* it would take with it what was not read */
            wait_for_object(play, before);
            fake_api_reset(exchange);
        }
        exchange->close = true;
        return;
    case ACT_AGAIN:
        fake_api_begin(exchange);
        fake_api_chunk(exchange, step->text);
        wait_for_object(play, before);
        __atomic_store_n(&play->again, true, __ATOMIC_RELEASE);
        fake_api_wait(exchange, STORY_SECONDS * 1000);
        return;
    case ACT_SILENCE:
        fake_api_begin(exchange);
        fake_api_chunk(exchange, step->text);
        fake_api_wait(exchange, STORY_SECONDS * 1000);
        return;
    case ACT_DRIBBLE:
        dribble(exchange, step->text);
        return;
    case ACT_LARGE:
        send_large(exchange);
        return;
    }
}

static void play_story(void *context, struct fake_exchange *exchange)
{
    struct play *play = context;
    const struct step *step =
        exchange->number < STEPS_MAXIMUM ? &play->story->steps[exchange->number] : NULL;
    char *line_end = strstr(exchange->request, "\r\n");
    if (line_end)
        *line_end = '\0';
    if (!step || !step->asked) {
        __atomic_store_n(&play->stop, true, __ATOMIC_RELAXED);
        fake_api_wait(exchange, STORY_SECONDS * 1000);
        return;
    }
    if (!strstr(exchange->request, step->asked) && !play->wrong[0])
        snprintf(play->wrong, sizeof(play->wrong), "%.250s", exchange->request);
    act(play, exchange, step);
}

/* --- the handlers -------------------------------------------------------------------------------
 */

static void tell(char text[LOG_BYTES], const char *word)
{
    size_t length = strlen(text);
    snprintf(text + length, LOG_BYTES - length, "%s ", word);
}

static void begin_list(void *context) { tell(((struct telling *)context)->log, "begin"); }

static void end_list(void *context) { tell(((struct telling *)context)->log, "end"); }

static int take_object(void *context, enum watch_change change, const struct watch_object *object)
{
    struct telling *telling = context;
    const char *text = object->text;
    tell(telling->log, change == WATCH_SET ? "set" : "gone");
    if (!text)
        tell(telling->log, object->name);
    else if (object->bytes < 2 || text[0] != '{' || text[object->bytes - 1] != '}')
        tell(telling->log, "not-an-object");
    unsigned objects = __atomic_add_fetch(&telling->objects, 1, __ATOMIC_ACQ_REL);
    return objects == telling->end_after ? -1 : 0;
}

static void note_trouble(void *context, const char *reason)
{
    struct telling *telling = context;
    tell(telling->log, reason ? "trouble" : "well");
    if (reason)
        tell(telling->reasons, reason);
}

static void hear(void *context) { ((struct telling *)context)->heard++; }

static unsigned idle_seconds(const struct story *story)
{
    for (size_t i = 0; i < STEPS_MAXIMUM; i++)
        if (story->steps[i].action == ACT_SILENCE)
            return IDLE_SECONDS;
    return 0; /* longer than any story lasts */
}

static int run(const char *url, struct play *play, struct error_info *err)
{
    const struct api_config config = {.server = url, .user_agent = "test", .namespace = "default"};
    CLEANUP(api_client) struct api_client *client = api_client_create(&config, err);
    const struct list_watch_request request = {
        .path = "/api/v1/things",
        .handlers = {begin_list, end_list, take_object, note_trouble, hear},
        .context = &play->telling,
        .stop = &play->stop,
        .list_again = &play->again,
        .seed = 1,
        .watch_idle_seconds = idle_seconds(play->story),
    };
    return client ? list_watch_run(client, &request, err) : -1;
}

static void check_story(const struct story *story)
{
    struct play play = {.story = story};
    const struct telling *telling = &play.telling;
    struct error_info err = {.kind = ERROR_NONE};
    char url[FAKE_API_URL_BYTES];
    struct fake_api *api = fake_api_start(play_story, &play);
    assert_non_null(api);
    fake_api_url(api, url);
    uint64_t start = time_now_milliseconds();
    int result = run(url, &play, &err);
    uint64_t took = time_now_milliseconds() - start;
    fake_api_stop(api);
    bool as_told = strcmp(telling->log, story->log) == 0 &&
                   (!story->reason || strstr(telling->reasons, story->reason));
    if (result != 0 || !as_told || play.wrong[0] || took < story->least_milliseconds ||
        took > STORY_SECONDS * 1000 || telling->heard == 0)
        fail_msg("%s: returned %d after %llu ms, log '%s', reasons '%s', asked '%s'", story->name,
                 result, (unsigned long long)took, telling->log, telling->reasons, play.wrong);
}

static void plays_all_stories(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    for (size_t i = 0; i < COUNT_OF(stories); i++)
        check_story(&stories[i]);
}

static void a_handler_ends_it(void **state)
{
    (void)state;
    static const struct story story = {
        "handler ends", {{LIST, ACT_ANSWER, 200, LIST_TWO, ""}}, "", NULL, 0};
    UNIT_TEST_SKIP_TORTURE();
    struct play play = {.story = &story, .telling.end_after = 1};
    struct error_info err = {.kind = ERROR_NONE};
    char url[FAKE_API_URL_BYTES];
    struct fake_api *api = fake_api_start(play_story, &play);
    assert_non_null(api);
    fake_api_url(api, url);
    int result = run(url, &play, &err);
    fake_api_stop(api);
    assert_int_equal(result, -1);
    assert_int_equal(err.kind, ERROR_NONE);
    assert_string_equal(play.telling.log, "begin set ");
}

static void set_stop_soon(void *context, struct fake_exchange *exchange)
{
    struct play *play = context;
    play->stopped_at_milliseconds = time_now_milliseconds();
    __atomic_store_n(&play->stop, true, __ATOMIC_RELAXED);
    fake_api_wait(exchange, STORY_SECONDS * 1000);
}

/* While a request is answered by nobody, and while it waits to try again. */
static void stops_soon(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static const struct story story = {.name = "no answer"};
    struct play play = {.story = &story};
    struct error_info err = {.kind = ERROR_NONE};
    char url[FAKE_API_URL_BYTES];
    struct fake_api *api = fake_api_start(set_stop_soon, &play);
    assert_non_null(api);
    fake_api_url(api, url);
    int result = run(url, &play, &err);
    uint64_t ended = time_now_milliseconds();
    fake_api_stop(api);
    assert_int_equal(result, 0);
    assert_true(ended - play.stopped_at_milliseconds < STOP_MILLISECONDS);
    assert_string_equal(play.telling.log, "begin ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plays_all_stories),
        cmocka_unit_test(a_handler_ends_it),
        cmocka_unit_test(stops_soon),
    };
    return unit_test_main("k8s_extender/list_watch", tests, COUNT_OF(tests));
}
