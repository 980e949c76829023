/* SPDX-License-Identifier: MIT */
#include "cli/doctor/doctor_facts.h"
#include "base/parse_number.h"
#include "base/text_file.h"
#include "cli/inputs/child_output.h"
#include "topology/fabric.h"
#include "topology/node_cache.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_SLURM_CONF "/etc/slurm/slurm.conf"
#define SETTINGS_BYTES ((size_t)4 << 20)
#define VERSION_OUTPUT_BYTES ((size_t)4096)

/* Where PluginDir is not told: Debian's, then upstream's packages and its default. */
static const char usual_folders[] =
    "/usr/lib/x86_64-linux-gnu/slurm-wlm:/usr/lib/aarch64-linux-gnu/slurm-wlm:/usr/lib64/slurm:"
    "/usr/lib/slurm:/usr/local/lib/slurm";

static char *ask(const char *const *arguments, size_t bytes, unsigned seconds,
                 struct error_info *err)
{
    size_t length;
    return child_output_read(arguments, bytes, seconds, &length, err);
}

static void ask_controller(struct doctor_facts *facts)
{
    static const char *const config[] = {"scontrol", "show", "config", NULL};
    static const char *const topology[] = {"scontrol", "show", "topology", NULL};
    static const char *const nodes[] = {"scontrol", "show", "node", "--oneliner", NULL};
    size_t bytes;
    facts->settings =
        ask(config, SETTINGS_BYTES, DOCTOR_CONTROLLER_SECONDS, &facts->controller_error);
    if (!facts->settings) {
        struct error_info unread = {.kind = ERROR_NONE};
        facts->settings = text_file_read(facts->slurm_conf, SETTINGS_BYTES, &bytes, &unread);
        if (unread.kind == ERROR_MEMORY)
            facts->controller_error = unread;
        return;
    }
    facts->topology =
        ask(topology, FABRIC_TEXT_MAXIMUM_BYTES, DOCTOR_ANSWER_SECONDS, &facts->topology_error);
    facts->nodes =
        ask(nodes, FABRIC_TEXT_MAXIMUM_BYTES, DOCTOR_ANSWER_SECONDS, &facts->nodes_error);
}

/* As Slurm: PlugStackConfig, else beside slurm.conf. */
static void name_plugstack(struct doctor_facts *facts, const char *given)
{
    char *path = facts->plugstack_path;
    if (given) {
        snprintf(path, PATH_MAX, "%s", given);
    } else if (!slurm_setting_find(facts->settings, "PlugStackConfig", path, PATH_MAX)) {
        const char *slash = strrchr(facts->slurm_conf, '/');
        int folder = slash ? (int)(slash - facts->slurm_conf + 1) : 0;
        snprintf(path, PATH_MAX, "%.*splugstack.conf", folder, facts->slurm_conf);
    }
}

static void read_entry(struct doctor_facts *facts)
{
    char owner[16];
    uint64_t number;
    size_t index = plugstack_find(facts->stack, DOCTOR_PLUGIN, 0);
    if (index == facts->stack->count)
        return;
    facts->entry = &facts->stack->entries[index];
    plugstack_argument(facts->entry, "config", facts->config_path, sizeof(facts->config_path));
    plugstack_argument(facts->entry, "cache", facts->cache_path, sizeof(facts->cache_path));
    if (plugstack_argument(facts->entry, "owner", owner, sizeof(owner)) &&
        parse_unsigned(owner, 0, UINT32_MAX - 1, &number, NULL) == 0)
        facts->owner = (unsigned)number;
}

static void read_host(struct doctor_facts *facts)
{
    const char *name = getenv("SLURMD_NODENAME");
    if (name)
        snprintf(facts->host, sizeof(facts->host), "%s", name);
    else if (gethostname(facts->host, sizeof(facts->host) - 1) < 0)
        facts->host[0] = '\0';
}

static bool out_of_memory(const struct doctor_facts *facts)
{
    return facts->client_error.kind == ERROR_MEMORY ||
           facts->controller_error.kind == ERROR_MEMORY ||
           facts->topology_error.kind == ERROR_MEMORY || facts->nodes_error.kind == ERROR_MEMORY ||
           facts->stack_error.kind == ERROR_MEMORY;
}

int doctor_facts_read(const struct doctor_request *request, struct doctor_facts *ret,
                      struct error_info *err)
{
    static const char *const version[] = {"scontrol", "-V", NULL};
    const char *named = getenv("SLURM_CONF");
    *ret = (struct doctor_facts){.slurm_conf = named ? named : DEFAULT_SLURM_CONF};
    if (request->slurm_conf) {
        ret->slurm_conf = request->slurm_conf;
        if (setenv("SLURM_CONF", request->slurm_conf, 1) < 0)
            return error_set_memory(err);
    }
    read_host(ret);
    ret->client_version =
        ask(version, VERSION_OUTPUT_BYTES, DOCTOR_LOCAL_SECONDS, &ret->client_error);
    ask_controller(ret);
    name_plugstack(ret, request->plugstack);
    ret->stack = plugstack_load(ret->plugstack_path, &ret->stack_error);
    if (ret->stack)
        read_entry(ret);
    if (request->config)
        snprintf(ret->config_path, sizeof(ret->config_path), "%s", request->config);
    if (!ret->cache_path[0])
        snprintf(ret->cache_path, sizeof(ret->cache_path), "%s", NODE_CACHE_PATH);
    if (!out_of_memory(ret))
        return 0;
    doctor_facts_done(ret);
    return error_set_memory(err);
}

void doctor_facts_done(struct doctor_facts *facts)
{
    memory_free(facts->client_version);
    memory_free(facts->settings);
    memory_free(facts->topology);
    memory_free(facts->nodes);
    plugstack_free(facts->stack);
    *facts = (struct doctor_facts){.slurm_conf = NULL};
}

bool doctor_find_plugin(const struct doctor_facts *facts, const char *name, char ret[PATH_MAX])
{
    char told[DOCTOR_WORD_BYTES];
    const char *folders = usual_folders;
    if (strchr(name, '/')) {
        int length = snprintf(ret, PATH_MAX, "%s", name);
        return length > 0 && length < PATH_MAX && access(ret, F_OK) == 0;
    }
    if (slurm_setting_find(facts->settings, "PluginDir", told, sizeof(told)))
        folders = told;
    for (size_t size; *folders; folders += size, folders += *folders == ':') {
        size = strcspn(folders, ":");
        int length = snprintf(ret, PATH_MAX, "%.*s/%s", (int)size, folders, name);
        if (length > 0 && length < PATH_MAX && access(ret, F_OK) == 0)
            return true;
    }
    return false;
}
