/* SPDX-License-Identifier: MIT */
/* The documents in docs/ against the program: the table of keys, the options, and every
 * example file. Runs in the project's root, as all tests do. */
#include "base/text_file.h"
#include "cli/command_options.h"
#include "tests/support/unit_test.h"
#include "topology/cluster_topology.h"
#include "topology/fabric_readers/fabric_file.h"
#include "topology/node_evidence.h"
#include "topology/node_readers/node_file.h"
#include "topology/preset_catalogue.h"
#include "workload/admin_config.h"
#include "workload/job/role_list.h"
#include "workload/job_spec.h"
#include "workload/model_spec.h"

#include <stdio.h>
#include <string.h>

static char *read_document(const char *path)
{
    struct error_info err = {.kind = ERROR_NONE};
    size_t bytes;
    char *text = text_file_read(path, 1 << 20, &bytes, &err);
    if (!text && err.kind == ERROR_INPUT)
        fail_msg("%s", err.text);
    return text;
}

static void add_key_row(enum job_key id, struct text_buffer *out)
{
    const struct job_key_info *key = job_key_info(id);
    text_buffer_add(out, "| `%s` | %s", key->name, job_key_help(id));
    for (size_t i = 0; key->type == JOB_TYPE_CHOICE && key->choices[i]; i++)
        text_buffer_add(out, "%s`%s`", i > 0 ? ", " : ": ", key->choices[i]);
    if (key->type == JOB_TYPE_UNSIGNED || key->type == JOB_TYPE_FACTOR)
        text_buffer_add(out, ", %u to %u", key->minimum, key->maximum);
    text_buffer_add_text(out, " |\n");
}

static void guide_has_every_key(void **state)
{
    (void)state;
    CLEANUP_MEMORY char *guide = read_document("docs/user-guide.md");
    CLEANUP_MEMORY char *manual = read_document("docs/man/parplan.1");
    for (unsigned i = 0; guide && manual && i < JOB_KEY_COUNT; i++) {
        const struct job_key_info *key = job_key_info((enum job_key)i);
        CLEANUP_DONE(text_buffer) struct text_buffer row;
        char item[64];
        text_buffer_init(&row, 4096);
        add_key_row((enum job_key)i, &row);
        snprintf(item, sizeof(item), ".It Cm %s\n", key->name);
        if (!strstr(guide, text_buffer_text(&row)))
            fail_msg("docs/user-guide.md lacks the row: %s", text_buffer_text(&row));
        if (!strstr(manual, item))
            fail_msg("docs/man/parplan.1 lacks: %s", item);
    }
}

static void manuals_have_every_option(void **state)
{
    (void)state;
    static const char *const names[COMMAND_COUNT] = {
        [COMMAND_TOPOLOGY] = "topology",
        [COMMAND_PLAN] = "plan",
        [COMMAND_CHECK] = "check",
        [COMMAND_MAP] = "map",
        [COMMAND_ENV] = "env",
        [COMMAND_MODELS] = "models",
        [COMMAND_GPUS] = "gpus",
        [COMMAND_COLLECT] = "topology",
        [COMMAND_VALIDATE] = "validate",
        [COMMAND_MFU] = "mfu",
        [COMMAND_ROLES] = "roles",
        [COMMAND_SWEEP] = "sweep",
        [COMMAND_CALIBRATE] = "calibrate",
        [COMMAND_DOCTOR] = "doctor",
        [COMMAND_FLAGS] = "flags",
        [COMMAND_POLICY] = "policy",
    };
    CLEANUP_MEMORY char *common = read_document("docs/man/parplan.1");
    for (unsigned id = 0; common && id < COMMAND_COUNT; id++) {
        char path[64];
        snprintf(path, sizeof(path), "docs/man/parplan-%s.1", names[id]);
        CLEANUP_MEMORY char *manual = read_document(path);
        const char *option;
        for (size_t i = 0; manual && (option = command_option_name(i)); i++) {
            char flag[64];
            snprintf(flag, sizeof(flag), "Fl -%s", option);
            if (command_option_used_by(i, (enum command_id)id) && !strstr(manual, flag) &&
                !strstr(common, flag))
                fail_msg("neither %s nor parplan.1 says what --%s is", path, option);
        }
    }
}

