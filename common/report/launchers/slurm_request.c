/* SPDX-License-Identifier: MIT */
#include "report/launchers/slurm_request.h"
#include "planner/scan/scan_grid.h"

#define KEYS_BYTES ((size_t)4096)
#define TITLE_BYTES 256

/* --- how large a leaf and a block are ------------------------------------------------ */

static int count_largest_leaf(const struct cluster_topology *cluster, uint64_t *ret,
                              struct error_info *err)
{
    const struct fabric *fabric = cluster->fabric;
    uint64_t largest = 0;
    size_t count = fabric ? fabric->switch_count : 0;
    CLEANUP_MEMORY unsigned *nodes = memory_allocate_array(count + 1, sizeof(*nodes));
    if (!nodes)
        return error_set_memory(err);
    for (size_t i = 0; i < cluster->node_count; i++) {
        unsigned node = cluster->nodes[i].fabric_node;
        unsigned leaf = !fabric || node == FABRIC_NONE ? FABRIC_NONE : fabric->nodes[node].leaf;
        if (leaf != FABRIC_NONE && ++nodes[leaf] > largest)
            largest = nodes[leaf];
    }
    *ret = largest;
    return 0;
}

/* The smallest, since a segment may come into any; 0: none are known. */
static uint64_t smallest_block(const struct cluster_topology *cluster)
{
    const struct fabric *fabric = cluster->fabric;
    uint64_t smallest = 0;
    for (size_t i = 0; i < cluster->domain_count; i++)
        if (smallest == 0 || cluster->domain_nodes[i] < smallest)
            smallest = cluster->domain_nodes[i];
    for (size_t i = 0; cluster->domain_count == 0 && fabric && i < fabric->domain_count; i++)
        if (smallest == 0 || fabric->domains[i].node_count < smallest)
            smallest = fabric->domains[i].node_count;
    return smallest;
}

/* --- the segment ---------------------------------------------------------------------- */

static uint64_t nodes_of(uint64_t ranks, unsigned per_node)
{
    return ranks <= per_node ? 1 : ranks / per_node;
}

static void choose_segment(const struct plan *plan, uint64_t block, struct slurm_request *ret)
{
    const struct degrees *degrees = &plan->degrees;
    uint64_t tensor = degrees->tp, context = tensor * degrees->cp;
    uint64_t experts = (uint64_t)degrees->etp * degrees->ep;
    uint64_t stage = context > experts ? context : experts;
    bool shards = plan->sharding == SHARDING_ZERO3 || plan->sharding == SHARDING_HSDP;
    unsigned per_node = ret->gpus_per_node;
    const struct {
        uint64_t nodes;
        const char *name;
    } groups[] = {
        {nodes_of(tensor, per_node), "a tensor group"},
        {nodes_of(context, per_node), "a context group"},
        {degrees->ep > 1 ? nodes_of(experts, per_node) : 1, "a group of experts"},
        {degrees->pp > 1 ? degrees->pp * nodes_of(stage, per_node) : 1, "a pipeline"},
        {nodes_of(shards ? context * degrees->shard : 1, per_node), "a shard group"},
    };
    for (size_t i = 0; i < COUNT_OF(groups); i++) {
        uint64_t nodes = groups[i].nodes;
        if (nodes > 1 && nodes > ret->segment && (block == 0 || nodes <= block) &&
            ret->nodes % nodes == 0) {
            ret->segment = nodes;
            ret->segment_of = groups[i].name;
        }
    }
}

int slurm_request_of(const struct plan_report *report, struct slurm_request *ret,
                     struct error_info *err)
{
    const struct job_spec *job = report->request->job;
    const struct cluster_topology *cluster = report->request->cluster;
    bool placed = job_spec_number(job, JOB_PLACE, PLACE_ENV) == PLACE_SLURM;
    uint64_t leaf = 0, block = smallest_block(cluster);
    if (count_largest_leaf(cluster, &leaf, err) < 0)
        return -1;
    struct slurm_request request = {
        .spare = placed ? (unsigned)job_spec_number(job, JOB_SPARE, 0) : 0,
        .gpus_per_node = report->gpus_per_node,
        .has_blocks = block > 0,
    };
    request.nodes = report->world / report->gpus_per_node + request.spare;
    if (leaf > 0)
        request.switches = (request.nodes + leaf - 1) / leaf;
    choose_segment(report->list->plans, block ? block : leaf, &request);
    *ret = request;
    return 0;
}

