/* SPDX-License-Identifier: MIT */
#include "tests/support/planner_fixture.h"

#include "planner/explanation/plan_explain.h"

int planner_fixture_init(struct planner_fixture *fixture, const char *model, const char *cluster,
                         const char *keys, struct error_info *err)
{
    *fixture = (struct planner_fixture){.policy = policy_default};
    fixture->gpus = gpu_catalogue_builtin(err);
    fixture->presets = fixture->gpus ? preset_catalogue_builtin(err) : NULL;
    fixture->frameworks = fixture->presets ? framework_catalogue_builtin(err) : NULL;
    fixture->models = fixture->frameworks ? model_catalogue_builtin(err) : NULL;
    fixture->efficiencies = fixture->models ? efficiency_catalogue_builtin(err) : NULL;
    if (!fixture->efficiencies)
        return -1;
    fixture->cluster = cluster_topology_from_preset(cluster, fixture->presets, fixture->gpus, err);
    fixture->job = fixture->cluster ? job_spec_create(err) : NULL;
    if (!fixture->job)
        return -1;
    if (keys && job_spec_parse_option(fixture->job, keys, "test", err) < 0)
        return -1;
    const struct model_spec *found = model_catalogue_find(fixture->models, model, err);
    if (!found)
        return -1;
    fixture->request = (struct plan_request){
        .model = found,
        .cluster = fixture->cluster,
        .gpus = fixture->gpus,
        .frameworks = fixture->frameworks,
        .job = fixture->job,
        .policy = &fixture->policy,
        .efficiencies = fixture->efficiencies,
        .explain = plan_explain,
    };
    return 0;
}

void planner_fixture_done(struct planner_fixture *fixture)
{
    job_spec_free(fixture->job);
    cluster_topology_free(fixture->cluster);
    efficiency_catalogue_free(fixture->efficiencies);
    model_catalogue_free(fixture->models);
    framework_catalogue_free(fixture->frameworks);
    preset_catalogue_free(fixture->presets);
    gpu_catalogue_free(fixture->gpus);
}
