/* SPDX-License-Identifier: MIT */
/*
 * topograph_labels: the accelerator domain in topograph's annotations and labels, by the last
 * word of their keys: "…/domain" (or "…/accelerator", as before topograph 1.0), "…/sub-domain".
 */
#ifndef TOPOLOGY_TOPOGRAPH_LABELS_H
#define TOPOLOGY_TOPOGRAPH_LABELS_H

#include "base/error.h"
#include <stdio.h>
#include <string.h>

#define TOPOGRAPH_DOMAIN_BYTES 512

struct topograph_domain {
    const char *name, *sub; /* or NULL; as given, not copied */
};

/* A value that is NULL or empty says nothing. The first of equal keys counts. */
static inline void topograph_domain_note(struct topograph_domain *domain, const char *key,
                                         const char *value)
{
    const char *slash = strrchr(key, '/');
    if (!slash || !value || !*value)
        return;
    if (strcmp(slash, "/domain") == 0 || strcmp(slash, "/accelerator") == 0)
        domain->name = domain->name ? domain->name : value;
    else if (strcmp(slash, "/sub-domain") == 0)
        domain->sub = domain->sub ? domain->sub : value;
}

/* "nvl1", or "nvl1/rack1". Needs a name. */
static inline int topograph_domain_id(const struct topograph_domain *domain,
                                      char ret[TOPOGRAPH_DOMAIN_BYTES], struct error_info *err)
{
    int length = snprintf(ret, TOPOGRAPH_DOMAIN_BYTES, "%s%s%s", domain->name,
                          domain->sub ? "/" : "", domain->sub ? domain->sub : "");
    return length < TOPOGRAPH_DOMAIN_BYTES
               ? 0
               : error_set(err, "the domain '%.40s…' has %d characters; at most %d are possible",
                           domain->name, length, TOPOGRAPH_DOMAIN_BYTES - 1);
}

#endif
