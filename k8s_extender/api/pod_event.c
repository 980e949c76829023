/* SPDX-License-Identifier: MIT */
#include "k8s_extender/api/pod_event.h"
#include "base/name_index.h"
#include "k8s_extender/api/request_text.h"

#include <string.h>

#define ARENA_MAXIMUM_BYTES ((size_t)64 << 10)
#define NAME_OBJECT_BYTES 220 /* of the object's name in the event's, which has 253 */
#define PROBES 8u             /* slots that a key may lie in */

static uint64_t event_key(const struct pod_event *event)
{
    const char *const parts[] = {event->namespace, event->name, event->uid, event->reason,
                                 event->message};
    uint64_t hash = name_hash_add(NAME_HASH_START, event->warning ? "W" : "N", 1);
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        hash = name_hash_add(hash, parts[i], strlen(parts[i]) + 1);
    return hash > 0 ? hash : 1;
}

/* Its slot, else an empty one, else the one that was not used for longest. */
static struct event_slot *find_slot(struct event_memory *memory, uint64_t key)
{
    struct event_slot *oldest = NULL;
    for (unsigned i = 0; i < PROBES; i++) {
        struct event_slot *slot = &memory->slots[(key + i) % POD_EVENT_SLOTS];
        if (slot->key == key || slot->key == 0)
            return slot;
        if (!oldest || slot->sent_milliseconds < oldest->sent_milliseconds)
            oldest = slot;
    }
    return oldest;
}

/* Whether an owner may be told of one thing more. Of two in one slot the later one counts. */
static bool take_share(struct event_memory *memory, const char *uid, uint64_t now_milliseconds)
{
    uint64_t key = name_hash_add(NAME_HASH_START, uid, strlen(uid)) | 1;
    struct event_share *share = &memory->shares[key / 2 % POD_EVENT_OWNERS];
    if (share->key != key ||
        now_milliseconds - share->since_milliseconds >= POD_EVENT_PAUSE_SECONDS * UINT64_C(1000))
        *share = (struct event_share){.key = key, .since_milliseconds = now_milliseconds};
    return share->count++ < POD_EVENT_OWNER_EVENTS;
}

enum event_move event_memory_note(struct event_memory *memory, const struct pod_event *event,
                                  uint64_t now_milliseconds, uint32_t *ret_count)
{
    uint64_t key = event_key(event);
    struct event_slot *slot = find_slot(memory, key);
    if (slot->key != key)
        *slot = (struct event_slot){.key = key};
    if (slot->count < UINT32_MAX / 2)
        slot->count++;
    *ret_count = slot->count;
    bool paused = slot->sent_milliseconds > 0 && now_milliseconds - slot->sent_milliseconds <
                                                     POD_EVENT_PAUSE_SECONDS * UINT64_C(1000);
    if (paused)
        return EVENT_HOLD;
    if (event->kind && !slot->written && !take_share(memory, event->uid, now_milliseconds))
        return EVENT_HOLD; /* unsent: it may be made when there is room again */
    slot->sent_milliseconds = now_milliseconds;
    return slot->written ? EVENT_COUNT : EVENT_CREATE;
}

/* Times of core v1 have no fraction. */
static void add_time(struct json_value *root, const char *key, uint64_t microseconds)
{
    char text[REQUEST_TIME_BYTES];
    request_time(microseconds, text);
    memcpy(strchr(text, '.'), "Z", 2);
    json_add_text(root, key, text);
}

static void add_event(struct json_value *root, const struct pod_event *event, const char *name)
{
    char message[POD_EVENT_MESSAGE_BYTES];
    snprintf(message, sizeof(message), "%s", event->message);
    error_clean_text(message);
    json_add_text(root, "apiVersion", "v1");
    json_add_text(root, "kind", "Event");
    struct json_value *metadata = json_add_object(root, "metadata");
    json_add_text(metadata, "name", name);
    json_add_text(metadata, "namespace", event->namespace);
    struct json_value *involved = json_add_object(root, "involvedObject");
    const char *api_version = event->kind ? request_api_version(event->kind) : "v1";
    if (api_version)
        json_add_text(involved, "apiVersion", api_version);
    json_add_text(involved, "kind", event->kind ? event->kind : "Pod");
    json_add_text(involved, "namespace", event->namespace);
    json_add_text(involved, "name", event->name);
    json_add_text(involved, "uid", event->uid);
    json_add_text(root, "type", event->warning ? "Warning" : "Normal");
    json_add_text(root, "reason", event->reason);
    json_add_text(root, "message", message);
    json_add_text(json_add_object(root, "source"), "component", POD_EVENT_COMPONENT);
}

