/* SPDX-License-Identifier: MIT */
#include "tests/support/gang_fixture.h"

#include <string.h>

#define FIXTURE_MAXIMUM_BYTES ((size_t)256 << 20)

static int open_catalogues(struct gang_fixture *fixture, const char *policy, struct error_info *err)
{
    fixture->gpus = gpu_catalogue_builtin(err);
    fixture->presets = fixture->gpus ? preset_catalogue_builtin(err) : NULL;
    fixture->frameworks = fixture->presets ? framework_catalogue_builtin(err) : NULL;
    fixture->models = fixture->frameworks ? model_catalogue_builtin(err) : NULL;
    fixture->efficiencies = fixture->models ? efficiency_catalogue_builtin(err) : NULL;
    if (!fixture->efficiencies)
        return -1;
    const char *text = arena_format(fixture->arena, "schema: parplan.config/1\n%s%s",
                                    policy ? "policy:\n" : "", policy ? policy : "");
    if (!text)
        return error_set_memory(err);
    fixture->config = admin_config_parse(text, strlen(text), "parplan.yaml", err);
    return fixture->config ? 0 : -1;
}

static struct cluster_topology *open_cluster(const struct gang_fixture *fixture,
                                             const char *cluster, struct error_info *err)
{
    if (strchr(cluster, '\n'))
        return cluster_topology_parse(cluster, strlen(cluster), "cluster.yaml", fixture->presets,
                                      fixture->gpus, err);
    return cluster_topology_from_preset(cluster, fixture->presets, fixture->gpus, err);
}

static int fill_problem(struct gang_fixture *fixture, uint32_t pods, uint32_t gpus_per_pod,
                        struct error_info *err)
{
    const struct cluster_topology *cluster = fixture->cluster;
    fixture->candidates =
        arena_allocate_array(fixture->arena, cluster->node_count, sizeof(*fixture->candidates));
    fixture->fixed = arena_allocate_array(fixture->arena, pods, sizeof(*fixture->fixed));
    if (!fixture->candidates || !fixture->fixed)
        return error_set_memory(err);
    for (uint32_t i = 0; i < cluster->node_count; i++)
        fixture->candidates[i] = (struct gang_candidate){
            i, cluster->kinds[cluster->nodes[i].kind]->gpu_count / gpus_per_pod};
    fixture->view.cluster = fixture->cluster;
    fixture->problem = (struct gang_problem){.key = "default/llama",
                                             .namespace = "default",
                                             .pods = pods,
                                             .gpus_per_pod = gpus_per_pod,
                                             .view = &fixture->view,
                                             .candidates = fixture->candidates,
                                             .candidate_count = cluster->node_count};
    fixture->sources = (struct gang_plan_sources){.config = fixture->config,
                                                  .gpus = fixture->gpus,
                                                  .frameworks = fixture->frameworks,
                                                  .models = fixture->models,
                                                  .efficiencies = fixture->efficiencies};
    return 0;
}

int gang_fixture_init(struct gang_fixture *fixture, const char *cluster, const char *policy,
                      uint32_t pods, uint32_t gpus_per_pod, struct error_info *err)
{
    *fixture = (struct gang_fixture){.arena = arena_create(FIXTURE_MAXIMUM_BYTES)};
    if (!fixture->arena)
        return error_set_memory(err);
    if (open_catalogues(fixture, policy, err) == 0 &&
        (fixture->cluster = open_cluster(fixture, cluster, err)) &&
        fill_problem(fixture, pods, gpus_per_pod, err) == 0)
        return 0;
    gang_fixture_done(fixture);
    return -1;
}

void gang_fixture_done(struct gang_fixture *fixture)
{
    cluster_topology_free(fixture->cluster);
    admin_config_free(fixture->config);
    efficiency_catalogue_free(fixture->efficiencies);
    model_catalogue_free(fixture->models);
    framework_catalogue_free(fixture->frameworks);
    preset_catalogue_free(fixture->presets);
    gpu_catalogue_free(fixture->gpus);
    arena_free(fixture->arena);
    *fixture = (struct gang_fixture){.arena = NULL};
}

/* Words between blanks; more than room are an error. */
static int split(struct gang_fixture *fixture, const char *text, const char **ret, size_t room,
                 size_t *ret_count, struct error_info *err)
{
    *ret_count = 0;
    for (const char *at = text + strspn(text, " "); *at; at += strspn(at, " ")) {
        size_t bytes = strcspn(at, " ");
        if (*ret_count == room)
            return error_set(err, "more than %zu words", room);
        ret[*ret_count] = arena_copy_bytes(fixture->arena, at, bytes);
        if (!ret[(*ret_count)++])
            return error_set_memory(err);
        at += bytes;
    }
    return 0;
}

int gang_fixture_annotate(struct gang_fixture *fixture, const char *annotations,
                          struct error_info *err)
{
    const char *words[GANG_FIXTURE_LABELS];
    size_t count;
    if (split(fixture, annotations, words, GANG_FIXTURE_LABELS, &count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        size_t key = strcspn(words[i], "=");
        fixture->labels[i].key =
            arena_format(fixture->arena, "parplan.io/%.*s", (int)key, words[i]);
        fixture->labels[i].value = words[i] + key + (words[i][key] == '=');
        if (!fixture->labels[i].key)
            return error_set_memory(err);
    }
    fixture->problem.inputs = (struct label_set){fixture->labels, count};
    return 0;
}

int gang_fixture_command(struct gang_fixture *fixture, const char *command, struct error_info *err)
{
    fixture->problem.arguments = fixture->arguments;
    return split(fixture, command, fixture->arguments, GANG_FIXTURE_ARGUMENTS,
                 &fixture->problem.argument_count, err);
}

int gang_fixture_fix(struct gang_fixture *fixture, const struct gang_plan *plan,
                     struct error_info *err)
{
    struct gang_problem *problem = &fixture->problem;
    for (uint32_t pod = 0; pod < problem->pods; pod++) {
        fixture->fixed[pod] = gang_fixture_node(fixture, plan->nodes[pod]);
        if (fixture->fixed[pod] == VIEW_NODE_NONE)
            return error_set(err, "no node is called %s", plan->nodes[pod]);
    }
    problem->fixed = fixture->fixed;
    problem->has_degrees = plan->has_degrees;
    problem->degrees = plan->degrees;
    problem->order = plan->order;
    return 0;
}

struct gang_plan *gang_fixture_plan(const struct gang_fixture *fixture, struct error_info *err)
{
    return gang_plan_create(&fixture->problem, &fixture->sources, err);
}

uint32_t gang_fixture_node(const struct gang_fixture *fixture, const char *name)
{
    for (uint32_t i = 0; i < fixture->cluster->node_count; i++)
        if (strcmp(fixture->cluster->nodes[i].name, name) == 0)
            return i;
    return VIEW_NODE_NONE;
}
