/* SPDX-License-Identifier: MIT */
/*
 * fabric_checks: what the tests of fabric readers ask of a fabric and of a refusal.
 */
#ifndef TESTS_UNIT_TOPOLOGY_FABRIC_CHECKS_H
#define TESTS_UNIT_TOPOLOGY_FABRIC_CHECKS_H

#include "tests/support/unit_test.h"

#include "topology/fabric.h"
#include <string.h>

struct refusal {
    const char *text;
    const char *message; /* a part of it */
};

/* NULL for name or id: there must be none. */
static inline void expect_domain(const struct fabric *fabric, size_t index, const char *name,
                                 const char *id, size_t nodes)
{
    assert_true(index < fabric->domain_count);
    const struct fabric_domain *domain = &fabric->domains[index];
    assert_true(name ? domain->name != NULL : domain->name == NULL);
    assert_true(id ? domain->id != NULL : domain->id == NULL);
    if (name)
        assert_string_equal(domain->name, name);
    if (id)
        assert_string_equal(domain->id, id);
    assert_int_equal(domain->node_count, nodes);
}

static inline void expect_distance(const struct fabric *fabric, const char *left, const char *right,
                                   unsigned distance)
{
    unsigned a = fabric_find_node(fabric, left), b = fabric_find_node(fabric, right);
    if (a == FABRIC_NONE || b == FABRIC_NONE)
        fail_msg("%s is not in the fabric", a == FABRIC_NONE ? left : right);
    assert_int_equal(fabric_distance(fabric, a, b), distance);
}

static inline void expect_refusal(struct fabric *(*parse)(const char *text, struct error_info *err),
                                  const struct refusal *refusal)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(fabric) struct fabric *fabric = parse(refusal->text, &err);
    if (fabric)
        fail_msg("accepted: %s", refusal->text);
    if (!strstr(err.text, refusal->message))
        fail_msg("'%s' has no '%s'", err.text, refusal->message);
    assert_int_equal(err.kind, ERROR_INPUT);
}

#endif
