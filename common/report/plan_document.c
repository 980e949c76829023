/* SPDX-License-Identifier: MIT */
#include "report/plan_report.h"

#include "report/comparison/method_report.h"

#define DIGITS 6u

static void add_degrees(struct json_value *parent, const struct degrees *degrees)
{
    struct json_value *object = json_add_object(parent, "degrees");
    json_add_unsigned(object, "tp", degrees->tp);
    json_add_unsigned(object, "cp", degrees->cp);
    json_add_unsigned(object, "ep", degrees->ep);
    json_add_unsigned(object, "etp", degrees->etp);
    json_add_unsigned(object, "pp", degrees->pp);
    json_add_unsigned(object, "vpp", degrees->vpp);
    json_add_unsigned(object, "dp", degrees->dp);
    json_add_unsigned(object, "shard", degrees->shard);
    json_add_unsigned(object, "replicate", degrees->replicate);
}

static void add_known_bytes(struct json_value *parent, const char *key, uint64_t bytes)
{
    if (bytes > 0)
        json_add_unsigned(parent, key, bytes);
    else
        json_add_null(parent, key);
}

static void add_memory(struct json_value *parent, const struct memory_estimate *memory)
{
    struct json_value *object = json_add_object(parent, "memory");
    struct json_value *parts = json_add_object(object, "parts");
    for (unsigned i = 0; i < MEMORY_PART_COUNT; i++)
        json_add_unsigned(parts, memory_part_name((enum memory_part)i), memory->parts[i]);
    json_add_unsigned(object, "stage", memory->stage);
    json_add_unsigned(object, "total", memory->total_bytes);
    add_known_bytes(object, "capacity", memory->capacity_bytes);
    add_known_bytes(object, "tight_from", memory->tight_bytes);
    if (memory->host_bytes > 0) {
        json_add_unsigned(object, "host", memory->host_bytes);
        add_known_bytes(object, "host_capacity", memory->host_capacity_bytes);
        json_add_unsigned(object, "tiles", memory->tiles);
    }
    json_add_text(object, "verdict", fit_verdict_name(memory->verdict));
}

static void add_known_real(struct json_value *parent, const char *key, double value, bool known)
{
    if (known)
        json_add_real(parent, key, value, DIGITS);
    else
        json_add_null(parent, key);
}

static void add_time(struct json_value *parent, const struct time_estimate *time)
{
    bool known = time->step_seconds > 0.0;
    struct json_value *object = json_add_object(parent, "time");
    struct json_value *parts = json_add_object(object, "parts");
    for (unsigned i = 0; i < TIME_PART_COUNT; i++)
        add_known_real(parts, time_part_name((enum time_part)i), time->parts[i], known);
    add_known_real(object, "step_seconds", time->step_seconds, known);
    add_known_real(object, "bubble_fraction", time->bubble_fraction, known);
    add_known_real(object, "tokens_per_second", time->tokens_per_second, known);
    add_known_real(object, "tflops_per_gpu", time->tflops_per_gpu, known);
    add_known_real(object, "mfu", time->mfu, known);
}

static void add_texts(struct json_value *parent, const char *key, const char *const *texts,
                      size_t count)
{
    struct json_value *array = json_add_array(parent, key);
    for (size_t i = 0; i < count; i++)
        json_add_text(array, NULL, texts[i]);
}

/* key NULL: appended to an array. */
static void add_plan(struct json_value *parent, const char *key, const struct plan *plan)
{
    struct json_value *object = json_add_object(parent, key);
    add_degrees(object, &plan->degrees);
    json_add_text(object, "sharding", sharding_name(plan->sharding));
    json_add_text(object, "offload", offload_name(plan->offload));
    json_add_text(object, "schedule", schedule_name(plan->schedule));
    json_add_text(object, "recompute", recompute_name(plan->recompute));
    json_add_text(object, "precision", precision_name(plan->precision));
    json_add_text(object, "order", rank_order_name(plan->order));
    json_add_unsigned(object, "micro_batch", plan->micro_batch);
    json_add_unsigned(object, "micro_batches", plan->micro_batches);
    add_memory(object, &plan->memory);
    add_time(object, &plan->time);
    add_texts(object, "reasons", plan->reasons, plan->reason_count);
}

