/* SPDX-License-Identifier: MIT */
#include "topology/cluster_readers/cluster_fabric.h"
#include "topology/fabric_readers/fabric_file.h"
#include "topology/merge/remarks.h"

static int note_names(struct name_index *index, const struct node_list *list,
                      struct error_info *err)
{
    for (size_t i = 0; list && i < node_list_count(list); i++)
        if (name_index_add(index, node_list_name(list, i), i) < 0)
            return error_set_memory(err);
    return 0;
}

/* A name that is misspelt in the fabric would else be far from everything, silently. */
static int warn_unplaced(struct fabric_draft *draft, const char *source,
                         const struct node_list *nodes, struct error_info *err)
{
    if (!REMARKS_KEPT || fabric_draft_switch_count(draft) == 0)
        return 0; /* NVLink domains alone */
    CLEANUP(name_index) struct name_index *placed = name_index_create();
    if (!placed)
        return error_set_memory(err);
    for (size_t i = 0; i < fabric_draft_switch_count(draft); i++)
        if (note_names(placed, fabric_draft_switch(draft, i)->nodes, err) < 0)
            return -1;
    const char *first = NULL;
    size_t count = 0;
    for (size_t i = 0; i < node_list_count(nodes); i++) {
        if (name_index_find(placed, node_list_name(nodes, i)) != NAME_INDEX_NONE)
            continue;
        first = first ? first : node_list_name(nodes, i);
        count++;
    }
    if (count > 0)
        fabric_draft_warn(draft, "%s: %zu of the nodes are in no switch, the first is %s", source,
                          count, first);
    return 0;
}

static bool warn_first_undeclared(struct fabric_draft *draft, const struct name_index *declared,
                                  const struct fabric_switch_input *one)
{
    for (size_t n = 0; one->nodes && n < node_list_count(one->nodes); n++) {
        const char *name = node_list_name(one->nodes, n);
        if (name_index_find(declared, name) != NAME_INDEX_NONE)
            continue;
        fabric_draft_warn(draft, "%s: switch %s has node %s, which is not under nodes:", one->where,
                          one->name, name);
        return true;
    }
    return false;
}

/* The other half of a misspelling; a fabric may also be wider than the nodes at hand. */
static int warn_undeclared(struct fabric_draft *draft, const struct node_list *nodes,
                           struct error_info *err)
{
    if (!REMARKS_KEPT)
        return 0;
    CLEANUP(name_index) struct name_index *declared = name_index_create();
    if (!declared)
        return error_set_memory(err);
    if (note_names(declared, nodes, err) < 0)
        return -1;
    for (size_t i = 0; i < fabric_draft_switch_count(draft); i++)
        if (warn_first_undeclared(draft, declared, fabric_draft_switch(draft, i)))
            break;
    return 0;
}

struct fabric *cluster_fabric_load(const struct yaml_node *node, const struct node_list *nodes,
                                   const char *wide_kind, struct error_info *err)
{
    const char *source = yaml_document_source(node->document);
    CLEANUP(fabric_draft) struct fabric_draft *draft = fabric_file_load(node, err);
    if (!draft || warn_unplaced(draft, source, nodes, err) < 0 ||
        warn_undeclared(draft, nodes, err) < 0)
        return NULL;
    if (wide_kind && fabric_draft_domain_count(draft) == 0)
        fabric_draft_warn(draft,
                          "%s: kind %s shares NVLink between nodes, but nvlink_domains are not "
                          "given: each node counts alone",
                          source, wide_kind);
    return fabric_draft_build(draft, err);
}
