/* SPDX-License-Identifier: MIT */
#include "cli/inputs/topology_source.h"
#include "topology/node_readers/evidence_draft.h"
#include "topology/node_readers/live_node.h"

#define LIVE_NAME "this machine"
#define MAXIMUM_EVIDENCE (TOPOLOGY_MAXIMUM_PATHS * TOPOLOGY_INPUT_MAXIMUM_EVIDENCE + 1u)

/* Evidence of all paths, and what names the GPUs. */
struct gathered {
    struct topology_input inputs[TOPOLOGY_MAXIMUM_PATHS];
    size_t input_count;
    struct node_evidence *named;
    const struct node_evidence *evidence[MAXIMUM_EVIDENCE];
    size_t count;
};

static void gathered_done(struct gathered *gathered)
{
    for (size_t i = 0; i < gathered->input_count; i++)
        topology_input_done(&gathered->inputs[i]);
    node_evidence_free(gathered->named);
}

DEFINE_CLEANUP_DONE(gathered);

/* `--gpu NAME`: as many as the sources have, by position; what they name themselves stands. */
static struct node_evidence *name_gpus(const char *gpu, const struct gathered *gathered,
                                       const struct catalogues *catalogues, struct error_info *err)
{
    unsigned count = 0;
    for (size_t i = 0; i < gathered->count; i++)
        if (gathered->evidence[i]->gpu_count > count)
            count = gathered->evidence[i]->gpu_count;
    const struct gpu_model *model = gpu_catalogue_find(catalogues->gpus, gpu, 0);
    if (!model)
        return error_null(error_set(err,
                                    "--gpu: the GPU catalogue has no %s; `parplan gpus` "
                                    "lists the names",
                                    gpu));
    CLEANUP(evidence_draft)
    struct evidence_draft *draft = evidence_draft_create(EVIDENCE_PCI, "--gpu", err);
    for (unsigned i = 0; draft && i < count; i++) {
        struct evidence_gpu *added = evidence_draft_add_gpu(draft, err);
        if (!added)
            return NULL;
        added->model_text = evidence_draft_copy(draft, model->name);
    }
    return draft ? evidence_draft_finish(draft, err) : NULL;
}

/* What a file of ours says, else the first path. */
static const char *name_node(const struct gathered *gathered,
                             const struct topology_request *request)
{
    for (size_t i = 0; i < gathered->count; i++)
        if (gathered->evidence[i]->node_name)
            return gathered->evidence[i]->node_name;
    return request->path_count > 0 ? request->paths[0] : LIVE_NAME;
}

static int merge(struct topology_source *source, struct gathered *gathered,
                 const struct topology_request *request, const struct catalogues *catalogues,
                 struct error_info *err)
{
    for (size_t i = 0; i < gathered->input_count; i++)
        for (unsigned e = 0; e < gathered->inputs[i].evidence_count; e++)
            gathered->evidence[gathered->count++] = gathered->inputs[i].evidence[e];
    if (request->gpu) {
        gathered->named = name_gpus(request->gpu, gathered, catalogues, err);
        if (!gathered->named)
            return -1;
        gathered->evidence[gathered->count++] = gathered->named;
    }
    source->node = node_topology_merge(name_node(gathered, request), gathered->evidence,
                                       gathered->count, catalogues->gpus, err);
    return source->node ? 0 : -1;
}

static int take_one(struct topology_source *source, struct topology_input *input,
                    const struct topology_request *request, struct error_info *err)
{
    if (request->path_count > 1)
        return error_set(err,
                         "%s is no node; several sources are merged where all describe one "
                         "node",
                         request->paths[0]);
    if (request->gpu)
        return error_set(err, "--gpu names the GPUs of a node; %s is none", request->paths[0]);
    source->fabric = move_pointer(input->fabric);
    source->cluster = move_pointer(input->cluster);
    return 0;
}

static int open_paths(struct gathered *gathered, const struct topology_request *request,
                      const struct catalogues *catalogues, struct error_info *err)
{
    for (size_t i = 0; i < request->path_count; i++) {
        struct topology_input *input = &gathered->inputs[gathered->input_count];
        if (topology_input_open(input, request->paths[i], &request->hints, catalogues, err) < 0)
            return -1;
        gathered->input_count++;
        if (i > 0 && input->evidence_count == 0)
            return error_set(err,
                             "%s is no node; several sources are merged where all describe "
                             "one node",
                             request->paths[i]);
    }
    return 0;
}

_Static_assert(LIVE_NODE_MAXIMUM_EVIDENCE <= TOPOLOGY_INPUT_MAXIMUM_EVIDENCE,
               "the machine is an input like any other");

static int open_machine(struct gathered *gathered, const struct topology_request *request,
                        struct error_info *err)
{
    struct live_node live;
    struct topology_input *input = &gathered->inputs[0];
    if (live_node_open(&live, request->nvml_library, request->sysfs_root, err) < 0)
        return -1;
    for (; input->evidence_count < live.evidence_count; input->evidence_count++)
        input->evidence[input->evidence_count] = live.evidence[input->evidence_count];
    gathered->input_count = 1;
    return 0;
}

int topology_source_open(struct topology_source *source, const struct topology_request *request,
                         const struct catalogues *catalogues, struct error_info *err)
{
    CLEANUP_DONE(gathered) struct gathered gathered = {.count = 0};
    *source = (struct topology_source){.node = NULL};
    if (request->path_count > TOPOLOGY_MAXIMUM_PATHS)
        return error_set(err, "%zu sources of one node; at most %u are possible",
                         request->path_count, TOPOLOGY_MAXIMUM_PATHS);
    if (request->path_count > 0 ? open_paths(&gathered, request, catalogues, err) < 0
                                : open_machine(&gathered, request, err) < 0)
        return -1;
    if (gathered.inputs[0].evidence_count == 0)
        return take_one(source, &gathered.inputs[0], request, err);
    return merge(source, &gathered, request, catalogues, err);
}

void topology_source_done(struct topology_source *source)
{
    node_topology_free(source->node);
    fabric_free(source->fabric);
    cluster_topology_free(source->cluster);
    *source = (struct topology_source){.node = NULL};
}
