/* SPDX-License-Identifier: MIT */
/* The text of ibnetdiscover: a section for each switch and adapter, a line for each link end. */
#include "base/parse_number.h"
#include "topology/fabric_readers/fabric_readers.h"
#include "topology/fabric_readers/infiniband/ib_description.h"
#include "topology/fabric_readers/infiniband/ib_network.h"
#include <string.h>

#define LINE_BYTES 2048u
#define MAXIMUM_PORT 65535u
#define BLANKS " \t\r"

enum section { SECTION_NONE, SECTION_SWITCH, SECTION_ADAPTER, SECTION_SKIPPED };

struct reader {
    const char *source;
    const char *next, *end; /* of the text */
    unsigned line;
    char text[LINE_BYTES]; /* of the line; cut up while it is read */
    struct ib_network *network;
    struct name_index *dropped; /* ids of adapters */
    enum section section;
    unsigned current; /* the section's switch or adapter */
    unsigned dropped_count[IB_ADAPTER_KIND_COUNT];
    unsigned repeated, routers, unknown_rates, foreign, first_foreign;
};

/* One end of a link, as a line of the section at its other end has it. */
struct port_line {
    unsigned port;
    char *peer_id;
    unsigned peer_port;
    char *description;
    unsigned rate;
};

/* 1: a line, 0: the end. */
static int next_line(struct reader *reader, struct error_info *err)
{
    if (reader->next == reader->end)
        return 0;
    size_t left = (size_t)(reader->end - reader->next);
    const char *newline = memchr(reader->next, '\n', left);
    size_t bytes = newline ? (size_t)(newline - reader->next) : left;
    reader->line++;
    if (bytes >= LINE_BYTES)
        return error_set(err, "%s:%u: the line has more than %u bytes", reader->source,
                         reader->line, LINE_BYTES - 1);
    memcpy(reader->text, reader->next, bytes);
    reader->text[bytes] = '\0';
    reader->next += bytes + (newline != NULL);
    return 1;
}

static int error_line(const struct reader *reader, const char *what, struct error_info *err)
{
    return error_set(err, "%s:%u: %s; is the text cut off or edited?", reader->source, reader->line,
                     what);
}

/* What stands between open and close at *at, which moves behind; NULL: something else. */
static char *take_enclosed(char **at, char open, char close)
{
    char *start = *at + strspn(*at, BLANKS);
    char *end = *start == open ? strchr(start + 1, close) : NULL;
    if (!end)
        return NULL;
    *end = '\0';
    *at = end + 1;
    return start + 1;
}

/* "[12]", with what ibnetdiscover may put behind it: "(guid)" and, with -g, "[ext 3]". */
static int take_port(char **at, unsigned *ret_port)
{
    uint64_t port = 0;
    const char *digits = take_enclosed(at, '[', ']');
    if (!digits || parse_unsigned(digits, 0, MAXIMUM_PORT, &port, NULL) < 0)
        return -1;
    while (take_enclosed(at, '(', ')') || take_enclosed(at, '[', ']'))
        ;
    *ret_port = (unsigned)port;
    return 0;
}

/* "S-", "H-" or "R-" and a GUID. */
static bool read_id(const char *id, uint64_t *ret_guid)
{
    return id && strchr("SHR", id[0]) && id[0] && id[1] == '-' &&
           parse_hexadecimal(id + 2, UINT64_MAX, ret_guid, NULL) == 0;
}

/* Behind the '#': what is quoted, up to the last quotation mark of the line. *ret_rest is what
 * follows that. */
static char *take_description(char *at, char **ret_rest)
{
    at += strspn(at, BLANKS);
    char *first = *at == '#' ? strchr(at, '"') : NULL;
    char *last = first ? strrchr(first + 1, '"') : NULL;
    if (!last)
        return NULL;
    *last = '\0';
    *ret_rest = last + 1;
    return first + 1;
}

/* The word of the form "4xHDR". */
static unsigned find_rate(char *rest)
{
    char *position = NULL;
    for (char *word = strtok_r(rest, BLANKS, &position); word;
         word = strtok_r(NULL, BLANKS, &position)) {
        unsigned rate = ib_rate_parse(word);
        if (rate != IB_RATE_UNKNOWN)
            return rate;
    }
    return IB_RATE_UNKNOWN;
}

static int read_port_line(struct reader *reader, struct port_line *ret, struct error_info *err)
{
    char *at = reader->text, *rest = NULL;
    uint64_t guid = 0;
    if (take_port(&at, &ret->port) < 0)
        return error_line(reader, "a port number in brackets is expected", err);
    ret->peer_id = take_enclosed(&at, '"', '"');
    if (!read_id(ret->peer_id, &guid))
        return error_line(reader, "\"S-GUID\" or \"H-GUID\" is expected behind the port", err);
    if (take_port(&at, &ret->peer_port) < 0)
        return error_line(reader, "the port at the link's other end is missing", err);
    ret->description = take_description(at, &rest);
    if (!ret->description)
        return error_line(reader, "# and the quoted name of the link's other end are missing", err);
    ret->rate = find_rate(rest);
    return 0;
}

