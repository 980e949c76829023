/* SPDX-License-Identifier: MIT */
#include "workload/admin/policy_scopes.h"
#include "base/yaml_fields.h"
#include "workload/rank_order.h"
#include <string.h>
#include <strings.h>

const char *const policy_scope_variables[POLICY_SCOPE_COUNT] = {
    [SCOPE_PARTITION] = "SLURM_JOB_PARTITION", [SCOPE_QOS] = "SLURM_JOB_QOS",
    [SCOPE_ACCOUNT] = "SLURM_JOB_ACCOUNT",     [SCOPE_USER] = "SLURM_JOB_USER",
    [SCOPE_USER_ID] = "SLURM_JOB_UID",
};

/* In the order of their enums. */
static const char *const tp_within_words[] = {"node", "nvlink_domain", "off", NULL};
static const char *const action_words[] = {"deny", "warn", "fix", NULL};
static const char *const unknown_words[] = {"warn", "deny", "allow", NULL};
static const char *const mismatch_words[] = {"warn", "deny", NULL};
static const char *const require_words[] = {"off", "warn", "deny", NULL};
static const char *const span_words[] = {"off", "leaf", "nvlink_domain", "node", NULL};

/* The file's fields as the table of fields wants them. */
struct policy_fields {
    union policy_change change;
    uint64_t max_tp;
    const struct yaml_node *orders, *spans, *sections[POLICY_SECTIONS];
};

#define AT(member) .offset = offsetof(struct policy_fields, member)
#define CHOICE(word, member, words)                                                                \
    {                                                                                              \
        .key = (word), .type = YAML_CHOICE, AT(change.policy.member), .choices = (words)           \
    }
#define NODE(word, member)                                                                         \
    {                                                                                              \
        .key = (word), .type = YAML_NODE, AT(member)                                               \
    }

#define SPAN(word, dimension) CHOICE(word, spans[dimension], span_words)

static const struct yaml_field span_table[] = {
    SPAN("cp", SPAN_CP),
    SPAN("ep", SPAN_EP),
    SPAN("dp", SPAN_DP),
    SPAN("pp", SPAN_PP),
};

/* First what a QOS or an account must not have, last what no sub-policy has. */
static const struct yaml_field policy_table[] = {
    CHOICE("tp_within", tp_within, tp_within_words),
    {.key = "max_tp", .type = YAML_UNSIGNED, AT(max_tp), .maximum = DEGREE_MAXIMUM},
    CHOICE("on_violation", on_violation, action_words),
    CHOICE("require_plan", require_plan, require_words),
    CHOICE("on_unknown_topology", on_unknown_topology, unknown_words),
    CHOICE("on_mismatch", on_mismatch, mismatch_words),
    NODE("orders", orders),
    NODE("spans", spans),
    NODE("partitions", sections[SCOPE_PARTITION]),
    NODE("qos", sections[SCOPE_QOS]),
    NODE("accounts", sections[SCOPE_ACCOUNT]),
    NODE("users", sections[SCOPE_USER]),
};

static bool only_tightens(unsigned scope) { return scope == SCOPE_QOS || scope == SCOPE_ACCOUNT; }

static int read_orders(const struct yaml_node *node, unsigned *ret, struct error_info *err)
{
    struct error_info why;
    enum rank_order order;
    unsigned orders = 0;
    if (node->kind != YAML_SEQUENCE || node->child_count == 0)
        return yaml_node_error(node, err, "needs a list of rank orders, as [tp-cp-ep-dp-pp]");
    for (size_t i = 0; i < node->child_count; i++) {
        const struct yaml_node *child = node->children[i];
        if (rank_order_parse(child->text ? child->text : "", &order, &why) < 0)
            return yaml_node_error(child, err, "%s", why.text);
        orders |= 1u << order;
    }
    *ret = orders;
    return 0;
}

static int read_fields(const struct yaml_node *node, unsigned skipped, size_t count,
                       struct policy_fields *ret, struct error_info *err)
{
    *ret = (struct policy_fields){.max_tp = POLICY_KEEP};
    for (size_t i = 0; i < POLICY_FIELDS; i++)
        ret->change.fields[i] = POLICY_KEEP;
    if (yaml_fields_load(node, policy_table + skipped, count - skipped, ret, err) < 0)
        return -1;
    ret->change.policy.max_tp = (unsigned)ret->max_tp;
    if (ret->spans && yaml_fields_load(ret->spans, span_table, COUNT_OF(span_table), ret, err) < 0)
        return -1;
    return ret->orders ? read_orders(ret->orders, &ret->change.policy.orders, err) : 0;
}

