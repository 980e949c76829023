/* SPDX-License-Identifier: MIT */
#include "workload/policy.h"
#include "base/text_buffer.h"
#include "base/texts/packed_text.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct policy policy_default = {
    .tp_within = TP_WITHIN_NODE,
    .on_violation = POLICY_DENY,
    .require_plan = REQUIRE_OFF,
    .on_unknown_topology = UNKNOWN_WARN,
};

static const char *const code_names[POLICY_CODE_COUNT] = {
    [POLICY_OK] = "ok",
    [POLICY_TP_EXCEEDS_NODE] = "tp-within-node",
    [POLICY_TP_SPLITS_NODE] = "tp-splits-node",
    [POLICY_TP_EXCEEDS_DOMAIN] = "tp-within-nvlink-domain",
    [POLICY_TP_EXCEEDS_MAXIMUM] = "max-tp",
    [POLICY_TOPOLOGY_UNKNOWN] = "unknown-topology",
    [POLICY_PLAN_REQUIRED] = "require-plan",
    [POLICY_TP_NEEDS_SOUND] = "tp-degraded-node",
    [POLICY_ORDER_NOT_ALLOWED] = "order",
    [POLICY_NODE_MISMATCH] = "node-mismatch",
    [POLICY_SPANS] = "spans",
    [POLICY_SPAN_SPLITS] = "span-splits-node",
};

const char *policy_code_name(enum policy_code code)
{
    return (unsigned)code < POLICY_CODE_COUNT ? code_names[code] : "unknown";
}

/* What is judged, and what is said of it. */
struct check {
    const struct policy *policy;
    unsigned tp; /* or what `group` names */
    const struct policy_place *place;
    const char *where;
    struct policy_verdict *ret;
    const char *group; /* "cp"; NULL: tp is judged */
    unsigned part;     /* which group, as a number */
};

/* The worst verdict stands, of equal ones the first. usable: the tp to advise, 0: none. */
static void __attribute__((format(printf, 5, 6)))
say(const struct check *check, enum policy_result result, enum policy_code code, unsigned usable,
    const char *format, ...)
{
    struct policy_verdict *ret = check->ret;
    if (result <= ret->result)
        return;
    format = packed_text(format);
    int used = snprintf(ret->text, sizeof(ret->text), "policy %s: ", policy_code_name(code));
    va_list arguments;
    va_start(arguments, format);
    text_format(ret->text + used, sizeof(ret->text) - (size_t)used, format, arguments);
    va_end(arguments);
    size_t length = strlen(ret->text);
    if (usable > 0)
        /* a format with another remedy has a semicolon already */
        snprintf(ret->text + length, sizeof(ret->text) - length, "%s use tp=%u%s%s",
                 strchr(format, ';') ? ", or" : ";", usable, usable > 1 ? " or less" : "",
                 check->policy->on_violation == POLICY_FIX
                     ? UNPACKED_TEXT(" (on_violation: fix changes only degrees that parplan chose)")
                     : "");
    error_clean_text(ret->text);
    ret->result = result;
    ret->code = code;
    ret->part = code == POLICY_SPANS || code == POLICY_SPAN_SPLITS ? check->part : 0;
}

