/* SPDX-License-Identifier: MIT */
#include "topology/node_readers/text/node_file_links.h"
#include "base/parse_number.h"
#include "base/yaml_fields.h"
#include "topology/cluster_readers/rate.h"
#include <string.h>

#define MAXIMUM_DOMAIN_NODES 4096u
#define WORD_BYTES 16u
#define MAXIMUM_LINKS 1024u
#define UNKNOWN_WORD "."
#define LINKS_WORD " links"

struct nvlink_entry {
    const char *clique;
    const struct yaml_node *rate, *gpu_rate, *pairs;
    uint64_t domain_nodes;
    unsigned state;
    bool switched, leaves_node;
};

#define NVLINK_FIELD(key_, type_, member, ...)                                                     \
    {                                                                                              \
        .key = key_, .type = type_, .offset = offsetof(struct nvlink_entry, member), __VA_ARGS__   \
    }

/* In the order of enum nvlink_state. */
static const char *const state_words[] = {"unknown", "none", "known", NULL};

static const struct yaml_field nvlink_fields[] = {
    NVLINK_FIELD("state", YAML_CHOICE, state, .choices = state_words),
    NVLINK_FIELD("switched", YAML_BOOLEAN, switched),
    NVLINK_FIELD("rate", YAML_NODE, rate),
    NVLINK_FIELD("pairs", YAML_NODE, pairs),
    NVLINK_FIELD("gpu_rate", YAML_NODE, gpu_rate),
    NVLINK_FIELD("domain_nodes", YAML_UNSIGNED, domain_nodes, .minimum = 1,
                 .maximum = MAXIMUM_DOMAIN_NODES),
    NVLINK_FIELD("leaves_node", YAML_BOOLEAN, leaves_node),
    NVLINK_FIELD("clique", YAML_TEXT, clique),
};

int node_file_read_rate(const struct yaml_node *node, double *ret_bytes_per_second,
                        struct error_info *err)
{
    struct error_info why = {.kind = ERROR_NONE};
    if (!node)
        return 0;
    if (node->kind != YAML_SCALAR)
        return yaml_node_error(node, err, "a rate is expected, as 400Gb/s or 50GB/s");
    if (rate_parse(node->text, ret_bytes_per_second, &why) < 0)
        return yaml_node_error(node, err, "%s", why.text);
    return 0;
}

/* What a pair has: a rate, or so many links, which the merge rates by the GPU's model. */
struct strength {
    double bytes_per_second;
    unsigned links; /* 0: the rate is said */
};

static int read_strength(const struct yaml_node *node, const char *text, struct strength *ret,
                         struct error_info *err)
{
    char number[WORD_BYTES];
    uint64_t links = 0;
    struct error_info why = {.kind = ERROR_NONE};
    size_t digits = strspn(text, "0123456789");
    bool counted = digits > 0 && digits < sizeof(number) && strcmp(text + digits, LINKS_WORD) == 0;
    *ret = (struct strength){.links = 0};
    if (counted) {
        memcpy(number, text, digits);
        number[digits] = '\0';
    }
    if ((counted ? parse_unsigned(number, 1, MAXIMUM_LINKS, &links, &why)
                 : rate_parse(text, &ret->bytes_per_second, &why)) < 0)
        return yaml_node_error(node, err, "%s", why.text);
    ret->links = (unsigned)links;
    return 0;
}

static void join(struct evidence_draft *draft, unsigned first, unsigned second,
                 const struct strength *strength)
{
    if (strength->links > 0)
        evidence_draft_set_link_count(draft, first, second, strength->links);
    else
        evidence_draft_set_rate(draft, first, second, strength->bytes_per_second);
}

static int load_rate(struct evidence_draft *draft, const struct yaml_node *node,
                     struct error_info *err)
{
    struct strength strength;
    if (node->kind != YAML_SCALAR)
        return yaml_node_error(node, err, "a rate is expected, as 450GB/s, or 18 links");
    if (read_strength(node, node->text, &strength, err) < 0)
        return -1;
    for (unsigned i = 0; i < draft->evidence.gpu_count; i++)
        for (unsigned j = 0; j < i; j++)
            join(draft, i, j, &strength);
    return 0;
}

