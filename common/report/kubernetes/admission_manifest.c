/* SPDX-License-Identifier: MIT */
#include "report/kubernetes/admission_manifest.h"
#include "base/yaml_fields.h"
#include "report/kubernetes/manifest_template.h"
#include "workload/job_spec.h"
#include "workload/rank_order.h"
#include <string.h>

#define WORD_MAXIMUM_BYTES ((size_t)1 << 20)
#define LABEL_MAXIMUM_BYTES 63u
#define NAME_MAXIMUM_BYTES 253u
#define VALUE_BYTES 160

const char *const admission_outputs[] = {
    "plan",    "plan-id", "plan-shape", "node",    "node-rank", "master-addr",
    "tp-rank", "pp-rank", "dp-rank",    "cp-rank", "ep-rank",   NULL,
};

/* Numbers that are no keys of the job: which pod of how many. */
static const char *const gang_numbers[] = {"size", "index"};

enum action { ACTION_NONE, ACTION_DENY, ACTION_WARN, ACTION_COUNT };

static const char *const action_names[ACTION_COUNT] = {"", "deny", "warn"};
static const char *const action_lists[ACTION_COUNT] = {"", "Deny", "Warn, Audit"};

typedef void (*value_fn)(const struct policy *policy, char ret[static VALUE_BYTES]);
typedef enum action (*action_fn)(const struct policy *policy);

/* --- names -------------------------------------------------------------------------------- */

/* Of a namespace (dots false), or of an object. */
static bool is_name(const char *text, size_t maximum, bool dots)
{
    static const char inner[] = "abcdefghijklmnopqrstuvwxyz0123456789-.";
    size_t length = strlen(text);
    if (length == 0 || length > maximum || strspn(text, inner) != length ||
        (!dots && strchr(text, '.')))
        return false;
    return !strchr("-.", text[0]) && !strchr("-.", text[length - 1]);
}

static bool is_namespace(const char *text) { return is_name(text, LABEL_MAXIMUM_BYTES, false); }

static void add_quoted(struct text_buffer *out, const char *text)
{
    text_buffer_add_text(out, "'");
    for (; *text; text++)
        text_buffer_add(out, "%s%c", strchr("'\\", *text) ? "\\" : "", *text);
    text_buffer_add_text(out, "'");
}

/* --- what differs from one namespace to the other ------------------------------------------- */

static void max_tp(const struct policy *policy, char ret[static VALUE_BYTES])
{
    snprintf(ret, VALUE_BYTES, "%u", policy->max_tp);
}

static void tp_within(const struct policy *policy, char ret[static VALUE_BYTES])
{
    static const char *const words[TP_WITHIN_COUNT] = {"'node'", "'nvlink_domain'", "'off'"};
    snprintf(ret, VALUE_BYTES, "%s", words[policy->tp_within]);
}

static void orders(const struct policy *policy, char ret[static VALUE_BYTES])
{
    size_t length = 0;
    for (unsigned i = 0; i < RANK_ORDER_COUNT; i++)
        if (policy->orders >> i & 1)
            length +=
                (size_t)snprintf(ret + length, VALUE_BYTES - length, "%s'%s'",
                                 length > 0 ? ", " : "[", rank_order_name((enum rank_order)i));
    snprintf(ret + length, VALUE_BYTES - length, "%s", length > 0 ? "]" : "[]");
}

static enum action on_violation(const struct policy *policy)
{
    return policy->on_violation == POLICY_WARN ? ACTION_WARN : ACTION_DENY;
}

static enum action require_plan(const struct policy *policy)
{
    static const enum action actions[POLICY_REQUIRE_COUNT] = {ACTION_NONE, ACTION_WARN,
                                                              ACTION_DENY};
    return actions[policy->require_plan];
}

static enum action always(const struct policy *policy)
{
    (void)policy;
    return ACTION_DENY;
}

static size_t scope_count(const struct admin_config *config)
{
    return config->scopes.sections[SCOPE_PARTITION].count;
}

/* The policy of the namespace that the rule names; NULL: it names none. */
static const char *namespace_policy(const struct admin_config *config, size_t i, struct policy *ret)
{
    const char *name = config->scopes.sections[SCOPE_PARTITION].rules[i].name;
    const struct policy_subject subject = {{[SCOPE_PARTITION] = name}};
    if (!is_namespace(name))
        return NULL;
    admin_config_policy(config, &subject, ret);
    return name;
}

/* "{'debug': 4}[?request.namespace].orValue(8)", or "8". */
static void add_lookup(struct text_buffer *out, const struct admin_config *config, value_fn value)
{
    char general[VALUE_BYTES], text[VALUE_BYTES];
    struct policy policy;
    bool any = false;
    value(&config->policy, general);
    for (size_t i = 0; i < scope_count(config); i++) {
        const char *name = namespace_policy(config, i, &policy);
        if (!name)
            continue;
        value(&policy, text);
        if (strcmp(text, general) == 0)
            continue;
        text_buffer_add(out, "%s'%s': %s", any ? ", " : "{", name, text);
        any = true;
    }
    if (any)
        text_buffer_add(out, "}[?request.namespace].orValue(%s)", general);
    else
        text_buffer_add_text(out, general);
}