#ifdef TEXTS_PACKED /* base/texts/packed_text.h */
#define say(check, result, code, usable, format, ...)                                              \
    (say)(check, result, code, usable, PACKED_TEXT(format), ##__VA_ARGS__)
#endif

static enum policy_result violation_result(const struct policy *policy)
{
    return policy->on_violation == POLICY_WARN ? POLICY_WARNED : POLICY_DENIED;
}

/* Blocks of consecutive ranks fill one node after the other: a TP group stays in whole
 * nodes only if one of tp and the node's ranks divides the other. */
static bool straddles(unsigned tp, unsigned whole)
{
    return whole > 0 && (tp <= whole ? whole % tp != 0 : tp % whole != 0);
}

static bool exceeds_sound(unsigned tp, const struct policy_place *place)
{
    return place->fault && tp > 1 && tp > place->sound_gpus;
}

/* TP groups of a node that one NVLink domain each holds; tp divides the node's GPUs. */
static unsigned groups_inside(unsigned tp, const struct policy_place *place)
{
    unsigned node = place->gpus_per_node, domain = place->nvlink_domain_gpus;
    if (place->nvlink_cover)
        return place->nvlink_cover[tp] / tp;
    return domain >= node ? node / tp : node / domain * (domain / tp);
}

enum holding { HOLDS_NOT, HOLDS_PERHAPS, HOLDS };

/* Whether NVLink domains hold all groups of so many whole nodes each. */
static enum holding domains_hold(unsigned width, const struct policy_place *place)
{
    unsigned need = place->nodes / width + (place->nodes % width != 0), held = 0;
    for (size_t i = 0; i < place->domain_count && held < need; i++)
        held += place->domain_nodes[i] / width;
    if (held >= need)
        return HOLDS;
    return held + place->open_nodes / width >= need ? HOLDS_PERHAPS : HOLDS_NOT;
}

static enum holding nvlink_holds(unsigned tp, const struct policy_place *place)
{
    unsigned node = place->gpus_per_node, domain = place->nvlink_domain_gpus;
    if (!place->nvlink_known || domain == 0)
        return HOLDS_PERHAPS;
    if (straddles(tp, node))
        return HOLDS_NOT;
    if (node > 0 && tp <= node)
        return groups_inside(tp, place) >= node / tp ? HOLDS : HOLDS_NOT;
    if (place->nodes > 0 && node > 0)
        return domains_hold(tp / node, place);
    return tp <= domain ? HOLDS : HOLDS_NOT;
}

static bool is_usable(const struct policy *policy, unsigned tp, const struct policy_place *place)
{
    unsigned node = place->gpus_per_node;
    if ((policy->max_tp > 0 && tp > policy->max_tp) || exceeds_sound(tp, place) ||
        straddles(tp, node))
        return false;
    if (policy->tp_within != TP_WITHIN_NVLINK_DOMAIN)
        return policy->tp_within == TP_WITHIN_OFF || node == 0 || tp <= node;
    enum holding holding = nvlink_holds(tp, place);
    return holding == HOLDS ||
           (holding == HOLDS_PERHAPS && policy->on_unknown_topology != UNKNOWN_DENY);
}

/* What to advise instead: the largest tp that is allowed, limit at most. */
static unsigned usable_tp(const struct policy *policy, unsigned limit,
                          const struct policy_place *place)
{
    while (limit > 1 && !is_usable(policy, limit, place))
        limit--;
    return limit > 1 ? limit : 1;
}

/* The same below the tp that is judged. */
static unsigned advised_tp(const struct check *check, unsigned limit)
{
    return usable_tp(check->policy, limit < check->tp ? limit : check->tp - 1, check->place);
}

static void check_maximum(const struct check *check)
{
    unsigned maximum = check->policy->max_tp;
    if (maximum > 0 && check->tp > maximum)
        say(check, violation_result(check->policy), POLICY_TP_EXCEEDS_MAXIMUM,
            advised_tp(check, maximum), "tp=%u is more than the %u that are allowed", check->tp,
            maximum);
}

static void check_sound(const struct check *check)
{
    unsigned tp = check->tp, sound = check->place->sound_gpus;
    const char *fault = check->place->fault;
    if (!fault)
        return;
    if (exceeds_sound(tp, check->place))
        say(check,
            check->policy->tp_within == TP_WITHIN_OFF ? POLICY_WARNED
                                                      : violation_result(check->policy),
            POLICY_TP_NEEDS_SOUND, advised_tp(check, sound),
            "tp=%u needs %u GPUs without a fault, a node here has %u (%.200s); leave that node out",
            tp, tp, sound, fault);
    else if (sound == 0)
        say(check, POLICY_WARNED, POLICY_TP_NEEDS_SOUND, 0,
            "no GPU of a node here has its NVLink (%.200s), and CUDA may not start on it; leave "
            "that node out",
            fault);
    else if (tp > 1 && sound / tp * tp < check->place->gpus_per_node)
        say(check, POLICY_WARNED, POLICY_TP_NEEDS_SOUND, 0,
            "tp=%u is allowed, but not every TP group of a node avoids its fault (%.200s); leave "
            "that node out",
            tp, fault);
}

static void check_unknown(const struct check *check, const char *what, const char *remedy)
{
    enum policy_unknown unknown = check->policy->on_unknown_topology;
    if (unknown == UNKNOWN_ALLOW)
        return;
    bool denied = unknown == UNKNOWN_DENY;
    say(check, denied ? POLICY_DENIED : POLICY_WARNED, POLICY_TOPOLOGY_UNKNOWN,
        denied && !check->group ? advised_tp(check, check->place->gpus_per_node) : 0,
        "%s=%u cannot be checked: %s of %.128s is unknown; %s", check->group ? check->group : "tp",
        check->tp, what, check->where, remedy);
}

static void check_size_unknown(const struct check *check)
{
    check_unknown(check, UNPACKED_TEXT("the number of GPUs"),
                  UNPACKED_TEXT("describe it in the cluster file"));
}

static void check_nvlink_unknown(const struct check *check)
{
    if (check->place->nvlink_known && check->place->nvlink_domain_gpus > 0)
        check_unknown(
            check, UNPACKED_TEXT("the NVLink between nodes"),
            UNPACKED_TEXT("name its nvlink_domains in the cluster file or give --fabric"));
    else
        check_unknown(check, "NVLink", UNPACKED_TEXT("describe it in the cluster file"));
}

static void splits_node(const struct check *check)
{
    say(check, violation_result(check->policy), POLICY_TP_SPLITS_NODE, advised_tp(check, check->tp),
        "tp=%u does not divide the %u GPUs in use on %.128s, so that a TP group would lie on two "
        "nodes; use one that does",
        check->tp, check->place->gpus_per_node, check->where);
}

/* Allowed, and slow: bridged pairs and boxes without NVLink. */
static void warn_beyond_domain(const struct check *check)
{
    const struct policy_place *place = check->place;
    unsigned tp = check->tp, faster = tp - 1;
    char text[32] = "";
    while (faster > 1 && nvlink_holds(faster, place) != HOLDS)
        faster--;
    if (faster > 1)
        snprintf(text, sizeof(text), "; tp=%u is faster", faster);
    if (place->nvlink_domain_gpus == 1)
        say(check, POLICY_WARNED, POLICY_TP_EXCEEDS_DOMAIN, 0,
            "tp=%u is allowed in one node, but %.128s has no NVLink, all goes over PCIe", tp,
            check->where);
    else if (tp > place->nvlink_domain_gpus)
        say(check, POLICY_WARNED, POLICY_TP_EXCEEDS_DOMAIN, 0,
            "tp=%u is allowed in one node, but NVLink joins only %u GPUs on %.128s, the rest goes "
            "over PCIe%s",
            tp, place->nvlink_domain_gpus, check->where, text);
    else
        say(check, POLICY_WARNED, POLICY_TP_EXCEEDS_DOMAIN, 0,
            "tp=%u is allowed in one node, but NVLink joins only %u of the %u TP groups of a node "
            "on %.128s, the rest goes over PCIe%s",
            tp, groups_inside(tp, place), place->gpus_per_node / tp, check->where, text);
}

static void check_node(const struct check *check)
{
    unsigned tp = check->tp, node = check->place->gpus_per_node;
    if (node == 0)
        check_size_unknown(check);
    else if (tp > node)
        say(check, violation_result(check->policy), POLICY_TP_EXCEEDS_NODE, advised_tp(check, node),
            "tp=%u needs %u GPUs in one node, %.128s has %u", tp, tp, check->where, node);
    else if (node % tp != 0)
        splits_node(check);
    else if (nvlink_holds(tp, check->place) == HOLDS_NOT)
        warn_beyond_domain(check);
}

static void check_domain(const struct check *check)
{
    const struct policy_place *place = check->place;
    unsigned tp = check->tp, domain = place->nvlink_domain_gpus;
    enum holding holding = nvlink_holds(tp, place);
    if (holding == HOLDS)
        return;
    if (holding == HOLDS_PERHAPS)
        check_nvlink_unknown(check);
    else if (tp > domain)
        say(check, violation_result(check->policy), POLICY_TP_EXCEEDS_DOMAIN,
            advised_tp(check, domain), "tp=%u needs %u GPUs in one NVLink domain, %.128s has %u",
            tp, tp, check->where, domain);
    else if (straddles(tp, place->gpus_per_node))
        splits_node(check);
    else
        say(check, violation_result(check->policy), POLICY_TP_EXCEEDS_DOMAIN,
            advised_tp(check, domain),
            "tp=%u leaves GPUs over in NVLink domains of %.128s, so that a TP group would lie in "
            "two",
            tp, check->where);
}

static struct check start_check(const struct policy *policy, unsigned tp,
                                const struct policy_place *place, struct policy_verdict *ret)
{
    *ret = (struct policy_verdict){.result = POLICY_ALLOWED, .code = POLICY_OK};
    return (struct check){
        policy, tp, place, place && place->where ? place->where : "each node here", ret, NULL, 0};
}

void policy_check(const struct policy *policy, const struct degrees *degrees,
                  const struct policy_place *place, struct policy_verdict *ret)
{
    bool experts = degrees->etp > degrees->tp;
    const struct check check =
        start_check(policy, experts ? degrees->etp : degrees->tp, place, ret);
    check_maximum(&check);
    check_sound(&check);
    if (check.tp <= 1)
        return;
    if (policy->tp_within == TP_WITHIN_NODE)
        check_node(&check);
    else if (policy->tp_within == TP_WITHIN_NVLINK_DOMAIN)
        check_domain(&check);
    size_t length = strlen(ret->text);
    if (experts && length > 0)
        snprintf(ret->text + length, sizeof(ret->text) - length, " for etp too");
}

void policy_check_split(const struct policy *policy, unsigned tp, uint64_t links_out,
                        const struct policy_place *place, struct policy_verdict *ret)
{
    const struct check check = start_check(policy, tp, place, ret);
    bool domain = policy->tp_within == TP_WITHIN_NVLINK_DOMAIN;
    if (policy->tp_within == TP_WITHIN_OFF || links_out == 0)
        return;
    if (domain && nvlink_holds(tp, place) == HOLDS_PERHAPS)
        check_nvlink_unknown(&check);
    else
        say(&check, violation_result(policy),
            domain ? POLICY_TP_EXCEEDS_DOMAIN : POLICY_TP_EXCEEDS_NODE,
            advised_tp(&check, place->gpus_per_node),
            "on the nodes of this job %llu links of TP groups (tp=%u) leave their %s; ask for "
            "nodes of whole %s",
            (unsigned long long)links_out, tp, domain ? "NVLink domain" : "node",
            domain ? "domains" : "groups");
}

/* --- spans ------------------------------------------------------------------------------- */

static const char *const span_names[SPAN_DIMENSION_COUNT] = {"cp", "ep", "dp", "pp"};

/* What is judged of one dimension: `size` ranks, `stride` apart. */
struct span {
    enum policy_span limit;
    uint64_t stride;
    unsigned size;
};

static unsigned known(unsigned degree) { return degree > 0 ? degree : 1; }

static struct span span_of(const struct policy *policy, const struct degrees *degrees,
                           enum rank_order order, enum span_dimension dimension)
{
    unsigned tp = known(degrees->tp), pp = known(degrees->pp), dp = known(degrees->dp);
    uint64_t cell = (uint64_t)tp * known(degrees->cp);
    bool pp_inside = order == ORDER_TP_CP_EP_PP_DP;
    const struct span spans[SPAN_DIMENSION_COUNT] = {
        [SPAN_CP] = {.stride = tp, .size = known(degrees->cp)},
        [SPAN_EP] = {.stride = known(degrees->etp), .size = known(degrees->ep)},
        [SPAN_DP] = {.stride = pp_inside ? cell * pp : cell, .size = dp},
        [SPAN_PP] = {.stride = pp_inside ? cell : cell * dp, .size = pp},
    };
    struct span span = spans[dimension];
    span.limit = (enum policy_span)policy->spans[dimension];
    return span;
}

/* Nodes that the group is on at least; 1: all groups lie whole on their nodes. */
static uint64_t span_nodes(const struct span *span, unsigned node)
{
    uint64_t ranks = span->stride * span->size;
    if (ranks <= node && node % ranks == 0)
        return 1;
    uint64_t nodes = span->stride >= node ? span->size : (ranks - span->stride) / node + 1;
    return nodes > 1 ? nodes : 2;
}

/* Nodes of the largest NVLink domain. */
static unsigned widest_domain(const struct policy_place *place)
{
    unsigned most = place->nvlink_domain_gpus / place->gpus_per_node;
    for (size_t i = 0; i < place->domain_count; i++)
        most = place->domain_nodes[i] > most ? place->domain_nodes[i] : most;
    return most;
}

/* Whether one NVLink domain can hold so many nodes. */
static enum holding domain_reaches(uint64_t nodes, const struct policy_place *place)
{
    if (nodes <= widest_domain(place))
        return HOLDS;
    return nodes <= place->open_nodes ? HOLDS_PERHAPS : HOLDS_NOT;
}

static enum holding span_holds(const struct span *span, const struct policy_place *place)
{
    unsigned node = place->gpus_per_node;
    bool domain = span->limit == SPAN_NVLINK_DOMAIN;
    if (span->size == 1 || (!domain && span->limit != SPAN_NODE))
        return HOLDS;
    if (node == 0 || (domain && (!place->nvlink_known || place->nvlink_domain_gpus == 0)))
        return HOLDS_PERHAPS;
    uint64_t nodes = span_nodes(span, node);
    if (domain)
        return nodes > 1 ? domain_reaches(nodes, place)
                         : nvlink_holds((unsigned)span->stride * span->size, place);
    return nodes > 1 ? HOLDS_NOT : HOLDS;
}

bool policy_spans_allow(const struct policy *policy, const struct degrees *degrees,
                        enum rank_order order, const struct policy_place *place, unsigned given)
{
    bool denies = policy->on_unknown_topology == UNKNOWN_DENY;
    for (unsigned i = 0; i < SPAN_DIMENSION_COUNT; i++) {
        struct span span = span_of(policy, degrees, order, (enum span_dimension)i);
        if (!(given >> i & 1) && span_holds(&span, place) < (denies ? HOLDS : HOLDS_PERHAPS))
            return false;
    }
    return true;
}

static const char *reach_name(enum policy_span limit)
{
    return limit == SPAN_LEAF   ? "leaf"
           : limit == SPAN_NODE ? "node"
                                : UNPACKED_TEXT("NVLink domain");
}

/* GPUs of the largest place of that kind. */
static unsigned span_room(enum policy_span limit, const struct policy_place *place)
{
    unsigned node = place->gpus_per_node, domain = widest_domain(place) * node;
    if (limit == SPAN_NODE)
        return node;
    return domain > 0 ? domain : place->nvlink_domain_gpus;
}

static void check_span(const struct check *check, const struct span *span)
{
    const struct policy_place *place = check->place;
    struct span usable = *span;
    while (span_holds(&usable, place) == HOLDS_NOT)
        usable.size--;
    uint64_t ranks = span->stride * span->size;
    if (ranks <= place->gpus_per_node && place->gpus_per_node % ranks != 0)
        say(check, violation_result(check->policy), POLICY_SPAN_SPLITS, 0,
            "%s=%u fills blocks of %llu GPUs, which do not divide the %u in use on a node of "
            "%.128s, so that a group would lie on two; use %s=%u",
            check->group, span->size, (unsigned long long)ranks, place->gpus_per_node, check->where,
            check->group, usable.size);
    else
        say(check, violation_result(check->policy), POLICY_SPANS, 0,
            "%s=%u reaches over %llu GPUs in a row, its groups are to lie in one %s, and %.128s "
            "has %u GPUs in one; use %s=%u",
            check->group, span->size, (unsigned long long)ranks, reach_name(span->limit),
            check->where, span_room(span->limit, place), check->group, usable.size);
}

void policy_check_spans(const struct policy *policy, const struct degrees *degrees,
                        enum rank_order order, const struct policy_place *place,
                        struct policy_verdict *ret)
{
    struct check check = start_check(policy, 0, place, ret);
    for (unsigned i = 0; i < SPAN_DIMENSION_COUNT; i++) {
        struct span span = span_of(policy, degrees, order, (enum span_dimension)i);
        enum holding holding = span_holds(&span, place);
        check.group = span_names[i];
        check.part = i;
        check.tp = span.size;
        if (holding == HOLDS_NOT)
            check_span(&check, &span);
        else if (holding == HOLDS_PERHAPS && place->gpus_per_node == 0)
            check_size_unknown(&check);
        else if (holding == HOLDS_PERHAPS)
            check_nvlink_unknown(&check);
    }
}

void policy_check_reach(const struct policy *policy, enum span_dimension dimension, unsigned size,
                        uint64_t links_out, uint64_t links_unknown,
                        const struct policy_place *place, struct policy_verdict *ret)
{
    struct check check = start_check(policy, size, place, ret);
    check.group = span_names[dimension];
    check.part = dimension;
    if (links_out > 0)
        say(&check, violation_result(policy), POLICY_SPANS, 0,
            "on the nodes of this job %llu links of %s groups (%s=%u) leave their %s; ask for "
            "nodes that are nearer to each other, or use a smaller %s",
            (unsigned long long)links_out, check.group, check.group, size,
            reach_name((enum policy_span)policy->spans[dimension]), check.group);
    else if (links_unknown > 0)
        check_unknown(&check, UNPACKED_TEXT("the fabric between nodes"),
                      UNPACKED_TEXT("describe it in the cluster file or give --fabric"));
}

void policy_check_order(const struct policy *policy, enum rank_order order,
                        struct policy_verdict *ret)
{
    const struct check check = start_check(policy, 0, NULL, ret);
    unsigned allowed = 0;
    if (policy->orders == 0 || policy->orders >> order & 1)
        return;
    while (!(policy->orders >> allowed & 1))
        allowed++;
    say(&check, violation_result(policy), POLICY_ORDER_NOT_ALLOWED, 0,
        "order=%s is not among the orders that are allowed; use order=%s, and tell the program",
        rank_order_name(order), rank_order_name((enum rank_order)allowed));
}

void policy_check_undeclared(const struct policy *policy, const char *where,
                             struct policy_verdict *ret)
{
    const struct check check = start_check(policy, 0, NULL, ret);
    if (policy->require_plan == REQUIRE_OFF)
        return;
    say(&check, policy->require_plan == REQUIRE_DENY ? POLICY_DENIED : POLICY_WARNED,
        POLICY_PLAN_REQUIRED, 0,
        "%.128s %s a plan with degrees; give them (--parplan=tp=8,pp=4), or a model to choose them "
        "for (--parplan=auto,model=llama3-8b)",
        where ? where : "the job", policy->require_plan == REQUIRE_DENY ? "needs" : "should have");
}

void policy_check_mismatch(const struct policy *policy, const char *what,
                           struct policy_verdict *ret)
{
    const struct check check = start_check(policy, 0, NULL, ret);
    if (what[0])
        say(&check, policy->on_mismatch == MISMATCH_DENY ? POLICY_DENIED : POLICY_WARNED,
            POLICY_NODE_MISMATCH, 0,
            "this node is not as planned: %.300s; leave it out, or describe it under cluster: in "
            "parplan.yaml",
            what);
}

/* The bound that tp_within names; 0: unknown. */
static unsigned known_bound(const struct policy *policy, const struct policy_place *place)
{
    if (policy->tp_within == TP_WITHIN_NODE)
        return place->gpus_per_node;
    return place->nvlink_known ? place->nvlink_domain_gpus : 0;
}

unsigned policy_largest_tp(const struct policy *policy, const struct policy_place *place)
{
    unsigned largest = 0;
    if (policy->tp_within != TP_WITHIN_OFF) {
        largest = known_bound(policy, place);
        if (largest == 0)
            largest = policy->on_unknown_topology == UNKNOWN_DENY ? 1 : place->gpus_per_node;
    }
    if (policy->max_tp > 0 && (largest == 0 || largest > policy->max_tp))
        largest = policy->max_tp;
    if (place->fault && (largest == 0 || largest > place->sound_gpus))
        largest = place->sound_gpus > 0 ? place->sound_gpus : 1;
    return largest > 0 ? usable_tp(policy, largest, place) : 0;
}