typedef int (*load_fn)(const char *text, size_t bytes, struct error_info *err);

static int load_cluster(const char *text, size_t bytes, struct error_info *err)
{
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = gpu_catalogue_builtin(err);
    CLEANUP(preset_catalogue) struct preset_catalogue *presets = preset_catalogue_builtin(err);
    if (!gpus || !presets)
        return -1;
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster =
        cluster_topology_parse(text, bytes, "cluster.yaml", presets, gpus, err);
    return cluster ? 0 : -1;
}

static int load_job(const char *text, size_t bytes, struct error_info *err)
{
    CLEANUP(job_spec) struct job_spec *job = job_spec_create(err);
    return job ? job_spec_parse_yaml(job, text, bytes, "job.yaml", err) : -1;
}

static int load_config(const char *text, size_t bytes, struct error_info *err)
{
    CLEANUP(admin_config)
    struct admin_config *config = admin_config_parse(text, bytes, "parplan.yaml", err);
    return config ? 0 : -1;
}

static int load_model(const char *text, size_t bytes, struct error_info *err)
{
    CLEANUP(model_spec)
    struct model_spec *model = model_spec_parse_yaml(text, bytes, "model.yaml", err);
    return model ? 0 : -1;
}

static int load_node(const char *text, size_t bytes, struct error_info *err)
{
    CLEANUP(node_evidence)
    struct node_evidence *evidence = node_file_parse(text, bytes, "node.yaml", err);
    return evidence ? 0 : -1;
}

static int load_fabric(const char *text, size_t bytes, struct error_info *err)
{
    CLEANUP(fabric) struct fabric *fabric = fabric_file_parse(text, bytes, "fabric.yaml", err);
    return fabric ? 0 : -1;
}

static int load_roles(const char *text, size_t bytes, struct error_info *err)
{
    CLEANUP(role_list) struct role_list *list = role_list_parse(text, bytes, "roles.yaml", err);
    return list ? 0 : -1;
}

static const struct {
    const char *schema;
    load_fn load;
} loaders[] = {
    {"schema: parplan.cluster/1\n", load_cluster}, {"schema: parplan.job/1\n", load_job},
    {"schema: parplan.config/1\n", load_config},   {"schema: parplan.model/1\n", load_model},
    {"schema: parplan.node/1\n", load_node},       {"schema: parplan.fabric/1\n", load_fabric},
    {"schema: parplan.roles/1\n", load_roles},
};

static void load_example(const char *text, size_t bytes)
{
    struct error_info err = {.kind = ERROR_NONE};
    for (size_t i = 0; i < COUNT_OF(loaders); i++) {
        if (strncmp(text, loaders[i].schema, strlen(loaders[i].schema)) != 0)
            continue;
        if (loaders[i].load(text, bytes, &err) < 0 && err.kind != ERROR_MEMORY)
            fail_msg("an example of docs/files.md is refused: %s\n%.*s", err.text, (int)bytes,
                     text);
        return;
    }
    fail_msg("an example of docs/files.md has a schema that this test does not know:\n%.*s",
             (int)bytes, text);
}

static void examples_are_valid(void **state)
{
    (void)state;
    static const char fence[] = "```yaml\n";
    unsigned count = 0;
    CLEANUP_MEMORY char *document = read_document("docs/files.md");
    for (const char *at = document; at && (at = strstr(at, fence)); count++) {
        at += strlen(fence);
        const char *end = strstr(at, "```\n");
        assert_non_null(end);
        load_example(at, (size_t)(end - at));
        at = end + 4;
    }
    assert_true(!document || count >= 5);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(guide_has_every_key),
    cmocka_unit_test(manuals_have_every_option),
    cmocka_unit_test(examples_are_valid),
};

int main(void) { return unit_test_main("cli/documents", tests, COUNT_OF(tests)); }