/* --- bindings ------------------------------------------------------------------------------- */

struct binding {
    const char *policy;
    action_fn action;
};

static const struct binding bindings[] = {
    {"parplan-degrees", on_violation},
    {"parplan-require-plan", require_plan},
    {"parplan-gangs", always},
};

/* The i-th scope's name where its action is (or is not) that one, else NULL. kube-system stands
 * in the general binding. */
static const char *bound_namespace(const struct admin_config *config, size_t i,
                                   const struct binding *binding, enum action action, bool is)
{
    struct policy policy;
    const char *name = namespace_policy(config, i, &policy);
    return name && (binding->action(&policy) == action) == is && strcmp(name, "kube-system") != 0
               ? name
               : NULL;
}

/* The general binding leaves out the namespaces whose action is another, the other ones name
 * theirs. */
static void add_namespaces(struct text_buffer *out, const struct admin_config *config,
                           const struct binding *binding, enum action action, bool general)
{
    const char *separator = "";
    text_buffer_add(out, "operator: %s, values: [", general ? "NotIn" : "In");
    if (general) {
        text_buffer_add_text(out, "kube-system");
        separator = ", ";
    }
    for (size_t i = 0; i < scope_count(config); i++) {
        const char *name = bound_namespace(config, i, binding, action, !general);
        if (!name)
            continue;
        text_buffer_add(out, "%s\"%s\"", separator, name);
        separator = ", ";
    }
    text_buffer_add_text(out, "]}\n");
}

static bool is_bound(const struct admin_config *config, const struct binding *binding,
                     enum action action)
{
    bool any = binding->action(&config->policy) == action;
    for (size_t i = 0; !any && i < scope_count(config); i++)
        any = bound_namespace(config, i, binding, action, true) != NULL;
    return config->enabled && any;
}

/* One that binds nothing is written too, for no namespace (all have that label): `kubectl apply`
 * takes away nothing, and the one of a stricter file would stay in force. */
static void add_binding(struct text_buffer *out, const struct admin_config *config,
                        const struct binding *binding, enum action action)
{
    text_buffer_add(out,
                    "---\n"
                    "apiVersion: admissionregistration.k8s.io/v1\n"
                    "kind: ValidatingAdmissionPolicyBinding\n"
                    "metadata:\n"
                    "  name: %s-%s\n"
                    "  labels: {app.kubernetes.io/name: parplan, app.kubernetes.io/component: "
                    "admission}\n"
                    "spec:\n"
                    "  policyName: %s\n"
                    "  validationActions: [%s]\n"
                    "  matchResources:\n"
                    "    namespaceSelector:\n"
                    "      matchExpressions:\n"
                    "        - {key: kubernetes.io/metadata.name, ",
                    binding->policy, action_names[action], binding->policy, action_lists[action]);
    if (is_bound(config, binding, action))
        add_namespaces(out, config, binding, action, binding->action(&config->policy) == action);
    else
        text_buffer_add_text(out, "operator: DoesNotExist}\n");
}

static void add_bindings(struct text_buffer *out, const struct admin_config *config)
{
    for (size_t i = 0; i < COUNT_OF(bindings); i++)
        for (unsigned action = ACTION_DENY; action < ACTION_COUNT; action++)
            add_binding(out, config, &bindings[i], (enum action)action);
}

/* --- words ---------------------------------------------------------------------------------- */

static void add_keys(struct text_buffer *out, bool bounded)
{
    for (size_t i = 0; !bounded && i < COUNT_OF(gang_numbers); i++)
        text_buffer_add(out, "%s'%s'", i > 0 ? ", " : "", gang_numbers[i]);
    bool any = !bounded;
    for (unsigned key = 0; key < JOB_KEY_COUNT; key++) {
        const struct job_key_info *info = job_key_info((enum job_key)key);
        if (info->type != JOB_TYPE_UNSIGNED || info->bounds != bounded)
            continue;
        text_buffer_add(out, "%s'%s'", any ? ", " : "", info->name);
        any = true;
    }
}

static void add_outputs(struct text_buffer *out)
{
    for (size_t i = 0; admission_outputs[i]; i++)
        text_buffer_add(out, "%s'%s'", i > 0 ? ", " : "", admission_outputs[i]);
}

static void add_schedulers(struct text_buffer *out, const struct admission_request *request)
{
    for (size_t i = 0; i < request->scheduler_count; i++)
        text_buffer_add(out, "%s'%s'", i > 0 ? ", " : "", request->schedulers[i]);
}

