/* SPDX-License-Identifier: MIT */
#include "workload/policy.h"

#include <stdarg.h>
#include <stdio.h>

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
};

const char *policy_code_name(enum policy_code code)
{
    return (unsigned)code < POLICY_CODE_COUNT ? code_names[code] : "unknown";
}

static void __attribute__((format(printf, 4, 5)))
verdict(struct policy_verdict *ret, enum policy_result result, enum policy_code code,
        const char *format, ...)
{
    int used = snprintf(ret->text, sizeof(ret->text), "policy %s: ", policy_code_name(code));
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(ret->text + used, sizeof(ret->text) - (size_t)used, format, arguments);
    va_end(arguments);
    error_clean_text(ret->text);
    ret->result = result;
    ret->code = code;
}

static enum policy_result violation_result(const struct policy *policy)
{
    return policy->on_violation == POLICY_WARN ? POLICY_WARNED : POLICY_DENIED;
}

/* Why a policy that says "fix" does not fix what was given. */
static const char *violation_note(const struct policy *policy)
{
    return policy->on_violation == POLICY_FIX
               ? " (on_violation: fix changes only degrees that parplan chose)"
               : "";
}

static unsigned largest_divisor(unsigned whole, unsigned limit)
{
    unsigned divisor = limit < whole ? limit : whole;
    while (divisor > 1 && whole % divisor != 0)
        divisor--;
    return divisor;
}

static bool check_maximum(const struct policy *policy, unsigned tp, struct policy_verdict *ret)
{
    if (policy->max_tp == 0 || tp <= policy->max_tp)
        return true;
    verdict(ret, violation_result(policy), POLICY_TP_EXCEEDS_MAXIMUM,
            "tp=%u is more than the %u that are allowed; use tp=%u or less%s", tp, policy->max_tp,
            policy->max_tp, violation_note(policy));
    return false;
}

static bool check_sound(const struct policy *policy, unsigned tp, const struct policy_place *place,
                        struct policy_verdict *ret)
{
    unsigned sound = place->sound_gpus;
    if (sound == 0 || tp <= sound)
        return true;
    unsigned usable = largest_divisor(place->gpus_per_node, sound);
    verdict(ret, policy->tp_within == TP_WITHIN_OFF ? POLICY_WARNED : violation_result(policy),
            POLICY_TP_NEEDS_SOUND,
            "tp=%u needs %u GPUs joined by NVLink, a node here has %u (%.200s); use tp=%u%s, or "
            "leave that node out",
            tp, tp, sound, place->fault, usable, usable > 1 ? " or less" : "");
    return false;
}

/* Small enough for the sound GPUs, but all GPUs of the node are in use. */
static void warn_unsound(unsigned tp, const struct policy_place *place, struct policy_verdict *ret)
{
    if (place->sound_gpus == 0 || place->sound_gpus / tp * tp >= place->gpus_per_node)
        return;
    verdict(ret, POLICY_WARNED, POLICY_TP_NEEDS_SOUND,
            "tp=%u is allowed, but not every TP group of a node avoids its fault (%.200s); leave "
            "that node out",
            tp, place->fault);
}

static void check_unknown(const struct policy *policy, unsigned tp, const char *what,
                          const struct policy_place *place, struct policy_verdict *ret)
{
    if (policy->on_unknown_topology == UNKNOWN_ALLOW)
        return;
    bool denied = policy->on_unknown_topology == UNKNOWN_DENY;
    verdict(ret, denied ? POLICY_DENIED : POLICY_WARNED, POLICY_TOPOLOGY_UNKNOWN,
            "tp=%u cannot be checked: %s of %.128s is unknown%s", tp, what, place->where,
            denied ? "; describe it in the cluster file, or use tp=1" : "");
}

/* Blocks of consecutive ranks fill one node after the other: a TP group stays in whole
 * nodes only if one of tp and the node's ranks divides the other. */
static void splits_node(const struct policy *policy, unsigned tp, const struct policy_place *place,
                        struct policy_verdict *ret)
{
    verdict(ret, violation_result(policy), POLICY_TP_SPLITS_NODE,
            "tp=%u does not divide the %u GPUs in use on %.128s, so that a TP group "
            "would lie on two nodes; use tp=%u%s",
            tp, place->gpus_per_node, place->where, largest_divisor(place->gpus_per_node, tp),
            violation_note(policy));
}

/* Allowed, and slow: bridged pairs and boxes without NVLink. */
static void warn_beyond_domain(unsigned tp, const struct policy_place *place,
                               struct policy_verdict *ret)
{
    unsigned domain = place->nvlink_domain_gpus;
    if (domain == 1)
        verdict(ret, POLICY_WARNED, POLICY_TP_EXCEEDS_DOMAIN,
                "tp=%u is allowed in one node, but %.128s has no NVLink, all goes over PCIe", tp,
                place->where);
    else
        verdict(ret, POLICY_WARNED, POLICY_TP_EXCEEDS_DOMAIN,
                "tp=%u is allowed in one node, but NVLink joins only %u GPUs on %.128s, the rest "
                "goes over PCIe; tp=%u is faster",
                tp, domain, place->where, domain);
}

