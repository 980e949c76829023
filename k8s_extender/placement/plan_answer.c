/* SPDX-License-Identifier: MIT */
#include "k8s_extender/placement/plan_answer.h"
#include "base/json_document.h"
#include <string.h>

/* --- the question ------------------------------------------------------------------- */

static const char *const metadata_names[] = {"namespace", "labels", "annotations"};

static int write_member(const struct json_value *object, const char *name, struct text_buffer *out,
                        struct error_info *err)
{
    const struct json_value *value = json_value_get(object, name);
    if (json_value_kind(value) == JSON_NULL)
        return 0;
    text_buffer_add(out, ",\"%s\":", name);
    return json_value_write(value, JSON_STYLE_COMPACT, out, err);
}

/* A template has no name, and what a whole Pod says beside these is of that pod alone. */
static int write_pod(const struct json_value *pod, struct text_buffer *out, struct error_info *err)
{
    const struct json_value *metadata = json_value_get(pod, "metadata");
    text_buffer_add_text(out, "{\"metadata\":{\"name\":\"pod\"");
    for (size_t i = 0; i < COUNT_OF(metadata_names); i++)
        if (write_member(metadata, metadata_names[i], out, err) < 0)
            return -1;
    text_buffer_add_text(out, "}");
    if (write_member(pod, "spec", out, err) < 0)
        return -1;
    text_buffer_add_text(out, "}");
    return text_buffer_failed(out) ? error_set_memory(err) : 0;
}

static struct pod_record *read_pod(const struct json_value *pod, struct error_info *err)
{
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, 2 * PLAN_QUESTION_MAXIMUM_BYTES);
    if (write_pod(pod, &text, err) < 0)
        return NULL;
    return pod_record_parse(text.text, text.length, err);
}

int plan_question_parse(const char *text, size_t bytes, struct plan_question *ret,
                        struct error_info *err)
{
    if (bytes > PLAN_QUESTION_MAXIMUM_BYTES)
        return error_set(err, "/plan: %zu bytes; at most %zu are possible", bytes,
                         PLAN_QUESTION_MAXIMUM_BYTES);
    CLEANUP(json_value) struct json_value *root = json_value_parse(text, bytes, "/plan", err);
    if (!root)
        return -1;
    const struct json_value *pod = json_value_get(root, "pod");
    uint64_t size = 0;
    if (json_value_kind(pod) != JSON_OBJECT ||
        json_value_kind(json_value_get(pod, "spec")) != JSON_OBJECT)
        return error_set(err, "/plan: no pod with a spec; give {\"pod\": {\"metadata\": …, "
                              "\"spec\": …}, \"size\": 16}");
    if (json_value_kind(json_value_get(json_value_get(pod, "spec"), "template")) == JSON_OBJECT)
        return error_set(err, "/plan: pod is what makes pods; give the template in its spec");
    if (json_value_unsigned(json_value_get(root, "size"), GANG_MAXIMUM_PODS, &size) < 0 ||
        size == 0)
        return error_set(err, "/plan: size has to be the gang's number of pods, 1 to %u",
                         GANG_MAXIMUM_PODS);
    struct pod_record *record = read_pod(pod, err);
    if (!record)
        return error_prefix(err, "/plan");
    *ret = (struct plan_question){.pod = record, .size = (uint32_t)size};
    return 0;
}

void plan_question_done(struct plan_question *question)
{
    pod_record_free(question->pod);
    question->pod = NULL;
}

/* --- the answer --------------------------------------------------------------------- */

const char *gang_outcome_name(enum gang_outcome outcome)
{
    static const char *const names[] = {
        [GANG_PLANNED] = "planned",
        [GANG_NO_FIT] = "no-fit",
        [GANG_DENIED] = "denied",
        [GANG_BAD_INPUT] = "bad-input",
    };
    return (unsigned)outcome < COUNT_OF(names) ? names[outcome] : "bad-input";
}

/* A number, or null where there are no degrees. */
static void add_coordinate(struct json_value *parent, const char *key, bool known, unsigned number)
{
    if (known)
        json_add_unsigned(parent, key, number);
    else
        json_add_null(parent, key);
}

static void add_pod(const struct gang_plan *plan, uint32_t index, struct json_value *pods)
{
    struct json_value *pod = json_add_object(pods, NULL);
    struct rank_coordinates at;
    gang_plan_coordinates(plan, index, &at);
    const struct {
        const char *name;
        unsigned number;
    } coordinates[] = {{"tp", at.tp},   {"cp", at.cp}, {"ep", at.ep},
                       {"etp", at.etp}, {"pp", at.pp}, {"dp", at.dp}};
    json_add_unsigned(pod, "index", index);
    json_add_text(pod, "node", plan->nodes[index]);
    json_add_unsigned(pod, "rank", (uint64_t)index * plan->gpus_per_pod);
    json_add_unsigned(pod, "ranks", plan->gpus_per_pod);
    for (size_t i = 0; i < COUNT_OF(coordinates); i++)
        add_coordinate(pod, coordinates[i].name, plan->has_degrees, coordinates[i].number);
}

static void add_degrees(const struct gang_plan *plan, struct json_value *root)
{
    const struct degrees *d = &plan->degrees;
    const struct {
        const char *name;
        unsigned number;
    } degrees[] = {{"tp", d->tp},   {"cp", d->cp},       {"ep", d->ep},
                   {"etp", d->etp}, {"pp", d->pp},       {"vpp", d->vpp},
                   {"dp", d->dp},   {"shard", d->shard}, {"replicate", d->replicate}};
    if (plan->outcome != GANG_PLANNED || !plan->has_degrees) {
        json_add_null(root, "order");
        json_add_null(root, "degrees");
        return;
    }
    json_add_text(root, "order", rank_order_name(plan->order));
    struct json_value *object = json_add_object(root, "degrees");
    for (size_t i = 0; i < COUNT_OF(degrees); i++)
        json_add_unsigned(object, degrees[i].name, degrees[i].number);
}

int plan_answer_write(const struct gang_plan *plan, struct text_buffer *out, struct error_info *err)
{
    CLEANUP(json_value) struct json_value *root = json_value_create_object();
    bool planned = plan->outcome == GANG_PLANNED;
    if (!root)
        return error_set_memory(err);
    json_add_text(root, "schema", "parplan.gang_plan/1");
    json_add_text(root, "outcome", gang_outcome_name(plan->outcome));
    json_add_text(root, "reason", plan->reason);
    json_add_text(root, "plan_id", planned ? plan->id : NULL);
    json_add_unsigned(root, "gpus_per_pod", plan->gpus_per_pod);
    add_degrees(plan, root);
    struct json_value *pods = json_add_array(root, "pods");
    for (uint32_t i = 0; planned && i < plan->pods; i++)
        add_pod(plan, i, pods);
    return json_value_write(root, JSON_STYLE_PRETTY, out, err);
}
