/* SPDX-License-Identifier: MIT */
#include "cli/inputs/node_files.h"
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

static int is_node_file(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && dot != entry->d_name && entry->d_name[0] != '.' &&
           (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

static int compare_entries(const struct dirent **left, const struct dirent **right)
{
    return node_name_compare((*left)->d_name, (*right)->d_name);
}

static int read_entries(struct cluster_collection *collection, const char *path,
                        struct dirent *const *entries, int count,
                        const struct catalogues *catalogues, struct error_info *err)
{
    if (count == 0)
        return error_set(err,
                         "%s: no .yaml file is in it; srun -N… --output=%s/%%N.yaml parplan "
                         "topology --format yaml writes one for each node",
                         path, path);
    if ((unsigned)count > NODE_FILES_MAXIMUM)
        return error_set(err, "%s: %d files are more than the %u that are possible", path, count,
                         NODE_FILES_MAXIMUM);
    for (int i = 0; i < count; i++) {
        char file[PATH_BYTES];
        int length = snprintf(file, sizeof(file), "%s%s%s", path,
                              path[strlen(path) - 1] == '/' ? "" : "/", entries[i]->d_name);
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
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, is_node_file, compare_entries);
    if (count < 0)
        return error_set_system(err, "%s: %s", path, error_errno_text(errno));
    int result = read_entries(collection, path, entries, count, catalogues, err);
    for (int i = 0; i < count; i++)
        free(entries[i]); /* scandir's own */
    free(entries);
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
