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
#define PROCESS_LINE_BYTES ((size_t)4096)

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

/* What only some sites have: without an answer it is not judged. */
static char *ask_more(struct doctor_facts *facts, const char *const *arguments)
{
    struct error_info why = {.kind = ERROR_NONE};
    char *text = ask(arguments, FABRIC_TEXT_MAXIMUM_BYTES, DOCTOR_ANSWER_SECONDS, &why);
    if (why.kind == ERROR_MEMORY)
        facts->nodes_error = why;
    return text;
}

static void ask_lists(struct doctor_facts *facts)
{
    static const char *const topology[] = {"scontrol", "show", "topology", NULL};
    static const char *const nodes[] = {"scontrol", "show", "node", "--oneliner", NULL};
    static const char *const partitions[] = {"scontrol", "show",       "partition",
                                             "--all",    "--oneliner", NULL};
    static const char *const associations[] = {"scontrol", "show", "assoc_mgr", "flags=assoc,qos",
                                               NULL};
    char accounting[DOCTOR_WORD_BYTES];
    facts->topology =
        ask(topology, FABRIC_TEXT_MAXIMUM_BYTES, DOCTOR_ANSWER_SECONDS, &facts->topology_error);
    facts->nodes =
        ask(nodes, FABRIC_TEXT_MAXIMUM_BYTES, DOCTOR_ANSWER_SECONDS, &facts->nodes_error);
    facts->partitions = ask_more(facts, partitions);
    slurm_setting_find(facts->settings, "AccountingStorageType", accounting, sizeof(accounting));
    if (strstr(accounting, "slurmdbd"))
        facts->associations = ask_more(facts, associations);
}

static void ask_controller(struct doctor_facts *facts)
{
    static const char *const config[] = {"scontrol", "show", "config", NULL};
    size_t bytes;
    facts->settings =
        ask(config, SETTINGS_BYTES, DOCTOR_CONTROLLER_SECONDS, &facts->controller_error);
    if (facts->settings) {
        ask_lists(facts);
        return;
    }
    struct error_info unread = {.kind = ERROR_NONE};
    facts->settings = text_file_read(facts->slurm_conf, SETTINGS_BYTES, &bytes, &unread);
    if (unread.kind == ERROR_MEMORY)
        facts->controller_error = unread;
}

/* slurmctld's own environment, where its pid file names a process here that is one. */
static void read_controller(struct doctor_facts *facts)
{
    char path[PATH_MAX];
    struct error_info why = {.kind = ERROR_NONE};
    uint64_t pid = 0;
    size_t bytes = 0;
    if (!slurm_setting_find(facts->settings, "SlurmctldPidFile", path, sizeof(path)))
        return;
    CLEANUP_MEMORY char *number = text_file_read(path, PROCESS_LINE_BYTES, &bytes, &why);
    if (number)
        number[strcspn(number, "\n")] = '\0';
    if (!number || parse_unsigned(number, 1, INT32_MAX, &pid, NULL) < 0)
        return;
    snprintf(path, sizeof(path), "/proc/%u/comm", (unsigned)pid);
    CLEANUP_MEMORY char *name = text_file_read(path, PROCESS_LINE_BYTES, &bytes, &why);
    if (!name || strcmp(name, "slurmctld\n") != 0)
        return;
    facts->controller_pid = (unsigned)pid;
    snprintf(path, sizeof(path), "/proc/%u/environ", (unsigned)pid);
    facts->environment = text_file_read(path, SETTINGS_BYTES, &facts->environment_bytes, &why);
    if (why.kind == ERROR_MEMORY)
        facts->nodes_error = why;
}

/* srun goes by its own slurm.conf, which may be another one than slurmctld's. An included file of
 * it is not read. */
static bool find_in_own_file(const struct doctor_facts *facts, char ret[PATH_MAX])
{
    size_t bytes;
    CLEANUP_MEMORY char *own = text_file_read(facts->slurm_conf, SETTINGS_BYTES, &bytes, NULL);
    return slurm_setting_find(own, "PlugStackConfig", ret, PATH_MAX);
}

/* As Slurm: PlugStackConfig, else beside slurm.conf. */
static void name_plugstack(struct doctor_facts *facts, const char *given)
{
    char *path = facts->plugstack_path;
    if (given) {
        snprintf(path, PATH_MAX, "%s", given);
    } else if (find_in_own_file(facts, path)) {
        return;
    } else if (!slurm_setting_find(facts->settings, "PlugStackConfig", path, PATH_MAX)) {
        const char *slash = strrchr(facts->slurm_conf, '/');
        int folder = slash ? (int)(slash - facts->slurm_conf + 1) : 0;
        snprintf(path, PATH_MAX, "%.*splugstack.conf", folder, facts->slurm_conf);
    }
}

/* A line that only means our plugin is not loaded; where the files are, it says all the same. */
static void read_entry(struct doctor_facts *facts)
{
    char owner[16];
    uint64_t number;
    size_t index = plugstack_find(facts->stack, DOCTOR_PLUGIN, 0);
    if (index < facts->stack->count)
        facts->entry = &facts->stack->entries[index];
    const struct plugstack_entry *entry =
        facts->entry ? facts->entry : plugstack_find_near(facts->stack, DOCTOR_PLUGIN);
    if (!entry)
        return;
    plugstack_argument(entry, "config", facts->config_path, sizeof(facts->config_path));
    plugstack_argument(entry, "cache", facts->cache_path, sizeof(facts->cache_path));
    if (plugstack_argument(entry, "owner", owner, sizeof(owner)) &&
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
    read_controller(ret);
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
    memory_free(facts->partitions);
    memory_free(facts->associations);
    memory_free(facts->environment);
    plugstack_free(facts->stack);
    *facts = (struct doctor_facts){.slurm_conf = NULL};
}

uint32_t doctor_local_version(const struct doctor_facts *facts)
{
    return facts->client_version ? slurm_version_parse(facts->client_version) : 0;
}

uint32_t doctor_controller_version(const struct doctor_facts *facts)
{
    char word[DOCTOR_WORD_BYTES];
    if (facts->controller_error.kind != ERROR_NONE ||
        !slurm_setting_find(facts->settings, "SLURM_VERSION", word, sizeof(word)))
        return 0;
    return slurm_version_parse(word);
}

const char *doctor_controller_variable(const struct doctor_facts *facts, const char *name)
{
    size_t length = strlen(name);
    for (size_t at = 0; at < facts->environment_bytes; at += strlen(&facts->environment[at]) + 1)
        if (strncmp(&facts->environment[at], name, length) == 0 &&
            facts->environment[at + length] == '=')
            return &facts->environment[at + length + 1];
    return NULL;
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