/* --- in words --------------------------------------------------------------------------- */

/* The value of --parplan. */
static char *request_keys(const struct plan_report *report, const struct slurm_request *request,
                          struct arena *arena)
{
    char *keys = scan_launch_keys(arena, report->list->plans);
    bool placed = job_spec_number(report->request->job, JOB_PLACE, PLACE_ENV) == PLACE_SLURM;
    if (!keys || !placed)
        return keys;
    return request->spare ? arena_format(arena, "%s,place=slurm,spare=%u", keys, request->spare)
                          : arena_format(arena, "%s,place=slurm", keys);
}

static void add_title(const struct plan_report *report, struct text_buffer *out)
{
    char title[TITLE_BYTES];
    snprintf(title, sizeof(title), "%.100s on %.100s", report->request->model->name,
             report->request->cluster->name);
    error_clean_text(title);
    text_buffer_add(out, "# parplan plan --slurm: %s, %llu GPUs. sbatch FILE COMMAND…\n", title,
                    (unsigned long long)report->world);
}

static void add_topology(const struct slurm_request *request, struct text_buffer *out)
{
    const char *tree = request->has_blocks ? "##" : "#", *blocks = request->has_blocks ? "#" : "##";
    if (request->segment)
        text_buffer_add(out,
                        "%sSBATCH --segment=%llu\n# topology/block from Slurm 24.05 on: %s in one "
                        "block\n",
                        blocks, (unsigned long long)request->segment, request->segment_of);
    if (request->switches)
        text_buffer_add(out,
                        "%sSBATCH --switches=%llu\n# topology/tree: as few leaf switches as hold "
                        "the nodes; @HH:MM:SS says how long to wait for them\n",
                        tree, (unsigned long long)request->switches);
}

/* The request, and the keys of its srun line; arena may be NULL: out of memory. */
static const char *read_request(const struct plan_report *report, struct arena *arena,
                                struct slurm_request *ret, struct error_info *err)
{
    if (slurm_request_of(report, ret, err) < 0)
        return NULL;
    const char *keys = arena ? request_keys(report, ret, arena) : NULL;
    if (!keys)
        error_set_memory(err);
    return keys;
}

int slurm_request_text(const struct plan_report *report, struct text_buffer *out,
                       struct error_info *err)
{
    CLEANUP(arena) struct arena *arena = arena_create(KEYS_BYTES);
    struct slurm_request request;
    const char *keys = read_request(report, arena, &request, err);
    if (!keys)
        return -1;
    text_buffer_add(out,
                    "#!/bin/bash\n#SBATCH --nodes=%llu\n#SBATCH --ntasks-per-node=%u\n"
                    "#SBATCH --gres=gpu:%u\n",
                    (unsigned long long)request.nodes, request.gpus_per_node,
                    request.gpus_per_node);
    add_topology(&request, out);
    add_title(report, out);
    text_buffer_add(out, "srun --parplan=%s --kill-on-bad-exit=1 \"$@\"\n", keys);
    return text_buffer_failed(out) ? error_set_memory(err) : 0;
}

static void add_count(struct json_value *object, const char *name, uint64_t count)
{
    if (count)
        json_add_unsigned(object, name, count);
    else
        json_add_null(object, name);
}

int slurm_request_json(const struct plan_report *report, struct json_value *document,
                       struct error_info *err)
{
    CLEANUP(arena) struct arena *arena = arena_create(KEYS_BYTES);
    struct slurm_request request;
    const char *keys = read_request(report, arena, &request, err);
    if (!keys)
        return -1;
    struct json_value *object = json_add_object(document, "slurm");
    json_add_unsigned(object, "nodes", request.nodes);
    json_add_unsigned(object, "spare", request.spare);
    json_add_unsigned(object, "tasks_per_node", request.gpus_per_node);
    json_add_unsigned(object, "gpus_per_node", request.gpus_per_node);
    add_count(object, "segment", request.segment);
    add_count(object, "switches", request.switches);
    json_add_text(object, "parplan", keys);
    return 0;
}