static void add_request(struct json_value *document, const struct plan_report *report)
{
    json_add_text(document, "model", report->request->model->name);
    json_add_text(document, "cluster", report->request->cluster->name);
    json_add_unsigned(document, "gpus", report->world);
    json_add_unsigned(document, "nodes", report->request->cluster->node_count);
    json_add_unsigned(document, "gpus_per_node", report->gpus_per_node);
    json_add_text(document, "framework", report->framework);
    json_add_unsigned(document, "sequence_length", report->training->sequence_length);
    json_add_unsigned(document, "global_batch", report->training->global_batch);
}

void plan_report_json_plan(struct json_value *parent, const char *key, const struct plan *plan)
{
    add_plan(parent, key, plan);
}

void plan_report_json_request(struct json_value *document, const struct plan_report *report)
{
    add_request(document, report);
}

static void add_policy(struct json_value *document, const struct policy_verdict *verdict)
{
    static const char *const results[] = {
        [POLICY_ALLOWED] = "allowed", [POLICY_WARNED] = "warned", [POLICY_DENIED] = "denied"};
    struct json_value *object = json_add_object(document, "policy");
    json_add_text(object, "verdict", results[verdict->result]);
    json_add_text(object, "code",
                  verdict->code == POLICY_OK ? NULL : policy_code_name(verdict->code));
    json_add_text(object, "text", verdict->text[0] ? verdict->text : NULL);
}

static void add_rules(struct json_value *document, const struct plan_list *list)
{
    struct json_value *rules = json_add_array(document, "rules");
    for (size_t i = 0; i < list->rule_count; i++) {
        struct json_value *object = json_add_object(rules, NULL);
        json_add_text(object, "rule", list->rules[i].rule);
        json_add_text(object, "inputs", list->rules[i].inputs);
        json_add_text(object, "verdict", list->rules[i].verdict);
        json_add_text(object, "reason", list->rules[i].reason);
    }
}

static void add_outcome(struct json_value *document, const struct plan_list *list)
{
    struct json_value *rejected = json_add_object(document, "rejected");
    for (unsigned i = 0; i < REJECTION_COUNT; i++)
        json_add_unsigned(rejected, rejection_name((enum rejection)i), list->rejected[i]);
    json_add_unsigned(document, "examined", list->examined);
    json_add_unsigned(document, "pruned", list->pruned);
    struct json_value *remedies = json_add_array(document, "remedies");
    for (size_t i = 0; i < list->remedy_count; i++) {
        struct json_value *object = json_add_object(remedies, NULL);
        json_add_text(object, "kind", list->remedies[i].kind);
        json_add_text(object, "text", list->remedies[i].text);
    }
    if (list->nearest)
        add_plan(document, "nearest", list->nearest);
    else
        json_add_null(document, "nearest");
    add_texts(document, "notes", list->notes, list->note_count);
}

struct json_value *plan_report_json(const struct plan_report *report)
{
    const struct plan_list *list = report->list;
    struct json_value *document = json_value_create_object();
    json_add_text(document, "schema", "parplan.plan/1");
    add_request(document, report);
    struct json_value *plans = json_add_array(document, "plans");
    for (size_t i = 0; i < list->plan_count; i++)
        add_plan(plans, NULL, &list->plans[i]);
    add_rules(document, list);
    struct json_value *pareto = json_add_array(document, "pareto");
    for (size_t i = 0; i < list->pareto_count; i++)
        add_plan(pareto, NULL, &list->pareto[i]);
    if (report->methods)
        method_report_json(report->methods, document);
    add_policy(document, &list->policy);
    add_outcome(document, list);
    return document;
}

struct json_value *check_report_json(const struct plan_report *report)
{
    const struct plan_list *list = report->list;
    const struct plan *best = list->plan_count > 0 ? list->plans : NULL;
    const struct plan *shown = best ? best : list->nearest;
    struct json_value *document = json_value_create_object();
    json_add_text(document, "schema", "parplan.check/1");
    add_request(document, report);
    add_policy(document, &list->policy);
    json_add_text(document, "fit", fit_verdict_name(shown ? shown->memory.verdict : FIT_UNKNOWN));
    if (best)
        add_plan(document, "plan", best);
    else
        json_add_null(document, "plan");
    add_outcome(document, list);
    return document;
}

struct json_value *policy_report_json(const struct degrees *degrees,
                                      const struct policy_verdict *verdict)
{
    struct json_value *document = json_value_create_object();
    json_add_text(document, "schema", "parplan.check/1");
    add_degrees(document, degrees);
    add_policy(document, verdict);
    json_add_text(document, "fit", fit_verdict_name(FIT_UNKNOWN));
    return document;
}