static int find_switch(struct reader *reader, const char *id, const char *description,
                       unsigned *ret_switch, struct error_info *err)
{
    char name[IB_NAME_BYTES];
    ib_description_switch(description, id, name);
    return ib_network_add_switch(reader->network, id, name, ret_switch, err);
}

/* *ret_adapter is IB_NONE for one that is no host's. */
static int find_adapter(struct reader *reader, const char *id, char *description,
                        unsigned *ret_adapter, struct error_info *err)
{
    struct ib_adapter adapter = {.number = IB_NONE};
    const char *host = NULL;
    if (!read_id(id, &adapter.guid))
        return error_line(reader, "an adapter's id is no GUID", err);
    enum ib_adapter_kind kind =
        ib_description_adapter(description, &host, &adapter.label, &adapter.number);
    if (kind == IB_ADAPTER_HOST)
        return ib_network_add_adapter(reader->network, id, host, &adapter, ret_adapter, err);
    *ret_adapter = IB_NONE;
    int added = name_index_add(reader->dropped, id, 0);
    if (added < 0)
        return error_set_memory(err);
    reader->dropped_count[kind] += added == 0;
    return 0;
}

static int join_host(struct reader *reader, const struct ib_port *port, struct error_info *err)
{
    reader->unknown_rates += port->rate == IB_RATE_UNKNOWN;
    return ib_network_add_port(reader->network, port, err);
}

static int read_port_of_switch(struct reader *reader, const struct port_line *line,
                               struct error_info *err)
{
    struct ib_port port = {.at = reader->current, .port = line->peer_port, .rate = line->rate};
    struct ib_link link = {.left = reader->current,
                           .left_port = line->port,
                           .right_port = line->peer_port,
                           .rate = line->rate};
    switch (line->peer_id[0]) {
    case 'H':
        if (find_adapter(reader, line->peer_id, line->description, &port.adapter, err) < 0)
            return -1;
        return port.adapter == IB_NONE ? 0 : join_host(reader, &port, err);
    case 'S':
        if (find_switch(reader, line->peer_id, line->description, &link.right, err) < 0)
            return -1;
        reader->unknown_rates += link.rate == IB_RATE_UNKNOWN;
        return ib_network_add_link(reader->network, &link, err);
    default: /* a router leads out of this network */
        return 0;
    }
}

static int read_port_of_adapter(struct reader *reader, const struct port_line *line,
                                struct error_info *err)
{
    struct ib_port port = {.adapter = reader->current, .port = line->port, .rate = line->rate};
    if (line->peer_id[0] != 'S') /* cards back to back are no fabric */
        return 0;
    if (find_switch(reader, line->peer_id, line->description, &port.at, err) < 0)
        return -1;
    return join_host(reader, &port, err);
}

static int read_port(struct reader *reader, struct error_info *err)
{
    struct port_line line;
    if (reader->section == SECTION_NONE)
        return error_line(reader, "a port stands before the first Switch or Ca", err);
    if (read_port_line(reader, &line, err) < 0)
        return -1;
    if (reader->section == SECTION_SWITCH)
        return read_port_of_switch(reader, &line, err);
    return reader->section == SECTION_ADAPTER ? read_port_of_adapter(reader, &line, err) : 0;
}

/* `Switch 40 "S-…" # "name" …`, at behind its first word. */
static int read_header(struct reader *reader, char *at, char **ret_id, char **ret_description,
                       struct error_info *err)
{
    char *rest = NULL, *ports = at + strspn(at, BLANKS);
    uint64_t number = 0;
    at = ports + strcspn(ports, BLANKS);
    if (*at)
        *at++ = '\0';
    if (parse_unsigned(ports, 0, MAXIMUM_PORT, &number, NULL) < 0)
        return error_line(reader, "the number of ports is missing", err);
    *ret_id = take_enclosed(&at, '"', '"');
    *ret_description = *ret_id ? take_description(at, &rest) : NULL;
    if (!*ret_description || !read_id(*ret_id, &number))
        return error_line(reader, "\"S-GUID\" or \"H-GUID\", # and the quoted name are expected",
                          err);
    return 0;
}

static int start_switch(struct reader *reader, char *at, struct error_info *err)
{
    char *id = NULL, *description = NULL;
    if (read_header(reader, at, &id, &description, err) < 0 ||
        find_switch(reader, id, description, &reader->current, err) < 0)
        return -1;
    struct ib_switch *here = &reader->network->switches[reader->current];
    reader->section = here->line == 0 ? SECTION_SWITCH : SECTION_SKIPPED;
    reader->repeated += here->line != 0;
    here->line = here->line == 0 ? reader->line : here->line;
    return 0;
}

static int start_adapter(struct reader *reader, char *at, struct error_info *err)
{
    char *id = NULL, *description = NULL;
    if (read_header(reader, at, &id, &description, err) < 0 ||
        find_adapter(reader, id, description, &reader->current, err) < 0)
        return -1;
    reader->section = reader->current == IB_NONE ? SECTION_SKIPPED : SECTION_ADAPTER;
    return 0;
}

