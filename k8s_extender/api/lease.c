/* SPDX-License-Identifier: MIT */
#include "k8s_extender/api/lease.h"
#include "base/name_index.h"
#include "k8s_extender/api/lease_decision.h"
#include "k8s_extender/api/request_text.h"
#include "k8s_extender/api/resource_version.h"
#include "k8s_extender/api/time_now.h"

#include <string.h>

#define ARENA_MAXIMUM_BYTES ((size_t)64 << 10)
#define GROUP "/apis/coordination.k8s.io/v1"

struct lease {
    struct lease_settings settings; /* texts in the arena */
    struct arena *arena;
    struct lease_observer observer;
    struct lease_record record;            /* as last read or written */
    char newest_version[LEASE_TEXT_BYTES]; /* "": none was seen */
    bool went_back;
    uint64_t holds_until_milliseconds; /* 0: we do not lead; read by other threads */
    unsigned spread_milliseconds;      /* so that replicas do not come at the same moment */
};

/* One request and what came of it. */
struct exchange {
    struct lease *lease;
    struct api_client *client;
    uint64_t time_of_day_microseconds;
    unsigned timeout_seconds;
    char *trouble;
    size_t trouble_bytes;
};

struct lease *lease_create(const struct lease_settings *settings, struct error_info *err)
{
    if (settings->renew_deadline_seconds >= settings->duration_seconds ||
        settings->retry_seconds >= settings->renew_deadline_seconds || settings->retry_seconds == 0)
        return error_null(error_set(err,
                                    "Lease: retry %u s, deadline %u s, duration %u s: each must be "
                                    "shorter than the next",
                                    settings->retry_seconds, settings->renew_deadline_seconds,
                                    settings->duration_seconds));
    if (!settings->identity[0] || strlen(settings->identity) >= LEASE_TEXT_BYTES)
        return error_null(
            error_set(err, "Lease: the identity '%s' is empty or too long", settings->identity));
    CLEANUP(lease) struct lease *lease = memory_allocate(sizeof(*lease));
    if (!lease || !(lease->arena = arena_create(ARENA_MAXIMUM_BYTES)))
        return error_null(error_set_memory(err));
    lease->settings = *settings;
    lease->settings.namespace = arena_copy_text(lease->arena, settings->namespace);
    lease->settings.name = arena_copy_text(lease->arena, settings->name);
    lease->settings.identity = arena_copy_text(lease->arena, settings->identity);
    if (!lease->settings.namespace || !lease->settings.name || !lease->settings.identity)
        return error_null(error_set_memory(err));
    uint64_t hash = name_hash_add(NAME_HASH_START, settings->identity, strlen(settings->identity));
    lease->spread_milliseconds = (unsigned)(hash % (settings->retry_seconds * 200u));
    return move_pointer(lease);
}

void lease_free(struct lease *lease)
{
    if (!lease)
        return;
    arena_free(lease->arena);
    memory_free(lease);
}

uint64_t lease_rest(const struct lease *lease, uint64_t now_milliseconds)
{
    uint64_t until = __atomic_load_n(&lease->holds_until_milliseconds, __ATOMIC_ACQUIRE);
    return now_milliseconds < until ? until - now_milliseconds : 0;
}

bool lease_holds(const struct lease *lease, uint64_t now_milliseconds)
{
    return lease_rest(lease, now_milliseconds) > 0;
}

static void set_holds(struct lease *lease, uint64_t until_milliseconds)
{
    __atomic_store_n(&lease->holds_until_milliseconds, until_milliseconds, __ATOMIC_RELEASE);
}

/* --- requests ------------------------------------------------------------------------------ */

static long report(struct exchange *exchange, const char *words)
{
    const struct lease_settings *settings = &exchange->lease->settings;
    snprintf(exchange->trouble, exchange->trouble_bytes, "Lease %.64s/%.64s: %s",
             settings->namespace, settings->name, words);
    return -1;
}

