/* SPDX-License-Identifier: MIT */
#include "k8s_extender/api/gang_service.h"
#include "base/json_document.h"
#include "k8s_extender/api/request_text.h"
#include "k8s_extender/objects/gang_identity.h"
#include <stdio.h>
#include <string.h>

#define GANG_LABEL "parplan.io/gang"

/* A name of the gang's own, not one that several gangs share. */
static bool is_own(const char *gang_label)
{
    return gang_wish_of_label(gang_label) == GANG_WISH_NAMED;
}

/* Others (a ReplicaSet …) make no gangs. */
static void add_owner(struct json_value *metadata, const struct gang_service *service)
{
    const char *api_version = request_api_version(service->owner_kind);
    if (!api_version)
        return;
    struct json_value *owner = json_add_object(json_add_array(metadata, "ownerReferences"), NULL);
    json_add_text(owner, "apiVersion", api_version);
    json_add_text(owner, "kind", service->owner_kind);
    json_add_text(owner, "name", service->owner_name);
    json_add_text(owner, "uid", service->owner_uid);
}

static void add_service(struct json_value *root, const struct gang_service *service)
{
    json_add_text(root, "apiVersion", "v1");
    json_add_text(root, "kind", "Service");
    struct json_value *metadata = json_add_object(root, "metadata");
    json_add_text(metadata, "name", service->name);
    json_add_text(json_add_object(metadata, "labels"), "app.kubernetes.io/managed-by", "parplan");
    if (service->owner_kind && service->owner_name && service->owner_uid &&
        is_own(service->gang_label))
        add_owner(metadata, service);
    struct json_value *spec = json_add_object(root, "spec");
    json_add_text(spec, "clusterIP", "None");
    json_add_boolean(spec, "publishNotReadyAddresses", true);
    json_add_text(json_add_object(spec, "selector"), GANG_LABEL, service->gang_label);
}

int gang_service_request(const struct gang_service *service, struct arena *arena,
                         struct api_request *ret, struct error_info *err)
{
    CLEANUP(json_value) struct json_value *root = json_value_create_object();
    struct api_request request = {.method = "POST", .content_type = "application/json"};
    if (!root)
        return error_set_memory(err);
    add_service(root, service);
    if (request_set_path(&request, arena, "/api/v1", service->namespace, "services", NULL, err) <
            0 ||
        request_set_body(&request, arena, root, err) < 0)
        return -1;
    *ret = request;
    return 0;
}

int gang_service_read_request(const struct gang_service *service, struct arena *arena,
                              struct api_request *ret, struct error_info *err)
{
    struct api_request request = {.method = "GET"};
    if (request_set_path(&request, arena, "/api/v1", service->namespace, "services", service->name,
                         err) < 0)
        return -1;
    *ret = request;
    return 0;
}

static const char *text_of(const struct json_value *object, const char *key)
{
    const char *text = json_value_text(json_value_get(object, key));
    return text ? text : "";
}

/* Without an owner it stays; with the gang's own too. */
static bool stays(const struct gang_service *service, const struct json_value *metadata)
{
    const struct json_value *owners = json_value_get(metadata, "ownerReferences");
    for (size_t i = 0; i < json_value_count(owners); i++)
        if (service->owner_uid &&
            strcmp(text_of(json_value_at(owners, i), "uid"), service->owner_uid) == 0)
            return true;
    return json_value_count(owners) == 0;
}

enum gang_service_match gang_service_compare(const struct gang_service *service, const char *text,
                                             size_t bytes,
                                             char ret_others[GANG_SERVICE_WORDS_BYTES])
{
    CLEANUP(json_value)
    struct json_value *root = json_value_parse(text, bytes, "Service", NULL);
    const struct json_value *metadata = json_value_get(root, "metadata");
    const struct json_value *selector = json_value_get(json_value_get(root, "spec"), "selector");
    const char *label = json_value_text(json_value_get(selector, GANG_LABEL));
    if (!metadata || json_value_get(metadata, "deletionTimestamp"))
        return SERVICE_GOES;
    if (!label || strcmp(label, service->gang_label) == 0)
        return stays(service, metadata) ? SERVICE_SERVES : SERVICE_GOES;
    const struct json_value *owner = json_value_at(json_value_get(metadata, "ownerReferences"), 0);
    if (owner)
        snprintf(ret_others, GANG_SERVICE_WORDS_BYTES, "gang %.63s (%.63s %.100s)", label,
                 text_of(owner, "kind"), text_of(owner, "name"));
    else
        snprintf(ret_others, GANG_SERVICE_WORDS_BYTES, "gang %.63s", label);
    error_clean_text(ret_others);
    return SERVICE_OF_OTHERS;
}
