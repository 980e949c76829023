/* SPDX-License-Identifier: MIT */
#include "spank_plugin/node/step_wire_facts.h"
#include "mapping/rails/node_rails.h"
#include <stdio.h>
#include <string.h>

static const char *model_of(const struct node_topology *node)
{
    const char *model = node->gpu_count > 0 ? node->gpus[0].model : NULL;
    return model ? model : "";
}

/* Nodes of several kinds: the fewest rails, and no model where they differ. */
static void describe_nodes(const struct cluster_topology *cluster, struct wire_facts *ret)
{
    ret->rails = node_rails_count(cluster->kinds[0]);
    snprintf(ret->gpu, sizeof(ret->gpu), "%s", model_of(cluster->kinds[0]));
    for (size_t i = 1; i < cluster->kind_count; i++) {
        unsigned rails = node_rails_count(cluster->kinds[i]);
        if (rails < ret->rails)
            ret->rails = rails;
        if (strcmp(model_of(cluster->kinds[i]), ret->gpu) != 0)
            ret->gpu[0] = '\0';
    }
}

/* Megatron's kernels of TP and CP start in the order of the host; Megatron-FSDP refuses that. */
static unsigned device_connections(const struct step_plan *plan, const char *gpu)
{
    const struct job_value *framework = &plan->job->values[JOB_FRAMEWORK];
    const struct plan *made = &plan->placement.plan;
    if (!framework->given || made->degrees.tp * made->degrees.cp == 1 ||
        (made->sharding != SHARDING_NONE && made->sharding != SHARDING_ZERO1))
        return 0;
    const struct framework_profile *profile =
        framework_catalogue_find(plan->frameworks, framework->text, NULL);
    const struct gpu_model *model = gpu_catalogue_find(plan->gpus, gpu, 0);
    if (!profile || !model)
        return 0;
    bool is_blackwell = strncmp(model->architecture, "blackwell", strlen("blackwell")) == 0;
    return (unsigned)(is_blackwell ? profile->blackwell_connections : profile->device_connections);
}

static bool ranks_are_slurms(const struct wire_plan *wire, const struct step_facts *facts)
{
    return facts->block_nodes && memcmp(wire->block_nodes, facts->block_nodes,
                                        wire->node_count * sizeof(*wire->block_nodes)) == 0;
}

void step_wire_facts(const struct step_plan *plan, const struct step_facts *facts,
                     struct wire_facts *ret)
{
    *ret = (struct wire_facts){.slurm_ranks = ranks_are_slurms(plan->wire, facts)};
    if (plan->cluster->kind_count > 0)
        describe_nodes(plan->cluster, ret);
    ret->device_connections = device_connections(plan, ret->gpu);
}
