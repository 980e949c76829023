/* SPDX-License-Identifier: MIT */
#include "base/parse_number.h"
#include "base/text_file.h"
#include "base/yaml_document.h"
#include "k8s_extender/api/api_client.h"
#include "k8s_extender/api/config/base64.h"
#include "k8s_extender/api/config/object_name.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define CONFIG_MAXIMUM_BYTES ((size_t)16 << 20)
#define NAME_MAXIMUM_BYTES 253u
#define USER_AGENT "parplan/" PARPLAN_VERSION
#define DEFAULT_NAMESPACE "default"
#define DEFAULT_PORT "443"

static struct api_config *config_create(struct error_info *err)
{
    CLEANUP(arena) struct arena *arena = arena_create(CONFIG_MAXIMUM_BYTES);
    struct api_config *config = arena ? arena_allocate(arena, sizeof(*config)) : NULL;
    if (!config)
        return error_null(error_set_memory(err));
    config->user_agent = USER_AGENT;
    config->namespace = DEFAULT_NAMESPACE;
    config->arena = move_pointer(arena);
    return config;
}

void api_config_free(struct api_config *config)
{
    if (!config)
        return;
    for (unsigned i = 0; i < config->file_count; i++)
        close(config->files[i]);
    arena_free(config->arena);
}

static int copy_text(struct api_config *config, const char **target, const char *text,
                     struct error_info *err)
{
    *target = arena_copy_text(config->arena, text);
    return *target ? 0 : error_set_memory(err);
}

static int join_path(struct api_config *config, const char **target, const char *folder,
                     const char *name, struct error_info *err)
{
    *target = arena_format(config->arena, "%s/%s", folder, name);
    return *target ? 0 : error_set_memory(err);
}

/* --- in a pod ----------------------------------------------------------------------- */

static int set_pod_server(struct api_config *config, const char *host, const char *port,
                          struct error_info *err)
{
    struct error_info why = {.kind = ERROR_NONE};
    uint64_t number;
    if (!host || !host[0])
        return error_set(err, "KUBERNETES_SERVICE_HOST is not set: this is no pod of a cluster; "
                              "give a kubeconfig file (--kubeconfig)");
    if (strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.:") !=
        strlen(host))
        return error_set(err, "KUBERNETES_SERVICE_HOST: '%s' is no host or address", host);
    if (!port || !port[0])
        port = DEFAULT_PORT;
    if (parse_unsigned(port, 1, UINT16_MAX, &number, &why) < 0)
        return error_set(err, "KUBERNETES_SERVICE_PORT: %s", why.text);
    bool is_ipv6 = strchr(host, ':') != NULL;
    config->server = arena_format(config->arena, "https://%s%s%s:%s", is_ipv6 ? "[" : "", host,
                                  is_ipv6 ? "]" : "", port);
    return config->server ? 0 : error_set_memory(err);
}

/* A pod's own namespace; without the file (a projected token alone) it is the default one. */
static int read_namespace(struct api_config *config, const char *folder, struct error_info *err)
{
    const char *path;
    if (join_path(config, &path, folder, "namespace", err) < 0)
        return -1;
    size_t bytes;
    CLEANUP_MEMORY char *text = text_file_read(path, NAME_MAXIMUM_BYTES + 2, &bytes, NULL);
    if (!text)
        return 0;
    text[strcspn(text, " \t\r\n")] = '\0';
    return text[0] ? copy_text(config, &config->namespace, text, err) : 0;
}

struct api_config *api_config_in_cluster(const char *folder, const char *(*get)(const char *name),
                                         struct error_info *err)
{
    CLEANUP(api_config) struct api_config *config = config_create(err);
    if (!config ||
        set_pod_server(config, get("KUBERNETES_SERVICE_HOST"), get("KUBERNETES_SERVICE_PORT"),
                       err) < 0 ||
        join_path(config, &config->token_file, folder, "token", err) < 0 ||
        join_path(config, &config->ca_file, folder, "ca.crt", err) < 0 ||
        read_namespace(config, folder, err) < 0)
        return NULL;
    return move_pointer(config);
}

