/* SPDX-License-Identifier: MIT */
/* Switches with the GUIDs of their adapters, and hosts with theirs. */
#include "base/parse_number.h"
#include "topology/fabric_readers/fabric_readers.h"
#include "topology/fabric_readers/infiniband/ib_network.h"
#include "topology/fabric_readers/text_lines.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define BLANKS " \t\r"
#define GUID_TEXT_BYTES 17u

struct adapter_state {
    unsigned seen_line; /* of the switch listing; 0: not there */
};

struct reader {
    const char *source, *guid_source;
    struct ib_network *network;
    struct adapter_state *states; /* by adapter */
    unsigned unowned;             /* GUIDs of the listing that no host has */
};

static int read_guid(const char *text, uint64_t *ret_guid, struct error_info *err)
{
    if (strncasecmp(text, "0x", 2) == 0)
        text += 2;
    return parse_hexadecimal(text, UINT64_MAX, ret_guid, err);
}

/* --- the map from hosts to adapters ------------------------------------------------- */

static int read_owner(struct reader *reader, struct text_lines *lines, struct error_info *err)
{
    char id[GUID_TEXT_BYTES];
    const char *host = NULL;
    char *value = NULL;
    struct ib_adapter adapter = {.label = "", .number = IB_NONE};
    if (text_lines_pair(lines, &host, &value, err) < 0)
        return -1;
    if (read_guid(value, &adapter.guid, err) < 0)
        return error_prefix(err, "%s:%u: the GUID of host %s", lines->source, lines->number, host);
    snprintf(id, sizeof(id), "%016" PRIx64, adapter.guid);
    unsigned number = 0;
    if (ib_network_add_adapter(reader->network, id, host, &adapter, &number, err) < 0)
        return -1;
    const char *owner = reader->network->hosts[reader->network->adapters[number].host];
    if (strcmp(owner, host) != 0)
        return error_set(err, "%s:%u: host %s has the GUID %s, which is host %s's already",
                         lines->source, lines->number, host, id, owner);
    return 0;
}

static int read_owners(struct reader *reader, const char *text, size_t bytes,
                       struct error_info *err)
{
    struct text_lines lines;
    int got;
    if (text_lines_init(&lines, text, bytes, reader->guid_source, err) < 0)
        return -1;
    while ((got = text_lines_next(&lines, err)) > 0)
        if (read_owner(reader, &lines, err) < 0)
            return -1;
    if (got < 0)
        return -1;
    if (reader->network->adapter_count == 0)
        return error_set(err,
                         "%s: no line \"HOST: 0xGUID\": without the hosts' adapters the GUIDs "
                         "of %s belong to nobody",
                         reader->guid_source, reader->source);
    reader->states = arena_allocate_array(reader->network->arena, reader->network->adapter_count,
                                          sizeof(*reader->states));
    return reader->states ? 0 : error_set_memory(err);
}

/* --- the listing of switches ------------------------------------------------------- */

static int join_adapter(struct reader *reader, const struct text_lines *lines, unsigned at,
                        const char *text, struct error_info *err)
{
    char id[GUID_TEXT_BYTES];
    uint64_t guid = 0;
    if (read_guid(text, &guid, err) < 0)
        return error_prefix(err, "%s:%u: Nodes", lines->source, lines->number);
    snprintf(id, sizeof(id), "%016" PRIx64, guid);
    size_t adapter = name_index_find(reader->network->adapter_ids, id);
    if (adapter == NAME_INDEX_NONE) {
        reader->unowned++;
        return 0;
    }
    struct adapter_state *state = &reader->states[adapter];
    if (state->seen_line > 0)
        return error_set(err, "%s:%u: the GUID %s stands at line %u already", lines->source,
                         lines->number, text, state->seen_line);
    state->seen_line = lines->number;
    const struct ib_port port = {.adapter = (unsigned)adapter, .at = at};
    return ib_network_add_port(reader->network, &port, err);
}

static int join_switch(struct reader *reader, const struct text_lines *lines, unsigned at,
                       const char *text, struct error_info *err)
{
    (void)lines;
    struct ib_link link = {.left = at};
    if (ib_network_add_switch(reader->network, text, text, &link.right, err) < 0)
        return -1;
    return ib_network_add_link(reader->network, &link, err);
}

typedef int (*join_fn)(struct reader *reader, const struct text_lines *lines, unsigned at,
                       const char *text, struct error_info *err);

static int read_list(struct reader *reader, const struct text_lines *lines, unsigned at,
                     const char *text, join_fn join, struct error_info *err)
{
    CLEANUP(node_list) struct node_list *list = node_list_decode(text, err);
    if (!list)
        return error_prefix(err, "%s:%u", lines->source, lines->number);
    for (size_t i = 0; i < node_list_count(list); i++)
        if (join(reader, lines, at, node_list_name(list, i), err) < 0)
            return -1;
    return 0;
}

