/* SPDX-License-Identifier: MIT */
#include "cli/inputs/node_files.h"
#include "base/arena.h"
#include "base/text_file.h"
#include "topology/collect/node_stream.h"
#include "topology/node_evidence.h"
#include "topology/node_readers/node_file.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_BYTES 4096u
#define FOLDER_MAXIMUM_BYTES ((size_t)64 << 20)

struct node_text {
    const char *path;
    const char *source; /* for messages: the path, or "path[3]" */
    const char *text;
    size_t bytes;
    bool is_alone; /* the file has no other node */
};

/* "nodes/n001.yaml" is about n001. */
static bool name_by_file(const char *path, char name[NODE_LIST_NAME_BYTES])
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    size_t length = dot ? (size_t)(dot - base) : strlen(base);
    if (length == 0 || length >= NODE_LIST_NAME_BYTES)
        return false;
    memcpy(name, base, length);
    name[length] = '\0';
    return true;
}

static int error_mixed(struct error_info *err)
{
    char text[ERROR_TEXT_BYTES];
    if (!err || err->kind != ERROR_INPUT)
        return -1;
    memcpy(text, err->text, sizeof(text));
    return error_set(err,
                     "%s (where the lines of several nodes are mixed, gather them again with "
                     "srun --label, or --output=%%N.yaml)",
                     text);
}

static int add_node(struct cluster_collection *collection, const struct node_text *from,
                    const struct catalogues *catalogues, struct error_info *err)
{
    char name[NODE_LIST_NAME_BYTES] = "";
    CLEANUP(node_evidence)
    struct node_evidence *evidence = node_file_parse(from->text, from->bytes, from->source, err);
    if (!evidence)
        return from->is_alone ? -1 : error_mixed(err);
    const struct node_evidence *const all[] = {evidence};
    if (evidence->node_name)
        snprintf(name, sizeof(name), "%s", evidence->node_name);
    else if (!from->is_alone || !name_by_file(from->path, name))
        return error_set(err, "%s: name: is missing, which says what node this is", from->source);
    struct node_topology *node =
        node_topology_merge(name, all, COUNT_OF(all), catalogues->gpus, err);
    return node ? cluster_collection_add(collection, name, from->source, node, err) : -1;
}

static int read_file(struct cluster_collection *collection, const char *path,
                     const struct catalogues *catalogues, struct error_info *err)
{
    size_t bytes = 0;
    CLEANUP_MEMORY char *text = text_file_read(path, NODE_STREAM_MAXIMUM_BYTES, &bytes, err);
    if (!text)
        return -1;
    CLEANUP(node_stream) struct node_stream *stream = node_stream_split(text, bytes, path, err);
    if (!stream)
        return -1;
    size_t count = node_stream_count(stream);
    if (count == 0)
        return error_set(err, "%s: the file is empty; parplan topology --format yaml writes one",
                         path);
    for (size_t i = 0; i < count; i++) {
        char source[PATH_BYTES];
        struct node_text from = {.path = path, .source = path, .is_alone = count == 1};
        from.text = node_stream_document(stream, i, &from.bytes);
        if (count > 1) {
            snprintf(source, sizeof(source), "%s[%zu]", path, i);
            from.source = source;
        }
        if (add_node(collection, &from, catalogues, err) < 0)
            return -1;
    }
    return 0;
}

static bool is_node_file(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && name[0] != '.' && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

/* The names of a folder's node files. */
struct folder {
    struct arena *arena;
    const char **names;
    size_t count;
};

static int list_names(struct folder *folder, DIR *directory, const char *path,
                      struct error_info *err)
{
    const struct dirent *entry;
    while (errno = 0, (entry = readdir(directory))) {
        if (!is_node_file(entry->d_name))
            continue;
        if (folder->count == NODE_FILES_MAXIMUM)
            return error_set(err, "%s: more than %u files", path, NODE_FILES_MAXIMUM);
        const char *name = arena_copy_text(folder->arena, entry->d_name);
        if (!name)
            return error_set_memory(err);
        folder->names[folder->count++] = name;
    }
    return errno ? error_set_system(err, "%s: %s", path, error_errno_text(errno)) : 0;
}

static int list_folder(struct folder *folder, const char *path, struct error_info *err)
{
    folder->arena = arena_create(FOLDER_MAXIMUM_BYTES);
    folder->names = folder->arena ? arena_allocate_array(folder->arena, NODE_FILES_MAXIMUM,
                                                         sizeof(*folder->names))
                                  : NULL;
    if (!folder->names)
        return error_set_memory(err);
    DIR *directory = opendir(path);
    if (!directory)
        return error_set_system(err, "%s: %s", path, error_errno_text(errno));
    int result = list_names(folder, directory, path, err);
    closedir(directory);
    return result;
}

static int compare_names(const void *left, const void *right)
{
    return node_name_compare(*(const char *const *)left, *(const char *const *)right);
}

static int read_names(struct cluster_collection *collection, const char *path,
                      const struct folder *folder, const struct catalogues *catalogues,
                      struct error_info *err)
{
    if (folder->count == 0)
        return error_set(err,
                         "%s: no .yaml file is in it; srun -N… --output=%s/%%N.yaml parplan "
                         "topology --format yaml writes one for each node",
                         path, path);
    qsort(folder->names, folder->count, sizeof(*folder->names), compare_names);
    for (size_t i = 0; i < folder->count; i++) {
        char file[PATH_BYTES];
        int length = snprintf(file, sizeof(file), "%s%s%s", path,
                              path[strlen(path) - 1] == '/' ? "" : "/", folder->names[i]);
        if (length < 0 || (size_t)length >= sizeof(file))
            return error_set(err, "%.80s…: the path is too long", path);
        if (read_file(collection, file, catalogues, err) < 0)
            return -1;
    }
    return 0;
}

static int read_folder(struct cluster_collection *collection, const char *path,
                       const struct catalogues *catalogues, struct error_info *err)
{
    struct folder folder = {.arena = NULL};
    int result = list_folder(&folder, path, err);
    if (result == 0)
        result = read_names(collection, path, &folder, catalogues, err);
    arena_free(folder.arena);
    return result;
}

int node_files_read(struct cluster_collection *collection, const char *path,
                    const struct catalogues *catalogues, struct error_info *err)
{
    struct stat status;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return read_folder(collection, path, catalogues, err);
    return read_file(collection, path, catalogues, err);
}