static int error_pair(const struct yaml_node *pair, unsigned gpu_count, struct error_info *err)
{
    return yaml_node_error(pair, err, "two GPUs from 0 to %u are expected, as 0-1",
                           gpu_count > 0 ? gpu_count - 1 : 0);
}

static int load_pair(struct evidence_draft *draft, const struct yaml_node *pair,
                     const struct strength *strength, struct error_info *err)
{
    unsigned n = draft->evidence.gpu_count;
    char first[WORD_BYTES];
    uint64_t i, j;
    const char *dash = pair->kind == YAML_SCALAR ? strchr(pair->text, '-') : NULL;
    size_t length = dash ? (size_t)(dash - pair->text) : 0;
    if (length == 0 || length >= sizeof(first) || n < 2)
        return error_pair(pair, n, err);
    memcpy(first, pair->text, length);
    first[length] = '\0';
    if (parse_unsigned(first, 0, n - 1, &i, NULL) < 0 ||
        parse_unsigned(dash + 1, 0, n - 1, &j, NULL) < 0 || i == j)
        return error_pair(pair, n, err);
    if (draft->rates[i][j] > 0 || draft->link_counts[i][j] > 0)
        return yaml_node_error(pair, err, "the pair %s stands twice", pair->text);
    join(draft, (unsigned)i, (unsigned)j, strength);
    return 0;
}

static int load_pairs(struct evidence_draft *draft, const struct yaml_node *pairs,
                      struct error_info *err)
{
    if (pairs->kind != YAML_MAPPING || pairs->child_count == 0)
        return yaml_node_error(pairs, err, "RATE: [pairs] is expected, as {50GB/s: [0-1, 2-3]}");
    for (size_t i = 0; i < pairs->child_count; i++) {
        const struct yaml_node *list = pairs->children[i];
        struct strength strength;
        if (read_strength(list, list->key, &strength, err) < 0)
            return -1;
        if (list->kind != YAML_SEQUENCE || list->child_count == 0)
            return yaml_node_error(list, err, "a list of pairs is expected, as [0-1, 2-3]");
        for (size_t p = 0; p < list->child_count; p++)
            if (load_pair(draft, list->children[p], &strength, err) < 0)
                return -1;
        if (draft->has_rates && draft->has_link_counts)
            return yaml_node_error(list, err, "rates and numbers of links do not go together");
    }
    return 0;
}

static int load_rates(struct evidence_draft *draft, const struct yaml_node *node,
                      const struct nvlink_entry *entry, struct error_info *err)
{
    if (entry->state != NVLINK_KNOWN && (entry->rate || entry->pairs))
        return yaml_node_error(node, err, "rate and pairs go with state: known");
    if (entry->rate && entry->pairs)
        return yaml_node_error(entry->pairs, err, "rate says it of all pairs; keep one of the two");
    if (entry->state == NVLINK_KNOWN && draft->evidence.gpu_count > 1 && !entry->rate &&
        !entry->pairs)
        return yaml_node_error(node, err, "say rate: of each pair, or pairs: {50GB/s: [0-1]}");
    if (entry->pairs)
        return load_pairs(draft, entry->pairs, err);
    return entry->rate ? load_rate(draft, entry->rate, err) : 0;
}

static int read_entry(const struct yaml_node *node, struct nvlink_entry *entry,
                      struct error_info *err)
{
    if (node->kind == YAML_MAPPING)
        return yaml_fields_load(node, nvlink_fields, COUNT_OF(nvlink_fields), entry, err);
    for (unsigned i = NVLINK_UNKNOWN; node->kind == YAML_SCALAR && i <= NVLINK_NONE; i++) {
        if (strcmp(node->text, state_words[i]) != 0)
            continue;
        entry->state = i;
        return 0;
    }
    return yaml_node_error(node, err, "unknown, none or {rate: 450GB/s, …} is expected");
}

