/* SPDX-License-Identifier: MIT */
#include "k8s_extender/api/gang_service.h"
#include "base/json_document.h"
#include "k8s_extender/api/request_text.h"
#include "k8s_extender/objects/gang_identity.h"

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