/* All that the API server says of one object ascends, whoever wrote it. */
static void note_version(struct lease *lease)
{
    const char *version = lease->record.resource_version;
    if (resource_version_is_older(version, lease->newest_version))
        lease->went_back = true;
    memcpy(lease->newest_version, version, strlen(version) + 1);
}

bool lease_went_back(struct lease *lease)
{
    bool went_back = lease->went_back;
    lease->went_back = false;
    return went_back;
}

/* The status; -1: no answer or an unreadable one, the trouble is told. The record becomes the
 * answer's where it has one. */
static long send(struct exchange *exchange, struct api_request *request)
{
    struct lease *lease = exchange->lease;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(api_answer) struct api_answer answer = {.status = 0};
    request->timeout_seconds = exchange->timeout_seconds;
    if (api_client_send(exchange->client, request, &answer, &err) < 0)
        return report(exchange, err.text);
    /* What does not let a Lease be made is no missing Lease, but a missing namespace. */
    bool makes = strcmp(request->method, "POST") == 0;
    if ((answer.status == 404 && !makes) || answer.status == 409)
        return answer.status;
    if (answer.status != 200 && answer.status != 201) {
        char words[ERROR_TEXT_BYTES];
        api_answer_words(&answer, words, sizeof(words));
        return report(exchange, words);
    }
    CLEANUP(json_value)
    struct json_value *object = json_value_parse(answer.body, answer.body_bytes, "Lease", &err);
    struct lease_record record;
    if (!object || lease_record_read(object, &record, &err) < 0)
        return report(exchange, err.text);
    lease->record = record;
    note_version(lease);
    return answer.status;
}

static void add_spec(struct json_value *root, const struct lease_record *record)
{
    struct json_value *spec = json_add_object(root, "spec");
    json_add_text(spec, "holderIdentity", record->holder);
    json_add_unsigned(spec, "leaseDurationSeconds", record->duration_seconds);
    json_add_text(spec, "acquireTime", record->acquire_time);
    json_add_text(spec, "renewTime", record->renew_time);
    json_add_unsigned(spec, "leaseTransitions", record->transitions);
}

static int make_write(const struct lease *lease, const struct lease_record *record,
                      struct arena *arena, struct api_request *ret, struct error_info *err)
{
    CLEANUP(json_value) struct json_value *root = json_value_create_object();
    if (!root)
        return error_set_memory(err);
    json_add_text(root, "apiVersion", "coordination.k8s.io/v1");
    json_add_text(root, "kind", "Lease");
    struct json_value *metadata = json_add_object(root, "metadata");
    json_add_text(metadata, "name", lease->settings.name);
    json_add_text(metadata, "namespace", lease->settings.namespace);
    if (record->exists)
        json_add_text(metadata, "resourceVersion", record->resource_version);
    add_spec(root, record);
    const char *name = record->exists ? lease->settings.name : NULL;
    if (request_set_path(ret, arena, GROUP, lease->settings.namespace, "leases", name, err) < 0)
        return -1;
    return request_set_body(ret, arena, root, err);
}

static long write_record(struct exchange *exchange, const struct lease_record *record)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_MAXIMUM_BYTES);
    struct api_request request = {.method = record->exists ? "PUT" : "POST",
                                  .content_type = "application/json"};
    if (!arena || make_write(exchange->lease, record, arena, &request, &err) < 0)
        return report(exchange, "out of memory");
    return send(exchange, &request);
}

static long read_record(struct exchange *exchange)
{
    const struct lease_settings *settings = &exchange->lease->settings;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_MAXIMUM_BYTES);
    struct api_request request = {.method = "GET"};
    if (!arena || request_set_path(&request, arena, GROUP, settings->namespace, "leases",
                                   settings->name, &err) < 0)
        return report(exchange, "out of memory");
    long status = send(exchange, &request);
    if (status == 404)
        exchange->lease->record = (struct lease_record){.exists = false};
    return status;
}