int pod_event_request(const struct pod_event *event, uint32_t count,
                      uint64_t time_of_day_microseconds, struct arena *arena,
                      struct api_request *ret, struct error_info *err)
{
    CLEANUP(json_value) struct json_value *root = json_value_create_object();
    bool create = count <= 1;
    struct api_request request = {.method = create ? "POST" : "PATCH",
                                  .content_type =
                                      create ? "application/json" : "application/merge-patch+json"};
    const char *name = arena_format(arena, "%.*s.%016llx", NAME_OBJECT_BYTES, event->name,
                                    (unsigned long long)event_key(event));
    if (!root || !name)
        return error_set_memory(err);
    if (create) {
        add_event(root, event, name);
        add_time(root, "firstTimestamp", time_of_day_microseconds);
    }
    json_add_unsigned(root, "count", count);
    add_time(root, "lastTimestamp", time_of_day_microseconds);
    if (request_set_path(&request, arena, "/api/v1", event->namespace, "events",
                         create ? NULL : name, err) < 0 ||
        request_set_body(&request, arena, root, err) < 0)
        return -1;
    *ret = request;
    return 0;
}

/* The status, or -1. */
static long send(struct api_client *client, const struct pod_event *event, uint32_t count,
                 uint64_t time_of_day_microseconds, struct error_info *err)
{
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_MAXIMUM_BYTES);
    CLEANUP_DONE(api_answer) struct api_answer answer = {.status = 0};
    struct api_request request;
    if (!arena)
        return error_set_memory(err);
    if (pod_event_request(event, count, time_of_day_microseconds, arena, &request, err) < 0 ||
        api_client_send(client, &request, &answer, err) < 0)
        return -1;
    if (answer.status >= 400) {
        char words[ERROR_TEXT_BYTES / 2];
        api_answer_words(&answer, words, sizeof(words));
        error_set_system(err, "%s", words);
    }
    return answer.status;
}

int pod_event_write(struct api_client *client, const struct pod_event *event, enum event_move move,
                    uint32_t count, uint64_t time_of_day_microseconds, struct error_info *err)
{
    struct error_info why = {.kind = ERROR_NONE};
    uint32_t first = move == EVENT_COUNT ? count : 1;
    if (move == EVENT_HOLD)
        return 0;
    long status = send(client, event, first, time_of_day_microseconds, &why);
    if (status == 409 && move == EVENT_CREATE)
        status = send(client, event, count > 1 ? count : 2, time_of_day_microseconds, &why);
    else if (status == 404 && move == EVENT_COUNT)
        status = send(client, event, 1, time_of_day_microseconds, &why);
    if (status >= 200 && status < 300)
        return 0;
    if (err)
        *err = why;
    return -1;
}

void event_memory_written(struct event_memory *memory, const struct pod_event *event, bool written)
{
    uint64_t key = event_key(event);
    struct event_slot *slot = find_slot(memory, key);
    if (slot->key == key) /* else others have pushed it out meanwhile */
        slot->written = written;
}

int pod_event_send(struct api_client *client, struct event_memory *memory,
                   const struct pod_event *event, uint64_t now_milliseconds,
                   uint64_t time_of_day_microseconds, struct error_info *err)
{
    uint32_t count;
    enum event_move move = event_memory_note(memory, event, now_milliseconds, &count);
    if (move == EVENT_HOLD)
        return 0;
    int result = pod_event_write(client, event, move, count, time_of_day_microseconds, err);
    event_memory_written(memory, event, result == 0);
    return result;
}