static void check_node(const struct policy *policy, unsigned tp, const struct policy_place *place,
                       struct policy_verdict *ret)
{
    unsigned node = place->gpus_per_node, domain = place->nvlink_domain_gpus;
    if (node == 0) {
        check_unknown(policy, tp, "the number of GPUs", place, ret);
    } else if (tp > node) {
        verdict(ret, violation_result(policy), POLICY_TP_EXCEEDS_NODE,
                "tp=%u needs %u GPUs in one node, %.128s has %u; use tp=%u or less%s", tp, tp,
                place->where, node, node, violation_note(policy));
    } else if (node % tp != 0) {
        splits_node(policy, tp, place, ret);
    } else if (place->nvlink_known && domain > 0 && tp > domain) {
        warn_beyond_domain(tp, place, ret);
    }
}

static bool straddles(unsigned tp, unsigned whole)
{
    return whole > 0 && (tp <= whole ? whole % tp != 0 : tp % whole != 0);
}

static void check_domain(const struct policy *policy, unsigned tp, const struct policy_place *place,
                         struct policy_verdict *ret)
{
    unsigned node = place->gpus_per_node, domain = place->nvlink_domain_gpus;
    if (!place->nvlink_known || domain == 0) {
        check_unknown(policy, tp, "NVLink", place, ret);
    } else if (tp > domain) {
        verdict(ret, violation_result(policy), POLICY_TP_EXCEEDS_DOMAIN,
                "tp=%u needs %u GPUs in one NVLink domain, %.128s has %u; use tp=%u%s%s", tp, tp,
                place->where, domain, domain, domain > 1 ? " or less" : "", violation_note(policy));
    } else if (straddles(tp, node)) {
        splits_node(policy, tp, place, ret);
    } else if (domain < node && domain % tp != 0) {
        verdict(ret, violation_result(policy), POLICY_TP_EXCEEDS_DOMAIN,
                "tp=%u does not divide the NVLink domains of %u GPUs on %.128s, so that a TP group "
                "would lie in two; use tp=%u%s",
                tp, domain, place->where, largest_divisor(domain, tp), violation_note(policy));
    }
}

void policy_check(const struct policy *policy, const struct degrees *degrees,
                  const struct policy_place *place, struct policy_verdict *ret)
{
    struct policy_place named = *place;
    if (!named.where)
        named.where = "each node here";
    *ret = (struct policy_verdict){.result = POLICY_ALLOWED, .code = POLICY_OK};
    if (degrees->tp <= 1 || !check_maximum(policy, degrees->tp, ret) ||
        !check_sound(policy, degrees->tp, &named, ret))
        return;
    if (policy->tp_within == TP_WITHIN_NODE)
        check_node(policy, degrees->tp, &named, ret);
    else if (policy->tp_within == TP_WITHIN_NVLINK_DOMAIN)
        check_domain(policy, degrees->tp, &named, ret);
    if (ret->result == POLICY_ALLOWED)
        warn_unsound(degrees->tp, &named, ret);
}

void policy_check_split(const struct policy *policy, unsigned tp, uint64_t links_out,
                        const struct policy_place *place, struct policy_verdict *ret)
{
    bool domain = policy->tp_within == TP_WITHIN_NVLINK_DOMAIN;
    *ret = (struct policy_verdict){.result = POLICY_ALLOWED, .code = POLICY_OK};
    if (policy->tp_within == TP_WITHIN_OFF || links_out == 0)
        return;
    verdict(
        ret, violation_result(policy), domain ? POLICY_TP_EXCEEDS_DOMAIN : POLICY_TP_EXCEEDS_NODE,
        "on the nodes of this job %llu links of TP groups (tp=%u) leave their %s; ask for nodes "
        "of whole %s, or use tp=%u or less%s",
        (unsigned long long)links_out, tp, domain ? "NVLink domain" : "node",
        domain ? "domains" : "groups", place->gpus_per_node, violation_note(policy));
}

void policy_check_undeclared(const struct policy *policy, const char *where,
                             struct policy_verdict *ret)
{
    *ret = (struct policy_verdict){.result = POLICY_ALLOWED, .code = POLICY_OK};
    if (policy->require_plan == REQUIRE_OFF)
        return;
    bool denied = policy->require_plan == REQUIRE_DENY;
    verdict(ret, denied ? POLICY_DENIED : POLICY_WARNED, POLICY_PLAN_REQUIRED,
            "%.128s %s a plan; add --parplan=auto, or the degrees as --parplan=tp=8,pp=4",
            where ? where : "the job", denied ? "needs" : "should have");
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
    if (place->sound_gpus > 0 && (largest == 0 || largest > place->sound_gpus))
        largest = place->sound_gpus;
    return largest;
}