static int start_router(struct reader *reader, char *at, struct error_info *err)
{
    (void)at;
    (void)err;
    reader->section = SECTION_SKIPPED;
    reader->routers++;
    return 0;
}

static const struct {
    const char *word;
    int (*start)(struct reader *reader, char *at, struct error_info *err);
} sections[] = {{"Switch", start_switch}, {"Ca", start_adapter}, {"Rt", start_router}};

/* "vendid=0x2c9", "switchguid=0x…(…)" */
static bool is_property(const char *text)
{
    size_t word = strspn(text, "abcdefghijklmnopqrstuvwxyz");
    return word > 0 && text[word] == '=';
}

static int read_line(struct reader *reader, struct error_info *err)
{
    char *text = reader->text + strspn(reader->text, BLANKS);
    if (!*text || *text == '#' || is_property(text))
        return 0;
    if (*text == '[')
        return read_port(reader, err);
    for (size_t i = 0; i < COUNT_OF(sections); i++) {
        size_t length = strlen(sections[i].word);
        if (strncmp(text, sections[i].word, length) == 0 &&
            (text[length] == ' ' || text[length] == '\t'))
            return sections[i].start(reader, text + length, err);
    }
    reader->first_foreign = reader->foreign == 0 ? reader->line : reader->first_foreign;
    reader->foreign++;
    return 0;
}

static void warn_counted(struct fabric_draft *draft, const struct reader *reader, unsigned count,
                         const char *what)
{
    if (count > 0)
        fabric_draft_warn(draft, "%s: %u %s", reader->source, count, what);
}

static unsigned count_absent(const struct reader *reader)
{
    unsigned absent = 0;
    for (size_t i = 0; i < reader->network->switch_count; i++)
        absent += reader->network->switches[i].line == 0;
    return absent;
}

static void warn(struct fabric_draft *draft, const struct reader *reader)
{
    warn_counted(draft, reader, reader->dropped_count[IB_ADAPTER_AGGREGATION],
                 "aggregation nodes (SHARP, inside switches) are no hosts and left out");
    warn_counted(draft, reader, reader->dropped_count[IB_ADAPTER_UNNAMED],
                 "adapters name no host (no driver has set their node description) and are left "
                 "out");
    warn_counted(draft, reader, count_absent(reader),
                 "switches are named at links but have no section: the sweep or the text is "
                 "incomplete");
    warn_counted(draft, reader, reader->repeated,
                 "sections of switches stand again; the first is taken");
    warn_counted(draft, reader, reader->routers, "routers are left out");
    warn_counted(draft, reader, reader->unknown_rates, "link ends have no known width and speed");
    if (reader->foreign > 0)
        fabric_draft_warn(draft, "%s:%u: no line of ibnetdiscover's; %u such lines are skipped",
                          reader->source, reader->first_foreign, reader->foreign);
}

static int check(const struct reader *reader, struct error_info *err)
{
    if (reader->network->switch_count == 0)
        return error_set(err,
                         "%s: no switch is named; the whole output of ibnetdiscover is expected, "
                         "without -l, -p or a node type",
                         reader->source);
    if (reader->network->port_count == 0)
        return error_set(err,
                         "%s: no switch has a link to a host (%u adapters without a host's name); "
                         "hosts need a node description, as rdma-ndd sets it",
                         reader->source, reader->dropped_count[IB_ADAPTER_UNNAMED]);
    return 0;
}

static struct fabric *read_text(struct reader *reader, struct error_info *err)
{
    int got;
    while ((got = next_line(reader, err)) > 0)
        if (read_line(reader, err) < 0)
            return NULL;
    if (got < 0 || check(reader, err) < 0)
        return NULL;
    CLEANUP(fabric_draft) struct fabric_draft *draft = fabric_draft_create(reader->source, err);
    if (!draft)
        return NULL;
    warn(draft, reader);
    return ib_network_fabric(reader->network, draft, err);
}

struct fabric *fabric_parse_ibnetdiscover(const char *text, size_t bytes, const char *source,
                                          struct error_info *err)
{
    if (bytes > FABRIC_IBNETDISCOVER_MAXIMUM_BYTES)
        return error_null(error_set(err, "%s: larger than %zu MiB", source,
                                    FABRIC_IBNETDISCOVER_MAXIMUM_BYTES >> 20));
    if (bytes > 0 && memchr(text, '\0', bytes))
        return error_null(error_set(err, "%s: has a NUL byte; a text file is expected", source));
    CLEANUP(ib_network) struct ib_network *network = ib_network_create(source, err);
    CLEANUP(name_index) struct name_index *dropped = name_index_create();
    if (!network || !dropped)
        return error_null(error_set_memory(err));
    struct reader reader = {
        .source = source,
        .next = text,
        .end = text + bytes,
        .network = network,
        .dropped = dropped,
    };
    return read_text(&reader, err);
}
