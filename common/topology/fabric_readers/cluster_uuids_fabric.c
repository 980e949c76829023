/* SPDX-License-Identifier: MIT */
/* NVLink domains as nvidia-smi's fabric section gives them, gathered over nodes. */
#include "base/parse_number.h"
#include "topology/fabric_readers/fabric_draft.h"
#include "topology/fabric_readers/fabric_readers.h"
#include "topology/fabric_readers/text_lines.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define BLANKS " \t\r"
#define UUID_LENGTH 36u
#define ID_BYTES (UUID_LENGTH + 12u) /* "." and 32 bits */
#define NO_UUID "00000000-0000-0000-0000-000000000000"

/* What tools print where a GPU has no fabric. */
static const char *const absent[] = {"", "N/A", "[N/A]", "none", "null", NO_UUID};

struct reader {
    struct text_lines lines;
    struct fabric_draft *draft;
    struct name_index *hosts;   /* to their number in order */
    struct name_index *domains; /* by id */
    struct name_index *uuids;   /* 1: with cliques, 0: without */
    unsigned *domain_of;        /* by host */
    size_t host_count, host_room;
    unsigned outside;
};

static bool is_absent(const char *value)
{
    for (size_t i = 0; i < COUNT_OF(absent); i++)
        if (strcasecmp(value, absent[i]) == 0)
            return true;
    return false;
}

static bool is_uuid(const char *text)
{
    for (size_t i = 0; i < UUID_LENGTH; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? text[i] != '-' : !isxdigit((unsigned char)text[i]))
            return false;
    }
    return true;
}

/* "UUID", "UUID CLIQUE" or "UUID.CLIQUE" to "uuid" or "uuid.clique". uuid: "" for none. */
static int read_id(const struct text_lines *lines, char *value, char uuid[UUID_LENGTH + 1],
                   char id[ID_BYTES], struct error_info *err)
{
    size_t length = strcspn(value, BLANKS ".,");
    char *clique = value + length + strspn(value + length, BLANKS ".,");
    uint64_t number = 0;
    uuid[0] = '\0';
    id[0] = '\0';
    if (is_absent(value) || (length == UUID_LENGTH && strncmp(value, NO_UUID, length) == 0))
        return 0;
    if (length != UUID_LENGTH || !is_uuid(value))
        return error_set(err, "%s:%u: '%.60s' is no ClusterUUID (8-4-4-4-12 hexadecimal digits)",
                         lines->source, lines->number, value);
    for (size_t i = 0; i < length; i++)
        uuid[i] = (char)tolower((unsigned char)value[i]);
    uuid[length] = '\0';
    if (*clique && parse_unsigned(clique, 0, UINT32_MAX, &number, err) < 0)
        return error_prefix(err, "%s:%u: CliqueID", lines->source, lines->number);
    if (*clique)
        snprintf(id, ID_BYTES, "%s.%" PRIu64, uuid, number);
    else
        snprintf(id, ID_BYTES, "%s", uuid);
    return 0;
}

/* A domain with cliques is not the whole of its cluster: a line without one says too little. */
static int check_cliques(struct reader *reader, const char *uuid, const char *id,
                         struct error_info *err)
{
    size_t has_clique = strcmp(uuid, id) != 0;
    int added = name_index_add(reader->uuids, uuid, has_clique);
    if (added < 0)
        return error_set_memory(err);
    if (added > 0 && name_index_find(reader->uuids, uuid) != has_clique)
        return error_set(err,
                         "%s:%u: ClusterUUID %s stands with a CliqueID in one line and without in "
                         "another; give all or none",
                         reader->lines.source, reader->lines.number, uuid);
    return 0;
}

/* The number of the domain, new or known. */
static int find_domain(struct reader *reader, const char *id, unsigned *ret_domain,
                       struct error_info *err)
{
    size_t count = fabric_draft_domain_count(reader->draft);
    int added = name_index_add(reader->domains, id, count);
    if (added < 0)
        return error_set_memory(err);
    *ret_domain = (unsigned)name_index_find(reader->domains, id);
    return added > 0 ? 0
                     : fabric_draft_add_domain(reader->draft, NULL, id, reader->lines.number, err);
}

