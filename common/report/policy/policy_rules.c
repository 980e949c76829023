/* SPDX-License-Identifier: MIT */
#include "report/policy/policy_rules.h"
#include "report/text_table.h"
#include "workload/rank_order.h"
#include <stdio.h>

#define VALUE_BYTES 96

/* One value of a key: its word, and what it means. */
struct choice {
    const char *word, *meaning;
};

struct key {
    const char *name;
    size_t field;                 /* of union policy_change */
    const struct choice *choices; /* by the value; NULL: a number, or the orders' bits */
};

static const struct choice within_choices[] = {
    [TP_WITHIN_NODE] = {"node", "one TP group, one node"},
    [TP_WITHIN_NVLINK_DOMAIN] = {"nvlink_domain", "one TP group, one NVLink domain"},
    [TP_WITHIN_OFF] = {"off", "TP groups may lie anywhere"},
};
static const struct choice action_choices[] = {
    [POLICY_DENY] = {"deny", "what speaks against the policy is refused"},
    [POLICY_WARN] = {"warn", "what speaks against the policy runs with a warning"},
    [POLICY_FIX] = {"fix", "degrees that parplan chose are mended, given ones refused"},
};
static const struct choice require_choices[] = {
    [REQUIRE_OFF] = {"off", "jobs may run without a plan"},
    [REQUIRE_WARN] = {"warn", "jobs without a plan run with a warning"},
    [REQUIRE_DENY] = {"deny", "jobs without a plan are refused"},
};
static const struct choice unknown_choices[] = {
    [UNKNOWN_WARN] = {"warn", "where the topology is unknown jobs run with a warning"},
    [UNKNOWN_DENY] = {"deny", "where the topology is unknown jobs are refused"},
    [UNKNOWN_ALLOW] = {"allow", "where the topology is unknown jobs run"},
};
static const struct choice mismatch_choices[] = {
    [MISMATCH_WARN] = {"warn", "a node that is not as planned runs with a warning"},
    [MISMATCH_DENY] = {"deny", "a node that is not as planned is refused"},
};
static const struct choice span_choices[] = {
    [SPAN_OFF] = {"off", "may reach anywhere"},
    [SPAN_LEAF] = {"leaf", "stay under one lowest switch"},
    [SPAN_NVLINK_DOMAIN] = {"nvlink_domain", "stay in one NVLink domain"},
    [SPAN_NODE] = {"node", "stay in one node"},
};

#define FIELD(member) (offsetof(struct policy, member) / sizeof(unsigned))
static const struct key keys[] = {
    {"tp_within", FIELD(tp_within), within_choices},
    {"max_tp", FIELD(max_tp), NULL},
    {"on_violation", FIELD(on_violation), action_choices},
    {"require_plan", FIELD(require_plan), require_choices},
    {"on_unknown_topology", FIELD(on_unknown_topology), unknown_choices},
    {"on_mismatch", FIELD(on_mismatch), mismatch_choices},
    {"orders", FIELD(orders), NULL},
    {"cp", FIELD(spans[SPAN_CP]), span_choices},
    {"ep", FIELD(spans[SPAN_EP]), span_choices},
    {"dp", FIELD(spans[SPAN_DP]), span_choices},
    {"pp", FIELD(spans[SPAN_PP]), span_choices},
};

/* Sections of the file, and what one entry of them is called. */
static const struct {
    const char *key, *word;
} sections[POLICY_SECTIONS] = {
    [SCOPE_PARTITION] = {"partitions", "partition"},
    [SCOPE_QOS] = {"qos", "QOS"},
    [SCOPE_ACCOUNT] = {"accounts", "account"},
    [SCOPE_USER] = {"users", "user"},
};

static bool is_orders(const struct key *key) { return key->field == FIELD(orders); }
static bool is_span(const struct key *key) { return key->choices == span_choices; }

static bool has_subject(const struct policy_rules *rules)
{
    for (unsigned i = 0; i < POLICY_SCOPE_COUNT; i++)
        if (rules->subject.names[i])
            return true;
    return false;
}

/* --- text ----------------------------------------------------------------------------------- */

static void value_text(const struct key *key, unsigned value, char ret[static VALUE_BYTES])
{
    size_t length = 0;
    if (key->choices) {
        snprintf(ret, VALUE_BYTES, "%s", key->choices[value].word);
        return;
    }
    if (!is_orders(key)) {
        snprintf(ret, VALUE_BYTES, "%u", value);
        return;
    }
    snprintf(ret, VALUE_BYTES, "all");
    for (unsigned i = 0; i < RANK_ORDER_COUNT; i++)
        if (value >> i & 1)
            length += (size_t)snprintf(ret + length, VALUE_BYTES - length, "%s%s",
                                       length > 0 ? ", " : "", rank_order_name((enum rank_order)i));
}

static void add_meaning(struct text_table *table, const struct key *key, unsigned value)
{
    if (is_span(key))
        text_table_add_format(table, "%s groups %s", key->name, key->choices[value].meaning);
    else if (key->choices)
        text_table_add(table, key->choices[value].meaning);
    else if (is_orders(key))
        text_table_add(table, value ? "other rank orders are refused" : "any rank order");
    else
        text_table_add(table, value ? "larger tp and etp are refused" : "no limit of its own");
}