/* --- a kubeconfig file --------------------------------------------------------------- */

struct refused_key {
    const char *section, *key, *remedy;
};

static const struct refused_key refused_keys[] = {
    {"user", "exec", "programs that make credentials are not run; use a token or a certificate"},
    {"user", "auth-provider", "plugins are not run; use a token or a certificate"},
    {"user", "username", "API servers take no passwords since 1.19; use a token or a certificate"},
    {"user", "as", "impersonation is not supported; use the identity's own token"},
    {"cluster", "proxy-url", "proxies are not supported; name a server that can be reached"},
    {"cluster", "tls-server-name", "not supported; name the server as its certificate does"},
};

/* A file by name, or its content as base64 beside it, which comes first. */
struct file_key {
    const char *section, *key, *data_key, *file_name;
    size_t offset;
    enum api_pem pem; /* of the content */
};

static const struct file_key file_keys[] = {
    {"cluster", "certificate-authority", "certificate-authority-data", "ca.crt",
     offsetof(struct api_config, ca_file), API_PEM_CERTIFICATE},
    {"user", "client-certificate", "client-certificate-data", "client.crt",
     offsetof(struct api_config, certificate_file), API_PEM_CERTIFICATE},
    {"user", "client-key", "client-key-data", "client.key", offsetof(struct api_config, key_file),
     API_PEM_KEY},
    {"user", "tokenFile", NULL, NULL, offsetof(struct api_config, token_file), API_PEM_CERTIFICATE},
};

struct kubeconfig {
    struct api_config *config;
    const char *path;
    const char *folder; /* for *-data */
    const struct yaml_node *root;
    struct error_info *err;
};

/* The scalar's text; NULL: absent or empty. A mapping or list in its place is an error. */
static int get_text(const struct kubeconfig *file, const struct yaml_node *mapping, const char *key,
                    const char **ret)
{
    const struct yaml_node *node = yaml_node_get(mapping, key);
    *ret = NULL;
    if (!node)
        return 0;
    if (node->kind != YAML_SCALAR)
        return yaml_node_error(node, file->err, "a text is expected");
    if (node->text[0] && (node->quoted || strcmp(node->text, "null") != 0))
        *ret = node->text;
    return 0;
}

static int error_unnamed(const struct kubeconfig *file, const char *list, const char *name)
{
    return error_set(file->err,
                     "%s: %s: nothing is called '%.100s'; `kubectl config view` shows them",
                     file->path, list, name);
}

/* The entry {name: NAME, <section>: {…}} of a list; its section. */
static const struct yaml_node *find_section(const struct kubeconfig *file, const char *list,
                                            const char *name, const char *section)
{
    const struct yaml_node *entries = yaml_node_get(file->root, list);
    if (!entries || entries->kind != YAML_SEQUENCE)
        return error_null(error_unnamed(file, list, name));
    for (size_t i = 0; i < entries->child_count; i++) {
        const struct yaml_node *entry = entries->children[i];
        const struct yaml_node *called =
            entry->kind == YAML_MAPPING ? yaml_node_get(entry, "name") : NULL;
        if (!called || called->kind != YAML_SCALAR || strcmp(called->text, name) != 0)
            continue;
        const struct yaml_node *found = yaml_node_get(entry, section);
        if (!found || found->kind != YAML_MAPPING)
            return error_null(yaml_node_error(entry, file->err, "it has no %s", section));
        return found;
    }
    return error_null(error_unnamed(file, list, name));
}

static int refuse_keys(const struct kubeconfig *file, const struct yaml_node *section,
                       const char *name)
{
    for (size_t i = 0; i < COUNT_OF(refused_keys); i++) {
        const struct refused_key *refused = &refused_keys[i];
        const struct yaml_node *node =
            strcmp(refused->section, name) == 0 ? yaml_node_get(section, refused->key) : NULL;
        if (node && !yaml_node_is_empty(node))
            return yaml_node_error(node, file->err, "%s", refused->remedy);
    }
    return 0;
}

