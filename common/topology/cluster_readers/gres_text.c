/* SPDX-License-Identifier: MIT */
#include "topology/cluster_readers/gres_text.h"
#include "base/parse_number.h"
#include "topology/node_evidence.h"
#include <stdio.h>
#include <string.h>

#define GPUS_MAXIMUM 1024u

/* "gres:gpu:h100:8", "gres/gpu:8" and "gpu:8" begin alike after this. */
static const char *skip_prefix(const char *item)
{
    if (!strncmp(item, "gres:", 5) || !strncmp(item, "gres/", 5))
        item += 5;
    return item;
}

static bool parse_item(const char *item, size_t length, unsigned *ret_count, char *ret_type)
{
    char text[128];
    if (length >= sizeof(text))
        return false;
    memcpy(text, item, length);
    text[length] = '\0';
    char *details = length && text[length - 1] == ')' ? strrchr(text, '(') : NULL;
    if (details)
        *details = '\0'; /* "(S:0-1)", "(IDX:0-7)" */
    char *last = strrchr(text, ':');
    uint64_t count = 1;
    if (last && parse_unsigned(last + 1, 0, GPUS_MAXIMUM, &count, NULL) == 0)
        *last = '\0';
    const char *type = strchr(text, ':');
    snprintf(ret_type, GPU_TYPE_BYTES, "%s", type && strcmp(type, ":(null)") != 0 ? type + 1 : "");
    *ret_count = (unsigned)count;
    return true;
}

/* Length up to the next comma that is not inside brackets: "gpu:8(IDX:0,2)". */
static size_t item_length(const char *text)
{
    size_t length = 0;
    unsigned depth = 0;
    for (; text[length] && (depth > 0 || text[length] != ','); length++) {
        if (text[length] == '(')
            depth++;
        else if (text[length] == ')' && depth > 0)
            depth--;
    }
    return length;
}

bool gres_text_next(const char **text, unsigned *ret_count, char ret_type[static GPU_TYPE_BYTES])
{
    while (*text && **text) {
        size_t length = item_length(*text);
        const char *item = skip_prefix(*text);
        size_t skipped = (size_t)(item - *text);
        bool is_gpu = length >= skipped + 3 && !strncmp(item, "gpu", 3) &&
                      (item[3] == ':' || item[3] == ',' || item[3] == '(' || item[3] == '\0');
        *text += length;
        if (**text == ',')
            ++*text;
        if (is_gpu)
            return parse_item(item, length - skipped, ret_count, ret_type);
    }
    return false;
}

bool gres_text_parse(const char *text, unsigned *ret_count, char ret_type[static GPU_TYPE_BYTES])
{
    return gres_text_next(&text, ret_count, ret_type);
}

struct node_topology *gres_unknown_node(const char *name, const char *type, unsigned count,
                                        const struct gpu_catalogue *gpus, struct error_info *err)
{
    struct evidence_gpu unknown[NODE_MAXIMUM_GPUS];
    for (unsigned i = 0; i < NODE_MAXIMUM_GPUS; i++)
        unknown[i] = (struct evidence_gpu){.model_text = type, .numa = NUMA_UNKNOWN};
    const struct node_evidence evidence = {
        .source = EVIDENCE_SLURM_GRES,
        .source_text = "slurm gres count",
        .gpus = unknown,
        .gpu_count = count,
        .nvlink = NVLINK_UNKNOWN,
    };
    return node_topology_of(name, &evidence, gpus, err);
}