int node_file_load_nvlink(struct evidence_draft *draft, const struct yaml_node *node,
                          struct error_info *err)
{
    struct nvlink_entry entry = {.state = NVLINK_KNOWN};
    struct node_evidence *evidence = &draft->evidence;
    if (!node)
        return 0;
    if (read_entry(node, &entry, err) < 0 || load_rates(draft, node, &entry, err) < 0 ||
        node_file_read_rate(entry.gpu_rate, &evidence->gpu_nvlink_bytes_per_second, err) < 0)
        return -1;
    evidence->nvlink = (enum nvlink_state)entry.state;
    evidence->nvlink_switched = entry.switched;
    evidence->nvlink_leaves_node = entry.leaves_node;
    evidence->nvlink_domain_nodes = (unsigned)entry.domain_nodes;
    const char *clique = entry.clique && entry.clique[0] ? entry.clique : NULL;
    clique = evidence_draft_copy(draft, clique);
    if (clique)
        error_clean_text((char *)clique);
    for (unsigned i = 0; i < evidence->gpu_count; i++)
        draft->gpus[i].nvlink_clique = clique;
    return 0;
}

/* The next word of a row; false at its end. */
static bool next_word(const char **row, char word[WORD_BYTES])
{
    const char *start = *row + strspn(*row, " ");
    size_t length = strcspn(start, " ");
    if (length == 0)
        return false;
    size_t kept = length < WORD_BYTES ? length : WORD_BYTES - 1;
    memcpy(word, start, kept);
    word[kept] = '\0';
    *row = start + length;
    return true;
}

static int read_link(const struct yaml_node *row, const char *word, enum link_kind *ret,
                     struct error_info *err)
{
    *ret = LINK_UNKNOWN;
    if (strcmp(word, UNKNOWN_WORD) == 0)
        return 0;
    for (unsigned kind = 0; kind < LINK_KIND_COUNT; kind++) {
        if (strcmp(link_kind_name((enum link_kind)kind), word) != 0)
            continue;
        *ret = (enum link_kind)kind;
        return 0;
    }
    return yaml_node_error(row, err,
                           "'%s' is no link; there are %s nvlink xgmi pix pxb phb node sys", word,
                           UNKNOWN_WORD);
}

static int load_row(const struct yaml_node *row, unsigned columns, enum link_kind *links,
                    struct error_info *err)
{
    char word[WORD_BYTES];
    unsigned count = 0;
    const char *rest = row->kind == YAML_SCALAR ? row->text : "";
    while (count < columns && next_word(&rest, word))
        if (read_link(row, word, &links[count++], err) < 0)
            return -1;
    if (count < columns || rest[strspn(rest, " ")] != '\0')
        return yaml_node_error(row, err, "%u words are expected, as \". pix sys\"", columns);
    return 0;
}

static int check_rows(const struct evidence_draft *draft, const struct yaml_node *rows,
                      struct error_info *err)
{
    if (rows->kind != YAML_SEQUENCE || rows->child_count != draft->evidence.gpu_count)
        return yaml_node_error(rows, err, "a list of %u rows is expected, one for each GPU",
                               draft->evidence.gpu_count);
    return 0;
}

int node_file_load_gpu_links(struct evidence_draft *draft, const struct yaml_node *rows,
                             struct error_info *err)
{
    if (!rows)
        return 0;
    if (check_rows(draft, rows, err) < 0)
        return -1;
    for (unsigned i = 0; i < rows->child_count; i++)
        if (load_row(rows->children[i], draft->evidence.gpu_count, draft->gpu_links[i], err) < 0)
            return -1;
    draft->has_gpu_links = true;
    return 0;
}

int node_file_load_nic_links(struct evidence_draft *draft, const struct yaml_node *rows,
                             struct error_info *err)
{
    if (!rows)
        return 0;
    if (check_rows(draft, rows, err) < 0)
        return -1;
    for (unsigned i = 0; i < rows->child_count; i++)
        if (load_row(rows->children[i], draft->evidence.nic_count, draft->nic_links[i], err) < 0)
            return -1;
    draft->has_nic_links = true;
    return 0;
}
