/* SPDX-License-Identifier: MIT */
#include "mapping/evaluation/mapping_document.h"
#include "base/json_document.h"
#include "mapping/evaluation/place_draft.h"
#include "workload/parallelism.h"
#include <string.h>

#define SCHEMA "parplan.map/1"

static int bad_item(const char *source, unsigned at, const char *field, const char *need,
                    struct error_info *err)
{
    return error_set(err, "%s: ranks[%u]: `%s` is not %s; give rank, node and gpu of each", source,
                     at, field, need);
}

static int read_item(struct place_draft *draft, const struct json_value *item, const char *source,
                     unsigned at, struct error_info *err)
{
    uint64_t rank, gpu = RANK_PLACE_NONE;
    const struct json_value *gpu_value = json_value_get(item, "gpu");
    const char *node = json_value_text(json_value_get(item, "node"));
    if (json_value_unsigned(json_value_get(item, "rank"), WORLD_MAXIMUM, &rank) < 0)
        return bad_item(source, at, "rank", "the number of a rank", err);
    if (!node)
        return bad_item(source, at, "node", "the name of a node", err);
    if (json_value_kind(gpu_value) != JSON_NULL &&
        json_value_unsigned(gpu_value, NODE_MAXIMUM_GPUS, &gpu) < 0)
        return bad_item(source, at, "gpu", "the number of a GPU", err);
    return place_draft_put(draft, at, rank, node, (unsigned)gpu, err);
}

static const struct json_value *ranks_of(const struct json_value *root, const char *source,
                                         struct error_info *err)
{
    const char *schema = json_value_text(json_value_get(root, "schema"));
    const struct json_value *ranks = json_value_get(root, "ranks");
    if (!schema || strcmp(schema, SCHEMA) != 0)
        return error_null(error_set(err,
                                    "%s: schema: %s is expected, not '%.40s'; give what "
                                    "`parplan map --format json` writes",
                                    source, SCHEMA, schema ? schema : ""));
    if (json_value_kind(ranks) != JSON_ARRAY)
        return error_null(
            error_set(err, "%s: `ranks` is not a list; give one item for each rank", source));
    return ranks;
}

struct rank_places *mapping_document_parse(const char *text, size_t bytes, const char *source,
                                           const struct cluster_topology *cluster, uint64_t world,
                                           struct error_info *err)
{
    CLEANUP(json_value) struct json_value *root = json_value_parse(text, bytes, source, err);
    const struct json_value *ranks = root ? ranks_of(root, source, err) : NULL;
    CLEANUP(place_draft)
    struct place_draft *draft =
        ranks ? place_draft_create(cluster, world, source, PLACE_ITEMS, err) : NULL;
    if (!draft)
        return NULL;
    if (json_value_count(ranks) != world)
        return error_null(place_draft_wrong_count(draft, json_value_count(ranks), err));
    for (size_t i = 0; i < world; i++) {
        if (read_item(draft, json_value_at(ranks, i), source, (unsigned)i, err) < 0)
            return NULL;
    }
    return place_draft_finish(draft, err);
}