/* Ours from the moment the turn began. */
static long hold(struct exchange *exchange, uint64_t now_milliseconds)
{
    struct lease *lease = exchange->lease;
    struct lease_record record = lease->record;
    char now[REQUEST_TIME_BYTES];
    request_time(exchange->time_of_day_microseconds, now);
    bool was_ours = record.exists && strcmp(record.holder, lease->settings.identity) == 0;
    if (!was_ours) {
        snprintf(record.acquire_time, sizeof(record.acquire_time), "%s", now);
        record.transitions += record.exists;
    }
    if (record.acquire_time[0] == '\0')
        snprintf(record.acquire_time, sizeof(record.acquire_time), "%s", now);
    snprintf(record.renew_time, sizeof(record.renew_time), "%s", now);
    snprintf(record.holder, sizeof(record.holder), "%s", lease->settings.identity);
    record.duration_seconds = lease->settings.duration_seconds;
    long status = write_record(exchange, &record);
    if (status == 200 || status == 201)
        set_holds(lease,
                  now_milliseconds + lease->settings.renew_deadline_seconds * UINT64_C(1000));
    return status;
}

/* --- turns --------------------------------------------------------------------------------- */

static uint64_t contend(struct exchange *exchange, uint64_t now_milliseconds)
{
    struct lease *lease = exchange->lease;
    uint64_t left = 0;
    long status = read_record(exchange);
    if (status < 0)
        return 0;
    enum lease_move move = lease_decide(&lease->observer, &lease->record, lease->settings.identity,
                                        lease->settings.duration_seconds, now_milliseconds, &left);
    if (move != LEASE_RENEW)
        set_holds(lease, 0); /* it is somebody else's, or gone */
    if (move != LEASE_WAIT)
        hold(exchange, now_milliseconds); /* 409: somebody was faster */
    return left;
}

bool lease_turn(struct lease *lease, struct api_client *client, uint64_t now_milliseconds,
                uint64_t time_of_day_microseconds, unsigned *ret_wait_milliseconds,
                char *ret_trouble, size_t trouble_bytes)
{
    struct exchange exchange = {.lease = lease,
                                .client = client,
                                .time_of_day_microseconds = time_of_day_microseconds,
                                .timeout_seconds = lease->settings.retry_seconds,
                                .trouble = ret_trouble,
                                .trouble_bytes = trouble_bytes};
    uint64_t wait = lease->settings.retry_seconds * UINT64_C(1000);
    uint64_t left = 0;
    ret_trouble[0] = '\0';
    uint64_t began = time_now_milliseconds();
    long status = 409;
    if (lease_holds(lease, now_milliseconds))
        status = hold(&exchange, now_milliseconds);
    if (status == 409 || status == 404)
        left = contend(&exchange, now_milliseconds);
    /* A request that hangs may outlast the deadline, which others go by meanwhile. */
    bool leads = lease_holds(lease, now_milliseconds + (time_now_milliseconds() - began));
    if (!leads)
        wait += lease->spread_milliseconds;
    if (left > 0 && left < wait)
        wait = left;
    *ret_wait_milliseconds = (unsigned)wait;
    return leads;
}

void lease_give_up(struct lease *lease, struct api_client *client)
{
    char trouble[ERROR_TEXT_BYTES];
    struct exchange exchange = {.lease = lease,
                                .client = client,
                                .timeout_seconds = LEASE_GIVE_UP_SECONDS,
                                .trouble = trouble,
                                .trouble_bytes = sizeof(trouble)};
    if (__atomic_load_n(&lease->holds_until_milliseconds, __ATOMIC_ACQUIRE) == 0)
        return;
    set_holds(lease, 0);
    struct lease_record record = lease->record;
    record.holder[0] = '\0';
    record.duration_seconds = 1;
    write_record(&exchange, &record);
}
