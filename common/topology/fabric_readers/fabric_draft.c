/* SPDX-License-Identifier: MIT */
#include "topology/fabric_readers/fabric_draft.h"
#include "base/text_buffer.h"
#include "topology/merge/remarks.h"
#include "topology/text_list.h"
#include <stdarg.h>
#include <stdio.h>

#undef fabric_draft_warn /* the function itself: base/texts/packed_text.h */

#define DRAFT_MAXIMUM_BYTES ((size_t)256 << 20)
#define FIRST_CAPACITY 64u
#define WARNING_BYTES 512
/* In all lists: upper switches may list the nodes below them again. A few bytes of brackets
 * make a million names, so that their sum needs a limit too. */
#define MAXIMUM_NAMES ((size_t)2 * FABRIC_MAXIMUM_NODES)

struct fabric_draft {
    struct arena *arena;
    struct fabric_switch_input *switches;
    size_t switch_capacity;
    struct fabric_domain_input *domains;
    size_t domain_capacity;
    const char *warnings[FABRIC_MAXIMUM_WARNINGS];
    struct fabric_input input;
    size_t name_count; /* in all lists */
    bool failed;       /* out of memory */
};

struct fabric_draft *fabric_draft_create(const char *source, struct error_info *err)
{
    CLEANUP(fabric_draft) struct fabric_draft *draft = memory_allocate(sizeof(*draft));
    if (!draft)
        return error_null(error_set_memory(err));
    draft->arena = arena_create(DRAFT_MAXIMUM_BYTES);
    draft->input.source = draft->arena ? arena_copy_text(draft->arena, source) : NULL;
    if (!draft->input.source)
        return error_null(error_set_memory(err));
    return move_pointer(draft);
}

void fabric_draft_free(struct fabric_draft *draft)
{
    if (!draft)
        return;
    for (size_t i = 0; i < draft->input.switch_count; i++) {
        node_list_free((struct node_list *)draft->switches[i].nodes);
        node_list_free((struct node_list *)draft->switches[i].children);
    }
    for (size_t i = 0; i < draft->input.nvlink_domain_count; i++)
        node_list_free((struct node_list *)draft->domains[i].nodes);
    node_list_free((struct node_list *)draft->input.other_nodes);
    memory_free(draft->switches);
    memory_free(draft->domains);
    arena_free(draft->arena);
    memory_free(draft);
}

const char *fabric_draft_copy(struct fabric_draft *draft, const char *text)
{
    return text_list_copy(draft->arena, text, &draft->failed);
}

static const char *place(struct fabric_draft *draft, unsigned line)
{
    if (line == 0)
        return draft->input.source;
    const char *text = arena_format(draft->arena, "%s:%u", draft->input.source, line);
    draft->failed = draft->failed || !text;
    return text;
}

/* The array with room for one more, or NULL: out of memory, the old one is still there. */
static void *make_room(void *array, size_t count, size_t *capacity, size_t element_bytes)
{
    if (count < *capacity)
        return array;
    size_t wanted = *capacity ? *capacity * 2 : FIRST_CAPACITY;
    void *grown = memory_grow_array(array, *capacity, wanted, element_bytes);
    if (grown)
        *capacity = wanted;
    return grown;
}

struct fabric_switch_input *fabric_draft_add_switch(struct fabric_draft *draft, const char *name,
                                                    unsigned line, struct error_info *err)
{
    const char *where = place(draft, line);
    size_t count = draft->input.switch_count;
    if (count == FABRIC_MAXIMUM_SWITCHES) {
        error_set(err, "%s: more than %u switches", where, FABRIC_MAXIMUM_SWITCHES);
        return NULL;
    }
    struct fabric_switch_input *switches =
        make_room(draft->switches, count, &draft->switch_capacity, sizeof(*switches));
    draft->switches = switches ? switches : draft->switches;
    const char *copy = fabric_draft_copy(draft, name);
    if (!switches || !copy || draft->failed) {
        error_set_memory(err);
        return NULL;
    }
    switches[count] = (struct fabric_switch_input){.name = copy, .where = where};
    draft->input.switch_count++;
    return &switches[count];
}

struct fabric_switch_input *fabric_draft_switch(struct fabric_draft *draft, size_t index)
{
    return &draft->switches[index];
}

size_t fabric_draft_switch_count(const struct fabric_draft *draft)
{
    return draft->input.switch_count;
}

static int count_names(struct fabric_draft *draft, size_t more, struct error_info *err)
{
    draft->name_count += more;
    return draft->name_count <= MAXIMUM_NAMES
               ? 0
               : error_set(err, "%s: more than %zu names in all lists together",
                           draft->input.source, MAXIMUM_NAMES);
}