/* As kubectl has it: relative to the file that names it. */
static int set_relative(const struct kubeconfig *file, const char **target, const char *path)
{
    const char *slash = strrchr(file->path, '/');
    if (path[0] == '/' || !slash)
        return copy_text(file->config, target, path, file->err);
    *target =
        arena_format(file->config->arena, "%.*s/%s", (int)(slash - file->path), file->path, path);
    return *target ? 0 : error_set_memory(file->err);
}

/* libcurl's GnuTLS takes certificates by file name alone. */
static int keep_in_memory(const struct kubeconfig *file, const struct file_key *key,
                          const char *data, size_t bytes, const char **target)
{
    struct api_config *config = file->config;
    CLEANUP_FD int fd = memfd_create(key->file_name, MFD_CLOEXEC);
    if (fd < 0 || config->file_count == API_CONFIG_FILES)
        return error_set_system(file->err, "%s: %s", file->path, error_errno_text(errno));
    for (size_t done = 0; done < bytes;) {
        ssize_t written = write(fd, data + done, bytes - done);
        if (written < 0)
            return error_set_system(file->err, "%s: %s", file->path, error_errno_text(errno));
        done += (size_t)written;
    }
    *target = arena_format(config->arena, "/proc/self/fd/%d", fd);
    if (!*target)
        return error_set_memory(file->err);
    config->files[config->file_count++] = fd;
    fd = -1;
    return 0;
}

static int write_data(const struct kubeconfig *file, const struct file_key *key,
                      const struct yaml_node *node, const char **target)
{
    size_t bytes;
    CLEANUP_MEMORY char *decoded = base64_decode(node->text, &bytes);
    if (!decoded)
        return yaml_node_error(node, file->err, "it is no base64 text");
    if (!api_text_is_pem(decoded, key->pem))
        return yaml_node_error(node, file->err, "it holds no %s in PEM form",
                               api_pem_words[key->pem]);
    if (!file->folder)
        return keep_in_memory(file, key, decoded, bytes, target);
    if (join_path(file->config, target, file->folder, key->file_name, file->err) < 0)
        return -1;
    return text_file_write(*target, decoded, bytes, 0600, file->err);
}

static int read_files(const struct kubeconfig *file, const struct yaml_node *section,
                      const char *name)
{
    for (size_t i = 0; i < COUNT_OF(file_keys); i++) {
        const struct file_key *key = &file_keys[i];
        if (strcmp(key->section, name) != 0)
            continue;
        const char **target = (const char **)((char *)file->config + key->offset);
        const char *text, *data = NULL;
        if (get_text(file, section, key->key, &text) < 0 ||
            (key->data_key && get_text(file, section, key->data_key, &data) < 0))
            return -1;
        if (data && write_data(file, key, yaml_node_get(section, key->data_key), target) < 0)
            return -1;
        if (!data && text && set_relative(file, target, text) < 0)
            return -1;
    }
    return 0;
}

static int read_cluster(const struct kubeconfig *file, const char *name)
{
    const struct yaml_node *cluster = find_section(file, "clusters", name, "cluster");
    const char *server, *insecure;
    if (!cluster || refuse_keys(file, cluster, "cluster") < 0 ||
        get_text(file, cluster, "server", &server) < 0 ||
        get_text(file, cluster, "insecure-skip-tls-verify", &insecure) < 0)
        return -1;
    if (!server)
        return yaml_node_error(cluster, file->err, "it has no server");
    struct error_info why = {.kind = ERROR_NONE};
    if (insecure && parse_boolean(insecure, &file->config->insecure, &why) < 0)
        return yaml_node_error(yaml_node_get(cluster, "insecure-skip-tls-verify"), file->err, "%s",
                               why.text);
    if (copy_text(file->config, &file->config->server, server, file->err) < 0)
        return -1;
    return read_files(file, cluster, "cluster");
}