static void add_policy_text(const struct policy *policy, const struct text_style *style,
                            struct text_buffer *out)
{
    static const struct text_column columns[] = {
        {.title = NULL}, {.title = NULL}, {.title = NULL, .wrap = true}};
    const union policy_change values = {.policy = *policy};
    char text[VALUE_BYTES];
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, 3);
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        value_text(&keys[i], values.fields[keys[i].field], text);
        text_table_add_format(table, "%s%s", is_span(&keys[i]) ? "spans." : "", keys[i].name);
        text_table_add(table, text);
        add_meaning(table, &keys[i], values.fields[keys[i].field]);
    }
    text_table_write(table, style, out);
}

static void add_rule_text(struct text_table *table, unsigned section,
                          const struct policy_rule *rule)
{
    CLEANUP_DONE(text_buffer) struct text_buffer changes;
    char value[VALUE_BYTES];
    text_buffer_init(&changes, TEXT_BUFFER_REPORT_MAXIMUM);
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        if (rule->change.fields[keys[i].field] == POLICY_KEEP)
            continue;
        value_text(&keys[i], rule->change.fields[keys[i].field], value);
        text_buffer_add(&changes, "%s%s%s: %s", changes.length > 0 ? ", " : "",
                        is_span(&keys[i]) ? "spans." : "", keys[i].name, value);
    }
    if (text_buffer_failed(&changes))
        text_table_fail(table);
    text_table_add(table, sections[section].word);
    text_table_add(table, rule->name);
    text_table_add(table, changes.length > 0 ? text_buffer_text(&changes) : "nothing of its own");
}

static void add_scopes_text(const struct policy_scopes *scopes, const struct text_style *style,
                            struct text_buffer *out)
{
    static const struct text_column columns[] = {
        {.title = NULL}, {.title = NULL}, {.title = NULL, .wrap = true}};
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, 3);
    for (unsigned section = 0; section < POLICY_SECTIONS; section++)
        for (size_t i = 0; i < scopes->sections[section].count; i++)
            add_rule_text(table, section, &scopes->sections[section].rules[i]);
    if (text_table_rows(table) > 0)
        text_heading(style, out, "in place of that");
    text_table_write(table, style, out);
}

/* "partition debug, user ada". */
static void add_subject(const struct policy_rules *rules, struct text_buffer *out)
{
    const char *separator = "";
    for (unsigned i = 0; i < POLICY_SECTIONS; i++) {
        if (!rules->subject.names[i])
            continue;
        text_buffer_add(out, "%s%s %s", separator, sections[i].word, rules->subject.names[i]);
        separator = ", ";
    }
}

void policy_rules_text(const struct policy_rules *rules, const struct text_style *style,
                       struct text_buffer *out)
{
    const struct admin_config *config = rules->config;
    struct policy policy;
    CLEANUP_DONE(text_buffer) struct text_buffer subject;
    text_buffer_init(&subject, TEXT_BUFFER_REPORT_MAXIMUM);
    admin_config_policy(config, &rules->subject, &policy);
    add_subject(rules, &subject);
    text_heading(style, out, "policy (%s)%s%s", config->source, subject.length > 0 ? " of " : "",
                 text_buffer_text(&subject));
    if (!config->enabled)
        text_buffer_add_text(out, "  enabled: false: parplan is switched off, nothing applies\n");
    add_policy_text(&policy, style, out);
    if (!has_subject(rules))
        add_scopes_text(&config->scopes, style, out);
}

/* --- document ------------------------------------------------------------------------------- */

static void add_orders(struct json_value *object, const struct key *key, unsigned value)
{
    struct json_value *array = json_add_array(object, key->name);
    for (unsigned i = 0; i < RANK_ORDER_COUNT; i++)
        if (value == 0 || value >> i & 1)
            json_add_text(array, NULL, rank_order_name((enum rank_order)i));
}

static void add_values(struct json_value *object, const union policy_change *values)
{
    struct json_value *spans = NULL;
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        const struct key *key = &keys[i];
        unsigned value = values->fields[key->field];
        if (value == POLICY_KEEP)
            continue;
        if (is_span(key) && !spans)
            spans = json_add_object(object, "spans");
        if (is_orders(key))
            add_orders(object, key, value);
        else if (key->choices)
            json_add_text(is_span(key) ? spans : object, key->name, key->choices[value].word);
        else
            json_add_unsigned(object, key->name, value);
    }
}

static void add_sections(struct json_value *document, const struct policy_scopes *scopes)
{
    for (unsigned section = 0; section < POLICY_SECTIONS; section++) {
        struct json_value *object = json_add_object(document, sections[section].key);
        for (size_t i = 0; i < scopes->sections[section].count; i++) {
            const struct policy_rule *rule = &scopes->sections[section].rules[i];
            add_values(json_add_object(object, rule->name), &rule->change);
        }
    }
}

struct json_value *policy_rules_json(const struct policy_rules *rules)
{
    const struct admin_config *config = rules->config;
    union policy_change values;
    admin_config_policy(config, &rules->subject, &values.policy);
    struct json_value *document = json_value_create_object();
    json_add_text(document, "schema", "parplan.policy/1");
    json_add_text(document, "source", config->source);
    json_add_boolean(document, "enabled", config->enabled);
    struct json_value *subject = json_add_object(document, "subject");
    for (unsigned i = 0; i < POLICY_SECTIONS; i++)
        json_add_text(subject, sections[i].key, rules->subject.names[i]);
    add_values(json_add_object(document, "policy"), &values);
    add_sections(document, &config->scopes);
    return document;
}