static int start_switch(struct reader *reader, const struct text_lines *lines, const char *name,
                        unsigned *ret_switch, struct error_info *err)
{
    if (!*name || strlen(name) >= NODE_LIST_NAME_BYTES)
        return error_set(err, "%s:%u: SwitchName= needs a name of at most %u characters",
                         lines->source, lines->number, NODE_LIST_NAME_BYTES - 1);
    if (ib_network_add_switch(reader->network, name, name, ret_switch, err) < 0)
        return -1;
    struct ib_switch *here = &reader->network->switches[*ret_switch];
    if (here->line > 0)
        return error_set(err, "%s:%u: switch %s stands at line %u already", lines->source,
                         lines->number, name, here->line);
    here->line = lines->number;
    return 0;
}

static int read_word(struct reader *reader, const struct text_lines *lines, unsigned *at,
                     char *word, struct error_info *err)
{
    char *value = strchr(word, '=');
    if (!value)
        return error_set(err, "%s:%u: KEY=VALUE is expected at '%.40s'", lines->source,
                         lines->number, word);
    *value++ = '\0';
    if (strcasecmp(word, "SwitchName") == 0)
        return *at == IB_NONE ? start_switch(reader, lines, value, at, err)
                              : error_set(err, "%s:%u: SwitchName= stands twice", lines->source,
                                          lines->number);
    if (*at == IB_NONE)
        return error_set(err, "%s:%u: SwitchName= is expected first", lines->source, lines->number);
    if (strcasecmp(word, "Nodes") == 0)
        return read_list(reader, lines, *at, value, join_adapter, err);
    if (strcasecmp(word, "Switches") == 0)
        return read_list(reader, lines, *at, value, join_switch, err);
    if (strcasecmp(word, "LinkSpeed") == 0)
        return 0;
    return error_set(err, "%s:%u: unknown key %.40s; SwitchName, Nodes and Switches are known",
                     lines->source, lines->number, word);
}

static int read_listing(struct reader *reader, const char *text, size_t bytes,
                        struct error_info *err)
{
    struct text_lines lines;
    int got;
    if (text_lines_init(&lines, text, bytes, reader->source, err) < 0)
        return -1;
    while ((got = text_lines_next(&lines, err)) > 0) {
        char *position = NULL;
        unsigned at = IB_NONE;
        for (char *word = strtok_r(lines.text, BLANKS, &position); word;
             word = strtok_r(NULL, BLANKS, &position))
            if (read_word(reader, &lines, &at, word, err) < 0)
                return -1;
    }
    return got;
}

static int check(const struct reader *reader, struct error_info *err)
{
    const struct ib_network *network = reader->network;
    if (network->switch_count == 0)
        return error_set(err, "%s: no SwitchName= line", reader->source);
    for (size_t i = 0; i < network->switch_count; i++)
        if (network->switches[i].line == 0)
            return error_set(err, "%s: switch %s is named in Switches= and has no line",
                             reader->source, network->switches[i].name);
    if (network->port_count == 0)
        return error_set(err,
                         "%s: none of the GUIDs is a host's in %s; are the two of one cluster?",
                         reader->source, reader->guid_source);
    return 0;
}

/* --- warnings ---------------------------------------------------------------------- */

static int warn_hosts(const struct reader *reader, struct fabric_draft *draft,
                      struct error_info *err)
{
    const struct ib_network *network = reader->network;
    unsigned *missing = arena_allocate_array(network->arena, network->host_count, sizeof(*missing));
    unsigned *total = arena_allocate_array(network->arena, network->host_count, sizeof(*total));
    if (!missing || !total)
        return error_set_memory(err);
    for (size_t i = 0; i < network->adapter_count; i++) {
        total[network->adapters[i].host]++;
        missing[network->adapters[i].host] += reader->states[i].seen_line == 0;
    }
    unsigned listed = 0, more = 0;
    for (size_t i = 0; i < network->host_count; i++) {
        if (missing[i] == 0)
            continue;
        if (listed == IB_MAXIMUM_LISTED) {
            more++;
            continue;
        }
        listed++;
        fabric_draft_warn(draft, "%s: host %s: %u of %u GUIDs are not in %s", reader->guid_source,
                          network->hosts[i], missing[i], total[i], reader->source);
    }
    if (more > 0)
        fabric_draft_warn(draft, "%s: %u more hosts have GUIDs that are not in %s",
                          reader->guid_source, more, reader->source);
    return 0;
}

static struct fabric *make_fabric(struct reader *reader, struct error_info *err)
{
    CLEANUP(fabric_draft) struct fabric_draft *draft = fabric_draft_create(reader->source, err);
    if (!draft)
        return NULL;
    if (reader->unowned > 0)
        fabric_draft_warn(draft, "%s: %u GUIDs are no host's in %s", reader->source,
                          reader->unowned, reader->guid_source);
    if (warn_hosts(reader, draft, err) < 0)
        return NULL;
    return ib_network_fabric(reader->network, draft, err);
}

struct fabric *fabric_parse_sharp(const char *topology, size_t bytes, const char *source,
                                  const char *guids, size_t guid_bytes, const char *guid_source,
                                  struct error_info *err)
{
    CLEANUP(ib_network) struct ib_network *network = ib_network_create(source, err);
    if (!network)
        return NULL;
    struct reader reader = {.source = source, .guid_source = guid_source, .network = network};
    if (read_owners(&reader, guids, guid_bytes, err) < 0 ||
        read_listing(&reader, topology, bytes, err) < 0 || check(&reader, err) < 0)
        return NULL;
    return make_fabric(&reader, err);
}