/* What of the file has no meaning here. */
static void add_notes(struct text_buffer *out, const struct admin_config *config)
{
    static const char *const slurm[POLICY_SECTIONS] = {
        [SCOPE_QOS] = "qos", [SCOPE_ACCOUNT] = "accounts", [SCOPE_USER] = "users"};
    struct policy policy;
    if (!config->enabled)
        text_buffer_add_text(out,
                             "# enabled: false: nothing below is bound, nothing is refused.\n");
    for (unsigned i = 0; i < POLICY_SECTIONS; i++)
        if (slurm[i] && config->scopes.sections[i].count > 0)
            text_buffer_add(out, "# policy.%s is Slurm's and does not apply here.\n", slurm[i]);
    for (size_t i = 0; i < scope_count(config); i++) {
        const struct policy_rule *rule = &config->scopes.sections[SCOPE_PARTITION].rules[i];
        char name[LABEL_MAXIMUM_BYTES + 1];
        snprintf(name, sizeof(name), "%s", rule->name);
        error_clean_text(name);
        if (!namespace_policy(config, i, &policy))
            text_buffer_add(out, "# policy.partitions: no namespace can be called %s.\n", name);
    }
}

enum word {
    WORD_SOURCE,
    WORD_NOTES,
    WORD_ACCOUNT,
    WORD_MAX_TP,
    WORD_TP_WITHIN,
    WORD_ORDERS,
    WORD_DOMAIN_GPUS,
    WORD_CLUSTER,
    WORD_BOUNDED_KEYS,
    WORD_NUMBER_KEYS,
    WORD_OUTPUTS,
    WORD_SCHEDULER,
    WORD_SCHEDULERS,
    WORD_BINDINGS,
    WORD_COUNT
};

static const char *const word_names[WORD_COUNT] = {
    [WORD_SOURCE] = "source",           [WORD_NOTES] = "notes",
    [WORD_ACCOUNT] = "account",         [WORD_MAX_TP] = "max_tp",
    [WORD_TP_WITHIN] = "tp_within",     [WORD_ORDERS] = "orders",
    [WORD_DOMAIN_GPUS] = "domain_gpus", [WORD_CLUSTER] = "cluster",
    [WORD_BOUNDED_KEYS] = "bounded",    [WORD_NUMBER_KEYS] = "numbers",
    [WORD_OUTPUTS] = "outputs",         [WORD_SCHEDULER] = "scheduler",
    [WORD_SCHEDULERS] = "schedulers",   [WORD_BINDINGS] = "bindings",
};

static void add_clean(struct text_buffer *out, const char *text)
{
    char clean[VALUE_BYTES];
    snprintf(clean, sizeof(clean), "%s", text);
    error_clean_text(clean);
    text_buffer_add_text(out, clean);
}

static void add_cluster(struct text_buffer *out, const char *cluster)
{
    char clean[VALUE_BYTES];
    snprintf(clean, sizeof(clean), "%s", cluster ? cluster : "the cluster");
    error_clean_text(clean);
    add_quoted(out, clean);
}

static void fill_words(const struct admission_request *request, struct text_buffer *words)
{
    const struct admin_config *config = request->config;
    add_clean(&words[WORD_SOURCE], request->source);
    add_notes(&words[WORD_NOTES], config);
    text_buffer_add(&words[WORD_ACCOUNT], "system:serviceaccount:%s:%s", request->namespace,
                    ADMISSION_EXTENDER_ACCOUNT);
    add_lookup(&words[WORD_MAX_TP], config, max_tp);
    add_lookup(&words[WORD_TP_WITHIN], config, tp_within);
    add_lookup(&words[WORD_ORDERS], config, orders);
    text_buffer_add(&words[WORD_DOMAIN_GPUS], "%u", request->nvlink_domain_gpus);
    add_cluster(&words[WORD_CLUSTER], request->cluster);
    add_keys(&words[WORD_BOUNDED_KEYS], true);
    add_keys(&words[WORD_NUMBER_KEYS], false);
    add_outputs(&words[WORD_OUTPUTS]);
    text_buffer_add_text(&words[WORD_SCHEDULER], request->schedulers[0]);
    add_schedulers(&words[WORD_SCHEDULERS], request);
    add_bindings(&words[WORD_BINDINGS], config);
}

static int check_names(const struct admission_request *request, struct error_info *err)
{
    if (!is_namespace(request->namespace))
        return error_set(err, "%.80s is no namespace's name", request->namespace);
    for (size_t i = 0; i < request->scheduler_count; i++)
        if (!is_name(request->schedulers[i], NAME_MAXIMUM_BYTES, true))
            return error_set(err, "%.80s is no scheduler's name", request->schedulers[i]);
    return 0;
}

int admission_manifest_write(const struct admission_request *request, const char *template,
                             size_t bytes, struct text_buffer *out, struct error_info *err)
{
    struct text_buffer texts[WORD_COUNT];
    struct template_word words[WORD_COUNT];
    if (check_names(request, err) < 0)
        return -1;
    bool failed = false;
    for (size_t i = 0; i < WORD_COUNT; i++)
        text_buffer_init(&texts[i], WORD_MAXIMUM_BYTES);
    fill_words(request, texts);
    for (size_t i = 0; i < WORD_COUNT; i++) {
        words[i] = (struct template_word){word_names[i], text_buffer_text(&texts[i])};
        failed = failed || text_buffer_failed(&texts[i]);
    }
    int result = failed ? error_set_memory(err)
                        : manifest_template_write(template, bytes, words, WORD_COUNT, out, err);
    for (size_t i = 0; i < WORD_COUNT; i++)
        text_buffer_done(&texts[i]);
    return result;
}