static int read_user(const struct kubeconfig *file, const char *name)
{
    const struct yaml_node *user = find_section(file, "users", name, "user");
    const char *token;
    if (!user || refuse_keys(file, user, "user") < 0 || get_text(file, user, "token", &token) < 0)
        return -1;
    if (token && !api_token_is_clean(token))
        return yaml_node_error(yaml_node_get(user, "token"), file->err,
                               "a token has no blanks and no other letters than ASCII");
    if (token && copy_text(file->config, &file->config->token, token, file->err) < 0)
        return -1;
    if (read_files(file, user, "user") < 0)
        return -1;
    if (!file->config->certificate_file != !file->config->key_file)
        return yaml_node_error(user, file->err,
                               "client-certificate and client-key belong together");
    return 0;
}

/* wanted NULL: the current one. */
static const struct yaml_node *find_context(const struct kubeconfig *file, const char *wanted)
{
    const char *context = wanted;
    if (!wanted && get_text(file, file->root, "current-context", &context) < 0)
        return NULL;
    if (!context)
        return error_null(error_set(file->err,
                                    "%s: it has no current-context; choose one with kubectl config "
                                    "use-context",
                                    file->path));
    if (copy_text(file->config, &file->config->context, context, file->err) < 0)
        return NULL;
    return find_section(file, "contexts", context, "context");
}

static int read_namespace_name(const struct kubeconfig *file, const struct yaml_node *section)
{
    const char *namespace;
    struct error_info why = {.kind = ERROR_NONE};
    if (get_text(file, section, "namespace", &namespace) < 0)
        return -1;
    if (!namespace)
        return 0;
    if (namespace_name_check(namespace, &why) < 0)
        return yaml_node_error(yaml_node_get(section, "namespace"), file->err, "%s", why.text);
    return copy_text(file->config, &file->config->namespace, namespace, file->err);
}

static int read_context(const struct kubeconfig *file, const char *wanted)
{
    const char *cluster, *user;
    const struct yaml_node *section = find_context(file, wanted);
    if (!section || get_text(file, section, "cluster", &cluster) < 0 ||
        get_text(file, section, "user", &user) < 0 || read_namespace_name(file, section) < 0)
        return -1;
    if (!cluster)
        return yaml_node_error(section, file->err, "it has no cluster");
    if (read_cluster(file, cluster) < 0)
        return -1;
    return user ? read_user(file, user) : 0;
}

/* Any other object of Kubernetes has another kind; old files have none. */
static int check_kind(const struct kubeconfig *file)
{
    const char *kind;
    if (file->root->kind != YAML_MAPPING)
        return error_set(file->err,
                         "%s: it is no kubeconfig file; kubectl config view --raw prints yours",
                         file->path);
    if (get_text(file, file->root, "kind", &kind) < 0)
        return -1;
    if (!kind || strcmp(kind, "Config") == 0)
        return 0;
    return yaml_node_error(yaml_node_get(file->root, "kind"), file->err,
                           "%.64s: it is no kubeconfig file, which is of kind Config", kind);
}

struct api_config *api_config_kubeconfig(const char *path, const char *folder,
                                         struct error_info *err)
{
    return api_config_kubeconfig_context(path, NULL, folder, err);
}

struct api_config *api_config_kubeconfig_context(const char *path, const char *context,
                                                 const char *folder, struct error_info *err)
{
    size_t bytes;
    CLEANUP_MEMORY char *text = text_file_read(path, API_KUBECONFIG_MAXIMUM_BYTES, &bytes, err);
    if (!text)
        return NULL;
    CLEANUP(yaml_document)
    struct yaml_document *document = yaml_document_parse(text, bytes, path, err);
    CLEANUP(api_config) struct api_config *config = document ? config_create(err) : NULL;
    if (!config)
        return NULL;
    struct kubeconfig file = {.config = config,
                              .path = path,
                              .folder = folder,
                              .root = yaml_document_root(document),
                              .err = err};
    if (check_kind(&file) < 0 || read_context(&file, context) < 0 ||
        copy_text(config, &config->kubeconfig, path, err) < 0)
        return NULL;
    return move_pointer(config);
}