static int read_section(const struct yaml_node *node, unsigned scope, struct arena *arena,
                        struct policy_scopes *ret, struct error_info *err)
{
    struct policy_fields fields;
    if ((node->kind != YAML_MAPPING && !yaml_node_is_empty(node)) ||
        node->child_count > POLICY_RULES_MAXIMUM)
        return yaml_node_error(node, err, "needs a mapping of at most %u names to policies",
                               POLICY_RULES_MAXIMUM);
    struct policy_rule *rules = arena_allocate_array(arena, node->child_count, sizeof(*rules));
    if (!rules && node->child_count > 0)
        return error_set_memory(err);
    for (size_t i = 0; i < node->child_count; i++) {
        if (read_fields(node->children[i], only_tightens(scope),
                        COUNT_OF(policy_table) - POLICY_SECTIONS, &fields, err) < 0)
            return -1;
        rules[i].change = fields.change;
        rules[i].name = arena_copy_text(arena, node->children[i]->key);
        if (!rules[i].name)
            return error_set_memory(err);
    }
    ret->sections[scope].rules = rules;
    ret->sections[scope].count = node->child_count;
    return 0;
}

static void override(union policy_change *policy, const union policy_change *change)
{
    for (size_t i = 0; i < POLICY_FIELDS; i++)
        if (change->fields[i] != POLICY_KEEP)
            policy->fields[i] = change->fields[i];
}

#define FIELD(member) (offsetof(struct policy, member) / sizeof(unsigned))
static const struct {
    unsigned char field, strictness[3]; /* of each word */
} choices[] = {
    {FIELD(on_violation), {[POLICY_WARN] = 0, [POLICY_FIX] = 1, [POLICY_DENY] = 2}},
    {FIELD(require_plan), {[REQUIRE_OFF] = 0, [REQUIRE_WARN] = 1, [REQUIRE_DENY] = 2}},
    {FIELD(on_unknown_topology), {[UNKNOWN_ALLOW] = 0, [UNKNOWN_WARN] = 1, [UNKNOWN_DENY] = 2}},
    {FIELD(on_mismatch), {[MISMATCH_WARN] = 0, [MISMATCH_DENY] = 1}},
};

/* The change without what would loosen. */
static void tighten(union policy_change *policy, union policy_change change)
{
    unsigned *tp = &change.policy.max_tp, *orders = &change.policy.orders;
    for (size_t i = 0; i < COUNT_OF(choices); i++) {
        unsigned *given = &change.fields[choices[i].field];
        if (*given != POLICY_KEEP &&
            choices[i].strictness[*given] < choices[i].strictness[policy->fields[choices[i].field]])
            *given = POLICY_KEEP;
    }
    for (size_t i = 0; i < SPAN_DIMENSION_COUNT; i++)
        if (change.policy.spans[i] < policy->policy.spans[i])
            change.policy.spans[i] = POLICY_KEEP;
    if (*tp == 0 || (policy->policy.max_tp > 0 && *tp > policy->policy.max_tp))
        *tp = POLICY_KEEP;
    if (policy->policy.orders > 0) /* POLICY_KEEP has all of them, and changes nothing */
        *orders &= policy->policy.orders;
    if (*orders == 0)
        *orders = POLICY_KEEP; /* none in common: the first list stays */
    override(policy, &change);
}

int policy_scopes_read(const struct yaml_node *node, struct arena *arena, struct policy *general,
                       struct policy_scopes *ret, struct error_info *err)
{
    struct policy_fields fields;
    if (read_fields(node, 0, COUNT_OF(policy_table), &fields, err) < 0)
        return -1;
    union policy_change changed = {.policy = *general};
    override(&changed, &fields.change);
    *general = changed.policy;
    for (unsigned scope = 0; scope < POLICY_SECTIONS; scope++)
        if (fields.sections[scope] &&
            read_section(fields.sections[scope], scope, arena, ret, err) < 0)
            return -1;
    return 0;
}

/* Slurm has QOS and accounts in lower case, however they were typed. */
static bool is_named(const struct policy_rule *rule, unsigned scope, const char *name)
{
    return (only_tightens(scope) ? strcasecmp : strcmp)(rule->name, name) == 0;
}

static const union policy_change *find(const struct policy_scopes *scopes, unsigned scope,
                                       const char *name)
{
    unsigned section = scope == SCOPE_USER_ID ? SCOPE_USER : scope;
    for (size_t i = 0; name && i < scopes->sections[section].count; i++)
        if (is_named(&scopes->sections[section].rules[i], scope, name))
            return &scopes->sections[section].rules[i].change;
    return NULL;
}

void policy_scopes_apply(const struct policy_scopes *scopes, const struct policy_subject *subject,
                         struct policy *policy)
{
    union policy_change changed = {.policy = *policy};
    for (unsigned scope = 0; scope < POLICY_SCOPE_COUNT; scope++) {
        const union policy_change *found = find(scopes, scope, subject->names[scope]);
        if (found && only_tightens(scope))
            tighten(&changed, *found);
        else if (found)
            override(&changed, found);
    }
    *policy = changed.policy;
}