static int add_name(struct fabric_draft *draft, const struct node_list **list, const char *name,
                    struct error_info *err)
{
    if (count_names(draft, 1, err) < 0)
        return -1;
    if (!*list)
        *list = node_list_create(err);
    return *list ? node_list_add((struct node_list *)*list, name, err) : -1;
}

int fabric_draft_add_node(struct fabric_draft *draft, size_t index, const char *name,
                          struct error_info *err)
{
    return add_name(draft, &draft->switches[index].nodes, name, err);
}

int fabric_draft_add_child(struct fabric_draft *draft, size_t index, const char *name,
                           struct error_info *err)
{
    return add_name(draft, &draft->switches[index].children, name, err);
}

/* Replaces what was there. */
static int decode(struct fabric_draft *draft, const struct node_list **list, const char *where,
                  const char *text, struct error_info *err)
{
    struct node_list *decoded = node_list_decode(text, err);
    if (!decoded)
        return error_prefix(err, "%s", where);
    node_list_free((struct node_list *)*list);
    *list = decoded;
    return count_names(draft, node_list_count(decoded), err);
}

int fabric_draft_decode_nodes(struct fabric_draft *draft, size_t index, const char *text,
                              struct error_info *err)
{
    struct fabric_switch_input *entry = &draft->switches[index];
    return decode(draft, &entry->nodes, entry->where, text, err);
}

int fabric_draft_decode_children(struct fabric_draft *draft, size_t index, const char *text,
                                 struct error_info *err)
{
    struct fabric_switch_input *entry = &draft->switches[index];
    return decode(draft, &entry->children, entry->where, text, err);
}

int fabric_draft_add_domain(struct fabric_draft *draft, const char *name, const char *id,
                            unsigned line, struct error_info *err)
{
    size_t count = draft->input.nvlink_domain_count;
    if (count == FABRIC_MAXIMUM_SWITCHES)
        return error_set(err, "%s: more than %u NVLink domains", draft->input.source,
                         FABRIC_MAXIMUM_SWITCHES);
    struct fabric_domain_input *domains =
        make_room(draft->domains, count, &draft->domain_capacity, sizeof(*domains));
    draft->domains = domains ? domains : draft->domains;
    struct node_list *nodes = domains ? node_list_create(err) : NULL;
    if (!nodes)
        return error_set_memory(err);
    domains[count] = (struct fabric_domain_input){
        .nodes = nodes,
        .where = place(draft, line),
        .name = fabric_draft_copy(draft, name),
        .id = fabric_draft_copy(draft, id),
    };
    draft->input.nvlink_domain_count++;
    return draft->failed ? error_set_memory(err) : 0;
}

const struct fabric_domain_input *fabric_draft_domain(const struct fabric_draft *draft,
                                                      size_t domain)
{
    return &draft->domains[domain];
}

void fabric_draft_set_candidate(struct fabric_draft *draft, size_t domain)
{
    draft->domains[domain].candidate = true;
}

size_t fabric_draft_domain_count(const struct fabric_draft *draft)
{
    return draft->input.nvlink_domain_count;
}

int fabric_draft_add_domain_node(struct fabric_draft *draft, size_t domain, const char *name,
                                 struct error_info *err)
{
    return add_name(draft, &draft->domains[domain].nodes, name, err);
}

int fabric_draft_decode_domain(struct fabric_draft *draft, size_t domain, const char *text,
                               struct error_info *err)
{
    struct fabric_domain_input *entry = &draft->domains[domain];
    return decode(draft, &entry->nodes, entry->where, text, err);
}

int fabric_draft_add_other_node(struct fabric_draft *draft, const char *name,
                                struct error_info *err)
{
    return add_name(draft, &draft->input.other_nodes, name, err);
}

void fabric_draft_warn(struct fabric_draft *draft, const char *format, ...)
{
    if (!REMARKS_KEPT || draft->input.warning_count == FABRIC_MAXIMUM_WARNINGS)
        return;
    char text[WARNING_BYTES];
    va_list arguments;
    va_start(arguments, format);
    text_format(text, sizeof(text), format, arguments);
    va_end(arguments);
    draft->warnings[draft->input.warning_count++] = fabric_draft_copy(draft, text);
}

void fabric_draft_name_tiers(struct fabric_draft *draft, const char *const *names, unsigned count)
{
    const char **copies = arena_allocate_array(draft->arena, count, sizeof(*copies));
    draft->failed = draft->failed || !copies;
    for (unsigned i = 0; copies && i < count; i++)
        copies[i] = fabric_draft_copy(draft, names[i]);
    draft->input.tier_names = copies;
    draft->input.tier_name_count = count;
}

struct fabric *fabric_draft_build(struct fabric_draft *draft, struct error_info *err)
{
    if (draft->failed)
        return error_null(error_set_memory(err));
    draft->input.switches = draft->switches;
    draft->input.nvlink_domains = draft->domains;
    draft->input.warnings = draft->warnings;
    return fabric_build(&draft->input, err);
}