static int reserve_host(struct reader *reader, struct error_info *err)
{
    if (reader->host_count == FABRIC_MAXIMUM_NODES)
        return error_set(err, "%s:%u: more than %u hosts", reader->lines.source,
                         reader->lines.number, FABRIC_MAXIMUM_NODES);
    if (reader->host_count < reader->host_room)
        return 0;
    size_t wanted = reader->host_room ? reader->host_room * 2 : 64;
    unsigned *grown =
        memory_grow_array(reader->domain_of, reader->host_room, wanted, sizeof(*reader->domain_of));
    if (!grown)
        return error_set_memory(err);
    reader->domain_of = grown;
    reader->host_room = wanted;
    return 0;
}

/* domain: FABRIC_NONE for none. A line for each GPU of a host may say the same. */
static int place_host(struct reader *reader, const char *host, unsigned domain,
                      struct error_info *err)
{
    if (reserve_host(reader, err) < 0)
        return -1;
    int added = name_index_add(reader->hosts, host, reader->host_count);
    if (added < 0)
        return error_set_memory(err);
    if (added > 0) {
        if (reader->domain_of[name_index_find(reader->hosts, host)] == domain)
            return 0;
        return error_set(err, "%s:%u: host %s is in another NVLink domain at an earlier line",
                         reader->lines.source, reader->lines.number, host);
    }
    reader->domain_of[reader->host_count++] = domain;
    reader->outside += domain == FABRIC_NONE;
    return domain == FABRIC_NONE ? 0
                                 : fabric_draft_add_domain_node(reader->draft, domain, host, err);
}

static int read_line(struct reader *reader, struct error_info *err)
{
    const char *host = NULL;
    char *value = NULL, uuid[UUID_LENGTH + 1], id[ID_BYTES];
    unsigned domain = FABRIC_NONE;
    if (text_lines_pair(&reader->lines, &host, &value, err) < 0 ||
        read_id(&reader->lines, value, uuid, id, err) < 0)
        return -1;
    if (*id &&
        (check_cliques(reader, uuid, id, err) < 0 || find_domain(reader, id, &domain, err) < 0))
        return -1;
    return place_host(reader, host, domain, err);
}

static struct fabric *read_text(struct reader *reader, struct error_info *err)
{
    int got;
    while ((got = text_lines_next(&reader->lines, err)) > 0)
        if (read_line(reader, err) < 0)
            return NULL;
    if (got < 0)
        return NULL;
    if (fabric_draft_domain_count(reader->draft) == 0)
        return error_null(error_set(err, "%s: no line \"HOST: ClusterUUID\" names a domain",
                                    reader->lines.source));
    if (reader->outside > 0)
        fabric_draft_warn(reader->draft, "%s: %u hosts have no ClusterUUID and are left out",
                          reader->lines.source, reader->outside);
    return fabric_draft_build(reader->draft, err);
}

struct fabric *fabric_parse_cluster_uuids(const char *text, size_t bytes, const char *source,
                                          struct error_info *err)
{
    CLEANUP(fabric_draft) struct fabric_draft *draft = fabric_draft_create(source, err);
    CLEANUP(name_index) struct name_index *hosts = name_index_create();
    CLEANUP(name_index) struct name_index *domains = name_index_create();
    CLEANUP(name_index) struct name_index *uuids = name_index_create();
    if (!draft || !hosts || !domains || !uuids)
        return error_null(error_set_memory(err));
    struct reader reader = {.draft = draft, .hosts = hosts, .domains = domains, .uuids = uuids};
    if (text_lines_init(&reader.lines, text, bytes, source, err) < 0)
        return NULL;
    struct fabric *fabric = read_text(&reader, err);
    memory_free(reader.domain_of);
    return fabric;
}
