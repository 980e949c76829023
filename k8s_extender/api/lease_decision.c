/* SPDX-License-Identifier: MIT */
#include "k8s_extender/api/lease_decision.h"

#include <string.h>

static int copy_text(const struct json_value *value, char target[LEASE_TEXT_BYTES],
                     const char *name, struct error_info *err)
{
    const char *text = json_value_text(value);
    if (!text)
        text = "";
    if (strlen(text) >= LEASE_TEXT_BYTES)
        return error_set(err, "Lease: %s: longer than the %u characters that are read", name,
                         LEASE_TEXT_BYTES - 1);
    memcpy(target, text, strlen(text) + 1);
    return 0;
}

int lease_record_read(const struct json_value *object, struct lease_record *ret,
                      struct error_info *err)
{
    const struct json_value *spec = json_value_get(object, "spec");
    const struct json_value *version =
        json_value_get(json_value_get(object, "metadata"), "resourceVersion");
    struct lease_record record = {.exists = true};
    if (!json_value_text(version))
        return error_set(err, "Lease: it has no metadata.resourceVersion");
    if (copy_text(version, record.resource_version, "resourceVersion", err) < 0 ||
        copy_text(json_value_get(spec, "holderIdentity"), record.holder, "holderIdentity", err) <
            0 ||
        copy_text(json_value_get(spec, "acquireTime"), record.acquire_time, "acquireTime", err) <
            0 ||
        copy_text(json_value_get(spec, "renewTime"), record.renew_time, "renewTime", err) < 0)
        return -1;
    uint64_t seconds = 0;
    json_value_unsigned(json_value_get(spec, "leaseDurationSeconds"), LEASE_MAXIMUM_SECONDS,
                        &seconds);
    record.duration_seconds = (unsigned)seconds;
    json_value_unsigned(json_value_get(spec, "leaseTransitions"), INT32_MAX - 1,
                        &record.transitions);
    *ret = record;
    return 0;
}

/* Renewing changes renewTime; a Lease that anybody touched otherwise is not renewed by that. */
static bool is_same(const struct lease_record *left, const struct lease_record *right)
{
    return left->exists && strcmp(left->holder, right->holder) == 0 &&
           strcmp(left->renew_time, right->renew_time) == 0 &&
           left->transitions == right->transitions;
}

enum lease_move lease_decide(struct lease_observer *observer, const struct lease_record *record,
                             const char *identity, unsigned default_seconds,
                             uint64_t now_milliseconds, uint64_t *ret_left_milliseconds)
{
    if (!is_same(&observer->seen, record))
        observer->changed_milliseconds = now_milliseconds;
    observer->seen = *record;
    *ret_left_milliseconds = 0;
    if (!record->exists)
        return LEASE_CREATE;
    if (strcmp(record->holder, identity) == 0)
        return LEASE_RENEW;
    if (record->holder[0] == '\0')
        return LEASE_TAKE;
    uint64_t duration =
        (record->duration_seconds > 0 ? record->duration_seconds : default_seconds) *
        UINT64_C(1000);
    uint64_t passed = now_milliseconds - observer->changed_milliseconds;
    if (passed >= duration)
        return LEASE_TAKE;
    *ret_left_milliseconds = duration - passed;
    return LEASE_WAIT;
}
